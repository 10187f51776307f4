/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pollux: RDMA on any NIC. The narrow waist: protection domains, regions, windows, completion
 * queues, shared receive queues, queue pairs, connections; on adapters (plx_adapter.h, which this
 * header includes).
 * Nothing here prints or ends the program; a refused call has changed nothing.
 * Start with plx_adapter_open(); docs/verbs.md leads through a first program.
 *
 * Threads. An adapter in worker mode may be used from any number of threads; what a call says of
 * threads is for worker mode. In inline mode every call on an adapter and its objects comes from
 * one thread at a time, and nothing moves but inside plx_adapter_poll() (and calls that say that
 * they poll).
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

/* ---- memory --------------------------------------------------------------------------------- */

/** Create a protection domain. Errors: FULL */
PLX_API enum plx_status plx_pd_create(struct plx_adapter *adapter,
				      struct plx_pd **pd) PLX_MUST_CHECK;
/** Destroy a protection domain. Errors: BUSY (it still has objects) */
PLX_API enum plx_status plx_pd_destroy(struct plx_pd *pd) PLX_MUST_CHECK;

/**
 * Register memory of this process. SGEs and peers name it by its address and the region's key,
 * which is valid when this returns.
 *
 * @param access PLX_ACCESS_* bits
 * Errors: INVALID (zero or wrapping length, unknown bits), FULL (keys), NO_MEMORY
 * Cost: no engine round trip
 */
PLX_API enum plx_status plx_mr_register(struct plx_pd *pd, void *memory, size_t length,
					uint32_t access, struct plx_mr **mr) PLX_MUST_CHECK;

/**
 * Deregister a region. When it returns OK, nothing accesses the memory any more.
 * Errors: BUSY (a window is bound to it), TIMEOUT (the engine does not run: the key is invalid, but
 * the engine may be copying; leave the memory in place until another call has returned OK)
 */
PLX_API enum plx_status plx_mr_deregister(struct plx_mr *mr) PLX_MUST_CHECK;
/**
 * As plx_mr_deregister(), which waits 5 s for the engine.
 * @param timeout_ms 0: do not wait. The first call makes the key invalid, whatever it returns.
 */
PLX_API enum plx_status plx_mr_deregister_within(struct plx_mr *mr,
						 uint32_t timeout_ms) PLX_MUST_CHECK;
/** The key that SGEs carry, and that peers need for remote access. */
PLX_API struct plx_key plx_mr_key(const struct plx_mr *mr);

/**
 * Create a memory window, type 2. plx_post_bind() binds it; PLX_WR_LOCAL_INV, a SEND with
 * invalidate or plx_mw_destroy() unbinds it. Errors: FULL
 */
PLX_API enum plx_status plx_mw_create(struct plx_pd *pd, struct plx_mw **mw) PLX_MUST_CHECK;
/** Destroy a window, and unbind it. Errors: TIMEOUT (as plx_mr_deregister()) */
PLX_API enum plx_status plx_mw_destroy(struct plx_mw *mw) PLX_MUST_CHECK;

/* ---- completion queues ------------------------------------------------------------------------
 */

struct plx_cq_options {
	uint32_t depth;   /* 1 .. plx_adapter_info.cq_depth */
	bool strict;      /* overrun at `depth`, as real adapters do; else it makes room */
	uint64_t context; /* in events */
};

/** Create a completion queue. Errors: INVALID (depth), NO_MEMORY */
PLX_API enum plx_status plx_cq_create(struct plx_adapter *adapter,
				      const struct plx_cq_options *options,
				      struct plx_cq **cq) PLX_MUST_CHECK;
/** Destroy a completion queue. Errors: BUSY (a queue pair uses it), TIMEOUT (the engine does not
 * run) */
PLX_API enum plx_status plx_cq_destroy(struct plx_cq *cq) PLX_MUST_CHECK;

/**
 * Fetch completions. In inline mode it polls the adapter first if there are none.
 * Returns: how many were fetched, at most `n`. Threads: any, several at once.
 */
PLX_API uint32_t plx_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n);

/**
 * Request one notification: of an entry that is newer than both the last notification and the last
 * poll before this call.
 *
 * @param kinds enum plx_cq_notify bits
 * @param fired [out] those that fired at once, whoever had armed them: they are not reported again.
 *              NULL: plx_cq_get_event() and the descriptor report them
 * Spec: IBTA vol 1, 11.4.2.2
 */
