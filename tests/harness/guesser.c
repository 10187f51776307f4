/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guesser's rules: linear algebra over GF(2), correlations of bits and of pairs of bits, tables
 * learnt from the first half of the series, and simple arithmetic. It never draws random values.
 * Start with guesser_finds().
 */
#include "guesser.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LAGS = 2,       /* values before this one whose bits are compared one by one */
	LAGS_JOINT = 8, /* ... and in one system of equations */
	FIRST = LAGS_JOINT,
	SAMPLES = GUESSER_VALUES - FIRST,
	WORDS = (SAMPLES + 63) / 64,
	COUNTER_BITS = 14,
	COLUMNS_MAX = GUESSER_SERIES * 32 * (LAGS + 1) + COUNTER_BITS + 1,
	REGISTER_WORDS = (2 * GUESSER_VALUES + 63) / 64,
	JOINT_WORDS = (GUESSER_SERIES * 32 * (LAGS_JOINT + 2)) / 64 + 1,
	RULES = 6,
};

/* ---- registers with linear feedback ---- */

struct lfsr {
	uint64_t now[REGISTER_WORDS], before[REGISTER_WORDS], window[REGISTER_WORDS];
	uint32_t length;
};

static void
shift_window(struct lfsr *r, uint32_t words, uint64_t in)
{
	for (uint32_t w = 0; w < words; w++) {
		uint64_t out = r->window[w] >> 63;

		r->window[w] = r->window[w] << 1 | in;
		in = out;
	}
}

static unsigned
parity(const struct lfsr *r, uint32_t words)
{
	uint64_t sum = 0;

	for (uint32_t w = 0; w < words; w++)
		sum ^= r->now[w] & r->window[w];
	return (unsigned)__builtin_parityll(sum);
}

static void
add_shifted(uint64_t *to, const uint64_t *from, uint32_t by, uint32_t words)
{
	uint32_t skip = by / 64, bits = by % 64;

	for (uint32_t w = words; w-- > skip;) {
		uint64_t low = bits && w > skip ? from[w - skip - 1] >> (64 - bits) : 0;

		to[w] ^= from[w - skip] << bits | low;
	}
}

/* Berlekamp and Massey. Word counts are of what can be set so far. */
static void
lfsr_fit(struct lfsr *r, const uint8_t *bits, uint32_t n)
{
	static uint64_t kept[REGISTER_WORDS];
	uint32_t since = 1;

	memset(r, 0, sizeof(*r));
	r->now[0] = r->before[0] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t words = i / 64 + 1;

		shift_window(r, words, bits[i]);
		if (!parity(r, r->length / 64 + 1)) {
			since++;
			continue;
		}
		memcpy(kept, r->now, words * sizeof(*kept));
		add_shifted(r->now, r->before, since, words);
		if (2 * r->length <= i) {
			r->length = i + 1 - r->length;
			memcpy(r->before, kept, words * sizeof(*kept));
			since = 1;
		} else {
			since++;
		}
	}
}

uint32_t
guesser_complexity(const uint8_t *bits, uint32_t n)
{
	static struct lfsr r;

	lfsr_fit(&r, bits, n);
	return r.length;
}

void
guesser_forecast(const uint8_t *bits, uint32_t n, uint8_t *out, uint32_t more)
{
	static struct lfsr r;
	uint32_t words;

	lfsr_fit(&r, bits, n);
	words = r.length / 64 + 1;
	for (uint32_t i = 0; i < more; i++) {
		/* With a 0 for the bit to come, the parity is that bit. */
		shift_window(&r, words, 0);
		out[i] = (uint8_t)parity(&r, words);
		r.window[0] |= out[i];
	}
}

/* ---- what generators do to their state before they show it ---- */

