/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network: hosts with a port each, a switch with one port to all receivers, and what is on its
 * way. The way back has no queue. Bytes are not copied: this counts packets and time. Start with
 * network_run().
 */
#include "network.h"

#include <stdlib.h>

#include "rc.h"

enum {
	DEPTH = 64,
	MEMORY = 1 << 20,
	TICK_SHIFT = 14, /* an engine's timers fire at most as many ns late */
	ACK_TIMEOUT_CODE = 14,
	ACK_INTERVAL = 16,
	SAMPLE_NS = 1000,
	SAMPLE_BYTES = 1 << 10, /* of a class of the histogram */
	CLASSES = 1 << 12,
	VA = 0x10000,
};

enum place {
	AT_SWITCH, /* arrives there */
	FROM_SWITCH,
	AT_HOST,
};

struct flying {
	uint64_t at, serial;
	uint16_t flow;
	uint8_t place; /* enum place */
	bool to_receiver;
	bool fast; /* the bytes of its headers; else `pkt` */
	bool ce;
	uint32_t bytes; /* of the frame on the wire */
	struct plx_pkt pkt;
	struct plx_fast_packet shape;
	uint8_t header[PLX_FAST_HEADER_MAX];
};

struct host {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key key;
	struct plx_rq *rq;
	struct plx_rc *qp;
	uint8_t *memory;
	uint64_t free_at; /* when its port has sent what it was given */
	uint64_t salt;    /* hosts are not late by the same time */
};

struct flow {
	struct host host[2]; /* sender, receiver */
	uint64_t posted, done, delivered;
	union {
		struct plx_dcqcn dcqcn;
		struct plx_delay delay;
	} state;
};

struct network {
	struct network_config config;
	struct flow flow[FLOWS_MAX];
	struct plx_prng prng;
	uint64_t now, serial, forge_at, sample_at;
	uint64_t free_at; /* when the bottleneck has sent what is queued */
	uint64_t dropped, fast;
	uint64_t samples, sampled; /* number and sum */
	uint32_t classes[CLASSES];
	struct flying *heap;
	uint32_t count, room;
	struct plx_actions out;
	uint8_t frame[PLX_FAST_HEADER_MAX + PLX_MTU_MAX + 3 + PLX_ICRC_BYTES];
};

/* ---- packets on their way ---- */

