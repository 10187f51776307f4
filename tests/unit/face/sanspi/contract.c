/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a SAN service provider promises its switch, call by call (san_provider.h), on the provider
 * in memory: connections, messages, RDMA (S24, S25). Start with a_message_meets_its_receive().
 */
#include "stage.h"

/* ---- connections: S25 ---- */

static int CALLBACK
reject(LPWSABUF id, LPWSABUF data, LPQOS sqos, LPQOS gqos, LPWSABUF to, LPWSABUF answer, GROUP *g,
       DWORD_PTR context)
{
	(void)id;
	(void)data;
	(void)sqos;
	(void)gqos;
	(void)to;
	(void)answer;
	(void)g;
	/* The peer has no answer before. */
	assert_int_equal(stage_result_of((SOCKET)context), WSAEWOULDBLOCK);
	fake_as(B);
	return CF_REJECT;
}

static void
a_connection_fails_as_tcp_would(void **state)
{
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	s = stage_connect_to(HOST_B);
	assert_int_equal(stage.events_set, 1);
	assert_int_equal(stage_result_of(s), WSAECONNRESET); /* nobody listens */
	stage_close(A, s);
	s = stage_connect_to(HOST_B + 1);
	assert_int_equal(stage_result_of(s), WSAEHOSTUNREACH);
	stage_close(A, s);
	stage_listen(1);
	s = stage_connect_to(HOST_B);
	fake_as(B);
	assert_int_equal(
		stage.call.lpWSPAccept(stage.listener, NULL, NULL, reject, s, &stage.error),
		INVALID_SOCKET);
	assert_int_equal(stage.error, WSAECONNREFUSED);
	assert_int_equal(stage_result_of(s), WSAECONNREFUSED);
	stage_close(A, s);
	stage_end();
}

static void
a_full_backlog_refuses_at_once(void **state)
{
	SOCKET first, second;

	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(1);
	first = stage_connect_to(HOST_B);
	second = stage_connect_to(HOST_B);
	assert_int_equal(stage_result_of(first), WSAEWOULDBLOCK);
	assert_int_equal(stage_result_of(second), WSAECONNREFUSED);
	stage_close(A, second);
	stage_close(A, first);
	fake_as(B);
	assert_int_equal(stage.call.lpWSPAccept(stage.listener, NULL, NULL, NULL, 0, &stage.error),
			 INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEWOULDBLOCK);
	stage_end();
}

static void
without_a_handle_there_is_no_socket(void **state)
{
	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(1);
	stage.a = stage_connect_to(HOST_B);
	stage.no_handles = true;
	assert_int_equal(stage_make(NULL), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAENOBUFS);
	fake_as(B);
	assert_int_equal(stage.call.lpWSPAccept(stage.listener, NULL, NULL, NULL, 0, &stage.error),
			 INVALID_SOCKET);
	assert_int_equal(stage_result_of(stage.a), WSAECONNREFUSED);
	stage_close(A, stage.a);
	stage_end();
}

static void
other_sockets_are_refused(void **state)
{
	(void)state;
	stage_begin(&stage_with_reads);
	fake_as(A);
	assert_int_equal(
		stage.call.lpWSPSocket(AF_UNIX, SOCK_STREAM, IPPROTO_TCP, NULL, 0, 0, &stage.error),
		INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEAFNOSUPPORT);
	assert_int_equal(
		stage.call.lpWSPSocket(AF_INET, SOCK_DGRAM, IPPROTO_UDP, NULL, 0, 0, &stage.error),
		INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEPROTOTYPE);
	assert_int_equal(stage_refused(stage.call.lpWSPListen(77, 1, &stage.error)), WSAENOTSOCK);
	fake_end();
}

/* ---- messages ---- */

static void
a_message_meets_its_receive(void **state)
{
	WSAOVERLAPPED sent = {0}, received = {0};

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_READ);
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	memcpy(stage.a_memory, "hello", 5);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &received), WSA_IO_PENDING);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, 5, &sent), WSA_IO_PENDING);
	assert_int_equal(stage.completions, 0);
	fake_settle();
	stage_assert_completed(&sent, 0, 5);
	stage_assert_completed(&received, 0, 5);
	assert_memory_equal(stage.b_memory, "hello", 5);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

/* S25: the first message may come before the acceptor has posted a receive. */
static void
a_message_that_is_early_is_kept(void **state)
{
	WSAOVERLAPPED sent = {0}, received = {0};

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_READ);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, 256, &sent), WSA_IO_PENDING);
	fake_settle();
	stage_assert_completed(&sent, 0, 256);
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 256, &received), WSA_IO_PENDING);
	fake_settle();
	stage_assert_completed(&received, 0, 256);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
