/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unknwn.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_UNKNWN_H
#define PLX_WIN_AS_UNKNWN_H
#include "unknwn.h"
#endif
