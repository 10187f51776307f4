/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of ndperf, parsed into struct options and expanded into jobs.
 * It opens nothing. Start with ndperf_options().
 */
#ifndef NDPERF_OPTIONS_H
#define NDPERF_OPTIONS_H

#include "ndperf.h"

/** @param why out, if PARSED_WRONG: the argument, its value, and the allowed values */
enum parsed ndperf_options(int argc, char **argv, struct options *options, struct plx_why *why);

/** List the jobs that the options specify, with unspecified values chosen.
 * @param n size of `jobs`
 * Returns: the number of jobs; 0: none, with the sentence in `why` */
uint32_t options_jobs(const struct options *options, struct job *jobs, uint32_t n,
		      struct plx_why *why);

/** Check a job received from a peer. false, with the sentence: a value is out of range. */
bool job_is_valid(const struct job *job, struct plx_why *why);

#endif
