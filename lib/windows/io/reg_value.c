/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One value of a registry file, as it stands behind "=": a text, dword:, hex:, hex(n):. Start with
 * value_parse().
 */
#include "registry.h"

#include <plx_rtl.h>

#include <stdlib.h>

static const char no_memory[] = "cannot be read: no memory";

static PCWSTR
skip_blanks(PCWSTR at)
{
	while (*at == L' ' || *at == L'\t')
		at++;
	return at;
}

/* Read a hexadecimal number, and move behind it.
 * Returns: false: there is none, or it has more digits */
static bool
number(PCWSTR *at, uint32_t digits_max, uint32_t *value)
{
	uint32_t n = 0;

	*value = 0;
	while (n <= digits_max && plx_rtl_digit((*at)[n]) < 16) {
		*value = *value << 4 | plx_rtl_digit((*at)[n]);
		n++;
	}
	*at += n;
	return n > 0 && n <= digits_max;
}

const char *
text_parse(PCWSTR *text, PWSTR to, size_t *length)
{
	PCWSTR at = *text + 1; /* the quote */
	size_t n = 0;

	while (*at != L'"') {
		if (*at == L'\\')
			at++;
		if (*at == 0)
			return "has no closing quote";
		to[n++] = *at++;
	}
	to[n] = 0;
	*text = at + 1;
	*length = n;
	return NULL;
}

static const char *
parse_text(PCWSTR text, UCHAR **data, ULONG *bytes)
{
	size_t room = 1, length = 0;
	const char *fault;

	while (text[room - 1] != 0)
		room++;
	*data = malloc(room * sizeof(WCHAR));
	if (*data == NULL)
		return no_memory;
	fault = text_parse(&text, (PWSTR)(void *)*data, &length);
	if (fault == NULL && *skip_blanks(text) != 0)
		fault = "goes on behind its closing quote; a backslash precedes a quote within it";
	*bytes = (ULONG)((length + 1) * sizeof(WCHAR));
	if (fault != NULL)
		free(*data);
	return fault;
}

static const char *
parse_dword(PCWSTR text, UCHAR **data, ULONG *bytes)
{
	uint32_t value;

	if (!number(&text, 8, &value) || *skip_blanks(text) != 0)
		return "is no number of up to 8 hexadecimal digits";
	*data = malloc(sizeof(value));
	if (*data == NULL)
		return no_memory;
	memcpy(*data, &value, sizeof(value));
	*bytes = sizeof(value);
	return NULL;
}

static const char *
parse_hex(PCWSTR text, UCHAR **data, ULONG *bytes)
{
	size_t room = 1;
	ULONG n = 0;

	for (PCWSTR at = text; *at != 0; at++)
		room += *at == L',';
	*data = malloc(room);
	if (*data == NULL)
		return no_memory;
	text = skip_blanks(text);
	while (*text != 0) {
		uint32_t value;

		if (!number(&text, 2, &value)) {
			free(*data);
			return "has something else than bytes of two hexadecimal digits";
		}
		(*data)[n++] = (UCHAR)value;
		text = skip_blanks(text);
		if (*text == L',') {
			text = skip_blanks(text + 1);
		} else if (*text != 0) {
			free(*data);
			return "has bytes without a comma between them";
		}
	}
	*bytes = n;
	return NULL;
}

static bool
starts_with(PCWSTR *text, const char *word)
{
	size_t n = 0;

	for (; word[n] != '\0'; n++)
		if (((*text)[n] | 0x20) != (WCHAR)(word[n] | 0x20))
			return false;
	*text += n;
	return true;
}

const char *
value_parse(PCWSTR text, ULONG *type, UCHAR **data, ULONG *bytes)
{
	text = skip_blanks(text);
	*data = NULL;
	if (*text == L'"') {
		*type = REG_SZ;
		return parse_text(text, data, bytes);
	}
	if (starts_with(&text, "dword:")) {
		*type = REG_DWORD;
		return parse_dword(text, data, bytes);
	}
	*type = REG_BINARY;
	if (starts_with(&text, "hex:"))
		return parse_hex(text, data, bytes);
	if (starts_with(&text, "hex(") && number(&text, 8, type) && starts_with(&text, "):"))
		return parse_hex(text, data, bytes);
	return "is neither \"text\" nor dword:, hex: or hex(n):";
}
