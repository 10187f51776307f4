/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A command line by a table: every kind of argument, every mistake, and the table as JSON.
 * Start with every_mistake_has_its_sentence().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "plx_base.h"

struct values {
	bool flag;
	const char *text;
	uint32_t number, time, words;
	uint64_t bytes;
	int word;
	struct option_numbers numbers;
	struct {
		struct option_address address;
	} inner;
	char other[16], seen[64];
};

static bool
parse_other(void *options, const char *value, struct plx_why *why)
{
	struct values *v = options;
	snprintf(v->other, sizeof(v->other), "%s", value);
	return strcmp(value, "bad") != 0 || why_set(why, "--other bad: no");
}

static bool
see_word(void *options, const char *word, struct plx_why *why)
{
	struct values *v = options;
	strcat(v->seen, word);
	strcat(v->seen, ".");
	return strcmp(word, "stop") != 0 || why_set(why, "stopped");
}

static const char *const colours[] = {"none", "red", NULL, "blue"};
static const struct option_set sets[] = {{"all", 1 << 1 | 1 << 3}, {NULL, 0}};
static const struct option_row outer[] = {
	{.name = "flag",
	 .forms = FORM_ALL,
	 .kind = OPTION_FLAG,
	 .offset = offsetof(struct values, flag),
	 .sentence = "a flag"},
	{.name = "text",
	 .argument = "TEXT",
	 .forms = FORM_CLIENT,
	 .kind = OPTION_TEXT,
	 .offset = offsetof(struct values, text),
	 .most = 5,
	 .sentence = "a text"},
	{.name = "number",
	 .argument = "N",
	 .forms = FORM_ALL,
	 .kind = OPTION_NUMBER,
	 .offset = offsetof(struct values, number),
	 .least = 2,
	 .most = 4096,
	 .value = "7",
	 .sentence = "a number"},
	{.name = "numbers",
	 .argument = "LIST",
	 .forms = FORM_ALL,
	 .kind = OPTION_NUMBERS,
	 .offset = offsetof(struct values, numbers),
	 .least = 1,
	 .most = 2048,
	 .sentence = "numbers"},
	{.name = "bytes",
	 .argument = "BYTES",
	 .forms = FORM_ALL,
	 .kind = OPTION_BYTES,
	 .offset = offsetof(struct values, bytes),
	 .most = UINT64_C(8) << 30,
	 .otherwise = "enough",
	 .sentence = "bytes"},
	{.name = "time",
	 .argument = "TIME",
	 .forms = FORM_ALL,
	 .kind = OPTION_TIME,
	 .offset = offsetof(struct values, time),
	 .least = 100,
	 .value = "2s",
	 .sentence = "a time"},
	{.name = "colour",
	 .argument = "NAME",
	 .forms = FORM_ALL,
	 .kind = OPTION_WORD,
	 .offset = offsetof(struct values, word),
	 .least = 1,
	 .most = 3,
	 .value = "blue",
	 .sentence = "a colour",
	 .noun = "colour",
	 .names = colours},
	{.name = "colours",
	 .argument = "LIST",
	 .forms = FORM_ALL,
	 .kind = OPTION_WORDS,
	 .offset = offsetof(struct values, words),
	 .least = 1,
	 .most = 3,
	 .sentence = "colours",
	 .noun = "colour",
	 .names = colours,
	 .sets = sets},
	{.name = "other",
	 .argument = "IT",
	 .forms = FORM_ALL,
	 .kind = OPTION_OTHER,
	 .sentence = "something else",
	 .parse = parse_other},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};
static const struct option_row inner[] = {
	{.name = "address",
	 .argument = "IP/PREFIX",
	 .forms = FORM_ALL,
	 .kind = OPTION_ADDRESS,
	 .sentence = "an address"},
};

static const struct program program = {
	.name = "prog",
	.purpose = "a test",
	.forms = {{FORM_CLIENT, "prog [OPTIONS]", "prog alone", "one form"},
		  {FORM_SERVER, "prog server", "prog server", "another"}},
	.groups = {{FORM_PAIR, "Both"}, {FORM_CLIENT, "One"}},
	.parts = {{inner, PLX_COUNT_OF(inner), offsetof(struct values, inner)},
		  {outer, PLX_COUNT_OF(outer), 0}},
	.notes = "Notes.",
	.exit_status = "0.",
	.word = see_word,
};

static struct values values;
static struct plx_why why;
static uint64_t given;

/* Read a line, its words between blanks; an empty word is written as two quotes. */
static enum parsed
read_as(const struct program *as, uint8_t form, const char *words)
{
	static char text[256], name[] = "prog";
	char *argv[25] = {name};
	int argc = 1;
	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok(text, " "); word != NULL && argc < 24; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
	values = (struct values){0};
	why.text[0] = '\0';
	return options_read(as, form, argc, argv, &values, &given, &why);
}

