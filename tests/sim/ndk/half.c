/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the lives of channels: objects are made, used and closed, in any order; and when both halves
 * have closed everything, they begin anew. It never posts and never connects. Start with
 * half_on_turn().
 */
#include <stdlib.h>

#include "drivers.h"

/* ---- making ---- */

void
half_add(struct half *half, struct thing *thing)
{
	PLX_ASSERT(half->thing_count < PLX_COUNT_OF(half->things));
	half->things[half->thing_count++] = thing;
}

static void
must_be_made(struct thing *thing, NTSTATUS status)
{
	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N8",
		 "an object of kind %u is not made: 0x%08x", thing->kind, (unsigned int)status);
}

static void
qp_made(struct thing *thing, NTSTATUS status)
{
	must_be_made(thing, status);
	thing->half->state = HALF_READY;
}

static void
make_qp(struct half *half)
{
	struct thing *thing = thing_new(half->driver, half, THING_QP, sizeof(*thing));
	NDK_PD *pd = (NDK_PD *)(void *)half->pd->object;
	NDK_CQ *first = (NDK_CQ *)(void *)half->cq[0]->thing.object;
	NDK_CQ *second = (NDK_CQ *)(void *)half->cq[1]->thing.object;
	PVOID name = (PVOID)(uintptr_t)half_name(half);
	struct ask *ask = ask_begin(thing, NULL, qp_made);
	NDK_QP *out = NULL;
	NTSTATUS status;

	half->qp = thing;
	half_add(half, thing);
	thing_holds(thing, half->pd);
	thing_holds(thing, &half->cq[0]->thing);
	thing_holds(thing, &half->cq[1]->thing);
	thing_holds(thing, half->srq);
	if (half->srq != NULL)
		status = pd->Dispatch->NdkCreateQpWithSrq(
			pd, second, first, (NDK_SRQ *)(void *)half->srq->object, name, half->depth,
			POST_SGES, half->inline_bytes, ask_on_created, ask, &out);
	else
		status = pd->Dispatch->NdkCreateQp(pd, second, first, name, half->receive_depth,
						   half->depth, POST_SGES, POST_SGES,
						   half->inline_bytes, ask_on_created, ask, &out);
	ask_created(ask, status, &out);
}

/* One of what the queue pair is made of. */
void
half_made(struct thing *thing, NTSTATUS status)
{
	struct half *half = thing->half;

	must_be_made(thing, status);
	if (thing->kind == THING_CQ)
		queue_begin(plx_list_entry(thing, struct queue, thing));
	if (--half->missing == 0)
		make_qp(half);
}

static struct thing *
make_pd(struct half *half)
{
	struct thing *thing = thing_new(half->driver, half, THING_PD, sizeof(*thing));
	NDK_ADAPTER *adapter = half->driver->adapter;
	struct ask *ask = ask_begin(thing, NULL, must_be_made);
	NDK_PD *out = NULL;

	ask_created(ask, adapter->Dispatch->NdkCreatePd(adapter, ask_on_created, ask, &out), &out);
	half_add(half, thing);
	return thing;
}

static VOID
on_below(PVOID context, NTSTATUS status)
{
	struct thing *thing = context;

	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N8",
		 "an SRQ is called back with 0x%08x", (unsigned int)status);
	thing_callback(thing);
	thing_callback_ends(thing);
}

static struct thing *
make_srq(struct half *half)
{
	struct thing *thing = thing_new(half->driver, half, THING_SRQ, sizeof(*thing));
	NDK_PD *pd = (NDK_PD *)(void *)half->pd->object;
	ULONG threshold = (ULONG)plx_prng_below(&half->prng, half->receive_depth);
	struct ask *ask = ask_begin(thing, NULL, half_made);
	NDK_SRQ *out = NULL;

	thing_holds(thing, half->pd);
	half_add(half, thing);
	half->srq = thing;
	half->missing++;
	ask_created(ask,
		    pd->Dispatch->NdkCreateSrq(pd, half->receive_depth, POST_SGES, threshold,
					       on_below, thing, NULL, ask_on_created, ask, &out),
		    &out);
	return thing;
}

