/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues in a cycle: their one command, which is resizing, and how many of them a cycle
 * serves that have a backlog or have overrun. The queues themselves are in
 * tests/unit/engine/queue/cq.c.
 */
#include "plx_engine_cycle.h"
#include "engine_pair.h"
#include "test.h"

static struct pair pair;

static struct plx_cq *
make(uint32_t depth, bool strict)
{
	const struct plx_engine_cq_config config = {
		.depth = depth, .strict = strict, .cookie = 0xc0};
	struct plx_cq *cq = NULL;

	assert_int_equal(plx_engine_cq_create(pair.side[0].engine, &config, &cq), PLX_OK);
	return cq;
}

static void
destroy(struct plx_cq *cq)
{
	pair_start(&pair);
	assert_int_equal(plx_engine_cq_destroy(cq), PLX_OK);
	pair_stop(&pair);
}

static void
produce(struct plx_cq *cq, uint64_t first, uint32_t n)
{
	struct plx_wc wc;

	for (uint64_t i = first; i < first + n; i++) {
		wc = (struct plx_wc){.wr_id = i, .status = PLX_WC_SUCCESS};
		engine_cq_push(whole_cq_back(cq), &wc, 1);
	}
	engine_cq_notify(whole_cq_back(cq));
}

static void
consume(struct plx_cq *cq, uint64_t first, uint32_t n)
{
	struct plx_wc wc;

	for (uint64_t i = first; i < first + n; i++) {
		assert_int_equal(plx_engine_cq_poll(cq, &wc, 1), 1);
		assert_int_equal(wc.wr_id, i);
	}
	if (n == 0)
		assert_int_equal(plx_engine_cq_poll(cq, &wc, 1), 0);
}

static void
resizing_keeps_the_entries(void **state)
{
	struct plx_cq *cq = make(7, true);
	struct plx_engine_cq_view view;
	(void)state;
	produce(cq, 0, 6);
	pair_start(&pair);
	assert_int_equal(plx_engine_cq_resize(cq, 0), PLX_INVALID);
	assert_int_equal(plx_engine_cq_resize(cq, PLX_CQ_DEPTH_MAX + 1), PLX_INVALID);
	assert_int_equal(plx_engine_cq_resize(cq, 5), PLX_BUSY);
	assert_int_equal(plx_engine_cq_resize(cq, 6), PLX_OK);
	assert_int_equal(plx_engine_cq_resize(cq, 40), PLX_OK);
	pair_stop(&pair);
	produce(cq, 6, 34);
	consume(cq, 0, 7);
	engine_cq_refill(whole_cq_back(cq));
	pair_start(&pair);
	assert_int_equal(plx_engine_cq_resize(cq, 32), PLX_BUSY);
	assert_int_equal(plx_engine_cq_resize(cq, 33), PLX_OK);
	pair_stop(&pair);
	plx_engine_cq_query(cq, &view);
	assert_int_equal(view.depth, 33);
	assert_false(view.overrun);
	for (uint64_t out = 7; out < 40; out += 3) {
		consume(cq, out, 3);
		engine_cq_refill(whole_cq_back(cq));
	}
	consume(cq, 40, 0);
	destroy(cq);
}

enum {
	QUEUES = REFILLS_BURST + 8,
	ENTRIES = 40,
};

/* Queues whose backlog is shorter than in `before`, which is renewed. */
static uint32_t
refilled(struct plx_cq **cqs, uint32_t *before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < QUEUES; i++) {
		uint32_t now = whole_cq_back(cqs[i])->spill_count;

		n += now < before[i];
		before[i] = now;
	}
	return n;
}

static void
a_cycle_serves_so_many_backlogs_and_the_next_one_goes_on(void **state)
{
	struct plx_cq *cqs[QUEUES];
	uint32_t before[QUEUES], cycles = 0, left = QUEUES;
	uint64_t out[QUEUES] = {0};
	(void)state;
	for (uint32_t i = 0; i < QUEUES; i++) {
		cqs[i] = make(7, true);
		pair_start(&pair);
		assert_int_equal(plx_engine_cq_resize(cqs[i], ENTRIES), PLX_OK);
		pair_stop(&pair);
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		produce(cqs[i], 0, ENTRIES);
		before[i] = whole_cq_back(cqs[i])->spill_count;
		assert_true(before[i] > 0);
		consume(cqs[i], 0, 4);
		out[i] = 4;
	}
	pair_run(&pair, 1);
	assert_int_equal(refilled(cqs, before), REFILLS_BURST);
	pair_run(&pair, 1);
	assert_int_equal(refilled(cqs, before), QUEUES - REFILLS_BURST);
	/* Now that programs poll, few backlogs a cycle end: each costs a look at all queue pairs.
	 */
	for (; left > 0 && cycles < 1000; cycles++) {
		uint32_t ended = 0;

		for (uint32_t i = 0; i < QUEUES; i++)
			for (; plx_ring_untrusted_count(&whole_cq_back(cqs[i])->ring) > 0; out[i]++)
				consume(cqs[i], out[i], 1);
		pair_run(&pair, 1);
		for (uint32_t i = 0; i < QUEUES; i++)
			ended += before[i] > 0 && whole_cq_back(cqs[i])->spill_count == 0;
		(void)refilled(cqs, before);
		assert_in_range(ended, 0, RELEASES_BURST);
		left -= ended;
	}
	assert_int_equal(left, 0);
	for (uint32_t i = 0; i < QUEUES; i++) {
		consume(cqs[i], out[i], (uint32_t)(ENTRIES - out[i]));
		destroy(cqs[i]);
	}
}

static void
a_cycle_fails_users_of_so_many_overrun_queues_and_the_next_one_goes_on(void **state)
{
	struct plx_cq *cqs[2 * BROKEN_BURST + 1];
	const struct plx_list *broken = &pair.side[0].engine->queues.broken;
	uint32_t cycles = 0;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(cqs); i++) {
		cqs[i] = make(1, true);
		produce(cqs[i], 0, 2);
	}
	for (; !plx_list_empty(broken) && cycles < 100; cycles++) {
		assert_int_equal(plx_engine_wake_ns(pair.side[0].engine), 0);
		pair_run(&pair, 1);
	}
	assert_int_equal(cycles, 3);
	for (uint32_t i = 0; i < PLX_COUNT_OF(cqs); i++)
		destroy(cqs[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resizing_keeps_the_entries),
		cmocka_unit_test(a_cycle_serves_so_many_backlogs_and_the_next_one_goes_on),
		cmocka_unit_test(
			a_cycle_fails_users_of_so_many_overrun_queues_and_the_next_one_goes_on),
	};
	int failed;

	pair_open(&pair, false);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	pair_close(&pair);
	return failed;
}
