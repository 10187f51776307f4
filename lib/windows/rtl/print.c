/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sprintf and its kin of the kernel's C run-time functions. They differ in what becomes of a text
 * that does not fit. Start with _vsnprintf_s().
 */
#include "format.h"

#include <limits.h>

/* A length as a result. */
static int
as_int(size_t length)
{
	return length > INT_MAX ? -1 : (int)length;
}

#define PRINTS(kind, format_text, whole_name, old_name, bounded_name, counted_name)             \
	whole_name(kind *to, size_t size, const kind *format, va_list args)                     \
	{                                                                                       \
		size_t n = format_text(to, size ? size - 1 : 0, format, args);                  \
                                                                                                \
		if (size)                                                                       \
			to[n < size ? n : size - 1] = 0;                                        \
		return as_int(n);                                                               \
	}                                                                                       \
	int old_name(kind *to, size_t size, const kind *format, va_list args)                   \
	{                                                                                       \
		size_t n = format_text(to, size, format, args);                                 \
                                                                                                \
		if (n < size)                                                                   \
			to[n] = 0;                                                              \
		return n > size ? -1 : as_int(n);                                               \
	}                                                                                       \
	int bounded_name(kind *to, size_t size, const kind *format, va_list args)               \
	{                                                                                       \
		size_t n;                                                                       \
                                                                                                \
		if (!to || !size || !format)                                                    \
			return -1;                                                              \
		n = format_text(to, size - 1, format, args);                                    \
		to[n < size ? n : 0] = 0;                                                       \
		return n < size ? as_int(n) : -1;                                               \
	}                                                                                       \
	int counted_name(kind *to, size_t size, size_t count, const kind *format, va_list args) \
	{                                                                                       \
		size_t n, most = count < size ? count : size - 1;                               \
                                                                                                \
		if (!to || !size || !format)                                                    \
			return -1;                                                              \
		n = format_text(to, most, format, args);                                        \
		to[n <= most ? n : count < size || count == _TRUNCATE ? most : 0] = 0;          \
		return n <= most ? as_int(n) : -1;                                              \
	}
PRINTS(char, rtl_format_narrow, int plx_rtl_vsnprintf, _vsnprintf, vsprintf_s, _vsnprintf_s)
PRINTS(WCHAR, rtl_format_wide, static int vsnwprintf_whole, _vsnwprintf, vswprintf_s, _vsnwprintf_s)

int
plx_rtl_vswprintf(WCHAR *to, size_t size, const WCHAR *format, va_list args)
{
	int n = vsnwprintf_whole(to, size, format, args);

	return n >= 0 && (size_t)n < size ? n : -1;
}

int
plx_rtl_vsprintf(char *to, const char *format, va_list args)
{
	return plx_rtl_vsnprintf(to, INT_MAX, format, args);
}

/* A function with "..." of one with a va_list. */
#define WITH_DOTS(name, parameters, call) \
	int name parameters               \
	{                                 \
		va_list args;             \
		int n;                    \
                                          \
		va_start(args, format);   \
		n = call;                 \
		va_end(args);             \
		return n;                 \
	}
WITH_DOTS(plx_rtl_sprintf, (char *to, const char *format, ...), plx_rtl_vsprintf(to, format, args))
WITH_DOTS(plx_rtl_snprintf, (char *to, size_t size, const char *format, ...),
	  plx_rtl_vsnprintf(to, size, format, args))
WITH_DOTS(_snprintf, (char *to, size_t size, const char *format, ...),
	  _vsnprintf(to, size, format, args))
WITH_DOTS(sprintf_s, (char *to, size_t size, const char *format, ...),
	  vsprintf_s(to, size, format, args))
WITH_DOTS(_snprintf_s, (char *to, size_t size, size_t count, const char *format, ...),
	  _vsnprintf_s(to, size, count, format, args))
WITH_DOTS(plx_rtl_swprintf, (WCHAR * to, size_t size, const WCHAR *format, ...),
	  plx_rtl_vswprintf(to, size, format, args))
WITH_DOTS(_snwprintf, (WCHAR * to, size_t size, const WCHAR *format, ...),
	  _vsnwprintf(to, size, format, args))
WITH_DOTS(swprintf_s, (WCHAR * to, size_t size, const WCHAR *format, ...),
	  vswprintf_s(to, size, format, args))
WITH_DOTS(_snwprintf_s, (WCHAR * to, size_t size, size_t count, const WCHAR *format, ...),
	  _vsnwprintf_s(to, size, count, format, args))
