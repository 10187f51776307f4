/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the words of one statement from left to right, and numbers, times and sides from them. It
 * never interprets a word, and never ignores one that it cannot read. Start with next_word() and
 * accept_value().
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "script.h"

bool
more_words(const struct script *s)
{
	return s->word_at < s->word_count;
}

const char *
next_word(struct script *s, const char *what)
{
	if (!more_words(s))
		script_fail(s, "%s is missing", what);
	return s->words[s->word_at++];
}

bool
accept_word(struct script *s, const char *word)
{
	if (!more_words(s) || strcmp(s->words[s->word_at], word) != 0)
		return false;
	s->word_at++;
	return true;
}

char *
accept_value(struct script *s, const char *name)
{
	size_t length = strlen(name);
	char *word;

	if (!more_words(s))
		return NULL;
	word = s->words[s->word_at];
	if (strncmp(word, name, length) != 0 || word[length] != '=')
		return NULL;
	s->word_at++;
	return word + length + 1;
}

bool
is_number(const char *text)
{
	return isdigit((unsigned char)text[0]);
}

uint64_t
number_of(struct script *s, const char *text, uint64_t max)
{
	char *end = NULL;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (!is_number(text) || *end != '\0' || errno != 0)
		script_fail(s, "\"%s\" is not a number", text);
	if (value > max)
		script_fail(s, "%s is more than %llu", text, (unsigned long long)max);
	return value;
}

uint64_t
next_number(struct script *s, const char *what, uint64_t max)
{
	return number_of(s, next_word(s, what), max);
}

uint64_t
time_of(struct script *s, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end = NULL;
	double value = is_number(text) ? strtod(text, &end) : -1;

	for (size_t i = 0; value >= 0 && i < PLX_COUNT_OF(units); i++)
		if (strcmp(end, units[i].name) == 0)
			return (uint64_t)(value * units[i].ns + 0.5);
	script_fail(s, "\"%s\" is not a time, as 67us or 1.5ms", text);
}

bool
is_side(const char *text)
{
	return (text[0] == 'A' || text[0] == 'B') && text[1] == '\0';
}

enum side
next_side(struct script *s)
{
	const char *word = next_word(s, "A or B");

	if (!is_side(word))
		script_fail(s, "\"%s\" is neither A nor B", word);
	return word[0] == 'A' ? SIDE_A : SIDE_B;
}

const char *
side_name(enum side side)
{
	return side == SIDE_A ? "A" : "B";
}

int
name_index(const char *const *names, uint32_t count, const char *text)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcasecmp(names[i], text) == 0)
			return (int)i;
	return -1;
}
