/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of ports in use, by themselves. Start with every_port_of_the_range_is_given_once().
 */
#include <stdlib.h>

#include "plx_session.h"
#include "test.h"

enum {
	RANGE = 65536 - PLX_SESSION_FIRST_PORT,
};

static int
make_table(void **state)
{
	*state = calloc(1, sizeof(struct plx_session_port_numbers));
	return *state ? 0 : -1;
}

static int
end_table(void **state)
{
	free(*state);
	return 0;
}

static void
every_port_of_the_range_is_given_once(void **state)
{
	static uint8_t seen[65536];
	uint16_t port;

	for (int i = 0; i < RANGE; i++) {
		port = 0;
		assert_int_equal(plx_session_reserve_port(*state, 1, &port), PLX_OK);
		assert_true(port >= PLX_SESSION_FIRST_PORT);
		assert_int_equal(seen[port]++, 0);
	}
	port = 0;
	assert_int_equal(plx_session_reserve_port(*state, 1, &port), PLX_FULL);
	assert_int_equal(port, 0);
	plx_session_release_port(*state, 1, 50000);
	assert_int_equal(plx_session_reserve_port(*state, 1, &port), PLX_OK);
	assert_int_equal(port, 50000);
	/* another address has ports of its own, and those below the range are never chosen */
	port = 0;
	assert_int_equal(plx_session_reserve_port(*state, 2, &port), PLX_OK);
	port = 4791;
	assert_int_equal(plx_session_reserve_port(*state, 1, &port), PLX_OK);
}

static void
a_port_does_not_come_back_soon(void **state)
{
	uint16_t first = 0, next;

	assert_int_equal(plx_session_reserve_port(*state, 1, &first), PLX_OK);
	for (int i = 0; i < RANGE - 1; i++) {
		next = 0;
		assert_int_equal(plx_session_reserve_port(*state, 1, &next), PLX_OK);
		assert_int_not_equal(next, first);
		plx_session_release_port(*state, 1, next);
	}
}

static void
a_port_at_several_addresses_is_taken_at_all_or_none(void **state)
{
	uint16_t port = 7;

	assert_int_equal(plx_session_reserve_port(*state, 1 << 3, &port), PLX_OK);
	assert_int_equal(plx_session_reserve_port(*state, 0xff, &port), PLX_BUSY);
	/* ... and the refused one has taken nothing */
	assert_int_equal(plx_session_reserve_port(*state, 0xf7, &port), PLX_OK);
	plx_session_release_port(*state, 1 << 3, port);
	assert_int_equal(plx_session_reserve_port(*state, 1 << 0, &port), PLX_BUSY);
	plx_session_release_port(*state, 0xf7, port);
	assert_int_equal(plx_session_reserve_port(*state, 0xff, &port), PLX_OK);
	assert_int_equal(port, 7);
}

static void
the_any_address_is_all_of_its_family(void **state)
{
	static struct plx_session session = {
		.info = {.addresses = 4,
			 .address = {{.version = 4, .v = {10, 0, 0, 1}},
				     {.version = 6, .v = {0xfd, [15] = 1}},
				     {.version = 4, .v = {10, 0, 0, 2}},
				     {.version = 6, .v = {0xfd, [15] = 2}}}},
	};
	const struct plx_ip any4 = {.version = 4}, any6 = {.version = 6};
	const struct plx_ip stranger = {.version = 4, .v = {10, 0, 0, 3}};

	(void)state;
	assert_int_equal(plx_session_addresses(&session, &any4), 0x5);
	assert_int_equal(plx_session_addresses(&session, &any6), 0xa);
	assert_int_equal(plx_session_addresses(&session, &session.info.address[3]), 0x8);
	assert_int_equal(plx_session_addresses(&session, &stranger), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, make_table, end_table)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_port_of_the_range_is_given_once),
		TEST(a_port_does_not_come_back_soon),
		TEST(a_port_at_several_addresses_is_taken_at_all_or_none),
		TEST(the_any_address_is_all_of_its_family),
	};

	return cmocka_run_group_tests_name("port_numbers", tests, NULL, NULL);
}
