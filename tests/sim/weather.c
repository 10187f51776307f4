/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the faults of links: loss in bursts, duplicates, reordering, flipped bits, marks,
 * strays, links that go down or clog, clocks that step. It never touches a QP.
 * Start with weather_fault().
 */
#include <stdlib.h>

#include "sim.h"

/* What becomes of the next packet of a side; `lost` when its link is down or full. */
struct fault
weather_fault(struct side *side, struct plx_prng *prng, bool lost)
{
	struct world *world = side->pair->world;
	const struct sim_weather *weather = &world->config.weather;
	struct fault fault = {.drop = lost};
	uint64_t gap;

	if (world->calm)
		return fault;
	if (side->burst_left > 0) {
		side->burst_left--;
		fault.drop = true;
	} else if (weather->loss_ppm && plx_prng_chance(prng, weather->loss_ppm)) {
		side->burst_left = (uint32_t)plx_prng_below(prng, weather->burst_max);
		fault.drop = true;
	}
	gap = 300 + 1024 * weather->ns_per_kib / 1024;
	if (weather->dup_ppm && plx_prng_chance(prng, weather->dup_ppm)) {
		fault.dup = true;
		fault.dup_ns = plx_prng_below(prng, 16 * gap);
		if (draw_percent(prng, 10))
			fault.dup_ns += plx_prng_below(prng, 2 * weather->latency_ns + 100000);
	}
	if (world->config.simple)
		fault.dup_ns = 0; /* a script can only express two in a row */
	if (weather->reorder_ppm && plx_prng_chance(prng, weather->reorder_ppm))
		fault.late_ns = gap * draw_between(prng, 1, weather->reorder_depth);
	if (weather->flip_ppm && plx_prng_chance(prng, weather->flip_ppm))
		fault.flips = (uint8_t)draw_between(prng, 1, 3);
	if (weather->evil_ppm && plx_prng_chance(prng, weather->evil_ppm)) {
		fault.flips = (uint8_t)draw_between(prng, 1, 3);
		fault.evil = true;
	}
	fault.ce = weather->ce_ppm && plx_prng_chance(prng, weather->ce_ppm);
	fault.bits = plx_prng_next(prng);
	if (weather->stray_ppm && plx_prng_chance(prng, weather->stray_ppm))
		weather_stray(side);
	if (fault.drop || fault.dup || fault.late_ns || fault.flips || fault.ce) {
		if (!mask_keeps(world, SIM_KEY_FAULT, side->id, side->packets_sent - 1))
			return (struct fault){.drop = false};
	}
	return fault;
}

static size_t
ip_at(const struct packet *packet)
{
	(void)packet;
	return PLX_ETH_BYTES; /* our stations use no VLAN */
}

static size_t
bth_at(const struct packet *packet)
{
	bool v4 = packet->bytes[PLX_ETH_BYTES] >> 4 == 4;

	return PLX_ETH_BYTES + (v4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES) + PLX_UDP_BYTES;
}

/* Is this byte one that routers may change, and that therefore nothing protects? */
static bool
unprotected(const struct packet *packet, size_t at)
{
	size_t bth = bth_at(packet);
	bool v4 = bth == PLX_ETH_BYTES + PLX_IPV4_BYTES + PLX_UDP_BYTES;
	size_t ip = at - PLX_ETH_BYTES;

	if (at == bth + 4)
		return true; /* FECN, BECN, resv6 */
	if (at >= bth - 2 && at < bth)
		return true; /* UDP checksum */
	if (v4)
		return ip == 1 || ip == 8 || ip == 10 || ip == 11;
	return ip < 4 || ip == 7;
}

/* The ICRC of a frame without a tag is right again. */
void
weather_seal(uint8_t *bytes, size_t len)
{
	uint8_t *ip = bytes + PLX_ETH_BYTES;
	size_t covered = len - PLX_ETH_BYTES - PLX_ICRC_BYTES;

	plx_icrc_store(plx_icrc_isal(ip, covered), ip + covered);
}

