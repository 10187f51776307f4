/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How Microsoft's printf and scanf read a conversion. It prints nothing, and owns nothing.
 * Start with plx_conversion_parse().
 */
#include "plx_rules.h"

#include <string.h>

/* Microsoft's size prefix, and this system's for integers. A long on Windows has 32 bits. */
static const struct plx_size_word size_words[] = {
	{"I64", "ll"}, {"I32", ""}, {"I", "z"}, {"hh", "hh"}, {"h", "h"}, {"ll", "ll"},
	{"l", ""},     {"w", ""},   {"j", "j"}, {"z", "z"},   {"t", "t"}, {"L", "L"},
};

bool
plx_conversion_has_size(const struct plx_conversion *c, const char *word)
{
	return c->size && strcmp(c->size->theirs, word) == 0;
}

/* Find the end of a set "[...]". A ']' directly after '[' or '^' belongs to the set. Returns: its
 * end */
static const char *
set_end(const char *at)
{
	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']')
		at++;
	return *at ? at + 1 : NULL;
}

const char *
plx_conversion_parse(const char *at, unsigned kind, struct plx_conversion *c)
{
	const char *flags = kind & FORMAT_SCAN ? "*0123456789" : "-+ #0123456789.*";

	*c = (struct plx_conversion){.flags = at, .flags_length = strspn(at, flags)};
	at += c->flags_length;
	for (size_t i = 0; i < sizeof(size_words) / sizeof(size_words[0]) && !c->size; i++)
		if (strncmp(at, size_words[i].theirs, strlen(size_words[i].theirs)) == 0)
			c->size = &size_words[i];
	if (c->size)
		at += strlen(c->size->theirs);
	c->type = *at;
	if (c->type == '[' && kind & FORMAT_SCAN) {
		const char *end = set_end(at + 1);

		c->set = at + 1;
		c->set_length = end ? (size_t)(end - c->set) : 0;
		return end;
	}
	if (c->type == 'n' && kind & FORMAT_SCAN)
		return at + 1;
	if (c->type == 'Z' && kind & FORMAT_KERNEL)
		return at + 1;
	return c->type && strchr("diouxXaAeEfFgGcCsSp", c->type) ? at + 1 : NULL;
}

bool
plx_conversion_is_wide(const struct plx_conversion *c, unsigned kind)
{
	bool of_format = kind & FORMAT_WIDE, other = c->type == 'S' || c->type == 'C';

	if (plx_conversion_has_size(c, "h"))
		return false;
	if (plx_conversion_has_size(c, "l") || plx_conversion_has_size(c, "w"))
		return true;
	if (c->type == 'Z')
		return false;
	return of_format != other;
}
