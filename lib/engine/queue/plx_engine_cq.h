/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as an engine sees them: it adds entries and wakes the threads that have armed
 * the queue. Application threads use plx_queue.h. Start with struct plx_cq, then
 * engine_cq_push().
 *
 * Fields are grouped by the thread that writes them. Each group has cache lines of its own, so
 * that the engine and application threads never write to the same line.
 */
#ifndef PLX_ENGINE_CQ_H
#define PLX_ENGINE_CQ_H

#include "plx_cq_look.h"
#include "plx_engine_queues.h"
#include "plx_queue.h"
#include "plx_ring.h"
#include "plx_wake.h"

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

struct plx_cq {
	/* never written, so a polling reader keeps this line in its cache */
	struct plx_cq_look look;
	bool strict;
	atomic_bool armable;   /* a thread arms it: from then on the engine checks for armed kinds;
				  stays set */
	atomic_bool arm_ready; /* ... and the engine is known to have seen that */
	uint32_t ring_room;    /* capacity of the ring */
	struct rte_ring *ring;
	struct engine_queues *queues;
	uint64_t cookie;
	struct plx_adapter *adapter; /* NULL: none */

	/* written by the engine */
	PLX_ALIGNED_LINE struct plx_wc *spill; /* backlog: entries that did not fit the ring, as a
					      circular buffer [spill_room] */
	uint32_t spill_room, spill_first, spill_count;
	uint32_t users;       /* queue pairs, each counted once per role; command thread only */
	bool has_new;         /* an entry was added in this cycle */
	uint32_t ring_free;   /* slots of the ring known to be free */
	uint32_t places;      /* of a strict queue: entries known to fit within ... */
	uint32_t places_of;   /* ... this depth; 0: none is known */
	uint64_t made;        /* entries ever added to the ring, and */
	uint64_t made_urgent; /* ... up to and including the newest solicited entry or error */
	atomic_uint reserve; /* maximum number of entries that its queue pairs can have in flight */
	struct plx_list spilled_link;     /* in queues->spilled while spill_count > 0 */
	struct plx_list broken_link;      /* in queues->broken after an overrun */
	struct plx_list async_event_link; /* in queues->cq_events while an event is due */

	/* written by the engine, read by threads that arm */
	PLX_ALIGNED_LINE atomic_ulong produced; /* `made` */
	atomic_ulong urgent;                    /* `made_urgent` */
	atomic_uint depth;
	atomic_bool overrun;

	/* written by both sides */
	PLX_ALIGNED_LINE atomic_ulong armed[CQ_KINDS]; /* 0: not armed; else see ask() */
	atomic_ulong notified;                         /* `produced` at the last notification */
	atomic_uint fired;                             /* enum plx_cq_notify */
	atomic_int fd;                                 /* -1: not created yet */
};

_Static_assert(offsetof(struct plx_cq, look) == 0, "plx_cq_looks_empty() finds it there");
_Static_assert(sizeof(struct plx_wc) == 32, "two completions to a cache line");

/* The word with a completion's status is written last: it marks the entry as written. */
enum {
	PLX_WC_WORD_AT = offsetof(struct plx_wc, imm),
};
_Static_assert(PLX_WC_WORD_AT % sizeof(uint64_t) == 0 &&
		       offsetof(struct plx_wc, mark) == PLX_WC_WORD_AT + sizeof(uint64_t) - 1,
	       "a ring's mark is bit 56 of the word");

/* Errors: INVALID, NO_MEMORY */
enum plx_status engine_cq_create(struct engine_queues *queues,
				 const struct plx_engine_cq_config *config,
				 struct plx_cq **cq) PLX_MUST_CHECK;
/* Free the queue. The engine no longer refers to it. */
void engine_cq_free(struct plx_cq *cq);

/* Add entries of one kind and one queue, in order. Engine's thread. */
void engine_cq_push(struct plx_cq *cq, const struct plx_wc *wc, uint32_t n);
/* Wake the threads that have armed the queue. Engine's thread, after engine_cq_push(). */
void engine_cq_notify(struct plx_cq *cq);
/* Move the backlog into the ring, and wake the threads that have armed the queue: only now can
 * they poll these entries. Engine's thread.
 * Returns: whether a backlog remains */
bool engine_cq_refill(struct plx_cq *cq);
/* Make room for `more` entries in flight, with a larger backlog if necessary; the caller then
 * frees *spare. Engine's thread.
 * Errors:  AGAIN (the spare is too small) */
enum plx_status engine_cq_grow(struct plx_cq *cq, uint32_t depth, uint32_t more,
			       struct plx_wc **spare, uint32_t spare_room);
/* Entries added and not yet polled, including the backlog. Engine's thread. */
uint32_t engine_cq_unreaped(const struct plx_cq *cq);
/* Size that a spare needs; 0: no spare is needed. Any thread. */
uint32_t engine_cq_spare_room(const struct plx_cq *cq, uint32_t depth, uint32_t more);

#endif
