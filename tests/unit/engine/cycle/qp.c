/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs from creation to destruction: numbers, states and refusals, reuse after RESET,
 * destruction during traffic, connections to a peer and to the own port. Start with
 * life_after_reset().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = plx_engine_qp_number(*(struct plx_qp *const *)a);
	uint32_t y = plx_engine_qp_number(*(struct plx_qp *const *)b);

	return (x > y) - (x < y);
}

static void
numbers_are_unique_random_and_run_out(void **state)
{
	struct pair_options options = pair_defaults(4);
	struct plx_qp *qps[PAIR_QPS];
	struct plx_engine_qp_config config = {.caps = {.sq_depth = 1}, .rq_depth = 1};
	struct plx_qp *more = NULL;
	uint32_t high = 0, psns = 0;
	(void)state;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (uint32_t i = 0; i < PAIR_QPS; i++)
		qps[i] = pair_qp(&pair, 0, &options);
	config.domain = pair.side[0].domain;
	config.send_cq = config.recv_cq = pair.side[0].send_cq;
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &more), PLX_FULL);
	assert_null(more);
	assert_int_equal(plx_engine_cq_destroy(pair.side[0].send_cq), PLX_BUSY);
	assert_int_equal(plx_engine_cq_destroy(pair.side[0].recv_cq), PLX_BUSY);
	qsort(qps, PAIR_QPS, sizeof(qps[0]), compare_numbers);
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		uint32_t number = plx_engine_qp_number(qps[i]);

		assert_true(number > 1 && number < PLX_PSN_MASK);
		assert_true(i == 0 || number != plx_engine_qp_number(qps[i - 1]));
		high += number >> 23;
		psns += plx_engine_qp_first_psn(qps[i]).v >> 23;
	}
	/* Half of them have their highest bit; this far off once in 10^8. */
	assert_true(high > 20 && high < 80);
	assert_true(psns > 20 && psns < 80);
	/* A number and a slot that were freed are available again. */
	assert_int_equal(plx_engine_qp_destroy(qps[0]), PLX_OK);
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qps[0]), PLX_OK);
	for (uint32_t i = 0; i < PAIR_QPS; i++)
		assert_int_equal(plx_engine_qp_destroy(qps[i]), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

static void
wrong_sizes_are_refused_and_leave_nothing(void **state)
{
	struct pair_options options = pair_defaults(4);
	struct plx_engine_qp_config config = {
		.caps = {.sq_depth = 1, .sq_sges = 1}, .rq_depth = 1, .rq_sges = 1};
	const struct plx_engine_qp_config good = config;
	struct plx_qp *qp = NULL;
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct plx_engine_qp_config bad[6] = {good, good, good, good, good, good};

		bad[0].caps.sq_depth = 0;
		bad[1].caps.sq_depth = PLX_QUEUE_DEPTH_MAX + 1;
		bad[2].caps.sq_sges = PLX_SGE_MAX + 1;
		bad[3].caps.inline_bytes = PLX_INLINE_MAX + 1;
		bad[4].rq_depth = 0;
		bad[5].rq_sges = PLX_SGE_MAX + 1;
		pair_open(&pair, inline_mode);
		pair_start(&pair);
		pair_make_queues(&pair, &options);
		for (uint32_t i = 0; i < 6; i++) {
			bad[i].domain = pair.side[0].domain;
			bad[i].send_cq = bad[i].recv_cq = pair.side[0].send_cq;
			assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &bad[i], &qp),
					 PLX_INVALID);
		}
		assert_null(qp);
		assert_int_equal(pair.side[0].engine->qp_count, 0);
		assert_int_equal(atomic_load(&whole_cq_back(pair.side[0].send_cq)->reserve), 0);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

/* ---- states ---- */

static void
states_are_reached_in_their_order_only(void **state)
{
	struct pair_options options = pair_defaults(4);
	struct plx_engine_path path = {0}, elsewhere = {0};
	struct plx_rc_attr attr = options.attr;
	struct plx_qp *qp;
	(void)state;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	qp = pair.side[0].qp = pair_qp(&pair, 0, &options);
	path.remote = pair.side[1].ip;
	assert_int_equal(plx_engine_qp_state(qp), PLX_QP_RESET);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_NONE, NULL, NULL), PLX_INVALID);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_STATE_COUNT, NULL, NULL), PLX_INVALID);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_SQD, NULL, NULL), PLX_STATE);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTS, &attr, NULL), PLX_STATE);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, NULL, &path), PLX_INVALID);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL), PLX_INVALID);
	elsewhere.remote = (struct plx_ip){.version = 4, .v = {192, 168, 7, 7}};
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &elsewhere), PLX_UNREACHABLE);
	elsewhere = path;
	elsewhere.local = pair.side[1].ip; /* not ours */
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &elsewhere), PLX_INVALID);
	elsewhere.local = (struct plx_ip){.version = 6};
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &elsewhere), PLX_INVALID);
	/* Once the neighbour is known, the attributes are looked at. */
	while (plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &path) == PLX_AGAIN)
		;
	assert_int_equal(plx_engine_qp_state(qp), PLX_QP_RTR);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTS, NULL, NULL), PLX_INVALID);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTS, &attr, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_SQD, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, NULL, NULL), PLX_INVALID);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTS, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_state(qp), PLX_QP_ERROR);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	attr.mtu = 1000;
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &path), PLX_INVALID);
	assert_int_equal(plx_engine_qp_state(qp), PLX_QP_INIT);
	pair_stop(&pair);
	pair_close(&pair);
}

