/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What loss costs: two queue pairs on a link of 50 Gbit/s and 10 us there and back, in virtual
 * time, with the default ack timeout of 67 ms. `goodput [MIB]` prints goodput beside that without
 * faults, and how many packets a request took; it fails when a bar is missed. It never looks at a
 * clock: equal code prints equal figures. Start with run_until(); a cell of the table is one
 * measure().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rc.h"

enum {
	MTU = 4096,
	WINDOW = 128,
	ACK_INTERVAL = 16,
	DEPTH = 32,
	READS = 16,
	MEMORY = 1 << 20,
	GBITS = 50,
	WAY_NS = 5000,
	FRAME_BYTES =
		14 + 20 + 8 + 12 + 4 + 24, /* beside payload and extended headers; gap and CRC */
	TICK_NS = 1 << 14,                 /* an engine's timers are no finer */
	ACK_TIMEOUT_CODE = 14,
	PACKETS_MAX = 6,
	KEEP_BLOCKS = 1,
	KEEP_PACKETS = 256,
};

/* What both ends do with packets behind a missing one. */
enum way {
	WAY_DROP,      /* as the standard has it */
	WAY_KEEP,      /* each end for itself */
	WAY_SELECTIVE, /* and they say so in their NAKs */
	WAYS,
};

/* What the link does to a packet, and what is moved over it. */
struct weather {
	uint32_t loss_ppm, dup_ppm, reorder_ppm, reorder_depth;
	bool letter;           /* the responder says each NAK once, as the standard has it */
	uint32_t overtake_ppm; /* packets that are not `behind_ns` late, as all the others are */
	uint32_t behind_ns;
};

struct load {
	const char *name;
	uint8_t op;
	uint32_t bytes, deep; /* of a request; requests open at once */
};

/* One end, with memory of its own. */
struct end {
	struct plx_mem *mem;
	struct plx_rq *rq;
	struct plx_domain domain;
	struct plx_key key;
	struct plx_rc *qp;
	struct plx_keep *keep;
	uint8_t *memory;
	uint64_t free_at; /* when its link has sent what it was given */
	uint64_t done, failed;
	struct plx_psn nak_psn; /* of its last NAK, with `nak_said` */
	bool nak_said;
};

struct flying {
	uint64_t at, serial;
	uint32_t to;
	struct plx_pkt pkt;
	uint8_t bitmap[PLX_NAK_BITMAP_BYTES]; /* of a NAK */
};

struct world {
	struct end end[2];
	enum way way;
	struct weather weather;
	struct load load;
	struct plx_prng prng;
	uint64_t now, serial, posted, packets;
	struct flying *heap;
	uint32_t count, room;
	struct plx_actions out;
};

/* ---- packets on their way ---- */

