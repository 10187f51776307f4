/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns receive queues as their applications see them: what is posted, in which order, how soon it
 * is posted again. It never judges a message; it knows which receive the next one must use. Start
 * with receiver_fill() and receiver_pop().
 */
#include <stdlib.h>

#include "sim.h"

static struct receiver *
receiver_create(struct station *station, struct side *owner, const struct receiver_shape *shape)
{
	struct receiver *rx = calloc(1, sizeof(*rx));
	const struct world *world = station->world;
	struct plx_prng prng =
		draw_stream(world->seed, 'r', owner ? owner->id : 1000 + station->index,
			    owner ? owner->pair->life : 0);

	PLX_ASSERT(rx != NULL);
	rx->station = station;
	rx->owner = owner;
	rx->prng = prng;
	rx->depth = shape->depth;
	rx->sges = shape->sges;
	rx->slot_bytes = shape->slot_bytes;
	rx->delay_ns = world->config.recv_delay_ns;
	rx->stride = rx->slot_bytes + 16 * PLX_SGE_MAX;
	rx->slot_count = shape->depth + (owner ? 0 : SIM_SIDES_MAX);
	rx->slots = calloc(rx->slot_count, sizeof(*rx->slots));
	rx->fifo = calloc(rx->slot_count, sizeof(*rx->fifo));
	rx->free = calloc(rx->slot_count, sizeof(*rx->free));
	PLX_ASSERT(rx->slots != NULL && rx->fifo != NULL && rx->free != NULL);
	for (uint32_t i = 0; i < rx->slot_count; i++)
		rx->free[rx->free_count++] = i;
	rx->slab = slab_create(station, &rx->prng, rx->slot_count * rx->stride);
	rx->grant = (struct grant){.domain = owner ? owner->domain : 0,
				   .access = {PLX_ACCESS_LOCAL_WRITE},
				   .slab = rx->slab,
				   .va = rx->slab->va,
				   .length = rx->slab->size};
	grant_register(station, &rx->grant);
	return rx;
}

/* A queue's depth and the size of its entries, within a budget of memory. */
struct receiver_shape
receiver_draw(const struct world *world, struct plx_prng *prng)
{
	struct receiver_shape shape;
	uint32_t most;

	shape.slot_bytes = world->config.message_max;
	if (draw_percent(prng, 30))
		shape.slot_bytes = (uint32_t)draw_log(prng, 256, world->config.message_max);
	most = (1 << 19) / shape.slot_bytes;
	shape.depth = (uint32_t)draw_log(prng, 1, most < 64 ? most : 64);
	if (world->config.tiny)
		shape.depth = 1;
	shape.sges = (uint32_t)draw_log(prng, 1, PLX_SGE_MAX);
	return shape;
}

struct receiver *
receiver_create_shared(struct station *station, struct plx_prng *prng)
{
	struct receiver_shape shape = receiver_draw(station->world, prng);
	struct receiver *rx;
	size_t bytes;

	shape.slot_bytes = station->world->config.message_max;
	rx = receiver_create(station, NULL, &shape);
	bytes = plx_rq_bytes(shape.depth, shape.sges);
	PLX_ASSERT(posix_memalign(&rx->srq_memory, PLX_CACHE_LINE, bytes) == 0);
	memset(rx->srq_memory, 0xa5, bytes);
	rx->srq = plx_rq_init(rx->srq_memory, shape.depth, shape.sges, true);
	return rx;
}

struct receiver *
receiver_create_own(struct side *side, const struct receiver_shape *shape)
{
	return receiver_create(side->station, side, shape);
}

void
receiver_destroy(struct receiver *rx)
{
	grant_retire(rx->station, &rx->grant);
	slab_destroy(rx->station, rx->slab);
	free(rx->srq_memory);
	free(rx->slots);
	free(rx->fifo);
	free(rx->free);
	free(rx);
}

/* Forget everything, as a queue in RESET does. */
void
receiver_forget(struct receiver *rx)
{
	rx->fifo_count = rx->free_count = 0;
	for (uint32_t i = 0; i < rx->slot_count; i++) {
		rx->slots[i].state = RECEIVE_FREE;
		rx->free[rx->free_count++] = i;
	}
}

