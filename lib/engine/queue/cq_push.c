/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues as the engine's thread sees them: entries are added to the ring, or to a
 * bounded backlog when the ring is full. No entry is lost silently: when the backlog is full, the
 * queue has overrun, which is reported. Start with engine_cq_push() and engine_cq_notify().
 */
#include "plx_cq_arming.h"
#include "plx_engine_cq.h"
#include "plx_heap.h"
#include "plx_steps.h"
#include "plx_wake.h"

/* ---- set-up ---- */

enum plx_status
engine_cq_create(struct engine_seat *seat, const struct plx_engine_cq_config *config,
		 struct engine_cq **out)
{
	struct engine_queues *queues = seat->queues;
	const struct front_layout layout = cq_front_layout(config->depth, queues->inline_mode);
	struct engine_cq *cq;

	if (config->depth < 1 || config->depth > PLX_CQ_DEPTH_MAX)
		return PLX_INVALID;
	cq = plx_heap_alloc(sizeof(*cq), queues->socket);
	if (cq == NULL)
		return PLX_NO_MEMORY;
	cq->front = front_create(seat->memory, &layout, false, PLX_RING_PRODUCER, &cq->ring);
	if (cq->front == NULL) {
		plx_heap_free(cq);
		return PLX_NO_MEMORY;
	}
	cq->queues = queues;
	cq->seat = seat;
	cq->strict = config->strict;
	cq->cookie = config->cookie;
	/* Without such a barrier this side always checks for armed kinds. */
	atomic_init(&cq->front->armable, !queues->inline_mode && !cq_barrier_everywhere());
	atomic_init(&cq->front->depth, config->depth);
	atomic_init(&cq->depth, config->depth);
	atomic_init(&cq->fd, -1);
	plx_list_init(&cq->spilled_link);
	plx_list_init(&cq->broken_link);
	plx_list_init(&cq->async_event_link);
	engine_seat_use(seat);
	*out = cq;
	return PLX_OK;
}

void
engine_cq_place(struct engine_cq *cq, struct engine_seat *seat)
{
	engine_seat_unuse(cq->seat);
	engine_seat_use(seat);
	cq->queues = seat->queues;
	cq->seat = seat;
}

void
engine_cq_free(struct engine_cq *cq)
{
	engine_fd_close(cq->seat->waker, &cq->fd);
	engine_seat_unuse(cq->seat);
	front_free(cq->seat->memory, cq->front);
	plx_heap_free(cq->spill);
	plx_heap_free(cq);
}

int
engine_cq_fd(struct engine_cq *cq)
{
	return engine_fd(&cq->fd);
}

enum plx_status
engine_cq_barrier(struct engine_cq *cq)
{
	return cq->queues->barrier(cq->queues);
}

/* ---- the engine's thread ---- */

uint32_t
engine_cq_unreaped(struct engine_cq *cq)
{
	return plx_ring_untrusted_count(&cq->ring) + cq->spill_count;
}

static PLX_COLD void
overrun(struct engine_cq *cq)
{
	if (cq->overrun)
		return;
	cq->overrun = true;
	atomic_store(&cq->front->overrun, true);
	plx_count(cq->queues->cq_overruns, 1);
	plx_list_append(&cq->queues->broken, &cq->broken_link);
	engine_seat_raise(cq->seat, &cq->seat->cq_events, &cq->async_event_link);
	cq->has_new = true;
}

/* Add entries to the backlog.
 * Returns: how many fit */
static PLX_COLD uint32_t
spill(struct engine_cq *cq, const struct plx_wc *wc, uint32_t n)
{
	uint32_t put = 0;

	/* Nothing will ever leave the backlog: the queue overruns. */
	if (cq->ring.fault) {
		plx_count(cq->queues->rings_forged, 1);
		return 0;
	}
	while (put < n && cq->spill_count < cq->spill_room) {
		uint32_t at = cq->spill_first + cq->spill_count++;

		if (at >= cq->spill_room + PLX_MUTANT(CQ_SPILL_WRAPS_LATE))
			at -= cq->spill_room;
		cq->spill[at] = wc[put++];
	}
	if (put > 0 && plx_list_empty(&cq->spilled_link))
		plx_list_append(&cq->queues->spilled, &cq->spilled_link);
	plx_count(cq->queues->cq_spilled, put);
	return put;
}

static inline void
write_marked(const struct plx_ring_untrusted *ring, uint32_t index, struct plx_wc *place,
	     const struct plx_wc *wc)
{
	uint64_t word;

	memcpy(place, wc, PLX_WC_WORD_AT);
	memcpy(&place->context, &wc->context, sizeof(wc->context));
	memcpy(&word, &wc->imm, sizeof(word));
	plx_ring_untrusted_mark_written(ring, index, &place->imm, word);
}

/* Add entries to the ring. The reader's index is loaded only when the known free slots are used
 * up: each load would take that line from the reader, which is about to write it. */
static uint32_t
put_known(struct engine_cq *cq, const struct plx_wc *wc, uint32_t n)
{
	struct plx_ring_span span;

	n = plx_ring_untrusted_reserve(&cq->ring, sizeof(*wc), n, &span);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		write_marked(&cq->ring, span.index + i, plx_ring_at(&span, sizeof(*wc), i), &wc[i]);
	plx_ring_untrusted_commit(&cq->ring, n);
	return n;
}

