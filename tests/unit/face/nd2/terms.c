/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a connection, as both sides exchange them and as a connector returns them:
 * private data (A26), read limits, addresses; and which arguments it refuses. Start with
 * A26_the_longest_words_travel_and_longer_ones_do_not().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- private data ---- */

static void
assert_heard(IND2Connector *connector, const uint8_t *words, ULONG n)
{
	uint8_t heard[256];
	ULONG bytes = sizeof(heard);

	memset(heard, 0xee, sizeof(heard));
	assert_hr(IND2Connector_GetPrivateData(connector, heard, &bytes), ND_SUCCESS);
	assert_true(bytes >= n && bytes <= sizeof(heard));
	assert_memory_equal(heard, words, n);
	/* the wire's padding */
	for (ULONG i = n; i < bytes; i++)
		assert_int_equal(heard[i], 0);
	if (bytes < sizeof(heard))
		assert_int_equal(heard[bytes], 0xee);
}

static void
fill(uint8_t *words, ULONG n, uint8_t seed)
{
	for (ULONG i = 0; i < n; i++)
		words[i] = (uint8_t)(seed + i * 7);
}

static void
A26_the_longest_words_travel_and_longer_ones_do_not(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t call[CALLER_BYTES], reply[CALLEE_BYTES];
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG size = sizeof(info);

	assert_hr(IND2Adapter_Query(pair->a.adapter, &info, &size), ND_SUCCESS);
	assert_int_equal(info.MaxCallerData, CALLER_BYTES);
	assert_int_equal(info.MaxCalleeData, CALLEE_BYTES);
	fill(call, sizeof(call), 3);
	fill(reply, sizeof(reply), 5);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &pair->asked),
		  ND_PENDING);
	assert_hr(nd_pair_ask(pair, call, CALLER_BYTES + 1), ND_INVALID_BUFFER_SIZE);
	assert_hr((HRESULT)pair->connected.Internal, ND_INVALID_BUFFER_SIZE);
	assert_hr(nd_pair_ask(pair, call, UINT32_MAX), ND_INVALID_BUFFER_SIZE);
	assert_hr(nd_pair_ask(pair, call, CALLER_BYTES), ND_PENDING);
	assert_hr(nd_wait(&pair->asked), ND_SUCCESS);
	assert_heard(pair->b.connector, call, CALLER_BYTES);
	assert_hr(nd_pair_answer(pair, reply, CALLEE_BYTES + 1), ND_INVALID_BUFFER_SIZE);
	assert_hr(nd_pair_answer(pair, reply, CALLEE_BYTES), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_SUCCESS);
	assert_heard(pair->a.connector, reply, CALLEE_BYTES);
	assert_heard(pair->b.connector, call, CALLER_BYTES);
	assert_hr(IND2Connector_Reject(pair->a.connector, reply, CALLEE_BYTES + 1),
		  ND_INVALID_BUFFER_SIZE);
	nd_pair_complete(pair);
	assert_heard(pair->a.connector, reply, CALLEE_BYTES);
	nd_message(&pair->a, &pair->b, 1);
	nd_pair_close(pair);
}

static void
A26_a_refusal_as_long_as_can_be(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t words[CALLEE_BYTES];

	fill(words, sizeof(words), 11);
	nd_pair_request(pair);
	assert_hr(IND2Connector_Reject(pair->b.connector, words, CALLEE_BYTES + 1),
		  ND_INVALID_BUFFER_SIZE);
	nd_still_pending(&pair->connected);
	assert_hr(IND2Connector_Reject(pair->b.connector, words, CALLEE_BYTES), ND_SUCCESS);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	assert_heard(pair->a.connector, words, CALLEE_BYTES);
	nd_pair_close(pair);
}

