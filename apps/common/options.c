/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses a command line by a table. It knows kinds of arguments, and no option except --help and
 * --version. It opens nothing. Start with options_read().
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "help.h"

enum {
	ROWS_MAX = 64,   /* bits of `given` */
	ROW_VALUE = 256, /* value for getopt_long(): this plus the number of the row */
	NOT_AN_OPTION = 1,
	HOUR_MS = 3600 * 1000,
};

const char *
program_version(void)
{
	return COMMON_VERSION;
}

int
program_fail(const char *sentence, int status)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence);
	return status;
}

const struct option_row *
program_row(const struct program *program, uint32_t i, size_t *offset)
{
	for (const struct option_part *part = program->parts; part->rows != NULL; part++) {
		if (offset != NULL)
			*offset = part->offset;
		if (i < part->count)
			return &part->rows[i];
		i -= part->count;
	}
	return NULL;
}

bool
option_is_given(const struct program *program, uint64_t given, const char *name)
{
	const struct option_row *row;
	for (uint32_t i = 0; (row = program_row(program, i, NULL)) != NULL; i++) {
		if (strcmp(row->name, name) == 0)
			return given >> i & 1;
	}
	return false;
}

bool
next_word(const char **text, char *word, size_t size)
{
	size_t length = strcspn(*text, ",");
	if (**text == '\0')
		return false;
	snprintf(word, size, "%.*s", (int)length, *text);
	*text += length + ((*text)[length] == ',');
	return true;
}

/* ---- kinds of arguments ---- */

static bool
parse_number(const struct option_row *row, const char *value, uint64_t *out, struct plx_why *why)
{
	return (parse_bytes(value, out) && *out >= row->least && *out <= row->most) ||
	       why_set(why, "--%s %.60s: give a number from %llu to %llu", row->name, value,
		       (unsigned long long)row->least, (unsigned long long)row->most);
}

static bool
parse_numbers(const struct option_row *row, const char *value, struct option_numbers *out,
	      struct plx_why *why)
{
	const char *left = value;
	char word[32];
	out->count = 0;
	while (next_word(&left, word, sizeof(word))) {
		uint64_t number;
		if (out->count == OPTION_NUMBERS_MAX)
			return why_set(why, "--%s %.60s: more than %d numbers; give fewer",
				       row->name, value, OPTION_NUMBERS_MAX);
		if (!parse_number(row, word, &number, why))
			return false;
		out->value[out->count++] = (uint32_t)number;
	}
	return out->count != 0 || parse_number(row, value, &(uint64_t){0}, why);
}

static bool
parse_time(const struct option_row *row, const char *value, uint32_t *out, struct plx_why *why)
{
	return (parse_duration_ms(value, out) && *out >= row->least) ||
	       why_set(why,
		       "--%s %.60s: give a duration from %llu ms to 1 hour, such as 2s or 500ms",
		       row->name, value, (unsigned long long)row->least);
}

/* "unknown operation "sned"; choose one of send, write".
 * Returns: false */
static bool
unknown_word(const struct option_row *row, const char *value, const char *word, struct plx_why *why)
{
	const char *between = "";
	int n = snprintf(why->text, sizeof(why->text), "--%s %.60s: unknown %s \"%.30s\"; choose ",
			 row->name, value, row->noun, word);
	n += snprintf(why->text + n, sizeof(why->text) - (size_t)n, "%s ",
		      row->kind == OPTION_WORD ? "one of" : "from");
	for (uint64_t i = row->least; i <= row->most && n < (int)sizeof(why->text); i++) {
		if (row->names[i] == NULL)
			continue;
		n += snprintf(why->text + n, sizeof(why->text) - (size_t)n, "%s%s", between,
			      row->names[i]);
		between = ", ";
	}
	for (const struct option_set *set = row->sets;
	     set != NULL && set->name != NULL && n < (int)sizeof(why->text); set++)
		n += snprintf(why->text + n, sizeof(why->text) - (size_t)n, ", %s", set->name);
	return false;
}

static bool
find_name(const struct option_row *row, const char *word, uint32_t *index)
{
	for (uint64_t i = row->least; i <= row->most; i++) {
		if (row->names[i] == NULL || strcmp(row->names[i], word) != 0)
			continue;
		*index = (uint32_t)i;
		return true;
	}
	return false;
}

