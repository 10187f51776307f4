/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2tcpip.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WS2TCPIP_H
#define PLX_WIN_AS_WS2TCPIP_H
#include "ws2tcpip.h"
#endif
