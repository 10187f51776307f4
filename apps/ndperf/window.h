/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clean windows: a measurement is divided into windows of a millisecond. Windows in which a thread
 * was stopped (by the system, or by another load of the machine) do not count. A thread was stopped
 * if it was away for longer than the turns of its loop last, which the warm-up determines. This
 * keeps one thread's log and compares logs afterwards; it never reads the clock. Start with
 * windows_look().
 */
#ifndef NDPERF_WINDOW_H
#define NDPERF_WINDOW_H

#include "plx_base.h"

enum {
	WINDOW_US = 1000,       /* width of a window */
	WINDOW_GAP_US = 30,     /* a turn longer by this much means that the thread was stopped */
	WINDOW_TURN_US = 200,   /* a longer turn counts as a stop, however common */
	WINDOWS_CLEAN_MIN = 10, /* with fewer, the result is the mean of all windows, and marked */
	WINDOWS_LESS_PERCENT = 10, /* a median may be this far below the mean of all windows */
	WINDOWS_MAX = 1 << 17,
};

struct window {
	uint64_t amount; /* work done in it, in the caller's unit */
	uint32_t ticks;  /* its real length [TSC] */
	bool stopped;
};

/* The log of one thread. */
struct windows {
	uint64_t last;  /* last time the thread was seen [TSC]; 0: never */
	uint64_t end;   /* of the present window; 0 before the first */
	uint64_t start; /* of the first window */
	uint64_t gap;   /* [TSC] */
	uint64_t width;
	uint64_t turn;  /* [TSC] roughly four fifths of the warm-up was spent in turns up to this */
	uint64_t begin; /* of the present window, as seen */
	uint64_t amount_before; /* at `begin` */
	uint32_t at, capacity;
	struct window *list;
};

/* The combined result of one or two logs. */
struct windows_result {
	uint32_t all, clean;
	double per_second; /* median over the clean windows; over all if none is clean */
	double mean;       /* per second, over all windows */
	double mean_clean; /* per second, over the clean windows; over all if none is clean */
	uint64_t amount;   /* in all windows */
	double seconds;
};

/**
 * Prepare for `seconds` of windows that start at `start`. Every thread of a measurement gets the
 * same start, so that its windows have the same numbers.
 *
 * @param start [TSC] in the future
 * @param hz    of the TSC
 * Returns: false: no memory
 */
bool windows_init(struct windows *log, uint64_t start, double seconds, uint64_t hz) PLX_MUST_CHECK;

void windows_fini(struct windows *log);

/** The slow part of windows_look(): in the warm-up, at the end of a window, and after an
 * absence. */
void windows_turn(struct windows *log, uint64_t now, uint64_t amount);

/**
 * Call this in every turn of the thread's loop, including the warm-up.
 *
 * @param now    [TSC]
 * @param amount done since the beginning, in the caller's unit; never decreasing
 * Cost: hot; two compares, except in the warm-up
 */
static inline void
windows_look(struct windows *log, uint64_t now, uint64_t amount)
{
	if (plx_unlikely(now >= log->end || now - log->last > log->gap))
		windows_turn(log, now, amount);
	log->last = now;
}

/** Does window `i` exist, and was the thread never stopped in it? */
static inline bool
windows_is_clean(const struct windows *log, uint32_t i)
{
	return i < log->at && !log->list[i].stopped;
}

/**
 * Compute the median rate over the windows that are clean in both logs. windows_figure() decides
 * which rate is shown.
 *
 * @param log   whose amounts are used
 * @param other of the other thread; NULL: none
 * @param sums  the other's amounts are part of the result
 * Returns: false: no memory
 */
bool windows_judge(const struct windows *log, const struct windows *other, bool sums, uint64_t hz,
		   struct windows_result *out) PLX_MUST_CHECK;

/**
 * The rate to show: of the clean windows if they are meaningful, otherwise of all windows. They are
 * meaningful if there are enough of them and their rate is not below that of all. Leaving out
 * interruptions cannot lower a rate. If it does, the interrupted threads have no log here (a
 * worker, the peer), or a turn with work lasts so long that only idle windows look clean. If no
 * window has any work, all work ended after the last one.
 *
 * @param is_median of the clean windows; otherwise their mean
 * @param note      out, "" if they are meaningful; otherwise a remark that the reader needs
 * Returns: per second; 0 only if nothing was done in any window, and then with a note
 */
double windows_figure(const struct windows_result *result, bool is_median, char *note, size_t size);

/** @param values [n] sorted in place.
 * Returns: 0 if there are none */
double median(double *values, uint32_t n);

#endif