static bool
parse_words(const struct option_row *row, const char *value, uint32_t *out, struct plx_why *why)
{
	const char *left = value;
	char word[32];
	*out = 0;
	while (next_word(&left, word, sizeof(word))) {
		uint32_t index, bits = 0;
		if (find_name(row, word, &index))
			bits = 1u << index;
		for (const struct option_set *set = row->sets; set != NULL && set->name != NULL;
		     set++)
			bits |= strcmp(word, set->name) == 0 ? set->bits : 0;
		if (bits == 0)
			return unknown_word(row, value, word, why);
		*out |= bits;
	}
	return *out != 0 || unknown_word(row, value, "", why);
}

static bool
parse_prefix(const struct option_row *row, const char *value, struct option_address *out,
	     struct plx_why *why)
{
	return parse_address(value, &out->ip, &out->prefix_bits) ||
	       why_set(why,
		       "--%s %.60s: give an address with its prefix, such as 10.0.0.1/24 or "
		       "fd77::1/64",
		       row->name, value);
}

/* @param to where the row stores its value, in the program's options */
static bool
parse_value(const struct option_row *row, const char *value, void *options, void *to,
	    struct plx_why *why)
{
	uint64_t number = 0;
	uint32_t index = 0;
	bool is_good = false;
	switch ((enum option_kind)row->kind) {
	case OPTION_FLAG:
		*(bool *)to = true;
		return true;
	case OPTION_TEXT:
		if (row->most != 0 && strlen(value) > row->most)
			return why_set(why, "--%s: %zu characters are too many; give at most %llu",
				       row->name, strlen(value), (unsigned long long)row->most);
		memcpy(to, &value, sizeof(value));
		return true;
	case OPTION_NUMBER:
		is_good = parse_number(row, value, &number, why);
		index = (uint32_t)number;
		memcpy(to, &index, sizeof(index));
		return is_good;
	case OPTION_NUMBERS:
		return parse_numbers(row, value, to, why);
	case OPTION_BYTES:
		is_good = parse_number(row, value, &number, why);
		memcpy(to, &number, sizeof(number));
		return is_good;
	case OPTION_TIME:
		return parse_time(row, value, to, why);
	case OPTION_WORD:
		is_good = find_name(row, value, &index) || unknown_word(row, value, value, why);
		memcpy(to, &index, sizeof(index));
		return is_good;
	case OPTION_WORDS:
		return parse_words(row, value, to, why);
	case OPTION_ADDRESS:
		return parse_prefix(row, value, to, why);
	case OPTION_OTHER:
		return row->parse(options, value, why);
	case OPTION_HELP:
	case OPTION_VERSION:
		break;
	}
	return false;
}

static bool
set_defaults(const struct program *program, void *options, struct plx_why *why)
{
	const struct option_row *row;
	size_t offset;
	for (uint32_t i = 0; (row = program_row(program, i, &offset)) != NULL; i++) {
		if (row->value != NULL && !parse_value(row, row->value, options,
						       (char *)options + offset + row->offset, why))
			return false;
	}
	return true;
}

/* ---- the command line ---- */

/* Roughly how many letters differ: enough to distinguish a slip from another word. */
static uint32_t
distance(const char *a, const char *b)
{
	uint32_t row[32], n = (uint32_t)strlen(b);
	if (n >= 31)
		return 99;
	for (uint32_t j = 0; j <= n; j++)
		row[j] = j;
	for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
		uint32_t corner = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= n; j++) {
			uint32_t change = corner + (a[i - 1] != b[j - 1]);
			uint32_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			corner = row[j];
			row[j] = change < shift ? change : shift;
		}
	}
	return row[n];
}

static void
unknown_option(const struct program *program, const char *word, struct plx_why *why)
{
	const struct option_row *row;
	const char *nearest = NULL;
	uint32_t length = (uint32_t)strlen(word + strspn(word, "-"));
	uint32_t best = length < 4 ? length : 3;
	for (uint32_t i = 0; (row = program_row(program, i, NULL)) != NULL; i++) {
		uint32_t d = distance(word + strspn(word, "-"), row->name);
		if (d < best) {
			best = d;
			nearest = row->name;
		}
	}
	why_set(why, "unknown option \"%.60s\"%s%s; `%s --help` lists all options", word,
		nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "",
		program->name);
}

const char *
program_form(const struct program *program, uint8_t form)
{
	uint32_t i = 0;
	while (program->forms[i].name != NULL && program->forms[i].form != form)
		i++;
	return program->forms[i].name;
}

