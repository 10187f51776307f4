/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a program's work request to a WQE: the checks of a send queue, and the copy. Posts to a ring
 * (sq.c) and those of inline mode (lib/engine/queue/here.c) have them in common. It owns no state.
 * Start with sq_check(), then sq_build().
 */
#ifndef PLX_SQ_BUILD_H
#define PLX_SQ_BUILD_H

#include <string.h>

#include "plx_sq_front.h"

/* Functions with this attribute are compiled twice: for connections, without checks of the type,
 * and for UD. */
#define SQ_TWICE __attribute__((always_inline))

/* ---- checks: change nothing ---- */

static bool
sq_is_rd_atomic(uint8_t op)
{
	return op == PLX_WR_READ || op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;
}

/* @param total [out] bytes of the message; valid when OK */
static inline SQ_TWICE enum plx_status
sq_check(const struct sq *sq, const struct plx_send_wr *wr, uint32_t *total)
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
	if (sq_is_rd_atomic(wr->op)) {
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
sq_check_datagram(const struct sq *sq, const struct plx_send_wr *wr, uint32_t *total)
{
	const struct plx_ah *ah = wr->ah;
	enum plx_status status;

	if ((wr->op != PLX_WR_SEND && wr->op != PLX_WR_SEND_IMM) || ah == NULL ||
	    wr->remote_qpn == 0 || wr->remote_qpn >= PLX_PSN_MASK)
		return PLX_INVALID;
	if (ah->owner != sq->owner || ah->domain.id != sq->domain.id)
		return PLX_INVALID;
	status = sq_check(sq, wr, total);
	if (status == PLX_OK &&
	    *total > atomic_load_explicit(&sq->front->datagram_limit, memory_order_relaxed))
		return PLX_TOO_LONG;
	return status;
}

/* May datagrams be posted, in this state? What accepts posts as a connection is not asked. */
static inline bool
sq_takes_datagrams(const struct sq *sq)
{
	unsigned state = atomic_load_explicit(&sq->front->state, memory_order_acquire);

	return state & STATE_UD && engine_state_posts(state_of(state));
}

/* A request that sends no packet: take the flags of posting from it, and check the rest. */
static inline enum plx_status
sq_check_local(const struct sq *sq, struct plx_wqe *wqe)
{
	wqe->flags &= PLX_WR_FLAGS_ALL;
	if (wqe->flags & ~(PLX_WR_UNSIGNALED | PLX_WR_FENCE) || sq->ud)
		return PLX_INVALID;
	if (!engine_state_posts(atomic_load_explicit(&sq->front->state, memory_order_acquire)))
		return PLX_STATE;
	return PLX_OK;
}

/* ---- from request to WQE ---- */

/* Copy the bytes of the SGEs, one after the other.
 * Returns: how many */
static uint32_t
sq_gather(const struct plx_send_wr *wr, uint8_t *out)
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
sq_word_of(const struct plx_send_wr *wr, uint32_t bytes)
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
static inline SQ_TWICE void
sq_build(const struct plx_send_wr *wr, uint32_t bytes, struct plx_wqe *wqe, void *spill)
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
		sq_gather(wr, bytes <= PLX_WQE_INLINE_BYTES ? wqe->data : spill);
		return;
	}
	for (uint32_t i = 0; i < wr->sges && i < PLX_WQE_SGES; i++)
		wqe->sge[i] = wr->sge[i];
	if (plx_unlikely(wr->sges > PLX_WQE_SGES))
		memcpy(spill, wr->sge + PLX_WQE_SGES,
		       (wr->sges - PLX_WQE_SGES) * sizeof(struct plx_sge));
}

static __attribute__((noinline)) void
sq_build_datagram(const struct sq *sq, const struct plx_send_wr *wr, uint32_t bytes,
		  struct plx_wqe *wqe, void *spill)
{
	sq_build(wr, bytes, wqe, spill);
	wqe->remote_qkey = wr->remote_qkey;
	wqe->ah = wr->ah->number[sq->engine];
	wqe->remote_qpn = wr->remote_qpn;
}

/* ---- a usual request, posted alone ---- */

/* Its word, without the ring's mark. */
static inline uint64_t
sq_usual_word(uint32_t op, uint32_t flags)
{
	return (uint64_t)op << WQE_BIT(op) |
	       (uint64_t)(flags & PLX_WR_FLAGS_ALL) << WQE_BIT(flags) |
	       UINT64_C(1) << WQE_BIT(sges);
}

/* All but the word. */
static inline void
sq_build_usual(struct plx_wqe *wqe, uint64_t wr_id, const struct plx_sge *sge, uint64_t remote_va,
	       struct plx_key rkey)
{
	wqe->wr_id = wr_id;
	wqe->rkey = rkey;
	wqe->remote_va = remote_va;
	wqe->sge[0] = *sge;
}

/* Tell the status of a single request.
 * Returns: how many were posted */
static inline uint32_t
sq_tell(enum plx_status status, enum plx_status *refused)
{
	if (refused != NULL)
		*refused = status;
	return status == PLX_OK;
}

static inline bool
sq_is_usual_alone(const struct sq *sq, const struct plx_send_wr *wr, uint32_t n)
{
	return plx_likely(n == 1 && wr->sges == 1) &&
	       engine_sq_is_usual(sq, wr->op, wr->flags, wr->sge);
}

/* ---- any requests ---- */

/* How checked requests enter: into the ring, or into the transport.
 * @param ud of a datagram queue pair
 * @param status [out] of the first one that does not
 * Returns: how many do */
typedef uint32_t (*sq_post_fn)(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool ud,
			       enum plx_status *status);

/* @param post a constant, which is inlined for both types */
static inline SQ_TWICE uint32_t
sq_post_any(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused,
	    sq_post_fn post)
{
	enum plx_status status = PLX_OK;
	uint32_t posted = 0;

	if (plx_likely(engine_state_posts(
		    atomic_load_explicit(&sq->front->state, memory_order_acquire))))
		posted = n > 0 ? post(sq, wr, n, false, &status) : 0;
	else if (sq_takes_datagrams(sq))
		posted = n > 0 ? post(sq, wr, n, true, &status) : 0;
	else
		status = PLX_STATE;
	if (refused != NULL)
		*refused = status;
	return posted;
}

#endif
