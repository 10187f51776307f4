/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as posting threads see them: from a program's work request to a WQE in the ring,
 * written in place. Invalid requests are refused before, so that the caller gets the status. The
 * transport checks each entry again, because anyone with access to the ring can bypass these
 * checks. The engine's side is in lib/engine/queue/sq_fetch.c. Start with engine_sq_post().
 *
 * Acknowledgements free slots: an entry may be posted while fewer than `depth` are between the
 * ring's producer index and `consumed`, which the engine publishes once per burst.
 */
#include "plx_sq_build.h"
#include "producer_lock.h"

/* ---- set-up ---- */

void
sq_open(struct sq *sq, const struct sq_config *config)
{
	const struct plx_rc_caps *caps = &config->caps;
	const struct front_layout layout =
		sq_front_layout(caps->sq_depth, caps->sq_sges, caps->inline_bytes);
	uint32_t limit = caps->inline_bytes;

	sq->front = config->front;
	sq->back = config->back;
	sq->engine = config->engine;
	sq->owner = config->owner;
	sq->doorbell = config->doorbell;
	sq->depth = caps->sq_depth;
	sq->sges = caps->sq_sges;
	sq->inline_limit = limit < PLX_WQE_INLINE_BYTES ? PLX_WQE_INLINE_BYTES : limit;
	sq->ud = config->ud;
	sq->domain = config->domain;
	if (config->back != NULL)
		return;
	sq->ring = front_ring(sq->front, &layout);
	sq->mask = plx_ring_slots_of(&layout.ring) - 1;
	sq->spill_bytes = layout.spill_bytes;
	sq->spill = front_spill(sq->front, &layout);
}

/* ---- the doorbell ---- */

/*
 * Sequentially consistent, so that the engine either finds the preceding ring entry, or finds this
 * bit later. Every poster checks the summary's bit itself: the thread that set the first bit of
 * the word may have been preempted before it reached the summary. If the bit is set, the engine
 * clears it after this check, and then the word, which includes this bit.
 */
__attribute__((noinline)) void
engine_ring_doorbell(const struct doorbell *doorbell)
{
	uint64_t bit = UINT64_C(1) << doorbell->summary_bit;
	unsigned asleep;

	atomic_fetch_or(doorbell->word, UINT64_C(1) << doorbell->bit);
	STEP(DOORBELL_WORD_SET);
	if ((atomic_load(doorbell->summary) & bit) == 0)
		atomic_fetch_or(doorbell->summary, bit);
	STEP(DOORBELL_RUNG);
	/* An engine stores `asleep`, then looks at the summary: one of the two sees the other. */
	asleep = atomic_load(&doorbell_seat(doorbell)->asleep);
	STEP(SLEEP_SEEN);
	if (plx_unlikely(asleep != 0) && doorbell->bell >= 0)
		engine_ring_bell(&doorbell_seat(doorbell)->asleep, asleep, doorbell->bell);
}

/* ---- posting ---- */

/* Reserve slots for up to `n` entries, with the producer locked. */
static inline uint32_t
reserve(struct sq *sq, uint32_t n, struct plx_ring_span *span)
{
	return producer_reserve(&sq->front->producer, sq->ring, sizeof(struct plx_wqe),
				sq->depth + PLX_MUTANT(CREDIT_OFF_BY_ONE), &sq->front->consumed, n,
				span);
}

static inline void
commit(struct sq *sq, const struct plx_ring_span *span, uint32_t n)
{
	producer_commit(&sq->front->producer, sq->ring, sizeof(struct plx_wqe), span, n);
}

static inline SQ_TWICE uint32_t
post_locked(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool ud,
	    enum plx_status *status)
{
	struct plx_ring_span span;
	uint32_t posted = 0;
	uint32_t got = reserve(sq, n, &span);

