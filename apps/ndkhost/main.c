/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndkhost from its command line to its exit status. Start with main().
 */
#include "host.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	static struct options options;
	static struct outcome outcome;
	struct plx_why why;
	int status;

	switch (host_options(argc, argv, &options, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	catch_signals();
	status = host_run(&options, &outcome);
	if (options.json && !show_json(&options, &outcome, status))
		status = program_fail("the output cannot be written", STATUS_FAILURE);
	if (fflush(stdout) != 0 || ferror(stdout))
		status = program_fail("the output cannot be written", STATUS_FAILURE);
	for (uint32_t i = 0; i < options.requests; i++) {
		free(options.request[i].in);
		free(options.request[i].out);
	}
	return status;
}
