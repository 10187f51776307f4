/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of --api nd2 have in common: the objects of an endpoint, and how they say what
 * went wrong. It owns no state. Start with struct nd2.
 */
#ifndef NDPERF_ND2_PARTS_H
#define NDPERF_ND2_PARTS_H

#include <ndspi.h>

#include "api_nd2.h"

/* How far the connection of a lane has come. */
enum nd2_stage {
	ND2_STAGE_NONE,
	ND2_STAGE_REQUESTED, /* Connect, or GetConnectionRequest, pends */
	ND2_STAGE_ACCEPTED,  /* CompleteConnect, or Accept, pends */
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
	IND2Listener *listener; /* passive; NULL: active */
	uint16_t port;          /* where it listens */

	/* of a job */
	uint32_t nonce; /* the job's, so that no connection of an earlier one is taken for its */
	IND2CompletionQueue *cq[QUEUES];
	IND2MemoryRegion *mr;
	UINT32 remote; /* its token, as the peer's requests carry it */
	struct nd2_line line[QPS_MAX];
};

/** "what: 0xc0000001"; keeps the first failure. Returns: false */
bool nd2_failed(struct side *side, const char *what, HRESULT status);

/** Of an address of ours, as sockaddr. Returns: its length */
ULONG nd2_sockaddr(const struct plx_ip *ip, uint16_t port, struct sockaddr_storage *out);

#endif
