/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of the engine: the structs behind plx_engine.h, and the functions that the files of
 * this room share with each other and with lib/engine/link. Nothing outside lib/engine includes
 * this.
 * Start with struct plx_engine, in the order in which a duty cycle uses it, then struct engine_qp:
 * the halves of objects that are the engine's alone. What a program shares with it is in their
 * fronts (plx_qp_front.h).
 */
#ifndef PLX_ENGINE_CYCLE_H
#define PLX_ENGINE_CYCLE_H

#include <stdatomic.h>

#include "plx_copy.h"
#include "plx_engine.h"
#include "plx_engine_cq.h"
#include "plx_engine_eq.h"
#include "plx_engine_rq.h"
#include "plx_engine_sq.h"
#include "plx_congestion.h"
#include "plx_heap.h"
#include "plx_qp_front.h"

enum {
	TX_ROOM = 256,        /* packets waiting for the port */
	TX_RESERVE = 64,      /* of these, reserved for responses */
	NET_RESERVE = 32,     /* ... and of those again, not for neighbour resolution and echoes */
	QUANTUM_MAX = 32,     /* packets of one QP per service, and of a seat per turn, */
	QUANTUM_MIN = 8,      /* and at least, as long as a cycle can serve all that wait, */
	QUANTUM_MANY = 16,    /* and when it cannot */
	FLUSH_BURST = 64,     /* QPs in ERROR that flush per cycle */
	STAGE_ROOM = 512,     /* completions of one kind per cycle */
	COMMANDS_MAX = 64,    /* outstanding from all threads */
	COMMANDS_BURST = 8,   /* per cycle */
	DOORBELLS_BURST = 64, /* queues served per cycle because of a doorbell */
	REFILLS_BURST = 32,   /* completion queues with a backlog visited per cycle, and of these */
	RELEASES_BURST = 4,   /* ... that are empty then, whose posters are looked for */
	BROKEN_BURST = 4,     /* queues per cycle whose queue pairs fail with them */
	RECENT = 8,           /* queue pairs whose rings are polled without a doorbell */
	ASYNC_EVENTS_MAX = 4096, /* in the ring; further ones wait at their objects */
	LOOP_ROOM = 128,         /* loopback packets, from the port to itself */
	LOOP_RESERVE = 32,       /* of these, reserved for responses and datagrams */
	GRACE_BURSTS = 256, /* full RX bursts before timers run, after a pause: a large RX ring */
	SEAT_BURST_MIN = 8, /* of these, what a seat has for itself, however many there are */
};

_Static_assert(SEAT_SLOTS_MAX == 2 * PLX_ENGINE_QPS_MAX, "at most half of a table is used");

/* If the port accepts no packet for this long, the waiting packets are stale, and the peers will
 * retransmit. */
#define TX_STUCK_NS (100 * PLX_MSEC)
/* A longer pause is a stall. The excess does not count as the engine's time (time.c), and all
 * received packets are handled before any timer runs: the responses that the timers wait for may
 * be among them. */
#define LATE_NS (10 * PLX_MSEC)
/* ... but for at most this long, or GRACE_BURSTS full bursts, because packets may never stop
 * arriving. */
#define GRACE_NS (10 * PLX_MSEC)
/* Stalls are remembered for this long, and for up to twice as long. */
#define STALLS_SPAN_NS (5 * PLX_SEC)
/* Interval at which a QP in ERROR looks for posts to flush that raced with the error. */
#define ERROR_SWEEP_NS (1 * PLX_MSEC)
/* Minimum interval between replacements of a queue pair whose ring is watched. */
#define WATCH_NS (100 * PLX_USEC)
/* Interval at which a neighbour that moved is looked up again while it is being resolved. */
#define REROUTE_NS (10 * PLX_MSEC)

/* ---- timers: timer.c ---- */

enum {
	WHEEL_LEVELS = 4,
	WHEEL_BITS = 6,
	WHEEL_SLOTS = 1 << WHEEL_BITS,
	WHEEL_TICK_SHIFT = 14, /* a tick is 16.4 us */
};

