/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections on two adapters: T15 to T21. Which call is allowed in which state is in
 * connector_state.c. Start with t19_an_accept_completes_when_the_peer_has_completed().
 */
#include <netinet/in.h>
#include <ntstatus.h>
#include <stdlib.h>

#include "ndk_pair.h"

/* ---- T15 ---- */

struct fails {
	NDK_CONNECTOR *connector;
	struct ndk_done failed, closed;
	_Atomic(NTSTATUS) close;
};

static VOID
close_in_completion(PVOID context, NTSTATUS status)
{
	struct fails *fails = context;

	fails->close = fails->connector->Dispatch->NdkCloseConnector(&fails->connector->Header,
								     ndk_on_closed, &fails->closed);
	ndk_on_done(&fails->failed, status);
}

static void
t15_a_connector_may_be_closed_in_its_failure(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct sockaddr_in from = ndk_address(0, 0), to = ndk_address(1, 9);
	struct fails fails = {.connector = pair->a.connector};

	(void)state;
	assert_nt(fails.connector->Dispatch->NdkConnect(fails.connector, pair->a.qp, ndk_any(&from),
							sizeof(from), ndk_any(&to), sizeof(to), 1,
							1, NULL, 0, close_in_completion, &fails),
		  STATUS_PENDING);
	assert_nt(ndk_status(STATUS_PENDING, &fails.failed), STATUS_CONNECTION_REFUSED);
	ndk_closed(fails.close, &fails.closed);
	pair->a.connector = NULL;
	ndk_settle();
	assert_int_equal(fails.failed.calls, 1);
	ndk_pair_close(pair);
}

/* ---- T16, T18: listeners ---- */

static VOID
never(PVOID context, NDK_CONNECTOR *connector)
{
	(void)context, (void)connector;
	fail_msg("a request came");
}

static void
t16_a_listener_ends_with_its_last_connector(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_LISTENER *other = ndk_create(NDK_LISTENER, pair->b.adapter->Dispatch->NdkCreateListener,
					 pair->b.adapter, never, NULL);
	NDK_QP *qp = ndk_side_qp(&pair->a, &pair->options, NULL);
	NDK_CONNECTOR *connector = ndk_side_connector(&pair->a);
	struct ndk_done closed = {0}, refused = {0};

	(void)state;
	assert_nt(pair->listener->Dispatch->NdkCloseListener(&pair->listener->Header, ndk_on_closed,
							     &closed),
		  STATUS_PENDING);
	pair->listener = NULL;
	assert_nt(ndk_status(ndk_dial(connector, qp, ndk_address(0, 0), ndk_address(1, pair->port),
				      &refused),
			     &refused),
		  STATUS_CONNECTION_REFUSED);
	assert_nt(ndk_listen(other, ndk_address(1, pair->port)), STATUS_SHARING_VIOLATION);
	assert_int_equal(closed.calls, 0);
	ndk_end(pair->b.connector->Dispatch->NdkCloseConnector, pair->b.connector);
	pair->b.connector = NULL;
	ndk_closed(STATUS_PENDING, &closed);
	assert_nt(ndk_listen(other, ndk_address(1, pair->port)), STATUS_SUCCESS);
	assert_nt(ndk_listen(other, ndk_address(1, 0)), STATUS_INVALID_DEVICE_REQUEST);
	ndk_end(other->Dispatch->NdkCloseListener, other);
	ndk_end(connector->Dispatch->NdkCloseConnector, connector);
	ndk_end(qp->Dispatch->NdkCloseQp, qp);
	ndk_pair_close(pair);
}

static void
t18_a_paused_listener_refuses(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct ndk_done refused = {0};

	(void)state;
	pair->listener->Dispatch->NdkControlConnectEvents(pair->listener, TRUE);
	assert_nt(ndk_status(ndk_dial(pair->a.connector, pair->a.qp, ndk_address(0, 0),
				      ndk_address(1, pair->port), &refused),
			     &refused),
		  STATUS_CONNECTION_REFUSED);
	assert_int_equal(pair->requests, 0);
	pair->listener->Dispatch->NdkControlConnectEvents(pair->listener, FALSE);
	ndk_pair_connect(pair);
	assert_int_equal(pair->requests, 1);
	ndk_pair_close(pair);
}

