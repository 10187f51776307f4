/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The delay controller: a window as Swift's, paced over a round-trip time. It never reacts to CNPs,
 * and never has a timer. Start with update().
 *
 *   base      the least round-trip time of the last one to two base_expiry_ns
 *   target    base + queue_ns
 *   increase  below the target: ai_bytes in each round-trip time
 *   decrease  from the target on, once in a round-trip time: by beta times the part of the
 *             round-trip time that exceeds the base, at most decrease_max. Swift counts from the
 *             target, which must then be known; here the queue empties at times, so that a flow
 *             which begins later measures the same base.
 *   rate      window / round-trip time. A window limits by itself what is in flight; a rate that
 *             only moves slowly would not, and the queue would swing. Dividing by the newest
 *             round-trip time brings that property back.
 */
#include "pace.h"

enum {
	WINDOW_SHIFT = 8,
	RTT_NS_MAX = 1000000000,    /* longer ones count as one of this */
	WINDOW_BYTES_MAX = 1 << 30, /* so that the product in rate_of() has 63 bits */
	/* Round-trip times without a sample that still increase the window: a flow that paused has
	 * learnt nothing. */
	GAP_RTTS_MAX = 16,
	EXCESS_SHIFT = 16,
	/* Of the line rate, at first. Flows that begin at the same time would fill a queue before
	 * any of them hears of it, and what they lose is sent again, which is not timed. */
	FIRST_PART = 8,
};

/* ---- parameters ---- */

struct plx_delay_params
plx_delay_defaults(uint64_t line_rate)
{
	return (struct plx_delay_params){
		.limits = cc_limits_defaults(line_rate),
		.queue_ns = 40 * PLX_USEC,
		.base_rtt_ns = 0,
		.base_expiry_ns = 5 * PLX_SEC,
		.ai_bytes = 512,
		.beta = 128,
		.decrease_max = 128,
	};
}

enum plx_status
plx_delay_check(const struct plx_delay_params *params, struct plx_why *why)
{
	if (cc_limits_check(&params->limits, why) &&
	    cc_limits_allow("the queueing target", " ns", params->queue_ns, PLX_CC_PERIOD_NS_MIN,
			    PLX_CC_PERIOD_NS_MAX, why) &&
	    cc_limits_allow("the base round-trip time", " ns", params->base_rtt_ns, 0, RTT_NS_MAX,
			    why) &&
	    cc_limits_allow("the expiry of the base round-trip time", " ns", params->base_expiry_ns,
			    PLX_DELAY_EXPIRY_NS_MIN, PLX_DELAY_EXPIRY_NS_MAX, why) &&
	    cc_limits_allow("the additive increase", " bytes", params->ai_bytes, 1,
			    PLX_DELAY_AI_BYTES_MAX, why) &&
	    cc_limits_allow("the multiplicative decrease", "/256", params->beta, 1,
			    PLX_DELAY_FACTOR_ONE, why) &&
	    cc_limits_allow("the maximum decrease", "/256", params->decrease_max, 1,
			    PLX_DELAY_FACTOR_ONE - 1, why))
		return PLX_OK;
	return PLX_INVALID;
}

/* ---- the window ---- */

/* The window that leaves at `rate` within a round-trip time. A rate has 40 bits and a time 30, so
 * the division is done in parts. */
static uint64_t
window_of(uint64_t rate, uint64_t rtt)
{
	uint64_t window = (rate / 8000 * rtt / 1000 << WINDOW_SHIFT) / 1000;

	return plx_time_min(window, (uint64_t)WINDOW_BYTES_MAX << WINDOW_SHIFT);
}

static uint64_t
first_rate(const struct plx_cc_limits *limits)
{
	uint64_t rate = limits->line_rate / FIRST_PART;

	return rate > limits->min_rate ? rate : limits->min_rate;
}

static uint64_t
rate_of(const struct plx_delay *state)
{
	const struct plx_cc_limits *limits = &state->params->limits;
	uint64_t rate;

	if (state->rtt == 0)
		return first_rate(limits);
	rate = state->window * (8 * PLX_SEC >> WINDOW_SHIFT) / state->rtt;
	if (rate < limits->min_rate && !PLX_MUTANT(CC_DELAY_NO_MINIMUM))
		return limits->min_rate;
	return rate < limits->line_rate ? rate : limits->line_rate;
}

static void
limit_window(struct plx_delay *state)
{
	uint64_t least = window_of(state->params->limits.min_rate, state->rtt);
	uint64_t most = window_of(state->params->limits.line_rate, state->rtt);

	if (state->window < least && !PLX_MUTANT(CC_DELAY_NO_MINIMUM))
		state->window = least;
	if (state->window > most)
		state->window = most;
}

