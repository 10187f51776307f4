/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conversation of two ndperf: by it they agree on what to measure, tell each other what their
 * queue pairs must know, connect these, and say how it went. Each end sends talk_magic and the
 * version (32 bits), and ends when the other's differ. Messages follow: kind and length (32 bits
 * each), and a body, which is checked against the limits of the command line. Numbers are in
 * network byte order. bodies.c has the bodies; cm.h the private data of connections.
 * A carrier moves its bytes and connects its queue pairs: a TCP connection beside the measured path
 * (tcp.c), or a queue pair of its own, by the communication manager (cm.h).
 * Every wait has a limit, and polls the adapter meanwhile. Start with talk_receive().
 */
#ifndef NDPERF_TALK_H
#define NDPERF_TALK_H

#include "clock.h"
#include "ndperf.h"
#include "signals.h"

enum {
	TALK_VERSION = 1,
	TALK_BODY_MAX = 16384, /* [bytes] of one message */
	TALK_MAGIC_BYTES = 8,
};

extern const uint8_t talk_magic[TALK_MAGIC_BYTES];

enum message {
	MESSAGE_NONE,
	MESSAGE_JOB,     /* client: a job */
	MESSAGE_CARD,    /* either: what the other's queue pairs must know, of each */
	MESSAGE_READY,   /* either: all are connected; no body */
	MESSAGE_GO,      /* client: it starts; 64 bits, used within one process only */
	MESSAGE_DONE,    /* client: how many messages each queue pair carried (64 bits each) */
	MESSAGE_VERDICT, /* server: messages seen, bytes found right (64 bits each) */
	MESSAGE_REFUSED, /* either: a sentence; the conversation ends */
	MESSAGE_COUNT,
};

struct card;
struct carrier;
struct cm;
struct side;

struct talk {
	const struct carrier *carrier;
	const struct options *options;
	struct side *side; /* whose adapter is polled, and whose queue pairs are connected */
	int fd;            /* tcp: -1: closed */
	int listening;     /* tcp, a server's */
	struct cm *cm;     /* cm: what it has; NULL: closed */
	bool may_sleep;    /* tcp: nothing is going on that an inline adapter must be polled for */
	uint32_t timeout_ms;
	char peer[300];              /* how it is called in a sentence */
	uint8_t body[TALK_BODY_MAX]; /* of the message received last, or being made */
	uint32_t length;
};

/* What carries a conversation. All of it with sentences; `now` and deadlines by now_ms(). */
struct carrier {
	bool needs_adapter; /* the adapter is opened before connect() or listen() */
	/* a server begins; the next client, however long it takes (false when interrupted, or with
	 * a sentence); the server's end */
	bool (*listen)(struct talk *talk, struct plx_why *why);
	bool (*accept)(struct talk *talk, struct plx_why *why);
	void (*shut)(struct talk *talk);
	/* a client tries until the server answers or the time is over */
	bool (*connect)(struct talk *talk, struct plx_why *why);
	/* all bytes, or the sentence; `*none` when the peer had left before the first */
	bool (*read)(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
		     struct plx_why *why);
	bool (*write)(struct talk *talk, const void *from, size_t size, struct plx_why *why);
	/* is there something to read, or the end? Called about every millisecond while messages
	 * flow: what must be looked after is looked after here */
	bool (*has_news)(struct talk *talk);
	/* connect the queue pairs of the side to those of the peer's cards; a sentence goes to
	 * side->why */
	bool (*join)(struct talk *talk, const struct card *cards);
	/* the opposite, before the queue pairs are destroyed; harmless when nothing was joined.
	 * is_orderly: the peer does the same now */
	void (*part)(struct talk *talk, bool is_orderly);
	/* leave; what was written before arrives */
	void (*close)(struct talk *talk);
};

/* The side channel of --oob, where it connects and listens; a talk with `fd` set is connected
 * already, by a pair of sockets. Queue pairs are connected by what the cards say, without a message
 * of their own. */
extern const struct carrier carrier_tcp;

/* No side channel: the conversation has a queue pair of its own (cm.h). */
extern const struct carrier carrier_cm;

/** The carrier that the options ask for. */
void talk_init(struct talk *talk, const struct options *options, struct side *side);

/** Both ends say who they are. Errors: no ndperf, another version, none in time */
bool talk_hello(struct talk *talk, struct plx_why *why);

/** Send the first `length` bytes of `body` as a message. */
bool talk_send(struct talk *talk, enum message kind, struct plx_why *why);

/** Wait for a message of this kind, into `body` and `length`. Errors: the peer refuses (its
 * sentence), says something else, vanishes, says nothing in time */
bool talk_receive(struct talk *talk, enum message kind, struct plx_why *why);

/** As talk_receive(), of whatever kind. @param timeout_ms of the wait for its beginning
 * Returns: MESSAGE_NONE with the sentence; an empty one: the peer has left */
enum message talk_receive_any(struct talk *talk, uint32_t timeout_ms, struct plx_why *why);

/** Tell the peer why not, as well as it goes. */
void talk_refuse(struct talk *talk, const char *sentence);

#endif
