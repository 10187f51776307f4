/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion between the command line as one string and its arguments. On this system a program
 * gets a list of arguments. The line is made from the list, quoted so that parsing it yields the
 * same list.
 * Start with CommandLineToArgvW() and make_lines().
 */
#include "plx_crt.h"

#include <shellapi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINE_MAX_BYTES = 1 << 21, /* more than the kernel's default limit for all arguments */
	PATH_BYTES = 4096,
};

static char *narrow_line;
static wchar_t *wide_line;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- from arguments to one line ---- */

static size_t
put(char *to, char c, size_t n)
{
	memset(to, c, n);
	return n;
}

/* Write one argument: quoted if necessary, backslashes doubled only before a quote. Returns: bytes,
 * at most 2 per byte of the argument and 2 more */
static size_t
quote(const char *argument, char *to)
{
	size_t used = 0, backslashes = 0;
	bool quoted = !*argument || strpbrk(argument, " \t\"");

	if (quoted)
		to[used++] = '"';
	for (; *argument; argument++) {
		backslashes = *argument == '\\' ? backslashes + 1 : 0;
		to[used++] = *argument;
		if (*argument != '"')
			continue;
		used--;
		for (size_t n = 1; argument[-(ptrdiff_t)n] == '\\' && n <= used; n++)
			to[used++] = '\\';
		to[used++] = '\\';
		to[used++] = '"';
	}
	if (quoted) {
		used += put(to + used, '\\', backslashes);
		to[used++] = '"';
	}
	return used;
}

/* Read the arguments that the kernel keeps, each with its 0. Returns: bytes; *all is allocated by
 * malloc() */
static size_t
read_arguments(char **all)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t bytes = 0;

	*all = file ? malloc(LINE_MAX_BYTES + 1) : NULL;
	if (*all) {
		bytes = fread(*all, 1, LINE_MAX_BYTES, file);
		(*all)[bytes] = '\0';
	}
	if (file)
		fclose(file);
	return bytes;
}

static void
make_lines(void)
{
	char *all;
	size_t bytes = read_arguments(&all), used = 0, room;

	narrow_line = calloc(1, 3 * bytes + 1);
	for (size_t at = 0; narrow_line && at < bytes; at += strlen(all + at) + 1) {
		if (at)
			narrow_line[used++] = ' ';
		used += quote(all + at, narrow_line + used);
	}
	free(all);
	if (!narrow_line)
		return;
	room = wide_of_utf8(narrow_line, NULL, 0) + 1;
	wide_line = malloc(room * sizeof(*wide_line));
	if (wide_line)
		wide_of_utf8(narrow_line, wide_line, room);
}

LPSTR
GetCommandLineA(void)
{
	static char none[1];

	pthread_once(&once, make_lines);
	return narrow_line ? narrow_line : none;
}

LPWSTR
GetCommandLineW(void)
{
	static wchar_t none[1];

	pthread_once(&once, make_lines);
	return wide_line ? wide_line : none;
}

/* ---- from one line to arguments ---- */

static bool
is_blank(wchar_t c)
{
	return c == L' ' || c == L'\t';
}

/* The program name ends at the next quote or blank; backslashes are literal. */
static const wchar_t *
first_argument(const wchar_t *at, wchar_t **to)
{
	if (*at == L'"') {
		for (at++; *at && *at != L'"'; at++)
			*(*to)++ = *at;
		if (*at)
			at++;
	} else {
		while (*at && !is_blank(*at))
			*(*to)++ = *at++;
	}
	return at;
}

/* Any other argument. Before a quote two backslashes stand for one, and an odd backslash makes the
 * quote literal. In a row of quotes every third is literal, and ends the part that the first began.
 */
static const wchar_t *
next_argument(const wchar_t *at, wchar_t **to)
{
	unsigned quotes = 0;

	while (*at && (quotes || !is_blank(*at))) {
		size_t backslashes = 0;

		while (*at == L'\\') {
			*(*to)++ = *at++;
			backslashes++;
		}
		if (*at != L'"') {
			if (*at && (quotes || !is_blank(*at)))
				*(*to)++ = *at++;
			continue;
		}
		*to -= (backslashes + 1) / 2;
		if (backslashes % 2) {
			*(*to)++ = *at++;
			continue;
		}
		for (; *at == L'"'; at++)
			if (++quotes == 3) {
				*(*to)++ = L'"';
				quotes = 0;
			}
		if (quotes == 2)
			quotes = 0;
	}
	return at;
}

/* @param list NULL: only count. Returns: the number of arguments */
static int
split(const wchar_t *line, wchar_t **list, wchar_t *text)
{
	int count = 0;

	while (*line || !count) {
		if (list)
			list[count] = text;
		line = count ? next_argument(line, &text) : first_argument(line, &text);
		*text++ = L'\0';
		count++;
		while (is_blank(*line))
			line++;
	}
	return count;
}

LPWSTR *
CommandLineToArgvW(LPCWSTR line, int *count)
{
	char path[PATH_BYTES];
	wchar_t program[PATH_BYTES], *scratch, **list = NULL;
	ssize_t n;
	size_t room;

	if (!line || !count) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	if (!*line) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n < 0 ? 0 : n] = '\0';
		wide_of_utf8(path, program, PATH_BYTES);
		list = LocalAlloc(LMEM_FIXED, 2 * sizeof(*list) + sizeof(program));
		if (!list)
			return NULL;
		list[0] = wcscpy((wchar_t *)(void *)(list + 2), program);
		list[1] = NULL;
		*count = 1;
		return list;
	}
	/* An argument is not longer than its source, except for its 0. */
	room = 2 * (wcslen(line) + 1);
	scratch = malloc(room * sizeof(*scratch));
	if (scratch) {
		*count = split(line, NULL, scratch);
		list = LocalAlloc(LMEM_FIXED,
				  ((size_t)*count + 1) * sizeof(*list) + room * sizeof(*scratch));
	}
	free(scratch);
	if (!list) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	split(line, list, (wchar_t *)(void *)(list + *count + 1));
	list[*count] = NULL;
	return list;
}
