/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The safe strings of ntstrsafe.h that are counted. They end without a 0, and use all of their
 * buffer. Start with plx_ntstr_put_u().
 */
#include "format.h"

#include <ntstrsafe.h>

static BOOLEAN
is_valid(PCUNICODE_STRING s, ULONG flags)
{
	if (flags & ~(ULONG)STRSAFE_UNICODE_STRING_VALID_FLAGS)
		return FALSE;
	if (s == NULL)
		return (flags & STRSAFE_IGNORE_NULLS) != 0;
	return RtlValidateUnicodeString(0, s) == STATUS_SUCCESS;
}

/* `used` characters are there, of more if not `fits`, and `was` before. */
static NTSTATUS
ended(PUNICODE_STRING to, size_t was, size_t used, int fits, PUNICODE_STRING remaining, ULONG flags)
{
	size_t size = to ? to->MaximumLength / sizeof(WCHAR) : 0;

	if (!to)
		return fits ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
	if (!fits && flags & STRSAFE_NO_TRUNCATION)
		used = was;
	if (!fits && flags & STRSAFE_FILL_ON_FAILURE && size > 0) {
		memset(to->Buffer, (int)(flags & 0xff), size * sizeof(WCHAR));
		used = (flags & 0xff) != 0 ? size : 0;
	}
	if (!fits && flags & STRSAFE_ZERO_LENGTH_ON_FAILURE)
		used = 0;
	if (fits && flags & STRSAFE_FILL_BEHIND && used < size)
		memset(to->Buffer + used, (int)(flags & 0xff), (size - used) * sizeof(WCHAR));
	to->Length = (USHORT)(used * sizeof(WCHAR));
	if (remaining)
		*remaining = (UNICODE_STRING){
			.MaximumLength = (USHORT)((size - used) * sizeof(WCHAR)),
			.Buffer = to->Buffer ? to->Buffer + used : NULL,
		};
	return fits ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
}

/* Text of a length that is known. */
static NTSTATUS
put_text(PUNICODE_STRING to, int append, const WCHAR *from, size_t length,
	 PUNICODE_STRING remaining, ULONG flags)
{
	size_t size = to ? to->MaximumLength / sizeof(WCHAR) : 0;
	size_t was = append && to ? to->Length / sizeof(WCHAR) : 0;
	size_t fits = length < size - was ? length : size - was;

	if (fits > 0)
		memmove(to->Buffer + was, from, fits * sizeof(WCHAR));
	return ended(to, was, was + fits, fits == length, remaining, flags);
}

NTSTATUS
plx_ntstr_put_u(PUNICODE_STRING to, int append, const WCHAR *from, size_t length,
		PUNICODE_STRING remaining, ULONG flags)
{
	if (from == NULL && flags & STRSAFE_IGNORE_NULLS)
		from = L"";
	if (from == NULL || !is_valid(to, flags))
		return STATUS_INVALID_PARAMETER;
	if (length != PLX_NTSTR_ALL && length > NTSTRSAFE_UNICODE_STRING_MAX_CCH)
		return STATUS_INVALID_PARAMETER;
	/* No more than what does not fit any more is of interest. */
	if (length > NTSTRSAFE_UNICODE_STRING_MAX_CCH + 1)
		length = NTSTRSAFE_UNICODE_STRING_MAX_CCH + 1;
	return put_text(to, append, from, wcsnlen(from, length), remaining, flags);
}

NTSTATUS
plx_ntstr_put_uu(PUNICODE_STRING to, int append, PCUNICODE_STRING from, size_t length,
		 PUNICODE_STRING remaining, ULONG flags)
{
	size_t all = from ? from->Length / sizeof(WCHAR) : 0;

	if (!is_valid(to, flags) || !is_valid(from, flags))
		return STATUS_INVALID_PARAMETER;
	if (length != PLX_NTSTR_ALL && length > NTSTRSAFE_UNICODE_STRING_MAX_CCH)
		return STATUS_INVALID_PARAMETER;
	return put_text(to, append, from ? from->Buffer : NULL, all < length ? all : length,
			remaining, flags);
}

NTSTATUS
plx_ntstr_format_u(PUNICODE_STRING to, PUNICODE_STRING remaining, ULONG flags, const WCHAR *format,
		   va_list args)
{
	size_t size, length;

	if (format == NULL && flags & STRSAFE_IGNORE_NULLS)
		format = L"";
	if (format == NULL || !is_valid(to, flags))
		return STATUS_INVALID_PARAMETER;
	size = to ? to->MaximumLength / sizeof(WCHAR) : 0;
	length = rtl_format_wide(to ? to->Buffer : NULL, size, format, args);
	return ended(to, 0, length < size ? length : size, length <= size, remaining, flags);
}

NTSTATUS
RtlUnicodeStringInitEx(PUNICODE_STRING to, NTSTRSAFE_PCWSTR from, ULONG flags)
{
	static WCHAR empty[1];
	size_t length;

	if (to == NULL || flags & ~(ULONG)STRSAFE_UNICODE_STRING_VALID_FLAGS)
		return STATUS_INVALID_PARAMETER;
	*to = (UNICODE_STRING){0};
	if (from == NULL) {
		if (flags & STRSAFE_IGNORE_NULLS)
			*to = (UNICODE_STRING){0, sizeof(empty), empty};
		return STATUS_SUCCESS;
	}
	length = wcsnlen(from, NTSTRSAFE_UNICODE_STRING_MAX_CCH + 1);
	if (length > NTSTRSAFE_UNICODE_STRING_MAX_CCH)
		return STATUS_INVALID_PARAMETER;
	to->Buffer = (PWCH)(ULONG_PTR)from;
	to->Length = (USHORT)(length * sizeof(WCHAR));
	to->MaximumLength = length < NTSTRSAFE_UNICODE_STRING_MAX_CCH
				    ? (USHORT)(to->Length + sizeof(WCHAR))
				    : to->Length;
	return STATUS_SUCCESS;
}

NTSTATUS
RtlUnicodeStringInit(PUNICODE_STRING to, NTSTRSAFE_PCWSTR from)
{
	return RtlUnicodeStringInitEx(to, from, 0);
}

NTSTATUS
RtlUnicodeStringValidateEx(PCUNICODE_STRING s, ULONG flags)
{
	return is_valid(s, flags) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS
RtlUnicodeStringValidate(PCUNICODE_STRING s)
{
	return RtlUnicodeStringValidateEx(s, 0);
}
