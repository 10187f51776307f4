/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formatted text by the rules of Windows' kernel, narrow or wide. How a conversion is read is in
 * lib/windows/rules; here its argument becomes characters. Narrow text is UTF-8, and text of the
 * other kind is converted. It allocates nothing, and a format never writes to memory.
 * Start with rtl_format().
 */
#include "format.h"

#include "plx_rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	CONVERSION_LENGTH_MAX = 64,   /* of which an invalid one is literal text */
	FLOAT_PRECISION_MAX = 512,    /* Microsoft's library has the same limit */
	FLOAT_LENGTH_MAX = 512 + 320, /* digits before the point, and sign and exponent */
	DIGITS_MAX = 64,
};

/* Where characters go. */
struct sink {
	char *narrow;
	WCHAR *wide; /* one of the two, or none: characters are only counted */
	bool is_wide;
	size_t size;
	size_t length; /* of the whole text */
};

/* A text, of one of the two kinds. */
struct text {
	const char *narrow;
	const WCHAR *wide;
	size_t length;
};

/* What the flags of a conversion say. */
struct field {
	bool left, plus, space, other, zero;
	size_t width;
	int precision; /* -1: none */
};

/* A list of arguments that functions can take from. */
struct arguments {
	va_list list;
};

static void
put(struct sink *sink, unsigned unit)
{
	if (sink->length < sink->size) {
		if (sink->wide)
			sink->wide[sink->length] = (WCHAR)unit;
		else if (sink->narrow)
			sink->narrow[sink->length] = (char)unit;
	}
	sink->length++;
}

static void
put_many(struct sink *sink, char c, size_t count)
{
	while (count--)
		put(sink, (unsigned char)c);
}

static void
put_character(struct sink *sink, ULONG c)
{
	unsigned char bytes[PLX_UTF8_BYTES_MAX];
	WCHAR units[RTL_UTF16_UNITS_MAX];
	size_t n = sink->is_wide ? rtl_utf16_encode(c, units) : plx_utf8_encode(c, bytes);

	for (size_t i = 0; i < n; i++)
		put(sink, sink->is_wide ? units[i] : bytes[i]);
}

/* Text of the sink's own kind stays as it is, valid or not. */
static void
put_text(struct sink *sink, const struct text *text)
{
	ULONG c;

	for (size_t i = 0; i < text->length;) {
		if (sink->is_wide && text->wide) {
			put(sink, text->wide[i++]);
		} else if (!sink->is_wide && text->narrow) {
			put(sink, (unsigned char)text->narrow[i++]);
		} else {
			if (text->wide)
				i += rtl_utf16_decode(text->wide + i, text->length - i, &c);
			else
				i += plx_utf8_decode((const unsigned char *)text->narrow + i,
						     text->length - i, &c);
			put_character(sink, c);
		}
	}
}

/* Fill a text up to the width of its field. */
static void
put_field(struct sink *sink, const struct text *text, const struct field *field)
{
	struct sink count = {.is_wide = sink->is_wide};
	size_t fill;

	put_text(&count, text);
	fill = field->width > count.length ? field->width - count.length : 0;
	if (!field->left)
		put_many(sink, field->zero ? '0' : ' ', fill);
	put_text(sink, text);
	if (field->left)
		put_many(sink, ' ', fill);
}

/* A number of the flags, which '*' takes from the arguments. */
static int
number(const char **at, const char *end, struct arguments *args)
{
	int value = 0;

	if (*at < end && **at == '*') {
		++*at;
		return va_arg(args->list, int);
	}
	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		if (value < INT32_MAX / 10 - 1)
			value = value * 10 + (**at - '0');
	return value;
}

static struct field
field_of(const struct plx_conversion *c, struct arguments *args)
{
	struct field field = {.precision = -1};
	const char *at = c->flags, *end = c->flags + c->flags_length;
	int width;

	for (; at < end && strchr("-+ #0", *at); at++) {
		field.left |= *at == '-';
		field.plus |= *at == '+';
		field.space |= *at == ' ';
		field.other |= *at == '#';
		field.zero |= *at == '0';
	}
	width = number(&at, end, args);
	field.left |= width < 0;
	field.width = width < 0 ? 0u - (unsigned)width : (unsigned)width;
	if (at < end && *at == '.') {
		at++;
		field.precision = number(&at, end, args);
		if (field.precision < 0)
			field.precision = -1;
	}
	if (field.left)
		field.zero = false;
	return field;
}

