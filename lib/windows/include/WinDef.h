/* SPDX-License-Identifier: BSD-3-Clause
 *
 * windef.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WIN_DEF_H
#define PLX_WIN_AS_WIN_DEF_H
#include "windef.h"
#endif
