/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nobody sleeps and nobody polls: then requests begin, end and are reaped without a system call.
 */
#include "bench.h"

#include "watch.h"

enum {
	ROUNDS = 10000,
	DEPTH = 8, /* requests that are pending together */
	REQUESTS = 0,
	EVENTS,
	RESULTS,
	CANCELS,
	CONTROL,
};

static struct bench bench;
static HANDLE event;

static void
begin_all(OVERLAPPED *overlapped, struct plx_pending **pending)
{
	for (int i = 0; i < DEPTH; i++) {
		pending[i] = plx_pending_begin(&bench.list, &overlapped[i]);
		assert_non_null(pending[i]);
	}
}

static void
reap_all(void)
{
	OVERLAPPED *out;
	ULONG_PTR key;
	DWORD bytes;

	for (int i = 0; i < DEPTH; i++) {
		GetQueuedCompletionStatus(bench.port, &bytes, &key, &out, INFINITE);
		assert_non_null(out);
	}
	assert_false(GetQueuedCompletionStatus(bench.port, &bytes, &key, &out, 0));
}

static void
requests(unsigned rounds, bool cancel)
{
	OVERLAPPED overlapped[DEPTH] = {0};
	struct plx_pending *pending[DEPTH];

	overlapped[0].hEvent = event;
	while (rounds--) {
		begin_all(overlapped, pending);
		if (cancel)
			assert_int_equal(plx_pending_cancel_all(&bench.list), DEPTH);
		for (int i = 0; i < DEPTH; i++)
			assert_true(plx_pending_finish(pending[i], 0, 0) != cancel);
		reap_all();
		assert_int_equal(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
	}
}

static void
results(unsigned rounds)
{
	OVERLAPPED overlapped = {.hEvent = (HANDLE)((uintptr_t)event | 1)};

	while (rounds--) {
		struct plx_pending *pending = plx_pending_begin(&bench.list, &overlapped);

		assert_int_equal(plx_overlapped_result(&overlapped, false), STATUS_PENDING);
		assert_true(plx_pending_finish(pending, 0, 0));
		assert_int_equal(plx_overlapped_result(&overlapped, true), 0);
	}
}

static void
events(unsigned rounds)
{
	while (rounds--) {
		assert_true(SetEvent(event));
		assert_int_equal(WaitForMultipleObjects(1, &event, TRUE, INFINITE), WAIT_OBJECT_0);
		assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
	}
}

static void
run(void)
{
	bench = bench_open(true);
	event = new_event(FALSE);
	/* Once before: malloc and the table of handles take what they need. */
	requests(2, false);
	requests(2, true);
	results(2);
	watch_begin(REQUESTS);
	requests(ROUNDS, false);
	watch_end(REQUESTS);
	watch_begin(CANCELS);
	requests(ROUNDS, true);
	watch_end(CANCELS);
	watch_begin(RESULTS);
	results(ROUNDS);
	watch_end(RESULTS);
	watch_begin(EVENTS);
	events(ROUNDS);
	watch_end(EVENTS);
	/* With a descriptor there are system calls, so that a count of none means something. */
	assert_true(plx_handle_fd(event) >= 0);
	watch_begin(CONTROL);
	events(1);
	watch_end(CONTROL);
	bench_close(&bench);
}

static void
nothing_calls_the_system_unless_somebody_sleeps_or_polls(void **state)
{
	struct watch_counts counts[WATCH_PHASES] = {{0}};

	(void)state;
	assert_int_equal(watch_run(run, counts), 0);
	for (int phase = REQUESTS; phase < CONTROL; phase++) {
		assert_int_equal(counts[phase].seen, 1);
		assert_int_equal(counts[phase].first_call, -1);
		assert_int_equal(counts[phase].calls, 0);
	}
	assert_int_equal(counts[CONTROL].seen, 1);
	assert_int_equal(counts[CONTROL].calls, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_calls_the_system_unless_somebody_sleeps_or_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
