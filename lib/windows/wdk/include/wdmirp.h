/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Io: requests (IRPs), the stack of locations in each, completing and cancelling them.
 *
 * A request has one location for each driver it passes. Its sender fills the next location and
 * calls IoCallDriver(); who completes it walks back up the locations, calling the routines that
 * were set, until one returns STATUS_MORE_PROCESSING_REQUIRED.
 */
#ifndef PLX_WDK_WDMIRP_H
#define PLX_WDK_WDMIRP_H

#include "wdmdevice.h"

#include <winternl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is requested ---- */

#define IRP_MJ_CREATE                   0x00
#define IRP_MJ_CREATE_NAMED_PIPE        0x01
#define IRP_MJ_CLOSE                    0x02
#define IRP_MJ_READ                     0x03
#define IRP_MJ_WRITE                    0x04
#define IRP_MJ_QUERY_INFORMATION        0x05
#define IRP_MJ_SET_INFORMATION          0x06
#define IRP_MJ_QUERY_EA                 0x07
#define IRP_MJ_SET_EA                   0x08
#define IRP_MJ_FLUSH_BUFFERS            0x09
#define IRP_MJ_QUERY_VOLUME_INFORMATION 0x0a
#define IRP_MJ_SET_VOLUME_INFORMATION   0x0b
#define IRP_MJ_DIRECTORY_CONTROL        0x0c
#define IRP_MJ_FILE_SYSTEM_CONTROL      0x0d
#define IRP_MJ_DEVICE_CONTROL           0x0e
#define IRP_MJ_INTERNAL_DEVICE_CONTROL  0x0f
#define IRP_MJ_SHUTDOWN                 0x10
#define IRP_MJ_LOCK_CONTROL             0x11
#define IRP_MJ_CLEANUP                  0x12
#define IRP_MJ_CREATE_MAILSLOT          0x13
#define IRP_MJ_QUERY_SECURITY           0x14
#define IRP_MJ_SET_SECURITY             0x15
#define IRP_MJ_POWER                    0x16
#define IRP_MJ_SYSTEM_CONTROL           0x17
#define IRP_MJ_DEVICE_CHANGE            0x18
#define IRP_MJ_QUERY_QUOTA              0x19
#define IRP_MJ_SET_QUOTA                0x1a
#define IRP_MJ_PNP                      0x1b
#define IRP_MJ_SCSI                     IRP_MJ_INTERNAL_DEVICE_CONTROL

/* Flags of a request. */
#define IRP_NOCACHE           0x00000001
#define IRP_PAGING_IO         0x00000002
#define IRP_SYNCHRONOUS_API   0x00000004
#define IRP_ASSOCIATED_IRP    0x00000008
#define IRP_BUFFERED_IO       0x00000010
#define IRP_DEALLOCATE_BUFFER 0x00000020
#define IRP_INPUT_OPERATION   0x00000040
#define IRP_CREATE_OPERATION  0x00000080
#define IRP_READ_OPERATION    0x00000100
#define IRP_WRITE_OPERATION   0x00000200
#define IRP_CLOSE_OPERATION   0x00000400

/* Control of a location. */
#define SL_PENDING_RETURNED  0x01
#define SL_ERROR_RETURNED    0x02
#define SL_INVOKE_ON_CANCEL  0x20
#define SL_INVOKE_ON_SUCCESS 0x40
#define SL_INVOKE_ON_ERROR   0x80

/* What a completion adds to the priority of the thread that waits for it; ignored here. */
#define IO_NO_INCREMENT         0
#define IO_CD_ROM_INCREMENT     1
#define IO_DISK_INCREMENT       1
#define IO_PARALLEL_INCREMENT   1
#define IO_NAMED_PIPE_INCREMENT 2
#define IO_NETWORK_INCREMENT    2
#define IO_SERIAL_INCREMENT     2
#define IO_MAILSLOT_INCREMENT   2
#define IO_VIDEO_INCREMENT      1
#define IO_KEYBOARD_INCREMENT   6
#define IO_MOUSE_INCREMENT      6
#define IO_SOUND_INCREMENT      8

/* ---- a request ---- */

typedef VOID IO_APC_ROUTINE(PVOID ApcContext, PIO_STATUS_BLOCK IoStatusBlock, ULONG Reserved);
typedef IO_APC_ROUTINE *PIO_APC_ROUTINE;

