/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers include this name; the annotations are in driverspecs.h and concurrencysal.h.
 */
#ifndef PLX_WDK_KERNELSPECS_H
#define PLX_WDK_KERNELSPECS_H
#include <sal.h>
#endif
