/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Executes a queue pair's actions and keeps the books: memory only as granted, each post completed
 * once and in order, no more answers than were earned.
 * It never chooses anything: qp.c does, from the fuzzer's bytes. Start with world_execute().
 */
#include <stdio.h>
#include <stdlib.h>

#include "qp_world.h"

static uint8_t qp_memory[WORLD_MEMORY] __attribute__((aligned(PLX_CACHE_LINE)));
static uint8_t rq_memory[WORLD_MEMORY] __attribute__((aligned(PLX_CACHE_LINE)));
static uint8_t mem_memory[WORLD_MEMORY] __attribute__((aligned(PLX_CACHE_LINE)));
static uint8_t arena[WORLD_REGIONS][WORLD_REGION_BYTES] __attribute__((aligned(8)));

void
fuzz_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* A broken invariant of the library's is a finding too, and says which. */
void
plx_assert_failed(const char *expr, const char *file, int line)
{
	fuzz_failed(expr, file, line);
}

/* ---- congestion strategy ------------------------------------------------------------------------
 */

static uint64_t
cc_ask(const void *state, uint64_t now, uint32_t bytes)
{
	const struct world *w = state;

	(void)bytes;
	return w->hold_until > now ? w->hold_until : now;
}

static void
cc_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	const struct world *w = state;

	(void)bytes;
	CHECK(now == w->now);
}

static void
cc_on_ack(void *state, uint64_t now, uint32_t packets)
{
	const struct world *w = state;

	CHECK(now == w->now && packets > 0);
}

static void
cc_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	const struct world *w = state;

	(void)cause;
	CHECK(now == w->now);
}

static bool
cc_on_ce(void *state, uint64_t now)
{
	(void)state;
	return now & 1;
}

static void
cc_on_cnp(void *state, uint64_t now)
{
	const struct world *w = state;

	CHECK(now == w->now);
}

const struct plx_cc_ops world_cc = {
	.name = "fuzz",
	.ask = cc_ask,
	.on_sent = cc_on_sent,
	.on_ack = cc_on_ack,
	.on_loss = cc_on_loss,
	.on_ce = cc_on_ce,
	.on_cnp = cc_on_cnp,
};

/* ---- memory under keys
 * ------------------------------------------------------------------------------ */

static void
keep_old_key(struct world *w, struct plx_key key)
{
	w->old_keys[w->old_key_next++ % WORLD_OLD_KEYS] = key;
}

static void
region_register(struct world *w, struct world_region *region)
{
	CHECK(plx_region_register(w->mem, region->ours ? w->domain : w->other, &region->attr,
				  &region->handle, &region->key) == PLX_OK);
	region->live = true;
}

/* Retire what is there, register what is not, refresh what was invalidated. */
void
world_region_toggle(struct world *w, uint32_t index)
{
	struct world_region *region = &w->regions[index % WORLD_REGIONS];
	struct plx_key key;

	if (plx_region_refresh(w->mem, region->handle, &region->attr, &key) == PLX_OK) {
		keep_old_key(w, region->key);
		region->key = key;
		region->live = true;
	} else if (!region->live) {
		region_register(w, region);
	} else if (plx_region_retire(w->mem, region->handle) == PLX_OK) {
		CHECK(plx_region_release(w->mem, region->handle) == PLX_OK);
		keep_old_key(w, region->key);
		region->live = false;
	}
}

void
world_window_toggle(struct world *w, uint32_t index, uint8_t how)
{
	struct world_window *window = &w->windows[index % WORLD_WINDOWS];
	const struct world_region *region = &w->regions[WORLD_REGIONS - 1];
	const struct plx_asker asker = {.domain = w->domain, .qpn = window->attr.qpn};

	if (window->bound) {
		CHECK(plx_key_invalidate(w->mem, window->key, &asker) == PLX_KEY_GRANTED);
		keep_old_key(w, window->key);
		window->bound = false;
		return;
	}
	window->ours = how & 1;
	window->attr = (struct plx_window_attr){
		.region = region->handle,
		.va = region->attr.va + (how >> 4) * 8u,
		.length = 512,
		.access = {(uint8_t)(how & 2 ? PLX_ACCESS_REMOTE_WRITE
					     : PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_ATOMIC)},
		.qpn = window->ours ? 0x11u : 0x12u,
	};
	window->bound =
		plx_window_bind(w->mem, window->handle, &window->attr, &window->key) == PLX_OK;
}

