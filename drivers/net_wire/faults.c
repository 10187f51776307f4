/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bad cable, in three steps. Each packet that arrives may be dropped, marked, corrupted and
 * duplicated. Some wait until later ones have passed. All leave through one queue, when they are
 * due and there is room. Every dropped packet is counted. It never writes to shared memory.
 * Start with faults_on_burst().
 */
#include <math.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "damage.h"
#include "faults.h"
#include "flood.h"

enum {
	/* A packet held back for reordering is released if nothing arrived for this long. */
	OVERTAKE_WAIT_US = 50,
};

/* One kind of fault. Each has a random generator of its own, so that adding a fault does not change
 * which packets the others choose. */
struct dice {
	uint64_t below; /* of 2^64; UINT64_MAX: always, 0: never */
	struct plx_prng prng;
};

/* Waits until `left` more packets have arrived. */
struct waiting {
	struct rte_mbuf *packet;
	uint64_t number;
	uint32_t left;
};

/* In the queue of packets to deliver. */
struct leaving {
	struct rte_mbuf *packet;
	uint64_t due; /* [TSC] never before that of the preceding packet */
};

struct faults {
	struct dice loss, duplicate, corrupt, reorder, mark;
	struct plx_net_wire_counters counters;
	struct flood flood;
	bool floods;
	uint32_t depth;
	bool clocked;           /* some fault depends on time */
	bool straight;          /* each packet yields at most one, in order and without delay */
	uint64_t delay;         /* [TSC] */
	uint64_t mark_wait;     /* [TSC] packets that wait longer for the wire are marked; 0: off */
	double ticks_per_byte;  /* [TSC]; 0: no pacing */
	uint64_t wire_free;     /* [TSC] when the paced wire will have sent everything */
	uint64_t last_arrival;  /* [TSC] */
	uint64_t overtake_wait; /* [TSC] */
	uint64_t number, highest; /* of packets in order of arrival: assigned, delivered */
	uint32_t waiting_count;
	uint32_t head, count; /* of the queue */
	struct waiting
		waiting[PLX_NET_WIRE_DEPTH_MAX + 1]; /* a packet is added before one is removed */
	struct leaving queue[PLX_NET_WIRE_HOLD_MAX];
};

static void
dice_set(struct dice *dice, double probability, uint64_t *seed)
{
	dice->below = probability >= 1 ? UINT64_MAX : (uint64_t)ldexp(probability, 64);
	plx_prng_init(&dice->prng, plx_splitmix64(seed));
}

static inline bool
dice_say(struct dice *dice)
{
	if (dice->below == 0 || dice->below == UINT64_MAX)
		return dice->below != 0;
	return plx_prng_next(&dice->prng) < dice->below;
}

bool
faults_wanted(const struct fault_options *options)
{
	return options->loss > 0 || options->duplicate > 0 || options->corrupt > 0 ||
	       options->reorder > 0 || options->mark > 0 || options->delay_us > 0 ||
	       options->rate_mbps > 0 || options->flood > 0;
}

struct faults *
faults_create(const struct fault_options *options, uint32_t end, uint32_t queue)
{
	struct faults *faults = rte_zmalloc("net_wire", sizeof(*faults), RTE_CACHE_LINE_SIZE);
	uint64_t hz = rte_get_tsc_hz();
	uint64_t seed = options->seed * 2 + end + ((uint64_t)queue << 32);

	if (faults == NULL)
		return NULL;
	dice_set(&faults->loss, options->loss, &seed);
	dice_set(&faults->duplicate, options->duplicate, &seed);
	dice_set(&faults->corrupt, options->corrupt, &seed);
	dice_set(&faults->reorder, options->reorder, &seed);
	dice_set(&faults->mark, options->mark, &seed);
	faults->depth = options->depth;
	faults->delay = hz * options->delay_us / 1000000;
	faults->mark_wait = hz * options->mark_us / 1000000;
	faults->overtake_wait = hz * OVERTAKE_WAIT_US / 1000000;
	if (options->rate_mbps > 0)
		faults->ticks_per_byte = (double)hz * 8 / (options->rate_mbps * 1e6);
	faults->floods = options->flood > 0 && queue == 0;
	if (faults->floods)
		flood_init(&faults->flood, options->flood, plx_splitmix64(&seed));
	faults->clocked = faults->delay > 0 || options->rate_mbps > 0 || options->reorder > 0;
	faults->straight = !faults->clocked && options->duplicate == 0;
	return faults;
}

