/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pollux: RDMA on any NIC. The public objects on adapters (plx_adapter.h, which this header
 * includes): protection domains, regions, windows, completion queues, shared receive queues, queue
 * pairs, address handles and connections.
 * No call prints or ends the program. A refused call changes nothing.
 * Start with plx_adapter_open(); docs/verbs.md leads through a first program.
 *
 * Threads. Any number of threads may use an adapter in worker mode; the notes on threads below are
 * for worker mode. In inline mode only one thread at a time may call functions of an adapter and
 * its objects, and nothing progresses except inside plx_adapter_poll() and calls that are
 * documented to poll.
 */
#ifndef PLX_VERBS_H
#define PLX_VERBS_H

#include "plx_adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct plx_pd;
struct plx_mr;
struct plx_mw;
struct plx_cq;
struct plx_srq;
struct plx_qp;
struct plx_ah;
struct plx_event_channel;
struct plx_listener;
struct plx_connector;

/* ---- memory ---- */

/** Create a protection domain. Errors: FULL (an adapter has 65,536), NO_MEMORY */
PLX_API enum plx_status plx_pd_create(struct plx_adapter *adapter,
				      struct plx_pd **pd) PLX_MUST_CHECK;
/** Destroy a protection domain. Errors: BUSY (it still has objects) */
PLX_API enum plx_status plx_pd_destroy(struct plx_pd *pd) PLX_MUST_CHECK;

/**
 * Register memory of this process. SGEs and peers refer to it by its address and the region's key,
 * which is valid when this returns. At an attached adapter memory that plx_mem_alloc() has not
 * allocated is copied by a thread of the host, and can have no PLX_ACCESS_REMOTE_ATOMIC.
 *
 * @param access PLX_ACCESS_* bits
 * Errors: INVALID (zero or wrapping length, unknown bits), FULL (keys), NO_MEMORY
 * Cost: no engine round trip
 */
PLX_API enum plx_status plx_mr_register(struct plx_pd *pd, void *memory, size_t length,
					uint32_t access, struct plx_mr **mr) PLX_MUST_CHECK;

/**
 * Deregister a region. After it returns OK, nothing accesses the memory.
 * Errors: BUSY (a window is bound to it), TIMEOUT (the engine does not run: the key is invalid, but
 * the engine may still be copying; keep the memory until another call has returned OK)
 */
PLX_API enum plx_status plx_mr_deregister(struct plx_mr *mr) PLX_MUST_CHECK;
/**
 * Deregister a region as plx_mr_deregister() does, but with a timeout other than 5 s.
 * @param timeout_ms 0: do not wait. The first call invalidates the key, whatever it returns.
 */
PLX_API enum plx_status plx_mr_deregister_within(struct plx_mr *mr,
						 uint32_t timeout_ms) PLX_MUST_CHECK;
/** The key to put into SGEs, and to send to peers for remote access. */
PLX_API struct plx_key plx_mr_key(const struct plx_mr *mr);

/**
 * Register pages of this process as one range of addresses, in which they follow each other. SGEs
 * and peers use those addresses, at which no memory need be. Deregister it as any region.
 *
 * @param va     the first address; the first byte is at va % PLX_PAGE_BYTES of the first page
 * @param page   where the pages are that [va, va + length) spans; not used after the call
 * @param access PLX_ACCESS_* bits
 * Errors: as plx_mr_register(); INVALID (a page at 0, or not at a multiple of PLX_PAGE_BYTES)
 * Cost: no engine round trip; O(pages). Pages that are apart cost each access a little more
 */
PLX_API enum plx_status plx_mr_register_pages(struct plx_pd *pd, uint64_t va, const uint64_t *page,
					      uint64_t length, uint32_t access,
					      struct plx_mr **mr) PLX_MUST_CHECK;

/**
 * Create a region for fast registration: plx_post_reg() registers memory with it, and
 * PLX_WR_LOCAL_INV or a SEND with invalidate ends that. Deregister it as any region.
 * @param pages of one registration at most, up to PLX_FAST_PAGES_MAX; 0: only contiguous memory
 * Errors: INVALID (pages), FULL (keys), NO_MEMORY
 */
