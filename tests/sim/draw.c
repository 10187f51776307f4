/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what is drawn from a seed: the streams of random numbers, the weather of each profile, the
 * shape of a run. No draw depends on the order of events.
 * Start with draw_config().
 */
#include "sim.h"

static const char *const profile_names[SIM_PROFILE_COUNT] = {
#define SIM_X(name) [SIM_PROFILE_##name] = #name,
	SIM_PROFILE_LIST(SIM_X)
#undef SIM_X
};

const char *
sim_profile_name(enum sim_profile profile)
{
	return (unsigned)profile < SIM_PROFILE_COUNT ? profile_names[profile] : "none";
}

/* A stream named by what it is for, so that leaving one thing out moves no other. */
struct plx_prng
draw_stream(uint64_t seed, uint64_t what, uint64_t who, uint64_t ordinal)
{
	struct plx_prng prng;
	uint64_t state = seed;

	state = plx_splitmix64(&state) ^ what;
	state = plx_splitmix64(&state) ^ who;
	state = plx_splitmix64(&state) ^ ordinal;
	plx_prng_init(&prng, state);
	return prng;
}

uint64_t
draw_between(struct plx_prng *prng, uint64_t low, uint64_t high)
{
	return low + plx_prng_below(prng, high - low + 1);
}

/* Every power of two between the bounds is as likely as any other. */
uint64_t
draw_log(struct plx_prng *prng, uint64_t low, uint64_t high)
{
	uint64_t doublings = 0, floor, ceiling;

	while (low << doublings < high)
		doublings++;
	floor = low << plx_prng_below(prng, doublings + 1);
	if (floor > high)
		floor = high;
	ceiling = floor * 2 - 1 < high ? floor * 2 - 1 : high;
	return draw_between(prng, floor, ceiling);
}

/* Near enough to exponential, in integers: a geometric number of halves, and a uniform rest. */
uint64_t
draw_exponential(struct plx_prng *prng, uint64_t mean)
{
	uint64_t bits = plx_prng_next(prng);
	uint64_t halves = bits ? (uint64_t)__builtin_ctzll(bits) : 64;

	return mean * halves * 7 / 10 + plx_prng_below(prng, mean * 6 / 10 + 1);
}

bool
draw_percent(struct plx_prng *prng, uint32_t percent)
{
	return plx_prng_below(prng, 100) < percent;
}

static void
weather_base(struct plx_prng *prng, struct sim_weather *weather)
{
	weather->latency_ns = draw_log(prng, 500, 16000);
	weather->jitter_ns = draw_percent(prng, 50) ? weather->latency_ns / 4 : 0;
	if (draw_percent(prng, 50))
		weather->ns_per_kib = draw_log(prng, 80, 8000);
	weather->queue_ns = PLX_NEVER;
}

/* What makes a profile: docs/testing.md has the same numbers. What is zero is drawn, or is not. */
static const struct profile {
	struct sim_weather weather;
	uint64_t span_ns; /* so long that what happens now and then happens a few times */
} profiles[SIM_PROFILE_COUNT] = {
	[SIM_PROFILE_clean] = {{.latency_ns = 2000}, 0},
	[SIM_PROFILE_dc] = {{.latency_ns = 5000,
			     .jitter_ns = 2000,
			     .loss_ppm = 10,
			     .burst_max = 1,
			     .ce_ppm = 10000},
			    0},
	[SIM_PROFILE_lossy] = {{.loss_ppm = 10000, .burst_max = 3}, 0},
	/* bursts of two on average: about 30 % of all packets */
	[SIM_PROFILE_awful] = {{.loss_ppm = 150000, .burst_max = 3}, 0},
	[SIM_PROFILE_dup] = {{.dup_ppm = 200000}, 0},
	[SIM_PROFILE_shuffle] = {{.reorder_ppm = 200000, .reorder_depth = 32}, 0},
	[SIM_PROFILE_dirty] = {{.flip_ppm = 20000}, 0},
	[SIM_PROFILE_evil] = {{.evil_ppm = 10000}, 0},
	[SIM_PROFILE_hole] = {{.down_ns = 2 * PLX_SEC,
			       .down_every_ns = 5 * PLX_SEC,
			       .down_all = true},
			      30 * PLX_SEC},
	[SIM_PROFILE_flap] = {{.down_ns = 50 * PLX_MSEC, .down_every_ns = 300 * PLX_MSEC},
			      4 * PLX_SEC},
	[SIM_PROFILE_far] = {{.latency_ns = 750 * PLX_MSEC, .jitter_ns = 1}, 0},
	[SIM_PROFILE_clog] = {{.clog_ns = PLX_SEC / 2, .clog_every_ns = PLX_SEC}, 10 * PLX_SEC},
	[SIM_PROFILE_skew] = {{.drift_ppm = 500,
			       .step_ns = 20 * PLX_MSEC,
			       .step_every_ns = 100 * PLX_MSEC},
			      PLX_SEC},
};

