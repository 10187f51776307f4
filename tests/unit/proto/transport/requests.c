/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A requester's packets and when they may leave: AckReq, solicited events, flags for the engine,
 * fences, READ limits, local invalidate and bind in their order. It receives only what its peer
 * answers. Start with note().
 */
#include "rc_pair.h"

enum {
	EMITS_MAX = 64
};

struct stage {
	struct pair pair;
	uint8_t memory[4096];
	struct plx_key key, stable_key;
	struct plx_emit emit[EMITS_MAX];
	uint32_t emits;
};

static struct stage stage;

static bool
note(struct pair *pair, int from, const struct plx_emit *emit)
{
	(void)pair;
	if (!from) {
		assert_in_range(stage.emits, 0, EMITS_MAX - 1);
		stage.emit[stage.emits++] = *emit;
	}
	return true;
}

static void
start(void)
{
	const struct pair_config config = pair_defaults();

	memset(&stage, 0, sizeof(stage));
	pair_init(&stage.pair, &config);
	stage.pair.pass = note;
}

static void
begin(void)
{
	const uint8_t access = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
			       PLX_ACCESS_REMOTE_READ | PLX_ACCESS_BIND;

	stage.key = pair_region(&stage.pair, stage.memory, sizeof(stage.memory), access);
	stage.stable_key = pair_region(&stage.pair, stage.memory, sizeof(stage.memory),
				       access | PLX_ACCESS_STABLE);
	pair_connect(&stage.pair);
}

static void
post(enum plx_wr_op op, uint8_t flags, uint32_t bytes, uint64_t wr_id)
{
	struct plx_wqe wqe = {.op = (uint8_t)op, .flags = flags, .wr_id = wr_id};

	wqe.rkey = stage.key;
	wqe.remote_va = (uint64_t)(uintptr_t)stage.memory + 2048;
	assert_int_equal(pair_post(&stage.pair, 0, &wqe, stage.memory, bytes, stage.key), PLX_OK);
}

static void
finish(uint32_t dones)
{
	pair_run(&stage.pair);
	assert_int_equal(stage.pair.side[0].dones, dones);
	for (uint32_t i = 0; i < dones; i++)
		assert_int_equal(stage.pair.side[0].done[i].status, PLX_WC_SUCCESS);
	pair_fini(&stage.pair);
}

static void
an_ack_is_asked_for_at_the_end_the_interval_and_a_full_window(void **state)
{
	static const struct {
		uint32_t interval, window;
		const char *asked; /* of eight packets */
	} cases[] = {{100, 100, ".......A"},
		     {1, 100, "AAAAAAAA"},
		     {3, 100, "..A..A.A"},
		     {100, 4, "...A...A"}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		start();
		stage.pair.attr.ack_interval = cases[i].interval;
		stage.pair.attr.window_packets = cases[i].window;
		begin();
		post(PLX_WR_WRITE, 0, 2048, 0);
		pair_run(&stage.pair);
		assert_int_equal(stage.emits, 8);
		for (uint32_t k = 0; k < 8; k++)
			assert_int_equal(stage.emit[k].pkt.ack_request, cases[i].asked[k] == 'A');
		finish(1);
	}
}

static void
an_event_is_asked_for_by_the_last_packet_of_what_the_receiver_completes(void **state)
{
	static const struct {
		enum plx_wr_op op;
		bool asks;
	} cases[] = {{PLX_WR_SEND, true},
		     {PLX_WR_SEND_IMM, true},
		     {PLX_WR_WRITE_IMM, true},
		     {PLX_WR_WRITE, false},
		     {PLX_WR_READ, false}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++)
		for (int asked = 0; asked < 2; asked++) {
			start();
			begin();
			assert_int_equal(
				pair_recv(&stage.pair, 1, 0, stage.memory, 2048, stage.key),
				PLX_OK);
			post(cases[i].op, asked ? PLX_WR_SOLICITED : 0, 600, 0);
			pair_run(&stage.pair);
			for (uint32_t k = 0; k < stage.emits; k++)
				assert_int_equal(stage.emit[k].pkt.solicited,
						 asked && cases[i].asks && k == stage.emits - 1);
			if (cases[i].asks)
				assert_int_equal(
					!!(stage.pair.side[1].done[0].flags & PLX_WC_SOLICITED),
					asked);
			finish(1);
		}
}

