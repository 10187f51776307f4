/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion between wide strings and UTF-8. glibc's functions follow the locale, which is "C" in
 * most programs, and then reject everything but ASCII. It allocates nothing.
 * Start with utf8_of_wide().
 */
#include "plx_crt.h"
#include "plx_rules.h"

#include <stdint.h>
#include <string.h>

size_t
utf8_of_wide(const wchar_t *text, char *out, size_t size)
{
	unsigned char one[PLX_UTF8_BYTES_MAX];
	size_t all = 0, kept = 0;

	for (; *text; text++) {
		size_t n = plx_utf8_encode((uint32_t)*text, one);

		if (kept == all && all + n < size) {
			memcpy(out + all, one, n);
			kept += n;
		}
		all += n;
	}
	if (size)
		out[kept] = '\0';
	return all;
}

size_t
wide_of_utf8(const char *text, wchar_t *out, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t all = 0;
	uint32_t c;

	for (; *at; all++) {
		at += plx_utf8_decode(at, SIZE_MAX, &c);
		if (all + 1 < size)
			out[all] = (wchar_t)c;
	}
	if (size)
		out[all < size ? all : size - 1] = L'\0';
	return all;
}
