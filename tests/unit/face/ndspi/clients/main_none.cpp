// SPDX-License-Identifier: BSD-3-Clause
//
// A program that begins in wmain and takes nothing.
#include <stdio.h>
#include <windows.h>

int
wmain()
{
	wprintf(L"%s\n", L"none");
	return 7;
}
