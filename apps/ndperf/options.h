/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of ndperf: words to struct options, and what was left open to jobs.
 * It opens nothing. Start with ndperf_options().
 */
#ifndef NDPERF_OPTIONS_H
#define NDPERF_OPTIONS_H

#include "ndperf.h"

/** @param why out, PARSED_WRONG: which argument, its value, what it may be */
enum parsed ndperf_options(int argc, char **argv, struct options *options, struct plx_why *why);

/** A row of the table for everything the options ask for, with what they left open filled in.
 * @param n what `jobs` has room for
 * Returns: how many there are; 0: none, with the sentence in `why` */
uint32_t options_jobs(const struct options *options, struct job *jobs, uint32_t n,
		      struct plx_why *why);

/** A job that came from elsewhere: false and the sentence when something is out of range. */
bool job_is_valid(const struct job *job, struct plx_why *why);

#endif
