/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time for measuring: ticks of the processor's constant counter, and how long one lasts.
 * It is no engine's clock. Start with ticks().
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)
/** Ticks since some moment; the same on every core. Cost: hot, no system call */
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

/** Ticks in a second. The first call takes 20 ms; it comes from the main thread, before others. */
double ticks_hz(void);

/** Ticks in so many milliseconds. */
uint64_t ticks_of_ms(uint64_t ms);

/** Nanoseconds in so many ticks. */
double ticks_to_ns(double t);

#endif
