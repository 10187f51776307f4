/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Executes what a QP decided: memory actions on this process's memory, and frames from EMIT
 * actions. Engine, simulator and tests share it. It never decides anything.
 * Start with plx_action_apply_memory() and plx_emit_write().
 */
#include "plx_action.h"

/*
 * In-order placement: a consumer may spin on the last byte of a WRITE (docs/nd2.md, Order). So all
 * other bytes are stored first, and the last one with release order (pairs with the consumer's
 * acquire).
 */
void
plx_place_bytes(const struct plx_place *place)
{
	if (place->bytes == 0)
		return;
	memcpy(place->dst, place->src, place->bytes - 1);
	__atomic_store_n(place->dst + place->bytes - 1, place->src[place->bytes - 1],
			 __ATOMIC_RELEASE);
}

/* Atomic with respect to other engines and to the application's own atomics on the same word. */
static void
touch_atomic(const struct plx_atomic *atomic)
{
	uint64_t *target = (uint64_t *)(void *)atomic->target;
	uint64_t found = atomic->compare;

	if (atomic->cmp_swap)
		__atomic_compare_exchange_n(target, &found, atomic->swap_add, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	else
		found = __atomic_fetch_add(target, atomic->swap_add, __ATOMIC_ACQ_REL);
	*atomic->original = found;
}

void
plx_action_apply_memory(const struct plx_action *action)
{
	if (action->kind == PLX_ACT_PLACE)
		plx_place_bytes(&action->place);
	else if (action->kind == PLX_ACT_ATOMIC)
		touch_atomic(&action->atomic);
}

static size_t
roce_bytes(const struct plx_emit *emit)
{
	return plx_opcodes[emit->pkt.opcode].header_bytes + emit->pkt.payload_bytes +
	       emit->pkt.pad + PLX_ICRC_BYTES;
}

size_t
plx_emit_bytes(const struct plx_frame_template *tmpl, const struct plx_emit *emit)
{
	return tmpl->header_bytes + roce_bytes(emit);
}

size_t
plx_emit_write(const struct plx_frame_template *tmpl, const struct plx_actions *actions,
	       const struct plx_emit *emit, plx_icrc_fn icrc, uint8_t *out)
{
	uint8_t headers[PLX_FRAME_HEADER_MAX + PLX_PKT_HEADER_MAX];
	size_t at = plx_frame_template_write(tmpl, roce_bytes(emit), headers);

	/* Both encoders may store up to their maximum; the frame may be shorter. */
	at += plx_pkt_encode(&emit->pkt, headers + at);
	memcpy(out, headers, at);
	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &actions->iov[emit->iov_first + i];

		memcpy(out + at, iov->base, iov->bytes);
		at += iov->bytes;
	}
	memset(out + at, 0, emit->pkt.pad);
	at += emit->pkt.pad;
	plx_icrc_store(icrc(out + tmpl->ip_at, at - tmpl->ip_at), out + at);
	return at + PLX_ICRC_BYTES;
}
