/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke: interrupt levels, and what is done with them. Objects to wait for are in wdmwait.h, deferred
 * calls in wdmdpc.h, spin locks in wdmspin.h, threads in wdmps.h, time and processors in wdmtime.h,
 * handles and counted objects in wdmob.h.
 *
 * The IRQL is a value of each thread. It is PASSIVE_LEVEL in a thread that starts, and
 * DISPATCH_LEVEL in a DPC, while a spin lock is held and in a callback of NDK. It stops nothing
 * from running: a thread at DISPATCH_LEVEL can be preempted, and takes no processor for itself. A
 * call at a level at which Windows forbids it ends the process with a sentence, if the checks are
 * on (POLLUX_DBG).
 */
#ifndef PLX_WDK_WDMKE_H
#define PLX_WDK_WDMKE_H

#include "wdmtypes.h"
#include "wdmob.h"
#include "wdmps.h"
#include "wdmdpc.h"
#include "wdmwait.h"
#include "wdmspin.h"
#include "wdmtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PASSIVE_LEVEL  0
#define LOW_LEVEL      0
#define APC_LEVEL      1
#define DISPATCH_LEVEL 2
#define CMCI_LEVEL     5
#define CLOCK_LEVEL    13
#define IPI_LEVEL      14
#define DRS_LEVEL      14
#define POWER_LEVEL    14
#define PROFILE_LEVEL  15
#define HIGH_LEVEL     15

KIRQL KeGetCurrentIrql(VOID) PLX_WIN_NAME(KeGetCurrentIrql);
/** @param NewIrql at least the present level
 *  @param OldIrql gets the present level, for KeLowerIrql() */
VOID KeRaiseIrql(KIRQL NewIrql, PKIRQL OldIrql) PLX_WIN_NAME(KeRaiseIrql);
/** @param NewIrql at most the present level; below DISPATCH_LEVEL only without a spin lock */
VOID KeLowerIrql(KIRQL NewIrql) PLX_WIN_NAME(KeLowerIrql);
/** Returns: the level before, for KeLowerIrql() */
KIRQL KeRaiseIrqlToDpcLevel(VOID) PLX_WIN_NAME(KeRaiseIrqlToDpcLevel);

/**
 * End the process with a sentence that has the code and the parameters.
 * @param BugCheckCode  what is wrong, a number of the caller's or of bugcodes.h
 * Errors: it does not return
 */
DECLSPEC_NORETURN VOID KeBugCheckEx(ULONG BugCheckCode, ULONG_PTR BugCheckParameter1,
				    ULONG_PTR BugCheckParameter2, ULONG_PTR BugCheckParameter3,
				    ULONG_PTR BugCheckParameter4) PLX_WIN_NAME(KeBugCheckEx);
DECLSPEC_NORETURN VOID KeBugCheck(ULONG BugCheckCode) PLX_WIN_NAME(KeBugCheck);

#define KeMemoryBarrier()             MemoryBarrier()
#define KeMemoryBarrierWithoutFence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#ifdef __cplusplus
}
#endif

#endif
