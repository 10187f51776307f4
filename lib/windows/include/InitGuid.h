/* SPDX-License-Identifier: BSD-3-Clause
 *
 * initguid.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_INIT_GUID_H
#define PLX_WIN_AS_INIT_GUID_H
#include "initguid.h"
#endif
