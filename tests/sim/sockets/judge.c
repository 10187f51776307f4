/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Are the bytes that one side has read those that the other one has sent? Where a program was
 * killed within a call, it is not known how many bytes that took: all that is possible is followed.
 * Start with judge().
 */
#include <stdlib.h>

#include "system.h"

enum {
	STATES = 1 << 20,
};

/* The next byte is the i-th of a stretch. */
struct state {
	uint32_t stretch, i;
};

static struct state now[STATES], after[STATES];
static uint32_t nows, afters;
static uint32_t seen[KILLS][SENT_MAX + 1], step; /* at which step a state was added last */

uint8_t
judge_byte(uint32_t direction, uint32_t stretch, uint32_t i)
{
	uint32_t x = (i + 1) * 0x9e3779b1u ^ (stretch * DIRECTIONS + direction + 1) * 0x85ebca6bu;

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	return (uint8_t)(x >> 24);
}

static void
add(uint32_t stretch, uint32_t i)
{
	if (seen[stretch][i] == step)
		return;
	seen[stretch][i] = step;
	if (afters == STATES) {
		fprintf(stderr, "plx-sim-sockets: judge: more than %d states\n", STATES);
		abort();
	}
	after[afters++] = (struct state){stretch, i};
}

/* Where one may be, with a stretch that may have ended there. */
static void
reach(const struct direction *d, uint32_t stretch, uint32_t i)
{
	add(stretch, i);
	while (stretch + 1 < d->stretches && i >= d->stretch[stretch].least) {
		i = 0;
		add(++stretch, i);
	}
}

static void
go_on(void)
{
	memcpy(now, after, afters * sizeof(*now));
	nows = afters;
	afters = 0;
	step++;
}

static void
read_one(uint32_t direction, const struct direction *d, uint8_t byte)
{
	for (uint32_t k = 0; k < nows; k++) {
		const struct state *s = &now[k];

		if (s->i < d->stretch[s->stretch].most &&
		    judge_byte(direction, s->stretch, s->i) == byte)
			reach(d, s->stretch, s->i + 1);
	}
}

/* A killed program may have read up to `most` bytes. */
static void
skip(const struct direction *d, uint32_t most)
{
	uint32_t first = 0;

	for (uint32_t k = 0; k < nows; k++)
		add(now[k].stretch, now[k].i);
	for (uint32_t n = 0; n < most && first < afters; n++) {
		uint32_t last = afters;

		for (uint32_t k = first; k < last; k++) {
			const struct state s = after[k];

			if (s.i < d->stretch[s.stretch].most)
				reach(d, s.stretch, s.i + 1);
		}
		first = last;
	}
	go_on();
}

static bool
is_at_end(const struct direction *d)
{
	for (uint32_t k = 0; k < nows; k++)
		if (now[k].stretch + 1 == d->stretches &&
		    now[k].i >= d->stretch[now[k].stretch].least)
			return true;
	return false;
}

const char *
judge(uint32_t direction)
{
	static char why[128];
	const struct direction *d = &sys->direction[direction];
	uint32_t gap = 0;

	afters = 0;
	step++;
	reach(d, 0, 0);
	go_on();
	for (uint32_t at = 0; at <= d->got; at++) {
		for (; gap < d->gaps && d->gap[gap].at == at; gap++)
			skip(d, d->gap[gap].most);
		if (at == d->got)
			break;
		read_one(direction, d, d->bytes[at]);
		go_on();
		if (nows > 0)
			continue;
		snprintf(why, sizeof(why), "S8: byte %u of direction %u is none that was sent", at,
			 direction);
		return why;
	}
	if (is_at_end(d) || (sys->broken && !d->end))
		return NULL;
	snprintf(why, sizeof(why), "S9: direction %u ends after %u bytes, and more were sent",
		 direction, d->got);
	return why;
}
