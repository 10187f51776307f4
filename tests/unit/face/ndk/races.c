/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts in one thread while another flushes the queue pair, disconnects it or closes its connector,
 * which the contract allows (X2). Each request has one result, or was refused. Under
 * ThreadSanitizer, too. Start with race_of().
 */
#include <ntstatus.h>
#include <pthread.h>
#include <stdlib.h>

#include "ndk_pair.h"

enum {
	ROUNDS = 60,
	REQUESTS = 2000, /* at most, of one round */
	LATE_MAX = 64,   /* requests that may be posted before the other thread acts */
};

enum how {
	FLUSH,
	DISCONNECT,
	CLOSE_CONNECTOR,
	HOWS,
};

struct race {
	struct ndk_pair *pair;
	atomic_int posted; /* requests of a */
	atomic_bool acted;
	uint8_t results[REQUESTS];
	int refused;
};

/* Results by now. No request has two, and none that was refused has one. */
static int
collect(struct race *race)
{
	NDK_CQ *cq = race->pair->a.cq;
	NDK_RESULT result[16];
	ULONG n = cq->Dispatch->NdkGetCqResults(cq, result, 16);

	for (ULONG i = 0; i < n; i++) {
		uintptr_t request = (uintptr_t)result[i].RequestContext;

		assert_true(request < REQUESTS);
		assert_int_equal(race->results[request]++, 0);
		assert_true(result[i].Status == STATUS_SUCCESS ||
			    result[i].Status == STATUS_CANCELLED);
	}
	return (int)n;
}

static void *
posts(void *context)
{
	struct race *race = context;
	struct ndk_side *a = &race->pair->a;
	NDK_SGE sge = ndk_sge(a, 0, 8);
	int done = 0, posted = 0;
	NTSTATUS status;

	for (uintptr_t i = 0; i < REQUESTS && !(race->acted && race->refused > 0); i++) {
		status = a->qp->Dispatch->NdkWrite(
			a->qp, (PVOID)i, &sge, 1, (uintptr_t)race->pair->b.arena,
			race->pair->b.token, i % 3 == 0 ? NDK_OP_FLAG_DEFER : 0);
		if (status == STATUS_SUCCESS) {
			race->posted = ++posted;
		} else {
			assert_true(status == STATUS_NO_MORE_ENTRIES ||
				    status == STATUS_CONNECTION_INVALID);
			race->refused += status == STATUS_CONNECTION_INVALID;
		}
		done += collect(race);
	}
	/* a chain ends with a request that is not deferred; a flush ends it, too */
	a->qp->Dispatch->NdkFlush(a->qp);
	ndk_until((done += collect(race)) == posted);
	return NULL;
}

static void
act(struct race *race, enum how how)
{
	struct ndk_side *a = &race->pair->a;
	NDK_CONNECTOR *connector = a->connector;

	switch (how) {
	case FLUSH:
		a->qp->Dispatch->NdkFlush(a->qp);
		break;
	case DISCONNECT:
		assert_nt(ndk_result(connector->Dispatch->NdkDisconnect, connector),
			  STATUS_SUCCESS);
		break;
	case CLOSE_CONNECTOR:
		ndk_end(connector->Dispatch->NdkCloseConnector, connector);
		a->connector = NULL;
		break;
	case HOWS:
		break;
	}
	race->acted = true;
}

static void
race_of(enum how how)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct race race = {.pair = ndk_pair_open(NULL)};
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, posts, &race), 0);
		ndk_until(race.posted > round * LATE_MAX / ROUNDS);
		act(&race, how);
		pthread_join(thread, NULL);
		ndk_expect_none(race.pair->a.cq);
		ndk_pair_close(race.pair);
	}
}

static void
x2_a_flush_may_come_between_posts(void **state)
{
	(void)state;
	race_of(FLUSH);
}

static void
x2_a_disconnect_may_come_between_posts(void **state)
{
	(void)state;
	race_of(DISCONNECT);
}

static void
x2_a_connector_may_be_closed_between_posts(void **state)
{
	(void)state;
	race_of(CLOSE_CONNECTOR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x2_a_flush_may_come_between_posts),
		cmocka_unit_test(x2_a_disconnect_may_come_between_posts),
		cmocka_unit_test(x2_a_connector_may_be_closed_between_posts),
	};

	return ndk_run("ndk_races", tests, sizeof(tests) / sizeof(tests[0]));
}
