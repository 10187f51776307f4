/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the links: serialization, latency, jitter, queues, packets in flight, and the count of all
 * frames. It never decides what goes wrong with a packet (weather.c does).
 * Start with link_send() and link_arrive().
 */
#include <stdlib.h>

#include "sim.h"

static struct packet *
packet_get(struct world *world)
{
	struct packet *packet = world->packets_free;

	if (packet == NULL) {
		packet = malloc(sizeof(*packet));
		PLX_ASSERT(packet != NULL);
	} else {
		world->packets_free = packet->next_free;
	}
	world->frames_made++;
	return packet;
}

/* The frame's bytes go at once, so that whoever kept a pointer into them is found out. */
void
link_release(struct world *world, struct packet *packet)
{
	free(packet->bytes);
	world->frames_freed++;
	packet->next_free = world->packets_free;
	world->packets_free = packet;
}

void
link_free(struct world *world)
{
	while (world->packets_free != NULL) {
		struct packet *packet = world->packets_free;

		world->packets_free = packet->next_free;
		free(packet);
	}
}

static void
launch(struct world *world, struct packet *packet, uint64_t at)
{
	if (packet->from != NULL)
		packet->from->pair->in_flight++;
	heap_push(world, at, SIM_EV_ARRIVE, packet);
}

/* When a frame of `len` bytes that is sent now arrives, if nothing is wrong; NEVER: no room. */
static uint64_t
arrival(struct world *world, struct link *link, struct plx_prng *prng, size_t len)
{
	const struct sim_weather *weather = &world->config.weather;
	uint64_t start = link->free_at > world->now ? link->free_at : world->now;
	uint64_t at;

	if (!world->calm && weather->queue_ns != PLX_NEVER &&
	    start - world->now > weather->queue_ns)
		return PLX_NEVER;
	link->free_at = start + (len + 24) * weather->ns_per_kib / 1024;
	at = link->free_at + weather->latency_ns;
	if (weather->jitter_ns)
		at += plx_prng_below(prng, weather->jitter_ns + 1);
	if (at < link->clog_until)
		at = link->clog_until;
	if (at < link->last_arrival)
		at = link->last_arrival; /* a link keeps order */
	link->last_arrival = at;
	return at;
}

static void
send_copy(struct world *world, const struct packet *packet, uint64_t at)
{
	struct packet *copy = packet_get(world);

	*copy = *packet;
	copy->bytes = malloc(packet->len);
	PLX_ASSERT(copy->bytes != NULL);
	memcpy(copy->bytes, packet->bytes, packet->len);
	launch(world, copy, at);
}

/* Bits are flipped and marks set only in frames with an ICRC. Of other frames Ethernet's checksum
 * detects the damage, and switches mark none. */
static void
spare_others(const uint8_t *bytes, struct fault *fault)
{
	bool v4 = bytes[12] == 0x08 && bytes[13] == 0x00;
	bool v6 = bytes[12] == 0x86 && bytes[13] == 0xdd && bytes[20] != 58;

	if (v4 || v6)
		return;
	fault->drop |= fault->flips > 0;
	fault->flips = 0;
	fault->ce = false;
}

/* A frame leaves a side. `bytes` are the link's from now on. */
void
link_send(struct side *side, uint8_t *bytes, size_t len)
{
	struct world *world = side->pair->world;
	struct link *link = &world->link[side->station->index][side->peer->station->index];
	uint64_t serial = side->packets_sent++;
	struct plx_prng prng = draw_stream(world->seed, 'f', side->id, serial);
	struct packet *packet = packet_get(world);
	struct fault fault;
	uint64_t at;

	*packet = (struct packet){.bytes = bytes,
				  .len = (uint32_t)len,
				  .to = side->peer->station,
				  .from = side,
				  .life = side->pair->life,
				  .serial = serial};
	world->stats.packets++;
	at = arrival(world, link, &prng, len);
	fault = weather_fault(side, &prng, at == PLX_NEVER || world->now < link->down_until);
	spare_others(bytes, &fault);
	if (at == PLX_NEVER) /* left out by the shrinker: the queue had room after all */
		at = world->now + world->config.weather.latency_ns;
	if (fault.flips)
		weather_flip(world, packet, &fault);
	if (fault.ce)
		weather_mark(packet);
	script_packet(side, packet, &fault);
	if (fault.dup) {
		world->stats.duplicates++;
		send_copy(world, packet, at + fault.dup_ns);
	}
	if (fault.drop) {
		trace_add(world, TRACE_FAULT, side, serial, 1, 0, 0);
		world->stats.drops++;
		side->pair->lost++;
		link_release(world, packet);
		return;
	}
	world->late |= fault.late_ns > 0;
	launch(world, packet, at + fault.late_ns);
}

/* A frame that no QP of ours has sent. */
void
link_stray(struct world *world, struct station *to, uint8_t *bytes, size_t len)
{
	struct packet *packet = packet_get(world);

	*packet = (struct packet){
		.bytes = bytes, .len = (uint32_t)len, .to = to, .damage = DAMAGE_STRAY};
	world->stats.strays++;
	launch(world, packet, world->now);
}

static void
count_order(struct world *world, const struct packet *packet)
{
	struct side *to = packet->from->peer;

	if (packet->life != packet->from->pair->life)
		return;
	if (packet->serial < to->max_arrived)
		world->stats.reorders++;
	else
		to->max_arrived = packet->serial;
}

/* It has left the link. */
void
link_landed(struct world *world, struct packet *packet)
{
	if (packet->from != NULL) {
		packet->from->pair->in_flight--;
		count_order(world, packet);
	}
	trace_bytes(world, packet->bytes, packet->len);
}

void
link_arrive(struct world *world, struct packet *packet)
{
	struct side *side;

	link_landed(world, packet);
	world->judging = (struct judging){.packet = packet};
	ep_rx(packet->to->ep, packet->bytes, packet->len, clock_local(packet->to));
	side = world->judging.side;
	if (side != NULL) {
		bool received = judge_done(world);

		side_after_packet(side, received);
	}
	link_release(world, packet);
}
