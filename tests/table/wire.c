/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exhaustive tables of the wire: threat T7, every verdict, and the bugs of other
 * implementations that the room's design rules out. The model below is the standard's table, typed
 * in a second time. It never uses plx_opcodes as a reference.
 */
#include "test.h"
#include "make.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the model ---- */

enum place {
	FIRST = 1,
	MIDDLE,
	LAST,
	ONLY
};

/* IBTA vol 1, table 38, by hand: extended headers as letters, in the order of the wire. */
struct model {
	uint8_t opcode;
	const char *name;
	uint8_t service, kind;
	enum place place;
	const char
		*headers; /* R RETH, T AtomicETH, A AETH, K AtomicAckETH, I ImmDt, V IETH, D DETH */
	bool request, payload;
};

#define RC PLX_SERVICE_RC
#define UC PLX_SERVICE_UC
#define UD PLX_SERVICE_UD

static const struct model model[] = {
	{0x00, "rc.send.first", RC, PLX_OP_SEND, FIRST, "", true, true},
	{0x01, "rc.send.middle", RC, PLX_OP_SEND, MIDDLE, "", true, true},
	{0x02, "rc.send.last", RC, PLX_OP_SEND, LAST, "", true, true},
	{0x03, "rc.send.last_imm", RC, PLX_OP_SEND, LAST, "I", true, true},
	{0x04, "rc.send.only", RC, PLX_OP_SEND, ONLY, "", true, true},
	{0x05, "rc.send.only_imm", RC, PLX_OP_SEND, ONLY, "I", true, true},
	{0x06, "rc.write.first", RC, PLX_OP_WRITE, FIRST, "R", true, true},
	{0x07, "rc.write.middle", RC, PLX_OP_WRITE, MIDDLE, "", true, true},
	{0x08, "rc.write.last", RC, PLX_OP_WRITE, LAST, "", true, true},
	{0x09, "rc.write.last_imm", RC, PLX_OP_WRITE, LAST, "I", true, true},
	{0x0a, "rc.write.only", RC, PLX_OP_WRITE, ONLY, "R", true, true},
	{0x0b, "rc.write.only_imm", RC, PLX_OP_WRITE, ONLY, "RI", true, true},
	{0x0c, "rc.read.request", RC, PLX_OP_READ_REQUEST, ONLY, "R", true, false},
	{0x0d, "rc.read.response_first", RC, PLX_OP_READ_RESPONSE, FIRST, "A", false, true},
	{0x0e, "rc.read.response_middle", RC, PLX_OP_READ_RESPONSE, MIDDLE, "", false, true},
	{0x0f, "rc.read.response_last", RC, PLX_OP_READ_RESPONSE, LAST, "A", false, true},
	{0x10, "rc.read.response_only", RC, PLX_OP_READ_RESPONSE, ONLY, "A", false, true},
	{0x11, "rc.ack", RC, PLX_OP_ACK, ONLY, "A", false, false},
	{0x12, "rc.atomic_ack", RC, PLX_OP_ATOMIC_ACK, ONLY, "AK", false, false},
	{0x13, "rc.cmp_swap", RC, PLX_OP_CMP_SWAP, ONLY, "T", true, false},
	{0x14, "rc.fetch_add", RC, PLX_OP_FETCH_ADD, ONLY, "T", true, false},
	{0x16, "rc.send.last_inv", RC, PLX_OP_SEND, LAST, "V", true, true},
	{0x17, "rc.send.only_inv", RC, PLX_OP_SEND, ONLY, "V", true, true},
	{0x20, "uc.send.first", UC, PLX_OP_SEND, FIRST, "", true, true},
	{0x21, "uc.send.middle", UC, PLX_OP_SEND, MIDDLE, "", true, true},
	{0x22, "uc.send.last", UC, PLX_OP_SEND, LAST, "", true, true},
	{0x23, "uc.send.last_imm", UC, PLX_OP_SEND, LAST, "I", true, true},
	{0x24, "uc.send.only", UC, PLX_OP_SEND, ONLY, "", true, true},
	{0x25, "uc.send.only_imm", UC, PLX_OP_SEND, ONLY, "I", true, true},
	{0x26, "uc.write.first", UC, PLX_OP_WRITE, FIRST, "R", true, true},
	{0x27, "uc.write.middle", UC, PLX_OP_WRITE, MIDDLE, "", true, true},
	{0x28, "uc.write.last", UC, PLX_OP_WRITE, LAST, "", true, true},
	{0x29, "uc.write.last_imm", UC, PLX_OP_WRITE, LAST, "I", true, true},
	{0x2a, "uc.write.only", UC, PLX_OP_WRITE, ONLY, "R", true, true},
	{0x2b, "uc.write.only_imm", UC, PLX_OP_WRITE, ONLY, "RI", true, true},
	{0x64, "ud.send.only", UD, PLX_OP_SEND, ONLY, "D", true, true},
	{0x65, "ud.send.only_imm", UD, PLX_OP_SEND, ONLY, "DI", true, true},
	{0x81, "cnp", PLX_SERVICE_CNP, PLX_OP_CNP, ONLY, "", false, true},
};