/* Flip bits from the IP header on; Ethernet's own checksum is not ours to test. */
void
weather_flip(struct world *world, struct packet *packet, const struct fault *fault)
{
	size_t first = fault->evil ? bth_at(packet) : ip_at(packet);
	size_t last = fault->evil ? packet->len - PLX_ICRC_BYTES : packet->len;
	struct plx_prng prng;
	uint64_t start;
	size_t third;
	bool bad = false;

	plx_prng_init(&prng, fault->bits);
	/* in different thirds, so that no bit is flipped back */
	third = (last - first + 2) / 3;
	start = plx_prng_below(&prng, 3);
	for (uint32_t i = 0; i < fault->flips; i++) {
		size_t at = first + (i + start) % 3 * third + plx_prng_below(&prng, third);

		if (at >= last)
			at = last - 1;

		bad |= !unprotected(packet, at);
		packet->bytes[at] ^= (uint8_t)(1 << plx_prng_below(&prng, 8));
	}
	world->stats.corruptions++;
	packet->damage = bad ? DAMAGE_BAD : DAMAGE_HARMLESS;
	if (packet->from != NULL)
		packet->from->pair->lost++;
	if (fault->evil) {
		weather_seal(packet->bytes, packet->len);
		packet->damage = DAMAGE_EVIL;
	}
}

