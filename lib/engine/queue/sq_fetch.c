/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as the engine's thread sees them: it moves WQEs from their ring into the transport.
 * It never locks a producer, and so never waits for a poster. Start with engine_sq_fetch().
 */
#include "plx_engine_sq.h"
#include "plx_heap.h"

#define TWICE __attribute__((always_inline)) /* as SQ_TWICE */

/* ---- set-up ---- */

enum plx_status
engine_sq_init(struct engine_sq *sq, const struct engine_seat *seat, const struct plx_rc_caps *caps,
	       struct plx_domain domain)
{
	const struct front_layout layout =
		sq_front_layout(caps->sq_depth, caps->sq_sges, caps->inline_bytes);
	const struct engine_queues *queues = seat->queues;

	sq->queues = queues;
	sq->caps = *caps;
	sq->domain = domain;
	sq->state = PLX_QP_RESET;
	sq->spill_bytes = layout.spill_bytes;
	sq->front = front_create(seat->memory, &layout, queues->inline_mode, PLX_RING_CONSUMER,
				 &sq->ring);
	if (sq->front == NULL)
		return PLX_NO_MEMORY;
	sq->spill = front_spill(sq->front, &layout);
	atomic_init(&sq->front->datagram_limit, PLX_MTU_MAX);
	atomic_init(&sq->front->state, PLX_QP_RESET);
	return PLX_OK;
}

void
engine_sq_free(struct engine_sq *sq, const struct engine_seat *seat)
{
	front_free(seat->memory, sq->front);
}

/* ---- the engine's thread ---- */

/* Begin to read up to `n` posted WQEs. */
static inline uint32_t
peek(struct engine_sq *sq, uint32_t n, struct plx_ring_span *span)
{
	return plx_ring_untrusted_peek_marked(&sq->ring, sizeof(struct plx_wqe),
					      offsetof(struct plx_wqe, word), n, span);
}

/* An entry is not executed. It is judged from a copy: the program may change it meanwhile. */
static PLX_COLD void
discard(const struct engine_sq *sq, const struct plx_wqe *posted)
{
	struct plx_wqe wqe = *posted;

	plx_copied(&wqe);
	plx_rc_discard(sq->rc, &wqe);
}

/* The entries of the transport continue at the ring's next index. This never happens to a program
 * that posts through plx_engine_qp_post_send() and does not take the queue pair out of RTS
 * meanwhile. */
static PLX_COLD void
refuse(struct engine_sq *sq, const struct plx_wqe *wqe)
{
	discard(sq, wqe);
	plx_count(sq->queues->posts_refused, 1);
	sq->base++;
}

/* Move WQEs from the ring into the transport, which copies each one and judges the copy.
 * Returns: how many */
static inline TWICE uint32_t
fetch(struct engine_sq *sq, bool ud)
{
	struct plx_ring_span span;
	uint32_t n = peek(sq, POSTS_BURST, &span);

	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct plx_wqe *wqe = plx_ring_at(&span, sizeof(*wqe), i);
		const uint8_t *spill =
			sq->spill + (size_t)((span.index + i) & sq->ring.mask) * sq->spill_bytes;
		enum plx_status status = ud ? plx_ud_post_send(sq->ud, wqe, spill)
					    : plx_rc_post_send(sq->rc, wqe, spill);

		if (plx_unlikely(status != PLX_OK))
			refuse(sq, wqe);
	}
	plx_ring_untrusted_release(&sq->ring, n);
	return n;
}

uint32_t
engine_sq_fetch(struct engine_sq *sq)
{
	return fetch(sq, false);
}

uint32_t
engine_sq_fetch_datagrams(struct engine_sq *sq)
{
	return fetch(sq, true);
}

void
engine_sq_drop(struct engine_sq *sq, uint32_t end)
{
	struct plx_ring_span span;
	uint32_t n;

	/* Without a ring, indexes continue, so that slots are not counted twice. */
	if (sq->ring.shared != NULL) {
		n = peek(sq, UINT32_MAX, &span);
		for (uint32_t i = 0; i < n; i++)
			discard(sq, plx_ring_at(&span, sizeof(struct plx_wqe), i));
		if (n > 0)
			plx_ring_untrusted_release(&sq->ring, n);
		end = sq->ring.index;
	}
	sq->base = end - plx_rc_sq_consumed(sq->rc);
}
