/* SPDX-License-Identifier: BSD-3-Clause
 *
 * BTH and extended headers, field by field: the position of each bit, decoded and encoded. Which
 * lengths and opcodes are accepted at all is tested in tests/table/wire.c.
 */
#include "test.h"
#include "plx_wire.h"

#include <stdio.h>
#include <stdlib.h>

static struct plx_pkt pkt;

/* Decode `len` bytes from a block of exactly that size; the payload pointer then dangles. */
static enum plx_wire_verdict
decode(const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len);
	enum plx_wire_verdict verdict;

	memcpy(exact, bytes, len);
	verdict = plx_pkt_decode(exact, len, &pkt);
	free(exact);
	return verdict;
}

static void
bth_bits_each_have_their_field(void **state)
{
	uint8_t bytes[16] = {
		PLX_RC_SEND_ONLY, 0x80, 0xab, 0xcd, 0x80, 0x12, 0x34, 0x56, 0x80, 0x65, 0x43, 0x21};

	(void)state;
	memset(&pkt, 0xff, sizeof pkt);
	assert_int_equal(decode(bytes, 16), PLX_WIRE_OK);
	assert_int_equal(pkt.opcode, PLX_RC_SEND_ONLY);
	assert_true(pkt.solicited && pkt.fecn && pkt.ack_request);
	assert_false(pkt.migreq || pkt.becn || pkt.ce);
	assert_int_equal(pkt.pad, 0);
	assert_int_equal(pkt.version, 0);
	assert_int_equal(pkt.resv6, 0);
	assert_int_equal(pkt.resv7, 0);
	assert_int_equal(pkt.pkey, 0xabcd);
	assert_int_equal(pkt.dest_qpn, 0x123456);
	assert_int_equal(pkt.psn.v, 0x654321);

	bytes[1] = 0x40;
	bytes[4] = 0x7f;
	bytes[8] = 0x7f;
	assert_int_equal(decode(bytes, 16), PLX_WIRE_OK);
	assert_false(pkt.solicited || pkt.fecn || pkt.ack_request);
	assert_true(pkt.migreq && pkt.becn);
	assert_int_equal(pkt.resv6, 0x3f);
	assert_int_equal(pkt.resv7, 0x7f);
	assert_int_equal(pkt.dest_qpn, 0x123456);
	assert_int_equal(pkt.psn.v, 0x654321);
}

static void
reth_and_immediate_lie_behind_the_bth_in_that_order(void **state)
{
	static const uint8_t bytes[] = {
		PLX_RC_WRITE_ONLY_IMM,
		0,
		0xff,
		0xff,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2,
		0x01,
		0x02,
		0x03,
		0x04,
		0x05,
		0x06,
		0x07,
		0x08, /* address */
		0x11,
		0x12,
		0x13,
		0x14, /* key */
		0x80,
		0x00,
		0x00,
		0x01, /* length */
		0x21,
		0x22,
		0x23,
		0x24, /* immediate */
		0,
		0,
		0,
		0, /* ICRC */
	};

	(void)state;
	assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
	assert_int_equal(pkt.reth.va, UINT64_C(0x0102030405060708));
	assert_int_equal(pkt.reth.rkey, 0x11121314);
	assert_int_equal(pkt.reth.length, 0x80000001);
	assert_int_equal(pkt.imm, 0x21222324);
	assert_int_equal(pkt.payload_bytes, 0);
}

static void
atomic_eth_lies_behind_the_bth(void **state)
{
	static const uint8_t bytes[] = {
		PLX_RC_CMP_SWAP,
		0,
		0xff,
		0xff,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2,
		0x01,
		0x02,
		0x03,
		0x04,
		0x05,
		0x06,
		0x07,
		0x08, /* address */
		0x11,
		0x12,
		0x13,
		0x14, /* key */
		0x21,
		0x22,
		0x23,
		0x24,
		0x25,
		0x26,
		0x27,
		0x28, /* swap or add */
		0x31,
		0x32,
		0x33,
		0x34,
		0x35,
		0x36,
		0x37,
		0x38, /* compare */
		0,
		0,
		0,
		0, /* ICRC */
	};

	(void)state;
	assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
	assert_int_equal(pkt.atomic.va, UINT64_C(0x0102030405060708));
	assert_int_equal(pkt.atomic.rkey, 0x11121314);
	assert_int_equal(pkt.atomic.swap_add, UINT64_C(0x2122232425262728));
	assert_int_equal(pkt.atomic.compare, UINT64_C(0x3132333435363738));
}

static void
aeth_and_atomic_ack_lie_behind_the_bth_in_that_order(void **state)
{
	static const uint8_t bytes[] = {
		PLX_RC_ATOMIC_ACK,
		0,
		0xff,
		0xff,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2,
		0xff,
		0x12,
		0x34,
		0x56, /* syndrome, MSN */
		0x21,
		0x22,
		0x23,
		0x24,
		0x25,
		0x26,
		0x27,
		0x28, /* the previous value */
		0,
		0,
		0,
		0, /* ICRC */
	};

	(void)state;
	assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
	assert_int_equal(pkt.aeth.syndrome, 0xff);
	assert_int_equal(pkt.aeth.msn.v, 0x123456);
	assert_int_equal(pkt.atomic_original, UINT64_C(0x2122232425262728));
}

