/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The histogram of latencies against sorted samples: no value is known worse than 1 %, no rank is
 * off. Start with percentiles_are_those_of_the_sorted_samples().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "plx_base.h"
#include "histogram.h"

static struct histogram h;

static void
every_bucket_starts_where_the_one_before_ends(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t floor = histogram_floor(i), next = histogram_floor(i + 1);
		assert_true(next > floor);
		assert_int_equal(histogram_index(floor), i);
		assert_int_equal(histogram_index(next - 1), i);
		/* its width is within 1 % of its least value, or one */
		assert_true(next - floor == 1 || (next - floor) * 100 <= floor);
	}
}

static void
what_is_longer_than_the_last_bucket_counts_there(void **state)
{
	(void)state;
	assert_int_equal(histogram_index(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
	histogram_clear(&h);
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(h.count, 1);
	assert_int_equal(h.max, UINT64_MAX);
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void
percentiles_are_those_of_the_sorted_samples(void **state)
{
	enum {
		SAMPLES = 20000
	};
	static const double shares[] = {0, 0.0001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};
	static uint64_t samples[SAMPLES];
	struct plx_prng prng;
	(void)state;
	plx_prng_init(&prng, 7);
	histogram_clear(&h);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		/* magnitudes from 1 to 2^40, as many of each */
		samples[i] = plx_prng_next(&prng) >> (24 + plx_prng_next(&prng) % 40);
		histogram_add(&h, samples[i]);
	}
	qsort(samples, SAMPLES, sizeof(samples[0]), by_value);
	for (uint32_t i = 0; i < PLX_COUNT_OF(shares); i++) {
		uint32_t rank = (uint32_t)(shares[i] * SAMPLES + 0.999999);
		double exact = (double)samples[rank > 0 ? rank - 1 : 0];
		double got = histogram_percentile(&h, shares[i]);
		assert_true(got >= exact * 0.99 && got <= exact * 1.01);
	}
	assert_int_equal(h.min, samples[0]);
	assert_int_equal(h.max, samples[SAMPLES - 1]);
}

static void
an_empty_one_has_no_percentile(void **state)
{
	(void)state;
	histogram_clear(&h);
	assert_true(histogram_percentile(&h, 0.5) == 0);
}

static void
two_merged_are_as_one(void **state)
{
	static struct histogram other;
	(void)state;
	histogram_clear(&h);
	histogram_clear(&other);
	for (uint64_t i = 1; i <= 100; i++)
		histogram_add(i % 2 ? &h : &other, i);
	histogram_add_many(&other, 7, 0);
	histogram_merge(&h, &other);
	assert_int_equal(h.count, 100);
	assert_int_equal(h.min, 1);
	assert_int_equal(h.max, 100);
	assert_true(histogram_percentile(&h, 0.5) == 50);
	assert_true(histogram_percentile(&h, 0.9) == 90);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_starts_where_the_one_before_ends),
		cmocka_unit_test(what_is_longer_than_the_last_bucket_counts_there),
		cmocka_unit_test(percentiles_are_those_of_the_sorted_samples),
		cmocka_unit_test(an_empty_one_has_no_percentile),
		cmocka_unit_test(two_merged_are_as_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
