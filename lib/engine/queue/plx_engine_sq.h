/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues: the part of a queue pair that posting threads use, and the transfer of its requests
 * to the engine. Start with struct engine_sq, then engine_sq_post() and engine_sq_fetch().
 *
 * Fields are grouped by the thread that writes them, as those of a completion queue.
 */
#ifndef PLX_ENGINE_SQ_H
#define PLX_ENGINE_SQ_H

#include "plx_engine_cq.h"
#include "plx_producer.h"
#include "plx_transport.h"

enum {
	POSTS_BURST = 64, /* entries fetched from one ring at a time */
};

/*
 * The state word of a UD queue pair has this bit set, except in RESET. So a check on the hot path
 * of a connection (is posting allowed? is it in ERROR?) also checks that it is a connection:
 * unusual values are at least PLX_QP_ERROR, and are examined elsewhere.
 */
enum {
	STATE_UD = 1 << 4,
};

struct engine_sq {
	/* written by posting threads */
	PLX_ALIGNED_LINE struct rte_ring *ring; /* NULL in inline mode */
	uint8_t *spill;                         /* [slots of the ring] of spill_bytes */
	atomic_ulong *doorbell, *summary; /* words in the bitmap of all doorbells, and in the bitmap
					     of those words */
	struct producer producer;
	uint32_t spill_bytes, mask; /* mask: slots of the ring - 1 */
	uint32_t depth, sges, inline_limit;
	uint8_t doorbell_bit, summary_bit; /* within these words */
	atomic_uint datagram_limit;        /* [bytes] maximum size of datagrams: the path MTU */
	struct plx_domain domain;          /* ... of their address handles */
	const struct engine_queues *queues;

	/* written by the engine at each acknowledgement, read by posting threads */
	PLX_ALIGNED_LINE atomic_uint consumed; /* ring index up to which slots are free */
	uint32_t base;                         /* ring index of the transport's entry 0 */
	struct plx_rc *rc;
	struct plx_ud *ud; /* UD only, with `rc` as its base; NULL: RC */

	/* ... and rarely */
	PLX_ALIGNED_LINE atomic_uint state; /* enum plx_qp_state, and STATE_UD */
	atomic_bool rd_atomic_ok;           /* READs and atomics may be posted */
	atomic_bool watched;                /* the engine polls the ring without a doorbell */
};

_Static_assert(offsetof(struct engine_sq, summary_bit) < PLX_CACHE_LINE,
	       "a post to a connection reads one line of what posting threads write");
_Static_assert(offsetof(struct engine_sq, consumed) == 2 * PLX_CACHE_LINE &&
		       offsetof(struct engine_sq, state) == 3 * PLX_CACHE_LINE &&
		       sizeof(struct engine_sq) == 4 * PLX_CACHE_LINE,
	       "what the engine writes with each acknowledgement is on a line of its own");

/* The part of an address handle that posting threads read: the beginning of struct plx_ah. A
 * request with a handle of another engine or domain is INVALID. */
struct engine_ah_head {
	const struct engine_queues *queues; /* of the engine that created it */
	struct plx_domain domain;
	uint32_t number; /* its index in the engine's table */
};

/* ---- set-up ---- */

/* Initialise a send queue, with a ring unless in inline mode.
 * Errors:  NO_MEMORY; the caller calls engine_sq_free() in any case */
enum plx_status engine_sq_init(struct engine_sq *sq, const struct engine_queues *queues,
			       const struct plx_rc_caps *caps,
			       struct plx_domain domain) PLX_MUST_CHECK;
void engine_sq_free(struct engine_sq *sq);
/* Set the doorbell of the queue pair in this slot of the engine's table.
 * @param doorbells one bit for each slot
 * @param summary one bit for each word of doorbells */
void engine_sq_set_doorbell(struct engine_sq *sq, atomic_ulong *doorbells, atomic_ulong *summary,
			    uint32_t slot);

/* ---- posting threads: sq.c ---- */

/* Does this state accept posts? ERROR does; they are flushed. */
static inline bool
engine_state_posts(unsigned state)
{
	return state == PLX_QP_RTS || state == PLX_QP_SQD || state == PLX_QP_ERROR;
}

/* The parts of PLX_WR(). */
static inline uint32_t
engine_op_of(uint32_t op_flags)
{
	return op_flags & UINT16_MAX;
}

