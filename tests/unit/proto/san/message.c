/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the session protocol: each kind there and back, and everything that is none.
 * Start with every_kind_comes_back().
 */
#include "test.h"

#include "plx_san_message.h"

enum {
	PAYLOAD = 5, /* [bytes] where a kind may have any number */
	MESSAGE_MAX = PLX_SAN_HEAD_MAX + PAYLOAD,
	LENGTHS = 200,
	STRANGERS = 2000000,
	CREDITS_AT = PLX_SAN_HEADER_BYTES + 8,
	PAYLOAD_BYTES_AT = PLX_SAN_HEADER_BYTES + 12,
};

static const struct plx_san_descriptor descriptor = {.length = 3, .bytes = {7, 8, 9}};

/* One of each kind, with every field of it. */
static struct plx_san_message
message_of(enum plx_san_kind kind)
{
	struct plx_san_message m = {
		.kind = kind, .credits_seen = 0x1234, .epoch = 0x89abcdef, .posted = 0xfedcba98};

	if (kind == PLX_SAN_DATA || kind == PLX_SAN_OFFER)
		m.payload = PAYLOAD;
	if (kind == PLX_SAN_URGENT)
		m.payload = 1;
	if (kind == PLX_SAN_HELLO) {
		m.hello.version = PLX_SAN_VERSION;
		m.hello.reads = true;
		m.hello.credits = 12;
		m.hello.payload_bytes = 4096;
	} else if (kind == PLX_SAN_OFFER) {
		m.offer.bytes = UINT64_C(0x123456789a);
		m.offer.from = descriptor;
	} else if (kind == PLX_SAN_READY) {
		m.ready.bytes = 0x10203;
		m.ready.to = descriptor;
	} else if (kind == PLX_SAN_SUSPEND) {
		m.suspend.read = UINT64_C(0xa987654321);
	}
	return m;
}

/* Returns: bytes of it */
static uint32_t
build(enum plx_san_kind kind, uint8_t *out)
{
	const struct plx_san_message m = message_of(kind);
	uint32_t head;

	memset(out, 0xee, MESSAGE_MAX);
	head = plx_san_encode(&m, out);
	assert_true(head <= PLX_SAN_HEAD_MAX);
	return head + m.payload;
}

static enum plx_san_decoded
decode(const uint8_t *in, uint32_t bytes)
{
	struct plx_san_message m;
	uint32_t at;

	return plx_san_decode(in, bytes, &m, &at);
}

static void
every_kind_comes_back(void **state)
{
	uint8_t bytes[MESSAGE_MAX];

	(void)state;
	for (unsigned k = 1; k < PLX_SAN_KIND_COUNT; k++) {
		enum plx_san_kind kind = (enum plx_san_kind)k;
		const struct plx_san_message sent = message_of(kind);
		uint32_t n = build(kind, bytes), at;
		struct plx_san_message m;

		assert_int_equal(plx_san_decode(bytes, n, &m, &at), PLX_SAN_DECODED);
		assert_int_equal(at, n - sent.payload);
		assert_memory_equal(&m, &sent, sizeof(m));
	}
}

static void
a_message_has_one_length(void **state)
{
	uint8_t bytes[LENGTHS] = {0};

	(void)state;
	for (unsigned k = 1; k < PLX_SAN_KIND_COUNT; k++) {
		uint32_t right = build((enum plx_san_kind)k, bytes);

		for (uint32_t n = 0; n < LENGTHS; n++)
			assert_int_equal(decode(bytes, n),
					 n == right ? PLX_SAN_DECODED : PLX_SAN_BAD_MESSAGE);
		assert_int_equal(plx_san_message_bytes(bytes, LENGTHS), right);
		assert_int_equal(plx_san_message_bytes(bytes, PLX_SAN_HEAD_MAX),
				 right <= PLX_SAN_HEAD_MAX ? right : 0);
	}
	bytes[0] = PLX_SAN_NOTHING;
	assert_int_equal(plx_san_message_bytes(bytes, LENGTHS), 0);
	bytes[0] = PLX_SAN_KIND_COUNT;
	assert_int_equal(plx_san_message_bytes(bytes, LENGTHS), 0);
}

