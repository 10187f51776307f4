/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver that unloads without deregistering and cancelling.
 */
#include <ntddk.h>
#include <netioapi.h>
#include <wsk.h>

static const WSK_CLIENT_DISPATCH ClientDispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
static WSK_REGISTRATION Registration;
static HANDLE Notification;

static VOID NETIOAPI_API_
OnChange(PVOID Context, PMIB_UNICASTIPADDRESS_ROW Row, MIB_NOTIFICATION_TYPE Type)
{
	UNREFERENCED_PARAMETER(Context);
	UNREFERENCED_PARAMETER(Row);
	UNREFERENCED_PARAMETER(Type);
}

DRIVER_UNLOAD LeaverUnload;
DRIVER_INITIALIZE DriverEntry;

VOID
LeaverUnload(PDRIVER_OBJECT DriverObject)
{
	UNREFERENCED_PARAMETER(DriverObject);
}

NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	WSK_CLIENT_NPI Npi = {NULL, &ClientDispatch};
	NTSTATUS Status = WskRegister(&Npi, &Registration);

	UNREFERENCED_PARAMETER(RegistryPath);
	DriverObject->DriverUnload = LeaverUnload;
	if (!NT_SUCCESS(Status))
		return Status;
	return NotifyUnicastIpAddressChange(AF_UNSPEC, OnChange, NULL, TRUE, &Notification);
}
