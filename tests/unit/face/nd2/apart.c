/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inline mode with several threads, four adapters on two embedded links: each thread has its own
 * adapters, and a wait of one thread does not run those of another; also adapters that are handed
 * from thread to thread. Every kind of wait is used, since each of them runs adapters.
 * ThreadSanitizer detects accesses of one thread to the other's engine (make tsan). Start with
 * live().
 */
#include "nd2_pair.h"

#include <pthread.h>
#include <string.h>

enum {
	THREADS = 2,
	ROUNDS = 200,
	BYTES = 300,
	KEY = 7,
};

static const char config[] =
	"adapters = (\n"
	"  { name = \"in0\"; device = \"net_wire0,end=0\"; mode = \"inline\"; packets = 2048;\n"
	"    address = [ \"10.78.1.1/24\" ]; },\n"
	"  { name = \"in1\"; device = \"net_wire0,end=1\"; mode = \"inline\"; packets = 2048;\n"
	"    address = [ \"10.78.1.2/24\" ]; },\n"
	"  { name = \"in2\"; device = \"net_wire1,end=0\"; mode = \"inline\"; packets = 2048;\n"
	"    address = [ \"10.78.1.3/24\" ]; },\n"
	"  { name = \"in3\"; device = \"net_wire1,end=1\"; mode = \"inline\"; packets = 2048;\n"
	"    address = [ \"10.78.1.4/24\" ]; }\n"
	");\n";

/* ---- waits ---- */

static HRESULT
by_event(OVERLAPPED *ov)
{
	assert_int_equal(WaitForSingleObject(ov->hEvent, TEST_PATIENCE_MS), WAIT_OBJECT_0);
	return (HRESULT)ov->Internal;
}

static HRESULT
by_port(HANDLE port, OVERLAPPED *ov)
{
	OVERLAPPED *out = NULL;
	ULONG_PTR key = 0;
	DWORD bytes;

	assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &out, TEST_PATIENCE_MS));
	assert_int_equal(key, KEY);
	assert_ptr_equal(out, ov);
	return (HRESULT)ov->Internal;
}

/* The test waits at b for a packet, and at a for an event or a result. */
static void
one_round(struct nd_pair *pair, HANDLE port, HANDLE event, uint32_t round)
{
	OVERLAPPED came = {0}, left = {.hEvent = round % 2 ? event : NULL};
	IND2CompletionQueue *from = pair->a.initiator_cq, *to = pair->b.receive_cq;

	nd_receive(&pair->b, round, 0, BYTES);
	assert_hr(IND2CompletionQueue_Notify(to, ND_CQ_NOTIFY_ANY, &came), ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(from, ND_CQ_NOTIFY_ANY, &left), ND_PENDING);
	nd_send(&pair->a, round, 0, BYTES, 0);
	assert_hr(by_port(port, &came), ND_SUCCESS);
	nd_expect(to, round, ND_SUCCESS);
	if (left.hEvent)
		assert_hr(by_event(&left), ND_SUCCESS);
	else
		assert_hr(IND2CompletionQueue_GetOverlappedResult(from, &left, TRUE), ND_SUCCESS);
	nd_expect(from, round, ND_SUCCESS);
}

static void
play(struct nd_pair *pair, HANDLE port, uint32_t rounds)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

	for (uint32_t i = 0; i < rounds; i++)
		one_round(pair, port, event, i);
	assert_true(CloseHandle(event));
}

static HANDLE
port_of(struct nd_pair *pair)
{
	HANDLE port = CreateIoCompletionPort(pair->b.file, NULL, KEY, 0);

	assert_non_null(port);
	return port;
}

/* ---- each its own ---- */

static void *
live(void *context)
{
	const struct nd_options options = {.first_end = *(unsigned *)context};
	struct nd_pair *pair = nd_pair_open(&options);
	HANDLE port = port_of(pair);

	play(pair, port, ROUNDS);
	nd_pair_close(pair);
	assert_true(CloseHandle(port));
	return NULL;
}

static void
two_threads_have_two_adapters_each(void **state)
{
	unsigned first[THREADS] = {0, 2};
	pthread_t thread[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, live, &first[i]), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* One that waits for nothing in particular, beside one that works. */
static void
who_waits_for_a_thread_leaves_its_adapters_alone(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	HANDLE port = port_of(pair);
	unsigned first = 2;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, live, &first), 0);
	for (int i = 0; i < 20; i++)
		Sleep(5);
	play(pair, port, ROUNDS);
	assert_int_equal(pthread_join(thread, NULL), 0);
	nd_pair_close(pair);
	assert_true(CloseHandle(port));
}

/* ---- handed on ---- */

static DWORD WINAPI
carry_on(void *context)
{
	struct nd_pair *pair = context;

	/* a call that is neither a post nor GetResults gives it to this thread */
	assert_hr(IND2CompletionQueue_Resize(pair->a.initiator_cq, ND_CQ_DEPTH), ND_SUCCESS);
	assert_hr(IND2CompletionQueue_Resize(pair->b.receive_cq, ND_CQ_DEPTH), ND_SUCCESS);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		nd_receive(&pair->b, i, 0, BYTES);
		nd_send(&pair->a, i, 0, BYTES, 0);
		nd_expect(pair->b.receive_cq, i, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	}
	return KEY;
}

