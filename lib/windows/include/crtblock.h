/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounded memory, and more bounded strings, of Microsoft's C library, for programs and drivers. An
 * invalid argument yields EINVAL and a result that does not fit ERANGE, with an empty string or
 * zeros in the destination. Windows would end the program there, unless it has set a handler.
 * Tests: tests/unit/windows/crt/secure.c
 */
#ifndef PLX_WIN_CRTBLOCK_H
#define PLX_WIN_CRTBLOCK_H

#include "crtbounded.h"

#include <ctype.h>
#include <wctype.h>

#if !defined(__cplusplus) && !defined(__USE_GNU)
/* -std=c11 hides these of glibc. */
size_t strnlen(const char *s, size_t size);
size_t wcsnlen(const wchar_t *s, size_t size);
#endif

/* Bytes, or wide characters: size and count are in units of what `to` points at. */
#define PLX_WIN_BLOCK_S(name, kind, copy)                                                 \
	static inline errno_t name(kind *to, size_t size, const kind *from, size_t count) \
	{                                                                                 \
		if (count == 0)                                                           \
			return 0;                                                         \
		if (!to)                                                                  \
			return EINVAL;                                                    \
		if (!from || size < count) {                                              \
			memset(to, 0, size *PLX_WIN_UNIT_##kind);                         \
			return from ? ERANGE : EINVAL;                                    \
		}                                                                         \
		copy(to, from, count *PLX_WIN_UNIT_##kind);                               \
		return 0;                                                                 \
	}
#define PLX_WIN_UNIT_void    1
#define PLX_WIN_UNIT_wchar_t sizeof(wchar_t)
PLX_WIN_BLOCK_S(memcpy_s, void, memcpy)
PLX_WIN_BLOCK_S(wmemcpy_s, wchar_t, memcpy)

/* Source and destination of these may overlap. */
#define PLX_WIN_MOVE_S(name, kind)                                                        \
	static inline errno_t name(kind *to, size_t size, const kind *from, size_t count) \
	{                                                                                 \
		if (count == 0)                                                           \
			return 0;                                                         \
		if (!to || !from)                                                         \
			return EINVAL;                                                    \
		if (size < count)                                                         \
			return ERANGE;                                                    \
		memmove(to, from, count *PLX_WIN_UNIT_##kind);                            \
		return 0;                                                                 \
	}
PLX_WIN_MOVE_S(memmove_s, void)
PLX_WIN_MOVE_S(wmemmove_s, wchar_t)

#define PLX_WIN_CASE_S(kind, length_name, case_name, to_case, unit) \
	static inline errno_t case_name(kind *text, size_t size)    \
	{                                                           \
		size_t n = length_name(text, size);                 \
                                                                    \
		if (text && size && n == size)                      \
			text[0] = 0;                                \
		if (!text || n == size)                             \
			return EINVAL;                              \
		for (; *text; text++)                               \
			*text = (kind)to_case((unit)*text);         \
		return 0;                                           \
	}
#define PLX_WIN_TEXT_S(kind, append_name, part_name, bounded_length, length_name, lower_name,    \
		       upper_name, to_lower, to_upper, unit)                                     \
	/* size if there is no 0 within it; 0 of NULL */                                         \
	static inline size_t length_name(const kind *text, size_t size)                          \
	{                                                                                        \
		return text ? bounded_length(text, size) : 0;                                    \
	}                                                                                        \
	/* up to count characters behind what is there; _TRUNCATE: as many as fit */             \
	static inline errno_t append_name(kind *to, size_t size, const kind *from, size_t count) \
	{                                                                                        \
		size_t used = length_name(to, size);                                             \
		errno_t error;                                                                   \
                                                                                                 \
		if (!to && !size && !count)                                                      \
			return 0;                                                                \
		if (!to || used == size || (!from && count)) {                                   \
			if (to && size)                                                          \
				to[0] = 0;                                                       \
			return EINVAL;                                                           \
		}                                                                                \
		if (!count)                                                                      \
			return 0;                                                                \
		error = part_name(to + used, size - used, from, count);                          \
		if (error && error != STRUNCATE)                                                 \
			to[0] = 0;                                                               \
		return error;                                                                    \
	}                                                                                        \
	PLX_WIN_CASE_S(kind, length_name, lower_name, to_lower, unit)                            \
	PLX_WIN_CASE_S(kind, length_name, upper_name, to_upper, unit)
PLX_WIN_TEXT_S(char, strncat_s, strncpy_s, strnlen, strnlen_s, _strlwr_s, _strupr_s, tolower,
	       toupper, unsigned char)
PLX_WIN_TEXT_S(wchar_t, wcsncat_s, wcsncpy_s, wcsnlen, wcsnlen_s, _wcslwr_s, _wcsupr_s, towlower,
	       towupper, wint_t)

#ifdef __cplusplus
PLX_WIN_SIZED_N(char, strncat_s)
PLX_WIN_SIZED_N(wchar_t, wcsncat_s)
template <size_t size>
inline errno_t
_strlwr_s(char (&text)[size])
{
	return _strlwr_s(text, size);
}
template <size_t size>
inline errno_t
_strupr_s(char (&text)[size])
{
	return _strupr_s(text, size);
}
#endif

#endif