static void
no_other_kind_exists(void **state)
{
	uint8_t bytes[MESSAGE_MAX];
	uint32_t n = build(PLX_SAN_CREDIT, bytes);

	(void)state;
	for (unsigned k = 0; k < 256; k++) {
		bytes[0] = (uint8_t)k;
		if (k == PLX_SAN_NOTHING || k >= PLX_SAN_KIND_COUNT)
			assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
	}
	build(PLX_SAN_CREDIT, bytes);
	bytes[1] = 1;
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
}

static void
payload_is_for_those_that_have_one(void **state)
{
	static const struct {
		enum plx_san_kind kind;
		uint32_t payload;
		enum plx_san_decoded result;
	} cases[] = {
		{PLX_SAN_DATA, 0, PLX_SAN_BAD_MESSAGE},   {PLX_SAN_DATA, 1, PLX_SAN_DECODED},
		{PLX_SAN_OFFER, 0, PLX_SAN_DECODED},      {PLX_SAN_URGENT, 0, PLX_SAN_BAD_MESSAGE},
		{PLX_SAN_URGENT, 2, PLX_SAN_BAD_MESSAGE}, {PLX_SAN_FIN, 1, PLX_SAN_BAD_MESSAGE},
		{PLX_SAN_CREDIT, 1, PLX_SAN_BAD_MESSAGE}, {PLX_SAN_SUSPEND, 1, PLX_SAN_BAD_MESSAGE},
	};
	uint8_t bytes[MESSAGE_MAX] = {0};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		struct plx_san_message m = message_of(cases[i].kind);
		uint32_t head;

		m.payload = cases[i].payload;
		head = plx_san_encode(&m, bytes);
		assert_int_equal(decode(bytes, head + m.payload), cases[i].result);
	}
}

/* ---- HELLO ---- */

static void
another_version_is_told_apart_whatever_its_length(void **state)
{
	uint8_t bytes[LENGTHS] = {0};
	uint32_t n;

	(void)state;
	n = build(PLX_SAN_HELLO, bytes);
	bytes[PLX_SAN_HEADER_BYTES + 5]++;
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_VERSION);
	assert_int_equal(decode(bytes, n + 40), PLX_SAN_BAD_VERSION);
	build(PLX_SAN_HELLO, bytes);
	bytes[PLX_SAN_HEADER_BYTES] ^= 0x40; /* of the magic number */
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_VERSION);
	assert_int_equal(decode(bytes, PLX_SAN_HEADER_BYTES + 5), PLX_SAN_BAD_MESSAGE);
}

static void
what_a_hello_says_is_in_range(void **state)
{
	static const struct {
		uint32_t at, value;
		enum plx_san_decoded result;
	} cases[] = {
		{CREDITS_AT, 0, PLX_SAN_BAD_MESSAGE},
		{CREDITS_AT, 1, PLX_SAN_DECODED},
		{CREDITS_AT, PLX_SAN_CREDITS_MAX, PLX_SAN_DECODED},
		{CREDITS_AT, PLX_SAN_CREDITS_MAX + 1, PLX_SAN_BAD_MESSAGE},
		{PAYLOAD_BYTES_AT, PLX_SAN_PAYLOAD_MIN - 1, PLX_SAN_BAD_MESSAGE},
		{PAYLOAD_BYTES_AT, PLX_SAN_PAYLOAD_MIN, PLX_SAN_DECODED},
		{PAYLOAD_BYTES_AT, PLX_SAN_PAYLOAD_MAX, PLX_SAN_DECODED},
		{PAYLOAD_BYTES_AT, PLX_SAN_PAYLOAD_MAX + 1, PLX_SAN_BAD_MESSAGE},
		/* version and flags: one that is not known */
		{PLX_SAN_HEADER_BYTES + 4, PLX_SAN_VERSION << 16 | 3, PLX_SAN_BAD_MESSAGE},
		{PLX_SAN_HEADER_BYTES + 4, PLX_SAN_VERSION << 16, PLX_SAN_DECODED},
	};
	uint8_t bytes[MESSAGE_MAX];

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		uint32_t n = build(PLX_SAN_HELLO, bytes);

		for (uint32_t k = 0; k < 4; k++)
			bytes[cases[i].at + k] = (uint8_t)(cases[i].value >> (24 - 8 * k));
		assert_int_equal(decode(bytes, n), cases[i].result);
	}
}

