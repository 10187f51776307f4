/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bells of attached programs, by which they wake the worker of a host that sleeps: they ring when
 * it does, end with their seat, and whatever a program does to its own harms no other. Start with
 * a_post_to_a_host_that_sleeps_rings().
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"
#include "plx_objects.h"

enum {
	TURNS = 50,
};

static struct host_process host;

static int
bell_of(const struct host_side *side)
{
	int bell = side->adapter->engine[0].bell;

	assert_true(bell >= 0);
	return bell;
}

/* How often it was rung since the last time; so it is empty again. */
static uint64_t
times_rung(const struct host_side *side)
{
	uint64_t times;

	return read(bell_of(side), &times, sizeof(times)) > 0 ? times : 0;
}

static void
a_post_to_a_host_that_sleeps_rings(void **state)
{
	struct host_side a, b;
	uint64_t rung = 0;

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_join(&a, &b);
	for (int i = 0; i < TURNS; i++) {
		usleep(5000); /* it sleeps after 0.1 ms */
		host_side_write(&a, &b, (uint8_t)i);
		rung += times_rung(&a);
	}
	assert_true(rung >= TURNS / 2);
	assert_int_equal(times_rung(&b), 0);
	host_side_close(&a);
	host_side_close(&b);
	host_side_await_nothing(&host);
}

static void
fill(const struct host_side *side)
{
	const uint64_t full = UINT64_MAX - 1;

	(void)times_rung(side);
	assert_int_equal(write(bell_of(side), &full, sizeof(full)), sizeof(full));
}

static atomic_bool enough;

static void *
ring_for_ever(void *side)
{
	const uint64_t one = 1;

	while (!atomic_load(&enough)) {
		(void)!write(bell_of(side), &one, sizeof(one));
		(void)times_rung(side);
	}
	return NULL;
}

static void
a_bell_that_is_full_or_rings_for_ever_harms_nobody_else(void **state)
{
	struct host_side a, b, c, d;
	pthread_t thread;

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_open(&c, "a");
	host_side_open(&d, "b");
	host_side_join(&a, &b);
	host_side_join(&c, &d);
	for (int i = 0; i < TURNS; i++) {
		fill(&a);
		usleep(1000);
		host_side_write(&c, &d, (uint8_t)i);
		host_side_write(&a, &b, (uint8_t)i);
	}
	(void)times_rung(&a);
	assert_int_equal(pthread_create(&thread, NULL, ring_for_ever, &a), 0);
	for (int i = 0; i < TURNS; i++) {
		usleep(1000);
		host_side_write(&c, &d, (uint8_t)i);
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	host_side_close(&a);
	host_side_close(&b);
	host_side_close(&c);
	host_side_close(&d);
	host_side_await_nothing(&host);
}

static void
a_bell_ends_with_its_seat(void **state)
{
	struct host_side side;
	unsigned before;

	(void)state;
	host_side_open(&side, "a");
	host_side_close(&side);
	before = host_side_descriptors();
	for (int i = 0; i < TURNS; i++) {
		host_side_open(&side, "a");
		(void)bell_of(&side);
		host_side_close(&side);
	}
	assert_int_equal(host_side_descriptors(), before);
	host_side_await_nothing(&host);
}

/* A second one is not to be had, nor one of an engine that is not there. */
static void
there_is_one_bell_for_each_engine(void **state)
{
	struct plx_ipc_object request = {{0}};
	struct plx_ipc_bell reply;
	struct host_side side;

	(void)state;
	host_side_open(&side, "a");
	assert_int_equal(adapter_call(side.adapter, PLX_IPC_BELL, &request, &reply, NULL),
			 PLX_STATE);
	request.object.v = 1;
	assert_int_equal(adapter_call(side.adapter, PLX_IPC_BELL, &request, &reply, NULL),
			 PLX_NO_KEY);
	request.object.v = UINT64_MAX;
	assert_int_equal(adapter_call(side.adapter, PLX_IPC_BELL, &request, &reply, NULL),
			 PLX_NO_KEY);
	host_side_close(&side);
	host_side_await_nothing(&host);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_post_to_a_host_that_sleeps_rings),
		cmocka_unit_test(a_bell_that_is_full_or_rings_for_ever_harms_nobody_else),
		cmocka_unit_test(a_bell_ends_with_its_seat),
		cmocka_unit_test(there_is_one_bell_for_each_engine),
	};

	setenv("POLLUX_TEST_IDLE", "adaptive", 1);
	return host_side_run(&host, tests, PLX_COUNT_OF(tests));
}
