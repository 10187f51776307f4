/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ND2 as a client uses it: the provider from its shared library, two adapters "nd0" and "nd1" on
 * the embedded link in one process, and on each the objects that a client needs to communicate. It
 * never hides a status: it asserts that calls succeed, and waits for events within
 * TEST_PATIENCE_MS. After each test it checks that no object of the provider is left and that its
 * adapters were really closed. Start with nd_run(), nd_pair_open() and nd_expect().
 *
 * Inline mode (nd_run_both()): the engine makes progress only in calls that wait. nd_cycle() is
 * such a call that does not sleep; every helper here that waits uses it.
 */
#ifndef ND_H
#define ND_H

#include "clock.h"
#include "hr.h"

#include <ndspi.h>
#include <ntstatus.h>

#include <stdbool.h>

enum {
	ND_RACE_ROUNDS = 1000000,
	ND_RACE_MS = 40000,
	ND_ARENA = 256 * 1024,
	ND_DEPTH = 64, /* of queues, unless set otherwise */
	ND_CQ_DEPTH = 256,
	ND_PORT = 4791, /* of the first listener; each pair uses another */
};

/* ---- running ---- */

#define ND_TEST(test)                         \
	{                                     \
#test, test, NULL, NULL, NULL \
	}

/** Run all tests with worker threads. Returns: failures */
int nd_run(const char *name, const struct CMUnitTest *tests, size_t n);
/** With TEST_POLLUXD in the environment (polluxd.h), the adapters of worker mode are those of a
 * polluxd, and nothing runs inline. */
bool nd_is_attached(void);
/** In inline mode: tests of one thread. */
int nd_run_inline(const char *name, const struct CMUnitTest *tests, size_t n);
/** The one, then the other. */
int nd_run_both(const char *name, const struct CMUnitTest *tests, size_t n);

/** Call before the above, in a program with its own configuration file: loads the provider with
 * this text. */
void nd_start(const char *configuration);

/** A configuration for nd_start(): "nd0" and "nd1", the two ends of a link, by their number.
 * @param device appended to the name of the link's end, for example ",loss=0.2"
 * @param settings of each, added to its name, device and addresses.
 * Returns: text, valid until the next call */
const char *nd_link(const char *const device[2], const char *const settings[2]);

/* Settings of an adapter with a worker; if that spins, it makes no system call to yield. */
#define ND_YIELDING "worker = \"nd\"; idle = \"yield\"; packets = 4096;"
#define ND_SPINNING "worker = \"nd\"; idle = \"spin\"; packets = 4096;"

bool nd_is_inline(void);

/* ---- time ---- */

/** One cycle of both engines, or a moment for their threads. */
void nd_cycle(void);
/** Wait until everything pending in the background has happened. */
void nd_settle(void);
/** Does a request stay pending? */
void nd_assert_pending(const OVERLAPPED *overlapped);
/** Number of rounds of a race: `usual`, a tenth of it under AddressSanitizer, or POLLUX_ROUNDS. */
unsigned long nd_rounds(unsigned long usual);
/** Is a race over after this round, the first being 0? It ends after ND_RACE_ROUNDS, or
 * ND_RACE_MS after round 0 on a slow or busy machine; with POLLUX_ROUNDS after that many rounds. */
bool nd_race_is_over(uint32_t round);

#define nd_until(condition) test_until(condition, nd_cycle())

/* ---- provider and adapters ---- */

/** DllGetClassObject() and DllCanUnloadNow() of the provider's library. */
HRESULT nd_class_object(REFIID iid, void **out);
HRESULT nd_can_unload(void);

/** A new provider, the caller's to release. */
IND2Provider *nd_provider(void);
/** Open adapter "nd0" or "nd1" (0 or 1) by its address; the caller's to release. */
IND2Adapter *nd_adapter(unsigned end);
/** Release, and assert the count that it returns. */
#define nd_release(object, left) assert_int_equal((object)->lpVtbl->Release(object), left)