static bool
earlier(const struct flying *a, const struct flying *b)
{
	return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

static void
push(struct network *network, struct flying *one, uint64_t at)
{
	uint32_t i = network->count++;

	one->at = at;
	one->serial = network->serial++;
	if (network->count > network->room) {
		network->room = network->room ? 2 * network->room : 1024;
		network->heap = realloc(network->heap, network->room * sizeof(*network->heap));
		PLX_ASSERT(network->heap != NULL);
	}
	for (; i > 0 && earlier(one, &network->heap[(i - 1) / 2]); i = (i - 1) / 2)
		network->heap[i] = network->heap[(i - 1) / 2];
	network->heap[i] = *one;
}

static struct flying
pop(struct network *network)
{
	struct flying first = network->heap[0], last = network->heap[--network->count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < network->count) {
		if (child + 1 < network->count &&
		    earlier(&network->heap[child + 1], &network->heap[child]))
			child++;
		if (!earlier(&network->heap[child], &last))
			break;
		network->heap[i] = network->heap[child];
		i = child;
	}
	if (network->count > 0)
		network->heap[i] = last;
	return first;
}

static uint64_t
wire_ns(uint64_t bytes, uint64_t rate)
{
	return bytes * 8 * PLX_SEC / rate;
}

/* A host's port sends a packet. */
static void
launch(struct network *network, struct flying *one, uint32_t payload)
{
	struct host *host = &network->flow[one->flow].host[!one->to_receiver];
	uint64_t half = network->config.way_ns / 2;

	one->bytes = payload + PLX_CC_HEADER_BYTES;
	host->free_at = (host->free_at > network->now ? host->free_at : network->now) +
			wire_ns(one->bytes, network->config.line_rate);
	one->place = one->to_receiver ? AT_SWITCH : AT_HOST;
	push(network, one, host->free_at + (one->to_receiver ? half : network->config.way_ns));
}

/* ---- the switch ---- */

static uint64_t
queued(const struct network *network)
{
	uint64_t left = network->free_at > network->now ? network->free_at - network->now : 0;

	return left * (network->config.bottleneck / 1000000) / 8000;
}

/* As random early detection on the queue that a packet leaves behind: the news is as fresh as it
 * can be, and switches do so. */
static bool
is_marked(struct network *network, uint64_t bytes)
{
	const struct network_config *config = &network->config;

	if (bytes <= config->mark_from)
		return false;
	if (bytes >= config->mark_to)
		return true;
	return plx_prng_chance(&network->prng,
			       (uint32_t)(config->mark_most_ppm * (bytes - config->mark_from) /
					  (config->mark_to - config->mark_from)));
}

static void
enqueue(struct network *network, struct flying *one)
{
	const struct network_config *config = &network->config;
	uint64_t bytes = queued(network);

	if (bytes + one->bytes > config->queue_max) {
		network->dropped++;
		return;
	}
	network->free_at = (network->free_at > network->now ? network->free_at : network->now) +
			   wire_ns(one->bytes, config->bottleneck);
	one->place = FROM_SWITCH;
	push(network, one, network->free_at);
}

static void
dequeue(struct network *network, struct flying *one)
{
	one->ce = is_marked(network, queued(network));
	one->place = AT_HOST;
	push(network, one, network->now + network->config.way_ns / 2);
}

static void
sample(struct network *network)
{
	uint64_t bytes = queued(network);
	uint64_t class = bytes / SAMPLE_BYTES;

	network->samples++;
	network->sampled += bytes;
	network->classes[class < CLASSES ? class : CLASSES - 1]++;
	network->sample_at += SAMPLE_NS;
}

/* ---- hosts ---- */

static void
execute(struct network *network, uint32_t number, bool receiver)
{
	struct flow *flow = &network->flow[number];

	for (uint32_t i = 0; i < network->out.count; i++) {
		const struct plx_action *action = &network->out.list[i];

		if (action->kind == PLX_ACT_EMIT) {
			struct flying one = {.flow = (uint16_t)number,
					     .to_receiver = !receiver,
					     .pkt = action->emit.pkt};

			one.pkt.payload = network->frame;
			launch(network, &one, one.pkt.payload_bytes);
		}
		if (action->kind == PLX_ACT_COMPLETE) {
			PLX_ASSERT(action->completion.status == PLX_WC_SUCCESS);
			flow->done++;
		}
	}
	plx_actions_reset(&network->out);
}

/* The sender keeps DEPTH messages open. */
static void
post(struct network *network, uint32_t number)
{
	struct flow *flow = &network->flow[number];
	const struct network_config *config = &network->config;
	struct plx_wqe wqe = {
		.op = PLX_WR_WRITE, .sges = 1, .rkey = flow->host[1].key, .remote_va = VA};

	if (network->now < config->start_at[number] ||
	    (config->stop_at[number] > 0 && network->now >= config->stop_at[number]))
		return;
	wqe.sge[0] = (struct plx_sge){VA, config->message_bytes, flow->host[0].key};
	for (; flow->posted - flow->done < DEPTH; flow->posted++)
		PLX_ASSERT(plx_rc_post_send(flow->host[0].qp, &wqe, NULL) == PLX_OK);
}

/* When a host is to be called next: it sends when its port is free, and has timers. */
static uint64_t
turn_at(const struct network *network, const struct host *host)
{
	uint64_t wake = plx_rc_wake_ns(host->qp);

	if (wake == 0)
		return host->free_at > network->now ? host->free_at : network->now;
	if (wake == PLX_NEVER)
		return PLX_NEVER;
	wake += (wake ^ host->salt) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TICK_SHIFT);
	return wake > network->now ? wake : network->now;
}

static void
take_turn(struct network *network, uint32_t number, bool receiver)
{
	struct host *host = &network->flow[number].host[receiver];
	struct flying one = {.flow = (uint16_t)number, .to_receiver = !receiver, .fast = true};

	if (plx_rc_wake_ns(host->qp) != 0) {
		plx_rc_on_tick(host->qp, network->now, &network->out);
	} else {
		enum plx_fast_kind kind =
			plx_rc_send_fast(host->qp, network->now, one.header, &one.shape);

		if (kind == PLX_FAST_SENT) {
			network->fast++;
			launch(network, &one, one.shape.payload_bytes);
		} else if (kind == PLX_FAST_NO) {
			plx_rc_transmit(host->qp, network->now, 1, &network->out);
		}
	}
	execute(network, number, receiver);
}

