/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Io: drivers, devices, requests, registry keys.
 */
#ifndef PLX_WDK_WDMIO_H
#define PLX_WDK_WDMIO_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
