/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as posting threads see them: from a program's work request to a WQE in the ring,
 * written in place. Invalid requests are refused here, so that the caller gets the status. The
 * transport checks each entry again, because anyone with access to the ring can bypass these
 * checks. The engine's side is in sq_fetch.c. Start with engine_sq_post().
 *
 * Acknowledgements free slots: an entry may be posted while fewer than `depth` are between the
 * ring's producer index and `consumed`, which the engine publishes once per burst.
 */
#include "plx_engine_sq.h"
#include "producer_lock.h"

/* Functions with this attribute are compiled twice: for connections, without checks of the type,
 * and for UD. */
#define TWICE __attribute__((always_inline))

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

	atomic_fetch_or(doorbell->word, UINT64_C(1) << doorbell->bit);
	STEP(DOORBELL_WORD_SET);
	if ((atomic_load(doorbell->summary) & bit) == 0)
		atomic_fetch_or(doorbell->summary, bit);
	STEP(DOORBELL_RUNG);
}

/* ---- checks: change nothing ---- */

static bool
is_rd_atomic(uint8_t op)
{
	return op == PLX_WR_READ || op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;
}

/* @param total [out] bytes of the message; valid when OK */
static inline TWICE enum plx_status
check(const struct sq *sq, const struct plx_send_wr *wr, uint32_t *total)
{
	bool inl = wr->flags & PLX_WR_INLINE;
	bool local = wr->op == PLX_WR_LOCAL_INV;
	uint64_t bytes = 0;

	if (plx_unlikely(wr->op == PLX_WR_NONE || wr->op >= PLX_WR_BIND ||
			 wr->flags & ~(PLX_WR_FLAGS_COMMON | PLX_WR_DEFER)) &&
	    (wr->op != PLX_WR_READ || wr->flags & ~(PLX_WR_FLAGS_ALL | PLX_WR_DEFER)))
		return PLX_INVALID;
	if (plx_unlikely(wr->sges > (inl ? PLX_INLINE_MAX : sq->sges)))
		return PLX_TOO_MANY_SGES;
	for (uint32_t i = 0; i < wr->sges; i++)
		bytes += wr->sge[i].length;
	*total = (uint32_t)bytes;
	if (plx_unlikely(local && wr->sges > 0))
		return PLX_INVALID;
	if (is_rd_atomic(wr->op)) {
		if (inl || !atomic_load_explicit(&sq->front->rd_atomic_ok, memory_order_relaxed) ||
		    (wr->op != PLX_WR_READ && bytes != sizeof(uint64_t)))
			return PLX_INVALID;
	}
	if (inl) {
		if (plx_unlikely(local))
			return PLX_INVALID;
		return plx_likely(bytes <= sq->inline_limit) ? PLX_OK : PLX_TOO_LONG;
	}
	return plx_likely(bytes <= PLX_MESSAGE_MAX) ? PLX_OK : PLX_TOO_LONG;
}

/* The same for UD. */
static __attribute__((noinline)) enum plx_status
check_datagram(const struct sq *sq, const struct plx_send_wr *wr, uint32_t *total)
{
	const struct plx_ah *ah = wr->ah;
	enum plx_status status;

	if ((wr->op != PLX_WR_SEND && wr->op != PLX_WR_SEND_IMM) || ah == NULL ||
	    wr->remote_qpn == 0 || wr->remote_qpn >= PLX_PSN_MASK)
		return PLX_INVALID;
	if (ah->owner != sq->owner || ah->domain.id != sq->domain.id)
		return PLX_INVALID;
	status = check(sq, wr, total);
	if (status == PLX_OK &&
	    *total > atomic_load_explicit(&sq->front->datagram_limit, memory_order_relaxed))
		return PLX_TOO_LONG;
	return status;
}

/* ---- from request to WQE ---- */

/* Copy the bytes of the SGEs, one after the other.
 * Returns: how many */
static uint32_t
gather(const struct plx_send_wr *wr, uint8_t *out)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < wr->sges; i++) {
		/* an empty SGE may have any address */
		if (wr->sge[i].length)
			memcpy(out + at, (const void *)(uintptr_t)wr->sge[i].va, wr->sge[i].length);
		at += wr->sge[i].length;
	}
	return at;
}

/* Bit offset of a WQE field in its word. */
#define WQE_BIT(field) (8 * (offsetof(struct plx_wqe, field) - offsetof(struct plx_wqe, word)))
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && WQE_BIT(inline_bytes) == 0 &&
		       WQE_BIT(op) == 32 && WQE_BIT(flags) == 40 && WQE_BIT(sges) == 48 &&
		       WQE_BIT(mark) == 56 && sizeof(((struct plx_wqe *)0)->inline_bytes) == 4,
	       "the first byte of the word is its lowest, and no field lies in another");

