/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mstcpip.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_MSTCPIP_FIRST_H
#define PLX_WIN_AS_MSTCPIP_FIRST_H
#include "mstcpip.h"
#endif