static struct thing *
make_mr(struct half *half, BOOLEAN fast)
{
	struct thing *thing = thing_new(half->driver, half, THING_MR, sizeof(*thing));
	NDK_PD *pd = (NDK_PD *)(void *)half->pd->object;
	struct ask *ask = ask_begin(thing, NULL, must_be_made);
	NDK_MR *out = NULL;

	thing_holds(thing, half->pd);
	half_add(half, thing);
	ask_created(ask, pd->Dispatch->NdkCreateMr(pd, fast, ask_on_created, ask, &out), &out);
	if (!fast)
		return thing;
	ask = ask_begin(thing, NULL, must_be_made);
	ask_returned(ask, out->Dispatch->NdkInitializeFastRegisterMr(
				  out, DRIVERS_CELLS * DRIVERS_CELL / PAGE_SIZE, TRUE, ask_on_done,
				  ask));
	return thing;
}

static struct thing *
make_mw(struct half *half)
{
	struct thing *thing = thing_new(half->driver, half, THING_MW, sizeof(*thing));
	NDK_PD *pd = (NDK_PD *)(void *)half->pd->object;
	struct ask *ask = ask_begin(thing, NULL, must_be_made);
	NDK_MW *out = NULL;

	thing_holds(thing, half->pd);
	half_add(half, thing);
	ask_created(ask, pd->Dispatch->NdkCreateMw(pd, ask_on_created, ask, &out), &out);
	return thing;
}

static void
local_registered(struct thing *thing, NTSTATUS status)
{
	NDK_MR *mr = (NDK_MR *)(void *)thing->object;

	must_be_made(thing, status);
	thing->half->local_token = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
	half_made(thing, status);
}

static void
make_local(struct half *half)
{
	NDK_PD *pd = (NDK_PD *)(void *)half->pd->object;
	struct ask *ask;
	NDK_MR *mr;
	MDL *mdl;

	if (draw_percent(&half->prng, 30)) {
		pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(pd, &half->local_token);
		return;
	}
	half->local = make_mr(half, FALSE);
	half->missing++;
	mr = (NDK_MR *)(void *)half->local->object;
	mdl = token_mdl(half->cells, DRIVERS_CELLS * DRIVERS_CELL);
	ask = ask_begin(half->local, NULL, local_registered);
	ask_returned(ask,
		     mr->Dispatch->NdkRegisterMr(mr, mdl, DRIVERS_CELLS * DRIVERS_CELL,
						 NDK_MR_FLAG_ALLOW_LOCAL_WRITE, ask_on_done, ask));
	IoFreeMdl(mdl);
}

static void
make_regions(struct half *half)
{
	for (uint32_t i = 0; i < DRIVERS_REGIONS; i++) {
		struct region *region = &half->region[i];

		region_reset(half, i);
		region->fast = draw_percent(&half->prng, 65);
		region->mr = make_mr(half, region->fast);
		if (region->fast)
			continue;
		region_register(half, i);
		if (draw_percent(&half->prng, 60))
			region->mw = make_mw(half);
	}
	half->sink = draw_percent(&half->prng, 60) ? make_mr(half, TRUE) : NULL;
}

static void
make_queues(struct half *half)
{
	struct driver *driver = half->driver;
	ULONG least = half->depth + half->receive_depth;

	for (uint32_t i = 0; i < 2; i++) {
		if (i == 1 && draw_percent(&half->prng, 60)) {
			half->cq[1] = half->cq[0];
			continue;
		}
		if (driver->cq != NULL && draw_percent(&half->prng, 30)) {
			half->cq[i] = driver->cq;
			continue;
		}
		half->missing++;
		half->cq[i] = queue_make(driver, half, least, half_made);
		half_add(half, &half->cq[i]->thing);
	}
}