/* The word that defines a WQE, and is written last in a ring. It is built by shifts: a load of the
 * whole word after stores of single fields would wait until all stores are in the cache. */
static inline uint64_t
word_of(const struct plx_send_wr *wr, uint32_t bytes)
{
	bool inl = wr->flags & PLX_WR_INLINE;
	uint64_t sges = inl ? 0 : (uint8_t)wr->sges;

	return (uint64_t)(inl ? bytes : 0) << WQE_BIT(inline_bytes) |
	       (uint64_t)wr->op << WQE_BIT(op) |
	       (uint64_t)(wr->flags & PLX_WR_FLAGS_ALL) << WQE_BIT(flags) | sges << WQE_BIT(sges);
}

/* Write all but that word.
 * @param bytes of the message
 * @param spill receives what does not fit the WQE */
static inline TWICE void
build(const struct plx_send_wr *wr, uint32_t bytes, struct plx_wqe *wqe, void *spill)
{
	wqe->wr_id = wr->wr_id;
	wqe->imm = wr->imm;
	wqe->rkey = wr->rkey;
	wqe->remote_va = wr->remote_va;
	if (plx_unlikely(wr->op == PLX_WR_CMP_SWAP || wr->op == PLX_WR_FETCH_ADD)) {
		wqe->swap_add = wr->swap_add; /* in the second cache line */
		wqe->compare = wr->compare;
	}
	if (wr->flags & PLX_WR_INLINE) {
		gather(wr, bytes <= PLX_WQE_INLINE_BYTES ? wqe->data : spill);
		return;
	}
	for (uint32_t i = 0; i < wr->sges && i < PLX_WQE_SGES; i++)
		wqe->sge[i] = wr->sge[i];
	if (plx_unlikely(wr->sges > PLX_WQE_SGES))
		memcpy(spill, wr->sge + PLX_WQE_SGES,
		       (wr->sges - PLX_WQE_SGES) * sizeof(struct plx_sge));
}

static __attribute__((noinline)) void
build_datagram(const struct sq *sq, const struct plx_send_wr *wr, uint32_t bytes,
	       struct plx_wqe *wqe, void *spill)
{
	build(wr, bytes, wqe, spill);
	wqe->remote_qkey = wr->remote_qkey;
	wqe->ah = wr->ah->number[sq->engine];
	wqe->remote_qpn = wr->remote_qpn;
}

/* ---- posting ---- */

/* Inline mode: the caller is the engine's thread, and the WQE enters the transport at once. */
static inline TWICE uint32_t
post_here(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool ud, enum plx_status *status)
{
	uint32_t posted = 0;
	/* The same free slots as with a ring: a program that does not poll is held back. */
	uint32_t room = sq->depth - engine_sq_in_flight(sq->back);

	for (; posted < n; posted++) {
		struct plx_wqe *wqe;
		void *spill;
		uint32_t bytes = 0;

		*status = ud ? check_datagram(sq, &wr[posted], &bytes)
			     : check(sq, &wr[posted], &bytes);
		if (plx_unlikely(*status != PLX_OK))
			break;
		wqe = posted < room ? plx_rc_sq_reserve(sq->back->rc, &spill) : NULL;
		if (plx_unlikely(wqe == NULL)) {
			*status = PLX_FULL; /* the state was checked before */
			break;
		}
		wqe->word = word_of(&wr[posted], bytes);
		if (ud) {
			build_datagram(sq, &wr[posted], bytes, wqe, spill);
			plx_ud_sq_commit(sq->back->ud, bytes);
			continue;
		}
		build(&wr[posted], bytes, wqe, spill);
		plx_rc_sq_commit(sq->back->rc, bytes);
	}
	return posted;
}

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

static inline TWICE uint32_t
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

		*status = ud ? check_datagram(sq, &wr[posted], &bytes)
			     : check(sq, &wr[posted], &bytes);
		if (*status != PLX_OK)
			break;
		if (ud)
			build_datagram(sq, &wr[posted], bytes, wqe, spill);
		else
			build(&wr[posted], bytes, wqe, spill);
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(sq->ring, index, &wqe->word, word_of(&wr[posted], bytes));
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

static inline TWICE uint32_t
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

static __attribute__((noinline)) uint32_t
post_datagrams(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *status)
{
	unsigned state = atomic_load_explicit(&sq->front->state, memory_order_acquire);

	if (!(state & STATE_UD) || !engine_state_posts(state_of(state))) {
		*status = PLX_STATE;
		return 0;
	}
	if (n == 0)
		return 0;
	return sq->ring != NULL ? post_ring(sq, wr, n, true, status)
				: post_here(sq, wr, n, true, status);
}

