/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion of addresses for programs that use inet_pton() and the like, and ws2ipdef.h.
 */
#ifndef PLX_WIN_WS2TCPIP_H
#define PLX_WIN_WS2TCPIP_H

#include "winsock2.h"
#include "ws2ipdef.h"

#define InetPtonA inet_pton
#define InetNtopA inet_ntop

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
