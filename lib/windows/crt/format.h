/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Translates formats of Microsoft's printf and scanf to those of this system. Start with
 * format_translate().
 */
#ifndef PLX_WIN_FORMAT_H
#define PLX_WIN_FORMAT_H

#include "plx_rules.h"

#include <locale.h>
#include <stdbool.h>
#include <wchar.h>

/**
 * Translate a format for the narrow functions of this system. Conversions and arguments stay the
 * same.
 *
 * Returns: to be freed; NULL: no memory
 */
char *format_translate(const char *format, unsigned kind);

/** Translate a wide format; FORMAT_WIDE is understood. */
char *format_translate_wide(const wchar_t *format, unsigned kind);

/** Convert text to UTF-8, or to wide characters. Returns: to be freed; NULL: no memory */
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