/* One deadline. PLX_NEVER: not in the wheel. */
struct timer {
	struct plx_list link;
	uint64_t deadline;
	uint32_t level, slot;
};

/* Four levels of 64 slots; a timer moves down a level as its deadline approaches. A timer never
 * fires early, and at most one tick late. */
struct wheel {
	uint64_t tick; /* all slots before it are empty */
	uint64_t used[WHEEL_LEVELS];
	struct plx_list slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

void wheel_init(struct wheel *wheel, uint64_t now);
void wheel_set(struct wheel *wheel, struct timer *timer, uint64_t deadline);
void wheel_clear(struct wheel *wheel, struct timer *timer);
/* Remove and return the next timer due at `now`; NULL: no timer is due. */
struct timer *wheel_pop(struct wheel *wheel, uint64_t now);
/* When to poll the wheel next: less than a tick after the earliest deadline, or earlier if timers
 * have to move down a level; PLX_NEVER when empty. */
uint64_t wheel_wake_ns(const struct wheel *wheel);

static inline uint64_t
wheel_tick_of(uint64_t ns)
{
	return ns >> WHEEL_TICK_SHIFT;
}

/* ---- queue pairs ---- */

struct engine_qp {
	/* written by the engine, in the order in which a packet uses it */
	struct plx_rc *rc;
	struct engine_rq *recv; /* its own, or the SRQ's */
	struct engine_cq *send_cq, *recv_cq;
	uint64_t context;
	struct plx_engine *engine;
	struct plx_list ready_link; /* in ready_turn->members while it waits to send or to flush */
	struct seat_turn *ready_turn;
	bool is_received;     /* in engine->received, this cycle */
	uint16_t ack_skips;   /* so many ACKs do not wait */
	uint16_t ack_backoff; /* ACKs that did not wait after the last one that did so in vain */
	bool loops;           /* loopback: the peer uses our own port */
	bool routed;          /* `to_peer` is valid */
	uint8_t quantum_left; /* packets left of a quantum that was cut short; 0: none was */
	uint32_t qpn;
	uint32_t copies; /* its copies of private memory, and completions behind them: private.c */
	struct plx_frame_flow from_peer;
	struct plx_frame_template to_peer;
	struct timer timer;
	uint32_t slot;

	/* slow: events, path */
	enum plx_congestion congestion;
	void *strategy;             /* its state, in this block */
	struct plx_list owing_link; /* in owing_turn->members while its ACK has found no room */
	struct seat_turn *owing_turn;
	struct plx_list async_event_link; /* in seat->qp_events while async_events_due != 0 */
	uint32_t async_events_due;        /* bit: enum plx_event_kind */
	uint8_t causes[PLX_EVENT_COUNT];
	struct plx_qp_failure failure; /* valid after a failure */
	struct plx_engine_path path;
	uint8_t path_mac[6];
	struct plx_psn first_psn;
	struct plx_qp_past before; /* of the queue pairs that had its connection: qp_move.c */
	struct engine_rq own;
	struct engine_srq *srq; /* NULL: `own` is used */
	struct engine_seat *seat;
	bool copy_failed, copy_failure_told; /* of those copies; by a completion */
	uint32_t qkey;                       /* UD only */
	struct plx_list all_link;            /* in engine->qps */
	struct engine_connector *connector;  /* the connector that has connected it or is
						    connecting it; NULL: no connector */
	struct plx_ud *ud;                   /* UD only, with `rc` as its base; NULL: RC */
	struct plx_list ud_link;             /* in engine->uds */
	struct engine_qp *next_half_made;

