/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a SAN service provider promises its switch, call by call (san_provider.h): connections,
 * messages, RDMA (S24, S25). It runs on the provider in memory, and on Pollux's. Start with
 * a_message_meets_its_receive().
 */
#include "clock.h"
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
	world_as(B);
	return CF_REJECT;
}

static void
a_connection_fails_as_tcp_would(void **state)
{
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	s = stage_connect_to(WORLD_HOST_B);
	assert_int_equal(stage_await_result(s), WSAECONNRESET); /* nobody listens */
	test_until(stage_events_set() == 1, world_run());
	stage_close(A, s);
	s = stage_connect_to(WORLD_HOST_NONE);
	assert_int_equal(stage_await_result(s), WSAEHOSTUNREACH);
	stage_close(A, s);
	stage_listen(1);
	s = stage_connect_to(WORLD_HOST_B);
	assert_int_equal(stage_accept_if(reject, s), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAECONNREFUSED);
	assert_int_equal(stage_await_result(s), WSAECONNREFUSED);
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
	first = stage_connect_to(WORLD_HOST_B);
	test_until(stage_events_set() == 1, world_run()); /* it has arrived */
	second = stage_connect_to(WORLD_HOST_B);
	assert_int_equal(stage_await_result(second), WSAECONNREFUSED);
	assert_int_equal(stage_result_of(first), WSAEWOULDBLOCK);
	stage_close(A, second);
	stage_close(A, first);
	stage_end();
}

static void
without_a_handle_there_is_no_socket(void **state)
{
	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(1);
	stage.a = stage_connect_to(WORLD_HOST_B);
	stage.no_handles = true;
	assert_int_equal(stage_make(NULL), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAENOBUFS);
	assert_int_equal(stage_accept(), INVALID_SOCKET);
	assert_int_equal(stage_await_result(stage.a), WSAECONNREFUSED);
	stage_close(A, stage.a);
	stage_end();
}

static void
other_sockets_are_refused(void **state)
{
	(void)state;
	stage_begin(&stage_with_reads);
	world_as(A);
	assert_int_equal(
		stage.call.lpWSPSocket(AF_UNIX, SOCK_STREAM, IPPROTO_TCP, NULL, 0, 0, &stage.error),
		INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEAFNOSUPPORT);
	assert_int_equal(
		stage.call.lpWSPSocket(AF_INET, SOCK_DGRAM, IPPROTO_UDP, NULL, 0, 0, &stage.error),
		INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEPROTOTYPE);
	assert_int_equal(stage_refused(stage.call.lpWSPListen(77, 1, &stage.error)), WSAENOTSOCK);
	world_end();
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
	stage_await(&sent, 0, 5);
	stage_await(&received, 0, 5);
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
	world_settle();
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 256, &received), WSA_IO_PENDING);
	stage_await(&received, 0, 256);
	stage_await(&sent, 0, 256);
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
	world_as(B);
	test_until(stage.call.lpWSPGetOverlappedResult(stage.b, &received, &bytes, FALSE, &flags,
						       &stage.error),
		   world_run());
	assert_int_equal(bytes, 5);
	assert_int_equal(stage.completions, 0);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static DWORD
longest(SOCKET s)
{
	DWORD bytes = 0;
	int length = sizeof(bytes);

	assert_int_equal(stage.call.lpWSPGetSockOpt(s, SOL_SOCKET, SO_MAX_MSG_SIZE, (char *)&bytes,
						    &length, &stage.error),
			 0);
	return bytes;
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
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, longest(stage.a) + 1, &request),
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
	WSAOVERLAPPED sent = {0}, received = {0};
	HANDLE handle;

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
	handle = stage_register(A, stage.a, stage.a_memory, MEM_READ);
	deregister =
		(LPFN_WSPDEREGISTERMEMORY)stage_extension(stage.a, (GUID)WSAID_DEREGISTERMEMORY);
	assert_int_equal(stage_send(A, stage.a, stage.a_memory, 5, &sent), WSA_IO_PENDING);
	/* It finds no receive. */
	assert_int_equal(stage_refused(deregister(stage.a, handle, &stage.error)), WSAEINVAL);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 5, &received), WSA_IO_PENDING);
	stage_await(&received, 0, 5);
	stage_await(&sent, 0, 5);
	world_as(A);
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
	stage_await(&mine, WSA_OPERATION_ABORTED, 0);
	assert_int_equal(stage_refused(stage.call.lpWSPEnumNetworkEvents(stage.a, NULL, &events,
									 &stage.error)),
			 WSAENOTSOCK);
	stage_await(&theirs, WSAECONNRESET, 0);
	assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &theirs), WSAENOTCONN);
	stage_close(B, stage.b);
	stage_end();
}

/* ---- RDMA: S24 ---- */

struct descriptor {
	uint8_t bytes[WORLD_DESCRIPTOR_MAX];
	DWORD length;
};

