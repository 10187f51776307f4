/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in winsock2.h.
 */
#ifndef PLX_WIN_WS2DEF_H
#define PLX_WIN_WS2DEF_H
#include "winsock2.h"
#endif
