/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One character as UTF-8, and back. It owns nothing.
 * Start with plx_utf8_encode().
 */
#include "plx_rules.h"

size_t
plx_utf8_encode(uint32_t c, unsigned char out[PLX_UTF8_BYTES_MAX])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = PLX_UTF8_REPLACEMENT;
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
plx_utf8_decode(const unsigned char *at, size_t left, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

	*c = PLX_UTF8_REPLACEMENT;
	if (n == 0 || *at >= 0xf8)
		return 1;
	if (n == 1) {
		*c = *at;
		return 1;
	}
	uint32_t value = *at & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (i == left || (at[i] & 0xc0) != 0x80)
			return i;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value >= least[n] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff))
		*c = value;
	return n;
}