static void
a_path_mtu_that_the_port_cannot_carry_is_refused(void **state)
{
	struct pair_options options = pair_defaults(4);
	struct plx_engine_path path = {0};
	(void)state;
	pair_open(&pair, false);
	pair.side[0].port.port.caps.frame_max = 2000;
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	pair.side[0].qp = pair_qp(&pair, 0, &options);
	path.remote = pair.side[1].ip;
	assert_int_equal(plx_engine_qp_modify(pair.side[0].qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	options.attr.mtu = 2048;
	assert_int_equal(plx_engine_qp_modify(pair.side[0].qp, PLX_QP_RTR, &options.attr, &path),
			 PLX_TOO_LONG);
	options.attr.mtu = 1024;
	while (plx_engine_qp_modify(pair.side[0].qp, PLX_QP_RTR, &options.attr, &path) == PLX_AGAIN)
		;
	assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_RTR);
	pair_stop(&pair);
	pair_close(&pair);
}

/* A neighbour that is not there: AGAIN until the tries are spent, then UNREACHABLE. */
static void
a_neighbour_that_does_not_answer_is_unreachable(void **state)
{
	struct pair_options options = pair_defaults(4);
	struct plx_engine_path path = {.remote = {.version = 4, .v = {10, 0, 0, 77}}};
	struct plx_qp *qp;
	enum plx_status status;
	uint64_t start;
	(void)state;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	qp = pair.side[0].qp = pair_qp(&pair, 0, &options);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RTR, &options.attr, &path), PLX_AGAIN);
	pair_stop(&pair);
	start = pair.now;
	do {
		pair.now += 10 * PLX_MSEC;
		pair_run(&pair, 1);
		assert_true(pair.now - start < 10 * PLX_SEC);
	} while (plx_engine_net_counters(pair.side[0].engine)->no_answer == 0);
	assert_true(pair.now - start >= 2 * PLX_SEC);
	pair_start(&pair);
	status = plx_engine_qp_modify(qp, PLX_QP_RTR, &options.attr, &path);
	assert_int_equal(status, PLX_UNREACHABLE);
	assert_int_equal(plx_engine_qp_state(qp), PLX_QP_INIT);
	pair_stop(&pair);
	assert_int_equal(plx_engine_net_counters(pair.side[0].engine)->requests_sent, 3);
	pair_close(&pair);
}

/* ---- ends ---- */

static void
exchange(uint32_t rounds)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	for (uint32_t i = 0; i < rounds; i++) {
		a->memory[0] = (uint8_t)(i + 1);
		assert_int_equal(pair_recv(b, i, 0, 64), PLX_OK);
		assert_int_equal(pair_send(a, i, 0, 64, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 1000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(b->memory[0], (uint8_t)(i + 1));
		assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 1000), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i);
	}
}

static void
life_after_reset(bool inline_mode)
{
	struct pair_options options = pair_defaults(8);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	pair_open(&pair, inline_mode);
	pair_connect_with(&pair, &options);
	for (uint32_t life = 0; life < 10; life++) {
		exchange(3 + life);
		/* Something is left in every queue. */
		for (uint32_t i = 0; i < 5; i++) {
			assert_int_equal(pair_write(a, b, 90, 0, 64, PLX_WR_DEFER), PLX_OK);
			assert_int_equal(pair_recv(b, 91, 0, 64), PLX_OK);
		}
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
		assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
		pair_join(&pair, 0, a->qp, 1, b->qp, &options);
		pair_stop(&pair);
	}
	pair_close(&pair);
}

static void
a_queue_pair_lives_again_after_reset(void **state)
{
	(void)state;
	life_after_reset(false);
	life_after_reset(true);
}

