/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rooms of the Windows surface use of its C run-time library: text in both widths, errors
 * from one numbering to another, the last error of a thread. Clients use the Windows names
 * (../include); of this header libpollux-win exports PLX_WIN_API alone.
 * It owns no state. Start with utf8_of_wide() and win_fail().
 *
 * Threads: every function here may be called from any thread.
 */
#ifndef PLX_CRT_H
#define PLX_CRT_H

#include <windows.h>

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_WIN_API __attribute__((visibility("default")))

/* Wide strings of Windows programs to the UTF-8 of files and paths, and back, whatever the locale
 */

/**
 * @param size [bytes] of `out`, with room for the 0; 0: nothing is written
 * Returns: the bytes that all of it takes, without the 0; what is no character becomes U+FFFD.
 * What does not fit is left out, whole characters at a time.
 */
size_t utf8_of_wide(const wchar_t *text, char *out, size_t size);

/** The same, the other way. @param size [characters] */
size_t wide_of_utf8(const char *text, wchar_t *out, size_t size);

/* Errors */

/** The Win32 error of a status; of one that has none, ERROR_MR_MID_NOT_FOUND. Cost: O(log n) */
uint32_t win_error_of_status(int32_t status);

/** What a call of the system failed with, as Windows' calls on files say it. */
uint32_t win_error_of_errno(int number);
/** The same of sockets: a WSAE... */
int win_wsa_of_errno(int number);

/** SetLastError, for `return win_fail(...)`. Returns: FALSE */
BOOL win_fail(DWORD error);

/* Programs that begin in wmain() */

/**
 * Strings in UTF-8 as wide ones, whatever the locale: what main() of libpollux-wmain hands on.
 *
 * Returns: `count` strings and a NULL, in one block for free(); NULL: no memory
 */
PLX_WIN_API wchar_t **plx_wide_strings(int count, char *const *narrow);

#ifdef __cplusplus
}
#endif

#endif
