/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads: every idle policy, adding and removing engines under load, quiescence, and each
 * refusal with its message. Start with traffic().
 */
#include <rte_rcu_qsbr.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "engine_pair.h"
#include "plx_engine_cycle.h"

static struct pair pair;

static struct plx_worker *
start(enum plx_idle idle, int core)
{
	const struct plx_worker_config config = {.core = core, .idle = idle, .name = "plx-test"};
	struct plx_worker *worker = NULL;
	struct plx_why why;

	assert_int_equal(plx_worker_start(&config, &worker, &why), PLX_OK);
	return worker;
}

/* The fixture's own poller connects in virtual time; from then on the clock is the worker's, which
 * is ahead of it. */
static void
open_for_workers(void)
{
	struct pair_options options = pair_defaults(64);

	options.attr.ack_timeout_ns = PLX_SEC;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
}

static void
close_after_workers(void)
{
	pair.now = plx_clock_ns();
	pair_close(&pair);
}

static void
traffic(uint32_t messages)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t end = plx_clock_ns() + 20 * PLX_SEC;
	uint32_t sent = 0, done = 0;
	struct plx_wc wc[16];

	while (done < messages) {
		uint32_t n;

		assert_true(plx_clock_ns() < end);
		while (sent < messages && pair_write(a, b, sent, 0, 512, 0) == PLX_OK)
			sent++;
		n = plx_engine_cq_poll(a->send_cq, wc, 16);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(wc[i].wr_id, done++);
			assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
		}
		if (n == 0)
			sched_yield();
	}
}

static void
every_idle_policy_moves_messages(void **state)
{
	(void)state;
	for (enum plx_idle idle = PLX_IDLE_SPIN; idle < PLX_IDLE_COUNT; idle++) {
		struct plx_worker *worker;

		open_for_workers();
		worker = start(idle, -1);
		/* The ports are arrays: one worker polls both. */
		assert_int_equal(plx_worker_add(worker, pair.side[0].engine), PLX_OK);
		assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_OK);
		traffic(2000);
		usleep(2000);
		plx_worker_remove(worker, pair.side[0].engine);
		plx_worker_remove(worker, pair.side[1].engine);
		plx_worker_stop(worker);
		close_after_workers();
	}
}

static uint64_t
cycles_of(struct plx_engine *engine)
{
	return __atomic_load_n(&plx_engine_counters(engine)->cycles, __ATOMIC_RELAXED);
}

static void
a_removed_engine_is_not_touched_and_may_come_back(void **state)
{
	struct plx_worker *worker, *other;
	struct plx_engine *engine;
	uint64_t cycles;
	(void)state;
	open_for_workers();
	engine = pair.side[0].engine;
	worker = start(PLX_IDLE_YIELD, -1);
	other = start(PLX_IDLE_YIELD, -1);
	assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_OK);
	for (uint32_t round = 0; round < 50; round++) {
		assert_int_equal(plx_worker_add(worker, engine), PLX_OK);
		traffic(50);
		/* In the middle of traffic. */
		for (uint32_t i = 0; i < 20; i++)
			assert_int_equal(pair_write(&pair.side[0], &pair.side[1], i, 0, 8,
						    PLX_WR_UNSIGNALED),
					 PLX_OK);
		plx_worker_remove(worker, engine);
		cycles = cycles_of(engine);
		usleep(500);
		assert_int_equal(cycles_of(engine), cycles);
	}
	/* One that the worker does not have. */
	plx_worker_remove(other, engine);
	assert_int_equal(plx_worker_add(worker, engine), PLX_OK);
	traffic(100);
	plx_worker_remove(worker, engine);
	plx_worker_remove(worker, pair.side[1].engine);
	plx_worker_stop(worker);
	plx_worker_stop(other);
	close_after_workers();
}

/* The same one many times is many engines to a worker. */
static struct plx_worker *
start_with(uint32_t engines)
{
	struct plx_worker *worker;

	open_for_workers();
	worker = start(PLX_IDLE_YIELD, -1);
	for (uint32_t i = 0; i < engines; i++)
		assert_int_equal(plx_worker_add(worker, pair.side[0].engine), PLX_OK);
	return worker;
}

