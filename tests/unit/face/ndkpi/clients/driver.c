/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A whole driver as they are written for Windows: a control device, requests, a work item, a DPC
 * and a timer, locks, pool, lists, parameters, and memory that a caller has given, which is
 * registered. It is compiled, in C and in C++, and never run. Start with DriverEntry().
 */
#define POOL_ZERO_DOWN_LEVEL_SUPPORT
#include <ntddk.h>
#include <wdmsec.h>
#include <ntstrsafe.h>
#include <ntintsafe.h>
#include <ndkpi.h>

#define ECHO_TAG      'ohcE'
#define ECHO_DEVICE   L"\\Device\\NdkEcho"
#define ECHO_LINK     L"\\DosDevices\\NdkEcho"
#define IOCTL_ECHO_IT CTL_CODE(FILE_DEVICE_UNKNOWN, 0x800, METHOD_BUFFERED, FILE_ANY_ACCESS)

typedef enum _ECHO_STATE {
	EchoIdle,
	EchoBusy,
} ECHO_STATE;

typedef struct _ECHO_REQUEST {
	LIST_ENTRY Link;
	PIRP Irp;
	PMDL Mdl;
	NTSTATUS Status;
} ECHO_REQUEST, *PECHO_REQUEST;

typedef struct _ECHO_DEVICE_EXTENSION {
	PDEVICE_OBJECT DeviceObject;
	NDK_ADAPTER *Adapter;
	NDK_CQ *Cq;
	_Guarded_by_(Lock) LIST_ENTRY Requests;
	KSPIN_LOCK Lock;
	KEVENT Idle;
	KDPC Dpc;
	KTIMER Timer;
	PIO_WORKITEM WorkItem;
	EX_RUNDOWN_REF Rundown;
	_Interlocked_ volatile LONG Pending;
	ECHO_STATE State;
} ECHO_DEVICE_EXTENSION, *PECHO_DEVICE_EXTENSION;

EXTERN_C_START
DRIVER_INITIALIZE DriverEntry;
DRIVER_UNLOAD EchoUnload;
_Dispatch_type_(IRP_MJ_CREATE) _Dispatch_type_(IRP_MJ_CLOSE) DRIVER_DISPATCH EchoCreateClose;
_Dispatch_type_(IRP_MJ_DEVICE_CONTROL) DRIVER_DISPATCH EchoDeviceControl;
KDEFERRED_ROUTINE EchoDpc;
IO_WORKITEM_ROUTINE EchoWork;
EXTERN_C_END

#ifdef ALLOC_PRAGMA
#pragma alloc_text(INIT, DriverEntry)
#pragma alloc_text(PAGE, EchoUnload)
#pragma alloc_text(PAGE, EchoCreateClose)
#endif

static VOID
EchoCqNotification(_In_opt_ PVOID CqNotificationContext, _In_ NTSTATUS CqStatus)
{
	PECHO_DEVICE_EXTENSION Extension = (PECHO_DEVICE_EXTENSION)CqNotificationContext;
	NDK_RESULT Results[16];
	ULONG Count, Index;

	UNREFERENCED_PARAMETER(CqStatus);
	do {
		Count = Extension->Cq->Dispatch->NdkGetCqResults(Extension->Cq, Results,
								 RTL_NUMBER_OF(Results));
		for (Index = 0; Index < Count; Index++) {
			PECHO_REQUEST Request = (PECHO_REQUEST)Results[Index].RequestContext;

			Request->Status = Results[Index].Status;
			(VOID) InterlockedDecrement(&Extension->Pending);
		}
	} while (Count == RTL_NUMBER_OF(Results));
	Extension->Cq->Dispatch->NdkArmCq(Extension->Cq, NDK_CQ_NOTIFY_ANY);
}

static VOID
EchoCreated(_In_opt_ PVOID Context, _In_ NTSTATUS Status, _In_ NDK_OBJECT_HEADER *pNdkObject)
{
	PECHO_DEVICE_EXTENSION Extension = (PECHO_DEVICE_EXTENSION)Context;

	if (NT_SUCCESS(Status))
		Extension->Cq = CONTAINING_RECORD(pNdkObject, NDK_CQ, Header);
	KeSetEvent(&Extension->Idle, IO_NO_INCREMENT, FALSE);
}