/* Called with the cancel spin lock, which it has to release. */
typedef VOID DRIVER_CANCEL(PDEVICE_OBJECT DeviceObject, PIRP Irp);
typedef DRIVER_CANCEL *PDRIVER_CANCEL;

typedef NTSTATUS IO_COMPLETION_ROUTINE(PDEVICE_OBJECT DeviceObject, PIRP Irp, PVOID Context);
typedef IO_COMPLETION_ROUTINE *PIO_COMPLETION_ROUTINE;

/* What a completion routine may return to let the completion go on. */
#define STATUS_CONTINUE_COMPLETION STATUS_SUCCESS
typedef enum _IO_COMPLETION_ROUTINE_RESULT {
	ContinueCompletion = STATUS_CONTINUE_COMPLETION,
	StopCompletion = STATUS_MORE_PROCESSING_REQUIRED,
} IO_COMPLETION_ROUTINE_RESULT, *PIO_COMPLETION_ROUTINE_RESULT;

typedef struct _IO_SECURITY_CONTEXT {
	PVOID SecurityQos;
	PVOID AccessState;
	ACCESS_MASK DesiredAccess;
	ULONG FullCreateOptions;
} IO_SECURITY_CONTEXT, *PIO_SECURITY_CONTEXT;

typedef struct _IO_STACK_LOCATION {
	UCHAR MajorFunction;
	UCHAR MinorFunction;
	UCHAR Flags;
	UCHAR Control;
	/* ULONGs are spaced as pointers are. */
	union {
		struct {
			PIO_SECURITY_CONTEXT SecurityContext;
			ULONG Options;
			DECLSPEC_ALIGN(8) USHORT FileAttributes;
			USHORT ShareAccess;
			DECLSPEC_ALIGN(8) ULONG EaLength;
		} Create;
		struct {
			ULONG Length;
			DECLSPEC_ALIGN(8) ULONG Key;
			LARGE_INTEGER ByteOffset;
		} Read;
		struct {
			ULONG Length;
			DECLSPEC_ALIGN(8) ULONG Key;
			LARGE_INTEGER ByteOffset;
		} Write;
		struct {
			ULONG OutputBufferLength;
			DECLSPEC_ALIGN(8) ULONG InputBufferLength;
			DECLSPEC_ALIGN(8) ULONG IoControlCode;
			PVOID Type3InputBuffer;
		} DeviceIoControl;
		struct {
			ULONG OutputBufferLength;
			DECLSPEC_ALIGN(8) ULONG InputBufferLength;
			DECLSPEC_ALIGN(8) ULONG FsControlCode;
			PVOID Type3InputBuffer;
		} FileSystemControl;
		struct {
			PVOID Argument1;
			PVOID Argument2;
			PVOID Argument3;
			PVOID Argument4;
		} Others;
	} Parameters;
	PDEVICE_OBJECT DeviceObject;
	PFILE_OBJECT FileObject;
	PIO_COMPLETION_ROUTINE CompletionRoutine;
	PVOID Context;
} IO_STACK_LOCATION, *PIO_STACK_LOCATION;

struct _IRP {
	CSHORT Type;
	USHORT Size;
	PMDL MdlAddress;
	ULONG Flags;
	union {
		struct _IRP *MasterIrp;
		LONG IrpCount;
		PVOID SystemBuffer;
	} AssociatedIrp;
	LIST_ENTRY ThreadListEntry;
	IO_STATUS_BLOCK IoStatus;
	KPROCESSOR_MODE RequestorMode;
	BOOLEAN PendingReturned;
	CHAR StackCount;
	CHAR CurrentLocation;
	BOOLEAN Cancel;
	KIRQL CancelIrql;
	CCHAR ApcEnvironment;
	UCHAR AllocationFlags;
	PIO_STATUS_BLOCK UserIosb;
	PKEVENT UserEvent;
	union {
		struct {
			PIO_APC_ROUTINE UserApcRoutine;
			PVOID UserApcContext;
		} AsynchronousParameters;
		LARGE_INTEGER AllocationSize;
	} Overlay;
	PDRIVER_CANCEL volatile CancelRoutine;
	PVOID UserBuffer;
	union {
		struct {
			PVOID DriverContext[4];
			PETHREAD Thread;
			PCHAR AuxiliaryBuffer;
			LIST_ENTRY ListEntry;
			struct _IO_STACK_LOCATION *CurrentStackLocation;
			PFILE_OBJECT OriginalFileObject;
		} Overlay;
		PVOID CompletionKey;
		ULONG_PTR Private[11]; /* [10]: bytes of the sender's output buffer */
	} Tail;
};

