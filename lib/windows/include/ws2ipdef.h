/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What addresses are, for programs and drivers: unspecified, loopback, mapped, equal. Functions of
 * the header alone.
 */
#ifndef PLX_WIN_WS2IPDEF_H
#define PLX_WIN_WS2IPDEF_H

#include "ws2def.h"

/* ---- addresses of IPv6 ---- */

#define SCOPE_LEVEL_LINK 2

static inline VOID
IN6_SET_ADDR_UNSPECIFIED(PIN6_ADDR a)
{
	memset(a, 0, sizeof(*a));
}

static inline VOID
IN6_SET_ADDR_LOOPBACK(PIN6_ADDR a)
{
	memset(a, 0, sizeof(*a));
	a->s6_addr[15] = 1;
}

static inline VOID
IN6ADDR_SETANY(PSOCKADDR_IN6 a)
{
	memset(a, 0, sizeof(*a));
	a->sin6_family = AF_INET6;
}

static inline VOID
IN6ADDR_SETLOOPBACK(PSOCKADDR_IN6 a)
{
	IN6ADDR_SETANY(a);
	a->sin6_addr.s6_addr[15] = 1;
}

/* ::ffff:192.0.2.1: @param port in network byte order */
static inline VOID
IN6ADDR_SETV4MAPPED(PSOCKADDR_IN6 a, const IN_ADDR *four, uint32_t scope, USHORT port)
{
	IN6ADDR_SETANY(a);
	a->sin6_port = port;
	a->sin6_scope_id = scope;
	a->sin6_addr.s6_addr[10] = 0xff;
	a->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&a->sin6_addr.s6_addr[12], four, sizeof(*four));
}

static inline BOOLEAN
IN6ADDR_ISANY(const SOCKADDR_IN6 *a)
{
	return IN6_IS_ADDR_UNSPECIFIED(&a->sin6_addr);
}

static inline BOOLEAN
IN6ADDR_ISLOOPBACK(const SOCKADDR_IN6 *a)
{
	return IN6_IS_ADDR_LOOPBACK(&a->sin6_addr);
}

static inline BOOLEAN
IN6ADDR_ISV4MAPPED(const SOCKADDR_IN6 *a)
{
	return IN6_IS_ADDR_V4MAPPED(&a->sin6_addr);
}

static inline BOOLEAN
IN6ADDR_ISEQUAL(const SOCKADDR_IN6 *a, const SOCKADDR_IN6 *b)
{
	return a->sin6_scope_id == b->sin6_scope_id &&
	       memcmp(&a->sin6_addr, &b->sin6_addr, sizeof(a->sin6_addr)) == 0;
}

static inline BOOLEAN
IN6_ADDR_EQUAL(const IN6_ADDR *a, const IN6_ADDR *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static inline BOOLEAN
IN4_ADDR_EQUAL(const IN_ADDR *a, const IN_ADDR *b)
{
	return a->s_addr == b->s_addr;
}

/** The IPv4 part inside a mapped address. */
static inline const UCHAR *
IN6_GET_ADDR_V4MAPPED(const IN6_ADDR *a)
{
	return &a->s6_addr[12];
}

/* ---- addresses of IPv4 ---- */

static inline VOID
IN4ADDR_SETANY(PSOCKADDR_IN a)
{
	memset(a, 0, sizeof(*a));
	a->sin_family = AF_INET;
}

static inline VOID
IN4ADDR_SETLOOPBACK(PSOCKADDR_IN a)
{
	IN4ADDR_SETANY(a);
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static inline BOOLEAN
IN4_IS_ADDR_UNSPECIFIED(const IN_ADDR *a)
{
	return a->s_addr == htonl(INADDR_ANY);
}

static inline BOOLEAN
IN4_IS_ADDR_LOOPBACK(const IN_ADDR *a)
{
	return ntohl(a->s_addr) >> 24 == 127;
}

static inline BOOLEAN
IN4_IS_ADDR_MULTICAST(const IN_ADDR *a)
{
	return IN_MULTICAST(ntohl(a->s_addr));
}

static inline BOOLEAN
IN4ADDR_ISANY(const SOCKADDR_IN *a)
{
	return IN4_IS_ADDR_UNSPECIFIED(&a->sin_addr);
}

static inline BOOLEAN
IN4ADDR_ISLOOPBACK(const SOCKADDR_IN *a)
{
	return IN4_IS_ADDR_LOOPBACK(&a->sin_addr);
}

#endif
