/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts in inline mode: the caller is the engine's thread, and what it posts enters the transport
 * at once. A lock is not needed. Start with engine_sq_post_here().
 */
#include "plx_engine_rq.h"
#include "plx_engine_sq.h"
#include "plx_sq_build.h"

/* ---- send queues ---- */

static inline SQ_TWICE uint32_t
post(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, bool ud, enum plx_status *status)
{
	uint32_t posted = 0;
	/* The same free slots as with a ring: a program that does not poll is held back. */
	uint32_t room = sq->depth - engine_sq_in_flight(sq->back);

	for (; posted < n; posted++) {
		struct plx_wqe *wqe;
		void *spill;
		uint32_t bytes = 0;

		*status = ud ? sq_check_datagram(sq, &wr[posted], &bytes)
			     : sq_check(sq, &wr[posted], &bytes);
		if (plx_unlikely(*status != PLX_OK))
			break;
		wqe = posted < room ? plx_rc_sq_reserve(sq->back->rc, &spill) : NULL;
		if (plx_unlikely(wqe == NULL)) {
			*status = PLX_FULL; /* the state was checked before */
			break;
		}
		wqe->word = sq_word_of(&wr[posted], bytes);
		if (ud) {
			sq_build_datagram(sq, &wr[posted], bytes, wqe, spill);
			plx_ud_sq_commit(sq->back->ud, bytes);
			continue;
		}
		sq_build(&wr[posted], bytes, wqe, spill);
		plx_rc_sq_commit(sq->back->rc, bytes);
	}
	return posted;
}

static __attribute__((noinline)) uint32_t
post_any(struct sq *sq, const struct plx_send_wr *wr, uint32_t n, enum plx_status *refused)
{
	return sq_post_any(sq, wr, n, refused, post);
}

/* The same for a usual request, in registers. */
enum plx_status
engine_sq_post_usual_here(struct sq *sq, uint32_t op_flags, uint64_t wr_id,
			  const struct plx_sge *sge, uint64_t remote_va, struct plx_key rkey)
{
	bool has_room = engine_sq_in_flight(sq->back) < sq->depth;
	void *spill;
	struct plx_wqe *wqe = has_room ? plx_rc_sq_reserve(sq->back->rc, &spill) : NULL;

	if (plx_unlikely(wqe == NULL))
		return PLX_FULL;
	wqe->word = sq_usual_word(engine_op_of(op_flags), engine_flags_of(op_flags));
	sq_build_usual(wqe, wr_id, sge, remote_va, rkey);
	plx_rc_sq_commit(sq->back->rc, sge->length);
	return PLX_OK;
}

uint32_t
engine_sq_post_here(struct sq *sq, const struct plx_send_wr *wr, uint32_t n,
		    enum plx_status *refused)
{
	if (!sq_is_usual_alone(sq, wr, n))
		return post_any(sq, wr, n, refused);
	return sq_tell(engine_sq_post_usual_here(sq, PLX_WR(wr->op, wr->flags), wr->wr_id, wr->sge,
						 wr->remote_va, wr->rkey),
		       refused);
}

enum plx_status
engine_sq_post_local_here(struct sq *sq, const struct plx_wqe *given)
{
	struct plx_wqe wqe = *given;
	enum plx_status status = sq_check_local(sq, &wqe);

	return status == PLX_OK ? plx_rc_post_send(sq->back->rc, &wqe, NULL) : status;
}

/* ---- receive queues ---- */

uint32_t
engine_rq_post_here(struct rq *q, const struct plx_recv_wr *wr, uint32_t n, enum plx_status *status)
{
	struct engine_rq *back = q->back;
	uint32_t posted = 0, room;

	/* The same free slots as with a ring: a program that does not poll is held back. */
	room = producer_room(rq_limit(q), back->fetched - back->consumed);
	while (posted < n) {
		if (plx_unlikely(posted == room)) {
			*status = PLX_FULL;
			break;
		}
		*status = engine_rq_to_transport(back, wr[posted].wr_id, wr[posted].sge,
						 wr[posted].sges);
		if (*status != PLX_OK)
			break;
		posted++;
	}
	back->fetched += posted;
	return posted;
}

uint32_t
engine_rq_count_here(const struct rq *q)
{
	return plx_rq_count(q->back->rq);
}
