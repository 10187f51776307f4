/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Zw, Io and Ex: events with handles, callback objects, and their names. A name is a path, such as
 * \BaseNamedObjects\one or \Callback\one, whose folders need not exist; it lasts as long as its
 * object. Events and callback objects of the system are not here. Handles and counts are in
 * wdmob.h. Threads: every call from any thread. Tests: tests/unit/windows/io/object.c
 */
#ifndef PLX_WDK_WDMOBJECT_H
#define PLX_WDK_WDMOBJECT_H

#include "wdmob.h"
#include "wdmstring.h"
#include "wdmwait.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events: at PASSIVE_LEVEL ---- */

extern POBJECT_TYPE *ExEventObjectType PLX_WIN_NAME(ExEventObjectType);

/**
 * Create an event, or open one with OBJ_OPENIF. ZwClose() closes its handle.
 * @param ObjectAttributes NULL: without a name. RootDirectory has to be NULL
 * Returns: STATUS_SUCCESS; STATUS_OBJECT_NAME_EXISTS: it was there, and is opened;
 * STATUS_OBJECT_NAME_COLLISION; STATUS_OBJECT_TYPE_MISMATCH; STATUS_OBJECT_PATH_SYNTAX_BAD,
 * STATUS_OBJECT_NAME_INVALID (a name does not begin, or ends, with a backslash);
 * STATUS_INVALID_PARAMETER; STATUS_INSUFFICIENT_RESOURCES
 */
NTSTATUS ZwCreateEvent(PHANDLE EventHandle, ACCESS_MASK DesiredAccess,
		       POBJECT_ATTRIBUTES ObjectAttributes, EVENT_TYPE EventType,
		       BOOLEAN InitialState) PLX_WIN_NAME(ZwCreateEvent);
/** Returns: as above; STATUS_OBJECT_NAME_NOT_FOUND */
NTSTATUS ZwOpenEvent(PHANDLE EventHandle, ACCESS_MASK DesiredAccess,
		     POBJECT_ATTRIBUTES ObjectAttributes) PLX_WIN_NAME(ZwOpenEvent);
/** @param PreviousState NULL, or gets the state before
 *  Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE; STATUS_OBJECT_TYPE_MISMATCH */
NTSTATUS ZwSetEvent(HANDLE EventHandle, PLONG PreviousState) PLX_WIN_NAME(ZwSetEvent);
NTSTATUS ZwResetEvent(HANDLE EventHandle, PLONG PreviousState) PLX_WIN_NAME(ZwResetEvent);
NTSTATUS ZwClearEvent(HANDLE EventHandle) PLX_WIN_NAME(ZwClearEvent);
/** KeWaitForSingleObject() for an event or a thread.
 * Returns: as that; STATUS_INVALID_HANDLE; STATUS_OBJECT_TYPE_MISMATCH */
NTSTATUS ZwWaitForSingleObject(HANDLE Handle, BOOLEAN Alertable, PLARGE_INTEGER Timeout)
	PLX_WIN_NAME(ZwWaitForSingleObject);
/**
 * Create an event that is signalled, or open the one that has the name.
 * @param EventHandle gets a handle, which alone holds the event
 * Returns: NULL: that failed
 */
PKEVENT IoCreateNotificationEvent(PUNICODE_STRING EventName, PHANDLE EventHandle)
	PLX_WIN_NAME(IoCreateNotificationEvent);
PKEVENT IoCreateSynchronizationEvent(PUNICODE_STRING EventName, PHANDLE EventHandle)
	PLX_WIN_NAME(IoCreateSynchronizationEvent);
/** Release what OBJ_PERMANENT holds. Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE */
NTSTATUS ZwMakeTemporaryObject(HANDLE Handle) PLX_WIN_NAME(ZwMakeTemporaryObject);

/* ---- callback objects ---- */

typedef struct _CALLBACK_OBJECT *PCALLBACK_OBJECT;

typedef VOID CALLBACK_FUNCTION(PVOID CallbackContext, PVOID Argument1, PVOID Argument2);
typedef CALLBACK_FUNCTION *PCALLBACK_FUNCTION;

/**
 * Open a callback object, or create it. ObDereferenceObject() gives it up. At PASSIVE_LEVEL.
 * @param Create                 FALSE: it has to be there
 * @param AllowMultipleCallbacks of a new one
 * Returns: STATUS_SUCCESS; STATUS_UNSUCCESSFUL (no name); STATUS_OBJECT_NAME_NOT_FOUND; and as
 * ZwCreateEvent()
 */
NTSTATUS ExCreateCallback(PCALLBACK_OBJECT *CallbackObject, POBJECT_ATTRIBUTES ObjectAttributes,
			  BOOLEAN Create, BOOLEAN AllowMultipleCallbacks)
	PLX_WIN_NAME(ExCreateCallback);
/** At or below APC_LEVEL. Returns: for ExUnregisterCallback(); NULL: no memory, or it takes one
 * and has it */
PVOID ExRegisterCallback(PCALLBACK_OBJECT CallbackObject, PCALLBACK_FUNCTION CallbackFunction,
			 PVOID CallbackContext) PLX_WIN_NAME(ExRegisterCallback);
/** End a registration, when its calls have returned: not from one of them. At or below APC_LEVEL */
VOID ExUnregisterCallback(PVOID CallbackRegistration) PLX_WIN_NAME(ExUnregisterCallback);
/** Call the registered functions in the order of their registration, at the caller's level. */
VOID ExNotifyCallback(PVOID CallbackObject, PVOID Argument1, PVOID Argument2)
	PLX_WIN_NAME(ExNotifyCallback);

/* ---- routines by name ---- */

/** Returns: the address of a routine or variable of the kernel that libpollux-ndk.so exports; NULL:
 * it is not there, or is a macro or an inline function of these headers. At PASSIVE_LEVEL */
PVOID MmGetSystemRoutineAddress(PUNICODE_STRING SystemRoutineName)
	PLX_WIN_NAME(MmGetSystemRoutineAddress);

#ifdef __cplusplus
}
#endif

#endif
