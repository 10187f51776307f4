/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of a program as one table, which drives parsing, --help and --help=json. Every
 * mistake yields one sentence. Start with struct program.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "units.h"

#include <stddef.h>

/* The forms of a program, as bits: struct option_row lists the forms that accept the option. */
enum form {
	FORM_ALONE = 1 << 0,
	FORM_CLIENT = 1 << 1,
	FORM_SERVER = 1 << 2,
	FORM_PAIR = FORM_CLIENT | FORM_SERVER,
	FORM_ACTIVE = FORM_ALONE | FORM_CLIENT,
	FORM_ALL = FORM_ALONE | FORM_CLIENT | FORM_SERVER,
};

/* The kind of an argument, and the type that stores it. */
enum option_kind {
	OPTION_FLAG,    /* no argument: true, in a bool */
	OPTION_TEXT,    /* at most `most` characters: const char * */
	OPTION_NUMBER,  /* least .. most; K, M and G are powers of 1024: uint32_t */
	OPTION_NUMBERS, /* a list of such: struct option_numbers */
	OPTION_BYTES,   /* likewise: uint64_t */
	OPTION_TIME,    /* least [ms] .. an hour: uint32_t [ms] */
	OPTION_WORD,    /* one of `names`: its index, in an enum */
	OPTION_WORDS,   /* a list of `names` or `sets`: bits 1 << index, in a uint32_t */
	OPTION_ADDRESS, /* an address and a prefix length: struct option_address */
	OPTION_OTHER,   /* converted by `parse` */
	OPTION_HELP,    /* print this table; "json": for programs */
	OPTION_VERSION,
};

struct option_address {
	struct plx_ip ip; /* version 0: not given */
	uint8_t prefix_bits;
};

enum {
	OPTION_NUMBERS_MAX = 8,
};

struct option_numbers {
	uint32_t count; /* 0: not given */
	uint32_t value[OPTION_NUMBERS_MAX];
};

/* A word that stands for several of `names`. */
struct option_set {
	const char *name;
	uint32_t bits;
};

struct option_row {
	const char *name;     /* without dashes */
	const char *argument; /* its name in the help; NULL: no argument */
	uint8_t forms;        /* enum form bits */
	uint8_t kind;         /* enum option_kind */
	size_t offset;        /* [bytes] of the value, in the program's options */
	uint64_t least, most;
	const char *value;     /* the default, as on a command line; NULL: keep the present value */
	const char *otherwise; /* the default in words, if it depends on something */
	const char *sentence;
	const char *noun;              /* describes a word: "operation" */
	const char *const *names;      /* [least .. most]; NULL: that index has no name */
	const struct option_set *sets; /* ended by one without a name; or NULL */
	bool (*parse)(void *options, const char *value, struct plx_why *why);
};

/* Rows of every program, the last in its table. */
#define OPTION_HELP_ROW                                                 \
	{                                                               \
		.name = "help", .forms = FORM_ALL, .kind = OPTION_HELP, \
		.sentence = "print this; with --help=json, as JSON"     \
	}
#define OPTION_VERSION_ROW                                                    \
	{                                                                     \
		.name = "version", .forms = FORM_ALL, .kind = OPTION_VERSION, \
		.sentence = "print the version"                               \
	}

/* Rows whose offsets are relative to `offset` in the program's options. */
struct option_part {
	const struct option_row *rows;
	uint32_t count;
	size_t offset;
};

struct program {
	const char *name, *purpose;
	struct {
		uint8_t form;
		const char *usage; /* "ndperf server [OPTIONS]" */
		const char *name;  /* used in sentences: "ndperf server" */
		const char *sentence;
	} forms[4]; /* ended by one without a name */
	struct {
		uint8_t forms;
		const char *title;
	} groups[6]; /* options grouped by the forms that accept them, in the order of the help */
	struct option_part parts[3];
	const char *notes; /* paragraphs after the options, as lines */
	const char *example;
	const char *exit_status;
	/* handles an argument that is not an option; NULL: none allowed */
	bool (*word)(void *options, const char *word, struct plx_why *why);
};

enum {
	STATUS_FAILURE = 1, /* exit status: something failed */
	STATUS_USAGE = 2,   /* exit status: the command line is wrong */
};

enum parsed {
	PARSED_RUN,  /* continue */
	PARSED_DONE, /* --help or --version was answered */
	PARSED_WRONG,
};

/**
 * Set defaults, then parse a command line.
 *
 * @param form    enum form: how the program was called
 * @param argc    number of words left; argv[0] is skipped
 * @param options the program's struct
 * @param given   out: a bit for each row that was given, for option_is_given()
 * @param why     out, if PARSED_WRONG: the argument, its value, and the allowed values
 */
enum parsed options_read(const struct program *program, uint8_t form, int argc, char **argv,
			 void *options, uint64_t *given, struct plx_why *why);

/** The form's name for sentences: "ndperf server". */
const char *program_form(const struct program *program, uint8_t form);

bool option_is_given(const struct program *program, uint64_t given, const char *name);

/** Print a sentence on stderr, preceded by the program's name.
 * Returns: `status` */
int program_fail(const char *sentence, int status);

/** The version of this release. */
const char *program_version(void);

/** Remove the next word from a comma-separated list.
 * Returns: false: `text` is used up */
bool next_word(const char **text, char *word, size_t size);

#endif
