/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a connection: who is told what, in which order, and how often (A05, A27, A28),
 * from every state and by every object. Start with A27_a_peer_is_told_before_anything_is_flushed().
 */
#include "nd2_meet.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL ((HRESULT)STATUS_CONNECTION_DISCONNECTED)

static void
assert_disconnects(IND2Connector *connector)
{
	OVERLAPPED ov = {0};

	nd_pends(IND2Connector_Disconnect(connector, &ov), ND_SUCCESS);
}

/* ---- A27 ----------------------------------------------------------------------------------------
 */

enum {
	RECEIVES = 8,
	ROUNDS = 20,
};

static void
A27_a_peer_is_told_before_anything_is_flushed(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct meeting *m = meet_whole(state, NULL);
		OVERLAPPED told = {0}, left = {0};
		ND2_RESULT result;

		for (uint32_t i = 0; i < RECEIVES; i++)
			nd_receive(m->b, i, 0, 64);
		assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(m->ca, &left), ND_PENDING);
		/* without a pause in which another thread could be faster */
		test_until(IND2CompletionQueue_GetResults(m->b->receive_cq, &result, 1) == 1,
			   nd_is_inline() ? nd_cycle() : (void)0);
		/* whoever sees the first of them has been told */
		assert_hr(nd_status(&told), ND_SUCCESS);
		assert_hr(result.Status, ND_CANCELED);
		assert_ptr_equal(result.RequestContext, NULL);
		for (uint32_t i = 1; i < RECEIVES; i++)
			nd_expect(m->b->receive_cq, i, ND_CANCELED);
		assert_hr(nd_wait(&left), ND_SUCCESS);
		assert_disconnects(m->cb);
		/* once is enough */
		assert_hr(IND2Connector_Disconnect(m->cb, &left), ND_INVALID_DEVICE_STATE);
		assert_hr(IND2Connector_Disconnect(m->ca, &left), ND_INVALID_DEVICE_STATE);
		part(m);
	}
}

static void
A27_both_may_leave_at_once(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct meeting *m = meet_whole(state, NULL);
		OVERLAPPED a = {0}, b = {0}, told_a = {0}, told_b = {0};

		nd_receive(m->a, 1, 0, 64);
		nd_receive(m->b, 2, 0, 64);
		assert_hr(IND2Connector_NotifyDisconnect(m->ca, &told_a), ND_PENDING);
		assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told_b), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(m->ca, &a), ND_PENDING);
		assert_hr(IND2Connector_Disconnect(m->cb, &b), ND_PENDING);
		assert_hr(nd_wait(&a), ND_SUCCESS);
		assert_hr(nd_wait(&b), ND_SUCCESS);
		assert_hr(nd_wait(&told_a), LOCAL);
		assert_true(nd_wait(&told_b) == LOCAL || nd_status(&told_b) == ND_SUCCESS);
		nd_expect(m->a->receive_cq, 1, ND_CANCELED);
		nd_expect(m->b->receive_cq, 2, ND_CANCELED);
		part(m);
	}
}

static void
A27_an_acknowledged_message_is_received_before_the_end(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct meeting *m = meet_whole(state, NULL);

		for (uint32_t i = 0; i < RECEIVES; i++)
			nd_receive(m->b, i, i * 1024, 1024);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_send(m->a, 100 + i, 0, 1024, 0);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_expect(m->a->initiator_cq, 100 + i, ND_SUCCESS);
		assert_hr(IND2Connector_Disconnect(m->ca, &m->left), ND_PENDING);
		for (uint32_t i = 0; i < RECEIVES - 1; i++)
			nd_expect(m->b->receive_cq, i, ND_SUCCESS);
		nd_expect(m->b->receive_cq, RECEIVES - 1, ND_CANCELED);
		assert_hr(nd_wait(&m->left), ND_SUCCESS);
		part(m);
	}
}

static void
a_queue_pair_that_fails_ends_the_connection_on_both_sides(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	ND2_SGE sge = nd_sge(m->a, 0, 64);
	OVERLAPPED told_a = {0}, told_b = {0};

	nd_receive(m->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(m->ca, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told_b), ND_PENDING);
	/* a byte behind the region of the peer */
	assert_hr(IND2QueuePair_Read(m->a->qp, (void *)2, &sge, 1,
				     (uint64_t)(uintptr_t)m->b->arena + ND_ARENA - 63, m->b->remote,
				     0),
		  ND_SUCCESS);
	nd_expect(m->a->initiator_cq, 2, ND_ACCESS_VIOLATION);
	nd_expect(m->b->receive_cq, 1, ND_CANCELED);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	assert_disconnects(m->ca);
	assert_disconnects(m->cb);
	part(m);
}

