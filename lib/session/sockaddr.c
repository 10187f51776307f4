/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion of socket addresses. A program's sockaddr may have any alignment and be longer than
 * its family needs; written ones have exactly their family's length.
 * It never resolves names. Start with plx_session_sockaddr_read().
 */
#include <netinet/in.h>
#include <string.h>

#include "internal.h"

/* Offsets in both families; port and family have the same offsets in both. */
enum {
	SHORT_BYTES = sizeof(struct sockaddr_in),
	LONG_BYTES = sizeof(struct sockaddr_in6),
};

size_t
plx_session_sockaddr_bytes(const struct plx_ip *ip)
{
	return ip->version == 6 ? LONG_BYTES : SHORT_BYTES;
}

enum plx_status
plx_session_sockaddr_read(const struct sockaddr *address, size_t length, struct plx_ip *ip,
			  uint16_t *port)
{
	sa_family_t family;

	if (!address || length < offsetof(struct sockaddr, sa_family) + sizeof(family))
		return PLX_INVALID;
	memcpy(&family, (const char *)address + offsetof(struct sockaddr, sa_family),
	       sizeof(family));
	memset(ip, 0, sizeof(*ip));
	if (family == AF_INET && length >= SHORT_BYTES) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		ip->version = 4;
		memcpy(ip->v, &in.sin_addr, 4);
		*port = ntohs(in.sin_port);
		return PLX_OK;
	}
	if (family == AF_INET6 && length >= LONG_BYTES) {
		struct sockaddr_in6 in;

		memcpy(&in, address, sizeof(in));
		ip->version = 6;
		memcpy(ip->v, &in.sin6_addr, 16);
		*port = ntohs(in.sin6_port);
		return PLX_OK;
	}
	return PLX_INVALID;
}

void
plx_session_sockaddr_write(const struct plx_ip *ip, uint16_t port, void *out)
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

/* ---- kinds of address ---- */

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
plx_session_ip_is_any(const struct plx_ip *ip)
{
	return is_zero(ip->v, ip->version == 6 ? 16 : 4);
}

bool
plx_session_ip_is_loopback(const struct plx_ip *ip)
{
	if (ip->version == 6)
		return is_zero(ip->v, 15) && ip->v[15] == 1;
	return ip->v[0] == 127;
}

bool
plx_session_ip_equal(const struct plx_ip *a, const struct plx_ip *b)
{
	return a->version == b->version && memcmp(a->v, b->v, a->version == 6 ? 16 : 4) == 0;
}
