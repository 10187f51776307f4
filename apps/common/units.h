/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes, durations and addresses as people write them, and sentences.
 * Start with parse_bytes().
 */
#ifndef COMMON_UNITS_H
#define COMMON_UNITS_H

#include "plx_types.h"

#include <stddef.h>

/** Format a sentence.
 * Returns: false, so that a caller can return it */
__attribute__((format(printf, 2, 3))) bool why_set(struct plx_why *why, const char *format, ...);

/** "64", "4K", "1M", "1G". false: not a size, or above 2^62 */
bool parse_bytes(const char *text, uint64_t *out);

/** "10.0.0.1/24", "fd77::1/64". */
bool parse_address(const char *text, struct plx_ip *ip, uint8_t *prefix_bits);

/** "10.0.0.1", "fd77::1". */
bool parse_ip(const char *text, struct plx_ip *ip);

/** "2s", "500ms", "1.5" (seconds). false: not a duration, or above an hour */
bool parse_duration_ms(const char *text, uint32_t *out);

/** 65536 is "64 KiB".
 * Returns: `text` */
char *bytes_text(uint64_t bytes, char *text, size_t size);

/** Returns: "10.0.0.1", in `text`, of at least 46 bytes */
const char *ip_text(const struct plx_ip *ip, char *text, size_t size);

/** Copy the printable characters of a peer's text, at most size - 1.
 * Returns: `text` */
char *printable_text(const uint8_t *said, uint32_t length, char *text, size_t size);

#endif
