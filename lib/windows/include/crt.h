/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of Microsoft's C library that this system lacks or defines differently: bounded
 * strings, files with wide names, numbers from wide strings; and printf and scanf by Windows'
 * rules.
 *
 * Those rules: "%I64d" has 64 bits, "%ld" has 32 as a long has there, "%s" in a wide format is wide
 * and "%S" is the other kind. Wide output is written as UTF-8 to the same stream as narrow output;
 * glibc would fix the orientation of a stream and drop the other kind. A program that wants glibc's
 * functions defines PLX_WIN_PLAIN_CRT; Pollux itself does.
 */
#ifndef PLX_WIN_CRT_H
#define PLX_WIN_CRT_H

#include "windef.h"

#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

typedef int errno_t;
typedef size_t rsize_t;

#define _TRUNCATE ((size_t)-1)
#define STRUNCATE 80 /* a result: with _TRUNCATE some of it did not fit */
#define _MAX_PATH MAX_PATH

#if !defined(__cplusplus) && !defined(__USE_GNU)
/* -std=c11 hides these of glibc, and the program may have included its headers before ours. */
int fcloseall(void);
int fileno(FILE *file);
int posix_memalign(void **block, size_t alignment, size_t bytes);
char *strdup(const char *s);
size_t strnlen(const char *s, size_t size);
size_t wcsnlen(const wchar_t *s, size_t size);
struct tm;
struct tm *gmtime_r(const time_t *from, struct tm *to);
struct tm *localtime_r(const time_t *from, struct tm *to);
char *strtok_r(char *s, const char *separators, char **rest);
int wcscasecmp(const wchar_t *a, const wchar_t *b);
int wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t n);
wchar_t *wcsdup(const wchar_t *s);
#endif

PLX_WIN_BEGIN

FILE *_wfopen(const wchar_t *path, const wchar_t *mode) PLX_WIN_NAME(_wfopen);
FILE *_wfreopen(const wchar_t *path, const wchar_t *mode, FILE *file) PLX_WIN_NAME(_wfreopen);

/* The functions on which the other formatted ones are built. Returns: characters; -1 and errno */
int plx_win_vfprintf(FILE *file, const char *format, va_list args) PLX_WIN_NAME(vfprintf);
int plx_win_vfwprintf(FILE *file, const wchar_t *format, va_list args) PLX_WIN_NAME(vfwprintf);
/* Returns: characters of the complete text; a text that does not fit is truncated. */
int plx_win_vsnprintf(char *to, size_t size, const char *format, va_list args)
	PLX_WIN_NAME(vsnprintf);
int plx_win_vsnwprintf(wchar_t *to, size_t size, const wchar_t *format, va_list args)
	PLX_WIN_NAME(vsnwprintf);
int plx_win_vsscanf(const char *from, const char *format, va_list args) PLX_WIN_NAME(vsscanf);
int plx_win_vswscanf(const wchar_t *from, const wchar_t *format, va_list args)
	PLX_WIN_NAME(vswscanf);

PLX_WIN_END

#define _fcloseall fcloseall
#define _fileno    fileno
#define _alloca    __builtin_alloca

#define _stricmp   strcasecmp
#define _strnicmp  strncasecmp
#define _strdup    strdup
#define _wcsicmp   wcscasecmp
#define _wcsnicmp  wcsncasecmp
#define _wcsdup    wcsdup
#define strtok_s   strtok_r
#define wcstok_s   wcstok
#define _strtoi64  strtoll
#define _strtoui64 strtoull
#define _wcstoi64  wcstoll
#define _wcstoui64 wcstoull
#define _atoi64    atoll

static inline int
_wtoi(const wchar_t *s)
{
	return (int)wcstol(s, NULL, 10);
}

static inline long
_wtol(const wchar_t *s)
{
	return wcstol(s, NULL, 10);
}

static inline long long
_wtoi64(const wchar_t *s)
{
	return wcstoll(s, NULL, 10);
}

static inline double
_wtof(const wchar_t *s)
{
	return wcstod(s, NULL);
}

static inline errno_t
fopen_s(FILE **file, const char *path, const char *mode)
{
	*file = fopen(path, mode);
	return *file ? 0 : errno;
}

static inline errno_t
_wfopen_s(FILE **file, const wchar_t *path, const wchar_t *mode)
{
	*file = _wfopen(path, mode);
	return *file ? 0 : errno;
}

static inline void *
_aligned_malloc(size_t bytes, size_t alignment)
{
	void *block = NULL;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

static inline void
_aligned_free(void *block)
{
	free(block);
}

/* ---- bounded strings ----
 *
 * `size` is the room of `to` in characters. A result that does not fit leaves an empty string and
 * ERANGE. Windows would end the program there, unless it has set a handler.
 */

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
		while (n < count && from[n])                                                   \
			n++;                                                                   \
		if (n >= size && count != _TRUNCATE)                                           \
			return ERANGE;                                                         \
		if (n >= size) {                                                               \
			memcpy(to, from, (size - 1) * sizeof(kind));                           \
			to[size - 1] = 0;                                                      \
			return STRUNCATE;                                                      \
		}                                                                              \
		memcpy(to, from, n * sizeof(kind));                                            \
		to[n] = 0;                                                                     \
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
