/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of WSK: what it has captured, called and opened. Start with client_enter().
 */
#ifndef PLX_WSK_CLIENT_H
#define PLX_WSK_CLIENT_H

#include <stdbool.h>
#include <wskndk.h>

/** Begin a call of the provider's table, which WskDeregister() waits for. A client that has
 * captured nothing ends the process with a sentence, if the checks are on.
 * @param call the name of the function
 * @param max  IRQL */
void client_enter(PWSK_CLIENT client, const char *call, KIRQL max);
/** End it.
 * @param adapters by how many NDK adapters more the client has open */
void client_leave(PWSK_CLIENT client, int adapters);

/* ---- ndk_adapter.c ---- */

NTSTATUS WSKAPI wsk_open_ndk_adapter(PWSK_CLIENT client, NDK_VERSION version, NET_IFINDEX index,
				     NDK_ADAPTER **adapter);
VOID WSKAPI wsk_close_ndk_adapter(PWSK_CLIENT client, NDK_ADAPTER *adapter);

/* ---- dispatch.c ---- */

enum {
	WSK_VERSION = 0x100, /* 1.0 */
};

extern const WSK_PROVIDER_DISPATCH wsk_provider;

/** Complete a request, as a driver below the client would.
 * @param irp NULL: nothing is to do
 * Returns: status; STATUS_INVALID_PARAMETER if the request has no location left, and is not
 * touched */
NTSTATUS wsk_complete(PIRP irp, NTSTATUS status, ULONG_PTR information);

/* ---- address_info.c ---- */

NTSTATUS WSKAPI wsk_get_address_info(PWSK_CLIENT client, PUNICODE_STRING node,
				     PUNICODE_STRING service, ULONG name_space, GUID *provider,
				     PADDRINFOEXW hints, PADDRINFOEXW *result, PEPROCESS process,
				     PETHREAD thread, PIRP irp);
VOID WSKAPI wsk_free_address_info(PWSK_CLIENT client, PADDRINFOEXW info);

#endif
