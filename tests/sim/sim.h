/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulator's nouns (a world of stations, links between them, pairs of QPs, the model of what
 * each QP has been asked and has done), and below them what its files offer each other, one section
 * a file. Time is virtual, everything is drawn from the seed. Nothing here looks inside a QP but
 * through plx_rc_query(). Start with struct world.
 */
#ifndef SIM_H
#define SIM_H

#include <inttypes.h>

#include "endpoint.h"
#include "stats.h"

enum sim_exit {
	SIM_PASS = 0,
	SIM_WRONG = 2, /* an invariant does not hold */
	SIM_STUCK = 3, /* something that must happen does not */
	SIM_USAGE = 4,
	SIM_CRASH = 134, /* a signal, an assertion of ours, a sanitizer's report */
};

enum sim_limit {
	SIM_STATIONS_MAX = 8,
	SIM_PAIRS_MAX = 8,
	SIM_SIDES_MAX = 2 * SIM_PAIRS_MAX,
	SIM_JOBS_MAX = 64,
	SIM_DOMAINS = 2,
	SIM_OFFERS_MAX = 4,         /* windows and fast-register regions a side has */
	SIM_VICTIMS_MAX = 4,        /* regions to be retired in mid-message, of one life */
	SIM_TRACE_ROWS = 64,        /* remembered for a failure's report */
	SIM_POST_AFTER_DEATH = 3,   /* requests posted to a QP in error */
	SIM_OP_HISTORY = 64,        /* completed requests that old packets may still speak of */
	SIM_CC_SLOWEST_NS = 8000,   /* per KiB: the slowest pace of a congestion strategy */
	SIM_ATOMIC_WORDS = 32,      /* at the beginning of a public slab */
	SIM_AHEAD = 256,            /* a power of two above PLX_KEEP_PACKETS */
	SIM_SLAB_GUARD = 64,        /* bytes on either side of a slab that nothing ever grants */
	SIM_SOURCE_BYTES = 1 << 19, /* constant bytes that all messages are taken from */
	SIM_MESSAGE_MAX = 1 << 18,
};

/* ---- options and results ---- */

/* Deliberate faults of the simulator itself: a run with one must fail, or no run shows anything. */
enum sim_canary {
	SIM_CANARY_NONE,
	SIM_CANARY_WRONG, /* one message in a thousand is compared with other bytes */
	SIM_CANARY_STUCK, /* no deadline is ever met */
	SIM_CANARY_CRASH, /* the first deadline ends the process */
	SIM_CANARY_COUNT,
};

struct sim_options {
	uint64_t seeds, first;
	uint32_t ops;
	int profile; /* enum sim_profile, or -1: the seed draws it */
	uint32_t jobs;
	bool trace, expect_coverage, twice, shrink;
	bool engine; /* whole engines: tests/sim/fleet */
	bool cm;     /* managers of connections: tests/sim/cm */
	bool pages;  /* memory is pages in any order; with single queue pairs only */
	bool ndk;    /* drivers that use NDK: tests/sim/ndk */
	enum sim_canary canary;
	const char *script_path; /* where the shrinker writes; NULL: standard output */
	const char *program;
};

/* ---- what the shrinker removes ---- */

/* Everything that can be left out of a run has a key: kind, who, and its ordinal there. */
enum sim_key_kind {
	SIM_KEY_OP = 1,  /* one request of one side */
	SIM_KEY_FAULT,   /* what the weather does to one packet of one side */
	SIM_KEY_DISTURB, /* links go down or clog */
	SIM_KEY_STEP,    /* a clock steps */
	SIM_KEY_KILL,    /* a QP is killed or a station crashes */
	SIM_KEY_STRAY,   /* a packet from nowhere */
};

struct sim_keys {
	uint64_t *list;
	size_t count, room;
};

struct sim_mask {
	struct sim_keys *record;     /* NULL, or where the keys of a run go, in order */
	bool simple;                 /* a wire without delays, ends that answer at once */
	bool write_script;           /* when it fails */
	const struct sim_keys *keep; /* NULL, or sorted: everything else is left out */
};

/* ---- configuration drawn from the seed ---- */

