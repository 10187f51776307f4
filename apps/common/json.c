/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The format of JSON output: ASCII, indented, members in order of insertion.
 * Start with json_write().
 */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS = 9, /* significant digits of a number */
};

json_t *
json_text(const char *text)
{
	json_t *json = json_string(text);
	if (json != NULL)
		return json;
	char *wide = malloc(2 * strlen(text) + 1), *to = wide;
	if (wide == NULL)
		return NULL;
	for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at >= 0x80)
			*to++ = (char)(0xc0 | *at >> 6);
		*to++ = (char)(*at < 0x80 ? *at : 0x80 | (*at & 0x3f));
	}
	*to = '\0';
	json = json_string(wide);
	free(wide);
	return json;
}

json_t *
json_number(double value, int digits)
{
	if (!isfinite(value))
		return json_null();
	if (digits >= 0)
		value = round(value * pow(10, digits)) / pow(10, digits);
	return value == rint(value) && fabs(value) < 1e9 ? json_integer((json_int_t)value)
							 : json_real(value);
}

void
json_put(json_t *object, const char *name, json_t *value)
{
	(void)json_object_set_new(object, name, value);
}

void
json_put_text(json_t *object, const char *name, const char *text)
{
	json_put(object, name, json_text(text));
}

void
json_put_count(json_t *object, const char *name, uint64_t value)
{
	json_put(object, name, json_integer((json_int_t)value));
}

void
json_put_number(json_t *object, const char *name, double value, int digits)
{
	json_put(object, name, json_number(value, digits));
}

void
json_put_flag(json_t *object, const char *name, bool value)
{
	json_put(object, name, json_boolean(value));
}

bool
json_write(json_t *json, FILE *to)
{
	size_t flags = JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS);
	bool is_good = json != NULL && json_dumpf(json, to, flags) == 0 && fputc('\n', to) != EOF &&
		       fflush(to) == 0 && ferror(to) == 0;
	json_decref(json);
	return is_good;
}
