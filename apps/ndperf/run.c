/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The phases of a measurement: warm-up, the measured time, completion of what is in flight, and the
 * results.
 * It never uses a queue pair; the sides do. Start with run_loop().
 */
#include "run.h"

#include "clock.h"
#include "face.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
	TURNS = 4,       /* steps between two reads of the clock for short messages */
	MANY = 8,        /* messages per read of the clock, which then costs under a hundredth */
	IDLE_TURNS = 64, /* empty turns before a thread yields its core */
	SHORT_BYTES = 1024,
	LONG_BYTES = 64 * 1024,
	FEW = 100, /* messages; below this the times of individual messages matter */
	FEW_IN_WINDOW = 64,
	TURN_MS = 5, /* of each of two loops: for 7 ms the machine's speed stays mostly the same */
};

enum phase {
	PHASE_WARMUP,
	PHASE_MEASURE,
	PHASE_RUN_OUT,
};

/* The side that keeps the time. */
static struct side *
leader(const struct run *run)
{
	return run->active != NULL ? run->active : run->passive;
}

static bool
step(struct run *run)
{
	bool has_worked = false;
	if (run->active != NULL)
		has_worked |= active_step(run->active);
	if (run->passive != NULL)
		has_worked |= passive_step(run->passive);
	return has_worked;
}

/* Idle when a turn finds no work, as a worker with this setting would. */
static void
idle(struct run *run, uint32_t turns)
{
	const struct side *side = leader(run);
	bool has_nothing_to_do =
		!side_sends(side) && !side->is_inline && side->rq_depth == 0 && !side->is_ping_pong;
	if (has_nothing_to_do) {
		struct timespec moment = {.tv_nsec = 100 * 1000};
		nanosleep(&moment, NULL);
	} else if (side->options->idle == PLX_IDLE_PAUSE) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	} else if (side->options->idle >= PLX_IDLE_YIELD && turns >= IDLE_TURNS) {
		sched_yield();
	}
}

/* Start the next phase when it is due. */
static void
change_phase(struct run *run, uint64_t now)
{
	struct side *side = leader(run);
	if (run->phase == PHASE_WARMUP && now >= run->from) {
		run->phase = PHASE_MEASURE;
		run->began.amount = run->seen;
		run->began.now = now;
		run->began.changed = run->seen_at;
		side->is_measuring = true;
	} else if (run->phase == PHASE_MEASURE && now >= run->to &&
		   (side->job.open || run->seen != run->began.amount)) {
		run->phase = PHASE_RUN_OUT;
		run->ended.amount = run->seen;
		run->ended.now = now;
		run->ended.changed = run->seen_at;
		side->is_measuring = false;
		side->is_stopping = true;
		if (run->passive != NULL)
			run->passive->is_stopping = true;
	}
}

/* Do what is due about every millisecond.
 * Returns: false: the loop ends */
static bool
look(struct run *run, uint64_t now)
{
	struct side *sides[] = {run->active, run->passive};
	for (uint32_t i = 0; i < 2; i++) {
		if (sides[i] != NULL && !side_look(sides[i]))
			return false;
	}
	if (run->active != NULL) {
		uint32_t timeout_ms = run->active->job.timeout_ms;
		bool is_waiting = !run->active->job.open || run->active->flying != 0;
		if (is_waiting && now - run->seen_at > ticks_of_ms(timeout_ms))
			return side_fail(run->active,
					 "no message was answered within %u ms; is the peer there?",
					 timeout_ms);
	}
	if (side_sends(leader(run)))
		change_phase(run, now);
	run->next = now + ticks_of_ms(1);
	if (run->phase == PHASE_WARMUP && run->from > now && run->from < run->next)
		run->next = run->from;
	if (run->phase == PHASE_MEASURE && run->to > now && run->to < run->next)
		run->next = run->to;
	return run->look == NULL || run->look(run, now);
}

static bool
has_failed(const struct run *run)
{
	return (run->active != NULL && run->active->has_failed) ||
	       (run->passive != NULL && run->passive->has_failed);
}