static enum parsed
read_line(const char *words)
{
	return read_as(&program, FORM_CLIENT, words);
}

static void
without_arguments_the_defaults_stand(void **state)
{
	(void)state;
	assert_int_equal(read_line(""), PARSED_RUN);
	assert_int_equal(values.number, 7);
	assert_int_equal(values.time, 2000);
	assert_int_equal(values.word, 3);
	assert_int_equal(values.bytes, 0);
	assert_false(values.flag);
	assert_null(values.text);
	assert_int_equal(given, 0);
}

static void
every_kind_is_read_with_a_blank_and_with_an_equals_sign(void **state)
{
	static const char *const lines[] = {
		"--flag --text five5 --number 4K --numbers 3,2K --bytes 5G --time 0.5 --colour red "
		"--colours "
		"red,blue --address fd77::1/64 --other x=y",
		"--flag --text=five5 --number=4096 --numbers=3,2048 --bytes=5G --time=500ms "
		"--colour=red "
		"--colours=all --address=fd77::1/64 --other=x=y",
	};
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(lines); i++) {
		assert_int_equal(read_line(lines[i]), PARSED_RUN);
		assert_true(values.flag);
		assert_string_equal(values.text, "five5");
		assert_int_equal(values.number, 4096);
		assert_int_equal(values.numbers.count, 2);
		assert_int_equal(values.numbers.value[0], 3);
		assert_int_equal(values.numbers.value[1], 2048);
		assert_int_equal(values.bytes, UINT64_C(5) << 30);
		assert_int_equal(values.time, 500);
		assert_int_equal(values.word, 1);
		assert_int_equal(values.words, 1 << 1 | 1 << 3);
		assert_int_equal(values.inner.address.ip.version, 6);
		assert_int_equal(values.inner.address.prefix_bits, 64);
		assert_string_equal(values.other, "x=y");
	}
}

static void
what_is_given_is_known(void **state)
{
	(void)state;
	assert_int_equal(read_line("--number 7 --address 10.0.0.1/8"), PARSED_RUN);
	assert_true(option_is_given(&program, given, "number"));
	assert_true(option_is_given(&program, given, "address"));
	assert_false(option_is_given(&program, given, "time"));
	assert_false(option_is_given(&program, given, "nonesuch"));
}

static void
the_last_of_several_counts(void **state)
{
	(void)state;
	assert_int_equal(read_line("--number 8 --number 9"), PARSED_RUN);
	assert_int_equal(values.number, 9);
}

static void
words_come_in_order_wherever_they_stand(void **state)
{
	(void)state;
	assert_int_equal(read_line("a --flag b --number 5 - c -- --flag"), PARSED_RUN);
	assert_string_equal(values.seen, "a.b.-.c.--flag.");
	assert_int_equal(read_line("a stop b"), PARSED_WRONG);
	assert_string_equal(values.seen, "a.stop.");
	assert_string_equal(why.text, "stopped");
}

static void
every_mistake_has_its_sentence(void **state)
{
	static const struct {
		const char *line, *sentence;
	} mistakes[] = {
		{"--nubmer 5",
		 "unknown option \"--nubmer\"; did you mean --number; `prog --help` lists all "
		 "options"},
		{"--frobnicate",
		 "unknown option \"--frobnicate\"; `prog --help` lists all options"},
		{"-h", "unknown option \"-h\"; `prog --help` lists all options"},
		/* the beginning of a name is not its name */
		{"--num 5", "unknown option \"--num\"; `prog --help` lists all options"},
		{"--num=5", "unknown option \"--num=5\"; `prog --help` lists all options"},
		{"--number", "--number needs a value: --number N"},
		{"--number=", "--number needs a value: --number N"},
		{"--number ''", "--number needs a value: --number N"},
		{"--flag=yes", "--flag takes no value, but \"yes\" was given"},
		{"--number 1", "--number 1: give a number from 2 to 4096"},
		{"--number 4097", "--number 4097: give a number from 2 to 4096"},
		{"--number -3", "--number -3: give a number from 2 to 4096"},
		{"--number --flag", "--number --flag: give a number from 2 to 4096"},
		{"--numbers 1,2049", "--numbers 2049: give a number from 1 to 2048"},
		{"--numbers ,", "--numbers : give a number from 1 to 2048"},
		{"--numbers 1,2,3,4,5,6,7,8,9",
		 "--numbers 1,2,3,4,5,6,7,8,9: more than 8 numbers; give fewer"},
		{"--bytes 9G", "--bytes 9G: give a number from 0 to 8589934592"},
		{"--time 99ms",
		 "--time 99ms: give a duration from 100 ms to 1 hour, such as 2s or 500ms"},
		{"--text sixsix", "--text: 6 characters are too many; give at most 5"},
		{"--colour none",
		 "--colour none: unknown colour \"none\"; choose one of red, blue"},
		{"--colours red,reed",
		 "--colours red,reed: unknown colour \"reed\"; choose from red, blue, all"},
		{"--colours ,", "--colours ,: unknown colour \"\"; choose from red, blue, all"},
		{"--address 10.0.0.1",
		 "--address 10.0.0.1: give an address with its prefix, such as "
		 "10.0.0.1/24 or fd77::1/64"},
		{"--other bad", "--other bad: no"},
		{"--help=xml", "--help=xml: give --help or --help=json"},
	};
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(mistakes); i++) {
		assert_int_equal(read_line(mistakes[i].line), PARSED_WRONG);
		assert_string_equal(why.text, mistakes[i].sentence);
	}
	assert_int_equal(read_as(&program, FORM_SERVER, "--text a"), PARSED_WRONG);
	assert_string_equal(why.text, "--text is not an option of prog server; `prog --help` says "
				      "where it belongs");
}

