/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: the C run-time functions of Windows' kernel. Those of narrow text that the C library has are
 * its own. Those of wide text are ours where a WCHAR has 16 bits: glibc's read 32. Each has a name
 * of its own, to which a macro leads from the C library's. Formats follow Windows' rules.
 *
 * The headers of the C library that declare these names come first, so that it does not matter
 * whether a driver includes them before or after.
 */
#ifndef PLX_WDK_WDMCRT_H
#define PLX_WDK_WDMCRT_H

#include "wdmtypes.h"

#include <crtbits.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>
#ifdef __cplusplus
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <cwctype>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats ---- */

/* Returns: characters of the whole text, which is truncated if it does not fit */
int plx_rtl_vsnprintf(char *to, size_t size, const char *format, va_list args)
	PLX_WIN_NAME(rtl_vsnprintf);
/* Returns: -1, and no final 0, if there are more than size characters */
int _vsnprintf(char *to, size_t size, const char *format, va_list args)
	PLX_WIN_NAME(rtl__vsnprintf);
/* Returns: -1, and an empty string, if it does not fit */
int vsprintf_s(char *to, size_t size, const char *format, va_list args)
	PLX_WIN_NAME(rtl_vsprintf_s);
/* Returns: -1 if there are more than count characters, of which as many are there, or, of
 * _TRUNCATE, as many as fit. Otherwise as vsprintf_s(). */
int _vsnprintf_s(char *to, size_t size, size_t count, const char *format, va_list args)
	PLX_WIN_NAME(rtl__vsnprintf_s);
int plx_rtl_vsprintf(char *to, const char *format, va_list args) PLX_WIN_NAME(rtl_vsprintf);
int plx_rtl_sprintf(char *to, const char *format, ...) PLX_WIN_NAME(rtl_sprintf);
int plx_rtl_snprintf(char *to, size_t size, const char *format, ...) PLX_WIN_NAME(rtl_snprintf);
int _snprintf(char *to, size_t size, const char *format, ...) PLX_WIN_NAME(rtl__snprintf);
int sprintf_s(char *to, size_t size, const char *format, ...) PLX_WIN_NAME(rtl_sprintf_s);
int _snprintf_s(char *to, size_t size, size_t count, const char *format, ...)
	PLX_WIN_NAME(rtl__snprintf_s);
/* glibc may have macros of these with _FORTIFY_SOURCE. */
#undef sprintf
#undef snprintf
#undef vsprintf
#undef vsnprintf
#undef swprintf
#undef vswprintf
/* Pollux itself keeps the C library's. */
#ifndef PLX_WIN_PLAIN_CRT
#define sprintf(...)                      plx_rtl_sprintf(__VA_ARGS__)
#define snprintf(...)                     plx_rtl_snprintf(__VA_ARGS__)
#define vsprintf(to, format, args)        plx_rtl_vsprintf(to, format, args)
#define vsnprintf(to, size, format, args) plx_rtl_vsnprintf(to, size, format, args)
#endif

/* ---- numbers ---- */

/* Radix 2 to 36, with small letters; a negative number has a sign in radix 10 alone. The _s kinds
 * return EINVAL, or ERANGE and an empty string. */
char *_itoa(int value, char *to, int radix) PLX_WIN_NAME(rtl__itoa);
int _itoa_s(int value, char *to, size_t size, int radix) PLX_WIN_NAME(rtl__itoa_s);
int _ultoa_s(ULONG value, char *to, size_t size, int radix) PLX_WIN_NAME(rtl__ultoa_s);
int _i64toa_s(long long value, char *to, size_t size, int radix) PLX_WIN_NAME(rtl__i64toa_s);
int _ui64toa_s(unsigned long long value, char *to, size_t size, int radix)
	PLX_WIN_NAME(rtl__ui64toa_s);

