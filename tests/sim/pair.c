/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the lives of a pair of QPs: what they agree on, how they are connected, and how a pair is
 * torn down once one of them is dead. It never judges what they do in between.
 * Start with pair_birth() and pair_close().
 */
#include <stdlib.h>

#include "sim.h"

void
pair_assign(struct world *world, uint32_t index)
{
	struct pair *pair = &world->pair[index];
	uint32_t a, b;

	pair->world = world;
	pair->index = index;
	pair->prng = draw_stream(world->seed, 'p', index, 0);
	a = (uint32_t)plx_prng_below(&pair->prng, world->config.stations);
	b = (uint32_t)plx_prng_below(&pair->prng, world->config.stations - 1);
	if (b >= a)
		b++;
	for (uint32_t s = 0; s < 2; s++) {
		struct side *side = &pair->side[s];

		side->pair = pair;
		side->peer = &pair->side[1 - s];
		side->id = 2 * index + s;
		side->station = &world->station[s ? b : a];
		side->wake_at = PLX_NEVER;
	}
}

/* ---- what the two ends agree on ---- */

static uint32_t
draw_mtu(struct plx_prng *prng)
{
	static const uint16_t mtus[] = {256, 256, 256, 256, 256, 256, 256, 512, 512, 1024};

	if (draw_percent(prng, 6))
		return draw_percent(prng, 50) ? 2048 : 4096;
	return mtus[plx_prng_below(prng, PLX_COUNT_OF(mtus))];
}

/* How long an answer may take when nothing is wrong: an upper bound, and not a tight one. */
static uint64_t
round_trip_ns(const struct world *world, uint32_t mtu, uint32_t window)
{
	const struct sim_weather *weather = &world->config.weather;
	uint64_t frame_ns = (mtu + 100) * weather->ns_per_kib / 1024;
	uint64_t packets = window + 2 * world->config.message_max / mtu + 8;
	uint64_t late = weather->reorder_depth * ((frame_ns > 300 ? frame_ns : 300) + 1);

	return 2 * (weather->latency_ns + weather->jitter_ns + late) +
	       packets * (2 * frame_ns * world->config.pairs + world->config.tx_delay_ns +
			  (mtu + 100) * SIM_CC_SLOWEST_NS / 1024) +
	       4 * world->config.tick_late_ns;
}

static uint64_t
draw_timeout(struct world *world, struct plx_prng *prng, uint64_t round_trip)
{
	uint64_t nominal = 2 * (world->config.weather.latency_ns + world->config.weather.jitter_ns +
				world->config.tx_delay_ns);

	if (world->config.generous || world->config.simple)
		return round_trip * draw_between(prng, 8, 32);
	if (draw_percent(prng, 15))
		return nominal * draw_between(prng, 1, 3) / 2 +
		       1; /* too short: resends for nothing */
	if (draw_percent(prng, 50))
		return nominal * draw_between(prng, 2, 16);
	return round_trip * draw_between(prng, 2, 8);
}

static struct plx_psn
draw_psn(const struct world *world, struct plx_prng *prng)
{
	/* within 2^10 of a wrap: mostly before it, and mostly close, so that short lives pass it */
	uint32_t near = (uint32_t)draw_log(prng, 1, 1 << 10);

	if (world->config.wrap || draw_percent(prng, 50))
		return plx_psn(draw_percent(prng, 90) ? 0 - near : near - 1);
	return plx_psn((uint32_t)plx_prng_next(prng));
}

static uint32_t
draw_qpn(const struct side *side, struct plx_prng *prng)
{
	const struct world *world = side->pair->world;
	uint32_t qpn = side->qpn;
	bool taken = true;

	while (taken) {
		qpn = (uint32_t)draw_between(prng, 2, PLX_PSN_MASK - 1);
		taken = qpn == side->qpn;
		for (uint32_t i = 0; i < SIM_SIDES_MAX; i++)
			taken |= world->pair[i / 2].side[i % 2].qpn == qpn;
	}
	return qpn;
}

static void
draw_caps(struct side *side, struct plx_prng *prng)
{
	const struct sim_config *config = &side->pair->world->config;
	struct plx_rc_caps *caps = &side->caps;

	caps->sq_depth = (uint32_t)draw_log(prng, 1, draw_percent(prng, 2) ? 512 : 64);
	caps->sq_sges = draw_percent(prng, 2) ? 0 : (uint32_t)draw_log(prng, 1, PLX_SGE_MAX);
	caps->inline_bytes = draw_percent(prng, 50) ? 0 : (uint32_t)draw_log(prng, 1, 1024);
	caps->responder_resources = (uint32_t)draw_log(prng, 1, 16);
	if (draw_percent(prng, 3))
		caps->responder_resources = 0;
	if (config->tiny) {
		caps->sq_depth = (uint32_t)draw_between(prng, 1, 2);
		caps->responder_resources =
			caps->responder_resources > 1 ? 1 : caps->responder_resources;
	}
}

