/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in ws2def.h.
 */
#ifndef PLX_WIN_WS2IPDEF_H
#define PLX_WIN_WS2IPDEF_H
#include "ws2def.h"
#endif