	struct engine_sq sq;
};

/* qp.c, on the engine's thread */
/* The peer's Ethernet address.
 * @param mac [6]
 * Errors:  AGAIN (resolution is in progress), UNREACHABLE */
enum plx_status engine_resolve(struct plx_engine *engine, const struct plx_ip *remote,
			       uint8_t *mac);
enum plx_status engine_qp_number(struct engine_qp *qp);
void engine_qp_forget(struct engine_qp *qp);
/* Any thread, after the last poll of the engine. */
void engine_qp_free_half_made(struct plx_engine *engine);
void engine_qp_attach(struct engine_qp *qp);
void engine_qp_detach(struct engine_qp *qp);
enum plx_status engine_qp_modify(struct engine_qp *qp, enum plx_qp_state to,
				 const struct plx_rc_attr *attr,
				 const struct plx_engine_path *path);
/* Move it to ERROR, flush and publish everything.
 * Errors:  BUSY (it has copies of private memory: it is in ERROR, and not flushed), AGAIN (a
 *          defect) */
enum plx_status engine_qp_flush(struct engine_qp *qp);
void engine_qp_route(struct engine_qp *qp); /* look up the neighbour again: it may have moved */
/* Fill in the local address of a path.
 * Errors:  INVALID, UNREACHABLE */
enum plx_status path_complete(const struct plx_engine *engine, struct plx_engine_path *path);
/* @param flow a number specific to the path: packets of one flow take one route through the
 *             network */
void path_template(const struct plx_engine *engine, const struct plx_engine_path *path,
		   const uint8_t *mac, uint32_t flow, struct plx_frame_template *out);
/* The longest frame for a path MTU. */
uint32_t path_frame_bytes(uint32_t mtu);

/* ---- commands: command.c ---- */

/* A call of another thread, executed on the engine's thread.
 * @param call the caller's record of arguments and results; the caller waits meanwhile */
typedef enum plx_status (*command_fn)(struct plx_engine *engine, void *call);

/* Execute a call on the engine's thread and wait for it.
 * Errors:  TIMEOUT (it will never be executed), and those of the call */
enum plx_status command_call(struct plx_engine *engine, command_fn execute, void *call);
uint32_t command_serve(struct plx_engine *engine); /* engine's thread */

/* queue_command.c */
void engine_queues_init(struct plx_engine *engine);
/* A seat that the engine does not serve yet.
 * @param config as plx_seat_back_create()
 * Errors: NO_MEMORY */
enum plx_status engine_seat_make(struct plx_engine *engine, const struct seat_config *config,
				 struct engine_seat **seat) PLX_MUST_CHECK;
/* A slot is a queue pair's of this seat, or no more. Doorbells of seats that have one are looked
 * at. */
void engine_seat_add_slot(struct plx_engine *engine, struct engine_seat *seat, uint32_t slot);
void engine_seat_remove_slot(struct plx_engine *engine, struct engine_seat *seat, uint32_t slot);

enum slot_state {
	SLOT_FREE,
	SLOT_FILLING,
	SLOT_PENDING,
	SLOT_RUNNING,
	SLOT_DONE,
	SLOT_CANCELLED
};

struct command_slot {
	PLX_ALIGNED_LINE atomic_uint state; /* enum slot_state */
	enum plx_status status;
	command_fn execute;
	void *call;
};

/* ---- the engine ---- */

struct qp_entry {
	uint32_t qpn; /* 0: free */
	uint32_t resv;
	struct engine_qp *qp;
};

/* Completions of a cycle, not yet pushed to their queues. */
struct stage {
	uint32_t count;
	struct engine_cq *cq[STAGE_ROOM];
	struct plx_wc wc[STAGE_ROOM];
};

/* The longest recent stall: of this time span and of the previous one. */
struct stalls {
	uint64_t since; /* start of this span, by the engine's own time */
	uint64_t longest, before;
};

/* ---- the link ---- */

struct ah_table;
struct engine_ah;
struct engine_member;
struct engine_message;
struct gsi;

/*
 * What connections and datagrams add to a duty cycle. lib/engine/link, a later room, fills in the
 * table. The cycle calls it on the engine's thread, and never for an ordinary packet.
 */
struct plx_link_ops {
	/* Create what an engine needs, and destroy it. On the creator's thread.
	 * Returns: false: out of memory */
	bool (*open)(struct plx_engine *engine);
	void (*close)(struct plx_engine *engine);

