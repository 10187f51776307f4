/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint of the measurement: an adapter and, for one job at a time, memory, completion queues
 * and queue pairs. Active and passive endpoints differ in what they post, not in what they own. The
 * first failure is kept in the side, with its sentence. Start with struct side.
 */
#ifndef NDPERF_SIDE_H
#define NDPERF_SIDE_H

#include <string.h>

#include "bodies.h"
#include "schedule.h"
#include "stalls.h"
#include "window.h"

enum {
	POLL_MAX = 32,          /* completions polled at once */
	CHUNK = 4 * 1024,       /* [bytes] written at once before the adapter is polled again */
	REPLY_STREAM = 1 << 16, /* the pattern's stream for replies */
	LANES_A_TURN = 16,      /* after these an inline adapter is polled again */
};

/* Selects one of an endpoint's two completion queues. */
enum queue {
	QUEUE_SEND,
	QUEUE_RECEIVE,
	QUEUES,
};

struct face;
struct nd2;
struct ndk;

/* A completion in the format of the interface. Converting one to the other would charge the cost to
 * that interface. entry_*() read it. */
union entry {
	struct plx_wc wc;
	uint64_t nd2[4]; /* an ND2_RESULT */
	uint64_t ndk[3]; /* an NDK_RESULT */
};

/* The distance of entries in an array, and the offsets of the fields that ndperf needs [bytes]. */
struct entry_fields {
	uint8_t stride, id, context, bytes;
};

/* One queue pair and its buffers. */
struct lane {
	struct plx_qp *qp;
	void *face_qp; /* instead: an IND2QueuePair or NDK_QP */
	struct card peer;
	uint8_t *local;        /* source of its messages, or target of READs */
	uint8_t *target;       /* where the peer's messages arrive; NULL: nowhere */
	uint64_t posted, done; /* our messages: posted, and known to have arrived */
	uint64_t received;     /* messages from the peer */
	uint32_t slot;         /* for our next message */
	uint32_t remote_slot;  /* of the peer; the same, except for READ */
	uint32_t recv_slot;    /* for the next receive */
	uint32_t owed;         /* receives used up and not yet posted again */
	uint32_t unsignaled;   /* messages since the last signaled one */
};

/* The active end of an open loop. */
struct open {
	struct schedule schedule;
	uint64_t from, to; /* [ticks] messages due in between are measured */
	uint64_t end;      /* [ticks] nothing is due from here on */
	uint64_t *due;     /* [job.qps * job.depth], [ticks], of the messages in flight */
	uint32_t waiting;  /* due and not posted yet: `wait` [ticks] */
	uint64_t wait[BATCH_MAX];
	uint64_t scheduled; /* messages due in the measured time that have been counted */
	uint64_t missed;    /* messages that were due and were given up */
	bool is_late;       /* the measured time is over */
};

struct side {
	const struct options *options;
	bool is_active, is_inline;
	bool is_guest; /* the adapter belongs to a side of a face, which also receives its events */
	bool was_paused; /* the present latency sample began before a pause */
	const struct face
		*face;   /* of the interface whose objects are used instead of those below */
	struct nd2 *nd2; /* ... ND2's; NULL: not ND2 */
	struct ndk *ndk;
	struct entry_fields fields;
	struct plx_adapter *adapter;
	struct plx_adapter_info info;
	struct plx_pd *pd;

	struct job job; /* the prepared job */
	uint64_t stride;
	bool is_ping_pong; /* messages alternate between both ends, one at a time */
	bool is_stopping;  /* post no new messages */
	uint32_t rq_depth; /* 0: receives no SENDs */
	struct plx_cq *cq[QUEUES];
	void *memory;
	struct plx_mr *mr;
	struct plx_key key; /* of `memory`, for our own requests */
	struct lane *lanes; /* [job.qps] */
	uint32_t next_lane; /* the first that the next turn looks at */
	/* the requests of one post, whichever lane it is for: with many lanes arrays of their own
	 * would fill the cache */
	struct plx_send_wr wr[BATCH_MAX];
	struct plx_sge sge[BATCH_MAX];

