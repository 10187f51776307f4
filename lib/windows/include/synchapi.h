/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locks in the program's memory: slim reader/writer locks, condition variables, waits on an
 * address, one-time initialization. All zeros is a valid initial state of each. They need no
 * destruction, and no memory or system call unless a thread has to sleep.
 *
 * WaitOnAddress() and the condition variables are waits in which a thread calls its pumps
 * (docs/windows.md, Waiting). The others are held briefly, and only sleep.
 * Threads: every call from any thread. Tests: tests/unit/windows/objects/sync.c
 */
#ifndef PLX_WIN_SYNCHAPI_H
#define PLX_WIN_SYNCHAPI_H

#include "winbase.h"

typedef struct _RTL_SRWLOCK {
	PVOID Ptr;
} RTL_SRWLOCK, *PRTL_SRWLOCK, SRWLOCK, *PSRWLOCK;

typedef struct _RTL_CONDITION_VARIABLE {
	PVOID Ptr;
} RTL_CONDITION_VARIABLE, *PRTL_CONDITION_VARIABLE, CONDITION_VARIABLE, *PCONDITION_VARIABLE;

typedef union _RTL_RUN_ONCE {
	PVOID Ptr;
} RTL_RUN_ONCE, *PRTL_RUN_ONCE, INIT_ONCE, *PINIT_ONCE, *LPINIT_ONCE;

typedef BOOL(WINAPI *PINIT_ONCE_FN)(PINIT_ONCE once, PVOID parameter, PVOID *context);

/* clang-format off */
#define RTL_SRWLOCK_INIT            {0}
#define SRWLOCK_INIT                RTL_SRWLOCK_INIT
#define RTL_CONDITION_VARIABLE_INIT {0}
#define CONDITION_VARIABLE_INIT     RTL_CONDITION_VARIABLE_INIT
#define RTL_RUN_ONCE_INIT           {0}
#define INIT_ONCE_STATIC_INIT       RTL_RUN_ONCE_INIT
/* clang-format on */

#define RTL_CONDITION_VARIABLE_LOCKMODE_SHARED 0x1
#define CONDITION_VARIABLE_LOCKMODE_SHARED     RTL_CONDITION_VARIABLE_LOCKMODE_SHARED

#define RTL_RUN_ONCE_CHECK_ONLY        0x1
#define RTL_RUN_ONCE_ASYNC             0x2
#define RTL_RUN_ONCE_INIT_FAILED       0x4
#define RTL_RUN_ONCE_CTX_RESERVED_BITS 2
#define INIT_ONCE_CHECK_ONLY           RTL_RUN_ONCE_CHECK_ONLY
#define INIT_ONCE_ASYNC                RTL_RUN_ONCE_ASYNC
#define INIT_ONCE_INIT_FAILED          RTL_RUN_ONCE_INIT_FAILED
#define INIT_ONCE_CTX_RESERVED_BITS    RTL_RUN_ONCE_CTX_RESERVED_BITS

#define CREATE_EVENT_MANUAL_RESET      0x1
#define CREATE_EVENT_INITIAL_SET       0x2
#define CRITICAL_SECTION_NO_DEBUG_INFO 0x01000000

PLX_WIN_BEGIN

/* ---- slim reader/writer locks ----
 *
 * Not recursive in either mode. A reader that arrives while a writer waits lets the writer go
 * first.
 */

VOID WINAPI InitializeSRWLock(PSRWLOCK lock) PLX_WIN_NAME(InitializeSRWLock);
VOID WINAPI AcquireSRWLockExclusive(PSRWLOCK lock) PLX_WIN_NAME(AcquireSRWLockExclusive);
VOID WINAPI AcquireSRWLockShared(PSRWLOCK lock) PLX_WIN_NAME(AcquireSRWLockShared);
BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK lock) PLX_WIN_NAME(TryAcquireSRWLockExclusive);
BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK lock) PLX_WIN_NAME(TryAcquireSRWLockShared);
VOID WINAPI ReleaseSRWLockExclusive(PSRWLOCK lock) PLX_WIN_NAME(ReleaseSRWLockExclusive);
VOID WINAPI ReleaseSRWLockShared(PSRWLOCK lock) PLX_WIN_NAME(ReleaseSRWLockShared);

/* ---- condition variables ----
 *
 * Releasing the lock and starting to wait is one step. The lock is held again when the call
 * returns, whatever it returns. A wake without waiters has no effect.
 * Errors: ERROR_TIMEOUT; ERROR_INVALID_PARAMETER (flags)
 */

VOID WINAPI InitializeConditionVariable(PCONDITION_VARIABLE condition)
	PLX_WIN_NAME(InitializeConditionVariable);
BOOL WINAPI SleepConditionVariableCS(PCONDITION_VARIABLE condition, PCRITICAL_SECTION section,
				     DWORD ms) PLX_WIN_NAME(SleepConditionVariableCS);