PLX_API enum plx_status plx_mr_create_fast(struct plx_pd *pd, uint32_t pages,
					   struct plx_mr **mr) PLX_MUST_CHECK;

/**
 * Create a memory window, type 2. plx_post_bind() binds it; PLX_WR_LOCAL_INV, a SEND with
 * invalidate or plx_mw_destroy() unbinds it. Errors: FULL
 */
PLX_API enum plx_status plx_mw_create(struct plx_pd *pd, struct plx_mw **mw) PLX_MUST_CHECK;
/** Unbind and destroy a window. Errors: TIMEOUT (as plx_mr_deregister()) */
PLX_API enum plx_status plx_mw_destroy(struct plx_mw *mw) PLX_MUST_CHECK;

/* ---- completion queues ---- */

struct plx_cq_options {
	uint32_t depth;  /* 1 .. plx_adapter_info.cq_depth */
	bool strict;     /* overrun at `depth`, as hardware does; else the queue grows */
	uint32_t engine; /* 1 .. plx_adapter_info.engines: the one that serves it, pinned; 0: any */
	uint64_t context; /* in events */
};

/**
 * Create a completion queue. One engine serves it and all its queue pairs: the pinned one, else one
 * that is chosen when a queue pair first uses it.
 * Errors: INVALID (depth, engine), NO_MEMORY
 */
PLX_API enum plx_status plx_cq_create(struct plx_adapter *adapter,
				      const struct plx_cq_options *options,
				      struct plx_cq **cq) PLX_MUST_CHECK;
/** Destroy a completion queue. Errors: BUSY (a queue pair uses it), TIMEOUT (the engine does not
 * run) */
PLX_API enum plx_status plx_cq_destroy(struct plx_cq *cq) PLX_MUST_CHECK;

/**
 * Fetch completions. In inline mode, poll the adapter first if there are none; of a queue that is
 * pinned to an engine, that engine alone.
 * Returns: the number fetched, at most `n`. Threads: any, several at once.
 */
PLX_API uint32_t plx_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n);

/* Completions where they lie in the queue: `first` of them at `at`, the rest at `more`. */
struct plx_wc_span {
	const struct plx_wc *at, *more;
	uint32_t first, count;
};

/**
 * As plx_cq_poll(), but without copying the completions. They stay valid until plx_cq_release(),
 * which must follow soon, by the same thread: other threads that poll the queue wait for it.
 * Returns: span->count; 0: nothing is to be released
 */
PLX_API uint32_t plx_cq_peek(struct plx_cq *cq, uint32_t n, struct plx_wc_span *span);
/** Consume all completions of a peek. */
PLX_API void plx_cq_release(struct plx_cq *cq, const struct plx_wc_span *span);

/**
 * Request one notification, for an entry newer than both the last notification and the last poll
 * before this call. So the sequence poll, find nothing, arm never misses an entry. An entry
 * produced after this call fires even if it is polled first.
 *
 * @param kinds enum plx_cq_notify bits, added to those already armed
 * @param fired [out] the kinds that fired at once, whichever call armed them; they are not reported
 *              again. NULL: plx_cq_get_event() and the descriptor report them
 * Errors: INVALID (kinds), FULL (the queue has overrun); at the first call, for which the host may
 * be asked: TIMEOUT (the engine does not run), GONE
 * Cost: the first call of a queue makes one system call, later ones none
 * Spec: IBTA vol 1, 11.4.2.2
 */
PLX_API enum plx_status plx_cq_arm(struct plx_cq *cq, uint32_t kinds,
				   uint32_t *fired) PLX_MUST_CHECK;
/**
 * Withdraw a request for notification.
 * Returns: the kinds, among `kinds`, that were still armed; other kinds that were armed have fired
 */
PLX_API uint32_t plx_cq_disarm(struct plx_cq *cq, uint32_t kinds);
struct plx_cq_info {
	uint32_t depth;
	uint64_t produced, polled; /* entries since the queue was created */
	bool overrun;
};

/** Report how many entries there have been. Threads: any */
PLX_API void plx_cq_query(const struct plx_cq *cq, struct plx_cq_info *out);
/**
 * Count all entries so far as notified, and withdraw every request for notification and what has
 * fired: the program has been told of them in its own way. A kind that fires at this moment is
 * still reported. Threads: any, but no other call that arms or withdraws at the same time
 */
