/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winnt.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WIN_N_T_H
#define PLX_WIN_AS_WIN_N_T_H
#include "winnt.h"
#endif