static bool
begin(struct run *run, struct side *side)
{
	const struct job *job = &side->job;
	uint64_t start = run->start != 0 ? run->start : ticks();
	run->from = start + ticks_of_ms(job->warmup_ms);
	run->to = run->from + ticks_of_ms(job->duration_ms);
	run->phase = PHASE_WARMUP;
	run->next = start;
	run->seen = side_amount(side);
	run->seen_at = ticks();
	if (job->open && side->is_active)
		open_begin(side, start, run->from, run->to);
	if (run->start != 0) {
		side->has_log = windows_init(&side->log, run->from, job->duration_ms / 1e3,
					     (uint64_t)ticks_hz());
		if (!side->has_log)
			return side_fail(side, "no memory for the log of windows");
		/* a duty cycle that sends a whole window of long packets from uncached memory lasts
		 * 50 us without any interruption */
		if (job->size >= LONG_BYTES)
			side->log.gap = ticks_of_ms(1) / 10;
	}
	return true;
}

/* Has the end on this thread, or have both, done all of their messages, and those of the other
 * thread? A passive end then waits to be told. */
static bool
is_over(const struct run *run)
{
	if (!run->active->is_stopping || !side_is_drained(run->active))
		return false;
	if (!run->active->job.both)
		return true;
	return run->passive != NULL ? side_is_drained(run->passive) : run->is_peer_done;
}

/* Resume, if it was paused. */
static void
resume(struct run *run)
{
	if (run->left == 0)
		return;
	if (run->phase == PHASE_MEASURE)
		run->away += ticks() - run->left;
	run->active->was_paused = true;
	run->left = 0;
}

/* Watch for stalls: when the warm-up has shown how long the turns of this loop last. */
static void
watch_turn(struct side *side, uint64_t now)
{
	struct watch *watch = &side->watch;
	if (watch->gap == 0 && side->has_log && side->log.end != 0)
		stalls_start(watch, side->log.turn + ticks_of_ms(1) * STALL_NS / 1000000, now);
	stalls_look(watch, now);
}

/* Returns: true: it has ended; false: it has reached `until` [ticks] */
static bool
run_until(struct run *run, uint64_t until)
{
	struct side *side = leader(run);
	/* what is watched looks at the clock in every turn */
	bool is_short = side->job.size <= SHORT_BYTES && !side->watch.is_on;
	uint32_t empty = 0, turns = is_short ? TURNS : 1;
	resume(run);
	for (;;) {
		uint64_t now = ticks();
		if (side->has_log)
			windows_look(&side->log, now, side_amount(side));
		if (side->watch.is_on)
			watch_turn(side, now);
		if (now >= run->next && !look(run, now))
			return true;
		if (now >= until) {
			run->left = now;
			return false;
		}
		bool has_worked = false;
		for (uint32_t i = 0; i < turns && side_amount(side) - run->seen < MANY; i++)
			has_worked |= step(run);
		empty = has_worked ? 0 : empty + turns;
		if (!has_worked)
			idle(run, empty);
		if (side_amount(side) != run->seen) {
			run->seen = side_amount(side);
			run->seen_at = now;
		}
		if (has_failed(run))
			return true;
		if (run->active != NULL && is_over(run))
			return true;
	}
}

bool
run_loop(struct run *run)
{
	if (!begin(run, leader(run)))
		return false;
	run_until(run, UINT64_MAX);
	return !has_failed(run);
}

bool
run_in_turns(struct run *one, struct run *other)
{
	struct run *runs[] = {one, other};
	uint64_t length = ticks_of_ms(TURN_MS);
	bool is_over[] = {false, false};
	if (!begin(one, one->active) || !begin(other, other->active))
		return false;
	while (!is_over[0] || !is_over[1]) {
		for (uint32_t i = 0; i < 2; i++) {
			/* whole windows, so that both have the same number of them */
			uint64_t now = ticks();
			uint64_t until = now + length - (now - one->start) % length;
			if (!is_over[i])
				is_over[i] = run_until(runs[i], until);
			if (has_failed(runs[i]))
				return false;
		}
	}
	return true;
}

void
run_out(struct side *passive, const uint64_t *counts, uint32_t timeout_ms)
{
	uint64_t deadline = ticks() + ticks_of_ms(timeout_ms);
	uint64_t due = 0, came = 0;
	for (uint32_t i = 0; i < passive->job.qps; i++)
		due += counts[i];
	do {
		passive_step(passive);
		came = 0;
		for (uint32_t i = 0; i < passive->job.qps; i++)
			came += passive->lanes[i].received;
	} while (passive->job.op == OP_SEND && came < due && !passive->has_failed &&
		 ticks() < deadline);
}