/* ---- T17 ---- */

static NTSTATUS
dial_shared(NDK_CONNECTOR *connector, NDK_QP *qp, NDK_SHARED_ENDPOINT *shared, uint16_t port,
	    struct ndk_done *done)
{
	struct sockaddr_in to = ndk_address(1, port);

	return connector->Dispatch->NdkConnectWithSharedEndpoint(
		connector, qp, shared, ndk_any(&to), sizeof(to), 1, 1, NULL, 0, ndk_on_done, done);
}

static uint16_t
local_port(NDK_CONNECTOR *connector)
{
	struct sockaddr_in at = {0};
	ULONG bytes = sizeof(at);

	assert_nt(connector->Dispatch->NdkGetLocalAddress(connector, ndk_any(&at), &bytes),
		  STATUS_SUCCESS);
	return ntohs(at.sin_port);
}

static void
t17_connectors_share_an_endpoint(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL), *other = ndk_pair_new(NULL);
	struct sockaddr_in from = ndk_address(0, 0);
	NDK_SHARED_ENDPOINT *shared =
		ndk_create(NDK_SHARED_ENDPOINT, pair->a.adapter->Dispatch->NdkCreateSharedEndpoint,
			   pair->a.adapter, ndk_any(&from), sizeof(from));
	NDK_CONNECTOR *second = ndk_side_connector(&pair->a);
	NDK_QP *qp = ndk_side_qp(&pair->a, &pair->options, NULL);
	struct ndk_done one = {0}, two = {0}, again = {0}, closed = {0};
	ULONG bytes = sizeof(from);

	(void)state;
	assert_nt(shared->Dispatch->NdkGetLocalAddress(shared, ndk_any(&from), &bytes),
		  STATUS_SUCCESS);
	assert_nt(dial_shared(pair->a.connector, pair->a.qp, shared, pair->port, &one),
		  STATUS_PENDING);
	pair->b.connector = ndk_pair_requested(pair);
	assert_nt(ndk_status(dial_shared(second, qp, shared, pair->port, &again), &again),
		  STATUS_ADDRESS_ALREADY_EXISTS);
	assert_nt(dial_shared(second, qp, shared, other->port, &two), STATUS_PENDING);
	other->b.connector = ndk_pair_requested(other);
	assert_int_equal(local_port(second), ntohs(from.sin_port));
	assert_int_equal(local_port(pair->a.connector), ntohs(from.sin_port));
	assert_nt(shared->Dispatch->NdkCloseSharedEndpoint(&shared->Header, ndk_on_closed, &closed),
		  STATUS_PENDING);
	ndk_end(second->Dispatch->NdkCloseConnector, second);
	ndk_settle();
	assert_int_equal(closed.calls, 0);
	ndk_end(pair->a.connector->Dispatch->NdkCloseConnector, pair->a.connector);
	pair->a.connector = NULL;
	assert_nt(one.status, STATUS_CANCELLED);
	assert_nt(two.status, STATUS_CANCELLED);
	ndk_closed(STATUS_PENDING, &closed);
	ndk_end(qp->Dispatch->NdkCloseQp, qp);
	ndk_pair_close(pair);
	ndk_pair_close(other);
}

/* ---- T19 ---- */

