/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nouns of a run with whole engines: a fleet of hosts, each an engine on a simulated port,
 * and connections between them. Weather, links, time, trace and processes are the simulator's own.
 * Nothing here looks inside an engine: what goes in and what comes out is all there is to judge.
 * Start with struct fleet.
 */
#ifndef FLEET_H
#define FLEET_H

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "sim.h"
#include "plx_engine.h"
#include "plx_engine_group.h"
#include "plx_link.h"
#include "whole.h"
#include "plx_thread.h"

enum fleet_limit {
	FLEET_HOSTS_MAX = 4,
	FLEET_CONNECTIONS_MAX = 128,
	FLEET_CONNECTIONS_USUAL = 64, /* unless it is a crowd */
	FLEET_ENDS_MAX = 2 * FLEET_CONNECTIONS_MAX,
	FLEET_CORES_MAX = 4,     /* of one host, each with an engine */
	FLEET_PROGRAMS_MAX = 3,  /* of one host */
	FLEET_CQS_USUAL = 5,     /* of one host, at most, */
	FLEET_CQS_MAX = 10,      /* ... and of one with several programs */
	FLEET_RX_ROOM = 1024,    /* frames that wait at a port; a power of two */
	FLEET_FRAME_ROOM = 8192, /* bytes of any frame, its tag included */
	FLEET_WORDS = 4,         /* an end's, for the peer's atomics */
	FLEET_BATCH = 8,         /* requests posted at once */
	FLEET_OLD_FRAMES = 16,   /* kept to come back much later */
	FLEET_TROUBLES = 200,    /* of one host in one run */
	FLEET_TURNS = 100,       /* deaths and gifts of programs, likewise */
	FLEET_DARK_MOST = 3,     /* times in one run that all cores are away */
	FLEET_EVENT_CYCLES = 64, /* of a free port, in which a mark is answered */
	FLEET_GRACE = 257,       /* cycles for which a timer may wait for packets after a pause */
};

/* How long it may where an engine waits for others, too: by a clock that may have stepped. */
#define FLEET_GRACE_NS (100 * PLX_MSEC)
#define FLEET_LATE_NS  (10 * PLX_MSEC) /* a longer pause is an absence */

/* ---- memory: arena.c ---- */

/* A piece of an arena that one request or one receive owns until it completes. */
struct cell {
	bool busy;
	const uint8_t *want; /* busy: what its first `length` bytes become; NULL: anything */
	uint32_t length;
};

/* Registered memory in cells of one size, guarded on both sides, with a shadow. */
struct arena {
	uint8_t *bytes, *shadow; /* the first byte behind the guard */
	uint32_t cells, cell_bytes;
	uint64_t va;
	struct plx_region region;
	struct plx_key key;
	struct cell *cell; /* [cells] */
	uint32_t *idle;    /* [idle_count] */
	uint32_t idle_count;
	uint8_t *last; /* buried: what its bytes were when its program died; NULL: it lives */
};

/* ---- completion queues: reap.c ---- */

struct cq {
	struct host *host;
	struct plx_cq *queue;
	uint32_t index, depth;
	uint32_t program, core; /* whose it is, and whose engine's */
	uint32_t room;          /* entries its ring holds; others wait behind it */
	bool arms;              /* its application sleeps until it is woken; else it polls */
	bool by_fd;             /* ... and learns it from the descriptor */
	bool pending;           /* a look at it is on its way */
	bool asleep;            /* found nothing, armed, and not woken since */
	uint32_t kinds;         /* armed while asleep */
	uint64_t told;          /* entries produced when it was last told */
	uint64_t delay_ns;
};

/* ---- strangers: stranger.c ---- */

enum stranger_fault {
	STRANGER_VLAN,
	STRANGER_STATION,
	STRANGER_ADDRESS, /* of a datagram: its destination */
	STRANGER_PATH,    /* of a connection: source or destination */
	STRANGER_FAULTS,
};

/* A queue pair for datagrams, which everybody may send to. */
struct ud_end {
	struct plx_qp *qp; /* NULL: none */
	struct plx_cq *queue;
	struct arena cells;
	uint64_t friends, heard; /* datagrams that it was sent, and has received */
};

/* ---- hosts: host.c, port.c, trouble.c ---- */

/* One engine of a host, and its queue of the port. */
struct core {
	struct plx_port port; /* first: what the engine has is what we have */
	struct host *host;
	uint32_t index;
	struct plx_engine *engine;
	struct packet *rx[FLEET_RX_ROOM]; /* frames that wait to be polled for */
	uint32_t rx_first, rx_count;
	uint64_t away_until; /* others poll meanwhile */
	uint32_t flood;      /* RX bursts that are still filled up with junk */
	bool polled;         /* in the last turn of the host */
	uint32_t due_polls;  /* one after the other that left a timer due and ran none */
	uint64_t due_since;  /* ... by its clock */
	uint64_t checked_at; /* when that was last looked at */
	uint64_t ticks;      /* timers that the engine has run */
};

