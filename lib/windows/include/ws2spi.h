/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider catalog as in Winsock's provider interface: enumerate, find the library, install,
 * deinstall. It consists of drop-in files (docs/nd2-providers.md), which each call reads anew. On
 * failure a call returns SOCKET_ERROR, with the error in *lpErrno.
 *
 * Threads: every call from any thread. Tests: tests/unit/windows/catalog/entries.c, install.c
 */
#ifndef PLX_WIN_WS2SPI_H
#define PLX_WIN_WS2SPI_H

#include "winsock2.h"

#define WSPAPI WSAAPI

#ifndef WSANO_RECOVERY
#define WSANO_RECOVERY 11003
#endif

#ifndef BASE_PROTOCOL
#define LAYERED_PROTOCOL       0
#define BASE_PROTOCOL          1
#define BIGENDIAN              0x0000
#define LITTLEENDIAN           0x0001
#define SECURITY_PROTOCOL_NONE 0x0000
#endif

PLX_WIN_BEGIN

/**
 * Enumerate the entries of the catalog, including hidden ones.
 *
 * @param lpiProtocols     iProtocol values to include, terminated by 0; NULL: all
 * @param lpdwBufferLength [bytes] in: the room. out: what was used, or is needed
 * Returns: the number of entries written
 * Errors: WSAENOBUFS (too little room, nothing was written), WSAEFAULT
 */
int WSPAPI WSCEnumProtocols(LPINT lpiProtocols, LPWSAPROTOCOL_INFOW lpProtocolBuffer,
			    LPDWORD lpdwBufferLength, LPINT lpErrno) PLX_WIN_NAME(WSCEnumProtocols);

/**
 * Get the library of a provider, as its file names it. Pass it to ExpandEnvironmentStrings() before
 * loading it.
 *
 * @param lpProviderDllPathLen [characters] in: the room. out: the length including the 0
 * Errors: WSAEINVAL (no such provider), WSAEFAULT (too little room, nothing was written)
 */
int WSPAPI WSCGetProviderPath(LPGUID lpProviderId, WCHAR *lpszProviderDllPath,
			      LPINT lpProviderDllPathLen, LPINT lpErrno)
	PLX_WIN_NAME(WSCGetProviderPath);

/**
 * Write a drop-in file for a provider, atomically. The catalog assigns ProviderId and
 * dwCatalogEntryId of the entries.
 *
 * @param lpszProviderDllPath absolute, or a bare name, or beginning with %NAME%
 * @param dwNumberOfEntries   1 .. 8
 * Errors: WSAEFAULT, WSAEINVAL (a value; the id is in use), WSAENOBUFS, WSANO_RECOVERY (the folder
 * cannot be written to)
 */
int WSPAPI WSCInstallProvider(LPGUID lpProviderId, const WCHAR *lpszProviderDllPath,
			      const LPWSAPROTOCOL_INFOW lpProtocolInfoList, DWORD dwNumberOfEntries,
			      LPINT lpErrno) PLX_WIN_NAME(WSCInstallProvider);

/** Remove the provider's drop-in file. Errors: WSAEFAULT, WSAEINVAL (no such provider),
 * WSANO_RECOVERY (it cannot be removed, or the environment names the provider) */
int WSPAPI WSCDeinstallProvider(LPGUID lpProviderId, LPINT lpErrno)
	PLX_WIN_NAME(WSCDeinstallProvider);

PLX_WIN_END

#endif
