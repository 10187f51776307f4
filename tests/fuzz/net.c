/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of neighbour resolution and echo: the input is a program of frames, lookups, pings,
 * replies and time for one port, and a second port that receives what the first one sends. No input
 * has to be valid; the only expectations are the properties checked below. Start with
 * LLVMFuzzerTestOneInput(); step() has the language.
 */
#include "plx_net.h"
#include "block.h"
#include "check.h"
#include "input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ADDRESSES = 20, /* that are looked up */
	NEAR = 16,      /* of these in our network; the others are behind the peer */
	FRAME_MAX = 200,
	PINGS = 4, /* whose numbers are remembered */
};

struct world {
	struct plx_net *us, *peer;
	void *memory[2];
	uint64_t now;
	unsigned in_use; /* number of an address that is READY for us; 0, which is our own: none */
	uint32_t ping[PINGS];
	uint64_t pinged_ns[PINGS];
	struct input in;
};

static struct plx_net *
open_port(void **memory, uint8_t number, uint32_t neighbours, uint8_t how)
{
	struct plx_net_config config = {
		.mac = {2, 0, 0, 0, 0, number},
		.addresses = 2,
		.address = {{{4, {10, 0, 0, number}}, 24}, {{6, {0xfd, [15] = number}}, 64}},
		.routes = 2,
		.route = {{{4, {0}}, 0, {4, {10, 0, 0, (uint8_t)(3 - number)}}},
			  {{6, {0x20}}, 8, {6, {0xfd, [15] = (uint8_t)(3 - number)}}}},
		.neighbours = neighbours,
		.frame_max = how & 0x80 ? PLX_NET_FRAME_MIN : 0,
		.announce = how >> 5 & 3,
	};
	size_t bytes = plx_net_bytes(&config);

	*memory = test_block(bytes);
	return plx_net_init(*memory, &config);
}

/* One of a few, in turn of IPv4 and IPv6, the last behind a gateway; 1 is us, 2 the peer, whom
 * nobody else is. */
static struct plx_ip
address(unsigned number)
{
	uint8_t low = (uint8_t)(number / 2 + 1);

	if (number >= NEAR)
		return number % 2 ? (struct plx_ip){6, {0x20, [15] = low}}
				  : (struct plx_ip){4, {192, 0, 2, low}};
	return number % 2 ? (struct plx_ip){6, {0xfd, [15] = low}}
			  : (struct plx_ip){4, {10, 0, 0, low}};
}

/* A block of exactly this size: reading or writing one byte past it is seen. */
static uint8_t *
exact_block(const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);

	CHECK(exact);
	if (bytes && len)
		memcpy(exact, bytes, len);
	return exact;
}

static enum plx_net_verdict
hear(struct plx_net *net, const uint8_t *bytes, size_t len, uint64_t now)
{
	uint8_t *exact = exact_block(bytes, len);
	enum plx_net_verdict verdict;

	verdict = plx_net_on_frame(net, exact, len, now);
	free(exact);
	return verdict;
}

static enum plx_net_verdict
resolve(struct plx_net *net, unsigned number, uint64_t now)
{
	struct plx_ip ip = address(number), source;
	bool own = plx_net_is_own(net, &ip);
	uint8_t mac[6] = {1};
	enum plx_net_verdict verdict = plx_net_resolve(net, &ip, now, mac);

	CHECK(verdict == PLX_NET_READY || (!own && verdict == PLX_NET_WAIT) ||
	      (!own && verdict == PLX_NET_NO_ANSWER));
	CHECK((verdict == PLX_NET_READY) == !(mac[0] & 1));
	CHECK(plx_net_source(net, &ip, &source) && source.version == ip.version);
	return verdict;
}

/* A frame can change what we send about an address in use only to another MAC. */
static enum plx_net_verdict
hear_anything(struct world *world, const uint8_t *frame, size_t len)
{
	struct plx_net_counters before = *plx_net_counters(world->us);
	uint64_t wake_ns = plx_net_wake_ns(world->us);
	enum plx_net_verdict verdict = hear(world->us, frame, len, world->now);

	CHECK(verdict >= PLX_NET_NOT_OURS && verdict <= PLX_NET_TAKEN);
	if (verdict != PLX_NET_TAKEN) {
		before.malformed += verdict == PLX_NET_MALFORMED;
		CHECK(memcmp(&before, plx_net_counters(world->us), sizeof before) == 0);
		CHECK(plx_net_wake_ns(world->us) == wake_ns);
	}
	if (world->in_use)
		CHECK(resolve(world->us, world->in_use, world->now) == PLX_NET_READY);
	return verdict;
}

static void
step_frame(struct world *world)
{
	uint8_t frame[FRAME_MAX];
	size_t len = input_byte(&world->in) % FRAME_MAX;

	for (size_t i = 0; i < len; i++)
		frame[i] = input_byte(&world->in);
	(void)hear_anything(world, frame, len);
}

/* What one of us sends next, in a block that is to be freed. */
static uint8_t *
next_frame(struct world *world, struct plx_net *from, size_t *len)
{
	uint32_t max = plx_net_frame_max(from);
	uint8_t *out = exact_block(NULL, max);
	uint64_t wake_ns = plx_net_wake_ns(from);

	*len = plx_net_transmit(from, world->now, out);
	CHECK((*len != 0) == (wake_ns == 0));
	CHECK(*len == 0 || (*len >= 60 && *len <= max));
	if (*len)
		CHECK(hear(from, out, *len, world->now) ==
		      (out[0] & 1 ? PLX_NET_NOT_OURS : PLX_NET_OTHER_STATION));
	return out;
}

/* What one of us sends is well formed: for the other it is news, a question, or for somebody else.
 */