static void
only_a_first_transmission_from_stable_regions_is_marked_stable(void **state)
{
	struct plx_wqe wqe = {.op = PLX_WR_WRITE, .sges = 2};

	(void)state;
	for (int mixed = 0; mixed < 2; mixed++) {
		start();
		begin();
		wqe.rkey = stage.key;
		wqe.remote_va = (uint64_t)(uintptr_t)stage.memory + 2048;
		wqe.sge[0] =
			(struct plx_sge){(uint64_t)(uintptr_t)stage.memory, 100, stage.stable_key};
		wqe.sge[1] = (struct plx_sge){(uint64_t)(uintptr_t)stage.memory, 100,
					      mixed ? stage.key : stage.stable_key};
		assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &wqe, NULL), PLX_OK);
		plx_actions_reset(&stage.pair.out);
		assert_int_equal(plx_rc_transmit(stage.pair.side[0].qp, 0, 1, &stage.pair.out), 1);
		assert_int_equal(stage.pair.out.list[0].emit.flags, mixed ? 0 : PLX_EMIT_STABLE);
		/* a retransmission copies it: by then the application may reuse its memory */
		assert_int_equal(pair_hand_ack(&stage.pair, 0, pair_attr(&stage.pair, 0).sq_psn,
					       PLX_AETH_NAK),
				 PLX_VERDICT_NAK_SEQUENCE);
		assert_int_equal(pair_send(&stage.pair, 0, 1), 1);
		assert_int_equal(stage.emit[0].flags, PLX_EMIT_RETRANSMIT);
		finish(1);
	}
}

static void
a_fence_waits_for_every_read_and_atomic_before_it_and_for_nothing_else(void **state)
{
	(void)state;
	start();
	begin();
	post(PLX_WR_READ, 0, 8, 0);
	post(PLX_WR_WRITE, 0, 8, 1);
	post(PLX_WR_WRITE, PLX_WR_FENCE, 8, 2);
	post(PLX_WR_WRITE, 0, 8, 3);
	plx_actions_reset(&stage.pair.out);
	assert_int_equal(pair_send(&stage.pair, 0, 8), 2); /* READ and WRITE; the fence holds */
	assert_int_equal(stage.emit[1].pkt.opcode, PLX_RC_WRITE_ONLY);
	assert_int_equal(pair_send(&stage.pair, 0, 8), 0);
	assert_int_equal(pair_send(&stage.pair, 1, 1), 1); /* the READ response */
	assert_int_equal(pair_send(&stage.pair, 0, 8), 2);
	finish(4);

	start();
	begin();
	post(PLX_WR_WRITE, 0, 8, 0);
	post(PLX_WR_WRITE, PLX_WR_FENCE, 8, 1);
	assert_int_equal(pair_send(&stage.pair, 0, 8), 2); /* a WRITE is no reason to wait */
	finish(2);
}

/* ---- local operations ---- */

static struct plx_key
fast_region(struct plx_region *region)
{
	const struct plx_region_attr attr = {.va = 0x1000,
					     .host = stage.memory,
					     .length = 64,
					     .access = {PLX_ACCESS_LOCAL_WRITE |
							PLX_ACCESS_REMOTE_WRITE |
							PLX_ACCESS_INVALIDATE}};
	struct plx_key key;

	assert_int_equal(
		plx_region_register(stage.pair.mem, stage.pair.domain, &attr, region, &key),
		PLX_OK);
	return key;
}

