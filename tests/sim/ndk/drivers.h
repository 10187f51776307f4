/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nouns of a run with drivers: each host of a fleet has one adapter and one driver, which uses
 * NDK; between them are channels, pairs of queue pairs that are made, connected, used and closed in
 * any order. NDK, sessions, verbs and engines are the production code. A driver has two threads, as
 * the scheduler sees it: its program, and the session's dispatcher, which makes all callbacks.
 * Nothing here looks inside an object of NDK. Start with struct driver.
 */
#ifndef DRIVERS_H
#define DRIVERS_H

#include <ntstatus.h>

#include "../fleet/fleet.h"
#include "plx_adapter_object.h"
#include "plx_ndk.h"
#include "plx_session_system.h"

enum drivers_limit {
	DRIVERS_CHANNELS_MAX = 12,
	DRIVERS_ANTECEDENTS = 5,
	DRIVERS_DEPTH = 6,      /* calls that wait inside others */
	DRIVERS_CELLS = 48,     /* of a half's local memory */
	DRIVERS_CELL = 1024,    /* bytes */
	DRIVERS_REGIONS = 4,    /* of a half, which its peer may access */
	DRIVERS_REGION = 8192,  /* bytes */
	DRIVERS_TOKENS = 96,    /* of a half in one life */
	DRIVERS_TIMERS = 4,     /* of all sessions */
	DRIVERS_WAKE_TURNS = 6, /* of the dispatcher, in which a callback that is due begins */
	DRIVERS_PORT = 5000,    /* of a driver's first listener */
	DRIVERS_IDLE = 10,      /* times that an idle thread doubles its pause */
	DRIVERS_RETRY = 50000,  /* [ns] until a thread that is busy is asked again */
	POST_SGES = 2,          /* of a request */
};

/* What a word of memory says. */
#define WORD_KIND    (UINT64_C(0xff) << 56)
#define WORD_NAME    UINT64_C(0xffffffff)
#define WORD_REQUEST (UINT64_C(0x5a) << 56) /* ... that carries it */
#define WORD_PATTERN (UINT64_C(0xa5) << 56) /* where it was at first */
#define WORD_NOTHING (UINT64_C(0xee) << 56)

/* ---- things: thing.c ---- */

enum thing_kind {
	THING_CQ,
	THING_PD,
	THING_SRQ,
	THING_QP,
	THING_MR,
	THING_MW,
	THING_CONNECTOR,
	THING_LISTENER,
	THING_ENDPOINT,
	THING_KINDS,
};

enum life {
	LIFE_NONE, /* not made, or its creation failed */
	LIFE_MAKING,
	LIFE_OPEN,
	LIFE_CLOSING,
	LIFE_ENDED, /* its close is complete */
};

/* An object of NDK, and what the model knows of it. It stays in memory until the end of the run, so
 * that a callback that comes too late is found out. */
struct thing {
	struct plx_list link; /* in drivers.things */
	struct driver *driver;
	struct half *half; /* NULL: the driver's own */
	uint32_t serial;
	uint8_t kind, life;
	bool told;             /* a connector: its peer has left */
	bool paused;           /* a listener is, */
	uint64_t paused_turns; /* ... and tells of no request after these turns */
	NDK_OBJECT_HEADER *object;
	NDK_FN_CLOSE_OBJECT close;
	struct thing *of[DRIVERS_ANTECEDENTS]; /* what it holds */
	uint32_t successors;                   /* that hold it */
	uint32_t requests;                     /* pending, of it or with it */
	uint32_t callbacks;                    /* that run */
};

/* A request that may be pending. It stays in memory, too. */
struct ask {
	struct plx_list link; /* in drivers.asks */
	struct thing *thing, *with;
	void (*then)(struct thing *thing, NTSTATUS status);
	bool done, returned;
};

/* ---- completion queues: queue.c ---- */

enum arm {
	ARM_NONE,
	ARM_ERRORS,
	ARM_SOLICITED,
	ARM_ANY,
};