static void
A26_a_short_buffer_gets_what_fits(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t heard[CALLER_BYTES] = {0};
	ULONG bytes = 5;

	for (int i = 0; i < 2; i++)
		assert_hr(IND2Connector_GetPrivateData(i ? pair->a.connector : pair->b.connector,
						       heard, &bytes),
			  ND_CONNECTION_INVALID);
	assert_int_equal(bytes, 5);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &pair->asked),
		  ND_PENDING);
	assert_hr(nd_pair_ask(pair, "abcdefgh", 8), ND_PENDING);
	assert_hr(nd_wait(&pair->asked), ND_SUCCESS);
	assert_hr(IND2Connector_GetPrivateData(pair->b.connector, heard, &bytes),
		  ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, CALLER_BYTES);
	assert_memory_equal(heard, "abcde\0\0", 7);
	bytes = 77;
	assert_hr(IND2Connector_GetPrivateData(pair->b.connector, NULL, &bytes),
		  ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, CALLER_BYTES);
	assert_hr(IND2Connector_GetPrivateData(pair->b.connector, heard, &bytes), ND_SUCCESS);
	assert_memory_equal(heard, "abcdefgh\0", 9);
	assert_hr(IND2Connector_GetPrivateData(pair->b.connector, heard, NULL),
		  ND_INVALID_PARAMETER);
	nd_pair_close(pair);
}

/* Available data, and how a program queries it: without a buffer, with one of the right size,
 * with a larger one. */
static void
assert_pads(IND2Connector *connector, const char *words, ULONG field)
{
	uint8_t heard[256], wanted[256] = {0};
	ULONG bytes = 0;

	memcpy(wanted, words, strlen(words));
	assert_hr(IND2Connector_GetPrivateData(connector, NULL, &bytes),
		  field ? ND_BUFFER_OVERFLOW : ND_SUCCESS);
	assert_int_equal(bytes, field);
	for (ULONG room = field; room <= sizeof(heard); room += sizeof(heard) - field) {
		memset(heard, 0xee, sizeof(heard));
		bytes = room;
		assert_hr(IND2Connector_GetPrivateData(connector, heard, &bytes), ND_SUCCESS);
		assert_int_equal(bytes, field);
		assert_memory_equal(heard, wanted, field);
		assert_true(field == sizeof(heard) || heard[field] == 0xee);
	}
	if (field == 0)
		return;
	bytes = field - 1;
	memset(heard, 0xee, sizeof(heard));
	assert_hr(IND2Connector_GetPrivateData(connector, heard, &bytes), ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, field);
	assert_memory_equal(heard, wanted, field - 1);
	assert_int_equal(heard[field - 1], 0xee);
}

/* The length does not travel: a program finds its words, and zeros up to what fits the message. */
static void
A26_words_come_with_zeros_behind_them(void **state)
{
	static const char *const words[] = {"", "abc"};

	for (int i = 0; i < 4; i++) {
		struct nd_pair *pair = nd_pair_bound(state, NULL);
		const char *call = words[i % 2], *reply = words[i / 2];

		assert_hr(IND2Connector_GetPrivateData(pair->a.connector, NULL, &(ULONG){0}),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2Listener_GetConnectionRequest(
				  pair->listener, nd_unknown(pair->b.connector), &pair->asked),
			  ND_PENDING);
		assert_hr(nd_pair_ask(pair, call, (ULONG)strlen(call)), ND_PENDING);
		assert_hr(nd_wait(&pair->asked), ND_SUCCESS);
		assert_pads(pair->b.connector, call, CALLER_BYTES);
		if (i % 2) {
			assert_hr(IND2Connector_Reject(pair->b.connector, reply,
						       (ULONG)strlen(reply)),
				  ND_SUCCESS);
			assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
		} else {
			assert_hr(nd_pair_answer(pair, reply, (ULONG)strlen(reply)), ND_PENDING);
			assert_hr(nd_wait(&pair->connected), ND_SUCCESS);
		}
		assert_pads(pair->a.connector, reply, CALLEE_BYTES);
		nd_pair_close(pair);
	}
}