	uint64_t flying;         /* our messages under way, on all lanes */
	uint64_t amount;         /* messages done, on all lanes: ours, or else the peer's */
	const struct side *twin; /* on the same thread, whose messages count, too; NULL: none */
	uint64_t checked_bytes;
	uint64_t posted_at; /* [ticks] ping-pong: when the message in flight was posted; 0: none */
	bool is_measuring;  /* record latencies */
	struct open open;
	struct watch watch;              /* --percentiles: of this thread */
	const struct watch *peer_watch;  /* ... of the other; NULL: none */
	struct histogram *undisturbed;   /* ... samples without a stall; NULL: not wanted */
	uint64_t sample_from, sample_to; /* ... the last one, not judged yet; 0: none */
	struct histogram *histogram;
	struct windows log;
	bool has_log;

	bool has_failed;
	struct plx_why why;
};

/** Set the device, addresses and worker of an endpoint, from the options. */
bool side_adapter_options(const struct options *o, bool is_active,
			  struct plx_adapter_options *adapter_options, struct plx_why *why);
/** The name of its adapter. */
const char *side_name(const struct options *o, bool is_active);

/** Open the adapter that the options specify.
 * Threads: the one that will poll it */
bool side_open(struct side *side, const struct options *options, bool is_active,
	       struct plx_why *why);
/** Open a verbs side on the adapter of `host`, a side with a face that is closed later. */
bool side_open_beside(struct side *side, const struct side *host, struct plx_why *why);
void side_close(struct side *side);

/** Create memory, completion queues and queue pairs, and post the first receives.
 * Errors: in side->why */
bool side_prepare(struct side *side, const struct job *job);

/** @param cards [job.qps] out */
bool side_cards(struct side *side, struct card *cards);

/** Try once to connect the queue pairs that are not connected.
 * Returns: OK, AGAIN, or the status of the failure in side->why */
enum plx_status side_connect(struct side *side, const struct card *cards);

/** Rest briefly between two checks, polling the adapter. */
void side_pause(struct side *side);

/** Poll an inline adapter when nothing else does.
 * Returns: 0: no work done */
uint32_t side_poll(struct side *side);

/** Free everything from side_prepare(); no effect if there is nothing. */
void side_clear(struct side *side);

/** Record a failure, unless one is recorded already.
 * Returns: false */
__attribute__((format(printf, 2, 3))) bool side_fail(struct side *side, const char *format, ...);

/** Fetch an event of the adapter. Through a face, or beside one, a failed queue pair is
 * reported only by its flushed requests.
 * Returns: false: no event */
bool side_next_event(struct side *side, struct plx_async_event *event);

/** Check for events that no completion reports.
 * Returns: false: one is a failure */
bool side_look(struct side *side);

/** Poll completions.
 * Returns: how many, all successful; an unsuccessful one fails the side */
uint32_t side_reap(struct side *side, enum queue queue, union entry *entries);

/** Judge the sample before this one: a stall is known when the thread has looked at the clock
 * again, which it has by now. */
static inline void
side_judge_sample(struct side *side, uint64_t now)
{
	uint64_t from = side->sample_from, to = side->sample_to;
	side->sample_from = side->posted_at;
	side->sample_to = now;
	if (from != 0 && !stalls_overlap(&side->watch, from, to) &&
	    !stalls_overlap(side->peer_watch, from, to))
		histogram_add(side->undisturbed, to - from);
}

/** Record the latency of the last request. */
static inline void
side_time(struct side *side, uint64_t now)
{
	if (side->is_measuring && plx_likely(!side->was_paused)) {
		histogram_add(side->histogram, now - side->posted_at);
		if (side->undisturbed != NULL)
			side_judge_sample(side, now);
	}
	side->was_paused = false;
}

