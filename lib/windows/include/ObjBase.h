/* SPDX-License-Identifier: BSD-3-Clause
 *
 * objbase.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_OBJ_BASE_H
#define PLX_WIN_AS_OBJ_BASE_H
#include "objbase.h"
#endif
