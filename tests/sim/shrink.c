/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes a failing seed small: everything that can be left out of a run has a name (keys.c), and
 * what the failure does not need is left out, by halves. The rest becomes a wire script. It never
 * changes what a seed draws, only what of it happens. Start with shrink_run().
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

enum {
	TRIES_MAX = 1500, /* runs; each is shorter than the last */
};

struct shrinking {
	const struct sim_options *options;
	struct job_result wanted; /* the failure that must stay */
	struct sim_keys keep;     /* sorted */
	bool simple;
	uint32_t tries;
};

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct sim_keys
copy_of(const struct sim_keys *keys)
{
	struct sim_keys copy = {0};

	for (size_t i = 0; i < keys->count; i++)
		keys_add(&copy, keys->list[i]);
	return copy;
}

/* Does the run still fail in the same way with only these keys? */
static bool
fails(struct shrinking *s, const struct sim_keys *keep)
{
	struct sim_mask mask = {.keep = keep, .simple = s->simple};
	struct job_result result;

	s->tries++;
	jobs_run_one(s->options, &mask, true, &result);
	return result.how == s->wanted.how && strcmp(result.invariant, s->wanted.invariant) == 0;
}

/* Leave out [at, at + count) of the keys if the failure can do without. */
static bool
without(struct shrinking *s, size_t at, size_t count)
{
	struct sim_keys less = {0};

	for (size_t i = 0; i < s->keep.count; i++) {
		if (i < at || i >= at + count)
			keys_add(&less, s->keep.list[i]);
	}
	if (!fails(s, &less)) {
		free(less.list);
		return false;
	}
	free(s->keep.list);
	s->keep = less;
	return true;
}

/* Keys are sorted by kind, so a kind is one range of them. */
static void
range_of(const struct shrinking *s, enum sim_key_kind kind, size_t *first, size_t *count)
{
	*first = *count = 0;
	for (size_t i = 0; i < s->keep.count; i++) {
		if (s->keep.list[i] >> 56 != (uint64_t)kind)
			continue;
		if (*count == 0)
			*first = i;
		++*count;
	}
}

/* One kind of key, in chunks of half, a quarter, ... one, from the end: late events seldom cause a
 * failure. */
static void
shrink_kind(struct shrinking *s, enum sim_key_kind kind)
{
	size_t first, count, chunk;

	range_of(s, kind, &first, &count);
	for (chunk = count; chunk > 0; chunk /= 2) {
		size_t at;

		range_of(s, kind, &first, &count);
		at = count;
		while (at > 0 && s->tries < TRIES_MAX) {
			size_t size = at < chunk ? at : chunk;

			at -= size;
			(void)without(s, first + at, size);
		}
	}
}

static void
shrink(struct shrinking *s)
{
	static const enum sim_key_kind order[] = {SIM_KEY_STRAY,   SIM_KEY_KILL, SIM_KEY_STEP,
						  SIM_KEY_DISTURB, SIM_KEY_OP,   SIM_KEY_FAULT};
	size_t before;

	do {
		before = s->keep.count;
		for (size_t i = 0; i < PLX_COUNT_OF(order); i++)
			shrink_kind(s, order[i]);
	} while (s->keep.count < before && s->tries < TRIES_MAX);
}

/* A wire without jitter, delay or bandwidth, and ends that reply at once, as in a script. */
static void
try_simple(struct shrinking *s)
{
	struct sim_keys recorded = {0};
	struct sim_mask mask = {.record = &recorded, .simple = true};
	struct job_result result;

	jobs_run_one(s->options, &mask, true, &result);
	if (result.how == s->wanted.how && strcmp(result.invariant, s->wanted.invariant) == 0) {
		s->simple = true;
		free(s->keep.list);
		s->keep = recorded;
		return;
	}
	free(recorded.list);
}

static size_t
count_of(const struct shrinking *s, enum sim_key_kind kind)
{
	size_t first, count;

	range_of(s, kind, &first, &count);
	return count;
}

int
shrink_run(const struct sim_options *options)
{
	struct shrinking s = {.options = options};
	struct sim_keys recorded = {0}, all;
	struct sim_mask mask = {.record = &recorded};
	struct job_result result;

	jobs_run_one(options, &mask, true, &s.wanted);
	if (s.wanted.how == SIM_PASS) {
		fprintf(stderr, "plx-sim: seed %" PRIu64 " does not fail\n", options->first);
		free(recorded.list);
		return SIM_USAGE;
	}
	s.keep = recorded;
	try_simple(&s);
	qsort(s.keep.list, s.keep.count, sizeof(uint64_t), compare);
	all = copy_of(&s.keep);
	if (!fails(&s, &s.keep)) {
		/* whole, but without the limit on requests, it goes on past its end */
		fprintf(stderr, "plx-sim: seed %" PRIu64 " fails, but not when it is replayed\n",
			options->first);
		free(s.keep.list);
		free(all.list);
		return s.wanted.how;
	}
	shrink(&s);
	printf("plx-sim: seed %" PRIu64 " (%s) shrunk in %u runs: %zu of %zu things stay: %zu "
	       "requests, %zu faults of packets, %zu others%s\n",
	       options->first, s.wanted.invariant, s.tries, s.keep.count, all.count,
	       count_of(&s, SIM_KEY_OP), count_of(&s, SIM_KEY_FAULT),
	       s.keep.count - count_of(&s, SIM_KEY_OP) - count_of(&s, SIM_KEY_FAULT),
	       s.simple ? ", on a simple wire" : "");
	fflush(stdout);
	mask = (struct sim_mask){.keep = &s.keep, .simple = s.simple, .write_script = true};
	jobs_run_one(options, &mask, false, &result); /* shows the failure, writes the script */
	free(all.list);
	free(s.keep.list);
	return result.how;
}