static void
a_flushed_queue_pair_ends_the_connection_on_both_sides(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told_a = {0}, told_b = {0};

	nd_receive(m->a, 1, 0, 64);
	nd_receive(m->b, 2, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(m->ca, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told_b), ND_PENDING);
	assert_hr(IND2QueuePair_Flush(m->a->qp), ND_SUCCESS);
	nd_expect(m->a->receive_cq, 1, ND_CANCELED);
	nd_expect(m->b->receive_cq, 2, ND_CANCELED);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	part(m);
}

/* ---- A28 ----------------------------------------------------------------------------------------
 */

/* A port that counts what is told on the files of both sides. */
struct witness {
	HANDLE port;
	OVERLAPPED *seen[16];
	uint32_t count;
};

static void
watch(struct witness *witness, struct meeting *m)
{
	memset(witness, 0, sizeof(*witness));
	witness->port = CreateIoCompletionPort(m->b->file, NULL, 1, 0);
	assert_non_null(witness->port);
}

/* Whatever has been told until now, in order. */
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
notify(struct meeting *m, OVERLAPPED told[3])
{
	for (int i = 0; i < 3; i++)
		assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told[i]), ND_PENDING);
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
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told[3] = {{0}}, late = {0};
	struct witness witness;

	watch(&witness, m);
	notify(m, told);
	assert_int_equal(count(&witness), 0);
	assert_disconnects(m->ca);
	for (int i = 0; i < 3; i++)
		nd_wait(&told[i]);
	assert_told(&witness, told, ND_SUCCESS);
	/* and at once, who asks later */
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &late), ND_PENDING);
	assert_hr(nd_wait(&late), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	/* then never again: by our own Disconnect, by Cancel, by Release */
	assert_hr(IND2Connector_Disconnect(m->cb, &m->left), ND_PENDING);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->cb), ND_SUCCESS);
	nd_release(m->cb, 0);
	m->b->connector = NULL;
	assert_int_equal(count(&witness), 5);
	assert_ptr_equal(witness.seen[4], &m->left);
	CloseHandle(witness.port);
	part(m);
}

static void
A28_told_once_of_ourselves(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told[3] = {{0}}, late = {0};
	struct witness witness;

	watch(&witness, m);
	notify(m, told);
	assert_hr(IND2Connector_Disconnect(m->cb, &m->left), ND_PENDING);
	/* not when the peer has answered: now */
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), LOCAL);
	assert_hr(nd_wait(&m->left), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &late), ND_PENDING);
	assert_hr(nd_wait(&late), LOCAL);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->cb), ND_SUCCESS);
	nd_release(m->cb, 0);
	m->b->connector = NULL;
	assert_int_equal(count(&witness), 5);
	CloseHandle(witness.port);
	part(m);
}

static void
A28_cancel_leaves_the_connection_up(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told[3] = {{0}}, again = {0};
	struct witness witness;

	watch(&witness, m);
	notify(m, told);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->cb), ND_SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), ND_CANCELED);
	assert_told(&witness, told, ND_CANCELED);
	meet_message(m->a, m->b, 1);
	meet_message(m->b, m->a, 2);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &again), ND_PENDING);
	assert_disconnects(m->ca);
	assert_hr(nd_wait(&again), ND_SUCCESS);
	assert_int_equal(count(&witness), 4);
	CloseHandle(witness.port);
	part(m);
}

static void
A28_told_once_by_release(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told[3] = {{0}}, peer = {0};
	struct witness witness;

	watch(&witness, m);
	notify(m, told);
	assert_hr(IND2Connector_NotifyDisconnect(m->ca, &peer), ND_PENDING);
	nd_release(m->cb, 0);
	m->b->connector = NULL;
	for (int i = 0; i < 3; i++)
		assert_hr(nd_status(&told[i]), LOCAL);
	assert_told(&witness, told, LOCAL);
	assert_hr(nd_wait(&peer), ND_SUCCESS);
	CloseHandle(witness.port);
	part(m);
}

/* As many as like may wait. */
static void
A28_many_are_told_of_one_end(void **state)
{
	enum {
		MANY = 40,
	};
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told[MANY] = {{0}};

	for (int i = 0; i < MANY; i++)
		assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told[i]), ND_PENDING);
	nd_settle();
	for (int i = 0; i < MANY; i++)
		assert_hr(nd_status(&told[i]), ND_PENDING);
	assert_disconnects(m->ca);
	for (int i = 0; i < MANY; i++)
		assert_hr(nd_wait(&told[i]), ND_SUCCESS);
	part(m);
}

