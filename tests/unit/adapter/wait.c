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

#include <cmocka.h>
#include <rte_rcu_qsbr.h>

#include "eal.h"
#include "plx_adapter_object.h"

enum {
	ENGINES = 3,
};

static struct host_adapter adapter;

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
		for (uint32_t i = 0; i < ENGINES; i++)
			report(i);
	return NULL;
}

static void
all_run_when_each_is_polled(void **state)
{
	atomic_bool stop = false;
	pthread_t thread;

	(void)state;
	assert_int_equal(plx_engines_run(&adapter, 0), PLX_TIMEOUT);
	for (uint32_t i = 0; i < ENGINES; i++) {
		rte_rcu_qsbr_thread_online(adapter.rcu, i);
		assert_int_equal(plx_engines_run(&adapter, PLX_MSEC), PLX_TIMEOUT);
	}
	assert_int_equal(pthread_create(&thread, NULL, poll_all, &stop), 0);
	assert_int_equal(plx_engines_run(&adapter, 20 * PLX_SEC), PLX_OK);
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
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
		cmocka_unit_test(an_inline_adapter_runs_whenever_it_is_called),
	};

	test_eal_start(); /* for the clock */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
