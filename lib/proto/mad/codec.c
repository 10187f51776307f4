/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Management datagrams <-> struct plx_cm_msg, using the tables of layout.c. It never interprets a
 * field, except the lengths that two messages contain.
 * Start with plx_mad_decode().
 */
#include "plx_mad.h"
#include "layout.h"

enum {
	BASE_VERSION = 1,
	/* header fields that are the same in all messages of the class */
	AT_BASE_VERSION = 0,
	AT_CLASS = 1,
	AT_CLASS_VERSION = 2,
	AT_METHOD = 3,
};

static uint64_t
mask(unsigned bits)
{
	return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Number of bits after the field in its last byte. */
static unsigned
bits_behind(const struct mad_field *field)
{
	return 7 - (field->bit + field->bits - 1u) % 8;
}

/* An integer of 1, 2, 4 or 8 bytes in host byte order; bool is one byte of 0 or 1. */
static void
host_store(uint8_t *at, uint32_t bytes, uint64_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (bytes) {
	case 1:
		memcpy(at, &v8, sizeof v8);
		return;
	case 2:
		memcpy(at, &v16, sizeof v16);
		return;
	case 4:
		memcpy(at, &v32, sizeof v32);
		return;
	default:
		memcpy(at, &v, sizeof v);
		return;
	}
}

static uint64_t
host_load(const uint8_t *at, uint32_t bytes)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (bytes) {
	case 1:
		memcpy(&v8, at, sizeof v8);
		return v8;
	case 2:
		memcpy(&v16, at, sizeof v16);
		return v16;
	case 4:
		memcpy(&v32, at, sizeof v32);
		return v32;
	default:
		memcpy(&v64, at, sizeof v64);
		return v64;
	}
}

/* Eight bytes in network order; compilers turn it into one load. */
static uint64_t
load8(const uint8_t *at)
{
	return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
	       (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
	       (uint64_t)at[6] << 8 | at[7];
}

/*
 * The bytes [first, last] of a datagram, at most eight, as one number. For nearly all fields eight
 * bytes can be loaded at once, so that a flood is decoded as fast as any other packets.
 */
static uint64_t
load_bytes(const uint8_t *bytes, uint32_t first, uint32_t last)
{
	uint64_t v = 0;

	if (first + 8 <= PLX_MAD_BYTES)
		return load8(bytes + first) >> 8 * (7 - (last - first));
	for (uint32_t k = first; k <= last; k++)
		v = v << 8 | bytes[k];
	return v;
}

static void
decode_fields(const struct mad_layout *layout, const uint8_t *bytes, struct plx_cm_msg *msg)
{
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct mad_field *field = &layout->fields[i];
		uint8_t *at = (uint8_t *)msg + field->at;
		uint32_t first = field->bit / 8u, last = (field->bit + field->bits - 1u) / 8;

		if (field->bits > 64) {
			memcpy(at, bytes + first, field->at_bytes);
			continue;
		}
		host_store(at, field->at_bytes,
			   load_bytes(bytes, first, last) >> bits_behind(field) &
				   mask(field->bits));
	}
}

/* `out` is zero where fields are written. */
static void
encode_fields(const struct mad_layout *layout, const struct plx_cm_msg *msg, uint8_t *out)
{
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct mad_field *field = &layout->fields[i];
		const uint8_t *at = (const uint8_t *)msg + field->at;
		uint32_t first = field->bit / 8u, last = (field->bit + field->bits - 1u) / 8;
		uint64_t v;

		if (field->bits > 64) {
			memcpy(out + first, at, field->at_bytes);
			continue;
		}
		v = (host_load(at, field->at_bytes) & mask(field->bits)) << bits_behind(field);
		for (uint32_t k = last + 1; k-- > first; v >>= 8)
			out[k] |= (uint8_t)v;
	}
}

/* Additional information has 72 bytes; a message may claim more. */
static bool
lengths_lie(const struct plx_cm_msg *msg)
{
	return (msg->kind == PLX_CM_REJ && msg->rej.info_length > PLX_CM_REJ_INFO) ||
	       (msg->kind == PLX_CM_SIDR_REP && msg->sidr_rep.info_length > PLX_CM_SIDR_REP_INFO);
}

enum plx_mad_verdict
plx_mad_decode(const uint8_t *bytes, size_t len, struct plx_cm_msg *out)
{
	const struct mad_layout *layout;

	if (len != PLX_MAD_BYTES)
		return PLX_MAD_LENGTH;
	if (bytes[AT_BASE_VERSION] != BASE_VERSION)
		return PLX_MAD_VERSION;
	if (bytes[AT_CLASS] != PLX_MAD_CLASS_CM)
		return PLX_MAD_CLASS;
	if (bytes[AT_CLASS_VERSION] != PLX_MAD_CM_CLASS_VERSION)
		return PLX_MAD_CLASS_VERSION;
	if (bytes[AT_METHOD] != PLX_MAD_METHOD_SEND)
		return PLX_MAD_METHOD;
	decode_fields(&mad_header_layout, bytes, out);
	layout = mad_layout(out->kind);
	if (layout->count == 0)
		return PLX_MAD_ATTRIBUTE;
	decode_fields(layout, bytes, out);
	return lengths_lie(out) ? PLX_MAD_FIELD : PLX_MAD_OK;
}

void
plx_mad_encode(const struct plx_cm_msg *msg, uint8_t *out)
{
	const struct mad_layout *layout = mad_layout(msg->kind);

	PLX_ASSERT(layout->count > 0);
	memset(out, 0, PLX_MAD_BYTES);
	out[AT_BASE_VERSION] = BASE_VERSION;
	out[AT_CLASS] = PLX_MAD_CLASS_CM;
	out[AT_CLASS_VERSION] = PLX_MAD_CM_CLASS_VERSION;
	out[AT_METHOD] = PLX_MAD_METHOD_SEND;
	encode_fields(&mad_header_layout, msg, out);
	encode_fields(layout, msg, out);
}
