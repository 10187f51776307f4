/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: rundown protection of an object. Users acquire it while they use the object; its owner waits
 * until no user is left, after which nobody acquires it. Zero is a valid initial state. A release
 * without an acquisition ends the process with a sentence, if the checks are on.
 * Threads: every call from any thread, at any IRQL; waits at APC_LEVEL and below. Tests:
 * tests/unit/windows/ex/rundown.c
 */
#ifndef PLX_WDK_WDMRUN_H
#define PLX_WDK_WDMRUN_H

#include "wdmpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Twice the number of users; or 1: run down; or, plus 1, the address of who waits for that. */
typedef struct _EX_RUNDOWN_REF {
	__extension__ union {
		volatile ULONG_PTR Count;
		PVOID volatile Ptr;
	};
} EX_RUNDOWN_REF, *PEX_RUNDOWN_REF;

VOID ExInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
	PLX_WIN_NAME(ExInitializeRundownProtection);
/** Returns: FALSE: it is run down, or being run down */
BOOLEAN ExAcquireRundownProtection(PEX_RUNDOWN_REF RunRef) PLX_WIN_NAME(ExAcquireRundownProtection);
BOOLEAN ExAcquireRundownProtectionEx(PEX_RUNDOWN_REF RunRef, ULONG Count)
	PLX_WIN_NAME(ExAcquireRundownProtectionEx);
VOID ExReleaseRundownProtection(PEX_RUNDOWN_REF RunRef) PLX_WIN_NAME(ExReleaseRundownProtection);
VOID ExReleaseRundownProtectionEx(PEX_RUNDOWN_REF RunRef, ULONG Count)
	PLX_WIN_NAME(ExReleaseRundownProtectionEx);
/** Run it down: let nobody acquire it, and wait for those who have. One thread does it. */
VOID ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF RunRef)
	PLX_WIN_NAME(ExWaitForRundownProtectionRelease);
/** Mark it as run down, after the wait. */
VOID ExRundownCompleted(PEX_RUNDOWN_REF RunRef) PLX_WIN_NAME(ExRundownCompleted);
/** Make it as new, after the wait. */
VOID ExReInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
	PLX_WIN_NAME(ExReInitializeRundownProtection);

/* ---- of one that processors share ----
 *
 * It has a cache line for itself, and one counter for all processors.
 */

typedef struct _EX_RUNDOWN_REF_CACHE_AWARE EX_RUNDOWN_REF_CACHE_AWARE, *PEX_RUNDOWN_REF_CACHE_AWARE;

/** Returns: NULL: no memory */
PEX_RUNDOWN_REF_CACHE_AWARE ExAllocateCacheAwareRundownProtection(POOL_TYPE PoolType, ULONG PoolTag)
	PLX_WIN_NAME(ExAllocateCacheAwareRundownProtection);
VOID ExFreeCacheAwareRundownProtection(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExFreeCacheAwareRundownProtection);
/** Returns: bytes of memory for ExInitializeRundownProtectionCacheAware() */
SIZE_T ExSizeOfRundownProtectionCacheAware(VOID) PLX_WIN_NAME(ExSizeOfRundownProtectionCacheAware);
VOID ExInitializeRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware,
					     SIZE_T RunRefSize)
	PLX_WIN_NAME(ExInitializeRundownProtectionCacheAware);
BOOLEAN ExAcquireRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExAcquireRundownProtectionCacheAware);
BOOLEAN ExAcquireRundownProtectionCacheAwareEx(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware,
					       ULONG Count)
	PLX_WIN_NAME(ExAcquireRundownProtectionCacheAwareEx);
VOID ExReleaseRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExReleaseRundownProtectionCacheAware);
VOID ExReleaseRundownProtectionCacheAwareEx(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware,
					    ULONG Count)
	PLX_WIN_NAME(ExReleaseRundownProtectionCacheAwareEx);
VOID ExWaitForRundownProtectionReleaseCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExWaitForRundownProtectionReleaseCacheAware);
VOID ExRundownCompletedCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExRundownCompletedCacheAware);
VOID ExReInitializeRundownProtectionCacheAware(PEX_RUNDOWN_REF_CACHE_AWARE RunRefCacheAware)
	PLX_WIN_NAME(ExReInitializeRundownProtectionCacheAware);

#ifdef __cplusplus
}
#endif

#endif
