/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2def.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WS2DEF_FIRST_H
#define PLX_WIN_AS_WS2DEF_FIRST_H
#include "ws2def.h"
#endif
