/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From here on DEFINE_GUID defines identifiers instead of declaring them.
 * As on Windows, include it first; identifiers of headers included before it are only declared.
 */
#ifndef PLX_WIN_INITGUID_H
#define PLX_WIN_INITGUID_H

#ifndef INITGUID
#define INITGUID 1
#endif
#include "guiddef.h"

#endif
