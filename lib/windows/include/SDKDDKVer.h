/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sdkddkver.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_SDKDDKVER_MIXED_H
#define PLX_WIN_AS_SDKDDKVER_MIXED_H
#include "sdkddkver.h"
#endif
