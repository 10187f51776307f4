/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations on buckets that are not hot: clear, merge, percentiles.
 * It does not know the unit of the values. Start with histogram_percentile().
 */
#include "histogram.h"

#include <string.h>

uint64_t
histogram_floor(uint32_t index)
{
	if (index < HISTOGRAM_SUB)
		return index;
	uint32_t shift = index / HISTOGRAM_SUB - 1;
	return (uint64_t)(index % HISTOGRAM_SUB + HISTOGRAM_SUB) << shift;
}

void
histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void
histogram_merge(struct histogram *h, const struct histogram *from)
{
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += from->bucket[i];
	if (from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->count += from->count;
}

double
histogram_percentile(const struct histogram *h, double share)
{
	if (h->count == 0)
		return 0;
	/* the rank of the sample, from 1; the small correction keeps 0.9 of 10 at rank 9, not 10 */
	double exact = share * (double)h->count;
	uint64_t rank = (uint64_t)exact;
	if ((double)rank < exact - 1e-9 * (double)h->count)
		rank++;
	if (rank == 0)
		rank = 1;
	uint64_t seen = 0;
	uint32_t i = 0;
	while (i < HISTOGRAM_BUCKETS - 1 && (seen += h->bucket[i]) < rank)
		i++;
	uint64_t floor = histogram_floor(i), width = histogram_floor(i + 1) - floor;
	double middle = (double)floor + (double)(width - 1) / 2;
	if (middle < (double)h->min)
		return (double)h->min;
	return middle > (double)h->max ? (double)h->max : middle;
}
