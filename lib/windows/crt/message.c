/* SPDX-License-Identifier: BSD-3-Clause
 *
 * FormatMessage: expands a definition with inserts. All work is done in wide characters; the narrow
 * functions convert the definition and the result.
 * Start with format().
 */
#include "message.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plx_crt.h"

enum {
	INSERTS_MAX = 99,
	SPEC_MAX = 32,   /* characters between two exclamation marks */
	FIRST_ROOM = 256 /* characters of text, doubled as needed */
};

/* Text that grows. */
struct text {
	wchar_t *at;
	size_t used, room;
	bool no_memory;
	size_t column; /* characters since the last line break */
};

struct arguments {
	va_list *list;          /* NULL: none */
	const DWORD_PTR *array; /* NULL: not from one */
	DWORD_PTR values[INSERTS_MAX];
	unsigned taken;
};

/* ---- growing text ---- */

static bool
has_room(struct text *text, size_t n)
{
	size_t room = text->room ? text->room : FIRST_ROOM;
	wchar_t *at;

	while (room < text->used + n + 1)
		room *= 2;
	if (room == text->room)
		return true;
	at = realloc(text->at, room * sizeof(*at));
	if (!at) {
		text->no_memory = true;
		return false;
	}
	text->at = at;
	text->room = room;
	return true;
}

static void
put(struct text *text, wchar_t c)
{
	if (!has_room(text, 1))
		return;
	text->at[text->used++] = c;
	text->at[text->used] = L'\0';
	text->column = c == L'\n' ? 0 : text->column + 1;
}

static void
put_break(struct text *text)
{
	put(text, L'\r');
	put(text, L'\n');
}

/* Break a line that is too long at its last blank, if it has one. */
static void
wrap(struct text *text, size_t width)
{
	size_t blank = text->used;

	if (!width || text->column <= width)
		return;
	while (blank > text->used - text->column && text->at[blank - 1] != L' ')
		blank--;
	if (blank == text->used - text->column || !has_room(text, 1))
		return;
	/* The blank becomes two characters. */
	memmove(text->at + blank + 1, text->at + blank,
		(text->used - blank + 1) * sizeof(text->at[0]));
	text->at[blank - 1] = L'\r';
	text->at[blank] = L'\n';
	text->used++;
	text->column = text->used - blank - 1;
}

/* ---- inserts ---- */

/* The n-th argument, from 1. A va_list yields them in order, each as wide as a pointer. */
static bool
argument(struct arguments *arguments, unsigned n, DWORD_PTR *value)
{
	if (!n || n > INSERTS_MAX || (!arguments->list && !arguments->array))
		return false;
	if (arguments->array) {
		*value = arguments->array[n - 1];
		return true;
	}
	while (arguments->taken < n)
		arguments->values[arguments->taken++] = va_arg(*arguments->list, DWORD_PTR);
	*value = arguments->values[n - 1];
	return true;
}

static int
print(wchar_t *to, size_t size, const wchar_t *spec, ...)
{
	va_list args;
	int n;

	va_start(args, spec);
	n = plx_win_vsnwprintf(to, size, spec, args);
	va_end(args);
	return n;
}

/* Expand one conversion; stars consume the first arguments. */
static bool
put_value(struct text *text, const wchar_t *spec, const DWORD_PTR value[3], unsigned stars)
{
	int width = (int)value[0], precision = (int)value[1], n;

	for (size_t room = FIRST_ROOM;; room = (size_t)n + 1) {
		if (!has_room(text, room))
			return true;
		n = stars == 0 ? print(text->at + text->used, room, spec, value[0])
		    : stars == 1
			    ? print(text->at + text->used, room, spec, width, value[1])
			    : print(text->at + text->used, room, spec, width, precision, value[2]);
		if (n < 0)
			return false;
		if ((size_t)n < room)
			break;
	}
	for (int i = 0; i < n; i++)
		text->column = text->at[text->used++] == L'\n' ? 0 : text->column + 1;
	return true;
}