struct sim_weather {
	uint32_t loss_ppm, burst_max;
	uint32_t dup_ppm;
	uint32_t reorder_ppm, reorder_depth;
	uint32_t flip_ppm; /* bits flipped, ICRC bad */
	uint32_t evil_ppm; /* bits flipped, ICRC made good again */
	uint32_t ce_ppm;
	uint32_t stray_ppm; /* stray packets per packet */
	uint64_t latency_ns, jitter_ns;
	uint64_t ns_per_kib; /* serialization; 0: none */
	uint64_t queue_ns;   /* a packet that would wait longer is dropped at the tail */
	uint64_t down_ns, down_every_ns;
	bool down_all; /* every link at once, else those of one station */
	uint64_t clog_ns, clog_every_ns;
	uint32_t drift_ppm;
	uint64_t step_ns, step_every_ns;
};

struct sim_config {
	enum sim_profile profile;
	struct sim_weather weather;
	uint32_t stations, pairs;
	uint8_t ip_version;
	bool simple;                   /* for the shrinker: no delays, no bursts of posts */
	bool tiny;                     /* minimal depths and windows */
	bool wrap;                     /* every PSN starts near the top */
	bool lossless;                 /* nothing in this weather loses a packet */
	bool generous;                 /* ack timeouts are far above the round trip */
	uint32_t message_max;          /* bytes */
	uint32_t think_ns;             /* mean between posts of one side */
	uint64_t span_ns;              /* stretch the run to about this; 0: as think_ns makes it */
	uint32_t misuse_ppm, kill_ppm; /* per operation */
	uint32_t tx_delay_ns, tick_late_ns;
	uint32_t eager_percent; /* transmit at once after a packet */
	uint32_t reply_percent; /* a receive causes a request at once */
	uint64_t recv_delay_ns; /* mean until a receive is posted again; 0: at once */
	uint32_t op_weight[PLX_WR_OP_COUNT];
	uint32_t silent_percent, fence_percent, inline_percent, solicited_percent;
};

/* ---- events ---- */

enum sim_event_kind {
	SIM_EV_ARRIVE,      /* a packet at its station */
	SIM_EV_TX,          /* a side may transmit */
	SIM_EV_WAKE,        /* a side's deadline */
	SIM_EV_APP,         /* a side's application posts */
	SIM_EV_RECV,        /* a side posts receives */
	SIM_EV_RECV_SHARED, /* a station does */
	SIM_EV_CLOSE,       /* a pair is torn down */
	SIM_EV_BIRTH,       /* a pair is connected anew */
	SIM_EV_DOWN,        /* links go down */
	SIM_EV_CLOG,        /* a link clogs */
	SIM_EV_STEP,        /* a clock steps */
	SIM_EV_RESUME,      /* a drained send queue goes on */
	SIM_EV_POLL,        /* a host's engine has its turn */
	SIM_EV_REAP,        /* an application looks at a completion queue */
	SIM_EV_TROUBLE,     /* something goes wrong at a host */
	SIM_EV_RELIEF,      /* it is over */
	SIM_EV_PROGRAM,     /* a program of a host dies, or gives a connection away */
	SIM_EV_KINDS,
};

struct sim_event {
	uint64_t at, serial;
	void *what;
	uint8_t kind;
};

struct sim_heap {
	struct sim_event *list;
	size_t count, room;
	uint64_t serial;
};

/* ---- memory ---- */

/* Memory that regions are registered on, with a copy of what it must contain. */
struct slab {
	struct plx_list link;
	uint8_t *bytes, *shadow; /* the first byte behind the guard */
	uint32_t size;
	uint64_t va; /* of bytes[0], in every region on it */
	bool constant;
	/* --pages: byte i of page k is at byte i of page[k] and of shadow_page[k]; NULL: in one
	 * piece */
	uint64_t *page;
	uint8_t **shadow_page;
};

enum grant_kind {
	GRANT_REGION,
	GRANT_FAST,
	GRANT_WINDOW,
};

enum grant_state {
	GRANT_NONE,
	GRANT_ALIVE,
	GRANT_DOUBTFUL, /* a local invalidate is on its way */
	GRANT_DEAD,
};

