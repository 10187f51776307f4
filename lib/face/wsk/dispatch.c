/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider's table: control codes, and the functions of sockets, which there are none of. Start
 * with wsk_provider.
 */
#include "wsk_client.h"

#include <plx_ke.h>

NTSTATUS
wsk_complete(PIRP irp, NTSTATUS status, ULONG_PTR information)
{
	if (irp == NULL)
		return status;
	if (irp->CurrentLocation < 2) {
		if (plx_ke_checks())
			plx_wdk_stop("WSK was given a request without a location for it");
		return STATUS_INVALID_PARAMETER;
	}
	IoSetNextIrpStackLocation(irp);
	irp->IoStatus.Status = status;
	irp->IoStatus.Information = information;
	IoCompleteRequest(irp, IO_NO_INCREMENT);
	return status;
}

/* A call is over when its request is. */
static NTSTATUS
refuse(PWSK_CLIENT client, PIRP irp, ULONG_PTR information)
{
	NTSTATUS status = wsk_complete(irp, STATUS_NOT_SUPPORTED, information);

	client_leave(client, 0);
	return status;
}

static NTSTATUS WSKAPI
make_socket(PWSK_CLIENT client, ADDRESS_FAMILY family, USHORT type, ULONG protocol, ULONG flags,
	    PVOID context, const VOID *dispatch, PEPROCESS process, PETHREAD thread,
	    PSECURITY_DESCRIPTOR descriptor, PIRP irp)
{
	(void)family, (void)type, (void)protocol, (void)flags, (void)context, (void)dispatch;
	(void)process, (void)thread, (void)descriptor;
	client_enter(client, "WskSocket", DISPATCH_LEVEL);
	return refuse(client, irp, 0);
}

static NTSTATUS WSKAPI
connect_socket(PWSK_CLIENT client, USHORT type, ULONG protocol, PSOCKADDR local, PSOCKADDR remote,
	       ULONG flags, PVOID context, const WSK_CLIENT_CONNECTION_DISPATCH *dispatch,
	       PEPROCESS process, PETHREAD thread, PSECURITY_DESCRIPTOR descriptor, PIRP irp)
{
	(void)type, (void)protocol, (void)local, (void)remote, (void)flags, (void)context;
	(void)dispatch, (void)process, (void)thread, (void)descriptor;
	client_enter(client, "WskSocketConnect", DISPATCH_LEVEL);
	return refuse(client, irp, 0);
}

static NTSTATUS WSKAPI
get_name_info(PWSK_CLIENT client, PSOCKADDR address, ULONG length, PUNICODE_STRING node,
	      PUNICODE_STRING service, ULONG flags, PEPROCESS process, PETHREAD thread, PIRP irp)
{
	(void)address, (void)length, (void)node, (void)service, (void)flags, (void)process;
	(void)thread;
	client_enter(client, "WskGetNameInfo", PASSIVE_LEVEL);
	return refuse(client, irp, (ULONG_PTR)(ULONG)STATUS_NOT_SUPPORTED);
}

/* ---- control codes ---- */

/* @param bytes [out] of the answer */
static NTSTATUS
control(ULONG code, SIZE_T room, PVOID out, SIZE_T *returned, SIZE_T *bytes)
{
	static const WSK_PROVIDER_NDK_DISPATCH ndk = {.WskOpenNdkAdapter = wsk_open_ndk_adapter,
						      .WskCloseNdkAdapter = wsk_close_ndk_adapter};

	*bytes = 0;
	switch (code) {
	case WSK_TRANSPORT_LIST_QUERY:
		if (returned == NULL)
			return STATUS_INVALID_PARAMETER;
		return STATUS_SUCCESS;
	case WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH:
		/* Windows' answer to a smaller buffer, too */
		if (out == NULL || room < sizeof(ndk))
			return STATUS_INVALID_PARAMETER;
		*(WSK_PROVIDER_NDK_DISPATCH *)out = ndk;
		*bytes = sizeof(ndk);
		return STATUS_SUCCESS;
	default:
		return STATUS_NOT_SUPPORTED;
	}
}

static NTSTATUS WSKAPI
control_client(PWSK_CLIENT client, ULONG code, SIZE_T in_bytes, PVOID in, SIZE_T room, PVOID out,
	       SIZE_T *returned, PIRP irp)
{
	NTSTATUS status;
	SIZE_T bytes;

	(void)in_bytes, (void)in;
	client_enter(client, "WskControlClient", DISPATCH_LEVEL);
	status = control(code, room, out, returned, &bytes);
	if (status == STATUS_SUCCESS && returned != NULL)
		*returned = bytes;
	status = wsk_complete(irp, status, bytes);
	client_leave(client, 0);
	return status;
}

const WSK_PROVIDER_DISPATCH wsk_provider = {
	.Version = WSK_VERSION,
	.WskSocket = make_socket,
	.WskSocketConnect = connect_socket,
	.WskControlClient = control_client,
	.WskGetAddressInfo = wsk_get_address_info,
	.WskFreeAddressInfo = wsk_free_address_info,
	.WskGetNameInfo = get_name_info,
};