uint32_t
guesser_inverse(uint32_t odd)
{
	uint32_t x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* The output of xoshiro256**, rotl(s * 5, 7) * 9, undone: the lowest bits of s, which are linear.
 */
static uint32_t
unscramble(uint32_t value)
{
	return (value * guesser_inverse(9) >> 7) * guesser_inverse(5);
}

static uint32_t
view(uint32_t value, uint32_t before, int which)
{
	return which == 0 ? value : which == 1 ? unscramble(value) : value ^ before;
}

enum {
	VIEWS = 3
};

/* A random series of n bits needs a register of n / 2 - k or less with a probability below 2^-2k
 * (Rueppel, 1986). */
static bool
is_linear(const uint8_t *bits, uint32_t n, double alarm)
{
	uint32_t k = (uint32_t)ceil(-log2(alarm) / 2);

	return guesser_complexity(bits, n) < n / 2 - k;
}

static bool
registers_find(const struct guesser_series *series, uint32_t count, char *how)
{
	static uint8_t bits[2 * GUESSER_VALUES];
	double alarm = GUESSER_FALSE_ALARM / 4 / (VIEWS * 32 * (GUESSER_SERIES + 1));

	/* Each alone, then the first two by turns, as one generator would have made them. */
	for (uint32_t s = 0; s < count + (count > 1); s++) {
		const struct guesser_series *a = &series[s < count ? s : 0];
		const struct guesser_series *b = &series[s < count ? s : 1];
		uint32_t step = s < count ? 1 : 2, width = a->bits < b->bits ? a->bits : b->bits;

		if (a->known || b->known)
			continue;
		for (int which = 0; which < VIEWS; which++) {
			for (uint32_t bit = 0; bit + (which == 1) * 7 < width; bit++) {
				for (uint32_t i = 0; i < GUESSER_VALUES; i++) {
					uint32_t old = i > 0 ? i - 1 : 0;

					bits[step * i] =
						view(a->value[i], a->value[old], which) >> bit & 1;
					if (step == 2)
						bits[step * i + 1] =
							view(b->value[i], b->value[old], which) >>
								bit &
							1;
				}
				if (!is_linear(bits, GUESSER_VALUES, alarm))
					continue;
				(void)snprintf(how, 160,
					       "%s: bit %u (view %d) is a linear register", a->name,
					       bit, which);
				return true;
			}
		}
	}
	return false;
}

/* ---- systems of equations ---- */

static uint32_t
joint_row(const struct guesser_series *series, uint32_t count, uint32_t i, int which, uint64_t *row)
{
	uint32_t at = 0;

	memset(row, 0, JOINT_WORDS * sizeof(*row));
	row[0] = 1; /* affine */
	at++;
	for (uint32_t lag = 1; lag <= LAGS_JOINT; lag++) {
		for (uint32_t s = 0; s < count; s++) {
			uint32_t value = view(series[s].value[i - lag], 0, which);

			for (uint32_t bit = 0; bit < series[s].bits; bit++, at++)
				row[at / 64] |= (uint64_t)(value >> bit & 1) << at % 64;
		}
	}
	return at;
}

/* Is the last column a combination of the others, in every row? There are 64 more rows than
 * unknowns, so that chance passes with a probability of 2^-64. */
static bool
is_solvable(uint64_t (*rows)[JOINT_WORDS], uint32_t count, uint32_t columns)
{
	uint32_t done = 0;

	for (uint32_t column = 0; column < columns; column++) {
		uint32_t at = done;

		while (at < count && !(rows[at][column / 64] >> column % 64 & 1))
			at++;
		if (at == count)
			continue;
		for (uint32_t w = 0; w < JOINT_WORDS; w++) {
			uint64_t swapped = rows[at][w];

			rows[at][w] = rows[done][w];
			rows[done][w] = swapped;
		}
		for (uint32_t r = done + 1; r < count; r++) {
			if (rows[r][column / 64] >> column % 64 & 1)
				for (uint32_t w = 0; w < JOINT_WORDS; w++)
					rows[r][w] ^= rows[done][w];
		}
		done++;
	}
	for (uint32_t r = done; r < count; r++)
		if (rows[r][columns / 64] >> columns % 64 & 1)
			return false;
	return true;
}

static bool
equations_find(const struct guesser_series *series, uint32_t count, char *how)
{
	static uint64_t rows[JOINT_WORDS * 64 + 64][JOINT_WORDS];

	for (int which = 0; which < 2; which++) {
		for (uint32_t s = 0; s < count; s++) {
			for (uint32_t bit = 0; bit < series[s].bits && !series[s].known; bit++) {
				uint32_t columns = 0, n = 64;

				for (uint32_t r = 0; r < n; r++) {
					uint32_t i = FIRST + r,
						 value = view(series[s].value[i], 0, which);

					columns = joint_row(series, count, i, which, rows[r]);
					n = columns + 64;
					rows[r][columns / 64] |= (uint64_t)(value >> bit & 1)
								 << columns % 64;
				}
				/* Shifted out by the view: always 0. */
				if (which == 1 && bit + 7 >= series[s].bits)
					continue;
				if (!is_solvable(rows, n, columns))
					continue;
				(void)snprintf(how, 160,
					       "%s: bit %u (view %d) is linear in what came before",
					       series[s].name, bit, which);
				return true;
			}
		}
	}
	return false;
}

/* ---- agreement ---- */

struct column {
	char name[48];
	uint64_t bit[WORDS];
};

static void
column_set(struct column *column, const char *name, uint32_t bit, int lag, const uint32_t *value)
{
	memset(column->bit, 0, sizeof(column->bit));
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t from = value ? value[FIRST + i - (uint32_t)lag] : i;

		column->bit[i / 64] |= (uint64_t)(from >> bit & 1) << i % 64;
	}
	(void)snprintf(column->name, sizeof(column->name), "bit %u of %s, %d before", bit, name,
		       lag);
}

