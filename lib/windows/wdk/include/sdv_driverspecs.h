/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers include this name; the annotations are in driverspecs.h.
 */
#ifndef PLX_WDK_SDV_DRIVERSPECS_H
#define PLX_WDK_SDV_DRIVERSPECS_H
#include <sal.h>
#endif
