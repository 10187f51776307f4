/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What NetworkDirect programs for Windows expect of windows.h, on Linux; no windows. The includes
 * are ordered by subject: types, structures, calls, the C library.
 */
#ifndef PLX_WIN_WINDOWS_H
#define PLX_WIN_WINDOWS_H

#include "quiet.h"
#include "windef.h"
#include "winnt.h"
#include "winerror.h"
#include "winbase.h"
#include "synchapi.h"
#include "fileapi.h"
#include "crt.h"
#include "crtsecure.h"
#ifndef PLX_WIN_PLAIN_CRT
#include "crtformat.h"
#endif

#endif
