/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of the benchmark's own programs in the format of ndperf's results, which tests/bench/run
 * judges. Start with result_add().
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "json.h"
#include "ndperf.h"

/* A figure of one round. */
struct bench_result {
	const char *op, *test, *api, *unit;
	const char *note; /* NULL: the round was quiet */
	uint64_t size;
	double value;
};

/** Add it to an array. */
void result_add(json_t *results, const struct bench_result *result);
/** Write and free the array, with the machine's calibration.
 * Returns: false: no memory, or writing failed */
bool result_write(json_t *results, const struct calibration *machine, FILE *to);

#endif
