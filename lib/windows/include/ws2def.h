/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Winsock's names for the addresses of this system, for programs and drivers: sockaddr_in and
 * sockaddr_in6 have the same layout on both systems, and AF_INET6 is the number of this one.
 * It declares no functions.
 */
#ifndef PLX_WIN_WS2DEF_H
#define PLX_WIN_WS2DEF_H

#include "windef.h"
#include "guiddef.h"
#include "linuxin.h"

#include <netdb.h>

typedef USHORT ADDRESS_FAMILY;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long; /* as the C library has it */

typedef struct sockaddr SOCKADDR, *PSOCKADDR, *LPSOCKADDR;
typedef struct sockaddr_in SOCKADDR_IN, *PSOCKADDR_IN, *LPSOCKADDR_IN;
typedef struct sockaddr_in6 SOCKADDR_IN6, *PSOCKADDR_IN6, *LPSOCKADDR_IN6;
typedef struct sockaddr_storage SOCKADDR_STORAGE, *PSOCKADDR_STORAGE, *LPSOCKADDR_STORAGE;
typedef struct in_addr IN_ADDR, *PIN_ADDR, *LPIN_ADDR;
typedef struct in6_addr IN6_ADDR, *PIN6_ADDR, *LPIN6_ADDR;
typedef struct addrinfo ADDRINFOA, *PADDRINFOA;

/* What WskGetAddressInfo() finds: a list by ai_next. ai_blob and ai_provider are NULL here. */
typedef struct addrinfoexW {
	int ai_flags;
	int ai_family;
	int ai_socktype;
	int ai_protocol;
	size_t ai_addrlen;
	PWSTR ai_canonname;
	struct sockaddr *ai_addr;
	void *ai_blob;
	size_t ai_bloblen;
	LPGUID ai_provider;
	struct addrinfoexW *ai_next;
} ADDRINFOEXW, *PADDRINFOEXW, *LPADDRINFOEXW;

typedef union _SCOPE_ID {
	__extension__ struct {
		ULONG Zone : 28;
		ULONG Level : 4;
	};
	ULONG Value;
} SCOPE_ID, *PSCOPE_ID;

typedef union _SOCKADDR_INET {
	SOCKADDR_IN Ipv4;
	SOCKADDR_IN6 Ipv6;
	ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;

typedef struct _SOCKET_ADDRESS {
	LPSOCKADDR lpSockaddr;
	INT iSockaddrLength;
} SOCKET_ADDRESS, *PSOCKET_ADDRESS, *LPSOCKET_ADDRESS;

typedef struct _SOCKET_ADDRESS_LIST {
	INT iAddressCount;
	SOCKET_ADDRESS Address[1]; /* iAddressCount of them */
} SOCKET_ADDRESS_LIST, *PSOCKET_ADDRESS_LIST, *LPSOCKET_ADDRESS_LIST;

typedef struct _WSABUF {
	ULONG len;
	CHAR *buf;
} WSABUF, *LPWSABUF;

#endif
