/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as a program sees them: the front, which it shares with the engine, and its own half
 * of the queue. The engine's half is in plx_engine_sq.h; what holds for fronts is in
 * plx_cq_front.h. Start with struct sq_front, then engine_sq_post().
 */
#ifndef PLX_SQ_FRONT_H
#define PLX_SQ_FRONT_H

#include <stdatomic.h>

#include "plx_action.h"
#include "plx_front.h"
#include "plx_mem.h"
#include "plx_producer.h"
#include "plx_transport.h"
#include "plx_queue.h"
#include "plx_seat_front.h"

/*
 * The state word of a UD queue pair has this bit set, except in RESET. So a check on the hot path
 * of a connection (is posting allowed? is it in ERROR?) also checks that it is a connection:
 * unusual values are at least PLX_QP_ERROR, and are examined elsewhere.
 */
enum {
	STATE_UD = 1 << 4,
	AH_ENGINES_MAX = 16, /* of one owner; each has a number for an address handle */
};

/* The state in a state word. */
static inline enum plx_qp_state
state_of(unsigned word)
{
	return (enum plx_qp_state)(word & (STATE_UD - 1));
}

/* The head; inline mode has nothing else. */
struct sq_front {
	/* written by posting threads; the engine looks whether it is locked */
	PLX_ALIGNED_PAIR struct producer producer;

	/* written by the engine at each acknowledgement, read by posting threads */
	PLX_ALIGNED_PAIR atomic_uint consumed; /* ring index up to which slots are free */

	/* ... and rarely */
	PLX_ALIGNED_LINE atomic_uint state; /* enum plx_qp_state, and STATE_UD */
	atomic_uint datagram_limit;         /* [bytes] maximum size of datagrams: the path MTU */
	atomic_bool rd_atomic_ok;           /* READs and atomics may be posted */
	atomic_bool watched;                /* the engine polls the ring without a doorbell */
};

_Static_assert(sizeof(struct sq_front) == 2 * PLX_LINE_PAIR &&
		       offsetof(struct sq_front, state) == 3 * PLX_CACHE_LINE,
	       "what the engine writes with each acknowledgement is on a line of its own");

/* [bytes] of each slot's spill, for the SGEs or the inline data that a WQE does not hold. */
static inline uint32_t
sq_spill_bytes(uint32_t sges, uint32_t inline_bytes)
{
	uint32_t bytes = 0;

	if (sges > PLX_WQE_SGES)
		bytes = (sges - PLX_WQE_SGES) * (uint32_t)sizeof(struct plx_sge);
	if (inline_bytes > PLX_WQE_INLINE_BYTES && inline_bytes > bytes)
		bytes = inline_bytes;
	return (bytes + 15) / 16 * 16;
}

static inline struct front_layout
sq_front_layout(uint32_t depth, uint32_t sges, uint32_t inline_bytes)
{
	return (struct front_layout){
		.head_bytes = sizeof(struct sq_front),
		.ring = {.entries = depth,
			 .entry_bytes = sizeof(struct plx_wqe),
			 .producers = PLX_RING_ONE, /* one at a time */
			 .consumers = PLX_RING_ONE},
		.spill_bytes = sq_spill_bytes(sges, inline_bytes),
	};
}

struct engine_sq;

/* A program's half of a send queue. */
struct sq {
	PLX_ALIGNED_LINE struct rte_ring *ring; /* NULL in inline mode */
	struct sq_front *front;
	struct doorbell doorbell;
	uint8_t *spill;       /* [slots of the ring] of spill_bytes */
	uint32_t depth, mask; /* mask: slots of the ring - 1 */
	uint32_t spill_bytes, sges;

	uint32_t inline_limit;
	bool ud;
	uint32_t engine;          /* its index among the owner's */
	struct plx_domain domain; /* ... of the address handles of its datagrams */
	const void *owner;        /* ... and who has made them */
	struct engine_sq *back;   /* inline mode posts to it */
};

_Static_assert(offsetof(struct sq, inline_limit) == PLX_CACHE_LINE,
	       "a post to a connection reads one line of this");

/* A program's address handle. A request with a handle of another owner or domain is INVALID; the
 * engine, whose half is struct engine_ah, checks that again. */
struct plx_ah {
	const void *owner; /* as struct sq */
	struct plx_domain domain;
	uint32_t number[AH_ENGINES_MAX]; /* its index in each engine's table */
	uint64_t object;                 /* by which its owner knows it */
	struct plx_pd *pd;               /* of the creator */
};

/* What a send queue was made with. */
struct sq_config {
	struct sq_front *front;
	struct plx_rc_caps caps;
	struct doorbell doorbell;
	bool ud;
	uint32_t engine;
	struct plx_domain domain;
	const void *owner;
	struct engine_sq *back; /* inline mode; NULL: there is a ring */
};

/* Begin to use the front of a queue that the engine has made. The object is zeroed. */
void sq_open(struct sq *sq, const struct sq_config *config);

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
engine_sq_is_usual(const struct sq *sq, uint32_t op, uint32_t flags, const struct plx_sge *sge)
{
	return (op == PLX_WR_SEND || op == PLX_WR_WRITE) &&
	       !(flags & ~(uint32_t)ENGINE_USUAL_FLAGS) && sge->length <= PLX_MESSAGE_MAX &&
	       plx_likely(engine_state_posts(
		       atomic_load_explicit(&sq->front->state, memory_order_acquire)));
}

/* Post one usual request, in registers, into the ring. It is what engine_sq_post() does, in half
 * of its instructions: nothing repeats.
 * @param op_flags PLX_WR()
 * Errors:  FULL */
enum plx_status engine_sq_post_usual(struct sq *sq, uint32_t op_flags, uint64_t wr_id,
				     const struct plx_sge *sge, uint64_t remote_va,
				     struct plx_key rkey) PLX_MUST_CHECK;
/* As plx_engine_qp_post_send(), into the ring. */
uint32_t engine_sq_post(struct sq *sq, const struct plx_send_wr *wr, uint32_t n,
			enum plx_status *refused);
/* Post a request that sends no packet and that a program cannot post as plx_send_wr: BIND, REG. */
enum plx_status engine_sq_post_local(struct sq *sq, const struct plx_wqe *wqe) PLX_MUST_CHECK;
/* Wake the engine for posted requests, unless it polls the ring. Not in inline mode. */
void engine_sq_wake(struct sq *sq);

/* Make the engine poll this ring in its next cycle. Never waits. Any thread. */
void engine_ring_doorbell(const struct doorbell *doorbell);

#endif
