/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as application threads see them: polling and arming. The engine's side is in
 * cq_push.c. Start with plx_engine_cq_poll().
 *
 * Each side stores, then loads what the other side stores, all sequentially consistent, so that at
 * least one of them sees that it must fire. Exactly one of them claims the request in `armed`. The
 * request records the first entry for which it counts, because an entry can be polled before the
 * engine has checked for armed kinds.
 *
 * A queue that was never armed avoids that cost: see let_arm() and engine_cq_notify().
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cq.h"
#include "plx_heap.h"
#include "plx_steps.h"

/* ---- arming ---- */

/* Entries ever polled, when `produced` have been made; the ring has the low half of the count. */
static uint64_t
consumed_of(const struct plx_cq *cq, uint64_t produced)
{
	int32_t ahead = (int32_t)((uint32_t)produced - plx_ring_consumed(cq->ring));

	return produced - (uint64_t)(int64_t)ahead;
}

enum {
	NEWS = PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED, /* the kinds that new entries fire */
};

/* A snapshot of plx_cq.armed. */
struct armed {
	unsigned long kind[CQ_KINDS];
};

/* The value of a kind armed for entries after the first `count`. Never 0. */
static unsigned long
ask(uint64_t count)
{
	return count << 1 | 1;
}

static bool
is_beyond(uint64_t count, unsigned long armed)
{
	return armed != 0 && count > armed >> 1;
}

static struct armed
load_asked(const struct plx_cq *cq)
{
	struct armed seen;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		seen.kind[k] = atomic_load(&cq->armed[k]);
	return seen;
}

static uint32_t
kinds_of(const struct armed *seen)
{
	uint32_t kinds = 0;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		kinds |= (uint32_t)(seen->kind[k] != 0) << k;
	return kinds;
}

/* Two threads may fire at once: the higher count is kept. */
static void
note_told(struct plx_cq *cq, uint64_t produced)
{
	unsigned long told = atomic_load(&cq->notified);

	while (told < produced && !atomic_compare_exchange_weak(&cq->notified, &told, produced))
		;
}

/* Claim the kinds of a snapshot, among `kinds`. The thread that claims a kind delivers its
 * notification. A kind armed again since is a separate request. */
static uint32_t
take_armed(struct plx_cq *cq, uint32_t kinds, struct armed *seen)
{
	uint64_t produced = atomic_load(&cq->produced);
	uint32_t taken = 0;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		if (kinds & 1u << k && seen->kind[k] != 0 &&
		    atomic_compare_exchange_strong(&cq->armed[k], &seen->kind[k], 0))
			taken |= 1u << k;
	if (taken & NEWS)
		note_told(cq, produced);
	return taken;
}

/* Which armed kinds are due (docs/nd2.md). */
static uint32_t
due(const struct plx_cq *cq, const struct armed *seen)
{
	if (atomic_load(&cq->overrun))
		return PLX_CQ_NOTIFY_ALL;
	/* The next entry of any kind completes all kinds that wait for entries. */
	if (is_beyond(atomic_load(&cq->produced), seen->kind[CQ_ANY]))
		return NEWS;
	if (is_beyond(atomic_load(&cq->urgent), seen->kind[CQ_SOLICITED]))
		return PLX_CQ_NOTIFY_SOLICITED;
	return 0;
}

uint32_t
cq_take_due(struct plx_cq *cq)
{
	struct armed seen = load_asked(cq);

	if (plx_likely((seen.kind[CQ_ANY] | seen.kind[CQ_SOLICITED] | seen.kind[CQ_ERRORS]) == 0))
		return 0;
	return take_armed(cq, due(cq, &seen), &seen);
}

/* Entries already notified or polled do not count. If a kind is armed already, the older request
 * stays. */
