/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stalls: times for which the machine did not run a thread: an interrupt, another thread, another
 * guest of the host. A thread that reads the clock all the time sees each as a gap. Two readers use
 * this: the loop of a measurement, where a gap may also be a slow turn of the code; and a meter
 * that does nothing else, so that its gaps are the machine's alone. Alike figures say that the
 * loop's gaps are the machine's. Start with stalls_look().
 */
#ifndef NDPERF_STALLS_H
#define NDPERF_STALLS_H

#include "plx_base.h"

enum {
	STALL_NS = 2000, /* a shorter one is no stall: turns of the code differ by that much */
	STALL_METER_MS = 100,
	STALLS_KEPT = 16, /* the last ones of a thread, that others may ask for */
	STALL_LINE = 64, /* [bytes] keeps what the other thread reads off the lines that we write */
};

/* [ticks] Sums of one thread or of several. */
struct stalls {
	uint64_t count, longest, lost; /* `lost`: all of them together */
	uint64_t watched;              /* the time in which they were counted */
};

/* One thread's. */
struct watch {
	bool is_on;
	uint64_t gap;  /* [ticks] a longer turn is a stall; 0: not known yet, nothing is counted */
	uint64_t last; /* [ticks] the last look */
	struct stalls total;
	uint8_t before[STALL_LINE];
	uint32_t noted; /* stalls, of which the last are kept */
	struct {
		uint64_t begin, end; /* [ticks] */
	} kept[STALLS_KEPT];
	uint8_t after[STALL_LINE];
};

/** The cold part of stalls_look(). */
void stalls_note(struct watch *watch, uint64_t now);

/** Call this in every turn of the thread's loop. Cost: hot, two compares */
static inline void
stalls_look(struct watch *watch, uint64_t now)
{
	if (watch->gap == 0)
		return;
	if (plx_unlikely(now - watch->last > watch->gap))
		stalls_note(watch, now);
	watch->total.watched += now - watch->last;
	watch->last = now;
}

/** Count from now on. @param gap [ticks] 1 .. */
void stalls_start(struct watch *watch, uint64_t gap, uint64_t now);

/** Did one of the last stalls of a watched thread overlap a time?
 * @param watch of any thread, which may be noting another meanwhile; NULL: false */
bool stalls_overlap(const struct watch *watch, uint64_t from, uint64_t to);

/** Add `more` to `sum`; the watched times are of threads side by side, or one after the other. */
void stalls_add(struct stalls *sum, const struct stalls *more);

/** Stalls per second of a thread, on average. */
double stalls_per_second(const struct stalls *stalls);

/** Read the clock, and do nothing else, on all of these processors at once for STALL_METER_MS, and
 * add the stalls seen.
 * @param core [n] -1: not pinned */
void stalls_meter(const int *core, uint32_t n, struct stalls *sum);

#endif
