/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gaps between two looks at the clock. The last ones are kept in rotation for other threads: an
 * entry first, then the number that makes it known. Start with stalls_note().
 */
#include "stalls.h"

#include "clock.h"
#include "cpu.h"

#include <pthread.h>

enum {
	METERS_MAX = 2,
};

PLX_COLD void
stalls_note(struct watch *watch, uint64_t now)
{
	uint64_t length = now - watch->last;
	uint32_t at = watch->noted % STALLS_KEPT;
	__atomic_store_n(&watch->kept[at].begin, watch->last, __ATOMIC_RELAXED);
	__atomic_store_n(&watch->kept[at].end, now, __ATOMIC_RELAXED);
	__atomic_store_n(&watch->noted, watch->noted + 1, __ATOMIC_RELEASE);
	watch->total.count++;
	watch->total.lost += length;
	if (length > watch->total.longest)
		watch->total.longest = length;
}

void
stalls_start(struct watch *watch, uint64_t gap, uint64_t now)
{
	watch->gap = gap;
	watch->last = now;
}

bool
stalls_overlap(const struct watch *watch, uint64_t from, uint64_t to)
{
	if (watch == NULL)
		return false;
	uint32_t noted = __atomic_load_n(&watch->noted, __ATOMIC_ACQUIRE);
	for (uint32_t back = 1; back <= STALLS_KEPT && back <= noted; back++) {
		uint32_t at = (noted - back) % STALLS_KEPT;
		uint64_t begin = __atomic_load_n(&watch->kept[at].begin, __ATOMIC_RELAXED);
		uint64_t end = __atomic_load_n(&watch->kept[at].end, __ATOMIC_RELAXED);
		if (end < from)
			return false;
		if (begin <= to)
			return true;
	}
	return false;
}

void
stalls_add(struct stalls *sum, const struct stalls *more)
{
	sum->count += more->count;
	sum->lost += more->lost;
	sum->watched += more->watched;
	if (more->longest > sum->longest)
		sum->longest = more->longest;
}

double
stalls_per_second(const struct stalls *stalls)
{
	return stalls->watched != 0 ? (double)stalls->count * ticks_hz() / (double)stalls->watched
				    : 0;
}

/* ---- the meter ---- */

struct meter {
	int core;
	uint64_t until;
	pthread_t thread;
	struct watch watch;
};

static void *
meter_main(void *arg)
{
	struct meter *meter = arg;
	uint64_t now;
	cpu_pin(meter->core);
	now = ticks();
	stalls_start(&meter->watch, ticks_of_ms(1) * STALL_NS / 1000000, now);
	while (now < meter->until) {
		now = ticks();
		stalls_look(&meter->watch, now);
	}
	return NULL;
}

void
stalls_meter(const int *core, uint32_t n, struct stalls *sum)
{
	struct meter meters[METERS_MAX] = {0};
	uint64_t until = ticks() + ticks_of_ms(STALL_METER_MS);
	uint32_t started = 0;
	for (uint32_t i = 0; i < n && i < METERS_MAX; i++) {
		meters[i].core = core[i];
		meters[i].until = until;
		if (pthread_create(&meters[i].thread, NULL, meter_main, &meters[i]) != 0)
			break;
		started++;
	}
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(meters[i].thread, NULL);
		stalls_add(sum, &meters[i].watch.total);
	}
}
