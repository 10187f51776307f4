/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in unknwn.h.
 */
#ifndef PLX_WIN_OBJBASE_H
#define PLX_WIN_OBJBASE_H
#include "unknwn.h"
#endif
