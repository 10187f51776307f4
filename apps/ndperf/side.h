/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint of the measurement: an adapter, and for one job at a time memory, completion queues
 * and queue pairs. Active and passive endpoints differ in what they post, not in what they have.
 * A failure is kept with its sentence in the side. Start with struct side.
 */
#ifndef NDPERF_SIDE_H
#define NDPERF_SIDE_H

#include <string.h>

#include "bodies.h"
#include "window.h"

enum {
	POLL_MAX = 32,          /* completions taken at once */
	CHUNK = 4 * 1024,       /* [bytes] written in one go, before the adapter is polled again */
	REPLY_STREAM = 1 << 16, /* the pattern of what comes back */
};

/* Which of an endpoint's two completion queues. */
enum queue {
	QUEUE_SEND,
	QUEUE_RECEIVE,
	QUEUES,
};

struct nd2;

/* A completion as the interface hands it out, plx_verbs.h or ND2: making one kind of the other
 * would be charged to the interface whose kind it was. entry_*() read it. */
union entry {
	struct plx_wc wc;
	uint64_t nd2[4]; /* an ND2_RESULT */
};

/* Where in it lies what ndperf asks for [bytes]. */
struct entry_fields {
	uint8_t id, context, bytes;
};

/* One queue pair, with the buffers that are its own. */
struct lane {
	struct plx_qp *qp;
	void *nd2_qp; /* an IND2QueuePair, instead */
	struct card peer;
	uint8_t *local;        /* what its messages are sent from, or READ to */
	uint8_t *target;       /* what the peer's messages reach; NULL: nothing does */
	uint64_t posted, done; /* messages of ours: posted, and known to have arrived */
	uint64_t received;     /* messages of the peer */
	uint32_t slot;         /* of the next message of ours */
	uint32_t remote_slot;  /* at the peer; the same, but for READ */
	uint32_t recv_slot;    /* of the receive posted next */
	uint32_t owed;         /* receives used up and not posted again */
	uint32_t silent;       /* messages since the last that asks for a completion */
	struct plx_send_wr wr[BATCH_MAX];
	struct plx_sge sge[BATCH_MAX];
};

struct side {
	const struct options *options;
	bool is_active, is_inline;
	bool is_guest;   /* the adapter is lent by a side of ND2, and its events are that one's */
	bool was_paused; /* what is timed now began before a pause */
	struct nd2 *nd2; /* --api nd2: its objects, and none of these; NULL: verbs */
	struct entry_fields fields;
	struct plx_adapter *adapter;
	struct plx_adapter_info info;
	struct plx_pd *pd;

	struct job job; /* the one it is prepared for */
	uint64_t stride;
	bool is_ping_pong; /* messages go both ways, one at a time */
	bool is_stopping;  /* no new messages */
	uint32_t rq_depth; /* 0: it receives no SEND */
	struct plx_cq *cq[QUEUES];
	void *memory;
	struct plx_mr *mr;
	struct plx_key key; /* of `memory`, for requests of ours */
	struct lane *lanes; /* [job.qps] */

	uint64_t amount; /* messages done, of all lanes */
	uint64_t checked_bytes;
	uint64_t posted_at; /* [ticks] ping-pong: when the message on its way was posted; 0: none */
	bool is_measuring;  /* latencies count */
	struct histogram *histogram;
	struct windows log;
	bool has_log;

	bool has_failed;
	struct plx_why why;
};

/** Device, addresses and worker of an endpoint, as the options have them. */
bool side_adapter_options(const struct options *o, bool is_active,
			  struct plx_adapter_options *adapter_options, struct plx_why *why);
/** What its adapter is called. */
const char *side_name(const struct options *o, bool is_active);

/** Open the adapter that the options name. Threads: the one that will poll it */
bool side_open(struct side *side, const struct options *options, bool is_active,
	       struct plx_why *why);
/** One of verbs on the adapter of `host`, which is ND2's and is closed later. */
bool side_open_beside(struct side *side, const struct side *host, struct plx_why *why);
void side_close(struct side *side);

/** Memory, completion queues, queue pairs, first receives. Errors: in side->why */
bool side_prepare(struct side *side, const struct job *job);

/** @param cards [job.qps] out */
bool side_cards(struct side *side, struct card *cards);

/** One try to connect every queue pair that is not. Returns: OK, AGAIN, or what is in side->why */
enum plx_status side_connect(struct side *side, const struct card *cards);

/** Rest a little between two looks, the adapter polled. */
void side_pause(struct side *side);

/** What moves an inline adapter when there is nothing else to ask it. Returns: 0: nothing moved */
uint32_t side_poll(struct side *side);

/** Give back what side_prepare() made; harmless when it made nothing. */
void side_clear(struct side *side);

/** Keep the first failure. Returns: false */
__attribute__((format(printf, 2, 3))) bool side_fail(struct side *side, const char *format, ...);

/** An event of the adapter; by ND2, and beside it, a queue pair that fails is told by what it
 * flushes, and by nothing else. Returns: false: there is none */
bool side_next_event(struct side *side, struct plx_async_event *event);

/** Look for events that no completion tells of. Returns: false when one is a failure */
bool side_look(struct side *side);

/** Take completions. Returns: how many, all good ones; a bad one is a failure of the side */
uint32_t side_reap(struct side *side, enum queue queue, union entry *entries);

/** The latency of what was asked for last. */
static inline void
side_time(struct side *side, uint64_t now)
{
	if (side->is_measuring && plx_likely(!side->was_paused))
		histogram_add(side->histogram, now - side->posted_at);
	side->was_paused = false;
}

/** Of a completion: the number of the message, the lane, the length of what was received. */
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

/** One go at whatever there is to do. Returns: false: there was nothing */
bool active_step(struct side *side);
bool passive_step(struct side *side);

/** Is everything done that was posted, with a completion for the last? */
bool active_is_drained(const struct side *side);

/** Set up what all its messages have in common: before the first step, when `peer` is known. */
void side_start(struct side *side);
/** Fill what will be read, post what will be received: before the peer can send. */
bool side_welcome(struct side *side);

/** After the last message: memory and words are what `counts` messages must have made them. */
bool passive_judge(struct side *side, const uint64_t *counts);

/* ---- what both kinds of endpoint do ---------------------------------------------------------- */

/** The value of message n's last byte, which the peer waits for; never that of n - 1. */
static inline uint8_t
flag_of(uint64_t n)
{
	return (uint8_t)(n % 255 + 1);
}

/** The bytes of message n of a lane, to its place, as the job asks for them. */
void side_write_source(struct side *side, uint8_t *to, uint32_t stream, uint64_t n);

/** Verify message n. Returns: false, and the side has failed */
bool side_verify(struct side *side, const uint8_t *at, uint32_t stream, uint64_t n);

/** Post the receives owed, all of them. */
bool side_post_receives(struct side *side, uint32_t lane);

/** Post the first `n` of the lane's requests. */
bool side_post(struct side *side, uint32_t lane, uint32_t n);

/** Message `n` of a ping-pong, either way, SEND or WRITE. */
bool side_post_ping(struct side *side, uint64_t n, uint32_t stream);

/** Has message `n` of a ping-pong come? It is verified then. */
bool side_ping_came(struct side *side, uint64_t n, uint32_t stream);

#endif