	*status = PLX_FULL;
	if (plx_unlikely(got == 0))
		return 0;
	while (posted < got) {
		uint32_t index = span.index + posted;
		uint8_t *spill = sq->spill + (size_t)(index & sq->mask) * sq->spill_bytes;
		struct plx_wqe *wqe = plx_ring_at(&span, sizeof(*wqe), posted);
		uint32_t bytes;

		*status = ud ? sq_check_datagram(sq, &wr[posted], &bytes)
			     : sq_check(sq, &wr[posted], &bytes);
		if (*status != PLX_OK)
			break;
		if (ud)
			sq_build_datagram(sq, &wr[posted], bytes, wqe, spill);
		else
			sq_build(&wr[posted], bytes, wqe, spill);
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(sq->ring, index, &wqe->word, sq_word_of(&wr[posted], bytes));
		STEP(ENTRY_MARKED);
		posted++;
	}
	commit(sq, &span, posted);
	if (posted < n && *status == PLX_OK)
		*status = PLX_FULL;
	return posted;
}

/* Returns: whether the ring is watched, until the producer is unlocked: see unwatch() */
static inline bool
lock_producer(struct sq *sq)
{
	bool watched;

	producer_lock(&sq->front->producer);
	watched = atomic_load(&sq->front->watched);
	STEP(WATCHED_SEEN);
	return watched;
}

static inline SQ_TWICE uint32_t
post_ring(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool ud, enum plx_status *status)
{
	uint32_t posted;
	bool watched;

	watched = lock_producer(sq);
	posted = post_locked(sq, wr, n, ud, status);
	producer_unlock(&sq->front->producer);
	if (plx_unlikely(!watched) && posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER))
		engine_ring_doorbell(&sq->doorbell);
	return posted;
}

/* ---- a usual request, posted alone ---- */

/* What post_ring() does, in half of its instructions: nothing repeats, and everything is in
 * registers. */
enum plx_status
engine_sq_post_usual(struct sq *sq, uint32_t op_flags, uint64_t wr_id, const struct plx_sge *sge,
		     uint64_t remote_va, struct plx_key rkey)
{
	bool watched = lock_producer(sq);
	uint32_t op = engine_op_of(op_flags), flags = engine_flags_of(op_flags);
	struct plx_ring_span span;
	uint32_t posted = reserve(sq, 1, &span);

	if (plx_likely(posted != 0)) {
		struct plx_wqe *wqe = (struct plx_wqe *)(void *)span.at;

		sq_build_usual(wqe, wr_id, sge, remote_va, rkey);
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(sq->ring, span.index, &wqe->word, sq_usual_word(op, flags));
		STEP(ENTRY_MARKED);
		commit(sq, &span, 1);
	}
	producer_unlock(&sq->front->producer);
	if (plx_unlikely(!watched) && posted != 0 && !(flags & PLX_WR_DEFER))
		engine_ring_doorbell(&sq->doorbell);
	return posted != 0 ? PLX_OK : PLX_FULL;
}

/* ---- any requests ---- */

static __attribute__((noinline)) uint32_t
post_any(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return sq_post_any(sq, wr, n, refused, post_ring);
}

uint32_t
engine_sq_post(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	if (!sq_is_usual_alone(sq, wr, n))
		return post_any(sq, wr, n, refused);
	return sq_tell(engine_sq_post_usual(sq, PLX_WR(wr->op, wr->flags), wr->wr_id, wr->sge,
					    wr->remote_va, wr->rkey),
		       refused);
}

void
engine_sq_wake(struct sq *sq)
{
	bool watched = lock_producer(sq);

	producer_unlock(&sq->front->producer);
	if (!watched)
		engine_ring_doorbell(&sq->doorbell);
}

enum plx_status
engine_sq_post_local(struct sq *sq, const struct plx_wqe *given)
{
	struct plx_wqe wqe = *given;
	struct plx_ring_span span;
	enum plx_status status = sq_check_local(sq, &wqe);
	bool watched, posted;

	if (status != PLX_OK)
		return status;
	watched = lock_producer(sq);
	posted = reserve(sq, 1, &span) == 1;
	if (posted) {
		struct plx_wqe *place = plx_ring_at(&span, sizeof(*place), 0);

		place->wr_id = wqe.wr_id;
		place->inv_key = wqe.inv_key;
		place->region = wqe.region;
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(sq->ring, span.index, &place->word, wqe.word);
		STEP(ENTRY_MARKED);
		commit(sq, &span, 1);
	}
	producer_unlock(&sq->front->producer);
	if (!watched && posted && !(given->flags & PLX_WR_DEFER))
		engine_ring_doorbell(&sq->doorbell);
	return posted ? PLX_OK : PLX_FULL;
}
