/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wide strings of Windows programs to the UTF-8 of files and paths, and back, whatever the locale.
 * It owns no state. Start with utf8_of_wide().
 */
#ifndef PLX_WIN_UTF8_H
#define PLX_WIN_UTF8_H

#include <stddef.h>
#include <wchar.h>

/**
 * @param size [bytes] of `out`, with room for the 0; 0: nothing is written
 * Returns: the bytes that all of it takes, without the 0; what is no character becomes U+FFFD.
 * What does not fit is left out, whole characters at a time.
 */
size_t utf8_of_wide(const wchar_t *text, char *out, size_t size);

/** The same, the other way. @param size [characters] */
size_t wide_of_utf8(const char *text, wchar_t *out, size_t size);

#endif
