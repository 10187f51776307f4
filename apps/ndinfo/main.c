/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndinfo from its command line to its exit status: 0 all providers and adapters are ready, 1 one is
 * not, or there is none, 2 wrong command line. Faults are reported as sentences on stderr. Start
 * with main().
 */
#include "info.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct options, field)

static const struct option_row rows[] = {
	{.name = "closed",
	 .forms = FORM_ALONE,
	 .kind = OPTION_FLAG,
	 .offset = AT(closed),
	 .sentence = "open no adapter: providers and addresses only"},
	{.name = "json",
	 .forms = FORM_ALONE,
	 .kind = OPTION_FLAG,
	 .offset = AT(json),
	 .sentence = "print one JSON object instead of lines"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "ndinfo",
	.purpose = "lists the providers and adapters of NetworkDirect 2, and whether they work",
	.forms = {{FORM_ALONE, "ndinfo [OPTIONS]", "ndinfo", "all providers of the catalog"}},
	.groups = {{FORM_ALONE, "Options"}},
	.parts = {{rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes = "The catalog is /etc/nd2/providers.d, or what ND2_PROVIDERS_DIR or ND2_PROVIDER\n"
		 "name. An adapter that is in use by another process may fail to open.",
	.exit_status = "0 all are ready, 1 one is not, or there is none, 2 a mistake in the\n"
		       "arguments.",
};

static int
look(const struct options *options)
{
	struct survey *survey;
	bool is_written = true;
	int status = 0;

	/* makes Pollux's provider log why an adapter cannot be opened */
	setenv("POLLUX_ND2_LOG", "1", 0);
	survey = survey_take(options);
	if (!survey)
		return program_fail("no memory", STATUS_FAILURE);
	if (options->json)
		is_written = show_json(survey);
	else
		show(survey);
	if (!is_written || fflush(stdout) != 0 || ferror(stdout))
		status = program_fail("the output cannot be written", STATUS_FAILURE);
	for (const char *at = survey->complaints; *at;) {
		size_t n = strcspn(at, "\n");

		fprintf(stderr, "ndinfo: %.*s\n", (int)n, at);
		at += n + (at[n] == '\n');
	}
	for (uint32_t i = 0; i < survey->providers; i++)
		if (*survey->provider[i].sentence)
			fprintf(stderr, "ndinfo: %s: %s\n", survey->provider[i].name,
				survey->provider[i].sentence);
	if (!survey->providers && !*survey->complaints)
		status = program_fail("there is no provider; register one by a drop-in file in "
				      "/etc/nd2/providers.d",
				      STATUS_FAILURE);
	if (!survey->is_good)
		status = STATUS_FAILURE;
	survey_free(survey);
	return status;
}

int
main(int argc, char **argv)
{
	struct options options = {.json = false};
	struct plx_why why;
	uint64_t given;

	switch (options_read(&program, FORM_ALONE, argc, argv, &options, &given, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	return look(&options);
}
