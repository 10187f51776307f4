/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of our end of an interoperability test that uses NDK share: one adapter, one
 * connection, and memory that is registered or will be. Declarations only. Start with struct ndk.
 */
#ifndef INTEROP_OURS_NDK_H
#define INTEROP_OURS_NDK_H

#include <stdatomic.h>

#include "lines.h"
#include "memory.h"
#include "plx_ndk.h"

/* A request that may be pending. */
struct ndk_call {
	atomic_bool is_over;
	NTSTATUS status;
	NDK_OBJECT_HEADER *object;
};

struct ndk {
	NDK_ADAPTER *adapter;
	NDK_PD *pd;
	NDK_LISTENER *listener;
	NDK_CONNECTOR *connector;
	NDK_CONNECTOR *_Atomic requested; /* by a peer, and not taken yet */
	struct ndk_call connecting;       /* NdkConnect's or NdkAccept's */
	bool is_active;
	atomic_uint disconnected; /* by the peer, so often */
	NDK_CQ *send_cq, *recv_cq;
	NDK_QP *qp;
	NDK_MW *mw;
	struct ndk_area {
		NDK_MR *mr;
		MDL *mdl;
		bool is_fast;                     /* registered by requests, from any page to any */
		NDK_LOGICAL_ADDRESS_MAPPING *lam; /* of a fast one */
		uint64_t base; /* the address of its first byte to SGEs and peers */
	} area[AREAS];
};

extern struct ndk ndk;

/** Answer "ok", or with an error that has the status. */
void end_answer(const char *what, NTSTATUS status);

/* How calls are made: NDK_RESULT_OF(call, function, arguments...) is the status of one that takes a
 * completion, once it is over; NDK_CREATE the same for an object, which it stores. */
void end_on_done(PVOID call, NTSTATUS status);
void end_on_created(PVOID call, NTSTATUS status, NDK_OBJECT_HEADER *object);
/** Returns: the status, at last; STATUS_IO_TIMEOUT: it is still pending */
NTSTATUS end_await(struct ndk_call *call, NTSTATUS called);
void end_close(NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_OBJECT close);

#define NDK_RESULT_OF(function, ...)                                           \
	__extension__({                                                        \
		struct ndk_call call_ = {0};                                   \
		end_await(&call_, function(__VA_ARGS__, end_on_done, &call_)); \
	})
#define NDK_CREATE(out, function, ...)                                                           \
	__extension__({                                                                          \
		struct ndk_call call_ = {0};                                                     \
		NTSTATUS status_ =                                                               \
			end_await(&call_, function(__VA_ARGS__, end_on_created, &call_, (out))); \
		if (status_ == STATUS_SUCCESS && call_.object)                                   \
			*(out) = (void *)call_.object;                                           \
		status_;                                                                         \
	})

/** Regions of the areas that are registered by requests; each connection has its own. */
NTSTATUS end_make_regions(void);
void end_drop_regions(void);

/* connections */
void end_listen(const struct line *line);
void end_unlisten(const struct line *line);
void end_dial(const struct line *line);
void end_accept(const struct line *line);
void end_established(const struct line *line);
void end_hangup(const struct line *line);
void end_hungup(const struct line *line);
void end_drop(const struct line *line);

/* work */
void end_reg(const struct line *line);
void end_bind(const struct line *line);
void end_send(const struct line *line);
void end_recv(const struct line *line);
void end_reap(const struct line *line);

#endif