struct queue {
	struct thing thing;
	ULONG depth, least, depth_asked; /* least: what may come at once */
	bool resizing;
	uint32_t idle;        /* looks that found nothing */
	uint64_t reads, seen; /* entries; at the last look */
	uint64_t look_ns;
	bool by_callback; /* it is read in callbacks alone */
	bool small;       /* ... and may overrun */
	bool broken;      /* it has */
	uint8_t armed;    /* enum arm: the strongest since the last callback began */
	bool empty;       /* it was, when it was last read, and no callback has begun since */
	struct since {
		bool sure; /* nothing was left in it then */
		uint32_t read, urgent;
	} first, strongest, told; /* read since that arm; since the one that a callback answers */
	uint64_t interval_ns;     /* of its moderation */
	bool due;                 /* a callback has to begin: */
	uint64_t due_turns, due_at;
	uint32_t due_parts; /* of that time, which have passed */
	uint64_t look_at;   /* the program reads it then; older events are void */
};

/* ---- memory and tokens: token.c ---- */

enum token_state {
	TOKEN_COMING, /* its registration is posted */
	TOKEN_ALIVE,
	TOKEN_DEAD, /* its owner knows it */
};

struct token {
	UINT32 value;
	uint8_t state;
	bool doomed;  /* something may end it at any time: */
	bool by_peer; /* a SEND that invalidates it, */
	bool leaving; /* or a request of its owner */
	bool window;
	uint8_t right; /* PLX_ACCESS_ */
	uint32_t region;
	struct thing *thing;
	uint32_t offset, bytes; /* of the region */
	uint64_t base;          /* address for the peer */
};

/* Memory that the peer may access, if it has a token. */
struct region {
	uint64_t *words, *shadow;
	struct thing *mr; /* registered, or fast */
	bool fast;
	bool busy;     /* a request about its MR or window is pending */
	int32_t token; /* the newest; -1: none */
	struct thing *mw;
	int32_t window_token;
};

/* ---- requests: post.c ---- */

enum post_kind {
	POST_SEND,
	POST_SEND_INVALIDATE,
	POST_RECEIVE,
	POST_READ,
	POST_WRITE,
	POST_FAST_REGISTER,
	POST_INVALIDATE,
	POST_BIND,
};

struct post {
	struct half *half;
	uint32_t life;
	uint8_t kind;
	bool ended, silent, solicited, shared;
	bool must_fail;  /* its token was dead, or never good for it */
	bool may_fail;   /* ... or may become so */
	bool kills_sink; /* READ: its sink's token ends with it */
	bool sink;       /* FAST_REGISTER: of the sink */
	uint32_t cell, bytes;
	int32_t token;   /* of the peer: accessed, or to be invalidated; of ours: registered, ... */
	uint32_t offset; /* of the region */
	uint32_t order;  /* of a SEND, among those of its life */
};

struct fifo {
	uint32_t *list, first, count, room;
};

/* ---- channels ---- */

enum half_state {
	HALF_NONE,
	HALF_MAKING,
	HALF_READY,
	HALF_JOINING, /* connecting, accepting */
	HALF_UP,
	HALF_ENDING,
};

struct half {
	struct channel *channel;
	struct half *peer;
	struct driver *driver;
	uint32_t index; /* in the channel: 0 connects, 1 accepts */
	uint8_t state;
	bool busy;    /* a call of joining is pending */
	bool replied; /* the peer has accepted */
	bool broken;  /* a request has failed, or the peer has left */
	bool patient; /* it ends with everything read */
	bool lossy;   /* ... and did not */
	uint8_t how;  /* it ends */
	uint32_t attempts;
	uint32_t idle; /* turns in which it had to wait */
	uint64_t turn_at;
	struct plx_prng prng;
	struct queue *cq[2]; /* of the initiator queue and of the receive queue */
	struct thing *pd, *srq, *qp, *connector, *local; /* srq, local: NULL: none */
	UINT32 local_token, sink_token;
	struct thing *sink; /* a fast region for READs; NULL: none */
	uint8_t sink_state; /* 0: none, 1: registered, 2: with a READ */
	uint32_t missing;   /* things that are being made */
	struct thing *things[48];
	uint32_t thing_count;
	ULONG depth, receive_depth, inline_bytes;
	uint32_t srq_posted;
	uint8_t *cells;
	uint8_t cell_busy[DRIVERS_CELLS];
	struct region region[DRIVERS_REGIONS];
	struct token token[DRIVERS_TOKENS];
	uint32_t token_count;
	struct fifo sent, receives;
	uint32_t sends, heard; /* messages sent; heard of the peer's */
	uint32_t *message;     /* [sends] their posts */
	uint32_t message_room;
	uint32_t chain;  /* requests to be deferred */
	uint32_t unrung; /* deferred since the doorbell was rung */
	uint32_t silent; /* in a row */
	bool waits;      /* for those that a refusal has sent */
};

