/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog of providers: enumerate it, find a provider's library, add and remove one.
 * The catalog is the files of docs/nd2-catalog.md; entries are those of ND2 providers only.
 */
#ifndef PLX_WIN_WS2SPI_H
#define PLX_WIN_WS2SPI_H

#include "winsock2.h"

PLX_WIN_BEGIN

/**
 * @param protocols  must be NULL: all of them
 * @param bytes      in: the room of entries. out: what all of them take
 * @param error      out: WSAENOBUFS when the room was too small
 * Returns: how many entries were written; SOCKET_ERROR
 */
int WSAAPI WSCEnumProtocols(LPINT protocols, LPWSAPROTOCOL_INFOW entries, LPDWORD bytes,
			    LPINT error) PLX_WIN_NAME(WSCEnumProtocols);

/**
 * The library of a provider.
 *
 * @param chars  in: the room of path. out: what it takes, with the zero at its end
 * Returns: 0; SOCKET_ERROR and *error
 */
int WSAAPI WSCGetProviderPath(LPGUID provider, WCHAR *path, LPINT chars, LPINT error)
	PLX_WIN_NAME(WSCGetProviderPath);

int WSAAPI WSCInstallProvider(LPGUID provider, const WCHAR *path, const LPWSAPROTOCOL_INFOW entries,
			      DWORD n, LPINT error) PLX_WIN_NAME(WSCInstallProvider);
int WSAAPI WSCDeinstallProvider(LPGUID provider, LPINT error) PLX_WIN_NAME(WSCDeinstallProvider);

PLX_WIN_END

#endif
