/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Delivery of asynchronous events: none is lost when the ring is full, an overrun fails the queue
 * pairs that use the queue and no others, and the descriptor becomes readable. Start with
 * an_overrun_fails_its_users_and_nobody_else().
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

static bool
readable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 0) == 1;
}

/* F18. Side 0 has a strict queue of 4 for its sends, and another queue pair beside it. */
static void
an_overrun_fails_its_users_and_nobody_else(void **state)
{
	struct pair_options options = pair_defaults(16), roomy = pair_defaults(16);
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_qp *bad, *bad_peer;
	struct plx_cq *small;
	uint32_t told[PLX_EVENT_COUNT] = {0}, fired;
	struct plx_async_event event;
	struct plx_wc wc[32];
	(void)state;
	options.cq_depth = 4;
	options.strict = true;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	bad = pair_qp(&pair, 0, &options);
	bad_peer = pair_qp(&pair, 1, &roomy);
	small = a->send_cq;
	assert_int_equal(plx_engine_cq_create(a->engine,
					      &(struct plx_engine_cq_config){.depth = 64},
					      &a->send_cq),
			 PLX_OK);
	a->qp = pair_qp(&pair, 0, &roomy);
	b->qp = pair_qp(&pair, 1, &roomy);
	pair_join(&pair, 0, bad, 1, bad_peer, &options);
	pair_join(&pair, 0, a->qp, 1, b->qp, &options);
	pair_stop(&pair);
	while (plx_engine_next_async_event(a->engine, &event))
		;
	assert_int_equal(plx_cq_arm(small, PLX_CQ_NOTIFY_ERRORS, NULL), PLX_OK);
	for (uint32_t i = 0; i < 6; i++) {
		struct plx_send_wr wr = {.wr_id = i, .op = PLX_WR_WRITE};
		struct plx_recv_wr recv = {.wr_id = 100 + i};

		assert_int_equal(plx_engine_qp_post_send(bad, &wr, 1, NULL), 1);
		if (i < 3)
			assert_int_equal(plx_post_recv(bad, &recv, 1, NULL), 1);
		assert_int_equal(pair_write(a, b, i, 0, 8, 0), PLX_OK);
	}
	pair_run(&pair, 5000);
	assert_int_equal(plx_engine_qp_state(bad), PLX_QP_ERROR);
	assert_int_equal(plx_engine_qp_state(a->qp), PLX_QP_RTS);
	assert_int_equal(plx_cq_get_event(small), PLX_CQ_NOTIFY_ERRORS);
	assert_int_equal(plx_cq_arm(small, PLX_CQ_NOTIFY_ANY, &fired), PLX_FULL);
	/* The four that had a place are there, and nothing was written over. */
	assert_int_equal(plx_engine_cq_poll(small, wc, 32), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(wc[i].wr_id, i);
	/* The receives went to a queue that is well. */
	assert_int_equal(plx_engine_cq_poll(a->recv_cq, wc, 32), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(wc[i].status, PLX_WC_FLUSHED);
	assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 32), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
	while (plx_engine_next_async_event(a->engine, &event)) {
		told[event.kind]++;
		if (event.kind == PLX_EVENT_CQ_OVERRUN)
			assert_int_equal(event.context, 0xc0);
		else
			assert_int_equal(event.qpn, plx_engine_qp_number(bad));
	}
	assert_int_equal(told[PLX_EVENT_CQ_OVERRUN], 1);
	assert_int_equal(told[PLX_EVENT_FAILED], 1);
	assert_int_equal(told[PLX_EVENT_FLUSHED], 1);
	assert_int_equal(plx_engine_counters(a->engine)->cq_overruns, 1);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(bad), PLX_OK);
	assert_int_equal(plx_engine_qp_destroy(bad_peer), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(small), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

/* Fill the ring with events that nobody reads.
 * Returns: how many */
static uint32_t
fill(struct plx_engine *engine)
{
	const struct plx_async_event filler = {.kind = PLX_EVENT_NONE};
	uint32_t n = 0;

	while (engine_eq_push(&engine->own->async_events, &filler))
		n++;
	return n;
}

static void
what_the_ring_has_no_room_for_waits_at_its_object(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *a = &pair.side[0];
	uint32_t told[PLX_EVENT_COUNT] = {0}, fillers;
	struct plx_async_event event;
	uint64_t events;
	(void)state;
	options.shared = true;
	options.strict = true;
	options.cq_depth = 4;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	while (plx_engine_next_async_event(a->engine, &event))
		;
	fillers = fill(a->engine);
	assert_true(fillers >= ASYNC_EVENTS_MAX);
	events = plx_engine_counters(a->engine)->events;
	pair_start(&pair);
	assert_int_equal(plx_engine_srq_arm(a->srq, 5), PLX_OK);
	pair_stop(&pair);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(pair_write(a, &pair.side[1], i, 0, 8, 0), PLX_OK);
	pair_run(&pair, 5000);
	assert_int_equal(plx_engine_qp_state(a->qp), PLX_QP_ERROR);
	assert_int_equal(plx_engine_counters(a->engine)->events, events);
	for (uint32_t i = 0; i < fillers; i++) {
		assert_true(plx_engine_next_async_event(a->engine, &event));
		assert_int_equal(event.kind, PLX_EVENT_NONE);
	}
	assert_false(plx_engine_next_async_event(a->engine, &event));
	/* One place at a time, so that each kind stops in the middle once. */
	for (uint32_t round = 0; round < 10; round++) {
		fill(a->engine);
		assert_true(plx_engine_next_async_event(a->engine, &event));
		pair_run(&pair, 2);
		while (plx_engine_next_async_event(a->engine, &event))
			told[event.kind]++;
	}
	assert_int_equal(told[PLX_EVENT_FAILED], 1);
	assert_int_equal(told[PLX_EVENT_FLUSHED], 1);
	assert_int_equal(told[PLX_EVENT_SRQ_THRESHOLD], 1);
	assert_int_equal(told[PLX_EVENT_CQ_OVERRUN], 1);
	assert_int_equal(plx_engine_counters(a->engine)->events, events + 4);
	pair_close(&pair);
}

/* One queue pair raises an event in every cycle, and the program reads one event a cycle. */
static void
with_a_full_ring_no_kind_of_event_waits_for_ever_behind_another(void **state)
{
	const struct plx_event raised = {.kind = PLX_EVENT_COMM_ESTABLISHED};
	struct pair_options options = pair_defaults(16);
	struct pair_side *a = &pair.side[0];
	struct plx_async_event event;
	bool told = false;
	(void)state;
	options.shared = true;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	while (plx_engine_next_async_event(a->engine, &event))
		;
	for (uint32_t cycle = 0; cycle < 10; cycle++) {
		(void)fill(a->engine);
		engine_raise_event(a->engine, a->qp->back, &raised);
		if (cycle == 0)
			engine_raise_srq_event(whole_srq_back(a->srq));
		assert_true(plx_engine_next_async_event(a->engine, &event));
		pair_run(&pair, 1);
	}
	while (plx_engine_next_async_event(a->engine, &event))
		told |= event.kind == PLX_EVENT_SRQ_THRESHOLD;
	assert_true(told);
	pair_close(&pair);
}

static void
events_of_the_second_life_are_told_too(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct pair_side *b = &pair.side[1];
	struct plx_async_event event;
	(void)state;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	for (uint32_t life = 0; life < 3; life++) {
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
		pair_stop(&pair);
		pair_run(&pair, 3000);
		assert_true(plx_engine_next_async_event(b->engine, &event));
		assert_int_equal(event.kind, PLX_EVENT_FLUSHED);
		assert_int_equal(event.context, 0x1001);
		assert_false(plx_engine_next_async_event(b->engine, &event));
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
		assert_int_equal(plx_engine_qp_modify(b->qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
		pair_stop(&pair);
	}
	pair_close(&pair);
}

static void
the_descriptor_is_readable_while_there_is_an_event(void **state)
{
	struct pair_side *a = &pair.side[0];
	struct plx_async_event event;
	int fd;
	(void)state;
	for (int early = 0; early < 2; early++) {
		pair_open(&pair, false);
		pair_connect(&pair, 16);
		while (plx_engine_next_async_event(a->engine, &event))
			;
		if (early)
			assert_false(readable(plx_engine_async_event_fd(a->engine)));
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_ERROR, NULL, NULL), PLX_OK);
		pair_stop(&pair);
		pair_run(&pair, 3000);
		fd = plx_engine_async_event_fd(a->engine);
		assert_int_equal(plx_engine_async_event_fd(a->engine), fd);
		assert_true(readable(fd));
		assert_true(plx_engine_next_async_event(a->engine, &event));
		while (plx_engine_next_async_event(a->engine, &event))
			;
		assert_false(readable(fd));
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_overrun_fails_its_users_and_nobody_else),
		cmocka_unit_test(what_the_ring_has_no_room_for_waits_at_its_object),
		cmocka_unit_test(with_a_full_ring_no_kind_of_event_waits_for_ever_behind_another),
		cmocka_unit_test(events_of_the_second_life_are_told_too),
		cmocka_unit_test(the_descriptor_is_readable_while_there_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
