/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ICRC with ISA-L, the choice of an implementation, and the four bytes sent. It never writes to
 * the packet that it reads, and never judges: the caller compares.
 * Spec: IBTA Annex A17, A17.3.3; plx_icrc_ones below has the masked fields.
 */
#include "icrc.h"

#include <isa-l/crc.h>

#define ONES ICRC_ONES_HEADER

const uint8_t plx_icrc_ones[2][ICRC_ONES_BYTES] PLX_ALIGNED_LINE = {
	{
		[ONES - 4] = 0xff,
		[ONES - 3] = 0xff,
		[ONES - 2] = 0xff,
		[ONES - 1] = 0xff, /* replaces the LRH: see icrc.h */
		[ONES + 1] = 0xff, /* TOS */
		[ONES + 8] = 0xff, /* TTL */
		[ONES + 10] = 0xff,
		[ONES + 11] = 0xff, /* header checksum */
		[ONES + 26] = 0xff,
		[ONES + 27] = 0xff, /* UDP checksum */
		[ONES + 32] = 0xff, /* BTH: FECN, BECN, reserved */
	},
	{
		[ONES - 4] = 0xff,
		[ONES - 3] = 0xff,
		[ONES - 2] = 0xff,
		[ONES - 1] = 0xff, /* replaces the LRH: see icrc.h */
		[ONES + 0] = 0x0f,
		[ONES + 1] = 0xff,
		[ONES + 2] = 0xff,
		[ONES + 3] = 0xff, /* traffic class and flow label, without the version */
		[ONES + 7] = 0xff, /* hop limit */
		[ONES + 46] = 0xff,
		[ONES + 47] = 0xff, /* UDP checksum */
		[ONES + 52] = 0xff, /* BTH: FECN, BECN, reserved */
	},
};

/* CRC-32 of eight bytes of ones, which the headers continue. */
#define CRC_OF_ONES 0x2144df1c

enum {
	/* One cache line contains all masked bytes, and is the length that suits ISA-L best. */
	HEAD_BYTES = 64,
};

uint32_t
plx_icrc_isal(const uint8_t *ip, size_t len)
{
	const uint8_t *ones = icrc_ones_for(ip, len) + ICRC_ONES_HEADER;
	uint8_t head[HEAD_BYTES];
	uint32_t crc;

	len = icrc_covered(len);
	if (plx_likely(len >= HEAD_BYTES)) {
		for (size_t i = 0; i < HEAD_BYTES; i++)
			head[i] = ip[i] | ones[i];
		crc = crc32_gzip_refl(CRC_OF_ONES, head, HEAD_BYTES);
		return crc32_gzip_refl(crc, ip + HEAD_BYTES, len - HEAD_BYTES);
	}
	for (size_t i = 0; i < len; i++)
		head[i] = ip[i] | ones[i];
	return crc32_gzip_refl(CRC_OF_ONES, head, len);
}

plx_icrc_fn
plx_icrc_choose(void)
{
	return plx_icrc_has_onepass() ? plx_icrc_onepass : plx_icrc_isal;
}

void
plx_icrc_store(uint32_t icrc, uint8_t *out)
{
	out[0] = (uint8_t)icrc;
	out[1] = (uint8_t)(icrc >> 8);
	out[2] = (uint8_t)(icrc >> 16);
	out[3] = (uint8_t)(icrc >> 24);
}

uint32_t
plx_icrc_load(const uint8_t *in)
{
	return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
	       (uint32_t)in[3] << 24;
}