/* Post in either mode; `here` is a compile-time constant. */
static inline TWICE uint32_t
post(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool here, enum plx_status *refused)
{
	enum plx_status status = PLX_OK;
	uint32_t posted = 0;

	if (plx_unlikely(!engine_state_posts(
		    atomic_load_explicit(&sq->front->state, memory_order_acquire))))
		posted = post_datagrams(sq, wr, n, &status);
	else if (n > 0)
		posted = here ? post_here(sq, wr, n, false, &status)
			      : post_ring(sq, wr, n, false, &status);
	if (refused != NULL)
		*refused = status;
	return posted;
}

/* ---- a usual request, posted alone ---- */

/* Its word, without the ring's mark. */
static inline uint64_t
usual_word(uint32_t op, uint32_t flags)
{
	return (uint64_t)op << WQE_BIT(op) |
	       (uint64_t)(flags & PLX_WR_FLAGS_ALL) << WQE_BIT(flags) |
	       UINT64_C(1) << WQE_BIT(sges);
}

/* All but the word. */
static inline void
build_usual(struct plx_wqe *wqe, uint64_t wr_id, const struct plx_sge *sge, uint64_t remote_va,
	    struct plx_key rkey)
{
	wqe->wr_id = wr_id;
	wqe->rkey = rkey;
	wqe->remote_va = remote_va;
	wqe->sge[0] = *sge;
}

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

		build_usual(wqe, wr_id, sge, remote_va, rkey);
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(sq->ring, span.index, &wqe->word, usual_word(op, flags));
		STEP(ENTRY_MARKED);
		commit(sq, &span, 1);
	}
	producer_unlock(&sq->front->producer);
	if (plx_unlikely(!watched) && posted != 0 && !(flags & PLX_WR_DEFER))
		engine_ring_doorbell(&sq->doorbell);
	return posted != 0 ? PLX_OK : PLX_FULL;
}

/* ... and what post_here() does. */
enum plx_status
engine_sq_post_usual_here(struct sq *sq, uint32_t op_flags, uint64_t wr_id,
			  const struct plx_sge *sge, uint64_t remote_va, struct plx_key rkey)
{
	bool has_room = engine_sq_in_flight(sq->back) < sq->depth;
	void *spill;
	struct plx_wqe *wqe = has_room ? plx_rc_sq_reserve(sq->back->rc, &spill) : NULL;

	if (plx_unlikely(wqe == NULL))
		return PLX_FULL;
	wqe->word = usual_word(engine_op_of(op_flags), engine_flags_of(op_flags));
	build_usual(wqe, wr_id, sge, remote_va, rkey);
	plx_rc_sq_commit(sq->back->rc, sge->length);
	return PLX_OK;
}

/* ---- any requests ---- */

/* Tell the status of a single request.
 * Returns: how many were posted */
static inline uint32_t
tell(enum plx_status status, enum plx_status *refused)
{
	if (refused != NULL)
		*refused = status;
	return status == PLX_OK;
}

static inline bool
is_usual(const struct sq *sq, const struct plx_send_wr *wr, uint32_t n)
{
	return plx_likely(n == 1 && wr->sges == 1) &&
	       engine_sq_is_usual(sq, wr->op, wr->flags, wr->sge);
}

static __attribute__((noinline)) uint32_t
post_any(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return post(sq, wr, n, false, refused);
}

static __attribute__((noinline)) uint32_t
post_any_here(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return post(sq, wr, n, true, refused);
}

uint32_t
engine_sq_post(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	if (!is_usual(sq, wr, n))
		return post_any(sq, wr, n, refused);
	return tell(engine_sq_post_usual(sq, PLX_WR(wr->op, wr->flags), wr->wr_id, wr->sge,
					 wr->remote_va, wr->rkey),
		    refused);
}

uint32_t
engine_sq_post_here(struct sq *sq, const struct plx_send_wr *wr, uint32_t n,
		    enum plx_status *refused)
{
	if (!is_usual(sq, wr, n))
		return post_any_here(sq, wr, n, refused);
	return tell(engine_sq_post_usual_here(sq, PLX_WR(wr->op, wr->flags), wr->wr_id, wr->sge,
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
	const bool defers = given->flags & PLX_WR_DEFER;
	struct plx_wqe wqe = *given;
	struct plx_ring_span span;
	bool watched, posted;

	wqe.flags &= PLX_WR_FLAGS_ALL;
	if (wqe.flags & ~(PLX_WR_UNSIGNALED | PLX_WR_FENCE) || sq->ud)
		return PLX_INVALID;
	if (!engine_state_posts(atomic_load_explicit(&sq->front->state, memory_order_acquire)))
		return PLX_STATE;
	if (sq->ring == NULL)
		return plx_rc_post_send(sq->back->rc, &wqe, NULL);
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
	if (!watched && posted && !defers)
		engine_ring_doorbell(&sq->doorbell);
	return posted ? PLX_OK : PLX_FULL;
}
