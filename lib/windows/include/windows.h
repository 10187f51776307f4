/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program written for NetworkDirect on Windows expects of windows.h, on Linux; no window.
 * The order of the includes is that of the subjects: types, structures, calls, the C library.
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