void
faults_destroy(struct faults *faults)
{
	if (faults == NULL)
		return;
	for (uint32_t i = 0; i < faults->waiting_count; i++)
		rte_pktmbuf_free(faults->waiting[i].packet);
	for (; faults->count > 0; faults->count--)
		rte_pktmbuf_free(faults->queue[faults->head++ % PLX_NET_WIRE_HOLD_MAX].packet);
	rte_free(faults);
}

/* When a packet put onto the wire now arrives. */
static uint64_t
due(struct faults *faults, const struct rte_mbuf *packet, uint64_t now)
{
	uint64_t start = RTE_MAX(faults->wire_free, now);

	if (faults->ticks_per_byte == 0)
		return now + faults->delay;
	faults->wire_free =
		start + (uint64_t)(faults->ticks_per_byte * rte_pktmbuf_pkt_len(packet));
	return faults->wire_free + faults->delay;
}

/* Put a packet into the queue of packets to deliver. */
static void
let_go(struct faults *faults, struct rte_mbuf *packet, uint64_t number, uint64_t now)
{
	uint32_t slot = (faults->head + faults->count) % PLX_NET_WIRE_HOLD_MAX;

	if (faults->count == PLX_NET_WIRE_HOLD_MAX) {
		plx_count(&faults->counters.held_over, 1);
		rte_pktmbuf_free(packet);
		return;
	}
	if (number < faults->highest)
		plx_count(&faults->counters.reordered, 1);
	else
		faults->highest = number;
	faults->queue[slot] = (struct leaving){packet, due(faults, packet, now)};
	faults->count++;
}

/* Count an arrival for the first `before` waiting packets. */
static void
overtake(struct faults *faults, uint32_t before, uint64_t now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < faults->waiting_count; i++) {
		struct waiting *waiting = &faults->waiting[i];

		if (i < before && --waiting->left == 0)
			let_go(faults, waiting->packet, waiting->number, now);
		else
			faults->waiting[kept++] = *waiting;
	}
	faults->waiting_count = kept;
}

/* Deliver the packet or a copy of it, at once or after later ones. At most `depth` packets wait,
 * since each is overtaken by the next `depth`. */
static void
pass(struct faults *faults, struct rte_mbuf *packet, uint64_t now)
{
	uint32_t before = faults->waiting_count;
	uint64_t number = faults->number++;

	if (faults->reorder.below == 0) {
		let_go(faults, packet, number, now);
		return;
	}
	if (dice_say(&faults->reorder)) {
		uint32_t left = 1 + (uint32_t)plx_prng_below(&faults->reorder.prng, faults->depth);

		faults->waiting[faults->waiting_count++] = (struct waiting){packet, number, left};
	} else {
		let_go(faults, packet, number, now);
	}
	overtake(faults, before, now);
}

/* Do packets wait so long that a switch would mark them? */
static bool
is_congested(const struct faults *faults, uint64_t now)
{
	return faults->mark_wait > 0 && faults->wire_free > now + faults->mark_wait;
}

/* Mark and corrupt, in private memory.
 * Returns: the packet, which may be a copy */
