/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers as text and text as numbers: Rtl's and the C run-time functions'. Reading is done by the
 * C library on the digits alone. Start with digits_of().
 */
#include "plx_rtl.h"

#include <wdm.h>

#include <stdbool.h>
#include <limits.h>

enum {
	DIGITS_MAX = 65, /* in radix 2, with a sign */
};

/* Write a number, and a 0. Returns: its characters */
static size_t
digits_of(unsigned long long value, bool negative, unsigned radix, const char *set,
	  char out[DIGITS_MAX + 1])
{
	char reversed[DIGITS_MAX];
	size_t n = 0;

	do {
		reversed[n++] = set[value % radix];
		value /= radix;
	} while (value);
	if (negative)
		reversed[n++] = '-';
	for (size_t i = 0; i < n; i++)
		out[i] = reversed[n - 1 - i];
	out[n] = 0;
	return n;
}

/* ---- Rtl ---- */

NTSTATUS
RtlInt64ToUnicodeString(ULONGLONG value, ULONG base, PUNICODE_STRING s)
{
	char digits[DIGITS_MAX + 1];
	size_t n;

	if (base != 0 && base != 2 && base != 8 && base != 10 && base != 16)
		return STATUS_INVALID_PARAMETER;
	n = digits_of(value, false, base ? base : 10, "0123456789ABCDEF", digits);
	if ((n + 1) * sizeof(WCHAR) > s->MaximumLength)
		return STATUS_BUFFER_OVERFLOW;
	for (size_t i = 0; i <= n; i++)
		s->Buffer[i] = (WCHAR)digits[i];
	s->Length = (USHORT)(n * sizeof(WCHAR));
	return STATUS_SUCCESS;
}

NTSTATUS
RtlIntegerToUnicodeString(ULONG value, ULONG base, PUNICODE_STRING s)
{
	return RtlInt64ToUnicodeString(value, base, s);
}

unsigned int
plx_rtl_digit(unsigned int c)
{
	return c >= '0' && c <= '9'                     ? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
							: UINT_MAX;
}

/* A text of either kind, one character at a time; behind its end are zeros. */
struct characters {
	const char *narrow;
	const WCHAR *wide;
	size_t left;
};

static unsigned
first(const struct characters *s)
{
	return s->left == 0 ? 0 : s->wide ? *s->wide : (unsigned char)*s->narrow;
}

static void
skip(struct characters *s)
{
	s->left--;
	if (s->wide)
		s->wide++;
	else
		s->narrow++;
}

