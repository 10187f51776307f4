/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion between wide strings and UTF-8. glibc's functions follow the locale, which is "C" in
 * most programs, and then reject everything but ASCII. It allocates nothing.
 * Start with utf8_of_wide().
 */
#include "plx_crt.h"

#include <stdint.h>
#include <string.h>

enum {
	REPLACEMENT = 0xfffd,
	CHARACTER_BYTES_MAX = 4,
};

/* Returns: the bytes written */
static size_t
encode(uint32_t c, unsigned char out[CHARACTER_BYTES_MAX])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = REPLACEMENT;
	if (c < 0x80) {
		out[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (unsigned char)(0xc0 | c >> 6);
		out[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (unsigned char)(0xe0 | c >> 12);
		out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (unsigned char)(0xf0 | c >> 18);
	out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

size_t
utf8_of_wide(const wchar_t *text, char *out, size_t size)
{
	unsigned char one[CHARACTER_BYTES_MAX];
	size_t all = 0, kept = 0;

	for (; *text; text++) {
		size_t n = encode((uint32_t)*text, one);

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

/* Decode one character at `at`, which is not the end. Returns: the bytes read */
static size_t
decode(const unsigned char *at, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

	*c = REPLACEMENT;
	if (n == 0 || *at >= 0xf8)
		return 1;
	if (n == 1) {
		*c = *at;
		return 1;
	}
	uint32_t value = *at & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return i;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value >= least[n] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff))
		*c = value;
	return n;
}

size_t
wide_of_utf8(const char *text, wchar_t *out, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t all = 0;
	uint32_t c;

	for (; *at; all++) {
		at += decode(at, &c);
		if (all + 1 < size)
			out[all] = (wchar_t)c;
	}
	if (size)
		out[all < size ? all : size - 1] = L'\0';
	return all;
}
