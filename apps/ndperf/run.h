/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loop of a measurement: endpoints are stepped, time is watched, figures are taken.
 * It never prints. Start with run_loop().
 */
#ifndef NDPERF_RUN_H
#define NDPERF_RUN_H

#include "side.h"

struct run {
	struct side *active, *passive; /* one of them, or both on this thread */
	/* about every millisecond; false: the loop ends (has_failed of a side tells why) */
	bool (*look)(struct run *run, uint64_t now);
	void *arg;
	uint64_t start; /* [ticks] when the warm-up begins; 0: no windows are logged */

	/* the loop's own */
	uint32_t phase;
	uint64_t left;          /* [ticks] when it was paused; 0: it is not */
	uint64_t away;          /* [ticks] of the measured time that it was */
	uint64_t from, to;      /* [ticks] of the measured time, as planned */
	uint64_t next;          /* when something is due */
	uint64_t seen, seen_at; /* messages, and when the last of them was done */
	struct {
		uint64_t amount, now, changed;
	} began, ended;
};

/**
 * Step the endpoints: with an active one, until its warm-up and duration are over and everything is
 * answered; else until `look` ends it.
 * Returns: false: a side has failed
 */
bool run_loop(struct run *run);

/**
 * Two loops on this thread in turns of a few milliseconds, so that both meet the same machine,
 * whose speed changes more slowly. The measured time is of both together. Each has a `start`.
 * Returns: false: a side of one has failed
 */
bool run_in_turns(struct run *one, struct run *other);

/** Step the passive endpoint until it has received what `counts` say, for at most `timeout_ms`. */
void run_out(struct side *passive, const uint64_t *counts, uint32_t timeout_ms);

/** The figures of a loop that ended well. @param other the log of the other thread; NULL: none */
void run_result(const struct run *run, const struct windows *other, struct result *out);

#endif
