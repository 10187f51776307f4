/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A log-linear histogram like HdrHistogram: 128 buckets for each power of two, so that a value of
 * any size is known to better than 1 %. No unit, no clock, no allocation.
 * Start with histogram_add().
 */
#ifndef COMMON_HISTOGRAM_H
#define COMMON_HISTOGRAM_H

#include <stdint.h>

enum {
	HISTOGRAM_SUB_BITS = 7,
	HISTOGRAM_SUB = 1 << HISTOGRAM_SUB_BITS,
	HISTOGRAM_TOP_BITS = 42, /* 2^42 ticks are half an hour; longer values count as this */
	HISTOGRAM_BUCKETS = (HISTOGRAM_TOP_BITS - HISTOGRAM_SUB_BITS + 1) * HISTOGRAM_SUB,
};

struct histogram {
	uint64_t count, min, max;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/** The index of a value's bucket. */
static inline uint32_t
histogram_index(uint64_t value)
{
	if (value < HISTOGRAM_SUB)
		return (uint32_t)value;
	uint32_t top = 63 - (uint32_t)__builtin_clzll(value);
	if (top >= HISTOGRAM_TOP_BITS)
		return HISTOGRAM_BUCKETS - 1;
	uint32_t shift = top - HISTOGRAM_SUB_BITS;
	return (shift + 1) * HISTOGRAM_SUB + (uint32_t)((value >> shift) - HISTOGRAM_SUB);
}

/** The lower bound of a bucket. The index after the last gives the end of the last bucket. */
uint64_t histogram_floor(uint32_t index);

/** Cost: hot */
static inline void
histogram_add(struct histogram *h, uint64_t value)
{
	h->bucket[histogram_index(value)]++;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
}

/** Add `n` samples of the same value. */
static inline void
histogram_add_many(struct histogram *h, uint64_t value, uint64_t n)
{
	if (n == 0)
		return;
	histogram_add(h, value);
	h->bucket[histogram_index(value)] += n - 1;
	h->count += n - 1;
}

/** Remove all samples. */
void histogram_clear(struct histogram *h);

/** Add all of `from`. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/** The value that a share of the samples does not exceed.
 * @param share [0 .. 1]
 * Returns: the middle of its bucket, limited to min and max; 0 if the histogram is empty */
double histogram_percentile(const struct histogram *h, double share);

#endif
