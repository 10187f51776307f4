/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two adapters in one process, connected by the embedded link, and on each the objects that a
 * program needs to communicate: for tests of lib/verbs. It never hides a status: it asserts that
 * calls succeed, and waits for events within TEST_PATIENCE_MS. Every test runs twice: in inline
 * mode, where its thread polls both ends, and with a worker; POLLUX_TEST_ENGINES gives each adapter
 * as many engines. With POLLUX_TEST_PRIVATE tests that run attached run so alone, with memory that
 * the host cannot map. Start with PAIR_TEST(), pair_open()
 * and pair_expect().
 */
#ifndef PLX_TEST_VERBS_PAIR_H
#define PLX_TEST_VERBS_PAIR_H

#include "clock.h"

#include "plx_verbs.h"

#define PAIR_ARENA (256 * 1024)

#define PAIR_REMOTE (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)
#define PAIR_ALL    (PAIR_REMOTE | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND)
/** All rights that memory of pair_memory() can have: private memory has no atomics. */
uint32_t pair_rights(void);
/** Of these, those of peers. */
uint32_t pair_remote_rights(void);

enum {
	PAIR_KEYS = 128,
	PAIR_QPS = 80,
	PAIR_SQ = 64,
	PAIR_RQ = 64,
	PAIR_CQ = 256,
	PAIR_PORT = 4242, /* where tests listen */
};

struct side {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq; /* NULL unless requested */
	struct plx_qp *qp;
	struct plx_mr *mr;                 /* all of the arena, with all rights */
	uint8_t *arena;                    /* [PAIR_ARENA] zeroed */
	struct plx_event_channel *channel; /* NULL unless requested */
	struct plx_connector *connector;   /* made by the test; NULL: none */
};

struct pair {
	struct side a, b;
	struct plx_listener *listener;    /* made by the test; NULL: none */
	struct plx_connector_event event; /* for a test to keep the last one */
};

/* What pair_open() makes; both ends alike. The queues of `qp` are filled in by it. */
struct pair_options {
	struct plx_qp_options qp;
	struct plx_qp_attr attr;
	struct plx_cq_options cq;
	struct plx_srq_options srq; /* depth 0: none */
	uint32_t channel;           /* depth of its event channel; 0: none */
	bool unconnected;
};

/** Memory that can be registered: for an attached program it comes from plx_mem_alloc(), or is
 * private. */
void *pair_memory(size_t bytes);
void pair_memory_free(void *memory);

struct pair_options pair_usual(void);

/** @param options NULL: the usual */
struct pair *pair_open(const struct pair_options *options);
/** The usual, unconnected. */
struct pair *pair_open_apart(void);
/** Destroys what is left. The test sets handles that it has destroyed itself to NULL. */
void pair_close(struct pair *pair);

/** Connect both ends of a pair of queue pairs, as a program that polls both would. */
void pair_join(struct plx_qp *a, struct plx_qp *b, const struct plx_qp_attr *attr);

/** A queue pair of this end with these options, its queues filled in; not connected. */
struct plx_qp *side_qp(struct side *side, const struct pair_options *options);

/** Options that lead to side 1 (a) or 2 (b), at PAIR_PORT; else as plx_connect_options_init(). */
struct plx_connect_options pair_to(unsigned last);
/** The steps of a connection by the communication manager; each must succeed. */
struct plx_listener *pair_listen(struct side *side, uint16_t port, uint64_t context);
void pair_connect(struct plx_connector *connector, struct plx_qp *qp,
		  const struct plx_connect_options *options);
void pair_accept(struct plx_connector *connector, struct plx_qp *qp,
		 const struct plx_connect_options *options);
void pair_complete(struct plx_connector *connector);