/* A key we issued and what the model knows of it. */
struct grant {
	enum grant_kind kind;
	enum grant_state state;
	bool exists;  /* has a slot in the key table */
	bool offered; /* the peer may use it */
	uint8_t domain;
	struct plx_access access;
	struct plx_key key, old_key; /* old_key: of the life before, 0 for none */
	uint32_t qpn;                /* of a window */
	uint64_t va;
	uint32_t length;
	struct slab *slab;
	struct grant *parent; /* of a window */
	struct plx_region region;
	struct plx_window window;
	uint32_t users; /* requests posted with it and not complete */
};

/* ---- receives ---- */

enum receive_state {
	RECEIVE_FREE,
	RECEIVE_POSTED,
	RECEIVE_TAKEN,
};

struct receive {
	uint64_t wr_id;
	uint32_t capacity;
	uint8_t state, sges;
	bool bad_key;
	struct plx_sge sge[PLX_SGE_MAX];
};

/* A receive queue and its model: one side's, or shared by the sides of a station. */
struct receiver {
	struct station *station;
	struct side *owner; /* NULL: shared */
	void *srq_memory;
	struct plx_rq *srq;
	struct slab *slab;
	struct grant grant;
	uint32_t depth, sges, slot_bytes;
	struct receive *slots; /* [depth] of a shared one more: taken entries leave the queue */
	uint32_t slot_count;
	uint32_t *fifo; /* [slot_count] slot indexes, oldest first */
	uint32_t fifo_head, fifo_count;
	uint32_t armed; /* of a shared one: threshold of its event; 0: none */
	uint32_t *free; /* [slot_count] slot indexes */
	uint32_t free_count;
	uint32_t stride; /* of the slots' memory */
	uint64_t delay_ns;
	struct plx_prng prng;
};

struct receiver_shape {
	uint32_t depth, sges, slot_bytes;
};

/* ---- requests ---- */

/* What is wrong with a request, on purpose. X(name) */
enum misuse {
	MISUSE_NONE,
	MISUSE_BAD_RKEY,
	MISUSE_STALE_RKEY, /* a former one of the same slot, or another QP's window */
	MISUSE_RANGE,
	MISUSE_RIGHT,
	MISUSE_DISABLED,
	MISUSE_RECV_SMALL,
	MISUSE_MISALIGNED,
	MISUSE_REVOKED, /* the region is retired when `revoke_at` packets are through */
	MISUSE_LOCAL_KEY,
	MISUSE_BAD_INV,
	MISUSE_BAD_LOCAL_INV,
	MISUSE_COUNT,
};

/* A posted send request: what it asks and how far it is. PSNs are absolute here: 64 bits that never
 * wrap, the low 24 of which are on the wire. */
struct op {
	uint64_t wr_id;
	uint8_t kind, flags, misuse, sges;
	bool executed; /* at the responder, all of it */
	bool answered; /* its response is complete */
	bool dead;     /* posted to a QP in error: never sent */
	uint32_t length;
	uint64_t psn;
	uint32_t psns;
	uint32_t landed; /* bytes of a READ or an atomic's result that have come back */
	uint32_t revoke_at;
	uint32_t imm;
	uint32_t rkey, inv_key;
	struct grant *target; /* NULL: the key is unknown */
	struct grant *inv;
	uint64_t remote_va;
	uint64_t swap_add, compare;
	uint64_t original; /* what the atomic found */
	struct plx_sge sge[PLX_SGE_MAX];
};

/* ---- a QP and the model of it ---- */

/* What recovery.c has seen of a requester. Times are the station's. */
struct recovery {
	uint64_t waiting_since; /* the last progress, or the end of an RNR wait */
	uint64_t timed_from;    /* the ack timeout began then, by a clock without steps */
	bool timed_by_next;     /* ... or begins with the next packet */
	uint32_t reports;       /* of a loss, since then */
	uint32_t retries;       /* spent since then */
	uint32_t rnrs;          /* RNR NAKs without progress */
	uint32_t oldest_sent;   /* how often the oldest packet in flight was sent */
	uint64_t not_before;    /* an RNR wait ends then, with the first tick; 0: there is none */
	uint64_t burst;         /* packets that may be sent again after the last sign of a loss */
	uint64_t credit;        /* ... and in the long run */
	uint64_t flight_end;    /* PSN: behind what was in flight at that sign */
	uint64_t sign_at,
		sign_wait_ns; /* silence is the next sign then; distance to the one after */
	uint64_t asked_again; /* READ responses requested again, less those that came in vain */
};

