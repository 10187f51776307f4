/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rate of the processor's counter, measured once against the system's clock. It never converts
 * on a hot path: measurements stay in ticks until they are reported. Start with ticks_hz().
 */
#include "clock.h"

#include <time.h>

double
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

uint64_t
now_ms(void)
{
	return (uint64_t)(now_ns() / 1e6);
}

static uint64_t
system_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Read both clocks as nearly at the same moment as possible: the best of a few tries. */
static void
read_both(uint64_t *at_ticks, uint64_t *at_ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 16; i++) {
		uint64_t before = ticks();
		uint64_t ns = system_ns();
		uint64_t after = ticks();
		if (after - before < best) {
			best = after - before;
			*at_ticks = before + best / 2;
			*at_ns = ns;
		}
	}
}

double
ticks_hz(void)
{
	static double hz;
	if (hz > 0)
		return hz;
	uint64_t ticks_from = 0, ns_from = 0, ticks_to = 0, ns_to = 0;
	read_both(&ticks_from, &ns_from);
	while (system_ns() - ns_from < 20 * 1000 * 1000)
		;
	read_both(&ticks_to, &ns_to);
	hz = (double)(ticks_to - ticks_from) * 1e9 / (double)(ns_to - ns_from);
	return hz;
}

uint64_t
ticks_of_ms(uint64_t ms)
{
	return (uint64_t)((double)ms * ticks_hz() / 1e3);
}

double
ticks_to_ns(double t)
{
	return t * 1e9 / ticks_hz();
}