#define _stricmp   strcasecmp
#define _strnicmp  strncasecmp
#define _strtoi64  strtoll
#define _strtoui64 strtoull
#define _atoi64    atoll
char *_strlwr(char *s) PLX_WIN_NAME(rtl__strlwr);
char *_strupr(char *s) PLX_WIN_NAME(rtl__strupr);
char *_strrev(char *s) PLX_WIN_NAME(rtl__strrev);

#if __SIZEOF_WCHAR_T__ == 2

/* ---- wide text ---- */

#define wcslen      plx_rtl_wcslen
#define wcsnlen     plx_rtl_wcsnlen
#define wcscpy      plx_rtl_wcscpy
#define wcsncpy     plx_rtl_wcsncpy
#define wcscat      plx_rtl_wcscat
#define wcsncat     plx_rtl_wcsncat
#define wcscmp      plx_rtl_wcscmp
#define wcsncmp     plx_rtl_wcsncmp
#define wcschr      plx_rtl_wcschr
#define wcsrchr     plx_rtl_wcsrchr
#define wcsstr      plx_rtl_wcsstr
#define wcsspn      plx_rtl_wcsspn
#define wcscspn     plx_rtl_wcscspn
#define wcspbrk     plx_rtl_wcspbrk
#define wcstok_s    plx_rtl_wcstok_s
#define wcstol      plx_rtl_wcstol
#define wcstoul     plx_rtl_wcstoul
#define wcstoll     plx_rtl_wcstoll
#define wcstoull    plx_rtl_wcstoull
#define wmemcpy     plx_rtl_wmemcpy
#define wmemmove    plx_rtl_wmemmove
#define wmemset     plx_rtl_wmemset
#define wmemcmp     plx_rtl_wmemcmp
#define wmemchr     plx_rtl_wmemchr
#define towupper    plx_rtl_towupper
#define towlower    plx_rtl_towlower
#define mbstowcs    plx_rtl_mbstowcs
#define wcstombs    plx_rtl_wcstombs
#define swprintf    plx_rtl_swprintf
#define vswprintf   plx_rtl_vswprintf
#define _wcsicmp    wcscasecmp
#define _wcsnicmp   wcsncasecmp
#define wcscasecmp  plx_rtl_wcscasecmp
#define wcsncasecmp plx_rtl_wcsncasecmp
#define _wcstoi64   wcstoll
#define _wcstoui64  wcstoull

size_t wcslen(const WCHAR *s) PLX_WIN_NAME(rtl_wcslen);
size_t wcsnlen(const WCHAR *s, size_t size) PLX_WIN_NAME(rtl_wcsnlen);
WCHAR *wcscpy(WCHAR *to, const WCHAR *from) PLX_WIN_NAME(rtl_wcscpy);
WCHAR *wcsncpy(WCHAR *to, const WCHAR *from, size_t size) PLX_WIN_NAME(rtl_wcsncpy);
WCHAR *wcscat(WCHAR *to, const WCHAR *from) PLX_WIN_NAME(rtl_wcscat);
WCHAR *wcsncat(WCHAR *to, const WCHAR *from, size_t count) PLX_WIN_NAME(rtl_wcsncat);
int wcscmp(const WCHAR *a, const WCHAR *b) PLX_WIN_NAME(rtl_wcscmp);
int wcsncmp(const WCHAR *a, const WCHAR *b, size_t count) PLX_WIN_NAME(rtl_wcsncmp);
int wcscasecmp(const WCHAR *a, const WCHAR *b) PLX_WIN_NAME(rtl_wcscasecmp);
int wcsncasecmp(const WCHAR *a, const WCHAR *b, size_t count) PLX_WIN_NAME(rtl_wcsncasecmp);
size_t wcsspn(const WCHAR *s, const WCHAR *set) PLX_WIN_NAME(rtl_wcsspn);
size_t wcscspn(const WCHAR *s, const WCHAR *set) PLX_WIN_NAME(rtl_wcscspn);
WCHAR *wcstok_s(WCHAR *s, const WCHAR *separators, WCHAR **rest) PLX_WIN_NAME(rtl_wcstok_s);
WCHAR *wmemcpy(WCHAR *to, const WCHAR *from, size_t count) PLX_WIN_NAME(rtl_wmemcpy);
WCHAR *wmemmove(WCHAR *to, const WCHAR *from, size_t count) PLX_WIN_NAME(rtl_wmemmove);
WCHAR *wmemset(WCHAR *to, WCHAR c, size_t count) PLX_WIN_NAME(rtl_wmemset);
int wmemcmp(const WCHAR *a, const WCHAR *b, size_t count) PLX_WIN_NAME(rtl_wmemcmp);
wint_t towupper(wint_t c) PLX_WIN_NAME(rtl_towupper);
wint_t towlower(wint_t c) PLX_WIN_NAME(rtl_towlower);
WCHAR *_wcslwr(WCHAR *s) PLX_WIN_NAME(rtl__wcslwr);
WCHAR *_wcsupr(WCHAR *s) PLX_WIN_NAME(rtl__wcsupr);
WCHAR *_wcsrev(WCHAR *s) PLX_WIN_NAME(rtl__wcsrev);