static void
weather_by_profile(struct sim_config *config)
{
	const struct sim_weather base = config->weather;
	const struct profile *profile = &profiles[config->profile];

	config->weather = profile->weather;
	config->span_ns = profile->span_ns;
	config->weather.ns_per_kib = base.ns_per_kib;
	config->weather.queue_ns = base.queue_ns;
	if (config->weather.latency_ns == 0) {
		config->weather.latency_ns = base.latency_ns;
		config->weather.jitter_ns = base.jitter_ns;
	}
	config->tiny = config->profile == SIM_PROFILE_tiny;
	config->wrap = config->profile == SIM_PROFILE_wrap;
}

/* Every fault is there or is not, and if it is, its strength is anything. */
static void
weather_swarm(struct plx_prng *prng, struct sim_config *config)
{
	struct sim_weather *weather = &config->weather;

	if (draw_percent(prng, 50)) {
		weather->loss_ppm = (uint32_t)draw_log(prng, 100, 200000);
		weather->burst_max = (uint32_t)draw_between(prng, 1, 8);
	}
	if (draw_percent(prng, 40))
		weather->dup_ppm = (uint32_t)draw_log(prng, 1000, 500000);
	if (draw_percent(prng, 40)) {
		weather->reorder_ppm = (uint32_t)draw_log(prng, 1000, 300000);
		weather->reorder_depth = (uint32_t)draw_log(prng, 1, 64);
	}
	if (draw_percent(prng, 30))
		weather->flip_ppm = (uint32_t)draw_log(prng, 100, 100000);
	if (draw_percent(prng, 30))
		weather->ce_ppm = (uint32_t)draw_log(prng, 100, 500000);
	if (draw_percent(prng, 30))
		weather->queue_ns = draw_log(prng, 1000, 100000);
	if (draw_percent(prng, 20)) {
		weather->down_ns = draw_log(prng, PLX_USEC, PLX_SEC);
		weather->down_every_ns = weather->down_ns * draw_between(prng, 2, 20);
		weather->down_all = draw_percent(prng, 50);
	}
	if (draw_percent(prng, 20)) {
		weather->clog_ns = draw_log(prng, PLX_USEC, PLX_SEC);
		weather->clog_every_ns = weather->clog_ns * draw_between(prng, 2, 20);
	}
	if (draw_percent(prng, 30)) {
		weather->drift_ppm = 500;
		weather->step_ns = draw_log(prng, PLX_USEC, PLX_SEC);
		weather->step_every_ns = weather->step_ns * draw_between(prng, 2, 20);
	}
	config->tiny = draw_percent(prng, 20);
	config->wrap = draw_percent(prng, 20);
	if (weather->down_ns || weather->clog_ns || weather->step_ns)
		config->span_ns = 8 * (weather->down_every_ns + weather->clog_every_ns +
				       weather->step_every_ns);
}

/* Which operations there are in this run; often not all of them. */
static void
draw_operations(struct plx_prng *prng, struct sim_config *config)
{
	/* in the order of their numbers, which the seeds know; REG is not drawn */
	static const uint8_t usual[PLX_WR_REG] = {
		[PLX_WR_SEND] = 10,    [PLX_WR_SEND_IMM] = 5,  [PLX_WR_SEND_INV] = 2,
		[PLX_WR_WRITE] = 10,   [PLX_WR_WRITE_IMM] = 5, [PLX_WR_READ] = 8,
		[PLX_WR_CMP_SWAP] = 3, [PLX_WR_FETCH_ADD] = 4, [PLX_WR_LOCAL_INV] = 1,
		[PLX_WR_BIND] = 2,
	};
	bool mixed = draw_percent(prng, 60);

	for (int op = PLX_WR_SEND; op < PLX_WR_REG; op++) {
		config->op_weight[op] = usual[op];
		if (!mixed && draw_percent(prng, 50))
			config->op_weight[op] = draw_percent(prng, 50) ? 0 : 4 * usual[op];
	}
	config->op_weight[PLX_WR_WRITE] += 1; /* never nothing at all */
	config->silent_percent = (uint32_t)plx_prng_below(prng, 60);
	config->fence_percent = (uint32_t)plx_prng_below(prng, 20);
	config->inline_percent = (uint32_t)plx_prng_below(prng, 40);
	config->solicited_percent = (uint32_t)plx_prng_below(prng, 40);
}

