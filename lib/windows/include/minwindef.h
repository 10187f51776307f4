/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in windef.h.
 */
#ifndef PLX_WIN_MINWINDEF_H
#define PLX_WIN_MINWINDEF_H
#include "windef.h"
#endif
