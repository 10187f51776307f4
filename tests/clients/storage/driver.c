/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A storage protocol as a driver over NDKPI, in both roles: its parameters, its control device, its
 * beginning and its end. As a source of C for Windows, with nothing but its headers. Start with
 * DriverEntry().
 */
#include "storage.h"
#include <ip2string.h>

#define ROLE_TARGET    1
#define ROLE_INITIATOR 2

#define SETTLE_MS 60000 /* for all to connect, for every command to complete */
#define STEP_MS   20

DRIVER_INITIALIZE DriverEntry;

typedef struct _PARAMETERS {
	ULONG Role; /* bits */
	ULONG Sessions;
	ULONG FaultMs; /* of each thread, from fault to fault; 0: none */
	ULONG Runs;    /* commands are begun at once */
	UNICODE_STRING TargetAddress, InitiatorAddress;
} PARAMETERS, *PPARAMETERS;

STORAGE_STATISTICS Statistics;

static UNICODE_STRING DeviceName = RTL_CONSTANT_STRING(L"\\Device\\Storage");
static UNICODE_STRING LinkName = RTL_CONSTANT_STRING(L"\\DosDevices\\Storage");
static PDEVICE_OBJECT Device;
static ULONG Role; /* that has been started */
static ULONG Sessions;

/* ---- requests ---- */

static VOID
Sleep(ULONG Ms)
{
	LARGE_INTEGER Pause;

	Pause.QuadPart = -(LONGLONG)Ms * 10000;
	KeDelayExecutionThread(KernelMode, FALSE, &Pause);
}

/* The statistics while others count. */
static VOID
Take(STORAGE_STATISTICS *Taken)
{
	volatile LONG64 *From = (volatile LONG64 *)&Statistics, *To = (volatile LONG64 *)Taken;
	ULONG i;

	for (i = 0; i < sizeof(Statistics) / sizeof(*From); i++)
		To[i] = ReadNoFence64(&From[i]);
}

static BOOLEAN
IsClean(const STORAGE_STATISTICS *Taken)
{
	return Taken->Wrong == 0 && Taken->Dead == 0 && Taken->Stray == 0 && Taken->Overruns == 0 &&
	       Taken->Lost == 0;
}

/* Wait until a count has come to what it has to be. */
static NTSTATUS
WaitFor(ULONG (*Count)(VOID), ULONG Wanted)
{
	ULONG Waited;

	for (Waited = 0; Count() != Wanted; Waited += STEP_MS) {
		if (Waited >= SETTLE_MS)
			return STATUS_IO_TIMEOUT;
		Sleep(STEP_MS);
	}
	return STATUS_SUCCESS;
}

static NTSTATUS
Run(ULONG Ms)
{
	STORAGE_STATISTICS Taken;
	NTSTATUS Status;

	if (!(Role & ROLE_INITIATOR))
		return STATUS_INVALID_DEVICE_STATE;
	Status = WaitFor(InitiatorReady, Sessions);
	if (!NT_SUCCESS(Status))
		return Status;
	InitiatorRun(TRUE);
	Sleep(Ms);
	InitiatorRun(FALSE);
	Status = WaitFor(InitiatorBusy, 0);
	if (!NT_SUCCESS(Status))
		return Status;
	Take(&Taken);
	if (!IsClean(&Taken) || Taken.Started != Taken.Completed)
		return STATUS_DATA_ERROR;
	return STATUS_SUCCESS;
}

static NTSTATUS
Complete(PIRP Irp, NTSTATUS Status, ULONG_PTR Information)
{
	Irp->IoStatus.Status = Status;
	Irp->IoStatus.Information = Information;
	IoCompleteRequest(Irp, IO_NO_INCREMENT);
	return Status;
}

