/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The side channel: a TCP connection by which two ndperf agree on what to measure, swap what their
 * queue pairs must know, and tell each other how it went. docs/ndperf.md has the messages.
 * Every wait has a limit, and polls the adapter meanwhile. Start with oob_receive().
 */
#ifndef NDPERF_OOB_H
#define NDPERF_OOB_H

#include "ndperf.h"

enum {
	OOB_VERSION = 1,
	OOB_BODY_MAX = 16384, /* [bytes] of one message */
};

enum message {
	MESSAGE_NONE,
	MESSAGE_JOB,     /* client: a job */
	MESSAGE_CARD,    /* either: what the other's queue pairs must know */
	MESSAGE_READY,   /* either: connected; nothing */
	MESSAGE_GO,      /* client: it starts; when by its ticks */
	MESSAGE_DONE,    /* client: how many messages each queue pair carried */
	MESSAGE_VERDICT, /* server: what it checked */
	MESSAGE_REFUSED, /* either: a sentence, and no more of this job */
	MESSAGE_COUNT,
};

struct oob {
	int fd;
	uint32_t timeout_ms;
	char peer[300];          /* how it is called in a sentence */
	void (*idle)(void *arg); /* called while it waits; NULL: it sleeps */
	void *arg;
	uint8_t body[OOB_BODY_MAX]; /* of the message received last, or being made */
	uint32_t length;
};

/** Set by SIGINT and SIGTERM: every wait ends. */
extern volatile int interrupted;

/** A socket that listens. Returns: -1, with the sentence */
int oob_listen(const struct options *options, struct plx_why *why);

/** The next client, however long it takes. Returns: false when interrupted, or with a sentence */
bool oob_accept(struct oob *oob, int listening, struct plx_why *why);

/** Try until it answers or the time is over. */
bool oob_connect(struct oob *oob, const struct options *options, struct plx_why *why);

/** Both ends say who they are. Errors: no ndperf, another version, none in time */
bool oob_hello(struct oob *oob, struct plx_why *why);

/** Send the first `length` bytes of `body` as a message. */
bool oob_send(struct oob *oob, enum message kind, struct plx_why *why);

/** Wait for a message of this kind, into `body` and `length`. Errors: the peer refuses (its
 * sentence), says something else, vanishes, says nothing in time */
bool oob_receive(struct oob *oob, enum message kind, struct plx_why *why);

/** As oob_receive(), of whatever kind. @param timeout_ms of the wait for its beginning
 * Returns: MESSAGE_NONE with the sentence; an empty one: the peer has closed the connection */
enum message oob_receive_any(struct oob *oob, uint32_t timeout_ms, struct plx_why *why);

/** Is there something to receive, or the end? Cost: one system call */
bool oob_has_news(const struct oob *oob);

/** Tell the peer why not, as well as it goes. */
void oob_refuse(struct oob *oob, const char *sentence);

void oob_close(struct oob *oob);

#endif
