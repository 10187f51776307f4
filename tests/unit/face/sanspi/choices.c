/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a SAN service provider may do in its own way, and what only the one in memory shows: RDMA
 * READ is optional, descriptors are new ones, listening sockets pass on, processes die (the
 * provider's part of S20), and calls are recorded. Start with reads_are_optional().
 */
#include "fake.h"
#include "stage.h"

static void
reads_are_optional(void **state)
{
	static const struct world_options no_reads = {.reads = false};

	(void)state;
	stage_connect(&no_reads);
	world_as(A);
	assert_null((void *)(uintptr_t)stage_extension(stage.a, (GUID)WSAID_RDMAREAD));
	assert_null((void *)(uintptr_t)stage_extension(
		stage.a, (GUID)WSAID_MEMORYREGISTRATIONCACHECALLBACK));
	assert_non_null((void *)(uintptr_t)stage_extension(stage.a, (GUID)WSAID_RDMAWRITE));
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
only_a_process_there_is_can_have_it(void **state)
{
	WSAPROTOCOL_INFOW info;

	(void)state;
	stage_connect(&stage_with_reads);
	world_as(A);
	assert_int_equal(
		stage_refused(stage.call.lpWSPDuplicateSocket(stage.a, 999, &info, &stage.error)),
		WSAEINVAL);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
or_has_a_new_one(void **state)
{
	(void)state;
	stage_come_and_go(false);
}

static void
a_listener_keeps_its_backlog(void **state)
{
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(2);
	stage.a = stage_connect_to(WORLD_HOST_B);
	info = stage_give(B, stage.listener, A2);
	s = stage_take(A2, &info);
	stage.b = stage.call.lpWSPAccept(s, NULL, NULL, NULL, 0, &stage.error);
	assert_int_not_equal(stage.b, INVALID_SOCKET);
	assert_int_equal(stage_result_of(stage.a), 0);
	stage_close(A2, stage.b);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_end();
}

/* S20, the provider's part: whoever has it, or is to have it, ends. */
static void
a_death_resets_the_peer(void **state)
{
	for (int given = 0; given < 2; given++) {
		WSAOVERLAPPED theirs = {0};

		(void)state;
		stage_connect(&stage_with_reads);
		stage_register(B, stage.b, stage.b_memory, MEM_WRITE);
		assert_int_equal(stage_recv(B, stage.b, stage.b_memory, 100, &theirs),
				 WSA_IO_PENDING);
		if (given)
			(void)stage_give(A, stage.a, A2);
		fake_kill(given ? A2 : A);
		stage_await(&theirs, WSAECONNRESET, 0);
		if (given)
			stage_close(A, stage.a);
		stage_close(B, stage.b);
		stage_close(B, stage.listener);
		world_end();
	}
}

/* S3, the provider's calls: nothing but WSPCloseSocket() after it. */
static void
calls_are_recorded_in_their_order(void **state)
{
	static const struct fake_call expected[] = {
		{FAKE_REGISTER, A, 0}, {FAKE_RECV, A, 0},      {FAKE_DUPLICATE, A, 0},
		{FAKE_SOCKET, A2, 0},  {FAKE_REGISTER, A2, 0}, {FAKE_RECV, A2, 0},
		{FAKE_CLOSE, A, 0},    {FAKE_CLOSE, A2, 0},
	};
	WSAOVERLAPPED first = {0}, second = {0};
	const struct fake_call *calls;
	WSAPROTOCOL_INFOW info;
	uint32_t n;
	SOCKET s;

	(void)state;
	stage_connect(&stage_with_reads);
	fake_forget_calls();
	stage_register(A, stage.a, stage.a_memory, MEM_WRITE);
	stage_recv(A, stage.a, stage.a_memory, 100, &first);
	info = stage_give(A, stage.a, A2);
	s = stage_take(A2, &info);
	stage_register(A2, s, stage.b_memory, MEM_WRITE);
	stage_recv(A2, s, stage.b_memory, 100, &second);
	stage_close(A, stage.a);
	stage_close(A2, s);
	calls = fake_calls(&n);
	assert_int_equal(n, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(calls[i].kind, expected[i].kind);
		assert_int_equal(calls[i].process, expected[i].process);
	}
	stage_close(B, stage.b);
	stage_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_are_optional),
		cmocka_unit_test(only_a_process_there_is_can_have_it),
		cmocka_unit_test(or_has_a_new_one),
		cmocka_unit_test(a_listener_keeps_its_backlog),
		cmocka_unit_test(a_death_resets_the_peer),
		cmocka_unit_test(calls_are_recorded_in_their_order),
	};

	return WORLD_RUN(tests);
}
