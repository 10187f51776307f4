/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a driver in C++ does with text: it includes the C library's headers before and after ours,
 * and its calls reach our functions all the same. It ends with the number of the first wrong line.
 */
#include <cstring>
#include <cwchar>
#include <string>

#include <ntddk.h>
#include <ntintsafe.h>
#include <ntstrsafe.h>

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define EXPECT(e)                               \
	do {                                    \
		if (!(e))                       \
			return __LINE__ & 0xff; \
	} while (0)

static const UNICODE_STRING fixed = RTL_CONSTANT_STRING(L"fixed");
DECLARE_CONST_UNICODE_STRING(declared, L"declared");

int
main()
{
	WCHAR text[16];
	const WCHAR *constant = L"a\\b";
	DECLARE_UNICODE_STRING_SIZE(sized, 8);

	EXPECT(wcslen(L"hello") == 5);
	EXPECT(std::wcslen(L"hello") == 5);
	EXPECT(wcschr(constant, L'\\') == constant + 1);
	EXPECT(wcscpy_s(text, L"sized") == 0 && std::wcscmp(text, L"sized") == 0);
	EXPECT(NT_SUCCESS(
		RtlStringCchPrintfW(text, ARRAYSIZE(text), L"%wZ %ld", &fixed, (LONG)-1)));
	EXPECT(std::wcscmp(text, L"fixed -1") == 0);
	EXPECT(RtlUnicodeStringCopy(&sized, &declared) == STATUS_SUCCESS);
	EXPECT(RtlEqualUnicodeString(&sized, &declared, FALSE));
	SIZE_T size = 0;
	EXPECT(RtlSizeTMult((SIZE_T)-1, 2, &size) == STATUS_INTEGER_OVERFLOW);
	return 0;
}
