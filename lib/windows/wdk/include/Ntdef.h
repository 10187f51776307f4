/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ntdef.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_NTDEF_FIRST_H
#define PLX_WDK_AS_NTDEF_FIRST_H
#include "ntdef.h"
#endif
