/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: pool, lookaside lists, interlocked lists, locks that wait, work items.
 */
#ifndef PLX_WDK_WDMEX_H
#define PLX_WDK_WDMEX_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
