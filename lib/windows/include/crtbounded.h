/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounded strings of Microsoft's C library, for programs and drivers. It calls wcslen() by that
 * name, which is a macro where a WCHAR has 16 bits.
 *
 * `size` is the room of `to` in characters. A result that does not fit leaves an empty string and
 * ERANGE. Windows would end the program there, unless it has set a handler.
 */
#ifndef PLX_WIN_CRTBOUNDED_H
#define PLX_WIN_CRTBOUNDED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

typedef int errno_t;
typedef size_t rsize_t;

#define _TRUNCATE ((size_t)-1)
#define STRUNCATE 80 /* a result: with _TRUNCATE some of it did not fit */

#define PLX_WIN_BOUNDED(kind, copy_name, append_name, part_name, length)                       \
	static inline errno_t part_name(kind *to, size_t size, const kind *from, size_t count) \
	{                                                                                      \
		size_t n = 0;                                                                  \
                                                                                               \
		if (!to || size == 0)                                                          \
			return EINVAL;                                                         \
		to[0] = 0;                                                                     \
		if (!from)                                                                     \
			return EINVAL;                                                         \
		for (; n < count && from[n]; n++) {                                            \
			if (size - n == 1) {                                                   \
				if (count == _TRUNCATE)                                        \
					return STRUNCATE;                                      \
				to[0] = 0;                                                     \
				return ERANGE;                                                 \
			}                                                                      \
			to[n] = from[n];                                                       \
			to[n + 1] = 0;                                                         \
		}                                                                              \
		return 0;                                                                      \
	}                                                                                      \
	static inline errno_t copy_name(kind *to, size_t size, const kind *from)               \
	{                                                                                      \
		return part_name(to, size, from, from ? length(from) : 0);                     \
	}                                                                                      \
	static inline errno_t append_name(kind *to, size_t size, const kind *from)             \
	{                                                                                      \
		size_t used = 0;                                                               \
		errno_t error;                                                                 \
                                                                                               \
		while (to && used < size && to[used])                                          \
			used++;                                                                \
		if (!to || used == size)                                                       \
			return EINVAL;                                                         \
		error = copy_name(to + used, size - used, from);                               \
		if (error)                                                                     \
			to[0] = 0;                                                             \
		return error;                                                                  \
	}

PLX_WIN_BOUNDED(char, strcpy_s, strcat_s, strncpy_s, strlen)
PLX_WIN_BOUNDED(wchar_t, wcscpy_s, wcscat_s, wcsncpy_s, wcslen)

#ifdef __cplusplus
/* C++ programs leave the size of an array to the compiler. */
#define PLX_WIN_SIZED(kind, name)                                                     \
	template <size_t size> inline errno_t name(kind(&to)[size], const kind *from) \
	{                                                                             \
		return name(to, size, from);                                          \
	}
#define PLX_WIN_SIZED_N(kind, name)                                          \
	template <size_t size>                                               \
	inline errno_t name(kind(&to)[size], const kind *from, size_t count) \
	{                                                                    \
		return name(to, size, from, count);                          \
	}
PLX_WIN_SIZED(char, strcpy_s)
PLX_WIN_SIZED(char, strcat_s)
PLX_WIN_SIZED(wchar_t, wcscpy_s)
PLX_WIN_SIZED(wchar_t, wcscat_s)
PLX_WIN_SIZED_N(char, strncpy_s)
PLX_WIN_SIZED_N(wchar_t, wcsncpy_s)
#endif

#endif
