/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DCQCN's reaction point: CNPs slow a flow down, time and bytes sent speed it up again. It never
 * has a timer: catch_up() applies what has been due since the last call. Start there and with
 * decrease().
 *
 *   decrease  a CNP, at most one in decrease_ns; one that comes sooner waits:
 *             Rt = Rc, Rc -= Rc * alpha / 2, alpha += g * (1 - alpha)
 *   alpha     decays by g for each alpha_ns without a CNP. Only a decrease reads it, so only a
 *             decrease computes it.
 *   increase  each increase_ns and each increase_bytes since: Rc = (Rt + Rc) / 2, after
 *             fast recovery    neither the timer nor the bytes have come F times
 *             hyper increase   both have come more often: Rt += hai_rate, twice that, ...
 *             additive         otherwise: Rt += ai_rate
 *   release   Rc is the line rate but for 1/128: the flow is as one that has never seen a CNP
 */
#include "pace.h"

enum {
	ALPHA_SHIFT = 20,
	ALPHA_ONE = 1 << ALPHA_SHIFT,
	RELEASE_SHIFT = 7,
	/* Increases computed one by one. After as many in a row Rt - Rc is constant, because each
	 * halves what is left of its first value, and rates have 40 bits. */
	STEPS_EXACT = 64,
	STEPS_COUNTED = UINT16_MAX,
	/* From here on alpha is 0: (1 - g)^(n / g) < 2^-20 for n = 14. */
	DECAY_TIMES = 14,
	GRANT_UNLIMITED = 256 * 1024, /* asked once in 64 packets */
};

/* ---- parameters ---- */

struct plx_dcqcn_params
plx_dcqcn_defaults(uint64_t line_rate)
{
	return (struct plx_dcqcn_params){
		.limits = cc_limits_defaults(line_rate),
		.ai_rate = line_rate / 300,
		.hai_rate = line_rate / 100,
		.increase_ns = 55 * PLX_USEC,
		.increase_bytes = 10 << 20,
		.alpha_ns = 55 * PLX_USEC,
		.decrease_ns = PLX_CNP_INTERVAL_NS,
		.gain = 8,
		.recovery_steps = 1,
	};
}

enum plx_status
plx_dcqcn_check(const struct plx_dcqcn_params *params, struct plx_why *why)
{
	uint64_t line = params->limits.line_rate;

	if (cc_limits_check(&params->limits, why) &&
	    cc_limits_allow("the additive increase", " bit/s", params->ai_rate, 1, line, why) &&
	    cc_limits_allow("the hyper increase", " bit/s", params->hai_rate, params->ai_rate, line,
			    why) &&
	    cc_limits_allow("the increase timer", " ns", params->increase_ns, PLX_CC_PERIOD_NS_MIN,
			    PLX_CC_PERIOD_NS_MAX, why) &&
	    cc_limits_allow("the byte counter", " bytes", params->increase_bytes,
			    PLX_DCQCN_BYTES_MIN, PLX_DCQCN_BYTES_MAX, why) &&
	    cc_limits_allow("the alpha timer", " ns", params->alpha_ns, PLX_CC_PERIOD_NS_MIN,
			    PLX_CC_PERIOD_NS_MAX, why) &&
	    cc_limits_allow("the decrease interval", " ns", params->decrease_ns,
			    PLX_CC_PERIOD_NS_MIN, PLX_CC_PERIOD_NS_MAX, why) &&
	    cc_limits_allow("the gain's exponent", "", params->gain, 1, PLX_DCQCN_GAIN_MAX, why) &&
	    cc_limits_allow("the number of fast recovery steps", "", params->recovery_steps, 1,
			    PLX_DCQCN_STEPS_MAX, why))
		return PLX_OK;
	return PLX_INVALID;
}

/* ---- increase ---- */

/* How much the next increase adds to the target. */
static uint64_t
increment(const struct plx_dcqcn *state)
{
	const struct plx_dcqcn_params *params = state->params;
	uint32_t steps = params->recovery_steps;
	uint32_t least = state->timer_steps, most = state->byte_steps;

	if (least > most) {
		least = most;
		most = state->timer_steps;
	}
	if (most < steps)
		return 0;
	if (least <= steps || PLX_MUTANT(CC_DCQCN_NO_HYPER))
		return params->ai_rate;
	return params->hai_rate * (least - steps);
}

/* @param times the increment */
static void
raise_target(struct plx_dcqcn *state, uint64_t times)
{
	uint64_t line = state->params->limits.line_rate, by = increment(state);

	if (by > 0 && times > (line - state->target) / by)
		state->target = line;
	else
		state->target += by * times;
}

/* Rounded up, so that it arrives. */
static void
approach(struct plx_dcqcn *state)
{
	uint64_t line = state->params->limits.line_rate;

	state->rate = (state->target + state->rate + 1) / 2;
	if (line - state->rate <= line >> RELEASE_SHIFT)
		state->limited = false;
}

static void
increase(struct plx_dcqcn *state, uint16_t *steps)
{
	if (*steps < STEPS_COUNTED)
		++*steps;
	raise_target(state, 1);
	approach(state);
}

/* The increase timer has expired `times` more than STEPS_EXACT, without a byte sent. */
static void
skip(struct plx_dcqcn *state, uint64_t times)
{
	uint64_t behind = state->target - state->rate;

	state->timer_steps = times > (uint64_t)STEPS_COUNTED - state->timer_steps
				     ? STEPS_COUNTED
				     : (uint16_t)(state->timer_steps + times);
	raise_target(state, times);
	state->rate = state->target - behind;
	approach(state);
}