/* It has one of the other side, and as many of the first as fit beside it. */
static void
stop_full(struct plx_worker *worker)
{
	traffic(100);
	for (uint32_t i = 1; i < PLX_WORKER_ENGINES_MAX; i++)
		plx_worker_remove(worker, pair.side[0].engine);
	plx_worker_remove(worker, pair.side[1].engine);
	plx_worker_stop(worker);
	close_after_workers();
}

/* The worker tells it in its next round. */
static void
await_company(const struct pair_side *side, bool has_company)
{
	uint32_t room = has_company ? PLX_PORT_BURST : TX_ROOM - TX_RESERVE;

	test_until(*(volatile uint32_t *)&side->engine->bulk_room == room, sched_yield());
}

static void
engines_are_told_whether_they_share_the_worker(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_worker *worker;

	(void)state;
	open_for_workers();
	worker = start(PLX_IDLE_YIELD, -1);
	assert_int_equal(plx_worker_add(worker, a->engine), PLX_OK);
	await_company(a, false);
	assert_int_equal(plx_worker_add(worker, b->engine), PLX_OK);
	await_company(a, true);
	await_company(b, true);
	plx_worker_remove(worker, a->engine);
	await_company(b, false);
	plx_worker_remove(worker, b->engine);
	plx_worker_stop(worker);
	close_after_workers();
}

static void
a_worker_takes_so_many_engines_and_no_more(void **state)
{
	struct plx_worker *worker = start_with(PLX_WORKER_ENGINES_MAX);
	(void)state;
	assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_FULL);
	plx_worker_remove(worker, pair.side[0].engine);
	assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_OK);
	stop_full(worker);
}

static void
an_engine_in_the_last_place_is_polled(void **state)
{
	struct plx_worker *worker = start_with(PLX_WORKER_ENGINES_MAX - 1);
	(void)state;
	assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_OK);
	stop_full(worker);
}

static void
a_core_that_is_not_there_is_named(void **state)
{
	struct plx_worker_config config = {.idle = PLX_IDLE_SPIN,
					   .name = "a-name-that-is-too-long"};
	long cores = sysconf(_SC_NPROCESSORS_CONF);
	struct plx_worker *worker = NULL;
	struct plx_why why = {{0}};
	char number[32];
	(void)state;
	config.core = (int)cores;
	assert_int_equal(plx_worker_start(&config, &worker, &why), PLX_INVALID);
	snprintf(number, sizeof(number), "no core %ld", cores);
	assert_non_null(strstr(why.text, number));
	snprintf(number, sizeof(number), "0 to %ld", cores - 1);
	assert_non_null(strstr(why.text, number));
	config.core = -2;
	assert_int_equal(plx_worker_start(&config, &worker, NULL), PLX_INVALID);
	assert_null(worker);
	/* A core of ours, and a truncated name. */
	config.core = sched_getcpu();
	assert_int_equal(plx_worker_start(&config, &worker, &why), PLX_OK);
	plx_worker_stop(worker);
}

/* Deregistering waits for this: an engine reports quiescence while a worker polls it, and is not
 * waited for when nobody does. */
static void
quiescence_is_reported_while_a_worker_polls(void **state)
{
	struct plx_engine_config config;
	struct rte_rcu_qsbr *rcu = NULL;
	struct plx_worker *worker;
	struct plx_engine *engine;
	uint64_t token;
	(void)state;
	pair_open(&pair, false);
	assert_int_equal(posix_memalign((void **)&rcu, 64, rte_rcu_qsbr_get_memsize(1)), 0);
	assert_int_equal(rte_rcu_qsbr_init(rcu, 1), 0);
	config = pair.side[0].config;
	config.rcu = rcu;
	assert_int_equal(plx_engine_create(&config, &engine, NULL), PLX_OK);
	token = rte_rcu_qsbr_start(rcu);
	assert_int_equal(rte_rcu_qsbr_check(rcu, token, false), 1);
	worker = start(PLX_IDLE_YIELD, -1);
	assert_int_equal(plx_worker_add(worker, engine), PLX_OK);
	while (cycles_of(engine) == 0)
		sched_yield();
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t cycles = cycles_of(engine);

		token = rte_rcu_qsbr_start(rcu);
		assert_int_equal(rte_rcu_qsbr_check(rcu, token, true), 1);
		/* The cycle that ran is over: its end is counted after its report. */
		while (cycles_of(engine) == cycles)
			sched_yield();
	}
	plx_worker_remove(worker, engine);
	token = rte_rcu_qsbr_start(rcu);
	assert_int_equal(rte_rcu_qsbr_check(rcu, token, false), 1);
	plx_worker_stop(worker);
	plx_engine_destroy(engine);
	free(rcu);
	pair_close(&pair);
}