/* Nobody listens there: it is the manager that refuses, and it has no words. */
static void
A26_a_manager_has_no_words(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	nd_release(pair->listener, 0);
	pair->listener = NULL;
	assert_hr(nd_pair_ask(pair, "abc", 3), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	assert_pads(pair->a.connector, "", 0);
	nd_pair_close(pair);
}

static void
A26_words_from_nowhere(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint8_t *page =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	/* A hole could be filled by the next mapping of any thread. */
	assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
	assert_hr(nd_pair_ask(pair, NULL, 8), ND_ACCESS_VIOLATION);
	assert_hr(nd_pair_ask(pair, page + 4096 - 7, 8), ND_ACCESS_VIOLATION);
	nd_pair_request(pair);
	assert_hr(nd_pair_answer(pair, NULL, 8), ND_ACCESS_VIOLATION);
	assert_hr(IND2Connector_Reject(pair->b.connector, page + 4096, 1), ND_ACCESS_VIOLATION);
	assert_hr(nd_pair_answer(pair, page + 4096 - 8, 8), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_SUCCESS);
	nd_pair_complete(pair);
	assert_int_equal(munmap(page, 8192), 0);
	nd_pair_close(pair);
}

/* ---- read limits ---- */

static void
assert_limits(IND2Connector *connector, ULONG inbound, ULONG outbound)
{
	ULONG in = 99, out = 99;

	assert_hr(IND2Connector_GetReadLimits(connector, &in, &out), ND_SUCCESS);
	assert_int_equal(in, inbound);
	assert_int_equal(out, outbound);
	assert_hr(IND2Connector_GetReadLimits(connector, NULL, &out), ND_SUCCESS);
	assert_hr(IND2Connector_GetReadLimits(connector, &in, NULL), ND_SUCCESS);
}

/* One side's initiator limit is the other's responder limit; the smaller of both counts. */
struct limits {
	ULONG asks_in, asks_out, gives_in, gives_out;
	ULONG offered_in, offered_out; /* as the acceptor sees the request */
	ULONG in, out;                 /* the active side's view of what was agreed */
};

static void
read_limits_are_the_smaller_of_both(void **state)
{
	static const struct limits rows[] = {
		{3, 5, 4, 9, 5, 3, 3, 4},
		{1000, 1000, 1000, 1000, 16, 16, 16, 16},
		{UINT32_MAX, 300, 2, 1, 16, 16, 1, 2},
		{0, 7, 8, 8, 7, 0, 0, 7},
		{4, 4, 0, 0, 4, 4, 0, 0},
		{0, 0, 5, 5, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct limits *row = &rows[i];
		struct nd_pair *pair = nd_pair_bound(state, NULL);
		const struct nd_address *at = &pair->at;
		ULONG in = 77, out = 78;
		ND2_SGE sge;

		assert_hr(IND2Connector_GetReadLimits(pair->a.connector, &in, &out),
			  ND_CONNECTION_INVALID);
		assert_true(in == 77 && out == 78);
		assert_hr(IND2Listener_GetConnectionRequest(
				  pair->listener, nd_unknown(pair->b.connector), &pair->asked),
			  ND_PENDING);
		assert_hr(IND2Connector_GetReadLimits(pair->b.connector, NULL, NULL),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2Connector_Connect(pair->a.connector, nd_unknown(pair->a.qp), &at->any,
						at->length, row->asks_in, row->asks_out, NULL, 0,
						&pair->connected),
			  ND_PENDING);
		assert_hr(nd_wait(&pair->asked), ND_SUCCESS);
		assert_limits(pair->b.connector, row->offered_in, row->offered_out);
		assert_hr(IND2Connector_Accept(pair->b.connector, nd_unknown(pair->b.qp),
					       row->gives_in, row->gives_out, NULL, 0,
					       &pair->accepted),
			  ND_PENDING);
		assert_limits(pair->b.connector, row->out, row->in);
		assert_hr(nd_wait(&pair->connected), ND_SUCCESS);
		assert_limits(pair->a.connector, row->in, row->out);
		nd_pair_complete(pair);
		assert_limits(pair->a.connector, row->in, row->out);
		assert_limits(pair->b.connector, row->out, row->in);
		nd_message(&pair->a, &pair->b, 1);
		/* none at all is nothing that could be waited for */
		sge = nd_sge(&pair->a, 0, 8);
		assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)2, &sge, 1,
					     (uint64_t)(uintptr_t)pair->b.arena, pair->b.remote, 0),
			  row->out ? ND_SUCCESS : ND_INVALID_DEVICE_REQUEST);
		if (row->out)
			nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
		nd_expect_none(pair->a.initiator_cq);
		nd_pair_close(pair);
	}
}

