/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From here on DEFINE_GUID defines what it otherwise declares.
 * As on Windows it is included first; what was included before it stays declared.
 */
#ifndef PLX_WIN_INITGUID_H
#define PLX_WIN_INITGUID_H

#ifndef INITGUID
#define INITGUID 1
#endif
#include "guiddef.h"

#endif