/* The argument of an integer, extended from the width that its prefix says. */
static unsigned long long
integer(const struct plx_conversion *c, bool is_signed, struct arguments *args)
{
	const char *size = c->size ? c->size->ours : "";
	unsigned value;

	if (c->type == 'p' || strcmp(size, "ll") == 0 || (size[0] && strchr("jzt", size[0])))
		return va_arg(args->list, unsigned long long);
	value = va_arg(args->list, unsigned);
	if (strcmp(size, "hh") == 0)
		return is_signed ? (unsigned long long)(signed char)value : (unsigned char)value;
	if (strcmp(size, "h") == 0)
		return is_signed ? (unsigned long long)(short)value : (unsigned short)value;
	return is_signed ? (unsigned long long)(int)value : value;
}

static size_t
digits_of(unsigned long long value, unsigned base, bool capitals, char out[DIGITS_MAX])
{
	const char *digits = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
	char reversed[DIGITS_MAX];
	size_t n = 0;

	for (; value; value /= base)
		reversed[n++] = digits[value % base];
	for (size_t i = 0; i < n; i++)
		out[i] = reversed[n - 1 - i];
	return n;
}

static void
put_integer(struct sink *sink, const struct plx_conversion *c, struct field field,
	    struct arguments *args)
{
	bool is_signed = c->type == 'd' || c->type == 'i';
	unsigned long long value = integer(c, is_signed, args);
	bool negative = is_signed && (long long)value < 0;
	char digits[DIGITS_MAX], prefix[2];
	size_t n, prefix_length = 0, zeros;

	if (c->type == 'p')
		field = (struct field){.left = field.left, .width = field.width, .precision = 16};
	n = digits_of(negative ? 0 - value : value,
		      strchr("xXp", c->type) ? 16
		      : c->type == 'o'       ? 8
					     : 10,
		      c->type != 'x', digits);
	if (negative || (is_signed && (field.plus || field.space)))
		prefix[prefix_length++] = negative ? '-' : field.plus ? '+' : ' ';
	if (field.other && value && strchr("xX", c->type)) {
		prefix[prefix_length++] = '0';
		prefix[prefix_length++] = c->type;
	}
	zeros = field.precision >= 0 ? (size_t)field.precision : 1;
	zeros = zeros > n ? zeros - n : 0;
	if (field.other && c->type == 'o' && zeros == 0)
		zeros = 1;
	if (field.zero && field.precision < 0 && field.width > prefix_length + n)
		zeros = field.width - prefix_length - n;
	if (!field.left && field.width > prefix_length + zeros + n)
		put_many(sink, ' ', field.width - prefix_length - zeros - n);
	put_text(sink, &(struct text){.narrow = prefix, .length = prefix_length});
	put_many(sink, '0', zeros);
	put_text(sink, &(struct text){.narrow = digits, .length = n});
	if (field.left && field.width > prefix_length + zeros + n)
		put_many(sink, ' ', field.width - prefix_length - zeros - n);
}

/* The C library's snprintf(), for a format that is made here. */
static int
plainly(char *out, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = (vsnprintf)(out, size, format, args);
	va_end(args);
	return n;
}

static void
put_float(struct sink *sink, const struct plx_conversion *c, struct field field,
	  struct arguments *args)
{
	double value = plx_conversion_has_size(c, "L") ? (double)va_arg(args->list, long double)
						       : va_arg(args->list, double);
	char format[8], out[FLOAT_LENGTH_MAX], *at = format;
	int n;

	*at++ = '%';
	if (field.other)
		*at++ = '#';
	if (field.plus || field.space)
		*at++ = field.plus ? '+' : ' ';
	*at++ = '.';
	*at++ = '*';
	*at++ = c->type;
	*at = 0;
	if (field.precision > FLOAT_PRECISION_MAX)
		field.precision = FLOAT_PRECISION_MAX;
	n = plainly(out, sizeof(out), format, field.precision, value);
	if (n < 0 || (size_t)n >= sizeof(out))
		return;
	field.zero = field.zero && out[0] >= '0' && out[0] <= '9';
	put_field(sink, &(struct text){.narrow = out, .length = (size_t)n}, &field);
}

