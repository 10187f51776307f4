/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two adapters in one process, joined by the embedded link, and on each what a program needs to
 * talk: for tests of the objects of lib/verbs.
 * It never hides a status: what must succeed is asserted, and what must come is waited for, within
 * TEST_PATIENCE_MS. Every test runs twice: inline, its thread polling both ends, and with a worker.
 * Start with DUO_TEST(), duo_open() and duo_expect().
 */
#ifndef DUO_H
#define DUO_H

#include "clock.h"

#include "plx_verbs.h"

#define DUO_ARENA (256 * 1024)

#define DUO_REMOTE (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)
#define DUO_ALL    (DUO_REMOTE | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND)

enum {
	DUO_KEYS = 128,
	DUO_QPS = 80,
	DUO_SQ = 64,
	DUO_RQ = 64,
	DUO_CQ = 256,
};

struct end {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq; /* NULL unless asked for */
	struct plx_qp *qp;
	struct plx_mr *mr; /* all of the arena, with all rights */
	uint8_t *arena;    /* [DUO_ARENA] zeroed */
};

struct duo {
	struct end a, b;
};

/* What duo_open() makes; both ends alike. The queues of `qp` are filled in by it. */
struct duo_options {
	struct plx_qp_options qp;
	struct plx_qp_link link;
	struct plx_cq_options cq;
	struct plx_srq_options srq; /* depth 0: none */
	bool unconnected;
};

struct duo_options duo_usual(void);

/** @param options NULL: the usual */
struct duo *duo_open(const struct duo_options *options);
/** Destroys what is left: a handle that the test has destroyed itself it has set to NULL. */
void duo_close(struct duo *duo);

/** Connect both ends of a pair of queue pairs, as a program that polls both would. */
void duo_join(struct plx_qp *a, struct plx_qp *b, const struct plx_qp_link *link);

/** A queue pair of this end with these options, its queues filled in; not connected. */
struct plx_qp *end_qp(struct end *end, const struct duo_options *options);

bool duo_is_inline(void);
/** "net_wire" link and addresses of this run. */
struct plx_ip duo_ip(unsigned last);
struct plx_ip duo_ip6(unsigned last);
void duo_wishes(struct plx_wishes *wishes, unsigned end);

/* ---- time -----------------------------------------------------------------------------------
 */

/** One cycle of both engines, or a moment for the worker. */
void duo_cycle(void);
/** Many cycles: whatever was going to happen by itself has happened. */
void duo_settle(void);

#define duo_until(condition) test_until(condition, duo_cycle())

/* ---- requests -------------------------------------------------------------------------------
 */

/* What of a request is beyond our own buffer. */
struct beyond {
	uint64_t va;
	struct plx_key rkey;
	uint32_t imm;
	struct plx_key inv_key;
	uint64_t swap_add, compare;
};

/** A place in the arena of an end, for its peer to name. */
struct beyond at_peer(const struct end *peer, uint32_t offset);

/** Post one request for `bytes` of the arena from `offset`. Returns: its status */
enum plx_status end_try(struct end *end, struct plx_qp *qp, enum plx_wr_op op, uint64_t wr_id,
			uint8_t flags, uint32_t offset, uint32_t bytes,
			const struct beyond *beyond);
/** As above on the end's own queue pair; it must be taken. */
void end_post(struct end *end, enum plx_wr_op op, uint64_t wr_id, uint8_t flags, uint32_t offset,
	      uint32_t bytes, const struct beyond *beyond);
/** Post a receive to the end's queue pair, or its SRQ; it must be taken. */
void end_receive(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t bytes);

/** Bytes that depend on their place and on `seed`. */
void end_fill(struct end *end, uint32_t offset, uint32_t bytes, uint8_t seed);
void end_assert_filled(const struct end *end, uint32_t offset, uint32_t bytes, uint8_t seed);

/* ---- completions ----------------------------------------------------------------------------
 */

/** `n` plain messages from a to b; when it returns, b's completion queue has `n` entries more. */
void duo_deliver(struct duo *duo, uint32_t n, uint8_t flags);

/** The next completion, waited for. */
struct plx_wc duo_reap(struct plx_cq *cq);
/** The next completion is this one. */
struct plx_wc duo_expect(struct plx_cq *cq, uint64_t wr_id, enum plx_wc_status status);
/** After everything has settled there is no completion. */
void duo_expect_none(struct plx_cq *cq);

/** The next event of a channel, waited for; it is of this kind. */
struct plx_channel_event duo_event(struct plx_channel *channel, enum plx_cm_event_kind kind);

enum plx_qp_state duo_state(struct plx_qp *qp);
/** The next asynchronous event of the adapter, waited for. */
struct plx_async duo_async(struct plx_adapter *adapter);
/** Take all that are there. */
void duo_drop_asyncs(struct plx_adapter *adapter);

/* ---- running --------------------------------------------------------------------------------
 */

#define DUO_TEST(test)                        \
	{                                     \
#test, test, NULL, NULL, NULL \
	}

/* What the adapters have beside the usual; to be set before they are opened. */
extern struct duo_extra {
	const char *faults; /* of the link, as ",mark=1"; NULL: none */
	uint32_t vlan;
	bool ecn;
} duo_extra;

/** Run all tests inline, then all with a worker; adapters must close afterwards.
 * Returns: failures */
int duo_run(const char *name, const struct CMUnitTest *tests, size_t n);
/** For what there is in one mode only. */
int duo_run_in(enum plx_mode wanted, const char *name, const struct CMUnitTest *tests, size_t n);

#endif
