/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine: the duty cycle of one thread over one queue of a port, and the rings by which
 * application threads reach it. It runs the pure rooms, executes their decisions, and owns every
 * queue pair whose number maps to it.
 * Only the thread that polls an engine may call its functions, unless a function says otherwise.
 * Hosts create the engine's halves of queues and queue pairs by plx_back.h; programs post to their
 * own (plx_qp_front.h). Start with plx_engine_poll(); docs/engine.md walks through
 * one cycle.
 */
#ifndef PLX_ENGINE_H
#define PLX_ENGINE_H

#include "plx_base.h"
#include "plx_here.h"
#include "plx_mem.h"
#include "plx_net.h"
#include "plx_port.h"
#include "plx_queue.h"
#include "plx_secret.h"
#include "plx_transport.h"
#include "plx_wire.h"

struct plx_cm;
struct plx_engine_group;
struct plx_link_ops;
struct rte_mempool;
struct rte_rcu_qsbr;

/* ---- limits ---- */

enum {
	PLX_ENGINES_MAX = 16,         /* of one adapter */
	PLX_ENGINE_QPS_MAX = 16384,   /* of one engine */
	PLX_ENGINE_AHS_MAX = 4096,    /* address handles of one engine */
	PLX_ENGINE_AH_WAITS_MAX = 16, /* datagrams queued for one neighbour, */
	PLX_ENGINE_WAITS_MAX = 256,   /* ... and for all neighbours of one engine */
};

/** A command that the engine has not executed within this time fails with TIMEOUT. */
#define PLX_COMMAND_TIMEOUT_NS (5 * PLX_SEC)

/* ---- the engine ---- */

struct plx_engine;

struct plx_engine_config {
	struct plx_port *port;
	struct plx_mem *mem;
	struct plx_net *net; /* polled by engine 0 alone, and of a group shared by all, which use
				its addresses and VLAN; its frames fit port and pool */
	const struct plx_link_ops *link; /* connections and datagrams: &plx_link, of plx_link.h */
	struct plx_cm *cm; /* the link's; polled by engine 0 alone, and NULL for others. NULL:
			      packets for the GSI are dropped */
	struct rte_mempool
		*pool; /* buffers of packets to send; data room for the port's frame_max */
	struct rte_rcu_qsbr *rcu; /* reports quiescence as thread `index`; NULL: inline mode */
	uint32_t index, engines;  /* this is engine `index` of 1 .. PLX_ENGINES_MAX */
	struct plx_engine_group *group; /* of all of them; NULL: it is the only one */
	uint32_t qps;                   /* 1 .. PLX_ENGINE_QPS_MAX */
	struct plx_secret secret;       /* the adapter's: for queue pair numbers and first PSNs */
	bool inline_mode;               /* command calls poll the engine while they wait */
	plx_icrc_fn icrc;               /* NULL: plx_icrc_choose() */
	uint64_t line_rate;             /* [bit/s] of congestion strategies; 0: 10 Gbit/s */
};

