/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of --api ndk: an endpoint's objects, requests that end by a callback, and
 * reporting of failures. It owns no state. Start with struct ndk.
 */
#ifndef NDPERF_NDK_PARTS_H
#define NDPERF_NDK_PARTS_H

#include <ndkpi.h>
#include <ntstatus.h>

#include "face.h"

#include <pthread.h>
#include <stdatomic.h>

/* What NDK's dispatcher tells of a call that was pending. */
struct ndk_request {
	_Atomic(NDK_OBJECT_HEADER *) object; /* of a create */
	_Atomic(NTSTATUS) status;            /* STATUS_PENDING: not yet */
	bool is_late;                        /* its caller has given up, and gone */
};

/* The progress of a lane's connection. */
enum ndk_stage {
	NDK_STAGE_NONE,
	NDK_STAGE_REQUESTED, /* NdkConnect is pending, or the peer's request is awaited */
	NDK_STAGE_ACCEPTED,  /* NdkCompleteConnect or NdkAccept is pending */
	NDK_STAGE_UP,
};

struct ndk_line {
	NDK_CONNECTOR *connector;
	struct ndk_request request;
	enum ndk_stage stage;
};

struct ndk {
	NDK_ADAPTER *adapter;
	NDK_ADAPTER_INFO limits;
	NDK_PD *pd;
	NDK_LISTENER *listener; /* on the passive end; NULL: active */
	uint16_t port;          /* on which it listens */
	struct ndk_request call;
	atomic_uint closing; /* objects whose close is pending */

	pthread_mutex_t lock; /* of what the listener's callback leaves here */
	NDK_CONNECTOR *requested[QPS_MAX];
	uint32_t first, requests;

	/* of a job */
	uint32_t nonce; /* identifies the job, so that a connection of an earlier one is not
			   mistaken for one of this */
	NDK_CQ *cq[QUEUES];
	NDK_MR *mr;
	MDL *mdl;
	UINT32 remote; /* the peer's token, used in requests */
	struct ndk_line line[QPS_MAX];
};

/** Record "what: 0xc0000001", unless a failure is recorded already.
 * Returns: false */
bool ndk_failed(struct side *side, const char *what, NTSTATUS status);

/** Completions for a struct ndk_request. */
VOID ndk_on_done(PVOID request, NTSTATUS status);
VOID ndk_on_created(PVOID request, NTSTATUS status, NDK_OBJECT_HEADER *object);
/** Begin a request: the context of its call. */
struct ndk_request *ndk_begin(struct ndk_request *request);
/** The status of a call: its own, or, if it is pending, that of its completion.
 * Returns: also STATUS_IO_TIMEOUT, after the job's or the options' timeout; ndk_await_closed() then
 *          waits for the call, before another begins */
NTSTATUS ndk_await(struct side *side, struct ndk_request *request, NTSTATUS called);

/** Close an object; ndk_await_closed() waits for all. */
void ndk_close_begin(struct ndk *ndk, NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_OBJECT close);
void ndk_await_closed(struct side *side);

/* ---- ndk_job.c, for ndk_face ---- */

bool ndk_job_register(struct side *side, uint64_t bytes);
bool ndk_job_make_queues(struct side *side, uint32_t sends);
void ndk_job_cards(const struct side *side, struct card *cards);
enum plx_status ndk_job_connect(struct side *side, const struct card *cards);
void ndk_job_clear(struct side *side);
/** Begin to close the connectors of requests that have not been taken. */
void ndk_job_drop_requests(struct ndk *ndk);
/** The listener's callback. @param context a struct ndk */
VOID ndk_on_request(PVOID context, NDK_CONNECTOR *connector);

#endif
