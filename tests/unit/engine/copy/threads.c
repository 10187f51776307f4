/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The FIFO of copies between an engine and a thread that run concurrently: each copy is carried out
 * once, in order, with its bytes, and its result comes back. The thread sleeps between them, or is
 * too slow. Start with copies_come_back_in_order().
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "eal.h"
#include "plx_copy.h"

enum {
	COPIES = 20000,
	PAUSE_US = 200,
};

static struct {
	struct plx_copier *copier;
	uint32_t pause_every; /* copies after which the thread pauses; 0: never */
	atomic_uint wrong;
} crew;

/* What copy i is. Every third is a load. */
static uint32_t
bytes_of(uint32_t i)
{
	return 1 + i * 797 % PLX_COPY_BYTES_MAX;
}

static bool
is_load(uint32_t i)
{
	return i % 3 == 2;
}

static void *
carry_out(void *arg)
{
	struct plx_copy copy;
	uint32_t i = 0;

	(void)arg;
	for (; plx_copier_wait(crew.copier, &copy); i++) {
		bool right = copy.bytes == bytes_of(i) && (copy.staged == NULL) == is_load(i) &&
			     (uintptr_t)copy.shadow == i + 1;

		for (uint32_t at = 0; copy.staged != NULL && at < copy.bytes; at++)
			right &= copy.staged[at] == (uint8_t)i;
		atomic_fetch_add(&crew.wrong, !right);
		if (crew.pause_every > 0 && i % crew.pause_every == 0)
			usleep(PAUSE_US);
		plx_copier_finish(crew.copier, i % 5 == 0);
	}
	return NULL;
}

static void
ask(uint32_t i)
{
	static uint8_t bytes[PLX_COPY_BYTES_MAX];
	void *shadow = (void *)(uintptr_t)(i + 1);

	if (is_load(i)) {
		plx_copier_load(crew.copier, shadow, bytes_of(i));
		return;
	}
	memset(bytes, (int)i, bytes_of(i));
	plx_copier_place(crew.copier, shadow, bytes, bytes_of(i));
}

/* @param pause_us of the engine's, before every 100th */
static void
run(uint32_t copies, uint32_t pause_every, uint32_t pause_us)
{
	uint32_t asked = 0, taken = 0;
	pthread_t thread;

	crew.copier = plx_copier_create();
	crew.pause_every = pause_every;
	assert_non_null(crew.copier);
	assert_int_equal(pthread_create(&thread, NULL, carry_out, NULL), 0);
	while (taken < copies) {
		bool failed;

		if (asked < copies && plx_copier_room(crew.copier) > 0) {
			if (pause_us > 0 && asked % 100 == 0)
				usleep(pause_us);
			ask(asked++);
			/* not for each: the thread finds what it was not told of */
			if (asked % 3 == 0 || asked == copies)
				plx_copier_ring(crew.copier);
		} else {
			plx_copier_ring(crew.copier);
			sched_yield();
		}
		while (plx_copier_take(crew.copier, &failed)) {
			assert_int_equal(failed, taken % 5 == 0);
			taken++;
		}
	}
	assert_int_equal(plx_copier_asked(crew.copier), copies);
	assert_true(plx_copier_is_idle(crew.copier, copies));
	assert_int_equal(plx_copier_room(crew.copier), PLX_COPIES_MAX);
	plx_copier_stop(crew.copier);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&crew.wrong), 0);
	plx_copier_free(crew.copier);
}

static void
copies_come_back_in_order(void **state)
{
	(void)state;
	run(COPIES, 0, 0);
}

static void
a_thread_that_sleeps_is_woken(void **state)
{
	(void)state;
	run(COPIES / 10, 0, PAUSE_US);
}

static void
a_slow_thread_fills_it_and_loses_nothing(void **state)
{
	(void)state;
	run(4 * PLX_COPIES_MAX, 50, 0);
}

static void
one_that_sleeps_is_stopped(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++)
		run(i % 3 == 0, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_come_back_in_order),
		cmocka_unit_test(a_thread_that_sleeps_is_woken),
		cmocka_unit_test(a_slow_thread_fills_it_and_loses_nothing),
		cmocka_unit_test(one_that_sleeps_is_stopped),
	};

	test_eal_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