/* ---- before and after ---------------------------------------------------------------------------
 */

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
	struct meeting *m = meet_unbound(state, NULL);

	assert_not_connected(m->ca);
	assert_hr(IND2Connector_Bind(m->ca, &m->a->address.any, m->a->address.length), ND_SUCCESS);
	assert_not_connected(m->ca);
	meet_request(m);
	assert_not_connected(m->ca);
	assert_not_connected(m->cb);
	meet_reply(m);
	assert_not_connected(m->ca);
	assert_not_connected(m->cb);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
	assert_not_connected(m->ca);
	assert_not_connected(m->cb);
	part(m);
}

static void
what_is_not_in_its_place_is_refused(void **state)
{
	struct meeting *m = meet(state, NULL);
	OVERLAPPED ov = {0};

	assert_hr(IND2Connector_CompleteConnect(m->ca, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(meet_accept(m, NULL, 0), ND_CONNECTION_INVALID);
	meet_request(m);
	assert_hr(IND2Connector_CompleteConnect(m->ca, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_CompleteConnect(m->cb, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_INVALID_DEVICE_STATE);
	meet_reply(m);
	assert_hr(IND2Connector_CompleteConnect(m->cb, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(m->cb, NULL, 0), ND_INVALID_DEVICE_STATE);
	meet_complete(m);
	assert_hr(IND2Connector_CompleteConnect(m->ca, &ov), ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Connector_Reject(m->cb, NULL, 0), ND_INVALID_DEVICE_STATE);
	meet_message(m->a, m->b, 1);
	part(m);
}

static void
a_cancelled_disconnect_has_disconnected(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told = {0};

	nd_receive(m->a, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told), ND_PENDING);
	assert_hr(IND2Connector_Disconnect(m->ca, &m->left), ND_PENDING);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->ca), ND_SUCCESS);
	/* unless the answer was faster */
	assert_true(nd_status(&m->left) == ND_CANCELED || nd_status(&m->left) == ND_SUCCESS);
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(m->a->receive_cq, 1, ND_CANCELED);
	part(m);
}

/* ---- releases -----------------------------------------------------------------------------------
 */

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

static struct meeting *
bring_to(void **state, enum stage stage)
{
	struct meeting *m = meet_unbound(state, NULL);

	if (stage >= BOUND)
		assert_hr(IND2Connector_Bind(m->ca, &m->a->address.any, m->a->address.length),
			  ND_SUCCESS);
	if (stage >= REQUESTED)
		meet_request(m);
	if (stage >= REPLIED)
		meet_reply(m);
	if (stage >= CONNECTED)
		meet_complete(m);
	if (stage >= LEFT)
		assert_hr(IND2Connector_Disconnect(m->ca, &m->left), ND_PENDING);
	if (stage >= LEFT_AWAY)
		assert_disconnects(m->cb);
	return m;
}

/* The last Release returns with nothing pending, and the other side comes to an end by itself. */
static void
release_in_every_state(void **state)
{
	for (enum stage stage = IDLE; stage < STAGES; stage++) {
		for (int side = 0; side < 2; side++) {
			struct meeting *m = bring_to(state, stage);
			struct nd_side *leaver = side ? m->b : m->a;
			OVERLAPPED told = {0};
			bool notified;

			notified = IND2Connector_NotifyDisconnect(side ? m->ca : m->cb, &told) ==
				   ND_PENDING;
			nd_release(leaver->connector, 0);
			leaver->connector = NULL;
			if (stage >= REQUESTED && side == 0)
				assert_int_not_equal(nd_status(&m->connected), ND_PENDING);
			if (stage >= REPLIED && side == 1)
				assert_int_not_equal(nd_status(&m->accepted), ND_PENDING);
			if (stage >= LEFT && side == 0)
				assert_int_not_equal(nd_status(&m->left), ND_PENDING);
			if (stage >= REQUESTED)
				nd_wait(&m->connected);
			if (stage >= REPLIED)
				nd_wait(&m->accepted);
			assert_int_equal(notified, stage >= CONNECTED);
			if (notified)
				nd_wait(&told);
			part(m);
		}
	}
}

/* The same of a queue pair; the connector has an end to tell. */
static void
release_of_the_queue_pair_in_every_state(void **state)
{
	for (enum stage stage = IDLE; stage < STAGES; stage++) {
		for (int side = 0; side < 2; side++) {
			struct meeting *m = bring_to(state, stage);
			struct nd_side *leaver = side ? m->b : m->a;
			IND2Connector *own = side ? m->cb : m->ca, *other = side ? m->ca : m->cb;
			OVERLAPPED told = {0}, told_other = {0};

			if (stage == CONNECTED) {
				assert_hr(IND2Connector_NotifyDisconnect(own, &told), ND_PENDING);
				assert_hr(IND2Connector_NotifyDisconnect(other, &told_other),
					  ND_PENDING);
			}
			nd_release(leaver->qp, 0);
			leaver->qp = NULL;
			if (stage == REQUESTED && side == 0)
				assert_hr(nd_status(&m->connected), ND_CANCELED);
			if (stage == REPLIED && side == 1)
				assert_hr(nd_status(&m->accepted), ND_CANCELED);
			if (stage == CONNECTED) {
				assert_hr(nd_status(&told), LOCAL);
				assert_hr(nd_wait(&told_other), ND_SUCCESS);
				assert_disconnects(own);
				assert_disconnects(other);
			}
			part(m);
		}
	}
}

/* The connector holds it: whoever thinks about the answer may have let go of it already. */
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
		struct meeting *m = bring_to(state, REPLIED);
		OVERLAPPED told = {0};

		nd_release(m->a->qp, 0);
		m->a->qp = NULL;
		meet_still_pending(&m->accepted);
		assert_hr(IND2Connector_GetReadLimits(m->ca, NULL, NULL), ND_SUCCESS);
		if (way == COMPLETES) {
			meet_complete(m);
			assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told), ND_PENDING);
			meet_still_pending(&told);
			assert_disconnects(m->ca);
			assert_hr(nd_wait(&told), ND_SUCCESS);
		} else if (way == REJECTS) {
			assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_SUCCESS);
			assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
		} else {
			nd_release(m->ca, 0);
			m->a->connector = NULL;
			assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
		}
		part(m);
	}
}

