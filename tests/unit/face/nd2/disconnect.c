/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a connection: which requests complete, in which order and how often (A05, A27, A28),
 * from every state and by every object. Start with A27_a_peer_is_told_before_anything_is_flushed().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL ((HRESULT)STATUS_CONNECTION_DISCONNECTED)

static void
assert_disconnects(IND2Connector *connector)
{
	OVERLAPPED ov = {0};

	nd_pends(IND2Connector_Disconnect(connector, &ov), ND_SUCCESS);
}

/* ---- A27 ---- */

enum {
	RECEIVES = 8,
	ROUNDS = 20,
};

static void
A27_a_peer_is_told_before_anything_is_flushed(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct nd_pair *pair = nd_pair_established(state, NULL);
		OVERLAPPED told = {0}, left = {0};
		ND2_RESULT result;

		for (uint32_t i = 0; i < RECEIVES; i++)
			nd_receive(&pair->b, i, 0, 64);
		assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &left), ND_PENDING);
		/* without a pause in which another thread could be faster */
		test_until(IND2CompletionQueue_GetResults(pair->b.receive_cq, &result, 1) == 1,
			   nd_is_inline() ? nd_cycle() : (void)0);
		/* by the time the first of them is visible, the disconnect was reported */
		assert_hr(nd_status(&told), ND_SUCCESS);
		assert_hr(result.Status, ND_CANCELED);
		assert_ptr_equal(result.RequestContext, NULL);
		for (uint32_t i = 1; i < RECEIVES; i++)
			nd_expect(pair->b.receive_cq, i, ND_CANCELED);
		assert_hr(nd_wait(&left), ND_SUCCESS);
		assert_disconnects(pair->b.connector);
		/* once is enough */
		assert_hr(IND2Connector_Disconnect(pair->b.connector, &left),
			  ND_INVALID_DEVICE_STATE);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &left),
			  ND_INVALID_DEVICE_STATE);
		nd_pair_close(pair);
	}
}

static void
A27_both_may_leave_at_once(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct nd_pair *pair = nd_pair_established(state, NULL);
		OVERLAPPED a = {0}, b = {0}, told_a = {0}, told_b = {0};

		nd_receive(&pair->a, 1, 0, 64);
		nd_receive(&pair->b, 2, 0, 64);
		assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &told_a), ND_PENDING);
		assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told_b), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &a), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(pair->b.connector, &b), ND_PENDING);
		assert_hr(nd_wait(&a), ND_SUCCESS);
		assert_hr(nd_wait(&b), ND_SUCCESS);
		assert_hr(nd_wait(&told_a), LOCAL);
		assert_true(nd_wait(&told_b) == LOCAL || nd_status(&told_b) == ND_SUCCESS);
		nd_expect(pair->a.receive_cq, 1, ND_CANCELED);
		nd_expect(pair->b.receive_cq, 2, ND_CANCELED);
		nd_pair_close(pair);
	}
}

static void
A27_an_acknowledged_message_is_received_before_the_end(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct nd_pair *pair = nd_pair_established(state, NULL);

		for (uint32_t i = 0; i < RECEIVES; i++)
			nd_receive(&pair->b, i, i * 1024, 1024);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_send(&pair->a, 100 + i, 0, 1024, 0);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_expect(pair->a.initiator_cq, 100 + i, ND_SUCCESS);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &pair->left), ND_PENDING);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_expect(pair->b.receive_cq, i, ND_SUCCESS);
		nd_expect(pair->b.receive_cq, RECEIVES - 1, ND_CANCELED);
		assert_hr(nd_wait(&pair->left), ND_SUCCESS);
		nd_pair_close(pair);
	}
}

