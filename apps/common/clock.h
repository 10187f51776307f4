/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time for measurements: ticks of the processor's constant counter, and their duration.
 * It is not an engine's clock. Start with ticks().
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)
/** Ticks since an arbitrary start; the same on every core.
 * Cost: hot, no system call */
static inline uint64_t
ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t
ticks(void)
{
	uint64_t now;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}
#endif

/** The monotonic clock. */
double now_ns(void);
uint64_t now_ms(void);

/** Ticks per second. The first call takes 20 ms; the main thread makes it before other threads
 * start. */
double ticks_hz(void);

/** Convert milliseconds to ticks. */
uint64_t ticks_of_ms(uint64_t ms);

/** Convert ticks to nanoseconds. */
double ticks_to_ns(double t);

#endif