/* In C++ the result is as constant as the text, as in the C++ library. */
#ifdef __cplusplus
extern "C++" {
const WCHAR *wcschr(const WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcschr);
WCHAR *wcschr(WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcschr);
const WCHAR *wcsrchr(const WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcsrchr);
WCHAR *wcsrchr(WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcsrchr);
const WCHAR *wcsstr(const WCHAR *s, const WCHAR *part) PLX_WIN_NAME(rtl_wcsstr);
WCHAR *wcsstr(WCHAR *s, const WCHAR *part) PLX_WIN_NAME(rtl_wcsstr);
const WCHAR *wcspbrk(const WCHAR *s, const WCHAR *set) PLX_WIN_NAME(rtl_wcspbrk);
WCHAR *wcspbrk(WCHAR *s, const WCHAR *set) PLX_WIN_NAME(rtl_wcspbrk);
const WCHAR *wmemchr(const WCHAR *s, WCHAR c, size_t count) PLX_WIN_NAME(rtl_wmemchr);
WCHAR *wmemchr(WCHAR *s, WCHAR c, size_t count) PLX_WIN_NAME(rtl_wmemchr);
}
#else
WCHAR *wcschr(const WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcschr);
WCHAR *wcsrchr(const WCHAR *s, WCHAR c) PLX_WIN_NAME(rtl_wcsrchr);
WCHAR *wcsstr(const WCHAR *s, const WCHAR *part) PLX_WIN_NAME(rtl_wcsstr);
WCHAR *wcspbrk(const WCHAR *s, const WCHAR *set) PLX_WIN_NAME(rtl_wcspbrk);
WCHAR *wmemchr(const WCHAR *s, WCHAR c, size_t count) PLX_WIN_NAME(rtl_wmemchr);
#endif

/* As those of narrow text. A long has 32 bits on Windows, and the results of these are limited to
 * that: LONG_MAX is 0x7FFFFFFF. */
LONG wcstol(const WCHAR *s, WCHAR **end, int base) PLX_WIN_NAME(rtl_wcstol);
ULONG wcstoul(const WCHAR *s, WCHAR **end, int base) PLX_WIN_NAME(rtl_wcstoul);
long long wcstoll(const WCHAR *s, WCHAR **end, int base) PLX_WIN_NAME(rtl_wcstoll);
unsigned long long wcstoull(const WCHAR *s, WCHAR **end, int base) PLX_WIN_NAME(rtl_wcstoull);
int _wtoi(const WCHAR *s) PLX_WIN_NAME(rtl__wtoi);
LONG _wtol(const WCHAR *s) PLX_WIN_NAME(rtl__wtol);
long long _wtoi64(const WCHAR *s) PLX_WIN_NAME(rtl__wtoi64);
WCHAR *_itow(int value, WCHAR *to, int radix) PLX_WIN_NAME(rtl__itow);
int _itow_s(int value, WCHAR *to, size_t size, int radix) PLX_WIN_NAME(rtl__itow_s);
int _ultow_s(ULONG value, WCHAR *to, size_t size, int radix) PLX_WIN_NAME(rtl__ultow_s);
int _i64tow_s(long long value, WCHAR *to, size_t size, int radix) PLX_WIN_NAME(rtl__i64tow_s);
int _ui64tow_s(unsigned long long value, WCHAR *to, size_t size, int radix)
	PLX_WIN_NAME(rtl__ui64tow_s);