static uint8_t
draw_retries(struct plx_prng *prng)
{
	uint64_t kind = plx_prng_below(prng, 20);

	if (kind < 14)
		return PLX_RETRY_MAX;
	return kind == 14 ? 0 : (uint8_t)draw_between(prng, 1, 6);
}

/* The half of an agreement that is one side's. The MTU is common. */
static void
draw_attr(struct side *side, struct plx_prng *prng, uint32_t mtu)
{
	struct world *world = side->pair->world;
	struct plx_rc_attr *attr = &side->attr;
	uint32_t peer_res = side->peer->caps.responder_resources;
	bool clean = world->config.profile == SIM_PROFILE_clean;

	*attr = (struct plx_rc_attr){.mtu = mtu, .pkey = PLX_PKEY_DEFAULT};
	attr->enabled.bits =
		PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	if (draw_percent(prng, 10))
		attr->enabled.bits &= (uint8_t)plx_prng_next(prng);
	attr->rnr_timer = (uint8_t)draw_between(prng, 1, 14);
	if (draw_percent(prng, 4))
		attr->rnr_timer = (uint8_t)plx_prng_below(prng, 32);
	attr->sq_psn = draw_psn(world, prng);
	attr->retry_max = clean ? PLX_RETRY_MAX : draw_retries(prng);
	attr->rnr_retry_max = clean ? PLX_RNR_RETRY_FOREVER : draw_retries(prng);
	attr->initiator_depth = (uint8_t)(peer_res ? draw_between(prng, 1, peer_res) : 0);
	if (plx_prng_chance(prng, world->config.misuse_ppm * 4) && !world->calm)
		attr->initiator_depth = (uint8_t)(attr->initiator_depth + 1);
	if (world->config.simple) /* how often is a matter of time */
		attr->retry_max = attr->rnr_retry_max = 7;
	attr->window_packets = (uint32_t)draw_log(prng, 1, 256);
	attr->ack_interval = (uint32_t)draw_log(prng, 1, 64);
	attr->read_chunk_packets = (uint32_t)draw_log(prng, 1, 64);
	if (world->config.tiny)
		attr->window_packets = (uint32_t)draw_between(prng, 1, 2);
	attr->ack_timeout_ns =
		draw_timeout(world, prng, round_trip_ns(world, mtu, attr->window_packets));
}

/* ---- memory that a side offers its peer ---- */

static void
make_offers(struct side *side, struct plx_prng *prng)
{
	struct station *station = side->station;
	uint32_t piece = 4 * side->attr.mtu;
	struct plx_access remote = {PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE};

	side->offers_slab = slab_create(station, prng, piece * (SIM_OFFERS_MAX + 1));
	side->offers_parent = (struct grant){.domain = side->domain,
					     .access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND},
					     .slab = side->offers_slab,
					     .va = side->offers_slab->va,
					     .length = side->offers_slab->size};
	grant_register(station, &side->offers_parent);
	for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++) {
		struct grant *offer = &side->offers[i];

		*offer = (struct grant){.domain = side->domain,
					.access = remote,
					.slab = side->offers_slab,
					.va = side->offers_slab->va + i * piece,
					.length = piece};
		if (i % 2) {
			offer->kind = GRANT_FAST;
			offer->access.bits |= PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_INVALIDATE;
			grant_register(station, offer);
			offer->offered = true;
		} else {
			grant_create_window(station, offer, &side->offers_parent);
			if (draw_percent(prng, 50))
				grant_bind(station, offer, side->qpn);
			offer->offered = offer->state == GRANT_ALIVE;
		}
	}
	side->landing = slab_create(station, prng, side->pair->world->config.message_max + 64);
	side->landing_grant = (struct grant){.domain = side->domain,
					     .access = {PLX_ACCESS_LOCAL_WRITE},
					     .slab = side->landing,
					     .va = side->landing->va,
					     .length = side->landing->size};
	grant_register(station, &side->landing_grant);
}

void
drop_offers(struct side *side)
{
	struct station *station = side->station;

	for (uint32_t i = 0; i < SIM_OFFERS_MAX; i++)
		grant_retire(station, &side->offers[i]);
	for (uint32_t i = 0; i < side->victim_count; i++)
		grant_retire(station, &side->victims[i]);
	side->victim_count = 0;
	grant_retire(station, &side->offers_parent);
	grant_retire(station, &side->landing_grant);
	slab_destroy(station, side->offers_slab);
	slab_destroy(station, side->landing);
}

