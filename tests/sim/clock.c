/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns each station's clock, which drifts against the world's, steps forward and never goes back.
 * It never knows what time is used for.
 * Start with clock_local().
 */
#include "sim.h"

#define MILLION UINT64_C(1000000)

uint64_t
clock_local(const struct station *station)
{
	uint64_t passed = station->world->now - station->clock_global;
	uint64_t rate = (uint64_t)((int64_t)MILLION + station->drift_ppm);

	return station->clock_local + passed / MILLION * rate + passed % MILLION * rate / MILLION;
}

/* The first instant of the world at which the station's clock shows `local`, not before now. */
uint64_t
clock_global(const struct station *station, uint64_t local)
{
	uint64_t rate = (uint64_t)((int64_t)MILLION + station->drift_ppm);
	uint64_t passed = 0, global;

	if (local > station->clock_local) {
		uint64_t rest = local - station->clock_local;

		/* rounded up, and one more for the two divisions of clock_local() */
		passed = rest / rate * MILLION + (rest % rate * MILLION + rate - 1) / rate +
			 (station->drift_ppm ? 2 : 0);
	}
	global = station->clock_global + passed;
	return global > station->world->now ? global : station->world->now;
}

void
clock_start(struct station *station)
{
	struct plx_prng prng = draw_stream(station->world->seed, 't', station->index, 0);
	uint32_t drift = station->world->config.weather.drift_ppm;

	station->clock_global = station->world->now;
	station->clock_local = draw_log(&prng, 1, UINT64_C(1) << 40);
	if (drift)
		station->drift_ppm = (int32_t)draw_between(&prng, 0, 2 * drift) - (int32_t)drift;
}

void
clock_step(struct station *station, uint64_t ns)
{
	station->clock_local = clock_local(station) + ns;
	station->stepped_ns += ns;
	station->clock_global = station->world->now;
}
