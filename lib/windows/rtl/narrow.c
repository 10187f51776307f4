/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counted strings of bytes. Case is that of ASCII. It allocates nothing.
 * Start with RtlInitStringEx().
 */
#include <wdm.h>

#include <stdlib.h>

NTSTATUS
RtlInitStringEx(PSTRING to, PCSZ from)
{
	size_t length = from ? strlen(from) : 0;

	*to = (STRING){0};
	if (length >= MAXUSHORT)
		return STATUS_NAME_TOO_LONG;
	if (from)
		*to = (STRING){(USHORT)length, (USHORT)(length + 1), (PCHAR)(ULONG_PTR)from};
	return STATUS_SUCCESS;
}

VOID
RtlInitString(PSTRING to, PCSZ from)
{
	if (RtlInitStringEx(to, from) != STATUS_SUCCESS)
		*to = (STRING){MAXUSHORT - 1, MAXUSHORT, (PCHAR)(ULONG_PTR)from};
}

VOID
RtlInitAnsiString(PANSI_STRING to, PCSZ from)
{
	RtlInitString(to, from);
}

VOID
RtlInitUTF8String(PUTF8_STRING to, PCSZ from)
{
	RtlInitString(to, from);
}

NTSTATUS
RtlInitAnsiStringEx(PANSI_STRING to, PCSZ from)
{
	return RtlInitStringEx(to, from);
}

NTSTATUS
RtlInitUTF8StringEx(PUTF8_STRING to, PCSZ from)
{
	return RtlInitStringEx(to, from);
}

VOID
RtlFreeAnsiString(PANSI_STRING s)
{
	free(s->Buffer);
	*s = (ANSI_STRING){0};
}

VOID
RtlFreeUTF8String(PUTF8_STRING s)
{
	RtlFreeAnsiString(s);
}

VOID
RtlCopyString(PSTRING to, const STRING *from)
{
	USHORT length = from ? from->Length : 0;

	if (length > to->MaximumLength)
		length = to->MaximumLength;
	if (length > 0)
		memmove(to->Buffer, from->Buffer, length);
	to->Length = length;
}

CHAR
RtlUpperChar(CHAR c)
{
	return c >= 'a' && c <= 'z' ? (CHAR)(c - 'a' + 'A') : c;
}

VOID
RtlUpperString(PSTRING to, const STRING *from)
{
	RtlCopyString(to, from);
	for (USHORT i = 0; i < to->Length; i++)
		to->Buffer[i] = RtlUpperChar(to->Buffer[i]);
}

LONG
RtlCompareString(const STRING *a, const STRING *b, BOOLEAN any_case)
{
	for (USHORT i = 0; i < a->Length && i < b->Length; i++) {
		CHAR x = any_case ? RtlUpperChar(a->Buffer[i]) : a->Buffer[i];
		CHAR y = any_case ? RtlUpperChar(b->Buffer[i]) : b->Buffer[i];

		if (x != y)
			return (LONG)(UCHAR)x - (LONG)(UCHAR)y;
	}
	return (LONG)a->Length - (LONG)b->Length;
}

BOOLEAN
RtlEqualString(const STRING *a, const STRING *b, BOOLEAN any_case)
{
	return (BOOLEAN)(a->Length == b->Length && RtlCompareString(a, b, any_case) == 0);
}
