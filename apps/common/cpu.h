/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processors a thread may use, and which it shall. Start with cpu_pin().
 */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include <stdbool.h>
#include <stdint.h>

/** May this process use the processor? */
bool cpu_is_allowed(uint32_t cpu);

/** The first `n` that it may use. Returns: how many there are */
uint32_t cpus_allowed(int *cpu, uint32_t n);

/** Keep the calling thread on a processor; -1: wherever it is. Returns: false: it is refused */
bool cpu_pin(int cpu);

#endif
