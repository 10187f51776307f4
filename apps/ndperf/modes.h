/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The three forms of ndperf: both endpoints here, client, server.
 * Start with measure_here().
 */
#ifndef NDPERF_MODES_H
#define NDPERF_MODES_H

#include "talk.h"

enum {
	JOBS_MAX = 1024,
};

/** Both endpoints in this process. @param jobs [n] */
bool measure_here(const struct options *options, const struct job *jobs, uint32_t n,
		  struct plx_why *why);

/** The active endpoint, with a server elsewhere. */
bool measure_remote(const struct options *options, const struct job *jobs, uint32_t n,
		    struct plx_why *why);

/** The passive endpoint: client after client until interrupted, or one. */
bool serve(const struct options *options, struct plx_why *why);

#endif