static enum plx_key_verdict
ask(struct plx_key key)
{
	const struct plx_asker asker = {.domain = stage.pair.domain, .qpn = 0x100};
	struct plx_grant grant;

	return plx_key_check(stage.pair.mem, key, &asker, 0x1000, 8,
			     (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant);
}

static void
a_local_invalidate_waits_for_what_is_before_it_and_holds_what_is_behind(void **state)
{
	struct plx_region region;
	struct plx_wqe wqe = {.op = PLX_WR_LOCAL_INV, .wr_id = 1};
	struct plx_key key;

	(void)state;
	start();
	begin();
	key = fast_region(&region);
	post(PLX_WR_WRITE, 0, 8, 0);
	wqe.inv_key = key;
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &wqe, NULL), PLX_OK);
	post(PLX_WR_WRITE, 0, 8, 2);
	assert_int_equal(pair_send(&stage.pair, 0, 8), 1);
	assert_int_equal(ask(key), PLX_KEY_GRANTED);
	assert_int_equal(pair_send(&stage.pair, 1, 8), 1); /* the ACK */
	assert_int_equal(pair_send(&stage.pair, 0, 8), 1); /* the last, and those before it */
	assert_int_equal(ask(key), PLX_KEY_UNKNOWN);
	pair_run(&stage.pair);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(stage.pair.side[0].done[i].wr_id == i);
	assert_int_equal(stage.pair.side[0].done[1].op, PLX_WR_LOCAL_INV);
	assert_int_equal(stage.emits, 2); /* nothing of it is on the wire */
	finish(3);
}

static void
a_local_invalidate_of_what_may_not_be_fails_in_its_place(void **state)
{
	struct plx_wqe wqe = {.op = PLX_WR_LOCAL_INV, .wr_id = 1};

	(void)state;
	start();
	begin();
	post(PLX_WR_WRITE, 0, 8, 0);
	wqe.inv_key = stage.key; /* a plain region's */
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &wqe, NULL), PLX_OK);
	post(PLX_WR_WRITE, 0, 8, 2);
	pair_run(&stage.pair);
	assert_int_equal(stage.pair.side[0].dones, 3);
	assert_int_equal(stage.pair.side[0].done[0].status, PLX_WC_SUCCESS);
	assert_int_equal(stage.pair.side[0].done[1].status, PLX_WC_LOCAL_INVALIDATE);
	assert_int_equal(stage.pair.side[0].done[2].status, PLX_WC_FLUSHED);
	assert_int_equal(pair_view(&stage.pair, 0).state, PLX_QP_ERROR);
	assert_int_equal(stage.emits, 1);
	pair_fini(&stage.pair);
}

static void
a_bind_keeps_its_place_among_the_completions(void **state)
{
	const struct plx_wqe bind = {.op = PLX_WR_BIND, .wr_id = 1};
	const struct plx_wqe unsignaled = {.op = PLX_WR_BIND, .flags = PLX_WR_UNSIGNALED};

	(void)state;
	start();
	begin();
	post(PLX_WR_READ, 0, 8, 0);
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &bind, NULL), PLX_OK);
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &unsignaled, NULL), PLX_OK);
	post(PLX_WR_WRITE, 0, 8, 2);
	assert_int_equal(pair_send(&stage.pair, 0, 8), 2); /* it holds nothing up */
	assert_int_equal(stage.pair.side[0].dones, 0);
	pair_run(&stage.pair);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(stage.pair.side[0].done[i].wr_id == i);
	finish(3);
}

static void
going_back_over_a_bind_completes_it_once(void **state)
{
	const struct plx_wqe bind = {.op = PLX_WR_BIND, .wr_id = 1};
	struct plx_psn first;

	(void)state;
	for (int late = 0; late < 2; late++) {
		start();
		begin();
		first = pair_attr(&stage.pair, 0).sq_psn;
		post(PLX_WR_WRITE, 0, 8, 0);
		assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &bind, NULL), PLX_OK);
		post(PLX_WR_WRITE, 0, 8, 2);
		plx_actions_reset(&stage.pair.out);
		assert_int_equal(plx_rc_transmit(stage.pair.side[0].qp, 0, 8, &stage.pair.out), 2);
		assert_int_equal(pair_hand_ack(&stage.pair, 0, first, PLX_AETH_NAK),
				 PLX_VERDICT_NAK_SEQUENCE);
		/* the ACK of the first flight arrives when the first packet is in flight again */
		if (late) {
			assert_int_equal(
				plx_rc_transmit(stage.pair.side[0].qp, 0, 1, &stage.pair.out), 1);
			assert_int_equal(pair_hand_ack(&stage.pair, 0, first, PLX_AETH_NO_CREDITS),
					 PLX_VERDICT_ACKED);
			assert_int_equal(stage.pair.side[0].dones, 2);
			assert_int_equal(pair_hand_ack(&stage.pair, 0, plx_psn_add(first, 1),
						       PLX_AETH_NO_CREDITS),
					 PLX_VERDICT_ACKED);
		}
		pair_run(&stage.pair);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(stage.pair.side[0].done[i].wr_id == i);
		finish(3);
	}
}

