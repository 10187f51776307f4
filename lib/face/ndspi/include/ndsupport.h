/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers that find the provider and the adapter of an address, over all providers of the catalog.
 * Between NdStartup and the last NdCleanup; outside of it every other call is ND_DEVICE_NOT_READY.
 * Sizes are in bytes. Threads: every call from any thread. Tests: tests/unit/face/ndsupport.
 */
#ifndef PLX_NDSPI_NDSUPPORT_H
#define PLX_NDSPI_NDSUPPORT_H

#include "ndspi.h"

#define ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES 0x00000001
#define ND_QUERY_EXCLUDE_NDv1_ADDRESSES     0x00000002
#define ND_QUERY_EXCLUDE_NDv2_ADDRESSES     0x00000004

#define ND_HELPER_API
#define PLX_ND_API __attribute__((__visibility__("default")))

PLX_WIN_BEGIN

/** Counted: each needs its NdCleanup. ND_SUCCESS, or why the catalog cannot be read. */
PLX_ND_API HRESULT NdStartup(VOID);

/** The last one lets go of the providers. ND_DEVICE_NOT_READY without an NdStartup. */
PLX_ND_API HRESULT NdCleanup(VOID);

/** Unload providers that nobody uses. */
PLX_ND_API VOID NdFlushProviders(VOID);

/**
 * The local addresses of all providers, in one list.
 *
 * @param flags  ND_QUERY_EXCLUDE_...
 * @param list   room for the array and the addresses behind it; NULL to ask for the size
 * @param bytes  in: the room. out: what was used, or is needed; 0 when there are no addresses
 * Errors:       ND_BUFFER_OVERFLOW when the room is too small; list is then unchanged
 */
PLX_ND_API HRESULT NdQueryAddressList(DWORD flags, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes);

/**
 * The local address from which remote is reached, with port 0.
 *
 * Errors: ND_INVALID_ADDRESS when no provider has that address, ND_NETWORK_UNREACHABLE when no
 *         route leads there, ND_BUFFER_OVERFLOW and the size in *localBytes
 */
PLX_ND_API HRESULT NdResolveAddress(const struct sockaddr *remote, SIZE_T remoteBytes,
				    struct sockaddr *local, SIZE_T *localBytes);

/**
 * Does a provider own this local address, whatever its port?
 *
 * Errors: ND_INVALID_ADDRESS when none does, ND_INVALID_PARAMETER_2 when bytes is too few for it
 */
PLX_ND_API HRESULT NdCheckAddress(const struct sockaddr *address, SIZE_T bytes);

/**
 * Open the adapter that has this local address, at the first provider that owns it and succeeds.
 *
 * @param iid      IID_IND2Adapter
 * @param adapter  out: the adapter, to be released by the caller
 */
PLX_ND_API HRESULT NdOpenAdapter(REFIID iid, const struct sockaddr *address, SIZE_T bytes,
				 PLX_COM_OUT adapter);

PLX_WIN_END

#endif
