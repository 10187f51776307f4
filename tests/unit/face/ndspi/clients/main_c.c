/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program of C that begins in _tmain.
 */
#include <stdio.h>
#include <tchar.h>

int
_tmain(int argc, _TCHAR *argv[])
{
	int i;

	for (i = 1; i < argc; i++) {
		if (_tcsicmp(argv[i], _T("-N")) == 0)
			_tprintf(_T("n is %d\n"), (int)_ttol(argv[i + 1]));
		_tprintf(_T("%s %d\n"), argv[i], (int)_tcslen(argv[i]));
	}
	return 7;
}