PLX_API enum plx_status plx_cq_arm(struct plx_cq *cq, uint32_t kinds,
				   uint32_t *fired) PLX_MUST_CHECK;
/**
 * Withdraw a request for notification.
 * Returns: the kinds, among `kinds`, that were still armed; any other that was armed has fired
 */
PLX_API uint32_t plx_cq_disarm(struct plx_cq *cq, uint32_t kinds);
/** Fetch the kinds that have fired, and make the descriptor unreadable again. */
PLX_API uint32_t plx_cq_get_event(struct plx_cq *cq);
/** Readable from the moment an armed kind fires until the kinds are taken; the queue's own.
 * Returns: -1: no descriptor can be had */
PLX_API int plx_cq_fd(struct plx_cq *cq);

/**
 * Wait until an armed kind has fired. In inline mode it polls.
 * @param timeout_ms at most; 0: do not wait
 * Returns: the kinds that fired, as plx_cq_get_event(); 0: timeout
 */
PLX_API uint32_t plx_cq_wait(struct plx_cq *cq, uint32_t timeout_ms);
/**
 * Change the depth; entries in the queue are kept. Errors: INVALID (depth), BUSY (it holds more),
 * NO_MEMORY, TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_cq_resize(struct plx_cq *cq, uint32_t depth) PLX_MUST_CHECK;

/* ---- shared receive queues ----------------------------------------------------------------------
 */

struct plx_srq_options {
	uint32_t depth; /* 1 .. plx_adapter_info.srq_depth */
	uint32_t sges;
	uint32_t threshold; /* 0: none */
	uint32_t depth_max; /* that plx_srq_resize() may go to; 0: depth */
	uint64_t context;
};

/** Create a shared receive queue. Errors: INVALID (depth, SGEs, threshold), NO_MEMORY */
PLX_API enum plx_status plx_srq_create(struct plx_adapter *adapter,
				       const struct plx_srq_options *options,
				       struct plx_srq **srq) PLX_MUST_CHECK;
/**
 * Destroy a shared receive queue, and drop what is posted. Errors: BUSY (a queue pair uses it),
 * TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_srq_destroy(struct plx_srq *srq) PLX_MUST_CHECK;
/** As plx_post_recv(), for all queue pairs of the shared queue. */
PLX_API uint32_t plx_post_srq_recv(struct plx_srq *srq, const struct plx_recv_wr *wr, uint32_t n,
				   enum plx_status *refused);
/**
 * Change how many receives may be posted at once. Errors: INVALID (0, above depth_max), BUSY (more
 * are posted)
 */
PLX_API enum plx_status plx_srq_resize(struct plx_srq *srq, uint32_t depth) PLX_MUST_CHECK;
/**
 * Request SRQ_THRESHOLD again; it comes at once if there are fewer receives already. @param
 * threshold 0: none
 */
PLX_API enum plx_status plx_srq_arm(struct plx_srq *srq, uint32_t threshold) PLX_MUST_CHECK;

/* ---- queue pairs --------------------------------------------------------------------------------
 */

struct plx_qp_options {
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq;          /* NULL: a receive queue of its own */
	uint32_t sq_depth, rq_depth;  /* 1 .. plx_adapter_info.queue_depth */
	uint32_t sq_sges, rq_sges;    /* 0: 1 */
	uint32_t inline_bytes;        /* 64 are always there */
	uint32_t responder_resources; /* READs and atomics the peer may have open; 0: 16 */
	uint64_t context;             /* in completions and events */
	enum plx_qp_type type;        /* 0: PLX_QP_RC */
	uint32_t qkey;                /* UD: that datagrams for it must carry */
};

/**
 * Create a queue pair, in RESET. Errors (each with a sentence): INVALID (queues of another adapter,
 * a limit), FULL, NO_MEMORY, TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options,
				      struct plx_qp **qp, struct plx_why *why) PLX_MUST_CHECK;
/** Destroy a queue pair, and drop what is posted. To have it completed, call plx_qp_flush() and
 * poll first. */
PLX_API enum plx_status plx_qp_destroy(struct plx_qp *qp) PLX_MUST_CHECK;

