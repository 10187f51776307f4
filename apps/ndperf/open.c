/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The open loop of an active endpoint: messages are posted when they are due, whatever became of
 * those before, and a latency is counted from that time. A message that finds the queues full waits
 * in the schedule, and its wait counts. What is still unposted when the measured time ends is
 * posted then, if it is little; otherwise the rate was not held, and each counts with the time that
 * it has waited so far. Nothing here waits, allocates or prints on the measured path. Start with
 * open_step().
 */
#include "side.h"

#include "clock.h"

#include <stdlib.h>

enum {
	MISSED_PERCENT = 1,   /* of the messages due: more unposted, and the rate was not held */
	MISSED_MAX = 1 << 20, /* entries for unposted messages; of more, each stands for several */
};

bool
open_make(struct side *side)
{
	const struct job *job = &side->job;
	side->open = (struct open){0};
	if (!job->open || !side->is_active)
		return true;
	side->open.due = calloc((size_t)job->qps * job->depth, sizeof(side->open.due[0]));
	return side->open.due != NULL || side_fail(side, "no memory for the times of messages");
}

void
open_clear(struct side *side)
{
	free(side->open.due);
	side->open.due = NULL;
}

void
open_begin(struct side *side, uint64_t start, uint64_t from, uint64_t to)
{
	const struct job *job = &side->job;
	struct open *open = &side->open;
	schedule_init(&open->schedule, start, ticks_hz() / job->rate, job->is_random, job->seed);
	open->from = from;
	open->to = open->end = to;
}

static void
sample(struct side *side, uint64_t due, uint64_t waited, uint64_t n)
{
	struct open *open = &side->open;
	if (due < open->from || due >= open->to)
		return;
	open->scheduled += n;
	histogram_add_many(side->histogram, waited, n);
}

void
open_ended(struct side *side, uint32_t index, uint64_t upto, uint64_t now)
{
	const uint64_t *due = &side->open.due[(size_t)index * side->job.depth];
	for (uint64_t n = side->lanes[index].done; n < upto; n++) {
		uint64_t at = due[n % side->job.depth];
		sample(side, at, now - at, 1);
	}
}

/* Take what is due off the schedule, as much as one post takes. */
static void
take_due(struct open *open, uint32_t batch, uint64_t now)
{
	while (open->waiting < batch) {
		uint64_t next = schedule_next(&open->schedule);
		if (next > now || next >= open->end)
			break;
		open->wait[open->waiting++] = schedule_take(&open->schedule);
	}
}

/* Post what waits on one lane, as much as it has room for.
 * Returns: false: it has none */
static bool
post_due(struct side *side, uint32_t index)
{
	struct open *open = &side->open;
	const struct lane *lane = &side->lanes[index];
	uint64_t room = side->job.depth - (lane->posted - lane->done), first = lane->posted;
	uint64_t *due = &open->due[(size_t)index * side->job.depth];
	uint32_t n = open->waiting < room ? open->waiting : (uint32_t)room;
	if (n > side->job.flight - side->flying)
		n = (uint32_t)(side->job.flight - side->flying);
	if (n == 0 || !side_post_stream(side, index, n))
		return false;
	for (uint32_t k = 0; k < n; k++)
		due[(first + k) % side->job.depth] = open->wait[k];
	open->waiting -= n;
	for (uint32_t k = 0; k < open->waiting; k++)
		open->wait[k] = open->wait[k + n];
	return true;
}

/* The end of the measured time: may what is left still be posted, or is it too much? */
static void
give_up_or_go_on(struct side *side, uint64_t now)
{
	struct open *open = &side->open;
	const struct schedule *schedule = &open->schedule;
	uint64_t next = schedule_next(schedule);
	uint64_t left = next < open->end
				? (uint64_t)((double)(open->end - next) / schedule->interval) + 1
				: 0;
	uint64_t all = open->scheduled + side->flying + open->waiting + left;
	open->is_late = true;
	if ((open->waiting + left) * 100 <= all * MISSED_PERCENT || open->waiting + left <= 1)
		return;
	open->missed = open->waiting + left;
	for (uint32_t k = 0; k < open->waiting; k++)
		sample(side, open->wait[k], now - open->wait[k], 1);
	/* of a random schedule the mean, too: it is a bound, and there are many */
	uint64_t each = left / MISSED_MAX + 1;
	for (uint64_t i = 0; i < left; i += each) {
		uint64_t due = next + (uint64_t)((double)i * schedule->interval);
		sample(side, due, now - due, each < left - i ? each : left - i);
	}
	open->waiting = 0;
	open->end = 0;
}

bool
open_is_over(const struct side *side)
{
	const struct open *open = &side->open;
	return open->is_late && open->waiting == 0 && schedule_next(&open->schedule) >= open->end;
}

bool
open_step(struct side *side)
{
	struct open *open = &side->open;
	uint64_t now = ticks();
	bool has_posted = false;
	take_due(open, side->job.batch, now);
	if (side->is_stopping && !open->is_late)
		give_up_or_go_on(side, now);
	for (uint32_t i = 0; i < side->job.qps && i < LANES_A_TURN && open->waiting > 0; i++) {
		uint32_t lane = side->next_lane;
		side->next_lane = lane + 1 == side->job.qps ? 0 : lane + 1;
		has_posted |= post_due(side, lane);
		if (side->has_failed)
			break;
	}
	return has_posted;
}