/* More of them than are allowed at once wait their turn. */
static void
reads_beyond_the_limit_wait(void **state)
{
	const struct nd_options options = {.inbound = 2, .outbound = 2};
	struct nd_pair *pair = nd_pair_idle(state, &options);

	nd_pair_connect(pair);
	assert_limits(pair->a.connector, 2, 2);
	nd_fill(&pair->b, 0, 32 * 1000, 9);
	for (uint32_t i = 0; i < 32; i++)
		nd_read(&pair->a, &pair->b, i, i * 1000, 1000, 0);
	for (uint32_t i = 0; i < 32; i++)
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	nd_assert_filled(&pair->a, 0, 32 * 1000, 9);
	nd_pair_close(pair);
}

/* ---- addresses ---- */

typedef HRESULT STDMETHODCALLTYPE ask_address(IND2Connector *, struct sockaddr *, ULONG *);

/* The size is exact, a buffer that is too short is not touched, a longer one is used in part. */
static void
assert_address(ask_address *ask, IND2Connector *connector, const struct nd_address *expected)
{
	union {
		struct sockaddr any;
		struct sockaddr_in6 in6;
		uint8_t bytes[64];
	} got;
	ULONG length = 0;

	assert_hr(ask(connector, NULL, NULL), ND_INVALID_PARAMETER);
	assert_hr(ask(connector, NULL, &length), ND_BUFFER_OVERFLOW);
	assert_int_equal(length, expected->length);
	memset(&got, 0xee, sizeof(got));
	length--;
	assert_hr(ask(connector, &got.any, &length), ND_BUFFER_OVERFLOW);
	assert_int_equal(length, expected->length);
	assert_int_equal(got.bytes[0], 0xee);
	length = sizeof(got);
	assert_hr(ask(connector, &got.any, &length), ND_SUCCESS);
	assert_int_equal(length, expected->length);
	assert_memory_equal(&got, &expected->any, expected->length);
	assert_int_equal(got.bytes[expected->length], 0xee);
}

static void
addresses_are_known_from_bind_and_from_the_request_on(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct nd_address bound = pair->a.address, out = bound;

	bound.in.sin_port = htons(6001); /* at the same place in both families */
	out.length = 77;
	assert_hr(IND2Connector_GetLocalAddress(pair->a.connector, &out.any, &out.length),
		  ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_GetPeerAddress(pair->a.connector, &out.any, &out.length),
		  ND_CONNECTION_INVALID);
	assert_int_equal(out.length, 77);
	assert_memory_equal(&out.any, &pair->a.address.any, bound.length);
	assert_hr(IND2Connector_Bind(pair->a.connector, &bound.any, bound.length), ND_SUCCESS);
	assert_address(IND2Connector_GetLocalAddress, pair->a.connector, &bound);
	assert_hr(IND2Connector_GetPeerAddress(pair->a.connector, &out.any, &out.length),
		  ND_CONNECTION_INVALID);
	nd_pair_request(pair);
	for (int i = 0; i < 3; i++) {
		assert_address(IND2Connector_GetLocalAddress, pair->a.connector, &bound);
		assert_address(IND2Connector_GetPeerAddress, pair->a.connector, &pair->at);
		assert_address(IND2Connector_GetLocalAddress, pair->b.connector, &pair->at);
		assert_address(IND2Connector_GetPeerAddress, pair->b.connector, &bound);
		if (i == 0)
			nd_pair_reply(pair);
		else if (i == 1)
			nd_pair_complete(pair);
	}
	nd_pair_close(pair);
}

static void
port_0_is_one_of_the_private_ones(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	struct nd_address got = {.length = sizeof(got.in6)};
	IND2Connector *more = nd_side_connector(&pair->a);

	assert_hr(IND2Connector_GetLocalAddress(pair->a.connector, &got.any, &got.length),
		  ND_SUCCESS);
	assert_int_equal(got.any.sa_family, pair->a.address.any.sa_family);
	assert_true(nd_port_of(&got) >= 49152);
	/* it is in use until the last Release frees it */
	assert_hr(IND2Connector_Bind(more, &got.any, got.length), ND_SHARING_VIOLATION);
	nd_release(pair->a.connector, 0);
	pair->a.connector = NULL;
	assert_hr(IND2Connector_Bind(more, &got.any, got.length), ND_SUCCESS);
	nd_release(more, 0);
	nd_pair_close(pair);
}

