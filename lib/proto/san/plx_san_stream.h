/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One end of a connected socket, as the process has it that controls it: bytes to messages and
 * back, credits, large transfers, and how control passes to another process of this end or of the
 * other one. Plain data without a pointer, so that another process goes on with a copy.
 * It calls nobody: plx_san_next() says what is to be done, one step at a time. Time and the memory
 * of the bytes are arguments. Start with struct plx_san_stream.
 *
 * The two ends have a reliable connection that keeps messages in order. Each end posts
 * plx_san_receives() receives: as many as it grants credits, and PLX_SAN_RESERVED for the messages
 * without one, of which so many can be under way and no more.
 */
#ifndef PLX_SAN_STREAM_H
#define PLX_SAN_STREAM_H

#include "plx_san_message.h"

enum {
	/* Receives beside those of credits: a CREDIT (the next one waits until this one was seen),
	 * a READY or DONE (one large transfer at a time), a WRITTEN of the other direction, and a
	 * SUSPEND with a SUSPENDED. A RESUME comes after both. */
	PLX_SAN_RESERVED = 5,
	PLX_SAN_SENDS_MAX = 32, /* SENDs under way at once */
};

/* X(name, text): why a stream is over. The text is the end of a sentence about the other end. */
#define PLX_SAN_END_LIST(X)                                                   \
	X(NOT, "is connected")                                                \
	X(CLOSED, "closed the connection")                                    \
	X(LOST, "cannot be reached any more")                                 \
	X(BAD_MESSAGE, "sent a message that is none")                         \
	X(VERSION, "speaks another version of the session protocol")          \
	X(CREDITS, "sent more than it was allowed to")                        \
	X(UNEXPECTED, "sent a message that does not fit what it sent before") \
	X(TIMEOUT, "did not answer or end a suspension in time")

enum plx_san_end {
#define PLX_X(name, text) PLX_SAN_END_##name,
	PLX_SAN_END_LIST(PLX_X)
#undef PLX_X
	PLX_SAN_END_COUNT,
};

/* What this end offers. */
struct plx_san_config {
	bool connects;          /* this end began the connection: the first to send */
	bool reads;             /* the provider has RDMA READ */
	uint32_t credits;       /* 1 .. PLX_SAN_CREDITS_MAX */
	uint32_t payload_bytes; /* PLX_SAN_PAYLOAD_MIN .. _MAX: what a receive takes beside
				   PLX_SAN_HEAD_MAX */
	uint32_t in_bytes;      /* of the ring for what has arrived: a power of two, more than
				   credits * payload_bytes */
	uint32_t out_bytes;     /* of the ring for what is to be sent: a power of two */
	uint32_t sends;         /* SENDs at once: 1 .. PLX_SAN_SENDS_MAX */
	uint64_t suspend_ns;    /* how long a suspension may last */
};

/* A large transfer that this end offers. It is one at a time; bytes written later wait for it. */
enum plx_san_large {
	PLX_SAN_LARGE_NONE,
	PLX_SAN_LARGE_QUEUED,    /* behind bytes that are not sent yet */
	PLX_SAN_LARGE_OFFERED,   /* the other end READs, or will say where to WRITE */
	PLX_SAN_LARGE_ALLOWED,   /* it has said so */
	PLX_SAN_LARGE_WRITING,   /* that WRITE is under way */
	PLX_SAN_LARGE_WRITTEN,   /* WRITTEN is to be sent */
	PLX_SAN_LARGE_WITHDRAWN, /* the other end changed hands: offer the rest again */
	PLX_SAN_LARGE_ENDED,     /* the program is to be told */
	PLX_SAN_LARGE_COUNT,
};

/* A large transfer that the other end offers. */
enum plx_san_fetch {
	PLX_SAN_FETCH_NONE,
	PLX_SAN_FETCH_OPEN,     /* waits for room */
	PLX_SAN_FETCH_READING,  /* a READ is under way */
	PLX_SAN_FETCH_EXPOSING, /* memory is being registered for a WRITE */
	PLX_SAN_FETCH_EXPOSED,  /* READY is to be sent */
	PLX_SAN_FETCH_WAITING,  /* ... was sent */
	PLX_SAN_FETCH_DONE,     /* DONE is to be sent */
	PLX_SAN_FETCH_COUNT,
};

