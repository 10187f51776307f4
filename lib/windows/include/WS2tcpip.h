/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2tcpip.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_W_S2TCPIP_H
#define PLX_WIN_AS_W_S2TCPIP_H
#include "ws2tcpip.h"
#endif
