/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the implementations of the ICRC share: which bits are read as ones, and how far it goes.
 * It never computes. Private to the room.
 */
#ifndef PLX_WIRE_ICRC_H
#define PLX_WIRE_ICRC_H

#include "plx_wire.h"

/*
 * The bits that are read as ones, for IPv4 in row 0 and IPv6 in row 1. Zeros stand on both sides,
 * so that a vector of 64 bytes may be loaded from any place that overlaps the headers:
 *
 *	0          64             68                           192
 *	| zeros    | 4 bytes ones | header mask, then zeros    |
 *
 * The four ones before the header stand for the missing LRH: CRC-32 starts with a register of
 * ones, so the first four of the eight bytes of ones cancel it, and the others follow on zero.
 */
enum {
	ICRC_ONES_PREFIX = 4,
	ICRC_ONES_HEADER = 68, /* where the mask of the IP header starts */
	ICRC_ONES_BYTES = 192,
};

extern const uint8_t plx_icrc_ones[2][ICRC_ONES_BYTES];

/* An empty packet has no version nibble to read. */
static inline const uint8_t *
icrc_ones_for(const uint8_t *ip, size_t len)
{
	return plx_icrc_ones[len && ip[0] >> 4 == 6];
}

/* Both implementations ask here how many bytes they cover, so that one fault changes both. */
static inline size_t
icrc_covered(size_t len)
{
	return PLX_MUTANT(ICRC_SHORT) && len ? len - 1 : len;
}

#endif
