/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winsock2.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WINSOCK2_H
#define PLX_WIN_AS_WINSOCK2_H
#include "winsock2.h"
#endif