static const struct model *
model_of(unsigned opcode)
{
	for (size_t i = 0; i < PLX_COUNT_OF(model); i++)
		if (model[i].opcode == opcode)
			return &model[i];
	return NULL;
}

static size_t
model_header_bytes(const struct model *m)
{
	size_t bytes = 12;

	for (const char *h = m->headers; *h; h++)
		bytes += *h == 'R' ? 16 : *h == 'T' ? 28 : *h == 'K' || *h == 'D' ? 8 : 4;
	return bytes;
}

static unsigned
model_flags(const struct model *m)
{
	static const unsigned places[] = {0, PLX_OPF_FIRST, PLX_OPF_MIDDLE, PLX_OPF_LAST,
					  PLX_OPF_ONLY};
	unsigned flags = places[m->place];

	flags |= m->request ? PLX_OPF_REQUEST : 0;
	flags |= m->payload ? PLX_OPF_PAYLOAD : 0;
	flags |= strchr(m->headers, 'R') ? PLX_OPF_RETH : 0;
	flags |= strchr(m->headers, 'T') ? PLX_OPF_ATOMIC_ETH : 0;
	flags |= strchr(m->headers, 'A') ? PLX_OPF_AETH : 0;
	flags |= strchr(m->headers, 'K') ? PLX_OPF_ATOMIC_ACK_ETH : 0;
	flags |= strchr(m->headers, 'I') ? PLX_OPF_IMM : 0;
	flags |= strchr(m->headers, 'V') ? PLX_OPF_IETH : 0;
	flags |= strchr(m->headers, 'D') ? PLX_OPF_DETH : 0;
	return flags;
}

static enum plx_wire_verdict
model_verdict(unsigned opcode, size_t len, size_t pad, unsigned version)
{
	const struct model *m = model_of(opcode);

	if (len < 16)
		return PLX_WIRE_BTH_SHORT;
	if (version)
		return PLX_WIRE_BTH_VERSION;
	if (!m)
		return PLX_WIRE_OPCODE;
	return len < model_header_bytes(m) + pad + 4 ? PLX_WIRE_EXT_SHORT : PLX_WIRE_OK;
}

/* ---- T7 ---- */

/* One cell of the table. `bytes` is a block of exactly `len`. Returns whether it was taken. */
static bool
check_cell(uint8_t *bytes, size_t len, unsigned opcode, size_t pad, unsigned version)
{
	struct plx_pkt pkt;
	enum plx_wire_verdict want = model_verdict(opcode, len, pad, version);
	const struct model *m = model_of(opcode);
	size_t header;

	if (len > 0)
		bytes[0] = (uint8_t)opcode;
	if (len > 1)
		bytes[1] = (uint8_t)(pad << 4 | version);
	assert_int_equal(plx_pkt_decode(bytes, len, &pkt), want);
	if (want != PLX_WIRE_OK || !m)
		return false;
	header = model_header_bytes(m);
	assert_int_equal(pkt.opcode, opcode);
	assert_int_equal(pkt.pad, pad);
	assert_ptr_equal(pkt.payload, bytes + header);
	assert_int_equal(pkt.payload_bytes, len - header - pad - 4);
	assert_false(pkt.ce);
	return true;
}

static void
t7_every_opcode_length_pad_and_version_is_judged_as_the_standard_says(void **state)
{
	unsigned cells = 0, taken = 0;

	(void)state;
	for (size_t len = 0; len <= 128; len++) {
		uint8_t *bytes = malloc(len);

		memset(bytes, 0x5a, len);
		for (unsigned opcode = 0; opcode < 256; opcode++)
			for (size_t pad = 0; pad < 4; pad++)
				for (unsigned version = 0; version < 2; version++, cells++)
					taken += check_cell(bytes, len, opcode, pad, version);
		free(bytes);
	}
	assert_int_equal(cells, 256 * 129 * 4 * 2);
	assert_in_range(taken, 1, cells / 8);
}

