/* SPDX-License-Identifier: BSD-3-Clause
 *
 * printf and scanf by Windows' rules, as crtformat.h declares them. The format is translated; this
 * system's functions do the rest. Wide text is UTF-8 outside the program. It never gives a stream
 * an orientation, because the stream would then drop one kind of output. Start with
 * plx_win_vfprintf().
 */
#include "format.h"
#include "plx_crt.h"

#include <windows.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

/* The result of a format. */
struct text {
	char *bytes; /* to be freed; NULL: errno says why */
	int length;  /* -1: no result */
};

/* Print by a translated format, which is freed. */
static struct text
text_of(char *format, va_list args)
{
	locale_t before = format_locale_begin();
	struct text text = {.length = -1};

	if (!format)
		errno = ENOMEM;
	else
		text.length = vasprintf(&text.bytes, format, args);
	if (text.length < 0)
		text.bytes = NULL;
	format_locale_end(before);
	free(format);
	return text;
}

/* Write directly to the descriptor of a stream with wide orientation. The stream would drop narrow
 * characters, and would encode wide ones in the locale of its orientation, often ASCII only. */
static bool
written_past(FILE *file, const char *bytes, size_t length)
{
	int fd = fileno(file);

	if (fflush(file) != 0)
		return false;
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
	}
	return true;
}

/* Write the text, which is freed. */
static bool
written(FILE *file, struct text text)
{
	size_t length = (size_t)text.length;
	bool done = false;

	if (!text.bytes)
		return false;
	flockfile(file);
	if (fwide(file, 0) > 0)
		done = written_past(file, text.bytes, length);
	else
		done = fwrite(text.bytes, 1, length, file) == length;
	funlockfile(file);
	free(text.bytes);
	return done;
}

int
plx_win_vfprintf(FILE *file, const char *format, va_list args)
{
	struct text text = text_of(format_translate(format, FORMAT_PRINT), args);

	return written(file, text) ? text.length : -1;
}

int
plx_win_vfwprintf(FILE *file, const wchar_t *format, va_list args)
{
	struct text text = text_of(format_translate_wide(format, FORMAT_PRINT), args);
	int characters = text.bytes ? (int)wide_of_utf8(text.bytes, NULL, 0) : -1;

	return written(file, text) ? characters : -1;
}

int
plx_win_vsnprintf(char *to, size_t size, const char *format, va_list args)
{
	struct text text = text_of(format_translate(format, FORMAT_PRINT), args);

	if (text.bytes && size) {
		size_t length = (size_t)text.length, fits = length < size ? length : size - 1;

		memcpy(to, text.bytes, fits);
		to[fits] = 0;
	}
	free(text.bytes);
	return text.length;
}

int
plx_win_vsnwprintf(wchar_t *to, size_t size, const wchar_t *format, va_list args)
{
	struct text text = text_of(format_translate_wide(format, FORMAT_PRINT), args);
	int characters = text.bytes ? (int)wide_of_utf8(text.bytes, to, size) : -1;

	free(text.bytes);
	return characters;
}

/* Scan by a translated format, which is freed. */
static int
scanned(const char *from, char *format, va_list args)
{
	locale_t before = format_locale_begin();
	int done = EOF;

	if (format && from)
		done = vsscanf(from, format, args);
	else
		errno = ENOMEM;
	format_locale_end(before);
	free(format);
	return done;
}

int
plx_win_vsscanf(const char *from, const char *format, va_list args)
{
	return scanned(from, format_translate(format, FORMAT_SCAN), args);
}

int
plx_win_vswscanf(const wchar_t *from, const wchar_t *format, va_list args)
{
	char *narrow = format_narrowed(from);
	int done = scanned(narrow, format_translate_wide(format, FORMAT_SCAN), args);

	free(narrow);
	return done;
}

/* Open a file, replacing the stream's file if there is one. */
static FILE *
opened(const wchar_t *path, const wchar_t *mode, FILE *instead)
{
	char *narrow_path = format_narrowed(path), *narrow_mode = format_narrowed(mode);
	FILE *file = NULL;

	if (!narrow_path || !narrow_mode)
		errno = ENOMEM;
	else if (instead)
		file = freopen(narrow_path, narrow_mode, instead);
	else
		file = fopen(narrow_path, narrow_mode);
	free(narrow_path);
	free(narrow_mode);
	return file;
}

FILE *
_wfopen(const wchar_t *path, const wchar_t *mode)
{
	return opened(path, mode, NULL);
}

FILE *
_wfreopen(const wchar_t *path, const wchar_t *mode, FILE *file)
{
	return opened(path, mode, file);
}
