/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of a program as one table: it is parsed by it, and --help and --help=json are
 * printed from it. Every mistake becomes one sentence. Start with struct program.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "units.h"

#include <stddef.h>

/* How a program is called, in bits: struct option_row has those that accept the option. */
enum form {
	FORM_ALONE = 1 << 0,
	FORM_CLIENT = 1 << 1,
	FORM_SERVER = 1 << 2,
	FORM_PAIR = FORM_CLIENT | FORM_SERVER,
	FORM_ACTIVE = FORM_ALONE | FORM_CLIENT,
	FORM_ALL = FORM_ALONE | FORM_CLIENT | FORM_SERVER,
};

/* What an argument is, and what it is stored as. */
enum option_kind {
	OPTION_FLAG,    /* none: true, in a bool */
	OPTION_TEXT,    /* at most `most` characters: const char * */
	OPTION_NUMBER,  /* least .. most; K, M and G are powers of 1024: uint32_t */
	OPTION_BYTES,   /* likewise: uint64_t */
	OPTION_TIME,    /* least [ms] .. an hour: uint32_t [ms] */
	OPTION_WORD,    /* one of `names`: its index, in an enum */
	OPTION_WORDS,   /* a list of `names` or `sets`: bits 1 << index, in a uint32_t */
	OPTION_ADDRESS, /* an address and its prefix: struct option_address */
	OPTION_OTHER,   /* what `parse` makes of it */
	OPTION_HELP,    /* this table; "json": for programs */
	OPTION_VERSION,
};

struct option_address {
	struct plx_ip ip; /* version 0: not given */
	uint8_t prefix_bits;
};

/* A word for several of `names`. */
struct option_set {
	const char *name;
	uint32_t bits;
};

struct option_row {
	const char *name;     /* without dashes */
	const char *argument; /* what it is called in the help; NULL: it has none */
	uint8_t forms;        /* enum form bits */
	uint8_t kind;         /* enum option_kind */
	size_t offset;        /* [bytes] in the program's options */
	uint64_t least, most;
	const char *value;     /* the default, as it would be given; NULL: what is there already */
	const char *otherwise; /* the default in words, when it depends on something */
	const char *sentence;
	const char *noun;              /* of a word: "operation" */
	const char *const *names;      /* [least .. most]; NULL: the index has none */
	const struct option_set *sets; /* until one without a name; or NULL */
	bool (*parse)(void *options, const char *value, struct plx_why *why);
};

/* Rows that every program has, the last of its table. */
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

/* Rows whose offsets count from `offset` of the program's options. */
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
		const char *name;  /* in a sentence: "ndperf server" */
		const char *sentence;
	} forms[4]; /* until one without a name */
	struct {
		uint8_t forms;
		const char *title;
	} groups[6]; /* options by who accepts them, in the order of the help */
	struct option_part parts[3];
	const char *notes; /* paragraphs behind the options, in lines */
	const char *example;
	const char *exit_status;
	/* an argument that is no option; NULL: there is none */
	bool (*word)(void *options, const char *word, struct plx_why *why);
};

enum {
	STATUS_FAILURE = 1, /* of the process: something did not work */
	STATUS_USAGE = 2,   /* of the process: it was asked for something it does not do */
};

enum parsed {
	PARSED_RUN,  /* go on */
	PARSED_DONE, /* --help or --version was answered */
	PARSED_WRONG,
};

/**
 * Set defaults, then read a command line.
 *
 * @param form    enum form: how the program was called
 * @param argc    words that are left; argv[0] is skipped
 * @param options the program's struct
 * @param given   out: a bit for each row that was given, for option_is_given()
 * @param why     out, of PARSED_WRONG: which argument, its value, what it may be
 */
enum parsed options_read(const struct program *program, uint8_t form, int argc, char **argv,
			 void *options, uint64_t *given, struct plx_why *why);

/** How the program is called in a sentence: "ndperf server". */
const char *program_form(const struct program *program, uint8_t form);

bool option_is_given(const struct program *program, uint64_t given, const char *name);

/** Print a sentence on stderr, after the program's name. Returns: `status` */
int program_fail(const char *sentence, int status);

/** The version of this release. */
const char *program_version(void);

/** Cut the next word from a comma-separated list. Returns: false: `text` is used up */
bool next_word(const char **text, char *word, size_t size);

#endif
