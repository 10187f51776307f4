/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of Winsock that ND2 programs use: startup, and conversion between addresses and text.
 * It owns the count of WSAStartup calls. It has no sockets.
 * Start with read_address() and write_address().
 */
#include "plx_crt.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include <ctype.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_MAX = 96, /* of an address: 45 for IPv6, a scope, brackets, a port */
	DECIMAL = 10,
	PORT_MAX = 65535,
};

#define VERSION MAKEWORD(2, 2)

static atomic_uint starts;

static int
fail(int error)
{
	WSASetLastError(error);
	return SOCKET_ERROR;
}

int
WSAStartup(WORD version, LPWSADATA data)
{
	if (!data)
		return WSAEFAULT;
	*data = (WSADATA){.wVersion = VERSION, .wHighVersion = VERSION};
	if (!LOBYTE(version))
		return WSAVERNOTSUPPORTED;
	if (LOBYTE(version) < LOBYTE(VERSION) ||
	    (LOBYTE(version) == LOBYTE(VERSION) && HIBYTE(version) < HIBYTE(VERSION)))
		data->wVersion = version;
	snprintf(data->szDescription, sizeof(data->szDescription), "Pollux");
	snprintf(data->szSystemStatus, sizeof(data->szSystemStatus), "Running");
	atomic_fetch_add(&starts, 1);
	return 0;
}

int
WSACleanup(void)
{
	unsigned count = atomic_load(&starts);

	while (count)
		if (atomic_compare_exchange_weak(&starts, &count, count - 1))
			return 0;
	return fail(WSANOTINITIALISED);
}

/* Parse a number up to the end of the text. Returns: false: it is not a number up to `most` */
static bool
read_number(const char *text, unsigned long most, unsigned long *number)
{
	char *rest;

	if (!isdigit((unsigned char)*text))
		return false;
	*number = strtoul(text, &rest, DECIMAL);
	return !*rest && *number <= most;
}

/* Parse "192.0.2.1" or "192.0.2.1:4000"; modifies the text. */
static bool
read_ipv4(char *text, struct sockaddr_in *address)
{
	char *colon = strchr(text, ':');
	unsigned long port = 0;

	if (colon) {
		*colon = 0;
		if (!read_number(colon + 1, PORT_MAX, &port))
			return false;
	}
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return inet_pton(AF_INET, text, &address->sin_addr) == 1;
}

/* Parse "2001:db8::1", "2001:db8::1%3" or "[2001:db8::1%3]:4000"; modifies the text. */
static bool
read_ipv6(char *text, struct sockaddr_in6 *address)
{
	unsigned long port = 0, scope = 0;
	char *percent;

	if (*text == '[') {
		char *end = strchr(++text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		if (end[1] && !read_number(end + 2, PORT_MAX, &port))
			return false;
		*end = 0;
	}
	percent = strchr(text, '%');
	if (percent) {
		*percent = 0;
		if (!read_number(percent + 1, UINT32_MAX, &scope))
			return false;
	}
	*address = (struct sockaddr_in6){.sin6_family = AF_INET6,
					 .sin6_port = htons((uint16_t)port),
					 .sin6_scope_id = (uint32_t)scope};
	return inet_pton(AF_INET6, text, &address->sin6_addr) == 1;
}

/* Returns: 0, or SOCKET_ERROR with the error set */
static int
read_address(const char *text, INT family, LPSOCKADDR address, LPINT bytes)
{
	INT need = family == AF_INET6 ? (INT)sizeof(struct sockaddr_in6)
				      : (INT)sizeof(struct sockaddr_in);
	struct sockaddr_storage found;
	char copy[TEXT_MAX];
	bool good;

	if (family != AF_INET && family != AF_INET6)
		return fail(WSAEINVAL);
	if (*bytes < need || !address) {
		*bytes = need;
		return fail(WSAEFAULT);
	}
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return fail(WSAEINVAL);
	good = family == AF_INET ? read_ipv4(copy, (struct sockaddr_in *)&found)
				 : read_ipv6(copy, (struct sockaddr_in6 *)&found);
	if (!good)
		return fail(WSAEINVAL);
	memcpy(address, &found, (size_t)need);
	*bytes = need;
	return 0;
}

INT
WSAStringToAddressA(LPSTR text, INT family, LPWSAPROTOCOL_INFOA info, LPSOCKADDR address,
		    LPINT bytes)
{
	if (!text || !bytes)
		return fail(WSAEFAULT);
	if (info)
		return fail(WSAEINVAL);
	return read_address(text, family, address, bytes);
}

INT
WSAStringToAddressW(LPWSTR text, INT family, LPWSAPROTOCOL_INFOW info, LPSOCKADDR address,
		    LPINT bytes)
{
	char narrow[TEXT_MAX];

	if (!text || !bytes)
		return fail(WSAEFAULT);
	if (info || utf8_of_wide(text, narrow, sizeof(narrow)) >= sizeof(narrow))
		return fail(WSAEINVAL);
	return read_address(narrow, family, address, bytes);
}

/* Returns: the number of characters, or -1: not an address */
static int
write_address(const struct sockaddr *address, DWORD bytes, char text[TEXT_MAX])
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;
	char host[INET6_ADDRSTRLEN], scope[16] = "";

	if (bytes >= sizeof(four) && address->sa_family == AF_INET) {
		memcpy(&four, address, sizeof(four));
		inet_ntop(AF_INET, &four.sin_addr, host, sizeof(host));
		return four.sin_port ? snprintf(text, TEXT_MAX, "%s:%u", host, ntohs(four.sin_port))
				     : snprintf(text, TEXT_MAX, "%s", host);
	}
	if (bytes < sizeof(six) || address->sa_family != AF_INET6)
		return -1;
	memcpy(&six, address, sizeof(six));
	inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof(host));
	if (six.sin6_scope_id)
		snprintf(scope, sizeof(scope), "%%%u", six.sin6_scope_id);
	return six.sin6_port
		       ? snprintf(text, TEXT_MAX, "[%s%s]:%u", host, scope, ntohs(six.sin6_port))
		       : snprintf(text, TEXT_MAX, "%s%s", host, scope);
}

