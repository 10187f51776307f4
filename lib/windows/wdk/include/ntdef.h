/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers include this name for the plain types and strings.
 */
#ifndef PLX_WDK_NTDEF_H
#define PLX_WDK_NTDEF_H
#include "wdmtypes.h"
#include "wdmrtl.h"
#endif
