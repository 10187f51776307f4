/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conversation of two ndperf processes: they agree on what to measure, exchange what their
 * queue pairs need, connect these, and report results. Each end sends talk_magic and the version
 * (32 bits), and ends if the other's differ. Messages follow: kind and length (32 bits each), and a
 * body, which is checked against the limits of the command line. Numbers are in network byte order.
 * bodies.c has the bodies; cm.h the private data of connections.
 * A carrier moves its bytes and connects its queue pairs: a TCP connection beside the measured path
 * (tcp.c), or a queue pair of its own through the communication manager (cm.h).
 * Every wait has a limit, and polls the adapter meanwhile. Start with talk_receive().
 */
#ifndef NDPERF_TALK_H
#define NDPERF_TALK_H

#include "clock.h"
#include "ndperf.h"
#include "signals.h"

enum {
	TALK_VERSION = 3,
	TALK_BODY_MAX = 512 * 1024, /* [bytes] of one message: the cards of QPS_MAX queue pairs */
	TALK_MAGIC_BYTES = 8,
};

extern const uint8_t talk_magic[TALK_MAGIC_BYTES];

enum message {
	MESSAGE_NONE,
	MESSAGE_JOB,   /* client: a job */
	MESSAGE_CARD,  /* either: for each queue pair, what the peer must know */
	MESSAGE_READY, /* either: all queue pairs are connected; no body */
	MESSAGE_GO,    /* client: the measurement starts; 64 bits, used within one process only */
	MESSAGE_DONE, /* client, and a server that sends, too: the number of messages per queue pair
			 (64 bits each) */
	MESSAGE_VERDICT, /* server: messages seen, bytes verified; messages sent in the measured
			    time, and this time [ns] (64 bits each) */
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
	struct side *side; /* its adapter is polled, and its queue pairs are connected */
	int fd;            /* tcp: -1: closed */
	int listening;     /* tcp: on a server */
	struct cm *cm;     /* cm: its state; NULL: closed */
	bool may_sleep;    /* tcp: no inline adapter has to be polled at present */
	uint32_t timeout_ms;
	char peer[300];              /* the peer's name in sentences */
	uint8_t body[TALK_BODY_MAX]; /* of the last message received, or of the one being built */
	uint32_t length;
};

/* Transport of a conversation. All failures have sentences; `now` and deadlines are as of
 * now_ms(). */
struct carrier {
	bool needs_adapter; /* open the adapter before connect() or listen() */
	/* a server: start listening; accept the next client, however long it takes (false:
	 * interrupted, or with a sentence); stop */
	bool (*listen)(struct talk *talk, struct plx_why *why);
	bool (*accept)(struct talk *talk, struct plx_why *why);
	void (*shut)(struct talk *talk);
	/* a client: retry until the server answers or the time is over */
	bool (*connect)(struct talk *talk, struct plx_why *why);
	/* read all bytes, or fail with a sentence; `*none`: the peer had left before the first
	 * byte */
	bool (*read)(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
		     struct plx_why *why);
	bool (*write)(struct talk *talk, const void *from, size_t size, struct plx_why *why);
	/* is there something to read, or the end? Called about every millisecond while messages
	 * flow, so it also does periodic work */
	bool (*has_news)(struct talk *talk);
	/* connect the side's queue pairs to those in the peer's cards; a sentence goes to
	 * side->why */
	bool (*join)(struct talk *talk, const struct card *cards);
	/* disconnect, before the queue pairs are destroyed; no effect if not joined. is_orderly:
	 * the peer does the same now */
	void (*part)(struct talk *talk, bool is_orderly);
	/* close; everything written before still arrives */
	void (*close)(struct talk *talk);
};

/* The side channel of --oob, at the address where it connects or listens. A talk with `fd` set is
 * connected already, by a pair of sockets. Queue pairs are connected as the cards say, without a
 * message of their own. */
extern const struct carrier carrier_tcp;

/* No side channel: the conversation uses a queue pair of its own (cm.h). */
extern const struct carrier carrier_cm;

/** Choose the carrier from the options. */
void talk_init(struct talk *talk, const struct options *options, struct side *side);

/** Exchange greetings.
 * Errors: not ndperf, another version, timeout */
bool talk_hello(struct talk *talk, struct plx_why *why);

/** Send the first `length` bytes of `body` as a message. */
bool talk_send(struct talk *talk, enum message kind, struct plx_why *why);

/** Wait for a message of this kind, into `body` and `length`.
 * Errors: the peer refuses (its sentence), sends another kind, disappears, or sends nothing in
 * time */
bool talk_receive(struct talk *talk, enum message kind, struct plx_why *why);

/** As talk_receive(), for a message of any kind.
 * @param timeout_ms until its beginning
 * Returns: MESSAGE_NONE with the sentence; an empty one: the peer has left */
enum message talk_receive_any(struct talk *talk, uint32_t timeout_ms, struct plx_why *why);

/** Try to notify the peer of the reason for refusing. */
void talk_refuse(struct talk *talk, const char *sentence);

#endif
