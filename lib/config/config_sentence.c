/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sentence for a mistake in the configuration file: where it is, and what was probably meant.
 * It keeps nothing. Start with settings_wrong().
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

enum {
	NAME_FAR = 3, /* a name with this many wrong letters is not considered a typing error */
	NAME_LONGEST = 64,
};

enum plx_status
settings_mistake(struct settings_mistakes *mistakes, const char *sentence)
{
	if (mistakes->count++ == 0)
		plx_why_set(mistakes->why, "%s", sentence);
	if (mistakes->tell)
		mistakes->tell(mistakes->context, sentence);
	return PLX_CONFIG;
}

bool
settings_ends(const struct settings_place *at, enum plx_status status)
{
	return status != PLX_OK && !at->mistakes->tell;
}

enum plx_status
settings_wrong(const struct settings_place *at, const char *format, ...)
{
	struct plx_why sentence;
	char text[sizeof(sentence.text)];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	plx_why_set(&sentence, "%s:%u: %s", at->path, config_setting_source_line(at->setting),
		    text);
	return settings_mistake(at->mistakes, sentence.text);
}

static uint32_t
least(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The number of letters to insert, delete or replace to turn one word into the other. */
static uint32_t
distance(const char *a, const char *b)
{
	uint32_t row[NAME_LONGEST + 1], diagonal, above;
	size_t b_length = strlen(b);

	if (b_length > NAME_LONGEST)
		return UINT32_MAX;
	for (uint32_t i = 0; i <= b_length; i++)
		row[i] = i;
	for (; *a; a++) {
		diagonal = row[0]++;
		for (uint32_t i = 1; i <= b_length; i++) {
			above = row[i];
			row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

/* Find the most similar of `names`; NULL: none is similar enough. */
static const char *
nearest(const char *name, const char *const *names, uint32_t n)
{
	const char *best = NULL;
	uint32_t best_distance = NAME_FAR;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t off = distance(name, names[i]);

		if (off < best_distance) {
			best_distance = off;
			best = names[i];
		}
	}
	return best;
}

enum plx_status
settings_unknown(const struct settings_place *at, const char *const *names, uint32_t n)
{
	const char *name = config_setting_name(at->setting);
	const char *meant = nearest(name, names, n);

	if (meant)
		return settings_wrong(at, "there is no setting %s; did you mean %s?", name, meant);
	return settings_wrong(at, "there is no setting %s", name);
}
