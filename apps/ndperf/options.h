/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of ndperf: words to struct options, and every mistake to one sentence.
 * It opens nothing and prints only --help and --version. Start with options_parse().
 */
#ifndef NDPERF_OPTIONS_H
#define NDPERF_OPTIONS_H

#include "ndperf.h"
#include "units.h"

enum parsed {
	PARSED_RUN,  /* measure */
	PARSED_DONE, /* --help or --version was answered */
	PARSED_WRONG,
};

/** @param why [out] PARSED_WRONG: which argument, its value, what it may be */
enum parsed options_parse(int argc, char **argv, struct options *options, struct plx_why *why);

/** A row of the table for everything the options ask for, with what they left open filled in.
 * @param n what `jobs` has room for
 * Returns: how many there are; 0: none, with the sentence in `why` */
uint32_t options_jobs(const struct options *options, struct job *jobs, uint32_t n,
		      struct plx_why *why);

/** A job that came from elsewhere: false and the sentence when something is out of range. */
bool job_is_valid(const struct job *job, struct plx_why *why);

#endif