_IRQL_requires_max_(PASSIVE_LEVEL) static NTSTATUS
	EchoCreateCq(_Inout_ PECHO_DEVICE_EXTENSION Extension)
{
	LARGE_INTEGER Timeout;
	NTSTATUS Status;

	PAGED_CODE();
	KeClearEvent(&Extension->Idle);
	Status = Extension->Adapter->Dispatch->NdkCreateCq(Extension->Adapter, 128,
							   EchoCqNotification, Extension, NULL,
							   EchoCreated, Extension, &Extension->Cq);
	if (Status == STATUS_PENDING) {
		Timeout.QuadPart = -10LL * 1000 * 1000 * 10;
		Status = KeWaitForSingleObject(&Extension->Idle, Executive, KernelMode, FALSE,
					       &Timeout);
	}
	return Status;
}

_Must_inspect_result_ static NTSTATUS
EchoLock(_Inout_ PECHO_REQUEST Request, _In_reads_bytes_(Length) PVOID Buffer, _In_ ULONG Length)
{
	NTSTATUS Status = STATUS_SUCCESS;

	Request->Mdl = IoAllocateMdl(Buffer, Length, FALSE, FALSE, NULL);
	if (Request->Mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	__try {
		ProbeForRead(Buffer, Length, sizeof(UCHAR));
		MmProbeAndLockPages(Request->Mdl, UserMode, IoWriteAccess);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		Status = GetExceptionCode();
	}
	if (!NT_SUCCESS(Status)) {
		IoFreeMdl(Request->Mdl);
		Request->Mdl = NULL;
	}
	return Status;
}

_Use_decl_annotations_ VOID
EchoDpc(PKDPC Dpc, PVOID DeferredContext, PVOID SystemArgument1, PVOID SystemArgument2)
{
	PECHO_DEVICE_EXTENSION Extension = (PECHO_DEVICE_EXTENSION)DeferredContext;

	UNREFERENCED_PARAMETER(Dpc);
	UNREFERENCED_PARAMETER(SystemArgument1);
	UNREFERENCED_PARAMETER(SystemArgument2);
	KeAcquireSpinLockAtDpcLevel(&Extension->Lock);
	Extension->State = IsListEmpty(&Extension->Requests) ? EchoIdle : EchoBusy;
	KeReleaseSpinLockFromDpcLevel(&Extension->Lock);
	IoQueueWorkItem(Extension->WorkItem, EchoWork, DelayedWorkQueue, Extension);
}

_Use_decl_annotations_ VOID
EchoWork(PDEVICE_OBJECT DeviceObject, PVOID Context)
{
	PECHO_DEVICE_EXTENSION Extension = (PECHO_DEVICE_EXTENSION)Context;
	PECHO_REQUEST Request = NULL;
	KIRQL OldIrql;

	UNREFERENCED_PARAMETER(DeviceObject);
	KeAcquireSpinLock(&Extension->Lock, &OldIrql);
	if (!IsListEmpty(&Extension->Requests))
		Request =
			CONTAINING_RECORD(RemoveHeadList(&Extension->Requests), ECHO_REQUEST, Link);
	KeReleaseSpinLock(&Extension->Lock, OldIrql);
	if (Request == NULL)
		return;
	if (Request->Mdl != NULL) {
		MmUnlockPages(Request->Mdl);
		IoFreeMdl(Request->Mdl);
	}
	Request->Irp->IoStatus.Status = Request->Status;
	Request->Irp->IoStatus.Information = 0;
	IoCompleteRequest(Request->Irp, IO_NO_INCREMENT);
	ExFreePoolWithTag(Request, ECHO_TAG);
	ExReleaseRundownProtection(&Extension->Rundown);
}

_Use_decl_annotations_ NTSTATUS
EchoCreateClose(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
	PAGED_CODE();
	UNREFERENCED_PARAMETER(DeviceObject);
	Irp->IoStatus.Status = STATUS_SUCCESS;
	Irp->IoStatus.Information = 0;
	IoCompleteRequest(Irp, IO_NO_INCREMENT);
	return STATUS_SUCCESS;
}

_Use_decl_annotations_ NTSTATUS
EchoDeviceControl(PDEVICE_OBJECT DeviceObject, PIRP Irp)
{
	PECHO_DEVICE_EXTENSION Extension = (PECHO_DEVICE_EXTENSION)DeviceObject->DeviceExtension;
	PIO_STACK_LOCATION Stack = IoGetCurrentIrpStackLocation(Irp);
	PECHO_REQUEST Request;
	NTSTATUS Status;

	switch (Stack->Parameters.DeviceIoControl.IoControlCode) {
	case IOCTL_ECHO_IT:
		Request = (PECHO_REQUEST)ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*Request),
							 ECHO_TAG);
		if (Request == NULL || !ExAcquireRundownProtection(&Extension->Rundown)) {
			Status = STATUS_INSUFFICIENT_RESOURCES;
			break;
		}
		Request->Irp = Irp;
		Status = EchoLock(Request, Irp->AssociatedIrp.SystemBuffer,
				  Stack->Parameters.DeviceIoControl.InputBufferLength);
		if (!NT_SUCCESS(Status))
			break;
		IoMarkIrpPending(Irp);
		ExInterlockedInsertTailList(&Extension->Requests, &Request->Link, &Extension->Lock);
		(VOID) KeInsertQueueDpc(&Extension->Dpc, NULL, NULL);
		return STATUS_PENDING;
	default:
		Status = STATUS_INVALID_DEVICE_REQUEST;
		break;
	}
	Irp->IoStatus.Status = Status;
	IoCompleteRequest(Irp, IO_NO_INCREMENT);
	return Status;
}

