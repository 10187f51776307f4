/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One character as UTF-16, and back. It owns nothing.
 * Start with rtl_utf16_decode().
 */
#include "format.h"
#include "plx_rules.h"

size_t
rtl_utf16_decode(const WCHAR *at, size_t left, ULONG *c)
{
	*c = at[0];
	if (at[0] < 0xd800 || at[0] > 0xdfff)
		return 1;
	if (at[0] < 0xdc00 && left > 1 && at[1] >= 0xdc00 && at[1] <= 0xdfff) {
		*c = 0x10000 + ((at[0] - 0xd800u) << 10) + (at[1] - 0xdc00u);
		return 2;
	}
	*c = PLX_UTF8_REPLACEMENT;
	return 1;
}

size_t
rtl_utf16_encode(ULONG c, WCHAR out[RTL_UTF16_UNITS_MAX])
{
	if (c < 0x10000) {
		out[0] = (WCHAR)c;
		return 1;
	}
	out[0] = (WCHAR)(0xd800 + ((c - 0x10000) >> 10));
	out[1] = (WCHAR)(0xdc00 + ((c - 0x10000) & 0x3ff));
	return 2;
}