enum side_state {
	SIDE_DOWN, /* no QP, or one in RESET */
	SIDE_UP,
	SIDE_ERROR, /* the QP is in error, and is being flushed */
};

struct side {
	struct pair *pair;
	struct side *peer;
	struct station *station;
	uint32_t id;
	enum side_state state;
	struct ep_qp *qp;
	uint32_t qpn;
	uint8_t domain;
	struct plx_rc_caps caps;
	struct plx_rc_attr attr;
	struct receiver *receiver;
	uint32_t receive_bytes; /* its entries; the peer reads it even after the QP is destroyed */
	struct receiver *own_receiver; /* of this life; NULL with a shared one */
	struct plx_prng prng;
	struct sim_cc *cc;

	/* the application */
	uint64_t drawn;        /* requests drawn in all lives: names a request */
	uint64_t packets_sent; /* in all lives: names a packet */
	uint64_t max_arrived;  /* the newest of the peer's packets that arrived here */
	bool tx_pending, app_pending, recv_pending; /* such an event is on its way */
	bool waiting_room, draining;
	uint64_t wake_at;
	uint32_t burst_left; /* packets that a loss burst still takes */
	struct slab *landing, *offers_slab;
	struct grant landing_grant;
	struct grant offers_parent;
	struct grant offers[SIM_OFFERS_MAX];
	struct grant victims[SIM_VICTIMS_MAX];
	uint32_t victim_count;

	/* requester model */
	struct op *ops; /* ring of op_room */
	uint32_t op_room, op_room_alloc;
	uint64_t op_posted, op_done; /* counts of this life */
	uint64_t psn_post;           /* absolute, of the next request */
	uint64_t psn_first;
	uint64_t psn_una, psn_high; /* oldest unacknowledged; never sent */
	uint64_t psn_sent;          /* behind the last packet */
	uint64_t tx_op;             /* where the last emission was */
	uint32_t unasked; /* packets in a row in flight, from PSN to PSN, without AckReq */
	struct recovery recovery;
	bool cause_seen;
	uint8_t cause;

	/* responder model */
	uint64_t epsn, msn;
	uint64_t exec_op; /* index of the peer's request being executed */
	uint32_t exec_offset;
	struct receive *open; /* held by a message */
	struct op *due;       /* the message whose receive completion comes next */
	bool rnr_owed;
	uint64_t rnrs_sent;
	uint64_t psn_replied;      /* everything before it is acknowledged on the wire */
	uint64_t psn_delivered;    /* everything before it has been completed to the application */
	uint64_t psn_ahead;        /* one past the newest that arrived ahead of its turn */
	uint64_t ahead[SIM_AHEAD]; /* PSNs that arrived ahead of their turn, by their low bits */
	uint64_t nak_epsn;         /* the ePSN of the last sequence NAK */
	uint32_t naks;             /* sequence NAKs with that ePSN */
	uint64_t reply_tokens, response_tokens, cnp_tokens;
	uint64_t cnp_from; /* by the station's clock: a mark earns a CNP again from then on */
	uint8_t fatal;     /* enum plx_verdict that took the responder down, or NONE */
	uint64_t fatal_psn;

	/* a death */
	bool killed;   /* by the application */
	bool silenced; /* by the engine: nothing may be sent any more */
	uint32_t failed_events, flushed_events, posts_after_death;
	struct plx_rc_counters counted; /* what the statistics have taken already */
};

struct pair {
	struct world *world;
	uint32_t index;
	struct side side[2];
	uint32_t life;
	uint32_t in_flight; /* frames of this and earlier lives on links */
	uint64_t lost;      /* packets lost or damaged on links, of all connections */
	bool alive, closing;
	bool last; /* it is not born again */
	struct plx_prng prng;
};

struct station {
	struct world *world;
	uint32_t index;
	struct ep *ep;
	struct ep_config config;
	struct plx_domain domain[SIM_DOMAINS];
	struct plx_list slabs;
	struct slab *public_slab;
	struct slab source_slab; /* the process's constant bytes */
	struct grant public_grant[SIM_DOMAINS], source_grant[SIM_DOMAINS];
	struct receiver *srq; /* NULL: none */
	bool srq_pending;
	uint64_t clock_global, clock_local; /* they were equal then */
	uint64_t stepped_ns;                /* by which the clock has jumped */
	int32_t drift_ppm;
};

