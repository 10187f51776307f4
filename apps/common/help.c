/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Help pages, generated from a table of options. It knows no particular program.
 * Start with print_help().
 */
#include "help.h"

#include <string.h>

#include "json.h"

enum {
	COLUMNS = 80,
	INDENT = 28, /* column of the descriptions */
	TEXT_MAX = 512,
};

/* Wrap a text into lines that begin at column INDENT; the first line is already indented. */
static void
print_wrapped(const char *text)
{
	int at = INDENT;
	while (*text != '\0') {
		int length = (int)strcspn(text, " ");
		if (at > INDENT && at + 1 + length > COLUMNS)
			at = printf("\n%*s", INDENT, "") - 1;
		else if (at > INDENT)
			at += printf(" ");
		at += printf("%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	printf("\n");
}

/* Print a name, and its description beside or below it. */
static void
print_entry(const char *name, const char *text)
{
	int at = printf("  %s", name);
	if (at >= INDENT - 1) {
		printf("\n");
		at = 0;
	}
	printf("%*s", INDENT - at, "");
	print_wrapped(text);
}

/* The range as "1 to 64"; empty if the argument has none.
 * Returns: `text` */
static char *
range_text(const struct option_row *row, char *text, size_t size)
{
	bool is_bytes = row->argument != NULL && strcmp(row->argument, "BYTES") == 0;
	char most[32];
	text[0] = '\0';
	if (row->kind != OPTION_BYTES && row->kind != OPTION_NUMBER && row->kind != OPTION_NUMBERS)
		return text;
	if (is_bytes)
		bytes_text(row->most, most, sizeof(most));
	else
		snprintf(most, sizeof(most), "%llu", (unsigned long long)row->most);
	snprintf(text, size, "%llu to %s", (unsigned long long)row->least, most);
	return text;
}

static const char *
default_of(const struct option_row *row)
{
	return row->otherwise != NULL ? row->otherwise : row->value;
}

/* "--depth N   messages in flight (1 to 8192; default 128)" */
static void
print_row(const struct option_row *row)
{
	char name[40], text[TEXT_MAX], range[64];
	const char *value = default_of(row);
	range_text(row, range, sizeof(range));
	bool has_both = range[0] != '\0' && value != NULL,
	     has_any = range[0] != '\0' || value != NULL;
	snprintf(name, sizeof(name), "--%s%s%s", row->name, row->argument != NULL ? " " : "",
		 row->argument != NULL ? row->argument : "");
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", row->sentence, has_any ? " (" : "", range,
		 has_both ? "; " : "", value != NULL ? "default " : "", value != NULL ? value : "",
		 has_any ? ")" : "");
	print_entry(name, text);
}

static uint8_t
all_forms(const struct program *program)
{
	uint8_t forms = 0;
	for (uint32_t i = 0; program->forms[i].name != NULL; i++)
		forms |= program->forms[i].form;
	return forms;
}

void
print_help(const struct program *program)
{
	const struct option_row *row;
	printf("%s: %s\n\nUsage:\n", program->name, program->purpose);
	for (uint32_t i = 0; program->forms[i].name != NULL; i++)
		print_entry(program->forms[i].usage, program->forms[i].sentence);
	for (uint32_t group = 0; program->groups[group].title != NULL; group++) {
		printf("\n%s:\n", program->groups[group].title);
		for (uint32_t i = 0; (row = program_row(program, i, NULL)) != NULL; i++) {
			if ((row->forms & all_forms(program)) == program->groups[group].forms)
				print_row(row);
		}
	}
	if (program->notes != NULL)
		printf("\n%s\n", program->notes);
	if (program->example != NULL)
		printf("\nExample, on two machines or in two terminals:\n%s\n", program->example);
	printf("\nExit status: %s\n", program->exit_status);
}

/* ---- for programs ---- */

static json_t *
forms_of(const struct program *program, uint8_t forms)
{
	json_t *names = json_array();
	for (uint32_t i = 0; program->forms[i].name != NULL; i++) {
		if (program->forms[i].form & forms)
			json_array_append_new(names, json_text(program->forms[i].name));
	}
	return names;
}

static void
put_text(json_t *object, const char *name, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_put_text(object, name, text);
}

static json_t *
option_of(const struct program *program, const struct option_row *row)
{
	json_t *object = json_object();
	char range[64];
	put_text(object, "name", row->name);
	put_text(object, "argument", row->argument);
	put_text(object, "range", range_text(row, range, sizeof(range)));
	put_text(object, "default", default_of(row));
	put_text(object, "sentence", row->sentence);
	json_put(object, "forms", forms_of(program, row->forms));
	return object;
}

void
print_help_json(const struct program *program)
{
	json_t *object = json_object(), *usage = json_array(), *options = json_array();
	const struct option_row *row;
	put_text(object, "name", program->name);
	put_text(object, "version", program_version());
	put_text(object, "purpose", program->purpose);
	for (uint32_t i = 0; program->forms[i].name != NULL; i++) {
		json_t *form = json_object();
		put_text(form, "name", program->forms[i].name);
		put_text(form, "usage", program->forms[i].usage);
		put_text(form, "sentence", program->forms[i].sentence);
		json_array_append_new(usage, form);
	}
	json_put(object, "usage", usage);
	for (uint32_t i = 0; (row = program_row(program, i, NULL)) != NULL; i++)
		json_array_append_new(options, option_of(program, row));
	json_put(object, "options", options);
	put_text(object, "notes", program->notes);
	put_text(object, "example", program->example);
	put_text(object, "exit_status", program->exit_status);
	json_write(object, stdout);
}
