/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting: from a program's work request to a WQE in the send ring, written in place by the posting
 * thread. What can be refused is refused here, so that the caller learns it; the transport checks
 * again what arrives. How the engine takes it out of the ring is in fetch.c.
 * Start with plx_engine_qp_post_send().
 *
 * Places are freed by acknowledgement: an entry may be posted while fewer than sq_depth are between
 * the ring's producer index and `consumed`, which the engine publishes once a burst.
 */
#include "producer_lock.h"
#include "ud.h"

/* What is so marked is compiled twice: for connections, which are never asked what they are, and
 * for datagrams. */
#define TWICE __attribute__((always_inline))

/* ---- checks: change nothing
 * ----------------------------------------------------------------------- */

static bool
is_rd_atomic(uint8_t op)
{
	return op == PLX_WR_READ || op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;
}

/* @param total [out] bytes of the message; meaningful when OK */
static inline TWICE enum plx_status
check(const struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t *total)
{
	bool inl = wr->flags & PLX_WR_INLINE;
	bool local = wr->op == PLX_WR_LOCAL_INV;
	uint64_t bytes = 0;

	if (plx_unlikely(wr->op == PLX_WR_NONE || wr->op >= PLX_WR_BIND ||
			 wr->flags & ~(PLX_WR_FLAGS_ALL | PLX_WR_DEFER)))
		return PLX_INVALID;
	if (plx_unlikely(wr->sges > (inl ? PLX_INLINE_MAX : qp->sq_sges)))
		return PLX_TOO_MANY_SGES;
	for (uint32_t i = 0; i < wr->sges; i++)
		bytes += wr->sge[i].length;
	*total = (uint32_t)bytes;
	if (plx_unlikely(local && wr->sges > 0))
		return PLX_INVALID;
	if (is_rd_atomic(wr->op)) {
		if (inl || !atomic_load_explicit(&qp->rd_atomic_ok, memory_order_relaxed) ||
		    (wr->op != PLX_WR_READ && bytes != sizeof(uint64_t)))
			return PLX_INVALID;
	}
	if (inl) {
		if (plx_unlikely(local))
			return PLX_INVALID;
		return plx_likely(bytes <= qp->inline_limit) ? PLX_OK : PLX_TOO_LONG;
	}
	return plx_likely(bytes <= PLX_MESSAGE_MAX) ? PLX_OK : PLX_TOO_LONG;
}

/* The same for a datagram. */
static __attribute__((noinline)) enum plx_status
check_datagram(const struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t *total)
{
	const struct plx_engine_ah *ah;
	enum plx_status status;

	if ((wr->op != PLX_WR_SEND && wr->op != PLX_WR_SEND_IMM) || wr->ah == NULL ||
	    wr->remote_qpn == 0 || wr->remote_qpn >= PLX_PSN_MASK)
		return PLX_INVALID;
	ah = wr->ah->engine_ah;
	if (ah->engine != qp->engine || ah->domain.id != qp->domain.id)
		return PLX_INVALID;
	status = check(qp, wr, total);
	if (status == PLX_OK &&
	    *total > atomic_load_explicit(&qp->datagram_limit, memory_order_relaxed))
		return PLX_TOO_LONG;
	return status;
}

/* ---- from request to WQE
 * ----------------------------------------------------------------------------- */

/* The bytes that the SGEs name, one after the other. Returns: how many */
static uint32_t
gather(const struct plx_send_wr *wr, uint8_t *out)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < wr->sges; i++) {
		/* one of no bytes may point nowhere */
		if (wr->sge[i].length)
			memcpy(out + at, (const void *)(uintptr_t)wr->sge[i].va, wr->sge[i].length);
		at += wr->sge[i].length;
	}
	return at;
}

/* Where a field of a WQE lies in its word. */
#define WQE_BIT(field) (8 * (offsetof(struct plx_wqe, field) - offsetof(struct plx_wqe, word)))
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && WQE_BIT(inline_bytes) == 0 &&
		       WQE_BIT(op) == 32 && WQE_BIT(flags) == 40 && WQE_BIT(sges) == 48 &&
		       WQE_BIT(mark) == 56 && sizeof(((struct plx_wqe *)0)->inline_bytes) == 4,
	       "the first byte of the word is its lowest, and no field lies in another");

/* What a WQE is: the word that is written last, when it goes by a ring. Made by shifts: a word that
 * is stored field by field and then loaded as a whole waits until all stores are in the cache. */
