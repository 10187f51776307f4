/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses as text, narrow and wide. Start with ipv4_is_read_up_to_what_is_none().
 */
#include "wide.h"

#include <arpa/inet.h>
#include <ip2string.h>
#include <mstcpip.h>

static void
ipv4_is_read_up_to_what_is_none(void **state)
{
	static const struct {
		const char *text;
		BOOLEAN strict;
		ULONG address; /* host byte order; 0: it is none */
		size_t read;
	} rows[] = {
		{"192.0.2.1", TRUE, 0xc0000201, 9},
		{"192.0.2.1:445", TRUE, 0xc0000201, 9},
		{"192.0.2.1\xc3\xa4", TRUE, 0xc0000201, 9},
		{"192.0.2", TRUE, 0, 7},
		{"192.0.2", FALSE, 0xc0000002, 7},
		{"0xc0.0.513", FALSE, 0xc0000201, 10},
		{"0300.0.2.1", FALSE, 0xc0000201, 10},
		{"0300.0.2.1", TRUE, 0, 0},
		{"3221225985", FALSE, 0xc0000201, 10},
		{"256.1.1.1", TRUE, 0, 0},
		{"1.2.3.4.5", TRUE, 0, 7},
		{"x", FALSE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		NTSTATUS expected = rows[i].address ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
		struct in_addr address = {0};
		WCHAR wide[32];
		PCWSTR wide_end;
		PCSTR end;

		assert_int_equal(
			RtlIpv4StringToAddressA(rows[i].text, rows[i].strict, &end, &address),
			expected);
		assert_int_equal(ntohl(address.s_addr), rows[i].address);
		assert_int_equal(end - rows[i].text, rows[i].read);
		address.s_addr = 0;
		swprintf_s(wide, 32, L"%S", rows[i].text);
		assert_int_equal(RtlIpv4StringToAddressW(wide, rows[i].strict, &wide_end, &address),
				 expected);
		assert_int_equal(ntohl(address.s_addr), rows[i].address);
		assert_int_equal(wide_end - wide, rows[i].read);
	}
}

static void
ipv6_is_read_and_written_with_scope_and_port(void **state)
{
	static const struct {
		const char *text;
		ULONG scope;
		USHORT port;
	} rows[] = {
		{"fe80::1", 0, 0},         {"fe80::1%3", 3, 0},        {"[fe80::1%3]:445", 3, 445},
		{"[::1]:65535", 0, 65535}, {"::ffff:192.0.2.1", 0, 0},
	};
	static const char *const bad[] = {"",         "fe80::1:",  "[fe80::1",
					  "fe80::1%", "[::1]:0",   "[::1]:65536",
					  "::1]",     "fe80::1%x", "1:2:3:4:5:6:7:8:9"};
	struct in6_addr address;
	ULONG scope, length;
	USHORT port;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		WCHAR wide[64], back_wide[64];
		char back[64];

		swprintf_s(wide, 64, L"%S", rows[i].text);
		assert_int_equal(RtlIpv6StringToAddressExW(wide, &address, &scope, &port),
				 STATUS_SUCCESS);
		assert_int_equal(scope, rows[i].scope);
		assert_int_equal(ntohs(port), rows[i].port);
		length = sizeof(back);
		assert_int_equal(RtlIpv6AddressToStringExA(&address, scope, port, back, &length),
				 STATUS_SUCCESS);
		assert_string_equal(back, rows[i].text);
		assert_int_equal(length, strlen(back) + 1);
		assert_int_equal(
			RtlIpv6AddressToStringExW(&address, scope, port, back_wide, &length),
			STATUS_SUCCESS);
		assert_wide_equal(back_wide, wide);
		length--;
		assert_int_equal(
			RtlIpv6AddressToStringExW(&address, scope, port, back_wide, &length),
			STATUS_INVALID_PARAMETER);
		assert_int_equal(length, strlen(back) + 1);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(RtlIpv6StringToAddressExA(bad[i], &address, &scope, &port),
				 STATUS_INVALID_PARAMETER);
}

static void
ipv4_has_a_port_behind_a_colon(void **state)
{
	struct in_addr address;
	WCHAR wide[32], *wide_end;
	char text[32];
	ULONG length = 32;
	USHORT port;

	(void)state;
	assert_int_equal(RtlIpv4StringToAddressExW(L"192.0.2.1:445", TRUE, &address, &port),
			 STATUS_SUCCESS);
	assert_int_equal(ntohs(port), 445);
	wide_end = RtlIpv4AddressToStringW(&address, wide);
	assert_wide_equal(wide, L"192.0.2.1");
	assert_ptr_equal(wide_end, wide + 9);
	assert_int_equal(RtlIpv4AddressToStringExA(&address, port, text, &length), STATUS_SUCCESS);
	assert_string_equal(text, "192.0.2.1:445");
	assert_int_equal(RtlIpv4StringToAddressExA("192.0.2.1", TRUE, &address, &port),
			 STATUS_SUCCESS);
	assert_int_equal(port, 0);
	assert_int_equal(RtlIpv4StringToAddressExA("192.0.2.1:x", TRUE, &address, &port),
			 STATUS_INVALID_PARAMETER);
}

static void
an_address_of_either_family_is_known_by_its_family(void **state)
{
	static const struct {
		ADDRESS_FAMILY family;
		const char *any, *loopback, *local, *other, *group;
	} rows[] = {
		{AF_INET, "0.0.0.0", "127.0.0.9", "169.254.1.1", "192.0.2.7", "224.0.0.5"},
		{AF_INET6, "::", "::1", "fe80::5", "2001:db8::1", "ff02::1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *texts[] = {rows[i].any, rows[i].loopback, rows[i].local, rows[i].other,
				       rows[i].group};
		ADDRESS_FAMILY family = rows[i].family;

		for (size_t j = 0; j < COUNT_OF(texts); j++) {
			SOCKADDR_INET a, b;
			UCHAR address[16];
			SCOPE_ID scope = {.Value = 3};

			assert_int_equal(inet_pton(family, texts[j], address), 1);
			memset(&a, 0xee, sizeof(a));
			INETADDR_SETSOCKADDR(family, (PSOCKADDR)&a, address, scope, htons(445));
			assert_int_equal(a.si_family, family);
			assert_int_equal(ntohs(INETADDR_PORT((PSOCKADDR)&a)), 445);
			assert_int_equal(INETADDR_SCOPE_ID((PSOCKADDR)&a).Value,
					 family == AF_INET6 ? 3 : 0);
			assert_memory_equal(INETADDR_ADDRESS((PSOCKADDR)&a), address,
					    INET_ADDR_LENGTH(family));
			assert_int_equal(INETADDR_ISANY((PSOCKADDR)&a), j == 0);
			assert_int_equal(INETADDR_ISLOOPBACK((PSOCKADDR)&a), j == 1);
			assert_int_equal(INET_IS_ADDR_LINKLOCAL(family, address), j == 2);
			assert_int_equal(INET_IS_ADDR_MULTICAST(family, address), j == 4);
			memcpy(&b, &a, sizeof(b));
			INETADDR_SET_PORT((PSOCKADDR)&b, htons(5445));
			assert_true(INETADDR_ISEQUAL((PSOCKADDR)&a, (PSOCKADDR)&b));
			INETADDR_ADDRESS((PSOCKADDR)&b)[INET_ADDR_LENGTH(family) - 1] ^= 1;
			assert_false(INETADDR_ISEQUAL((PSOCKADDR)&a, (PSOCKADDR)&b));
			INETADDR_SETLOOPBACK((PSOCKADDR)&b);
			assert_true(INETADDR_ISLOOPBACK((PSOCKADDR)&b));
			INETADDR_SETANY((PSOCKADDR)&b);
			assert_true(INETADDR_ISANY((PSOCKADDR)&b));
			assert_true(INET_ADDR_EQUAL(family, INETADDR_ADDRESS((PSOCKADDR)&b),
						    INET_ADDR_UNSPECIFIED(family)));
			assert_int_equal(b.si_family, family);
		}
	}
}

static void
a_mapped_address_is_of_ipv6(void **state)
{
	SOCKADDR_IN6 six;
	SOCKADDR_INET four; /* room for both, as gcc wants to see */
	IN_ADDR address = {htonl(0xc0000201)};
	SCOPE_ID scope = {.Value = 9};

	(void)state;
	IN6ADDR_SETV4MAPPED(&six, &address, 9, htons(1));
	assert_true(INETADDR_ISV4MAPPED((PSOCKADDR)&six));
	IN4ADDR_SETSOCKADDR(&four.Ipv4, &address, htons(1));
	assert_false(INETADDR_ISV4MAPPED((PSOCKADDR)&four));
	assert_false(INETADDR_ISEQUAL((PSOCKADDR)&four, (PSOCKADDR)&six));
	assert_int_equal(four.Ipv4.sin_addr.s_addr, address.s_addr);
	IN6ADDR_SETSOCKADDR(&six, &in6addr_loopback, scope, htons(2));
	assert_true(IN6ADDR_ISLOOPBACK(&six));
	assert_int_equal(six.sin6_scope_id, 9);
	assert_int_equal(ntohs(six.sin6_port), 2);
}

static void
an_ethernet_address_is_six_pairs_between_dashes(void **state)
{
	static const struct {
		const char *text;
		size_t read;
		BOOLEAN good;
	} rows[] = {
		{"F4-CE-46-2d-90-8c", 17, TRUE}, {"F4-CE-46-2D-90-8C-1", 17, TRUE},
		{"F4:CE-46-2D-90-8C", 2, FALSE}, {"F4-CE-46-2D-90", 14, FALSE},
		{"F4-CE-46-2D-90-8", 16, FALSE}, {"", 0, FALSE},
		{"F4-C-46-2D-90-8C", 4, FALSE},  {"F4-CE-46-2D-9g-8C", 13, FALSE},
	};
	static const DL_EUI48 expected = {{0xf4, 0xce, 0x46, 0x2d, 0x90, 0x8c}}, none = {{0}};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		NTSTATUS status = rows[i].good ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
		DL_EUI48 address = none;
		WCHAR wide[32];
		PCWSTR wide_end;
		PCSTR end;

		assert_int_equal(RtlEthernetStringToAddressA(rows[i].text, &end, &address), status);
		assert_int_equal(end - rows[i].text, rows[i].read);
		assert_memory_equal(&address, rows[i].good ? &expected : &none, 6);
		address = none;
		swprintf_s(wide, 32, L"%S", rows[i].text);
		assert_int_equal(RtlEthernetStringToAddressW(wide, &wide_end, &address), status);
		assert_int_equal(wide_end - wide, rows[i].read);
		assert_memory_equal(&address, rows[i].good ? &expected : &none, 6);
	}
}

static void
an_ethernet_address_is_written_with_large_letters(void **state)
{
	static const DL_EUI48 address = {{0xf4, 0xce, 0x46, 0x2d, 0x90, 0x0c}};
	WCHAR wide[18];
	char text[18];

	(void)state;
	assert_ptr_equal(RtlEthernetAddressToStringA(&address, text), text + 17);
	assert_string_equal(text, "F4-CE-46-2D-90-0C");
	assert_ptr_equal(RtlEthernetAddressToStringW(&address, wide), wide + 17);
	assert_wide_equal(wide, L"F4-CE-46-2D-90-0C");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_is_read_up_to_what_is_none),
		cmocka_unit_test(ipv6_is_read_and_written_with_scope_and_port),
		cmocka_unit_test(ipv4_has_a_port_behind_a_colon),
		cmocka_unit_test(an_address_of_either_family_is_known_by_its_family),
		cmocka_unit_test(a_mapped_address_is_of_ipv6),
		cmocka_unit_test(an_ethernet_address_is_six_pairs_between_dashes),
		cmocka_unit_test(an_ethernet_address_is_written_with_large_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