/* ---- links and packets ---- */

enum damage {
	DAMAGE_NONE,
	DAMAGE_HARMLESS, /* only bits that no check covers */
	DAMAGE_BAD,      /* must be refused */
	DAMAGE_EVIL,     /* the ICRC was made good again */
	DAMAGE_STRAY,    /* of no QP's, and none may accept it */
};

struct packet {
	struct packet *next_free;
	uint8_t *bytes;
	uint32_t len;
	struct station *to;
	struct side *from; /* NULL: a stray */
	uint32_t life;
	uint64_t serial;
	uint8_t damage;
};

/* What the weather does to one packet. */
struct fault {
	bool drop, dup, ce;
	uint8_t flips;
	bool evil;
	uint64_t late_ns; /* beside the link's own latency */
	uint64_t dup_ns;
	uint64_t bits; /* for the flips */
};

struct link {
	uint64_t free_at, last_arrival, down_until, clog_until;
};

/* ---- trace ---- */

enum trace_kind {
	TRACE_NONE,
	TRACE_SEND,
	TRACE_FAULT,
	TRACE_ARRIVE,
	TRACE_JUDGED,
	TRACE_PLACE,
	TRACE_ATOMIC,
	TRACE_POST,
	TRACE_RECV,
	TRACE_COMPLETE,
	TRACE_EVENT,
	TRACE_TICK,
	TRACE_LIFE,
	TRACE_CLOSE,
	TRACE_KILL,
	TRACE_REVOKE,
	TRACE_DISTURB,
	TRACE_CM_SENDS,
	TRACE_CM_RECV,
	TRACE_CM_JUDGED,
	TRACE_CM_TOLD,
	TRACE_CM_ACTS,
	TRACE_NDK_CALLS,
	TRACE_NDK_DONE,
	TRACE_NDK_CLOSES,
	TRACE_NDK_CLOSED,
	TRACE_NDK_ARMS,
	TRACE_NDK_NOTIFIES,
	TRACE_NDK_LEFT,
	TRACE_NDK_POSTS,
	TRACE_NDK_RESULT,
	TRACE_KINDS,
};

struct trace_row {
	uint64_t at;
	uint8_t kind;
	uint32_t side;
	uint64_t a, b, c, d;
};

/* ---- the world ---- */

/* What the packet that is being judged is expected to do. */
struct judging {
	struct packet *packet;
	struct side *side; /* NULL: nothing may be done */
	const struct plx_pkt *pkt;
	enum plx_verdict verdict;
	struct op *op; /* whose bytes it carries */
	uint32_t left; /* bytes still to be placed, from `offset` of the message on */
	uint32_t offset, consumed;
	const uint8_t *payload;    /* they must come from there; NULL: from anywhere */
	const struct side *source; /* and be what this side has posted; NULL: not compared */
	struct slab *slab;         /* and go where these SGEs are */
	const struct plx_sge *sge;
	uint32_t sges;
	struct plx_sge one;
	bool atomic;   /* one is to be executed */
	bool received; /* a receive was completed */
};

struct world {
	const struct sim_options *options;
	struct sim_mask mask;
	uint64_t seed;
	struct sim_config config;
	struct plx_prng prng;
	uint64_t now;
	struct sim_heap heap;
	struct station station[SIM_STATIONS_MAX];
	struct pair pair[SIM_PAIRS_MAX];
	struct link link[SIM_STATIONS_MAX][SIM_STATIONS_MAX];
	/* whole engines and managers: whose frames the link from one station to another carries */
	struct side *carrier[SIM_STATIONS_MAX][SIM_STATIONS_MAX];
	struct packet *packets_free;
	uint64_t frames_made, frames_freed;
	uint64_t disturbs, steps, kills, strays; /* drawn so far: their names */
	uint64_t actions;                        /* executed so far */
	uint64_t next_wr_id;
	uint32_t quota;                  /* requests that may be drawn in this phase */
	uint64_t last_op[SIM_SIDES_MAX]; /* with a mask: one past the last request that stays */
	uint32_t drawn, drawn_extra;     /* by the workload; to QPs in error */
	uint64_t done;                   /* requests completed */
	struct grant *revoke;            /* to be retired as soon as the current call is over */
	struct station *revoke_station;
	bool calm; /* the liveness phase: no more faults */
	bool evil; /* packets lie: only safety is asserted */
	bool late; /* a packet has been held back: later ones may overtake it */
	uint64_t progress_at;
	struct judging judging;
	struct sim_stats stats;
	struct trace_row trace[SIM_TRACE_ROWS];
	uint64_t trace_count;
	uint64_t hash;
	struct scripted *scripted; /* NULL, or the record that becomes a wire script */
};

