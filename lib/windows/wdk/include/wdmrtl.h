/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: lists, strings, memory, and what is said to a debugger.
 */
#ifndef PLX_WDK_WDMRTL_H
#define PLX_WDK_WDMRTL_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