static struct descriptor
expose(DWORD process, SOCKET s, char *memory, DWORD flags)
{
	LPFN_WSPREGISTERRDMAMEMORY expose_memory;
	struct descriptor d = {.length = 0};

	world_as(process);
	expose_memory =
		(LPFN_WSPREGISTERRDMAMEMORY)stage_extension(s, (GUID)WSAID_REGISTERRDMAMEMORY);
	/* How long is it? */
	assert_int_equal(stage_refused(expose_memory(s, memory, BUFFER, flags, d.bytes, &d.length,
						     &stage.error)),
			 WSAEFAULT);
	assert_in_range(d.length, 1, WORLD_DESCRIPTOR_MAX);
	assert_int_equal(expose_memory(s, memory, BUFFER, flags, d.bytes, &d.length, &stage.error),
			 0);
	return d;
}

static int
conceal(DWORD process, SOCKET s, struct descriptor *d)
{
	LPFN_WSPDEREGISTERRDMAMEMORY conceal_memory;

	world_as(process);
	conceal_memory =
		(LPFN_WSPDEREGISTERRDMAMEMORY)stage_extension(s, (GUID)WSAID_DEREGISTERRDMAMEMORY);
	return conceal_memory(s, d->bytes, d->length, &stage.error) == 0 ? 0 : stage.error;
}

/* A transfer of 100 bytes. Returns: the error of its completion */
static DWORD
rdma(bool reads, HANDLE handle, struct descriptor *d, DWORD offset)
{
	WSABUFEX buffer = {.len = 100, .buf = stage.a_memory, .handle = handle};
	WSAOVERLAPPED overlapped = {.hEvent = (HANDLE)1};
	DWORD bytes, flags;

	world_as(A);
	if (reads) {
		LPFN_WSPRDMAREAD read =
			(LPFN_WSPRDMAREAD)stage_extension(stage.a, (GUID)WSAID_RDMAREAD);

		read(stage.a, &buffer, 1, d->bytes, d->length, offset, NULL, 0, &overlapped, NULL,
		     NULL, &stage.error);
	} else {
		LPFN_WSPRDMAWRITE write =
			(LPFN_WSPRDMAWRITE)stage_extension(stage.a, (GUID)WSAID_RDMAWRITE);

		write(stage.a, &buffer, 1, d->bytes, d->length, offset, NULL, 0, &overlapped, NULL,
		      NULL, &stage.error);
	}
	assert_int_equal(stage.error, WSA_IO_PENDING);
	test_until(stage.call.lpWSPGetOverlappedResult(stage.a, &overlapped, &bytes, FALSE, &flags,
						       &stage.error) ||
			   stage.error != WSA_IO_INCOMPLETE,
		   world_run());
	return (DWORD)overlapped.Internal;
}

static bool
is_denied(DWORD error)
{
	return error == WSAEFAULT || error == WSAECONNRESET;
}

/* Each on a connection of its own: one that is denied may end it. */
static void
memory_is_reached_as_it_is_registered(void **state)
{
	static const struct {
		DWORD flags; /* of B's memory */
		bool reads, concealed;
		DWORD offset;
		bool reached;
	} cases[] = {
		{MEM_READ, true, false, 0, true},
		{MEM_READ, true, false, BUFFER - 100, true},
		{MEM_WRITE, false, false, 10, true},
		/* The other way, beyond the end, and when it is gone. */
		{MEM_READ, false, false, 0, false},
		{MEM_WRITE, true, false, 0, false},
		{MEM_READ, true, false, BUFFER - 99, false},
		{MEM_WRITE, false, false, BUFFER - 99, false},
		{MEM_READ, true, true, 0, false},
		{MEM_WRITE, false, true, 0, false},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct descriptor d;
		HANDLE handle;
		DWORD error;

		stage_connect(&stage_with_reads);
		handle = stage_register(A, stage.a, stage.a_memory, MEM_READWRITE);
		memset(stage.a_memory, 9, BUFFER);
		memset(stage.b_memory, 7, BUFFER);
		d = expose(B, stage.b, stage.b_memory, cases[i].flags);
		if (cases[i].concealed) {
			assert_int_equal(conceal(B, stage.b, &d), 0);
			assert_int_equal(conceal(B, stage.b, &d), WSAEINVAL);
		}
		error = rdma(cases[i].reads, handle, &d, cases[i].offset);
		if (cases[i].reached)
			assert_int_equal(error, 0);
		else
			assert_true(is_denied(error));
		assert_int_equal(stage.a_memory[99], cases[i].reads && cases[i].reached ? 7 : 9);
		assert_int_equal(stage.b_memory[10], !cases[i].reads && cases[i].reached ? 9 : 7);
		assert_int_equal(stage.b_memory[9], 7);
		stage_close(A, stage.a);
		stage_close(B, stage.b);
		stage_end();
	}
}

static void
memory_of_another_connection_is_not_reached(void **state)
{
	struct descriptor d;
	SOCKET a2, b2;
	HANDLE handle;

	(void)state;
	stage_connect(&stage_with_reads);
	a2 = stage_connect_to(WORLD_HOST_B);
	b2 = stage_accept();
	assert_int_equal(stage_await_result(a2), 0);
	handle = stage_register(A, stage.a, stage.a_memory, MEM_READWRITE);
	d = expose(B, b2, stage.b_memory, MEM_READ);
	assert_true(is_denied(rdma(true, handle, &d, 0)));
	stage_close(A, a2);
	stage_close(B, b2);
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
	};

	return WORLD_RUN(tests);
}