struct plx_key
world_key(const struct world *w, uint8_t choice)
{
	choice &= 15;
	if (choice < WORLD_REGIONS)
		return w->regions[choice].key;
	choice = (uint8_t)(choice - WORLD_REGIONS);
	if (choice < WORLD_WINDOWS)
		return w->windows[choice].key;
	choice = (uint8_t)(choice - WORLD_WINDOWS);
	if (choice < WORLD_OLD_KEYS)
		return w->old_keys[choice];
	return (struct plx_key){choice * 0x01234567u};
}

uint64_t
world_va(const struct world *w, uint8_t choice, uint8_t offset)
{
	uint32_t index = choice & 15;
	const struct plx_region_attr *attr =
		&w->regions[index < WORLD_REGIONS ? index : WORLD_REGIONS - 1].attr;

	/* Up to 127 bytes behind the beginning, or up to 128 before the end. */
	return attr->va + (offset < 128 ? offset : attr->length + offset - 256);
}

/* Books of keys the QP itself invalidates: both sides of that are looked at after every step. */
static void
refresh_books(struct world *w)
{
	struct plx_grant grant;

	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		struct world_region *region = &w->regions[i];
		const struct plx_asker asker = {region->ours ? w->domain : w->other, 0x11};

		if (!region->live || !(region->attr.access.bits & PLX_ACCESS_INVALIDATE))
			continue;
		region->live = plx_key_check(w->mem, region->key, &asker, 0, 0,
					     (struct plx_access){0}, &grant) == PLX_KEY_GRANTED;
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++) {
		struct world_window *window = &w->windows[i];
		const struct plx_asker asker = {w->domain, window->attr.qpn};

		window->bound = window->bound &&
				plx_key_check(w->mem, window->key, &asker, 0, 0,
					      (struct plx_access){0}, &grant) == PLX_KEY_GRANTED;
	}
}

static bool
inside(const uint8_t *first, uint64_t bytes, const uint8_t *base, uint64_t length)
{
	uintptr_t at = (uintptr_t)first, from = (uintptr_t)base;

	return at >= from && bytes <= length && at - from <= length - bytes;
}

/* Does any key grant [first, first + bytes) to our QP with this right? Without one: any key does.
 */
static bool
granted(const struct world *w, const uint8_t *first, uint64_t bytes, uint8_t right)
{
	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		const struct world_region *region = &w->regions[i];

		if (region->live && region->ours && (region->attr.access.bits & right) == right &&
		    inside(first, bytes, region->attr.host, region->attr.length))
			return true;
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++) {
		const struct world_window *window = &w->windows[i];
		const struct plx_region_attr *region = &w->regions[WORLD_REGIONS - 1].attr;

		if (window->bound && window->ours && (window->attr.access.bits & right) == right &&
		    inside(first, bytes, region->host + (window->attr.va - region->va),
			   window->attr.length))
			return true;
	}
	return false;
}

/* ---- the books
 * ------------------------------------------------------------------------------------ */

static void
on_place(struct world *w, const struct plx_place *place)
{
	uint8_t right =
		w->judging == PLX_OP_WRITE ? PLX_ACCESS_REMOTE_WRITE : PLX_ACCESS_LOCAL_WRITE;

	CHECK(w->judging == PLX_OP_SEND || w->judging == PLX_OP_WRITE ||
	      w->judging == PLX_OP_READ_RESPONSE || w->judging == PLX_OP_ATOMIC_ACK);
	CHECK(place->bytes > 0);
	CHECK(granted(w, place->dst, place->bytes, right));
}

static void
on_atomic(const struct world *w, const struct plx_atomic *atomic)
{
	CHECK(w->judging == PLX_OP_CMP_SWAP || w->judging == PLX_OP_FETCH_ADD);
	CHECK((uintptr_t)atomic->target % sizeof(uint64_t) == 0);
	CHECK(granted(w, atomic->target, sizeof(uint64_t), PLX_ACCESS_REMOTE_ATOMIC));
	CHECK(inside((const uint8_t *)atomic->original, 8, qp_memory, sizeof(qp_memory)));
}

