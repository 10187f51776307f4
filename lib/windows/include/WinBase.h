/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winbase.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WIN_BASE_H
#define PLX_WIN_AS_WIN_BASE_H
#include "winbase.h"
#endif