static void
a_queue_pair_that_fails_ends_the_connection_on_both_sides(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	ND2_SGE sge = nd_sge(&pair->a, 0, 64);
	OVERLAPPED told_a = {0}, told_b = {0};

	nd_receive(&pair->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told_b), ND_PENDING);
	/* a byte behind the region of the peer */
	assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)2, &sge, 1,
				     (uint64_t)(uintptr_t)pair->b.arena + ND_ARENA - 63,
				     pair->b.remote, 0),
		  ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 2, ND_ACCESS_VIOLATION);
	nd_expect(pair->b.receive_cq, 1, ND_CANCELED);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	assert_disconnects(pair->a.connector);
	assert_disconnects(pair->b.connector);
	nd_pair_close(pair);
}

static void
a_flushed_queue_pair_ends_the_connection_on_both_sides(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told_a = {0}, told_b = {0};

	nd_receive(&pair->a, 1, 0, 64);
	nd_receive(&pair->b, 2, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told_b), ND_PENDING);
	assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
	nd_expect(pair->a.receive_cq, 1, ND_CANCELED);
	nd_expect(pair->b.receive_cq, 2, ND_CANCELED);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	nd_pair_close(pair);
}

/* ---- A28 ---- */

/* A port that records the completions on the files of both sides. */
struct witness {
	HANDLE port;
	OVERLAPPED *seen[16];
	uint32_t count;
};

static void
watch(struct witness *witness, struct nd_pair *pair)
{
	memset(witness, 0, sizeof(*witness));
	witness->port = CreateIoCompletionPort(pair->b.file, NULL, 1, 0);
	assert_non_null(witness->port);
}

/* All completions so far, in order. */
static uint32_t
count(struct witness *witness)
{
	OVERLAPPED *overlapped;
	ULONG_PTR key;
	DWORD bytes;

	nd_settle();
	do {
		overlapped = NULL;
		(void)GetQueuedCompletionStatus(witness->port, &bytes, &key, &overlapped, 0);
		if (overlapped) {
			assert_true(witness->count < 16);
			witness->seen[witness->count++] = overlapped;
		}
	} while (overlapped);
	return witness->count;
}

static void
notify(struct nd_pair *pair, OVERLAPPED told[3])
{
	for (int i = 0; i < 3; i++)
		assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told[i]), ND_PENDING);
}

static void
assert_told(struct witness *witness, OVERLAPPED told[3], HRESULT status)
{
	assert_int_equal(count(witness), 3);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(witness->seen[i], &told[i]);
		assert_hr(nd_status(&told[i]), status);
	}
}

static void
A28_told_once_of_the_peer(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told[3] = {{0}}, late = {0};
	struct witness witness;

	watch(&witness, pair);
	notify(pair, told);
	assert_int_equal(count(&witness), 0);
	assert_disconnects(pair->a.connector);
	for (int i = 0; i < 3; i++)
		nd_wait(&told[i]);
	assert_told(&witness, told, ND_SUCCESS);
	/* and at once for later calls */
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &late), ND_PENDING);
	assert_hr(nd_wait(&late), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	/* then never again: by our own Disconnect, by Cancel, by Release */
	assert_hr(IND2Connector_Disconnect(pair->b.connector, &pair->left), ND_PENDING);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->b.connector), ND_SUCCESS);
	nd_release(pair->b.connector, 0);
	pair->b.connector = NULL;
	assert_int_equal(count(&witness), 5);
	assert_ptr_equal(witness.seen[4], &pair->left);
	CloseHandle(witness.port);
	nd_pair_close(pair);
}

static void
A28_told_once_of_ourselves(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told[3] = {{0}}, late = {0};
	struct witness witness;

	watch(&witness, pair);
	notify(pair, told);
	assert_hr(IND2Connector_Disconnect(pair->b.connector, &pair->left), ND_PENDING);
	/* not when the peer has answered: now */
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), LOCAL);
	assert_hr(nd_wait(&pair->left), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &late), ND_PENDING);
	assert_hr(nd_wait(&late), LOCAL);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->b.connector), ND_SUCCESS);
	nd_release(pair->b.connector, 0);
	pair->b.connector = NULL;
	assert_int_equal(count(&witness), 5);
	CloseHandle(witness.port);
	nd_pair_close(pair);
}

