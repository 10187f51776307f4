/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loop of a measurement: steps the endpoints, watches the time, computes results.
 * It never prints. Start with run_loop().
 */
#ifndef NDPERF_RUN_H
#define NDPERF_RUN_H

#include "side.h"

struct run {
	struct side *active, *passive; /* one of them, or both on this thread */
	/* called about every millisecond; false: the loop ends (has_failed of a side tells why) */
	bool (*look)(struct run *run, uint64_t now);
	void *arg;
	/* both ends send: the one on another thread has done all of its messages */
	bool is_peer_done;
	uint64_t start; /* [ticks] when the warm-up begins; 0: log no windows */

	/* private to the loop */
	uint32_t phase;
	uint64_t left;          /* [ticks] when it was paused; 0: not paused */
	uint64_t away;          /* [ticks] of the measured time during which it was paused */
	uint64_t from, to;      /* [ticks] planned limits of the measured time */
	uint64_t next;          /* when the next periodic work is due */
	uint64_t seen, seen_at; /* messages done, and when the last one was */
	struct {
		uint64_t amount, now, changed;
	} began, ended;
};

/**
 * Step the endpoints. With an active one: until warm-up and duration are over and every message is
 * answered. Otherwise: until `look` ends the loop.
 * Returns: false: a side has failed
 */
bool run_loop(struct run *run);

/**
 * Alternate two loops on this thread every few milliseconds, so that both see the same speed of the
 * machine, which changes more slowly. The measured time covers both. Each has its own `start`.
 * Returns: false: a side of one has failed
 */
bool run_in_turns(struct run *one, struct run *other);

/** Step the passive endpoint until it has received as many messages as `counts` says, for at most
 * `timeout_ms`. */
void run_out(struct side *passive, const uint64_t *counts, uint32_t timeout_ms);

/* What an end that is not in this loop has sent in its measured time. */
struct share {
	uint64_t messages, ns;
};

/** The share of a loop's end. */
struct share run_share(const struct run *run);

/** Compute the results of a successful loop.
 * @param other the log of the other thread; NULL: none
 * @param share of the other end, if both sent and it is not in this loop; else NULL */
void run_result(const struct run *run, const struct windows *other, const struct share *share,
		struct result *out);

#endif
