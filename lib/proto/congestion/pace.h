/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the strategies share: pacing by the time at which the next packet may leave, and checks of
 * limits. Nothing outside lib/proto/congestion includes this header. Start with pace_charge().
 */
#ifndef PLX_CONGESTION_PACE_H
#define PLX_CONGESTION_PACE_H

#include "plx_congestion.h"

/* limits.c */
struct plx_cc_limits cc_limits_defaults(uint64_t line_rate);
bool cc_limits_check(const struct plx_cc_limits *limits, struct plx_why *why);
/* Is a parameter in its range? If not, `why` says so. */
bool cc_limits_allow(const char *name, const char *unit, uint64_t value, uint64_t least,
		     uint64_t most, struct plx_why *why);

/*
 * `bytes` have left. A sender that comes later than it might makes up for at most burst_ns, so that
 * timers which fire late cost no throughput, and a long pause permits no long burst.
 * A burst has 20 bits, a byte's time 33 and the fraction 10: the product fits.
 */
static inline void
pace_charge(struct plx_cc_pace *pace, const struct plx_cc_limits *limits, uint64_t now,
	    uint32_t bytes, uint64_t rate)
{
	uint64_t from = now > limits->burst_ns ? now - limits->burst_ns : 0;
	uint64_t time;

	if (pace->next_at < from)
		*pace = (struct plx_cc_pace){.next_at = from};
	if (bytes > PLX_CC_BURST_BYTES_MAX)
		bytes = PLX_CC_BURST_BYTES_MAX;
	time = (bytes * (8 * PLX_SEC) << 10) / rate + pace->fraction;
	pace->next_at = plx_time_add(pace->next_at, time >> 10);
	pace->fraction = time & 1023;
}

/* What a grant holds at this rate. */
static inline uint32_t
pace_burst(const struct plx_cc_limits *limits, uint64_t rate)
{
	uint64_t bytes = rate * limits->burst_ns / (8 * PLX_SEC);

	return bytes < limits->burst_bytes ? (uint32_t)bytes : limits->burst_bytes;
}

/* ---- what concerns no strategy ---- */

static inline void
cc_ignore_ack(void *strategy, uint64_t now, uint32_t packets)
{
	(void)strategy;
	(void)now;
	(void)packets;
}

/* A mark on what the peer has sent is answered: the peer slows down. */
static inline bool
cc_answer_mark(void *strategy, uint64_t now)
{
	(void)strategy;
	(void)now;
	return true;
}

#endif
