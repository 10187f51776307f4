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

/** Measure with both endpoints in this process.
 * @param jobs [n] */
bool measure_here(const struct options *options, const struct job *jobs, uint32_t n,
		  struct plx_why *why);

/** Be the active endpoint; a server runs elsewhere. */
bool measure_remote(const struct options *options, const struct job *jobs, uint32_t n,
		    struct plx_why *why);

/** Be the passive endpoint: serve one client, or one after the other until interrupted. */
bool serve(const struct options *options, struct plx_why *why);

#endif