/* What a peer must know to connect. The program carries it there. */
struct plx_qp_address {
	uint32_t qpn;
	uint32_t psn; /* the first one this end will send */
	struct plx_ip ip;
	uint32_t path_mtu;
	uint8_t responder_resources; /* READs and atomics this end takes at once */
};

/**
 * What a peer must know to connect to this queue pair.
 * @param remote the peer's address, which chooses among ours; NULL: the first
 */
PLX_API enum plx_status plx_qp_address(const struct plx_qp *qp, const struct plx_ip *remote,
				       struct plx_qp_address *out) PLX_MUST_CHECK;

/* What both ends agree on besides the addresses; plx_qp_attr_init() sets defaults. */
struct plx_qp_attr {
	uint32_t path_mtu;       /* 0: the smaller of both ends' */
	uint32_t access;         /* PLX_ACCESS_REMOTE_* the peer may use */
	uint8_t retry;           /* 0 .. 7 */
	uint8_t rnr_retry;       /* 0 .. 7; 7: for ever */
	uint8_t rnr_timer;       /* 0 .. 31, the code our RNR NAKs carry */
	uint8_t ack_timeout;     /* 1 .. 31: 4.096 us * 2^n */
	uint8_t initiator_depth; /* READs and atomics of ours open at once; 0: what the peer takes
				  */
	uint8_t dscp;            /* 0xff: the adapter's */
	uint32_t window_packets; /* 0: 128 */
	uint32_t ack_interval;   /* 0: 16 */
};

/** Defaults: 7 retries after 67 ms each (ack_timeout 14), 6 RNR retries after 246 ms (rnr_timer
 * 29), all remote access, the adapter's DSCP, and 0 for the rest. */
PLX_API void plx_qp_attr_init(struct plx_qp_attr *attr);

/**
 * Connect: from RESET or INIT to RTS, once the neighbour is resolved.
 *
 * @param timeout_ms limit of waiting for the neighbour; inline mode polls this adapter meanwhile.
 * 0: do not wait, return AGAIN while the neighbour is being resolved Errors (each with a sentence):
 * AGAIN; TIMEOUT; UNREACHABLE; INVALID; STATE; TOO_LONG (path MTU above what the port carries)
 */
PLX_API enum plx_status plx_qp_connect(struct plx_qp *qp, const struct plx_qp_address *peer,
				       const struct plx_qp_attr *attr, uint32_t timeout_ms,
				       struct plx_why *why) PLX_MUST_CHECK;

/**
 * Change the state, one step at a time; `peer` and `attr` are read for RTR and RTS.
 * Errors: as plx_qp_connect()
 */
PLX_API enum plx_status plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to,
				      const struct plx_qp_address *peer,
				      const struct plx_qp_attr *attr,
				      struct plx_why *why) PLX_MUST_CHECK;

/**
 * Complete everything posted: what was not executed is FLUSHED, in order. The queue pair is in
 * ERROR then, or in INIT if it was there. Errors: STATE (in RESET), TIMEOUT (the engine does not
 * run)
 */
PLX_API enum plx_status plx_qp_flush(struct plx_qp *qp) PLX_MUST_CHECK;

struct plx_qp_info {
	enum plx_qp_state state;
	uint32_t qpn, peer_qpn;
	uint32_t sq_used, sq_depth; /* requests whose place is not free yet */
	uint32_t path_mtu;
	bool flushed; /* in ERROR, and nothing is left to flush */
};

/** Report state, numbers and free places. Errors: TIMEOUT (the engine does not run) */
PLX_API enum plx_status plx_qp_query(struct plx_qp *qp, struct plx_qp_info *out) PLX_MUST_CHECK;

/**
 * Post up to `n` requests, in order, until one is refused. In inline mode they are sent before the
 * call returns if nothing else of this queue pair is in flight, otherwise by the next poll.
 *
 * @param refused [out] the status of the refused request; OK: none was; may be NULL
 * Returns: how many were posted
 * Errors: STATE (not connected), FULL (poll, or wait), INVALID, TOO_MANY_SGES, TOO_LONG
 * Threads: any, several at once; they take turns
 * Cost: hot; no system call
 */
PLX_API uint32_t plx_post_send(struct plx_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			       enum plx_status *refused);
/** Post up to `n` receives, as plx_post_send(); from INIT on. Errors: STATE (RESET, or the queue
 * pair has a shared receive queue), FULL, INVALID, TOO_MANY_SGES */
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