/* How far our own process is in giving this end away. */
enum plx_san_mine {
	PLX_SAN_MINE_KEPT,
	PLX_SAN_MINE_WANTED,  /* when all that is in progress has ended */
	PLX_SAN_MINE_ASKED,   /* SUSPEND was sent */
	PLX_SAN_MINE_GRANTED, /* the other end is suspended */
	PLX_SAN_MINE_GIVEN,   /* to another process: nothing more happens here */
	PLX_SAN_MINE_COUNT,
};

/* How far the other end is. */
enum plx_san_theirs {
	PLX_SAN_THEIRS_KEPT,
	PLX_SAN_THEIRS_ASKED,    /* SUSPEND has arrived */
	PLX_SAN_THEIRS_ANSWERED, /* SUSPENDED was sent */
	PLX_SAN_THEIRS_COUNT,
};

/* Positions count the bytes of the stream from its beginning; byte p is at p modulo the ring's
 * size. */
struct plx_san_in {
	uint64_t placed;   /* bytes that have arrived */
	uint64_t taken;    /* ... and that the program has read */
	uint32_t messages; /* data messages that have arrived */
	uint32_t posted;   /* how many the other end may send in all */
	uint32_t told;     /* what it knows of that */
	uint16_t credits;  /* CREDIT messages that have arrived */
	uint16_t credits_told;
	bool hello, fin;
	bool urgent; /* a byte that the program has not read */
	uint8_t urgent_byte;
	bool marked;
	uint64_t mark;    /* where the newest urgent byte was sent; valid if marked */
	uint8_t fetch;    /* enum plx_san_fetch */
	bool by_write;    /* it is not to be READ: READY says where to WRITE it */
	bool conceal;     /* memory that was WRITTEN to the end is to be deregistered */
	uint64_t rest;    /* [bytes] of it that are not placed */
	uint64_t fetched; /* ... that are, since the offer */
	uint32_t moving;  /* ... that are under way */
	struct plx_san_descriptor from; /* to READ from; when EXPOSED: to WRITE to */
};

struct plx_san_out {
	uint64_t put;      /* bytes that the program has written */
	uint64_t sent;     /* ... that are in a message */
	uint64_t released; /* ... whose place is free again */
	uint32_t messages; /* data messages sent */
	uint32_t posted;   /* how many may be sent in all */
	uint32_t credits;  /* what the other end grants at most */
	uint32_t payload_bytes;
	uint16_t credit_messages; /* CREDIT messages sent */
	uint16_t credits_seen;    /* ... that have arrived */
	bool hello, fin_wanted, fin;
	bool urgent; /* is to be sent */
	uint8_t urgent_byte;
	uint64_t urgent_at;           /* behind the bytes before here */
	uint8_t large;                /* enum plx_san_large: behind all that was put */
	bool by_write;                /* the other end does not READ: it says where to WRITE */
	uint64_t rest;                /* [bytes] of it that the other end does not have */
	uint64_t offset;              /* ... where they begin, from the beginning of the transfer */
	uint32_t moving;              /* of the WRITE */
	struct plx_san_descriptor at; /* to READ from; when ALLOWED: to WRITE to */
	uint32_t sends;               /* SENDs under way */
	uint32_t length[PLX_SAN_SENDS_MAX]; /* of their payloads in the ring, from `first` on */
	uint32_t first;
};

struct plx_san_stream {
	struct plx_san_config config;
	uint8_t end;    /* enum plx_san_end */
	uint8_t mine;   /* enum plx_san_mine */
	uint8_t theirs; /* enum plx_san_theirs */
	bool resume;    /* RESUME is to be sent */
	bool silent;    /* given away without the other end's help */
	bool sends_released, rdma_released;
	uint32_t epoch;
	uint64_t deadline; /* of a suspension; PLX_NEVER: none */
	struct plx_san_in in;
	struct plx_san_out out;
};

/* Where the program wants what it reads next. */
struct plx_san_sink {
	uint8_t *to;
	uint32_t room; /* [bytes]; both change as bytes arrive */
};

