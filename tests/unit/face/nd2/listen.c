/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Listeners: the addresses they can be bound to, the order in which requests meet connectors, and
 * what happens to both when one of them is released. Start with
 * requests_and_connectors_meet_in_order().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	CROWD = 6,
};

/* ---- many askers ---- */

/* A client; each identifies itself with its first byte. */
struct asker {
	IND2Connector *connector;
	IND2QueuePair *qp;
	OVERLAPPED connected, completed;
	uint8_t name;
};

/* A server's side. */
struct taker {
	IND2Connector *connector;
	IND2QueuePair *qp;
	OVERLAPPED asked, accepted;
};

static void
asker_open(struct nd_pair *pair, struct asker *asker, uint8_t name)
{
	memset(asker, 0, sizeof(*asker));
	asker->name = name;
	asker->connector = nd_side_connector(&pair->a);
	asker->qp = nd_side_qp(&pair->a, &pair->options, NULL);
	assert_hr(
		IND2Connector_Bind(asker->connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
}

static void
asker_asks(struct asker *asker, const struct nd_address *at)
{
	assert_hr(IND2Connector_Connect(asker->connector, nd_unknown(asker->qp), &at->any,
					at->length, 1, 1, &asker->name, 1, &asker->connected),
		  ND_PENDING);
}

static void
asker_close(struct asker *asker)
{
	nd_release(asker->connector, 0);
	nd_release(asker->qp, 0);
}

static void
taker_open(struct nd_pair *pair, struct taker *taker)
{
	memset(taker, 0, sizeof(*taker));
	taker->connector = nd_side_connector(&pair->b);
	taker->qp = nd_side_qp(&pair->b, &pair->options, NULL);
}

static HRESULT
taker_waits(struct taker *taker, IND2Listener *listener)
{
	return IND2Listener_GetConnectionRequest(listener, nd_unknown(taker->connector),
						 &taker->asked);
}

static uint8_t
taker_got(struct taker *taker)
{
	uint8_t words[CALLER_BYTES];
	ULONG bytes = sizeof(words);

	assert_hr(nd_wait(&taker->asked), ND_SUCCESS);
	assert_hr(IND2Connector_GetPrivateData(taker->connector, words, &bytes), ND_SUCCESS);
	return words[0];
}

static void
taker_close(struct taker *taker)
{
	nd_release(taker->connector, 0);
	nd_release(taker->qp, 0);
}

static void
meet_each_other(struct asker *asker, struct taker *taker)
{
	assert_hr(IND2Connector_Accept(taker->connector, nd_unknown(taker->qp), 1, 1, NULL, 0,
				       &taker->accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&asker->connected), ND_SUCCESS);
	assert_hr(IND2Connector_CompleteConnect(asker->connector, &asker->completed), ND_PENDING);
	assert_hr(nd_wait(&asker->completed), ND_SUCCESS);
	assert_hr(nd_wait(&taker->accepted), ND_SUCCESS);
}

/* Connectors that wait are served in their order, and so are requests that wait. */
static void
requests_and_connectors_meet_in_order(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct asker askers[CROWD];
	struct taker takers[CROWD];

	for (uint8_t i = 0; i < CROWD; i++) {
		asker_open(pair, &askers[i], (uint8_t)(i + 1));
		taker_open(pair, &takers[i]);
	}
	for (int i = 0; i < CROWD / 2; i++)
		assert_hr(taker_waits(&takers[i], pair->listener), ND_PENDING);
	for (int i = 0; i < CROWD; i++) {
		asker_asks(&askers[i], &pair->at);
		if (i < CROWD / 2)
			assert_int_equal(taker_got(&takers[i]), i + 1);
		else
			nd_settle(); /* so that they come in their order */
	}
	/* the rest has come, and waits for somebody to wait for it */
	for (int i = CROWD / 2; i < CROWD; i++)
		assert_int_equal(askers[i].connected.Internal, STATUS_PENDING);
	for (int i = CROWD / 2; i < CROWD; i++) {
		assert_hr(taker_waits(&takers[i], pair->listener), ND_PENDING);
		assert_int_equal(taker_got(&takers[i]), i + 1);
	}
	for (int i = 0; i < CROWD / 2; i++)
		meet_each_other(&askers[i], &takers[i]);
	for (int i = 0; i < CROWD; i++) {
		taker_close(&takers[i]);
		asker_close(&askers[i]);
	}
	nd_pair_close(pair);
}

/* ---- the backlog ---- */

static IND2Listener *
make_listener(struct nd_side *side)
{
	void *listener = NULL;

	assert_hr(
		IND2Adapter_CreateListener(side->adapter, &IID_IND2Listener, side->file, &listener),
		ND_SUCCESS);
	return listener;
}

static void
a_full_backlog_refuses(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct nd_address at = nd_address(1, pair->at.any.sa_family, 7001);
	IND2Listener *listener = make_listener(&pair->b);
	struct asker askers[3];
	struct taker takers[2];

	assert_hr(IND2Listener_Bind(listener, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 2), ND_SUCCESS);
	for (uint8_t i = 0; i < 3; i++) {
		asker_open(pair, &askers[i], (uint8_t)(i + 1));
		asker_asks(&askers[i], &at);
		nd_settle();
	}
	assert_hr(nd_wait(&askers[2].connected), ND_CONNECTION_REFUSED);
	/* fetching one makes room, although it is not answered yet */
	taker_open(pair, &takers[0]);
	taker_open(pair, &takers[1]);
	assert_hr(taker_waits(&takers[0], listener), ND_PENDING);
	assert_int_equal(taker_got(&takers[0]), 1);
	asker_asks(&askers[2], &at);
	nd_still_pending(&askers[2].connected);
	meet_each_other(&askers[0], &takers[0]);
	assert_hr(taker_waits(&takers[1], listener), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 2);
	/* requests still queued when the listener is released are refused; fetched ones continue */
	nd_release(listener, 0);
	assert_hr(nd_wait(&askers[2].connected), ND_CONNECTION_REFUSED);
	meet_each_other(&askers[1], &takers[1]);
	for (int i = 0; i < 3; i++)
		asker_close(&askers[i]);
	taker_close(&takers[0]);
	taker_close(&takers[1]);
	nd_pair_close(pair);
}

/* A request that was given up is not delivered. */
static void
who_gives_up_in_the_backlog_is_not_served(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct asker askers[2];
	struct taker taker;

	asker_open(pair, &askers[0], 1);
	asker_open(pair, &askers[1], 2);
	asker_asks(&askers[0], &pair->at);
	nd_settle();
	assert_hr(IND2Connector_CancelOverlappedRequests(askers[0].connector), ND_SUCCESS);
	nd_settle();
	asker_asks(&askers[1], &pair->at);
	taker_open(pair, &taker);
	assert_hr(taker_waits(&taker, pair->listener), ND_PENDING);
	assert_int_equal(taker_got(&taker), 2);
	meet_each_other(&askers[1], &taker);
	taker_close(&taker);
	asker_close(&askers[0]);
	asker_close(&askers[1]);
	nd_pair_close(pair);
}

/* ---- going ---- */

static void
cancel_leaves_connectors_idle_and_the_listener_listening(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct taker takers[3];
	HANDLE port = CreateIoCompletionPort(pair->b.file, NULL, 7, 0);
	OVERLAPPED *told, refused = {0};
	ULONG_PTR key;
	DWORD bytes;

	assert_non_null(port);
	assert_hr(IND2Listener_CancelOverlappedRequests(pair->listener), ND_SUCCESS);
	for (int i = 0; i < 3; i++) {
		taker_open(pair, &takers[i]);
		assert_hr(taker_waits(&takers[i], pair->listener), ND_PENDING);
		assert_hr(IND2Connector_Bind(takers[i].connector, &pair->b.address.any,
					     pair->b.address.length),
			  (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
		assert_hr(IND2Listener_GetConnectionRequest(
				  pair->listener, nd_unknown(takers[i].connector), &refused),
			  ND_CONNECTION_ACTIVE);
	}
	/* A02: in order, and at once */
	assert_hr(IND2Listener_CancelOverlappedRequests(pair->listener), ND_SUCCESS);
	for (int i = 0; i < 3; i++) {
		told = NULL;
		assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &told, 0));
		assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
		assert_ptr_equal(told, &takers[i].asked);
		assert_hr((HRESULT)takers[i].asked.Internal, ND_CANCELED);
	}
	/* idle: one may be bound, one may wait again, one may be released */
	assert_hr(IND2Connector_Bind(takers[0].connector, &pair->b.address.any,
				     pair->b.address.length),
		  ND_SUCCESS);
	assert_hr(taker_waits(&takers[1], pair->listener), ND_PENDING);
	assert_hr(nd_pair_ask(pair, "x", 1), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 'x');
	for (int i = 0; i < 3; i++)
		taker_close(&takers[i]);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	CloseHandle(port);
	nd_pair_close(pair);
}

static void
release_of_a_connector_that_waits(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct taker takers[2];

	for (int i = 0; i < 2; i++) {
		taker_open(pair, &takers[i]);
		assert_hr(taker_waits(&takers[i], pair->listener), ND_PENDING);
	}
	nd_release(takers[0].connector, 0);
	assert_hr((HRESULT)takers[0].asked.Internal, ND_CANCELED);
	nd_release(takers[0].qp, 0);
	assert_hr(nd_pair_ask(pair, "y", 1), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 'y');
	taker_close(&takers[1]);
	nd_pair_close(pair);
}

static void
release_of_a_listener_frees_its_connectors_and_its_port(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	IND2Listener *listener;

	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &pair->asked),
		  ND_PENDING);
	nd_release(pair->listener, 0);
	pair->listener = NULL;
	assert_hr((HRESULT)pair->asked.Internal, ND_CANCELED);
	assert_hr(nd_pair_ask(pair, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	listener = make_listener(&pair->b);
	assert_hr(IND2Listener_Bind(listener, &pair->at.any, pair->at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 0), ND_SUCCESS);
	pair->listener = listener;
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

/* ---- where ---- */

static struct nd_address
any_address(int family, uint16_t port)
{
	struct nd_address any = nd_address(1, family, port);

	if (family == AF_INET6)
		any.in6.sin6_addr = in6addr_any;
	else
		any.in.sin_addr.s_addr = 0;
	return any;
}

static void
one_listener_at_one_place(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	int family = pair->at.any.sa_family;
	int other_family = family == AF_INET ? AF_INET6 : AF_INET;
	struct nd_address at = nd_address(1, family, 7100), any = any_address(family, 7100);
	struct nd_address other = nd_address(1, other_family, 7100);
	IND2Listener *first = make_listener(&pair->b), *second = make_listener(&pair->b);
	IND2Listener *third = make_listener(&pair->b);
	OVERLAPPED ov = {0};

	/* NdDualListen */
	assert_hr(IND2Listener_Listen(first, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Listener_Bind(first, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Bind(first, &at.any, at.length),
		  (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
	assert_hr(IND2Listener_GetConnectionRequest(first, nd_unknown(pair->b.connector), &ov),
		  ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Listener_Bind(second, &at.any, at.length), ND_SHARING_VIOLATION);
	assert_hr(IND2Listener_Bind(second, &any.any, any.length), ND_SHARING_VIOLATION);
	assert_hr(IND2Listener_Listen(first, 0), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(first, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Listener_Bind(second, &any.any, any.length), ND_SHARING_VIOLATION);
	/* the other family is another place */
	assert_hr(IND2Listener_Bind(third, &other.any, other.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(third, 0), ND_SUCCESS);
	nd_release(first, 0);
	assert_hr(IND2Listener_Bind(second, &any.any, any.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(second, 0), ND_SUCCESS);
	nd_release(third, 0);
	nd_release(second, 0);
	nd_pair_close(pair);
}

static void
where_a_listener_cannot_be(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	int family = pair->at.any.sa_family;
	struct nd_address at = nd_address(0, family, 7200); /* the peer's */
	IND2Listener *listener = make_listener(&pair->b);
	OVERLAPPED ov = {0}, bad = {.hEvent = pair->b.file};
	ULONG length = 64;

	assert_hr(IND2Listener_Bind(listener, &at.any, at.length), ND_INVALID_ADDRESS);
	at = nd_address(1, family, 7200);
	assert_hr(IND2Listener_Bind(listener, &at.any, at.length - 1), ND_INVALID_ADDRESS);
	assert_hr(IND2Listener_Bind(listener, NULL, at.length), ND_INVALID_ADDRESS);
	at.any.sa_family = 0;
	assert_hr(IND2Listener_Bind(listener, &at.any, at.length), ND_INVALID_ADDRESS);
	assert_hr(IND2Listener_GetLocalAddress(listener, &at.any, &length),
		  ND_INVALID_DEVICE_STATE);
	assert_int_equal(length, 64);
	at = nd_address(1, family, 7200);
	assert_hr(IND2Listener_Bind(listener, &at.any, at.length + 7), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 0), ND_SUCCESS);
	assert_hr(IND2Listener_GetConnectionRequest(listener, NULL, &ov), ND_INVALID_PARAMETER_1);
	assert_hr(IND2Listener_GetConnectionRequest(listener, nd_unknown(pair->a.connector), &ov),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Listener_GetConnectionRequest(listener, nd_unknown(pair->b.qp), &ov),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Listener_GetConnectionRequest(listener, nd_unknown(pair->b.connector), NULL),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2Listener_GetConnectionRequest(listener, nd_unknown(pair->b.connector), &bad),
		  ND_INVALID_HANDLE);
	/* the connector is idle as before */
	assert_hr(
		IND2Connector_Bind(pair->b.connector, &pair->b.address.any, pair->b.address.length),
		ND_SUCCESS);
	nd_release(listener, 0);
	nd_pair_close(pair);
}

static void
port_0_is_chosen_and_told(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct nd_address at = any_address(pair->at.any.sa_family, 0), got;
	ULONG length = sizeof(got.in6);

	nd_release(pair->listener, 0);
	pair->listener = make_listener(&pair->b);
	assert_hr(IND2Listener_Bind(pair->listener, &at.any, at.length), ND_SUCCESS);
	memset(&got, 0, sizeof(got));
	assert_hr(IND2Listener_GetLocalAddress(pair->listener, &got.any, NULL),
		  ND_INVALID_PARAMETER);
	for (length = 0; length < at.length; length++) {
		ULONG given = length;

		assert_hr(IND2Listener_GetLocalAddress(pair->listener, &got.any, &given),
			  ND_BUFFER_OVERFLOW);
		assert_int_equal(given, at.length);
		assert_int_equal(got.any.sa_family, 0);
	}
	length = sizeof(got.in6);
	assert_hr(IND2Listener_GetLocalAddress(pair->listener, NULL, &length), ND_BUFFER_OVERFLOW);
	length = sizeof(got.in6);
	assert_hr(IND2Listener_GetLocalAddress(pair->listener, &got.any, &length), ND_SUCCESS);
	assert_int_equal(length, at.length);
	assert_true(nd_port_of(&got) >= 49152);
	at.in.sin_port = got.in.sin_port;
	assert_memory_equal(&got.any, &at.any, at.length);
	assert_hr(IND2Listener_Listen(pair->listener, 0), ND_SUCCESS);
	/* clients that know the port reach it at the adapter's own address */
	pair->at.in.sin_port = got.in.sin_port;
	nd_pair_request(pair);
	length = sizeof(got.in6);
	assert_hr(IND2Connector_GetLocalAddress(pair->b.connector, &got.any, &length), ND_SUCCESS);
	assert_memory_equal(&got.any, &pair->at.any, pair->at.length);
	nd_pair_reply(pair);
	nd_pair_complete(pair);
	nd_pair_close(pair);
}

/* The any-address of one family does not answer for the other. */
static void
the_any_address_is_of_one_family(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	int family = pair->at.any.sa_family;
	int other_family = family == AF_INET ? AF_INET6 : AF_INET;
	struct nd_address other = any_address(other_family, 7300);
	struct nd_address own = any_address(family, 7300);
	IND2Listener *both;

	nd_release(pair->listener, 0);
	pair->listener = make_listener(&pair->b);
	pair->at = nd_address(1, family, 7300);
	assert_hr(IND2Listener_Bind(pair->listener, &other.any, other.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(pair->listener, 0), ND_SUCCESS);
	assert_hr(nd_pair_ask(pair, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	/* both can exist: a server of both families */
	both = make_listener(&pair->b);
	assert_hr(IND2Listener_Bind(both, &own.any, own.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(both, 0), ND_SUCCESS);
	nd_release(pair->listener, 0);
	pair->listener = both;
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

/* NdDualConnection: two connectors and queue pairs of one side, to one listener. */
static void
two_connections_at_once(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct asker askers[2];
	struct taker takers[2];

	for (int i = 0; i < 2; i++) {
		asker_open(pair, &askers[i], (uint8_t)i);
		taker_open(pair, &takers[i]);
		assert_hr(taker_waits(&takers[i], pair->listener), ND_PENDING);
		asker_asks(&askers[i], &pair->at);
		assert_int_equal(taker_got(&takers[i]), i);
	}
	/* the first is thought about while the second is made, and refused in the end */
	assert_hr(IND2Connector_Accept(takers[0].connector, nd_unknown(takers[0].qp), 1, 1, NULL, 0,
				       &takers[0].accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&askers[0].connected), ND_SUCCESS);
	meet_each_other(&askers[1], &takers[1]);
	assert_hr(IND2Connector_Reject(askers[0].connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&takers[0].accepted), ND_CONNECTION_REFUSED);
	for (int i = 0; i < 2; i++) {
		asker_close(&askers[i]);
		taker_close(&takers[i]);
	}
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(requests_and_connectors_meet_in_order),
		ND_FAMILY_TESTS(a_full_backlog_refuses),
		ND_FAMILY_TESTS(who_gives_up_in_the_backlog_is_not_served),
		ND_FAMILY_TESTS(cancel_leaves_connectors_idle_and_the_listener_listening),
		ND_FAMILY_TESTS(release_of_a_connector_that_waits),
		ND_FAMILY_TESTS(release_of_a_listener_frees_its_connectors_and_its_port),
		ND_FAMILY_TESTS(one_listener_at_one_place),
		ND_FAMILY_TESTS(where_a_listener_cannot_be),
		ND_FAMILY_TESTS(port_0_is_chosen_and_told),
		ND_FAMILY_TESTS(the_any_address_is_of_one_family),
		ND_FAMILY_TESTS(two_connections_at_once),
	};

	return nd_run_both("listen", tests, sizeof(tests) / sizeof(tests[0]));
}