/* A program with seats of its own at each engine; number 0 has the engines' own. */
struct program {
	struct whole_seat *seat[FLEET_CORES_MAX];
};

struct host {
	struct plx_port_caps caps; /* of each queue */
	struct fleet *fleet;
	struct station *station; /* its clock */
	uint32_t index;
	bool inline_mode;
	struct plx_ip ip;
	struct plx_prng prng;

	struct core core[FLEET_CORES_MAX];
	uint32_t cores;
	struct plx_engine_group *group; /* of several cores; NULL: one */
	uint32_t spread;                /* changes which queue a flow arrives on */
	struct plx_prng core_prng;      /* what only several cores or programs draw */
	struct program program[FLEET_PROGRAMS_MAX];
	uint32_t programs;
	uint64_t turn_mean_ns; /* between two deaths or gifts of programs */
	uint32_t turns;

	uint8_t outside[6]; /* the MAC that the others see; ours is caps.mac */
	uint32_t moves;
	uint64_t refuse_until, mute_until, stall_until, hog_until;
	uint64_t glimpse_at; /* its core, which is away, has time for one cycle */
	bool stingy;         /* the port takes some of what it is given */
	uint32_t troubles;
	uint64_t trouble_mean_ns;
	struct rte_mbuf **hog; /* [hog_count] buffers that somebody else has */
	uint32_t hog_count, hog_left;

	struct rte_mempool *pool;
	uint32_t buffers;
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_net *net;
	uint32_t qps, qps_max;
	struct cq cqs[FLEET_CQS_MAX];
	uint32_t cq_count;

	uint64_t source_va; /* the process's constant bytes */
	struct plx_region source_region;
	struct plx_key source_key;
	struct arena shared; /* receives of the SRQ */
	struct plx_srq *srq; /* program 0's */
	uint32_t srq_core;
	uint32_t srq_depth, srq_posted, srq_armed;
	bool srq_pending;

	uint64_t poll_at; /* the next poll; older events are void */
	uint64_t gap_ns, lazy_ns, polled_at;
	uint32_t idle_polls;

	/* what the port has seen; the engine's counters must say the same */
	uint64_t rx_handed, rx_bytes, tx_taken, tx_bytes, bad_handed;
	uint64_t judged; /* packets that queue pairs which are gone have judged */
	uint64_t reaped, stale;

	struct ud_end ud_end;
	struct plx_prng stranger_prng;
	uint32_t strange[STRANGER_FAULTS];       /* frames of the last RX burst */
	uint64_t stranger_base[STRANGER_FAULTS]; /* what the engine had counted before it */

	bool took_less;       /* the port, than it was given, since the last poll */
	uint64_t free_cycles; /* in which the port took all, and buffers were there */
	uint64_t no_buffer;

	/* a crowd's */
	uint32_t take; /* packets that the port takes at once; 0: all */
	uint64_t bulk; /* requests and READ responses that have left */

	/* drivers' hosts; NULL: the fleet's own ways */
	void (*after_poll)(struct host *host); /* the engine has had a cycle */
	void (*look)(struct host *host);       /* somebody waits for the engine */
};

/* ---- connections: connection.c, work.c ---- */

/* One request, from being drawn to its completion. */
struct request {
	uint8_t kind, flags;
	bool bad_rkey, ended;
	uint32_t length, source, imm;
	uint32_t target, landing; /* cells of the peer and of ours; UINT32_MAX: none */
	uint32_t word;
	uint64_t swap_add, compare, original;
	uint64_t psn;     /* absolute, of its first packet */
	uint32_t replies; /* one more than the index of the peer's ask that caused it; 0: none */
	uint64_t caused;  /* must be acknowledged before it leaves: an absolute PSN, 0: nothing */
	struct plx_window window;
	struct plx_key token; /* BIND */
};

struct end {
	struct connection *connection;
	struct end *peer;
	struct host *host;
	uint32_t id;
	struct plx_qp *qp; /* NULL: none */
	uint32_t qpn;
	struct plx_rc_caps caps;
	struct plx_rc_attr attr;
	struct cq *send_cq, *recv_cq;
	bool shares; /* the host's SRQ */
	uint32_t rq_depth, rq_sges;
	struct arena target, words, landing, receives;
	uint64_t word_model[FLEET_WORDS]; /* what the peer's words hold when all is done */

