/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A disconnect is reported before the requests that it flushed can be read (nd2.md A27), even if
 * only GetResults can report it because the adapters' dispatchers are held. Dispatchers sleep in
 * epoll_wait(); this program interposes the C library's, so that they return from it only when
 * released. It holds no other thread. Start with epoll_wait(), then hold().
 */
#include "nd2_pair.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	RECEIVES = 8,
	ROUNDS = 10,
	DISPATCHERS = 2,
	NAME_BYTES = 16,
};

typedef int epoll_fn(int set, struct epoll_event *events, int n, int timeout);

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint asleep; /* dispatchers that cannot come out but through the gate */

static bool
is_dispatcher(void)
{
	char name[NAME_BYTES] = "";

	return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
	       strncmp(name, "nd2-nd", strlen("nd2-nd")) == 0;
}

__attribute__((visibility("default"))) int
epoll_wait(int set, struct epoll_event *events, int n, int timeout)
{
	static _Atomic(epoll_fn *) found;
	epoll_fn *next = atomic_load(&found);
	int ready;

	if (!next) {
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
		atomic_store(&found, next);
	}
	if (!is_dispatcher())
		return next(set, events, n, timeout);
	atomic_fetch_add(&asleep, 1);
	ready = next(set, events, n, timeout);
	pthread_mutex_lock(&gate);
	atomic_fetch_sub(&asleep, 1);
	pthread_mutex_unlock(&gate);
	return ready;
}

/* Locks the gate when all of them sleep. */
static bool
dispatchers_sleep(void)
{
	pthread_mutex_lock(&gate);
	if (atomic_load(&asleep) == DISPATCHERS)
		return true;
	pthread_mutex_unlock(&gate);
	return false;
}

/* No dispatcher does anything from here on. */
static void
hold(void)
{
	nd_until(dispatchers_sleep());
}

static void
teardown(void)
{
	pthread_mutex_unlock(&gate);
}

/* ---- the test ---- */

/* The first entry of a queue, by GetResults alone. */
static ND2_RESULT
first_result(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	test_until(IND2CompletionQueue_GetResults(cq, &result, 1) == 1, (void)0);
	return result;
}

static void
A27_get_results_tells_of_the_disconnect_first(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct nd_pair *pair = nd_pair_established(state, NULL);
		OVERLAPPED told = {0}, left = {0};
		ND2_RESULT result;
		HRESULT seen;

		for (uint32_t i = 0; i < RECEIVES; i++)
			nd_receive(&pair->b, i, 0, 64);
		assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told), ND_PENDING);
		hold();
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &left), ND_PENDING);
		result = first_result(pair->b.receive_cq);
		seen = nd_status(&told);
		teardown();
		assert_hr(result.Status, ND_CANCELED);
		assert_hr(seen, ND_SUCCESS);
		for (uint32_t i = 1; i < RECEIVES; i++)
			nd_expect(pair->b.receive_cq, i, ND_CANCELED);
		assert_hr(nd_wait(&left), ND_SUCCESS);
		nd_pair_close(pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A27_get_results_tells_of_the_disconnect_first),
	};

	return nd_run("held", tests, sizeof(tests) / sizeof(tests[0]));
}
