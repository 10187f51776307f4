/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counted strings of 16-bit characters. Only what is said to allocate does, and what it allocates
 * is passed to RtlFreeUnicodeString(). Start with RtlInitUnicodeStringEx().
 */
#include <wdm.h>

#include <stdbool.h>
#include <stdlib.h>

enum {
	COUNTED_BYTES_MAX = 0xfffc, /* with a 0 behind it, an even MaximumLength */
};

NTSTATUS
RtlInitUnicodeStringEx(PUNICODE_STRING to, PCWSTR from)
{
	size_t bytes = from ? wcslen(from) * sizeof(WCHAR) : 0;

	*to = (UNICODE_STRING){0};
	if (bytes > COUNTED_BYTES_MAX)
		return STATUS_NAME_TOO_LONG;
	if (from)
		*to = (UNICODE_STRING){(USHORT)bytes, (USHORT)(bytes + sizeof(WCHAR)),
				       (PWCH)(ULONG_PTR)from};
	return STATUS_SUCCESS;
}

VOID
RtlInitUnicodeString(PUNICODE_STRING to, PCWSTR from)
{
	if (RtlInitUnicodeStringEx(to, from) != STATUS_SUCCESS)
		*to = (UNICODE_STRING){COUNTED_BYTES_MAX, COUNTED_BYTES_MAX + sizeof(WCHAR),
				       (PWCH)(ULONG_PTR)from};
}

VOID
RtlFreeUnicodeString(PUNICODE_STRING s)
{
	free(s->Buffer);
	*s = (UNICODE_STRING){0};
}

NTSTATUS
RtlValidateUnicodeString(ULONG flags, PCUNICODE_STRING s)
{
	if (flags != 0)
		return STATUS_INVALID_PARAMETER;
	if (s == NULL)
		return STATUS_SUCCESS;
	if (s->Length % sizeof(WCHAR) != 0 || s->MaximumLength % sizeof(WCHAR) != 0)
		return STATUS_INVALID_PARAMETER;
	if (s->Length > s->MaximumLength || (s->Buffer == NULL && s->MaximumLength != 0))
		return STATUS_INVALID_PARAMETER;
	return STATUS_SUCCESS;
}

/* Write a 0 behind a string if there is room for it. */
static void
end(PUNICODE_STRING s)
{
	if (s->Length + sizeof(WCHAR) <= s->MaximumLength)
		s->Buffer[s->Length / sizeof(WCHAR)] = 0;
}

VOID
RtlCopyUnicodeString(PUNICODE_STRING to, PCUNICODE_STRING from)
{
	USHORT length = from ? from->Length : 0;

	if (length > to->MaximumLength)
		length = to->MaximumLength;
	if (length > 0)
		memmove(to->Buffer, from->Buffer, length);
	to->Length = length;
	if (from)
		end(to);
}

/* @param bytes even */
static NTSTATUS
append(PUNICODE_STRING to, const WCHAR *from, size_t bytes)
{
	if (to->Length + bytes > to->MaximumLength)
		return STATUS_BUFFER_TOO_SMALL;
	if (bytes > 0) {
		memmove((char *)to->Buffer + to->Length, from, bytes);
		to->Length = (USHORT)(to->Length + bytes);
		end(to);
	}
	return STATUS_SUCCESS;
}

NTSTATUS
RtlAppendUnicodeToString(PUNICODE_STRING to, PCWSTR from)
{
	return append(to, from, from ? wcslen(from) * sizeof(WCHAR) : 0);
}

NTSTATUS
RtlAppendUnicodeStringToString(PUNICODE_STRING to, PCUNICODE_STRING from)
{
	return append(to, from->Buffer, from->Length);
}

