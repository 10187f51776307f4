/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every bit of every message: the field it decodes to, the field it is encoded from, and that it
 * affects no other. Also every refusal, with its verdict. Start with
 * a_bit_on_the_wire_is_one_bit_of_one_field().
 */
#include "test.h"
#include "map.h"

#include <stdlib.h>

/* A datagram of that kind in which everything else is zero. */
static void
make_plain(uint16_t kind, uint8_t *out)
{
	memset(out, 0, PLX_MAD_BYTES);
	out[0] = 1;
	out[1] = 0x07;
	out[2] = 2;
	out[3] = 0x03;
	out[16] = (uint8_t)(kind >> 8);
	out[17] = (uint8_t)kind;
}

/* Decode from a block of exactly that many bytes: reading one more is seen. */
static enum plx_mad_verdict
decode(const uint8_t *bytes, size_t len, struct plx_cm_msg *out)
{
	uint8_t *exact = malloc(len ? len : 1);
	enum plx_mad_verdict verdict;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	memset(out, 0, sizeof *out);
	verdict = plx_mad_decode(exact, len, out);
	free(exact);
	return verdict;
}

/* Set one bit of a strip in a message in host order. */
static void
set_bit(struct plx_cm_msg *msg, const struct strip *strip, uint32_t within)
{
	uint8_t *at = (uint8_t *)msg + strip->at;

	if (strip_is_string(strip)) {
		at[within / 8] |= (uint8_t)(0x80 >> within % 8);
		return;
	}
	switch (strip->bytes) {
	case 1:
		*at |= (uint8_t)(1u << within);
		return;
	case 2:
		*(uint16_t *)(void *)at |= (uint16_t)(1u << within);
		return;
	case 4:
		*(uint32_t *)(void *)at |= UINT32_C(1) << within;
		return;
	default:
		assert_int_equal(strip->bytes, 8);
		*(uint64_t *)(void *)at |= UINT64_C(1) << within;
		return;
	}
}

static void
the_strips_of_each_map_fill_a_datagram(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MAPS; i++) {
		uint32_t bits = CONSTANT_BITS;

		for (uint32_t k = 0; k < maps[i].count; k++) {
			const struct strip *strip = &maps[i].strips[k];

			bits += strip->width;
			assert_true(strip->width <= strip->bytes * 8 || strip->bytes == 0);
			assert_true(!strip_is_string(strip) || strip->width == strip->bytes * 8);
		}
		assert_int_equal(bits, MAD_BITS);
	}
}

/* The attribute's own bits make it another message, the constants' none; not walked here. */
static bool
is_walked(uint32_t bit)
{
	return bit >= CONSTANT_BITS && !(bit >= 16 * 8 && bit < 18 * 8);
}

static void
a_bit_on_the_wire_is_one_bit_of_one_field(void **state)
{
	uint32_t walked = 0, reserved = 0;

	(void)state;
	for (uint32_t i = 0; i < MAPS; i++) {
		for (uint32_t bit = 0; bit < MAD_BITS; bit++) {
			uint8_t bytes[PLX_MAD_BYTES];
			struct plx_cm_msg msg, expected = {.kind = maps[i].kind};
			uint32_t within;
			const struct strip *strip = strip_of(&maps[i], bit, &within);

			if (!is_walked(bit))
				continue;
			make_plain(maps[i].kind, bytes);
			bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
			if (strip)
				set_bit(&expected, strip, within);
			(void)decode(bytes, sizeof bytes, &msg);
			if (memcmp(&msg, &expected, sizeof msg) != 0)
				fail_msg("%s, bit %u, %s", maps[i].name, bit,
					 strip ? strip->name : "reserved");
			walked++;
			reserved += !strip;
		}
	}
	assert_int_equal(walked, MAPS * (MAD_BITS - CONSTANT_BITS - 16));
	/* All have 8 bytes of the header; the rest is counted in the tables by hand. */
	assert_int_equal(reserved, MAPS * 64 + (32 + 32 + 2 * 12) + (6 + 3) + (6 + 1) + 28 + 0 + 8 +
					   0 + 16 + (16 + 8));
}