PLX_API void plx_cq_set_notified(struct plx_cq *cq);
/** Fetch the kinds that have fired, and clear the descriptor. */
PLX_API uint32_t plx_cq_get_event(struct plx_cq *cq);
/** Get a descriptor that is readable from the moment an armed kind fires until plx_cq_get_event()
 * fetches it. The queue owns it. Returns: -1: no descriptor is available */
PLX_API int plx_cq_fd(struct plx_cq *cq);

/**
 * Wait until an armed kind has fired. In inline mode, poll meanwhile.
 * @param timeout_ms longest wait; 0: do not wait
 * Returns: the kinds that fired, as plx_cq_get_event(); 0: timeout, or at once if the host of the
 * adapter has gone
 */
PLX_API uint32_t plx_cq_wait(struct plx_cq *cq, uint32_t timeout_ms);
/**
 * Change the depth; entries in the queue are kept. Errors: INVALID (depth), BUSY (it holds more),
 * NO_MEMORY, TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_cq_resize(struct plx_cq *cq, uint32_t depth) PLX_MUST_CHECK;

/* ---- shared receive queues ---- */

struct plx_srq_options {
	uint32_t depth; /* 1 .. plx_adapter_info.srq_depth */
	uint32_t sges;
	uint32_t threshold; /* 0: none */
	uint32_t depth_max; /* limit of plx_srq_resize(); 0: depth */
	uint32_t engine;    /* as plx_cq_options.engine */
	uint64_t context;
};

/** Create a shared receive queue. Errors: INVALID (depth, SGEs, threshold, engine), NO_MEMORY */
PLX_API enum plx_status plx_srq_create(struct plx_adapter *adapter,
				       const struct plx_srq_options *options,
				       struct plx_srq **srq) PLX_MUST_CHECK;
/** Destroy a shared receive queue and discard its posted receives. Errors: BUSY (a queue pair uses
 * it), TIMEOUT (the engine does not run) */
PLX_API enum plx_status plx_srq_destroy(struct plx_srq *srq) PLX_MUST_CHECK;
/** Post receives as plx_post_recv() does, for all queue pairs that share the queue. */
PLX_API uint32_t plx_post_srq_recv(struct plx_srq *srq, const struct plx_recv_wr *wr, uint32_t n,
				   enum plx_status *refused);
/** Change how many receives may be outstanding. Errors: INVALID (0, above depth_max), BUSY (more
 * are posted) */
PLX_API enum plx_status plx_srq_resize(struct plx_srq *srq, uint32_t depth) PLX_MUST_CHECK;
/**
 * Arm SRQ_THRESHOLD again. The event is raised at once if fewer receives are already posted.
 * @param threshold 0: none
 */
PLX_API enum plx_status plx_srq_arm(struct plx_srq *srq, uint32_t threshold) PLX_MUST_CHECK;

/* ---- queue pairs ---- */

struct plx_qp_options {
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq;            /* NULL: a receive queue of its own */
	uint32_t sq_depth, rq_depth;    /* 1 .. plx_adapter_info.queue_depth */
	uint32_t sq_sges, rq_sges;      /* 0: 1 */
	uint32_t inline_bytes;          /* at least 64 are always available */
	uint32_t responder_resources;   /* READs and atomics the peer may have outstanding; 0: 16 */
	uint64_t context;               /* in completions and events */
	enum plx_qp_type type;          /* 0: PLX_QP_RC */
	uint32_t qkey;                  /* UD: required in datagrams sent to it */
	enum plx_congestion congestion; /* RC; 0: as the adapter is set */
	/* plx_qp_import(): as plx_qp_lend() to that seat, by the same token; 0: to none */
	uint32_t heir;
};

/**
 * Create a queue pair, in RESET. Errors (each with a sentence): INVALID (queues of another adapter
 * or of different engines, a limit), FULL, NO_MEMORY, TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options,
				      struct plx_qp **qp, struct plx_why *why) PLX_MUST_CHECK;
/** Destroy a queue pair and discard posted requests without completions. To get completions, call
 * plx_qp_flush() and poll first. */
PLX_API enum plx_status plx_qp_destroy(struct plx_qp *qp) PLX_MUST_CHECK;