/* ---- the base round-trip time ---- */

static void
note_base(struct plx_delay *state, uint64_t now, uint64_t rtt)
{
	uint64_t expiry = state->params->base_expiry_ns;

	if (now >= state->period_at && now - state->period_at >= expiry) {
		state->least_past = now - state->period_at < 2 * expiry ? state->least : PLX_NEVER;
		state->least = PLX_NEVER;
		state->period_at = now;
	}
	state->least = plx_time_min(state->least, rtt);
}

uint64_t
plx_delay_base(const struct plx_delay *state)
{
	uint64_t base = plx_time_min(state->least, state->least_past);

	if (state->params->base_rtt_ns > 0)
		base = plx_time_min(base, state->params->base_rtt_ns);
	return base == PLX_NEVER ? 0 : base;
}

/* ---- reactions ---- */

/* @param part [1/256] */
static void
shrink(struct plx_delay *state, uint64_t now, uint64_t part)
{
	uint64_t most = state->params->decrease_max;

	if (now < state->decreased_at ||
	    (now - state->decreased_at < state->rtt && !PLX_MUTANT(CC_DELAY_DECREASE_UNBOUNDED)))
		return;
	state->window -= state->window * (part < most ? part : most) >> 8;
	state->decreased_at = now;
}

/* A new round-trip time. */
static void
update(struct plx_delay *state, uint64_t now)
{
	const struct plx_delay_params *params = state->params;
	uint64_t base = plx_delay_base(state), rtt = state->rtt;
	uint64_t gap = now > state->updated_at ? now - state->updated_at : 0;

	if (rtt < base + params->queue_ns) {
		gap = plx_time_min(gap, GAP_RTTS_MAX * rtt);
		state->window += ((uint64_t)params->ai_bytes << WINDOW_SHIFT) * gap / rtt;
	} else {
		uint64_t excess = ((rtt - base) << EXCESS_SHIFT) / rtt;

		shrink(state, now, excess * params->beta >> EXCESS_SHIFT);
	}
	limit_window(state);
}

/* ---- the strategy ---- */

void
plx_delay_init(struct plx_delay *state, const struct plx_delay_params *params, uint64_t now)
{
	*state = (struct plx_delay){
		.params = params,
		.least = PLX_NEVER,
		.least_past = PLX_NEVER,
		.period_at = now,
		.updated_at = now,
		.pace.next_at = now,
	};
}

uint64_t
plx_delay_rate(const struct plx_delay *state)
{
	return rate_of(state);
}

static uint64_t
delay_ask(const void *strategy, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	const struct plx_delay *state = strategy;
	const struct plx_cc_limits *limits = &state->params->limits;
	uint32_t burst = pace_burst(limits, rate_of(state));

	grant->bytes = burst > bytes ? burst : bytes;
	grant->until = plx_time_add(now, 2 * limits->burst_ns);
	return state->pace.next_at;
}

static void
delay_on_sent(void *strategy, uint64_t now, uint32_t bytes)
{
	struct plx_delay *state = strategy;

	pace_charge(&state->pace, &state->params->limits, now, bytes, rate_of(state));
}

static void
delay_on_rtt(void *strategy, uint64_t now, uint64_t rtt_ns)
{
	struct plx_delay *state = strategy;
	bool first = state->rtt == 0;

	state->rtt = rtt_ns == 0 ? 1 : plx_time_min(rtt_ns, RTT_NS_MAX);
	note_base(state, now, state->rtt);
	if (first)
		state->window = window_of(first_rate(&state->params->limits), state->rtt);
	update(state, now);
	state->updated_at = now;
}

static void
delay_on_cnp(void *strategy, uint64_t now)
{
	(void)strategy;
	(void)now;
}

/* A queue that overflows says that the target was too high for it. */
static void
delay_on_loss(void *strategy, uint64_t now, enum plx_loss cause)
{
	struct plx_delay *state = strategy;

	(void)cause;
	if (state->rtt == 0)
		return;
	shrink(state, now, state->params->decrease_max);
	limit_window(state);
}

const struct plx_cc_ops plx_cc_delay = {
	.name = "delay",
	.ask = delay_ask,
	.on_sent = delay_on_sent,
	.on_rtt = delay_on_rtt,
	.on_ack = cc_ignore_ack,
	.on_loss = delay_on_loss,
	.on_ce = cc_answer_mark,
	.on_cnp = delay_on_cnp,
};
