/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unknwn.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_UNKNWN_H
#define PLX_WIN_AS_UNKNWN_H
#include "unknwn.h"
#endif