/*
 * Parse an insert after its "%": 1 to 99, then optionally "!spec!", a printf conversion. In a
 * narrow definition, text without a prefix is narrow.
 * Returns: its end; NULL: the insert is invalid, or its argument is missing
 */
static const wchar_t *
insert(const wchar_t *at, struct text *text, struct arguments *arguments, bool bytes)
{
	wchar_t spec[SPEC_MAX + 2] = L"%";
	size_t length = 1;
	unsigned n = 0, stars = 0;
	DWORD_PTR value[3];

	for (int digits = 0; digits < 2 && *at >= L'0' && *at <= L'9'; digits++)
		n = n * 10 + (unsigned)(*at++ - L'0');
	if (*at == L'!') {
		for (at++; *at && *at != L'!'; at++) {
			if (length >= SPEC_MAX)
				return NULL;
			stars += *at == L'*';
			spec[length++] = *at;
		}
		if (*at++ != L'!' || length == 1)
			return NULL;
	} else {
		spec[length++] = L's';
	}
	/* In a narrow definition %s is narrow, which the wide functions call %S, unless a size
	 * prefix says otherwise. */
	if (bytes && !wcschr(L"hlw", spec[length - 2])) {
		wchar_t *last = &spec[length - 1];

		*last = *last == L's' ? L'S' : *last == L'S' ? L's' : *last;
		*last = *last == L'c' ? L'C' : *last == L'C' ? L'c' : *last;
	}
	/* Arguments cannot be doubles, and %n would write to memory. */
	if (stars > 2 || !wcschr(L"sScCdiuxXop", spec[length - 1]))
		return NULL;
	for (unsigned i = 0; i <= stars; i++)
		if (!argument(arguments, n + i, &value[i]))
			return NULL;
	return put_value(text, spec, value, stars) ? at : NULL;
}

/* ---- a definition ---- */

/* Expand what follows a "%". Returns: where to continue; NULL: an insert is invalid */
static const wchar_t *
escape(const wchar_t *at, struct text *text, struct arguments *arguments, bool bytes, bool *ended)
{
	if (*at >= L'1' && *at <= L'9')
		return insert(at, text, arguments, bytes);
	switch (*at) {
	case L'\0':
		return NULL;
	case L'0':
		*ended = true;
		break;
	case L'n':
		put_break(text);
		break;
	case L'r':
		put(text, L'\r');
		break;
	case L't':
		put(text, L'\t');
		break;
	default: /* blank . ! % and characters without a special meaning */
		put(text, *at);
		break;
	}
	return at + 1;
}

/* Returns: false: ERROR_INVALID_PARAMETER */
static bool
format(const wchar_t *at, DWORD flags, struct text *text, struct arguments *arguments, bool bytes)
{
	DWORD width = flags & FORMAT_MESSAGE_MAX_WIDTH_MASK;
	bool ended = false;

	while (at && *at && !ended && !text->no_memory) {
		wchar_t c = *at++;

		if (c == L'%' && flags & FORMAT_MESSAGE_IGNORE_INSERTS && *at >= L'1' &&
		    *at <= L'9') {
			put(text, c);
		} else if (c == L'%') {
			at = escape(at, text, arguments, bytes, &ended);
		} else if (c == L'\r' || c == L'\n') {
			if (c == L'\r' && *at == L'\n')
				at++;
			if (width)
				put(text, L' ');
			else
				put_break(text);
		} else {
			put(text, c);
		}
		if (width && width != FORMAT_MESSAGE_MAX_WIDTH_MASK)
			wrap(text, width);
	}
	return at;
}

/* End a sentence as Windows does: with a line break, or with a blank if line breaks are suppressed.
 */
static bool
system_text(DWORD message, DWORD language, DWORD flags, struct text *text)
{
	WORD primary = PRIMARYLANGID(language);
	const wchar_t *sentence = win_text_of_error(message);

	if (primary != LANG_NEUTRAL && primary != LANG_ENGLISH)
		return win_fail(ERROR_RESOURCE_LANG_NOT_FOUND);
	if (!sentence)
		return win_fail(ERROR_MR_MID_NOT_FOUND);
	format(sentence, flags | FORMAT_MESSAGE_IGNORE_INSERTS, text, NULL, false);
	if (flags & FORMAT_MESSAGE_MAX_WIDTH_MASK)
		put(text, L' ');
	else
		put_break(text);
	return true;
}