/* What a peer needs to connect. The program sends it to the peer. */
struct plx_qp_address {
	uint32_t qpn;
	uint32_t psn; /* the first one this end will send */
	struct plx_ip ip;
	uint32_t path_mtu;
	uint8_t responder_resources; /* READs and atomics the peer may have outstanding here */
	bool selective;              /* its NAKs can say what has arrived: only Pollux's can */
};

/**
 * Describe this queue pair to a peer that is to connect to it.
 * @param remote the peer's address, which selects one of the adapter's addresses; NULL: the first
 */
PLX_API enum plx_status plx_qp_address(const struct plx_qp *qp, const struct plx_ip *remote,
				       struct plx_qp_address *out) PLX_MUST_CHECK;

/* What both ends agree on besides the addresses; plx_qp_attr_init() sets defaults. */
struct plx_qp_attr {
	uint32_t path_mtu;       /* 0: the smaller of both ends' */
	uint32_t access;         /* PLX_ACCESS_REMOTE_* the peer may use */
	uint8_t retry;           /* 0 .. 7 */
	uint8_t rnr_retry;       /* 0 .. 7; 7: no limit */
	uint8_t rnr_timer;       /* 0 .. 31, the code in the RNR NAKs sent */
	uint8_t ack_timeout;     /* 1 .. 31: 4.096 us * 2^n */
	uint8_t initiator_depth; /* outstanding READs and atomics of this end; 0: the peer's limit
				  */
	uint8_t dscp;            /* 0xff: the adapter's */
	uint32_t window_packets; /* 0: 128 */
	uint32_t ack_interval;   /* 0: 16 */
};

/** Set defaults: 7 retries after 67 ms each (ack_timeout 14), 6 RNR retries after 246 ms each
 * (rnr_timer 29), all remote access, the adapter's DSCP, and 0 for the rest. */
PLX_API void plx_qp_attr_init(struct plx_qp_attr *attr);

/**
 * Connect: move from RESET or INIT to RTS, once the neighbour is resolved.
 *
 * @param timeout_ms longest wait for the neighbour; inline mode polls this adapter meanwhile. 0: do
 *                   not wait; return AGAIN while the neighbour is being resolved
 * Errors (each with a sentence): AGAIN; TIMEOUT; UNREACHABLE; INVALID; STATE; TOO_LONG (path MTU
 * not supported by the port)
 */
PLX_API enum plx_status plx_qp_connect(struct plx_qp *qp, const struct plx_qp_address *peer,
				       const struct plx_qp_attr *attr, uint32_t timeout_ms,
				       struct plx_why *why) PLX_MUST_CHECK;

/**
 * Change the state by one step. `peer` and `attr` are used for RTR and RTS only.
 * Errors: as plx_qp_connect()
 */
PLX_API enum plx_status plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to,
				      const struct plx_qp_address *peer,
				      const struct plx_qp_attr *attr,
				      struct plx_why *why) PLX_MUST_CHECK;

/** Complete all posted requests, in order; those not executed complete as FLUSHED. The queue pair
 * moves to ERROR, or stays in INIT. Errors: STATE (in RESET), TIMEOUT (the engine does not run) */
PLX_API enum plx_status plx_qp_flush(struct plx_qp *qp) PLX_MUST_CHECK;

struct plx_qp_info {
	enum plx_qp_state state;
	uint32_t qpn, peer_qpn;
	uint32_t sq_used, sq_depth; /* requests that still occupy a slot */
	uint32_t path_mtu;
	uint32_t engine; /* that serves it, 1 .. plx_adapter_info.engines */
	bool flushed;    /* in ERROR, and nothing is left to flush */
};

/** Report the state, queue pair numbers and used slots. Errors: TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_qp_query(struct plx_qp *qp, struct plx_qp_info *out) PLX_MUST_CHECK;

/* ---- queue pairs that change hands ---- */