/* ---- trace.c: the trace, and how a failure is reported ---- */

/* What kind of failure, for the summary's four zeros. */
enum wrong {
	WRONG_OTHER,
	WRONG_LOST,
	WRONG_DOUBLED,
	WRONG_DISORDERED,
	WRONG_CORRUPT,
};

void trace_add(struct world *world, enum trace_kind kind, const struct side *side, uint64_t a,
	       uint64_t b, uint64_t c, uint64_t d);
void trace_as(struct world *world, enum trace_kind kind, uint32_t who, uint64_t a, uint64_t b,
	      uint64_t c, uint64_t d);
void trace_bytes(struct world *world, const uint8_t *bytes, size_t len);
void trace_current(struct world *world); /* whose trace an assertion of ours prints */

/** An invariant does not hold: report it with everything needed to repeat it, and end. */
__attribute__((noreturn, cold, format(printf, 5, 6))) void
sim_fail(struct world *world, enum sim_exit how, const char *name, enum wrong wrong,
	 const char *format, ...);

#define sim_must(world, cond, name, ...)                                                \
	do {                                                                            \
		if (plx_unlikely(!(cond)))                                              \
			sim_fail((world), SIM_WRONG, (name), WRONG_OTHER, __VA_ARGS__); \
	} while (0)

/* The option that selects what is simulated. */
static inline const char *
sim_subject_option(const struct sim_options *options)
{
	if (options->pages)
		return " --pages";
	return options->cm ? " --cm" : options->engine ? " --engine" : options->ndk ? " --ndk" : "";
}

/* ---- jobs.c: runs in processes of their own ---- */

/* How one run ended. */
struct job_result {
	int how; /* enum sim_exit */
	char invariant[16];
	uint64_t seed;
	uint64_t keys; /* recorded; they follow */
	struct sim_stats stats;
};

/* world_run(), or with whole engines */
typedef void (*run_fn)(const struct sim_options *options, uint64_t seed,
		       const struct sim_mask *mask, struct sim_stats *out);

int jobs_run(const struct sim_options *options);
void fabric_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
		struct sim_stats *out);
void fleet_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	       struct sim_stats *out);
void drivers_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
		 struct sim_stats *out);
void jobs_run_one(const struct sim_options *options, const struct sim_mask *mask, bool quiet,
		  struct job_result *out);
__attribute__((noreturn)) void jobs_failed(struct world *world, enum sim_exit how,
					   const char *invariant);

/* ---- keys.c, shrink.c, script.c: making a failure small ---- */

void keys_add(struct sim_keys *keys, uint64_t key);
bool mask_keeps(struct world *world, enum sim_key_kind kind, uint64_t who, uint64_t ordinal);
void mask_last_ops(struct world *world);
int shrink_run(const struct sim_options *options);
void script_birth(struct side *side);
void script_op(struct side *side, const struct op *op);
void script_receive(struct side *side, uint32_t bytes);
void script_revoke(struct side *side, const struct op *op);
void script_packet(struct side *side, const struct packet *packet, const struct fault *fault);
void script_write(const struct world *world, const char *invariant);

/* ---- world.c: a run, and what every run begins and ends with ---- */

/** Run one seed to its end. Returns: what it did; on a failure it does not return */
void world_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	       struct sim_stats *out);

void world_begin(struct world *world, const struct sim_options *options, uint64_t seed);
void world_end(struct world *world, struct sim_stats *out);
void world_link_stations(struct world *world);

/* ---- draw.c: what a seed means ---- */

void draw_config(struct world *world);
struct plx_prng draw_stream(uint64_t seed, uint64_t what, uint64_t who, uint64_t ordinal);
uint64_t draw_between(struct plx_prng *prng, uint64_t low, uint64_t high); /* inclusive */
uint64_t draw_log(struct plx_prng *prng, uint64_t low, uint64_t high);     /* log-uniform */
uint64_t draw_exponential(struct plx_prng *prng, uint64_t mean);
bool draw_percent(struct plx_prng *prng, uint32_t percent);

