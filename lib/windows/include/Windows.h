/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windows.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WINDOWS_H
#define PLX_WIN_AS_WINDOWS_H
#include "windows.h"
#endif
