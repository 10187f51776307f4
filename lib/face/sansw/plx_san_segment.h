/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of a session that the processes of a host share: the rings of a stream, its state
 * while nobody has control, and words that say who waits. The broker makes it; neither it nor a
 * program believes what is in there. Start with san_segment_make().
 */
#ifndef PLX_SAN_SEGMENT_H
#define PLX_SAN_SEGMENT_H

#include <stdatomic.h>

#include "plx_san_record.h"

/* Whether the process in control does something with the session. With its name: one that has lost
 * control must not take another one's word for its own. */
enum san_control_word {
	SAN_WORD_BROKER, /* it is the broker, or control passes on */
	SAN_WORD_IDLE,   /* no: the broker may take control */
	SAN_WORD_BUSY,
	SAN_WORD_SEIZED, /* the broker is taking control */
	SAN_WORD_STATE = 0xff,
};

static inline uint64_t
san_word(uint32_t process, enum san_control_word state)
{
	return (uint64_t)process << 32 | (uint64_t)state;
}

/* What who has control knows, for those who have not. */
enum san_ready {
	SAN_READY_IN = 1 << 0,     /* bytes can be read */
	SAN_READY_OUT = 1 << 1,    /* a write would not wait: there is room, or it fails */
	SAN_READY_END = 1 << 2,    /* the other end has shut; bytes may be left to read */
	SAN_READY_SHUT = 1 << 3,   /* this end has */
	SAN_READY_URGENT = 1 << 4, /* a byte out of band */
};

struct san_shared {
	_Alignas(64) _Atomic uint32_t
		waiting;          /* requests that wait for control; the broker writes it */
	_Atomic uint32_t told;    /* messages that the broker has sent of it: whoever has heard so
				     many need not look */
	_Atomic uint64_t word;    /* san_word(); changed from IDLE by compare-and-swap */
	_Atomic uint32_t parked;  /* calls that wait for `ready` to change */
	_Atomic uint32_t census;  /* it changes when they are counted anew */
	_Atomic uint32_t ready;   /* enum san_ready; who has control writes it */
	_Atomic uint64_t arrived; /* bytes that have, since the beginning, and 1 for FIN, and for an
				     urgent byte */
	_Atomic uint64_t released; /* bytes whose place is free again */
	/* calls with MSG_ZEROCOPY, and those of them that a program has been told of: the first in
	 * the upper half */
	_Atomic uint64_t copies;
	struct san_records records; /* of who has control, or gave it away last */
};

/* One process's view of it. */
struct san_segment {
	int fd;                       /* -1: none */
	struct plx_san_config config; /* as the broker has said; the memory has no copy */
	size_t bytes;
	struct san_shared *shared;
	struct plx_san_rings rings;
	void *messages; /* [san_companion_bytes()] of who has control */
};

/** What was written down last, copied: it is to be judged. */
void san_segment_stream(const struct san_segment *segment, struct plx_san_stream *out);

/** Say what `stream` knows. Returns: enum san_ready */
uint32_t san_segment_publish(struct san_segment *segment, const struct plx_san_stream *stream);

/** Make one. Returns: 0, or an error of errno.h */
int san_segment_make(struct san_segment *segment, const struct plx_san_config *config);
/** ... of a descriptor that the broker has sent, which is the segment's then, whatever this
 * returns. Returns: 0, or an error: EPROTO (it is not as long as its configuration says, or could
 * be cut) */
int san_segment_map(struct san_segment *segment, const struct plx_san_config *config, int fd);
void san_segment_free(struct san_segment *segment);

#endif