static void
a_send_with_invalidate_takes_the_key_before_the_receiver_is_told(void **state)
{
	struct plx_region region;
	struct plx_wqe wqe = {.op = PLX_WR_SEND_INV};
	const struct plx_completion *done = stage.pair.side[1].done;

	(void)state;
	start();
	begin();
	wqe.inv_key = fast_region(&region);
	assert_int_equal(pair_recv(&stage.pair, 1, 4, stage.memory, 64, stage.key), PLX_OK);
	assert_int_equal(ask(wqe.inv_key), PLX_KEY_GRANTED);
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &wqe, NULL), PLX_OK);
	pair_run(&stage.pair);
	assert_int_equal(ask(wqe.inv_key), PLX_KEY_UNKNOWN);
	assert_int_equal(stage.pair.side[1].dones, 1);
	assert_int_equal(done->op, PLX_WR_SEND_INV);
	assert_int_equal(done->flags, PLX_WC_RECV | PLX_WC_INV);
	assert_int_equal(done->inv_key.v, wqe.inv_key.v);
	finish(1);
}

static void
immediate_data_arrives_with_a_send_and_with_a_write(void **state)
{
	struct plx_wqe wqe = {.op = PLX_WR_SEND_IMM, .imm = 0xdeadbeef};
	const struct plx_completion *done = stage.pair.side[1].done;

	(void)state;
	start();
	begin();
	wqe.rkey = stage.key;
	wqe.remote_va = (uint64_t)(uintptr_t)stage.memory + 2048;
	for (uint32_t i = 0; i < 2; i++) {
		wqe.op = i ? PLX_WR_WRITE_IMM : PLX_WR_SEND_IMM;
		assert_int_equal(pair_recv(&stage.pair, 1, i, stage.memory, 1024, stage.key),
				 PLX_OK);
		assert_int_equal(pair_post(&stage.pair, 0, &wqe, stage.memory, 600, stage.key),
				 PLX_OK);
		pair_run(&stage.pair);
		assert_int_equal(done[i].op, wqe.op);
		assert_int_equal(done[i].flags, PLX_WC_RECV | PLX_WC_IMM);
		assert_int_equal(done[i].imm, 0xdeadbeef);
		assert_int_equal(done[i].bytes, 600);
	}
	finish(2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ack_is_asked_for_at_the_end_the_interval_and_a_full_window),
		cmocka_unit_test(
			an_event_is_asked_for_by_the_last_packet_of_what_the_receiver_completes),
		cmocka_unit_test(only_a_first_transmission_from_stable_regions_is_marked_stable),
		cmocka_unit_test(
			a_fence_waits_for_every_read_and_atomic_before_it_and_for_nothing_else),
		cmocka_unit_test(
			a_local_invalidate_waits_for_what_is_before_it_and_holds_what_is_behind),
		cmocka_unit_test(a_local_invalidate_of_what_may_not_be_fails_in_its_place),
		cmocka_unit_test(a_bind_keeps_its_place_among_the_completions),
		cmocka_unit_test(a_send_with_invalidate_takes_the_key_before_the_receiver_is_told),
		cmocka_unit_test(immediate_data_arrives_with_a_send_and_with_a_write),
		cmocka_unit_test(going_back_over_a_bind_completes_it_once),
	};

	return cmocka_run_group_tests_name("transport: requests", tests, NULL, NULL);
}
