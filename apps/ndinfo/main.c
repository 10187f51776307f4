/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndinfo from its command line to its exit status: 0 all providers and adapters are ready, 1 one is
 * not, or there is none, 2 asked wrongly. What is wrong is a sentence on stderr. Start with main().
 */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
fail(const char *sentence, int status)
{
	fprintf(stderr, "ndinfo: %s\n", sentence);
	return status;
}

static void
print_help(void)
{
	puts("ndinfo: which providers and adapters of NetworkDirect 2 are there, and can they be "
	     "used?\n"
	     "\n"
	     "  ndinfo [OPTIONS]\n"
	     "\n"
	     "  --closed    open no adapter: providers and addresses only\n"
	     "  --json      print one JSON object instead of lines\n"
	     "  --help      this\n"
	     "  --version   the version\n"
	     "\n"
	     "Providers are those of the catalog: /etc/nd2/providers.d, or what ND2_PROVIDERS_DIR "
	     "or\n"
	     "ND2_PROVIDER name. An adapter that another process has may not open here.\n"
	     "\n"
	     "Exit status: 0 all are ready, 1 one is not, or there is none, 2 a mistake in the "
	     "arguments.");
}

static int
look(const struct wants *wants)
{
	struct survey *survey;
	bool is_written = true;
	int status = 0;

	/* where Pollux's provider says why an adapter does not open */
	setenv("POLLUX_ND2_LOG", "1", 0);
	survey = survey_take(wants);
	if (!survey)
		return fail("no memory", STATUS_FAILURE);
	if (wants->json)
		is_written = show_json(survey);
	else
		show(survey);
	if (!is_written || fflush(stdout) != 0 || ferror(stdout))
		status = fail("what was found cannot be written", STATUS_FAILURE);
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
		status = fail("there is no provider; a drop-in file in /etc/nd2/providers.d makes "
			      "one known",
			      STATUS_FAILURE);
	if (!survey->is_good)
		status = STATUS_FAILURE;
	survey_free(survey);
	return status;
}

int
main(int argc, char **argv)
{
	struct wants wants = {.json = false};
	char sentence[160];

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			print_help();
			return 0;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts("ndinfo " NDINFO_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "--json") == 0) {
			wants.json = true;
		} else if (strcmp(argv[i], "--closed") == 0) {
			wants.closed = true;
		} else {
			snprintf(sentence, sizeof(sentence),
				 "\"%.60s\" is no option of ndinfo; `ndinfo --help` lists them",
				 argv[i]);
			return fail(sentence, STATUS_USAGE);
		}
	}
	return look(&wants);
}
