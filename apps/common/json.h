/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What jansson leaves to its caller: text of any bytes, numbers that are none, and writing.
 * Start with json_text().
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A string: as it is when it is UTF-8; otherwise each byte is a character. */
json_t *json_text(const char *text);

/** A number, null when it is infinite or none. @param digits behind the point; -1: all */
json_t *json_number(double value, int digits);

static inline json_t *
json_count(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/** Write it, and give it back. Returns: false: no memory, or it was not written in full */
bool json_write(json_t *json, FILE *to);

#endif