static void
t7_every_transport_version_but_zero_is_refused(void **state)
{
	uint8_t *bytes = calloc(1, 128);

	(void)state;
	for (unsigned version = 0; version < 16; version++)
		assert_int_equal(check_cell(bytes, 128, PLX_RC_SEND_ONLY, 0, version),
				 version == 0);
	free(bytes);
}

static void
the_opcode_table_is_the_standards(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct plx_opcode *op = &plx_opcodes[opcode];
		const struct model *m = model_of(opcode);

		assert_non_null(op->name);
		if (!m) {
			assert_string_equal(op->name, "unknown");
			assert_int_equal(op->service, PLX_SERVICE_UNKNOWN);
			assert_int_equal(op->kind, PLX_OP_NONE);
			assert_int_equal(op->flags.bits, 0);
			assert_int_equal(op->header_bytes, 12);
			continue;
		}
		known++;
		assert_string_equal(op->name, m->name);
		assert_int_equal(op->service, m->service);
		assert_int_equal(op->kind, m->kind);
		assert_int_equal(op->flags.bits, model_flags(m));
		assert_int_equal(op->header_bytes, model_header_bytes(m));
	}
	assert_int_equal(known, PLX_COUNT_OF(model));
}

/* ---- every verdict ---- */

/* One change to a valid frame, and its verdict. */
struct fault {
	enum plx_wire_verdict verdict;
	int ip_version;
	size_t at; /* where `value`, 16 bits, is put */
	unsigned value;
	size_t len;  /* the frame is cut to this; 0: it is not */
	bool fix_ip; /* make the IPv4 checksum right again */
};

/* A SEND only of 16 bytes: IPv4 at 14, UDP at 34, BTH at 42, 74 bytes in all. */
static const struct fault faults[] = {
	{PLX_WIRE_OK, 4, 18, MADE_ID, 0, true},
	{PLX_WIRE_ETH_SHORT, 4, 18, MADE_ID, 13, true},
	{PLX_WIRE_ETH_SHORT, 4, 12, 0x8100, 17, false},
	{PLX_WIRE_VLAN, 4, 12, 0x8100, 0, false},
	{PLX_WIRE_STATION, 4, 0, 0x5255, 0, false},
	{PLX_WIRE_STATION, 6, 4, 0x0003, 0, false},
	{PLX_WIRE_NOT_IP, 4, 12, 0x0806, 0, false},
	{PLX_WIRE_IP_SHORT, 4, 18, MADE_ID, 33, true},
	{PLX_WIRE_IP_SHORT, 6, 18, 40, 53, false},
	{PLX_WIRE_IP_VERSION, 4, 14, 0x6500, 0, true},
	{PLX_WIRE_IP_VERSION, 6, 14, 0x4000, 0, false},
	{PLX_WIRE_IP_OPTIONS, 4, 14, 0x4600, 0, true},
	{PLX_WIRE_IP_LENGTH, 4, 14, 0x4400, 0, true},
	{PLX_WIRE_IP_LENGTH, 4, 16, 61, 0, true},
	{PLX_WIRE_IP_LENGTH, 6, 18, 41, 0, false},
	{PLX_WIRE_IP_FRAGMENT, 4, 20, 0x2000, 0, true},
	{PLX_WIRE_IP_FRAGMENT, 4, 20, 0x0001, 0, true},
	{PLX_WIRE_IP_FRAGMENT, 6, 20, 44 << 8 | 64, 0, false},
	{PLX_WIRE_IP_CHECKSUM, 4, 26, 0x0b4d, 0, false},
	{PLX_WIRE_NOT_UDP, 4, 22, 64 << 8 | 6, 0, true},
	{PLX_WIRE_NOT_UDP, 6, 20, 6 << 8 | 64, 0, false},
	{PLX_WIRE_UDP_LENGTH, 4, 38, 39, 0, false},
	{PLX_WIRE_UDP_LENGTH, 6, 58, 41, 0, false},
	{PLX_WIRE_UDP_CHECKSUM, 4, 40, 0x1111, 0, false},
	{PLX_WIRE_UDP_CHECKSUM, 6, 60, 0x1111, 0, false},
	{PLX_WIRE_NOT_ROCE, 4, 36, 4792, 0, false},
	{PLX_WIRE_NOT_ROCE, 6, 56, 53, 0, false},
	{PLX_WIRE_BTH_VERSION, 4, 42, PLX_RC_SEND_ONLY << 8 | 1, 0, false},
	{PLX_WIRE_OPCODE, 4, 42, 0x1500, 0, false},
	{PLX_WIRE_OPCODE, 6, 62, 0xff00, 0, false},
	{PLX_WIRE_EXT_SHORT, 4, 42, PLX_RC_CMP_SWAP << 8, 0, false},
	{PLX_WIRE_EXT_SHORT, 6, 62, PLX_RC_FETCH_ADD << 8, 0, false},
};

