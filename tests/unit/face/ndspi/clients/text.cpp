// SPDX-License-Identifier: BSD-3-Clause
//
// Wide and narrow output by turns, on one stream.
#include <windows.h>
#include <tchar.h>

#include <cstdio>
#include <cwchar>

int
main()
{
	const WCHAR *name = L"adapter";
	TCHAR line[64];

	wprintf(L"%s %d\n", name, 1);
	printf("%s %S\n", "narrow", name);
	fwprintf(stdout, L"%S %hs %ls %ws\n", "other", "narrow", name, name);
	std::printf("%ls %c%C\n", name, 'a', L'b');
	_tprintf(_T("%s %c%C\n"), _T("t"), _T('a'), 'b');
	puts("puts");
	_putws(L"putws");
	fputws(L"fputws\n", stdout);
	putwchar(L'\u20ac');
	wprintf(L" \u00e9 %s\n", L"\u4e2d");
	_stprintf_s(line, _T("%-8s|%5.1f|%%"), name, 2.5);
	_tprintf(_T("%s %d\n"), line, (int)_tcslen(line));
	swprintf(line, _countof(line), L"%s", L"sw");
	std::wprintf(L"%s\n", line);
	int length = _stprintf_s(line, 4, _T("%s"), name);
	_tprintf(_T("%d %s.\n"), length, line);
	return 0;
}