static void
A28_cancel_leaves_the_connection_up(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told[3] = {{0}}, again = {0};
	struct witness witness;

	watch(&witness, pair);
	notify(pair, told);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->b.connector), ND_SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), ND_CANCELED);
	assert_told(&witness, told, ND_CANCELED);
	nd_message(&pair->a, &pair->b, 1);
	nd_message(&pair->b, &pair->a, 2);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &again), ND_PENDING);
	assert_disconnects(pair->a.connector);
	assert_hr(nd_wait(&again), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	CloseHandle(witness.port);
	nd_pair_close(pair);
}

static void
A28_told_once_by_release(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told[3] = {{0}}, peer = {0};
	struct witness witness;

	watch(&witness, pair);
	notify(pair, told);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &peer), ND_PENDING);
	nd_release(pair->b.connector, 0);
	pair->b.connector = NULL;
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), LOCAL);
	assert_told(&witness, told, LOCAL);
	assert_hr(nd_wait(&peer), ND_SUCCESS);
	CloseHandle(witness.port);
	nd_pair_close(pair);
}

/* Any number of requests may wait. */
static void
A28_many_are_told_of_one_end(void **state)
{
	enum {
		MANY = 40,
	};
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told[MANY] = {{0}};

	for (int i = 0; i < MANY; i++)
		assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told[i]), ND_PENDING);
	nd_settle();
	for (int i = 0; i < MANY; i++)
		assert_hr(nd_status(&told[i]), ND_PENDING);
	assert_disconnects(pair->a.connector);
	for (int i = 0; i < MANY; i++)
		assert_hr(nd_wait(&told[i]), ND_SUCCESS);
	nd_pair_close(pair);
}

/* ---- before and after ---- */

static void
assert_not_connected(IND2Connector *connector)
{
	OVERLAPPED ov = {0};

	assert_hr(IND2Connector_Disconnect(connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(nd_status(&ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_NotifyDisconnect(connector, &ov), ND_CONNECTION_INVALID);
}

static void
what_is_not_connected_cannot_be_disconnected(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);

	assert_not_connected(pair->a.connector);
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
	assert_not_connected(pair->a.connector);
	nd_pair_request(pair);
	assert_not_connected(pair->a.connector);
	assert_not_connected(pair->b.connector);
	nd_pair_reply(pair);
	assert_not_connected(pair->a.connector);
	assert_not_connected(pair->b.connector);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
	assert_not_connected(pair->a.connector);
	assert_not_connected(pair->b.connector);
	nd_pair_close(pair);
}

static void
what_is_not_in_its_place_is_refused(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	OVERLAPPED ov = {0};

	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(nd_pair_answer(pair, NULL, 0), ND_CONNECTION_INVALID);
	nd_pair_request(pair);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_CompleteConnect(pair->b.connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_INVALID_DEVICE_STATE);
	nd_pair_reply(pair);
	assert_hr(IND2Connector_CompleteConnect(pair->b.connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(pair->b.connector, NULL, 0), ND_INVALID_DEVICE_STATE);
	nd_pair_complete(pair);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Connector_Reject(pair->b.connector, NULL, 0), ND_INVALID_DEVICE_STATE);
	nd_message(&pair->a, &pair->b, 1);
	nd_pair_close(pair);
}

static void
a_cancelled_disconnect_has_disconnected(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told = {0};

	nd_receive(&pair->a, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told), ND_PENDING);
	assert_hr(IND2Connector_Disconnect(pair->a.connector, &pair->left), ND_PENDING);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->a.connector), ND_SUCCESS);
	/* unless the answer was faster */
	assert_true(nd_status(&pair->left) == ND_CANCELED || nd_status(&pair->left) == ND_SUCCESS);
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(pair->a.receive_cq, 1, ND_CANCELED);
	nd_pair_close(pair);
}

/* ---- releases ---- */

