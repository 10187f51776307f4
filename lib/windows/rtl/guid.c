/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GUIDs as text. Start with RtlGUIDFromString().
 */
#include "plx_rtl.h"

#include <ntstrsafe.h>
#include <wdm.h>

#include <stdlib.h>

enum {
	GUID_LENGTH = 38,
};

/* Where its bytes begin, in the order of the struct of a little-endian machine's big numbers. */
static const unsigned char places[16] = {1,  3,  5,  7,  10, 12, 15, 17,
					 20, 22, 25, 27, 29, 31, 33, 35};

NTSTATUS
RtlGUIDFromString(PCUNICODE_STRING s, GUID *guid)
{
	static const char form[] = "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}";
	UCHAR bytes[16];

	if (s->Length < GUID_LENGTH * sizeof(WCHAR))
		return STATUS_INVALID_PARAMETER;
	for (int i = 0; i < GUID_LENGTH; i++)
		if (form[i] == 'x' ? plx_rtl_digit(s->Buffer[i]) >= 16 : s->Buffer[i] != form[i])
			return STATUS_INVALID_PARAMETER;
	for (int i = 0; i < 16; i++)
		bytes[i] = (UCHAR)(plx_rtl_digit(s->Buffer[places[i]]) << 4 |
				   plx_rtl_digit(s->Buffer[places[i] + 1]));
	guid->Data1 =
		(ULONG)bytes[0] << 24 | (ULONG)bytes[1] << 16 | (ULONG)bytes[2] << 8 | bytes[3];
	guid->Data2 = (USHORT)(bytes[4] << 8 | bytes[5]);
	guid->Data3 = (USHORT)(bytes[6] << 8 | bytes[7]);
	memcpy(guid->Data4, bytes + 8, sizeof(guid->Data4));
	return STATUS_SUCCESS;
}

NTSTATUS
RtlStringFromGUID(REFGUID guid, PUNICODE_STRING s)
{
	const UCHAR *d = guid->Data4;

	*s = (UNICODE_STRING){.MaximumLength = (GUID_LENGTH + 1) * sizeof(WCHAR)};
	s->Buffer = malloc(s->MaximumLength);
	if (!s->Buffer) {
		s->MaximumLength = 0;
		return STATUS_NO_MEMORY;
	}
	s->Length = GUID_LENGTH * sizeof(WCHAR);
	return RtlStringCbPrintfW(s->Buffer, s->MaximumLength,
				  L"{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}",
				  guid->Data1, guid->Data2, guid->Data3, d[0], d[1], d[2], d[3],
				  d[4], d[5], d[6], d[7]);
}
