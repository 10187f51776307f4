/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pumps: waits call those of their thread instead of sleeping, looks call them once, and they come
 * and go while threads wait.
 */
#include "bench.h"

enum {
	ROUNDS = 2000,
};

/* An adapter in inline mode: a request ends with the so-manieth call. */
struct engine {
	struct plx_pending *_Atomic pending;
	atomic_uint calls, needs, inside;
	HANDLE sets, posts; /* when the time has come */
};

static void
pump(void *context)
{
	struct engine *engine = context;
	struct plx_pending *pending;

	if (atomic_fetch_add(&engine->calls, 1) + 1 < atomic_load(&engine->needs))
		return;
	pending = atomic_exchange(&engine->pending, NULL);
	if (pending)
		plx_pending_finish(pending, STATUS_SUCCESS, 0);
	if (engine->sets)
		SetEvent(engine->sets);
	if (engine->posts && atomic_load(&engine->calls) == atomic_load(&engine->needs))
		PostQueuedCompletionStatus(engine->posts, 1, KEY, NULL);
}

static void
a_wait_for_an_event_pumps(void **state)
{
	struct engine engine = {.needs = 10, .sets = new_event(FALSE)};

	(void)state;
	assert_non_null(plx_pump_add(pump, &engine));
	assert_int_equal(WaitForSingleObject(engine.sets, INFINITE), WAIT_OBJECT_0);
	assert_true(engine.calls >= 10);
	plx_pump_remove(pump, &engine);
	engine.calls = 0;
	assert_int_equal(WaitForSingleObject(engine.sets, A_WHILE), WAIT_TIMEOUT);
	assert_int_equal(engine.calls, 0);
	assert_true(CloseHandle(engine.sets));
}

static void
a_wait_for_a_packet_pumps(void **state)
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	struct engine engine = {.needs = 10, .posts = port};

	(void)state;
	assert_non_null(plx_pump_add(pump, &engine));
	{
		OVERLAPPED *out;
		ULONG_PTR key;
		DWORD bytes;

		assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, INFINITE));
		assert_int_equal(engine.calls, 10);
		/* And time still passes. */
		assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &out, A_WHILE));
		assert_int_equal(GetLastError(), WAIT_TIMEOUT);
	}
	plx_pump_remove(pump, &engine);
	assert_true(CloseHandle(port));
}

static void
a_wait_for_a_result_pumps(void **state)
{
	struct bench bench = bench_open(false);
	struct engine engine = {.needs = 10};
	OVERLAPPED overlapped = {0};

	(void)state;
	assert_non_null(plx_pump_add(pump, &engine));
	engine.pending = plx_pending_begin(&bench.list, &overlapped);
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_SUCCESS);
	assert_int_equal(engine.calls, 10);
	plx_pump_remove(pump, &engine);
	bench_close(&bench);
}

