/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine: one thread's duty cycle over one queue of a port, and the rings by which application
 * threads reach it. It runs the pure rooms, executes what they decide, and owns every queue pair
 * whose number leads to it.
 * An engine itself is for the thread that polls it, unless a function says otherwise. Its halves of
 * queue pairs, completion queues and so on (plx_engine_qp_*, plx_engine_cq_*) are for application
 * threads. Start with plx_engine_poll(); docs/engine.md walks through one cycle.
 */
#ifndef PLX_ENGINE_H
#define PLX_ENGINE_H

#include "plx_base.h"
#include "plx_cm.h"
#include "plx_mem.h"
#include "plx_net.h"
#include "plx_port.h"
#include "plx_queue.h"
#include "plx_secret.h"
#include "plx_transport.h"
#include "plx_wire.h"

struct rte_mempool;
struct rte_rcu_qsbr;

/* ---- limits --------------------------------------------------------------------------------- */

enum {
	PLX_ENGINES_MAX = 16,         /* of one adapter; a power of two */
	PLX_ENGINE_QPS_MAX = 16384,   /* of one engine */
	PLX_ENGINE_AHS_MAX = 4096,    /* address handles of one engine */
	PLX_ENGINE_AH_WAITS_MAX = 16, /* datagrams that wait for one neighbour, */
	PLX_ENGINE_WAITS_MAX = 256,   /* ... and for all neighbours of one engine */
};

/** A command that the engine has not executed after this was refused with TIMEOUT. */
#define PLX_COMMAND_TIMEOUT_NS (5 * PLX_SEC)

/* ---- the engine ----------------------------------------------------------------------------- */

struct plx_engine;

struct plx_engine_config {
	struct plx_port *port;
	struct plx_mem *mem;
	struct plx_net *net;      /* polled by this engine alone; its frames fit port and pool; its
				     addresses and VLAN are the engine's */
	struct plx_cm *cm;        /* likewise; NULL: what comes for the GSI is dropped */
	struct rte_mempool *pool; /* packets to send; data room for the port's frame_max */
	struct rte_rcu_qsbr *rcu; /* reports quiescence as thread `index`; NULL: inline mode */
	uint32_t index, engines;  /* this is engine `index` of a power of two */
	uint32_t qps;             /* 1 .. PLX_ENGINE_QPS_MAX */
	struct plx_secret secret; /* of the adapter: queue pair numbers and first PSNs */
	bool inline_mode;         /* command calls poll the engine while they wait */
	plx_icrc_fn icrc;         /* NULL: plx_icrc_choose() */
};

/* Everything that explains a drop or a stall before or behind a QP. X(name, text) */
#define PLX_ENGINE_COUNTER_LIST(X)                                                    \
	X(cycles, "duty cycles")                                                      \
	X(busy_cycles, "duty cycles that found work")                                 \
	X(stalls, "times that nobody polled for more than 10 ms")                     \
	X(stalled_ns, "nanoseconds of these")                                         \
	X(clock_back, "duty cycles that found the clock behind an earlier one")       \
	X(rx_packets, "packets received")                                             \
	X(rx_bytes, "bytes received")                                                 \
	X(rx_net, "packets for neighbour resolution, and echoes")                     \
	X(rx_no_qp, "packets for a queue pair that is not there")                     \
	X(rx_gsi, "datagrams for the communication manager")                          \
	X(rx_gsi_denied, "datagrams for the GSI with a wrong opcode, sender or keys") \
	X(tx_gsi, "datagrams of the communication manager sent")                      \
	X(tx_gsi_dropped, "datagrams not sent: no neighbour, or no room")             \
	X(rx_icrc, "packets with a wrong ICRC")                                       \
	X(rx_linearised, "packets that came in several buffers, copied into one")     \
	X(rx_tagged_again, "packets whose VLAN tag the device had taken off")         \
	X(rx_too_long, "packets longer than the port's limit, dropped")               \
	X(tx_packets, "packets sent")                                                 \
	X(tx_bytes, "bytes sent")                                                     \
	X(tx_full, "times the port took less than it was given")                      \
	X(tx_dropped, "packets dropped because the port took nothing for too long")   \
	X(tx_no_buffer, "times there was no buffer to send with")                     \
	X(tx_unresolved, "datagrams dropped because their neighbour did not answer")  \
	X(tx_waits_full, "datagrams dropped because too many wait for a neighbour")   \
	X(commands, "commands executed")                                              \
	X(doorbells, "queues served because they were posted to")                     \
	X(posts_refused, "requests in a ring that were not valid when they arrived")  \
	X(ticks, "timers that fired")                                                 \
	X(completions, "completions delivered")                                       \
	X(cq_spilled, "completions that waited behind a full completion queue")       \
	X(qps_failed, "queue pairs that failed")                                      \
	X(cq_overruns, "completion queues that overran")                              \
	X(notifications, "sleepers woken")                                            \
	X(events, "asynchronous events delivered")