NTSTATUS
RtlDuplicateUnicodeString(ULONG flags, PCUNICODE_STRING from, PUNICODE_STRING to)
{
	bool ended = flags & RTL_DUPLICATE_UNICODE_STRING_NULL_TERMINATE;
	bool empty = flags & RTL_DUPLICATE_UNICODE_STRING_ALLOCATE_NULL_STRING;
	size_t bytes;

	/* An empty string can only be allocated with its 0. */
	if (flags > 3 || (empty && !ended) || !from || !to ||
	    RtlValidateUnicodeString(0, from) != STATUS_SUCCESS)
		return STATUS_INVALID_PARAMETER;
	bytes = from->Length + (ended ? sizeof(WCHAR) : 0);
	if (bytes > UNICODE_STRING_MAX_BYTES)
		return STATUS_NAME_TOO_LONG;
	*to = (UNICODE_STRING){0};
	if (from->Length == 0 && !empty)
		return STATUS_SUCCESS;
	to->Buffer = malloc(bytes);
	if (!to->Buffer)
		return STATUS_NO_MEMORY;
	to->MaximumLength = (USHORT)bytes;
	RtlCopyUnicodeString(to, from);
	return STATUS_SUCCESS;
}

/* ---- comparing ---- */

LONG
RtlCompareUnicodeStrings(PCWCH a, SIZE_T a_length, PCWCH b, SIZE_T b_length, BOOLEAN any_case)
{
	for (SIZE_T i = 0; i < a_length && i < b_length; i++) {
		WCHAR x = any_case ? RtlUpcaseUnicodeChar(a[i]) : a[i];
		WCHAR y = any_case ? RtlUpcaseUnicodeChar(b[i]) : b[i];

		if (x != y)
			return (LONG)x - (LONG)y;
	}
	return a_length < b_length ? -1 : a_length > b_length;
}

LONG
RtlCompareUnicodeString(PCUNICODE_STRING a, PCUNICODE_STRING b, BOOLEAN any_case)
{
	return RtlCompareUnicodeStrings(a->Buffer, a->Length / sizeof(WCHAR), b->Buffer,
					b->Length / sizeof(WCHAR), any_case);
}

BOOLEAN
RtlEqualUnicodeString(PCUNICODE_STRING a, PCUNICODE_STRING b, BOOLEAN any_case)
{
	return (BOOLEAN)(a->Length == b->Length && RtlCompareUnicodeString(a, b, any_case) == 0);
}

BOOLEAN
RtlPrefixUnicodeString(PCUNICODE_STRING prefix, PCUNICODE_STRING s, BOOLEAN any_case)
{
	size_t n = prefix->Length / sizeof(WCHAR);

	return (BOOLEAN)(prefix->Length <= s->Length &&
			 RtlCompareUnicodeStrings(prefix->Buffer, n, s->Buffer, n, any_case) == 0);
}

BOOLEAN
RtlSuffixUnicodeString(PCUNICODE_STRING suffix, PCUNICODE_STRING s, BOOLEAN any_case)
{
	size_t n = suffix->Length / sizeof(WCHAR), all = s->Length / sizeof(WCHAR);

	if (n > all)
		return FALSE;
	return (BOOLEAN)(n == 0 ||
			 RtlCompareUnicodeStrings(suffix->Buffer, n, s->Buffer + (all - n), n,
						  any_case) == 0);
}

NTSTATUS
RtlHashUnicodeString(PCUNICODE_STRING s, BOOLEAN any_case, ULONG algorithm, PULONG value)
{
	if (!s || !value || RtlValidateUnicodeString(0, s) != STATUS_SUCCESS)
		return STATUS_INVALID_PARAMETER;
	if (algorithm != HASH_STRING_ALGORITHM_DEFAULT && algorithm != HASH_STRING_ALGORITHM_X65599)
		return STATUS_INVALID_PARAMETER;
	*value = 0;
	for (USHORT i = 0; i < s->Length / sizeof(WCHAR); i++)
		*value = *value * 65599 +
			 (any_case ? RtlUpcaseUnicodeChar(s->Buffer[i]) : s->Buffer[i]);
	return STATUS_SUCCESS;
}
