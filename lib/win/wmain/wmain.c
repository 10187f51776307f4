/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A main() for programs that have wmain() instead: it hands them their arguments as wide
 * characters. In an archive of its own, so that a program with a main() never gets it. Start with
 * main().
 */
#include <stdio.h>
#include <stdlib.h>

#include "plx_win.h"

/* The three ways to write it. In C all of them are called wmain; in C++ the usual one is, too,
 * since tchar.h says so, and the others are what the compiler makes of them. */
int wmain(int count, wchar_t **arguments, wchar_t **environment) __attribute__((weak));
int wmain_with_environment(int count, wchar_t **arguments,
			   wchar_t **environment) __asm__("_Z5wmainiPPwS0_") __attribute__((weak));
int wmain_without_arguments(void) __asm__("_Z5wmainv") __attribute__((weak));

int
main(int count, char **arguments, char **environment)
{
	wchar_t **wide_arguments, **wide_environment;
	int variables = 0, code = EXIT_FAILURE;

	while (environment[variables])
		variables++;
	wide_arguments = plx_wide_strings(count, arguments);
	wide_environment = plx_wide_strings(variables, environment);
	if (!wide_arguments || !wide_environment)
		fputs("no memory for the arguments in wide characters\n", stderr);
	else if (wmain)
		code = wmain(count, wide_arguments, wide_environment);
	else if (wmain_with_environment)
		code = wmain_with_environment(count, wide_arguments, wide_environment);
	else if (wmain_without_arguments)
		code = wmain_without_arguments();
	else
		fputs("the program has neither main() nor wmain()\n", stderr);
	free(wide_arguments);
	free(wide_environment);
	return code;
}