/* Everything but the queue pair, which is made when the last of the others is. */
static void
make(struct half *half)
{
	struct plx_prng *prng = &half->prng;

	*prng = draw_stream(half->driver->drivers->fleet.world.seed, 'L', half_name(half) & 0xffff,
			    half->channel->life);
	half->state = HALF_MAKING;
	half->depth = (ULONG)draw_log(prng, 2, 40);
	half->receive_depth = (ULONG)draw_log(prng, 1, 40);
	half->inline_bytes = draw_percent(prng, 50) ? (ULONG)draw_between(prng, 0, 200) : 0;
	half->missing = 1;
	half->pd = half->driver->pd != NULL && draw_percent(prng, 50) ? half->driver->pd
								      : make_pd(half);
	make_queues(half);
	if (draw_percent(prng, 30))
		make_srq(half);
	make_local(half);
	make_regions(half);
	if (--half->missing == 0)
		make_qp(half);
	half_turn_by(half, half->driver->drivers->fleet.world.now + 1);
}

/* ---- ending ---- */

void
half_end(struct half *half)
{
	if (half->state == HALF_ENDING || half->state == HALF_NONE)
		return;
	half->state = HALF_ENDING;
	half->channel->ending = true;
	half->patient = draw_percent(&half->prng, 50);
	half->how = (uint8_t)plx_prng_below(&half->prng, 4);
}

static bool
is_over(const struct thing *thing)
{
	return thing == NULL || thing->life == LIFE_ENDED || thing->life == LIFE_NONE;
}

/* A queue that is closed before its queue pair takes results along. */
static void
close_one(struct half *half, struct thing *thing)
{
	if (thing->kind == THING_CQ && is_over(half->qp))
		queue_drain(plx_list_entry(thing, struct queue, thing));
	else if (thing->kind == THING_CQ)
		half->lossy = true;
	if (thing->kind == THING_MR || thing->kind == THING_MW)
		tokens_of(thing, token_dooms);
	thing_close(thing);
}

/* One of the things that are open, drawn. @param first only what uses queues */
static bool
close_some(struct half *half, bool first)
{
	uint32_t at = (uint32_t)plx_prng_below(&half->prng, half->thing_count);

	for (uint32_t i = 0; i < half->thing_count; i++) {
		struct thing *thing = half->things[(at + i) % half->thing_count];

		if (thing->life != LIFE_OPEN ||
		    (first && thing->kind != THING_QP && thing->kind != THING_CONNECTOR))
			continue;
		close_one(half, thing);
		return true;
	}
	return false;
}

static bool
all_over(const struct half *half)
{
	for (uint32_t i = 0; i < half->thing_count; i++)
		if (!is_over(half->things[i]))
			return false;
	return true;
}

/* Every request has had its result, unless a queue was closed too early. */
static void
settle(struct half *half)
{
	for (uint32_t i = 0; i < 2; i++)
		if (half->cq[i] == half->driver->cq && half->driver->cq != NULL)
			queue_drain(half->driver->cq);
	judge_end(half);
	for (uint32_t r = 0; r < DRIVERS_REGIONS; r++)
		region_check(half, r);
	half->state = HALF_NONE;
	half->driver->drivers->fleet.world.stats.lives++;
}

static void
rebirth(struct channel *channel)
{
	struct world *world = &channel->drivers->fleet.world;

	if (channel->half[0].state == HALF_NONE && channel->half[1].state == HALF_NONE &&
	    !channel->drivers->over)
		heap_push(world, world->now + draw_log(&channel->prng, 10, PLX_MSEC), SIM_EV_BIRTH,
			  channel);
}

static void
end_step(struct half *half)
{
	bool closes = true;

	if (half->how > 0 && half->qp->life == LIFE_OPEN) {
		join_leave(half);
		half->how = 0;
		return;
	}
	for (uint64_t i = draw_log(&half->prng, 1, 40); i > 0 && closes; i--)
		closes = close_some(half, half->patient &&
						  !(is_over(half->qp) && is_over(half->connector)));
	if (!all_over(half))
		return;
	settle(half);
	rebirth(half->channel);
}

/* ---- turns ---- */

void
half_turn_by(struct half *half, uint64_t at)
{
	half->turn_at = at;
	heap_push(&half->channel->drivers->fleet.world, at, SIM_EV_APP, half);
}

/* Deferred requests have to leave by themselves, and have not failed. */
static bool
is_waiting(const struct half *half)
{
	return half->waits && half->sent.count > 0 && !half->broken && half->state == HALF_UP;
}