enum stage {
	IDLE,
	BOUND,
	REQUESTED,
	REPLIED,
	CONNECTED,
	LEFT,      /* a has disconnected */
	LEFT_AWAY, /* ... and b as well */
	STAGES,
};

static struct nd_pair *
bring_to(void **state, enum stage stage)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);

	if (stage >= BOUND)
		assert_hr(IND2Connector_Bind(pair->a.connector, &pair->a.address.any,
					     pair->a.address.length),
			  ND_SUCCESS);
	if (stage >= REQUESTED)
		nd_pair_request(pair);
	if (stage >= REPLIED)
		nd_pair_reply(pair);
	if (stage >= CONNECTED)
		nd_pair_complete(pair);
	if (stage >= LEFT)
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &pair->left), ND_PENDING);
	if (stage >= LEFT_AWAY)
		assert_disconnects(pair->b.connector);
	return pair;
}

/* The last Release returns with nothing pending, and the other side's connection ends as well. */
static void
release_in_every_state(void **state)
{
	for (enum stage stage = IDLE; stage < STAGES; stage++) {
		for (int side = 0; side < 2; side++) {
			struct nd_pair *pair = bring_to(state, stage);
			struct nd_side *leaver = side ? &pair->b : &pair->a;
			OVERLAPPED told = {0};
			bool notified;

			notified = IND2Connector_NotifyDisconnect(side ? pair->a.connector
								       : pair->b.connector,
								  &told) == ND_PENDING;
			nd_release(leaver->connector, 0);
			leaver->connector = NULL;
			if (stage >= REQUESTED && side == 0)
				assert_int_not_equal(nd_status(&pair->connected), ND_PENDING);
			if (stage >= REPLIED && side == 1)
				assert_int_not_equal(nd_status(&pair->accepted), ND_PENDING);
			if (stage >= LEFT && side == 0)
				assert_int_not_equal(nd_status(&pair->left), ND_PENDING);
			if (stage >= REQUESTED)
				nd_wait(&pair->connected);
			if (stage >= REPLIED)
				nd_wait(&pair->accepted);
			assert_int_equal(notified, stage >= CONNECTED);
			if (notified)
				nd_wait(&told);
			nd_pair_close(pair);
		}
	}
}

/* The same of a queue pair; the connector reports the end. */
static void
release_of_the_queue_pair_in_every_state(void **state)
{
	for (enum stage stage = IDLE; stage < STAGES; stage++) {
		for (int side = 0; side < 2; side++) {
			struct nd_pair *pair = bring_to(state, stage);
			struct nd_side *leaver = side ? &pair->b : &pair->a;
			IND2Connector *own = side ? pair->b.connector : pair->a.connector,
				      *other = side ? pair->a.connector : pair->b.connector;
			OVERLAPPED told = {0}, told_other = {0};

			if (stage == CONNECTED) {
				assert_hr(IND2Connector_NotifyDisconnect(own, &told), ND_PENDING);
				assert_hr(IND2Connector_NotifyDisconnect(other, &told_other),
					  ND_PENDING);
			}
			nd_release(leaver->qp, 0);
			leaver->qp = NULL;
			if (stage == REQUESTED && side == 0)
				assert_hr(nd_status(&pair->connected), ND_CANCELED);
			if (stage == REPLIED && side == 1)
				assert_hr(nd_status(&pair->accepted), ND_CANCELED);
			if (stage == CONNECTED) {
				assert_hr(nd_status(&told), LOCAL);
				assert_hr(nd_wait(&told_other), ND_SUCCESS);
				assert_disconnects(own);
				assert_disconnects(other);
			}
			nd_pair_close(pair);
		}
	}
}

/* The connector holds it: a program that is deciding about the answer may have released it
 * already. */
