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

#include "crtbounded.h"

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

#endif
