/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers include this name for Microsoft's analyser, which does not run here.
 */
#ifndef PLX_WDK_SUPPRESS_H
#define PLX_WDK_SUPPRESS_H
#include <sal.h>
#endif