static void
t19_an_accept_completes_when_the_peer_has_completed(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector;
	NDK_SGE sge;

	(void)state;
	ndk_pair_request(pair);
	ndk_pair_reply(pair);
	ndk_settle();
	assert_int_equal(pair->accepted.calls, 0);
	sge = ndk_sge(&pair->a, 0, 8);
	assert_nt(pair->a.qp->Dispatch->NdkSend(pair->a.qp, NULL, &sge, 1, 0),
		  STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(a->Dispatch->NdkCompleteConnect, a, NULL, NULL), STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
t19_a_rejected_reply_aborts_the_accept(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector;
	char no[] = "no";

	(void)state;
	ndk_pair_request(pair);
	ndk_pair_reply(pair);
	assert_nt(a->Dispatch->NdkReject(a, no, sizeof(no)), STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_CONNECTION_ABORTED);
	assert_nt(a->Dispatch->NdkReject(a, NULL, 0), STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(a->Dispatch->NdkCompleteConnect, a, NULL, NULL),
		  STATUS_CONNECTION_INVALID);
	ndk_pair_close(pair);
}

/* ---- T20 ---- */

static void
t20_private_data_comes_as_far_as_it_fits(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct sockaddr_in from = ndk_address(0, 0), to = ndk_address(1, pair->port);
	NDK_CONNECTOR *a = pair->a.connector, *b;
	uint8_t data[256], sent[149] = "hello";
	char yes[] = "yes";
	ULONG bytes = 0, inbound = 99, outbound = 99;

	(void)state;
	assert_nt(a->Dispatch->NdkConnect(a, pair->a.qp, ndk_any(&from), sizeof(from), ndk_any(&to),
					  sizeof(to), 3, 5, sent, 57, ndk_on_done, NULL),
		  STATUS_INVALID_BUFFER_SIZE);
	assert_nt(a->Dispatch->NdkConnect(a, pair->a.qp, ndk_any(&from), sizeof(from), ndk_any(&to),
					  sizeof(to), 3, 5, sent, 6, ndk_on_done, &pair->connected),
		  STATUS_PENDING);
	b = pair->b.connector = ndk_pair_requested(pair);
	assert_nt(b->Dispatch->NdkGetConnectionData(b, &inbound, &outbound, NULL, &bytes),
		  STATUS_SUCCESS);
	assert_int_equal(bytes, 56);
	/* each side's are the other's */
	assert_int_equal(inbound, 5);
	assert_int_equal(outbound, 3);
	assert_nt(b->Dispatch->NdkGetConnectionData(b, NULL, NULL, NULL, &bytes),
		  STATUS_INVALID_PARAMETER);
	bytes = 4;
	memset(data, 0xee, sizeof(data));
	assert_nt(b->Dispatch->NdkGetConnectionData(b, NULL, NULL, data, &bytes),
		  STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(bytes, 56);
	assert_memory_equal(data, "hell\xee", 5);
	assert_nt(b->Dispatch->NdkGetConnectionData(b, NULL, NULL, data, &bytes), STATUS_SUCCESS);
	assert_memory_equal(data, "hello\0\0\0", 8);
	bytes = sizeof(data);
	assert_nt(b->Dispatch->NdkGetConnectionData(b, NULL, NULL, data, &bytes), STATUS_SUCCESS);
	assert_int_equal(bytes, 56);
	assert_int_equal(data[56], 0xee);

	assert_nt(b->Dispatch->NdkAccept(b, pair->b.qp, 4, 2, sent, 149, NULL, NULL, ndk_on_done,
					 NULL),
		  STATUS_INVALID_BUFFER_SIZE);
	assert_nt(b->Dispatch->NdkAccept(b, pair->b.qp, 4, 2, yes, sizeof(yes), NULL, NULL,
					 ndk_on_done, &pair->accepted),
		  STATUS_PENDING);
	assert_nt(ndk_status(STATUS_PENDING, &pair->connected), STATUS_SUCCESS);
	bytes = sizeof(data);
	assert_nt(a->Dispatch->NdkGetConnectionData(a, &inbound, &outbound, data, &bytes),
		  STATUS_SUCCESS);
	assert_int_equal(bytes, 148);
	assert_memory_equal(data, "yes\0", 5);
	assert_int_equal(inbound, 2);
	assert_int_equal(outbound, 4);
	ndk_pair_close(pair);
}

/* ---- T21 ---- */

static void
t21_a_disconnect_flushes_here_and_tells_there(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_CONNECTOR *a = pair->a.connector, *b = pair->b.connector;

	(void)state;
	ndk_post_receive(&pair->a, 1, 0, 64);
	ndk_post_receive(&pair->b, 2, 0, 64);
	assert_nt(ndk_result(a->Dispatch->NdkDisconnect, a), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 1, STATUS_CANCELLED);
	ndk_until(pair->b.disconnected == 1);
	ndk_expect_none(pair->b.cq);
	assert_int_equal(pair->a.disconnected, 0);
	assert_nt(ndk_result(b->Dispatch->NdkDisconnect, b), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 2, STATUS_CANCELLED);
	assert_int_equal(pair->b.disconnected, 1);
	assert_nt(ndk_result(a->Dispatch->NdkDisconnect, a), STATUS_CONNECTION_INVALID);
	ndk_pair_close(pair);
}

/* Both at once: each has its completion, and at most one event. */
static void
t21_both_may_disconnect_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct ndk_pair *pair = ndk_pair_open(NULL);
		NDK_CONNECTOR *a = pair->a.connector, *b = pair->b.connector;
		struct ndk_done one = {0}, two = {0};

		assert_nt(a->Dispatch->NdkDisconnect(a, ndk_on_done, &one), STATUS_PENDING);
		assert_nt(b->Dispatch->NdkDisconnect(b, ndk_on_done, &two), STATUS_PENDING);
		assert_nt(ndk_status(STATUS_PENDING, &one), STATUS_SUCCESS);
		assert_nt(ndk_status(STATUS_PENDING, &two), STATUS_SUCCESS);
		assert_true(pair->a.disconnected <= 1 && pair->b.disconnected <= 1);
		ndk_pair_close(pair);
	}
}

static void
t21_a_failed_peer_is_told_once(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_SGE sge = ndk_sge(&pair->a, 0, 64);

	(void)state;
	assert_nt(pair->a.qp->Dispatch->NdkWrite(pair->a.qp, NULL, &sge, 1, 0, 0xbad, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 0, STATUS_REMOTE_RESOURCES);
	ndk_until(pair->a.disconnected == 1 && pair->b.disconnected == 1);
	ndk_settle();
	assert_int_equal(pair->a.disconnected, 1);
	assert_int_equal(pair->b.disconnected, 1);
	ndk_pair_close(pair);
}

/* ---- bad input ---- */

static void
addresses_that_are_none_are_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct sockaddr_in mine = ndk_address(0, 0), peer = ndk_address(1, pair->port);
	struct sockaddr_in wrong = ndk_address(1, 0), none = {.sin_family = AF_UNIX};
	struct sockaddr_in nowhere = peer;
	NDK_CONNECTOR *connector = pair->a.connector;
	struct ndk_done done = {0};

	(void)state;
	nowhere.sin_addr.s_addr = htonl(0x0b000001);
	assert_nt(ndk_dial(connector, pair->a.qp, none, peer, &done), STATUS_INVALID_ADDRESS);
	assert_nt(ndk_dial(connector, pair->a.qp, mine, none, &done), STATUS_INVALID_ADDRESS);
	assert_nt(ndk_dial(connector, pair->a.qp, mine, mine, &done), STATUS_INVALID_ADDRESS);
	assert_nt(ndk_status(ndk_dial(connector, pair->a.qp, wrong, peer, &done), &done),
		  STATUS_INVALID_ADDRESS);
	done = (struct ndk_done){0};
	assert_nt(ndk_status(ndk_dial(connector, pair->a.qp, mine, nowhere, &done), &done),
		  STATUS_NETWORK_UNREACHABLE);
	ndk_pair_connect(pair);
	done = (struct ndk_done){0};
	assert_nt(ndk_status(ndk_dial(connector, pair->a.qp, mine, peer, &done), &done),
		  STATUS_CONNECTION_ACTIVE);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t15_a_connector_may_be_closed_in_its_failure),
		cmocka_unit_test(t16_a_listener_ends_with_its_last_connector),
		cmocka_unit_test(t17_connectors_share_an_endpoint),
		cmocka_unit_test(t18_a_paused_listener_refuses),
		cmocka_unit_test(t19_an_accept_completes_when_the_peer_has_completed),
		cmocka_unit_test(t19_a_rejected_reply_aborts_the_accept),
		cmocka_unit_test(t20_private_data_comes_as_far_as_it_fits),
		cmocka_unit_test(t21_a_disconnect_flushes_here_and_tells_there),
		cmocka_unit_test(t21_both_may_disconnect_at_once),
		cmocka_unit_test(t21_a_failed_peer_is_told_once),
		cmocka_unit_test(addresses_that_are_none_are_refused),
	};

	return ndk_run("ndk_connect", tests, sizeof(tests) / sizeof(tests[0]));
}