static void
a_hello_fits_what_a_provider_keeps(void **state)
{
	uint8_t bytes[MESSAGE_MAX];

	(void)state;
	assert_true(build(PLX_SAN_HELLO, bytes) <= 256);
}

static void
kinds_have_texts(void **state)
{
	(void)state;
	assert_string_equal(plx_san_kind_text(PLX_SAN_DATA), "DATA");
	assert_string_equal(plx_san_kind_text(PLX_SAN_NOTHING), "no message");
	assert_string_equal(plx_san_kind_text(PLX_SAN_KIND_COUNT), "no message");
	assert_true(plx_san_is_data(PLX_SAN_FIN));
	assert_false(plx_san_is_data(PLX_SAN_CREDIT) || plx_san_is_data(PLX_SAN_KIND_COUNT));
}

/* ---- descriptors ---- */

static void
descriptors_have_one_form(void **state)
{
	uint8_t bytes[MESSAGE_MAX];
	uint32_t at = PLX_SAN_HEADER_BYTES + 4, n = build(PLX_SAN_READY, bytes);

	(void)state;
	bytes[at] = PLX_SAN_DESCRIPTOR_MAX + 1;
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
	bytes[at] = PLX_SAN_DESCRIPTOR_MAX;
	assert_int_equal(decode(bytes, n), PLX_SAN_DECODED);
	bytes[at] = 2; /* a byte is left behind it */
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
	build(PLX_SAN_READY, bytes);
	bytes[at + 1] = 1; /* reserved */
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
}

static void
nothing_is_not_offered(void **state)
{
	uint8_t bytes[MESSAGE_MAX];
	uint32_t n = build(PLX_SAN_OFFER, bytes);

	(void)state;
	memset(bytes + PLX_SAN_HEADER_BYTES, 0, 8);
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
	/* Without a descriptor it is to be WRITTEN. */
	build(PLX_SAN_OFFER, bytes);
	memset(bytes + PLX_SAN_HEADER_BYTES + 8, 0, PLX_SAN_DESCRIPTOR_BYTES);
	assert_int_equal(decode(bytes, n), PLX_SAN_DECODED);
	n = build(PLX_SAN_READY, bytes);
	memset(bytes + PLX_SAN_HEADER_BYTES, 0, 4);
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
	build(PLX_SAN_READY, bytes);
	memset(bytes + PLX_SAN_HEADER_BYTES + 4, 0, PLX_SAN_DESCRIPTOR_BYTES);
	assert_int_equal(decode(bytes, n), PLX_SAN_BAD_MESSAGE);
}

/* ---- anything ---- */

/* What is accepted is what its own fields would be written as. */
static void
what_is_accepted_has_one_form(void **state)
{
	uint32_t accepted = 0;
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 1);
	for (uint32_t i = 0; i < STRANGERS; i++) {
		enum plx_san_kind kind =
			(enum plx_san_kind)(1 + plx_prng_below(&prng, PLX_SAN_KIND_COUNT - 1));
		uint8_t bytes[MESSAGE_MAX], again[PLX_SAN_HEAD_MAX];
		uint32_t n = build(kind, bytes), at;
		struct plx_san_message m;

		for (uint64_t flips = plx_prng_below(&prng, 3); flips > 0; flips--)
			bytes[plx_prng_below(&prng, n)] ^= (uint8_t)(1 << plx_prng_below(&prng, 8));
		if (plx_san_decode(bytes, n, &m, &at) != PLX_SAN_DECODED)
			continue;
		assert_int_equal(plx_san_encode(&m, again), at);
		assert_memory_equal(again, bytes, at);
		accepted++;
	}
	assert_in_range(accepted, STRANGERS / 4, STRANGERS - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back),
		cmocka_unit_test(a_message_has_one_length),
		cmocka_unit_test(no_other_kind_exists),
		cmocka_unit_test(payload_is_for_those_that_have_one),
		cmocka_unit_test(another_version_is_told_apart_whatever_its_length),
		cmocka_unit_test(what_a_hello_says_is_in_range),
		cmocka_unit_test(a_hello_fits_what_a_provider_keeps),
		cmocka_unit_test(kinds_have_texts),
		cmocka_unit_test(descriptors_have_one_form),
		cmocka_unit_test(nothing_is_not_offered),
		cmocka_unit_test(what_is_accepted_has_one_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
