/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of tests that run in real time. They wait for a condition, with a limit that a loaded
 * machine meets. Start with test_until().
 */
#ifndef PLX_TEST_CLOCK_H
#define PLX_TEST_CLOCK_H

#include <time.h>

#include "test.h"

/* For anything that ought to happen soon. */
enum {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	TEST_PATIENCE_MS = 120000, /* a message of 2 GiB takes half a minute */
#else
	TEST_PATIENCE_MS = 30000,
#endif
};
#define TEST_PATIENCE_NS (TEST_PATIENCE_MS * UINT64_C(1000000))

static inline uint64_t
test_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline uint64_t
test_ms(void)
{
	return test_ns() / 1000000;
}

/** Check the condition repeatedly until it holds, with one `turn` after each failed check. */
#define test_until(condition, turn)                                \
	do {                                                       \
		uint64_t late_ = test_ns() + TEST_PATIENCE_NS;     \
                                                                   \
		while (!(condition)) {                             \
			if (test_ns() > late_)                     \
				fail_msg("never: %s", #condition); \
			turn;                                      \
		}                                                  \
	} while (0)

#endif