/**
 * Bind a window to part of a region, for the peer of this queue pair only, as a work request. The
 * key may be sent as soon as this returns, because requests posted later are sent later. Errors: as
 * plx_post_send(); STATE (already bound), DENIED (rights or range)
 */
PLX_API enum plx_status plx_post_bind(struct plx_qp *qp, struct plx_mw *mw,
				      const struct plx_bind *bind,
				      struct plx_key *key) PLX_MUST_CHECK;

/* ---- datagrams ------------------------------------------------------------------------------ */

/*
 * A UD queue pair sends messages of at most one packet to anybody, and loses them as packets are
 * lost. It is made like any other, and plx_qp_modify() to INIT, RTR and RTS takes it there without
 * a peer or attributes. Requests are SEND and SEND_IMM with `ah`, `remote_qpn` and `remote_qkey`,
 * at most as long as the adapter's path MTU; they are done when they are sent. A `remote_qkey`
 * whose highest bit is set stands for the queue pair's own. Receives need PLX_UD_HEADER_BYTES more
 * than the message, and plx_wc.bytes counts them: a datagram that finds no receive, or a shorter
 * one, is dropped, and the receive stays.
 */

struct plx_ah_options {
	struct plx_ip remote;
	struct plx_ip local; /* version 0: chosen by the prefix of `remote` */
	uint8_t dscp;        /* 0xff: the adapter's */
	uint8_t hop_limit;   /* 0: 64 */
};

/**
 * Create an address handle: how UD queue pairs of one domain reach a peer. Its neighbour is
 * resolved at once; until then a few datagrams wait, and they are dropped if it does not answer. A
 * neighbour that moves is found when the handle is used. Errors (with a sentence): UNREACHABLE (in
 * no network of ours, or not the address of one station), FULL, INVALID, NO_MEMORY, TIMEOUT (the
 * engine does not run)
 */
PLX_API enum plx_status plx_ah_create(struct plx_pd *pd, const struct plx_ah_options *options,
				      struct plx_ah **ah, struct plx_why *why) PLX_MUST_CHECK;
/** Destroy an address handle. Requests already posted with it are still sent. */
PLX_API enum plx_status plx_ah_destroy(struct plx_ah *ah) PLX_MUST_CHECK;

/* ---- connections --------------------------------------------------------------------------------
 *
 * What Linux's rdma_cm speaks. The active side: connector, plx_connect(), REPLIED, plx_establish().
 * The passive side: plx_listen(), REQUESTED with a new connector, plx_accept(), ESTABLISHED. Then
 * plx_disconnect() on either side, DISCONNECTED on the other, CLOSED on this one. Nothing here
 * waits but plx_event_channel_wait(); what comes of a call comes as an event.
 */

/**
 * Create a channel, where events of connectors and listeners arrive in order.
 * @param depth 1 .. PLX_EVENT_CHANNEL_DEPTH_MAX, of the ring; events beyond it wait, and are not
 * lost
 */
PLX_API enum plx_status plx_event_channel_create(struct plx_adapter *adapter, uint32_t depth,
						 struct plx_event_channel **channel) PLX_MUST_CHECK;
/** Destroy a channel. Errors: BUSY (a connector or listener uses it) */
PLX_API enum plx_status plx_event_channel_destroy(struct plx_event_channel *channel) PLX_MUST_CHECK;

/**
 * Fetch the next event. Inline mode polls first if there is none. Returns: false: there is none.
 * Threads: any, several at once.
 */
PLX_API bool plx_event_channel_next(struct plx_event_channel *channel,
				    struct plx_connector_event *out);
/** As plx_event_channel_next(), but wait at most `timeout_ms`. Returns: false: no event came */
PLX_API bool plx_event_channel_wait(struct plx_event_channel *channel, uint32_t timeout_ms,
				    struct plx_connector_event *out);
/**
 * A descriptor that is readable while there is an event. It belongs to the channel. In inline mode
 * nothing happens unless the adapter is polled.
 */
PLX_API int plx_event_channel_fd(struct plx_event_channel *channel);

struct plx_listen_options {
	struct plx_ip local; /* version 0: every address of the adapter */
	uint16_t port;       /* 1 .. */
	uint32_t backlog;    /* requests that wait for an answer; 0: as many as the adapter has */
	uint64_t context;
	struct plx_qp *ud; /* a UD service instead: tell who asks of this queue pair */
};