/* What is known when predicting series[target]. Column 0 is zero: a pair with it is a single
 * bit, or nothing. */
static uint32_t
columns_make(const struct guesser_series *series, uint32_t count, uint32_t target,
	     struct column *column)
{
	uint32_t made = 1;

	memset(column, 0, sizeof(*column));
	(void)snprintf(column->name, sizeof(column->name), "nothing");
	for (uint32_t s = 0; s < count; s++)
		for (uint32_t bit = 0; bit < series[s].bits; bit++)
			for (int lag = s < target || series[s].known ? 0 : 1; lag <= LAGS; lag++)
				column_set(&column[made++], series[s].name, bit, lag,
					   series[s].value);
	for (uint32_t bit = 0; bit < COUNTER_BITS; bit++)
		column_set(&column[made++], "the count", bit, 0, NULL);
	return made;
}

/* The distance from n/2 that n fair coins exceed with at most this probability (Hoeffding). */
static double
slack(double n, double tests, double alarm)
{
	return sqrt(n / 2 * log(2 * tests / alarm));
}

static bool
pairs_find(const struct guesser_series *series, uint32_t count, char *how)
{
	static struct column column[COLUMNS_MAX], target;
	double limit = slack(SAMPLES, 32.0 * GUESSER_SERIES * COLUMNS_MAX * COLUMNS_MAX / 2,
			     GUESSER_FALSE_ALARM / 4);

	for (uint32_t s = 0; s < count; s++) {
		uint32_t columns = columns_make(series, count, s, column);

		for (uint32_t bit = 0; bit < series[s].bits && !series[s].known; bit++) {
			column_set(&target, series[s].name, bit, 0, series[s].value);
			for (uint32_t a = 0; a < columns; a++) {
				for (uint32_t b = 0; b <= a; b++) {
					uint32_t differ = 0;

					for (uint32_t w = 0; w < WORDS; w++)
						differ += (uint32_t)__builtin_popcountll(
							target.bit[w] ^ column[a].bit[w] ^
							(a == b ? 0 : column[b].bit[w]));
					if (fabs(differ - SAMPLES / 2.0) <= limit)
						continue;
					(void)snprintf(how, 160,
						       "bit %u of %s goes with %.40s and %.40s",
						       bit, series[s].name, column[a].name,
						       column[b].name);
					return true;
				}
			}
		}
	}
	return false;
}

/* ---- tables that are learnt, and arithmetic ---- */

/* A known byte: 0 .. 3 of the previous value, of the one before it, of their difference, of the
 * index; then of the values of earlier series at this index. */