static void
a_bit_of_a_field_is_one_bit_on_the_wire(void **state)
{
	uint32_t walked = 0;

	(void)state;
	for (uint32_t i = 0; i < MAPS; i++) {
		for (uint32_t bit = 0; bit < MAD_BITS; bit++) {
			uint8_t expected[PLX_MAD_BYTES], out[PLX_MAD_BYTES];
			struct plx_cm_msg msg = {.kind = maps[i].kind};
			uint32_t within;
			const struct strip *strip = strip_of(&maps[i], bit, &within);

			if (!is_walked(bit) || !strip)
				continue;
			make_plain(maps[i].kind, expected);
			expected[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
			set_bit(&msg, strip, within);
			memset(out, 0xa5, sizeof out);
			plx_mad_encode(&msg, out);
			if (memcmp(out, expected, sizeof out) != 0)
				fail_msg("%s, bit %u, %s", maps[i].name, bit, strip->name);
			walked++;
		}
	}
	assert_true(walked > 16000);
}

/* Integers that have more bits in the struct than on the wire. */
static void
what_is_wider_than_its_field_is_cut(void **state)
{
	uint32_t cut = 0;

	(void)state;
	for (uint32_t i = 0; i < MAPS; i++) {
		for (uint32_t k = 0; k < maps[i].count; k++) {
			const struct strip *strip = &maps[i].strips[k];
			struct plx_cm_msg msg = {.kind = maps[i].kind};
			uint8_t all[PLX_MAD_BYTES], fitting[PLX_MAD_BYTES];

			if (strip->width == strip->bytes * 8 || strip->bytes == 0 ||
			    strip->width == 1)
				continue;
			for (uint32_t bit = 0; bit < strip->width; bit++)
				set_bit(&msg, strip, bit);
			plx_mad_encode(&msg, fitting);
			for (uint32_t bit = strip->width; bit < strip->bytes * 8; bit++)
				set_bit(&msg, strip, bit);
			plx_mad_encode(&msg, all);
			assert_memory_equal(all, fitting, sizeof all);
			cut++;
		}
	}
	assert_int_equal(cut, 12 + 2 * 4 + 2 + 2 + 6 + 1 + 1);
}

static void
only_256_bytes_are_a_datagram(void **state)
{
	uint8_t bytes[300];
	struct plx_cm_msg msg;

	(void)state;
	for (uint32_t i = 0; i < MAPS; i++) {
		memset(bytes, 0, sizeof bytes);
		make_plain(maps[i].kind, bytes);
		for (size_t len = 0; len <= sizeof bytes; len++)
			assert_int_equal(decode(bytes, len, &msg),
					 len == 256 ? PLX_MAD_OK : PLX_MAD_LENGTH);
	}
}

static void
each_constant_of_the_header_has_one_good_value(void **state)
{
	static const struct {
		uint8_t at, good;
		enum plx_mad_verdict verdict;
	} constants[] = {
		{0, 1, PLX_MAD_VERSION},
		{1, 0x07, PLX_MAD_CLASS},
		{2, 2, PLX_MAD_CLASS_VERSION},
		{3, 0x03, PLX_MAD_METHOD},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(constants); i++) {
		for (unsigned v = 0; v < 256; v++) {
			uint8_t bytes[PLX_MAD_BYTES];
			struct plx_cm_msg msg;

			make_plain(PLX_CM_REQ, bytes);
			bytes[constants[i].at] = (uint8_t)v;
			assert_int_equal(decode(bytes, sizeof bytes, &msg),
					 v == constants[i].good ? PLX_MAD_OK
								: constants[i].verdict);
		}
	}
}

static void
nine_attributes_of_65536_are_known(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned kind = 0; kind < 65536; kind++) {
		uint8_t bytes[PLX_MAD_BYTES];
		struct plx_cm_msg msg;
		enum plx_mad_verdict verdict;

		make_plain((uint16_t)kind, bytes);
		verdict = decode(bytes, sizeof bytes, &msg);
		assert_int_equal(verdict,
				 kind >= 0x10 && kind <= 0x18 ? PLX_MAD_OK : PLX_MAD_ATTRIBUTE);
		known += verdict == PLX_MAD_OK;
	}
	assert_int_equal(known, MAPS);
}

