/* SPDX-License-Identifier: BSD-3-Clause
 *
 * initguid.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_INIT_GUID_H
#define PLX_WIN_AS_INIT_GUID_H
#include "initguid.h"
#endif