/** An entry of side_reap()'s. */
static inline const union entry *
entry_at(const struct side *side, const union entry *entries, uint32_t i)
{
	return (const union entry *)(const void *)((const uint8_t *)entries +
						   i * side->fields.stride);
}

/** From a completion: the number of the message, the lane, the received length. */
static inline uint64_t
entry_id(const struct side *side, const union entry *entry)
{
	uint64_t id;
	memcpy(&id, (const uint8_t *)entry + side->fields.id, sizeof(id));
	return id;
}

static inline uint32_t
entry_lane(const struct side *side, const union entry *entry)
{
	uint64_t context;
	memcpy(&context, (const uint8_t *)entry + side->fields.context, sizeof(context));
	return (uint32_t)context;
}

static inline uint32_t
entry_bytes(const struct side *side, const union entry *entry)
{
	uint32_t bytes;
	memcpy(&bytes, (const uint8_t *)entry + side->fields.bytes, sizeof(bytes));
	return bytes;
}

/** Messages done, as the loop of this thread counts them. */
static inline uint64_t
side_amount(const struct side *side)
{
	return side->amount + (side->twin != NULL ? side->twin->amount : 0);
}

/** Does it post messages of its own, other than replies? */
static inline bool
side_sends(const struct side *side)
{
	return side->is_active || side->job.both;
}

/** Parts of the steps below, for endpoints that both send and receive.
 * Returns: false: nothing to do */
bool side_stream(struct side *side);
bool side_receive(struct side *side);

/** Post the next `n` messages of a lane, which has room for them.
 * Returns: false: the queue is full, or the side has failed */
bool side_post_stream(struct side *side, uint32_t lane, uint32_t n);

/* ---- an open loop: open.c; of other jobs open_make() and open_clear() do nothing ---- */

bool open_make(struct side *side);
void open_clear(struct side *side);
/** @param from, to [ticks] of the measured time */
void open_begin(struct side *side, uint64_t start, uint64_t from, uint64_t to);
/** Post what is due.
 * Returns: false: nothing */
bool open_step(struct side *side);
/** Record the latencies of a lane's messages up to `upto`. */
void open_ended(struct side *side, uint32_t lane, uint64_t upto, uint64_t now);
/** Has everything been posted that will be? */
bool open_is_over(const struct side *side);

/** Do the work that can be done now.
 * Returns: false: none */
bool active_step(struct side *side);
bool passive_step(struct side *side);

/** Is everything posted done, and the last request completed? */
bool side_is_drained(const struct side *side);

/** Initialize what all of its messages have in common: before the first step, when `peer` is
 * known. */
void side_start(struct side *side);
/** Fill the memory that will be read, and post receives: before the peer can send. */
bool side_welcome(struct side *side);

/** After the last message: verify that memory and atomics contain the result of `counts`
 * messages. */
bool passive_judge(struct side *side, const uint64_t *counts);

/* ---- both kinds of endpoint ---- */

/** The last byte of message n, which the peer polls for; always different from that of n - 1. */
static inline uint8_t
flag_of(uint64_t n)
{
	return (uint8_t)(n % 255 + 1);
}

/** Write message n of a lane, as the job specifies. */
void side_write_source(struct side *side, uint8_t *to, uint32_t stream, uint64_t n);

/** Verify message n.
 * Returns: false: wrong, and the side has failed */
bool side_verify(struct side *side, const uint8_t *at, uint32_t stream, uint64_t n);

/** Post all receives that are owed. */
bool side_post_receives(struct side *side, uint32_t lane);

/** Post the first `n` of the side's requests on a lane. */
bool side_post(struct side *side, uint32_t lane, uint32_t n);

/** Post message `n` of a ping-pong, in either direction, by SEND or WRITE. */
bool side_post_ping(struct side *side, uint64_t n, uint32_t stream);

/** Has message `n` of a ping-pong arrived? If so, verify it. */
bool side_ping_came(struct side *side, uint64_t n, uint32_t stream);

#endif