	/* A decoded packet for queue pair 1, addressed to us; `ip`: its IP header. */
	void (*receive)(struct plx_engine *engine, const struct plx_frame *frame,
			const struct plx_pkt *pkt, const uint8_t *ip);
	/* engine->link_timer fired. */
	void (*on_tick)(struct plx_engine *engine);
	/* Called while engine->link_busy, and from engine->link_at on.
	 * Returns: the number of MADs sent and events delivered */
	uint32_t (*serve)(struct plx_engine *engine);
	/* A queue pair with a connector has received its first packet, has failed, or is about to
	 * be destroyed. */
	void (*on_first_packet)(struct engine_qp *qp);
	void (*on_failure)(struct engine_qp *qp);
	void (*on_detach)(struct engine_qp *qp);
	/* The connection of a queue pair goes on in another one of the same engine. */
	void (*on_move)(struct engine_qp *from, struct engine_qp *to);

	/* Create engine->ah_table if there is none. Any thread.
	 * Errors:  NO_MEMORY, TIMEOUT */
	enum plx_status (*ensure_ahs)(struct plx_engine *engine);
	/* Look up the neighbour of an address handle.
	 * Returns: false: resolution is in progress, or has failed */
	bool (*resolve_ah)(struct engine_ah *ah);
	/* Queue a complete frame for a neighbour in resolution, or drop and count it. */
	void (*enqueue)(struct engine_ah *ah, struct rte_mbuf *m);
	/* A message of the link from another engine. */
	void (*on_message)(struct plx_engine *engine, const struct engine_message *message);

	/* A packet of neighbour resolution was received: datagrams may be waiting for it. */
	void (*on_neighbour)(struct plx_engine *engine);
	/* Neighbours may have moved: look up again those for which datagrams are queued. */
	void (*on_reroute)(struct plx_engine *engine);
	/* Free destroyed address handles to which no request refers any more. */
	void (*reap_ahs)(struct plx_engine *engine);
};

/* An ACK that waits: hold.c. */
struct hold {
	struct engine_qp *qp; /* NULL: none */
	uint64_t since, until;
	uint32_t packets;   /* that it acknowledges */
	bool is_steady;     /* the program keeps polling */
	uint64_t polled_at; /* our own time */
};

struct plx_engine {
	struct plx_engine_config config;
	struct plx_port *port;
	struct engine_member *member; /* NULL: it is the only engine */
	plx_icrc_fn icrc;
	uint16_t vlan;  /* 0: none */
	uint16_t ip_at; /* offset of the IP header in our packets: after the VLAN tag, if any */
	uint64_t now;   /* our own time, which advances while we are polled: time.c */
	uint64_t clock; /* the caller's, at the last cycle; 0: no cycle yet */
	uint64_t asked; /* the caller need not poll until then, by its clock */
	struct stalls stalls;
	uint32_t grace_bursts; /* RX bursts that timers still wait for; 0: they do not wait */
	uint64_t grace_until;  /* ... but only until this time */
	uint64_t grace_since;  /* the caller's clock when they began to wait */
	uint8_t *scratch;

	struct qp_entry *table; /* indexed by plx_numbers_place() of the number */
	uint64_t place_factor;
	uint32_t place_bits, qp_count;
	struct engine_qp *recent[RECENT];  /* recently posted to */
	uint32_t recent_next, recent_used; /* index for the next entry; entries ever used */
	uint64_t recent_since;             /* time of the last replacement */
	struct plx_list seats;             /* in order of service */
	uint32_t seat_count, seat_share;   /* share: of DOORBELLS_BURST */

	struct engine_qp *received[PLX_PORT_BURST]; /* queue pairs of this RX burst */
	uint32_t received_count;
	struct hold hold;
	uint32_t ready_count; /* queue pairs that wait to send or to flush */
	struct wheel wheel;
	struct timer net_timer;

	struct rte_mbuf *tx[TX_ROOM];
	uint32_t tx_count;
	uint32_t bulk_room; /* of TX_ROOM, for requests and READ responses */
	uint32_t tx_sealed; /* packets at the front that have their ICRC */
	uint64_t tx_since; /* when the port last accepted a packet; PLX_NEVER: the queue is empty */
	struct rte_mbuf *spare[QUANTUM_MAX];
	uint32_t spare_count;
	struct rte_mbuf *loop[LOOP_ROOM];
	uint32_t loop_count;
	bool loop_turn; /* true: this cycle reads loopback packets; else the port */

