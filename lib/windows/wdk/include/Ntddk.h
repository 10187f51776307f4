/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ntddk.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_NTDDK_FIRST_H
#define PLX_WDK_AS_NTDDK_FIRST_H
#include "ntddk.h"
#endif