/* A05: what the clients' shutdown does. */
static void
A05_one_overlapped_for_two_requests_that_nobody_waits_for(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED *both = calloc(1, sizeof(*both)), told = {0}, copy;

	assert_non_null(both);
	nd_receive(m->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told), ND_PENDING);
	(void)IND2Connector_Disconnect(m->ca, both);
	(void)IND2MemoryRegion_Deregister(m->a->mr, both);
	nd_release(m->a->mr, 0);
	nd_release(m->a->receive_cq, 0);
	nd_release(m->a->qp, 0);
	nd_release(m->a->connector, 0);
	CloseHandle(m->a->file);
	nd_release(m->a->adapter, 0);
	free(m->a->arena);
	memset(m->a, 0, sizeof(*m->a));
	memset(both, 0x5a, sizeof(*both));
	copy = *both;
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(m->b->receive_cq, 1, ND_CANCELED);
	nd_settle();
	assert_memory_equal(both, &copy, sizeof(copy));
	free(both);
	part(m);
}

/* Without any Disconnect, and the adapter is closed at once. */
static void
release_of_everything_tells_the_peer(void **state)
{
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told = {0};

	nd_receive(m->b, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told), ND_PENDING);
	nd_side_close(m->a);
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(m->b->receive_cq, 1, ND_CANCELED);
	part(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MEET_TESTS(A27_a_peer_is_told_before_anything_is_flushed),
		MEET_TESTS(A27_both_may_leave_at_once),
		MEET_TESTS(A27_an_acknowledged_message_is_received_before_the_end),
		MEET_TESTS(a_queue_pair_that_fails_ends_the_connection_on_both_sides),
		MEET_TESTS(a_flushed_queue_pair_ends_the_connection_on_both_sides),
		MEET_TESTS(A28_told_once_of_the_peer),
		MEET_TESTS(A28_told_once_of_ourselves),
		MEET_TESTS(A28_cancel_leaves_the_connection_up),
		MEET_TESTS(A28_told_once_by_release),
		MEET_TESTS(A28_many_are_told_of_one_end),
		MEET_TESTS(what_is_not_connected_cannot_be_disconnected),
		MEET_TESTS(what_is_not_in_its_place_is_refused),
		MEET_TESTS(a_cancelled_disconnect_has_disconnected),
		MEET_TESTS(release_in_every_state),
		MEET_TESTS(release_of_the_queue_pair_in_every_state),
		MEET_TESTS(release_of_the_queue_pair_before_the_end_of_connecting_refuses_nobody),
		MEET_TESTS(A05_one_overlapped_for_two_requests_that_nobody_waits_for),
		MEET_TESTS(release_of_everything_tells_the_peer),
	};

	return nd_run_both("disconnect", tests, sizeof(tests) / sizeof(tests[0]));
}