static void
a_program_without_words_refuses_them(void **state)
{
	struct program silent = program;
	(void)state;
	silent.word = NULL;
	assert_int_equal(read_as(&silent, FORM_CLIENT, "--flag sever"), PARSED_WRONG);
	assert_string_equal(why.text, "unexpected argument \"sever\"; `prog --help` has the usage");
	assert_int_equal(read_as(&silent, FORM_CLIENT, "-- --flag"), PARSED_WRONG);
}

/* What a line prints on stdout. */
static char *
printed(const char *line, char *text, size_t size)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	fflush(stdout);
	int out = dup(STDOUT_FILENO);
	assert_int_not_equal(dup2(fileno(file), STDOUT_FILENO), -1);
	enum parsed parsed = read_line(line);
	fflush(stdout);
	assert_int_not_equal(dup2(out, STDOUT_FILENO), -1);
	close(out);
	assert_int_equal(parsed, PARSED_DONE);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void
help_has_every_option_once_with_range_and_default(void **state)
{
	static char text[8192];
	(void)state;
	printed("--help", text, sizeof(text));
	for (uint32_t i = 0; i < PLX_COUNT_OF(outer); i++) {
		char name[32];
		snprintf(name, sizeof(name), "\n  --%s ", outer[i].name);
		char *at = strstr(text, name);
		assert_non_null(at);
		assert_null(strstr(at + 1, name));
	}
	assert_non_null(strstr(text, "a number (2 to 4096; default 7)\n"));
	assert_non_null(strstr(text, "numbers (1 to 2048)\n"));
	assert_non_null(strstr(text, "bytes (0 to 8 GiB; default enough)\n"));
	assert_non_null(strstr(text, "a time (default 2s)\n"));
	assert_non_null(strstr(text, "a flag\n"));
	assert_non_null(strstr(text, "  prog server"));
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");
		assert_in_range(length, 0, 80);
		assert_true(length == 0 || line[length - 1] != ' ');
	}
}

static void
the_table_as_json_has_every_option(void **state)
{
	static char text[16384];
	json_error_t error;
	(void)state;
	json_t *json = json_loads(printed("--help=json", text, sizeof(text)), 0, &error);
	assert_non_null(json);
	json_t *options = json_object_get(json, "options");
	assert_int_equal(json_array_size(options), PLX_COUNT_OF(inner) + PLX_COUNT_OF(outer));
	const json_t *number = json_array_get(options, 3);
	assert_string_equal(json_string_value(json_object_get(number, "name")), "number");
	assert_string_equal(json_string_value(json_object_get(number, "range")), "2 to 4096");
	assert_string_equal(json_string_value(json_object_get(number, "default")), "7");
	assert_int_equal(json_array_size(json_object_get(number, "forms")), 2);
	assert_string_equal(json_string_value(json_object_get(json, "notes")), "Notes.");
	json_decref(json);
}

static void
the_version_is_that_of_the_release(void **state)
{
	char text[64], expected[64];
	(void)state;
	snprintf(expected, sizeof(expected), "prog %s\n", program_version());
	assert_string_equal(printed("--version", text, sizeof(text)), expected);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_arguments_the_defaults_stand),
		cmocka_unit_test(every_kind_is_read_with_a_blank_and_with_an_equals_sign),
		cmocka_unit_test(what_is_given_is_known),
		cmocka_unit_test(the_last_of_several_counts),
		cmocka_unit_test(words_come_in_order_wherever_they_stand),
		cmocka_unit_test(every_mistake_has_its_sentence),
		cmocka_unit_test(a_program_without_words_refuses_them),
		cmocka_unit_test(help_has_every_option_once_with_range_and_default),
		cmocka_unit_test(the_table_as_json_has_every_option),
		cmocka_unit_test(the_version_is_that_of_the_release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
