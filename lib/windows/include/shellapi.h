/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Of the shell only what takes a command line apart.
 */
#ifndef PLX_WIN_SHELLAPI_H
#define PLX_WIN_SHELLAPI_H

#include "windows.h"

PLX_WIN_BEGIN

/**
 * The arguments of a command line, by Windows' rules of quotes and backslashes. An empty line gives
 * the path of the program.
 *
 * Returns: *count strings and a NULL, which one LocalFree() frees; NULL: ERROR_INVALID_PARAMETER,
 * ERROR_NOT_ENOUGH_MEMORY
 * Tests: tests/unit/windows/crt/text.c
 */
LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR line, int *count) PLX_WIN_NAME(CommandLineToArgvW);

PLX_WIN_END

#endif
