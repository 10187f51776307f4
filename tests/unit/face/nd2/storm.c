/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections made and ended by several threads at once, both sides disconnecting at the same
 * moment: no completion is lost or duplicated, every NotifyDisconnect ends once, and nothing is
 * left behind. The threads judge statuses and count them; the test checks the counts. Start with
 * meet_and_part().
 */
#include "nd2_pair.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 2, /* on each side */
	RECEIVES = 4,
	STORM_MS = 6000,
	LEAST_ROUNDS = 20,
};

struct storm {
	struct nd_pair *pair;
	atomic_bool over;
	atomic_uint rounds, failures, gone;
};

struct caller {
	struct storm *storm;
	struct nd_side *side;
	bool active;
	IND2CompletionQueue *cq; /* its own */
	HANDLE event;
	pthread_t thread;
};

static bool
check(struct caller *caller, bool good, const char *what, HRESULT status)
{
	if (!good && atomic_fetch_add(&caller->storm->failures, 1) < 8)
		fprintf(stderr, "%s: %s (0x%08x)\n", caller->active ? "active" : "passive", what,
			(unsigned int)status);
	return good;
}

/* Waits as a client does. */
static HRESULT
outcome(struct caller *caller, HRESULT called, OVERLAPPED *overlapped)
{
	if (called != ND_PENDING)
		return called;
	if (!check(caller,
		   WaitForSingleObject(overlapped->hEvent, TEST_PATIENCE_MS) == WAIT_OBJECT_0,
		   "never ended", called))
		abort(); /* the OVERLAPPED is on a stack */
	return nd_status(overlapped);
}

static HRESULT
come_together(struct caller *caller, IND2Connector *connector, IND2QueuePair *qp)
{
	struct nd_pair *pair = caller->storm->pair;
	OVERLAPPED ov = {.hEvent = caller->event};
	HRESULT status;

	if (!caller->active) {
		status = IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(connector),
							   &ov);
		status = outcome(caller, status, &ov);
		if (status != ND_SUCCESS)
			return status;
		status = IND2Connector_Accept(connector, nd_unknown(qp), 4, 4, NULL, 0, &ov);
		return outcome(caller, status, &ov);
	}
	status = IND2Connector_Bind(connector, &caller->side->address.any,
				    caller->side->address.length);
	if (status != ND_SUCCESS)
		return status;
	status = IND2Connector_Connect(connector, nd_unknown(qp), &pair->at.any, pair->at.length, 4,
				       4, NULL, 0, &ov);
	status = outcome(caller, status, &ov);
	if (status != ND_SUCCESS)
		return status;
	return outcome(caller, IND2Connector_CompleteConnect(connector, &ov), &ov);
}

/* Every request completes once, with any status. */
static void
reap(struct caller *caller, unsigned int posted)
{
	uint64_t late = test_ms() + TEST_PATIENCE_MS;
	unsigned int seen = 0, bits = 0;
	ND2_RESULT result;

	while (seen < posted && test_ms() < late) {
		if (!IND2CompletionQueue_GetResults(caller->cq, &result, 1)) {
			nd_cycle();
			continue;
		}
		check(caller, result.Status == ND_SUCCESS || result.Status == ND_CANCELED,
		      "a request failed", result.Status);
		bits |= 1u << (uintptr_t)result.RequestContext;
		seen++;
	}
	check(caller, seen == posted && bits == (1u << posted) - 1, "completions", (HRESULT)bits);
	check(caller, !IND2CompletionQueue_GetResults(caller->cq, &result, 1), "one too many",
	      (HRESULT)seen);
}

static void
leave(struct caller *caller, IND2Connector *connector, OVERLAPPED *told)
{
	OVERLAPPED ov = {.hEvent = caller->event};
	HRESULT status = outcome(caller, IND2Connector_Disconnect(connector, &ov), &ov);

	check(caller, status == ND_SUCCESS, "Disconnect", status);
	status = outcome(caller, ND_PENDING, told);
	check(caller, status == ND_SUCCESS || status == (HRESULT)STATUS_CONNECTION_DISCONNECTED,
	      "NotifyDisconnect", status);
}