/* Apply what the increase timer has caused up to `now`. */
static void
run_timer(struct plx_dcqcn *state, uint64_t now)
{
	uint64_t period = state->params->increase_ns, times;

	if (!state->limited || now < state->increased_at)
		return;
	times = (now - state->increased_at) / period;
	state->increased_at += times * period;
	for (uint32_t i = 0; i < STEPS_EXACT && times > 0 && state->limited; i++, times--)
		increase(state, &state->timer_steps);
	if (times > 0 && state->limited)
		skip(state, times);
}

/* ---- decrease ---- */

/* x^n in 2^-32, by squaring. */
static uint64_t
power(uint64_t x, uint64_t n)
{
	uint64_t y = UINT64_C(1) << 32;

	for (; n > 0; n >>= 1) {
		if (n & 1)
			y = y * x >> 32;
		x = x * x >> 32;
	}
	return y;
}

/* Alpha at `now`. */
static uint32_t
decayed(const struct plx_dcqcn *state, uint64_t now)
{
	const struct plx_dcqcn_params *params = state->params;
	uint64_t times = now > state->alpha_at ? (now - state->alpha_at) / params->alpha_ns : 0;
	uint64_t keep = (UINT64_C(1) << 32) - (UINT64_C(1) << (32 - params->gain));

	if (PLX_MUTANT(CC_DCQCN_ALPHA_STAYS))
		return state->alpha;
	if (times >= (uint64_t)DECAY_TIMES << params->gain)
		return 0;
	return (uint32_t)(state->alpha * power(keep, times) >> 32);
}

static void
decrease(struct plx_dcqcn *state, uint64_t now)
{
	const struct plx_dcqcn_params *params = state->params;
	uint64_t least = params->limits.min_rate;

	if (state->limited) {
		state->alpha = decayed(state, now);
	} else {
		state->rate = params->limits.line_rate;
		state->alpha = ALPHA_ONE;
		state->limited = true;
	}
	state->target = state->rate;
	state->rate -= state->rate * state->alpha >> (ALPHA_SHIFT + 1);
	if (state->rate < least && !PLX_MUTANT(CC_DCQCN_NO_MINIMUM))
		state->rate = least;
	state->alpha += (ALPHA_ONE - state->alpha) >> params->gain;
	state->alpha_at = state->increased_at = now;
	state->timer_steps = state->byte_steps = 0;
	state->bytes = 0;
	state->decrease_at = plx_time_add(now, params->decrease_ns);
	state->cnp_waits = false;
}

/* ---- time ---- */

/* A CNP that came too soon counts when its time has come, in order with the increases. */
static void
catch_up(struct plx_dcqcn *state, uint64_t now)
{
	if (state->cnp_waits && now >= state->decrease_at) {
		uint64_t at = state->decrease_at;

		run_timer(state, at);
		decrease(state, at);
	}
	run_timer(state, now);
}

/* ---- the strategy ---- */

void
plx_dcqcn_init(struct plx_dcqcn *state, const struct plx_dcqcn_params *params, uint64_t now)
{
	*state = (struct plx_dcqcn){
		.params = params,
		.rate = params->limits.line_rate,
		.target = params->limits.line_rate,
		.pace.next_at = now,
	};
}

uint64_t
plx_dcqcn_rate(const struct plx_dcqcn *state, uint64_t now)
{
	struct plx_dcqcn copy = *state;

	catch_up(&copy, now);
	return copy.limited ? copy.rate : copy.params->limits.line_rate;
}

static uint64_t
dcqcn_ask(const void *strategy, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	struct plx_dcqcn copy = *(const struct plx_dcqcn *)strategy;
	uint32_t burst = GRANT_UNLIMITED;

	catch_up(&copy, now);
	if (copy.limited) {
		burst = pace_burst(&copy.params->limits, copy.rate);
		grant->until = plx_time_add(now, copy.params->increase_ns);
	}
	grant->bytes = burst > bytes ? burst : bytes;
	return copy.limited ? copy.pace.next_at : now;
}

static void
dcqcn_on_sent(void *strategy, uint64_t now, uint32_t bytes)
{
	struct plx_dcqcn *state = strategy;
	uint64_t each = state->params->increase_bytes, sum;

	catch_up(state, now);
	if (!state->limited)
		return;
	pace_charge(&state->pace, &state->params->limits, now, bytes, state->rate);
	for (sum = (uint64_t)state->bytes + bytes; sum >= each && state->limited; sum -= each)
		increase(state, &state->byte_steps);
	state->bytes = (uint32_t)sum;
}

static void
dcqcn_on_rtt(void *strategy, uint64_t now, uint64_t rtt_ns)
{
	(void)strategy;
	(void)now;
	(void)rtt_ns;
}

static void
dcqcn_on_cnp(void *strategy, uint64_t now)
{
	struct plx_dcqcn *state = strategy;

	catch_up(state, now);
	if (now >= state->decrease_at || PLX_MUTANT(CC_DCQCN_DECREASE_UNBOUNDED))
		decrease(state, now);
	else
		state->cnp_waits = true;
}

/* A loss alone is no congestion: packets may be late, or a cable bad. Nothing heard for an ack
 * timeout is treated as a CNP that was lost as well. */
static void
dcqcn_on_loss(void *strategy, uint64_t now, enum plx_loss cause)
{
	if (cause == PLX_LOSS_TIMEOUT)
		dcqcn_on_cnp(strategy, now);
}

const struct plx_cc_ops plx_cc_dcqcn = {
	.name = "dcqcn",
	.ask = dcqcn_ask,
	.on_sent = dcqcn_on_sent,
	.on_rtt = dcqcn_on_rtt,
	.on_ack = cc_ignore_ack,
	.on_loss = dcqcn_on_loss,
	.on_ce = cc_answer_mark,
	.on_cnp = dcqcn_on_cnp,
};
