/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats of Microsoft's printf and scanf, as this system's. Start with format_translate().
 */
#ifndef PLX_WIN_FORMAT_H
#define PLX_WIN_FORMAT_H

#include <locale.h>
#include <stdbool.h>
#include <wchar.h>

/* Which rules a format is read by. */
enum format_kind {
	FORMAT_PRINT = 0,
	FORMAT_SCAN = 1, /* of scanf: '*' is a flag, "[...]" a conversion */
	FORMAT_WIDE = 2, /* written in wide characters: "%s" is wide and "%S" is not */
};

/**
 * The same conversions of the same arguments, for the narrow functions of this system.
 *
 * Returns: to be freed; NULL: no memory
 */
char *format_translate(const char *format, unsigned kind);

/** The same of a wide format; FORMAT_WIDE is understood. */
char *format_translate_wide(const wchar_t *format, unsigned kind);

/** Text as UTF-8, or as wide characters. Returns: to be freed; NULL: no memory */
char *format_narrowed(const wchar_t *text);
wchar_t *format_widened(const char *text);

/**
 * Let this thread convert wide text to UTF-8 and back, whatever the locale, until
 * format_locale_end().
 *
 * Returns: for format_locale_end()
 */
locale_t format_locale_begin(void);
void format_locale_end(locale_t before);

#endif
