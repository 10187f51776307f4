/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of neighbour resolution: a program of frames, questions, answers and time for one
 * port, and a second port that hears what the first one says.
 * It never needs a valid input, and knows no right answer but the properties checked below.
 * Start with LLVMFuzzerTestOneInput(); step() has the language.
 */
#include "plx_net.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ADDRESSES = 16, /* that are asked for */
	FRAME_MAX = 200,
};

#define CHECK(property)                   \
	do {                              \
		if (!(property))          \
			__builtin_trap(); \
	} while (0)

struct world {
	struct plx_net *us, *peer;
	void *memory[2];
	uint64_t now;
	unsigned in_use; /* number of an address that is READY for us; 0, which is our own: none */
	const uint8_t *data;
	size_t left;
};

static uint8_t
take(struct world *world)
{
	if (!world->left)
		return 0;
	world->left--;
	return *world->data++;
}

static struct plx_net *
open_port(void **memory, uint8_t number, uint32_t neighbours)
{
	struct plx_net_config config = {
		.mac = {2, 0, 0, 0, 0, number},
		.addresses = 2,
		.address = {{{4, {10, 0, 0, number}}, 24}, {{6, {0xfd, [15] = number}}, 64}},
		.neighbours = neighbours,
	};
	size_t bytes = plx_net_bytes(&config);

	CHECK(bytes && posix_memalign(memory, PLX_CACHE_LINE, bytes) == 0);
	return plx_net_init(*memory, &config);
}

/* One of a few, in turn of IPv4 and IPv6; 1 is us, 2 the peer, whom nobody else is. */
static struct plx_ip
address(unsigned number)
{
	uint8_t low = (uint8_t)(number / 2 + 1);

	return number % 2 ? (struct plx_ip){6, {0xfd, [15] = low}}
			  : (struct plx_ip){4, {10, 0, 0, low}};
}

static enum plx_net_verdict
hear(struct plx_net *net, const uint8_t *bytes, size_t len, uint64_t now)
{
	/* A block of exactly this size: reading one byte past it is seen. */
	uint8_t *exact = malloc(len ? len : 1);
	enum plx_net_verdict verdict;

	CHECK(exact);
	if (len)
		memcpy(exact, bytes, len);
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

/* A frame changes what we say of an address in use to nothing but another MAC. */
static void
step_frame(struct world *world)
{
	struct plx_net_counters before = *plx_net_counters(world->us);
	uint64_t wake_ns = plx_net_wake_ns(world->us);
	uint8_t frame[FRAME_MAX];
	size_t len = take(world) % FRAME_MAX;
	enum plx_net_verdict verdict;

	for (size_t i = 0; i < len; i++)
		frame[i] = take(world);
	verdict = hear(world->us, frame, len, world->now);
	CHECK(verdict == PLX_NET_TAKEN || verdict == PLX_NET_NOT_OURS ||
	      verdict == PLX_NET_MALFORMED);
	if (verdict != PLX_NET_TAKEN) {
		before.malformed += verdict == PLX_NET_MALFORMED;
		CHECK(memcmp(&before, plx_net_counters(world->us), sizeof before) == 0);
		CHECK(plx_net_wake_ns(world->us) == wake_ns);
	}
	if (world->in_use)
		CHECK(resolve(world->us, world->in_use, world->now) == PLX_NET_READY);
}

/* What one of us sends is well formed: for the other it is news, a question, or for somebody else.
 */
static void
step_transmit(struct world *world, struct plx_net *from, struct plx_net *to, bool lost)
{
	uint8_t *out = malloc(PLX_NET_FRAME_MAX);
	uint64_t wake_ns = plx_net_wake_ns(from);
	size_t len;

	CHECK(out);
	len = plx_net_transmit(from, world->now, out);
	CHECK((len != 0) == (wake_ns == 0));
	CHECK(len == 0 || (len >= 60 && len <= PLX_NET_FRAME_MAX));
	if (len)
		CHECK(hear(from, out, len, world->now) == PLX_NET_NOT_OURS);
	if (len && !lost)
		CHECK(hear(to, out, len, world->now) != PLX_NET_MALFORMED);
	free(out);
}

/* Whom we know is in use from here on, and stays so until time passes or another is wanted. */
static void
step_resolve(struct world *world)
{
	unsigned number = take(world) % ADDRESSES;

	world->in_use = 0;
	if (resolve(world->us, number, world->now) == PLX_NET_READY)
		world->in_use = number;
}

/* Every nanosecond may be the one; what is due then is done by a bounded number of ticks. */
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
	uint8_t code = take(world);

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
		step_transmit(world, world->peer, world->us, code & 0x80);
		break;
	case 5:
		step_resolve(world);
		break;
	case 6:
		(void)resolve(world->peer, take(world) % ADDRESSES, world->now);
		break;
	default:
		step_time(world, take(world));
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {.now = PLX_SEC, .data = data, .left = size};
	uint32_t neighbours = 1 + take(&world) % 32u;

	world.us = open_port(&world.memory[0], 1, neighbours);
	world.peer = open_port(&world.memory[1], 2, 8);
	while (world.left)
		step(&world);
	free(world.memory[0]);
	free(world.memory[1]);
	return 0;
}
