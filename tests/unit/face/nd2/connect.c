/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting: which call pends and until when, and how each step can fail (A24, A25). The
 * parameters of a connection are in terms.c, its end is in disconnect.c. Start with
 * A24_each_side_waits_for_the_other().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

/* ---- A24 ---- */

static void
A24_each_side_waits_for_the_other(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	nd_still_pending(&pair->connected);
	nd_pair_reply(pair);
	nd_still_pending(&pair->accepted);
	nd_pair_complete(pair);
	nd_message(&pair->a, &pair->b, 1);
	nd_message(&pair->b, &pair->a, 2);
	nd_pair_close(pair);
}

/* The words of a refusal are the answer of a pending Accept, too. */
static void
A24_a_refused_reply_ends_accept(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t heard[CALLEE_BYTES];
	ULONG bytes = sizeof(heard);
	ND2_SGE sge = nd_sge(&pair->b, 0, 64);

	nd_receive(&pair->b, 1, 0, 64);
	nd_receive(&pair->a, 9, 0, 64);
	nd_pair_request(pair);
	nd_pair_reply(pair);
	assert_hr(IND2Connector_Reject(pair->a.connector, "no, thanks", 10), ND_SUCCESS);
	assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_GetPrivateData(pair->b.connector, heard, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, CALLEE_BYTES);
	assert_memory_equal(heard, "no, thanks\0", 11);
	/* the acceptor's queue pair is flushed, and completes its posted requests */
	nd_expect(pair->b.receive_cq, 1, ND_CANCELED);
	assert_hr(IND2QueuePair_Send(pair->b.qp, (void *)2, &sge, 1, 0), ND_SUCCESS);
	nd_expect(pair->b.initiator_cq, 2, ND_CANCELED);
	/* the other one is as before: with its receive, and for another connector */
	nd_expect_none(pair->a.receive_cq);
	nd_release(pair->a.connector, 0);
	pair->a.connector = nd_side_connector(&pair->a);
	nd_release(pair->b.connector, 0);
	pair->b.connector = nd_side_connector(&pair->b);
	nd_release(pair->b.qp, 0);
	pair->b.qp = nd_side_qp(&pair->b, &pair->options, NULL);
	nd_pair_connect(pair);
	nd_send(&pair->b, 3, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 9, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A24_a_released_connector_ends_accept(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	nd_pair_reply(pair);
	nd_release(pair->a.connector, 0);
	pair->a.connector = NULL;
	assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
	nd_pair_close(pair);
}

static void
A24_a_released_queue_pair_leaves_accept_pending(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	nd_pair_reply(pair);
	nd_release(pair->a.qp, 0);
	pair->a.qp = NULL;
	nd_still_pending(&pair->accepted);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&pair->accepted), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &pair->completed),
		  ND_CONNECTION_INVALID);
	nd_pair_close(pair);
}

static void
A24_a_peer_that_cancels_before_accept_has_aborted(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->a.connector), ND_SUCCESS);
	assert_hr((HRESULT)pair->connected.Internal, ND_CANCELED);
	nd_gone(pair->b.connector);
	assert_hr(nd_pair_answer(pair, NULL, 0), ND_CONNECTION_ABORTED);
	assert_hr((HRESULT)pair->accepted.Internal, ND_CONNECTION_ABORTED);
	assert_hr(IND2Connector_Reject(pair->b.connector, NULL, 0), ND_CONNECTION_ABORTED);
	/* neither connector can be used again */
	assert_hr(nd_pair_ask(pair, NULL, 0), ND_CONNECTION_ACTIVE);
	nd_pair_close(pair);
}

/* The request is checked when it is answered: the connector was not notified before. */
static void
A24_accept_at_once_after_the_peer_has_gone(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	HRESULT status;

	nd_pair_request(pair);
	nd_release(pair->a.connector, 0);
	pair->a.connector = NULL;
	status = nd_pair_answer(pair, NULL, 0);
	if (status == ND_PENDING)
		status = nd_wait(&pair->accepted);
	assert_true(status == ND_CONNECTION_ABORTED || status == ND_CONNECTION_REFUSED);
	nd_pair_close(pair);
}

