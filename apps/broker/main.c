/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pollux-broker: the broker of a host for programs of pollux-run, as a daemon. What it does is
 * lib/face/sanbroker's. Start with main().
 */
#include <signal.h>
#include <stdio.h>

#include "options.h"
#include "plx_file_mode.h"
#include "rules.h"

enum {
	STATUS_RULES = 3, /* exit status: mistakes in the file of rules */
	ROUND_MS = 500,   /* how late a signal may be noticed */
};

struct options {
	const char *socket, *rules;
	uint32_t mode;
	bool check;
};

static bool
parse_mode(void *options, const char *value, struct plx_why *why)
{
	uint32_t mode = plx_file_mode_read(value);

	if (mode == 0) {
		plx_why_set(why,
			    "--mode %.20s is not the mode of a file in octal digits, 0%o to 0%o, "
			    "such as 0660",
			    value, PLX_FILE_MODE_LEAST, PLX_FILE_MODE_MOST);
		return false;
	}
	((struct options *)options)->mode = mode;
	return true;
}

#define AT(field) offsetof(struct options, field)
#define ROW(n, a, k, field) \
	.name = (n), .argument = (a), .forms = FORM_ALONE, .kind = (k), .offset = AT(field)

static const struct option_row rows[] = {
	{ROW("socket", "PATH", OPTION_TEXT, socket), .least = 1, .most = 107,
	 .value = "/run/pollux/sockets.sock", .sentence = "where programs find it"},
	{ROW("mode", "MODE", OPTION_OTHER, mode), .parse = parse_mode, .value = "0600",
	 .sentence = "of that file: who may use the broker, as 0666: everybody"},
	{ROW("rules", "FILE", OPTION_TEXT, rules), .least = 1, .most = 199,
	 .value = "/etc/pollux/sockets.conf", .sentence = "what goes over RDMA"},
	{ROW("check", NULL, OPTION_FLAG, check),
	 .sentence = "check the rules, open nothing, and end"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "pollux-broker",
	.purpose = "connects sockets of programs over RDMA, and holds them",
	.forms = {{FORM_ALONE, "pollux-broker [OPTIONS]", "pollux-broker",
		   "serve the programs of pollux-run(1) on this host"}},
	.groups = {{FORM_ALONE, "Options"}},
	.parts = {{rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes = "It is attached to a polluxd as the configuration of adapters says, see\n"
		 "pollux.conf(5), stays in the foreground, and logs on stderr. SIGTERM and SIGINT\n"
		 "end it, and all connections that it or its programs have.\n"
		 "The first rule that fits an address and a port says what is used; without one\n"
		 "that is TCP:\n"
		 "    rules = ( { address = \"10.77.0.0/16\"; ports = \"6379\"; use = \"rdma\"; } "
		 ");",
	.example = "pollux-broker --rules ./sockets.conf",
	.exit_status =
		"0 it was ended by a signal, or the rules have no mistake, 1 something failed,\n"
		"2 a mistake in the arguments, 3 a mistake in the rules.",
};

static volatile sig_atomic_t ends;

static void
on_signal(int number)
{
	(void)number;
	ends = 1;
}

/* Names that a program chose are in no line. */
static void
say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "pollux-broker: %s\n", line);
}

static int
run(const struct options *options, const struct rules *rules)
{
	const struct san_broker_options broker_options = {.path = options->socket,
							  .mode = options->mode,
							  .rule = rules->rule,
							  .rules = rules->n,
							  .log = say};
	const struct sigaction action = {.sa_handler = on_signal};
	struct san_broker *broker;
	struct plx_why why = {""};

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (san_broker_open(&broker_options, &broker, &why) != PLX_OK)
		return program_fail(why.text, STATUS_FAILURE);
	while (!ends)
		san_broker_run(broker, ROUND_MS);
	san_broker_close(broker);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct rules rules;
	static struct options options;
	struct plx_why why = {""};
	uint64_t given;

	switch (options_read(&program, FORM_ALONE, argc, argv, &options, &given, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	if (!rules_read(options.rules, &rules, &why))
		return program_fail(why.text, STATUS_RULES);
	if (!options.check)
		return run(&options, &rules);
	printf("%s has no mistake; rules: %u\n", options.rules, rules.n);
	return 0;
}