/* Convert all rows to getopt_long()'s options. */
static uint32_t
make_longs(const struct program *program, struct option *longs)
{
	const struct option_row *row;
	uint32_t n = 0;
	while ((row = program_row(program, n, NULL)) != NULL && n < ROWS_MAX) {
		longs[n] = (struct option){
			.name = row->name,
			.has_arg = row->kind == OPTION_HELP ? optional_argument
				   : row->argument != NULL  ? required_argument
							    : no_argument,
			.val = ROW_VALUE + (int)n,
		};
		n++;
	}
	longs[n] = (struct option){0};
	return n;
}

/* Explain an error of getopt_long().
 * @param word that it was parsing */
static enum parsed
refuse(const struct program *program, const char *word, int found, struct plx_why *why)
{
	const struct option_row *row =
		optopt >= ROW_VALUE ? program_row(program, (uint32_t)(optopt - ROW_VALUE), NULL)
				    : NULL;
	if (row == NULL)
		unknown_option(program, word, why);
	else if (found == ':')
		why_set(why, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
	else
		why_set(why, "--%s takes no value, but \"%.60s\" was given", row->name,
			strchr(word, '=') + 1);
	return PARSED_WRONG;
}

/* Refuse an abbreviated option, which getopt_long() accepts: a new option could change the meaning
 * of an old script. */
static bool
is_whole(const struct option_row *row, const char *word)
{
	return strcspn(word, "=") == strlen(row->name) + 2;
}

/* Parse one option.
 * Returns: PARSED_RUN: go on with the next one */
static enum parsed
apply(const struct program *program, uint8_t form, uint32_t i, const char *word, void *options,
      struct plx_why *why)
{
	size_t offset = 0;
	const struct option_row *row = program_row(program, i, &offset);
	if (!is_whole(row, word)) {
		unknown_option(program, word, why);
		return PARSED_WRONG;
	}
	if (row->kind == OPTION_HELP && optarg != NULL && strcmp(optarg, "json") != 0) {
		why_set(why, "--help=%.60s: give --help or --help=json", optarg);
		return PARSED_WRONG;
	}
	if (row->kind == OPTION_HELP) {
		(optarg != NULL ? print_help_json : print_help)(program);
		return PARSED_DONE;
	}
	if (row->kind == OPTION_VERSION) {
		printf("%s %s\n", program->name, program_version());
		return PARSED_DONE;
	}
	if ((row->forms & form) == 0) {
		why_set(why, "--%s is not an option of %s; `%s --help` says where it belongs",
			row->name, program_form(program, form), program->name);
		return PARSED_WRONG;
	}
	if (row->argument != NULL && optarg[0] == '\0') {
		why_set(why, "--%s needs a value: --%s %s", row->name, row->name, row->argument);
		return PARSED_WRONG;
	}
	return parse_value(row, optarg, options, (char *)options + offset + row->offset, why)
		       ? PARSED_RUN
		       : PARSED_WRONG;
}

static enum parsed
apply_word(const struct program *program, const char *word, void *options, struct plx_why *why)
{
	if (program->word != NULL)
		return program->word(options, word, why) ? PARSED_RUN : PARSED_WRONG;
	why_set(why, "unexpected argument \"%.60s\"; `%s --help` has the usage", word,
		program->name);
	return PARSED_WRONG;
}

enum parsed
options_read(const struct program *program, uint8_t form, int argc, char **argv, void *options,
	     uint64_t *given, struct plx_why *why)
{
	struct option longs[ROWS_MAX + 1];
	enum parsed parsed = PARSED_RUN;
	*given = 0;
	make_longs(program, longs);
	if (!set_defaults(program, options, why))
		return PARSED_WRONG;
	opterr = 0;
	optind = 0; /* start from the beginning */
	while (parsed == PARSED_RUN) {
		const char *word = optind < argc ? argv[optind != 0 ? optind : 1] : NULL;
		/* "-" returns words that are not options in order; ":" reports a missing value as
		 * ':' */
		int found = getopt_long(argc, argv, "-:", longs, NULL);
		if (found == -1)
			break;
		if (found == NOT_AN_OPTION) {
			parsed = apply_word(program, optarg, options, why);
		} else if (found >= ROW_VALUE) {
			uint32_t i = (uint32_t)(found - ROW_VALUE);
			parsed = apply(program, form, i, word, options, why);
			*given |= UINT64_C(1) << i;
		} else {
			parsed = refuse(program, word, found, why);
		}
	}
	for (; parsed == PARSED_RUN && optind < argc; optind++)
		parsed = apply_word(program, argv[optind], options, why);
	return parsed;
}