static void
adapters_go_to_another_thread_and_come_back(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	HANDLE thread, port = port_of(pair);
	DWORD code = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		thread = CreateThread(NULL, 0, carry_on, pair, 0, NULL);
		assert_non_null(thread);
		/* a wait, which does not run the adapters that the other thread now has */
		assert_int_equal(WaitForSingleObject(thread, TEST_PATIENCE_MS), WAIT_OBJECT_0);
		assert_true(GetExitCodeThread(thread, &code));
		assert_int_equal(code, KEY);
		assert_true(CloseHandle(thread));
		play(pair, port, 10);
	}
	nd_pair_close(pair);
	assert_true(CloseHandle(port));
}

/* A thread that only waits for what the first one has started, and reads it. */
struct begun {
	struct nd_pair *pair;
	HANDLE port; /* NULL: by the event, or without one */
	OVERLAPPED came;
};

static void *
wait_and_read(void *context)
{
	struct begun *begun = context;
	IND2CompletionQueue *cq = begun->pair->b.receive_cq;

	if (begun->port)
		assert_hr(by_port(begun->port, &begun->came), ND_SUCCESS);
	else if (begun->came.hEvent)
		assert_hr(by_event(&begun->came), ND_SUCCESS);
	else
		assert_hr(IND2CompletionQueue_GetOverlappedResult(cq, &begun->came, TRUE),
			  ND_SUCCESS);
	nd_expect(cq, 1, ND_SUCCESS);
	return NULL;
}

static void
who_waits_for_what_another_has_begun_moves_it(void **state)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
	enum {
		PORT,
		EVENT,
		RESULT,
		KINDS
	};

	(void)state;
	for (int i = 0; i < 4 * KINDS; i++) {
		struct begun begun = {.pair = nd_pair_open(NULL)};
		ND2_RESULT result;
		pthread_t thread;

		if (i % KINDS == PORT)
			begun.port = port_of(begun.pair);
		if (i % KINDS == EVENT)
			begun.came.hEvent = event;
		nd_receive(&begun.pair->b, 1, 0, BYTES);
		assert_hr(IND2CompletionQueue_Notify(begun.pair->b.receive_cq, ND_CQ_NOTIFY_ANY,
						     &begun.came),
			  ND_PENDING);
		/* a stays with this thread: its message leaves, and remains there */
		nd_send(&begun.pair->a, 2, 0, BYTES, 0);
		for (int look = 0; look < 10; look++)
			assert_int_equal(IND2CompletionQueue_GetResults(begun.pair->a.initiator_cq,
									&result, 1),
					 0);
		assert_int_equal(pthread_create(&thread, NULL, wait_and_read, &begun), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		nd_expect(begun.pair->a.initiator_cq, 2, ND_SUCCESS);
		nd_pair_close(begun.pair);
		if (begun.port)
			assert_true(CloseHandle(begun.port));
	}
	assert_true(CloseHandle(event));
}

struct legacy {
	struct nd_pair *pair;
	OVERLAPPED came;
};

static void *
begin_and_end(void *context)
{
	struct legacy *legacy = context;

	legacy->pair = nd_pair_open(NULL);
	nd_receive(&legacy->pair->b, 1, 0, BYTES);
	assert_hr(IND2CompletionQueue_Notify(legacy->pair->b.receive_cq, ND_CQ_NOTIFY_ANY,
					     &legacy->came),
		  ND_PENDING);
	nd_send(&legacy->pair->a, 2, 0, BYTES, 0);
	return NULL;
}

/* A later wait inherits what the exited thread had started. */
static void
the_adapters_of_a_thread_that_has_ended_are_moved(void **state)
{
	struct legacy legacy = {.came = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)}};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, begin_and_end, &legacy), 0);
	/* already while it runs, so that this thread is asleep when it exits */
	assert_int_equal(WaitForSingleObject(legacy.came.hEvent, TEST_PATIENCE_MS), WAIT_OBJECT_0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_hr((HRESULT)legacy.came.Internal, ND_SUCCESS);
	nd_expect(legacy.pair->b.receive_cq, 1, ND_SUCCESS);
	nd_expect(legacy.pair->a.initiator_cq, 2, ND_SUCCESS);
	assert_true(CloseHandle(legacy.came.hEvent));
	nd_pair_close(legacy.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(two_threads_have_two_adapters_each),
		ND_TEST(who_waits_for_a_thread_leaves_its_adapters_alone),
		ND_TEST(adapters_go_to_another_thread_and_come_back),
		ND_TEST(who_waits_for_what_another_has_begun_moves_it),
		ND_TEST(the_adapters_of_a_thread_that_has_ended_are_moved),
	};

	nd_start(config);
	return nd_run_inline("apart", tests, sizeof(tests) / sizeof(tests[0]));
}
