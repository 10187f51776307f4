/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Services for polling threads: the time, an lcore id, and waiting for another thread. Start with
 * plx_clock_ns().
 */
#ifndef PLX_THREAD_H
#define PLX_THREAD_H

#include "plx_base.h"

/** Nanoseconds on a monotonic clock, from the TSC: the time that all engines of a process use. Any
 * thread; the first call calibrates the clock and must come after the EAL is initialised. */
uint64_t plx_clock_ns(void);

/**
 * Assign an lcore id to the calling thread until it ends, unless it already has one. DPDK uses the
 * id to find the thread's cache of a buffer pool. Returns false if no id is free; then everything
 * works, but slower.
 */
bool plx_lcore_assign(void);

/**
 * Back off while polling for the result of an engine on another thread. First calls return at once,
 * later ones after a pause instruction, then after sched_yield(), then after sleeping for 50 us.
 * The caller checks its deadline.
 * @param looks [in/out] 0 before the first call
 */
void plx_engine_backoff(uint32_t *looks);

#endif
