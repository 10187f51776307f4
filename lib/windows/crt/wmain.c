/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A main() for programs that have wmain() instead: it passes them their arguments as wide
 * characters. It is in its own archive, so that programs with a main() never link it. In C++ the
 * linker name of wmain encodes its parameters; all usual variants are looked up, since Windows
 * accepts them all. Start with main().
 */
#include <stdio.h>
#include <stdlib.h>

#include "plx_crt.h"

typedef int wmain_fn(int count, wchar_t **arguments, wchar_t **environment);

/* One of these is defined. On x86-64 and ARM64 passing more arguments than a function takes is
 * harmless. */
wmain_fn wmain __attribute__((weak));
wmain_fn wmain_of_nothing __asm__("_Z5wmainv") __attribute__((weak));
wmain_fn wmain_of_two __asm__("_Z5wmainiPPw") __attribute__((weak));
wmain_fn wmain_of_const __asm__("_Z5wmainiPPKw") __attribute__((weak));
wmain_fn wmain_of_three __asm__("_Z5wmainiPPwS0_") __attribute__((weak));

/* The arguments in wide characters, kept until the process ends. */
static wchar_t **wide_arguments __attribute__((used));
static wchar_t **wide_environment __attribute__((used));

int
main(int count, char **arguments, char **environment)
{
	wmain_fn *const kinds[] = {wmain, wmain_of_two, wmain_of_nothing, wmain_of_const,
				   wmain_of_three};
	int variables = 0, code = EXIT_FAILURE;
	size_t kind = 0;

	while (environment[variables])
		variables++;
	while (kind < sizeof(kinds) / sizeof(kinds[0]) && !kinds[kind])
		kind++;
	wide_arguments = plx_wide_strings(count, arguments);
	wide_environment = plx_wide_strings(variables, environment);
	if (!wide_arguments || !wide_environment)
		fputs("no memory for the arguments in wide characters\n", stderr);
	else if (kind == sizeof(kinds) / sizeof(kinds[0]))
		fputs("the program has neither main() nor wmain()\n", stderr);
	else
		code = kinds[kind](count, wide_arguments, wide_environment);
	return code;
}
