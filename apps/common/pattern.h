/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of `--check`: each is a function of the stream, the message's number and the offset, so
 * that one that is stale, misplaced or another stream's is seen.
 * Nothing is kept. Start with pattern_write().
 */
#ifndef COMMON_PATTERN_H
#define COMMON_PATTERN_H

#include <stdint.h>

/** @param size [bytes] any */
void pattern_write(void *to, uint32_t size, uint32_t stream, uint64_t message);

/** Returns: the first offset that is wrong; `size`: none is */
uint32_t pattern_check(const void *at, uint32_t size, uint32_t stream, uint64_t message);

#endif