/* Returns: false: the error is set. After true, text->at is allocated by malloc() and not NULL */
static bool
make(DWORD flags, const wchar_t *source, DWORD message, DWORD language, va_list *list, bool bytes,
     struct text *text)
{
	struct arguments arguments = {.list = list, .array = NULL, .taken = 0};
	bool good;

	if (flags & FORMAT_MESSAGE_ARGUMENT_ARRAY)
		arguments = (struct arguments){.array = (const DWORD_PTR *)(const void *)list};
	if (flags & FORMAT_MESSAGE_FROM_STRING)
		good = source && format(source, flags, text, &arguments, bytes)
			       ? true
			       : win_fail(ERROR_INVALID_PARAMETER);
	else if (flags & FORMAT_MESSAGE_FROM_SYSTEM)
		good = system_text(message, language, flags, text);
	else
		good = win_fail(flags & FORMAT_MESSAGE_FROM_HMODULE ? ERROR_RESOURCE_TYPE_NOT_FOUND
								    : ERROR_INVALID_PARAMETER);
	if (good && !has_room(text, 0))
		good = false;
	if (text->no_memory)
		good = win_fail(ERROR_NOT_ENOUGH_MEMORY);
	if (good)
		text->at[text->used] = L'\0';
	return good;
}

/* Store the text, `units` characters of `unit` bytes without the 0, where the caller wants it. */
static DWORD
hand_over(DWORD flags, const void *text, size_t units, size_t unit, void *buffer, DWORD size)
{
	size_t room = units + 1 > size ? units + 1 : size;
	void *to = buffer;

	if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
		to = LocalAlloc(LPTR, room * unit);
		*(void **)buffer = to;
		if (!to)
			return 0;
	} else if (units + 1 > size) {
		win_fail(ERROR_INSUFFICIENT_BUFFER);
		return 0;
	}
	memcpy(to, text, (units + 1) * unit);
	return (DWORD)units;
}

DWORD
FormatMessageW(DWORD flags, LPCVOID source, DWORD message, DWORD language, LPWSTR buffer,
	       DWORD size, va_list *arguments)
{
	struct text text = {.used = 0};
	DWORD n = 0;

	if (!buffer)
		win_fail(ERROR_INVALID_PARAMETER);
	else if (make(flags, source, message, language, arguments, false, &text))
		n = hand_over(flags, text.at, text.used, sizeof(wchar_t), buffer, size);
	free(text.at);
	return n;
}

DWORD
FormatMessageA(DWORD flags, LPCVOID source, DWORD message, DWORD language, LPSTR buffer, DWORD size,
	       va_list *arguments)
{
	struct text text = {.used = 0};
	wchar_t *wide = NULL;
	char *bytes = NULL;
	size_t room;
	DWORD n = 0;

	if (!buffer) {
		win_fail(ERROR_INVALID_PARAMETER);
		return 0;
	}
	if (flags & FORMAT_MESSAGE_FROM_STRING && source) {
		room = wide_of_utf8(source, NULL, 0) + 1;
		wide = malloc(room * sizeof(*wide));
		if (wide)
			wide_of_utf8(source, wide, room);
	}
	if (source && flags & FORMAT_MESSAGE_FROM_STRING && !wide) {
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
	} else if (make(flags, wide, message, language, arguments, true, &text)) {
		room = utf8_of_wide(text.at, NULL, 0) + 1;
		bytes = malloc(room);
		if (bytes) {
			utf8_of_wide(text.at, bytes, room);
			n = hand_over(flags, bytes, room - 1, 1, buffer, size);
		} else {
			win_fail(ERROR_NOT_ENOUGH_MEMORY);
		}
	}
	free(bytes);
	free(wide);
	free(text.at);
	return n;
}