/* Listeners and connectors do not conflict. */
static void
a_connector_may_have_the_port_of_a_listener(void **state)
{
	struct nd_options options = {.same_end = true};
	struct nd_pair *pair = nd_pair_idle(state, &options);

	assert_hr(IND2Connector_Bind(pair->a.connector, &pair->at.any, pair->at.length),
		  ND_SUCCESS);
	nd_pair_establish(pair);
	nd_message(&pair->a, &pair->b, 1);
	nd_pair_close(pair);
}

static void
an_adapter_connects_to_itself(void **state)
{
	struct nd_options options = {.same_end = true};

	/* by its own address, then by loopback, which Query then returns as its own */
	for (int loopback = 0; loopback < 2; loopback++) {
		struct nd_pair *pair = nd_pair_bound(state, &options);
		struct nd_address own = pair->at;

		if (loopback && own.any.sa_family == AF_INET6)
			pair->at.in6.sin6_addr = in6addr_loopback;
		else if (loopback)
			pair->at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		nd_pair_request(pair);
		nd_pair_reply(pair);
		nd_pair_complete(pair);
		assert_address(IND2Connector_GetPeerAddress, pair->a.connector, &own);
		nd_message(&pair->a, &pair->b, 1);
		nd_message(&pair->b, &pair->a, 2);
		nd_fill(&pair->b, 0, 5000, 3);
		nd_read(&pair->a, &pair->b, 4, 0, 5000, 0);
		nd_expect(pair->a.initiator_cq, 4, ND_SUCCESS);
		nd_assert_filled(&pair->a, 0, 5000, 3);
		nd_pair_close(pair);
	}
}

/* ---- refused arguments ---- */

static void
addresses_that_bind_refuses(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	struct nd_address address = pair->a.address;
	IND2Connector *other;

	assert_hr(IND2Connector_Bind(pair->a.connector, NULL, address.length), ND_INVALID_ADDRESS);
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, address.length - 1),
		  ND_INVALID_ADDRESS);
	address.any.sa_family = AF_UNIX;
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, sizeof(address.in6)),
		  ND_INVALID_ADDRESS);
	/* the peer's; the one of all; that of loopback */
	address = pair->b.address;
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, address.length),
		  ND_INVALID_ADDRESS);
	if (address.any.sa_family == AF_INET6)
		address.in6.sin6_addr = in6addr_any;
	else
		address.in.sin_addr.s_addr = 0;
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, address.length),
		  ND_INVALID_ADDRESS);
	if (address.any.sa_family == AF_INET6)
		address.in6.sin6_addr = in6addr_loopback;
	else
		address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, address.length),
		  ND_INVALID_ADDRESS);
	/* a port that another connector has */
	address = pair->a.address;
	address.in.sin_port = htons(6100);
	other = nd_side_connector(&pair->a);
	assert_hr(IND2Connector_Bind(other, &address.any, address.length), ND_SUCCESS);
	assert_hr(IND2Connector_Bind(pair->a.connector, &address.any, address.length),
		  ND_SHARING_VIOLATION);
	nd_release(other, 0);
	/* nothing has changed; longer than needed is no fault */
	assert_hr(IND2Connector_GetLocalAddress(pair->a.connector, &address.any, &address.length),
		  ND_CONNECTION_INVALID);
	assert_hr(IND2Connector_Bind(pair->a.connector, &pair->a.address.any,
				     pair->a.address.length + 9),
		  ND_SUCCESS);
	nd_pair_close(pair);
}

static HRESULT
connect_to(struct nd_pair *pair, IND2QueuePair *qp, const struct nd_address *to, OVERLAPPED *ov)
{
	return IND2Connector_Connect(pair->a.connector, nd_unknown(qp), &to->any, to->length, 1, 1,
				     NULL, 0, ov);
}