/* A switch marks congestion: two bits, and in IPv4 the header checksum that covers them. */
void
weather_mark(struct packet *packet)
{
	uint8_t *ip = packet->bytes + PLX_ETH_BYTES;
	uint32_t sum = 0;

	if (packet->damage != DAMAGE_NONE)
		return;
	if (ip[0] >> 4 != 4) {
		ip[1] |= PLX_ECN_CE << 4;
		return;
	}
	ip[1] |= PLX_ECN_CE;
	ip[10] = ip[11] = 0;
	for (int i = 0; i < PLX_IPV4_BYTES; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* ---- strays ---- */

/* A packet from nowhere at one of the pair's QPs: never one that a QP may take. */
void
weather_stray(struct side *side)
{
	struct world *world = side->pair->world;
	struct plx_prng prng = draw_stream(world->seed, 'n', 0, world->strays);
	struct plx_pkt pkt = {.pkey = PLX_PKEY_DEFAULT, .dest_qpn = side->qpn, .migreq = true};
	uint64_t kind = plx_prng_below(&prng, 5);
	uint8_t payload[64] = {0};
	uint8_t *bytes;
	size_t len;

	if (!mask_keeps(world, SIM_KEY_STRAY, 0, world->strays++) || side->qp == NULL)
		return;
	pkt.psn = plx_psn((uint32_t)side->epsn);
	pkt.opcode = (uint8_t)draw_between(&prng, PLX_RC_SEND_FIRST, PLX_RC_FETCH_ADD);
	pkt.pad = (uint8_t)plx_prng_below(&prng, 4);
	if (kind == 0)
		pkt.dest_qpn = PLX_PSN_MASK;
	else if (kind == 1)
		pkt.pkey = 0x7ffe & (uint16_t)plx_prng_next(&prng);
	else if (kind == 2)
		pkt.opcode = PLX_UC_SEND_ONLY;
	bytes = ep_forge(side->qp, &pkt, payload, (uint32_t)plx_prng_below(&prng, 65), &len);
	if (kind == 3) /* an opcode that does not exist, and an ICRC that is right */
		bytes[PLX_ETH_BYTES +
		      (world->config.ip_version == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES) +
		      PLX_UDP_BYTES] = (uint8_t)draw_between(&prng, 0x82, 0xff);
	if (kind == 4)
		bytes[PLX_ETH_BYTES + (world->config.ip_version == 4 ? 15 : 23)] ^= 0x55;
	if (kind >= 3) {
		struct packet fix = {.bytes = bytes, .len = (uint32_t)len};

		weather_mark(&fix); /* also sets the header checksum right */
		weather_seal(bytes, len);
	}
	link_stray(world, side->station, bytes, len);
}

/* ---- disturbances ---- */

/* The first of each kind. */
void
weather_begin(struct world *world)
{
	if (world->config.weather.down_ns)
		heap_push(world, world->config.weather.down_every_ns / 2, SIM_EV_DOWN, NULL);
	if (world->config.weather.clog_ns)
		heap_push(world, world->config.weather.clog_every_ns / 2, SIM_EV_CLOG, NULL);
	if (world->config.weather.step_ns)
		heap_push(world, world->config.weather.step_every_ns / 2, SIM_EV_STEP, NULL);
}

static void
take_down(struct world *world, struct plx_prng *prng)
{
	uint64_t until = world->now + world->config.weather.down_ns;
	uint32_t who = (uint32_t)plx_prng_below(prng, world->config.stations);
	uint64_t way = plx_prng_below(prng, 3); /* both, in, out */

	for (uint32_t i = 0; i < world->config.stations; i++) {
		for (uint32_t j = 0; j < world->config.stations; j++) {
			bool hit = (i == who && way != 1) || (j == who && way != 2);

			if (world->config.weather.down_all || hit)
				world->link[i][j].down_until = until;
		}
	}
}

static void
clog_one(struct world *world, struct plx_prng *prng)
{
	uint32_t from = (uint32_t)plx_prng_below(prng, world->config.stations);
	uint32_t to = (uint32_t)plx_prng_below(prng, world->config.stations);

	world->link[from][to].clog_until =
		world->now + draw_exponential(prng, world->config.weather.clog_ns);
}

static bool
disturbs(struct world *world, struct plx_prng *prng)
{
	bool keep;

	*prng = draw_stream(world->seed, 'w', 0, world->disturbs);
	keep = mask_keeps(world, SIM_KEY_DISTURB, 0, world->disturbs++);
	trace_add(world, TRACE_DISTURB, NULL, keep, 0, 0, 0);
	return keep;
}

void
weather_on_down(struct world *world)
{
	const struct sim_weather *weather = &world->config.weather;
	struct plx_prng prng;

	if (world->calm)
		return;
	if (disturbs(world, &prng))
		take_down(world, &prng);
	heap_push(world, world->now + weather->down_ns + weather->down_every_ns, SIM_EV_DOWN, NULL);
}

void
weather_on_clog(struct world *world)
{
	struct plx_prng prng;

	if (world->calm)
		return;
	if (disturbs(world, &prng))
		clog_one(world, &prng);
	heap_push(world,
		  world->now + 1 + draw_exponential(&prng, world->config.weather.clog_every_ns),
		  SIM_EV_CLOG, NULL);
}

void
weather_on_step(struct world *world)
{
	struct plx_prng prng = draw_stream(world->seed, 'j', 0, world->steps);
	uint32_t who = (uint32_t)plx_prng_below(&prng, world->config.stations);

	if (world->calm)
		return;
	if (mask_keeps(world, SIM_KEY_STEP, 0, world->steps++)) {
		clock_step(&world->station[who],
			   draw_between(&prng, 1, world->config.weather.step_ns));
		for (uint32_t i = 0; i < SIM_SIDES_MAX; i++) {
			struct side *side = &world->pair[i / 2].side[i % 2];

			if (side->station == &world->station[who] && side->state != SIDE_DOWN)
				side_schedule(side);
		}
	}
	heap_push(world,
		  world->now + 1 + draw_exponential(&prng, world->config.weather.step_every_ns),
		  SIM_EV_STEP, NULL);
}

/* When the safety phase is over, links that are down or clogged are not any more. */
void
weather_clears(struct world *world)
{
	for (uint32_t i = 0; i < SIM_STATIONS_MAX; i++) {
		for (uint32_t j = 0; j < SIM_STATIONS_MAX; j++)
			world->link[i][j].down_until = 0;
	}
}
