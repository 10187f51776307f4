/* SPDX-License-Identifier: BSD-3-Clause
 *
 * basetsd.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_BASE_TSD_H
#define PLX_WIN_AS_BASE_TSD_H
#include "basetsd.h"
#endif