/* ---- birth ---- */

static void
create_qp(struct side *side, struct plx_prng *prng)
{
	struct receiver_shape shape = receiver_draw(side->pair->world, prng);
	struct station *station = side->station;
	struct ep_qp_config config = {.rq_depth = shape.depth, .rq_sges = shape.sges, .user = side};

	side->domain = (uint8_t)plx_prng_below(prng, SIM_DOMAINS);
	side->qpn = draw_qpn(side, prng);
	if (station->srq != NULL && draw_percent(prng, 50)) {
		side->domain = 0;
		side->receiver = station->srq;
		config.srq = station->srq->srq;
	} else {
		side->own_receiver = receiver_create_own(side, &shape);
		side->receiver = side->own_receiver;
	}
	side->receive_bytes = side->receiver->slot_bytes;
	if (draw_percent(prng, 30) && !side->pair->world->config.simple)
		side->cc = sim_cc_create(prng, &config);
	config.qpn = side->qpn;
	config.domain = station->domain[side->domain];
	config.caps = side->caps;
	side->qp = ep_qp_create(station->ep, &config);
}

static void
reset_model(struct side *side)
{
	uint32_t room = 1;

	while (room < 2 * side->caps.sq_depth + SIM_OP_HISTORY)
		room *= 2;
	if (room > side->op_room_alloc) {
		free(side->ops);
		side->ops = malloc(room * sizeof(*side->ops));
		PLX_ASSERT(side->ops != NULL);
		side->op_room_alloc = room;
	}
	side->op_room = room;
	side->op_posted = side->op_done = side->tx_op = side->exec_op = 0;
	side->psn_first = side->attr.sq_psn.v + (UINT64_C(1) << 32);
	side->psn_post = side->psn_una = side->psn_sent = side->psn_high = side->psn_first;
	side->epsn = side->peer->attr.sq_psn.v + (UINT64_C(1) << 32);
	side->psn_replied = side->psn_delivered = side->epsn;
	side->unasked = 0;
	recovery_begin(side);
	side->due = NULL;
	side->rnrs_sent = 0;
	side->cause_seen = side->rnr_owed = side->killed = side->silenced = side->waiting_room =
		false;
	side->draining = false;
	side->cause = PLX_WC_SUCCESS;
	side->msn = side->exec_offset = 0;
	side->open = NULL;
	side->psn_ahead = side->nak_epsn = 0;
	memset(side->ahead, 0, sizeof(side->ahead));
	side->naks = 0;
	side->reply_tokens = side->response_tokens = side->cnp_tokens = 0;
	side->cnp_from = 0;
	side->fatal = PLX_VERDICT_NONE;
	side->failed_events = side->flushed_events = side->posts_after_death = 0;
	side->max_arrived = 0;
}

void
pair_birth(struct pair *pair)
{
	struct world *world = pair->world;
	struct plx_prng prng = draw_stream(world->seed, 'l', pair->index, ++pair->life);
	struct plx_prng terms = draw_stream(world->seed, 'a', pair->index, pair->life);
	bool selective = draw_percent(&terms, 60);
	uint32_t mtu = draw_mtu(&prng);

	pair->closing = false;
	pair->alive = true;
	for (int s = 0; s < 2; s++) {
		if (pair->side[s].qp == NULL)
			draw_caps(&pair->side[s], &prng);
	}
	for (int s = 0; s < 2; s++) {
		struct side *side = &pair->side[s];

		side->prng = draw_stream(world->seed, 'd', side->id, pair->life);
		draw_attr(side, &prng, mtu);
		side->attr.selective = selective;
		if (side->qp == NULL)
			create_qp(side, &prng);
	}
	for (int s = 0; s < 2; s++) {
		struct side *side = &pair->side[s];

		side->attr.rq_psn = side->peer->attr.sq_psn;
		make_offers(side, &prng);
		reset_model(side);
		ep_qp_connect(side->qp, &side->peer->station->config, side->peer->qpn, &side->attr);
		side->counted = *plx_rc_counters(ep_qp_core(side->qp));
		side->state = SIDE_UP;
		script_birth(side);
		trace_add(world, TRACE_LIFE, side, pair->life, side->qpn, side->attr.mtu,
			  side->attr.sq_psn.v);
	}
	for (int s = 0; s < 2; s++) {
		struct side *side = &pair->side[s];

		receiver_fill(side->receiver, world->config.recv_delay_ns == 0
						      ? side->receiver->depth
						      : (uint32_t)draw_between(&side->prng, 0, 8));
		receiver_refill_later(side->receiver);
		workload_wake(side, world->now + 1 + plx_prng_below(&side->prng, 1000));
	}
	world->stats.lives++;
}