/* An address with its length, as the methods want it. */
struct nd_address {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	ULONG length;
};

/** The address of an end. @param family AF_INET, AF_INET6 */
struct nd_address nd_address(unsigned end, int family, uint16_t port);
uint16_t nd_port_of(const struct nd_address *address);

/* ---- waiting ---- */

/** Of a request that another thread may be completing at this moment. */
HRESULT nd_status(const OVERLAPPED *overlapped);
/** Wait until a pending request completes, on any object.
 * Returns: its status */
HRESULT nd_wait(const OVERLAPPED *overlapped);
/** `call` must pend, and end with `status`; an OVERLAPPED `ov` must be in scope. */
#define nd_pends(call, status)                   \
	do {                                     \
		assert_hr(call, ND_PENDING);     \
		assert_hr(nd_wait(&ov), status); \
	} while (0)

/* ---- sides and pairs ---- */

/* What nd_side_open() makes beyond the usual; zeros mean the usual. */
struct nd_options {
	int family;  /* AF_INET */
	ULONG depth; /* of both queues of the queue pair, and of the SRQ */
	ULONG cq_depth;
	ULONG sges;              /* 4 */
	ULONG inline_bytes;      /* 0 */
	ULONG mr_flags;          /* all rights */
	ULONG threshold;         /* of the SRQ */
	bool srq;                /* with a shared receive queue */
	bool two_cqs;            /* else one serves both queues */
	ULONG inbound, outbound; /* read limits; 16 */
	bool same_end;           /* both sides on adapter nd0: loopback */
	unsigned first_end;      /* of a pair, the other one is the next; 0 */
};

struct nd_side {
	IND2Adapter *adapter;
	HANDLE file;
	IND2CompletionQueue *receive_cq, *initiator_cq; /* often the same, with one reference */
	IND2SharedReceiveQueue *srq;                    /* NULL unless requested */
	IND2MemoryRegion *mr;                           /* all of the arena */
	IND2QueuePair *qp;
	IND2Connector *connector;
	uint8_t *arena;       /* [ND_ARENA] zeroed */
	UINT32 local, remote; /* tokens of `mr` */
	struct nd_address address;
};

struct nd_pair {
	struct nd_options options;
	struct nd_side a, b; /* a has connected, b has accepted */
	IND2Listener *listener;
	struct nd_address at;                             /* where it listens */
	OVERLAPPED asked, connected, accepted, completed; /* of the steps of its connection */
	OVERLAPPED left;                                  /* for a test's Disconnect */
};

/** Everything of a side but a connection; the connector is idle. @param options NULL: the usual */
void nd_side_open(struct nd_side *side, unsigned end, const struct nd_options *options);
/** Releases what is left. A test sets what it has released itself to NULL. Counts are asserted. */
void nd_side_close(struct nd_side *side);
/** A further queue pair, connector, region of a side; the caller's to release. */
IND2QueuePair *nd_side_qp(struct nd_side *side, const struct nd_options *options, void *context);
IND2Connector *nd_side_connector(struct nd_side *side);
/** Memory that can be registered in every mode, as an ND2 program allocates it. */
void *nd_memory(size_t bytes);
void nd_memory_free(void *memory);
IND2MemoryRegion *nd_side_mr(struct nd_side *side, void *memory, size_t bytes, ULONG flags);
/** Deregister and release. */
void nd_mr_end(IND2MemoryRegion *mr);
/** A window, not bound; the caller's to release. */
IND2MemoryWindow *nd_side_mw(struct nd_side *side);

/** Two sides and a listener, not connected. */
struct nd_pair *nd_pair_new(const struct nd_options *options);
/** ... and connected. */
struct nd_pair *nd_pair_open(const struct nd_options *options);
void nd_pair_connect(struct nd_pair *pair);
/** Connect two connectors and queue pairs by this pair's listener. */
void nd_pair_join(struct nd_pair *pair, IND2Connector *active, IND2QueuePair *active_qp,
		  IND2Connector *passive, IND2QueuePair *passive_qp);
