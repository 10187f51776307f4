/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A main() for programs that have wmain() instead: it hands them their arguments as wide
 * characters. In an archive of its own, so that a program with a main() never gets it.
 * In C++ the linker's name of wmain tells its parameters; each kind that programs write is looked
 * for, since Windows takes them all. Start with main().
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef int wmain_fn(int count, wchar_t **arguments, wchar_t **environment);

/* One of these is there. x86-64 and ARM64 pass a function more than it takes without harm. */
wmain_fn wmain __attribute__((weak));
wmain_fn wmain_of_nothing __asm__("_Z5wmainv") __attribute__((weak));
wmain_fn wmain_of_two __asm__("_Z5wmainiPPw") __attribute__((weak));
wmain_fn wmain_of_const __asm__("_Z5wmainiPPKw") __attribute__((weak));
wmain_fn wmain_of_three __asm__("_Z5wmainiPPwS0_") __attribute__((weak));

/* One string, as text of this locale; what is no text in it, byte by byte. */
static wchar_t *
widened(const char *narrow)
{
	size_t bytes = strlen(narrow);
	wchar_t *wide = calloc(bytes + 1, sizeof(wide[0]));

	if (wide && mbstowcs(wide, narrow, bytes + 1) == (size_t)-1)
		for (size_t i = 0; i <= bytes; i++)
			wide[i] = (unsigned char)narrow[i];
	return wide;
}

/* A list of strings that ends in NULL. It lives as long as the process. */
static wchar_t **
all_widened(int count, char **narrow)
{
	wchar_t **list = calloc((size_t)count + 1, sizeof(list[0]));

	for (int i = 0; list && i < count; i++) {
		list[i] = widened(narrow[i]);
		if (!list[i])
			return NULL;
	}
	return list;
}

int
main(int count, char **arguments, char **environment)
{
	wmain_fn *const kinds[] = {wmain, wmain_of_two, wmain_of_nothing, wmain_of_const,
				   wmain_of_three};
	wchar_t **wide_arguments, **wide_environment;
	int variables = 0;

	setlocale(LC_CTYPE, "");
	while (environment[variables])
		variables++;
	wide_arguments = all_widened(count, arguments);
	wide_environment = all_widened(variables, environment);
	if (!wide_arguments || !wide_environment) {
		fputs("no memory for the arguments in wide characters\n", stderr);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i])
			return kinds[i](count, wide_arguments, wide_environment);
	fputs("this program has neither main() nor wmain()\n", stderr);
	return EXIT_FAILURE;
}