a_request_with_the_low_bit_is_polled(void **state)
{
	WSAOVERLAPPED sent = {.hEvent = (HANDLE)1}, received = {.hEvent = (HANDLE)1};
	DWORD bytes, flags;

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_READ);
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &received), WSA_IO_PENDING);
	assert_false(stage.call.lpWSPGetOverlappedResult(stage.b, &received, &bytes, FALSE, &flags,
							 &stage.error));
	assert_int_equal(stage.error, WSA_IO_INCOMPLETE);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, 5, &sent), WSA_IO_PENDING);
	fake_settle();
	assert_int_equal(stage.completions, 0);
	fake_as(B);
	assert_true(stage.call.lpWSPGetOverlappedResult(stage.b, &received, &bytes, FALSE, &flags,
							&stage.error));
	assert_int_equal(bytes, 5);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
requests_need_a_connection_and_memory(void **state)
{
	WSAOVERLAPPED request = {0};

	(void)state;
	stage_connect(&stage_with_reads);
	assert_int_equal(stage_recv(A, stage.a, stage.a_memory, 100, &request), WSAEINVAL);
	stage_register(A, stage.a, stage.a_memory, MEM_READ);
	assert_int_equal(stage_recv(A, stage.a, stage.a_memory, 100, &request), WSAEINVAL);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory + BUFFER - 4, 5, &request),
			 WSAEINVAL);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, FAKE_MESSAGE_MAX + 1, &request),
			 WSAEMSGSIZE);
	assert_int_equal(stage_send(B, stage.listener, stage.b_memory, 5, &request), WSAENOTCONN);
	assert_null(stage_register(B, stage.listener, stage.b_memory, MEM_READ));
	assert_int_equal(stage.error, WSAENOTCONN);
	assert_null(stage_register(A, stage.a, stage.a_memory, 4));
	assert_int_equal(stage.error, WSAEINVAL);
	assert_null(stage_register(A, stage.a, NULL, MEM_READ));
	assert_int_equal(stage.error, WSAEFAULT);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
memory_in_use_stays_registered(void **state)
{
	LPFN_WSPDEREGISTERMEMORY deregister;
	WSAOVERLAPPED sent = {0};
	HANDLE handle;

	(void)state;
	stage_connect(&stage_with_reads);
	handle = stage_register(A, stage.a, stage.a_memory, MEM_READ);
	deregister =
		(LPFN_WSPDEREGISTERMEMORY)stage_extension(stage.a, (GUID)WSAID_DEREGISTERMEMORY);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, 5, &sent), WSA_IO_PENDING);
	assert_int_equal(stage_refused(deregister(stage.a, handle, &stage.error)), WSAEINVAL);
	fake_settle();
	assert_int_equal(deregister(stage.a, handle, &stage.error), 0);
	assert_int_equal(stage_refused(deregister(stage.a, handle, &stage.error)), WSAEINVAL);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
close_ends_what_is_pending(void **state)
{
	WSAOVERLAPPED mine = {0}, theirs = {0};
	WSANETWORKEVENTS events;

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_WRITE);
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	assert_int_equal(stage_recv(A, stage.a, stage.a_memory, 100, &mine), WSA_IO_PENDING);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &theirs), WSA_IO_PENDING);
	stage_close(A, stage.a);
	stage_assert_completed(&mine, WSA_OPERATION_ABORTED, 0);
	stage_assert_completed(&theirs, WSAECONNRESET, 0);
	assert_int_equal(stage_refused(stage.call.lpWSPEnumNetworkEvents(stage.a, NULL, &events,
									 &stage.error)),
			 WSAENOTSOCK);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &theirs), WSAENOTCONN);
	stage_close(B, stage.b);
	stage_end();
}

/* ---- RDMA: S24 ---- */

static DWORD
expose(DWORD process, SOCKET s, char *memory, DWORD flags, uint8_t *descriptor)
{
	LPFN_WSPREGISTERRDMAMEMORY expose_memory;
	DWORD bytes = 0;

	fake_as(process);
	expose_memory =
		(LPFN_WSPREGISTERRDMAMEMORY)stage_extension(s, (GUID)WSAID_REGISTERRDMAMEMORY);
	/* How long is it? */
	assert_int_equal(stage_refused(expose_memory(s, memory, BUFFER, flags, descriptor, &bytes,
						     &stage.error)),
			 WSAEFAULT);
	assert_int_equal(bytes, FAKE_DESCRIPTOR_BYTES);
	assert_int_equal(expose_memory(s, memory, BUFFER, flags, descriptor, &bytes, &stage.error),
			 0);
	return bytes;
}

static int
conceal(DWORD process, SOCKET s, uint8_t *descriptor)
{
	LPFN_WSPDEREGISTERRDMAMEMORY conceal_memory;

	fake_as(process);
	conceal_memory =
		(LPFN_WSPDEREGISTERRDMAMEMORY)stage_extension(s, (GUID)WSAID_DEREGISTERRDMAMEMORY);
	return conceal_memory(s, descriptor, FAKE_DESCRIPTOR_BYTES, &stage.error) == 0
		       ? 0
		       : stage.error;
}

