/* SPDX-License-Identifier: BSD-3-Clause
 *
 * On which terms two sides connect: read limits (T20), over IPv6, with themselves, with the events
 * of version 2.1. Start with connect_with().
 */
#include <netinet/in.h>
#include <ntstatus.h>

#include "ndk_pair.h"

/* ---- T20 ---- */

static ULONG
least(ULONG a, ULONG b)
{
	return a < b ? a : b;
}

static void
limits_are(NDK_CONNECTOR *connector, ULONG inbound, ULONG outbound)
{
	ULONG in = 99, out = 99, bytes = 0;

	assert_nt(connector->Dispatch->NdkGetConnectionData(connector, &in, &out, NULL, &bytes),
		  STATUS_SUCCESS);
	assert_int_equal(in, inbound);
	assert_int_equal(out, outbound);
}

/* What a peer asks for is all that the other side sees before it has said its own. */
static void
connect_with(const ULONG asked[4], ULONG cap)
{
	struct ndk_options options = {0};
	struct ndk_pair *pair = ndk_pair_new(&options);
	struct sockaddr_in from = ndk_address(0, 0), to = ndk_address(1, pair->port);
	NDK_CONNECTOR *a = pair->a.connector, *b;
	ULONG limit[4];

	for (int i = 0; i < 4; i++)
		limit[i] = least(asked[i], cap);
	assert_nt(a->Dispatch->NdkConnect(a, pair->a.qp, ndk_any(&from), sizeof(from), ndk_any(&to),
					  sizeof(to), asked[0], asked[1], NULL, 0, ndk_on_done,
					  &pair->connected),
		  STATUS_PENDING);
	b = pair->b.connector = ndk_pair_requested(pair);
	limits_are(b, limit[1], limit[0]);
	assert_nt(b->Dispatch->NdkAccept(b, pair->b.qp, asked[2], asked[3], NULL, 0, NULL, NULL,
					 ndk_on_done, &pair->accepted),
		  STATUS_PENDING);
	assert_nt(ndk_status(STATUS_PENDING, &pair->connected), STATUS_SUCCESS);
	limits_are(a, least(limit[0], limit[3]), least(limit[1], limit[2]));
	ndk_pair_close(pair);
}

static void
t20_read_limits_are_the_smaller_of_both_and_the_adapters(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);

	(void)state;
	assert_nt(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &bytes), STATUS_SUCCESS);
	assert_int_equal(info.MaxInboundReadLimit, info.MaxOutboundReadLimit);
	for (int i = 0; i < 256; i++) {
		const ULONG some[4] = {0, 1, info.MaxInboundReadLimit, MAXULONG};
		const ULONG asked[4] = {some[i % 4], some[i / 4 % 4], some[i / 16 % 4],
					some[i / 64]};

		connect_with(asked, info.MaxInboundReadLimit);
	}
	plx_ndk_close(adapter);
}

/* ---- IPv6, loopback ---- */

static void
talk(struct ndk_side *from, struct ndk_side *to)
{
	memset(from->arena, 7, 100);
	ndk_post_receive(to, 1, 1000, 100);
	ndk_post_send(from, 2, 0, 100, 0);
	ndk_expect(to->receive_cq, 1, STATUS_SUCCESS);
	ndk_expect(from->cq, 2, STATUS_SUCCESS);
	assert_memory_equal(to->arena + 1000, from->arena, 100);
}

static struct sockaddr_in6
address6(unsigned int end, uint16_t port)
{
	return (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		/* fd78:2::1 and ::2 */
		.sin6_addr = {{{0xfd, 0x78, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
				(uint8_t)(1 + end)}}},
	};
}