/* ---- making requests ---- */

/** Bytes of a request with StackSize locations. */
#define IoSizeOfIrp(StackSize) \
	((USHORT)(sizeof(IRP) + (size_t)(StackSize) * sizeof(IO_STACK_LOCATION)))

/**
 * Allocate a request, to be sent by IoCallDriver() and freed by IoFreeIrp() in a completion routine
 * that returns STATUS_MORE_PROCESSING_REQUIRED.
 * @param StackSize locations: 1 to 126
 * Returns: NULL: no memory
 */
PIRP IoAllocateIrp(CCHAR StackSize, BOOLEAN ChargeQuota) PLX_WIN_NAME(IoAllocateIrp);
/** Free a request of IoAllocateIrp(). Its MDLs are the caller's. */
VOID IoFreeIrp(PIRP Irp) PLX_WIN_NAME(IoFreeIrp);
/** Make a request in memory of the caller, who never gives it to IoFreeIrp() or IoReuseIrp().
 * @param PacketSize IoSizeOfIrp(StackSize) */
VOID IoInitializeIrp(PIRP Irp, USHORT PacketSize, CCHAR StackSize) PLX_WIN_NAME(IoInitializeIrp);
/** Make a request of IoAllocateIrp() as new, with this status. */
VOID IoReuseIrp(PIRP Irp, NTSTATUS Iostatus) PLX_WIN_NAME(IoReuseIrp);

/**
 * Make a request for a device's control code, whose buffers are prepared as its method requires:
 * copied (METHOD_BUFFERED), the input copied and the output described by an MDL (METHOD_IN_DIRECT,
 * METHOD_OUT_DIRECT), or the addresses themselves (METHOD_NEITHER). Who completes it fills the
 * output and the status block, sets the event and frees the request, at once.
 *
 * @param InternalDeviceIoControl IRP_MJ_INTERNAL_DEVICE_CONTROL instead of IRP_MJ_DEVICE_CONTROL
 * @param Event                   set at the end; may be NULL
 * Returns: NULL: no memory
 */
PIRP IoBuildDeviceIoControlRequest(ULONG IoControlCode, PDEVICE_OBJECT DeviceObject,
				   PVOID InputBuffer, ULONG InputBufferLength, PVOID OutputBuffer,
				   ULONG OutputBufferLength, BOOLEAN InternalDeviceIoControl,
				   PKEVENT Event, PIO_STATUS_BLOCK IoStatusBlock)
	PLX_WIN_NAME(IoBuildDeviceIoControlRequest);
/**
 * Make a request of IRP_MJ_READ, _WRITE, _FLUSH_BUFFERS or _SHUTDOWN, whose buffer is prepared as
 * the device's flags require: DO_BUFFERED_IO, DO_DIRECT_IO, or neither. It ends as one of
 * IoBuildDeviceIoControlRequest() does.
 * Returns: NULL: no memory
 */
PIRP IoBuildSynchronousFsdRequest(ULONG MajorFunction, PDEVICE_OBJECT DeviceObject, PVOID Buffer,
				  ULONG Length, PLARGE_INTEGER StartingOffset, PKEVENT Event,
				  PIO_STATUS_BLOCK IoStatusBlock)
	PLX_WIN_NAME(IoBuildSynchronousFsdRequest);
/**
 * Likewise, without an event. A completion routine has to undo what was prepared (unlock and free
 * the MDL, free the system buffer by ExFreePool()), free the request, and stop the completion.
 * Returns: NULL: no memory
 */
PIRP IoBuildAsynchronousFsdRequest(ULONG MajorFunction, PDEVICE_OBJECT DeviceObject, PVOID Buffer,
				   ULONG Length, PLARGE_INTEGER StartingOffset,
				   PIO_STATUS_BLOCK IoStatusBlock)
	PLX_WIN_NAME(IoBuildAsynchronousFsdRequest);

/* ---- locations ---- */

static inline PIO_STACK_LOCATION
IoGetCurrentIrpStackLocation(PIRP Irp)
{
	return Irp->Tail.Overlay.CurrentStackLocation;
}

