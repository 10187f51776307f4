/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one formatter of this room, and UTF-16. Start with rtl_format_narrow().
 */
#ifndef PLX_RTL_FORMAT_H
#define PLX_RTL_FORMAT_H

#include <wdm.h>

#include <stdarg.h>

/**
 * Write text by a format of Windows' kernel, without a final 0.
 * @param size [characters] of `to`; what does not fit is left out
 * Returns: the characters of the whole text
 */
size_t rtl_format_narrow(char *to, size_t size, const char *format, va_list args);
size_t rtl_format_wide(WCHAR *to, size_t size, const WCHAR *format, va_list args);

#define RTL_UTF16_UNITS_MAX 2 /* of a character */

/** Read a character; U+FFFD if it is not valid. @param left at least 1 Returns: the units read */
size_t rtl_utf16_decode(const WCHAR *at, size_t left, ULONG *c);
/** Write a character. Returns: the units written */
size_t rtl_utf16_encode(ULONG c, WCHAR out[RTL_UTF16_UNITS_MAX]);

#endif