/* A packet of the fast path: its bytes, of which the payload does not matter. */
static void
arrive_fast(struct network *network, const struct flying *one)
{
	struct host *host = &network->flow[one->flow].host[one->to_receiver];
	size_t len = (size_t)one->shape.header_bytes + one->shape.payload_bytes + one->shape.pad +
		     PLX_ICRC_BYTES;
	enum plx_fast_kind kind = PLX_FAST_NO;
	struct plx_completion completion;
	struct plx_place place;
	struct plx_pkt pkt;

	memcpy(network->frame, one->header, one->shape.header_bytes);
	if (!one->ce)
		kind = plx_rc_receive_fast(host->qp, network->frame, len, network->now, &place,
					   &completion);
	while (kind == PLX_FAST_TAKEN && plx_rc_next_completion(host->qp, &completion))
		network->flow[one->flow].done++;
	if (kind != PLX_FAST_NO) {
		network->fast++;
		return;
	}
	PLX_ASSERT(plx_pkt_decode(network->frame, len, &pkt) == PLX_WIRE_OK);
	pkt.ce = one->ce;
	plx_rc_on_packet(host->qp, &pkt, network->now, &network->out);
}

static void
arrive(struct network *network, struct flying *one)
{
	struct flow *flow = &network->flow[one->flow];
	uint64_t before = plx_rc_counters(flow->host[1].qp)->bytes_placed;

	if (one->fast) {
		arrive_fast(network, one);
	} else {
		one->pkt.ce = one->ce;
		plx_rc_on_packet(flow->host[one->to_receiver].qp, &one->pkt, network->now,
				 &network->out);
	}
	flow->delivered += plx_rc_counters(flow->host[1].qp)->bytes_placed - before;
	execute(network, one->flow, one->to_receiver);
}

static void
forge(struct network *network)
{
	struct plx_pkt pkt = {.opcode = PLX_CNP,
			      .becn = true,
			      .pkey = PLX_PKEY_DEFAULT,
			      .payload = network->frame};

	PLX_ASSERT(plx_rc_on_packet(network->flow[0].host[0].qp, &pkt, network->now,
				    &network->out) == PLX_VERDICT_CNP);
	execute(network, 0, false);
	network->forge_at += network->config.forge_every;
	if (network->forge_at >= network->config.forge_to)
		network->forge_at = PLX_NEVER;
}

/* ---- time ---- */

/* The host whose turn is first. Returns: when */
static uint64_t
first_turn(struct network *network, uint32_t *number, bool *receiver)
{
	uint64_t first = PLX_NEVER;

	for (uint32_t i = 0; i < 2 * network->config.flows; i++) {
		struct flow *flow = &network->flow[i / 2];
		uint64_t at = turn_at(network, &flow->host[i & 1]);

		if (!(i & 1) && network->now < network->config.start_at[i / 2])
			at = network->config.start_at[i / 2];
		if (at >= first)
			continue;
		first = at;
		*number = i / 2;
		*receiver = i & 1;
	}
	return first;
}

void
network_run(struct network *network, uint64_t until)
{
	for (;;) {
		uint32_t number = 0;
		bool receiver = false;
		uint64_t turn, arrival, next;

		for (uint32_t i = 0; i < network->config.flows; i++)
			post(network, i);
		turn = first_turn(network, &number, &receiver);
		arrival = network->count > 0 ? network->heap[0].at : PLX_NEVER;
		next = plx_time_min(plx_time_min(turn, arrival),
				    plx_time_min(network->sample_at, network->forge_at));
		if (next >= until)
			break;
		network->now = next;
		if (next == network->sample_at) {
			sample(network);
		} else if (next == network->forge_at) {
			forge(network);
		} else if (next == arrival) {
			struct flying one = pop(network);

			if (one.place == AT_SWITCH)
				enqueue(network, &one);
			else if (one.place == FROM_SWITCH)
				dequeue(network, &one);
			else
				arrive(network, &one);
		} else {
			take_turn(network, number, receiver);
		}
	}
	network->now = until;
}

/* ---- set-up ---- */

