/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rewrites formats of Microsoft's printf and scanf as this system's. Only the size prefixes of
 * conversions differ, so the arguments stay the same. It prints and scans nothing.
 * An invalid conversion becomes literal text.
 * Start with conversion().
 */
#include "format.h"

#include "plx_crt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Microsoft's size prefix, and this system's for integers. A long on Windows has 32 bits. */
static const struct size_word {
	char theirs[4];
	char ours[4];
} size_words[] = {
	{"I64", "ll"}, {"I32", ""}, {"I", "z"}, {"hh", "hh"}, {"h", "h"}, {"ll", "ll"},
	{"l", ""},     {"w", ""},   {"j", "j"}, {"z", "z"},   {"t", "t"}, {"L", "L"},
};

/* A parsed conversion. */
struct conversion {
	const char *flags; /* after the '%' */
	size_t flags_length;
	const struct size_word *size; /* NULL: none */
	char type;
	const char *set; /* of "[...]", after the '[' */
	size_t set_length;
};

static bool
is_size(const struct conversion *c, const char *word)
{
	return c->size && strcmp(c->size->theirs, word) == 0;
}

/* Find the end of a set "[...]". A ']' directly after '[' or '^' belongs to the set. Returns: its
 * end */
static const char *
set_end(const char *at)
{
	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']')
		at++;
	return *at ? at + 1 : NULL;
}

/* Parse the conversion after a '%'. Returns: the text after it; NULL: it is invalid */
static const char *
taken_apart(const char *at, unsigned kind, struct conversion *c)
{
	const char *flags = kind & FORMAT_SCAN ? "*0123456789" : "-+ #0123456789.*";

	*c = (struct conversion){.flags = at, .flags_length = strspn(at, flags)};
	at += c->flags_length;
	for (size_t i = 0; i < sizeof(size_words) / sizeof(size_words[0]) && !c->size; i++)
		if (strncmp(at, size_words[i].theirs, strlen(size_words[i].theirs)) == 0)
			c->size = &size_words[i];
	if (c->size)
		at += strlen(c->size->theirs);
	c->type = *at;
	if (c->type == '[' && kind & FORMAT_SCAN) {
		const char *end = set_end(at + 1);

		c->set = at + 1;
		c->set_length = end ? (size_t)(end - c->set) : 0;
		return end;
	}
	if (c->type == 'n' && kind & FORMAT_SCAN)
		return at + 1;
	return c->type && strchr("diouxXaAeEfFgGcCsSp", c->type) ? at + 1 : NULL;
}

/* Is the text of this conversion wide? A size prefix decides, otherwise the kind of the format. */
static bool
is_wide(const struct conversion *c, unsigned kind)
{
	bool of_format = kind & FORMAT_WIDE, other = c->type == 'S' || c->type == 'C';

	if (is_size(c, "h"))
		return false;
	if (is_size(c, "l") || is_size(c, "w"))
		return true;
	return of_format != other;
}

/* The size prefix for this system. */
static const char *
size_for(const struct conversion *c, unsigned kind)
{
	if (strchr("cCsS[", c->type))
		return is_wide(c, kind) ? "l" : "";
	if (strchr("aAeEfFgG", c->type)) /* scanf's double is "%lf" on both */
		return is_size(c, "L") ? "L" : is_size(c, "l") && kind & FORMAT_SCAN ? "l" : "";
	return c->size && c->type != 'p' ? c->size->ours : "";
}

/* Write a conversion. Returns: the end of it */
static char *
conversion(char *to, const struct conversion *c, unsigned kind)
{
	char type = c->type == 'S' ? 's' : c->type == 'C' ? 'c' : c->type;

	*to++ = '%';
	to = mempcpy(to, c->flags, c->flags_length);
	to = stpcpy(to, size_for(c, kind));
	*to++ = type;
	return c->set ? mempcpy(to, c->set, c->set_length) : to;
}

char *
format_translate(const char *format, unsigned kind)
{
	/* A character becomes at most two: a literal '%' is doubled, "%S" becomes "%ls". */
	char *whole = malloc(2 * strlen(format) + 1), *to = whole;

	while (to && *format) {
		struct conversion c;
		const char *behind = NULL;

		if (*format != '%') {
			*to++ = *format++;
			continue;
		}
		if (format[1] != '%')
			behind = taken_apart(format + 1, kind, &c);
		if (behind) {
			to = conversion(to, &c, kind);
			format = behind;
			continue;
		}
		to = mempcpy(to, "%%", 2);
		format += format[1] == '%' ? 2 : 1;
	}
	if (to)
		*to = 0;
	return whole;
}

char *
format_translate_wide(const wchar_t *format, unsigned kind)
{
	char *narrow = format_narrowed(format), *whole = NULL;

	if (narrow)
		whole = format_translate(narrow, kind | FORMAT_WIDE);
	free(narrow);
	return whole;
}

char *
format_narrowed(const wchar_t *text)
{
	size_t bytes = utf8_of_wide(text, NULL, 0) + 1;
	char *narrow = malloc(bytes);

	if (narrow)
		utf8_of_wide(text, narrow, bytes);
	return narrow;
}

wchar_t *
format_widened(const char *text)
{
	size_t characters = wide_of_utf8(text, NULL, 0) + 1;
	wchar_t *wide = calloc(characters, sizeof(wide[0]));

	if (wide)
		wide_of_utf8(text, wide, characters);
	return wide;
}

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t locale_utf8; /* never freed */

static void
locale_make(void)
{
	locale_utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

locale_t
format_locale_begin(void)
{
	pthread_once(&locale_once, locale_make);
	return uselocale(locale_utf8);
}

void
format_locale_end(locale_t before)
{
	uselocale(before);
}
