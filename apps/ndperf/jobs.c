/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns the command line into rows: each operation, test and size, with unspecified values chosen.
 * It never measures. Start with options_jobs().
 */
#include "options.h"

#include <string.h>

enum {
	SHORT_BYTES = 4096,         /* messages up to this size are posted in batches */
	FLIGHT_BYTES = 1024 * 1024, /* in flight, if the number of messages is not given */
	FLIGHT_MIN = 4,             /* messages, so that one can be written meanwhile */
	DEPTH = 128,                /* messages, as many as a window has packets */
	BATCH = 32,                 /* as many as --raw writes at once */
	RAW_MTU = 4096,
};

static bool
is_atomic(enum op op)
{
	return op == OP_CMP_SWAP || op == OP_FETCH_ADD;
}

static uint32_t
least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static uint32_t
most(uint64_t a, uint64_t b)
{
	return (uint32_t)(a > b ? a : b);
}

/* The number of buffers: as given, or one for each message in flight, within limits. */
static uint32_t
slots_of(const struct options *o, const struct job *job)
{
	uint64_t stride = stride_bytes(job->size);
	uint64_t limit = most(WORKING_SET_BYTES / job->qps / stride, 1);
	if (o->working_set != 0)
		return most(least(o->working_set / stride, SLOTS_MAX), 1);
	return least(job->depth, limit);
}

/* What distinguishes rows. Zero: chosen to suit the others. */
struct choice {
	enum op op;
	enum test test;
	uint32_t size, qps, batch;
	enum direction direction;
	bool is_saturated; /* the row that the rate of an open loop is a part of */
};

/* How many messages, how they are posted and which ask for a completion. */
static void
fill_flight(const struct options *o, const struct choice *choice, struct job *job)
{
	uint32_t batch = choice->batch;
	job->depth =
		o->depth != 0 ? o->depth : least(most(FLIGHT_BYTES / job->size, FLIGHT_MIN), DEPTH);
	if (job->test == TEST_LATENCY && !job->open)
		job->depth = 1;
	job->slots = slots_of(o, job);
	job->depth = least(job->depth, job->slots);
	job->batch = batch != 0 ? batch : job->size <= SHORT_BYTES ? BATCH : 1;
	job->batch = least(job->batch, most(job->depth / 4, 1));
	job->flight = most(o->flight != 0 ? o->flight : most(FLIGHT, job->depth), job->batch);
	/* Checked messages are handled one by one; and a queue must not fill up with unsignaled
	 * requests. */
	job->signal = o->signal != 0 ? o->signal : job->batch;
	job->signal = job->check || job->open || choice->is_saturated
			      ? 1
			      : least(job->signal, most(job->depth / 2, 1));
	/* Nor must all that may be in flight: nothing would complete it. */
	if (job->signal > 1 && (uint64_t)job->depth * job->qps > job->flight)
		job->signal = job->batch;
}

static void
fill_job(const struct options *o, const struct choice *choice, struct job *job)
{
	enum op op = choice->op;
	bool is_latency = choice->test == TEST_LATENCY;
	bool is_open = is_latency && (o->open_rate != 0 || o->open_percent != 0);
	*job = (struct job){
		.op = op,
		.test = choice->test,
		.size = is_atomic(op) ? 8 : choice->size,
		.qps = choice->qps,
		.both = choice->direction == DIRECTION_BOTH,
		.check = o->check,
		.open = is_open,
		.is_random = is_open && o->schedule != 0,
		.rate = is_open ? o->open_rate : 0,
		.percent = is_open ? o->open_percent : 0,
		.seed = is_open ? o->seed : 0,
		.fill = (o->fill || choice->is_saturated) && !is_latency,
		.is_private = o->is_private,
		.rewrite = o->rewrite != 0 && (op == OP_SEND || op == OP_WRITE),
		.path_mtu = o->path_mtu,
		.inline_bytes = o->inline_bytes,
		.ack_timeout = o->ack_timeout,
		.warmup_ms = o->warmup_ms,
		.duration_ms = o->duration_ms,
		.timeout_ms = o->timeout_ms,
	};
	fill_flight(o, choice, job);
}

/* The raw row to compare a job with: the same messages, cut into the largest packets that the path
 * carries. */
static void
raw_of(const struct options *o, const struct job *job, struct job *raw)
{
	*raw = *job;
	raw->raw = true;
	raw->check = false;
	raw->fill = false;
	raw->qps = 1;
	raw->path_mtu = o->path_mtu != 0 ? o->path_mtu : RAW_MTU;
}

static bool
is_wanted(const struct options *o, enum op op, enum test test)
{
	if ((o->ops >> op & 1) == 0 || (o->tests >> test & 1) == 0)
		return false;
	return !(is_atomic(op) && test == TEST_BANDWIDTH);
}

/* The sizes for one row's test: as given, or the default ones. */
static uint32_t
sizes_of(const struct options *o, enum op op, enum test test, uint64_t *size)
{
	static const uint64_t usual[TEST_COUNT][2] = {
		[TEST_LATENCY] = {8, 0},
		[TEST_RATE] = {64, 0},
		[TEST_BANDWIDTH] = {64 << 10, 1 << 20},
	};
	if (is_atomic(op)) {
		size[0] = 8;
		return 1;
	}
	if (o->sizes != 0) {
		memcpy(size, o->size, o->sizes * sizeof(size[0]));
		return o->sizes;
	}
	memcpy(size, usual[test], sizeof(usual[test]));
	return usual[test][1] != 0 ? 2 : 1;
}

/* The jobs that came out so far. */
struct list {
	struct job *jobs;
	uint32_t count, size;
};

