/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What drivers take from Windows' kernel, in a process. Names, layouts and behaviour are those of
 * the Windows Driver Kit; each prefix has a header of its own.
 */
#ifndef PLX_WDK_WDM_H
#define PLX_WDK_WDM_H

#include "wdmtypes.h"
#include "wdmseh.h"
#include "wdmrtl.h"
#include "wdmke.h"
#include "wdmmm.h"
#include "wdmex.h"
#include "wdmio.h"

/* Nothing is paged here; code that might be is held to its level all the same. */
#define PAGED_CODE() NT_ASSERT(KeGetCurrentIrql() <= APC_LEVEL)

#endif
