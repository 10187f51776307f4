/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages to bytes and back. Start with plx_san_decode().
 */
#include <stdatomic.h>

#include "plx_bytes.h"
#include "plx_san_message.h"

enum {
	MAGIC = 0x504c5853, /* "PLXS" */
	CREDITS_SEEN_AT = 2,
	EPOCH_AT = 4,
	POSTED_AT = 8,
	PAYLOAD_AT = 12,
	BODY_AT = PLX_SAN_HEADER_BYTES,

	HELLO_READS = 1, /* flag */
};

#define ANY UINT32_MAX

/* What a kind has: body, and the least and the most payload [bytes]. */
static const struct {
	const char *text;
	bool data;
	uint8_t body;
	uint32_t least, most;
} kinds[PLX_SAN_KIND_COUNT] = {
#define PLX_X(name, is_data, body_bytes, payload_least, payload_most, words) \
	[PLX_SAN_##name] = {words, is_data, body_bytes, payload_least, payload_most},
	PLX_SAN_KIND_LIST(PLX_X)
#undef PLX_X
};

bool
plx_san_is_data(enum plx_san_kind kind)
{
	return (unsigned)kind < PLX_SAN_KIND_COUNT && kinds[kind].data;
}

const char *
plx_san_kind_text(enum plx_san_kind kind)
{
	return (unsigned)kind < PLX_SAN_KIND_COUNT && kinds[kind].text != NULL ? kinds[kind].text
									       : "no message";
}

static void
store_descriptor(uint8_t *at, const struct plx_san_descriptor *descriptor)
{
	memset(at, 0, PLX_SAN_DESCRIPTOR_BYTES);
	at[0] = descriptor->length;
	memcpy(at + 4, descriptor->bytes, descriptor->length);
}

/* What is behind its length must be zero, so that a message has one form. */
static bool
load_descriptor(const uint8_t *at, struct plx_san_descriptor *out)
{
	static const uint8_t zero[PLX_SAN_DESCRIPTOR_MAX];
	uint8_t length = at[0];

	if (length > PLX_SAN_DESCRIPTOR_MAX || memcmp(at + 1, zero, 3) != 0 ||
	    memcmp(at + 4 + length, zero, PLX_SAN_DESCRIPTOR_MAX - (size_t)length) != 0)
		return false;
	*out = (struct plx_san_descriptor){.length = length};
	memcpy(out->bytes, at + 4, length);
	return true;
}

uint32_t
plx_san_encode(const struct plx_san_message *message, uint8_t *out)
{
	uint8_t *body = out + BODY_AT;

	out[0] = (uint8_t)message->kind;
	out[1] = 0;
	plx_be16_store(out + CREDITS_SEEN_AT, message->credits_seen);
	plx_be32_store(out + EPOCH_AT, message->epoch);
	plx_be32_store(out + POSTED_AT, message->posted);
	plx_be32_store(out + PAYLOAD_AT, message->payload);
	if (message->kind == PLX_SAN_HELLO) {
		plx_be32_store(body, MAGIC);
		plx_be16_store(body + 4, message->hello.version);
		plx_be16_store(body + 6, message->hello.reads ? HELLO_READS : 0);
		plx_be32_store(body + 8, message->hello.credits);
		plx_be32_store(body + 12, message->hello.payload_bytes);
	} else if (message->kind == PLX_SAN_OFFER) {
		plx_be64_store(body, message->offer.bytes);
		store_descriptor(body + 8, &message->offer.from);
	} else if (message->kind == PLX_SAN_READY) {
		plx_be32_store(body, message->ready.bytes);
		store_descriptor(body + 4, &message->ready.to);
	} else if (message->kind == PLX_SAN_SUSPEND) {
		plx_be64_store(body, message->suspend.read);
	}
	return BODY_AT + (uint32_t)kinds[message->kind].body;
}

/* Magic and version keep their places, whatever follows them in another version. */
static bool
is_other_version(const uint8_t *in, uint32_t bytes)
{
	const uint8_t *body = in + BODY_AT;

	return bytes >= BODY_AT + 6 &&
	       (plx_be32_load(body) != MAGIC || plx_be16_load(body + 4) != PLX_SAN_VERSION);
}

static bool
decode_hello(const uint8_t *body, struct plx_san_message *out)
{
	uint16_t flags = plx_be16_load(body + 6);

	out->hello.version = plx_be16_load(body + 4);
	out->hello.reads = flags & HELLO_READS;
	out->hello.credits = plx_be32_load(body + 8);
	out->hello.payload_bytes = plx_be32_load(body + 12);
	return (flags & ~HELLO_READS) == 0 && out->hello.credits >= 1 &&
	       out->hello.credits <= PLX_SAN_CREDITS_MAX &&
	       out->hello.payload_bytes >= PLX_SAN_PAYLOAD_MIN &&
	       out->hello.payload_bytes <= PLX_SAN_PAYLOAD_MAX;
}

static bool
decode_offer(const uint8_t *body, struct plx_san_message *out)
{
	out->offer.bytes = plx_be64_load(body);
	return out->offer.bytes > 0 && load_descriptor(body + 8, &out->offer.from);
}

static bool
decode_ready(const uint8_t *body, struct plx_san_message *out)
{
	out->ready.bytes = plx_be32_load(body);
	return out->ready.bytes > 0 && load_descriptor(body + 4, &out->ready.to) &&
	       out->ready.to.length > 0;
}

static bool
decode_body(const uint8_t *body, struct plx_san_message *out)
{
	if (out->kind == PLX_SAN_HELLO)
		return decode_hello(body, out);
	if (out->kind == PLX_SAN_OFFER)
		return decode_offer(body, out);
	if (out->kind == PLX_SAN_READY)
		return decode_ready(body, out);
	if (out->kind == PLX_SAN_SUSPEND)
		out->suspend.read = plx_be64_load(body);
	return true;
}

/* Others may write a message while it is read: what is judged is a copy, made once. */
static void
copy_head(uint8_t *head, const uint8_t *in, uint32_t bytes)
{
	memcpy(head, in, bytes < PLX_SAN_HEAD_MAX ? bytes : PLX_SAN_HEAD_MAX);
	atomic_signal_fence(memory_order_seq_cst);
}

enum plx_san_decoded
plx_san_decode(const uint8_t *message, uint32_t bytes, struct plx_san_message *out, uint32_t *at)
{
	uint8_t in[PLX_SAN_HEAD_MAX] = {0};

	copy_head(in, message, bytes);
	if (bytes < PLX_SAN_HEADER_BYTES || in[1] != 0 || in[0] == PLX_SAN_NOTHING ||
	    in[0] >= PLX_SAN_KIND_COUNT)
		return PLX_SAN_BAD_MESSAGE;
	if (in[0] == PLX_SAN_HELLO && is_other_version(in, bytes))
		return PLX_SAN_BAD_VERSION;
	*out = (struct plx_san_message){
		.kind = (enum plx_san_kind)in[0],
		.credits_seen = plx_be16_load(in + CREDITS_SEEN_AT),
		.epoch = plx_be32_load(in + EPOCH_AT),
		.posted = plx_be32_load(in + POSTED_AT),
		.payload = plx_be32_load(in + PAYLOAD_AT),
	};
	*at = BODY_AT + (uint32_t)kinds[out->kind].body;
	if (bytes < *at || bytes - *at != out->payload || out->payload < kinds[out->kind].least ||
	    out->payload > kinds[out->kind].most)
		return PLX_SAN_BAD_MESSAGE;
	return decode_body(in + BODY_AT, out) ? PLX_SAN_DECODED : PLX_SAN_BAD_MESSAGE;
}

uint32_t
plx_san_message_bytes(const uint8_t *message, uint32_t most)
{
	uint8_t in[PLX_SAN_HEAD_MAX];
	uint32_t head, payload;

	copy_head(in, message, sizeof(in));
	if (in[0] == PLX_SAN_NOTHING || in[0] >= PLX_SAN_KIND_COUNT)
		return 0;
	head = BODY_AT + (uint32_t)kinds[in[0]].body;
	payload = plx_be32_load(in + PAYLOAD_AT);
	return payload <= most - head ? head + payload : 0;
}
