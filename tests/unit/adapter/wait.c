/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for engines: until none can use a key any more, and until all are polled. The two differ
 * where nobody polls one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_rcu_qsbr.h>

#include "eal.h"
#include "engine_pair.h"
#include "plx_adapter_object.h"

enum {
	ENGINES = 3,
};

static struct host_adapter adapter;
static struct pair pair;

static void
report(uint32_t engine)
{
	rte_rcu_qsbr_quiescent(adapter.rcu, engine);
}

static int
set_up(void **state)
{
	void *memory = NULL;

	(void)state;
	if (posix_memalign(&memory, 64, rte_rcu_qsbr_get_memsize(ENGINES)) != 0)
		return -1;
	adapter = (struct host_adapter){.engines = ENGINES, .rcu = memory};
	return rte_rcu_qsbr_init(adapter.rcu, ENGINES);
}

static int
tear_down(void **state)
{
	(void)state;
	free(adapter.rcu);
	return 0;
}

static void
an_engine_that_nobody_polls_cannot_use_a_key(void **state)
{
	uint64_t token = plx_engines_token(&adapter);

	(void)state;
	assert_int_equal(plx_engines_wait(&adapter, token, 0), PLX_OK);
	rte_rcu_qsbr_thread_online(adapter.rcu, 1);
	token = plx_engines_token(&adapter);
	assert_int_equal(plx_engines_wait(&adapter, token, PLX_MSEC), PLX_TIMEOUT);
	report(1);
	assert_int_equal(plx_engines_wait(&adapter, token, 0), PLX_OK);
}

static void *
poll_all(void *stop)
{
	while (!atomic_load((atomic_bool *)stop))
		pair_poll_side(&pair, 0);
	return NULL;
}

static void
all_run_when_each_is_polled(void **state)
{
	atomic_bool stop = false;
	pthread_t thread;

	(void)state;
	pair_open_with(&pair, &(struct pair_setup){.engines = ENGINES});
	for (uint32_t i = 0; i < ENGINES; i++)
		adapter.engine[i] = pair.side[0].all[i];
	assert_int_equal(plx_engines_run(&adapter, PLX_MSEC), PLX_TIMEOUT);
	assert_int_equal(pthread_create(&thread, NULL, poll_all, &stop), 0);
	assert_int_equal(plx_engines_run(&adapter, 20 * PLX_SEC), PLX_OK);
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pair_close(&pair);
}

/* Each time it sleeps again until it is asked. */
static void
one_whose_thread_sleeps_runs(void **state)
{
	const struct plx_worker_config config = {.core = -1,
						 .idle = PLX_IDLE_ADAPTIVE,
						 .name = "plx-test",
						 .awake_ns = 1,
						 .sleep_max_ns = 3600 * PLX_SEC};
	struct plx_worker *worker;

	(void)state;
	pair_open_with(&pair, &(struct pair_setup){.engines = ENGINES});
	assert_int_equal(plx_worker_start(&config, &worker, NULL), PLX_OK);
	for (uint32_t i = 0; i < ENGINES; i++) {
		adapter.engine[i] = pair.side[0].all[i];
		assert_int_equal(plx_worker_add(worker, adapter.engine[i]), PLX_OK);
	}
	for (uint32_t i = 0; i < 20; i++) {
		usleep(2000);
		assert_int_equal(plx_engines_run(&adapter, 20 * PLX_SEC), PLX_OK);
	}
	for (uint32_t i = 0; i < ENGINES; i++)
		plx_worker_remove(worker, adapter.engine[i]);
	plx_worker_stop(worker);
	pair_close(&pair);
}

static void
an_inline_adapter_runs_whenever_it_is_called(void **state)
{
	struct host_adapter inlined = {.engines = 1};

	(void)state;
	assert_int_equal(plx_engines_run(&inlined, 0), PLX_OK);
	assert_int_equal(plx_engines_wait(&inlined, plx_engines_token(&inlined), 0), PLX_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_engine_that_nobody_polls_cannot_use_a_key,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_run_when_each_is_polled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_whose_thread_sleeps_runs, set_up, tear_down),
		cmocka_unit_test(an_inline_adapter_runs_whenever_it_is_called),
	};

	test_eal_start(); /* for the clock */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
