/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rewrites formats of Microsoft's printf and scanf as this system's. Only the size prefixes of
 * conversions differ, so the arguments stay the same. It prints and scans nothing.
 * An invalid conversion becomes literal text.
 * How a conversion is read is in lib/windows/rules. Start with conversion().
 */
#include "format.h"

#include "plx_crt.h"
#include "plx_rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The size prefix for this system. */
static const char *
size_for(const struct plx_conversion *c, unsigned kind)
{
	if (strchr("cCsS[", c->type))
		return plx_conversion_is_wide(c, kind) ? "l" : "";
	if (strchr("aAeEfFgG", c->type)) /* scanf's double is "%lf" on both */
		return plx_conversion_has_size(c, "L")                         ? "L"
		       : plx_conversion_has_size(c, "l") && kind & FORMAT_SCAN ? "l"
									       : "";
	return c->size && c->type != 'p' ? c->size->ours : "";
}

/* Write a conversion. Returns: the end of it */
static char *
conversion(char *to, const struct plx_conversion *c, unsigned kind)
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
		struct plx_conversion c;
		const char *behind = NULL;

		if (*format != '%') {
			*to++ = *format++;
			continue;
		}
		if (format[1] != '%')
			behind = plx_conversion_parse(format + 1, kind, &c);
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