/** Disconnects when it is connected, closes both sides, and looks that nothing is left. */
void nd_pair_close(struct nd_pair *pair);

/* ---- a connection, step by step ----
 *
 * Each call here is one step of one side, so that a test can stop between any two. A
 * call never does more than its step. */

enum {
	CALLER_BYTES = 56, /* of private data, at most */
	CALLEE_BYTES = 148,
};

/* Tests have the family as their state: each runs once for IPv4, once for IPv6. */
#define ND_FAMILY_TESTS_WITH(test, teardown)                      \
	{#test ", IPv4", test, NULL, teardown, &nd_family4},      \
	{                                                         \
#test ", IPv6", test, NULL, teardown, &nd_family6 \
	}
#define ND_FAMILY_TESTS(test) ND_FAMILY_TESTS_WITH(test, NULL)

extern int nd_family4, nd_family6; /* which nobody changes */

/** A teardown: no object is left. It does not check that adapters can be opened again. */
int nd_no_object_is_left(void **state);

/** nd_pair_new() of the family that is the test's state, with a bound. */
struct nd_pair *nd_pair_bound(void **state, const struct nd_options *options);
/** ... with a idle. */
struct nd_pair *nd_pair_idle(void **state, const struct nd_options *options);
/** ... and connected. */
struct nd_pair *nd_pair_established(void **state, const struct nd_options *options);

/** Connect to where the pair's listener is, and Accept there. */
HRESULT nd_pair_ask(struct nd_pair *pair, const void *words, ULONG bytes);
HRESULT nd_pair_answer(struct nd_pair *pair, const void *words, ULONG bytes);

/** ReqSent here, ReqRcvd there. */
void nd_pair_request(struct nd_pair *pair);
/** RepRcvd here, RepSent there. */
void nd_pair_reply(struct nd_pair *pair);
/** Established on both sides. */
void nd_pair_complete(struct nd_pair *pair);
/** The three of them. */
void nd_pair_establish(struct nd_pair *pair);
/** As far as the active sides can go: established here, and on the other side once a message has
 * arrived, which may be lost. All at once, since each loss costs a second. */
void nd_pair_establish_all(struct nd_pair *pair[], int n);

/** It is pending, and stays so. */
void nd_still_pending(const OVERLAPPED *overlapped);

/** This connector's connection has ended: its read limits cannot be queried any more. */
void nd_gone(IND2Connector *connector);

/** A message crosses from one to the other. */
void nd_message(struct nd_side *from, struct nd_side *to, uint8_t seed);

IUnknown *nd_unknown(void *object);

/* ---- requests and results ---- */

/** An SGE of the arena. */
ND2_SGE nd_sge(const struct nd_side *side, uint32_t offset, uint32_t bytes);
/** Post one request, which must be accepted. `context` is the number in its results. */
void nd_receive(struct nd_side *side, uintptr_t context, uint32_t offset, uint32_t bytes);
void nd_send(struct nd_side *side, uintptr_t context, uint32_t offset, uint32_t bytes, ULONG flags);
/** From or to the same offset of the peer's arena. */
void nd_read(struct nd_side *side, const struct nd_side *peer, uintptr_t context, uint32_t offset,
	     uint32_t bytes, ULONG flags);
void nd_write(struct nd_side *side, const struct nd_side *peer, uintptr_t context, uint32_t offset,
	      uint32_t bytes, ULONG flags);

/** The next result, waited for. */
ND2_RESULT nd_reap(IND2CompletionQueue *cq);
/** The next result is this one. */
ND2_RESULT nd_expect(IND2CompletionQueue *cq, uintptr_t context, HRESULT status);
/** After everything has settled there is no result. */
void nd_expect_none(IND2CompletionQueue *cq);

/** Bytes that depend on their place and on `seed`. */
void nd_fill(struct nd_side *side, uint32_t offset, uint32_t bytes, uint8_t seed);
void nd_assert_filled(const struct nd_side *side, uint32_t offset, uint32_t bytes, uint8_t seed);

#endif
