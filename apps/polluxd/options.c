/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of polluxd. Start with `rows`.
 */
#include "polluxd.h"

#define AT(field) offsetof(struct options, field)
#define ROW(n, a, k, field) \
	.name = (n), .argument = (a), .forms = FORM_ALONE, .kind = (k), .offset = AT(field)

static const struct option_row rows[] = {
	{ROW("config", "FILE", OPTION_TEXT, config), .least = 1, .most = 199,
	 .value = "/etc/pollux/polluxd.conf", .sentence = "configuration file"},
	{ROW("check", NULL, OPTION_FLAG, check),
	 .sentence = "print every mistake in the configuration file, open no device, and end"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "polluxd",
	.purpose = "owns adapters, and shares them among programs",
	.forms = {{FORM_ALONE, "polluxd [OPTIONS]", "polluxd",
		   "open the adapters of the configuration file, and let programs attach"}},
	.groups = {{FORM_ALONE, "Options"}},
	.parts = {{rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes = "polluxd stays in the foreground, and logs on stderr. SIGTERM and SIGINT end it: "
		 "programs\n"
		 "and their peers are told. A second one ends it at once. SIGHUP reloads nothing.\n"
		 "If NOTIFY_SOCKET is set, the service manager is told when programs can attach.",
	.example = "polluxd --config ./polluxd.conf --check",
	.exit_status =
		"0 it was ended by a signal, or the file has no mistake, 1 something failed,\n"
		"2 a mistake in the arguments, 3 mistakes in the configuration file.",
};

enum parsed
polluxd_options(int argc, char **argv, struct options *options, struct plx_why *why)
{
	uint64_t given;

	return options_read(&program, FORM_ALONE, argc, argv, options, &given, why);
}