_Use_decl_annotations_ VOID
EchoUnload(PDRIVER_OBJECT DriverObject)
{
	PECHO_DEVICE_EXTENSION Extension =
		(PECHO_DEVICE_EXTENSION)DriverObject->DeviceObject->DeviceExtension;
	UNICODE_STRING Link = RTL_CONSTANT_STRING(ECHO_LINK);

	PAGED_CODE();
	(VOID) KeCancelTimer(&Extension->Timer);
	KeFlushQueuedDpcs();
	ExWaitForRundownProtectionRelease(&Extension->Rundown);
	IoFreeWorkItem(Extension->WorkItem);
	(VOID) IoDeleteSymbolicLink(&Link);
	IoDeleteDevice(DriverObject->DeviceObject);
}

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	UNICODE_STRING Name = RTL_CONSTANT_STRING(ECHO_DEVICE), Link;
	PECHO_DEVICE_EXTENSION Extension;
	PDEVICE_OBJECT DeviceObject = NULL;
	WCHAR Text[64];
	LARGE_INTEGER Due;
	NTSTATUS Status;

	ExInitializeDriverRuntime(DrvRtPoolNxOptIn);
	DbgPrintEx(DPFLTR_IHVDRIVER_ID, DPFLTR_INFO_LEVEL, "entry of %wZ\n", RegistryPath);
	RtlInitUnicodeString(&Link, ECHO_LINK);
	Status = RtlStringCchPrintfW(Text, RTL_NUMBER_OF(Text), L"%ws", Link.Buffer);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = IoCreateDevice(DriverObject, sizeof(*Extension), &Name, FILE_DEVICE_UNKNOWN,
				FILE_DEVICE_SECURE_OPEN, FALSE, &DeviceObject);
	if (!NT_SUCCESS(Status))
		return Status;
	Extension = (PECHO_DEVICE_EXTENSION)DeviceObject->DeviceExtension;
	Extension->DeviceObject = DeviceObject;
	InitializeListHead(&Extension->Requests);
	KeInitializeSpinLock(&Extension->Lock);
	KeInitializeEvent(&Extension->Idle, NotificationEvent, TRUE);
	KeInitializeDpc(&Extension->Dpc, EchoDpc, Extension);
	KeInitializeTimerEx(&Extension->Timer, SynchronizationTimer);
	ExInitializeRundownProtection(&Extension->Rundown);
	Extension->WorkItem = IoAllocateWorkItem(DeviceObject);
	Status = IoCreateSymbolicLink(&Link, &Name);
	if (!NT_SUCCESS(Status) || Extension->WorkItem == NULL) {
		IoDeleteDevice(DeviceObject);
		return NT_SUCCESS(Status) ? STATUS_INSUFFICIENT_RESOURCES : Status;
	}
	Due.QuadPart = -10000;
	(VOID) KeSetTimerEx(&Extension->Timer, Due, 1000, &Extension->Dpc);
	DriverObject->MajorFunction[IRP_MJ_CREATE] = EchoCreateClose;
	DriverObject->MajorFunction[IRP_MJ_CLOSE] = EchoCreateClose;
	DriverObject->MajorFunction[IRP_MJ_DEVICE_CONTROL] = EchoDeviceControl;
	DriverObject->DriverUnload = EchoUnload;
	DeviceObject->Flags &= ~DO_DEVICE_INITIALIZING;
	if (Extension->Adapter != NULL)
		Status = EchoCreateCq(Extension);
	NT_ASSERT(NT_SUCCESS(Status));
	return Status;
}