static void
a_length_of_more_than_72_bytes_of_information_lies(void **state)
{
	(void)state;
	for (unsigned length = 0; length < 256; length++) {
		uint8_t bytes[PLX_MAD_BYTES];
		struct plx_cm_msg msg;

		make_plain(PLX_CM_SIDR_REP, bytes);
		bytes[24 + 5] = (uint8_t)length;
		assert_int_equal(decode(bytes, sizeof bytes, &msg),
				 length <= 72 ? PLX_MAD_OK : PLX_MAD_FIELD);
		/* seven bits, and a reserved one without meaning */
		make_plain(PLX_CM_REJ, bytes);
		bytes[24 + 9] = (uint8_t)length;
		assert_int_equal(decode(bytes, sizeof bytes, &msg),
				 length >> 1 <= 72 ? PLX_MAD_OK : PLX_MAD_FIELD);
	}
}

/* Any bytes behind a valid header, repeatedly: encoding what was decoded returns the same bytes,
 * without the reserved bits. */
static void
random_messages_come_back_without_their_reserved_bits(void **state)
{
	struct plx_prng prng;
	unsigned good = 0;

	(void)state;
	plx_prng_init(&prng, 1);
	for (unsigned round = 0; round < 20000; round++) {
		const struct map *map = &maps[round % MAPS];
		uint8_t bytes[PLX_MAD_BYTES], head[PLX_MAD_BYTES], again[PLX_MAD_BYTES];
		struct plx_cm_msg msg;

		for (uint32_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)plx_prng_next(&prng);
		make_plain(map->kind, head);
		memcpy(bytes, head, 4);
		memcpy(bytes + 16, head + 16, 2);
		if (decode(bytes, sizeof bytes, &msg) != PLX_MAD_OK)
			continue;
		plx_mad_encode(&msg, again);
		for (uint32_t bit = CONSTANT_BITS; bit < MAD_BITS; bit++) {
			uint32_t within;

			if (!strip_of(map, bit, &within))
				bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
		}
		assert_memory_equal(again, bytes, sizeof bytes);
		good++;
	}
	assert_true(good > 15000);
}

static void
every_verdict_has_a_sentence_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < PLX_MAD_VERDICT_COUNT; i++) {
		for (int j = 0; j < i; j++)
			assert_string_not_equal(plx_mad_verdict_text((enum plx_mad_verdict)i),
						plx_mad_verdict_text((enum plx_mad_verdict)j));
	}
	assert_string_equal(plx_mad_verdict_text(PLX_MAD_VERDICT_COUNT), "not a MAD verdict");
	assert_string_equal(plx_mad_verdict_text((enum plx_mad_verdict) - 1), "not a MAD verdict");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_strips_of_each_map_fill_a_datagram),
		cmocka_unit_test(a_bit_on_the_wire_is_one_bit_of_one_field),
		cmocka_unit_test(a_bit_of_a_field_is_one_bit_on_the_wire),
		cmocka_unit_test(what_is_wider_than_its_field_is_cut),
		cmocka_unit_test(only_256_bytes_are_a_datagram),
		cmocka_unit_test(each_constant_of_the_header_has_one_good_value),
		cmocka_unit_test(nine_attributes_of_65536_are_known),
		cmocka_unit_test(a_length_of_more_than_72_bytes_of_information_lies),
		cmocka_unit_test(random_messages_come_back_without_their_reserved_bits),
		cmocka_unit_test(every_verdict_has_a_sentence_of_its_own),
	};

	return cmocka_run_group_tests_name("mad/codec", tests, NULL, NULL);
}
