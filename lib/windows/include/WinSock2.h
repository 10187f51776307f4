/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winsock2.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WIN_SOCK2_H
#define PLX_WIN_AS_WIN_SOCK2_H
#include "winsock2.h"
#endif