/* The text of "%Z": a counted string. */
static struct text
counted(bool wide, struct arguments *args)
{
	const void *argument = va_arg(args->list, const void *);
	const UNICODE_STRING *u = argument;
	const STRING *s = argument;

	if (!argument || !s->Buffer)
		return (struct text){.narrow = "(null)", .length = 6};
	if (wide)
		return (struct text){.wide = u->Buffer, .length = u->Length / sizeof(WCHAR)};
	return (struct text){.narrow = s->Buffer, .length = s->Length};
}

/* The text of "%s", of which no more than the precision is read. */
static struct text
terminated(bool wide, size_t most, struct arguments *args)
{
	const void *argument = va_arg(args->list, const void *);
	struct text text = {.narrow = wide ? NULL : argument, .wide = wide ? argument : NULL};

	if (!argument)
		return (struct text){.narrow = "(null)", .length = 6};
	if (wide)
		text.length = wcsnlen(text.wide, most);
	else
		text.length = strnlen(text.narrow, most);
	return text;
}

static void
put_conversion(struct sink *sink, const struct plx_conversion *c, unsigned kind,
	       struct arguments *args)
{
	struct field field = field_of(c, args);
	bool wide = plx_conversion_is_wide(c, kind);
	size_t most = field.precision < 0 ? SIZE_MAX : (size_t)field.precision;
	struct text text;

	if (strchr("aAeEfFgG", c->type)) {
		put_float(sink, c, field, args);
	} else if (c->type == 'c' || c->type == 'C') {
		int value = va_arg(args->list, int);
		WCHAR unit = (WCHAR)value;
		char byte = (char)value;

		text = (struct text){.narrow = &byte, .wide = wide ? &unit : NULL, .length = 1};
		if (wide)
			text.narrow = NULL;
		put_field(sink, &text, &field);
	} else if (strchr("sSZ", c->type)) {
		text = c->type == 'Z' ? counted(wide, args) : terminated(wide, most, args);
		text.length = text.length < most ? text.length : most;
		put_field(sink, &text, &field);
	} else {
		put_integer(sink, c, field, args);
	}
}

/* The conversion behind a '%' as narrow text, which is how the rules read it. */
static void
narrowed(char out[CONVERSION_LENGTH_MAX], const char *narrow, const WCHAR *wide)
{
	size_t i = 0;

	for (; i < CONVERSION_LENGTH_MAX - 1; i++) {
		unsigned c = wide ? wide[i] : (unsigned char)narrow[i];

		if (c == 0 || c >= 0x80)
			break;
		out[i] = (char)c;
	}
	out[i] = 0;
}

/* One of the two formats is NULL. */
static void
rtl_format(struct sink *sink, const char *narrow, const WCHAR *wide, struct arguments *args)
{
	unsigned kind = FORMAT_PRINT | FORMAT_KERNEL | (wide ? FORMAT_WIDE : 0);
	char text[CONVERSION_LENGTH_MAX];
	struct plx_conversion c;

	for (size_t i = 0; wide ? wide[i] : narrow[i];) {
		unsigned unit = wide ? wide[i] : (unsigned char)narrow[i];
		const char *behind;

		i++;
		if (unit != '%') {
			put(sink, unit);
			continue;
		}
		narrowed(text, narrow ? narrow + i : NULL, wide ? wide + i : NULL);
		behind = text[0] == '%' ? NULL : plx_conversion_parse(text, kind, &c);
		if (!behind) {
			put(sink, '%');
			i += text[0] == '%';
			continue;
		}
		put_conversion(sink, &c, kind, args);
		i += (size_t)(behind - text);
	}
}

size_t
rtl_format_narrow(char *to, size_t size, const char *format, va_list args)
{
	struct sink sink = {.narrow = to, .size = size};
	struct arguments own;

	va_copy(own.list, args);
	rtl_format(&sink, format, NULL, &own);
	va_end(own.list);
	return sink.length;
}

size_t
rtl_format_wide(WCHAR *to, size_t size, const WCHAR *format, va_list args)
{
	struct sink sink = {.wide = to, .is_wide = true, .size = size};
	struct arguments own;

	va_copy(own.list, args);
	rtl_format(&sink, NULL, format, &own);
	va_end(own.list);
	return sink.length;
}
