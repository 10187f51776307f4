/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What surrounds the fuzzed queue pair: memory under keys, an executor of its actions, and the
 * books that are kept on it. Everything lies in static memory, so that a run costs microseconds.
 * Start with struct world.
 */
#ifndef PLX_FUZZ_QP_WORLD_H
#define PLX_FUZZ_QP_WORLD_H

#include "plx_transport.h"

#define CHECK(cond)                                             \
	do {                                                    \
		if (!(cond))                                    \
			fuzz_failed(#cond, __FILE__, __LINE__); \
	} while (0)

__attribute__((noreturn)) void fuzz_failed(const char *what, const char *file, int line);

enum {
	WORLD_DEPTH = 8, /* of either queue, at most */
	WORLD_REGIONS = 6,
	WORLD_WINDOWS = 2,
	WORLD_REGION_BYTES = 2048,
	WORLD_OLD_KEYS = 4,
	WORLD_SLOTS = 9,          /* one more than is in use, so that slots are soon used again */
	WORLD_MEMORY = 80 * 1024, /* for the QP, its queue, or the key table */
	WORLD_SENT = 8,           /* requests remembered, to answer them */
	WORLD_ROUNDS = 4096,      /* of one drain */
};

struct world_region {
	struct plx_region handle;
	struct plx_region_attr attr;
	struct plx_key key;
	bool ours; /* in the QP's domain */
	bool live;
};

struct world_window {
	struct plx_window handle;
	struct plx_window_attr attr;
	struct plx_key key;
	bool bound, ours; /* to our QP */
};

/* What was sent as a request and can be answered. */
struct world_sent {
	uint8_t opcode;
	struct plx_psn psn;
	uint32_t bytes; /* READ: asked for */
};

/* What completed of one queue; wr_id is the post's ordinal. */
struct world_queue {
	uint64_t posted, completed;
	bool failed; /* from here on everything is FLUSHED */
	uint8_t op[WORLD_DEPTH * 2];
	bool unsignaled[WORLD_DEPTH * 2];
};

/* What a peer has earned by its packets. */
struct world_allowance {
	uint64_t replies, responses, atomics, cnps;
};

struct world {
	struct plx_mem *mem;
	struct plx_domain domain, other;
	struct world_region regions[WORLD_REGIONS];
	struct world_window windows[WORLD_WINDOWS];
	struct plx_key old_keys[WORLD_OLD_KEYS];
	uint32_t old_key_next;

	struct plx_rc_caps caps;
	struct plx_rc_attr attr;
	struct plx_rc *qp;
	struct plx_rq *rq;
	uint32_t rq_depth, rq_sges;
	bool shared;
	uint64_t now, hold_until;

	struct world_queue send, recv;
	struct world_allowance allowed;
	struct plx_rc_view view; /* after the last step */
	struct world_sent sent[WORLD_SENT];
	uint32_t sent_next;
	enum plx_op_kind judging; /* kind of the packet being judged; NONE else */
	enum plx_verdict verdict; /* on it */
	uint32_t crowd;           /* actions and ranges that lie in the list before a call */
	uint32_t bytes_read;      /* of payloads, so that they are looked at */
	struct plx_actions actions;
};

void world_reset(struct world *w, const uint8_t choice[16]);
/** Leave room for only so many actions in the list of the next call, as other QPs' would. */
void world_crowd(struct world *w, uint32_t room);
/** Execute and check what a call wanted. @param budget packets it may have emitted */
void world_execute(struct world *w, uint32_t budget);
/** Look at the QP from outside, after every step. */
void world_look(struct world *w);
/** Ask for everything until the QP rests. */
void world_drain(struct world *w);
/** Judge or release what need not be kept any more. */
void world_take_kept(struct world *w);
/** Take the QP from where it is to RTS. */
void world_connect(struct world *w);
/** To ERROR, and everything posted comes back. */
void world_close(struct world *w);

uint32_t world_packets(const struct world *w, uint32_t bytes);
/** Give the QP one packet, if it is admitted, and check everything that follows from it. */
enum plx_verdict world_give(struct world *w, const struct plx_pkt *pkt);

/* qp_memory.c */
void world_regions_make(struct world *w, uint8_t torn);
/** Does any key grant [first, first + bytes) to our QP with this right? With 0: does any key? */
bool world_grants(const struct world *w, const uint8_t *first, uint64_t bytes, uint8_t right);
bool world_inside(const uint8_t *first, uint64_t bytes, const uint8_t *base, uint64_t length);
/** Keys that the QP itself invalidated leave the books. */
void world_refresh_books(struct world *w);
void world_region_toggle(struct world *w, uint32_t index);
void world_window_toggle(struct world *w, uint32_t index, uint8_t how);
/** One of the keys there are, were, or never were. */
struct plx_key world_key(const struct world *w, uint8_t choice);
/** An address near the beginning or the end of what that key is for. */
uint64_t world_va(const struct world *w, uint8_t choice, uint8_t offset);

/** Is this the key of anything the peer may use now? */
bool world_key_is_live(const struct world *w, uint32_t key);

extern const struct plx_cc_ops world_cc;

#endif