struct channel {
	struct drivers *drivers;
	uint32_t index, life;
	struct half half[2];
	bool ending;
	struct plx_prng prng;
};

/* ---- drivers: driver.c, system.c ---- */

struct driver {
	struct drivers *drivers;
	struct host *host;
	uint32_t index;
	struct plx_prng prng;
	NDK_ADAPTER *adapter;
	struct host_adapter *below; /* NULL: none is open */
	struct plx_cm *cm;
	struct rte_rcu_qsbr *rcu;
	struct plx_session *session;       /* whose thread this is; NULL: none */
	struct plx_session_thread *thread; /* ... */
	uint64_t turn_at;                  /* the dispatcher's next turn; older events are void */
	uint64_t busy_cycles;              /* of its engine, when it last looked */
	uint64_t turns, calls, late_ns;    /* turns that have ended, callbacks that have begun */
	bool in_turn, in_step, in_callback;
	bool closes; /* its adapter */
	bool again;  /* a turn was due in the middle of one */
	struct thing *listener, *pd;
	struct queue *cq;       /* shared by channels; NULL: none */
	uint32_t listens;       /* listeners there have been */
	uint32_t sleep_percent; /* of callbacks */
};

/* A session's timer. */
struct timer_fd {
	int fd; /* -1: unused */
	struct driver *driver;
	uint64_t at;
};

struct drivers {
	struct fleet fleet; /* first: world, hosts */
	struct driver driver[FLEET_HOSTS_MAX];
	struct channel channel[DRIVERS_CHANNELS_MAX];
	uint32_t channel_count;
	uint32_t preempt_percent; /* of the places where a lock is released */
	struct timer_fd timer[DRIVERS_TIMERS];
	struct plx_list things, asks;
	uint32_t serial;
	struct post *post; /* [posts] */
	uint32_t posts, post_room;
	uint32_t depth; /* calls that wait */
	uint8_t *memory;
	bool over;           /* no channel is born any more */
	uint32_t life_posts; /* turns of a channel's life, in the mean */
};

static inline struct world *
world_of(struct driver *driver)
{
	return &driver->drivers->fleet.world;
}

static inline struct drivers *
drivers_of(struct world *world)
{
	return (struct drivers *)(void *)world;
}

/* A pause that grows while nothing happens. */
static inline uint64_t
idle_ns(uint64_t ns, uint32_t idle)
{
	return ns << (idle < DRIVERS_IDLE ? idle : DRIVERS_IDLE);
}

/* run.c */
void drivers_step(struct drivers *drivers); /* the next event */
bool drivers_may_post(const struct drivers *drivers);

/* driver.c */
void driver_create(struct drivers *drivers, uint32_t index);
void driver_open(struct driver *driver);
void driver_share(struct driver *driver);
void driver_close(struct driver *driver);
void driver_destroy(struct driver *driver);
void driver_enter(struct driver *driver); /* its code runs from now on */
struct driver *driver_current(void);
void driver_turn_by(struct driver *driver, uint64_t at);
void driver_turn_soon(struct driver *driver);
void driver_on_turn(struct driver *driver, uint64_t at);
bool driver_turn(struct driver *driver);
void driver_wait(struct driver *driver, uint64_t ns); /* this thread of it does nothing */
void driver_preempt(void);
void driver_callback(struct driver *driver); /* one begins */
void driver_callback_ends(struct driver *driver);