static struct rte_mbuf *
damage(struct faults *faults, struct rte_mbuf *packet, uint64_t now)
{
	bool mark = (dice_say(&faults->mark) || is_congested(faults, now)) && packet_is_ect(packet);
	bool corrupt = dice_say(&faults->corrupt) && rte_pktmbuf_pkt_len(packet) > ETHERNET_BYTES;
	struct rte_mbuf *mine = mark || corrupt ? packet_private(packet) : packet;

	if (mine == NULL) {
		plx_count(&faults->counters.no_buffer, (uint64_t)mark + corrupt);
		return packet;
	}
	if (mark) {
		packet_mark(mine);
		plx_count(&faults->counters.marked, 1);
	}
	if (corrupt) {
		uint32_t bits = (rte_pktmbuf_pkt_len(mine) - ETHERNET_BYTES) * 8;

		packet_flip(mine, ETHERNET_BYTES * 8 +
					  (uint32_t)plx_prng_below(&faults->corrupt.prng, bits));
		plx_count(&faults->counters.corrupted, 1);
	}
	return mine;
}

static bool
lose(struct faults *faults, struct rte_mbuf *packet)
{
	if (plx_likely(!dice_say(&faults->loss)))
		return false;
	plx_count(&faults->counters.lost, 1);
	rte_pktmbuf_free(packet);
	return true;
}

static void
arrive(struct faults *faults, struct rte_mbuf *packet, uint64_t now)
{
	struct rte_mbuf *copy = NULL;

	if (lose(faults, packet))
		return;
	packet = damage(faults, packet, now);
	if (dice_say(&faults->duplicate)) {
		copy = packet_copy(packet);
		plx_count(copy ? &faults->counters.duplicated : &faults->counters.no_buffer, 1);
	}
	pass(faults, packet, now);
	if (copy != NULL)
		pass(faults, copy, now);
}

/* Without the queue this takes half the time: 3.6 ns per packet more than a bare link instead of
 * 7.4. Goodput under loss is measured with this function. */
static uint16_t
straight(struct faults *faults, struct rte_mbuf **packets, uint16_t n)
{
	uint16_t out = 0;

	plx_count(&faults->counters.received, n);
	for (uint16_t i = 0; i < n; i++)
		if (!lose(faults, packets[i]))
			packets[out++] = damage(faults, packets[i], 0);
	return out;
}

/* Release packets held back for reordering, because nothing has arrived for a while. */
static void
give_up_waiting(struct faults *faults)
{
	for (uint32_t i = 0; i < faults->waiting_count; i++)
		let_go(faults, faults->waiting[i].packet, faults->waiting[i].number,
		       faults->last_arrival + faults->overtake_wait);
	faults->waiting_count = 0;
}

/* Deliver through the queue. */
static uint16_t
crooked(struct faults *faults, struct rte_mbuf **packets, uint16_t n, uint16_t room)
{
	uint64_t now = faults->clocked ? rte_rdtsc() : 0;
	uint16_t out = 0;

	if (n > 0) {
		plx_count(&faults->counters.received, n);
		faults->last_arrival = now;
		for (uint16_t i = 0; i < n; i++)
			arrive(faults, packets[i], now);
	} else if (faults->waiting_count > 0 &&
		   now - faults->last_arrival >= faults->overtake_wait) {
		give_up_waiting(faults);
	}
	while (out < room && faults->count > 0 && faults->queue[faults->head].due <= now) {
		packets[out++] = faults->queue[faults->head].packet;
		faults->head = (faults->head + 1) % PLX_NET_WIRE_HOLD_MAX;
		faults->count--;
	}
	return out;
}

uint16_t
faults_on_burst(struct faults *faults, struct rte_mbuf **packets, uint16_t n, uint16_t room)
{
	uint16_t out =
		faults->straight ? straight(faults, packets, n) : crooked(faults, packets, n, room);
	uint16_t added;

	if (!faults->floods)
		return out;
	added = flood_add(&faults->flood, packets, out, room, rte_rdtsc());
	plx_count(&faults->counters.flooded, added);
	return out + added;
}

void
faults_add_counters(const struct faults *faults, struct plx_net_wire_counters *out)
{
#define PLX_X(name, text) out->name += __atomic_load_n(&faults->counters.name, __ATOMIC_RELAXED);
	PLX_NET_WIRE_COUNTER_LIST(PLX_X)
#undef PLX_X
}
