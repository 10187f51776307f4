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

/* A member of an object; what there is no memory for is left out. */
void json_put(json_t *object, const char *name, json_t *value);
void json_put_text(json_t *object, const char *name, const char *text);
void json_put_count(json_t *object, const char *name, uint64_t value);
void json_put_number(json_t *object, const char *name, double value, int digits);
void json_put_flag(json_t *object, const char *name, bool value);

/** Write it, and give it back. Returns: false: no memory, or it was not written in full */
bool json_write(json_t *json, FILE *to);

#endif