static void
on_complete(struct world *w, const struct plx_completion *c)
{
	bool recv = c->flags & PLX_WC_RECV;
	struct world_queue *queue = recv ? &w->recv : &w->send;

	CHECK(c->qpn == 0x11 && c->status < PLX_WC_COUNT);
	CHECK(c->wr_id >= queue->completed && c->wr_id < queue->posted);
	for (; queue->completed < c->wr_id; queue->completed++)
		CHECK(!queue->failed && queue->silent[queue->completed % (WORLD_DEPTH * 2)]);
	if (!recv)
		CHECK(c->op == queue->op[c->wr_id % (WORLD_DEPTH * 2)]);
	CHECK(!queue->failed || c->status == PLX_WC_FLUSHED);
	CHECK(c->status != PLX_WC_FLUSHED || w->view.state != PLX_QP_NONE);
	queue->failed = queue->failed || c->status != PLX_WC_SUCCESS;
	queue->completed++;
}

static void
on_answer(struct world *w, const struct plx_opcode *op)
{
	uint64_t *left = op->kind == PLX_OP_CNP             ? &w->allowed.cnps
			 : op->kind == PLX_OP_READ_RESPONSE ? &w->allowed.responses
			 : op->kind == PLX_OP_ATOMIC_ACK    ? &w->allowed.atomics
							    : &w->allowed.replies;

	CHECK(*left > 0);
	(*left)--;
}

static void
on_emit(struct world *w, const struct plx_emit *emit)
{
	const struct plx_opcode *op = &plx_opcodes[emit->pkt.opcode];
	bool answer = emit->flags & PLX_EMIT_RESPONSE;
	uint32_t bytes = 0;

	CHECK(op->service == PLX_SERVICE_RC || op->kind == PLX_OP_CNP);
	CHECK(answer == !plx_opcode_has(op, PLX_OPF_REQUEST));
	CHECK(emit->pkt.dest_qpn == 0x22 && emit->pkt.psn.v <= PLX_PSN_MASK);
	CHECK(emit->pkt.payload_bytes <= w->attr.mtu &&
	      emit->pkt.pad == (-emit->pkt.payload_bytes & 3));
	CHECK(emit->iov_first + emit->iovs <= w->actions.iovs);
	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &w->actions.iov[emit->iov_first + i];

		bytes += iov->bytes;
		if (op->kind != PLX_OP_CNP)
			CHECK(granted(w, iov->base, iov->bytes,
				      answer ? PLX_ACCESS_REMOTE_READ : 0) ||
			      (!answer &&
			       inside(iov->base, iov->bytes, qp_memory, sizeof(qp_memory))));
		for (uint32_t b = 0; b < iov->bytes; b += 64)
			w->bytes_read += iov->base[b];
		if (iov->bytes > 0)
			w->bytes_read += iov->base[iov->bytes - 1];
	}
	CHECK(bytes == emit->pkt.payload_bytes);
	if (answer) {
		on_answer(w, op);
		return;
	}
	w->sent[w->sent_next++ % WORLD_SENT] = (struct world_sent){
		.opcode = emit->pkt.opcode,
		.psn = emit->pkt.psn,
		.bytes = op->kind == PLX_OP_READ_REQUEST ? emit->pkt.reth.length : 0,
	};
}

void
world_crowd(struct world *w, uint32_t room)
{
	w->crowd = PLX_ACTIONS_MAX - room;
	w->actions.count = w->crowd;
	w->actions.iovs = w->crowd;
}

void
world_execute(struct world *w, uint32_t budget)
{
	struct plx_actions *actions = &w->actions;
	uint32_t emitted = 0;

	CHECK(actions->count <= PLX_ACTIONS_MAX && actions->iovs <= PLX_IOVS_MAX);
	CHECK(actions->count >= w->crowd && actions->iovs >= w->crowd);
	for (uint32_t i = w->crowd; i < actions->count; i++) {
		const struct plx_action *action = &actions->list[i];

		switch ((enum plx_action_kind)action->kind) {
		case PLX_ACT_PLACE:
			on_place(w, &action->place);
			break;
		case PLX_ACT_ATOMIC:
			on_atomic(w, &action->atomic);
			break;
		case PLX_ACT_COMPLETE:
			on_complete(w, &action->completion);
			break;
		case PLX_ACT_EVENT:
			CHECK(action->event.kind > PLX_EVENT_NONE &&
			      action->event.kind < PLX_EVENT_COUNT && action->event.qpn == 0x11);
			break;
		case PLX_ACT_EMIT:
			on_emit(w, &action->emit);
			emitted++;
			break;
		case PLX_ACT_NONE:
			CHECK(!"an action of no kind");
		}
		plx_action_touch_memory(action);
	}
	CHECK(emitted <= budget);
	plx_actions_reset(actions);
	w->crowd = 0;
	refresh_books(w);
}

