/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the messages of an open loop are due: at a fixed rate, or at random with the same mean, as
 * the arrivals of many independent users are (Poisson). A schedule does not wait for answers, so a
 * latency counted from the time a message was due includes whatever kept it from being posted.
 * No clock, no allocation. Start with schedule_take().
 */
#ifndef NDPERF_SCHEDULE_H
#define NDPERF_SCHEDULE_H

#include "plx_base.h"

struct schedule {
	uint64_t start;  /* [ticks] of the first message */
	double next;     /* [ticks] after `start`, when the next one is due */
	double interval; /* [ticks] the mean */
	bool is_random;
	struct plx_prng prng;
};

/** @param interval [ticks] > 0 */
void schedule_init(struct schedule *schedule, uint64_t start, double interval, bool is_random,
		   uint64_t seed);

/** Whole ticks, rounded down. */
static inline uint64_t
schedule_next(const struct schedule *schedule)
{
	return schedule->start + (uint64_t)schedule->next;
}

/** Take the next message off the schedule.
 * Returns: when it is due [ticks] */
uint64_t schedule_take(struct schedule *schedule);

#endif