static bool
add(const struct options *o, const struct choice *choice, struct list *list, struct plx_why *why)
{
	struct job job;
	if (choice->test == TEST_LATENCY && o->open_percent != 0) {
		struct choice saturated = *choice;
		saturated.test = TEST_RATE;
		saturated.is_saturated = true;
		if (!add(o, &saturated, list, why))
			return false;
	}
	fill_job(o, choice, &job);
	if (list->count + 2 > list->size)
		return why_set(why, "more than %u rows; give fewer operations, tests or sizes",
			       list->size);
	if (!job_is_valid(&job, why))
		return false;
	if (o->raw || o->with_raw)
		raw_of(o, &job, &list->jobs[list->count++]);
	if (!o->raw)
		list->jobs[list->count++] = job;
	return true;
}

/* Add the rows of one operation, test and size: for each number of queue pairs, each batch and each
 * direction. */
static bool
add_variants(const struct options *o, struct choice *choice, struct list *list, struct plx_why *why)
{
	bool is_latency = choice->test == TEST_LATENCY && o->open_rate == 0 && o->open_percent == 0;
	uint32_t lanes = is_latency || o->qps.count == 0 ? 1 : o->qps.count;
	uint32_t batches = is_latency || o->batch.count == 0 ? 1 : o->batch.count;
	uint32_t directions = choice->test == TEST_LATENCY ? 1u << DIRECTION_ONE : o->directions;
	for (uint32_t i = 0; i < lanes * batches; i++) {
		for (uint32_t k = DIRECTION_ONE; k < DIRECTION_COUNT; k++) {
			if ((directions >> k & 1) == 0)
				continue;
			choice->direction = (enum direction)k;
			choice->qps =
				is_latency || o->qps.count == 0 ? 1 : o->qps.value[i / batches];
			choice->batch = o->batch.count != 0 ? o->batch.value[i % batches] : 0;
			if (!add(o, choice, list, why))
				return false;
		}
	}
	return true;
}

uint32_t
options_jobs(const struct options *o, struct job *jobs, uint32_t n, struct plx_why *why)
{
	struct list list = {.jobs = jobs, .size = n};
	for (uint32_t test = 1; test < TEST_COUNT; test++) {
		for (uint32_t op = 1; op < OP_COUNT; op++) {
			struct choice choice = {.op = (enum op)op, .test = (enum test)test};
			uint64_t size[SIZES_MAX];
			if (!is_wanted(o, choice.op, choice.test))
				continue;
			uint32_t sizes = sizes_of(o, choice.op, choice.test, size);
			for (uint32_t i = 0; i < sizes; i++) {
				choice.size = (uint32_t)size[i];
				if (!add_variants(o, &choice, &list, why))
					return 0;
			}
		}
	}
	if (list.count == 0)
		why_set(why, "atomics are 8 bytes each and have no bandwidth; give --test rate");
	return list.count;
}

bool
job_is_valid(const struct job *job, struct plx_why *why)
{
	uint64_t bytes = (uint64_t)job->slots * stride_bytes(job->size) * job->qps;
	if (job->op == OP_NONE || job->op >= OP_COUNT || job->test == TEST_NONE ||
	    job->test >= TEST_COUNT)
		return why_set(why, "unknown operation %u or test %u", job->op, job->test);
	if (job->size < 1 || job->size > SIZE_MAX_BYTES)
		return why_set(why, "a size of %u bytes is outside 1 to 2^30", job->size);
	if (is_atomic(job->op) && job->size != 8)
		return why_set(why, "atomics are 8 bytes each, not %u", job->size);
	if (job->qps < 1 || job->qps > QPS_MAX)
		return why_set(why, "%u queue pairs are outside 1 to %d", job->qps, QPS_MAX);
	if (job->depth < 1 || job->depth > DEPTH_MAX || job->slots < job->depth ||
	    job->slots > SLOTS_MAX)
		return why_set(
			why,
			"a depth of %u with %u buffers: the depth is 1 to %d, with a buffer for "
			"each message, and at most 2^20 buffers",
			job->depth, job->slots, DEPTH_MAX);
	if (job->batch < 1 || job->batch > BATCH_MAX || job->signal < 1 || job->signal > job->depth)
		return why_set(why,
			       "batches of %u (1 to %d), a completion for each %u (1 to depth)",
			       job->batch, BATCH_MAX, job->signal);
	if (job->open && (job->test != TEST_LATENCY || job->signal != 1 || job->rate > RATE_MAX ||
			  (job->rate == 0) != (job->percent != 0)))
		return why_set(why, "an open loop of %u messages a second: it is 1 to %d",
			       job->rate, RATE_MAX);
	if (job->flight < job->batch || job->flight > FLIGHT_MAX)
		return why_set(why, "%u messages in flight are outside %u (a batch) to %d",
			       job->flight, job->batch, FLIGHT_MAX);
	if (bytes > 4 * SIZE_MAX_BYTES)
		return why_set(
			why,
			"%u queue pairs with %u buffers of %u bytes need more than 4 GiB; give "
			"fewer, or a smaller --working-set",
			job->qps, job->slots, job->size);
	if (job->ack_timeout > ACK_TIMEOUT_MAX)
		return why_set(why, "an ACK timeout of 4.096 us * 2^%u: the exponent is 1 to %d",
			       job->ack_timeout, ACK_TIMEOUT_MAX);
	if (job->inline_bytes > PLX_INLINE_MAX || job->duration_ms < 1 ||
	    job->duration_ms > 3600 * 1000 || job->warmup_ms > 3600 * 1000 || job->timeout_ms < 100)
		return why_set(
			why, "inline up to %u, %u ms after %u ms, timeout %u ms: out of range",
			job->inline_bytes, job->duration_ms, job->warmup_ms, job->timeout_ms);
	return true;
}
