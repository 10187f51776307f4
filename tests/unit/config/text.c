/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See text.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "text.h"

void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

const char *
read_file(const char *name)
{
	static char text[16384];
	FILE *file = fopen(name, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	assert_true(n > 0 && n < sizeof(text) - 1);
	text[n] = '\0';
	fclose(file);
	return text;
}
