/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive queues, owned by a QP or shared by several QPs of one thread.
 * Keys are not checked here but when a packet is placed. Start with plx_rq_post().
 */
#include "qp.h"

struct rq_slot {
	uint64_t wr_id;
	uint32_t bytes;
	uint32_t sges;
	struct plx_sge sge[];
};

static uint32_t
ring_size(uint32_t depth)
{
	uint32_t size = 1;

	while (size < depth)
		size *= 2;
	return size;
}

static size_t
header_bytes(void)
{
	return (sizeof(struct plx_rq) + PLX_CACHE_LINE - 1) / PLX_CACHE_LINE * PLX_CACHE_LINE;
}

static size_t
slot_bytes(uint32_t sges)
{
	return sizeof(struct rq_slot) + sges * sizeof(struct plx_sge);
}

static struct rq_slot *
slot_at(const struct plx_rq *rq, uint32_t index)
{
	return (struct rq_slot *)(void *)(rq->entries + (size_t)(index & rq->mask) * rq->stride);
}

size_t
plx_rq_bytes(uint32_t depth, uint32_t sges)
{
	if (depth < 1 || depth > PLX_QUEUE_DEPTH_MAX || sges > PLX_SGE_MAX)
		return 0;
	return header_bytes() + ring_size(depth) * slot_bytes(sges);
}

struct plx_rq *
plx_rq_init(void *memory, uint32_t depth, uint32_t sges, bool shared)
{
	struct plx_rq *rq = memory;

	PLX_ASSERT(plx_rq_bytes(depth, sges) > 0);
	*rq = (struct plx_rq){
		.depth = depth,
		.mask = ring_size(depth) - 1,
		.stride = (uint32_t)slot_bytes(sges),
		.sges = sges,
		.shared = shared,
		.entries = (uint8_t *)memory + header_bytes(),
	};
	return rq;
}

enum plx_status
plx_rq_post(struct plx_rq *rq, uint64_t wr_id, const struct plx_sge *sge, uint32_t sges)
{
	struct rq_slot *slot;
	uint64_t bytes = 0;

	if (plx_rq_room(rq) == 0)
		return PLX_FULL;
	if (sges > rq->sges)
		return PLX_TOO_MANY_SGES;
	for (uint32_t i = 0; i < sges; i++)
		bytes += sge[i].length;
	if (bytes > PLX_MESSAGE_MAX)
		return PLX_TOO_LONG;
	slot = slot_at(rq, rq->tail++);
	slot->wr_id = wr_id;
	slot->bytes = (uint32_t)bytes;
	slot->sges = sges;
	for (uint32_t i = 0; i < sges; i++)
		slot->sge[i] = sge[i];
	return PLX_OK;
}

void
plx_rq_arm(struct plx_rq *rq, uint32_t threshold)
{
	rq->threshold = threshold;
}

uint32_t
plx_rq_count(const struct plx_rq *rq)
{
	return rq->tail - rq->head;
}

uint32_t
plx_rq_room(const struct plx_rq *rq)
{
	return rq->depth - (rq->tail - rq->done);
}

void
rq_peek(const struct plx_rq *rq, struct recv_entry *out)
{
	const struct rq_slot *slot = slot_at(rq, rq->head);

	out->wr_id = slot->wr_id;
	out->bytes = slot->bytes;
	out->sges = slot->sges;
	if (slot->sges > 0)
		memcpy(out->sge, slot->sge, slot->sges * sizeof(out->sge[0]));
}

/* Does the next entry consist of one buffer of at least `bytes`? */
bool
rq_next_is_plain(const struct plx_rq *rq, uint32_t bytes, uint64_t *wr_id,
		 const struct plx_sge **sge)
{
	const struct rq_slot *slot = slot_at(rq, rq->head);

	if (rq->head == rq->tail || slot->sges != 1 || slot->bytes < bytes)
		return false;
	*wr_id = slot->wr_id;
	*sge = slot->sge;
	return true;
}

void
rq_pop(struct plx_rq *rq)
{
	rq->head++;
	if (rq->shared)
		rq->done = rq->head;
}

void
rq_reset(struct plx_rq *rq)
{
	rq->head = rq->done = rq->tail;
}
