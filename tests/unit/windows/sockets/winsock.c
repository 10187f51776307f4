/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Winsock's start, and addresses as text and back, in both kinds of text.
 */
#include "bench.h"

#include <winsock2.h>
#include <ws2tcpip.h>

enum {
	ROOM = 80,
};

static void
it_is_started_as_often_as_it_is_cleaned_up(void **state)
{
	WSADATA data;

	(void)state;
	assert_int_equal(WSACleanup(), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSANOTINITIALISED);
	assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
	assert_int_equal(data.wVersion, MAKEWORD(2, 2));
	assert_int_equal(data.wHighVersion, MAKEWORD(2, 2));
	assert_int_equal(WSAStartup(MAKEWORD(1, 1), &data), 0);
	assert_int_equal(data.wVersion, MAKEWORD(1, 1));
	assert_int_equal(WSAStartup(MAKEWORD(3, 0), &data), 0);
	assert_int_equal(data.wVersion, MAKEWORD(2, 2));
	assert_int_equal(WSAStartup(MAKEWORD(0, 5), &data), WSAVERNOTSUPPORTED);
	assert_int_equal(WSAStartup(MAKEWORD(2, 2), NULL), WSAEFAULT);
	for (int i = 0; i < 3; i++)
		assert_int_equal(WSACleanup(), 0);
	assert_int_equal(WSACleanup(), SOCKET_ERROR);
	WSASetLastError(WSAENOBUFS);
	assert_int_equal(GetLastError(), WSAENOBUFS);
}

/* Text that is read, and how it is written. */
static const struct {
	const char *text;
	int family;
	unsigned port, scope;
	const char *written; /* NULL: as it was read */
} good[] = {
	{"192.0.2.1", AF_INET, 0, 0, NULL},
	{"192.0.2.1:4000", AF_INET, 4000, 0, NULL},
	{"0.0.0.0:65535", AF_INET, 65535, 0, NULL},
	{"10.0.0.1:0", AF_INET, 0, 0, "10.0.0.1"},
	{"2001:db8::1", AF_INET6, 0, 0, NULL},
	{"::", AF_INET6, 0, 0, NULL},
	{"fe80::1%3", AF_INET6, 0, 3, NULL},
	{"[2001:db8::1]:4000", AF_INET6, 4000, 0, NULL},
	{"[fe80::1%4294967295]:65535", AF_INET6, 65535, 4294967295u, NULL},
	{"[2001:db8::1]", AF_INET6, 0, 0, "2001:db8::1"},
};

static const struct {
	const char *text;
	int family;
} bad[] = {
	{"", AF_INET},
	{"192.0.2", AF_INET},
	{"192.0.2.256", AF_INET},
	{"192.0.2.1:", AF_INET},
	{"192.0.2.1:65536", AF_INET},
	{"192.0.2.1:-1", AF_INET},
	{"192.0.2.1: 1", AF_INET},
	{"192.0.2.1:1x", AF_INET},
	{"192.0.2.1 ", AF_INET},
	{"2001:db8::1", AF_INET},
	{"192.0.2.1", AF_INET6},
	{"2001:db8::1::2", AF_INET6},
	{"[2001:db8::1", AF_INET6},
	{"[2001:db8::1]4000", AF_INET6},
	{"[2001:db8::1]:", AF_INET6},
	{"fe80::1%", AF_INET6},
	{"fe80::1%eth0", AF_INET6},
	{"fe80::1%4294967296", AF_INET6},
	{"1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
	 "90123456789012345678901234567890",
	 AF_INET},
};

static void
widen(const char *text, WCHAR *wide)
{
	do
		*wide++ = (unsigned char)*text;
	while (*text++);
}

/* Port, scope and family of what was read. */
static void
check(const struct sockaddr_storage *address, INT bytes, size_t i)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	assert_int_equal(address->ss_family, good[i].family);
	if (good[i].family == AF_INET) {
		assert_int_equal(bytes, sizeof(*four));
		assert_int_equal(ntohs(four->sin_port), good[i].port);
	} else {
		assert_int_equal(bytes, sizeof(*six));
		assert_int_equal(ntohs(six->sin6_port), good[i].port);
		assert_int_equal(six->sin6_scope_id, good[i].scope);
	}
}

