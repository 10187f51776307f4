/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer that predicts: from all values of some series that it has seen, it tries to predict a bit
 * of a next value better than a coin toss. It never sees a secret. Start with guesser_finds().
 *
 * Its thresholds follow from one stated probability: over everything that one call tries, the
 * probability of a false alarm on truly random series is at most GUESSER_FALSE_ALARM.
 */
#ifndef PLX_TEST_GUESSER_H
#define PLX_TEST_GUESSER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GUESSER_SERIES = 4,
	GUESSER_VALUES = 10000, /* of each series */
};

#define GUESSER_FALSE_ALARM 1e-9

/* Values in the order in which they were seen. */
struct guesser_series {
	const char *name;
	const uint32_t *value; /* [GUESSER_VALUES] */
	uint32_t bits;         /* 1 .. 32, of each value */
	bool known; /* seen, or thought, before the others of its place; not to be guessed */
};

/** Try to predict each bit at place i of the series at hand, in order, from everything that
 * precedes it.
 * @param how [160] which bit was predicted by which rule
 * Returns: a bit is predicted better than by a coin toss */
bool guesser_finds(const struct guesser_series *series, uint32_t count, char *how);

/** The shortest register with linear feedback that makes these bits (Massey, 1969).
 * @param bits [n] one a byte. Returns: its length */
uint32_t guesser_complexity(const uint8_t *bits, uint32_t n);

/** What that register makes next, after n bits. @param out [more] */
void guesser_forecast(const uint8_t *bits, uint32_t n, uint8_t *out, uint32_t more);

/** What times `odd` is 1, in 32 bits. */
uint32_t guesser_inverse(uint32_t odd);

#endif