/* Common to narrow and wide text: report the size needed and check the room. */
static int
prepare(LPSOCKADDR address, DWORD bytes, bool info, bool room, LPDWORD chars, char text[TEXT_MAX])
{
	int length;

	if (!address || !chars || info)
		return fail(info ? WSAEINVAL : WSAEFAULT);
	length = write_address(address, bytes, text);
	if (length < 0)
		return fail(WSAEINVAL);
	room = room && *chars > (DWORD)length;
	*chars = (DWORD)length + 1;
	return room ? 0 : fail(WSAEFAULT);
}

INT
WSAAddressToStringA(LPSOCKADDR address, DWORD bytes, LPWSAPROTOCOL_INFOA info, LPSTR text,
		    LPDWORD chars)
{
	char narrow[TEXT_MAX];

	if (prepare(address, bytes, info != NULL, text != NULL, chars, narrow))
		return SOCKET_ERROR;
	memcpy(text, narrow, *chars);
	return 0;
}

INT
WSAAddressToStringW(LPSOCKADDR address, DWORD bytes, LPWSAPROTOCOL_INFOW info, LPWSTR text,
		    LPDWORD chars)
{
	char narrow[TEXT_MAX];

	if (prepare(address, bytes, info != NULL, text != NULL, chars, narrow))
		return SOCKET_ERROR;
	wide_of_utf8(narrow, text, *chars);
	return 0;
}

INT
InetPtonW(INT family, LPCWSTR text, PVOID address)
{
	char narrow[TEXT_MAX];
	int found;

	if (!text || !address) {
		fail(WSAEFAULT);
		return -1;
	}
	if (utf8_of_wide(text, narrow, sizeof(narrow)) >= sizeof(narrow))
		return 0;
	found = inet_pton(family, narrow, address);
	if (found < 0)
		fail(WSAEAFNOSUPPORT);
	return found;
}

LPCWSTR
InetNtopW(INT family, const VOID *address, LPWSTR text, size_t chars)
{
	char narrow[INET6_ADDRSTRLEN];
	int error = 0;

	if (!address || !text)
		error = WSA_INVALID_PARAMETER;
	else if (!inet_ntop(family, address, narrow, sizeof(narrow)))
		error = WSAEAFNOSUPPORT;
	else if (strlen(narrow) >= chars)
		error = WSA_INVALID_PARAMETER;
	if (error) {
		fail(error);
		return NULL;
	}
	wide_of_utf8(narrow, text, chars);
	return text;
}
