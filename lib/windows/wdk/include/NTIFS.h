/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ntifs.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_NTIFS_CAPITAL_H
#define PLX_WDK_AS_NTIFS_CAPITAL_H
#include "ntifs.h"
#endif
