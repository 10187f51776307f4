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

#include "plx_cq_arming.h"
#include "plx_steps.h"
#include "plx_wake.h"

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
	TOLD_TRIES = 64,
};

/* A snapshot of cq_front.armed. */
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
load_asked(const struct cq_front *front)
{
	struct armed seen;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		seen.kind[k] = atomic_load(&front->armed[k]);
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

/* Two threads may fire at once: the higher count is kept. The engine is one of them, and waits for
 * nobody: a program whose threads keep on changing the count is told once more than necessary. */
static void
note_told(struct cq_front *front, uint64_t produced)
{
	unsigned long told = atomic_load(&front->notified);

	for (uint32_t i = 0; i < TOLD_TRIES && told < produced; i++)
		if (atomic_compare_exchange_weak(&front->notified, &told, produced))
			return;
}

/* Claim the kinds of a snapshot, among `kinds`. The thread that claims a kind delivers its
 * notification. A kind armed again since is a separate request. */
static uint32_t
take_armed(struct cq_front *front, uint32_t kinds, struct armed *seen)
{
	uint64_t produced = atomic_load(&front->produced);
	uint32_t taken = 0;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		if (kinds & 1u << k && seen->kind[k] != 0 &&
		    atomic_compare_exchange_strong(&front->armed[k], &seen->kind[k], 0))
			taken |= 1u << k;
	if (taken & NEWS)
		note_told(front, produced);
	return taken;
}

/* Which armed kinds are due (docs/nd2.md). */
static uint32_t
due(const struct cq_front *front, const struct armed *seen)
{
	if (atomic_load(&front->overrun))
		return PLX_CQ_NOTIFY_ALL;
	/* The next entry of any kind completes all kinds that wait for entries. */
	if (is_beyond(atomic_load(&front->produced), seen->kind[CQ_ANY]))
		return NEWS;
	if (is_beyond(atomic_load(&front->urgent), seen->kind[CQ_SOLICITED]))
		return PLX_CQ_NOTIFY_SOLICITED;
	return 0;
}

uint32_t
cq_take_due(struct cq_front *front)
{
	struct armed seen = load_asked(front);

	if (plx_likely((seen.kind[CQ_ANY] | seen.kind[CQ_SOLICITED] | seen.kind[CQ_ERRORS]) == 0))
		return 0;
	return take_armed(front, due(front, &seen), &seen);
}

/* Entries already notified or polled do not count. If a kind is armed already, the older request
 * stays. */
static void
request(struct plx_cq *cq, uint32_t kinds)
{
	struct cq_front *front = cq->front;
	uint64_t old = consumed_of(cq, atomic_load(&front->produced));
	uint64_t told = atomic_load(&front->notified);

	if (old < told)
		old = told;
	for (uint32_t k = 0; k < CQ_KINDS; k++) {
		unsigned long none = 0;

		if (kinds & 1u << k)
			atomic_compare_exchange_strong(&front->armed[k], &none, ask(old));
	}
}

PLX_COLD void
cq_fire(struct cq_front *front, struct plx_waker *waker, atomic_int *fd, uint32_t fired)
{
	atomic_fetch_or(&front->fired, fired);
	engine_wake(waker, fd);
}

bool
cq_barrier_everywhere(void)
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
 * Errors:  TIMEOUT (the engine does not run), GONE
 */
static PLX_COLD enum plx_status
let_arm(struct plx_cq *cq)
{
	enum plx_status status = PLX_OK;

	atomic_store(&cq->front->armable, true);
	/* A barrier of this process' threads is none of an engine's in another. */
	if (!cq->look.inline_mode && (cq->owner->remote || !cq_barrier_everywhere()))
		status = cq->owner->barrier(cq->owner, cq->object);
	if (status != PLX_OK)
		return status;
	atomic_store(&cq->arm_ready, true);
	return PLX_OK;
}

/* ---- the application's side ---- */

void
cq_open(struct plx_cq *cq, struct cq_front *front, uint32_t depth, bool inline_mode,
	struct front_owner *owner, uint64_t object)
{
	const struct front_layout layout = cq_front_layout(depth, inline_mode);

	cq->front = front;
	cq->ring = front_ring(front, &layout);
	cq->owner = owner;
	cq->object = object;
	cq->look.inline_mode = inline_mode;
	plx_ring_look_init(&cq->look.ring, cq->ring, PLX_WC_WORD_AT);
	/* Where no system call makes every thread pass a barrier, the engine always checks. */
	atomic_init(&cq->arm_ready, atomic_load(&front->armable));
	atomic_init(&cq->fd, -1);
	atomic_init(&cq->wake_fd, -1);
}

void
cq_close(struct plx_cq *cq)
{
	front_descriptor_close(cq->owner, &cq->fd, &cq->wake_fd);
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
	if (plx_unlikely(!atomic_load(&cq->arm_ready))) {
		enum plx_status status = let_arm(cq);

		if (status != PLX_OK)
			return status;
	}
	request(cq, kinds);
	STEP(ARM_REQUESTED);
	now = PLX_MUTANT(ARM_DOES_NOT_LOOK) ? 0 : cq_take_due(cq->front);
	if (fired != NULL)
		*fired = now;
	else if (now != 0)
		cq_fire(cq->front, NULL, &cq->wake_fd, now);
	return atomic_load(&cq->front->overrun) ? PLX_FULL : PLX_OK;
}

uint32_t
plx_cq_disarm(struct plx_cq *cq, uint32_t kinds)
{
	uint32_t taken = 0;

	for (uint32_t k = 0; k < CQ_KINDS; k++)
		if (kinds & 1u << k && atomic_exchange(&cq->front->armed[k], 0) != 0)
			taken |= 1u << k;
	return taken;
}

void
plx_cq_set_notified(struct plx_cq *cq)
{
	(void)plx_cq_disarm(cq, PLX_CQ_NOTIFY_ALL);
	note_told(cq->front, atomic_load(&cq->front->produced));
	/* What fired before is told with the rest. One that a thread is about to fire stays, and
	 * costs a needless look. */
	atomic_store(&cq->front->fired, 0);
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
	return atomic_exchange(&cq->front->fired, 0);
}

int
plx_cq_fd(struct plx_cq *cq)
{
	int fd = atomic_load(&cq->fd);

	if (fd >= 0)
		return fd;
	fd = front_descriptor(cq->owner, cq->object, &cq->fd, &cq->wake_fd);
	if (fd < 0)
		return fd;
	/* Signal what fired before the descriptor was known. */
	if (atomic_load(&cq->front->fired) != 0)
		engine_wake(NULL, &cq->wake_fd);
	return fd;
}

void
plx_engine_cq_query(const struct plx_cq *cq, struct plx_engine_cq_view *out)
{
	uint64_t produced = atomic_load(&cq->front->produced);
	struct armed seen = load_asked(cq->front);

	*out = (struct plx_engine_cq_view){
		.depth = atomic_load(&cq->front->depth),
		.produced = produced,
		.consumed = consumed_of(cq, produced),
		.armed = kinds_of(&seen),
		.overrun = atomic_load(&cq->front->overrun),
	};
}
