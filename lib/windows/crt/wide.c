/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program's arguments in wide characters.
 * Start with plx_wide_strings().
 */
#include "plx_crt.h"

#include <stdlib.h>

wchar_t **
plx_wide_strings(int count, char *const *narrow)
{
	size_t characters = 0;
	wchar_t **list, *at;

	for (int i = 0; i < count; i++)
		characters += wide_of_utf8(narrow[i], NULL, 0) + 1;
	list = malloc(((size_t)count + 1) * sizeof(list[0]) + characters * sizeof(*at));
	if (!list)
		return NULL;
	at = (wchar_t *)(void *)(list + count + 1);
	for (int i = 0; i < count; i++) {
		list[i] = at;
		at += wide_of_utf8(narrow[i], at, characters) + 1;
	}
	list[count] = NULL;
	return list;
}
