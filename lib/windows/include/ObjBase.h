/* SPDX-License-Identifier: BSD-3-Clause
 *
 * objbase.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_OBJ_BASE_H
#define PLX_WIN_AS_OBJ_BASE_H
#include "objbase.h"
#endif
