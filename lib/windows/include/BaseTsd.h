/* SPDX-License-Identifier: BSD-3-Clause
 *
 * basetsd.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_BASE_TSD_H
#define PLX_WIN_AS_BASE_TSD_H
#include "basetsd.h"
#endif