static void
deth_and_immediate_lie_behind_the_bth_in_that_order(void **state)
{
	static const uint8_t bytes[] = {
		PLX_UD_SEND_ONLY_IMM,
		0,
		0xff,
		0xff,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2,
		0x80,
		0x01,
		0x00,
		0x00, /* Q_Key */
		0x5a,
		0x12,
		0x34,
		0x56, /* reserved, source QP */
		0x21,
		0x22,
		0x23,
		0x24, /* immediate */
		0,
		0,
		0,
		0, /* ICRC */
	};

	(void)state;
	assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
	assert_int_equal(pkt.deth.qkey, 0x80010000);
	assert_int_equal(pkt.deth.src_qpn, 0x123456);
	assert_int_equal(pkt.deth.resv, 0x5a);
	assert_int_equal(pkt.imm, 0x21222324);
}

static void
invalidated_key_lies_behind_the_bth(void **state)
{
	static const uint8_t bytes[] = {
		PLX_RC_SEND_ONLY_INV,
		0,
		0xff,
		0xff,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2, /* BTH */
		0x21,
		0x22,
		0x23,
		0x24,
		0,
		0,
		0,
		0, /* key, ICRC */
	};

	(void)state;
	assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
	assert_int_equal(pkt.inv_key, 0x21222324);
}

static void
payload_is_what_lies_between_headers_and_pad(void **state)
{
	uint8_t bytes[12 + 13 + 3 + 4] = {PLX_RC_SEND_ONLY, 0x30};
	struct plx_pkt out;

	(void)state;
	assert_int_equal(plx_pkt_decode(bytes, sizeof bytes, &out), PLX_WIRE_OK);
	assert_ptr_equal(out.payload, bytes + 12);
	assert_int_equal(out.payload_bytes, 13);
	assert_int_equal(out.pad, 3);
}

static void
an_empty_payload_still_points_behind_the_headers(void **state)
{
	uint8_t bytes[16 + 4] = {PLX_RC_ACK};
	struct plx_pkt out;

	(void)state;
	assert_int_equal(plx_pkt_decode(bytes, sizeof bytes, &out), PLX_WIRE_OK);
	assert_ptr_equal(out.payload, bytes + 16);
	assert_int_equal(out.payload_bytes, 0);
}

static void
any_header_of_a_known_opcode_encodes_to_the_same_bytes(void **state)
{
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 3);
	for (int round = 0; round < 100000; round++) {
		uint8_t bytes[PLX_PKT_HEADER_MAX + 8], out[PLX_PKT_HEADER_MAX];
		const struct plx_opcode *op;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)plx_prng_next(&prng);
		bytes[1] &= 0xf0;
		op = &plx_opcodes[bytes[0]];
		if (op->service == PLX_SERVICE_UNKNOWN)
			continue;
		assert_int_equal(decode(bytes, sizeof bytes), PLX_WIRE_OK);
		assert_int_equal(plx_pkt_encode(&pkt, out), op->header_bytes);
		assert_memory_equal(out, bytes, op->header_bytes);
	}
}

static void
a_value_too_wide_for_its_field_does_not_reach_its_neighbours(void **state)
{
	struct plx_pkt wide = {
		.opcode = PLX_UD_SEND_ONLY,
		.pad = 0xfc,
		.version = 0xf0,
		.resv6 = 0xc0,
		.resv7 = 0x80,
		.dest_qpn = 0xff000000,
		.psn = {0xff000000},
		.deth = {.src_qpn = 0xff000000},
	};
	uint8_t out[PLX_PKT_HEADER_MAX];
	uint8_t zero[20] = {PLX_UD_SEND_ONLY};

	(void)state;
	assert_int_equal(plx_pkt_encode(&wide, out), 20);
	assert_memory_equal(out, zero, 20);
	wide.opcode = PLX_RC_ACK;
	wide.aeth.syndrome = 0;
	wide.aeth.msn.v = 0xff000000;
	zero[0] = PLX_RC_ACK;
	assert_int_equal(plx_pkt_encode(&wide, out), 16);
	assert_memory_equal(out, zero, 16);
}

static void
a_packet_of_zeroed_fields_has_no_reserved_bit_set(void **state)
{
	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		struct plx_pkt plain = {.opcode = (uint8_t)opcode};
		uint8_t out[PLX_PKT_HEADER_MAX];
		size_t len = plx_pkt_encode(&plain, out);

		assert_int_equal(out[0], opcode);
		for (size_t i = 1; i < len; i++)
			assert_int_equal(out[i], 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bth_bits_each_have_their_field),
		cmocka_unit_test(reth_and_immediate_lie_behind_the_bth_in_that_order),
		cmocka_unit_test(atomic_eth_lies_behind_the_bth),
		cmocka_unit_test(aeth_and_atomic_ack_lie_behind_the_bth_in_that_order),
		cmocka_unit_test(deth_and_immediate_lie_behind_the_bth_in_that_order),
		cmocka_unit_test(invalidated_key_lies_behind_the_bth),
		cmocka_unit_test(payload_is_what_lies_between_headers_and_pad),
		cmocka_unit_test(an_empty_payload_still_points_behind_the_headers),
		cmocka_unit_test(any_header_of_a_known_opcode_encodes_to_the_same_bytes),
		cmocka_unit_test(a_value_too_wide_for_its_field_does_not_reach_its_neighbours),
		cmocka_unit_test(a_packet_of_zeroed_fields_has_no_reserved_bit_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
