/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of the shell API that parses a command line.
 */
#ifndef PLX_WIN_SHELLAPI_H
#define PLX_WIN_SHELLAPI_H

#include "windows.h"

PLX_WIN_BEGIN

/**
 * Split a command line into arguments, by Windows' rules for quotes and backslashes. An empty line
 * yields the path of the program.
 *
 * Returns: *count strings and a NULL, to be freed by one LocalFree(); NULL:
 * ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY
 * Tests: tests/unit/windows/crt/text.c
 */
LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR line, int *count) PLX_WIN_NAME(CommandLineToArgvW);

PLX_WIN_END

#endif
