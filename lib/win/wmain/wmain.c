/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A main() for programs that have wmain() instead: it hands them their arguments as wide
 * characters. In an archive of its own, so that a program with a main() never gets it. Start with
 * main().
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

int wmain(int count, wchar_t **arguments, wchar_t **environment);

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
	return wmain(count, wide_arguments, wide_environment);
}