static void
a_connection_over_ipv6_knows_its_addresses(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct sockaddr_in6 from = address6(0, 0), to = address6(1, 5001), seen;
	NDK_LISTENER *listener = pair->listener;
	NDK_CONNECTOR *a = pair->a.connector, *b;
	ULONG length = sizeof(struct sockaddr_in);

	(void)state;
	ndk_end(listener->Dispatch->NdkCloseListener, listener);
	pair->listener = listener = ndk_pair_listener(pair);
	assert_nt(ndk_result(listener->Dispatch->NdkListen, listener, ndk_any(&to), sizeof(to)),
		  STATUS_SUCCESS);
	assert_nt(listener->Dispatch->NdkGetLocalAddress(listener, ndk_any(&seen), &length),
		  STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(length, sizeof(seen));
	assert_nt(listener->Dispatch->NdkGetLocalAddress(listener, ndk_any(&seen), &length),
		  STATUS_SUCCESS);
	assert_memory_equal(&seen, &to, sizeof(seen));
	assert_nt(a->Dispatch->NdkConnect(a, pair->a.qp, ndk_any(&from), sizeof(from), ndk_any(&to),
					  sizeof(to), 1, 1, NULL, 0, ndk_on_done, &pair->connected),
		  STATUS_PENDING);
	b = pair->b.connector = ndk_pair_requested(pair);
	assert_nt(b->Dispatch->NdkGetPeerAddress(b, ndk_any(&seen), &length), STATUS_SUCCESS);
	assert_memory_equal(&seen.sin6_addr, &from.sin6_addr, sizeof(from.sin6_addr));
	ndk_pair_reply(pair);
	assert_nt(ndk_result(a->Dispatch->NdkCompleteConnect, a, NULL, NULL), STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
	assert_nt(a->Dispatch->NdkGetPeerAddress(a, ndk_any(&seen), &length), STATUS_SUCCESS);
	assert_memory_equal(&seen, &to, sizeof(seen));
	talk(&pair->a, &pair->b);
	talk(&pair->b, &pair->a);
	ndk_pair_close(pair);
}

/* By its own address and by the system's loopback address, with the queue pair of another side. */
static void
an_adapter_connects_to_itself(void **state)
{
	const uint32_t address[] = {0x0a4e0202, INADDR_LOOPBACK};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ndk_pair *pair = ndk_pair_new(NULL);
		struct sockaddr_in from = ndk_address(1, 0), to = ndk_address(1, pair->port);
		struct ndk_side self;
		NDK_CONNECTOR *a;

		to.sin_addr.s_addr = htonl(address[i]);
		ndk_side_open(&self, 1, &pair->options);
		a = self.connector = ndk_side_connector(&self);
		assert_nt(a->Dispatch->NdkConnect(a, self.qp, ndk_any(&from), sizeof(from),
						  ndk_any(&to), sizeof(to), 1, 1, NULL, 0,
						  ndk_on_done, &pair->connected),
			  STATUS_PENDING);
		pair->b.connector = ndk_pair_requested(pair);
		ndk_pair_reply(pair);
		assert_nt(ndk_result(a->Dispatch->NdkCompleteConnect, a, NULL, NULL),
			  STATUS_SUCCESS);
		assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
		talk(&self, &pair->b);
		talk(&pair->b, &self);
		ndk_side_close(&self);
		ndk_pair_close(pair);
	}
}

/* ---- 2.1 ---- */

struct end {
	atomic_int told;
	atomic_uint reason;
};

static VOID
on_end(PVOID context, ULONG reason)
{
	struct end *end = context;

	end->reason = reason;
	atomic_fetch_add(&end->told, 1);
}

static void
a_disconnect_of_version_2_1_has_a_reason(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector, *b;
	struct end at_a = {0}, at_b = {0};

	(void)state;
	ndk_pair_request(pair);
	b = pair->b.connector;
	at_a.reason = at_b.reason = 99;
	assert_nt(b->Dispatch->NdkAcceptEx(b, pair->b.qp, 1, 1, NULL, 0, on_end, &at_b, ndk_on_done,
					   &pair->accepted),
		  STATUS_PENDING);
	assert_nt(ndk_status(STATUS_PENDING, &pair->connected), STATUS_SUCCESS);
	assert_nt(ndk_result(a->Dispatch->NdkCompleteConnectEx, a, on_end, &at_a), STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
	talk(&pair->a, &pair->b);
	assert_nt(ndk_result(a->Dispatch->NdkDisconnect, a), STATUS_SUCCESS);
	ndk_until(at_b.told == 1);
	/* 0: the provider has none */
	assert_int_equal(at_b.reason, 0);
	assert_int_equal(at_a.told, 0);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t20_read_limits_are_the_smaller_of_both_and_the_adapters),
		cmocka_unit_test(a_connection_over_ipv6_knows_its_addresses),
		cmocka_unit_test(an_adapter_connects_to_itself),
		cmocka_unit_test(a_disconnect_of_version_2_1_has_a_reason),
	};

	return ndk_run("ndk_terms", tests, sizeof(tests) / sizeof(tests[0]));
}
