/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From Winsock Kernel to NDK: a client that has captured the provider gets this table by
 * WskControlClient(Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL, sizeof(table), &table,
 * NULL, NULL), and opens adapters by the index of their interface.
 * Tests: tests/unit/face/wsk
 */
#ifndef PLX_NDKPI_WSKNDK_H
#define PLX_NDKPI_WSKNDK_H

#include <wsk.h>
#include <ifdef.h>

#include "ndkpi.h"

/**
 * Open an adapter. IRQL: PASSIVE_LEVEL.
 * @param NdkVersion   that the consumer wants; 1.0 to 1.2 gets 1.2, 2.0 and 2.1 get 2.1
 * @param IfIndex      interface_index of an adapter of pollux.conf, as netioapi.h reports it
 * @param ppNdkAdapter [out] to be closed by WskCloseNdkAdapter; unchanged if it fails
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND (no such interface),
 * STATUS_NOT_SUPPORTED (an interface of the kernel, which has no RDMA), NDIS_STATUS_BAD_VERSION,
 * NDIS_STATUS_ADAPTER_NOT_READY (POLLUX_NDK_LOG says why), NDIS_STATUS_RESOURCES
 */
typedef NTSTATUS(WSKAPI *PFN_WSK_NDK_OPEN_ADAPTER)(PWSK_CLIENT Client, NDK_VERSION NdkVersion,
						   NET_IFINDEX IfIndex, NDK_ADAPTER **ppNdkAdapter);

/** Close it after all its objects, as plx_ndk_close(): it waits until no callback can come.
 * IRQL: PASSIVE_LEVEL. */
typedef VOID(WSKAPI *PFN_WSK_NDK_CLOSE_ADAPTER)(PWSK_CLIENT Client, NDK_ADAPTER *pNdkAdapter);

typedef struct _WSK_PROVIDER_NDK_DISPATCH {
	PFN_WSK_NDK_OPEN_ADAPTER WskOpenNdkAdapter;
	PFN_WSK_NDK_CLOSE_ADAPTER WskCloseNdkAdapter;
} WSK_PROVIDER_NDK_DISPATCH, *PWSK_PROVIDER_NDK_DISPATCH;

/* "NDKD" as a number */
#define WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH ((ULONG)0x4e444b44)

#endif
