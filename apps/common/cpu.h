/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors that a thread may use, and pinning to one. Start with cpu_pin().
 */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include <stdbool.h>
#include <stdint.h>

/** Is this process allowed to use the processor? */
bool cpu_is_allowed(uint32_t cpu);

/** List the first `n` processors that this process may use.
 * Returns: how many there are */
uint32_t cpus_allowed(int *cpu, uint32_t n);

/** Pin the calling thread to a processor; -1: leave it where it is.
 * Returns: false: refused */
bool cpu_pin(int cpu);

#endif