	struct request *requests; /* of this life, in order */
	uint32_t request_room, drawn, posted, done;
	uint32_t heard; /* the next of the peer's asks that may be a message to us */
	uint32_t received;
	uint32_t *fifo; /* [rq_depth] cells posted, oldest first */
	uint32_t fifo_first, fifo_count;
	bool app_pending, recv_pending;
	bool giving;         /* its connection is being given to another program; */
	uint32_t given_qpn;  /* ... of the queue pair that had it last; 0: it was not given */
	bool gone;           /* its program has died: nothing of it is executed any more, */
	uint64_t gone_cycle; /* ... once its engine has sent what it had: the host's free cycles */
	bool dead;           /* a completion, an event or we ourselves said so */
	bool killed;
	uint8_t cause;    /* enum plx_wc_status, of the event that it failed */
	bool failed_send; /* a request has completed in error */
	uint32_t failed_events, flushed_events;
	struct plx_prng prng;

	/* what its packets show */
	uint64_t psn_post, psn_seen; /* absolute: of the next ask; of the next new packet */
	uint32_t request_seen;
	uint64_t async_events_due; /* CNPs that marks have earned and that have not left */
	uint64_t marked_cycle;     /* the host's free cycles at the first mark that it heard */
	uint64_t event_from;       /* by the host's clock: a mark earns another from then on */
	bool blind;                /* the engine gave up packets: some were never seen */
	uint64_t psn_acked;        /* every PSN of the peer's before it has been acknowledged */
	uint64_t *message_end;     /* [messages] one past the last PSN of each of our messages */
	uint32_t messages, message_room;

	/* a crowd's */
	uint64_t psn_received;  /* absolute: every PSN before it has been acknowledged to us */
	uint64_t psn_requested; /* absolute: of the peer's next READ, at least */
	uint64_t owed;          /* READ responses that were asked for and have not left */
	uint64_t bulk, judged;  /* packets that have left; of these at the last look */
	uint64_t since_cycle, since_bulk; /* the host's, when it last sent or had nothing to send */
	uint32_t ready_most,
		ahead_most; /* ends of the host that waited with it, and their quanta */
};

enum connection_state {
	CONNECTION_NONE,
	CONNECTION_JOINING,
	CONNECTION_UP,
	CONNECTION_BEREFT, /* the program of one end has died, and the other does not know */
	CONNECTION_ENDING, /* flushed and drained, then destroyed */
};

struct connection {
	struct fleet *fleet;
	uint32_t index;
	enum connection_state state;
	struct end end[2];
	uint32_t life;
	bool fair; /* nothing that went wrong may have hurt this life */
	bool closing;
	uint64_t born_at;
	uint64_t close_at; /* the next look at its end; older events are void */
	struct plx_prng prng;
};

/* ---- the fleet: run.c ---- */

struct fleet {
	struct world world; /* first: trace, heap, links, weather */
	uint32_t host_count, connection_count;
	uint32_t frame_max, mtu_max;
	bool rough;         /* the weather alone may exhaust a retry count */
	bool moving;        /* hosts move to other MACs */
	bool gentle;        /* nothing is wrong but that each host moves once */
	bool abrupt;        /* queue pairs are destroyed as they are */
	bool crowd;         /* many have much to send, and peers answer at once */
	bool doorbells;     /* ... and more doorbells ring than a cycle serves */
	uint16_t vlan;      /* of all hosts; 0: none */
	uint32_t strangers; /* percent of the frames before which one may stand */
	bool manifold;      /* hosts have several engines and programs, */
	bool mortal;        /* ... which die */
	bool busy; /* nothing is wrong but that all cores are away, and one has a cycle at times */
	uint64_t dark_until;
	bool floods; /* a core that was away finds a port full of junk */
	uint64_t fair_from;
	struct host host[FLEET_HOSTS_MAX];
	struct connection connection[FLEET_CONNECTIONS_MAX];
	uint64_t pieces_made, pieces_freed;
	struct packet old[FLEET_OLD_FRAMES]; /* bytes are the fleet's */
	uint64_t old_at[FLEET_OLD_FRAMES];   /* when each arrives, if the weather lets it */
	uint32_t old_count;
};

/** The clocks of all hosts step, so each engine has to look again. */
void fleet_step_clocks(struct fleet *fleet);

static inline struct fleet *
fleet_of(struct world *world)
{
	return (struct fleet *)world;
}

/* eal.c */
void fleet_start(void);
void fleet_clock(struct host *host); /* who reads the time from now on */

/* arena.c */
void arena_create(struct host *host, struct arena *arena, struct plx_prng *prng, uint32_t cells,
		  uint32_t cell_bytes, uint8_t access);
void arena_destroy(struct host *host, struct arena *arena);
void arena_bury(struct host *host, struct arena *arena);
void arena_check(struct fleet *fleet, const struct arena *arena);
bool arena_alloc(struct arena *arena, uint32_t *index);
void arena_free(struct arena *arena, uint32_t index);
void arena_expect(struct arena *arena, uint32_t index, const uint8_t *want, uint32_t length);
void arena_settle(struct fleet *fleet, struct arena *arena, uint32_t index, const uint8_t *want,
		  uint32_t length);