/* ---- engines ---- */

static void
an_engine_that_cannot_be_is_refused_with_a_sentence(void **state)
{
	struct plx_engine_config good, bad;
	struct plx_engine *engine = NULL;
	struct plx_why why;
	(void)state;
	pair_open(&pair, true);
	good = pair.side[0].config;
	bad = good;
	bad.qps = 0;
	assert_int_equal(plx_engine_create(&bad, &engine, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "16384"));
	bad.qps = PLX_ENGINE_QPS_MAX + 1;
	assert_int_equal(plx_engine_create(&bad, &engine, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "16385"));
	bad = good;
	for (uint32_t engines = 0; engines <= PLX_ENGINES_MAX + 1; engines++) {
		bad.engines = engines;
		bad.index = engines;
		assert_int_equal(plx_engine_create(&bad, &engine, &why), PLX_INVALID);
		assert_non_null(strstr(why.text, "1 to 16"));
		bad.index = 0;
		if (engines == 1)
			continue;
		assert_int_equal(plx_engine_create(&bad, &engine, &why), PLX_INVALID);
		assert_non_null(
			strstr(why.text, engines < 2 || engines > 16 ? "1 to 16" : "group"));
	}
	bad = good;
	bad.rcu = (struct rte_rcu_qsbr *)(void *)&pair;
	assert_int_equal(plx_engine_create(&bad, &engine, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "rcu"));
	plx_why_set(&why, "%300s", "long");
	assert_int_equal(strlen(why.text), sizeof(why.text) - 1);
	pair_close(&pair);
}

static void
numbers_lead_to_their_engine(void **state)
{
	const struct plx_engine_group_config eight = {
		.engines = 8, .handoff_depth = 1, .socket = -1};
	struct plx_engine_config config;
	struct plx_numbers numbers;

	(void)state;
	pair_open(&pair, true);
	config = pair.side[0].config;
	config.secret = (struct plx_secret){{11, 12}};
	plx_numbers_init(&numbers, &config.secret, 0, 8);
	assert_int_equal(plx_engine_group_create(&eight, &config.group), PLX_OK);
	for (uint32_t index = 0; index < 8; index++) {
		const struct plx_engine_cq_config cq = {.depth = 4};
		struct plx_engine_qp_config qp = {
			.domain = pair.side[0].domain, .caps = {.sq_depth = 1}, .rq_depth = 1};
		struct plx_engine *engine;
		struct plx_qp *qps[20];

		config.engines = 8;
		config.index = index;
		assert_int_equal(plx_engine_create(&config, &engine, NULL), PLX_OK);
		assert_int_equal(plx_engine_cq_create(engine, &cq, &qp.send_cq), PLX_OK);
		qp.recv_cq = qp.send_cq;
		for (uint32_t i = 0; i < 20; i++) {
			assert_int_equal(plx_engine_qp_create(engine, &qp, &qps[i]), PLX_OK);
			assert_int_equal(plx_numbers_engine(&numbers, plx_engine_qp_number(qps[i])),
					 index);
		}
		for (uint32_t i = 0; i < 20; i++)
			assert_int_equal(plx_engine_qp_destroy(qps[i]), PLX_OK);
		assert_int_equal(plx_engine_cq_destroy(qp.send_cq), PLX_OK);
		plx_engine_destroy(engine);
	}
	plx_engine_group_destroy(config.group);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_idle_policy_moves_messages),
		cmocka_unit_test(a_removed_engine_is_not_touched_and_may_come_back),
		cmocka_unit_test(engines_are_told_whether_they_share_the_worker),
		cmocka_unit_test(a_worker_takes_so_many_engines_and_no_more),
		cmocka_unit_test(an_engine_in_the_last_place_is_polled),
		cmocka_unit_test(a_core_that_is_not_there_is_named),
		cmocka_unit_test(quiescence_is_reported_while_a_worker_polls),
		cmocka_unit_test(an_engine_that_cannot_be_is_refused_with_a_sentence),
		cmocka_unit_test(numbers_lead_to_their_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