	struct plx_list copying; /* struct engine_copier */
	struct stage sends, recvs;
	struct engine_queues queues; /* shared by all queues */
	struct plx_list qps;
	uint32_t net_version;
	const struct plx_link_ops *link;
	struct plx_dcqcn_params dcqcn; /* of all queue pairs that have this strategy */
	struct plx_delay_params delay;
	struct gsi *gsi;           /* the link's; NULL: no communication manager */
	struct timer link_timer;   /* calls link->on_tick() */
	bool link_busy;            /* there may be MADs to send or events to deliver */
	uint64_t link_at;          /* call link->serve() from then on */
	uint64_t reroute_at;       /* when to look up neighbours in resolution again */
	bool reroute_qps;          /* ... including those of connections */
	struct ah_table *ah_table; /* NULL: UD not used yet */
	struct plx_list uds;       /* UD queue pairs */
	struct plx_numbers *numbers;
	bool attached;  /* online for rcu */
	bool is_drowsy; /* between plx_engine_fall_asleep() and plx_engine_wake_up() */
	uint32_t sleeps;

	struct plx_engine_counters counters;
	struct plx_actions actions;

	struct engine_seat *own; /* of programs that have no other */
	struct plx_keep *keep;   /* kept.c */
	void *keep_memory;

	/* written by other threads */
	PLX_ALIGNED_LINE atomic_bool has_ahs; /* `ah_table` is set, and stays */
	atomic_uint asleep;                   /* sleep.c */
	atomic_int bell;                      /* plx_engine_bell(); -1: not created yet */
	_Atomic(struct engine_qp *)
		half_made; /* a stack of queue pairs to discard, linked by next_half_made */
	struct rte_ring *command_ring;
	struct command_slot slots[COMMANDS_MAX];
};

static inline struct plx_engine *
engine_of(struct engine_queues *queues)
{
	return plx_list_entry(queues, struct plx_engine, queues);
}

/* time.c */
uint64_t engine_jump(struct plx_engine *engine, uint64_t now);
/* [ns] The longest stall of the last seconds. */
uint64_t engine_stalled_lately(const struct plx_engine *engine);

/* Begin a cycle: advance the engine's time by the time since the last one. */
static inline void
engine_set_time(struct plx_engine *engine, uint64_t now)
{
	uint64_t passed = now - engine->clock;

	if (plx_unlikely(passed > LATE_NS)) /* also true for a step back */
		passed = engine_jump(engine, now);
	else
		engine->clock = now;
	engine->now += passed;
}

/* congestion.c */
void engine_congestion_init(struct plx_engine *engine);
/* Size of a strategy's state; 0: it has none. */
size_t engine_congestion_bytes(enum plx_congestion congestion);
const struct plx_cc_ops *engine_congestion_ops(enum plx_congestion congestion);
/* A connection begins: nothing is known of its path. */
void engine_congestion_begin(struct engine_qp *qp, uint64_t now);

/* hold.c */
/* A cycle begins: is the program still polling? */
void engine_hold_time(struct plx_engine *engine);
/* May the ACK of the only queue pair of this burst of `received` packets wait? If so, it waits. */
bool engine_holds(struct plx_engine *engine, struct engine_qp *qp, uint32_t received);
/* Does the ACK that waits go on waiting? If so, packets of its queue pair are no longer in
 * engine->received. */
bool engine_holds_on(struct plx_engine *engine, uint32_t received);
/* It waits no longer, because requests leave, which it precedes.
 * Returns: whose it is */
struct engine_qp *engine_hold_end(struct plx_engine *engine);
/* The queue pair goes away. */
void engine_hold_forget(struct plx_engine *engine, const struct engine_qp *qp);

/* doorbell.c */
/* Move posted requests from the rings into the transport.
 * Returns: the number of sends */
uint32_t engine_qp_fetch(struct engine_qp *qp);
/* Move all that was posted before this call. */
void engine_qp_fetch_all(struct engine_qp *qp);
/* Returns: the number of queue pairs served */
uint32_t engine_serve_recent(struct plx_engine *engine);
/* Look at the ring of this queue pair no more. */
void engine_forget_recent(const struct engine_qp *qp);
/* Look at no ring without a doorbell any more. */
void engine_unwatch_all(struct plx_engine *engine);
/* Has a queue pair a doorbell that was rung and not served? */
bool engine_is_rung(const struct plx_engine *engine);
uint32_t engine_serve_doorbells(struct plx_engine *engine);

/* receive.c */
uint32_t engine_receive(struct plx_engine *engine);

/* A packet whose ICRC is verified, from the BTH to the ICRC. */
struct engine_received {
	struct rte_mbuf *m;
	const uint8_t *bth; /* in `m`, unless that is in several pieces or has no VLAN tag */
	uint32_t roce_bytes;
};

/* kept.c */
bool engine_keep_init(struct plx_engine *engine, int socket);
/* Keep a packet that was judged, if it lies behind a missing one. */
PLX_COLD void engine_keep(struct plx_engine *engine, struct engine_qp *qp,
			  const struct engine_received *packet, const struct plx_pkt *pkt,
			  enum plx_verdict verdict);
/* Process what need not be kept any more. */
void engine_take_kept(struct plx_engine *engine, struct engine_qp *qp);
/* The queue pair has failed or is in RESET. */
void engine_release_kept(struct engine_qp *qp);

/* schedule.c
 * Returns: the number of packets */
void engine_answer(struct plx_engine *engine, uint32_t received);
/* Send the ACK that waits, if any. */
void engine_answer_held(struct plx_engine *engine);
uint32_t engine_send_ready(struct plx_engine *engine);

static inline enum plx_qp_state
engine_qp_state(const struct engine_qp *qp)
{
	return state_of(qp->sq.state);
}

/* send.c */
void engine_execute(struct plx_engine *engine, struct engine_qp *qp);
uint32_t engine_transmit(struct plx_engine *engine, struct engine_qp *qp, uint32_t room);
void engine_seal(struct plx_engine *engine);
void engine_flush(struct plx_engine *engine);
void engine_transmit_net(struct plx_engine *engine);
void engine_schedule(struct plx_engine *engine, struct engine_qp *qp);
bool engine_send_gsi(struct plx_engine *engine, const struct plx_frame_template *to_peer,
		     const struct plx_emit *emit, bool loops);

/* private.c; the seat has a copier */
bool engine_copier_has_room(const struct engine_copier *copier);
PLX_COLD void engine_private_place(struct plx_engine *engine, struct engine_qp *qp,
				   const struct plx_place *place);
PLX_COLD void engine_private_load(struct plx_engine *engine, struct engine_qp *qp,
				  const struct plx_load *load);
/* A completion of a queue pair that has copies. */
PLX_COLD void engine_private_hold(struct plx_engine *engine, struct engine_qp *qp,
				  const struct plx_completion *done);
/* Returns: the number of copies and completions */
uint32_t engine_serve_copies(struct plx_engine *engine);
/* Wake the threads that have been asked for copies since. */
void engine_ring_copiers(struct plx_engine *engine);
/* The queue pair is about to be destroyed or reset. */
void engine_private_forget(struct engine_qp *qp);
/* The seat is about to be destroyed. NULL is allowed. */
void engine_copier_end(struct engine_copier *copier);

/* May it ask for what a list of actions can? */
static inline bool
engine_may_copy(const struct engine_qp *qp)
{
	return plx_likely(qp->seat->copier == NULL) || engine_copier_has_room(qp->seat->copier);
}

/* publish.c */
void engine_stage(struct plx_engine *engine, struct engine_qp *qp,
		  const struct plx_completion *done);
void engine_publish(struct plx_engine *engine);
void engine_raise_event(struct plx_engine *engine, struct engine_qp *qp,
			const struct plx_event *event);
void engine_raise_srq_event(struct engine_srq *srq);

#endif