static NTSTATUS
DispatchControl(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
	PIO_STACK_LOCATION Location = IoGetCurrentIrpStackLocation(Irp);
	ULONG In = Location->Parameters.DeviceIoControl.InputBufferLength;
	NTSTATUS Status = STATUS_SUCCESS;

	UNREFERENCED_PARAMETER(DeviceObject);
	if (Location->Parameters.DeviceIoControl.OutputBufferLength < sizeof(Statistics))
		return Complete(Irp, STATUS_BUFFER_TOO_SMALL, 0);
	switch (Location->Parameters.DeviceIoControl.IoControlCode) {
	case IOCTL_STORAGE_RUN:
		if (In != sizeof(ULONG))
			return Complete(Irp, STATUS_INVALID_PARAMETER, 0);
		Status = Run(*(PULONG)Irp->AssociatedIrp.SystemBuffer);
		break;
	case IOCTL_STORAGE_STATISTICS:
		break;
	default:
		return Complete(Irp, STATUS_INVALID_DEVICE_REQUEST, 0);
	}
	Take(Irp->AssociatedIrp.SystemBuffer);
	return Complete(Irp, Status, NT_SUCCESS(Status) ? sizeof(Statistics) : 0);
}

static NTSTATUS
DispatchOpen(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
	UNREFERENCED_PARAMETER(DeviceObject);
	return Complete(Irp, STATUS_SUCCESS, 0);
}

/* ---- parameters ---- */

#define NUMBER(Text, Member, Usual)                                                             \
	{                                                                                       \
		NULL, RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK, (PWSTR)(Text),  \
			&(Member), REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT | REG_DWORD, \
			&(Usual), sizeof(ULONG)                                                 \
	}
#define STRING(Text, Member)                                                                      \
	{                                                                                         \
		NULL, RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK, (PWSTR)(Text),    \
			&(Member), REG_SZ << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT | REG_NONE, NULL, \
			0                                                                         \
	}

static NTSTATUS
ReadParameters(PUNICODE_STRING Path, PPARAMETERS Read)
{
	ULONG Both = ROLE_TARGET | ROLE_INITIATOR, Many = 64, Often = 40, No = 0;
	RTL_QUERY_REGISTRY_TABLE Table[] = {
		{NULL, RTL_QUERY_REGISTRY_SUBKEY | RTL_QUERY_REGISTRY_REQUIRED,
		 (PWSTR)L"Parameters", NULL, REG_NONE, NULL, 0},
		NUMBER(L"Role", Read->Role, Both),
		NUMBER(L"Sessions", Read->Sessions, Many),
		NUMBER(L"FaultMs", Read->FaultMs, Often),
		NUMBER(L"Runs", Read->Runs, No),
		STRING(L"TargetAddress", Read->TargetAddress),
		STRING(L"InitiatorAddress", Read->InitiatorAddress),
		{NULL, 0, NULL, NULL, 0, NULL, 0},
	};
	OBJECT_ATTRIBUTES Attributes;
	NTSTATUS Status;
	HANDLE Key;

	InitializeObjectAttributes(&Attributes, Path, OBJ_KERNEL_HANDLE | OBJ_CASE_INSENSITIVE,
				   NULL, NULL);
	Status = ZwOpenKey(&Key, KEY_READ, &Attributes);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = RtlQueryRegistryValues(RTL_REGISTRY_HANDLE, (PCWSTR)Key, Table, NULL, NULL);
	ZwClose(Key);
	if (NT_SUCCESS(Status) && (Read->Sessions == 0 || Read->Sessions > STORAGE_SESSIONS_MAX))
		Status = STATUS_INVALID_PARAMETER;
	return Status;
}

static NTSTATUS
ParseAddress(PCUNICODE_STRING Text, SOCKADDR_INET *Address)
{
	WCHAR Copy[64];
	PCWSTR End;

	if (Text->Length >= sizeof(Copy))
		return STATUS_INVALID_PARAMETER;
	RtlCopyMemory(Copy, Text->Buffer, Text->Length);
	Copy[Text->Length / sizeof(WCHAR)] = 0;
	RtlZeroMemory(Address, sizeof(*Address));
	Address->si_family = AF_INET;
	return RtlIpv4StringToAddressW(Copy, TRUE, &End, &Address->Ipv4.sin_addr);
}

