/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ps and Ke: threads, and the one process. Every thread of the process that calls here is a thread
 * of these headers, whoever made it; system threads are those of PsCreateSystemThread().
 * Threads: every call from any thread. Tests: tests/unit/windows/ke/thread.c
 */
#ifndef PLX_WDK_WDMPS_H
#define PLX_WDK_WDMPS_H

#include "wdmob.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _KTHREAD KTHREAD, *PKTHREAD, *PRKTHREAD;
typedef struct _ETHREAD ETHREAD, *PETHREAD;
typedef struct _KPROCESS KPROCESS, *PKPROCESS, *PRKPROCESS;
typedef LONG KPRIORITY;

typedef struct _CLIENT_ID {
	HANDLE UniqueProcess;
	HANDLE UniqueThread;
} CLIENT_ID, *PCLIENT_ID;

typedef VOID KSTART_ROUTINE(PVOID StartContext);
typedef KSTART_ROUTINE *PKSTART_ROUTINE;

#define THREAD_ALL_ACCESS     (STANDARD_RIGHTS_REQUIRED | SYNCHRONIZE | 0xFFFF)
#define LOW_PRIORITY          0
#define LOW_REALTIME_PRIORITY 16
#define HIGH_PRIORITY         31
#define MAXIMUM_PRIORITY      32

extern POBJECT_TYPE *PsThreadType PLX_WIN_NAME(PsThreadType);
extern POBJECT_TYPE *PsProcessType PLX_WIN_NAME(PsProcessType);
extern PEPROCESS PsInitialSystemProcess PLX_WIN_NAME(PsInitialSystemProcess);

/* Handles that need no ZwClose(). */
#define NtCurrentProcess() ((HANDLE)(LONG_PTR)-1)
#define ZwCurrentProcess() NtCurrentProcess()
#define NtCurrentThread()  ((HANDLE)(LONG_PTR)-2)
#define ZwCurrentThread()  NtCurrentThread()

/* ---- system threads ---- */

/**
 * Create a thread. It ends by PsTerminateSystemThread(), or when its routine returns.
 *
 * @param ThreadHandle     gets a handle, which ZwClose() closes while the thread runs or later
 * @param ObjectAttributes NULL, or attributes without a name
 * @param ProcessHandle    NULL or ZwCurrentProcess()
 * @param ClientId         NULL, or gets the ids
 * Returns: STATUS_SUCCESS; STATUS_INSUFFICIENT_RESOURCES; STATUS_INVALID_HANDLE (ProcessHandle);
 * STATUS_INVALID_PARAMETER (a name)
 */
NTSTATUS PsCreateSystemThread(PHANDLE ThreadHandle, ULONG DesiredAccess,
			      POBJECT_ATTRIBUTES ObjectAttributes, HANDLE ProcessHandle,
			      PCLIENT_ID ClientId, PKSTART_ROUTINE StartRoutine, PVOID StartContext)
	PLX_WIN_NAME(PsCreateSystemThread);
/** End the calling thread, which has to be a system thread. Its object is signalled when nothing of
 * it runs but this library.
 * Returns: STATUS_INVALID_PARAMETER, if it is none; otherwise it does not return */
NTSTATUS PsTerminateSystemThread(NTSTATUS ExitStatus) PLX_WIN_NAME(PsTerminateSystemThread);
BOOLEAN PsIsSystemThread(PETHREAD Thread) PLX_WIN_NAME(PsIsSystemThread);

/* ---- who runs ---- */

PKTHREAD KeGetCurrentThread(VOID) PLX_WIN_NAME(KeGetCurrentThread);
#define PsGetCurrentThread() ((PETHREAD)KeGetCurrentThread())
HANDLE PsGetCurrentThreadId(VOID) PLX_WIN_NAME(PsGetCurrentThreadId);
HANDLE PsGetThreadId(PETHREAD Thread) PLX_WIN_NAME(PsGetThreadId);
HANDLE PsGetThreadProcessId(PETHREAD Thread) PLX_WIN_NAME(PsGetThreadProcessId);
PEPROCESS IoGetCurrentProcess(VOID) PLX_WIN_NAME(IoGetCurrentProcess);
#define PsGetCurrentProcess() IoGetCurrentProcess()
HANDLE PsGetCurrentProcessId(VOID) PLX_WIN_NAME(PsGetCurrentProcessId);
HANDLE PsGetProcessId(PEPROCESS Process) PLX_WIN_NAME(PsGetProcessId);

/* ---- priority and processors ---- */

/**
 * @param Priority LOW_PRIORITY + 1 to HIGH_PRIORITY. The system is asked for a nice value of 8 -
 *                 Priority, which it grants to those with the right to it
 * Returns: the priority before; a thread starts with 8
 */
KPRIORITY KeSetPriorityThread(PKTHREAD Thread, KPRIORITY Priority)
	PLX_WIN_NAME(KeSetPriorityThread);
KPRIORITY KeQueryPriorityThread(PKTHREAD Thread) PLX_WIN_NAME(KeQueryPriorityThread);

/** Run the calling thread on these processors of group 0 only, until it reverts. */
VOID KeSetSystemAffinityThread(KAFFINITY Affinity) PLX_WIN_NAME(KeSetSystemAffinityThread);
VOID KeRevertToUserAffinityThread(VOID) PLX_WIN_NAME(KeRevertToUserAffinityThread);
/** Returns: what KeRevertToUserAffinityThreadEx() takes: the affinity set before; 0: none was */
KAFFINITY KeSetSystemAffinityThreadEx(KAFFINITY Affinity) PLX_WIN_NAME(KeSetSystemAffinityThreadEx);
/** @param Affinity 0: let it run where it ran before any of these calls */
VOID KeRevertToUserAffinityThreadEx(KAFFINITY Affinity)
	PLX_WIN_NAME(KeRevertToUserAffinityThreadEx);
/** @param PreviousAffinity NULL, or gets what KeRevertToUserGroupAffinityThread() takes */
VOID KeSetSystemGroupAffinityThread(PGROUP_AFFINITY Affinity, PGROUP_AFFINITY PreviousAffinity)
	PLX_WIN_NAME(KeSetSystemGroupAffinityThread);
VOID KeRevertToUserGroupAffinityThread(PGROUP_AFFINITY PreviousAffinity)
	PLX_WIN_NAME(KeRevertToUserGroupAffinityThread);

/* ---- regions without APCs ----
 *
 * Nothing queues an APC here; what remains is that the regions nest and balance, and answer.
 */

VOID KeEnterCriticalRegion(VOID) PLX_WIN_NAME(KeEnterCriticalRegion);
VOID KeLeaveCriticalRegion(VOID) PLX_WIN_NAME(KeLeaveCriticalRegion);
VOID KeEnterGuardedRegion(VOID) PLX_WIN_NAME(KeEnterGuardedRegion);
VOID KeLeaveGuardedRegion(VOID) PLX_WIN_NAME(KeLeaveGuardedRegion);
/** Returns: whether the thread is in a region, owns a mutex, or is above PASSIVE_LEVEL */
BOOLEAN KeAreApcsDisabled(VOID) PLX_WIN_NAME(KeAreApcsDisabled);
/** Returns: whether the thread is in a guarded region or above PASSIVE_LEVEL */
BOOLEAN KeAreAllApcsDisabled(VOID) PLX_WIN_NAME(KeAreAllApcsDisabled);

#ifdef __cplusplus
}
#endif

#endif