/* system.c */
void system_begin(struct drivers *drivers);
uint32_t system_locks(void); /* held by the code of drivers */
void system_on_timer(struct timer_fd *timer);

/* thing.c */
struct thing *thing_new(struct driver *driver, struct half *half, enum thing_kind kind,
			size_t bytes);
void thing_holds(struct thing *thing, struct thing *antecedent);
void thing_lets_go(struct thing *thing, struct thing *antecedent);
bool thing_is_open(const struct thing *thing);
struct ask *ask_begin(struct thing *thing, struct thing *with,
		      void (*then)(struct thing *thing, NTSTATUS status));
void ask_returned(struct ask *ask, NTSTATUS status);
void ask_created(struct ask *ask, NTSTATUS status, const void *out);
VOID ask_on_done(PVOID ask, NTSTATUS status);
VOID ask_on_created(PVOID ask, NTSTATUS status, NDK_OBJECT_HEADER *object);
void thing_close(struct thing *thing);
void thing_callback(struct thing *thing);
void thing_callback_ends(struct thing *thing);
void things_check(struct drivers *drivers);
void things_free(struct drivers *drivers);

/* queue.c */
struct queue *queue_make(struct driver *driver, struct half *half, ULONG depth,
			 void (*then)(struct thing *thing, NTSTATUS status));
void queue_begin(struct queue *queue);
void queue_arm(struct queue *queue, enum arm arm);
void queue_look_by(struct queue *queue, uint64_t at);
uint32_t queue_read(struct queue *queue, uint32_t most);
void queue_drain(struct queue *queue);
void queue_on_look(struct queue *queue, uint64_t at);
void queues_check(struct driver *driver);

/* half.c, join.c */
void channel_on_birth(struct channel *channel);
void half_on_turn(struct half *half, uint64_t at);
void half_turn_by(struct half *half, uint64_t at);
void half_end(struct half *half);
void half_add(struct half *half, struct thing *thing);
void half_made(struct thing *thing, NTSTATUS status);
void join_listen(struct driver *driver);
void join_step(struct half *half);
void join_leave(struct half *half);

/* The context of a queue pair: its channel, half and life. */
static inline uint64_t
half_name(const struct half *half)
{
	return (uint64_t)half->channel->life << 16 | half->channel->index << 8 | half->index;
}

/* token.c */
void region_reset(struct half *half, uint32_t index);
void region_check(struct half *half, uint32_t index);
void region_check_write(struct half *half, const struct post *post, uint64_t id);
bool region_may_hold(const struct half *half, uint32_t region, uint32_t word, uint64_t value);
void region_register(struct half *half, uint32_t index);
/** The close of a region completes: its window does not hold it any more, if an invalidation may
 * have come. */
void region_unbinds(struct thing *mr);
void region_deregister(struct half *half, uint32_t index);
void regions_check(struct drivers *drivers);
int32_t token_new(struct half *half, uint32_t region, struct thing *thing, UINT32 value);
void token_dies(struct half *half, int32_t index);
void token_dooms(struct half *half, int32_t index);
void tokens_of(struct thing *thing, void (*what)(struct half *half, int32_t index));
bool token_covers(const struct token *token, uint8_t right, uint64_t at, uint32_t bytes);
MDL *token_mdl(void *memory, uint32_t bytes);

/* post.c, judge.c */
void post_receives(struct half *half);
void post_something(struct half *half);
uint64_t *cell_words(const struct half *half, uint32_t cell);
void fifo_push(struct fifo *fifo, uint32_t id);
uint32_t fifo_pop(struct fifo *fifo);
const struct post *judge_result(struct queue *queue, const NDK_RESULT_EX *result);
void judge_end(struct half *half);

/* drivers' run */
void drivers_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
		 struct sim_stats *out);

#endif
