/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The way to a connection: what pends for how long, and how each step can fail (A24, A25).
 * What a connector is asked on the way is in terms.c, its end in disconnect.c.
 * Start with A24_each_side_waits_for_the_other().
 */
#include "nd2_meet.h"

#include <stdlib.h>
#include <string.h>

/* ---- A24 ----------------------------------------------------------------------------------------
 */

static void
A24_each_side_waits_for_the_other(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	meet_still_pending(&m->connected);
	meet_reply(m);
	meet_still_pending(&m->accepted);
	meet_complete(m);
	meet_message(m->a, m->b, 1);
	meet_message(m->b, m->a, 2);
	part(m);
}

/* The words of a refusal are the answer of a pending Accept, too. */
static void
A24_a_refused_reply_ends_accept(void **state)
{
	struct meeting *m = meet(state, NULL);
	uint8_t heard[CALLEE_BYTES];
	ULONG bytes = sizeof(heard);
	ND2_SGE sge = nd_sge(m->b, 0, 64);

	nd_receive(m->b, 1, 0, 64);
	nd_receive(m->a, 9, 0, 64);
	meet_request(m);
	meet_reply(m);
	assert_hr(IND2Connector_Reject(m->ca, "no, thanks", 10), ND_SUCCESS);
	assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_GetPrivateData(m->cb, heard, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, CALLEE_BYTES);
	assert_memory_equal(heard, "no, thanks\0", 11);
	/* the acceptor's queue pair is flushed, and completes what is posted to it */
	nd_expect(m->b->receive_cq, 1, ND_CANCELED);
	assert_hr(IND2QueuePair_Send(m->b->qp, (void *)2, &sge, 1, 0), ND_SUCCESS);
	nd_expect(m->b->initiator_cq, 2, ND_CANCELED);
	/* the other one is as before: with its receive, and for another connector */
	nd_expect_none(m->a->receive_cq);
	nd_release(m->ca, 0);
	m->a->connector = m->ca = nd_side_connector(m->a);
	nd_release(m->cb, 0);
	m->b->connector = m->cb = nd_side_connector(m->b);
	nd_release(m->b->qp, 0);
	m->b->qp = nd_side_qp(m->b, &m->pair->options, NULL);
	nd_pair_connect(m->pair);
	nd_send(m->b, 3, 0, 64, 0);
	nd_expect(m->a->receive_cq, 9, ND_SUCCESS);
	part(m);
}

static void
A24_a_released_connector_ends_accept(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	meet_reply(m);
	nd_release(m->ca, 0);
	m->a->connector = NULL;
	assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
	part(m);
}

static void
A24_a_released_queue_pair_leaves_accept_pending(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	meet_reply(m);
	nd_release(m->a->qp, 0);
	m->a->qp = NULL;
	meet_still_pending(&m->accepted);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&m->accepted), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_CompleteConnect(m->ca, &m->completed), ND_CONNECTION_INVALID);
	part(m);
}

static void
A24_a_peer_that_cancels_before_accept_has_aborted(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->ca), ND_SUCCESS);
	assert_hr((HRESULT)m->connected.Internal, ND_CANCELED);
	meet_gone(m->cb);
	assert_hr(meet_accept(m, NULL, 0), ND_CONNECTION_ABORTED);
	assert_hr((HRESULT)m->accepted.Internal, ND_CONNECTION_ABORTED);
	assert_hr(IND2Connector_Reject(m->cb, NULL, 0), ND_CONNECTION_ABORTED);
	/* neither connector has another life */
	assert_hr(meet_connect(m, NULL, 0), ND_CONNECTION_ACTIVE);
	part(m);
}

/* The request is looked at when it is answered: nobody has told the connector meanwhile. */
static void
A24_accept_at_once_after_the_peer_has_gone(void **state)
{
	struct meeting *m = meet(state, NULL);
	HRESULT status;

	meet_request(m);
	nd_release(m->ca, 0);
	m->a->connector = NULL;
	status = meet_accept(m, NULL, 0);
	if (status == ND_PENDING)
		status = nd_wait(&m->accepted);
	assert_true(status == ND_CONNECTION_ABORTED || status == ND_CONNECTION_REFUSED);
	part(m);
}

