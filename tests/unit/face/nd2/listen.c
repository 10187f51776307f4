/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Listeners: where they can be, in which order requests meet connectors, and what becomes of both
 * when one of them goes. Start with requests_and_connectors_meet_in_order().
 */
#include "nd2_meet.h"

#include <stdlib.h>
#include <string.h>

enum {
	CROWD = 6,
};

/* ---- many askers --------------------------------------------------------------------------------
 */

/* One who asks; each says who it is with its first byte. */
struct asker {
	IND2Connector *connector;
	IND2QueuePair *qp;
	OVERLAPPED connected, completed;
	uint8_t name;
};

/* One who is asked. */
struct taker {
	IND2Connector *connector;
	IND2QueuePair *qp;
	OVERLAPPED asked, accepted;
};

static void
asker_open(struct meeting *m, struct asker *asker, uint8_t name)
{
	memset(asker, 0, sizeof(*asker));
	asker->name = name;
	asker->connector = nd_side_connector(m->a);
	asker->qp = nd_side_qp(m->a, &m->pair->options, NULL);
	assert_hr(IND2Connector_Bind(asker->connector, &m->a->address.any, m->a->address.length),
		  ND_SUCCESS);
}

static void
asker_asks(struct asker *asker, const struct nd_address *at)
{
	assert_hr(IND2Connector_Connect(asker->connector, meet_unknown(asker->qp), &at->any,
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
taker_open(struct meeting *m, struct taker *taker)
{
	memset(taker, 0, sizeof(*taker));
	taker->connector = nd_side_connector(m->b);
	taker->qp = nd_side_qp(m->b, &m->pair->options, NULL);
}

static HRESULT
taker_waits(struct taker *taker, IND2Listener *listener)
{
	return IND2Listener_GetConnectionRequest(listener, meet_unknown(taker->connector),
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
	assert_hr(IND2Connector_Accept(taker->connector, meet_unknown(taker->qp), 1, 1, NULL, 0,
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
	struct meeting *m = meet_unbound(state, NULL);
	struct asker askers[CROWD];
	struct taker takers[CROWD];

	for (uint8_t i = 0; i < CROWD; i++) {
		asker_open(m, &askers[i], (uint8_t)(i + 1));
		taker_open(m, &takers[i]);
	}
	for (int i = 0; i < CROWD / 2; i++)
		assert_hr(taker_waits(&takers[i], m->pair->listener), ND_PENDING);
	for (int i = 0; i < CROWD; i++) {
		asker_asks(&askers[i], &m->pair->at);
		if (i < CROWD / 2)
			assert_int_equal(taker_got(&takers[i]), i + 1);
		else
			nd_settle(); /* so that they come in their order */
	}
	/* the rest has come, and waits for somebody to wait for it */
	for (int i = CROWD / 2; i < CROWD; i++)
		assert_int_equal(askers[i].connected.Internal, STATUS_PENDING);
	for (int i = CROWD / 2; i < CROWD; i++) {
		assert_hr(taker_waits(&takers[i], m->pair->listener), ND_PENDING);
		assert_int_equal(taker_got(&takers[i]), i + 1);
	}
	for (int i = 0; i < CROWD / 2; i++)
		meet_each_other(&askers[i], &takers[i]);
	for (int i = 0; i < CROWD; i++) {
		taker_close(&takers[i]);
		asker_close(&askers[i]);
	}
	part(m);
}

/* ---- the backlog --------------------------------------------------------------------------------
 */

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
	struct meeting *m = meet_unbound(state, NULL);
	struct nd_address at = nd_address(1, m->pair->at.any.sa_family, 7001);
	IND2Listener *listener = make_listener(m->b);
	struct asker askers[3];
	struct taker takers[2];

	assert_hr(IND2Listener_Bind(listener, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 2), ND_SUCCESS);
	for (uint8_t i = 0; i < 3; i++) {
		asker_open(m, &askers[i], (uint8_t)(i + 1));
		asker_asks(&askers[i], &at);
		nd_settle();
	}
	assert_hr(nd_wait(&askers[2].connected), ND_CONNECTION_REFUSED);
	/* one that was fetched makes room, though it is not answered yet */
	taker_open(m, &takers[0]);
	taker_open(m, &takers[1]);
	assert_hr(taker_waits(&takers[0], listener), ND_PENDING);
	assert_int_equal(taker_got(&takers[0]), 1);
	asker_asks(&askers[2], &at);
	meet_still_pending(&askers[2].connected);
	meet_each_other(&askers[0], &takers[0]);
	assert_hr(taker_waits(&takers[1], listener), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 2);
	/* who still waits when the listener goes is refused; who was fetched goes on */
	nd_release(listener, 0);
	assert_hr(nd_wait(&askers[2].connected), ND_CONNECTION_REFUSED);
	meet_each_other(&askers[1], &takers[1]);
	for (int i = 0; i < 3; i++)
		asker_close(&askers[i]);
	taker_close(&takers[0]);
	taker_close(&takers[1]);
	part(m);
}

/* A request that was given up is not given to anybody. */
static void
who_gives_up_in_the_backlog_is_not_served(void **state)
{
	struct meeting *m = meet_unbound(state, NULL);
	struct asker askers[2];
	struct taker taker;

	asker_open(m, &askers[0], 1);
	asker_open(m, &askers[1], 2);
	asker_asks(&askers[0], &m->pair->at);
	nd_settle();
	assert_hr(IND2Connector_CancelOverlappedRequests(askers[0].connector), ND_SUCCESS);
	nd_settle();
	asker_asks(&askers[1], &m->pair->at);
	taker_open(m, &taker);
	assert_hr(taker_waits(&taker, m->pair->listener), ND_PENDING);
	assert_int_equal(taker_got(&taker), 2);
	meet_each_other(&askers[1], &taker);
	taker_close(&taker);
	asker_close(&askers[0]);
	asker_close(&askers[1]);
	part(m);
}

/* ---- going --------------------------------------------------------------------------------------
 */

static void
cancel_leaves_connectors_idle_and_the_listener_listening(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct taker takers[3];
	HANDLE port = CreateIoCompletionPort(m->b->file, NULL, 7, 0);
	OVERLAPPED *told, refused = {0};
	ULONG_PTR key;
	DWORD bytes;

	assert_non_null(port);
	assert_hr(IND2Listener_CancelOverlappedRequests(m->pair->listener), ND_SUCCESS);
	for (int i = 0; i < 3; i++) {
		taker_open(m, &takers[i]);
		assert_hr(taker_waits(&takers[i], m->pair->listener), ND_PENDING);
		assert_hr(IND2Connector_Bind(takers[i].connector, &m->b->address.any,
					     m->b->address.length),
			  (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
		assert_hr(IND2Listener_GetConnectionRequest(
				  m->pair->listener, meet_unknown(takers[i].connector), &refused),
			  ND_CONNECTION_ACTIVE);
	}
	/* A02: in order, and at once */
	assert_hr(IND2Listener_CancelOverlappedRequests(m->pair->listener), ND_SUCCESS);
	for (int i = 0; i < 3; i++) {
		told = NULL;
		assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &told, 0));
		assert_int_equal(GetLastError(), ERROR_OPERATION_ABORTED);
		assert_ptr_equal(told, &takers[i].asked);
		assert_hr((HRESULT)takers[i].asked.Internal, ND_CANCELED);
	}
	/* idle: one may be bound, one may wait again, one may be released */
	assert_hr(IND2Connector_Bind(takers[0].connector, &m->b->address.any, m->b->address.length),
		  ND_SUCCESS);
	assert_hr(taker_waits(&takers[1], m->pair->listener), ND_PENDING);
	assert_hr(meet_connect(m, "x", 1), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 'x');
	for (int i = 0; i < 3; i++)
		taker_close(&takers[i]);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	CloseHandle(port);
	part(m);
}

static void
release_of_a_connector_that_waits(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct taker takers[2];

	for (int i = 0; i < 2; i++) {
		taker_open(m, &takers[i]);
		assert_hr(taker_waits(&takers[i], m->pair->listener), ND_PENDING);
	}
	nd_release(takers[0].connector, 0);
	assert_hr((HRESULT)takers[0].asked.Internal, ND_CANCELED);
	nd_release(takers[0].qp, 0);
	assert_hr(meet_connect(m, "y", 1), ND_PENDING);
	assert_int_equal(taker_got(&takers[1]), 'y');
	taker_close(&takers[1]);
	part(m);
}

static void
release_of_a_listener_frees_its_connectors_and_its_port(void **state)
{
	struct meeting *m = meet(state, NULL);
	IND2Listener *listener;

	assert_hr(IND2Listener_GetConnectionRequest(m->pair->listener, meet_unknown(m->cb),
						    &m->asked),
		  ND_PENDING);
	nd_release(m->pair->listener, 0);
	m->pair->listener = NULL;
	assert_hr((HRESULT)m->asked.Internal, ND_CANCELED);
	assert_hr(meet_connect(m, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	listener = make_listener(m->b);
	assert_hr(IND2Listener_Bind(listener, &m->pair->at.any, m->pair->at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 0), ND_SUCCESS);
	m->pair->listener = listener;
	meet_join(m);
	part(m);
}

/* ---- where --------------------------------------------------------------------------------------
 */

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
	struct meeting *m = meet_unbound(state, NULL);
	int family = m->pair->at.any.sa_family;
	int other_family = family == AF_INET ? AF_INET6 : AF_INET;
	struct nd_address at = nd_address(1, family, 7100), any = any_address(family, 7100);
	struct nd_address other = nd_address(1, other_family, 7100);
	IND2Listener *first = make_listener(m->b), *second = make_listener(m->b);
	IND2Listener *third = make_listener(m->b);
	OVERLAPPED ov = {0};

	/* NdDualListen */
	assert_hr(IND2Listener_Listen(first, 0), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2Listener_Bind(first, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Bind(first, &at.any, at.length),
		  (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED);
	assert_hr(IND2Listener_GetConnectionRequest(first, meet_unknown(m->cb), &ov),
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
	part(m);
}

static void
where_a_listener_cannot_be(void **state)
{
	struct meeting *m = meet_unbound(state, NULL);
	int family = m->pair->at.any.sa_family;
	struct nd_address at = nd_address(0, family, 7200); /* the peer's */
	IND2Listener *listener = make_listener(m->b);
	OVERLAPPED ov = {0}, bad = {.hEvent = m->b->file};
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
	assert_hr(IND2Listener_GetConnectionRequest(listener, meet_unknown(m->ca), &ov),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Listener_GetConnectionRequest(listener, meet_unknown(m->b->qp), &ov),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Listener_GetConnectionRequest(listener, meet_unknown(m->cb), NULL),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2Listener_GetConnectionRequest(listener, meet_unknown(m->cb), &bad),
		  ND_INVALID_HANDLE);
	/* the connector is idle as before */
	assert_hr(IND2Connector_Bind(m->cb, &m->b->address.any, m->b->address.length), ND_SUCCESS);
	nd_release(listener, 0);
	part(m);
}

static void
port_0_is_chosen_and_told(void **state)
{
	struct meeting *m = meet(state, NULL);
	struct nd_address at = any_address(m->pair->at.any.sa_family, 0), got;
	ULONG length = sizeof(got.in6);

	nd_release(m->pair->listener, 0);
	m->pair->listener = make_listener(m->b);
	assert_hr(IND2Listener_Bind(m->pair->listener, &at.any, at.length), ND_SUCCESS);
	memset(&got, 0, sizeof(got));
	assert_hr(IND2Listener_GetLocalAddress(m->pair->listener, &got.any, NULL),
		  ND_INVALID_PARAMETER);
	for (length = 0; length < at.length; length++) {
		ULONG given = length;

		assert_hr(IND2Listener_GetLocalAddress(m->pair->listener, &got.any, &given),
			  ND_BUFFER_OVERFLOW);
		assert_int_equal(given, at.length);
		assert_int_equal(got.any.sa_family, 0);
	}
	length = sizeof(got.in6);
	assert_hr(IND2Listener_GetLocalAddress(m->pair->listener, NULL, &length),
		  ND_BUFFER_OVERFLOW);
	length = sizeof(got.in6);
	assert_hr(IND2Listener_GetLocalAddress(m->pair->listener, &got.any, &length), ND_SUCCESS);
	assert_int_equal(length, at.length);
	assert_true(nd_port_of(&got) >= 49152);
	at.in.sin_port = got.in.sin_port;
	assert_memory_equal(&got.any, &at.any, at.length);
	assert_hr(IND2Listener_Listen(m->pair->listener, 0), ND_SUCCESS);
	/* whoever knows the port finds it at the adapter's own address */
	m->pair->at.in.sin_port = got.in.sin_port;
	meet_request(m);
	length = sizeof(got.in6);
	assert_hr(IND2Connector_GetLocalAddress(m->cb, &got.any, &length), ND_SUCCESS);
	assert_memory_equal(&got.any, &m->pair->at.any, m->pair->at.length);
	meet_reply(m);
	meet_complete(m);
	part(m);
}

/* The any-address of one family does not answer for the other. */
static void
the_any_address_is_of_one_family(void **state)
{
	struct meeting *m = meet(state, NULL);
	int family = m->pair->at.any.sa_family;
	int other_family = family == AF_INET ? AF_INET6 : AF_INET;
	struct nd_address other = any_address(other_family, 7300);
	struct nd_address own = any_address(family, 7300);
	IND2Listener *both;

	nd_release(m->pair->listener, 0);
	m->pair->listener = make_listener(m->b);
	m->pair->at = nd_address(1, family, 7300);
	assert_hr(IND2Listener_Bind(m->pair->listener, &other.any, other.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(m->pair->listener, 0), ND_SUCCESS);
	assert_hr(meet_connect(m, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&m->connected), ND_CONNECTION_REFUSED);
	/* both may be there: a server of both families */
	both = make_listener(m->b);
	assert_hr(IND2Listener_Bind(both, &own.any, own.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(both, 0), ND_SUCCESS);
	nd_release(m->pair->listener, 0);
	m->pair->listener = both;
	meet_join(m);
	part(m);
}

/* NdDualConnection: two connectors and queue pairs of one side, to one listener. */
static void
two_connections_at_once(void **state)
{
	struct meeting *m = meet_unbound(state, NULL);
	struct asker askers[2];
	struct taker takers[2];

	for (int i = 0; i < 2; i++) {
		asker_open(m, &askers[i], (uint8_t)i);
		taker_open(m, &takers[i]);
		assert_hr(taker_waits(&takers[i], m->pair->listener), ND_PENDING);
		asker_asks(&askers[i], &m->pair->at);
		assert_int_equal(taker_got(&takers[i]), i);
	}
	/* the first is thought about while the second is made, and refused in the end */
	assert_hr(IND2Connector_Accept(takers[0].connector, meet_unknown(takers[0].qp), 1, 1, NULL,
				       0, &takers[0].accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&askers[0].connected), ND_SUCCESS);
	meet_each_other(&askers[1], &takers[1]);
	assert_hr(IND2Connector_Reject(askers[0].connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&takers[0].accepted), ND_CONNECTION_REFUSED);
	for (int i = 0; i < 2; i++) {
		asker_close(&askers[i]);
		taker_close(&takers[i]);
	}
	part(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MEET_TESTS(requests_and_connectors_meet_in_order),
		MEET_TESTS(a_full_backlog_refuses),
		MEET_TESTS(who_gives_up_in_the_backlog_is_not_served),
		MEET_TESTS(cancel_leaves_connectors_idle_and_the_listener_listening),
		MEET_TESTS(release_of_a_connector_that_waits),
		MEET_TESTS(release_of_a_listener_frees_its_connectors_and_its_port),
		MEET_TESTS(one_listener_at_one_place),
		MEET_TESTS(where_a_listener_cannot_be),
		MEET_TESTS(port_0_is_chosen_and_told),
		MEET_TESTS(the_any_address_is_of_one_family),
		MEET_TESTS(two_connections_at_once),
	};

	return nd_run_both("listen", tests, sizeof(tests) / sizeof(tests[0]));
}
