/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of the C library for text of 16-bit characters. It knows no locale but that of case.
 * Start with plx_rtl_wcslen().
 */
#include <wdm.h>

#include <stdbool.h>

size_t
plx_rtl_wcsnlen(const WCHAR *s, size_t size)
{
	size_t n = 0;

	while (n < size && s[n])
		n++;
	return n;
}

size_t
plx_rtl_wcslen(const WCHAR *s)
{
	return plx_rtl_wcsnlen(s, SIZE_MAX);
}

WCHAR *
plx_rtl_wmemcpy(WCHAR *to, const WCHAR *from, size_t count)
{
	return memcpy(to, from, count * sizeof(WCHAR));
}

WCHAR *
plx_rtl_wmemmove(WCHAR *to, const WCHAR *from, size_t count)
{
	return memmove(to, from, count * sizeof(WCHAR));
}

WCHAR *
plx_rtl_wmemset(WCHAR *to, WCHAR c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = c;
	return to;
}

int
plx_rtl_wmemcmp(const WCHAR *a, const WCHAR *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

WCHAR *
plx_rtl_wmemchr(const WCHAR *s, WCHAR c, size_t count)
{
	for (; count; s++, count--)
		if (*s == c)
			return (WCHAR *)(ULONG_PTR)s;
	return NULL;
}

WCHAR *
plx_rtl_wcscpy(WCHAR *to, const WCHAR *from)
{
	return wmemcpy(to, from, wcslen(from) + 1);
}

WCHAR *
plx_rtl_wcsncpy(WCHAR *to, const WCHAR *from, size_t size)
{
	size_t n = wcsnlen(from, size);

	wmemcpy(to, from, n);
	wmemset(to + n, 0, size - n);
	return to;
}

WCHAR *
plx_rtl_wcsncat(WCHAR *to, const WCHAR *from, size_t count)
{
	size_t used = wcslen(to), n = wcsnlen(from, count);

	wmemcpy(to + used, from, n);
	to[used + n] = 0;
	return to;
}

WCHAR *
plx_rtl_wcscat(WCHAR *to, const WCHAR *from)
{
	return wcsncat(to, from, SIZE_MAX);
}

int
plx_rtl_wcsncmp(const WCHAR *a, const WCHAR *b, size_t count)
{
	for (; count; a++, b++, count--)
		if (*a != *b || !*a)
			return *a < *b ? -1 : *a > *b;
	return 0;
}

int
plx_rtl_wcscmp(const WCHAR *a, const WCHAR *b)
{
	return wcsncmp(a, b, SIZE_MAX);
}

int
plx_rtl_wcsncasecmp(const WCHAR *a, const WCHAR *b, size_t count)
{
	for (; count; a++, b++, count--) {
		wint_t x = towlower(*a), y = towlower(*b);

		if (x != y || !x)
			return x < y ? -1 : x > y;
	}
	return 0;
}

int
plx_rtl_wcscasecmp(const WCHAR *a, const WCHAR *b)
{
	return wcsncasecmp(a, b, SIZE_MAX);
}

/* The 0 at the end is found, too. */
WCHAR *
plx_rtl_wcschr(const WCHAR *s, WCHAR c)
{
	return wmemchr(s, c, wcslen(s) + 1);
}

WCHAR *
plx_rtl_wcsrchr(const WCHAR *s, WCHAR c)
{
	for (size_t i = wcslen(s) + 1; i > 0; i--)
		if (s[i - 1] == c)
			return (WCHAR *)(ULONG_PTR)(s + i - 1);
	return NULL;
}

WCHAR *
plx_rtl_wcsstr(const WCHAR *s, const WCHAR *part)
{
	size_t n = wcslen(part);

	for (;; s++) {
		if (wcsncmp(s, part, n) == 0)
			return (WCHAR *)(ULONG_PTR)s;
		if (!*s)
			return NULL;
	}
}

/* How many characters at the beginning are of the set, or are not. */
static size_t
span(const WCHAR *s, const WCHAR *set, bool wanted)
{
	size_t n = 0, size = wcslen(set);

	while (s[n] && (wmemchr(set, s[n], size) != NULL) == wanted)
		n++;
	return n;
}

size_t
plx_rtl_wcsspn(const WCHAR *s, const WCHAR *set)
{
	return span(s, set, true);
}

size_t
plx_rtl_wcscspn(const WCHAR *s, const WCHAR *set)
{
	return span(s, set, false);
}

WCHAR *
plx_rtl_wcspbrk(const WCHAR *s, const WCHAR *set)
{
	s += wcscspn(s, set);
	return *s ? (WCHAR *)(ULONG_PTR)s : NULL;
}

WCHAR *
plx_rtl_wcstok_s(WCHAR *s, const WCHAR *separators, WCHAR **rest)
{
	WCHAR *end;

	s = s ? s : *rest;
	s += wcsspn(s, separators);
	end = s + wcscspn(s, separators);
	*rest = *end ? end + 1 : end;
	*end = 0;
	return end > s ? s : NULL;
}

/* ---- functions that only Microsoft's library has ---- */

#define IN_PLACE(kind, lower, upper, reverse, length, to_lower, to_upper) \
	kind *lower(kind *s)                                              \
	{                                                                 \
		for (kind *at = s; *at; at++)                             \
			*at = (kind)to_lower(*at);                        \
		return s;                                                 \
	}                                                                 \
	kind *upper(kind *s)                                              \
	{                                                                 \
		for (kind *at = s; *at; at++)                             \
			*at = (kind)to_upper(*at);                        \
		return s;                                                 \
	}                                                                 \
	kind *reverse(kind *s)                                            \
	{                                                                 \
		for (size_t i = 0, n = length(s); i < n / 2; i++) {       \
			kind c = s[i];                                    \
                                                                          \
			s[i] = s[n - 1 - i];                              \
			s[n - 1 - i] = c;                                 \
		}                                                         \
		return s;                                                 \
	}
static char
lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
IN_PLACE(char, _strlwr, _strupr, _strrev, strlen, lower_of, RtlUpperChar)
IN_PLACE(WCHAR, _wcslwr, _wcsupr, _wcsrev, wcslen, towlower, towupper)