/* A whole life of a connector and a queue pair. Returns: false: the listener is cancelled */
static bool
meet_and_part(struct caller *caller)
{
	const struct nd_options options = {.depth = RECEIVES};
	struct nd_side own = *caller->side;
	OVERLAPPED told = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	unsigned int posted = RECEIVES;
	IND2Connector *connector;
	HRESULT status;

	own.receive_cq = own.initiator_cq = caller->cq;
	connector = nd_side_connector(&own);
	own.qp = nd_side_qp(&own, &options, caller);
	for (uintptr_t i = 0; i < RECEIVES; i++)
		nd_receive(&own, i, (uint32_t)i * 64, 64);
	status = come_together(caller, connector, own.qp);
	if (status == ND_SUCCESS) {
		ND2_SGE sge = nd_sge(&own, 4096, 64);

		check(caller, IND2Connector_NotifyDisconnect(connector, &told) == ND_PENDING,
		      "NotifyDisconnect", 0);
		status = IND2QueuePair_Send(own.qp, (void *)(uintptr_t)posted, &sge, 1, 0);
		if (check(caller, status == ND_SUCCESS, "Send", status))
			posted++;
		leave(caller, connector, &told);
		atomic_fetch_add(&caller->storm->rounds, 1);
	} else {
		check(caller, status == ND_CANCELED && atomic_load(&caller->storm->over),
		      "no connection", status);
		status = IND2QueuePair_Flush(own.qp);
		check(caller, status == ND_SUCCESS, "Flush", status);
		status = ND_CANCELED;
	}
	reap(caller, posted);
	check(caller, IND2Connector_Release(connector) == 0, "a reference is left", 0);
	check(caller, IND2QueuePair_Release(own.qp) == 0, "a reference is left", 0);
	CloseHandle(told.hEvent);
	return status != ND_CANCELED;
}

static void *
storm_main(void *context)
{
	struct caller *caller = context;

	/* The passive side stays as long as a client can connect. */
	while (caller->active ? !atomic_load(&caller->storm->over)
			      : atomic_load(&caller->storm->gone) < THREADS)
		if (!meet_and_part(caller))
			break;
	atomic_fetch_add(&caller->storm->gone, 1);
	return NULL;
}

static void
caller_open(struct caller *caller, struct storm *storm, bool active)
{
	void *cq = NULL;

	*caller = (struct caller){.storm = storm,
				  .side = active ? &storm->pair->a : &storm->pair->b,
				  .active = active,
				  .event = CreateEventW(NULL, FALSE, FALSE, NULL)};
	assert_non_null(caller->event);
	assert_hr(IND2Adapter_CreateCompletionQueue(caller->side->adapter, &IID_IND2CompletionQueue,
						    caller->side->file, 64, 0, 0, &cq),
		  ND_SUCCESS);
	caller->cq = cq;
	assert_int_equal(pthread_create(&caller->thread, NULL, storm_main, caller), 0);
}

static void
caller_close(struct caller *caller)
{
	pthread_join(caller->thread, NULL);
	nd_release(caller->cq, 0);
	CloseHandle(caller->event);
}

static void
connections_come_and_go(void **state)
{
	const struct nd_options options = {.family = *(int *)*state};
	struct storm storm = {.pair = nd_pair_new(&options)};
	struct caller active[THREADS], passive[THREADS];

	for (int i = 0; i < THREADS; i++) {
		caller_open(&passive[i], &storm, false);
		caller_open(&active[i], &storm, true);
	}
	Sleep(STORM_MS);
	atomic_store(&storm.over, true);
	/* A wait that begins now has no peer. */
	while (atomic_load(&storm.gone) < THREADS)
		Sleep(1);
	while (atomic_load(&storm.gone) < 2 * THREADS) {
		assert_hr(IND2Listener_CancelOverlappedRequests(storm.pair->listener), ND_SUCCESS);
		Sleep(1);
	}
	for (int i = 0; i < THREADS; i++) {
		caller_close(&active[i]);
		caller_close(&passive[i]);
	}
	print_message("%u connections\n", atomic_load(&storm.rounds) / 2);
	assert_int_equal(atomic_load(&storm.failures), 0);
	assert_true(atomic_load(&storm.rounds) >= LEAST_ROUNDS);
	nd_pair_close(storm.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {ND_FAMILY_TESTS(connections_come_and_go)};

	return nd_run("storm", tests, sizeof(tests) / sizeof(tests[0]));
}