static void
A24_a_peer_that_leaves_after_its_reply_has_aborted(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	nd_pair_reply(pair);
	nd_release(pair->b.connector, 0);
	pair->b.connector = NULL;
	nd_gone(pair->a.connector);
	assert_hr((HRESULT)pair->accepted.Internal, ND_CANCELED);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &pair->completed),
		  ND_CONNECTION_ABORTED);
	assert_hr(IND2Connector_Reject(pair->a.connector, NULL, 0), ND_CONNECTION_ABORTED);
	nd_pair_close(pair);
}

static void
A24_cancel_of_a_pending_accept_tells_the_peer(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_receive(&pair->b, 5, 0, 64);
	nd_pair_request(pair);
	nd_pair_reply(pair);
	assert_hr(IND2Connector_CancelOverlappedRequests(pair->b.connector), ND_SUCCESS);
	assert_hr((HRESULT)pair->accepted.Internal, ND_CANCELED);
	nd_expect(pair->b.receive_cq, 5, ND_CANCELED);
	nd_gone(pair->a.connector);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &pair->completed),
		  ND_CONNECTION_ABORTED);
	nd_pair_close(pair);
}

/* The first data are as good as the message that they have overtaken, or that was lost. */
static void
A24_data_right_behind_complete(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct nd_pair *pair = nd_pair_bound(state, NULL);

		nd_receive(&pair->b, 1, 0, 64);
		nd_pair_request(pair);
		nd_pair_reply(pair);
		(void)IND2Connector_CompleteConnect(pair->a.connector, &pair->completed);
		nd_send(&pair->a, 2, 0, 64, 0);
		assert_hr(nd_wait(&pair->accepted), ND_SUCCESS);
		nd_expect(pair->b.receive_cq, 1, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
		nd_pair_close(pair);
	}
}