/** @param flags 0, or CONDITION_VARIABLE_LOCKMODE_SHARED: the caller has the lock as a reader */
BOOL WINAPI SleepConditionVariableSRW(PCONDITION_VARIABLE condition, PSRWLOCK lock, DWORD ms,
				      ULONG flags) PLX_WIN_NAME(SleepConditionVariableSRW);
/** The thread that has waited longest. */
VOID WINAPI WakeConditionVariable(PCONDITION_VARIABLE condition)
	PLX_WIN_NAME(WakeConditionVariable);
VOID WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE condition)
	PLX_WIN_NAME(WakeAllConditionVariable);

/* ---- addresses ---- */

/**
 * Wait until another thread of this process wakes the address, unless the value there already
 * differs from *compare. The caller must check the value again afterwards.
 *
 * @param bytes 1, 2, 4 or 8
 * Errors: ERROR_TIMEOUT, ERROR_INVALID_PARAMETER
 */
BOOL WINAPI WaitOnAddress(volatile VOID *address, PVOID compare, SIZE_T bytes, DWORD ms)
	PLX_WIN_NAME(WaitOnAddress);
/** The thread that has waited longest. */
VOID WINAPI WakeByAddressSingle(PVOID address) PLX_WIN_NAME(WakeByAddressSingle);
VOID WINAPI WakeByAddressAll(PVOID address) PLX_WIN_NAME(WakeByAddressAll);

/* ---- one-time initialization ----
 *
 * The INIT_ONCE_CTX_RESERVED_BITS low bits of a context are 0.
 */

VOID WINAPI InitOnceInitialize(PINIT_ONCE once) PLX_WIN_NAME(InitOnceInitialize);
/** Returns: FALSE: the function failed, and the next caller runs it again */
BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE once, PINIT_ONCE_FN run, PVOID parameter,
				LPVOID *context) PLX_WIN_NAME(InitOnceExecuteOnce);
/**
 * @param flags   0: other threads wait until it completes. INIT_ONCE_ASYNC: several may initialize,
 *                and the first to complete wins. INIT_ONCE_CHECK_ONLY: begin nothing
 * @param pending FALSE: done, and *context is set
 * Errors: ERROR_GEN_FAILURE (CHECK_ONLY: not done), ERROR_INVALID_PARAMETER (flags; begun in the
 * other mode)
 */
BOOL WINAPI InitOnceBeginInitialize(LPINIT_ONCE once, DWORD flags, PBOOL pending, LPVOID *context)
	PLX_WIN_NAME(InitOnceBeginInitialize);
/**
 * @param flags 0 or INIT_ONCE_ASYNC as at the begin; INIT_ONCE_INIT_FAILED: another thread may try
 * Errors: ERROR_GEN_FAILURE (no initialization in progress; ASYNC: another thread was first),
 * ERROR_INVALID_PARAMETER
 */
BOOL WINAPI InitOnceComplete(LPINIT_ONCE once, DWORD flags, LPVOID context)
	PLX_WIN_NAME(InitOnceComplete);

/* ---- more of what winbase.h has ---- */

/** @param flags 0 or CRITICAL_SECTION_NO_DEBUG_INFO, else ERROR_INVALID_PARAMETER */
BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION s, DWORD spins, DWORD flags)
	PLX_WIN_NAME(InitializeCriticalSectionEx);
/** Returns: 0, the previous spin count: critical sections here sleep at once */
DWORD WINAPI SetCriticalSectionSpinCount(LPCRITICAL_SECTION s, DWORD spins)
	PLX_WIN_NAME(SetCriticalSectionSpinCount);
/** @param flags CREATE_EVENT_MANUAL_RESET, CREATE_EVENT_INITIAL_SET */
HANDLE WINAPI CreateEventExA(LPSECURITY_ATTRIBUTES security, LPCSTR name, DWORD flags, DWORD access)
	PLX_WIN_NAME(CreateEventExA);
HANDLE WINAPI CreateEventExW(LPSECURITY_ATTRIBUTES security, LPCWSTR name, DWORD flags,
			     DWORD access) PLX_WIN_NAME(CreateEventExW);
DWORD WINAPI WaitForMultipleObjectsEx(DWORD n, const HANDLE *h, BOOL all, DWORD ms, BOOL alertable)
	PLX_WIN_NAME(WaitForMultipleObjectsEx);
/** Returns: 0: APCs are not supported, so nothing ends the sleep early */
DWORD WINAPI SleepEx(DWORD ms, BOOL alertable) PLX_WIN_NAME(SleepEx);

PLX_WIN_END

#ifdef UNICODE
#define CreateEventEx CreateEventExW
#else
#define CreateEventEx CreateEventExA
#endif

#endif
