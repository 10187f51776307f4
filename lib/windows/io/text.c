/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the host, in UTF-8, and those of drivers. Start with text_from_utf8().
 */
#include "io.h"

#include <stdlib.h>

bool
text_from_utf8(UNICODE_STRING *to, const char *from)
{
	size_t length = strlen(from);
	ULONG used = 0;

	*to = (UNICODE_STRING){0, 0, NULL};
	/* at most one character for a byte */
	if (length >= UINT16_MAX / sizeof(WCHAR))
		return false;
	to->Buffer = calloc(length + 1, sizeof(WCHAR));
	if (to->Buffer == NULL)
		return false;
	if (RtlUTF8ToUnicodeN(to->Buffer, (ULONG)(length * sizeof(WCHAR)), &used, from,
			      (ULONG)length) != STATUS_SUCCESS) {
		free(to->Buffer);
		to->Buffer = NULL;
		return false;
	}
	to->Length = (USHORT)used;
	to->MaximumLength = (USHORT)(used + sizeof(WCHAR));
	return true;
}

void
text_to_utf8(char *to, size_t size, PCUNICODE_STRING from)
{
	ULONG used = 0;

	if (from->Length > 0)
		(void)RtlUnicodeToUTF8N(to, (ULONG)(size - 1), &used, from->Buffer, from->Length);
	to[used] = '\0';
}