static void
A24_a_peer_that_leaves_after_its_reply_has_aborted(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	meet_reply(m);
	nd_release(m->cb, 0);
	m->b->connector = NULL;
	meet_gone(m->ca);
	assert_hr((HRESULT)m->accepted.Internal, ND_CANCELED);
	assert_hr(IND2Connector_CompleteConnect(m->ca, &m->completed), ND_CONNECTION_ABORTED);
	assert_hr(IND2Connector_Reject(m->ca, NULL, 0), ND_CONNECTION_ABORTED);
	part(m);
}

static void
A24_cancel_of_a_pending_accept_tells_the_peer(void **state)
{
	struct meeting *m = meet(state, NULL);

	nd_receive(m->b, 5, 0, 64);
	meet_request(m);
	meet_reply(m);
	assert_hr(IND2Connector_CancelOverlappedRequests(m->cb), ND_SUCCESS);
	assert_hr((HRESULT)m->accepted.Internal, ND_CANCELED);
	nd_expect(m->b->receive_cq, 5, ND_CANCELED);
	meet_gone(m->ca);
	assert_hr(IND2Connector_CompleteConnect(m->ca, &m->completed), ND_CONNECTION_ABORTED);
	part(m);
}

/* The first data are as good as the message that they have overtaken, or that was lost. */
static void
A24_data_right_behind_complete(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct meeting *m = meet(state, NULL);

		nd_receive(m->b, 1, 0, 64);
		meet_request(m);
		meet_reply(m);
		(void)IND2Connector_CompleteConnect(m->ca, &m->completed);
		nd_send(m->a, 2, 0, 64, 0);
		assert_hr(nd_wait(&m->accepted), ND_SUCCESS);
		nd_expect(m->b->receive_cq, 1, ND_SUCCESS);
		nd_expect(m->a->initiator_cq, 2, ND_SUCCESS);
		part(m);
	}
}

/* The side that was asked may be the first to speak. */
static void
the_passive_side_speaks_first(void **state)
{
	struct meeting *m = meet(state, NULL);

	nd_receive(m->a, 1, 0, 64);
	meet_join(m);
	nd_send(m->b, 2, 0, 64, 0);
	nd_expect(m->a->receive_cq, 1, ND_SUCCESS);
	part(m);
}