static inline PIO_STACK_LOCATION
IoGetNextIrpStackLocation(PIRP Irp)
{
	return Irp->Tail.Overlay.CurrentStackLocation - 1;
}

/* Make the next location the current one, so that the sender has one of its own. */
static inline VOID
IoSetNextIrpStackLocation(PIRP Irp)
{
	Irp->CurrentLocation--;
	Irp->Tail.Overlay.CurrentStackLocation--;
}

/* Let the next driver have the caller's location. */
static inline VOID
IoSkipCurrentIrpStackLocation(PIRP Irp)
{
	Irp->CurrentLocation++;
	Irp->Tail.Overlay.CurrentStackLocation++;
}

/* Without the completion routine, which is the caller's. */
static inline VOID
IoCopyCurrentIrpStackLocationToNext(PIRP Irp)
{
	PIO_STACK_LOCATION from = IoGetCurrentIrpStackLocation(Irp);
	PIO_STACK_LOCATION to = IoGetNextIrpStackLocation(Irp);

	memcpy((void *)to, (const void *)from,
	       __builtin_offsetof(IO_STACK_LOCATION, CompletionRoutine));
	to->Control = 0;
}

static inline VOID
IoMarkIrpPending(PIRP Irp)
{
	IoGetCurrentIrpStackLocation(Irp)->Control |= SL_PENDING_RETURNED;
}

/* Set the routine that is called when the next driver has completed the request. */
static inline VOID
IoSetCompletionRoutine(PIRP Irp, PIO_COMPLETION_ROUTINE CompletionRoutine, PVOID Context,
		       BOOLEAN InvokeOnSuccess, BOOLEAN InvokeOnError, BOOLEAN InvokeOnCancel)
{
	PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(Irp);

	next->CompletionRoutine = CompletionRoutine;
	next->Context = Context;
	next->Control = (UCHAR)((InvokeOnSuccess ? SL_INVOKE_ON_SUCCESS : 0) |
				(InvokeOnError ? SL_INVOKE_ON_ERROR : 0) |
				(InvokeOnCancel ? SL_INVOKE_ON_CANCEL : 0));
}

/** IoSetCompletionRoutine() that holds the device object until the routine has returned.
 * Returns: STATUS_INSUFFICIENT_RESOURCES */
NTSTATUS IoSetCompletionRoutineEx(PDEVICE_OBJECT DeviceObject, PIRP Irp,
				  PIO_COMPLETION_ROUTINE CompletionRoutine, PVOID Context,
				  BOOLEAN InvokeOnSuccess, BOOLEAN InvokeOnError,
				  BOOLEAN InvokeOnCancel) PLX_WIN_NAME(IoSetCompletionRoutineEx);

/* ---- sending, completing, cancelling ---- */

/** Pass a request, whose next location is filled, to a device's driver.
 * Returns: what the driver's dispatch routine returns */
NTSTATUS IofCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp) PLX_WIN_NAME(IofCallDriver);
#define IoCallDriver(DeviceObject, Irp) IofCallDriver(DeviceObject, Irp)
/** End a request with Irp->IoStatus; it belongs to its sender again. IRQL <= DISPATCH_LEVEL. */
VOID IofCompleteRequest(PIRP Irp, CCHAR PriorityBoost) PLX_WIN_NAME(IofCompleteRequest);
#define IoCompleteRequest(Irp, PriorityBoost) IofCompleteRequest(Irp, PriorityBoost)

/** Set the routine that IoCancelIrp() calls.
 * Returns: the previous one; NULL if IoCancelIrp() has called it or is about to */
PDRIVER_CANCEL IoSetCancelRoutine(PIRP Irp, PDRIVER_CANCEL CancelRoutine)
	PLX_WIN_NAME(IoSetCancelRoutine);
/** Mark a request as cancelled and call its cancel routine.
 * Returns: FALSE: it has none; it ends by itself, or its driver sees Irp->Cancel */
BOOLEAN IoCancelIrp(PIRP Irp) PLX_WIN_NAME(IoCancelIrp);
VOID IoAcquireCancelSpinLock(PKIRQL Irql) PLX_WIN_NAME(IoAcquireCancelSpinLock);
VOID IoReleaseCancelSpinLock(KIRQL Irql) PLX_WIN_NAME(IoReleaseCancelSpinLock);

#ifdef __cplusplus
}
#endif

#endif
