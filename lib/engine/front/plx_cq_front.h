/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as a program sees them: the front, which it shares with the engine, and its own
 * object on that front. The engine's half is in plx_engine_cq.h.
 *
 * A front lies in memory that both sides write, and holds no pointer. The engine believes nothing
 * in it: what it acts on is in its own half (decision 39). A front that lies hurts its own program.
 * Start with struct cq_front.
 */
#ifndef PLX_CQ_FRONT_H
#define PLX_CQ_FRONT_H

#include <stdatomic.h>

#include "plx_cq_look.h"
#include "plx_front.h"
#include "plx_queue.h"

/* Indexes of the kinds of enum plx_cq_notify. */
enum {
	CQ_ANY,
	CQ_SOLICITED,
	CQ_ERRORS,
	CQ_KINDS,
};
_Static_assert(PLX_CQ_NOTIFY_ANY == 1 << CQ_ANY && PLX_CQ_NOTIFY_SOLICITED == 1 << CQ_SOLICITED &&
		       PLX_CQ_NOTIFY_ERRORS == 1 << CQ_ERRORS &&
		       PLX_CQ_NOTIFY_ALL == (1 << CQ_KINDS) - 1,
	       "each kind is the bit of its place");

/* The head; there is no spill. */
struct cq_front {
	/* written by the engine, read by threads that arm */
	PLX_ALIGNED_LINE atomic_ulong produced; /* entries ever added to the ring, and */
	atomic_ulong urgent; /* ... up to and including the newest solicited entry or error */
	atomic_uint depth;
	atomic_bool overrun;

	/* written by the program; the engine takes what is armed */
	PLX_ALIGNED_LINE atomic_ulong armed[CQ_KINDS]; /* 0: not armed; else see ask() */
	atomic_ulong notified;                         /* `produced` at the last notification */
	atomic_uint fired;                             /* enum plx_cq_notify */
	atomic_bool armable; /* a thread arms it: from then on the engine checks for armed kinds;
				stays set */
};

_Static_assert(sizeof(struct cq_front) == 2 * PLX_CACHE_LINE,
	       "a line for each side, and the ring begins a pair of lines");

/* The word with a completion's status is written last: it marks the entry as written. */
enum {
	PLX_WC_WORD_AT = offsetof(struct plx_wc, imm),
};
_Static_assert(sizeof(struct plx_wc) == 32, "two completions to a cache line");
_Static_assert(PLX_WC_WORD_AT % sizeof(uint64_t) == 0 &&
		       offsetof(struct plx_wc, mark) == PLX_WC_WORD_AT + sizeof(uint64_t) - 1,
	       "a ring's mark is bit 56 of the word");

/* From the engine to any number of threads; in inline mode there is one. */
static inline struct front_layout
cq_front_layout(uint32_t depth, bool inline_mode)
{
	return (struct front_layout){
		.head_bytes = sizeof(struct cq_front),
		.ring = {.entries = depth,
			 .entry_bytes = sizeof(struct plx_wc),
			 .producers = PLX_RING_ONE,
			 .consumers = inline_mode ? PLX_RING_ONE : PLX_RING_MANY},
	};
}

/* A program's completion queue. */
struct plx_cq {
	/* never written once it can be polled, so that a polling reader keeps this line */
	struct plx_cq_look look;
	struct rte_ring *ring;
	struct cq_front *front;
	struct front_owner *owner;
	uint64_t object;             /* by which the owner knows the queue */
	struct plx_adapter *adapter; /* of the creator; NULL: none */
	uint32_t engine;             /* as plx_cq_options.engine */

	PLX_ALIGNED_LINE atomic_bool arm_ready; /* the engine is known to check for armed kinds */
	atomic_int fd;                          /* -1: no thread has asked for a descriptor yet */
	atomic_int wake_fd;                     /* what makes it readable */
};

_Static_assert(offsetof(struct plx_cq, look) == 0, "plx_cq_looks_empty() finds it there");

/* Begin to use the front of a queue that the engine has made. The object is zeroed.
 * @param depth as the engine's half was created with */
void cq_open(struct plx_cq *cq, struct cq_front *front, uint32_t depth, bool inline_mode,
	     struct front_owner *owner, uint64_t object);
/* The engine's half has been destroyed. */
void cq_close(struct plx_cq *cq);

#endif
