/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The broker of a host: it connects and accepts for the programs of its host, holds the sockets of
 * Pollux that nobody controls, lets programs take control in turn, and ends connections whose last
 * descriptor has been closed. A program's socket stays a socket of the kernel: its descriptor is
 * what programs pass on, and its connection to the broker, the anchor, ends with the last one.
 *
 * It is one thread, and loads the SAN service provider of this process. Programs are not believed:
 * whoever has a session's socket may use it, and no more.
 * Start with san_broker_open().
 */
#ifndef PLX_SAN_BROKER_H
#define PLX_SAN_BROKER_H

#include "plx_base.h"
#include "plx_san_rules.h"

struct san_broker_options {
	const char *path; /* of the socket for programs */
	uint32_t mode;    /* of that file; 0: 0600 */
	const struct plx_san_rule *rule;
	uint32_t rules;
	uint32_t suspend_ms; /* how long a suspension may last; 0: 30 s */
	uint32_t linger_ms;  /* ... the end of a connection that programs have closed; 0: 60 s */
	/* of each connection: messages that the peer may send before it is told of room, 1 .. 59,
	 * and bytes of one, 64 and more; both together less than 512 KiB; 0: 12 of 32,704 */
	uint32_t credits, payload_bytes;
	void (*log)(void *context, const char *line); /* NULL: nowhere */
	void *context;
};

struct san_broker;

/** Errors (with a sentence): INVALID (the path), NO_DEVICE (the provider has no adapter),
 * NO_MEMORY, BUSY (another broker has the path) */
enum plx_status san_broker_open(const struct san_broker_options *options,
				struct san_broker **broker, struct plx_why *why) PLX_MUST_CHECK;

/** Wait at most so long for something to do, and do it. */
void san_broker_run(struct san_broker *broker, int timeout_ms);

/** End all connections, abortively. */
void san_broker_close(struct san_broker *broker);

struct san_broker_counts {
	uint32_t programs, sessions, listeners;
	uint64_t swaps;    /* control has passed from process to process */
	uint64_t fallback; /* connections that the kernel was left to make */
};

void san_broker_count(const struct san_broker *broker, struct san_broker_counts *out);

#endif
