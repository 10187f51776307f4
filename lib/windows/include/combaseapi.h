/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in unknwn.h.
 */
#ifndef PLX_WIN_COMBASEAPI_H
#define PLX_WIN_COMBASEAPI_H
#include "unknwn.h"
#endif
