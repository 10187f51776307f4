/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as an engine sees them: it moves posted requests into the transport, and publishes
 * which slots are free. This half is the engine's alone; the front, which programs use, is in
 * plx_sq_front.h. Start with struct engine_sq, then engine_sq_fetch().
 */
#ifndef PLX_ENGINE_SQ_H
#define PLX_ENGINE_SQ_H

#include "plx_engine_cq.h"
#include "plx_sq_front.h"
#include "plx_transport.h"

enum {
	POSTS_BURST = 64, /* entries fetched from one ring at a time */
};

struct engine_sq {
	struct plx_ring_untrusted ring; /* its `shared` is NULL in inline mode */
	struct plx_rc *rc;
	struct plx_ud *ud;      /* UD only, with `rc` as its base; NULL: RC */
	uint32_t base;          /* ring index of the transport's entry 0 */
	uint32_t consumed;      /* what the front says: as are */
	unsigned state;         /* ... this, and */
	bool watched;           /* ... this */
	bool has_silent_poster; /* the producer may have been locked when watching ended */
	uint32_t spill_bytes;   /* of each slot */
	const uint8_t *spill;   /* in the front */
	struct sq_front *front;
	struct doorbell doorbell;
	const struct engine_queues *queues;
	struct plx_rc_caps caps;
	struct plx_domain domain; /* ... of the address handles of its datagrams */
};

/* Initialise a send queue, with a ring unless in inline mode.
 * Errors:  NO_MEMORY; the caller calls engine_sq_free() in any case */
enum plx_status engine_sq_init(struct engine_sq *sq, const struct engine_seat *seat,
			       const struct plx_rc_caps *caps,
			       struct plx_domain domain) PLX_MUST_CHECK;
void engine_sq_free(struct engine_sq *sq, const struct engine_seat *seat);

/* ---- the engine's thread ---- */

/* Move requests from the ring, which must exist, into the transport.
 * Returns: how many */
uint32_t engine_sq_fetch(struct engine_sq *sq);
/* The same for a UD queue pair. */
uint32_t engine_sq_fetch_datagrams(struct engine_sq *sq);
/* Discard everything posted: the transport is in RESET.
 * @param end index of the next entry to be posted */
void engine_sq_drop(struct engine_sq *sq, uint32_t end);

static inline void
engine_sq_set_state(struct engine_sq *sq, enum plx_qp_state state)
{
	unsigned kind = sq->ud != NULL && state != PLX_QP_RESET ? STATE_UD : 0;

	sq->state = (unsigned)state | kind;
	atomic_store(&sq->front->state, sq->state);
}

static inline void
engine_sq_set_watched(struct engine_sq *sq, bool watched)
{
	sq->watched = watched;
	atomic_store(&sq->front->watched, watched);
}

/* Ring index of the next entry to be moved to the transport. */
static inline uint32_t
engine_sq_end(const struct engine_sq *sq)
{
	return sq->base + plx_rc_sq_posted(sq->rc);
}

/* Posted requests whose slots are not free yet. */
static inline uint32_t
engine_sq_in_flight(const struct engine_sq *sq)
{
	return engine_sq_end(sq) - sq->consumed;
}

/* Publish how many slots are free, unless `cq`, which gets their completions, has a backlog: as
 * engine_rq_publish(). */
static inline void
engine_sq_publish(struct engine_sq *sq, const struct engine_cq *cq)
{
	uint32_t consumed = sq->base + plx_rc_sq_consumed(sq->rc);

	if (plx_unlikely(cq->spill_count > 0) || consumed == sq->consumed)
		return;
	sq->consumed = consumed;
	atomic_store_explicit(&sq->front->consumed, consumed, memory_order_release);
}

/* ---- inline mode: posts by the engine's thread, which then schedules the queue pair ---- */

/* As engine_sq_post_usual(). */
enum plx_status engine_sq_post_usual_here(struct sq *sq, uint32_t op_flags, uint64_t wr_id,
					  const struct plx_sge *sge, uint64_t remote_va,
					  struct plx_key rkey) PLX_MUST_CHECK;
/* As engine_sq_post(). */
uint32_t engine_sq_post_here(struct sq *sq, const struct plx_send_wr *wr, uint32_t n,
			     enum plx_status *refused);
/* As engine_sq_post_local(). */
enum plx_status engine_sq_post_local_here(struct sq *sq, const struct plx_wqe *wqe) PLX_MUST_CHECK;

#endif