/* Returns: how many fit the ring */
static uint32_t
put_ring(struct engine_cq *cq, const struct plx_wc *wc, uint32_t n)
{
	uint32_t put = put_known(cq, wc, n);

	for (uint32_t i = 0; i < put; i++)
		if (wc[i].flags & PLX_WC_SOLICITED || wc[i].status != PLX_WC_SUCCESS)
			cq->made_urgent = cq->made + i + 1;
	cq->made += put;
	cq->has_new = true;
	return put;
}

/* Take up to `n` of the places that a strict queue has within its depth. As in put_known(), the
 * reader's index is loaded only when the known ones are used up. */
static uint32_t
take_places(struct engine_cq *cq, uint32_t n)
{
	uint32_t depth = atomic_load_explicit(&cq->depth, memory_order_relaxed);

	if (cq->places < n || cq->places_of != depth) {
		uint32_t used = engine_cq_unreaped(cq);

		cq->places = used >= depth ? 0 : depth - used;
		cq->places_of = depth;
	}
	if (n > cq->places)
		n = cq->places;
	cq->places -= n;
	return n;
}

void
engine_cq_push(struct engine_cq *cq, const struct plx_wc *wc, uint32_t n)
{
	uint32_t put = 0, room = n;

	if (plx_unlikely(cq->overrun))
		return;
	if (cq->strict)
		room = take_places(cq, n);
	if (plx_likely(cq->spill_count == 0))
		put = put_ring(cq, wc, room);
	if (plx_unlikely(put < room))
		put += spill(cq, wc + put, room - put);
	if (plx_unlikely(put < n))
		overrun(cq);
}

void
engine_cq_notify(struct engine_cq *cq)
{
	uint32_t fired;

	cq->has_new = false;
	STEP(NOTIFY_BEGUN);
	atomic_store_explicit(&cq->front->urgent, cq->made_urgent, memory_order_release);
	/*
	 * A release store, then a load that only the compiler keeps after it: let_arm() does the
	 * rest. A sequentially consistent store would wait for the store buffer for each message.
	 */
	atomic_store_explicit(&cq->front->produced, cq->made, memory_order_release);
	STEP(NOTIFY_STORED);
	atomic_signal_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&cq->front->armable, memory_order_relaxed))
		return;
	if (!cq->queues->inline_mode)
		atomic_store(&cq->front->produced, cq->made);
	fired = cq_take_due(cq->front);
	if (plx_likely(fired == 0))
		return;
	cq_fire(cq->front, cq->seat->waker, &cq->fd, fired);
	plx_count(cq->queues->notifications, 1);
}

static bool
refill(struct engine_cq *cq)
{
	while (cq->spill_count > 0) {
		uint32_t run = cq->spill_room - cq->spill_first;
		uint32_t put;

		if (run > cq->spill_count)
			run = cq->spill_count;
		put = put_ring(cq, cq->spill + cq->spill_first, run);
		cq->spill_count -= put;
		cq->spill_first += put;
		if (cq->spill_first == cq->spill_room)
			cq->spill_first = 0;
		if (put < run)
			return true;
	}
	plx_list_remove(&cq->spilled_link);
	return false;
}

bool
engine_cq_refill(struct engine_cq *cq)
{
	bool waits = refill(cq);

	if (!PLX_MUTANT(CQ_REFILL_NOT_TOLD))
		engine_cq_notify(cq);
	return waits;
}

/*
 * Size of the backlog for a queue of `depth`, whose queue pairs have up to `reserve` entries in
 * flight. It is twice that: slots are published as free when a completion is staged, slightly
 * before it is added to the ring, so when the ring turns out to be full, the same number of
 * requests may already follow.
 */
static uint32_t
room_behind(const struct engine_cq *cq, uint32_t depth, uint32_t reserve)
{
	uint32_t promised = depth > cq->ring.capacity ? depth - cq->ring.capacity : 0;

	return promised > 2 * reserve ? promised : 2 * reserve;
}

uint32_t
engine_cq_spare_room(const struct engine_cq *cq, uint32_t depth, uint32_t more)
{
	uint32_t need = room_behind(cq, depth, atomic_load(&cq->reserve) + more);

	/* Twice what is needed, so that a thousand queue pairs copy it ten times instead of 1000
	 * times. */
	return need > UINT32_MAX / 2 ? need : need * 2;
}

enum plx_status
engine_cq_grow(struct engine_cq *cq, uint32_t depth, uint32_t more, struct plx_wc **spare,
	       uint32_t spare_room)
{
	uint32_t reserve = atomic_load(&cq->reserve) + more;
	uint32_t need = room_behind(cq, depth, reserve);
	struct plx_wc *old = cq->spill;

	if (need > cq->spill_room) {
		if (*spare == NULL || spare_room < need)
			return PLX_AGAIN;
		for (uint32_t i = 0; i < cq->spill_count; i++)
			(*spare)[i] = old[(cq->spill_first + i) % cq->spill_room];
		cq->spill = *spare;
		cq->spill_room = spare_room;
		cq->spill_first = 0;
		*spare = old;
	}
	atomic_store(&cq->reserve, reserve);
	atomic_store(&cq->depth, depth);
	atomic_store(&cq->front->depth, depth);
	return PLX_OK;
}