/**
 * Give a connected queue pair to another program that is attached to the same adapter.
 *
 * It is taken between two messages: all of its requests are completed, no message of the peer has
 * begun, and no reply is due. Then it is the host's, and the peer gets an RNR NAK for what it
 * sends. Receives that were posted are FLUSHED, unless they are an SRQ's. `qp` is in ERROR
 * afterwards, and is to be destroyed; `connector` is destroyed, and its events wait for the
 * importer. READs that were answered are replayed from the exporter's memory, as long as it stays
 * registered, for twice the retry budget (1 to 20 s). Other accesses of the peer to that memory
 * fail the queue pair.
 *
 * The token goes to the other program by whatever the two share. If this program ends, the host
 * waits 5 s for an import, and then ends the connection.
 *
 * @param connector that has connected `qp`; NULL: plx_qp_connect() has
 * @param seat      plx_adapter_info.seat of the importer; this program may import it, too
 * Errors (each with a sentence): BUSY (not between two messages: go on and call again); STATE (not
 * connected, or the connection has ended); INVALID (UD, another connector; the adapter is the
 * program's own); FULL, NO_MEMORY, TIMEOUT, GONE. Nothing has changed.
 * Threads: any; no other uses `qp` and `connector`
 * Tests:   tests/unit/host/export.c
 */
PLX_API enum plx_status plx_qp_export(struct plx_qp *qp, struct plx_connector *connector,
				      uint32_t seat, struct plx_qp_token *token,
				      struct plx_why *why) PLX_MUST_CHECK;

/**
 * Let another program take this queue pair over whenever it wishes, by plx_qp_import(): while this
 * one computes, is stopped, or has ended. It is taken as plx_qp_export() gives it, when what was
 * posted is done; then it is as after that call, and so is `connector`. After this program's end
 * the host waits 5 s for what was posted, and 5 s for the other program. Until it is taken nothing
 * changes. The last call counts; plx_qp_destroy() ends a loan. After plx_qp_export(), whose token
 * is this one, the heir may import it as the other program may.
 *
 * @param connector that has connected `qp`; NULL: plx_qp_connect() has
 * @param heir      plx_adapter_info.seat of the program that may take it
 * Errors (each with a sentence): STATE (not connected); INVALID (UD, another connector; the adapter
 * is the program's own); TIMEOUT, GONE
 * Threads: any
 * Tests:   tests/unit/host/linger.c
 */
PLX_API enum plx_status plx_qp_lend(struct plx_qp *qp, struct plx_connector *connector,
				    uint32_t heir, struct plx_qp_token *token,
				    struct plx_why *why) PLX_MUST_CHECK;

/** What became of the requests of the programs that had an imported queue pair; all 0: of any
 * other. Threads: any */
PLX_API void plx_qp_inherited(const struct plx_qp *qp, struct plx_qp_past *out);

/**
 * Let the host finish what this queue pair has posted if the program ends, however it ends: until
 * all of it is acknowledged, or the time is over, the connection stays, and the memory with it.
 * Then the peer is told that it is disconnected. Without this call it is told at once. What the
 * peer sends meanwhile goes into receives that were posted.
 *
 * @param ms 1 .. PLX_LINGER_MAX_MS: after the program's end; 0: do not
 * Errors (each with a sentence): INVALID (the time; UD; the adapter is the program's own, which
 * ends with it); GONE
 * Threads: any
 * Tests:   tests/unit/host/linger.c
 */
PLX_API enum plx_status plx_qp_linger(struct plx_qp *qp, uint32_t ms,
				      struct plx_why *why) PLX_MUST_CHECK;

/**
 * Take over a queue pair that another program has exported to this one. It is in RTS at once: post
 * receives.
 *
 * @param options as for plx_qp_create(); its responder resources are those of before. Its queues
 *                must be of the engine of before, or not be placed yet
 * @param channel for the events of its connector, also those that have waited; NULL: it has none
 * @param connector [out] NULL if `channel` is
 * Errors (each with a sentence): NO_KEY (no such token, or it was for another seat, or was used);
 * STATE (the connection has ended); BUSY (it was lent, and what was posted is not done: call
 * again); INVALID (as plx_qp_create(); a channel is missing, or not needed); FULL, NO_MEMORY,
 * TIMEOUT, GONE. After STATE the token is used up, else it is still valid.
 */
PLX_API enum plx_status plx_qp_import(struct plx_pd *pd, const struct plx_qp_token *token,
				      const struct plx_qp_options *options,
				      struct plx_event_channel *channel, struct plx_qp **qp,
				      struct plx_connector **connector,
				      struct plx_why *why) PLX_MUST_CHECK;

