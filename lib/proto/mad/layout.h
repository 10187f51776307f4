/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The position of each field of each message, in the datagram and in struct plx_cm_msg.
 * It never reads or writes one; codec.c does, in the same way for all.
 */
#ifndef PLX_MAD_LAYOUT_H
#define PLX_MAD_LAYOUT_H

#include "plx_mad.h"

/* A field. If it is wider than 64 bits it is a byte string, else an integer in host byte order. */
struct mad_field {
	uint16_t at;       /* offset in struct plx_cm_msg */
	uint16_t at_bytes; /* ... and size there */
	uint16_t bit; /* in the datagram, counted from its start, highest bit of a byte first */
	uint16_t bits;
};

struct mad_layout {
	const struct mad_field *fields;
	uint32_t count;
};

/*
 * The header fields that differ between messages, and the fields of a message. An unknown `kind`
 * has no fields.
 */
extern const struct mad_layout mad_header_layout;
const struct mad_layout *mad_layout(uint16_t kind);

#endif