/* The memory of the bytes. */
struct plx_san_rings {
	uint8_t *in;  /* [config.in_bytes] */
	uint8_t *out; /* [config.out_bytes] */
	/* What arrives while nothing else waits to be read goes there first, and is read then.
	 * NULL: nobody reads now */
	struct plx_san_sink *sink;
};

/* ---- from its beginning to its end ---- */

/** Receives that an end of this configuration posts. Each takes PLX_SAN_HEAD_MAX and
 * config->payload_bytes. */
uint32_t plx_san_receives(const struct plx_san_config *config);

/** Begin. The connection is up, and all receives are posted.
 * Errors: INVALID (a value of `config` is out of its range) */
enum plx_status plx_san_begin(struct plx_san_stream *stream,
			      const struct plx_san_config *config) PLX_MUST_CHECK;

/** May the program use it: have both ends said HELLO? */
bool plx_san_is_open(const struct plx_san_stream *stream);

/** Is what it says of itself possible? With a stream for which this holds no call leaves the rings,
 * asserts, or loops, and it holds after each call. */
bool plx_san_is_valid(const struct plx_san_stream *stream);

/** Can it be taken over? Of memory that another process may have written, copied before: valid, and
 * given away with nothing pending. Whose bytes the rings have is that process's word. */
bool plx_san_can_take(const struct plx_san_stream *stream);

/** End it: the connection is lost, or closed. Ends once: the first reason stays. */
void plx_san_finish(struct plx_san_stream *stream, enum plx_san_end why);

/** "... sent a message that is none" */
const char *plx_san_end_text(enum plx_san_end end);

/* ---- bytes ---- */

/** Take bytes that are to be sent.
 * Returns: how many: as there is room; 0 after plx_san_shut() or plx_san_suspend(), or while a
 * large transfer is not over */
uint32_t plx_san_write(struct plx_san_stream *stream, const struct plx_san_rings *rings,
		       const void *bytes, uint32_t n);

/** Take a byte that is to be sent out of band, in its place among the others.
 * Returns: false: the last one is not sent yet, or nothing may be written */
bool plx_san_write_urgent(struct plx_san_stream *stream, uint8_t byte);

/**
 * Offer bytes of the program's own memory, behind what was written.
 * @param at the memory, registered for the other end's READs; NULL where plx_san_offers_reads() is
 *           false: it will be WRITTEN from
 * Returns: false: another large transfer is not over, the other end changes hands, or nothing may
 * be written
 */
bool plx_san_offer(struct plx_san_stream *stream, uint64_t bytes,
		   const struct plx_san_descriptor *at);

/** Does the other end READ what is offered? Valid once open. */
bool plx_san_offers_reads(const struct plx_san_stream *stream);

/** How many bytes can be written. */
uint32_t plx_san_room(const struct plx_san_stream *stream);

/** Nothing more will be written: FIN follows the last byte. */
void plx_san_shut(struct plx_san_stream *stream);

/** Has all that was written arrived at the other end's memory? */
bool plx_san_is_drained(const struct plx_san_stream *stream);

/** Read what has arrived, but not past the place of an urgent byte that lies ahead.
 * @param keep leave the bytes where they are (MSG_PEEK)
 * Returns: how many; 0: none have, or the other end has shut: plx_san_is_at_end() */
uint32_t plx_san_read(struct plx_san_stream *stream, const struct plx_san_rings *rings, void *out,
		      uint32_t n, bool keep);

uint32_t plx_san_readable(const struct plx_san_stream *stream);

/** Has the other end shut, and has everything been read? */
bool plx_san_is_at_end(const struct plx_san_stream *stream);

/** Read the urgent byte. @param keep for another time. Returns: false: there is none, or bytes
 * behind it were read */
bool plx_san_read_urgent(struct plx_san_stream *stream, uint8_t *out, bool keep);

/** Is the next byte the first behind the urgent one (SIOCATMARK)? */
bool plx_san_is_at_mark(const struct plx_san_stream *stream);

/* ---- what happened ---- */

/**
 * A message has arrived, whose receive is posted again at once. What it must not be ends the
 * stream, and changes nothing else.
 * @param bytes payload included
 * Cost:  a copy of the payload
 */
