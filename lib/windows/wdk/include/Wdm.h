/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wdm.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_WDM_FIRST_H
#define PLX_WDK_AS_WDM_FIRST_H
#include "wdm.h"
#endif