/* ---- posting ---- */

/**
 * Post up to `n` requests, in order, until one is refused. In inline mode they are sent before the
 * call returns if nothing else of this queue pair is in flight, otherwise by the next poll.
 *
 * @param refused [out] the status of the refused request; OK: none was refused; may be NULL
 * Returns: the number posted
 * Errors: STATE (not connected), FULL (poll, or wait), INVALID, TOO_MANY_SGES, TOO_LONG
 * Threads: any; concurrent calls are serialized
 * Cost: hot; no system call, but for the one that wakes an adaptive worker
 */
PLX_API uint32_t plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			       enum plx_status *refused);
/* An operation with its flags. They are not neighbours: of two bytes stored one by one, a load of
 * both at once would wait until they have left the core. */
#define PLX_WR(op, flags) ((uint32_t)(op) | (uint32_t)(flags) << 16)

/**
 * Post one SEND, WRITE or READ of one SGE: as plx_post_send(), with all arguments in registers.
 * @param op_flags PLX_WR(enum plx_wr_op, enum plx_wr_flag)
 * Errors: as plx_post_send(); INVALID: another operation
 */
PLX_API enum plx_status plx_post_one(struct plx_qp *qp, uint32_t op_flags, uint64_t wr_id,
				     const struct plx_sge *sge, uint64_t remote_va,
				     struct plx_key rkey) PLX_MUST_CHECK;
/** Post up to `n` receives, as plx_post_send(). Allowed from INIT on. Errors: STATE (RESET, or the
 * queue pair has a shared receive queue), FULL, INVALID, TOO_MANY_SGES */
PLX_API uint32_t plx_post_recv(struct plx_qp *qp, const struct plx_recv_wr *wr, uint32_t n,
			       enum plx_status *refused);
/** Notify the engine of requests posted with PLX_WR_DEFER; in inline mode, send them. */
PLX_API void plx_qp_ring_doorbell(struct plx_qp *qp);

/* What a window is bound to. */
struct plx_bind {
	uint64_t wr_id;
	uint8_t flags; /* PLX_WR_UNSIGNALED, PLX_WR_FENCE */
	struct plx_mr *mr;
	uint64_t va;
	uint64_t length;
	uint32_t access; /* PLX_ACCESS_REMOTE_* */
};

/** Post a work request that binds a window to part of a region, for the peer of this queue pair
 * only. The key may be sent to the peer as soon as this returns, because requests posted later are
 * sent later. Errors: as plx_post_send(); BUSY (already bound), DENIED (rights or range) */
PLX_API enum plx_status plx_post_bind(struct plx_qp *qp, struct plx_mw *mw,
				      const struct plx_bind *bind,
				      struct plx_key *key) PLX_MUST_CHECK;

/* What plx_post_reg() registers. */
struct plx_reg {
	uint64_t wr_id;
	uint8_t flags; /* PLX_WR_UNSIGNALED, PLX_WR_FENCE, PLX_WR_DEFER */
	struct plx_mr *mr;
	uint64_t va;  /* the address that peers and SGEs use; the memory is at it */
	void *memory; /* contiguous */
	uint64_t length;
	uint32_t access; /* PLX_ACCESS_*, without BIND and STABLE */
	/* Not NULL: instead of `memory`, where the pages are. The first byte is at
	 * va % PLX_PAGE_BYTES of the first page. Not used after the call */
	const uint64_t *page;
	uint32_t pages; /* at least as many as the range spans */
};

/**
 * Post a work request that registers memory with a region of plx_mr_create_fast(), in order with
 * all other requests. The key may be sent to the peer as soon as this returns, and is valid when
 * the request is executed: before any request posted later. If the region's last key is valid then,
 * the queue pair fails with LOCAL_INVALIDATE; an invalidation posted before is early enough.
 *
 * Pages that are apart need one of the region's PLX_FAST_LISTS lists, from the post until their key
 * is invalid or the request was flushed.
 * Errors: as plx_post_send(); INVALID (memory, length, rights, pages), DENIED (another domain),
 *         NO_KEY (not such a region), FULL (also: the region has no free list)
 * Threads: one at a time for one region
 * Cost: hot; no lock, no system call; O(pages)
 */