/* Cut a slot's memory into SGEs with gaps between them that nothing may touch. */
static void
cut(struct receiver *rx, struct receive *slot, uint32_t index)
{
	uint32_t sges = (uint32_t)draw_between(&rx->prng, 1, rx->sges);
	uint64_t va = rx->slab->va + (uint64_t)index * rx->stride;
	uint32_t left = rx->slot_bytes;
	struct plx_key key = rx->grant.key;

	if (draw_percent(&rx->prng, 60))
		sges = 1;
	slot->bad_key = !rx->station->world->calm &&
			plx_prng_chance(&rx->prng, rx->station->world->config.misuse_ppm / 8);
	if (slot->bad_key)
		key.v ^= 1u << plx_prng_below(&rx->prng, 32);
	slot->sges = (uint8_t)sges;
	slot->capacity = rx->slot_bytes;
	for (uint32_t i = 0; i < sges; i++) {
		uint32_t length = left;

		if (i + 1 < sges)
			length = (uint32_t)plx_prng_below(&rx->prng, left + 1);
		slot->sge[i] = (struct plx_sge){.va = va, .length = length, .key = key};
		left -= length;
		va += length + 16;
	}
}

static uint32_t
queue_room(const struct receiver *rx)
{
	uint32_t used = rx->fifo_count;

	if (rx->owner != NULL && rx->owner->open != NULL)
		used++; /* its place is free once its completion is delivered */
	return rx->depth - used;
}

static bool
post_one(struct receiver *rx)
{
	struct world *world = rx->station->world;
	enum plx_status status;
	struct receive *slot;
	uint32_t index;

	if (queue_room(rx) == 0 || rx->free_count == 0)
		return false;
	index = rx->free[--rx->free_count];
	slot = &rx->slots[index];
	PLX_ASSERT(slot->state == RECEIVE_FREE);
	slot->wr_id = world->next_wr_id++;
	cut(rx, slot, index);
	if (rx->owner != NULL)
		status = plx_rc_post_recv(ep_qp_core(rx->owner->qp), slot->wr_id, slot->sge,
					  slot->sges);
	else
		status = plx_rq_post(rx->srq, slot->wr_id, slot->sge, slot->sges);
	sim_must(world, status == PLX_OK, "I8",
		 "a receive is refused though the queue has room: %s", plx_status_text(status));
	if (rx->owner != NULL)
		script_receive(rx->owner, slot->capacity);
	slot->state = RECEIVE_POSTED;
	rx->fifo[(rx->fifo_head + rx->fifo_count++) % rx->slot_count] = index;
	trace_add(world, TRACE_RECV, rx->owner, slot->wr_id, slot->capacity, slot->sges,
		  rx->fifo_count);
	return true;
}

/* Post up to `count` receives. */
void
receiver_fill(struct receiver *rx, uint32_t count)
{
	if (rx->owner != NULL && rx->owner->state != SIDE_UP)
		return;
	while (count-- > 0 && post_one(rx))
		;
}

/* A pending event outlives the receiver, so it is noted in what lives on. */
static bool *
pending(const struct receiver *rx)
{
	return rx->owner ? &rx->owner->recv_pending : &rx->station->srq_pending;
}

/* The application will post receives again, now or later. */
void
receiver_refill_later(struct receiver *rx)
{
	struct world *world = rx->station->world;

	if (*pending(rx) || queue_room(rx) == 0)
		return;
	if (rx->delay_ns == 0) {
		receiver_fill(rx, rx->depth);
		return;
	}
	*pending(rx) = true;
	heap_push(world, world->now + 1 + draw_exponential(&rx->prng, rx->delay_ns),
		  rx->owner ? SIM_EV_RECV : SIM_EV_RECV_SHARED,
		  rx->owner ? (void *)rx->owner : (void *)rx->station);
}

void
receiver_on_event(struct receiver *rx)
{
	receiver_fill(rx, (uint32_t)draw_between(&rx->prng, 1, rx->depth));
	if (rx->srq != NULL && rx->armed == 0 && draw_percent(&rx->prng, 50)) {
		rx->armed = (uint32_t)draw_between(&rx->prng, 0, rx->fifo_count);
		plx_rq_arm(rx->srq, rx->armed);
	}
	if (rx->owner == NULL || rx->owner->state == SIDE_UP)
		receiver_refill_later(rx);
}

struct receive *
receiver_first(const struct receiver *rx)
{
	return rx->fifo_count > 0 ? &rx->slots[rx->fifo[rx->fifo_head]] : NULL;
}

/* A message uses the oldest receive. */
struct receive *
receiver_pop(struct receiver *rx)
{
	struct receive *slot = receiver_first(rx);

	PLX_ASSERT(slot != NULL && slot->state == RECEIVE_POSTED);
	slot->state = RECEIVE_TAKEN;
	rx->fifo_head = (rx->fifo_head + 1) % rx->slot_count;
	rx->fifo_count--;
	return slot;
}

/* The completion is delivered: the memory is the application's again. */
void
receiver_return(struct receiver *rx, struct receive *slot)
{
	PLX_ASSERT(slot->state == RECEIVE_TAKEN);
	slot->state = RECEIVE_FREE;
	rx->free[rx->free_count++] = (uint32_t)(slot - rx->slots);
}
