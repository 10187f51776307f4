/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Send queues as the engine's thread sees them: it moves WQEs from their ring into the transport.
 * It never locks a producer, and so never waits for a poster. Start with engine_sq_fetch().
 */
#include "plx_engine_sq.h"

#define TWICE __attribute__((always_inline)) /* see sq.c */

static bool
uses_spill(const struct plx_wqe *wqe)
{
	return wqe->sges > PLX_WQE_SGES || wqe->inline_bytes > PLX_WQE_INLINE_BYTES;
}

/* Begin to read up to `n` posted WQEs. */
static inline uint32_t
peek(const struct engine_sq *sq, uint32_t n, struct plx_ring_span *span)
{
	return plx_ring_peek_marked(sq->ring, sizeof(struct plx_wqe),
				    offsetof(struct plx_wqe, word), n, span);
}

/* Move WQEs from the ring into the transport, which checks each request again: it must not trust
 * memory that other threads write (sq.c).
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
		const uint8_t *spill = NULL;
		enum plx_status status;

		if (uses_spill(wqe))
			spill = sq->spill + (size_t)((span.index + i) & sq->mask) * sq->spill_bytes;
		status = ud ? plx_ud_post_send(sq->ud, wqe, spill)
			    : plx_rc_post_send(sq->rc, wqe, spill);
		if (plx_unlikely(status != PLX_OK)) {
			/* The transport's entries continue at the ring's next index. This never
			 * happens to a program that posts through plx_engine_qp_post_send() and
			 * does not take the queue pair out of RTS meanwhile. */
			plx_rc_discard(sq->rc, wqe);
			plx_count(sq->queues->posts_refused, 1);
			sq->base++;
		}
	}
	plx_ring_release(sq->ring, n);
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
	if (sq->ring != NULL) {
		while ((n = peek(sq, UINT32_MAX, &span)) > 0) {
			for (uint32_t i = 0; i < n; i++)
				plx_rc_discard(sq->rc,
					       plx_ring_at(&span, sizeof(struct plx_wqe), i));
			plx_ring_release(sq->ring, n);
		}
		end = plx_ring_consumed(sq->ring);
	}
	sq->base = end - plx_rc_sq_consumed(sq->rc);
}