PLX_API enum plx_status plx_post_reg(struct plx_qp *qp, const struct plx_reg *reg,
				     struct plx_key *key) PLX_MUST_CHECK;

/* ---- datagrams ---- */

/* A UD queue pair sends messages of at most one packet to any peer, unreliably. Create it like any
 * other queue pair; plx_qp_modify() moves it to INIT, RTR and RTS without a peer or attributes.
 * Requests are SEND and SEND_IMM with `ah`, `remote_qpn` and `remote_qkey`, at most as long as the
 * adapter's path MTU. They complete when they are sent. If the highest bit of `remote_qkey` is set,
 * the queue pair's own Q_Key is sent. Receive buffers need room for PLX_UD_HEADER_BYTES in addition
 * to the message, and plx_wc.bytes includes them. A datagram is dropped if no receive is posted or
 * the next one is too short; that receive stays posted. */

struct plx_ah_options {
	struct plx_ip remote;
	struct plx_ip local; /* version 0: chosen by the prefix of `remote` */
	uint8_t dscp;        /* 0xff: the adapter's */
	uint8_t hop_limit;   /* 0: 64 */
};

/** Create an address handle, by which UD queue pairs of one domain reach a peer. Resolution of its
 * neighbour starts at once. Until it ends a few datagrams wait; they are dropped if the neighbour
 * does not answer. If the neighbour's Ethernet address changes, using the handle finds the new one.
 * Errors (with a sentence): UNREACHABLE (not on a network of the adapter, or not a unicast
 * address), FULL, INVALID, NO_MEMORY, TIMEOUT (the engine does not run) */
PLX_API enum plx_status plx_ah_create(struct plx_pd *pd, const struct plx_ah_options *options,
				      struct plx_ah **ah, struct plx_why *why) PLX_MUST_CHECK;
/** Destroy an address handle. Requests already posted with it are still sent. */
PLX_API enum plx_status plx_ah_destroy(struct plx_ah *ah) PLX_MUST_CHECK;

/* ---- connections ----
 *
 * The protocol is that of Linux's rdma_cm. The active side creates a connector, calls
 * plx_connect(), receives REPLIED and calls plx_establish(). The passive side calls plx_listen(),
 * receives REQUESTED with a new connector, calls plx_accept() and receives ESTABLISHED. Either side
 * then calls plx_disconnect(): the peer receives DISCONNECTED, the caller receives CLOSED. Only
 * plx_event_channel_wait() waits; all other calls report their outcome by events.
 */

/**
 * Create a channel, which delivers events of connectors and listeners in order.
 * @param depth 1 .. PLX_EVENT_CHANNEL_DEPTH_MAX, of the ring; further events wait and are not lost
 */
PLX_API enum plx_status plx_event_channel_create(struct plx_adapter *adapter, uint32_t depth,
						 struct plx_event_channel **channel) PLX_MUST_CHECK;
/** Destroy a channel. Errors: BUSY (a connector or listener uses it) */
PLX_API enum plx_status plx_event_channel_destroy(struct plx_event_channel *channel) PLX_MUST_CHECK;

/** Fetch the next event. Inline mode polls first if there is none. Returns: false: no event.
 * Threads: any, several at once. */
PLX_API bool plx_event_channel_next(struct plx_event_channel *channel,
				    struct plx_connector_event *out);
/** Fetch the next event, waiting at most `timeout_ms`. Returns: false: timeout, or at once if the
 * host of the adapter has gone */
PLX_API bool plx_event_channel_wait(struct plx_event_channel *channel, uint32_t timeout_ms,
				    struct plx_connector_event *out);
/** Get a descriptor that is readable while an event is pending. The channel owns it. In inline mode
 * events arrive only while the adapter is polled. */
PLX_API int plx_event_channel_fd(struct plx_event_channel *channel);

struct plx_listen_options {
	struct plx_ip local; /* version 0: every address of the adapter */
	uint16_t port;       /* 1 .. */
	uint32_t backlog;    /* requests not yet answered; 0: the adapter's limit */
	uint64_t context;
	struct plx_qp *ud; /* a UD service: SIDR requests are answered with this queue pair */
};

