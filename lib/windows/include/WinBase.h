/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winbase.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WIN_BASE_H
#define PLX_WIN_AS_WIN_BASE_H
#include "winbase.h"
#endif
