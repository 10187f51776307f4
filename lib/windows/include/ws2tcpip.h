/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The IPv6 part of Winsock, and conversion of addresses for programs that use inet_pton() and the
 * like.
 */
#ifndef PLX_WIN_WS2TCPIP_H
#define PLX_WIN_WS2TCPIP_H

#include "winsock2.h"

#define InetPtonA inet_pton
#define InetNtopA inet_ntop

/* ---- addresses of IPv6 ----
 *
 * What mstcpip.h and ws2ipdef.h have of it.
 */

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

PLX_WIN_BEGIN

/** Returns: 1; 0: not an address of this family; -1: unknown family */
INT WSAAPI InetPtonW(INT family, LPCWSTR text, PVOID address) PLX_WIN_NAME(InetPtonW);
LPCWSTR WSAAPI InetNtopW(INT family, const VOID *address, LPWSTR text, size_t chars)
	PLX_WIN_NAME(InetNtopW);

PLX_WIN_END

#ifdef UNICODE
#define InetPton InetPtonW
#define InetNtop InetNtopW
#else
#define InetPton InetPtonA
#define InetNtop InetNtopA
#endif

#endif
