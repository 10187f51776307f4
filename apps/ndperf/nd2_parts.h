/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of --api nd2: an endpoint's objects, and reporting of failures. It owns no
 * state. Start with struct nd2.
 */
#ifndef NDPERF_ND2_PARTS_H
#define NDPERF_ND2_PARTS_H

#include <ndspi.h>

#include "face.h"

/* The progress of a lane's connection. */
enum nd2_stage {
	ND2_STAGE_NONE,
	ND2_STAGE_REQUESTED, /* Connect or GetConnectionRequest is pending */
	ND2_STAGE_ACCEPTED,  /* CompleteConnect or Accept is pending */
	ND2_STAGE_UP,
};

struct nd2_line {
	IND2Connector *connector;
	OVERLAPPED request;
	enum nd2_stage stage;
};

struct nd2 {
	IND2Adapter *adapter;
	ND2_ADAPTER_INFO limits;
	HANDLE file;
	IND2Listener *listener; /* on the passive end; NULL: active */
	uint16_t port;          /* on which it listens */

	/* of a job */
	uint32_t nonce; /* identifies the job, so that a connection of an earlier one is not
			   mistaken for one of this */
	IND2CompletionQueue *cq[QUEUES];
	IND2MemoryRegion *mr;
	UINT32 remote; /* the peer's token, used in requests */
	struct nd2_line line[QPS_MAX];
};

/** Record "what: 0xc0000001", unless a failure is recorded already.
 * Returns: false */
bool nd2_failed(struct side *side, const char *what, HRESULT status);

/* ---- nd2_job.c, for nd2_face ---- */

bool nd2_register(struct side *side, uint64_t bytes);
bool nd2_make_queues(struct side *side, uint32_t sends);
void nd2_cards(const struct side *side, struct card *cards);
enum plx_status nd2_connect(struct side *side, const struct card *cards);
void nd2_clear(struct side *side);

#endif
