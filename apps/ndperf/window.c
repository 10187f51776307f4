/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log of windows, and the median over those without an interruption.
 * It allocates only in windows_init() and in windows_judge(), which is not part of a measurement.
 * Start with windows_turn(), which handles the borders of windows.
 */
#include "window.h"

#include <stdio.h>
#include <stdlib.h>

bool
windows_init(struct windows *log, uint64_t start, double seconds, uint64_t hz)
{
	double want = seconds * 1e6 / WINDOW_US + 1;
	uint32_t capacity = want < WINDOWS_MAX ? (uint32_t)want : WINDOWS_MAX;

	*log = (struct windows){
		.start = start,
		.gap = hz / 1000000 * WINDOW_GAP_US,
		.width = hz / 1000000 * WINDOW_US,
		.capacity = capacity,
		.list = calloc(capacity, sizeof *log->list),
	};
	return log->list;
}

void
windows_fini(struct windows *log)
{
	free(log->list);
	log->list = NULL;
}

/* End the thread's present window. The next one starts with the present amount. */
static void
close_window(struct windows *log, uint64_t now, uint64_t amount)
{
	struct window *window = &log->list[log->at++];

	window->amount = amount - log->amount_before;
	window->ticks = (uint32_t)(now - log->begin);
	log->amount_before = amount;
	log->begin = now;
	log->end += log->width;
}

/* Adapt `turn` to the duration of turns, weighted by time, since turns that find nothing are many
 * and short. A longer turn raises it, and one that is not longer lowers it by a quarter of that.
 * The two balance where four fifths of the time is spent in turns that are not longer. An
 * interruption counts as the longest turn, however long it lasts. */
static void
learn(struct windows *log, uint64_t turn)
{
	uint64_t most = log->width / WINDOW_US * WINDOW_TURN_US;
	uint64_t step;

	if (turn > most)
		turn = most;
	step = turn / 256 + 1;
	if (!log->turn)
		log->turn = turn;
	else if (turn > log->turn)
		log->turn += 4 * step;
	else if (log->turn > step)
		log->turn -= step;
}

PLX_COLD void
windows_turn(struct windows *log, uint64_t now, uint64_t amount)
{
	/* A thread that starts late counts as stopped from the start. */
	uint64_t seen = log->end ? log->last : log->start;
	bool away;

	if (now < log->start) {
		if (log->last)
			learn(log, now - log->last);
		return;
	}
	if (!log->end) {
		log->begin = now;
		log->amount_before = amount;
		log->end = log->start + log->width;
		log->gap += log->turn;
	}
	away = now - seen > log->gap;
	while (now >= log->end && log->at < log->capacity) {
		log->list[log->at].stopped |= away;
		close_window(log, now, amount);
	}
	if (log->at == log->capacity) {
		log->end = UINT64_MAX;
		log->gap = UINT64_MAX;
	} else {
		log->list[log->at].stopped |= away;
	}
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double
median(double *values, uint32_t n)
{
	if (!n)
		return 0;
	qsort(values, n, sizeof *values, by_value);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

bool
windows_judge(const struct windows *log, const struct windows *other, bool sums, uint64_t hz,
	      struct windows_result *out)
{
	double *rates = malloc(2 * sizeof *rates * (log->at ? log->at : 1));
	double *clean = rates + log->at;
	double ticks = 0;
	double ticks_clean = 0;
	double amount_clean = 0;

	*out = (struct windows_result){.all = log->at};
	if (!rates)
		return false;
	for (uint32_t i = 0; i < log->at; i++) {
		const struct window *window = &log->list[i];
		/* a window during which the thread slept may have no ticks */
		double length = window->ticks ? window->ticks : 1;

		uint64_t amount = window->amount;

		if (sums && other && i < other->at)
			amount += other->list[i].amount;
		rates[i] = (double)amount * (double)hz / length;
		if (windows_is_clean(log, i) && (!other || windows_is_clean(other, i))) {
			clean[out->clean++] = rates[i];
			amount_clean += (double)amount;
			ticks_clean += length;
		}
		out->amount += amount;
		ticks += window->ticks;
	}
	out->seconds = ticks / (double)hz;
	out->mean = ticks > 0 ? (double)out->amount / out->seconds : 0;
	out->mean_clean = out->clean ? amount_clean * (double)hz / ticks_clean : out->mean;
	out->per_second = out->clean ? median(clean, out->clean) : median(rates, out->all);
	free(rates);
	return true;
}

double
windows_figure(const struct windows_result *result, bool is_median, char *note, size_t size)
{
	double clean = is_median ? result->per_second : result->mean_clean;

	note[0] = '\0';
	if (!result->amount)
		snprintf(note, size,
			 "busy machine: nothing ended within the %u windows, so the mean of the "
			 "whole time is shown",
			 result->all);
	else if (result->clean < WINDOWS_CLEAN_MIN)
		snprintf(note, size,
			 "busy machine: %u of %u windows clean, so the mean of all is shown",
			 result->clean, result->all);
	else if (clean * 100 < result->mean * (100 - WINDOWS_LESS_PERCENT))
		snprintf(note, size,
			 "busy machine: the %u clean windows of %u show less than all, so the "
			 "mean of all is shown",
			 result->clean, result->all);
	return note[0] ? result->mean : clean;
}