static inline uint32_t
engine_flags_of(uint32_t op_flags)
{
	return op_flags >> 16;
}

#define ENGINE_USUAL_FLAGS (PLX_WR_SOLICITED | PLX_WR_UNSIGNALED | PLX_WR_FENCE | PLX_WR_DEFER)

/* Can this request of one SGE be posted now, with no more checks? That is a SEND or WRITE of a
 * connection which accepts posts. */
static inline bool
engine_sq_is_usual(const struct engine_sq *sq, uint32_t op, uint32_t flags,
		   const struct plx_sge *sge)
{
	return (op == PLX_WR_SEND || op == PLX_WR_WRITE) &&
	       !(flags & ~(uint32_t)ENGINE_USUAL_FLAGS) && sge->length <= PLX_MESSAGE_MAX &&
	       plx_likely(
		       engine_state_posts(atomic_load_explicit(&sq->state, memory_order_acquire)));
}

/* Post one usual request, in registers, into the ring. It is what engine_sq_post() does, in half
 * of its instructions: nothing repeats.
 * @param op_flags PLX_WR()
 * Errors:  FULL */
enum plx_status engine_sq_post_usual(struct engine_sq *sq, uint32_t op_flags, uint64_t wr_id,
				     const struct plx_sge *sge, uint64_t remote_va,
				     struct plx_key rkey) PLX_MUST_CHECK;
/* The same in inline mode: the caller is the engine's thread, and schedules the queue pair. */
enum plx_status engine_sq_post_usual_here(struct engine_sq *sq, uint32_t op_flags, uint64_t wr_id,
					  const struct plx_sge *sge, uint64_t remote_va,
					  struct plx_key rkey) PLX_MUST_CHECK;

/* As plx_engine_qp_post_send(), into the ring. */
uint32_t engine_sq_post(struct engine_sq *sq, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused);
/* As engine_sq_post() in inline mode: the caller is the engine's thread, and schedules the queue
 * pair. */
uint32_t engine_sq_post_here(struct engine_sq *sq, const struct plx_send_wr *wr, uint32_t n,
			     enum plx_status *refused);
/* Post a request that sends no packet and that a program cannot post as plx_send_wr: BIND, REG. In
 * either mode. */
enum plx_status engine_sq_post_local(struct engine_sq *sq,
				     const struct plx_wqe *wqe) PLX_MUST_CHECK;
/* Wake the engine for posted requests, unless it polls the ring. Not in inline mode. */
void engine_sq_wake(struct engine_sq *sq);

/* ---- the engine's thread: sq_fetch.c ---- */

/* Move requests from the ring, which must exist, into the transport.
 * Returns: how many */
uint32_t engine_sq_fetch(struct engine_sq *sq);
/* The same for a UD queue pair. */
uint32_t engine_sq_fetch_datagrams(struct engine_sq *sq);
/* Discard everything posted: the transport is in RESET.
 * @param end index of the next entry to be posted */
void engine_sq_drop(struct engine_sq *sq, uint32_t end);
/* Make the engine poll this ring in its next cycle. Never waits. Any thread. */
void engine_sq_ring_doorbell(struct engine_sq *sq);

/* The state in a state word. */
static inline enum plx_qp_state
state_of(unsigned word)
{
	return (enum plx_qp_state)(word & (STATE_UD - 1));
}

static inline void
engine_sq_set_state(struct engine_sq *sq, enum plx_qp_state state)
{
	unsigned kind = sq->ud != NULL && state != PLX_QP_RESET ? STATE_UD : 0;

	atomic_store(&sq->state, (unsigned)state | kind);
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
	return engine_sq_end(sq) - atomic_load_explicit(&sq->consumed, memory_order_relaxed);
}

/* Publish how many slots are free, unless `cq`, which gets their completions, has a backlog: as
 * engine_rq_publish(). */
static inline void
engine_sq_publish(struct engine_sq *sq, const struct plx_cq *cq)
{
	uint32_t consumed = sq->base + plx_rc_sq_consumed(sq->rc);

	if (plx_unlikely(cq->spill_count > 0))
		return;
	if (consumed != atomic_load_explicit(&sq->consumed, memory_order_relaxed))
		atomic_store_explicit(&sq->consumed, consumed, memory_order_release);
}

#endif
