/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which interface leads to an address, and what the interfaces are: those of the providers'
 * adapters, which the kernel may not know. lib/ndsupport has the code.
 */
#ifndef PLX_WIN_IPHLPAPI_H
#define PLX_WIN_IPHLPAPI_H

#include "iptypes.h"

typedef ULONG IPAddr; /* IPv4, in network byte order */

PLX_WIN_BEGIN

/** Returns: NO_ERROR, or a number of winerror.h: ERROR_NETWORK_UNREACHABLE when no route leads
 * there */
DWORD WINAPI GetBestInterface(IPAddr destination, PDWORD index) PLX_WIN_NAME(GetBestInterface);
DWORD WINAPI GetBestInterfaceEx(struct sockaddr *destination, PDWORD index)
	PLX_WIN_NAME(GetBestInterfaceEx);

/**
 * @param family  AF_INET, AF_INET6, AF_UNSPEC for both
 * @param flags   GAA_FLAG_...
 * @param nothing reserved: NULL
 * @param bytes   in: the room of list. out, with ERROR_BUFFER_OVERFLOW: what it takes
 */
ULONG WINAPI GetAdaptersAddresses(ULONG family, ULONG flags, PVOID nothing,
				  PIP_ADAPTER_ADDRESSES list, PULONG bytes)
	PLX_WIN_NAME(GetAdaptersAddresses);

PLX_WIN_END

#endif
