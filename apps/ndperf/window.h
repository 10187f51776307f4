/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clean windows: a measurement is cut into windows of a millisecond, and those in which a thread
 * was stopped (by the system, or by a neighbour of the machine) do not count. It was stopped when
 * it was not seen for longer than the turns of its loop last, which the warm-up shows. It keeps one
 * thread's log and compares logs afterwards; it never reads the clock by itself. Start with
 * windows_look().
 */
#ifndef NDPERF_WINDOW_H
#define NDPERF_WINDOW_H

#include "plx_base.h"

enum {
	WINDOW_US = 1000,       /* width of a window */
	WINDOW_GAP_US = 30,     /* by so much a turn is longer in which the thread was stopped */
	WINDOW_TURN_US = 200,   /* a turn that lasts longer is a stop, however usual */
	WINDOWS_CLEAN_MIN = 10, /* fewer say nothing: the result is the mean of all, and marked */
	WINDOWS_LESS_PERCENT = 10, /* by so much a median may lie below the mean of all */
	WINDOWS_MAX = 1 << 17,
};

struct window {
	uint64_t amount; /* what was done in it, in the caller's unit */
	uint32_t ticks;  /* how long it really was [TSC] */
	bool stopped;
};

/* The log of one thread. */
struct windows {
	uint64_t last;  /* when the thread was seen last [TSC]; 0: never */
	uint64_t end;   /* of the window it is in; before the first: 0 */
	uint64_t start; /* of the first window */
	uint64_t gap;   /* [TSC] */
	uint64_t width;
	uint64_t turn;  /* four fifths of the warm-up went into turns not longer, about [TSC] */
	uint64_t begin; /* of the window it is in, as seen */
	uint64_t amount_before; /* at `begin` */
	uint32_t at, capacity;
	struct window *list;
};

/* What one or two logs say together. */
struct windows_result {
	uint32_t all, clean;
	double per_second; /* median over the clean windows, over all when none is clean */
	double mean;       /* per second, over all */
	double mean_clean; /* per second, over the clean windows; over all when none is */
	uint64_t amount;   /* in all of them */
	double seconds;
};

/**
 * Get ready for `seconds` of windows that start at `start`. Every thread of a measurement gets the
 * same start, so that their windows have the same numbers.
 *
 * @param start [TSC] a moment to come
 * @param hz    of the TSC
 * Returns: false: no memory
 */
bool windows_init(struct windows *log, uint64_t start, double seconds, uint64_t hz) PLX_MUST_CHECK;

void windows_fini(struct windows *log);

/** What windows_look() does in the warm-up, when a window has ended, and when the thread was away.
 */
void windows_turn(struct windows *log, uint64_t now, uint64_t amount);

/**
 * To be called in every turn of the thread's loop, in its warm-up too.
 *
 * @param now    [TSC]
 * @param amount done since the beginning, in a unit of the caller's; never decreasing
 * Cost: hot; two compares, but for the warm-up
 */
static inline void
windows_look(struct windows *log, uint64_t now, uint64_t amount)
{
	if (plx_unlikely(now >= log->end || now - log->last > log->gap))
		windows_turn(log, now, amount);
	log->last = now;
}

/** Is window `i` there, and was the thread never stopped in it? */
static inline bool
windows_is_clean(const struct windows *log, uint32_t i)
{
	return i < log->at && !log->list[i].stopped;
}

/**
 * The median rate over the windows that are clean in both logs. What may be shown of it,
 * windows_figure() says.
 *
 * @param log   whose amounts are taken
 * @param other of the other thread; NULL: there is none
 * Returns: false: no memory
 */
bool windows_judge(const struct windows *log, const struct windows *other, uint64_t hz,
		   struct windows_result *out) PLX_MUST_CHECK;

/**
 * The rate to show: of the clean windows where they tell, otherwise of all. They tell when there
 * are enough of them, and they do not say less than all: to leave out the time in which somebody
 * was stopped cannot make a rate lower. Where it does, those who were stopped have no log here (a
 * worker, the peer), or a turn with work in it lasts so long that only idle ones look clean. Where
 * nothing was done in any window, all that was done ended after the last one.
 *
 * @param is_median of the clean windows; otherwise their mean
 * @param note      out, "" when they tell; otherwise what a reader must know beside the figure
 * Returns: per second; 0 only when nothing was done in any window, and with a note
 */
double windows_figure(const struct windows_result *result, bool is_median, char *note, size_t size);

/** @param values [n] sorted after it; 0 when there are none */
double median(double *values, uint32_t n);

#endif