void
world_look(struct world *w)
{
	struct plx_qp_view now;
	uint64_t wake = plx_qp_wake_ns(w->qp);
	int32_t flight, cursor;

	plx_qp_query(w->qp, &now);
	flight = plx_psn_diff(now.psn_high, now.psn_unacked);
	cursor = plx_psn_diff(now.psn_next, now.psn_unacked);
	CHECK(flight >= 0 && cursor >= 0 && cursor <= flight);
	CHECK(now.sq_posted - now.sq_consumed <= w->caps.sq_depth);
	CHECK(now.rd_atomic_open <= now.rd_atomic_max);
	CHECK(now.responder_res_pending <= w->caps.responder_res);
	CHECK(now.retries_left <= w->attr.retry_max);
	CHECK(now.rnr_retries_left <= w->attr.rnr_retry_max);
	if (now.state == PLX_QP_RESET || now.state == PLX_QP_INIT || now.state == PLX_QP_ERROR)
		CHECK(wake == 0 || wake == PLX_NEVER);
	if (now.state == w->view.state && now.state != PLX_QP_RESET) {
		CHECK(plx_psn_diff(now.psn_expected, w->view.psn_expected) >= 0);
		CHECK(plx_psn_diff(now.psn_unacked, w->view.psn_unacked) >= 0);
		CHECK(plx_psn_diff(now.psn_high, w->view.psn_high) >= 0);
	}
	w->view = now;
}

void
world_drain(struct world *w)
{
	for (uint32_t round = 0; round < WORLD_ROUNDS; round++) {
		uint64_t wake = plx_qp_wake_ns(w->qp);
		uint32_t budget = round % 3 == 0 ? 64 : 1 + round % 7;

		if (wake > w->now)
			return;
		if (wake == 0)
			CHECK(plx_qp_transmit(w->qp, w->now, budget, &w->actions) <= budget);
		else
			plx_qp_on_tick(w->qp, w->now, &w->actions);
		world_execute(w, budget);
	}
	CHECK(!"the QP comes to rest");
}

/* ---- life and death
 * ------------------------------------------------------------------------------- */

static void
regions_make(struct world *w)
{
	static const struct {
		uint8_t access;
		bool ours;
	} kinds[WORLD_REGIONS] = {
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
			 PLX_ACCESS_REMOTE_ATOMIC,
		 true},
		{PLX_ACCESS_REMOTE_READ | PLX_ACCESS_STABLE, true},
		{PLX_ACCESS_LOCAL_WRITE, true},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE, false},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_INVALIDATE, true},
		{PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND, true},
	};

	for (uint32_t i = 0; i < WORLD_REGIONS; i++) {
		w->regions[i].ours = kinds[i].ours;
		w->regions[i].attr = (struct plx_region_attr){
			.va = (i + 1) * UINT64_C(0x10000),
			.host = arena[i],
			.length = WORLD_REGION_BYTES,
			.access = {kinds[i].access},
		};
		region_register(w, &w->regions[i]);
	}
	for (uint32_t i = 0; i < WORLD_WINDOWS; i++)
		CHECK(plx_window_create(w->mem, w->domain, &w->windows[i].handle) == PLX_OK);
}

