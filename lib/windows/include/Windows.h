/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windows.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WINDOWS_H
#define PLX_WIN_AS_WINDOWS_H
#include "windows.h"
#endif