static void
a_look_pumps_once(void **state)
{
	struct bench bench = bench_open(true);
	HANDLE event = new_event(TRUE);
	struct engine engine = {.needs = 4};
	OVERLAPPED overlapped = {0};

	(void)state;
	assert_non_null(plx_pump_add(pump, &engine));
	engine.pending = plx_pending_begin(&bench.list, &overlapped);
	assert_false(is_set(event));
	assert_int_equal(engine.calls, 1);
	assert_port_empty(bench.port);
	assert_int_equal(engine.calls, 2);
	assert_int_equal(plx_overlapped_result(&overlapped, false), STATUS_PENDING);
	assert_int_equal(engine.calls, 3);
	/* What the pump brings is found by the very look. */
	assert_packet(bench.port, &overlapped, 0, 0);
	assert_int_equal(engine.calls, 4);
	/* What is there needs no pump. */
	assert_int_equal(plx_overlapped_result(&overlapped, true), STATUS_SUCCESS);
	assert_true(SetEvent(event));
	assert_true(is_set(event));
	assert_int_equal(engine.calls, 4);
	Sleep(1);
	assert_true(engine.calls > 4);
	plx_pump_remove(pump, &engine);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

/* ---- whose it is ---- */

static void *
sleeps(void *event)
{
	assert_int_equal(WaitForSingleObject(event, PATIENT), WAIT_OBJECT_0);
	return NULL;
}

/* Only one thread is ever in it. */
static void
pump_of_one(void *context)
{
	struct engine *engine = context;

	assert_int_equal(atomic_fetch_add(&engine->inside, 1), 0);
	atomic_fetch_add(&engine->calls, 1);
	SwitchToThread();
	atomic_fetch_sub(&engine->inside, 1);
}

/* A thread that waits until it is told to end; nothing of another thread's is called in that. */
struct sleeper {
	HANDLE ends;
	struct engine engine;
	struct plx_pump *pump; /* of the engine */
	bool adds;
};

static void *
waits_with_its_own(void *context)
{
	struct sleeper *sleeper = context;

	if (sleeper->adds)
		sleeper->pump = plx_pump_add(pump_of_one, &sleeper->engine);
	assert_non_null(sleeper->pump);
	plx_pump_claim(sleeper->pump);
	assert_int_equal(WaitForSingleObject(sleeper->ends, PATIENT), WAIT_OBJECT_0);
	return NULL;
}

static void
a_wait_leaves_the_pumps_of_others_alone(void **state)
{
	struct sleeper sleeper = {.ends = new_event(TRUE), .adds = true};
	struct engine ours = {.pending = NULL};
	pthread_t thread = start_thread(waits_with_its_own, &sleeper);
	unsigned before;

	(void)state;
	assert_non_null(plx_pump_add(pump_of_one, &ours));
	while (!atomic_load(&sleeper.engine.calls))
		Sleep(1);
	/* its engine moves on, ours stands while nobody of us waits */
	before = atomic_load(&ours.calls);
	for (unsigned more = atomic_load(&sleeper.engine.calls) + 100;
	     atomic_load(&sleeper.engine.calls) < more;)
		SwitchToThread();
	assert_int_equal(atomic_load(&ours.calls), before);
	Sleep(A_WHILE);
	assert_true(atomic_load(&ours.calls) > before);
	assert_true(SetEvent(sleeper.ends));
	join_thread(thread);
	plx_pump_remove(pump_of_one, &sleeper.engine);
	plx_pump_remove(pump_of_one, &ours);
	assert_true(CloseHandle(sleeper.ends));
}

static void
a_pump_goes_to_who_makes_it_its_own(void **state)
{
	struct sleeper sleeper = {.ends = new_event(TRUE)};
	unsigned before;
	pthread_t thread;

	(void)state;
	sleeper.pump = plx_pump_add(pump_of_one, &sleeper.engine);
	thread = start_thread(waits_with_its_own, &sleeper);
	while (!atomic_load(&sleeper.engine.calls))
		SwitchToThread();
	plx_pump_claim(sleeper.pump);
	/* nobody is in it any more, and nobody comes, though the thread goes on waiting */
	assert_int_equal(atomic_load(&sleeper.engine.inside), 0);
	before = atomic_load(&sleeper.engine.calls);
	for (int i = 0; i < ROUNDS; i++)
		SwitchToThread();
	assert_int_equal(atomic_load(&sleeper.engine.calls), before);
	Sleep(0);
	assert_int_equal(atomic_load(&sleeper.engine.calls), before + 1);
	assert_true(SetEvent(sleeper.ends));
	join_thread(thread);
	plx_pump_remove(pump_of_one, &sleeper.engine);
	assert_true(CloseHandle(sleeper.ends));
}

static void *
takes_again_and_again(void *context)
{
	struct sleeper *sleeper = context;

	for (int i = 0; i < ROUNDS; i++) {
		plx_pump_claim(sleeper->pump);
		Sleep(0);
	}
	return NULL;
}

static void
two_that_take_it_from_each_other_are_never_both_inside(void **state)
{
	struct sleeper sleeper = {.adds = false};
	pthread_t thread[2];

	(void)state;
	sleeper.pump = plx_pump_add(pump_of_one, &sleeper.engine);
	for (int i = 0; i < 2; i++)
		thread[i] = start_thread(takes_again_and_again, &sleeper);
	for (int i = 0; i < 2; i++)
		join_thread(thread[i]);
	assert_true(sleeper.engine.calls > 0);
	plx_pump_remove(pump_of_one, &sleeper.engine);
}

static void *
adds_and_ends(void *context)
{
	assert_non_null(plx_pump_add(pump, context));
	return NULL;
}

static void
who_sleeps_takes_the_pump_of_a_thread_that_has_ended(void **state)
{
	struct engine engine = {.needs = 1, .sets = new_event(TRUE)};
	pthread_t thread = start_thread(sleeps, engine.sets);

	(void)state;
	Sleep(A_WHILE);
	join_thread(start_thread(adds_and_ends, &engine));
	join_thread(thread);
	assert_true(engine.calls > 0);
	plx_pump_remove(pump, &engine);
	assert_true(CloseHandle(engine.sets));
}

/* A pump that waits, adds another and removes itself. */
static void
pump_that_leaves(void *context)
{
	HANDLE event = new_event(TRUE);

	assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
	assert_int_equal(WaitForSingleObject(event, 1), WAIT_TIMEOUT);
	assert_true(CloseHandle(event));
	assert_non_null(plx_pump_add(pump, context));
	plx_pump_remove(pump_that_leaves, context);
}

static void
a_pump_may_wait_and_leave(void **state)
{
	struct engine engine = {.needs = 3, .sets = new_event(TRUE)};

	(void)state;
	assert_non_null(plx_pump_add(pump_that_leaves, &engine));
	assert_int_equal(WaitForSingleObject(engine.sets, PATIENT), WAIT_OBJECT_0);
	assert_true(engine.calls >= 3);
	plx_pump_remove(pump, &engine);
	plx_pump_remove(pump_that_leaves, &engine); /* which is gone: nothing */
	assert_true(CloseHandle(engine.sets));
}

static void
there_is_a_limit(void **state)
{
	struct engine engines[PLX_PUMPS_MAX + 1] = {{.pending = NULL}};

	(void)state;
	for (int i = 0; i < PLX_PUMPS_MAX; i++)
		assert_non_null(plx_pump_add(pump, &engines[i]));
	assert_null(plx_pump_add(pump, &engines[PLX_PUMPS_MAX]));
	Sleep(0);
	for (int i = 0; i < PLX_PUMPS_MAX; i++) {
		assert_int_equal(engines[i].calls, 1);
		plx_pump_remove(pump, &engines[i]);
	}
	assert_non_null(plx_pump_add(pump, &engines[PLX_PUMPS_MAX]));
	plx_pump_remove(pump, &engines[PLX_PUMPS_MAX]);
}

/* ---- removal while others pump ---- */

static void
pump_of_memory(void *context)
{
	atomic_fetch_add((atomic_uint *)context, 1);
}

static void *
adds_it_and_ends(void *context)
{
	assert_non_null(plx_pump_add(pump_of_memory, context));
	return NULL;
}

static void
after_removal_nobody_is_inside(void **state)
{
	HANDLE event = new_event(TRUE);
	pthread_t thread = start_thread(sleeps, event);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		atomic_uint *calls = calloc(1, sizeof(*calls));

		/* so that it is the sleeper's */
		join_thread(start_thread(adds_it_and_ends, calls));
		if (i % 16 == 0)
			while (!atomic_load(calls))
				SwitchToThread();
		plx_pump_remove(pump_of_memory, calls);
		memset(calls, STALE, sizeof(*calls));
		free(calls);
	}
	assert_true(SetEvent(event));
	join_thread(thread);
	assert_true(CloseHandle(event));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_an_event_pumps),
		cmocka_unit_test(a_wait_for_a_packet_pumps),
		cmocka_unit_test(a_wait_for_a_result_pumps),
		cmocka_unit_test(a_look_pumps_once),
		cmocka_unit_test(a_wait_leaves_the_pumps_of_others_alone),
		cmocka_unit_test(a_pump_goes_to_who_makes_it_its_own),
		cmocka_unit_test(two_that_take_it_from_each_other_are_never_both_inside),
		cmocka_unit_test(who_sleeps_takes_the_pump_of_a_thread_that_has_ended),
		cmocka_unit_test(a_pump_may_wait_and_leave),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(after_removal_nobody_is_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
