/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winerror.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WIN_ERROR_H
#define PLX_WIN_AS_WIN_ERROR_H
#include "winerror.h"
#endif