static void
arguments_that_connect_refuses(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);
	int family = pair->a.address.any.sa_family;
	struct nd_address to = pair->at, other;
	OVERLAPPED bad = {.hEvent = pair->a.file};
	OVERLAPPED *ov = &pair->connected;

	assert_hr(connect_to(pair, pair->a.qp, &to, ov), (HRESULT)STATUS_ADDRESS_NOT_ASSOCIATED);
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
	/* no queue pair, another adapter's, an object of another kind */
	assert_hr(connect_to(pair, NULL, &to, ov), ND_INVALID_PARAMETER_1);
	assert_hr(connect_to(pair, pair->b.qp, &to, ov), ND_INVALID_PARAMETER_1);
	assert_hr(connect_to(pair, (IND2QueuePair *)(void *)pair->a.mr, &to, ov),
		  ND_INVALID_PARAMETER_1);
	assert_hr(connect_to(pair, pair->a.qp, &to, NULL), ND_INVALID_PARAMETER);
	assert_hr(connect_to(pair, pair->a.qp, &to, &bad), ND_INVALID_HANDLE);
	/* the other family, none, too short, nowhere, no port */
	other = nd_address(1, family == AF_INET ? AF_INET6 : AF_INET, nd_port_of(&to));
	assert_hr(connect_to(pair, pair->a.qp, &other, ov), ND_INVALID_ADDRESS);
	other = to;
	other.length--;
	assert_hr(connect_to(pair, pair->a.qp, &other, ov), ND_INVALID_ADDRESS);
	other = to;
	other.any.sa_family = 23; /* what AF_INET6 is on Windows */
	assert_hr(connect_to(pair, pair->a.qp, &other, ov), ND_INVALID_ADDRESS);
	other = to;
	other.in.sin_port = 0;
	assert_hr(connect_to(pair, pair->a.qp, &other, ov), ND_INVALID_ADDRESS);
	other = to;
	if (family == AF_INET6)
		other.in6.sin6_addr = in6addr_any;
	else
		other.in.sin_addr.s_addr = 0;
	assert_hr(connect_to(pair, pair->a.qp, &other, ov), (HRESULT)STATUS_BAD_NETWORK_NAME);
	assert_hr((HRESULT)ov->Internal, (HRESULT)STATUS_BAD_NETWORK_NAME);
	/* after all of that it connects */
	nd_pair_request(pair);
	assert_hr(IND2Connector_Accept(pair->b.connector, NULL, 1, 1, NULL, 0, &pair->accepted),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Connector_Accept(pair->b.connector, nd_unknown(pair->a.qp), 1, 1, NULL, 0,
				       &pair->accepted),
		  ND_INVALID_PARAMETER_1);
	assert_hr(IND2Connector_Accept(pair->b.connector, nd_unknown(pair->b.qp), 1, 1, NULL, 0,
				       NULL),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2Connector_Accept(pair->b.connector, nd_unknown(pair->b.qp), 1, 1, NULL, 0,
				       &bad),
		  ND_INVALID_HANDLE);
	nd_pair_reply(pair);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, NULL), ND_INVALID_PARAMETER);
	assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &bad), ND_INVALID_HANDLE);
	nd_pair_complete(pair);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, NULL), ND_INVALID_PARAMETER);
	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &bad), ND_INVALID_HANDLE);
	assert_hr(IND2Connector_Disconnect(pair->a.connector, NULL), ND_INVALID_PARAMETER);
	assert_hr(IND2Connector_Disconnect(pair->a.connector, &bad), ND_INVALID_HANDLE);
	nd_message(&pair->a, &pair->b, 1);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A26_the_longest_words_travel_and_longer_ones_do_not),
		ND_FAMILY_TESTS(A26_a_refusal_as_long_as_can_be),
		ND_FAMILY_TESTS(A26_a_short_buffer_gets_what_fits),
		ND_FAMILY_TESTS(A26_words_come_with_zeros_behind_them),
		ND_FAMILY_TESTS(A26_a_manager_has_no_words),
		ND_FAMILY_TESTS(A26_words_from_nowhere),
		ND_FAMILY_TESTS(read_limits_are_the_smaller_of_both),
		ND_FAMILY_TESTS(reads_beyond_the_limit_wait),
		ND_FAMILY_TESTS(addresses_are_known_from_bind_and_from_the_request_on),
		ND_FAMILY_TESTS(port_0_is_one_of_the_private_ones),
		ND_FAMILY_TESTS(a_connector_may_have_the_port_of_a_listener),
		ND_FAMILY_TESTS(an_adapter_connects_to_itself),
		ND_FAMILY_TESTS(addresses_that_bind_refuses),
		ND_FAMILY_TESTS(arguments_that_connect_refuses),
	};

	return nd_run_both("terms", tests, sizeof(tests) / sizeof(tests[0]));
}
