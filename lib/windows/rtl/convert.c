/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wide text to narrow text, which is UTF-8, and back. What is not valid becomes U+FFFD.
 * Start with RtlUnicodeToUTF8N().
 */
#include "format.h"
#include "plx_rules.h"

#include <stdbool.h>
#include <stdlib.h>

/* The result of a conversion. */
struct converted {
	size_t bytes; /* of the whole result */
	size_t kept;  /* of the whole characters that fit */
	bool lossy;   /* something was not valid */
};

/* Add a character of `n` bytes if it, and all before it, fit. */
static void
keep(struct converted *done, void *to, size_t size, const void *character, size_t n)
{
	if (to && done->bytes + n <= size) {
		memcpy((char *)to + done->bytes, character, n);
		done->kept += n;
	}
	done->bytes += n;
}

static struct converted
narrow(char *to, size_t size, const WCHAR *from, size_t units)
{
	struct converted done = {0};
	unsigned char bytes[PLX_UTF8_BYTES_MAX];
	ULONG c;

	for (size_t i = 0; i < units;) {
		WCHAR first = from[i];

		i += rtl_utf16_decode(from + i, units - i, &c);
		done.lossy |= c == PLX_UTF8_REPLACEMENT && first != PLX_UTF8_REPLACEMENT;
		keep(&done, to, size, bytes, plx_utf8_encode(c, bytes));
	}
	return done;
}

static struct converted
widen(WCHAR *to, size_t size, const char *from, size_t length)
{
	static const unsigned char replacement[] = {0xef, 0xbf, 0xbd};
	const unsigned char *at = (const unsigned char *)from;
	struct converted done = {0};
	WCHAR units[RTL_UTF16_UNITS_MAX];
	ULONG c;

	for (size_t i = 0, n; i < length; i += n) {
		n = plx_utf8_decode(at + i, length - i, &c);
		done.lossy |= c == PLX_UTF8_REPLACEMENT &&
			      (n != 3 || memcmp(at + i, replacement, n) != 0);
		keep(&done, to, size, units, rtl_utf16_encode(c, units) * sizeof(WCHAR));
	}
	return done;
}

/* @param to NULL: only the length is wanted */
static NTSTATUS
result(struct converted done, const void *to, PULONG actual)
{
	if (actual)
		*actual = (ULONG)(to ? done.kept : done.bytes);
	if (to && done.kept < done.bytes)
		return STATUS_BUFFER_TOO_SMALL;
	return done.lossy ? STATUS_SOME_NOT_MAPPED : STATUS_SUCCESS;
}

NTSTATUS
RtlUnicodeToUTF8N(PCHAR to, ULONG size, PULONG actual, PCWCH from, ULONG bytes)
{
	if (!from)
		return STATUS_INVALID_PARAMETER_4;
	if ((!to && !actual) || bytes % sizeof(WCHAR) != 0)
		return STATUS_INVALID_PARAMETER;
	return result(narrow(to, size, from, bytes / sizeof(WCHAR)), to, actual);
}

NTSTATUS
RtlUTF8ToUnicodeN(PWSTR to, ULONG size, PULONG actual, PCCH from, ULONG bytes)
{
	if (!from)
		return STATUS_INVALID_PARAMETER_4;
	if (!to && !actual)
		return STATUS_INVALID_PARAMETER;
	return result(widen(to, size, from, bytes), to, actual);
}

/* ---- counted strings ---- */

ULONG
RtlxAnsiStringToUnicodeSize(PCANSI_STRING s)
{
	return (ULONG)(widen(NULL, 0, s->Buffer, s->Length).bytes + sizeof(WCHAR));
}

ULONG
RtlxUnicodeStringToAnsiSize(PCUNICODE_STRING s)
{
	return (ULONG)(narrow(NULL, 0, s->Buffer, s->Length / sizeof(WCHAR)).bytes + 1);
}

NTSTATUS
RtlAnsiStringToUnicodeString(PUNICODE_STRING to, PCANSI_STRING from, BOOLEAN allocate)
{
	ULONG bytes = RtlxAnsiStringToUnicodeSize(from);

	if (bytes > UNICODE_STRING_MAX_BYTES)
		return STATUS_INVALID_PARAMETER_2;
	if (allocate) {
		to->Buffer = malloc(bytes);
		if (!to->Buffer)
			return STATUS_NO_MEMORY;
		to->MaximumLength = (USHORT)bytes;
	} else if (bytes > to->MaximumLength) {
		return STATUS_BUFFER_OVERFLOW;
	}
	to->Length = (USHORT)(bytes - sizeof(WCHAR));
	widen(to->Buffer, to->Length, from->Buffer, from->Length);
	to->Buffer[to->Length / sizeof(WCHAR)] = 0;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlUnicodeStringToAnsiString(PANSI_STRING to, PCUNICODE_STRING from, BOOLEAN allocate)
{
	ULONG bytes = RtlxUnicodeStringToAnsiSize(from);

	if (bytes > MAXUSHORT)
		return STATUS_INVALID_PARAMETER_2;
	if (allocate) {
		to->Buffer = malloc(bytes);
		if (!to->Buffer)
			return STATUS_NO_MEMORY;
		to->MaximumLength = (USHORT)bytes;
	}
	if (to->MaximumLength == 0)
		return STATUS_BUFFER_OVERFLOW;
	to->Length = (USHORT)narrow(to->Buffer, to->MaximumLength - 1u, from->Buffer,
				    from->Length / sizeof(WCHAR))
			     .kept;
	to->Buffer[to->Length] = 0;
	return bytes > to->MaximumLength ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

NTSTATUS
RtlUTF8StringToUnicodeString(PUNICODE_STRING to, PCUTF8_STRING from, BOOLEAN allocate)
{
	return RtlAnsiStringToUnicodeString(to, from, allocate);
}

NTSTATUS
RtlUnicodeStringToUTF8String(PUTF8_STRING to, PCUNICODE_STRING from, BOOLEAN allocate)
{
	return RtlUnicodeStringToAnsiString(to, from, allocate);
}

/* ---- the C library's ---- */

size_t
plx_rtl_mbstowcs(WCHAR *to, const char *from, size_t count)
{
	size_t size = to ? count * sizeof(WCHAR) : 0;
	struct converted done = widen(to, size, from, strlen(from));
	size_t units = (to ? done.kept : done.bytes) / sizeof(WCHAR);

	if (done.lossy)
		return (size_t)-1;
	if (to && done.kept == done.bytes && units < count)
		to[units] = 0;
	return units;
}

size_t
plx_rtl_wcstombs(char *to, const WCHAR *from, size_t count)
{
	struct converted done = narrow(to, count, from, wcslen(from));

	if (done.lossy)
		return (size_t)-1;
	if (to && done.kept == done.bytes && done.kept < count)
		to[done.kept] = 0;
	return to ? done.kept : done.bytes;
}
