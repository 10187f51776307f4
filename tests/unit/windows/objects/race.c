/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends against cancels against the end of a list, each request being told of exactly once; and
 * waits that go with them. Also run under ThreadSanitizer (make tsan), with fewer rounds.
 */
#include "bench.h"

enum {
	BATCH = 4, /* requests of one round */
};

static unsigned rounds = 100000; /* or what the command line says */

/* ---- a provider's thread that ends what a client's thread begins ---- */

struct work {
	struct plx_pending *_Atomic hand[BATCH]; /* over from one to the other */
	atomic_uint met;                         /* rounds that the provider has begun */
	atomic_uint won;
	atomic_bool over;
};

/* For a moment that is short when the other thread runs too, and gives way when it does not. */
static void
pause_for(unsigned *turns)
{
	if (++*turns % 256)
		YieldProcessor();
	else
		SwitchToThread();
}

static void
spin(unsigned turns)
{
	while (turns--)
		YieldProcessor();
}

static void *
provides(void *argument)
{
	struct work *work = argument;
	unsigned turns = 0, round = 0;

	while (!atomic_load(&work->over)) {
		if (!atomic_load(&work->hand[0])) {
			pause_for(&turns);
			continue;
		}
		atomic_fetch_add(&work->met, 1);
		spin(round++ % 31);
		for (int i = BATCH - 1; i >= 0; i--) {
			struct plx_pending *pending = atomic_exchange(&work->hand[i], NULL);

			/* On one processor the other thread comes in between only when it is let.
			 */
			if (round % 7 == (unsigned)i)
				SwitchToThread();
			if (pending && plx_pending_finish(pending, STATUS_SUCCESS, 1))
				atomic_fetch_add(&work->won, 1);
		}
	}
	return NULL;
}

/* The provider has seen the requests of this round, and is about to end them. */
static void
meet(struct work *work, unsigned round)
{
	unsigned turns = 0;

	while (atomic_load(&work->met) <= round)
		pause_for(&turns);
	spin(round % 37);
}

/* All have been taken over, so that the provider has no pointer left. */
static void
wait_for_hands(struct work *work)
{
	unsigned turns = 0;

	for (int i = 0; i < BATCH; i++)
		while (atomic_load(&work->hand[i]))
			pause_for(&turns);
}

/* Takes what is queued. Returns: how many of them were successes */
static unsigned
drain(HANDLE port, unsigned *packets)
{
	OVERLAPPED *out;
	unsigned good = 0;
	ULONG_PTR key;
	DWORD bytes;

	*packets = 0;
	for (;;) {
		BOOL success = GetQueuedCompletionStatus(port, &bytes, &key, &out, 0);

		if (!out)
			return good;
		++*packets;
		good += success;
		assert_true(success || GetLastError() == ERROR_OPERATION_ABORTED);
	}
}

/* `end` ends what is left of a list; afterwards everything has been told, and the OVERLAPPEDs are
 * given back at once. */
static void
race(void (*end)(struct bench *bench))
{
	struct work work = {.won = 0};
	pthread_t provider = start_thread(provides, &work);
	unsigned told = 0, good = 0;

	for (unsigned round = 0; round < rounds; round++) {
		struct bench bench = bench_open(true);
		OVERLAPPED *overlapped = malloc(BATCH * sizeof(*overlapped));
		unsigned packets;

		memset(overlapped, 0, BATCH * sizeof(*overlapped));
		for (int i = BATCH - 1; i >= 0; i--)
			atomic_store(&work.hand[i], plx_pending_begin(&bench.list, &overlapped[i]));
		meet(&work, round);
		end(&bench);
		good += drain(bench.port, &packets);
		assert_int_equal(packets, BATCH);
		told += packets;
		for (int i = 0; i < BATCH; i++)
			assert_true(HasOverlappedIoCompleted(&overlapped[i]));
		memset(overlapped, STALE, BATCH * sizeof(*overlapped));
		free(overlapped);
		wait_for_hands(&work);
		if (bench.list.file)
			plx_pending_list_end(&bench.list, STATUS_CANCELLED);
		assert_true(CloseHandle(bench.file));
		assert_true(CloseHandle(bench.port));
	}
	atomic_store(&work.over, true);
	join_thread(provider);
	assert_int_equal(told, rounds * BATCH);
	assert_int_equal(work.won, good);
	print_message("of %u ends %u were the provider's\n", told, good);
	/* Else it was no race. */
	assert_true(good > 0 && good < told);
}

static void
cancels(struct bench *bench)
{
	plx_pending_cancel_all(&bench->list);
}

static void
ends_the_list(struct bench *bench)
{
	plx_pending_list_end(&bench->list, STATUS_CANCELLED);
	memset(&bench->list, 0, sizeof(bench->list));
}

static void
an_end_against_a_cancel(void **state)
{
	(void)state;
	race(cancels);
}

static void
an_end_against_the_end_of_its_list(void **state)
{
	(void)state;
	race(ends_the_list);
}

/* ---- waits ---- */

