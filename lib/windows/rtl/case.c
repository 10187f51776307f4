/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Case of single 16-bit characters, by the C library's table of Unicode. Start with changed().
 */
#include <wdm.h>

#include <stdlib.h>

#include "plx_rules.h"

/* On Windows no letter beyond ASCII becomes one of ASCII, as the dotless i does in Unicode. */
static wint_t
changed(wint_t c, wint_t (*to)(wint_t, locale_t))
{
	locale_t unicode = plx_unicode_locale();
	wint_t other;

	if (c < 0x80 || c > 0xffff || !unicode)
		return c;
	other = to(c, unicode);
	return other < 0x80 || other > 0xffff ? c : other;
}

wint_t
plx_rtl_towupper(wint_t c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : changed(c, towupper_l);
}

wint_t
plx_rtl_towlower(wint_t c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : changed(c, towlower_l);
}

WCHAR
RtlUpcaseUnicodeChar(WCHAR c)
{
	return (WCHAR)plx_rtl_towupper(c);
}

WCHAR
RtlDowncaseUnicodeChar(WCHAR c)
{
	return (WCHAR)plx_rtl_towlower(c);
}

static NTSTATUS
change(PUNICODE_STRING to, PCUNICODE_STRING from, BOOLEAN allocate, WCHAR (*other)(WCHAR))
{
	if (allocate) {
		to->Buffer = malloc(from->Length + sizeof(WCHAR));
		if (!to->Buffer)
			return STATUS_NO_MEMORY;
		to->MaximumLength = from->Length;
	} else if (to->MaximumLength < from->Length) {
		return STATUS_BUFFER_OVERFLOW;
	}
	for (USHORT i = 0; i < from->Length / sizeof(WCHAR); i++)
		to->Buffer[i] = other(from->Buffer[i]);
	to->Length = from->Length;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlUpcaseUnicodeString(PUNICODE_STRING to, PCUNICODE_STRING from, BOOLEAN allocate)
{
	return change(to, from, allocate, RtlUpcaseUnicodeChar);
}

NTSTATUS
RtlDowncaseUnicodeString(PUNICODE_STRING to, PCUNICODE_STRING from, BOOLEAN allocate)
{
	return change(to, from, allocate, RtlDowncaseUnicodeChar);
}
