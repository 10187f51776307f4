/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What drivers outside the driver model include: wdm.h, and the little beyond it that is here.
 */
#ifndef PLX_WDK_NTDDK_H
#define PLX_WDK_NTDDK_H

#include "wdm.h"

#endif