static void
request(struct plx_cq *cq, uint32_t kinds)
{
	uint64_t old = consumed_of(cq, atomic_load(&cq->produced));
	uint64_t told = atomic_load(&cq->notified);

	if (old < told)
		old = told;
	for (uint32_t k = 0; k < CQ_KINDS; k++) {
		unsigned long none = 0;

		if (kinds & 1u << k)
			atomic_compare_exchange_strong(&cq->armed[k], &none, ask(old));
	}
}

PLX_COLD void
cq_fire(struct plx_cq *cq, uint32_t fired)
{
	atomic_fetch_or(&cq->fired, fired);
	engine_wake(&cq->fd);
}

/* Make every thread of the process pass a full barrier. false: the system does not support it. */
static bool
barrier_everywhere(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
		return true;
	/* Not registered yet by this process; a forked child is another process. */
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/*
 * From the first arming on, the engine checks for armed kinds after each store of `produced`. It
 * stores, then loads `armable`, in this order but without a barrier in its core. We store
 * `armable`, then make its core pass a barrier. Either its store came before: then we see what it
 * produced. Or it loads `armable` after: then it checks. Until that barrier is complete, other
 * threads that arm make their own. Inline mode has one thread, whose program order is enough. If
 * the process has lost the right to the system call meanwhile, a command to the engine serves as
 * the barrier.
 * Errors:  TIMEOUT (the engine does not run)
 */
static PLX_COLD enum plx_status
let_arm(struct plx_cq *cq)
{
	atomic_store(&cq->armable, true);
	if (!cq->look.inline_mode && !barrier_everywhere() &&
	    cq->queues->barrier(cq->queues) == PLX_TIMEOUT)
		return PLX_TIMEOUT;
	atomic_store(&cq->arm_ready, true);
	return PLX_OK;
}

/* ---- the application's side ---- */

enum plx_status
engine_cq_create(struct engine_queues *queues, const struct plx_engine_cq_config *config,
		 struct plx_cq **out)
{
	enum plx_ring_side consumers = queues->inline_mode ? PLX_RING_ONE : PLX_RING_MANY;
	struct plx_ring_config ring = {.entries = config->depth,
				       .entry_bytes = sizeof(struct plx_wc),
				       .producers = PLX_RING_ONE,
				       .consumers = consumers,
				       .socket = queues->socket};
	struct plx_cq *cq;

	if (config->depth < 1 || config->depth > PLX_CQ_DEPTH_MAX)
		return PLX_INVALID;
	cq = plx_heap_alloc(sizeof(*cq), queues->socket);
	if (cq == NULL)
		return PLX_NO_MEMORY;
	cq->ring = plx_ring_create(&ring);
	if (cq->ring == NULL) {
		plx_heap_free(cq);
		return PLX_NO_MEMORY;
	}
	plx_ring_look_init(&cq->look.ring, cq->ring, PLX_WC_WORD_AT);
	cq->ring_room = plx_ring_slots(cq->ring) - 1;
	cq->queues = queues;
	cq->strict = config->strict;
	cq->look.inline_mode = queues->inline_mode;
	cq->cookie = config->cookie;
	cq->adapter = config->adapter;
	/* Without such a barrier the engine always checks. */
	if (!cq->look.inline_mode && !barrier_everywhere()) {
		atomic_init(&cq->armable, true);
		atomic_init(&cq->arm_ready, true);
	}
	atomic_init(&cq->depth, config->depth);
	atomic_init(&cq->fd, -1);
	plx_list_init(&cq->spilled_link);
	plx_list_init(&cq->broken_link);
	plx_list_init(&cq->async_event_link);
	atomic_fetch_add(&queues->users, 1);
	*out = cq;
	return PLX_OK;
}

void
engine_cq_free(struct plx_cq *cq)
{
	int fd = atomic_load(&cq->fd);

	if (fd >= 0)
		close(fd);
	atomic_fetch_sub(&cq->queues->users, 1);
	plx_ring_destroy(cq->ring);
	plx_heap_free(cq->spill);
	plx_heap_free(cq);
}

static inline uint32_t
peek(struct plx_cq *cq, uint32_t n, struct plx_ring_span *span)
{
	/* In inline mode the writer is the same thread, so its index is in this cache. */
	return cq->look.inline_mode ? plx_ring_peek(cq->ring, sizeof(struct plx_wc), n, span)
				    : plx_ring_peek_marked(cq->ring, sizeof(struct plx_wc),
							   PLX_WC_WORD_AT, n, span);
}

PLX_HOT uint32_t
plx_engine_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n)
{
	struct plx_ring_span span;

	n = peek(cq, n, &span);
	if (n == 0)
		return 0;
	STEP(POLL_BEGUN);
	plx_ring_copy(&span, sizeof(*wc), wc);
	STEP(POLL_COPIED);
	plx_ring_release(cq->ring, n);
	return n;
}