static NTSTATUS
read_number(struct characters s, ULONG base, PULONG value)
{
	static const struct {
		char letter;
		unsigned char base;
	} prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
	bool negative;

	while (s.left > 0 && first(&s) > 0 && first(&s) <= ' ')
		skip(&s);
	negative = first(&s) == '-';
	if (negative || first(&s) == '+')
		skip(&s);
	if (base == 0) {
		base = 10;
		if (first(&s) == '0') {
			skip(&s);
			for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
				if (first(&s) == (unsigned char)prefixes[i].letter)
					base = prefixes[i].base;
			if (base != 10)
				skip(&s);
		}
	} else if (base != 2 && base != 8 && base != 10 && base != 16) {
		return STATUS_INVALID_PARAMETER;
	}
	*value = 0;
	for (; s.left > 0 && plx_rtl_digit(first(&s)) < base; skip(&s))
		*value = *value * base + plx_rtl_digit(first(&s));
	if (negative)
		*value = 0 - *value;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlCharToInteger(PCSZ s, ULONG base, PULONG value)
{
	return read_number((struct characters){.narrow = s, .left = strlen(s)}, base, value);
}

NTSTATUS
RtlUnicodeStringToInteger(PCUNICODE_STRING s, ULONG base, PULONG value)
{
	struct characters text = {.wide = s->Buffer, .left = s->Length / sizeof(WCHAR)};

	if (text.left == 0)
		return STATUS_INVALID_PARAMETER;
	return read_number(text, base, value);
}

/* ---- the C library's ---- */

enum {
	NUMBER_LENGTH_MAX = 128, /* with spaces; longer ones have overflowed long ago */
};

/* Copy what may be a number as narrow text. */
static void
narrowed(char out[NUMBER_LENGTH_MAX], const WCHAR *s)
{
	size_t i = 0;

	for (; i < NUMBER_LENGTH_MAX - 1 && s[i] && s[i] < 0x80; i++)
		out[i] = (char)s[i];
	out[i] = 0;
}

#define READS(type, name, narrow_name)                                  \
	type name(const WCHAR *s, WCHAR **end, int base)                \
	{                                                               \
		char text[NUMBER_LENGTH_MAX], *stop;                    \
		type value;                                             \
                                                                        \
		narrowed(text, s);                                      \
		value = narrow_name(text, &stop, base);                 \
		if (end)                                                \
			*end = (WCHAR *)(ULONG_PTR)(s + (stop - text)); \
		return value;                                           \
	}
READS(long long, plx_rtl_wcstoll, strtoll)
READS(unsigned long long, plx_rtl_wcstoull, strtoull)

LONG
plx_rtl_wcstol(const WCHAR *s, WCHAR **end, int base)
{
	long long value = wcstoll(s, end, base);

	if (value > INT32_MAX || value < INT32_MIN)
		errno = ERANGE;
	return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (LONG)value;
}

ULONG
plx_rtl_wcstoul(const WCHAR *s, WCHAR **end, int base)
{
	/* "-1" is the largest number, as in C. */
	unsigned long long value = wcstoull(s, end, base);
	bool fits = value <= UINT32_MAX || 0 - value <= UINT32_MAX;

	if (!fits)
		errno = ERANGE;
	return fits ? (ULONG)value : UINT32_MAX;
}

int
_wtoi(const WCHAR *s)
{
	return wcstol(s, NULL, 10);
}

LONG
_wtol(const WCHAR *s)
{
	return wcstol(s, NULL, 10);
}

long long
_wtoi64(const WCHAR *s)
{
	return wcstoll(s, NULL, 10);
}

#define SMALL_DIGITS "0123456789abcdefghijklmnopqrstuvwxyz"

#define WRITES(kind, name, type, as_unsigned, is_negative)                             \
	int name(type value, kind *to, size_t size, int radix)                         \
	{                                                                              \
		bool negative = is_negative;                                           \
		unsigned long long whole = (as_unsigned)value;                         \
		char digits[DIGITS_MAX + 1];                                           \
		size_t n;                                                              \
                                                                                       \
		if (negative)                                                          \
			whole = 0 - (unsigned long long)value;                         \
		if (to && size)                                                        \
			to[0] = 0;                                                     \
		if (!to || !size || radix < 2 || radix > 36)                           \
			return EINVAL;                                                 \
		n = digits_of(whole, negative, (unsigned)radix, SMALL_DIGITS, digits); \
		if (n >= size)                                                         \
			return ERANGE;                                                 \
		for (size_t i = 0; i <= n; i++)                                        \
			to[i] = (kind)digits[i];                                       \
		return 0;                                                              \
	}
#define BELOW_0 (radix == 10 && value < 0)
WRITES(char, _itoa_s, int, unsigned, BELOW_0)
WRITES(char, _ultoa_s, ULONG, ULONG, false)
WRITES(char, _i64toa_s, long long, unsigned long long, BELOW_0)
WRITES(char, _ui64toa_s, unsigned long long, unsigned long long, false)
WRITES(WCHAR, _itow_s, int, unsigned, BELOW_0)
WRITES(WCHAR, _ultow_s, ULONG, ULONG, false)
WRITES(WCHAR, _i64tow_s, long long, unsigned long long, BELOW_0)
WRITES(WCHAR, _ui64tow_s, unsigned long long, unsigned long long, false)

char *
_itoa(int value, char *to, int radix)
{
	_itoa_s(value, to, SIZE_MAX, radix);
	return to;
}

WCHAR *
_itow(int value, WCHAR *to, int radix)
{
	_itow_s(value, to, SIZE_MAX, radix);
	return to;
}