static void
destroying_in_the_middle_of_traffic_forgets_it(void **state)
{
	uint64_t strays = 0;
	(void)state;
	for (uint32_t rounds = 0; rounds < 30; rounds++) {
		struct pair_options options = pair_defaults(32);
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];

		pair_open(&pair, rounds % 2);
		pair_connect_with(&pair, &options);
		for (uint32_t i = 0; i < 20; i++) {
			assert_int_equal(pair_recv(b, i, 0, 65536), PLX_OK);
			assert_int_equal(i % 2 ? pair_send(a, i, 0, 65536, 0)
					       : pair_read(a, b, i, 0, 65536, 0),
					 PLX_OK);
		}
		pair_run(&pair, rounds);
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_destroy(b->qp), PLX_OK);
		pair_stop(&pair);
		b->qp = NULL;
		pair_run(&pair, 5);
		strays += plx_engine_counters(b->engine)->rx_no_qp;
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_destroy(a->qp), PLX_OK);
		a->qp = NULL;
		/* The completion queues are good for others. */
		a->qp = pair_qp(&pair, 0, &options);
		b->qp = pair_qp(&pair, 1, &options);
		pair_join(&pair, 0, a->qp, 1, b->qp, &options);
		pair_stop(&pair);
		for (struct plx_wc wc; plx_engine_cq_poll(a->send_cq, &wc, 1) > 0;)
			;
		for (struct plx_wc wc; plx_engine_cq_poll(b->recv_cq, &wc, 1) > 0;)
			;
		exchange(3);
		pair_close(&pair);
	}
	assert_true(strays > 100);
}

/* Also before there is a path to a peer (A17 of docs/nd2.md), and in every state. */
static void
error_flushes_everything_in_order(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		struct pair_options options = pair_defaults(100);
		struct pair_side *a = &pair.side[0];
		bool connected = mode & 2;
		struct plx_wc wc[100];
		struct plx_async_event event;

		pair_open(&pair, mode & 1);
		pair_start(&pair);
		pair_make_queues(&pair, &options);
		a->qp = pair_qp(&pair, 0, &options);
		pair.side[1].qp = pair_qp(&pair, 1, &options);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
		if (connected) {
			assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_RESET, NULL, NULL),
					 PLX_OK);
			pair_join(&pair, 0, a->qp, 1, pair.side[1].qp, &options);
		}
		pair_stop(&pair);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(pair_recv(a, i, 0, 64), PLX_OK);
		pair.side[1].port.hold = true;
		for (uint32_t i = 0; connected && i < 100; i++)
			assert_int_equal(pair_write(a, &pair.side[1], i, 0, 8, PLX_WR_UNSIGNALED),
					 PLX_OK);
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
		pair_stop(&pair);
		assert_int_equal(pair_reap(&pair, a->recv_cq, wc, 100, 1000000), 100);
		for (uint32_t i = 0; i < 100; i++) {
			assert_int_equal(wc[i].status, PLX_WC_FLUSHED);
			assert_int_equal(wc[i].wr_id, i);
			assert_int_equal(wc[i].flags, PLX_WC_RECV);
		}
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 100, 1000), connected ? 100 : 0);
		for (uint32_t i = 0; connected && i < 100; i++) {
			assert_int_equal(wc[i].status, PLX_WC_FLUSHED);
			assert_int_equal(wc[i].wr_id, i);
		}
		pair_run(&pair, 2);
		assert_true(plx_engine_next_async_event(a->engine, &event));
		assert_int_equal(event.kind, PLX_EVENT_FLUSHED);
		assert_int_equal(event.qpn, plx_engine_qp_number(a->qp));
		/* Everything posted from now on is flushed at once. */
		assert_int_equal(pair_recv(a, 200, 0, 64), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->recv_cq, wc, 1, 1000000), 1);
		assert_int_equal(wc[0].wr_id, 200);
		assert_int_equal(pair_write(a, &pair.side[1], 201, 0, 8, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 1, 1000000), 1);
		assert_int_equal(wc[0].wr_id, 201);
		assert_int_equal(wc[0].status, PLX_WC_FLUSHED);
		pair.side[1].port.hold = false;
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_unique_random_and_run_out),
		cmocka_unit_test(wrong_sizes_are_refused_and_leave_nothing),
		cmocka_unit_test(states_are_reached_in_their_order_only),
		cmocka_unit_test(a_path_mtu_that_the_port_cannot_carry_is_refused),
		cmocka_unit_test(a_neighbour_that_does_not_answer_is_unreachable),
		cmocka_unit_test(a_queue_pair_lives_again_after_reset),
		cmocka_unit_test(destroying_in_the_middle_of_traffic_forgets_it),
		cmocka_unit_test(error_flushes_everything_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