void arena_forget(struct arena *arena, uint32_t index);
uint8_t *arena_at(const struct arena *arena, uint32_t index);
uint64_t arena_va(const struct arena *arena, uint32_t index);

/* port.c */
void port_open(struct host *host);
void port_arrive(struct host *host, struct packet *packet);
void port_drop_all(struct host *host);
void port_announce(struct host *host, bool surely);
void port_ghost(struct host *host); /* something old, or nobody's, arrives */

bool port_is_net(const uint8_t *bytes, size_t len); /* ARP, neighbour discovery or ICMPv6 */
int port_tag(const struct host *host);
struct rte_mbuf *port_wrap_tagged(struct host *host, const uint8_t *bytes, uint32_t len, int tag,
				  bool strips);

/* wire.c: what leaves a host, and what it is handed */
void wire_judge(struct host *host, const uint8_t *bytes, size_t len);
void wire_received(struct host *host, const struct packet *packet);

/* stranger.c */
void stranger_draw(struct fleet *fleet);
void stranger_settle(struct host *host);
struct rte_mbuf *stranger_before(struct host *host, const struct packet *packet);
void ud_end_create(struct host *host);
void ud_end_listen(struct host *host);
void ud_end_destroy(struct host *host);

/* host.c */
void *host_aligned(size_t bytes);
struct plx_secret host_secret(struct host *host);
struct plx_engine_config host_config(struct host *host);
void host_prepare(struct fleet *fleet, uint32_t index);
void host_release(struct host *host);
void host_create(struct fleet *fleet, uint32_t index);
void host_destroy(struct host *host);
void host_poll_by(struct host *host, uint64_t at);
void host_on_poll(struct host *host, uint64_t at);
void host_after_poll(struct host *host);
void host_events(struct host *host);
bool host_cycle(struct host *host);
void host_fill_shared(struct host *host);
void host_post_shared(struct host *host);
void host_receives(struct host *host, struct plx_prng *prng);
void host_reclaim(struct host *host, uint32_t cell);
void host_call(struct host *host); /* before a command call */
uint32_t host_run(struct host *host);
uint64_t host_counted(const struct host *host, size_t at);
#define HOST_COUNTED(host, counter) \
	host_counted(host, offsetof(struct plx_engine_counters, counter))

/* The first engine, which has the neighbours. */
static inline struct plx_engine *
host_engine(const struct host *host)
{
	return host->core[0].engine;
}

/* program.c: programs, and their deaths */
void program_draw(struct fleet *fleet);
void program_host(struct host *host);
void program_begin(struct host *host);
void program_end(struct host *host);
void program_on_event(struct host *host);
bool program_next_async_event(struct host *host, struct plx_async_event *event);

/* trouble.c */
void trouble_draw(struct fleet *fleet);
void trouble_start(struct host *host);
void trouble_on_event(struct host *host);
void trouble_on_relief(struct host *host);
void trouble_ends(struct host *host);
uint64_t trouble_glimpse(struct host *host);

/* reap.c */
void cq_create(struct host *host, uint32_t index);
void cq_destroy(struct cq *cq);
void cq_bury(struct cq *cq);
void cq_look(struct cq *cq);
bool cq_empty(const struct cq *cq);
bool cq_full(const struct cq *cq);
void cq_on_event(struct cq *cq);
void cq_drain(struct cq *cq);

/* connection.c */
void connection_birth(struct connection *connection);
void connection_on_event(struct connection *connection);
void connection_wants_close(struct connection *connection);
void connection_close(struct connection *connection);
void connection_vanish(struct connection *connection);
void connection_bereave(struct end *end);
struct plx_engine_qp_config connection_qp(const struct end *end);
void end_fail(struct end *end);
void end_on_async_event(struct end *end, const struct plx_async_event *event);

/* crowd.c */
void crowd_draw(struct fleet *fleet);
void crowd_host(struct host *host);
void crowd_join(struct end *end);
void crowd_received(struct host *host, const uint8_t *bytes, size_t len);
void crowd_sent(struct end *end, const struct plx_pkt *pkt);
uint16_t crowd_takes(struct host *host, struct rte_mbuf **packets, uint16_t n);
void crowd_check(struct host *host);

/* work.c */
void work_wake(struct end *end, uint64_t at);
void work_on_event(struct end *end);
void work_receives(struct end *end);
void work_on_receives(struct end *end);
void work_reply(struct end *end, uint32_t to, uint64_t caused);
void drop_window(struct host *host, const struct request *request);
bool work_left(const struct fleet *fleet);

/* judge_wc.c */
void judge_silence(struct end *end);
void judge_send(struct end *end, const struct plx_wc *wc);
void judge_receive(struct end *end, const struct plx_wc *wc);

#endif