static bool
earlier(const struct flying *a, const struct flying *b)
{
	return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

static void
push(struct world *world, const struct flying *one)
{
	uint32_t i = world->count++;

	if (world->count > world->room) {
		world->room = world->room ? 2 * world->room : 1024;
		world->heap = realloc(world->heap, world->room * sizeof(*world->heap));
		PLX_ASSERT(world->heap != NULL);
	}
	for (; i > 0 && earlier(one, &world->heap[(i - 1) / 2]); i = (i - 1) / 2)
		world->heap[i] = world->heap[(i - 1) / 2];
	world->heap[i] = *one;
}

static struct flying
pop(struct world *world)
{
	struct flying first = world->heap[0], last = world->heap[--world->count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < world->count) {
		if (child + 1 < world->count &&
		    earlier(&world->heap[child + 1], &world->heap[child]))
			child++;
		if (!earlier(&world->heap[child], &last))
			break;
		world->heap[i] = world->heap[child];
		i = child;
	}
	if (world->count > 0)
		world->heap[i] = last;
	return first;
}

/* Does a responder that keeps to the letter stay silent here? */
static bool
said_before(struct end *end, const struct plx_pkt *pkt)
{
	bool nak = pkt->opcode == PLX_RC_ACK &&
		   pkt->aeth.syndrome == (PLX_AETH_NAK | PLX_NAK_SEQUENCE);
	bool before = nak && end->nak_said && plx_psn_eq(end->nak_psn, pkt->psn);

	if (nak) {
		end->nak_said = true;
		end->nak_psn = pkt->psn;
	}
	return before;
}

static void
launch(struct world *world, uint32_t from, const struct plx_emit *emit)
{
	const struct weather *weather = &world->weather;
	struct end *end = &world->end[from];
	struct flying one = {.to = 1 - from, .pkt = emit->pkt};
	uint32_t bytes = emit->pkt.payload_bytes + FRAME_BYTES;
	uint64_t gap = (uint64_t)(MTU + FRAME_BYTES) * 8 / GBITS;

	world->packets++;
	one.pkt.payload = emit->iovs ? world->out.iov[emit->iov_first].base : (const uint8_t *)"";
	if (emit->pkt.opcode == PLX_RC_ACK && emit->iovs > 0)
		memcpy(one.bitmap, one.pkt.payload, sizeof(one.bitmap));
	end->free_at = (end->free_at > world->now ? end->free_at : world->now) + bytes * 8 / GBITS;
	if (plx_prng_chance(&world->prng, weather->loss_ppm) ||
	    (weather->letter && said_before(end, &emit->pkt)))
		return;
	one.serial = world->serial++;
	one.at = end->free_at + WAY_NS;
	if (plx_prng_chance(&world->prng, weather->dup_ppm)) {
		push(world, &one);
		one.serial = world->serial++;
		one.at += plx_prng_below(&world->prng, 4 * gap);
	}
	if (plx_prng_chance(&world->prng, weather->reorder_ppm))
		one.at += gap * (1 + plx_prng_below(&world->prng, weather->reorder_depth));
	if (weather->behind_ns > 0 && !plx_prng_chance(&world->prng, weather->overtake_ppm))
		one.at += weather->behind_ns;
	push(world, &one);
}

/* ---- two ends ---- */

static void
open_end(struct world *world, uint32_t number)
{
	const uint8_t rights = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
			       PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_ATOMIC;
	const struct plx_rc_caps caps = {
		.sq_depth = DEPTH, .sq_sges = 1, .responder_resources = READS};
	struct end *end = &world->end[number];
	const struct plx_rc_attr attr = {
		.mtu = MTU,
		.dest_qpn = 1 - number,
		.pkey = PLX_PKEY_DEFAULT,
		.enabled = {rights & ~PLX_ACCESS_LOCAL_WRITE},
		.retry_max = PLX_RETRY_MAX,
		.rnr_retry_max = PLX_RNR_RETRY_FOREVER,
		.initiator_depth = READS,
		.ack_timeout_ns = plx_ack_timeout_ns(ACK_TIMEOUT_CODE),
		.window_packets = WINDOW,
		.ack_interval = ACK_INTERVAL,
		.read_chunk_packets = PLX_READ_CHUNK_PACKETS_MAX,
		.selective = world->way == WAY_SELECTIVE,
	};
	struct plx_rc_ids ids = {.qpn = number, .cc = &plx_cc_none};
	struct plx_region_attr region_attr = {.va = 0x10000, .length = MEMORY, .access = {rights}};

	end->memory = test_block(MEMORY);
	region_attr.host = end->memory;
	end->mem = test_mem(16, &end->domain);
	end->key = test_region_at(end->mem, end->domain, &region_attr, NULL);
	end->rq = plx_rq_init(test_block(plx_rq_bytes(1, 0)), 1, 0, false);
	ids.domain = end->domain;
	ids.mem = end->mem;
	ids.rq = end->rq;
	if (world->way != WAY_DROP)
		ids.keep = end->keep = plx_keep_init(test_block(plx_keep_bytes(KEEP_BLOCKS)),
						     KEEP_BLOCKS, KEEP_PACKETS);
	end->qp = plx_rc_init(test_block(plx_rc_bytes(&caps)), &caps, &ids);
	test_rc_bring(end->qp, PLX_QP_RTS, &attr);
}

static void
close_end(struct end *end)
{
	struct plx_kept kept;

	PLX_ASSERT(plx_rc_modify(end->qp, PLX_QP_RESET, NULL) == PLX_OK);
	while (plx_rc_next_kept(end->qp, &kept) != PLX_KEPT_NONE)
		free(kept.packet);
	free(end->keep);
	free(end->qp);
	free(end->rq);
	free(end->mem);
	free(end->memory);
}

/* Bytes are not copied: this counts packets and time. */
static void
execute(struct world *world, uint32_t number)
{
	for (uint32_t i = 0; i < world->out.count; i++) {
		const struct plx_action *action = &world->out.list[i];

		if (action->kind == PLX_ACT_EMIT)
			launch(world, number, &action->emit);
		if (action->kind != PLX_ACT_COMPLETE)
			continue;
		world->end[number].done++;
		world->end[number].failed += action->completion.status != PLX_WC_SUCCESS;
	}
	plx_actions_reset(&world->out);
}

static void
post(struct world *world, uint64_t messages)
{
	struct end *end = &world->end[0];
	struct plx_wqe wqe = {.op = world->load.op,
			      .sges = 1,
			      .rkey = world->end[1].key,
			      .remote_va = 0x10000,
			      .swap_add = 1};

	wqe.sge[0] = (struct plx_sge){.va = 0x10000, .length = world->load.bytes, .key = end->key};
	while (world->posted < messages && world->posted - end->done < world->load.deep) {
		PLX_ASSERT(plx_rc_post_send(end->qp, &wqe, NULL) == PLX_OK);
		world->posted++;
	}
}

/* When an end is to be called next: it sends when its link is free, and has timers. */
static uint64_t
turn_at(const struct world *world, const struct end *end)
{
	uint64_t wake = plx_rc_wake_ns(end->qp);

	if (wake == 0)
		return end->free_at > world->now ? end->free_at : world->now;
	if (wake == PLX_NEVER)
		return PLX_NEVER;
	wake = (wake + TICK_NS - 1) / TICK_NS * TICK_NS;
	return wake > world->now ? wake : world->now;
}

static void
take_turn(struct world *world, uint32_t number)
{
	struct end *end = &world->end[number];

	if (plx_rc_wake_ns(end->qp) == 0)
		plx_rc_transmit(end->qp, world->now, 1, &world->out);
	else
		plx_rc_on_tick(end->qp, world->now, &world->out);
	execute(world, number);
}

static void
keep(struct plx_rc *qp, const struct flying *one, enum plx_verdict verdict)
{
	struct plx_kept *place = plx_rc_keep(qp, &one->pkt, verdict);

	if (place == NULL)
		return;
	place->packet = malloc(sizeof(*one));
	PLX_ASSERT(place->packet != NULL);
	memcpy(place->packet, one, sizeof(*one));
}

static void
take_kept(struct world *world, uint32_t to)
{
	struct plx_rc *qp = world->end[to].qp;
	enum plx_kept_kind kind;
	struct plx_kept kept;

	while ((kind = plx_rc_next_kept(qp, &kept)) != PLX_KEPT_NONE) {
		const struct flying *one = kept.packet;

		if (kind == PLX_KEPT_NEXT)
			plx_rc_on_packet(qp, &one->pkt, world->now, &world->out);
		execute(world, to);
		free(kept.packet);
	}
}

static void
arrive(struct world *world)
{
	struct flying one = pop(world);
	struct plx_rc *qp = world->end[one.to].qp;

	world->now = one.at;
	if (one.pkt.opcode == PLX_RC_ACK)
		one.pkt.payload = one.bitmap;
	keep(qp, &one, plx_rc_on_packet(qp, &one.pkt, world->now, &world->out));
	execute(world, one.to);
	take_kept(world, one.to);
}

/* Move `messages`. Returns: nanoseconds it took */
static uint64_t
run_until(struct world *world, uint64_t messages)
{
	while (world->end[0].done < messages) {
		uint64_t at[2];
		uint32_t first;

		post(world, messages);
		at[0] = turn_at(world, &world->end[0]);
		at[1] = turn_at(world, &world->end[1]);
		first = at[1] < at[0];
		if (world->count > 0 && world->heap[0].at <= at[first]) {
			arrive(world);
			continue;
		}
		PLX_ASSERT(at[first] != PLX_NEVER);
		world->now = at[first];
		take_turn(world, first);
	}
	return world->now;
}

/* ---- the table ---- */

static const struct load loads[] = {
	{"WRITE 64 KiB, 16 open", PLX_WR_WRITE, 65536, 16},
	{"WRITE 1 MiB, 2 open", PLX_WR_WRITE, 1 << 20, 2},
	{"WRITE 4 KiB, 32 open", PLX_WR_WRITE, 4096, 32},
	{"READ 64 KiB, 8 open", PLX_WR_READ, 65536, 8},
	{"WRITE 64 KiB, one by one", PLX_WR_WRITE, 65536, 1},
	{"READ 1 MiB, 2 open", PLX_WR_READ, 1 << 20, 2},
	{"READ 64 KiB, one by one", PLX_WR_READ, 65536, 1},
	{"FETCH_ADD, one by one", PLX_WR_FETCH_ADD, 8, 1},
};

/* Each weather with the least that must be left each way, in hundredths of the goodput without
 * faults. A requester that goes back over all that is in flight, 16 packets here, cannot keep much
 * more than 1 / (1 + 16 * loss). No more than PACKETS_MAX times as many packets as without faults
 * leave where the order is all that is wrong: in the last a packet in four overtakes 3 ms of
 * others. */
static const struct {
	const char *name;
	uint32_t bar[WAYS];
	struct weather weather;
} weathers[] = {
	{"no loss", {100, 100, 100}, {0}},
	{"loss 1e-4", {98, 98, 99}, {.loss_ppm = 100}},
	{"1e-3", {95, 95, 97}, {.loss_ppm = 1000}},
	{"1e-2", {70, 80, 93}, {.loss_ppm = 10000}},
	{"5e-2", {15, 35, 70}, {.loss_ppm = 50000}},
	{"1e-2, letter", {70, 80, 93}, {.loss_ppm = 10000, .letter = true}},
	{"1e-1", {5, 15, 65}, {.loss_ppm = 100000}},
	{"dup 10 %", {98, 98, 98}, {.dup_ppm = 100000}},
	{"late 1 %", {75, 80, 97}, {.reorder_ppm = 10000, .reorder_depth = 8}},
	{"all 1e-2",
	 {60, 70, 92},
	 {.loss_ppm = 10000, .dup_ppm = 100000, .reorder_ppm = 10000, .reorder_depth = 8}},
	{"early 25 %", {0, 0, 0}, {.overtake_ppm = 250000, .behind_ns = 3000000}},
};

/* Requests a second, and packets a request, of one load in one weather. */
static double
measure(enum way way, const struct load *load, const struct weather *weather, uint64_t messages,
	double *packets)
{
	struct world *world = calloc(1, sizeof(*world));
	double rate;

	PLX_ASSERT(world != NULL);
	world->way = way;
	world->weather = *weather;
	world->load = *load;
	plx_prng_init(&world->prng, 1);
	open_end(world, 0);
	open_end(world, 1);
	rate = (double)messages * 1e9 / (double)run_until(world, messages);
	*packets = (double)world->packets / (double)messages;
	if (world->end[0].failed > 0)
		rate = 0;
	close_end(&world->end[0]);
	close_end(&world->end[1]);
	free(world->heap);
	free(world);
	return rate;
}

/* One load in every weather, one way. Returns: how many bars it misses */
static uint32_t
row(enum way way, const struct load *load, uint64_t volume)
{
	uint64_t messages = volume / (load->bytes > 4096 ? load->bytes : 4096);
	double none = 0, least = 0;
	uint32_t missed = 0;

	if (load->deep == 1 && messages > 20000)
		messages = 20000;
	printf("%-24s", load->name);
	for (size_t w = 0; w < PLX_COUNT_OF(weathers); w++) {
		/* of one by one nothing follows that would show a loss: a timer does */
		uint32_t bar = weathers[w].bar[load->deep == 1 ? WAY_DROP : way];
		double packets, rate = measure(way, load, &weathers[w].weather, messages, &packets);

		none = w == 0 ? rate : none;
		least = w == 0 ? packets : least;
		missed += rate * 100 < none * bar;
		missed += weathers[w].weather.behind_ns > 0 && packets > PACKETS_MAX * least;
		printf("  %5.3f %6.1f", rate / none, packets);
	}
	printf("\n");
	return missed;
}

int
main(int argc, char **argv)
{
	uint64_t volume = (argc > 1 ? strtoull(argv[1], NULL, 10) : 256) << 20;
	static const char *const names[WAYS] = {"what follows is dropped", "it is kept",
						"and NAKs say so"};
	uint32_t missed = 0;

	printf("%-24s", "goodput, packets sent");
	for (size_t w = 0; w < PLX_COUNT_OF(weathers); w++)
		printf("%14s", weathers[w].name);
	for (int way = 0; way < WAYS; way++) {
		printf("\n%s:\n", names[way]);
		for (size_t l = 0; l < PLX_COUNT_OF(loads); l++)
			missed += row((enum way)way, &loads[l], volume);
	}
	if (missed > 0)
		printf("%u are under the bar\n", missed);
	return missed > 0;
}