/* As an engine does: the destination, the frame, then its contents. */
static enum plx_wire_verdict
decode_whole(const struct made *made)
{
	struct plx_frame frame;
	struct plx_pkt pkt;
	enum plx_wire_verdict verdict = plx_frame_is_for(made->bytes, made->len, made_mac, 0);

	if (verdict == PLX_WIRE_OK)
		verdict = decode_made(made, 0, &frame);

	if (verdict != PLX_WIRE_OK)
		return verdict;
	return plx_pkt_decode(made->bytes + frame.udp_at + 8, frame.udp_bytes - 8u, &pkt);
}

static void
every_verdict_is_reached_by_a_frame_with_that_one_fault(void **state)
{
	static struct made made;
	static const uint8_t send[32] = {PLX_RC_SEND_ONLY};
	bool reached[PLX_WIRE_VERDICT_COUNT] = {false};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(faults); i++) {
		const struct fault *fault = &faults[i];

		make_frame(&made, fault->ip_version, false, send, sizeof send);
		assert_int_equal(decode_whole(&made), PLX_WIRE_OK);
		put16(made.bytes + fault->at, fault->value);
		if (fault->fix_ip)
			fix_ip_checksum(&made);
		made.len = fault->len ? fault->len : made.len;
		assert_int_equal(decode_whole(&made), fault->verdict);
		reached[fault->verdict] = true;
	}
	/* A datagram too short for BTH and ICRC is sound in all its lengths. */
	make_frame(&made, 4, false, send, 15);
	assert_int_equal(decode_whole(&made), PLX_WIRE_BTH_SHORT);
	reached[PLX_WIRE_BTH_SHORT] = true;
	/* Only an engine knows its IP addresses: tests/unit/engine/link/strangers.c. */
	reached[PLX_WIRE_DESTINATION] = true;
	for (int v = 0; v < PLX_WIRE_VERDICT_COUNT; v++) {
		if (!reached[v])
			fail_msg("no frame is: %s",
				 plx_wire_verdict_text((enum plx_wire_verdict)v));
	}
}

/* ---- bugs of others ---- */

/*
 * rxe's table had a row of zeros for it, the ICRC's length became 0 - 12, and the kernel panicked:
 * one packet of 48 bytes, no queue pair needed.
 */
static void
cve_2026_46133_unknown_opcode_is_refused_before_any_length_is_used(void **state)
{
	static struct made made;
	static const uint8_t unknown[20] = {0xff};
	struct plx_frame frame;
	struct plx_pkt pkt;

	(void)state;
	make_frame(&made, 4, false, unknown, sizeof unknown);
	assert_int_equal(made.len - made.ip_at, 48);
	assert_int_equal(decode_made(&made, 0, &frame), PLX_WIRE_OK);
	assert_int_equal(decode_whole(&made), PLX_WIRE_OPCODE);
	for (size_t len = 16; len <= 128; len++) {
		uint8_t *bytes = malloc(len);

		memset(bytes, 0xff, len);
		bytes[1] = 0x30;
		memset(&pkt, 0, sizeof pkt);
		assert_int_equal(plx_pkt_decode(bytes, len, &pkt), PLX_WIRE_OPCODE);
		assert_null(pkt.payload);
		assert_int_equal(pkt.payload_bytes, 0);
		free(bytes);
	}
}