/* A transfer of 100 bytes. Returns: the error of its completion */
static DWORD
rdma(bool reads, uint8_t *descriptor, DWORD offset)
{
	WSABUFEX buffer = {.len = 100, .buf = stage.a_memory};
	WSAOVERLAPPED overlapped = {.hEvent = (HANDLE)1};

	fake_as(A);
	if (reads) {
		LPFN_WSPRDMAREAD read =
			(LPFN_WSPRDMAREAD)stage_extension(stage.a, (GUID)WSAID_RDMAREAD);

		read(stage.a, &buffer, 1, descriptor, FAKE_DESCRIPTOR_BYTES, offset, NULL, 0,
		     &overlapped, NULL, NULL, &stage.error);
	} else {
		LPFN_WSPRDMAWRITE write =
			(LPFN_WSPRDMAWRITE)stage_extension(stage.a, (GUID)WSAID_RDMAWRITE);

		write(stage.a, &buffer, 1, descriptor, FAKE_DESCRIPTOR_BYTES, offset, NULL, 0,
		      &overlapped, NULL, NULL, &stage.error);
	}
	assert_int_equal(stage.error, WSA_IO_PENDING);
	fake_settle();
	return (DWORD)overlapped.Internal;
}

static void
memory_is_reached_as_it_is_registered(void **state)
{
	uint8_t readable[FAKE_DESCRIPTOR_BYTES], writable[FAKE_DESCRIPTOR_BYTES];

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_READWRITE);
	expose(B, stage.b, stage.b_memory, MEM_READ, readable);
	expose(B, stage.b, stage.b_memory, MEM_WRITE, writable);
	memset(stage.b_memory, 7, BUFFER);
	assert_int_equal(rdma(true, readable, BUFFER - 100), 0);
	assert_int_equal(stage.a_memory[99], 7);
	memset(stage.a_memory, 9, BUFFER);
	assert_int_equal(rdma(false, writable, 10), 0);
	assert_int_equal(stage.b_memory[10], 9);
	assert_int_equal(stage.b_memory[9], 7);
	/* The other way, beyond the end, and when it is gone. */
	assert_int_equal(rdma(false, readable, 0), WSAEFAULT);
	assert_int_equal(rdma(true, writable, 0), WSAEFAULT);
	assert_int_equal(rdma(true, readable, BUFFER - 99), WSAEFAULT);
	assert_int_equal(conceal(B, stage.b, readable), 0);
	assert_int_equal(rdma(true, readable, 0), WSAEFAULT);
	assert_int_equal(conceal(B, stage.b, readable), WSAEINVAL);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
memory_of_another_connection_is_not_reached(void **state)
{
	uint8_t descriptor[FAKE_DESCRIPTOR_BYTES];
	SOCKET a2, b2;

	(void)state;
	stage_connect(&stage_with_reads);
	a2 = stage_connect_to(HOST_B);
	fake_as(B);
	b2 = stage.call.lpWSPAccept(stage.listener, NULL, NULL, NULL, 0, &stage.error);
	stage_register(A, stage.a, stage.a_memory, MEM_READWRITE);
	expose(B, b2, stage.b_memory, MEM_READ, descriptor);
	assert_int_equal(rdma(true, descriptor, 0), WSAEFAULT);
	stage_close(A, a2);
	stage_close(B, b2);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
reads_are_optional(void **state)
{
	static const struct fake_options no_reads = {.reads = false};

	(void)state;
	stage_connect(&no_reads);
	fake_as(A);
	assert_null((void *)(uintptr_t)stage_extension(stage.a, (GUID)WSAID_RDMAREAD));
	assert_null((void *)(uintptr_t)stage_extension(
		stage.a, (GUID)WSAID_MEMORYREGISTRATIONCACHECALLBACK));
	assert_non_null((void *)(uintptr_t)stage_extension(stage.a, (GUID)WSAID_RDMAWRITE));
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_fails_as_tcp_would),
		cmocka_unit_test(a_full_backlog_refuses_at_once),
		cmocka_unit_test(without_a_handle_there_is_no_socket),
		cmocka_unit_test(other_sockets_are_refused),
		cmocka_unit_test(a_message_meets_its_receive),
		cmocka_unit_test(a_message_that_is_early_is_kept),
		cmocka_unit_test(a_request_with_the_low_bit_is_polled),
		cmocka_unit_test(requests_need_a_connection_and_memory),
		cmocka_unit_test(memory_in_use_stays_registered),
		cmocka_unit_test(close_ends_what_is_pending),
		cmocka_unit_test(memory_is_reached_as_it_is_registered),
		cmocka_unit_test(memory_of_another_connection_is_not_reached),
		cmocka_unit_test(reads_are_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
