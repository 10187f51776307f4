/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where each field of each message lies: on the wire, and in struct plx_cm_msg.
 * It never reads or writes one; codec.c does, the same way for all.
 */
#ifndef PLX_MAD_LAYOUT_H
#define PLX_MAD_LAYOUT_H

#include "plx_mad.h"

/* A field. Wider than 64 bits it is a string of bytes, else an integer in host byte order. */
struct mad_field {
	uint16_t at;       /* in struct plx_cm_msg, */
	uint16_t at_bytes; /* ... and how much room it has there */
	uint16_t bit; /* on the wire: from the start of the datagram, highest bit of a byte first */
	uint16_t bits;
};

struct mad_layout {
	const struct mad_field *fields;
	uint32_t count;
};

/* The header's fields that differ from message to message, and those of the message; no fields
 * when `kind` is none that we know. */
extern const struct mad_layout mad_header_layout;
const struct mad_layout *mad_layout(uint16_t kind);

#endif