/**
 * Accept connection requests at an address and port: REQUESTED comes for each.
 * Errors (each with a sentence): BUSY (port taken), INVALID, FULL
 */
PLX_API enum plx_status plx_listen(struct plx_event_channel *channel,
				   const struct plx_listen_options *options,
				   struct plx_listener **listener,
				   struct plx_why *why) PLX_MUST_CHECK;
/** Stop listening. Requests not yet taken are rejected; connectors that were handed out stay. */
PLX_API enum plx_status plx_listener_destroy(struct plx_listener *listener) PLX_MUST_CHECK;

/** Defaults: retries and timeouts as plx_qp_attr_init(), every address and private data empty. */
PLX_API void plx_connect_options_init(struct plx_connect_options *options);

/** Create an idle connector. */
PLX_API enum plx_status plx_connector_create(struct plx_event_channel *channel, uint64_t context,
					     struct plx_connector **connector) PLX_MUST_CHECK;

/**
 * Destroy a connector in any state: reject, disconnect or give up, as the state requires. Its queue
 * pair is flushed if it was connected, else untouched. No event of the connector comes afterwards.
 */
PLX_API enum plx_status plx_connector_destroy(struct plx_connector *connector) PLX_MUST_CHECK;

/**
 * Request a connection. REPLIED, REJECTED, UNREACHABLE or TIMED_OUT follows; after the last three
 * the connector is idle again, and the queue pair is as before, with its posted receives.
 *
 * @param qp RC, in RESET or INIT; moved to INIT
 * Errors (each with a sentence): STATE (connector or queue pair in use), INVALID, UNREACHABLE (no
 * route), FULL, TOO_LONG (private data), TIMEOUT (the engine does not run)
 */
PLX_API enum plx_status plx_connect(struct plx_connector *connector, struct plx_qp *qp,
				    const struct plx_connect_options *options,
				    struct plx_why *why) PLX_MUST_CHECK;

/** After REPLIED: move the queue pair to RTS and notify the peer. Errors: STATE */
PLX_API enum plx_status plx_establish(struct plx_connector *connector,
				      struct plx_why *why) PLX_MUST_CHECK;

/**
 * After REQUESTED: move the queue pair to RTR, and reply. ESTABLISHED follows, with the queue pair
 * in RTS; or ABORTED or TIMED_OUT, with the queue pair flushed. Errors: as plx_connect()
 */
PLX_API enum plx_status plx_accept(struct plx_connector *connector, struct plx_qp *qp,
				   const struct plx_connect_options *options,
				   struct plx_why *why) PLX_MUST_CHECK;

/** After REQUESTED or REPLIED: reject. The connector can only be destroyed then. Errors: STATE,
 * TOO_LONG */
PLX_API enum plx_status plx_reject(struct plx_connector *connector, const void *private_data,
				   uint32_t private_bytes) PLX_MUST_CHECK;

/**
 * Flush the queue pair and notify the peer. CLOSED follows when it has answered, or has not in
 * time. Errors: STATE (not connected, or already disconnected; if the peer disconnected first, its
 * queue pair here is flushed now)
 */
PLX_API enum plx_status plx_disconnect(struct plx_connector *connector) PLX_MUST_CHECK;

/**
 * Request the queue pair of a UD service. SIDR_REPLY, UNREACHABLE or TIMED_OUT follows, and the
 * connector is idle again. Errors: as plx_connect()
 */
PLX_API enum plx_status plx_sidr_request(struct plx_connector *connector,
					 const struct plx_connect_options *options,
					 struct plx_why *why) PLX_MUST_CHECK;

/** Set the context of all later events. */
PLX_API void plx_connector_set_context(struct plx_connector *connector, uint64_t context);

/** Report addresses, ports and what was agreed. Errors: STATE (never used) */
PLX_API enum plx_status plx_connector_query(const struct plx_connector *connector,
					    struct plx_connector_info *out) PLX_MUST_CHECK;

/* ---- counters -----------------------------------------------------------------------------------
 */

/** Read those of a queue pair, as plx_adapter_counters(). */
PLX_API uint32_t plx_qp_counters(const struct plx_qp *qp, struct plx_counter *out, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
