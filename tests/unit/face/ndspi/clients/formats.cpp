// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes of numbers in formats, by the rules of Windows, where a long has 32 bits.
#include <windows.h>

#include <inttypes.h>
#include <stdio.h>

static void
Print()
{
	const LONGLONG big = 0x123456789ALL;
	const DWORD word = 0xFFFFFFFE;
	const HRESULT hr = (HRESULT)0xC000000D;
	const SIZE_T room = 4096;
	uint64_t wide = 1;

	printf("%I64d %I64u %#I64x\n", big, (UINT64)big, big);
	printf("%I32d %9Id|%Iu|%zu\n", -5, (LONG_PTR)-7, room, room);
	printf("%lu %ld %lx %lX %08lx\n", word, (LONG)-2, word, hr, hr);
	printf("%lld %llx %hu %hhx\n", big, big, (USHORT)65535, 255);
	printf("%" PRIu64 " %" PRIx64 "\n", wide << 40, wide << 40);
	printf("%5.2f %lf %g %Lg\n", 1.5, 2.5, 0.25, (long double)4);
	printf("%-6d|%06d|%+d|%*d|%.*s\n", 1, 2, 3, 4, 5, 2, "abc");
	printf("100%% %y\n");
}

static int
Scan()
{
	struct {
		DWORD value, guard;
	} got = {0, 77};
	LONGLONG big = 0;
	WCHAR word[8] = L"";
	char narrow[8] = "";

	if (sscanf("12 34", "%lu %I64d", &got.value, &big) != 2 || got.value != 12 || big != 34)
		return 1;
	if (got.guard != 77)
		return 2;
	if (swscanf(L"-8 abc def]", L"%ld %s %7[^]]", &got.value, word, word) != 3)
		return 3;
	if (got.guard != 77 || got.value != (DWORD)-8 || wcscmp(word, L"def") != 0)
		return 4;
	if (swscanf(L"ab 7", L"%S %*d", narrow) != 1 || strcmp(narrow, "ab") != 0)
		return 5;
	return 0;
}

int
main()
{
	char small[6];

	Print();
	int length = snprintf(small, sizeof(small), "%I64d", 1234567890123LL);

	printf("%d %s\n", length, small);
	length = sprintf_s(small, "%s", "toolong");
	printf("%d %d\n", length, small[0]);
	return Scan();
}