static inline uint64_t
word_of(const struct plx_send_wr *wr, uint32_t bytes)
{
	bool inl = wr->flags & PLX_WR_INLINE;
	uint64_t sges = inl ? 0 : (uint8_t)wr->sges;

	return (uint64_t)(inl ? bytes : 0) << WQE_BIT(inline_bytes) |
	       (uint64_t)wr->op << WQE_BIT(op) |
	       (uint64_t)(wr->flags & PLX_WR_FLAGS_ALL) << WQE_BIT(flags) | sges << WQE_BIT(sges);
}

/* All but that word. @param bytes of the message @param spill what does not fit the WQE goes here
 */
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
build_datagram(const struct plx_send_wr *wr, uint32_t bytes, struct plx_wqe *wqe, void *spill)
{
	build(wr, bytes, wqe, spill);
	wqe->remote_qkey = wr->remote_qkey;
	wqe->ah = wr->ah->engine_ah->number;
	wqe->remote_qpn = wr->remote_qpn;
}

/* ---- posting
 * ------------------------------------------------------------------------------------------ */

/* May this state be posted to? In ERROR it is, to be flushed. */
static bool
state_posts(unsigned state)
{
	return state == PLX_QP_RTS || state == PLX_QP_SQD || state == PLX_QP_ERROR;
}

uint32_t
plx_engine_qp_in_flight(const struct plx_engine_qp *qp)
{
	return qp->sq_base + plx_rc_sq_posted(qp->rc) -
	       atomic_load_explicit(&qp->consumed, memory_order_relaxed);
}

/* Inline mode: the caller is the engine's thread, and the WQE goes to the transport at once. */
static inline TWICE uint32_t
post_here(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n, bool ud,
	  enum plx_status *status)
{
	uint32_t posted = 0;
	/* The same count of free places as with a ring: who does not reap is held back. */
	uint32_t room = qp->sq_depth - plx_engine_qp_in_flight(qp);

	for (; posted < n; posted++) {
		struct plx_wqe *wqe;
		void *spill;
		uint32_t bytes;

		*status = ud ? check_datagram(qp, &wr[posted], &bytes)
			     : check(qp, &wr[posted], &bytes);
		if (plx_unlikely(*status != PLX_OK))
			break;
		wqe = posted < room ? plx_rc_sq_reserve(qp->rc, &spill) : NULL;
		if (plx_unlikely(wqe == NULL)) {
			*status = PLX_FULL; /* the state was looked at before */
			break;
		}
		wqe->word = word_of(&wr[posted], bytes);
		if (ud) {
			build_datagram(&wr[posted], bytes, wqe, spill);
			plx_ud_sq_commit(qp->ud, bytes);
			continue;
		}
		build(&wr[posted], bytes, wqe, spill);
		plx_rc_sq_commit(qp->rc, bytes);
	}
	if (plx_likely(posted > 0) && !(wr[posted - 1].flags & PLX_WR_DEFER))
		engine_schedule(qp->engine, qp);
	return posted;
}

/* With the producer's lock: places for up to `n` entries. */
static inline uint32_t
reserve(struct plx_engine_qp *qp, uint32_t n, struct plx_ring_span *span)
{
	return producer_reserve(&qp->producer, qp->sq, sizeof(struct plx_wqe),
				qp->sq_depth + PLX_MUTANT(CREDIT_OFF_BY_ONE), &qp->consumed, n,
				span);
}

static inline void
commit(struct plx_engine_qp *qp, uint32_t n)
{
	producer_commit(&qp->producer, qp->sq, sizeof(struct plx_wqe), n);
}

static inline TWICE uint32_t
post_locked(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n, bool ud,
	    enum plx_status *status)
{
	struct plx_ring_span span;
	uint32_t posted = 0;
	uint32_t got = reserve(qp, n, &span);

	*status = PLX_FULL;
	if (plx_unlikely(got == 0))
		return 0;
	while (posted < got) {
		uint32_t index = span.index + posted;
		uint8_t *spill = qp->spill + (size_t)(index & qp->sq_slots_mask) * qp->spill_bytes;
		struct plx_wqe *wqe = plx_ring_at(&span, sizeof(*wqe), posted);
		uint32_t bytes;

		*status = ud ? check_datagram(qp, &wr[posted], &bytes)
			     : check(qp, &wr[posted], &bytes);
		if (*status != PLX_OK)
			break;
		if (ud)
			build_datagram(&wr[posted], bytes, wqe, spill);
		else
			build(&wr[posted], bytes, wqe, spill);
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(qp->sq, index, &wqe->word, word_of(&wr[posted], bytes));
		STEP(ENTRY_MARKED);
		posted++;
	}
	commit(qp, posted);
	if (posted < n && *status == PLX_OK)
		*status = PLX_FULL;
	return posted;
}