struct plx_engine_counters {
	uint64_t refused[PLX_WIRE_VERDICT_COUNT]; /* by the decoder, or not for us; by reason */
	uint64_t denied[PLX_VERDICT_COUNT];       /* by plx_rc_admit(), by reason */
#define PLX_X(name, text) uint64_t name;
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/** Set-up, any thread. Errors (with a sentence): INVALID, NO_MEMORY */
enum plx_status plx_engine_create(const struct plx_engine_config *config,
				  struct plx_engine **engine, struct plx_why *why) PLX_MUST_CHECK;

/** Nobody polls it any more, and it has no queue pair, completion queue or SRQ left. */
void plx_engine_destroy(struct plx_engine *engine);

/**
 * One duty cycle: commands, an RX burst, answers, timers, posted work, a TX burst, completions.
 *
 * @param now [ns] by one steady clock. The engine's own time, by which its timers go, passes with
 *            it, but for stalls: of the time for which the engine was not polled, and had not said
 *            by plx_engine_wake_ns() that it need not be, at most 10 ms count, so that an engine
 *            that was away does not take that for its peers' silence. A clock that goes back stops
 *            the engine's for as long, at most for 10 ms; both are counted
 * Returns: what was done, as a number of packets, commands, timers and posts; 0: nothing
 * Cost:    hot; bounded, no allocation, lock or system call but a write to the descriptor of an
 *          armed completion queue
 */
uint32_t plx_engine_poll(struct plx_engine *engine, uint64_t now);

/**
 * Between two duty cycles: send what is posted, and nothing else. For inline mode, where a post
 * that nobody polls behind would wait.
 *
 * @param now [ns] as for plx_engine_poll()
 * Cost:    hot; bounded: one quantum of each queue pair that has something to send, one TX burst
 */
void plx_engine_send(struct plx_engine *engine, uint64_t now);

/** From now on the calling thread polls the engine, and reports quiescence for it, or no longer
 * does. */
void plx_engine_set_online(struct plx_engine *engine, bool online);

/** When poll wants to be called again if nothing arrives meanwhile, by the caller's clock: 0 at
 * once, PLX_NEVER. Who asks after a poll may stay away until then, and asks after each poll. */
uint64_t plx_engine_wake_ns(struct plx_engine *engine);

/** Any thread; values may be a little old. */
const struct plx_engine_counters *plx_engine_counters(const struct plx_engine *engine);
const struct plx_net_counters *plx_engine_net_counters(const struct plx_engine *engine);

/* ---- is anybody there? ------------------------------------------------------------------------
 *
 * Any thread. The status is OK when the engine was asked, TIMEOUT when it does not run; what came
 * of it is the verdict. In inline mode the calls poll.
 */

/** As plx_net_resolve(). @param mac [6] written when READY */
enum plx_status plx_engine_resolve(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac,
				   enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/** As plx_net_ping(). @param number [out] when WAIT: to ask for the result with */
enum plx_status plx_engine_ping(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes,
				uint64_t timeout_ns, uint32_t *number,
				enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/** As plx_net_ping_result(); the time is that of duty cycles, stalls of more than 10 ms left out.
 * @param rtt_ns [out] when READY */
enum plx_status plx_engine_ping_result(struct plx_engine *engine, uint32_t number, uint64_t *rtt_ns,
				       enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/* ---- completion queues ------------------------------------------------------------------------
 */

/** Errors: INVALID (depth), NO_MEMORY */
enum plx_status plx_engine_cq_create(struct plx_engine *engine,
				     const struct plx_engine_cq_config *config,
				     struct plx_engine_cq **cq) PLX_MUST_CHECK;

/** Errors: BUSY (a queue pair uses it) */
enum plx_status plx_engine_cq_destroy(struct plx_engine_cq *cq) PLX_MUST_CHECK;

/** Errors: INVALID (depth out of range), BUSY (more entries unreaped than that), NO_MEMORY */
enum plx_status plx_engine_cq_resize(struct plx_engine_cq *cq, uint32_t depth) PLX_MUST_CHECK;

/* ---- shared receive queues ----------------------------------------------------------------------
 */

enum plx_status plx_engine_srq_create(struct plx_engine *engine,
				      const struct plx_engine_srq_config *config,
				      struct plx_engine_srq **srq) PLX_MUST_CHECK;
/** Errors: BUSY (a queue pair uses it) */
enum plx_status plx_engine_srq_destroy(struct plx_engine_srq *srq) PLX_MUST_CHECK;

/** Ask again for SRQ_THRESHOLD; it comes at once when there are fewer entries already. */
enum plx_status plx_engine_srq_arm(struct plx_engine_srq *srq, uint32_t threshold) PLX_MUST_CHECK;

/* ---- queue pairs --------------------------------------------------------------------------------
 */

struct plx_engine_qp;

struct plx_engine_qp_config {
	enum plx_qp_type type;
	struct plx_domain domain; /* held already */
	struct plx_engine_cq *send_cq, *recv_cq;
	struct plx_engine_srq *srq; /* NULL: a receive queue of its own */
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges;
	uint32_t qkey; /* of datagrams; caps.responder_resources is 0 then */
	uint64_t context;
};

/* A connection as both ends agreed on it, or where datagrams go. */
struct plx_engine_path {
	struct plx_ip local, remote; /* local: version 0 chooses by the prefix of remote */
	uint8_t dscp;
	uint8_t hop_limit; /* 0: 64 */
	bool ecn;          /* ECT(0) */
};

/** In RESET; its number and first PSN are such that nobody can guess them. Errors: FULL, NO_MEMORY,
 * INVALID */
enum plx_status plx_engine_qp_create(struct plx_engine *engine,
				     const struct plx_engine_qp_config *config,
				     struct plx_engine_qp **qp) PLX_MUST_CHECK;

/** From any state; what is posted is forgotten, completions already delivered stay. */
enum plx_status plx_engine_qp_destroy(struct plx_engine_qp *qp) PLX_MUST_CHECK;

/**
 * plx_rc_modify() on the engine's thread, with the neighbour resolved first when going to RTR
 * (attr->path is filled in from `path`). Of datagrams, plx_ud_modify(): `path` is not looked at,
 * and of `attr` mtu, pkey and sq_psn. Errors: as plx_rc_modify(); AGAIN (the neighbour was asked:
 * poll, or wait, and call again); UNREACHABLE (no answer, or no network of ours); TOO_LONG (the
 * port does not carry frames of this path MTU); TIMEOUT (the engine does not run)
 */
enum plx_status plx_engine_qp_modify(struct plx_engine_qp *qp, enum plx_qp_state to,
				     const struct plx_rc_attr *attr,
				     const struct plx_engine_path *path) PLX_MUST_CHECK;

/**
 * To ERROR, from INIT to INIT again; when this returns everything that was posted before it has its
 * completion in its queue, or behind it when that is full.
 * Errors: STATE (in RESET); AGAIN (some of it comes later); TIMEOUT (the engine does not run)
 */
enum plx_status plx_engine_qp_flush(struct plx_engine_qp *qp) PLX_MUST_CHECK;

/** As the engine's thread sees it at one moment. Errors: TIMEOUT */
enum plx_status plx_engine_qp_query(struct plx_engine_qp *qp,
				    struct plx_rc_view *out) PLX_MUST_CHECK;

uint32_t plx_engine_qp_number(const struct plx_engine_qp *qp);
struct plx_psn plx_engine_qp_first_psn(const struct plx_engine_qp *qp); /* to send from: sq_psn */

/** Inline mode, the engine's thread: requests posted whose places are not free yet. */
uint32_t plx_engine_qp_in_flight(const struct plx_engine_qp *qp);

/** Any thread; values may be a little old. */
const struct plx_rc_counters *plx_engine_qp_counters(const struct plx_engine_qp *qp);
enum plx_qp_state plx_engine_qp_state(const struct plx_engine_qp *qp);

/**
 * Post up to `n` requests, in order, all that come before the first one that is refused.
 *
 * A request with PLX_WR_DEFER does not wake the engine; the next one without it, or
 * plx_engine_qp_ring_doorbell(), does. The engine may find it earlier.
 *
 * @param refused [out] the status of the first that was refused; OK when all were posted; may be
 * NULL Returns: how many were posted Errors:  as plx_rc_post_send(); FULL until a completion has
 * been delivered Threads: any, several at once; one of them posts at a time Cost:    hot; no system
 * call
 */
uint32_t plx_engine_qp_post_send(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n,
				 enum plx_status *refused);

/** A place in the send queue for a window that the caller has bound (PLX_WR_BIND); if it is flushed
 * or forgotten, the key is unbound. As plx_engine_qp_post_send(); INVALID on a datagram queue
 * pair */
enum plx_status plx_engine_qp_post_bind(struct plx_engine_qp *qp, uint64_t wr_id, uint8_t flags,
					struct plx_key key) PLX_MUST_CHECK;

/** As above; in RESET and with an SRQ it is refused with STATE. */
uint32_t plx_engine_qp_post_recv(struct plx_engine_qp *qp, const struct plx_recv_wr *wr, uint32_t n,
				 enum plx_status *refused);

/** Wake the engine for deferred requests. */
void plx_engine_qp_ring_doorbell(struct plx_engine_qp *qp);

/* ---- connections --------------------------------------------------------------------------------
 *
 * The communication manager's connections with queue pairs of this engine: who asks and who listens
 * are objects of the application's, what happens to them arrives in event queues. The engine takes
 * the queue pairs along: to RTR, RTS and ERROR, in the right order with what the peer is told and
 * what the program is told.
 */

struct plx_engine_eq;
struct plx_engine_listener;
struct plx_engine_connector;

enum {
	PLX_ENGINE_EQ_DEPTH_MAX = 4096
};

/** Event queue. @param depth of the ring; events that find no place wait in the manager
 * Errors: INVALID, NO_MEMORY */
enum plx_status plx_engine_eq_create(struct plx_engine *engine, uint32_t depth,
				     struct plx_engine_eq **queue) PLX_MUST_CHECK;
/** Errors: BUSY (an listener or a connection uses it) */
enum plx_status plx_engine_eq_destroy(struct plx_engine_eq *queue) PLX_MUST_CHECK;

/* What happened, and to whom: the connection's cookie, for REQUESTED the listener's. */
struct plx_engine_connector_event {
	uint64_t cookie;
	struct plx_cm_event cm;
};

/** The next event; false: none. Threads: any, several at once. */
bool plx_engine_eq_next(struct plx_engine_eq *queue, struct plx_engine_connector_event *out);
/** Readable while there is an event; the queue's own. */
int plx_engine_eq_fd(struct plx_engine_eq *queue);

/** @param listen `context` is not looked at @param cookie comes back in REQUESTED
 * Errors: as plx_cm_listen(); STATE (the engine has no communication manager), TIMEOUT */
enum plx_status plx_engine_listener_create(struct plx_engine_eq *queue,
					   const struct plx_cm_listen *listen, uint64_t cookie,
					   struct plx_engine_listener **listener) PLX_MUST_CHECK;
/** Requests that nobody has taken are rejected. Errors: TIMEOUT */
enum plx_status plx_engine_listener_destroy(struct plx_engine_listener *listener) PLX_MUST_CHECK;

/** A connection that is none yet. Errors: NO_MEMORY */
enum plx_status plx_engine_connector_create(struct plx_engine_eq *queue, uint64_t cookie,
					    struct plx_engine_connector **connector) PLX_MUST_CHECK;

/** The connection that a REQUESTED event told of; its events are for this cookie from now on.
 * Errors: STATE (the peer has given up meanwhile), NO_MEMORY, TIMEOUT */
enum plx_status plx_engine_connector_adopt(struct plx_engine_eq *queue,
					   const struct plx_cm_event *requested, uint64_t cookie,
					   struct plx_engine_connector **connector) PLX_MUST_CHECK;

/** Nobody will adopt what a REQUESTED event told of: refuse it. Errors: TIMEOUT */
enum plx_status plx_engine_refuse_request(struct plx_engine_eq *queue,
					  const struct plx_cm_event *requested) PLX_MUST_CHECK;

/** In any state; a connected queue pair is flushed. No event of it is put into the event queue any
 * more. Errors: TIMEOUT */
enum plx_status plx_engine_connector_destroy(struct plx_engine_connector *connector) PLX_MUST_CHECK;

/* How a queue pair is to be connected. */
struct plx_engine_connector_attr {
	/* what the peer has a say in is filled in: dest_qpn, rq_psn, mtu, initiator_depth,
	 * rnr_retry_max, and retry_max of the passive side */
	struct plx_rc_attr rc;
	struct plx_engine_path path; /* `remote` is not looked at when accepting, nor `local` */
	struct plx_cm_own own;       /* qpn, psn and srq are filled in */
	uint16_t local_port, remote_port;
	const uint8_t *private_data;
	uint32_t private_bytes;
	/* [ns] between DISCONNECTED, when the peer has left, and the flush of the queue pair; it
	 * ends at once with plx_engine_connector_disconnect(), plx_engine_connector_destroy(),
	 * plx_engine_qp_flush(). 0: none
	 */
	uint64_t grace_ns;
};

/** Ask. `qp` is in RESET or INIT, and then in INIT. Errors: STATE (either is in use), UNREACHABLE,
 * TOO_LONG (path MTU above what the port carries; private data), as plx_cm_connect(), TIMEOUT */
enum plx_status
plx_engine_connector_connect(struct plx_engine_connector *connector, struct plx_engine_qp *qp,
			     const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;
/** After REPLIED: to RTS, then the RTU. Errors: STATE; AGAIN (the neighbour is being asked),
 * UNREACHABLE, TIMEOUT */
enum plx_status
plx_engine_connector_establish(struct plx_engine_connector *connector) PLX_MUST_CHECK;
/** After REQUESTED: to RTR, then the REP; to RTS before ESTABLISHED. Errors: as
 * plx_engine_connector_connect(), AGAIN */
enum plx_status
plx_engine_connector_accept(struct plx_engine_connector *connector, struct plx_engine_qp *qp,
			    const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;
/** Errors: as plx_cm_reject(), TIMEOUT */
enum plx_status plx_engine_connector_reject(struct plx_engine_connector *connector,
					    const uint8_t *private_data,
					    uint32_t private_bytes) PLX_MUST_CHECK;
/** The queue pair is flushed and the peer told. Errors: STATE, TIMEOUT */
enum plx_status
plx_engine_connector_disconnect(struct plx_engine_connector *connector) PLX_MUST_CHECK;
/** Ask for a UD service. @param attr path, ports and private data. Errors: as
 * plx_engine_connector_connect() */
enum plx_status
plx_engine_connector_sidr_request(struct plx_engine_connector *connector,
				  const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;

/** Of the engine's communication manager; NULL: it has none. Any thread. */
const struct plx_cm_counters *plx_engine_cm_counters(const struct plx_engine *engine);
/** As the engine's thread sees it at one moment. Errors: STATE (no manager), TIMEOUT */
enum plx_status plx_engine_cm_query(struct plx_engine *engine,
				    struct plx_cm_view *out) PLX_MUST_CHECK;
/* ---- address handles
 * -----------------------------------------------------------------------------
 */

struct plx_engine_ah;

/**
 * How a peer is reached by the datagrams of one domain. Its neighbour is asked for at once;
 * datagrams wait for the answer, and are dropped and counted when there is none or too many wait.
 * It is asked for again whenever neighbours have moved.
 *
 * Errors: INVALID (an address of no version, `local` not ours), UNREACHABLE (in no network of ours,
 * or not the address of one station), FULL (PLX_ENGINE_AHS_MAX), NO_MEMORY, TIMEOUT
 * Tests:  tests/unit/engine/cycle/ud.c, tests/unit/engine/cycle/ah.c
 */
enum plx_status plx_engine_ah_create(struct plx_engine *engine, struct plx_domain domain,
				     const struct plx_engine_path *path,
				     struct plx_engine_ah **ah) PLX_MUST_CHECK;

/** What was posted with it is sent all the same. Errors: TIMEOUT */
enum plx_status plx_engine_ah_destroy(struct plx_engine_ah *ah) PLX_MUST_CHECK;

/* ---- asynchronous events ------------------------------------------------------------------------
 */

/** The next event of any object of this engine; false: none. Threads: any. */
bool plx_engine_next_async_event(struct plx_engine *engine, struct plx_async_event *out);

/** Readable while there is an event that was not taken; the engine's own. */
int plx_engine_async_event_fd(struct plx_engine *engine);

#endif
