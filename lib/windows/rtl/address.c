/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses of IPv4 and IPv6 as text, and back. The C library writes them and reads IPv6; what it
 * cannot is to say where an address ends in a longer text. Wide text is read as narrow text, since
 * addresses are ASCII. Start with read4().
 */
#include "plx_rtl.h"

#include <ip2string.h>
#include <wdm.h>

#include <stdbool.h>
#include <arpa/inet.h>

enum {
	TEXT_LENGTH_MAX = 80, /* of an address with scope and port; longer texts are none */
};

/* Copy as narrow text as much as can be an address. */
static void
narrowed(char out[TEXT_LENGTH_MAX], const WCHAR *s)
{
	size_t i = 0;

	for (; i < TEXT_LENGTH_MAX - 1 && s[i] && s[i] < 0x80; i++)
		out[i] = (char)s[i];
	/* What follows ends the address, too. */
	if (s[i] && i < TEXT_LENGTH_MAX - 1)
		out[i++] = '?';
	out[i] = 0;
}

static void
widened(WCHAR *out, const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++)
		out[i] = (WCHAR)(unsigned char)s[i];
	out[length] = 0;
}

static unsigned int
digit(char c)
{
	return plx_rtl_digit((unsigned char)c);
}

/* Read a number in C's notation. Returns: what follows it; NULL: there is none, or it is > most */
static const char *
read_number(const char *s, bool decimal, ULONGLONG most, ULONGLONG *value)
{
	unsigned int base = 10;
	bool any = false;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	} else if (s[0] == '0' && digit(s[1]) < 10) {
		base = 8;
	}
	if (decimal && base != 10)
		return NULL;
	*value = 0;
	for (; digit(*s) < base; s++, any = true) {
		*value = *value * base + digit(*s);
		if (*value > most)
			return NULL;
	}
	return any ? s : NULL;
}

/* Returns: whether it is an address; *end is where it, or what is understood of it, ends */
static bool
read4(const char *s, bool strict, const char **end, struct in_addr *address)
{
	ULONGLONG parts[4];
	ULONG value = 0;
	int n = 0;

	*end = s;
	for (;; s++) {
		const char *behind = read_number(s, strict, strict ? 255 : MAXULONG, &parts[n]);

		if (!behind)
			return false;
		s = *end = behind;
		n++;
		if (*s != '.')
			break;
		if (n == 4)
			return false;
	}
	if (strict && n != 4)
		return false;
	for (int i = 0; i < n - 1; i++) {
		if (parts[i] > 255)
			return false;
		value |= (ULONG)parts[i] << (24 - 8 * i);
	}
	if (parts[n - 1] > MAXULONG >> 8 * (n - 1))
		return false;
	address->s_addr = htonl(value | (ULONG)parts[n - 1]);
	return true;
}

static bool
read6(const char *s, const char **end, struct in6_addr *address)
{
	size_t length = strspn(s, "0123456789abcdefABCDEF:.");
	char text[INET6_ADDRSTRLEN];

	*end = s;
	if (length >= sizeof(text))
		return false;
	memcpy(text, s, length);
	text[length] = 0;
	if (inet_pton(AF_INET6, text, address) != 1)
		return false;
	*end = s + length;
	return true;
}

/* Read ":445" up to the end. @param port [out, network byte order] 0: the text is empty */
static bool
read_port(const char *s, USHORT *port)
{
	ULONGLONG value = 0;

	*port = 0;
	if (*s == 0)
		return true;
	s = *s == ':' ? read_number(s + 1, false, MAXUSHORT, &value) : NULL;
	if (!s || *s || value == 0)
		return false;
	*port = htons((USHORT)value);
	return true;
}

