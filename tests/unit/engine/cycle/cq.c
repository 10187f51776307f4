/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The completion queue's one command to the engine: resizing. The queues themselves are in
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resizing_keeps_the_entries),
	};
	int failed;

	pair_open(&pair, false);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	pair_close(&pair);
	return failed;
}
