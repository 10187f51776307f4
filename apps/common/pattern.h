/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of `--check`. Each is a function of the stream, the message's number and the offset, so
 * that a stale or misplaced byte, or one of another stream, is detected.
 * It keeps no state. Start with pattern_write().
 */
#ifndef COMMON_PATTERN_H
#define COMMON_PATTERN_H

#include <stdint.h>

/** @param size [bytes] may be anything */
void pattern_write(void *to, uint32_t size, uint32_t stream, uint64_t message);

/** Returns: the first wrong offset; `size`: none */
uint32_t pattern_check(const void *at, uint32_t size, uint32_t stream, uint64_t message);

#endif
