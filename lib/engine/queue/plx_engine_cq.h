/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as an engine sees them: it puts entries in and wakes who is armed. Application
 * threads have plx_queue.h. Start with struct plx_engine_cq, then engine_cq_push().
 *
 * Fields are grouped by the thread that writes them, each group on cache lines of its own: what an
 * application thread writes is never beside what the engine writes.
 */
#ifndef PLX_ENGINE_CQ_H
#define PLX_ENGINE_CQ_H

#include "plx_engine_queues.h"
#include "plx_queue.h"
#include "plx_ring.h"
#include "plx_wake.h"

/* Places of the kinds of enum plx_cq_notify. */
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

struct plx_engine_cq {
	/* never written: a reader who polls keeps this line */
	struct rte_ring *ring;
	struct engine_queues *queues;
	uint64_t cookie;
	uint32_t ring_room; /* places of the ring */
	bool strict;
	bool inline_mode;
	atomic_bool armable;   /* somebody arms it: from now on the engine looks; stays */
	atomic_bool arm_ready; /* ... and the engine is known to know */

	/* the engine's */
	ALIGNED_LINE struct plx_wc *spill; /* entries behind the ring, in turn; [0, spill_room) */
	uint32_t spill_room, spill_first, spill_count;
	uint32_t users;       /* queue pairs, each counted for each role; command thread only */
	bool has_new;         /* something was put into it in this cycle */
	uint32_t ring_free;   /* places of the ring, known to be free */
	uint64_t made;        /* entries ever put into the ring, and */
	uint64_t made_urgent; /* after the newest solicited one or error of them */
	atomic_uint reserve;  /* entries that its queue pairs can have in flight */
	struct plx_list spilled_link;     /* in queues->spilled while spill_count > 0 */
	struct plx_list broken_link;      /* in queues->broken after an overrun */
	struct plx_list async_event_link; /* in queues->cq_events while one is due */

	/* written by the engine, read by those who arm */
	ALIGNED_LINE atomic_ulong produced; /* `made` */
	atomic_ulong urgent;                /* `made_urgent` */
	atomic_uint depth;
	atomic_bool overrun;

	/* written by both */
	ALIGNED_LINE atomic_ulong armed[CQ_KINDS]; /* 0: not armed; else see ask() */
	atomic_ulong notified;                     /* `produced` at the last notification */
	atomic_uint fired;                         /* enum plx_cq_notify */
	atomic_int fd;                             /* -1: nobody asked for one */
};

_Static_assert(sizeof(struct plx_wc) == 32, "two completions to a cache line");

/* Errors: INVALID, NO_MEMORY */
enum plx_status engine_cq_create(struct engine_queues *queues,
				 const struct plx_engine_cq_config *config,
				 struct plx_engine_cq **cq) PLX_MUST_CHECK;
/* The engine does not know it any more. */
void engine_cq_free(struct plx_engine_cq *cq);

/* Engine's thread: entries of one kind and one queue, in order. */
void engine_cq_push(struct plx_engine_cq *cq, const struct plx_wc *wc, uint32_t n);
/* Engine's thread, after a engine_cq_push(): wake who is armed. */
void engine_cq_notify(struct plx_engine_cq *cq);
/* Engine's thread: move what waits behind the ring, and wake who is armed: only now can it be
 * taken. Returns: whether something still waits */
bool engine_cq_refill(struct plx_engine_cq *cq);
/* Engine's thread: make room for `more` entries in flight, with a larger place behind the ring if
 * need be; *spare is then what is to be freed. AGAIN: the spare is too small. */
enum plx_status engine_cq_grow(struct plx_engine_cq *cq, uint32_t depth, uint32_t more,
			       struct plx_wc **spare, uint32_t spare_room);
/* Engine's thread: entries that were put and not yet taken, those behind the ring included. */
uint32_t engine_cq_unreaped(const struct plx_engine_cq *cq);
/* Any thread: how large a spare should be; 0: none is needed. */
uint32_t engine_cq_spare_room(const struct plx_engine_cq *cq, uint32_t depth, uint32_t more);

#endif
