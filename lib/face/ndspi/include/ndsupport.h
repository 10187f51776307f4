/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers that find the provider and the adapter of an address, among all providers of the catalog.
 * Call them between NdStartup and the last NdCleanup; otherwise every other call returns
 * ND_DEVICE_NOT_READY.
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

/** Start using the helpers. Calls are counted: each needs its NdCleanup. Returns: ND_SUCCESS, or
 * why the catalog cannot be read */
PLX_ND_API HRESULT NdStartup(VOID);

/** Stop using the helpers; the last call releases the providers. Errors: ND_DEVICE_NOT_READY
 * (without an NdStartup) */
PLX_ND_API HRESULT NdCleanup(VOID);

/** Unload providers that nobody uses. */
PLX_ND_API VOID NdFlushProviders(VOID);

/**
 * List the local addresses of all providers.
 *
 * @param flags  ND_QUERY_EXCLUDE_...
 * @param list   room for the array and the addresses after it; NULL to query the size
 * @param bytes  [in/out] in: the room. out: what was used, or is needed; 0 if there are no
 *               addresses
 * Errors: ND_BUFFER_OVERFLOW (too little room; `list` is unchanged)
 */
PLX_ND_API HRESULT NdQueryAddressList(DWORD flags, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes);

/**
 * Find the local address from which a remote address is reached, with port 0.
 *
 * Errors: ND_INVALID_ADDRESS (no provider has that address), ND_NETWORK_UNREACHABLE (no route),
 * ND_BUFFER_OVERFLOW (the size needed is in *localBytes)
 */
PLX_ND_API HRESULT NdResolveAddress(const struct sockaddr *remote, SIZE_T remoteBytes,
				    struct sockaddr *local, SIZE_T *localBytes);

/**
 * Does a provider own this local address? The port is ignored.
 *
 * Errors: ND_INVALID_ADDRESS (no provider does), ND_INVALID_PARAMETER_2 (`bytes` too small for it)
 */
PLX_ND_API HRESULT NdCheckAddress(const struct sockaddr *address, SIZE_T bytes);

/**
 * Open the adapter with this local address, at the first provider that owns it and succeeds.
 *
 * @param iid     IID_IND2Adapter
 * @param adapter [out] to be released by the caller
 */
PLX_ND_API HRESULT NdOpenAdapter(REFIID iid, const struct sockaddr *address, SIZE_T bytes,
				 PLX_COM_OUT adapter);

PLX_WIN_END

#endif
