/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Internet checksum: sums of 16-bit words, folded at the end. Private to lib/proto/net. It
 * never interprets a header. A checksum is valid if the sum including it folds to 0xffff.
 * Start with plx_sum().
 * Spec: RFC 1071.
 */
#ifndef PLX_SUM_H
#define PLX_SUM_H

#include "message.h"

/**
 * Add the words of [bytes, len) to `so_far`; an odd last byte counts as a word with a zero after
 * it. 2^47 words fit.
 */
static inline uint64_t
plx_sum(uint64_t so_far, const uint8_t *bytes, size_t len)
{
	for (; len >= 2; bytes += 2, len -= 2)
		so_far += plx_get16(bytes);
	return len ? so_far + ((uint64_t)bytes[0] << 8) : so_far;
}

static inline unsigned
plx_sum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned)sum;
}

/**
 * Checksum of the ICMPv6 message that follows the IPv6 header at `ip`, including the pseudo-header:
 * RFC 8200, 8.1.
 */
static inline unsigned
plx_sum_icmp6(const uint8_t *ip, size_t icmp_bytes)
{
	uint64_t sum = PLX_PROTO_ICMPV6 + (uint64_t)icmp_bytes;

	sum = plx_sum(sum, ip + 8, 32);
	return plx_sum_fold(plx_sum(sum, ip + PLX_IPV6_BYTES, icmp_bytes));
}

#endif
