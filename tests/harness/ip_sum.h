/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Internet checksum (RFC 1071), for frames that tests write themselves. It shares no code with
 * lib/proto. There is one function, ip_sum().
 */
#ifndef PLX_TEST_IP_SUM_H
#define PLX_TEST_IP_SUM_H

#include <stddef.h>
#include <stdint.h>

/** Sum of 16-bit words in network order, folded; the checksum is 0xffff minus it. */
static inline unsigned
ip_sum(const uint8_t *at, size_t len)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? at[i] : (unsigned long)at[i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned)sum;
}

#endif
