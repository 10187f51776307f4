/* SPDX-License-Identifier: BSD-3-Clause
 *
 * String functions of Windows' kernel. Case follows Unicode in any locale of the program; narrow
 * strings are UTF-8. Start with compare().
 */
#include "plx_crt.h"
#include "plx_rules.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

static wint_t
lower(wchar_t c, locale_t unicode)
{
	if ((uint32_t)c < 0x80)
		return c >= L'A' && c <= L'Z' ? (wint_t)(c - L'A' + L'a') : (wint_t)c;
	return unicode ? towlower_l((wint_t)c, unicode) : (wint_t)c;
}

static int
compare(LPCWSTR a, LPCWSTR b, bool any_case)
{
	locale_t unicode = plx_unicode_locale();
	wint_t x, y;

	a = a ? a : L"";
	b = b ? b : L"";
	do {
		x = any_case ? lower(*a++, unicode) : (wint_t)*a++;
		y = any_case ? lower(*b++, unicode) : (wint_t)*b++;
	} while (x == y && x);
	return x < y ? -1 : x > y;
}

/* Returns: allocated by malloc(); NULL: no memory */
static wchar_t *
widened(LPCSTR text)
{
	size_t room = wide_of_utf8(text ? text : "", NULL, 0) + 1;
	wchar_t *wide = malloc(room * sizeof(*wide));

	if (wide)
		wide_of_utf8(text ? text : "", wide, room);
	return wide;
}

int
lstrcmpW(LPCWSTR a, LPCWSTR b)
{
	return compare(a, b, false);
}

int
lstrcmpiW(LPCWSTR a, LPCWSTR b)
{
	return compare(a, b, true);
}

int
lstrcmpA(LPCSTR a, LPCSTR b)
{
	int order = strcmp(a ? a : "", b ? b : "");

	return order < 0 ? -1 : order > 0;
}

int
lstrcmpiA(LPCSTR a, LPCSTR b)
{
	wchar_t *x = widened(a), *y = widened(b);
	int order = x && y ? compare(x, y, true) : lstrcmpA(a, b);

	free(x);
	free(y);
	return order;
}

int
lstrlenA(LPCSTR text)
{
	return text ? (int)strlen(text) : 0;
}

int
lstrlenW(LPCWSTR text)
{
	return text ? (int)wcslen(text) : 0;
}

/* The copy functions of both character types. */
#define COPIES(kind, cpy, cat, cpyn, length)                                \
	kind *cpy(kind *to, const kind *from)                               \
	{                                                                   \
		if (!to || !from)                                           \
			return NULL;                                        \
		return memcpy(to, from, (length(from) + 1) * sizeof(kind)); \
	}                                                                   \
	kind *cat(kind *to, const kind *from)                               \
	{                                                                   \
		if (!to || !from)                                           \
			return NULL;                                        \
		cpy(to + length(to), from);                                 \
		return to;                                                  \
	}                                                                   \
	kind *cpyn(kind *to, const kind *from, int room)                    \
	{                                                                   \
		size_t n;                                                   \
                                                                            \
		if (!to || !from || room < 1)                               \
			return NULL;                                        \
		for (n = 0; n + 1 < (size_t)room && from[n]; n++)           \
			to[n] = from[n];                                    \
		to[n] = 0;                                                  \
		return to;                                                  \
	}

COPIES(char, lstrcpyA, lstrcatA, lstrcpynA, strlen)
COPIES(wchar_t, lstrcpyW, lstrcatW, lstrcpynW, wcslen)
