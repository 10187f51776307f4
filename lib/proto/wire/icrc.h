/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the implementations of the ICRC: the bits that are read as ones, and the number of
 * bytes covered. It never computes. Private to lib/proto/wire.
 */
#ifndef PLX_WIRE_ICRC_H
#define PLX_WIRE_ICRC_H

#include "plx_wire.h"

/*
 * The bits that are read as ones, for IPv4 in row 0 and for IPv6 in row 1. There are zeros on both
 * sides, so that a vector of 64 bytes can be loaded from any position that overlaps the headers:
 *
 *	0          64             68                           192
 *	| zeros    | 4 bytes ones | header mask, then zeros    |
 *
 * The 4 bytes of ones before the header replace the missing LRH, which counts as 8 bytes of ones.
 * CRC-32 starts with a register of ones, so the first four cancel it, and the other four follow a
 * register of zero.
 */
enum {
	ICRC_ONES_PREFIX = 4,
	ICRC_ONES_HEADER = 68, /* where the mask of the IP header starts */
	ICRC_ONES_BYTES = 192,
};

extern const uint8_t plx_icrc_ones[2][ICRC_ONES_BYTES];

/* An empty packet has no version to read. */
static inline const uint8_t *
icrc_ones_for(const uint8_t *ip, size_t len)
{
	return plx_icrc_ones[len && ip[0] >> 4 == 6];
}

/* Both implementations get the number of bytes to cover here, so that one mutant changes both. */
static inline size_t
icrc_covered(size_t len)
{
	return PLX_MUTANT(ICRC_SHORT) && len ? len - 1 : len;
}

#endif
