/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a thread that polls asks of the machine: the time, an lcore id, and how to wait for another
 * thread. Start with plx_clock_ns().
 */
#ifndef PLX_THREAD_H
#define PLX_THREAD_H

#include "plx_base.h"

/** Nanoseconds on a steady clock, from the TSC: what every engine of a process is polled with. Any
 * thread; the first call, after the EAL is up, calibrates. */
uint64_t plx_clock_ns(void);

/**
 * Give the calling thread an lcore id, by which DPDK finds its cache in front of a buffer pool,
 * until the thread ends; one that has an id keeps it. Without one, false, everything works, only
 * slower.
 */
bool plx_lcore_assign(void);

/**
 * Between two looks at what an engine of another thread is to have done: returns at once at first,
 * then after a pause, after giving the core away, after a nap of 50 us. The deadline is the
 * caller's.
 * @param looks [in/out] 0 before the first
 */
void plx_engine_backoff(uint32_t *looks);

#endif