/**
 * Listen for connection requests at an address and port. Each raises REQUESTED.
 * Errors (each with a sentence): BUSY (port in use), INVALID, FULL
 */
PLX_API enum plx_status plx_listen(struct plx_event_channel *channel,
				   const struct plx_listen_options *options,
				   struct plx_listener **listener,
				   struct plx_why *why) PLX_MUST_CHECK;
/** Stop listening. Requests that the program has not fetched are rejected; connectors already
 * delivered stay valid. */
PLX_API enum plx_status plx_listener_destroy(struct plx_listener *listener) PLX_MUST_CHECK;

/** Set defaults: retries and timeouts as plx_qp_attr_init(), addresses unspecified, no private
 * data. */
PLX_API void plx_connect_options_init(struct plx_connect_options *options);

/** Create an idle connector. */
PLX_API enum plx_status plx_connector_create(struct plx_event_channel *channel, uint64_t context,
					     struct plx_connector **connector) PLX_MUST_CHECK;

/** Destroy a connector in any state: reject, disconnect or abort, as the state requires. Its queue
 * pair is flushed if it was connected, otherwise unchanged. The connector raises no further events.
 */
PLX_API enum plx_status plx_connector_destroy(struct plx_connector *connector) PLX_MUST_CHECK;

/**
 * Request a connection. REPLIED, REJECTED, UNREACHABLE or TIMED_OUT follows. After the last three
 * the connector is idle again, and the queue pair is as before, with its posted receives.
 *
 * @param qp RC, in RESET or INIT; moved to INIT
 * Errors (each with a sentence): STATE (connector or queue pair in use), INVALID, UNREACHABLE (no
 * route), FULL, TOO_LONG (private data), TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_connect(struct plx_connector *connector, struct plx_qp *qp,
				    const struct plx_connect_options *options,
				    struct plx_why *why) PLX_MUST_CHECK;

/** Complete a connection after REPLIED: move the queue pair to RTS and notify the peer. Errors:
 * STATE */
PLX_API enum plx_status plx_establish(struct plx_connector *connector,
				      struct plx_why *why) PLX_MUST_CHECK;

/** Accept a connection after REQUESTED: move the queue pair to RTR, and reply. ESTABLISHED follows,
 * with the queue pair in RTS; or ABORTED or TIMED_OUT, with the queue pair flushed. Errors: as
 * plx_connect() */
PLX_API enum plx_status plx_accept(struct plx_connector *connector, struct plx_qp *qp,
				   const struct plx_connect_options *options,
				   struct plx_why *why) PLX_MUST_CHECK;

/** Reject a connection after REQUESTED or REPLIED. The only call allowed on the connector
 * afterwards is plx_connector_destroy(). Errors: STATE, TOO_LONG */
PLX_API enum plx_status plx_reject(struct plx_connector *connector, const void *private_data,
				   uint32_t private_bytes) PLX_MUST_CHECK;

/** Flush the queue pair and notify the peer. CLOSED follows when the peer has answered, or after a
 * timeout. Errors: STATE (not connected, or already disconnected; if the peer disconnected first,
 * the local queue pair is flushed now) */
PLX_API enum plx_status plx_disconnect(struct plx_connector *connector) PLX_MUST_CHECK;

/** Request the queue pair of a UD service. SIDR_REPLY, UNREACHABLE or TIMED_OUT follows, and the
 * connector is idle again. Errors: as plx_connect() */
PLX_API enum plx_status plx_sidr_request(struct plx_connector *connector,
					 const struct plx_connect_options *options,
					 struct plx_why *why) PLX_MUST_CHECK;

/** Set the context of all later events. */
PLX_API void plx_connector_set_context(struct plx_connector *connector, uint64_t context);

/** Report addresses, ports and negotiated parameters. Errors: STATE (never used) */
PLX_API enum plx_status plx_connector_query(const struct plx_connector *connector,
					    struct plx_connector_info *out) PLX_MUST_CHECK;

/* ---- counters ---- */

/** Read the counters of a queue pair, as plx_adapter_counters(). */
PLX_API uint32_t plx_qp_counters(const struct plx_qp *qp, struct plx_counter *out, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