void plx_san_on_message(struct plx_san_stream *stream, const struct plx_san_rings *rings,
			const uint8_t *message, uint32_t bytes);

/** The oldest `n` SENDs are complete. */
void plx_san_on_sent(struct plx_san_stream *stream, uint32_t n);

/** The READ is complete. */
void plx_san_on_read(struct plx_san_stream *stream);

/** The WRITE is complete. */
void plx_san_on_written(struct plx_san_stream *stream);

/** What plx_san_next() asked to be exposed is. */
void plx_san_on_exposed(struct plx_san_stream *stream, const struct plx_san_descriptor *to);

/** The rest of a withdrawn offer can be READ again. @param at its memory from there on */
void plx_san_on_offered_again(struct plx_san_stream *stream, const struct plx_san_descriptor *at);

/** Time has passed. */
void plx_san_on_time(struct plx_san_stream *stream, uint64_t now);

/** When plx_san_on_time() has something to do; PLX_NEVER */
uint64_t plx_san_timer(const struct plx_san_stream *stream);

/* ---- control ---- */

/** Another process of this end wants control: give it away when all in progress has ended. Bytes of
 * the rings stay there. */
void plx_san_suspend(struct plx_san_stream *stream);

/** The same where the connection stays as it is and only its owner changes: the other end is not
 * told. What arrives meanwhile finds no receive and waits; what it offers stays offered. */
void plx_san_pass(struct plx_san_stream *stream);

/** This process has a copy of what another one has given away (plx_san_can_take()), or takes back
 * what it did not; its receives are posted. */
void plx_san_resume(struct plx_san_stream *stream);

/**
 * Go on with what another process had, which has not given it away: it computes, or has ended, and
 * its requests are complete. Of memory that it may have written, copied before. Messages that have
 * arrived and that it has not looked at come next.
 * Returns: false: it is no stream, has ended, or has something half done that only that process
 * could end
 */
bool plx_san_inherit(struct plx_san_stream *stream);

/* ---- what to do ---- */

enum plx_san_do {
	PLX_SAN_DO_NOTHING,
	PLX_SAN_DO_SEND, /* `head`, then `ring` of the ring of what is to be sent, as one message;
			    then plx_san_on_sent() */
	/* `bytes` at `offset` of the memory that `descriptor` names, to `ring` of the ring of what
	 * has arrived; then plx_san_on_read() */
	PLX_SAN_DO_READ,
	/* `bytes` of the large transfer from `offset` on, to the beginning of the memory that
	 * `descriptor` names; then plx_san_on_written() */
	PLX_SAN_DO_WRITE,
	PLX_SAN_DO_EXPOSE,      /* register `ring` for the other end's WRITE: on_exposed() */
	PLX_SAN_DO_CONCEAL,     /* ... its WRITE is complete: deregister that */
	PLX_SAN_DO_OFFER_AGAIN, /* register the large transfer from `offset` on: on_offered_again()
				 */
	PLX_SAN_DO_END_LARGE,   /* the large transfer is over: the program's call ends */
	PLX_SAN_DO_RELEASE_SENDS, /* deregister the memory of sends */
	PLX_SAN_DO_RELEASE_RDMA,  /* deregister all that the other end can READ or WRITE */
	PLX_SAN_DO_GIVE, /* only receives are pending, on both ends unless it passes: give it away
			  */
	PLX_SAN_DO_COUNT,
};

/* A range of a ring: `first` bytes at `at`, the others at its beginning. */
struct plx_san_range {
	uint32_t at, first, bytes;
};

struct plx_san_next {
	enum plx_san_do what;
	uint8_t head[PLX_SAN_HEAD_MAX]; /* an urgent byte is its last one */
	uint32_t head_bytes;
	enum plx_san_kind kind; /* of the SEND */
	struct plx_san_range ring;
	uint64_t offset;
	uint32_t bytes;
	struct plx_san_descriptor descriptor;
};

/**
 * The next thing to do, which counts as done, or begun, when this returns. Call it again until
 * there is nothing: after each of the calls above.
 */
void plx_san_next(struct plx_san_stream *stream, uint64_t now, struct plx_san_next *out);

#endif
