/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Peeking at frames: what can be decoded is recognised, with the same number, and no byte past the
 * end is read.
 */
#include <stdlib.h>

#include "test.h"
#include "make.h"

enum {
	DATAGRAM = 60,
	QPN = 0xabcdef,
	OPCODE = 0x04, /* RC SEND only */
};

/* In a block of exactly that size, so that the sanitizer sees a byte too many. */
static enum plx_peek
peek(const struct made *made, uint32_t *qpn)
{
	uint8_t *copy = malloc(made->len + 1);
	enum plx_peek seen;

	assert_non_null(copy);
	memcpy(copy + 1, made->bytes, made->len);
	seen = plx_frame_peek(copy + 1, made->len, qpn);
	free(copy);
	return seen;
}

static void
make_roce(struct made *made, int ip_version, bool vlan)
{
	make_frame_of(made, ip_version, vlan, DATAGRAM);
	memset(made->bytes + made->udp_at + PLX_UDP_BYTES, 0, PLX_BTH_BYTES);
	made->bytes[made->udp_at + PLX_UDP_BYTES] = OPCODE;
	put32(made->bytes + made->udp_at + PLX_UDP_BYTES + PLX_BTH_QPN_AT, QPN);
}

static void
a_packet_has_its_number_in_every_framing(void **state)
{
	static struct made made;
	uint32_t qpn;

	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (int vlan = 0; vlan < 2; vlan++) {
			make_roce(&made, version, vlan);
			qpn = 0;
			assert_int_equal(peek(&made, &qpn), PLX_PEEK_ROCE);
			assert_int_equal(qpn, QPN);
		}
}

static void
arp_and_icmp_are_recognised(void **state)
{
	static struct made made;
	uint32_t qpn;

	(void)state;
	for (int vlan = 0; vlan < 2; vlan++) {
		make_roce(&made, 4, vlan);
		made.bytes[made.ip_at + 9] = 1;
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_NET);
		put16(made.bytes + made.ip_at - 2, 0x0806);
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_NET);
		make_roce(&made, 6, vlan);
		made.bytes[made.ip_at + 6] = 58;
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_NET);
	}
}

static void
anything_else_is_other(void **state)
{
	static struct made made;
	uint32_t qpn;

	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		make_roce(&made, version, false);
		put16(made.bytes + made.udp_at + 2, 4790);
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_OTHER);
		make_roce(&made, version, false);
		made.bytes[made.ip_at + (version == 4 ? 9 : 6)] = 6;
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_OTHER);
		put16(made.bytes + made.ip_at - 2, 0x8847);
		assert_int_equal(peek(&made, &qpn), PLX_PEEK_OTHER);
	}
}

static void
a_cut_frame_is_other_and_nothing_behind_it_is_read(void **state)
{
	static struct made made;
	uint32_t qpn;

	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (int vlan = 0; vlan < 2; vlan++) {
			size_t whole;

			make_roce(&made, version, vlan);
			whole = made.udp_at + PLX_UDP_BYTES + PLX_BTH_BYTES;
			for (made.len = 0; made.len < whole; made.len++)
				assert_int_equal(peek(&made, &qpn), PLX_PEEK_OTHER);
			assert_int_equal(peek(&made, &qpn), PLX_PEEK_ROCE);
		}
}

/* Every bit of the headers in turn: what decodes has the number that was seen. */
static void
what_decodes_was_recognised(void **state)
{
	static struct made made;
	uint32_t decoded = 0;

	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		make_roce(&made, version, false);
		for (size_t bit = 0; bit < 8 * (made.udp_at + PLX_UDP_BYTES + PLX_BTH_BYTES);
		     bit++) {
			struct plx_frame frame;
			struct plx_pkt pkt;
			uint32_t qpn = 0;

			made.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (decode_made(&made, PLX_TRUST_IP_CHECKSUM, &frame) == PLX_WIRE_OK &&
			    plx_pkt_decode(made.bytes + frame.udp_at + PLX_UDP_BYTES,
					   (size_t)frame.udp_bytes - PLX_UDP_BYTES,
					   &pkt) == PLX_WIRE_OK) {
				decoded++;
				assert_int_equal(peek(&made, &qpn), PLX_PEEK_ROCE);
				assert_int_equal(qpn, pkt.dest_qpn);
			}
			made.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	assert_true(decoded > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_has_its_number_in_every_framing),
		cmocka_unit_test(arp_and_icmp_are_recognised),
		cmocka_unit_test(anything_else_is_other),
		cmocka_unit_test(a_cut_frame_is_other_and_nothing_behind_it_is_read),
		cmocka_unit_test(what_decodes_was_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
