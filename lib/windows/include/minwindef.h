/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include; what is expected of it is in windef.h.
 */
#ifndef PLX_WIN_MINWINDEF_H
#define PLX_WIN_MINWINDEF_H
#include "windef.h"
#endif