static void
open_host(struct network *network, uint32_t number, bool receiver)
{
	const uint8_t rights = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE;
	const struct plx_rc_caps caps = {.sq_depth = DEPTH, .sq_sges = 1, .responder_resources = 1};
	const struct plx_rc_attr attr = {
		.mtu = network->config.mtu,
		.dest_qpn = !receiver,
		.pkey = PLX_PKEY_DEFAULT,
		.enabled = {PLX_ACCESS_REMOTE_WRITE},
		.retry_max = PLX_RETRY_MAX,
		.rnr_retry_max = PLX_RNR_RETRY_FOREVER,
		.ack_timeout_ns = plx_ack_timeout_ns(ACK_TIMEOUT_CODE),
		.window_packets = network->config.window_packets,
		.ack_interval = ACK_INTERVAL,
		.read_chunk_packets = PLX_READ_CHUNK_PACKETS_MAX,
	};
	struct flow *flow = &network->flow[number];
	struct host *host = &flow->host[receiver];
	struct plx_rc_ids ids = {
		.qpn = receiver, .cc = network->config.cc, .cc_state = &flow->state};
	struct plx_region_attr region = {.va = VA, .length = MEMORY, .access = {rights}};

	if (receiver) /* of its state it uses nothing */
		ids.cc = &plx_cc_none;
	host->salt = plx_prng_next(&network->prng);
	host->memory = test_block(MEMORY);
	region.host = host->memory;
	host->mem = test_mem(16, &host->domain);
	host->key = test_region_at(host->mem, host->domain, &region, NULL);
	host->rq = plx_rq_init(test_block(plx_rq_bytes(1, 0)), 1, 0, false);
	ids.domain = host->domain;
	ids.mem = host->mem;
	ids.rq = host->rq;
	host->qp = plx_rc_init(test_block(plx_rc_bytes(&caps)), &caps, &ids);
	test_rc_bring(host->qp, PLX_QP_RTS, &attr);
}

static void
close_host(struct host *host)
{
	free(host->qp);
	free(host->rq);
	free(host->mem);
	free(host->memory);
}

struct network *
network_create(const struct network_config *config)
{
	struct network *network = calloc(1, sizeof(*network));

	PLX_ASSERT(network != NULL && config->flows <= FLOWS_MAX);
	network->config = *config;
	network->forge_at = config->forge_every > 0 ? config->forge_from : PLX_NEVER;
	plx_prng_init(&network->prng, 1);
	for (uint32_t i = 0; i < config->flows; i++) {
		struct flow *flow = &network->flow[i];

		if (config->cc == &plx_cc_dcqcn)
			plx_dcqcn_init(&flow->state.dcqcn, config->params, 0);
		if (config->cc == &plx_cc_delay)
			plx_delay_init(&flow->state.delay, config->params, 0);
		open_host(network, i, false);
		open_host(network, i, true);
	}
	return network;
}

void
network_destroy(struct network *network)
{
	for (uint32_t i = 0; i < network->config.flows; i++) {
		close_host(&network->flow[i].host[0]);
		close_host(&network->flow[i].host[1]);
	}
	free(network->heap);
	free(network);
}

/* ---- figures ---- */

uint64_t
network_delivered(const struct network *network, uint32_t flow)
{
	return network->flow[flow].delivered;
}

uint64_t
network_dropped(const struct network *network)
{
	return network->dropped;
}

uint64_t
network_fast(const struct network *network)
{
	return network->fast;
}

const struct plx_rc_counters *
network_counters(const struct network *network, uint32_t flow, bool receiver)
{
	return plx_rc_counters(network->flow[flow].host[receiver].qp);
}

const void *
network_strategy(const struct network *network, uint32_t flow)
{
	return &network->flow[flow].state;
}

void
network_sample_anew(struct network *network)
{
	network->samples = network->sampled = 0;
	memset(network->classes, 0, sizeof(network->classes));
}

uint64_t
network_queue_average(const struct network *network)
{
	return network->samples > 0 ? network->sampled / network->samples : 0;
}

uint64_t
network_queue_quantile(const struct network *network, uint32_t permille)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < CLASSES; i++) {
		seen += network->classes[i];
		if (seen * 1000 >= network->samples * permille)
			return (uint64_t)(i + 1) * SAMPLE_BYTES;
	}
	return (uint64_t)CLASSES * SAMPLE_BYTES;
}
