/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts what a data path must not do: allocations and locks by interposing the library's
 * functions, system calls by tracing the process. Start with watch_run().
 */
#ifndef PLX_TEST_WATCH_H
#define PLX_TEST_WATCH_H

#include <stdint.h>

enum {
	WATCH_PHASES = 8
};

/* What all threads of the process did in one phase. */
struct watch_counts {
	uint32_t allocations, locks; /* as the watched process counts them */
	uint32_t calls;              /* to the system, as the tracer sees them */
	int first_call;              /* its number; -1: none */
	uint32_t seen;               /* 1 when the phase was run to its end */
};

/** Run `body` in a process of its own, traced, and wait for it to exit. Its phases are between
 * watch_begin() and watch_end().
 * Returns: its exit status; 128 + signal when a signal ended it */
int watch_run(void (*body)(void), struct watch_counts counts[WATCH_PHASES]);

/* In the watched process; a phase is 0 .. WATCH_PHASES - 1. */
void watch_begin(uint32_t phase);
void watch_end(uint32_t phase);

#endif