static void
step_transmit(struct world *world, struct plx_net *from, struct plx_net *to, bool lost)
{
	size_t len;
	uint8_t *out = next_frame(world, from, &len);

	if (len && !lost)
		CHECK(hear(to, out, len, world->now) != PLX_NET_MALFORMED);
	free(out);
}

/* A bit of the peer's packet is flipped: then it is no longer a valid echo, whatever else it is. */
static void
step_damaged(struct world *world)
{
	size_t len, at;
	uint8_t *out = next_frame(world, world->peer, &len);
	struct plx_net_counters before = *plx_net_counters(world->us), after;

	at = (size_t)input_byte(&world->in) << 8 | input_byte(&world->in);
	if (len) {
		bool covered;

		at %= len * 8;
		out[at / 8] ^= (uint8_t)(1 << at % 8);
		/* Ethernet has no checksum here, the header of IPv6 none at all. */
		covered = at / 8 >= (out[12] == 0x86 ? 22u : 14u) &&
			  at / 8 < 14u + (out[12] == 0x86 ? 40u + out[19] : out[17]);
		(void)hear_anything(world, out, len);
		after = *plx_net_counters(world->us);
		if (covered)
			CHECK(after.echoes_seen == before.echoes_seen &&
			      after.pings_answered == before.pings_answered);
	}
	free(out);
}

/* ---- pings ---- */

static void
step_ping(struct world *world, struct plx_net *net)
{
	unsigned slot = input_byte(&world->in) % PINGS, number = input_byte(&world->in) % ADDRESSES;
	struct plx_ip ip = address(number);
	uint32_t bytes = input_byte(&world->in) * 7u, given = 0;
	uint32_t headers = ip.version == 4 ? 42 : 62;
	uint64_t timeout = input_byte(&world->in) % 2 ? PLX_SEC : 40 * PLX_SEC;
	enum plx_net_verdict verdict = plx_net_ping(net, &ip, bytes, world->now, timeout, &given);

	world->in_use = 0;
	CHECK((verdict == PLX_NET_TOO_LONG) == (headers + bytes > plx_net_frame_max(net)));
	CHECK(verdict == PLX_NET_TOO_LONG || verdict == PLX_NET_BUSY || verdict == PLX_NET_WAIT);
	CHECK((verdict == PLX_NET_WAIT) == (given != 0));
	if (net == world->us && given != 0) {
		world->ping[slot] = given;
		world->pinged_ns[slot] = world->now;
	}
}

static void
step_ping_result(struct world *world)
{
	unsigned slot = input_byte(&world->in) % PINGS;
	uint64_t rtt_ns = PLX_NEVER;
	enum plx_net_verdict verdict =
		plx_net_ping_result(world->us, world->ping[slot], world->now, &rtt_ns);

	world->in_use = 0;
	CHECK(verdict == PLX_NET_WAIT || verdict == PLX_NET_READY || verdict == PLX_NET_NO_ANSWER ||
	      verdict == PLX_NET_LOST);
	CHECK((verdict == PLX_NET_READY) == (rtt_ns != PLX_NEVER));
	if (verdict == PLX_NET_READY)
		CHECK(rtt_ns <= world->now - world->pinged_ns[slot]);
	if (verdict == PLX_NET_WAIT)
		CHECK(world->now - world->pinged_ns[slot] < 40 * PLX_SEC);
	else
		CHECK(plx_net_ping_result(world->us, world->ping[slot], world->now, &rtt_ns) ==
		      PLX_NET_LOST);
}

/* ---- steps ---- */

/* Whom we know is in use from here on, and stays so until time passes or another is wanted. */
static void
step_resolve(struct world *world)
{
	unsigned number = input_byte(&world->in) % ADDRESSES;

	world->in_use = 0;
	if (resolve(world->us, number, world->now) == PLX_NET_READY)
		world->in_use = number;
}

/* Any nanosecond may be the deadline; a bounded number of ticks completes what is due. */
static void
step_time(struct world *world, uint8_t how)
{
	static const uint64_t steps[] = {0, 1, PLX_MSEC, PLX_SEC - 1, PLX_SEC, 30 * PLX_SEC};

	world->in_use = 0;
	world->now += steps[how % PLX_COUNT_OF(steps)];
	plx_net_on_tick(world->us, world->now);
	plx_net_on_tick(world->peer, world->now);
	CHECK(plx_net_wake_ns(world->us) == 0 || plx_net_wake_ns(world->us) > world->now);
}

static void
step(struct world *world)
{
	uint8_t code = input_byte(&world->in);
	bool echo = code & 0x40;

	switch (code % 8) {
	case 0:
	case 1:
		step_frame(world);
		break;
	case 2:
	case 3:
		step_transmit(world, world->us, world->peer, code & 0x80);
		break;
	case 4:
		if (echo)
			step_damaged(world);
		else
			step_transmit(world, world->peer, world->us, code & 0x80);
		break;
	case 5:
		if (echo)
			step_ping(world, world->us);
		else
			step_resolve(world);
		break;
	case 6:
		if (echo)
			step_ping(world, world->peer);
		else
			(void)resolve(world->peer, input_byte(&world->in) % ADDRESSES, world->now);
		break;
	default:
		if (echo)
			step_ping_result(world);
		else
			step_time(world, input_byte(&world->in));
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {.now = PLX_SEC, .in = {data, size}};
	uint8_t how = input_byte(&world.in);

	world.us = open_port(&world.memory[0], 1, 1 + how % 32u, how);
	world.peer = open_port(&world.memory[1], 2, 8, 0);
	while (world.in.left)
		step(&world);
	free(world.memory[0]);
	free(world.memory[1]);
	return 0;
}
