/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only TCP/IP control supported, keep-alive; and addresses of either family, by their family:
 * INET_ functions take an address (IN_ADDR, IN6_ADDR), INETADDR_ functions a socket address. A
 * family is AF_INET or AF_INET6. Functions of the header alone.
 */
#ifndef PLX_WIN_MSTCPIP_H
#define PLX_WIN_MSTCPIP_H
#include "ws2ipdef.h"

#define SIO_KEEPALIVE_VALS 0x98000004

struct tcp_keepalive {
	ULONG onoff;
	ULONG keepalivetime;     /* [ms] until the first probe; in whole seconds, at least 1 */
	ULONG keepaliveinterval; /* [ms] between two */
};

/* ---- addresses ---- */

static inline SIZE_T
INET_ADDR_LENGTH(ADDRESS_FAMILY af)
{
	return af == AF_INET6 ? sizeof(IN6_ADDR) : sizeof(IN_ADDR);
}

static inline SIZE_T
INET_SOCKADDR_LENGTH(ADDRESS_FAMILY af)
{
	return af == AF_INET6 ? sizeof(SOCKADDR_IN6) : sizeof(SOCKADDR_IN);
}

static inline BOOLEAN
INET_ADDR_EQUAL(ADDRESS_FAMILY af, const VOID *a, const VOID *b)
{
	return memcmp(a, b, INET_ADDR_LENGTH(af)) == 0;
}

static inline BOOLEAN
INET_UNALIGNED_ADDR_EQUAL(ADDRESS_FAMILY af, const VOID *a, const VOID *b)
{
	return INET_ADDR_EQUAL(af, a, b);
}

static inline BOOLEAN
INET_IS_ADDR_UNSPECIFIED(ADDRESS_FAMILY af, const VOID *address)
{
	return INET_ADDR_EQUAL(af, address, &in6addr_any);
}

static inline BOOLEAN
INET_IS_ADDR_LOOPBACK(ADDRESS_FAMILY af, const VOID *address)
{
	if (af == AF_INET6)
		return INET_ADDR_EQUAL(af, address, &in6addr_loopback);
	return *(const UCHAR *)address == 127;
}

static inline BOOLEAN
INET_IS_ADDR_MULTICAST(ADDRESS_FAMILY af, const VOID *address)
{
	UCHAR first = *(const UCHAR *)address;

	return af == AF_INET6 ? first == 0xff : first >> 4 == 0xe;
}

/** 169.254.0.0/16, fe80::/10 */
static inline BOOLEAN
INET_IS_ADDR_LINKLOCAL(ADDRESS_FAMILY af, const VOID *address)
{
	const UCHAR *bytes = (const UCHAR *)address;

	return af == AF_INET6 ? bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80
			      : bytes[0] == 169 && bytes[1] == 254;
}

static inline const UCHAR *
INET_ADDR_UNSPECIFIED(ADDRESS_FAMILY af)
{
	(void)af;
	return (const UCHAR *)&in6addr_any;
}

static inline VOID
INET_SET_ADDRESS(ADDRESS_FAMILY af, PUCHAR address, const UCHAR *value)
{
	memcpy(address, value, INET_ADDR_LENGTH(af));
}

/* ---- socket addresses ---- */

/** Returns: the IN_ADDR or IN6_ADDR in it */
static inline PUCHAR
INETADDR_ADDRESS(const SOCKADDR *a)
{
	SIZE_T offset = a->sa_family == AF_INET6 ? __builtin_offsetof(SOCKADDR_IN6, sin6_addr)
						 : __builtin_offsetof(SOCKADDR_IN, sin_addr);

	return (PUCHAR)(ULONG_PTR)a + offset;
}

/** Returns: [network byte order] */
static inline USHORT
INETADDR_PORT(const SOCKADDR *a)
{
	return ((const SOCKADDR_IN *)(const VOID *)a)->sin_port;
}

