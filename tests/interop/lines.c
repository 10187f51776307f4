/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads commands, dispatches them, writes answers. It never keeps a line after its command. Start
 * with lines_serve().
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lines.h"

/* Cycles without any work before a program sleeps between two. */
#define IDLE_CYCLES 2000

uint64_t
lines_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void
line_answer(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

const char *
line_text(const struct line *line, const char *name)
{
	size_t length = strlen(name);

	for (uint32_t i = 1; i < line->words; i++)
		if (strncmp(line->word[i], name, length) == 0 && line->word[i][length] == '=')
			return line->word[i] + length + 1;
	return NULL;
}

uint64_t
line_number(const struct line *line, const char *name, uint64_t otherwise)
{
	const char *text = line_text(line, name);
	uint64_t value;
	char *end;

	if (!text)
		return otherwise;
	value = strtoull(text, &end, 0);
	return *text && !*end ? value : otherwise;
}

uint32_t
line_bytes(const struct line *line, const char *name, uint8_t *out, uint32_t max)
{
	const char *text = line_text(line, name);
	unsigned int value;
	uint32_t n = 0;

	while (text && n < max && sscanf(text + 2 * (size_t)n, "%2x", &value) == 1)
		out[n++] = (uint8_t)value;
	return n;
}

void
line_hex(const uint8_t *bytes, uint32_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < n; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = 0;
}

static void
split(struct line *line)
{
	char *rest = line->text, *word;

	line->words = 0;
	while (line->words < LINE_WORDS && (word = strsep(&rest, " \r\n")))
		if (*word)
			line->word[line->words++] = word;
}

static void
run(struct line *line, const struct line_command *commands, uint32_t n)
{
	split(line);
	if (!line->words) {
		line_answer("error an empty line is no command");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(line->word[0], commands[i].verb) == 0) {
			commands[i].run(line);
			return;
		}
	}
	line_answer("error there is no command \"%.40s\"", line->word[0]);
}

/* Work until there is something to read; after a while without any work, sleep between two looks.
 */
static void
wait_for_input(uint32_t (*idle)(void))
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint32_t empty = 0;

	while (poll(&input, 1, !idle ? -1 : empty > IDLE_CYCLES) <= 0)
		for (uint32_t i = 0; idle && i < 32; i++)
			empty = idle() ? 0 : empty + 1;
}

/* Read the next line of the input when it arrives.
 * Returns: false at its end, or when a line is too long. */
static bool
next_line(struct line *line, uint32_t (*idle)(void))
{
	static char text[LINE_BYTES];
	static size_t held;
	char *end;

	while (!(end = memchr(text, '\n', held))) {
		ssize_t got;

		wait_for_input(idle);
		got = read(STDIN_FILENO, text + held, sizeof(text) - held);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		held += (size_t)got;
	}
	*end++ = 0;
	memcpy(line->text, text, (size_t)(end - text));
	held -= (size_t)(end - text);
	memmove(text, end, held);
	return true;
}

void
lines_serve(const struct line_command *commands, uint32_t n, uint32_t (*idle)(void))
{
	static struct line line;

	while (next_line(&line, idle) && strcmp(line.text, "quit") != 0)
		run(&line, commands, n);
}
