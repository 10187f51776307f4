/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets of a SAN service provider pass from process to process (S4 to S8, and the provider's part
 * of S20). Start with what_is_taken_over_goes_on().
 */
#include "stage.h"

enum {
	DUPLICATIONS = 20,
};

static WSAPROTOCOL_INFOW
give(DWORD from, SOCKET s, DWORD to)
{
	WSAPROTOCOL_INFOW info;

	fake_as(from);
	assert_int_equal(stage.call.lpWSPDuplicateSocket(s, to, &info, &stage.error), 0);
	assert_int_not_equal(info.dwProviderReserved, 0);
	return info;
}

static SOCKET
take(DWORD process, WSAPROTOCOL_INFOW *info)
{
	fake_as(process);
	return stage_make(info);
}

/* S5 */
static void
receives_end_with_success_and_nothing(void **state)
{
	WSAOVERLAPPED told = {0}, polled = {.hEvent = (HANDLE)1};
	WSAPROTOCOL_INFOW info;
	DWORD bytes = 1, flags;
	SOCKET s;

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(A, stage.a, stage.a_memory, MEM_WRITE);
	assert_int_equal(stage_recv(A, stage.a, stage.a_memory, 100, &told), WSA_IO_PENDING);
	assert_int_equal(stage_recv(A, stage.a, stage.a_memory, 100, &polled), WSA_IO_PENDING);
	info = give(A, stage.a, A2);
	assert_int_equal(stage.completions, 1);
	stage_assert_completed(&told, 0, 0);
	assert_true(stage.call.lpWSPGetOverlappedResult(stage.a, &polled, &bytes, FALSE, &flags,
							&stage.error));
	assert_int_equal(bytes, 0);
	s = take(A2, &info);
	assert_int_not_equal(s, INVALID_SOCKET);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

/* The state of the connection is that of before, messages that wait included. */
static void
what_is_taken_over_goes_on(void **state)
{
	WSAOVERLAPPED sent = {0}, received = {0};
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_connect(&stage_with_reads);
	stage_register(B, stage.b, stage.b_memory, MEM_READ);
	memcpy(stage.b_memory, "early", 5);
	assert_int_equal(stage_send(B, stage.b, stage.b_memory, 5, &sent), WSA_IO_PENDING);
	fake_settle();
	info = give(A, stage.a, A2);
	s = take(A2, &info);
	stage_register(A2, s, stage.a_memory, MEM_WRITE);
	assert_int_equal(stage_recv(A2, s, stage.a_memory, 100, &received), WSA_IO_PENDING);
	fake_settle();
	stage_assert_completed(&received, 0, 5);
	assert_memory_equal(stage.a_memory, "early", 5);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

/* S6 */
static void
a_token_is_redeemed_once_by_one_process(void **state)
{
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_connect(&stage_with_reads);
	info = give(A, stage.a, A2);
	assert_int_equal(take(B, &info), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEINVAL);
	s = take(A2, &info);
	assert_int_not_equal(s, INVALID_SOCKET);
	assert_int_equal(take(A2, &info), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEINVAL);
	fake_as(A2);
	assert_int_equal(
		stage_refused(stage.call.lpWSPDuplicateSocket(s, 999, &info, &stage.error)),
		WSAEINVAL);
	assert_int_equal(
		stage_refused(stage.call.lpWSPDuplicateSocket(stage.a, A, &info, &stage.error)),
		WSAENOTSOCK);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

/* S7, S8: to and fro; the descriptor of a process is not another socket's meanwhile. */
static void
come_and_go(bool same_descriptor)
{
	const struct fake_options options = {.reads = true, .same_descriptor = same_descriptor};
	SOCKET mine, theirs = INVALID_SOCKET, other;
	WSAPROTOCOL_INFOW info;
	uint32_t made;

	stage_connect(&options);
	mine = stage.a;
	made = stage.handles_made;
	for (uint32_t i = 0; i < DUPLICATIONS; i++) {
		SOCKET before = theirs;

		info = give(A, mine, A2);
		fake_as(A);
		other = stage_make(NULL);
		assert_int_not_equal(other, mine);
		stage_close(A, other);
		theirs = take(A2, &info);
		if (i > 0 && same_descriptor)
			assert_int_equal(theirs, before);
		if (i > 0 && !same_descriptor)
			stage_close(A2, before);
		info = give(A2, theirs, A);
		before = mine;
		mine = take(A, &info);
		if (same_descriptor)
			assert_int_equal(mine, stage.a);
		else
			stage_close(A, before);
	}
	made = stage.handles_made - made - DUPLICATIONS; /* without those of the other sockets */
	assert_int_equal(made, same_descriptor ? 1 : 2 * DUPLICATIONS);
	stage_close(A, mine);
	stage_close(A2, theirs);
	stage_close(B, stage.b);
	stage_end();
}

static void
what_comes_back_has_its_descriptor(void **state)
{
	(void)state;
	come_and_go(true);
}

static void
or_has_a_new_one(void **state)
{
	(void)state;
	come_and_go(false);
}

static void
a_listener_keeps_its_backlog(void **state)
{
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	stage_listen(2);
	stage.a = stage_connect_to(HOST_B);
	info = give(B, stage.listener, A2);
	s = take(A2, &info);
	stage.b = stage.call.lpWSPAccept(s, NULL, NULL, NULL, 0, &stage.error);
	assert_int_not_equal(stage.b, INVALID_SOCKET);
	assert_int_equal(stage_result_of(stage.a), 0);
	stage_close(A2, stage.b);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_end();
}

static void
only_what_is_connected_can_be_given(void **state)
{
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	fake_as(A);
	s = stage_make(NULL);
	assert_int_equal(stage_refused(stage.call.lpWSPDuplicateSocket(s, A2, &info, &stage.error)),
			 WSAENOTCONN);
	stage_close(A, s);
	fake_end();
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
			(void)give(A, stage.a, A2);
		fake_kill(given ? A2 : A);
		stage_assert_completed(&theirs, WSAECONNRESET, 0);
		if (given)
			stage_close(A, stage.a);
		stage_close(B, stage.b);
		stage_close(B, stage.listener);
		fake_end();
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
	info = give(A, stage.a, A2);
	s = take(A2, &info);
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
		cmocka_unit_test(receives_end_with_success_and_nothing),
		cmocka_unit_test(what_is_taken_over_goes_on),
		cmocka_unit_test(a_token_is_redeemed_once_by_one_process),
		cmocka_unit_test(what_comes_back_has_its_descriptor),
		cmocka_unit_test(or_has_a_new_one),
		cmocka_unit_test(a_listener_keeps_its_backlog),
		cmocka_unit_test(only_what_is_connected_can_be_given),
		cmocka_unit_test(a_death_resets_the_peer),
		cmocka_unit_test(calls_are_recorded_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