/* Not while one half waits so: then it would be flushed. */
static bool
wants_to_end(struct half *half)
{
	if (half->broken)
		return draw_percent(&half->prng, 30);
	return (half->channel->ending
			? draw_percent(&half->prng, 20)
			: plx_prng_below(&half->prng, half->channel->drivers->life_posts) == 0) &&
	       !is_waiting(half) && !is_waiting(half->peer);
}

static void
act(struct half *half)
{
	struct plx_prng *prng = &half->prng;

	if (half->channel->ending && half->state != HALF_MAKING && half->state != HALF_UP &&
	    draw_percent(prng, 20))
		half_end(half);
	switch ((enum half_state)half->state) {
	case HALF_READY:
	case HALF_JOINING:
		post_receives(half);
		join_step(half);
		break;
	case HALF_UP:
		post_receives(half);
		for (uint64_t n = draw_between(prng, 0, 4); n > 0 && half->state == HALF_UP; n--)
			post_something(half);
		if (wants_to_end(half))
			half_end(half);
		break;
	case HALF_ENDING:
		end_step(half);
		break;
	case HALF_MAKING:
	case HALF_NONE:
		break;
	}
}

void
half_on_turn(struct half *half, uint64_t at)
{
	struct driver *driver = half->driver;
	struct world *world = world_of(driver);
	uint32_t progress;

	if (at != half->turn_at)
		return;
	half->turn_at = PLX_NEVER;
	if (driver->in_step) {
		half_turn_by(half, world->now + 1 + plx_prng_below(&half->prng, DRIVERS_RETRY));
		return;
	}
	driver_enter(driver);
	driver->in_step = true;
	progress = half->sent.count + half->thing_count + world->drawn + (uint32_t)world->done +
		   half->state;
	act(half);
	progress -= half->sent.count + half->thing_count + world->drawn + (uint32_t)world->done +
		    half->state;
	half->idle = progress != 0 ? 0 : half->idle + 1;
	driver->in_step = false;
	driver_turn_soon(driver);
	host_poll_by(driver->host, world->now + plx_prng_below(&half->prng, driver->host->gap_ns));
	if (half->state != HALF_NONE)
		half_turn_by(half,
			     world->now + 1 +
				     draw_exponential(&half->prng,
						      idle_ns(world->config.think_ns, half->idle)));
}

/* Nothing is left of the life before. */
static void
begin(struct half *half)
{
	const struct half clean = {.channel = half->channel,
				   .peer = half->peer,
				   .driver = half->driver,
				   .index = half->index,
				   .turn_at = PLX_NEVER,
				   .cells = half->cells,
				   .sent = half->sent,
				   .receives = half->receives,
				   .message = half->message,
				   .message_room = half->message_room};
	uint64_t *words[DRIVERS_REGIONS], *shadow[DRIVERS_REGIONS];

	for (uint32_t r = 0; r < DRIVERS_REGIONS; r++) {
		words[r] = half->region[r].words;
		shadow[r] = half->region[r].shadow;
	}
	*half = clean;
	for (uint32_t r = 0; r < DRIVERS_REGIONS; r++)
		half->region[r] = (struct region){.words = words[r], .shadow = shadow[r]};
}

/* Both halves begin, each in a turn of its program. */
void
channel_on_birth(struct channel *channel)
{
	struct world *world = &channel->drivers->fleet.world;

	for (uint32_t i = 0; i < 2; i++) {
		struct driver *driver = channel->half[i].driver;

		if (driver->in_step || channel->drivers->over) {
			if (!channel->drivers->over)
				heap_push(world, world->now + DRIVERS_RETRY, SIM_EV_BIRTH, channel);
			return;
		}
	}
	channel->life++;
	channel->ending = false;
	for (uint32_t i = 0; i < 2; i++) {
		begin(&channel->half[i]);
		driver_enter(channel->half[i].driver);
		channel->half[i].driver->in_step = true;
		make(&channel->half[i]);
		channel->half[i].driver->in_step = false;
		driver_turn_soon(channel->half[i].driver);
	}
}
