/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What jansson leaves to its caller: text of arbitrary bytes, numbers that may be NaN or infinite,
 * and writing.
 * Start with json_text().
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Make a string. If the text is not UTF-8, each byte becomes a character. */
json_t *json_text(const char *text);

/** Make a number; null if infinite or NaN.
 * @param digits after the point; -1: all */
json_t *json_number(double value, int digits);

/* Add a member to an object. If out of memory, the member is omitted. */
void json_put(json_t *object, const char *name, json_t *value);
void json_put_text(json_t *object, const char *name, const char *text);
void json_put_count(json_t *object, const char *name, uint64_t value);
void json_put_number(json_t *object, const char *name, double value, int digits);
void json_put_flag(json_t *object, const char *name, bool value);

/** Write and free it.
 * Returns: false: no memory, or writing failed */
bool json_write(json_t *json, FILE *to);

#endif