/* rxe subtracted the sender's pad from a length that did not hold it, and went negative. */
static void
rxe_7244491dab34_a_pad_larger_than_what_is_there_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(model); i++) {
		size_t bare = model_header_bytes(&model[i]) + 4;

		for (size_t pad = 0; pad < 4; pad++) {
			for (size_t there = 0; there < 4; there++) {
				uint8_t *bytes = calloc(1, bare + there);

				assert_int_equal(
					check_cell(bytes, bare + there, model[i].opcode, pad, 0),
					pad <= there);
				free(bytes);
			}
		}
	}
}

/*
 * rxe's length checks tested the opcode against bits of the table's mask: both were integers, no
 * check ever fired. Here `opcode & PLX_OPF_RETH` is still arithmetic, but plx_opcode_has() takes
 * the table's row alone, and the row's bits are a struct: neither of these lines compiles:
 *
 *	plx_opcode_has(pkt->opcode, PLX_OPF_RETH);
 *	plx_opcodes[pkt->opcode].flags & pkt->opcode;
 */
static void
rxe_length_checks_opcode_flags_are_a_type_that_no_opcode_number_has(void **state)
{
	const struct plx_opcode *op = &plx_opcodes[0];

	(void)state;
	(void)op;
	_Static_assert(_Generic(op->flags, struct plx_op_flags : 1, default : 0),
		       "flags must not be an integer");
	_Static_assert(_Generic(&plx_opcode_has,
				bool (*)(const struct plx_opcode *, enum plx_op_flag) : 1,
				default : 0),
		       "a flag is asked of a row of the table, never of an opcode number");
	/* And no flag can be taken for another. */
	for (unsigned bit = 0; bit <= 12; bit++) {
		unsigned with = 0, without = 0;

		for (unsigned opcode = 0; opcode < 256; opcode++) {
			bool has =
				plx_opcode_has(&plx_opcodes[opcode], (enum plx_op_flag)(1u << bit));

			with += has;
			without += !has;
		}
		assert_true(with > 0 && without > 0);
	}
}

/* rxe took an ATOMIC WRITE with any payload. Here shape is a part of the table. */
static void
rxe_atomic_write_shape_is_part_of_the_opcode_table(void **state)
{
	static const struct {
		unsigned flag;
		size_t bytes;
	} extended[] = {
		{PLX_OPF_RETH, 16},          {PLX_OPF_AETH, 4}, {PLX_OPF_ATOMIC_ETH, 28},
		{PLX_OPF_ATOMIC_ACK_ETH, 8}, {PLX_OPF_IMM, 4},  {PLX_OPF_IETH, 4},
		{PLX_OPF_DETH, 8},
	};
	const unsigned places = PLX_OPF_FIRST | PLX_OPF_MIDDLE | PLX_OPF_LAST | PLX_OPF_ONLY;

	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct plx_opcode *op = &plx_opcodes[opcode];
		size_t bytes = 12;

		for (size_t i = 0; i < PLX_COUNT_OF(extended); i++)
			bytes += op->flags.bits & extended[i].flag ? extended[i].bytes : 0;
		assert_int_equal(op->header_bytes, bytes);
		assert_true(bytes <= PLX_PKT_HEADER_MAX);
		if (op->service == PLX_SERVICE_UNKNOWN)
			continue;
		assert_int_equal(__builtin_popcount(op->flags.bits & places), 1);
		/* Opcodes that start or continue a message must carry bytes. */
		if (op->flags.bits & (places & ~(unsigned)PLX_OPF_ONLY))
			assert_true(plx_opcode_has(op, PLX_OPF_PAYLOAD));
	}
	/* ATOMIC WRITE and FLUSH came later than the table that we implement. */
	assert_int_equal(plx_opcodes[0x1c].service, PLX_SERVICE_UNKNOWN);
	assert_int_equal(plx_opcodes[0x1d].service, PLX_SERVICE_UNKNOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			t7_every_opcode_length_pad_and_version_is_judged_as_the_standard_says),
		cmocka_unit_test(t7_every_transport_version_but_zero_is_refused),
		cmocka_unit_test(the_opcode_table_is_the_standards),
		cmocka_unit_test(every_verdict_is_reached_by_a_frame_with_that_one_fault),
		cmocka_unit_test(
			cve_2026_46133_unknown_opcode_is_refused_before_any_length_is_used),
		cmocka_unit_test(rxe_7244491dab34_a_pad_larger_than_what_is_there_is_refused),
		cmocka_unit_test(
			rxe_length_checks_opcode_flags_are_a_type_that_no_opcode_number_has),
		cmocka_unit_test(rxe_atomic_write_shape_is_part_of_the_opcode_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
