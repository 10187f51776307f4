/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK adapters by the index of their interface. Start with wsk_open_ndk_adapter().
 */
#include "netio.h"
#include "wsk_client.h"

#include <plx_ndk.h>

#include <stdlib.h>

static NTSTATUS
open_adapter(NDK_VERSION version, NET_IFINDEX index, NDK_ADAPTER **adapter)
{
	struct plx_interfaces all;
	const struct plx_interface *found;
	NTSTATUS status;

	if (adapter == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return NDIS_STATUS_RESOURCES;
	found = netio_find(&all, NULL, index);
	if (found == NULL)
		status = STATUS_NOT_FOUND;
	else if (!found->is_adapter)
		status = STATUS_NOT_SUPPORTED;
	else
		status = plx_ndk_open(found->name, version, adapter);
	free(all.one);
	return status;
}

NTSTATUS WSKAPI
wsk_open_ndk_adapter(PWSK_CLIENT client, NDK_VERSION version, NET_IFINDEX index,
		     NDK_ADAPTER **adapter)
{
	NTSTATUS status;

	client_enter(client, "WskOpenNdkAdapter", PASSIVE_LEVEL);
	status = open_adapter(version, index, adapter);
	client_leave(client, status == STATUS_SUCCESS ? 1 : 0);
	return status;
}

VOID WSKAPI
wsk_close_ndk_adapter(PWSK_CLIENT client, NDK_ADAPTER *adapter)
{
	client_enter(client, "WskCloseNdkAdapter", PASSIVE_LEVEL);
	plx_ndk_close(adapter);
	client_leave(client, -1);
}
