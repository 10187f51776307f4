/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedule of an open loop. Sums of intervals are kept as a double after the start: to a
 * hundredth of a tick for days. Start with schedule_take().
 */
#include "schedule.h"

#include <math.h>

void
schedule_init(struct schedule *schedule, uint64_t start, double interval, bool is_random,
	      uint64_t seed)
{
	*schedule = (struct schedule){
		.start = start,
		.interval = interval,
		.is_random = is_random,
	};
	plx_prng_init(&schedule->prng, seed);
}

uint64_t
schedule_take(struct schedule *schedule)
{
	uint64_t due = schedule_next(schedule);
	double factor = 1;
	if (schedule->is_random) {
		/* uniform in (0, 1], of 53 bits */
		double u = (double)((plx_prng_next(&schedule->prng) >> 11) + 1) * 0x1p-53;
		factor = -log(u);
	}
	schedule->next += schedule->interval * factor;
	return due;
}
