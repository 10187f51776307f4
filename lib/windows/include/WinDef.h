/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windef.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WIN_DEF_H
#define PLX_WIN_AS_WIN_DEF_H
#include "windef.h"
#endif