static void
addresses_are_read_and_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(good); i++) {
		const char *written = good[i].written ? good[i].written : good[i].text;
		char text[ROOM], back[ROOM];
		WCHAR wide[ROOM], wide_written[ROOM], wide_back[ROOM];
		struct sockaddr_storage address;
		INT bytes = sizeof(address);
		DWORD chars = ROOM;

		strcpy(text, good[i].text);
		widen(text, wide);
		widen(written, wide_written);
		memset(&address, STALE, sizeof(address));
		assert_int_equal(WSAStringToAddressA(text, good[i].family, NULL,
						     (LPSOCKADDR)&address, &bytes),
				 0);
		assert_string_equal(text, good[i].text);
		check(&address, bytes, i);
		assert_int_equal(
			WSAAddressToStringA((LPSOCKADDR)&address, (DWORD)bytes, NULL, back, &chars),
			0);
		assert_string_equal(back, written);
		assert_int_equal(chars, strlen(written) + 1);
		memset(&address, STALE, sizeof(address));
		bytes = sizeof(address);
		assert_int_equal(WSAStringToAddressW(wide, good[i].family, NULL,
						     (LPSOCKADDR)&address, &bytes),
				 0);
		check(&address, bytes, i);
		assert_int_equal(WSAAddressToStringW((LPSOCKADDR)&address, (DWORD)bytes, NULL,
						     wide_back, &chars),
				 0);
		assert_int_equal(wcscmp(wide_back, wide_written), 0);
		assert_int_equal(chars, wcslen(wide_written) + 1);
	}
}

static void
what_is_no_address_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(bad); i++) {
		struct sockaddr_storage address, before;
		INT bytes = sizeof(address);
		WCHAR wide[2 * ROOM];
		char text[2 * ROOM];

		memset(&address, STALE, sizeof(address));
		before = address;
		strcpy(text, bad[i].text);
		widen(text, wide);
		assert_int_equal(WSAStringToAddressA(text, bad[i].family, NULL,
						     (LPSOCKADDR)&address, &bytes),
				 SOCKET_ERROR);
		assert_int_equal(WSAGetLastError(), WSAEINVAL);
		assert_int_equal(WSAStringToAddressW(wide, bad[i].family, NULL,
						     (LPSOCKADDR)&address, &bytes),
				 SOCKET_ERROR);
		assert_int_equal(WSAGetLastError(), WSAEINVAL);
		assert_memory_equal(&address, &before, sizeof(before));
		assert_int_equal(bytes, sizeof(address));
	}
}

static void
room_is_minded(void **state)
{
	char text[] = "192.0.2.1:4000", back[ROOM];
	struct sockaddr_in address;
	WSAPROTOCOL_INFOA info;
	INT bytes = sizeof(address) - 1;
	DWORD chars = sizeof(text) - 1;

	(void)state;
	assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, (LPSOCKADDR)&address, &bytes),
			 SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEFAULT);
	assert_int_equal(bytes, sizeof(address));
	assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, (LPSOCKADDR)&address, &bytes), 0);
	assert_int_equal(
		WSAAddressToStringA((LPSOCKADDR)&address, sizeof(address), NULL, back, &chars),
		SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEFAULT);
	assert_int_equal(chars, sizeof(text));
	assert_int_equal(
		WSAAddressToStringA((LPSOCKADDR)&address, sizeof(address), NULL, back, &chars), 0);
	assert_string_equal(back, text);
	assert_int_equal(
		WSAAddressToStringA((LPSOCKADDR)&address, sizeof(address) - 1, NULL, back, &chars),
		SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEINVAL);
	/* Protocols of a catalog have no say here, and other families no address. */
	assert_int_equal(WSAStringToAddressA(text, AF_INET, &info, (LPSOCKADDR)&address, &bytes),
			 SOCKET_ERROR);
	assert_int_equal(WSAStringToAddressA(text, AF_UNIX, NULL, (LPSOCKADDR)&address, &bytes),
			 SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEINVAL);
	assert_int_equal(WSAStringToAddressA(NULL, AF_INET, NULL, (LPSOCKADDR)&address, &bytes),
			 SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEFAULT);
}

static void
inet_names_of_wide_text(void **state)
{
	struct in6_addr six;
	struct in_addr four;
	WCHAR text[ROOM];

	(void)state;
	assert_int_equal(InetPtonW(AF_INET, L"192.0.2.1", &four), 1);
	assert_int_equal(InetPtonW(AF_INET, L"192.0.2.1:1", &four), 0);
	assert_int_equal(InetPtonW(AF_INET6, L"2001:db8::1", &six), 1);
	assert_int_equal(InetPtonW(AF_UNIX, L"x", &six), -1);
	assert_int_equal(WSAGetLastError(), WSAEAFNOSUPPORT);
	assert_ptr_equal(InetNtopW(AF_INET, &four, text, ROOM), text);
	assert_int_equal(wcscmp(text, L"192.0.2.1"), 0);
	assert_ptr_equal(InetNtopW(AF_INET6, &six, text, ROOM), text);
	assert_int_equal(wcscmp(text, L"2001:db8::1"), 0);
	assert_null(InetNtopW(AF_INET, &four, text, 9));
	assert_int_equal(WSAGetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(InetNtopW(AF_UNIX, &four, text, ROOM));
	assert_int_equal(WSAGetLastError(), WSAEAFNOSUPPORT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_started_as_often_as_it_is_cleaned_up),
		cmocka_unit_test(addresses_are_read_and_written),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(room_is_minded),
		cmocka_unit_test(inet_names_of_wide_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
