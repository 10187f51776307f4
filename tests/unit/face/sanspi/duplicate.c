/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets of a SAN service provider pass from process to process (S5 to S8), on the provider in
 * memory and on Pollux's. Start with what_is_taken_over_goes_on().
 */
#include "stage.h"

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
	info = stage_give(A, stage.a, A2);
	stage_await(&told, 0, 0);
	assert_int_equal(stage.completions, 1);
	assert_true(stage.call.lpWSPGetOverlappedResult(stage.a, &polled, &bytes, FALSE, &flags,
							&stage.error));
	assert_int_equal(bytes, 0);
	s = stage_take(A2, &info);
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
	world_settle();
	info = stage_give(A, stage.a, A2);
	s = stage_take(A2, &info);
	assert_int_not_equal(s, INVALID_SOCKET);
	stage_register(A2, s, stage.a_memory, MEM_WRITE);
	assert_int_equal(stage_recv(A2, s, stage.a_memory, 100, &received), WSA_IO_PENDING);
	stage_await(&received, 0, 5);
	stage_await(&sent, 0, 5);
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
	info = stage_give(A, stage.a, A2);
	assert_int_equal(stage_take(B, &info), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEINVAL);
	s = stage_take(A2, &info);
	assert_int_not_equal(s, INVALID_SOCKET);
	assert_int_equal(stage_take(A2, &info), INVALID_SOCKET);
	assert_int_equal(stage.error, WSAEINVAL);
	stage_close(A2, s);
	stage_close(A, stage.a);
	stage_close(B, stage.b);
	stage_end();
}

static void
what_comes_back_has_its_descriptor(void **state)
{
	(void)state;
	stage_come_and_go(true);
}

static void
only_what_is_connected_can_be_given(void **state)
{
	WSAPROTOCOL_INFOW info;
	SOCKET s;

	(void)state;
	stage_begin(&stage_with_reads);
	world_as(A);
	s = stage_make(NULL);
	assert_int_equal(stage_refused(stage.call.lpWSPDuplicateSocket(s, A2, &info, &stage.error)),
			 WSAENOTCONN);
	stage_close(A, s);
	world_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives_end_with_success_and_nothing),
		cmocka_unit_test(what_is_taken_over_goes_on),
		cmocka_unit_test(a_token_is_redeemed_once_by_one_process),
		cmocka_unit_test(what_comes_back_has_its_descriptor),
		cmocka_unit_test(only_what_is_connected_can_be_given),
	};

	return WORLD_RUN(tests);
}