static void
draw_shape(struct plx_prng *prng, struct sim_config *config)
{
	static const uint32_t message_max[] = {4096, 8192, 8192, 8192, 8192, 16384, 32768, 32768};

	config->stations = (uint32_t)draw_between(prng, 2, draw_percent(prng, 80) ? 3 : 8);
	config->pairs = (uint32_t)draw_between(prng, 1, draw_percent(prng, 80) ? 3 : 8);
	config->ip_version = draw_percent(prng, 50) ? 4 : 6;
	config->message_max = message_max[plx_prng_below(prng, PLX_COUNT_OF(message_max))];
	if (draw_percent(prng, 3))
		config->message_max = SIM_MESSAGE_MAX;
	config->think_ns = (uint32_t)draw_log(prng, 50, 16000);
	config->tx_delay_ns = (uint32_t)draw_log(prng, 1, 4000);
	config->tick_late_ns = (uint32_t)draw_log(prng, 1, 4000);
	config->eager_percent = (uint32_t)plx_prng_below(prng, 101);
	config->reply_percent = (uint32_t)plx_prng_below(prng, 60);
	config->recv_delay_ns = draw_percent(prng, 40) ? 0 : draw_log(prng, 100, 60000);
	config->misuse_ppm = draw_percent(prng, 40) ? 0 : (uint32_t)draw_log(prng, 300, 8000);
	config->kill_ppm = draw_percent(prng, 50) ? 0 : (uint32_t)draw_log(prng, 300, 4000);
}

/* What the shrinker tries first: only what a wire script can express. */
static void
simplify(struct sim_config *config)
{
	config->weather.jitter_ns = config->weather.ns_per_kib = 0;
	config->weather.queue_ns = PLX_NEVER;
	config->weather.drift_ppm = 0;
	config->weather.stray_ppm = 0;
	config->tx_delay_ns = config->tick_late_ns = 0;
	config->eager_percent = 100;
	config->reply_percent = 0;
	config->simple = true;
}

/* Everything about a run that is fixed before its first event. */
void
draw_config(struct world *world)
{
	struct sim_config *config = &world->config;
	struct plx_prng prng = draw_stream(world->seed, 'c', 0, 0);
	uint64_t sides;

	config->profile = (enum sim_profile)plx_prng_below(&prng, SIM_PROFILE_crowd);
	if (world->options->profile >= 0)
		config->profile = (enum sim_profile)world->options->profile;
	draw_shape(&prng, config);
	draw_operations(&prng, config);
	weather_base(&prng, &config->weather);
	weather_by_profile(config);
	if (config->profile == SIM_PROFILE_swarm)
		weather_swarm(&prng, config);
	if (config->profile != SIM_PROFILE_clean && draw_percent(&prng, 50))
		config->weather.stray_ppm = 10000;
	config->lossless = config->weather.loss_ppm == 0 && config->weather.flip_ppm == 0 &&
			   config->weather.evil_ppm == 0 && config->weather.down_ns == 0 &&
			   config->weather.queue_ns == PLX_NEVER;
	/* Reordering drops packets, too. Each duplicate of an RNR NAK may cost a flight, and on a
	 * slow link needless flights queue up. */
	config->generous = config->lossless && config->weather.reorder_ppm == 0 &&
			   (config->weather.dup_ppm == 0 || config->weather.ns_per_kib == 0) &&
			   config->weather.step_ns == 0 && config->weather.clog_ns == 0;
	if (config->profile == SIM_PROFILE_clean) {
		config->misuse_ppm = config->kill_ppm = 0;
		config->recv_delay_ns = 0;
	}
	sides = 2 * config->pairs;
	if (config->span_ns) {
		uint64_t think = config->span_ns * sides / world->options->ops;

		config->think_ns = think < 1000000000 ? (uint32_t)think : 1000000000;
	}
	world->evil = config->weather.evil_ppm > 0;
	if (world->mask.simple)
		simplify(config);
}