/* Compute the result of the clean windows: the median; or, with few messages per window or with
 * faults, the mean, because a median hides what a few lost packets cost. With a worker it is the
 * mean too: the worker's interruptions are not visible here, so that windows may be empty. This
 * does not apply to loops in turns, which are compared with each other and not with the cost of an
 * interruption. */
static void
judge_windows(const struct windows *log, const struct windows *other, double each, bool is_smooth,
	      struct result *out)
{
	struct windows_result judged;
	bool is_median;
	double figure;
	if (!windows_judge(log, other, out->job.both, (uint64_t)ticks_hz(), &judged))
		return;
	out->windows = judged.all;
	out->windows_clean = judged.clean;
	out->mean_clean = judged.mean_clean * each;
	/* verifying a long message takes longer than the threshold of an interruption, and windows
	 * do not apply to latencies */
	if (out->job.check || out->job.test == TEST_LATENCY)
		return;
	is_median = is_smooth && out->messages / (judged.all + 1) >= FEW_IN_WINDOW;
	figure = windows_figure(&judged, is_median, out->note, sizeof(out->note));
	out->value = out->note[0] == '\0' ? figure * each : out->mean;
}

void
latency_of(const struct histogram *h, struct latency *out)
{
	*out = (struct latency){
		.samples = h->count,
		.min = h->count != 0 ? ticks_to_ns((double)h->min) : 0,
		.p50 = ticks_to_ns(histogram_percentile(h, 0.5)),
		.p90 = ticks_to_ns(histogram_percentile(h, 0.9)),
		.p99 = ticks_to_ns(histogram_percentile(h, 0.99)),
		.p999 = ticks_to_ns(histogram_percentile(h, 0.999)),
		.p9999 = ticks_to_ns(histogram_percentile(h, 0.9999)),
		.max = ticks_to_ns((double)h->max),
	};
}

struct share
run_share(const struct run *run)
{
	uint64_t messages = run->ended.amount - run->began.amount;
	uint64_t time = messages < FEW && run->away == 0
				? run->ended.changed - run->began.changed
				: run->ended.now - run->began.now - run->away;
	return (struct share){messages, (uint64_t)ticks_to_ns((double)time)};
}

void
run_result(const struct run *run, const struct windows *other, const struct share *share,
	   struct result *out)
{
	const struct side *side = run->active;
	struct share ours = run_share(run);
	bool is_bandwidth = side->job.test == TEST_BANDWIDTH;
	double each = is_bandwidth ? 8.0 * side->job.size : 1;
	*out = (struct result){
		.job = side->job,
		.api = side->face != NULL ? side->face->api : API_VERBS,
		.unit = is_bandwidth ? "bit/s" : "msg/s",
		.messages = ours.messages,
		.seconds = (double)ours.ns / 1e9,
		.checked_bytes = side->checked_bytes,
		.ping_pong = side->is_ping_pong,
		.histogram = side->histogram,
	};
	out->mean = (double)ours.messages / out->seconds * each;
	if (share != NULL && share->ns != 0) {
		out->messages += share->messages;
		out->mean += (double)share->messages * 1e9 / (double)share->ns * each;
	}
	out->value = out->mean;
	/* the windows of one end are not those of both */
	if (side->has_log && (share == NULL || other != NULL))
		judge_windows(&side->log, other, each,
			      (side->is_inline || run->away != 0) && side->options->fault == NULL,
			      out);
	if (side->job.test == TEST_LATENCY) {
		latency_of(side->histogram, &out->latency);
		out->has_stalls = side->watch.is_on;
		if (side->undisturbed != NULL)
			latency_of(side->undisturbed, &out->undisturbed);
		stalls_add(&out->in_loop, &side->watch.total);
		out->unit = "ns";
		out->value = out->latency.p50;
		out->mean = ours.messages != 0 ? out->seconds * 1e9 / (double)ours.messages : 0;
		out->missed = side->open.missed;
	}
}
