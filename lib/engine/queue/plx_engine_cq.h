/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as an engine sees them: it adds entries and wakes the threads that have armed
 * the queue. This half is the engine's alone; the front, which programs use, is in plx_cq_front.h.
 * Start with struct engine_cq, then engine_cq_push().
 */
#ifndef PLX_ENGINE_CQ_H
#define PLX_ENGINE_CQ_H

#include <stdatomic.h>

#include "plx_cq_front.h"
#include "plx_engine_queues.h"
#include "plx_engine_seat.h"
#include "plx_ring_untrusted.h"

struct engine_cq {
	struct plx_ring_untrusted ring;
	struct cq_front *front;
	bool strict;
	bool overrun;
	bool has_new;         /* an entry was added in this cycle */
	struct plx_wc *spill; /* backlog: entries that did not fit the ring, as a circular buffer
				 [spill_room] */
	uint32_t spill_room, spill_first, spill_count;
	uint32_t users;       /* queue pairs, each counted once per role; command thread only */
	uint32_t places;      /* of a strict queue: entries known to fit within ... */
	uint32_t places_of;   /* ... this depth; 0: none is known */
	uint64_t made;        /* entries ever added to the ring, and */
	uint64_t made_urgent; /* ... up to and including the newest solicited entry or error */
	struct engine_queues *queues;
	struct engine_seat *seat;
	uint64_t cookie;
	struct plx_list spilled_link;     /* in queues->spilled while spill_count > 0 */
	struct plx_list broken_link;      /* in queues->broken after an overrun */
	struct plx_list async_event_link; /* in seat->cq_events while an event is due */

	/* read by threads that create queue pairs or resize the queue */
	atomic_uint depth;
	atomic_uint reserve; /* maximum number of entries that its queue pairs can have in flight */

	atomic_int fd; /* readable when a kind has fired; -1: not created yet */
};

/* Errors: INVALID, NO_MEMORY */
enum plx_status engine_cq_create(struct engine_seat *seat,
				 const struct plx_engine_cq_config *config,
				 struct engine_cq **cq) PLX_MUST_CHECK;
/* Give a queue that no queue pair has used yet to another engine's seat of the same program. Any
 * thread; no other uses the queue meanwhile. */
void engine_cq_place(struct engine_cq *cq, struct engine_seat *seat);
/* Free the queue and its front. The engine no longer refers to it. */
void engine_cq_free(struct engine_cq *cq);

/* A descriptor that is readable when a kind has fired, created by the first call; -1: the system
 * has none. Any thread. */
int engine_cq_fd(struct engine_cq *cq);
/* Make the engine's thread pass a full barrier. Any thread.
 * Errors:  TIMEOUT (it does not run) */
enum plx_status engine_cq_barrier(struct engine_cq *cq);

/* Add entries of one kind and one queue, in order. Engine's thread. */
void engine_cq_push(struct engine_cq *cq, const struct plx_wc *wc, uint32_t n);
/* Wake the threads that have armed the queue. Engine's thread, after engine_cq_push(). */
void engine_cq_notify(struct engine_cq *cq);
/* Move the backlog into the ring, and wake the threads that have armed the queue: only now can
 * they poll these entries. Engine's thread.
 * Returns: whether a backlog remains */
bool engine_cq_refill(struct engine_cq *cq);
/* Make room for `more` entries in flight, with a larger backlog if necessary; the caller then
 * frees *spare. Engine's thread.
 * Errors:  AGAIN (the spare is too small) */
enum plx_status engine_cq_grow(struct engine_cq *cq, uint32_t depth, uint32_t more,
			       struct plx_wc **spare, uint32_t spare_room);
/* Entries added and not yet polled, including the backlog. Engine's thread. */
uint32_t engine_cq_unreaped(struct engine_cq *cq);
/* Size that a spare needs; 0: no spare is needed. Any thread. */
uint32_t engine_cq_spare_room(const struct engine_cq *cq, uint32_t depth, uint32_t more);

#endif
