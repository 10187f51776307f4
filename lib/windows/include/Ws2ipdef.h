/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2ipdef.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WS2IPDEF_H
#define PLX_WIN_AS_WS2IPDEF_H
#include "ws2ipdef.h"
#endif
