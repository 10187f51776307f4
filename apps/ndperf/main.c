/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndperf from its command line to its exit status: 0 measured, 1 something failed, 2 wrong command
 * line. Every failure is one sentence on stderr. Start with main().
 */
#include "clock.h"
#include "cpu.h"
#include "modes.h"
#include "options.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>

/* In one process each endpoint has a core of its own if there are two. On one core both endpoints
 * share a thread, because two threads would wait for each other's time slices. */
static void
choose_cores(struct options *o)
{
	if (o->role != ROLE_SOLO || o->core[0] >= 0)
		return;
	if (cpus_allowed(o->core, CORES) == 1) {
		o->core[1] = o->core[0];
		if (o->layout == LAYOUT_TWO_CORES && o->mode == PLX_MODE_INLINE)
			o->layout = LAYOUT_ONE_CORE;
	}
}

static int
run(struct options *o, struct plx_why *why)
{
	struct job *jobs = calloc(JOBS_MAX, sizeof(*jobs));
	bool is_good = false;
	uint32_t n = 1;
	int status = STATUS_FAILURE;
	if (jobs == NULL)
		why_set(why, "no memory");
	else if (o->role != ROLE_SERVER)
		n = options_jobs(o, jobs, JOBS_MAX, why);
	if (n == 0)
		status = STATUS_USAGE;
	else if (jobs != NULL && endpoint_start(&o->endpoint, why))
		is_good = o->role == ROLE_SERVER   ? serve(o, why)
			  : o->role == ROLE_CLIENT ? measure_remote(o, jobs, n, why)
						   : measure_here(o, jobs, n, why);
	free(jobs);
	return is_good ? 0 : program_fail(why->text, status);
}

int
main(int argc, char **argv)
{
	struct options options;
	struct plx_why why = {{0}};
	switch (ndperf_options(argc, argv, &options, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	choose_cores(&options);
	catch_signals();
	ticks_hz();
	return run(&options, &why);
}