static uint32_t
context(const struct guesser_series *series, uint32_t s, uint32_t i, uint32_t which)
{
	const uint32_t *v = series[s].value;
	uint32_t from = which / 4 == 0   ? v[i - 1]
			: which / 4 == 1 ? v[i - 2]
			: which / 4 == 2 ? v[i - 1] - v[i - 2]
			: which / 4 == 3 ? i
					 : series[which / 4 - 4].value[i];

	return from >> which % 4 * 8 & 0xff;
}

static bool
is_here(const struct guesser_series *series, uint32_t s, uint32_t which)
{
	uint32_t other = which / 4 < 4 ? s : which / 4 - 4;

	return which / 4 < 4 || other < s || series[other].known;
}

static bool
tables_find(const struct guesser_series *series, uint32_t count, char *how)
{
	uint32_t half = FIRST + SAMPLES / 2, contexts = 4 * (4 + count);
	double limit = slack(GUESSER_VALUES - half, 32.0 * GUESSER_SERIES * contexts,
			     GUESSER_FALSE_ALARM / 8);

	for (uint32_t s = 0; s < count; s++) {
		for (uint32_t bit = 0; bit < series[s].bits && !series[s].known; bit++) {
			for (uint32_t which = 0; which < contexts; which++) {
				int votes[256] = {0};
				uint32_t hits = 0;

				if (!is_here(series, s, which))
					continue;
				for (uint32_t i = FIRST; i < half; i++)
					votes[context(series, s, i, which)] +=
						series[s].value[i] >> bit & 1 ? 1 : -1;
				for (uint32_t i = half; i < GUESSER_VALUES; i++)
					hits += (votes[context(series, s, i, which)] > 0) ==
						(series[s].value[i] >> bit & 1);
				if (fabs(hits - (GUESSER_VALUES - half) / 2.0) <= limit)
					continue;
				(void)snprintf(how, 160, "bit %u of %s is learnt from byte %u", bit,
					       series[s].name, which);
				return true;
			}
		}
	}
	return false;
}

static uint32_t
rule(const uint32_t *v, uint32_t i, int which)
{
	uint32_t d1 = v[i - 2] - v[i - 3], d2 = v[i - 1] - v[i - 2];

	switch (which) {
	case 0:
		return v[i - 1] + 1;
	case 1:
		return v[i - 1] + d2; /* a counter with any step */
	case 2:
		return v[i - 1] + d2 + (d2 - d1); /* ... or a step that grows evenly */
	case 3:                                   /* a linear congruence, fitted */
		return v[i - 1] + (d1 & 1 ? d2 * guesser_inverse(d1) : 1) * d2;
	case 4:
		return v[i - 1] ^ v[i - 2] ^ v[i - 3];
	default:
		return v[i - 1] << 1;
	}
}

static bool
arithmetic_finds(const struct guesser_series *series, uint32_t count, char *how)
{
	double limit = slack(SAMPLES, 32.0 * GUESSER_SERIES * RULES, GUESSER_FALSE_ALARM / 8);

	for (uint32_t s = 0; s < count; s++) {
		for (int which = 0; which < RULES && !series[s].known; which++) {
			uint32_t hits[32] = {0};

			for (uint32_t i = FIRST; i < GUESSER_VALUES; i++) {
				uint32_t wrong =
					rule(series[s].value, i, which) ^ series[s].value[i];

				for (uint32_t bit = 0; bit < series[s].bits; bit++)
					hits[bit] += !(wrong >> bit & 1);
			}
			for (uint32_t bit = 0; bit < series[s].bits; bit++) {
				if (fabs(hits[bit] - SAMPLES / 2.0) <= limit)
					continue;
				(void)snprintf(how, 160, "bit %u of %s follows by rule %d", bit,
					       series[s].name, which);
				return true;
			}
		}
	}
	return false;
}

bool
guesser_finds(const struct guesser_series *series, uint32_t count, char *how)
{
	*how = '\0';
	return pairs_find(series, count, how) || tables_find(series, count, how) ||
	       arithmetic_finds(series, count, how) || equations_find(series, count, how) ||
	       registers_find(series, count, how);
}