static void
caps_and_attr(struct world *w, const uint8_t choice[16])
{
	static const uint32_t starts[] = {0,        1,        0xffffff, 0xfffff0,
					  0x7fffff, 0x800000, 100,      0xfffffc};

	w->caps = (struct plx_qp_caps){
		.sq_depth = 1 + choice[0] % WORLD_DEPTH,
		.sq_sges = (choice[0] >> 3) % (PLX_SGE_MAX + 1),
		.inline_bytes = choice[1] % 3 * 100u,
		.responder_res = choice[1] / 3 % 5,
	};
	w->rq_depth = 1 + choice[2] % WORLD_DEPTH;
	w->rq_sges = (choice[2] >> 3) % 6;
	w->shared = choice[2] >> 7;
	w->attr = (struct plx_qp_attr){
		.mtu = 256u << (choice[3] % 8 < 5 ? 0 : choice[3] % 5),
		.dest_qpn = 0x22,
		.pkey = PLX_PKEY_DEFAULT,
		.rq_psn = {starts[choice[4] & 7]},
		.enabled = {(uint8_t)(choice[5] & 1 ? choice[5] & 0x0e : 0x0e)},
		.rnr_timer = choice[6] & 31,
		.sq_psn = {starts[choice[4] >> 3 & 7]},
		.retry_max = choice[7] & 7,
		.rnr_retry_max = choice[7] >> 3 & 7,
		.rd_atomic_max = choice[8] % 5,
		.ack_timeout_ns = 1 + choice[9] * 100u,
		.window_packets = 1 + choice[10] % 20,
		.ack_interval = 1 + choice[11] % 8,
		.read_chunk_packets = 1 + choice[12] % 5,
	};
}

void
world_connect(struct world *w)
{
	if (w->view.state == PLX_QP_RESET)
		CHECK(plx_qp_modify(w->qp, PLX_QP_INIT, NULL) == PLX_OK);
	CHECK(plx_qp_modify(w->qp, PLX_QP_RTR, &w->attr) == PLX_OK);
	CHECK(plx_qp_modify(w->qp, PLX_QP_RTS, &w->attr) == PLX_OK);
}

void
world_reset(struct world *w, const uint8_t choice[16])
{
	static const uint64_t secret[2] = {1, 2};
	struct plx_qp_ids ids = {.qpn = 0x11};
	size_t bytes;

	memset(w, 0, offsetof(struct world, actions));
	plx_actions_reset(&w->actions);
	w->now = 1000;
	bytes = plx_mem_bytes(WORLD_SLOTS);
	CHECK(bytes > 0 && bytes <= sizeof(mem_memory));
	w->mem = plx_mem_init(mem_memory, WORLD_SLOTS, secret);
	CHECK(plx_domain_create(w->mem, &w->domain) == PLX_OK);
	CHECK(plx_domain_create(w->mem, &w->other) == PLX_OK);
	regions_make(w);
	caps_and_attr(w, choice);
	bytes = plx_rq_bytes(w->rq_depth, w->rq_sges);
	CHECK(bytes > 0 && bytes <= sizeof(rq_memory));
	memset(rq_memory, 0xa5, bytes);
	w->rq = plx_rq_init(rq_memory, w->rq_depth, w->rq_sges, w->shared);
	bytes = plx_qp_bytes(&w->caps);
	CHECK(bytes > 0 && bytes <= sizeof(qp_memory));
	memset(qp_memory, 0xa5, bytes);
	ids.domain = w->domain;
	ids.mem = w->mem;
	ids.rq = w->rq;
	ids.cc = choice[13] & 1 ? &world_cc : &plx_cc_none;
	ids.cc_state = choice[13] & 1 ? w : NULL;
	w->qp = plx_qp_init(qp_memory, &w->caps, &ids);
	plx_qp_query(w->qp, &w->view);
}

void
world_close(struct world *w)
{
	struct plx_qp_view view;

	plx_qp_query(w->qp, &view);
	if (view.state == PLX_QP_RESET)
		return;
	CHECK(plx_qp_modify(w->qp, PLX_QP_ERROR, NULL) == PLX_OK);
	world_drain(w);
	CHECK(plx_qp_wake_ns(w->qp) == PLX_NEVER);
	plx_qp_query(w->qp, &view);
	CHECK(view.flushed && view.rq_open == 0);
	for (; w->send.completed < w->send.posted && !w->send.failed; w->send.completed++)
		CHECK(w->send.silent[w->send.completed % (WORLD_DEPTH * 2)]);
	CHECK(w->send.completed == w->send.posted);
	CHECK(w->recv.completed + plx_rq_count(w->rq) == w->recv.posted);
	CHECK(w->shared || w->recv.completed == w->recv.posted);
}
