/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ends of a stream, the connection between them, and programs that write and read a pattern.
 * What the ends may not do is asserted as it happens: more messages than there are receives, RDMA
 * of memory that is not registered, a byte that is not the pattern's. Start with ends_begin().
 */
#ifndef PLX_TEST_SAN_ENDS_H
#define PLX_TEST_SAN_ENDS_H

#include "test.h"

#include "plx_san_stream.h"

enum {
	ENDS_RECEIVES_MAX = 32,
	ENDS_RING_MAX = 8192,
	ENDS_MESSAGE_MAX = PLX_SAN_HEAD_MAX + 1024,
};

/* What most tests have on both ends. */
enum {
	CREDITS = 4,
	PAYLOAD = 100,
	IN = 512,
	OUT = 1024,
	SUSPEND_NS = 1000,
};
extern const struct plx_san_config ends_config;

struct ends_message {
	uint8_t bytes[ENDS_MESSAGE_MAX];
	uint32_t n;
};

/* What a SEND sends, of its ring. */
struct ends_sent {
	struct plx_san_range ring;
	uint8_t bytes[1024];
};

struct end {
	struct plx_san_stream stream;
	struct plx_san_rings rings;
	uint8_t in[ENDS_RING_MAX], out[ENDS_RING_MAX];
	struct ends_message inbox[ENDS_RECEIVES_MAX];
	uint32_t inbox_first, inbox_count;
	uint32_t sends;                           /* not completed yet */
	struct ends_sent sent[PLX_SAN_SENDS_MAX]; /* they, from `sent_first` on */
	uint32_t sent_first;
	bool reading, writing;           /* RDMA that is not completed yet */
	struct plx_san_next read, write; /* ... */
	bool registered, exposed;        /* the large transfer; a part of the ring */
	uint64_t registered_from;        /* position of its first byte */
	struct plx_san_range exposed_range;
	uint64_t large_from;          /* position of the first byte of the large transfer */
	uint64_t large_read;          /* bytes of large transfers that have arrived */
	uint64_t written, read_bytes; /* positions of the program */
	uint32_t gives, passes;       /* with the other end's help, and without */
	uint32_t conceals, ended;     /* large transfers */
	uint8_t urgent;               /* the last one written: numbers from 1 on */
	uint64_t urgent_at[256];      /* where each was, in the bytes of the ring */
};

struct ends {
	struct end end[2];
	uint64_t now;
};

/** Begin, without a message sent. `b` need not be like `a`; `connects` is set. */
void ends_begin(struct ends *ends, const struct plx_san_config *a, const struct plx_san_config *b);

/** Take one step of an end. Returns: what it did */
enum plx_san_do ends_step(struct ends *ends, uint32_t i);
/** Deliver the oldest message to an end. Returns: false: there is none */
bool ends_deliver(struct ends *ends, uint32_t i);
/** ... while the program reads `n` bytes of it. Returns: how many it has read */
uint32_t ends_receive(struct ends *ends, uint32_t i, uint32_t n);
/** Complete the oldest SEND, the READ, the WRITE of an end. Returns: false: there is none */
bool ends_complete_send(struct ends *ends, uint32_t i);
bool ends_complete_rdma(struct ends *ends, uint32_t i);

/** The program writes, offers, reads; the numbers of bytes as plx_san_write() and the like. */
uint32_t ends_write(struct ends *ends, uint32_t i, uint32_t n);
bool ends_write_urgent(struct ends *ends, uint32_t i);
bool ends_offer(struct ends *ends, uint32_t i, uint32_t n);
uint32_t ends_read(struct ends *ends, uint32_t i, uint32_t n);

/** Another process of the end has what was given away. */
void ends_take(struct ends *ends, uint32_t i);

/** ... or what was not given away: its process computes, or has ended, and what it had posted is
 * complete. Returns: false: it cannot be gone on with */
bool ends_inherit(struct ends *ends, uint32_t i);

/** Do all that can be done without a program. */
void ends_settle(struct ends *ends);
/** ... with programs that read everything, and take what was given away. */
void ends_drain(struct ends *ends);

#endif