/* Narrow text is UTF-8. Returns: the characters or bytes of the result without its 0; -1: the text
 * is not valid. @param to NULL: only the length is wanted */
size_t mbstowcs(WCHAR *to, const char *from, size_t count) PLX_WIN_NAME(rtl_mbstowcs);
size_t wcstombs(char *to, const WCHAR *from, size_t count) PLX_WIN_NAME(rtl_wcstombs);

/* As those of narrow text; swprintf() returns -1 if the text does not fit. */
int vswprintf(WCHAR *to, size_t size, const WCHAR *format, va_list args)
	PLX_WIN_NAME(rtl_vswprintf);
int _vsnwprintf(WCHAR *to, size_t size, const WCHAR *format, va_list args)
	PLX_WIN_NAME(rtl__vsnwprintf);
int vswprintf_s(WCHAR *to, size_t size, const WCHAR *format, va_list args)
	PLX_WIN_NAME(rtl_vswprintf_s);
int _vsnwprintf_s(WCHAR *to, size_t size, size_t count, const WCHAR *format, va_list args)
	PLX_WIN_NAME(rtl__vsnwprintf_s);
int swprintf(WCHAR *to, size_t size, const WCHAR *format, ...) PLX_WIN_NAME(rtl_swprintf);
int _snwprintf(WCHAR *to, size_t size, const WCHAR *format, ...) PLX_WIN_NAME(rtl__snwprintf);
int swprintf_s(WCHAR *to, size_t size, const WCHAR *format, ...) PLX_WIN_NAME(rtl_swprintf_s);
int _snwprintf_s(WCHAR *to, size_t size, size_t count, const WCHAR *format, ...)
	PLX_WIN_NAME(rtl__snwprintf_s);

#endif

#ifdef __cplusplus
}

/* std::wcslen becomes std::plx_rtl_wcslen. */
namespace std
{
using ::plx_rtl_snprintf;
using ::plx_rtl_sprintf;
using ::plx_rtl_vsnprintf;
using ::plx_rtl_vsprintf;
#if __SIZEOF_WCHAR_T__ == 2
using ::plx_rtl_mbstowcs;
using ::plx_rtl_swprintf;
using ::plx_rtl_towlower;
using ::plx_rtl_towupper;
using ::plx_rtl_vswprintf;
using ::plx_rtl_wcscat;
using ::plx_rtl_wcschr;
using ::plx_rtl_wcscmp;
using ::plx_rtl_wcscpy;
using ::plx_rtl_wcscspn;
using ::plx_rtl_wcslen;
using ::plx_rtl_wcsncat;
using ::plx_rtl_wcsncmp;
using ::plx_rtl_wcsncpy;
using ::plx_rtl_wcspbrk;
using ::plx_rtl_wcsrchr;
using ::plx_rtl_wcsspn;
using ::plx_rtl_wcsstr;
using ::plx_rtl_wcstol;
using ::plx_rtl_wcstoll;
using ::plx_rtl_wcstombs;
using ::plx_rtl_wcstoul;
using ::plx_rtl_wcstoull;
using ::plx_rtl_wmemchr;
using ::plx_rtl_wmemcmp;
using ::plx_rtl_wmemcpy;
using ::plx_rtl_wmemmove;
using ::plx_rtl_wmemset;
#endif
} // namespace std
#endif

/* strcpy_s(), memcpy_s() and the like. */
#include <crtblock.h>

#endif
