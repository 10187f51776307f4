/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Socket addresses, by themselves: both families, every length, any alignment.
 * Start with an_address_is_read_at_any_alignment().
 */
#include <netinet/in.h>
#include <string.h>

#include "plx_session.h"
#include "test.h"

static const struct plx_ip ip4 = {.version = 4, .v = {10, 1, 2, 3}};
static const struct plx_ip ip6 = {.version = 6, .v = {0xfd, 7, [15] = 9}};

enum {
	PORT = 0x1234,
	ROOM = sizeof(struct sockaddr_storage) + 8,
};

static void
check_read(const struct plx_ip *expected, size_t bytes)
{
	uint8_t room[ROOM];

	for (size_t at = 0; at < 8; at++) {
		const struct sockaddr *address = (const struct sockaddr *)(void *)(room + at);
		uint16_t port = 0;
		struct plx_ip ip;

		memset(room, 0xa5, sizeof(room));
		plx_session_sockaddr_write(expected, PORT, room + at);
		assert_int_equal(room[at + bytes], 0xa5);
		for (size_t length = 0; length < bytes; length++)
			assert_int_equal(plx_session_sockaddr_read(address, length, &ip, &port),
					 PLX_INVALID);
		for (size_t more = 0; more < 3; more++) {
			assert_int_equal(
				plx_session_sockaddr_read(address, bytes + more, &ip, &port),
				PLX_OK);
			assert_memory_equal(&ip, expected, sizeof(ip));
			assert_int_equal(port, PORT);
		}
	}
}

static void
an_address_is_read_at_any_alignment(void **state)
{
	(void)state;
	assert_int_equal(plx_session_sockaddr_bytes(&ip4), sizeof(struct sockaddr_in));
	assert_int_equal(plx_session_sockaddr_bytes(&ip6), sizeof(struct sockaddr_in6));
	check_read(&ip4, sizeof(struct sockaddr_in));
	check_read(&ip6, sizeof(struct sockaddr_in6));
}

static void
an_address_is_written_as_the_system_does(void **state)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	(void)state;
	plx_session_sockaddr_write(&ip4, PORT, &in);
	assert_int_equal(in.sin_family, AF_INET);
	assert_int_equal(ntohs(in.sin_port), PORT);
	assert_int_equal(ntohl(in.sin_addr.s_addr), 0x0a010203);
	plx_session_sockaddr_write(&ip6, PORT, &in6);
	assert_int_equal(in6.sin6_family, AF_INET6);
	assert_int_equal(ntohs(in6.sin6_port), PORT);
	assert_memory_equal(&in6.sin6_addr, ip6.v, 16);
	assert_int_equal(in6.sin6_flowinfo, 0);
	assert_int_equal(in6.sin6_scope_id, 0);
}

static void
other_families_are_refused(void **state)
{
	struct sockaddr_storage other = {.ss_family = AF_UNIX};
	struct plx_ip ip;
	uint16_t port;

	(void)state;
	assert_int_equal(plx_session_sockaddr_read(NULL, sizeof(other), &ip, &port), PLX_INVALID);
	assert_int_equal(plx_session_sockaddr_read((const struct sockaddr *)&other, sizeof(other),
						   &ip, &port),
			 PLX_INVALID);
}

static void
kinds_of_addresses_are_told_apart(void **state)
{
	const struct plx_ip any4 = {.version = 4}, any6 = {.version = 6};
	const struct plx_ip here4 = {.version = 4, .v = {127, 0, 0, 2}};
	const struct plx_ip here6 = {.version = 6, .v = {[15] = 1}};
	const struct plx_ip almost6 = {.version = 6, .v = {[14] = 1, [15] = 1}};

	(void)state;
	assert_true(plx_session_ip_is_any(&any4) && plx_session_ip_is_any(&any6));
	assert_false(plx_session_ip_is_any(&ip4) || plx_session_ip_is_any(&here6));
	assert_true(plx_session_ip_is_loopback(&here4) && plx_session_ip_is_loopback(&here6));
	assert_false(plx_session_ip_is_loopback(&ip4) || plx_session_ip_is_loopback(&almost6));
	assert_false(plx_session_ip_is_loopback(&any6));
	assert_true(plx_session_ip_equal(&ip6, &ip6) && plx_session_ip_equal(&ip4, &ip4));
	assert_false(plx_session_ip_equal(&any4, &any6) || plx_session_ip_equal(&ip6, &here6));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_read_at_any_alignment),
		cmocka_unit_test(an_address_is_written_as_the_system_does),
		cmocka_unit_test(other_families_are_refused),
		cmocka_unit_test(kinds_of_addresses_are_told_apart),
	};

	return cmocka_run_group_tests_name("sockaddr", tests, NULL, NULL);
}
