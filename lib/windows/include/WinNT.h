/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winnt.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_WIN_N_T_H
#define PLX_WIN_AS_WIN_N_T_H
#include "winnt.h"
#endif