/* ---- beginning and end ---- */

static NTSTATUS
StartRoles(PPARAMETERS Read)
{
	SOCKADDR_INET Target, From;
	NTSTATUS Status;

	Sessions = Read->Sessions;
	Status = ParseAddress(&Read->TargetAddress, &Target);
	if (NT_SUCCESS(Status) && (Read->Role & ROLE_TARGET)) {
		Status = TargetStart(Device, &Target, Read->Sessions);
		Role |= NT_SUCCESS(Status) ? ROLE_TARGET : 0;
	}
	if (!NT_SUCCESS(Status) || !(Read->Role & ROLE_INITIATOR))
		return Status;
	Status = ParseAddress(&Read->InitiatorAddress, &From);
	if (NT_SUCCESS(Status))
		Status = InitiatorStart(&From, &Target, Read->Sessions, Read->FaultMs);
	Role |= NT_SUCCESS(Status) ? ROLE_INITIATOR : 0;
	return Status;
}

static VOID
Stop(VOID)
{
	if (Role & ROLE_INITIATOR)
		InitiatorStop();
	if (Role & ROLE_TARGET)
		TargetStop();
	Role = 0;
	ProviderClose();
}

static VOID
DriverUnload(PDRIVER_OBJECT DriverObject)
{
	STORAGE_STATISTICS Taken;

	UNREFERENCED_PARAMETER(DriverObject);
	Stop();
	IoDeleteSymbolicLink(&LinkName);
	IoDeleteDevice(Device);
	Take(&Taken);
	if (!IsClean(&Taken))
		DbgPrint("storage: wrong %lld, dead %lld, stray %lld, overruns %lld, lost %lld\n",
			 Taken.Wrong, Taken.Dead, Taken.Stray, Taken.Overruns, Taken.Lost);
}

static NTSTATUS
CreateDevice(PDRIVER_OBJECT DriverObject)
{
	NTSTATUS Status;

	Status = IoCreateDevice(DriverObject, 0, &DeviceName, FILE_DEVICE_UNKNOWN, 0, FALSE,
				&Device);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = IoCreateSymbolicLink(&LinkName, &DeviceName);
	if (!NT_SUCCESS(Status))
		IoDeleteDevice(Device);
	return Status;
}

static NTSTATUS
Start(PDRIVER_OBJECT DriverObject, PPARAMETERS Read)
{
	NTSTATUS Status;

	Status = CreateDevice(DriverObject);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = ProviderOpen();
	if (NT_SUCCESS(Status)) {
		Status = StartRoles(Read);
		if (NT_SUCCESS(Status)) {
			if ((Role & ROLE_INITIATOR) && Read->Runs)
				InitiatorRun(TRUE);
			return Status;
		}
		Stop();
	}
	IoDeleteSymbolicLink(&LinkName);
	IoDeleteDevice(Device);
	return Status;
}

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	PARAMETERS Read;
	NTSTATUS Status;

	RtlZeroMemory(&Read, sizeof(Read));
	DriverObject->DriverUnload = DriverUnload;
	DriverObject->MajorFunction[IRP_MJ_CREATE] = DispatchOpen;
	DriverObject->MajorFunction[IRP_MJ_CLOSE] = DispatchOpen;
	DriverObject->MajorFunction[IRP_MJ_CLEANUP] = DispatchOpen;
	DriverObject->MajorFunction[IRP_MJ_DEVICE_CONTROL] = DispatchControl;
	Status = ReadParameters(RegistryPath, &Read);
	if (NT_SUCCESS(Status))
		Status = Start(DriverObject, &Read);
	if (Read.TargetAddress.Buffer != NULL)
		RtlFreeUnicodeString(&Read.TargetAddress);
	if (Read.InitiatorAddress.Buffer != NULL)
		RtlFreeUnicodeString(&Read.InitiatorAddress);
	return Status;
}