/* ---- heap.c, clock.c: time ---- */

void heap_push(struct world *world, uint64_t at, enum sim_event_kind kind, void *what);
bool heap_pop(struct world *world, struct sim_event *out);
void heap_free(struct world *world);
void clock_start(struct station *station);
void clock_step(struct station *station, uint64_t ns);
uint64_t clock_local(const struct station *station);
uint64_t clock_global(const struct station *station, uint64_t local);

/* ---- slab.c, grant.c: memory and keys ---- */

uint8_t *source_bytes(void); /* SIM_SOURCE_BYTES, read-only */
struct slab *slab_create(struct station *station, struct plx_prng *prng, uint32_t size);
void slab_destroy(struct station *station, struct slab *slab);
void slab_check(struct world *world, const struct slab *slab);
void slab_scatter_source(struct slab *slab);
void slab_fill(struct slab *slab, const uint8_t *bytes, uint32_t count);
/** Bytes from `va` on that are in one piece. */
uint64_t slab_rest(const struct slab *slab, uint64_t va);
/** Is [host, host + bytes) the memory of a part of [va, va + length)? */
bool slab_contains(const struct slab *slab, uint64_t va, uint64_t length, const uint8_t *host,
		   uint32_t bytes);
/** Does the shadow have these bytes? */
bool slab_expects(const struct slab *slab, uint64_t va, const uint8_t *bytes, uint32_t count);
/** The shadow of a byte of the memory. */
uint8_t *slab_shadow_of(const struct slab *slab, const uint8_t *host);
uint8_t *slab_host(const struct slab *slab, uint64_t va);
uint8_t *slab_shadow(const struct slab *slab, uint64_t va);
/** Where byte `offset` of an SGE list lies, and how many follow there in one piece. */
uint64_t sges_at(const struct plx_sge *sge, uint32_t sges, uint32_t offset, uint32_t *contiguous);

enum opinion {
	OPINION_NO,
	OPINION_MAYBE,
	OPINION_YES,
};

void grant_register(struct station *station, struct grant *grant);
void grant_refresh(struct station *station, struct grant *grant);
void grant_create_window(struct station *station, struct grant *grant, struct grant *parent);
void grant_bind(struct station *station, struct grant *grant, uint32_t qpn);
void grant_retire(struct station *station, struct grant *grant);
void grant_invalidated(struct world *world, struct grant *grant);
bool grant_covers(const struct grant *grant, uint64_t va, uint64_t length);
enum opinion grant_opinion(const struct grant *grant, uint32_t rkey, const struct side *side,
			   uint64_t va, uint64_t length, uint8_t need);
void revoke_when_due(struct side *side, struct op *op, uint32_t packets);
void revoke_now(struct world *world);

/* ---- station.c, receive.c ---- */

void station_create(struct world *world, uint32_t index, const struct ep_hooks *hooks);
void station_destroy(struct station *station);

struct receiver_shape receiver_draw(const struct world *world, struct plx_prng *prng);
struct receiver *receiver_create_shared(struct station *station, struct plx_prng *prng);
struct receiver *receiver_create_own(struct side *side, const struct receiver_shape *shape);
void receiver_destroy(struct receiver *rx);
void receiver_forget(struct receiver *rx);
void receiver_fill(struct receiver *rx, uint32_t count);
void receiver_refill_later(struct receiver *rx);
void receiver_on_event(struct receiver *rx);
struct receive *receiver_first(const struct receiver *rx);
struct receive *receiver_pop(struct receiver *rx);
void receiver_return(struct receiver *rx, struct receive *slot);

/* ---- pair.c, close.c, side.c, cc.c: lives ---- */

void pair_assign(struct world *world, uint32_t index);
void pair_birth(struct pair *pair);
void pair_close_later(struct pair *pair);
void pair_close(struct pair *pair, bool last);
void drop_offers(struct side *side);
void side_vanish(struct side *side);
void side_schedule(struct side *side);
void side_settle(struct side *side);
void side_transmit(struct side *side);
void side_on_tx(struct side *side);
void side_on_wake(struct side *side);
void side_after_packet(struct side *side, bool received);
void side_collect(struct side *side);
struct sim_cc *sim_cc_create(struct plx_prng *prng, struct ep_qp_config *config);
/* The longest that it holds a packet back. */
uint64_t sim_cc_hold_ns(const struct sim_cc *cc);