/* Every reason for a drop or a stall outside a QP. X(name, text) */
#define PLX_ENGINE_COUNTER_LIST(X)                                                      \
	X(cycles, "duty cycles")                                                        \
	X(busy_cycles, "duty cycles that found work")                                   \
	X(stalls, "pauses between polls of more than 10 ms")                            \
	X(stalled_ns, "total length of these pauses [ns]")                              \
	X(clock_back, "duty cycles in which the clock had stepped back")                \
	X(rx_packets, "packets received")                                               \
	X(rx_bytes, "bytes received")                                                   \
	X(rx_net, "ARP, neighbour discovery and echo packets received")                 \
	X(rx_no_qp, "packets for an unknown queue pair, dropped")                       \
	X(rx_gsi, "CM datagrams received")                                              \
	X(rx_gsi_denied, "GSI datagrams dropped: wrong opcode, sender or keys")         \
	X(tx_gsi, "CM datagrams sent")                                                  \
	X(tx_gsi_dropped, "CM datagrams dropped: no neighbour, or no room")             \
	X(rx_icrc, "packets with a wrong ICRC")                                         \
	X(rx_no_copy, "packets dropped because too many copies of private memory wait") \
	X(rx_kept, "packets kept behind a missing one")                                 \
	X(rx_taken, "kept packets processed when it had arrived")                       \
	X(rx_linearised, "packets copied into one buffer because they came in several") \
	X(rx_tagged_again, "packets whose VLAN tag the device had stripped")            \
	X(rx_too_long, "packets longer than the port's limit, dropped")                 \
	X(rx_handed_over, "packets received from the queues of other engines")          \
	X(handed_over, "packets passed to the engine that they belong to")              \
	X(handoff_full, "packets dropped because that engine's ring was full")          \
	X(tx_packets, "packets sent")                                                   \
	X(tx_bytes, "bytes sent")                                                       \
	X(tx_full, "bursts of which the port accepted only a part")                     \
	X(tx_dropped, "packets dropped because the port accepted none for 100 ms")      \
	X(tx_no_buffer, "times no buffer was available to send with")                   \
	X(tx_unresolved, "datagrams dropped because their neighbour did not answer")    \
	X(tx_waits_full, "datagrams dropped: too many wait for a neighbour")            \
	X(commands, "commands executed")                                                \
	X(doorbells, "queues served because of a doorbell")                             \
	X(posts_refused, "posted requests found invalid by the engine")                 \
	X(rings_forged, "queues that failed because their program forged an index")     \
	X(ticks, "timers that fired")                                                   \
	X(completions, "completions delivered")                                         \
	X(cq_spilled, "completions that waited behind a full completion queue")         \
	X(qps_failed, "queue pairs that failed")                                        \
	X(cq_overruns, "completion queues that overran")                                \
	X(notifications, "notifications of waiting threads")                            \
	X(events, "asynchronous events delivered")

