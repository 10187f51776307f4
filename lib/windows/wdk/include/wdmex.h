/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: pool is in wdmpool.h, lookaside lists in wdmlook.h, interlocked lists in wdmxlist.h, locks
 * that wait in wdmlock.h, rundown protection in wdmrun.h, work items in wdmwork.h, timers that the
 * system allocates in wdmextimer.h. What is raised is in wdmseh.h; shared spin locks and local time
 * are with those of Ke.
 */
#ifndef PLX_WDK_WDMEX_H
#define PLX_WDK_WDMEX_H

#include "wdmtypes.h"
#include "wdmpool.h"
#include "wdmlook.h"
#include "wdmxlist.h"
#include "wdmlock.h"
#include "wdmrun.h"
#include "wdmwork.h"
#include "wdmextimer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns: UserMode in the dispatch routine of a request that a program has made, until it
 * returns; otherwise KernelMode */
KPROCESSOR_MODE ExGetPreviousMode(VOID) PLX_WIN_NAME(ExGetPreviousMode);
/** @param Uuid gets 122 random bits, as version 4
 *  Returns: STATUS_SUCCESS; STATUS_RETRY: there are no random numbers yet */
NTSTATUS ExUuidCreate(UUID *Uuid) PLX_WIN_NAME(ExUuidCreate);

#ifdef __cplusplus
}
#endif

#endif