/** A wire PSN as the absolute one nearest to `near`. */
static inline uint64_t
psn_absolute(uint64_t near, struct plx_psn psn)
{
	int32_t ahead = (int32_t)((psn.v - (uint32_t)near) << 8) >> 8;

	return near + (uint64_t)(int64_t)ahead;
}

/* ---- workload.c, post.c, misuse.c: applications ---- */

void workload_wake(struct side *side, uint64_t at);
void workload_on_event(struct side *side);
bool workload_left(const struct side *side);
bool workload_post(struct side *side);
uint8_t right_of(uint32_t kind);
bool waits_for_answer(uint32_t kind);
void aim(struct op *op, struct grant *grant, uint64_t va);
void post_op(struct side *side, struct op *op);
bool post_has_room(const struct side *side);
void post_when_full(struct side *side);
void post_after_death(struct side *side);
void misuse_draw(struct side *side, struct op *op, struct plx_prng *prng);
void side_kill(struct side *side);
void kill_something(struct side *side, struct plx_prng *prng);
void drain_resume(struct side *side);

/* ---- link.c, weather.c: the wire ---- */

void link_send(struct side *side, uint8_t *bytes, size_t len);
void link_stray(struct world *world, struct station *to, uint8_t *bytes, size_t len);
void link_arrive(struct world *world, struct packet *packet);
void link_landed(struct world *world, struct packet *packet);
void link_release(struct world *world, struct packet *packet);
void link_free(struct world *world);
struct fault weather_fault(struct side *side, struct plx_prng *prng, bool lost);
void weather_flip(struct world *world, struct packet *packet, const struct fault *fault);
void weather_mark(struct packet *packet);
void weather_seal(uint8_t *bytes, size_t len);
void weather_stray(struct side *side);
void weather_begin(struct world *world);
void weather_on_down(struct world *world);
void weather_on_clog(struct world *world);
void weather_on_step(struct world *world);
void weather_clears(struct world *world);

/* ---- judge.c, requests.c, answers.c, emission.c, recovery.c, completion.c, limits.c,
 * evil.c: the oracle -- */

extern const struct ep_hooks judge_hooks;
bool judge_done(struct world *world);
void request_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
void answer_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
struct op *request_at(const struct side *side, uint64_t psn);
void headers_check(struct world *world, const struct op *op, const struct plx_pkt *pkt,
		   uint32_t offset, uint32_t mtu);
void content_check(struct world *world, const struct side *source, const struct op *op,
		   uint32_t offset, const uint8_t *src, uint32_t bytes);
void frame_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len);
void emission_check(struct side *side, const struct plx_emit *emit);
/* A marked packet of the peer was judged. */
void emission_mark(struct side *side);
void reply_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len);
enum plx_wc_status status_of_fatal(enum plx_verdict verdict);
void complete_send(struct side *side, const struct plx_completion *completion);
void complete_receive(struct side *side, const struct plx_completion *completion);
void complete_silent(struct side *side);
void side_flushed(struct side *side);
void limits_check(struct side *side, const struct plx_rc_view *view);
void limits_observe(struct side *side, const struct plx_rc_view *view);
void recovery_begin(struct side *side);
void recovery_sent(struct side *side, const struct plx_pkt *pkt, uint64_t psn, uint32_t psns);
void recovery_ticked(struct side *side);
void recovery_acknowledged(struct side *side, uint64_t packets);
void recovery_answered(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
void recovery_nak_sent(struct side *side, uint64_t psn);
void recovery_check(struct side *side, const struct plx_rc_view *view);
bool recovery_may_give_up(const struct side *side);
bool recovery_may_give_up_rnr(const struct side *side);
void fence_check(struct side *side, const struct op *fenced);
void evil_judge(struct world *world, struct side *side, const struct plx_pkt *pkt,
		enum plx_verdict verdict);
void evil_memory(struct world *world, struct side *side, const struct plx_action *action);
void evil_receive(struct side *side, const struct plx_completion *completion);

#endif
