/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: timers that the system allocates, with periods in units of 100 ns. A driver waits for one as
 * for any object, or has a routine called at DISPATCH_LEVEL.
 * Tests: tests/unit/windows/ex/timer.c
 */
#ifndef PLX_WDK_WDMEXTIMER_H
#define PLX_WDK_WDMEXTIMER_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _EX_TIMER *PEX_TIMER;

typedef VOID EXT_CALLBACK(PEX_TIMER Timer, PVOID Context);
typedef EXT_CALLBACK *PEXT_CALLBACK;
typedef VOID EXT_DELETE_CALLBACK(PVOID Context);
typedef EXT_DELETE_CALLBACK *PEXT_DELETE_CALLBACK;

#define EX_TIMER_HIGH_RESOLUTION 0x00000004
#define EX_TIMER_NO_WAKE         0x00000008
#define EX_TIMER_NOTIFICATION    0x80000000 /* else it is a synchronization timer */

#define EX_TIMER_UNLIMITED_TOLERANCE ((LONGLONG)-1)

typedef struct _EXT_SET_PARAMETERS_V0 {
	ULONG Version;
	ULONG Reserved;
	LONGLONG NoWakeTolerance;
} EXT_SET_PARAMETERS, *PEXT_SET_PARAMETERS;

typedef struct _EXT_DELETE_PARAMETERS {
	ULONG Version;
	ULONG Reserved;
	PEXT_DELETE_CALLBACK DeleteCallback;
	PVOID DeleteContext;
} EXT_DELETE_PARAMETERS, *PEXT_DELETE_PARAMETERS;

typedef PVOID PEXT_CANCEL_PARAMETERS;

static inline VOID
ExInitializeSetTimerParameters(PEXT_SET_PARAMETERS Parameters)
{
	memset(Parameters, 0, sizeof(*Parameters));
}

static inline VOID
ExInitializeDeleteTimerParameters(PEXT_DELETE_PARAMETERS Parameters)
{
	memset(Parameters, 0, sizeof(*Parameters));
}

/**
 * @param Callback   called whenever it expires; NULL: none
 * @param Attributes EX_TIMER_ flags. All timers here are as exact as Linux's, and none wakes a
 *                   machine that sleeps
 * Returns: NULL: no memory, or flags that there are not, or HIGH_RESOLUTION with NO_WAKE
 */
PEX_TIMER ExAllocateTimer(PEXT_CALLBACK Callback, PVOID CallbackContext, ULONG Attributes)
	PLX_WIN_NAME(ExAllocateTimer);
/**
 * @param DueTime    [100 ns] negative: from now on; otherwise the system time
 * @param Period     [100 ns] 0: it expires once
 * @param Parameters NULL, or the tolerance, which is 0 here
 * Returns: TRUE: it was set, which is cancelled
 */
BOOLEAN ExSetTimer(PEX_TIMER Timer, LONGLONG DueTime, LONGLONG Period,
		   PEXT_SET_PARAMETERS Parameters) PLX_WIN_NAME(ExSetTimer);
/** Its routine may be running. @param Parameters NULL. Returns: FALSE: it was not set */
BOOLEAN ExCancelTimer(PEX_TIMER Timer, PEXT_CANCEL_PARAMETERS Parameters)
	PLX_WIN_NAME(ExCancelTimer);
/**
 * @param Cancel     FALSE: one that is set expires once more before it is deleted
 * @param Wait       wait until its routine has returned; then Cancel is TRUE, and the IRQL at most
 *                   APC_LEVEL
 * @param Parameters NULL, or a routine that is called when it has been deleted
 * Returns: TRUE: it was set, and is cancelled
 */
BOOLEAN ExDeleteTimer(PEX_TIMER Timer, BOOLEAN Cancel, BOOLEAN Wait,
		      PEXT_DELETE_PARAMETERS Parameters) PLX_WIN_NAME(ExDeleteTimer);

#ifdef __cplusplus
}
#endif

#endif