PLX_HOT uint32_t
plx_engine_cq_peek(struct plx_cq *cq, uint32_t n, struct plx_wc_span *out)
{
	struct plx_ring_span span;

	n = peek(cq, n, &span);
	if (n == 0)
		return 0;
	out->at = (const struct plx_wc *)(const void *)span.at;
	out->more = (const struct plx_wc *)(const void *)span.more;
	out->first = span.first;
	out->count = n;
	return n;
}

PLX_HOT void
plx_cq_release(struct plx_cq *cq, const struct plx_wc_span *span)
{
	plx_ring_release(cq->ring, span->count);
}

enum plx_status
plx_cq_arm(struct plx_cq *cq, uint32_t kinds, uint32_t *fired)
{
	uint32_t now;

	if (kinds == 0 || kinds & ~(uint32_t)PLX_CQ_NOTIFY_ALL)
		return PLX_INVALID;
	if (plx_unlikely(!atomic_load(&cq->arm_ready)) && let_arm(cq) != PLX_OK)
		return PLX_TIMEOUT;
	request(cq, kinds);
	STEP(ARM_REQUESTED);
	now = PLX_MUTANT(ARM_DOES_NOT_LOOK) ? 0 : cq_take_due(cq);
	if (fired != NULL)
		*fired = now;
	else if (now != 0)
		cq_fire(cq, now);
	return atomic_load(&cq->overrun) ? PLX_FULL : PLX_OK;
}

uint32_t
plx_cq_disarm(struct plx_cq *cq, uint32_t kinds)
{
	uint32_t taken = 0;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		if (kinds & 1u << k && atomic_exchange(&cq->armed[k], 0) != 0)
			taken |= 1u << k;
	return taken;
}

void
plx_cq_set_notified(struct plx_cq *cq)
{
	(void)plx_cq_disarm(cq, PLX_CQ_NOTIFY_ALL);
	note_told(cq, atomic_load(&cq->produced));
	/* What fired before is told with the rest. One that a thread is about to fire stays, and
	 * costs a needless look. */
	atomic_store(&cq->fired, 0);
}

uint32_t
plx_cq_get_event(struct plx_cq *cq)
{
	int fd = atomic_load(&cq->fd);
	uint64_t count;

	/* Clear the descriptor first: an event in between leaves it readable once too often, which
	 * costs a needless check, but never once too rarely. */
	if (fd >= 0 && read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return 0;
	return atomic_exchange(&cq->fired, 0);
}

int
plx_cq_fd(struct plx_cq *cq)
{
	bool made;
	int fd = engine_fd(&cq->fd, &made);

	/* Signal what fired before the descriptor existed. */
	if (made && atomic_load(&cq->fired) != 0)
		engine_wake(&cq->fd);
	return fd;
}

void
plx_engine_cq_query(const struct plx_cq *cq, struct plx_engine_cq_view *out)
{
	uint64_t produced = atomic_load(&cq->produced);
	struct armed seen = load_asked(cq);

	*out = (struct plx_engine_cq_view){
		.depth = atomic_load(&cq->depth),
		.produced = produced,
		.consumed = consumed_of(cq, produced),
		.armed = kinds_of(&seen),
		.overrun = atomic_load(&cq->overrun),
	};
}