/* The passive side may be the first to send. */
static void
the_passive_side_speaks_first(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_receive(&pair->a, 1, 0, 64);
	nd_pair_establish(pair);
	nd_send(&pair->b, 2, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
posts_are_refused_until_there_is_a_connection(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	ND2_SGE sge = nd_sge(&pair->a, 0, 64);

	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	nd_pair_request(pair);
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	nd_pair_reply(pair);
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	sge = nd_sge(&pair->b, 0, 64);
	assert_hr(IND2QueuePair_Send(pair->b.qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	nd_pair_complete(pair);
	nd_message(&pair->a, &pair->b, 3);
	nd_expect_none(pair->a.initiator_cq);
	nd_pair_close(pair);
}

/* ---- A25 ---- */

static struct nd_address
nobody(const struct nd_pair *pair, uint16_t port)
{
	return nd_address(1, pair->at.any.sa_family, port);
}

static HRESULT
connect_to(struct nd_pair *pair, const struct nd_address *to)
{
	return IND2Connector_Connect(pair->a.connector, nd_unknown(pair->a.qp), &to->any,
				     to->length, 1, 1, NULL, 0, &pair->connected);
}

static void
A25_nobody_listens_and_then_somebody_does(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct nd_address to = nobody(pair, 3);
	uint64_t before = test_ms();
	ULONG bytes = 99;

	nd_receive(&pair->a, 1, 0, 64);
	assert_hr(connect_to(pair, &to), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	assert_true(test_ms() - before < 8000); /* eight failed tries take longer */
	/* a manager that knows no connection sends nothing */
	assert_hr(IND2Connector_GetPrivateData(pair->a.connector, NULL, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		(HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
	nd_expect_none(pair->a.receive_cq);
	nd_pair_establish(pair);
	nd_send(&pair->b, 2, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A25_a_refusal_brings_its_words_and_can_be_tried_again(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t heard[CALLEE_BYTES + 1];
	ULONG bytes = sizeof(heard);

	nd_receive(&pair->a, 1, 0, 64);
	for (int i = 0; i < 3; i++) {
		nd_pair_request(pair);
		assert_hr(IND2Connector_Reject(pair->b.connector, "later", 5), ND_SUCCESS);
		assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
		bytes = sizeof(heard);
		assert_hr(IND2Connector_GetPrivateData(pair->a.connector, heard, &bytes),
			  ND_SUCCESS);
		assert_int_equal(bytes, CALLEE_BYTES);
		assert_memory_equal(heard, "later\0", 6);
		/* the one that has refused is of no more use */
		assert_hr(IND2Connector_Reject(pair->b.connector, NULL, 0), ND_CONNECTION_INVALID);
		assert_hr(nd_pair_answer(pair, NULL, 0), ND_CONNECTION_INVALID);
		assert_hr(IND2Connector_GetPrivateData(pair->b.connector, heard, &bytes),
			  ND_CONNECTION_INVALID);
		nd_release(pair->b.connector, 0);
		pair->b.connector = nd_side_connector(&pair->b);
	}
	nd_pair_request(pair);
	/* what the last one received is forgotten */
	assert_hr(IND2Connector_GetPrivateData(pair->a.connector, heard, &bytes),
		  ND_CONNECTION_INVALID);
	nd_pair_reply(pair);
	nd_pair_complete(pair);
	nd_send(&pair->b, 2, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A25_a_released_request_is_a_refusal(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_pair_request(pair);
	nd_release(pair->b.connector, 0);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	pair->b.connector = nd_side_connector(&pair->b);
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

static void
A25_nobody_has_the_address(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct nd_address to = nd_address(77, pair->at.any.sa_family, 4000);
	ULONG bytes = 0;

	nd_receive(&pair->a, 1, 0, 64);
	nd_pair_request(pair);
	assert_hr(IND2Connector_Reject(pair->b.connector, "later", 5), ND_SUCCESS);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	assert_hr(connect_to(pair, &to), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_HOST_UNREACHABLE);
	/* nobody has sent anything this time */
	assert_hr(IND2Connector_GetPrivateData(pair->a.connector, NULL, &bytes),
		  ND_CONNECTION_INVALID);
	nd_release(pair->b.connector, 0);
	pair->b.connector = nd_side_connector(&pair->b);
	nd_pair_establish(pair);
	nd_send(&pair->b, 2, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A25_no_way_leads_to_the_address(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct nd_address to = pair->at;

	if (to.any.sa_family == AF_INET6)
		to.in6.sin6_addr.s6_addr[0] = 0x20;
	else
		to.in.sin_addr.s_addr = htonl(0xc6336401); /* 198.51.100.1 */
	assert_hr(connect_to(pair, &to), ND_NETWORK_UNREACHABLE);
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

static void
A25_bind_again_changes_nothing(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct nd_address bound = pair->a.address, other = pair->a.address, got;
	const HRESULT again = (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;

	bound.in.sin_port = htons(5000);
	other.in.sin_port = htons(5001);
	assert_hr(IND2Connector_Bind(pair->a.connector, &bound.any, bound.length), ND_SUCCESS);
	assert_hr(IND2Connector_Bind(pair->a.connector, &other.any, other.length), again);
	nd_pair_request(pair);
	assert_hr(IND2Connector_Bind(pair->a.connector, &other.any, other.length), again);
	nd_pair_reply(pair);
	assert_hr(IND2Connector_Bind(pair->a.connector, &other.any, other.length), again);
	assert_hr(IND2Connector_Bind(pair->b.connector, &other.any, other.length), again);
	nd_pair_complete(pair);
	assert_hr(IND2Connector_Bind(pair->a.connector, &other.any, other.length), again);
	got.length = sizeof(got.in6);
	assert_hr(IND2Connector_GetPeerAddress(pair->b.connector, &got.any, &got.length),
		  ND_SUCCESS);
	assert_int_equal(nd_port_of(&got), 5000);
	nd_pair_close(pair);
}

/* ---- in use ---- */

static HRESULT
connect_by(IND2Connector *connector, IND2QueuePair *qp, const struct nd_address *to, OVERLAPPED *ov)
{
	return IND2Connector_Connect(connector, nd_unknown(qp), &to->any, to->length, 1, 1, NULL, 0,
				     ov);
}

static void
what_is_in_use_cannot_be_connected(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	IND2Connector *more = nd_side_connector(&pair->a);
	IND2QueuePair *spare = nd_side_qp(&pair->a, &pair->options, NULL);
	const struct nd_address *at = &pair->at;
	OVERLAPPED ov = {0}, asked = {0}, accepted = {0};
	IND2Connector *taker;

	assert_hr(IND2Connector_Bind(more, &pair->a.address.any, pair->a.address.length),
		  ND_SUCCESS);
	nd_pair_request(pair);
	/* the connector, then the queue pair */
	assert_hr(connect_by(pair->a.connector, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(connect_by(more, pair->a.qp, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr((HRESULT)ov.Internal, ND_CONNECTION_ACTIVE);
	nd_pair_reply(pair);
	assert_hr(connect_by(pair->a.connector, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(
		IND2Connector_Accept(pair->b.connector, nd_unknown(pair->b.qp), 1, 1, NULL, 0, &ov),
		ND_CONNECTION_ACTIVE);
	nd_pair_complete(pair);
	assert_hr(connect_by(pair->a.connector, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &ov),
		  ND_CONNECTION_ACTIVE);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(more), &ov),
		  ND_INVALID_PARAMETER_1);
	/* the passive side cannot answer with one either, and its request remains */
	taker = nd_side_connector(&pair->b);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(taker), &asked),
		  ND_PENDING);
	assert_hr(connect_by(more, spare, at, &ov), ND_PENDING);
	assert_hr(nd_wait(&asked), ND_SUCCESS);
	assert_hr(IND2Connector_Accept(taker, nd_unknown(pair->b.qp), 1, 1, NULL, 0, &accepted),
		  ND_CONNECTION_ACTIVE);
	nd_still_pending(&ov);
	assert_hr(IND2Connector_Reject(taker, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&ov), ND_CONNECTION_REFUSED);
	nd_message(&pair->a, &pair->b, 1);
	nd_release(taker, 0);
	nd_release(more, 0);
	nd_release(spare, 0);
	/* a queue pair that was disconnected is not used again */
	assert_hr(IND2Connector_Disconnect(pair->a.connector, &pair->left), ND_PENDING);
	assert_hr(nd_wait(&pair->left), ND_SUCCESS);
	nd_release(pair->a.connector, 0);
	pair->a.connector = nd_side_connector(&pair->a);
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
	assert_hr(nd_pair_ask(pair, NULL, 0), ND_CONNECTION_ACTIVE);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A24_each_side_waits_for_the_other),
		ND_FAMILY_TESTS(A24_a_refused_reply_ends_accept),
		ND_FAMILY_TESTS(A24_a_released_connector_ends_accept),
		ND_FAMILY_TESTS(A24_a_released_queue_pair_leaves_accept_pending),
		ND_FAMILY_TESTS(A24_a_peer_that_cancels_before_accept_has_aborted),
		ND_FAMILY_TESTS(A24_accept_at_once_after_the_peer_has_gone),
		ND_FAMILY_TESTS(A24_a_peer_that_leaves_after_its_reply_has_aborted),
		ND_FAMILY_TESTS(A24_cancel_of_a_pending_accept_tells_the_peer),
		ND_FAMILY_TESTS(A24_data_right_behind_complete),
		ND_FAMILY_TESTS(the_passive_side_speaks_first),
		ND_FAMILY_TESTS(posts_are_refused_until_there_is_a_connection),
		ND_FAMILY_TESTS(A25_nobody_listens_and_then_somebody_does),
		ND_FAMILY_TESTS(A25_a_refusal_brings_its_words_and_can_be_tried_again),
		ND_FAMILY_TESTS(A25_a_released_request_is_a_refusal),
		ND_FAMILY_TESTS(A25_nobody_has_the_address),
		ND_FAMILY_TESTS(A25_no_way_leads_to_the_address),
		ND_FAMILY_TESTS(A25_bind_again_changes_nothing),
		ND_FAMILY_TESTS(what_is_in_use_cannot_be_connected),
	};

	return nd_run_both("connect", tests, sizeof(tests) / sizeof(tests[0]));
}