static NTSTATUS
status_of(bool valid)
{
	return valid ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS
RtlIpv4StringToAddressA(PCSTR s, BOOLEAN strict, PCSTR *end, struct in_addr *address)
{
	return status_of(read4(s, strict, end, address));
}

NTSTATUS
RtlIpv6StringToAddressA(PCSTR s, PCSTR *end, struct in6_addr *address)
{
	return status_of(read6(s, end, address));
}

NTSTATUS
RtlIpv4StringToAddressExA(PCSTR s, BOOLEAN strict, struct in_addr *address, PUSHORT port)
{
	struct in_addr found;
	const char *end;
	USHORT its_port;

	if (!s || !address || !port || !read4(s, strict, &end, &found) ||
	    !read_port(end, &its_port))
		return STATUS_INVALID_PARAMETER;
	*address = found;
	*port = its_port;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlIpv6StringToAddressExA(PCSTR s, struct in6_addr *address, PULONG scope, PUSHORT port)
{
	struct in6_addr found;
	ULONGLONG its_scope = 0;
	USHORT its_port = 0;
	bool bracket;

	if (!s || !address || !scope || !port)
		return STATUS_INVALID_PARAMETER;
	bracket = *s == '[';
	if (!read6(s + bracket, &s, &found))
		return STATUS_INVALID_PARAMETER;
	if (*s == '%')
		s = read_number(s + 1, true, MAXULONG, &its_scope);
	if (!s || (bracket && *s++ != ']') || (bracket ? !read_port(s, &its_port) : *s != 0))
		return STATUS_INVALID_PARAMETER;
	*address = found;
	*scope = (ULONG)its_scope;
	*port = its_port;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlIpv4StringToAddressW(PCWSTR s, BOOLEAN strict, PCWSTR *end, struct in_addr *address)
{
	char text[TEXT_LENGTH_MAX];
	const char *stop;
	bool valid;

	narrowed(text, s);
	valid = read4(text, strict, &stop, address);
	*end = s + (stop - text);
	return status_of(valid);
}

NTSTATUS
RtlIpv6StringToAddressW(PCWSTR s, PCWSTR *end, struct in6_addr *address)
{
	char text[TEXT_LENGTH_MAX];
	const char *stop;
	bool valid;

	narrowed(text, s);
	valid = read6(text, &stop, address);
	*end = s + (stop - text);
	return status_of(valid);
}

NTSTATUS
RtlIpv4StringToAddressExW(PCWSTR s, BOOLEAN strict, struct in_addr *address, PUSHORT port)
{
	char text[TEXT_LENGTH_MAX];

	if (!s)
		return STATUS_INVALID_PARAMETER;
	narrowed(text, s);
	return RtlIpv4StringToAddressExA(text, strict, address, port);
}

NTSTATUS
RtlIpv6StringToAddressExW(PCWSTR s, struct in6_addr *address, PULONG scope, PUSHORT port)
{
	char text[TEXT_LENGTH_MAX];

	if (!s)
		return STATUS_INVALID_PARAMETER;
	narrowed(text, s);
	return RtlIpv6StringToAddressExA(text, address, scope, port);
}

/* ---- writing ---- */

PSTR
RtlIpv4AddressToStringA(const struct in_addr *address, PSTR s)
{
	inet_ntop(AF_INET, address, s, INET_ADDRSTRLEN);
	return s + strlen(s);
}

PSTR
RtlIpv6AddressToStringA(const struct in6_addr *address, PSTR s)
{
	inet_ntop(AF_INET6, address, s, INET6_ADDRSTRLEN);
	return s + strlen(s);
}

PWSTR
RtlIpv4AddressToStringW(const struct in_addr *address, PWSTR s)
{
	char text[INET_ADDRSTRLEN];
	size_t length = (size_t)(RtlIpv4AddressToStringA(address, text) - text);

	widened(s, text, length);
	return s + length;
}

PWSTR
RtlIpv6AddressToStringW(const struct in6_addr *address, PWSTR s)
{
	char text[INET6_ADDRSTRLEN];
	size_t length = (size_t)(RtlIpv6AddressToStringA(address, text) - text);

	widened(s, text, length);
	return s + length;
}

/* @param port [network byte order] */
static void
write4(char out[TEXT_LENGTH_MAX], const struct in_addr *address, USHORT port)
{
	char *at = RtlIpv4AddressToStringA(address, out);

	if (port != 0)
		sprintf(at, ":%u", ntohs(port));
}

static void
write6(char out[TEXT_LENGTH_MAX], const struct in6_addr *address, ULONG scope, USHORT port)
{
	char *at = out;

	if (port != 0)
		*at++ = '[';
	at = RtlIpv6AddressToStringA(address, at);
	if (scope != 0)
		at += sprintf(at, "%%%u", scope);
	if (port != 0)
		sprintf(at, "]:%u", ntohs(port));
}

/* Copy a text as far as both kinds of result want it. Returns: whether it fits */
static NTSTATUS
copied(const char *text, PSTR narrow, PWSTR wide, PULONG length)
{
	size_t n = strlen(text);
	ULONG room = *length;

	*length = (ULONG)n + 1;
	if (n >= room)
		return STATUS_INVALID_PARAMETER;
	if (narrow)
		memcpy(narrow, text, n + 1);
	else
		widened(wide, text, n);
	return STATUS_SUCCESS;
}

NTSTATUS
RtlIpv4AddressToStringExA(const struct in_addr *address, USHORT port, PSTR s, PULONG length)
{
	char text[TEXT_LENGTH_MAX];

	if (!address || !length || (!s && *length > 0))
		return STATUS_INVALID_PARAMETER;
	write4(text, address, port);
	return copied(text, s, NULL, length);
}

NTSTATUS
RtlIpv4AddressToStringExW(const struct in_addr *address, USHORT port, PWSTR s, PULONG length)
{
	char text[TEXT_LENGTH_MAX];

	if (!address || !length || (!s && *length > 0))
		return STATUS_INVALID_PARAMETER;
	write4(text, address, port);
	return copied(text, NULL, s, length);
}

NTSTATUS
RtlIpv6AddressToStringExA(const struct in6_addr *address, ULONG scope, USHORT port, PSTR s,
			  PULONG length)
{
	char text[TEXT_LENGTH_MAX];

	if (!address || !length || (!s && *length > 0))
		return STATUS_INVALID_PARAMETER;
	write6(text, address, scope, port);
	return copied(text, s, NULL, length);
}

NTSTATUS
RtlIpv6AddressToStringExW(const struct in6_addr *address, ULONG scope, USHORT port, PWSTR s,
			  PULONG length)
{
	char text[TEXT_LENGTH_MAX];

	if (!address || !length || (!s && *length > 0))
		return STATUS_INVALID_PARAMETER;
	write6(text, address, scope, port);
	return copied(text, NULL, s, length);
}