/* One request after the other on one OVERLAPPED with an automatic event, ended by another thread:
 * the sleeper is woken, and no end of an earlier request disturbs a later one. */
static void
wait_in_turns(bool by_result)
{
	struct work work = {.won = 0};
	pthread_t provider = start_thread(provides, &work);
	struct bench bench = bench_open(true);
	HANDLE event = new_event(FALSE);
	OVERLAPPED overlapped = {.hEvent = by_result ? event : (HANDLE)((uintptr_t)event | 1)};
	unsigned packets;

	for (unsigned round = 0; round < rounds; round++) {
		atomic_store(&work.hand[0], plx_pending_begin(&bench.list, &overlapped));
		if (by_result) {
			/* By turns with and without sleep. */
			while (round % 2 &&
			       plx_overlapped_result(&overlapped, false) == STATUS_PENDING)
				SwitchToThread();
			assert_int_equal(plx_overlapped_result(&overlapped, true), 0);
			/* The end is over: event and packet are there. */
			assert_true(is_set(event));
			assert_packet(bench.port, &overlapped, 0, 1);
		} else {
			assert_int_equal(WaitForSingleObject(event, PATIENT), WAIT_OBJECT_0);
			assert_int_equal(plx_overlapped_result(&overlapped, false), 0);
		}
		assert_false(is_set(event));
	}
	atomic_store(&work.over, true);
	join_thread(provider);
	assert_int_equal(drain(bench.port, &packets), 0);
	assert_int_equal(work.won, rounds);
	assert_true(CloseHandle(event));
	bench_close(&bench);
}

static void
a_wait_for_the_result_and_the_next_request(void **state)
{
	(void)state;
	wait_in_turns(true);
}

static void
a_wait_for_the_event_and_the_next_request(void **state)
{
	(void)state;
	wait_in_turns(false);
}

/* A provider for several clients, whom it does not meet. */
static void *
serves(void *argument)
{
	struct work *work = argument;
	unsigned turns = 0;

	while (!atomic_load(&work->over)) {
		for (int i = 0; i < BATCH; i++) {
			struct plx_pending *pending = atomic_exchange(&work->hand[i], NULL);

			if (pending && plx_pending_finish(pending, STATUS_SUCCESS, 1))
				atomic_fetch_add(&work->won, 1);
		}
		pause_for(&turns);
	}
	return NULL;
}

struct asker {
	OVERLAPPED overlapped;
	struct bench *bench;
	struct work *work;
	int hand;
};

static void *
asks(void *argument)
{
	struct asker *asker = argument;

	for (unsigned round = 0; round < rounds / 4; round++) {
		atomic_store(&asker->work->hand[asker->hand],
			     plx_pending_begin(&asker->bench->list, &asker->overlapped));
		assert_int_equal(plx_overlapped_result(&asker->overlapped, true), 0);
	}
	return NULL;
}

static void
many_wait_for_their_own_on_one_file(void **state)
{
	struct work work = {.won = 0};
	struct bench bench = bench_open(false);
	pthread_t provider = start_thread(serves, &work), threads[BATCH];
	struct asker askers[BATCH];

	(void)state;
	for (int i = 0; i < BATCH; i++) {
		askers[i] = (struct asker){.bench = &bench, .work = &work, .hand = i};
		threads[i] = start_thread(asks, &askers[i]);
	}
	for (int i = 0; i < BATCH; i++)
		join_thread(threads[i]);
	atomic_store(&work.over, true);
	join_thread(provider);
	assert_int_equal(work.won, rounds / 4 * BATCH);
	bench_close(&bench);
}

/* ---- a port that is closed while packets come ---- */

static void
an_end_against_the_close_of_the_port(void **state)
{
	struct work work = {.won = 0};
	pthread_t provider = start_thread(provides, &work);

	(void)state;
	for (unsigned round = 0; round < rounds / 4; round++) {
		struct bench bench = bench_open(true);
		OVERLAPPED overlapped[BATCH] = {0};

		for (int i = BATCH - 1; i >= 0; i--)
			atomic_store(&work.hand[i], plx_pending_begin(&bench.list, &overlapped[i]));
		meet(&work, round);
		assert_true(CloseHandle(bench.port));
		assert_true(CloseHandle(bench.file));
		for (int i = 0; i < BATCH; i++)
			assert_int_equal(plx_overlapped_result(&overlapped[i], true), 0);
		plx_pending_list_end(&bench.list, STATUS_CANCELLED);
	}
	atomic_store(&work.over, true);
	join_thread(provider);
	assert_int_equal(work.won, rounds / 4 * BATCH);
}

int
main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_against_a_cancel),
		cmocka_unit_test(an_end_against_the_end_of_its_list),
		cmocka_unit_test(a_wait_for_the_result_and_the_next_request),
		cmocka_unit_test(a_wait_for_the_event_and_the_next_request),
		cmocka_unit_test(many_wait_for_their_own_on_one_file),
		cmocka_unit_test(an_end_against_the_close_of_the_port),
	};

	if (count > 1)
		rounds = (unsigned)strtoul(arguments[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