struct plx_engine_counters {
	uint64_t refused[PLX_WIRE_VERDICT_COUNT]; /* refused by the decoder or not addressed to us;
						     by reason */
	uint64_t denied[PLX_VERDICT_COUNT];       /* refused by plx_rc_admit(), by reason */
#define PLX_X(name, text) uint64_t name;
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/**
 * Create an engine. `why` explains an error.
 * Threads: any
 * Errors:  INVALID, NO_MEMORY
 */
enum plx_status plx_engine_create(const struct plx_engine_config *config,
				  struct plx_engine **engine, struct plx_why *why) PLX_MUST_CHECK;

/**
 * Destroy an engine. No thread polls it any more, and it has no queue pair, completion queue or
 * SRQ left.
 */
void plx_engine_destroy(struct plx_engine *engine);

/**
 * Run one duty cycle: commands, an RX burst, responses, timers, posted work, a TX burst,
 * completions.
 *
 * @param now [ns] from one steady clock. The engine's own time, which drives its timers, advances
 *            with it, except in stalls: time without a poll that plx_engine_wake_ns() did not
 *            permit. Of a stall at most 10 ms count, so that the engine does not mistake its own
 *            absence for silence of its peers. If the clock steps back, the engine's time stops
 *            until the clock has caught up, for at most 10 ms. Stalls and steps back are counted
 * Returns: the number of packets, commands, timers and posts handled; 0: the cycle was idle
 * Cost:    hot; bounded, no allocation, lock or system call except a write to the descriptor of an
 *          armed completion queue
 */
uint32_t plx_engine_poll(struct plx_engine *engine, uint64_t now);

/**
 * Send posted requests between two duty cycles, and do nothing else. Used in inline mode, where a
 * post would otherwise wait for the next poll.
 *
 * @param now [ns] as for plx_engine_poll()
 * Cost:    hot; bounded: one quantum of each queue pair that has something to send, one TX burst
 */
void plx_engine_send(struct plx_engine *engine, uint64_t now);

/** Posts of programs in inline mode, by the thread that polls the engine. */
extern const struct plx_here plx_engine_here;

/**
 * Attach or detach the calling thread as the one that polls the engine and reports quiescence for
 * it.
 */
void plx_engine_set_online(struct plx_engine *engine, bool online);

/**
 * Tell the engine whether its thread polls others, too; not so at first. Then a cycle sends no more
 * requests and READ responses than a cycle receives packets. If another end of the link is on the
 * thread, the queue between them would fill up otherwise: a round trip would last as long as that
 * takes to drain, and a queue pair with a window of packets could not have its share.
 */
void plx_engine_set_company(struct plx_engine *engine, bool has_company);

/**
 * The time, by the caller's clock, at which the engine must be polled again if no packet arrives
 * first: 0 for immediately, PLX_NEVER. After a poll the caller may sleep until then, once: it calls
 * this after each poll.
 */
uint64_t plx_engine_wake_ns(struct plx_engine *engine);

/* ---- sleeping ----
 *
 * A thread may sleep while none of its engines has work (decision 69). It calls, of each engine,
 * plx_engine_fall_asleep(), then plx_engine_poll(), then plx_engine_may_sleep(). If no poll found
 * work and all may sleep, it waits until the earliest of their times or until one of their
 * descriptors is ready: plx_engine_bell(), plx_engine_rx_fd(). Whatever came of it, it calls
 * plx_engine_wake_up() of each before it polls again. Descriptors are waited for by edges of epoll
 * and never read: what wakes is the write.
 */

/**
 * The eventfd that is written by whoever has work for the engine while it sleeps. Created by the
 * first call. The engine owns it.
 * Returns: -1: the system has none
 * Threads: any
 */
int plx_engine_bell(struct plx_engine *engine);

/** The descriptor of the port's packets; -1: it has none. */
int plx_engine_rx_fd(const struct plx_engine *engine);

/** From now on whoever has work for the engine writes to the bell. The next poll finds what others
 * had before. */
void plx_engine_fall_asleep(struct plx_engine *engine);

/**
 * Has nobody had work for it since plx_engine_fall_asleep()?
 * @param until [out] as plx_engine_wake_ns()
 * Returns: false: poll it again
 */
bool plx_engine_may_sleep(struct plx_engine *engine, uint64_t *until);

/** Nobody needs to write to the bell any more. */
void plx_engine_wake_up(struct plx_engine *engine);

/**
 * Wake the engine's thread, if it sleeps. What the caller did before is seen by its next poll.
 * Threads: any
 * Cost:    one exchange; a system call if it sleeps
 */
void plx_engine_rouse(struct plx_engine *engine);

/**
 * Counters; values may be slightly stale.
 * Threads: any
 */
const struct plx_engine_counters *plx_engine_counters(const struct plx_engine *engine);
const struct plx_net_counters *plx_engine_net_counters(const struct plx_engine *engine);

/* ---- reachability of peers ----
 *
 * Of a group, engine 0 executes the calls.
 * Threads: any. The status is OK when the engine executed the call, TIMEOUT when it does not run;
 * the verdict has the result. In inline mode the calls poll the engine.
 */

/**
 * As plx_net_resolve().
 * @param mac [6] written when READY
 */
enum plx_status plx_engine_resolve(struct plx_engine *engine, const struct plx_ip *ip, uint8_t *mac,
				   enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/**
 * As plx_net_ping().
 * @param number [out] when WAIT: argument for plx_engine_ping_result()
 */
enum plx_status plx_engine_ping(struct plx_engine *engine, const struct plx_ip *ip, uint32_t bytes,
				uint64_t timeout_ns, uint32_t *number,
				enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/**
 * As plx_net_ping_result(). The time is the engine's own, without stalls of more than 10 ms.
 * @param rtt_ns [out] when READY
 */
enum plx_status plx_engine_ping_result(struct plx_engine *engine, uint32_t number, uint64_t *rtt_ns,
				       enum plx_net_verdict *verdict) PLX_MUST_CHECK;

/* ---- queue pairs ---- */

/* The agreed addresses of a connection, or the destination of datagrams. */
struct plx_engine_path {
	struct plx_ip local, remote; /* local: version 0 selects it by the prefix of remote */
	uint8_t dscp;
	uint8_t hop_limit; /* 0: 64 */
	bool ecn;          /* ECT(0) */
};

#endif
