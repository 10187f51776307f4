/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winerror.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WIN_ERROR_H
#define PLX_WIN_AS_WIN_ERROR_H
#include "winerror.h"
#endif
