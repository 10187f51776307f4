/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nanoseconds from the TSC, by one multiplication. There is one function.
 */
#include <pthread.h>
#include <rte_cycles.h>

#include "plx_thread.h"

/* ns = tsc * mult >> SHIFT: exact to 2^-32 ns per tick, with a product of 128 bits. */
enum {
	SHIFT = 32
};

static uint64_t mult;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
calibrate(void)
{
	__atomic_store_n(&mult, (PLX_SEC << SHIFT) / rte_get_tsc_hz(), __ATOMIC_RELEASE);
}

uint64_t
plx_clock_ns(void)
{
	__extension__ typedef unsigned __int128 u128;
	uint64_t by = __atomic_load_n(&mult, __ATOMIC_ACQUIRE);

	if (plx_unlikely(by == 0)) {
		pthread_once(&once, calibrate);
		by = __atomic_load_n(&mult, __ATOMIC_ACQUIRE);
	}
	return (uint64_t)((u128)rte_rdtsc() * by >> SHIFT);
}
