/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Socket addresses in and out. A sockaddr of a client may lie anywhere, at any alignment, and be
 * longer than its family needs; what we write is exactly as long.
 * It never resolves. Start with nd2_address_read().
 */
#include "nd2.h"

/* Where the parts of both families lie; port and family are at the same place in both. */
enum {
	SHORT_BYTES = sizeof(struct sockaddr_in),
	LONG_BYTES = sizeof(struct sockaddr_in6),
};

static uint32_t
bytes_of(const struct plx_ip *ip)
{
	return ip->version == 6 ? LONG_BYTES : SHORT_BYTES;
}

HRESULT
nd2_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip, uint16_t *port)
{
	sa_family_t family;

	if (!address || length < offsetof(struct sockaddr, sa_family) + sizeof(family))
		return ND_INVALID_ADDRESS;
	memcpy(&family, (const char *)address + offsetof(struct sockaddr, sa_family),
	       sizeof(family));
	memset(ip, 0, sizeof(*ip));
	if (family == AF_INET && length >= SHORT_BYTES) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		ip->version = 4;
		memcpy(ip->v, &in.sin_addr, 4);
		*port = ntohs(in.sin_port);
		return ND_SUCCESS;
	}
	if (family == AF_INET6 && length >= LONG_BYTES) {
		struct sockaddr_in6 in;

		memcpy(&in, address, sizeof(in));
		ip->version = 6;
		memcpy(ip->v, &in.sin6_addr, 16);
		*port = ntohs(in.sin6_port);
		return ND_SUCCESS;
	}
	return ND_INVALID_ADDRESS;
}

static void
put(const struct plx_ip *ip, uint16_t port, void *out)
{
	if (ip->version == 6) {
		struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

		memcpy(&in.sin6_addr, ip->v, 16);
		memcpy(out, &in, sizeof(in));
	} else {
		struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

		memcpy(&in.sin_addr, ip->v, 4);
		memcpy(out, &in, sizeof(in));
	}
}

HRESULT
nd2_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out, ULONG *length)
{
	ULONG given, needed = bytes_of(ip);

	if (!length)
		return ND_INVALID_PARAMETER;
	given = *length;
	*length = needed;
	if (!out || given < needed)
		return ND_BUFFER_OVERFLOW;
	put(ip, port, out);
	return ND_SUCCESS;
}

/*
 * The list, its entries, then the addresses themselves, each at a multiple of 8. With no address at
 * all the list has its one entry nevertheless, so that a probe with no buffer never succeeds: there
 * are callers that would read the buffer they have not given.
 */
HRESULT
nd2_address_list(const struct plx_ip *ip, uint32_t n, SOCKET_ADDRESS_LIST *out, ULONG *length)
{
	size_t head = offsetof(SOCKET_ADDRESS_LIST, Address) + n * sizeof(SOCKET_ADDRESS);
	size_t needed, at;
	ULONG given;

	if (!length)
		return ND_INVALID_PARAMETER;
	if (head < sizeof(SOCKET_ADDRESS_LIST))
		head = sizeof(SOCKET_ADDRESS_LIST);
	needed = head;
	for (uint32_t i = 0; i < n; i++)
		needed += (bytes_of(&ip[i]) + 7u) & ~7u;
	given = *length;
	*length = (ULONG)needed;
	if (!out || given < needed)
		return ND_BUFFER_OVERFLOW;
	memset(out, 0, needed);
	out->iAddressCount = (INT)n;
	at = head;
	for (uint32_t i = 0; i < n; i++) {
		out->Address[i].lpSockaddr = (struct sockaddr *)(void *)((char *)out + at);
		out->Address[i].iSockaddrLength = (INT)bytes_of(&ip[i]);
		put(&ip[i], 0, (char *)out + at);
		at += (bytes_of(&ip[i]) + 7u) & ~7u;
	}
	return ND_SUCCESS;
}

/* ---- what kind of address? --------------------------------------------------------------------
 */

static bool
is_zero(const uint8_t *at, size_t n)
{
	while (n && *at == 0) {
		at++;
		n--;
	}
	return n == 0;
}

bool
nd2_is_any(const struct plx_ip *ip)
{
	return is_zero(ip->v, ip->version == 6 ? 16 : 4);
}

bool
nd2_is_loopback(const struct plx_ip *ip)
{
	if (ip->version == 6)
		return is_zero(ip->v, 15) && ip->v[15] == 1;
	return ip->v[0] == 127;
}

bool
nd2_same_ip(const struct plx_ip *a, const struct plx_ip *b)
{
	return a->version == b->version && memcmp(a->v, b->v, a->version == 6 ? 16 : 4) == 0;
}