static void
posts_are_refused_until_there_is_a_connection(void **state)
{
	struct meeting *m = meet(state, NULL);
	ND2_SGE sge = nd_sge(m->a, 0, 64);

	assert_hr(IND2QueuePair_Send(m->a->qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	meet_request(m);
	assert_hr(IND2QueuePair_Send(m->a->qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	meet_reply(m);
	assert_hr(IND2QueuePair_Send(m->a->qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	sge = nd_sge(m->b, 0, 64);
	assert_hr(IND2QueuePair_Send(m->b->qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	meet_complete(m);
	meet_message(m->a, m->b, 3);
	nd_expect_none(m->a->initiator_cq);
	part(m);
}

/* ---- A25 ----------------------------------------------------------------------------------------
 */

static struct nd_address
nobody(const struct meeting *m, uint16_t port)
{
	return nd_address(1, m->pair->at.any.sa_family, port);
}

static HRESULT
connect_to(struct meeting *m, const struct nd_address *to)
{
	return IND2Connector_Connect(m->ca, meet_unknown(m->a->qp), &to->any, to->length, 1, 1,
				     NULL, 0, &m->connected);
}

static void
A25_nobody_listens_and_then_somebody_does(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct nd_address to = nobody(m, 3);
	uint64_t before = test_ms();
	ULONG bytes = 99;

	nd_receive(m->a, 1, 0, 64);
	assert_hr(connect_to(m, &to), ND_PENDING);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	assert_true(test_ms() - before < 8000); /* eight tries in vain take longer */
	/* a manager that knows of nobody has nothing to say */
	assert_hr(IND2Connector_GetPrivateData(m->ca, NULL, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_hr(IND2Connector_Bind(m->ca, &m->a->address.any, m->a->address.length),
		  (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
	nd_expect_none(m->a->receive_cq);
	meet_join(m);
	nd_send(m->b, 2, 0, 64, 0);
	nd_expect(m->a->receive_cq, 1, ND_SUCCESS);
	part(m);
}

static void
A25_a_refusal_brings_its_words_and_can_be_tried_again(void **state)
{
	struct meeting *m = meet(state, NULL);
	uint8_t heard[CALLEE_BYTES + 1];
	ULONG bytes = sizeof(heard);

	nd_receive(m->a, 1, 0, 64);
	for (int i = 0; i < 3; i++) {
		meet_request(m);
		assert_hr(IND2Connector_Reject(m->cb, "later", 5), ND_SUCCESS);
		assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
		bytes = sizeof(heard);
		assert_hr(IND2Connector_GetPrivateData(m->ca, heard, &bytes), ND_SUCCESS);
		assert_int_equal(bytes, CALLEE_BYTES);
		assert_memory_equal(heard, "later\0", 6);
		/* the one that has refused is of no more use */
		assert_hr(IND2Connector_Reject(m->cb, NULL, 0), ND_CONNECTION_INVALID);
		assert_hr(meet_accept(m, NULL, 0), ND_CONNECTION_INVALID);
		assert_hr(IND2Connector_GetPrivateData(m->cb, heard, &bytes),
			  ND_CONNECTION_INVALID);
		nd_release(m->cb, 0);
		m->b->connector = m->cb = nd_side_connector(m->b);
	}
	meet_request(m);
	/* what the last one has heard is forgotten */
	assert_hr(IND2Connector_GetPrivateData(m->ca, heard, &bytes), ND_CONNECTION_INVALID);
	meet_reply(m);
	meet_complete(m);
	nd_send(m->b, 2, 0, 64, 0);
	nd_expect(m->a->receive_cq, 1, ND_SUCCESS);
	part(m);
}

static void
A25_a_released_request_is_a_refusal(void **state)
{
	struct meeting *m = meet(state, NULL);

	meet_request(m);
	nd_release(m->cb, 0);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	m->b->connector = m->cb = nd_side_connector(m->b);
	meet_join(m);
	part(m);
}

static void
A25_nobody_has_the_address(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct nd_address to = nd_address(77, m->pair->at.any.sa_family, 4000);
	ULONG bytes = 0;

	nd_receive(m->a, 1, 0, 64);
	meet_request(m);
	assert_hr(IND2Connector_Reject(m->cb, "later", 5), ND_SUCCESS);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	assert_hr(connect_to(m, &to), ND_PENDING);
	assert_hr(nd_wait(&m->connected), ND_HOST_UNREACHABLE);
	/* nobody has said anything this time */
	assert_hr(IND2Connector_GetPrivateData(m->ca, NULL, &bytes), ND_CONNECTION_INVALID);
	nd_release(m->cb, 0);
	m->b->connector = m->cb = nd_side_connector(m->b);
	meet_join(m);
	nd_send(m->b, 2, 0, 64, 0);
	nd_expect(m->a->receive_cq, 1, ND_SUCCESS);
	part(m);
}

static void
A25_no_way_leads_to_the_address(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct nd_address to = m->pair->at;

	if (to.any.sa_family == AF_INET6)
		to.in6.sin6_addr.s6_addr[0] = 0x20;
	else
		to.in.sin_addr.s_addr = htonl(0xc6336401); /* 198.51.100.1 */
	assert_hr(connect_to(m, &to), ND_NETWORK_UNREACHABLE);
	meet_join(m);
	part(m);
}

static void
A25_bind_again_changes_nothing(void **state)
{
	struct meeting *m = meet_unbound(state, NULL);
	struct nd_address bound = m->a->address, other = m->a->address, got;
	const HRESULT again = (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;

	bound.in.sin_port = htons(5000);
	other.in.sin_port = htons(5001);
	assert_hr(IND2Connector_Bind(m->ca, &bound.any, bound.length), ND_SUCCESS);
	assert_hr(IND2Connector_Bind(m->ca, &other.any, other.length), again);
	meet_request(m);
	assert_hr(IND2Connector_Bind(m->ca, &other.any, other.length), again);
	meet_reply(m);
	assert_hr(IND2Connector_Bind(m->ca, &other.any, other.length), again);
	assert_hr(IND2Connector_Bind(m->cb, &other.any, other.length), again);
	meet_complete(m);
	assert_hr(IND2Connector_Bind(m->ca, &other.any, other.length), again);
	got.length = sizeof(got.in6);
	assert_hr(IND2Connector_GetPeerAddress(m->cb, &got.any, &got.length), ND_SUCCESS);
	assert_int_equal(nd_port_of(&got), 5000);
	part(m);
}

/* ---- in use -------------------------------------------------------------------------------------
 */

static HRESULT
connect_by(IND2Connector *connector, IND2QueuePair *qp, const struct nd_address *to, OVERLAPPED *ov)
{
	return IND2Connector_Connect(connector, meet_unknown(qp), &to->any, to->length, 1, 1, NULL,
				     0, ov);
}

static void
what_is_in_use_cannot_be_connected(void **state)
{
	struct meeting *m = meet(state, NULL);
	IND2Connector *more = nd_side_connector(m->a);
	IND2QueuePair *spare = nd_side_qp(m->a, &m->pair->options, NULL);
	const struct nd_address *at = &m->pair->at;
	OVERLAPPED ov = {0}, asked = {0}, accepted = {0};
	IND2Connector *taker;

	assert_hr(IND2Connector_Bind(more, &m->a->address.any, m->a->address.length), ND_SUCCESS);
	meet_request(m);
	/* the connector, then the queue pair */
	assert_hr(connect_by(m->ca, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(connect_by(more, m->a->qp, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr((HRESULT)ov.Internal, ND_CONNECTION_ACTIVE);
	meet_reply(m);
	assert_hr(connect_by(m->ca, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(IND2Connector_Accept(m->cb, meet_unknown(m->b->qp), 1, 1, NULL, 0, &ov),
		  ND_CONNECTION_ACTIVE);
	meet_complete(m);
	assert_hr(connect_by(m->ca, spare, at, &ov), ND_CONNECTION_ACTIVE);
	assert_hr(IND2Listener_GetConnectionRequest(m->pair->listener, meet_unknown(m->cb), &ov),
		  ND_CONNECTION_ACTIVE);
	assert_hr(IND2Listener_GetConnectionRequest(m->pair->listener, meet_unknown(more), &ov),
		  ND_INVALID_PARAMETER_1);
	/* who is asked cannot answer with one either, and is asked still */
	taker = nd_side_connector(m->b);
	assert_hr(IND2Listener_GetConnectionRequest(m->pair->listener, meet_unknown(taker), &asked),
		  ND_PENDING);
	assert_hr(connect_by(more, spare, at, &ov), ND_PENDING);
	assert_hr(nd_wait(&asked), ND_SUCCESS);
	assert_hr(IND2Connector_Accept(taker, meet_unknown(m->b->qp), 1, 1, NULL, 0, &accepted),
		  ND_CONNECTION_ACTIVE);
	meet_still_pending(&ov);
	assert_hr(IND2Connector_Reject(taker, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&ov), ND_CONNECTION_REFUSED);
	meet_message(m->a, m->b, 1);
	nd_release(taker, 0);
	nd_release(more, 0);
	nd_release(spare, 0);
	/* a queue pair that was disconnected is not used again */
	assert_hr(IND2Connector_Disconnect(m->ca, &m->left), ND_PENDING);
	assert_hr(nd_wait(&m->left), ND_SUCCESS);
	nd_release(m->ca, 0);
	m->a->connector = m->ca = nd_side_connector(m->a);
	assert_hr(IND2Connector_Bind(m->ca, &m->a->address.any, m->a->address.length), ND_SUCCESS);
	assert_hr(meet_connect(m, NULL, 0), ND_CONNECTION_ACTIVE);
	part(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MEET_TESTS(A24_each_side_waits_for_the_other),
		MEET_TESTS(A24_a_refused_reply_ends_accept),
		MEET_TESTS(A24_a_released_connector_ends_accept),
		MEET_TESTS(A24_a_released_queue_pair_leaves_accept_pending),
		MEET_TESTS(A24_a_peer_that_cancels_before_accept_has_aborted),
		MEET_TESTS(A24_accept_at_once_after_the_peer_has_gone),
		MEET_TESTS(A24_a_peer_that_leaves_after_its_reply_has_aborted),
		MEET_TESTS(A24_cancel_of_a_pending_accept_tells_the_peer),
		MEET_TESTS(A24_data_right_behind_complete),
		MEET_TESTS(the_passive_side_speaks_first),
		MEET_TESTS(posts_are_refused_until_there_is_a_connection),
		MEET_TESTS(A25_nobody_listens_and_then_somebody_does),
		MEET_TESTS(A25_a_refusal_brings_its_words_and_can_be_tried_again),
		MEET_TESTS(A25_a_released_request_is_a_refusal),
		MEET_TESTS(A25_nobody_has_the_address),
		MEET_TESTS(A25_no_way_leads_to_the_address),
		MEET_TESTS(A25_bind_again_changes_nothing),
		MEET_TESTS(what_is_in_use_cannot_be_connected),
	};

	return nd_run_both("connect", tests, sizeof(tests) / sizeof(tests[0]));
}
