/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2ipdef.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WS2IPDEF_H
#define PLX_WIN_AS_WS2IPDEF_H
#include "ws2ipdef.h"
#endif