/** @param port [network byte order] */
static inline VOID
INETADDR_SET_PORT(PSOCKADDR a, USHORT port)
{
	((PSOCKADDR_IN)(PVOID)a)->sin_port = port;
}

static inline VOID
INETADDR_SET_ADDRESS(PSOCKADDR a, const UCHAR *address)
{
	INET_SET_ADDRESS(a->sa_family, INETADDR_ADDRESS(a), address);
}

/** Returns: 0 in IPv4 */
static inline SCOPE_ID
INETADDR_SCOPE_ID(const SOCKADDR *a)
{
	SCOPE_ID scope;

	scope.Value = 0;
	if (a->sa_family == AF_INET6)
		scope.Value = ((const SOCKADDR_IN6 *)(const VOID *)a)->sin6_scope_id;
	return scope;
}

/** Everything of it. @param scope ignored in IPv4 @param port [network byte order] */
static inline VOID
INETADDR_SETSOCKADDR(ADDRESS_FAMILY af, PSOCKADDR a, const VOID *address, SCOPE_ID scope,
		     USHORT port)
{
	memset(a, 0, INET_SOCKADDR_LENGTH(af));
	a->sa_family = af;
	INETADDR_SET_PORT(a, port);
	INETADDR_SET_ADDRESS(a, (const UCHAR *)address);
	if (af == AF_INET6)
		((PSOCKADDR_IN6)(PVOID)a)->sin6_scope_id = scope.Value;
}

static inline VOID
IN4ADDR_SETSOCKADDR(PSOCKADDR_IN a, const IN_ADDR *address, USHORT port)
{
	SCOPE_ID none;

	none.Value = 0;
	INETADDR_SETSOCKADDR(AF_INET, (PSOCKADDR)a, address, none, port);
}

static inline VOID
IN6ADDR_SETSOCKADDR(PSOCKADDR_IN6 a, const IN6_ADDR *address, SCOPE_ID scope, USHORT port)
{
	INETADDR_SETSOCKADDR(AF_INET6, (PSOCKADDR)a, address, scope, port);
}

/** The family stays. */
static inline VOID
INETADDR_SETANY(PSOCKADDR a)
{
	if (a->sa_family == AF_INET6)
		IN6ADDR_SETANY((PSOCKADDR_IN6)(PVOID)a);
	else
		IN4ADDR_SETANY((PSOCKADDR_IN)(PVOID)a);
}

static inline VOID
INETADDR_SETLOOPBACK(PSOCKADDR a)
{
	if (a->sa_family == AF_INET6)
		IN6ADDR_SETLOOPBACK((PSOCKADDR_IN6)(PVOID)a);
	else
		IN4ADDR_SETLOOPBACK((PSOCKADDR_IN)(PVOID)a);
}

static inline BOOLEAN
INETADDR_ISANY(const SOCKADDR *a)
{
	return INET_IS_ADDR_UNSPECIFIED(a->sa_family, INETADDR_ADDRESS(a));
}

static inline BOOLEAN
INETADDR_ISLOOPBACK(const SOCKADDR *a)
{
	return INET_IS_ADDR_LOOPBACK(a->sa_family, INETADDR_ADDRESS(a));
}

static inline BOOLEAN
INETADDR_ISV4MAPPED(const SOCKADDR *a)
{
	return a->sa_family == AF_INET6 &&
	       IN6ADDR_ISV4MAPPED((const SOCKADDR_IN6 *)(const VOID *)a);
}

/** Are address and scope equal? Ports do not count. */
static inline BOOLEAN
INETADDR_ISEQUAL(const SOCKADDR *a, const SOCKADDR *b)
{
	return a->sa_family == b->sa_family &&
	       INET_ADDR_EQUAL(a->sa_family, INETADDR_ADDRESS(a), INETADDR_ADDRESS(b)) &&
	       INETADDR_SCOPE_ID(a).Value == INETADDR_SCOPE_ID(b).Value;
}

#endif
