/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK as a consumer uses it: two adapters "nd0" and "nd1" on the embedded link in one process, and
 * on each the objects that a consumer needs to communicate. It never hides a status: it asserts
 * that calls succeed, inline or by their completion, within TEST_PATIENCE_MS. Start with
 * ndk_pair_open().
 */
#ifndef PLX_TEST_NDK_PAIR_H
#define PLX_TEST_NDK_PAIR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "clock.h"
#include "plx_ndk.h"

enum {
	NDK_ARENA = 64 * 1024,
	NDK_DEPTH = 64,
	NDK_PORT = 4791, /* of the first listener; each pair uses another */
};

/** Run tests with their adapters configured. Returns: failures */
int ndk_run(const char *name, const struct CMUnitTest *tests, size_t n);

/* ---- completions ---- */

/* What a completion was called with. */
struct ndk_done {
	atomic_int calls;
	_Atomic(NTSTATUS) status;
	_Atomic(NDK_OBJECT_HEADER *) object;
};

VOID ndk_on_done(PVOID done, NTSTATUS status);
VOID ndk_on_created(PVOID done, NTSTATUS status, NDK_OBJECT_HEADER *object);
VOID ndk_on_closed(PVOID done);

/** The status of a call: its own, or that of its one completion. */
NTSTATUS ndk_status(NTSTATUS called, struct ndk_done *done);
/** The object that a call has created, in either way.
 * @param out that the call was given; NULL at first, and still NULL if it was pending */
void *ndk_object(NTSTATUS called, struct ndk_done *done, void *out);
/** Close an object and wait. */
void ndk_closed(NTSTATUS called, struct ndk_done *done);

/* The status of a request, the object of a create, a close. */
#define ndk_result(function, ...)                                                 \
	__extension__({                                                           \
		struct ndk_done done_ = {0};                                      \
		ndk_status((function)(__VA_ARGS__, ndk_on_done, &done_), &done_); \
	})
#define ndk_create(type, function, ...)                                                    \
	__extension__({                                                                    \
		struct ndk_done done_ = {0};                                               \
		type *out_ = NULL;                                                         \
		NTSTATUS called_ = (function)(__VA_ARGS__, ndk_on_created, &done_, &out_); \
		(type *)ndk_object(called_, &done_, out_);                                 \
	})
#define ndk_end(function, object)                                                         \
	do {                                                                              \
		struct ndk_done done_ = {0};                                              \
		ndk_closed((function)(&(object)->Header, ndk_on_closed, &done_), &done_); \
	} while (0)

#define assert_nt(call, expected)                                                     \
	do {                                                                          \
		NTSTATUS was_ = (call);                                               \
		if (was_ != (expected))                                               \
			fail_msg("%s: 0x%08x, not 0x%08x", #call, (unsigned int)was_, \
				 (unsigned int)(expected));                           \
	} while (0)

#define ndk_until(condition) test_until(condition, test_yield())
void test_yield(void);
/** Wait until whatever the adapters have begun has happened. */
void ndk_settle(void);

/* ---- sides and pairs ---- */

/* Zeros mean the usual. */
struct ndk_options {
	ULONG cq_depth, depth, sges, inline_bytes;
	ULONG inbound, outbound; /* read limits; 16 */
	bool srq;
	ULONG threshold;
	bool two_cqs;
};

struct ndk_side {
	NDK_ADAPTER *adapter;
	NDK_CQ *cq, *receive_cq; /* the same, unless two_cqs */
	NDK_PD *pd;
	NDK_SRQ *srq;
	NDK_QP *qp;
	NDK_MR *mr; /* all of the arena, with every right */
	MDL *mdl;
	uint8_t *arena; /* [NDK_ARENA] zeroed */
	UINT32 token;
	NDK_CONNECTOR *connector;
	atomic_int notified, disconnected, below;
	_Atomic(NTSTATUS) notified_with;
	void (*_Atomic on_notify)(struct ndk_side *side); /* in the callback; may be NULL */
};

struct ndk_pair {
	struct ndk_options options;
	struct ndk_side a, b; /* a connects, b accepts */
	NDK_LISTENER *listener;
	uint16_t port;
	_Atomic(NDK_CONNECTOR *) requested; /* by the listener's event, not taken yet */
	atomic_int requests;
	struct ndk_done connected, accepted;
};

/** Adapter "nd0" or "nd1". */
NDK_ADAPTER *ndk_adapter(unsigned int end);
/** The address of an end, IPv4. @param port may be 0 */
struct sockaddr_in ndk_address(unsigned int end, uint16_t port);
/** A socket address as NDK takes it. */
PSOCKADDR ndk_any(void *address);

void ndk_side_open(struct ndk_side *side, unsigned int end, const struct ndk_options *options);
/** Closes what is left, the adapter last. What a test has closed itself it sets to NULL. */
void ndk_side_close(struct ndk_side *side);
NDK_CQ *ndk_side_cq(struct ndk_side *side, ULONG depth);
NDK_QP *ndk_side_qp(struct ndk_side *side, const struct ndk_options *options, PVOID context);
NDK_CONNECTOR *ndk_side_connector(struct ndk_side *side);

/** A listener of b's that does not listen yet; its requests are those of the pair. */
NDK_LISTENER *ndk_pair_listener(struct ndk_pair *pair);
/** NdkListen, and its status. */
NTSTATUS ndk_listen(NDK_LISTENER *listener, struct sockaddr_in at);
/** NdkConnect with read limits of 16 and no private data. Returns: what the call does */
NTSTATUS ndk_dial(NDK_CONNECTOR *connector, NDK_QP *qp, struct sockaddr_in from,
		  struct sockaddr_in to, struct ndk_done *done);
/** Two sides and a listener that listens. */
struct ndk_pair *ndk_pair_new(const struct ndk_options *options);
/** ... and connected. */
struct ndk_pair *ndk_pair_open(const struct ndk_options *options);
void ndk_pair_close(struct ndk_pair *pair);
/** The steps of a connection. NdkConnect is begun, and its request has arrived at b. */
void ndk_pair_request(struct ndk_pair *pair);
/** ... b has accepted, and NdkConnect has completed. */
void ndk_pair_reply(struct ndk_pair *pair);
void ndk_pair_connect(struct ndk_pair *pair);
/** The next connector of the listener's event. */
NDK_CONNECTOR *ndk_pair_requested(struct ndk_pair *pair);
VOID ndk_on_disconnect(PVOID side);

/** An SGE of the side's arena. */
NDK_SGE ndk_sge(const struct ndk_side *side, ULONG offset, ULONG length);
/** Post one, which must succeed. */
void ndk_post_send(struct ndk_side *side, uintptr_t context, ULONG offset, ULONG length,
		   ULONG flags);
void ndk_post_receive(struct ndk_side *side, uintptr_t context, ULONG offset, ULONG length);
/** The next result of a queue. */
NDK_RESULT_EX ndk_result_of(NDK_CQ *cq);
/** ... with this context and status. */
void ndk_expect(NDK_CQ *cq, uintptr_t context, NTSTATUS status);
/** Nothing comes. */
void ndk_expect_none(NDK_CQ *cq);

#endif