/* Returns: the ring is watched, until the producer is unlocked: see unwatch() */
static inline bool
lock_producer(struct plx_engine_qp *qp)
{
	bool watched;

	producer_lock(&qp->producer);
	watched = atomic_load(&qp->watched);
	STEP(WATCHED_SEEN);
	return watched;
}

static inline TWICE uint32_t
post_ring(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n, bool ud,
	  enum plx_status *status)
{
	uint32_t posted;
	bool watched;

	watched = lock_producer(qp);
	posted = post_locked(qp, wr, n, ud, status);
	producer_unlock(&qp->producer);
	if (plx_unlikely(!watched) && posted > 0 && !(wr[posted - 1].flags & PLX_WR_DEFER))
		doorbell_ring(qp);
	return posted;
}

void
plx_engine_qp_ring_doorbell(struct plx_engine_qp *qp)
{
	bool watched;

	if (qp->sq == NULL) {
		engine_schedule(qp->engine, qp);
		return;
	}
	watched = lock_producer(qp);
	producer_unlock(&qp->producer);
	if (!watched)
		doorbell_ring(qp);
}

static __attribute__((noinline)) uint32_t
post_datagrams(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n,
	       enum plx_status *status)
{
	unsigned state = atomic_load_explicit(&qp->state, memory_order_acquire);

	if (!(state & STATE_UD) || !state_posts(state_of(state))) {
		*status = PLX_STATE;
		return 0;
	}
	if (n == 0)
		return 0;
	return qp->sq != NULL ? post_ring(qp, wr, n, true, status)
			      : post_here(qp, wr, n, true, status);
}

uint32_t
plx_engine_qp_post_send(struct plx_engine_qp *qp, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused)
{
	enum plx_status status = PLX_OK;
	uint32_t posted = 0;

	if (plx_unlikely(!state_posts(atomic_load_explicit(&qp->state, memory_order_acquire))))
		posted = post_datagrams(qp, wr, n, &status);
	else if (n > 0)
		posted = qp->sq != NULL ? post_ring(qp, wr, n, false, &status)
					: post_here(qp, wr, n, false, &status);
	if (refused != NULL)
		*refused = status;
	return posted;
}

enum plx_status
plx_engine_qp_post_bind(struct plx_engine_qp *qp, uint64_t wr_id, uint8_t flags, struct plx_key key)
{
	struct plx_wqe wqe = {.wr_id = wr_id, .op = PLX_WR_BIND, .flags = flags, .inv_key = key};
	struct plx_ring_span span;
	bool watched, posted;

	if (flags & ~(PLX_WR_UNSIGNALED | PLX_WR_FENCE) || qp->ud != NULL)
		return PLX_INVALID;
	if (!state_posts(atomic_load_explicit(&qp->state, memory_order_acquire)))
		return PLX_STATE;
	if (qp->sq == NULL) {
		enum plx_status status = plx_rc_post_send(qp->rc, &wqe, NULL);

		if (status == PLX_OK)
			engine_schedule(qp->engine, qp);
		return status;
	}
	watched = lock_producer(qp);
	posted = reserve(qp, 1, &span) == 1;
	if (posted) {
		struct plx_wqe *place = plx_ring_at(&span, sizeof(*place), 0);

		place->wr_id = wqe.wr_id;
		place->inv_key = wqe.inv_key;
		STEP(ENTRY_WRITTEN);
		plx_ring_mark_written(qp->sq, span.index, &place->word, wqe.word);
		STEP(ENTRY_MARKED);
		commit(qp, 1);
	}
	producer_unlock(&qp->producer);
	if (!watched && posted)
		doorbell_ring(qp);
	return posted ? PLX_OK : PLX_FULL;
}

uint32_t
plx_engine_qp_post_recv(struct plx_engine_qp *qp, const struct plx_recv_wr *wr, uint32_t n,
			enum plx_status *refused)
{
	unsigned state = atomic_load_explicit(&qp->state, memory_order_acquire);

	if (plx_unlikely(qp->srq != NULL || state == PLX_QP_RESET)) {
		if (refused != NULL)
			*refused = PLX_STATE;
		return 0;
	}
	n = engine_rq_post(&qp->own, wr, n, refused);
	/* To be flushed. Elsewhere nobody waits for a receive; one that raced with the error is
	 * found by the engine's sweep. */
	if (plx_unlikely(state >= PLX_QP_ERROR) && state_of(state) == PLX_QP_ERROR)
		plx_engine_qp_ring_doorbell(qp);
	return n;
}