/** Of each adapter. */
uint32_t pair_engines(void);
bool pair_is_inline(void);
/** The adapters are those of a host in another process. */
bool pair_is_attached(void);
/** Are tests run attached alone, with memory that the host cannot map? */
bool pair_is_private(void);
void pair_set_attached(bool wanted);
/** @param name [PLX_ADAPTER_NAME_MAX + 1] of the adapter of end `i`, in this mode */
void pair_adapter_name(unsigned i, char *name);
/** "net_wire" link and addresses of this run. */
struct plx_ip pair_ip(unsigned last);
struct plx_ip pair_ip6(unsigned last);
void pair_adapter_options(struct plx_adapter_options *options, unsigned end);

/* ---- time ---- */

/** One turn of both engines, or a moment for the worker. */
void pair_cycle(void);
/** Many turns: wait until everything pending in the background has happened. */
void pair_settle(void);

#define pair_until(condition) test_until(condition, pair_cycle())

/* ---- requests ---- */

/* What of a request is beyond our own buffer. */
struct beyond {
	uint64_t va;
	struct plx_key rkey;
	uint32_t imm;
	struct plx_key inv_key;
	uint64_t swap_add, compare;
};

/** A place in the arena of an end, for its peer to name. */
struct beyond at_peer(const struct side *peer, uint32_t offset);

/** Post one request for `bytes` of the arena from `offset`. Returns: its status */
enum plx_status side_try(struct side *side, struct plx_qp *qp, enum plx_wr_op op, uint64_t wr_id,
			 uint8_t flags, uint32_t offset, uint32_t bytes,
			 const struct beyond *beyond);
/** As above on the end's own queue pair; it must be taken. */
void side_post(struct side *side, enum plx_wr_op op, uint64_t wr_id, uint8_t flags, uint32_t offset,
	       uint32_t bytes, const struct beyond *beyond);
/** Post a receive to the end's queue pair, or its SRQ; it must be taken. */
void side_receive(struct side *side, uint64_t wr_id, uint32_t offset, uint32_t bytes);

/** Bytes that depend on their place and on `seed`. */
void side_fill(struct side *side, uint32_t offset, uint32_t bytes, uint8_t seed);
void side_assert_filled(const struct side *side, uint32_t offset, uint32_t bytes, uint8_t seed);

/* ---- completions ---- */

/** `n` plain messages from a to b; when it returns, b's completion queue has `n` entries more. */
void pair_deliver(struct pair *pair, uint32_t n, uint8_t flags);

/** The next completion, waited for. */
struct plx_wc pair_reap(struct plx_cq *cq);
/** The next completion is this one. */
struct plx_wc pair_expect(struct plx_cq *cq, uint64_t wr_id, enum plx_wc_status status);
/** After everything has settled there is no completion. */
void pair_expect_none(struct plx_cq *cq);

/** The next event of a channel, waited for; it is of this kind. */
struct plx_connector_event pair_event(struct plx_event_channel *channel,
				      enum plx_cm_event_kind kind);

enum plx_qp_state pair_state(struct plx_qp *qp);
/** The next asynchronous event of the adapter, waited for. */
struct plx_async_event pair_async_event(struct plx_adapter *adapter);
/** Reap all that are there. */
void pair_drop_asyncs(struct plx_adapter *adapter);

/* ---- running ---- */

#define PAIR_TEST(test)                       \
	{                                     \
#test, test, NULL, NULL, NULL \
	}
/** One that uses atomics, which private memory has not. */
#define PAIR_ATOMIC_TEST(test)                        \
	{                                             \
#test, test, NULL, NULL, pair_atomics \
	}
extern char pair_atomics[];

/* Additional settings of the adapters; set them before opening. */
extern struct pair_extra {
	const char *faults; /* of the link, as ",mark=1"; NULL: none */
	uint32_t vlan;
	bool ecn;
	enum plx_congestion congestion;
} pair_extra;

/** As pair_run(), and then all attached to a host in another process. */
int pair_run_all(const char *name, const struct CMUnitTest *tests, size_t n);
/** Run all tests inline, then all with a worker; adapters must close afterwards.
 * Returns: failures */
int pair_run(const char *name, const struct CMUnitTest *tests, size_t n);
/** For what there is in one mode only. */
int pair_run_in(enum plx_mode wanted, const char *name, const struct CMUnitTest *tests, size_t n);

#endif
