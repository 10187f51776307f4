/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke: interrupt levels, objects to wait for, timers, deferred calls, spin locks.
 */
#ifndef PLX_WDK_WDMKE_H
#define PLX_WDK_WDMKE_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