static void
release_of_the_queue_pair_before_the_end_of_connecting_refuses_nobody(void **state)
{
	enum {
		COMPLETES,
		REJECTS,
		RELEASES,
		WAYS,
	};

	for (int way = 0; way < WAYS; way++) {
		struct nd_pair *pair = bring_to(state, REPLIED);
		OVERLAPPED told = {0};

		nd_release(pair->a.qp, 0);
		pair->a.qp = NULL;
		nd_still_pending(&pair->accepted);
		assert_hr(IND2Connector_GetReadLimits(pair->a.connector, NULL, NULL), ND_SUCCESS);
		if (way == COMPLETES) {
			nd_pair_complete(pair);
			assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told),
				  ND_PENDING);
			nd_still_pending(&told);
			assert_disconnects(pair->a.connector);
			assert_hr(nd_wait(&told), ND_SUCCESS);
		} else if (way == REJECTS) {
			assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_SUCCESS);
			assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
		} else {
			nd_release(pair->a.connector, 0);
			pair->a.connector = NULL;
			assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
		}
		nd_pair_close(pair);
	}
}

/* A05: what the clients do at shutdown. */
static void
A05_one_overlapped_for_two_requests_that_nobody_waits_for(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED *both = calloc(1, sizeof(*both)), told = {0}, copy;

	assert_non_null(both);
	nd_receive(&pair->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told), ND_PENDING);
	(void)IND2Connector_Disconnect(pair->a.connector, both);
	(void)IND2MemoryRegion_Deregister(pair->a.mr, both);
	nd_release(pair->a.mr, 0);
	nd_release(pair->a.receive_cq, 0);
	nd_release(pair->a.qp, 0);
	nd_release(pair->a.connector, 0);
	CloseHandle(pair->a.file);
	nd_release(pair->a.adapter, 0);
	nd_memory_free(pair->a.arena);
	memset(&pair->a, 0, sizeof(*&pair->a));
	memset(both, 0x5a, sizeof(*both));
	copy = *both;
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(pair->b.receive_cq, 1, ND_CANCELED);
	nd_settle();
	assert_memory_equal(both, &copy, sizeof(copy));
	free(both);
	nd_pair_close(pair);
}

/* Without any Disconnect, and the adapter is closed at once. */
static void
release_of_everything_tells_the_peer(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told = {0};

	nd_receive(&pair->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told), ND_PENDING);
	nd_side_close(&pair->a);
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(pair->b.receive_cq, 1, ND_CANCELED);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A27_a_peer_is_told_before_anything_is_flushed),
		ND_FAMILY_TESTS(A27_both_may_leave_at_once),
		ND_FAMILY_TESTS(A27_an_acknowledged_message_is_received_before_the_end),
		ND_FAMILY_TESTS(a_queue_pair_that_fails_ends_the_connection_on_both_sides),
		ND_FAMILY_TESTS(a_flushed_queue_pair_ends_the_connection_on_both_sides),
		ND_FAMILY_TESTS(A28_told_once_of_the_peer),
		ND_FAMILY_TESTS(A28_told_once_of_ourselves),
		ND_FAMILY_TESTS(A28_cancel_leaves_the_connection_up),
		ND_FAMILY_TESTS(A28_told_once_by_release),
		ND_FAMILY_TESTS(A28_many_are_told_of_one_end),
		ND_FAMILY_TESTS(what_is_not_connected_cannot_be_disconnected),
		ND_FAMILY_TESTS(what_is_not_in_its_place_is_refused),
		ND_FAMILY_TESTS(a_cancelled_disconnect_has_disconnected),
		ND_FAMILY_TESTS(release_in_every_state),
		ND_FAMILY_TESTS(release_of_the_queue_pair_in_every_state),
		ND_FAMILY_TESTS(
			release_of_the_queue_pair_before_the_end_of_connecting_refuses_nobody),
		ND_FAMILY_TESTS(A05_one_overlapped_for_two_requests_that_nobody_waits_for),
		ND_FAMILY_TESTS(release_of_everything_tells_the_peer),
	};

	return nd_run_both("disconnect", tests, sizeof(tests) / sizeof(tests[0]));
}
