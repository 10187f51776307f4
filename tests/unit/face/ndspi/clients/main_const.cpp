// SPDX-License-Identifier: BSD-3-Clause
//
// A program that begins in _tmain, with its arguments as wide text.
#include <windows.h>
#include <tchar.h>

int __cdecl _tmain(int argc, const TCHAR *argv[])
{

	for (int i = 1; i < argc; i++) {
		if (_tcsicmp(argv[i], _T("-N")) == 0)
			_tprintf(_T("n is %d\n"), _ttol(argv[i + 1]));
		_tprintf(_T("%s %d\n"), argv[i], (int)_tcslen(argv[i]));
	}
	return 7;
}
