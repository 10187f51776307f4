/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ethernet to UDP: what is accepted, what is refused and why, and templates. All tests of threat T9
 * are here. Every frame is decoded from a block of its exact size, so that a sanitizer detects
 * overreads.
 */
#include "test.h"
#include "make.h"

#include <stdio.h>
#include <stdlib.h>

static struct made made;
static struct plx_frame frame;

#define assert_verdict(want, trust) assert_int_equal(decode_made(&made, trust, &frame), (want))

static void
ipv4_frame_decodes_into_every_field_of_its_headers(void **state)
{
	(void)state;
	make_frame_of(&made, 4, false, 40);
	assert_verdict(PLX_WIRE_OK, 0);
	assert_memory_equal(frame.eth_dst, "\x52\x54\x00\x77\x00\x01", 6);
	assert_memory_equal(frame.eth_src, "\x52\x54\x00\x77\x00\x02", 6);
	assert_false(frame.vlan);
	assert_int_equal(frame.ip_version, 4);
	assert_int_equal(frame.v4.tos, MADE_TOS);
	assert_int_equal(frame.v4.ttl, MADE_TTL);
	assert_int_equal(frame.v4.id, MADE_ID);
	assert_int_equal(frame.v4.flags_offset, 0x4000);
	assert_int_equal(frame.v4.checksum, get16(made.bytes + 24));
	assert_int_equal(frame.v4.src, MADE_IPV4_SRC);
	assert_int_equal(frame.v4.dst, MADE_IPV4_DST);
	assert_int_equal(frame.udp_src, MADE_UDP_SRC);
	assert_int_equal(frame.udp_dst, PLX_ROCE_PORT);
	assert_int_equal(frame.udp_checksum, 0);
	assert_int_equal(frame.ip_at, 14);
	assert_int_equal(frame.udp_at, 34);
	assert_int_equal(frame.ip_bytes, 68);
	assert_int_equal(frame.udp_bytes, 48);
}

static void
ipv6_frame_decodes_into_every_field_of_its_headers(void **state)
{
	(void)state;
	make_frame_of(&made, 6, false, 40);
	assert_verdict(PLX_WIRE_OK, 0);
	assert_int_equal(frame.ip_version, 6);
	assert_int_equal(frame.v6.flow, MADE_FLOW);
	assert_int_equal(frame.v6.hop_limit, MADE_TTL);
	assert_memory_equal(frame.v6.src, made.bytes + 22, 16);
	assert_memory_equal(frame.v6.dst, made.bytes + 38, 16);
	assert_int_equal(frame.ip_at, 14);
	assert_int_equal(frame.udp_at, 54);
	assert_int_equal(frame.ip_bytes, 88);
	assert_int_equal(frame.udp_bytes, 48);
}

static void
one_vlan_tag_is_taken_and_moves_the_rest_by_four_bytes(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		make_frame_of(&made, version, true, 40);
		assert_verdict(PLX_WIRE_OK, 0);
		assert_true(frame.vlan);
		assert_int_equal(frame.vlan_tci, MADE_TCI);
		assert_int_equal(frame.ip_at, 18);
		assert_int_equal(frame.udp_at, version == 4 ? 38 : 58);
	}
}

/* IEEE 802.1Q: a tag of VLAN 0 is a priority, and the frame is of no VLAN. */
static void
a_frame_is_for_one_vlan_one_station_or_a_group(void **state)
{
	static const uint16_t tcis[] = {0x0000, 0xe000, 0x0001, 0xf001, 0x0abc, 0x0ffe, 0x0fff};
	static const uint16_t vlans[] = {0, 1, 0xabc, 4094};
	static const uint8_t macs[][6] = {
		{0x52, 0x54, 0x00, 0x77, 0x00, 0x01}, /* ours */
		{0x50, 0x54, 0x00, 0x77, 0x00, 0x01}, {0x52, 0x54, 0x00, 0x77, 0x00, 0x00},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x33, 0x33, 0x00, 0x00, 0x00, 0x01},
	};
	unsigned seen = 0;

	(void)state;
	for (size_t v = 0; v < PLX_COUNT_OF(vlans); v++)
		for (size_t t = 0; t <= PLX_COUNT_OF(tcis); t++)
			for (size_t m = 0; m < PLX_COUNT_OF(macs); m++, seen++) {
				bool tagged = t < PLX_COUNT_OF(tcis);
				unsigned id = tagged ? tcis[t] & 0xfff : 0;
				enum plx_wire_verdict want = PLX_WIRE_OK;

				make_frame_of(&made, 4, tagged, 40);
				memcpy(made.bytes, macs[m], 6);
				if (tagged)
					put16(made.bytes + 14, tcis[t]);
				if (m == 1 || m == 2)
					want = PLX_WIRE_STATION;
				if (id != vlans[v])
					want = PLX_WIRE_VLAN;
				assert_int_equal(
					plx_frame_is_for(made.bytes, made.len, made_mac, vlans[v]),
					want);
			}
	assert_int_equal(seen, 4 * 8 * 5);
	for (int vlan = 0; vlan < 2; vlan++)
		for (size_t len = 0; len < (vlan ? 18 : 14); len++) {
			uint8_t *cut = malloc(len ? len : 1);

			assert_non_null(cut);
			make_frame_of(&made, 4, vlan, 40);
			memcpy(cut, made.bytes, len);
			assert_int_equal(plx_frame_is_for(cut, len, made_mac, 0),
					 PLX_WIRE_ETH_SHORT);
			free(cut);
		}
}

static void
t9_a_second_vlan_tag_is_refused(void **state)
{
	(void)state;
	make_frame_of(&made, 4, true, 40);
	memmove(made.bytes + 18, made.bytes + 14, made.len - 14);
	made.len += 4;
	put16(made.bytes + 16, 0x8100);
	assert_verdict(PLX_WIRE_NOT_IP, 0);
}

static void
other_ethertypes_are_not_ip(void **state)
{
	static const uint16_t others[] = {0, 60, 0x0600, 0x0806, 0x88a8, 0x8847, 0x8915, 0xffff};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(others); i++) {
		make_frame_of(&made, 4, false, 40);
		put16(made.bytes + 12, others[i]);
		assert_verdict(PLX_WIRE_NOT_IP, 0);
		make_frame_of(&made, 4, true, 40);
		put16(made.bytes + 16, others[i]);
		assert_verdict(PLX_WIRE_NOT_IP, 0);
	}
}

static void
t9_a_frame_cut_at_any_byte_is_refused_for_the_header_that_is_cut(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		bool vlan = kind & 1;
		int version = kind & 2 ? 6 : 4;
		size_t ip_at = vlan ? 18 : 14, whole;

		make_frame_of(&made, version, vlan, 40);
		whole = made.len;
		for (made.len = 0; made.len < whole; made.len++) {
			enum plx_wire_verdict want = PLX_WIRE_IP_LENGTH;

			if (made.len < ip_at)
				want = PLX_WIRE_ETH_SHORT;
			else if (made.len < ip_at + (version == 4 ? 20 : 40))
				want = PLX_WIRE_IP_SHORT;
			assert_verdict(want, 0);
		}
		assert_verdict(PLX_WIRE_OK, 0);
	}
}

static void
ip_version_must_agree_with_the_ethertype(void **state)
{
	(void)state;
	for (unsigned nibble = 0; nibble < 16; nibble++) {
		make_frame_of(&made, 4, false, 40);
		made.bytes[14] = (uint8_t)(nibble << 4 | 5);
		fix_ip_checksum(&made);
		assert_verdict(nibble == 4 ? PLX_WIRE_OK : PLX_WIRE_IP_VERSION, 0);
		make_frame_of(&made, 6, false, 40);
		made.bytes[14] = (uint8_t)(nibble << 4);
		assert_verdict(nibble == 6 ? PLX_WIRE_OK : PLX_WIRE_IP_VERSION, 0);
	}
}

static void
t9_ip_options_and_impossible_header_lengths_are_refused(void **state)
{
	(void)state;
	for (unsigned words = 0; words < 16; words++) {
		enum plx_wire_verdict want = words > 5 ? PLX_WIRE_IP_OPTIONS : PLX_WIRE_IP_LENGTH;

		make_frame_of(&made, 4, false, 80);
		made.bytes[14] = (uint8_t)(0x40 | words);
		fix_ip_checksum(&made);
		assert_verdict(words == 5 ? PLX_WIRE_OK : want, 0);
	}
}

static void
t9_an_ip_length_that_lies_is_refused(void **state)
{
	(void)state;
	for (unsigned total = 0; total < 0x10000; total += total < 200 ? 1 : 997) {
		enum plx_wire_verdict want = PLX_WIRE_UDP_LENGTH;

		make_frame_of(&made, 4, false, 40);
		put16(made.bytes + 16, total);
		fix_ip_checksum(&made);
		if (total < 20 || total > 68)
			want = PLX_WIRE_IP_LENGTH;
		else if (total == 68)
			want = PLX_WIRE_OK;
		assert_verdict(want, 0);

		make_frame_of(&made, 6, false, 40);
		put16(made.bytes + 18, total);
		want = PLX_WIRE_UDP_LENGTH;
		if (total > 48)
			want = PLX_WIRE_IP_LENGTH;
		else if (total == 48)
			want = PLX_WIRE_OK;
		assert_verdict(want, 0);
	}
}

static void
an_ipv6_packet_past_65535_bytes_is_refused_even_when_the_frame_holds_it(void **state)
{
	(void)state;
	make_frame_of(&made, 6, false, 40);
	made.len = 65600;
	put16(made.bytes + 18, 65495);
	put16(made.bytes + 58, 65495);
	assert_verdict(PLX_WIRE_OK, 0);
	assert_int_equal(frame.ip_bytes, 65535);
	put16(made.bytes + 18, 65496);
	put16(made.bytes + 58, 65496);
	assert_verdict(PLX_WIRE_IP_LENGTH, 0);
	put16(made.bytes + 18, 65535);
	put16(made.bytes + 58, 65535);
	assert_verdict(PLX_WIRE_IP_LENGTH, 0);
}

static void
ethernet_padding_behind_the_packet_is_not_part_of_it(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		make_frame_of(&made, version, false, 16);
		memset(made.bytes + made.len, 0xa5, 18);
		made.len += 18;
		assert_verdict(PLX_WIRE_OK, 0);
		assert_int_equal(frame.ip_bytes, made.len - 14 - 18);
		assert_int_equal(frame.udp_bytes, 24);
	}
}

static void
t9_fragments_are_refused(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 16; bit++) {
		make_frame_of(&made, 4, false, 40);
		put16(made.bytes + 20, 1u << bit);
		fix_ip_checksum(&made);
		/* The two highest are "reserved" and "do not fragment". */
		assert_verdict(bit >= 14 ? PLX_WIRE_OK : PLX_WIRE_IP_FRAGMENT, 0);
		assert_verdict(bit >= 14 ? PLX_WIRE_OK : PLX_WIRE_IP_FRAGMENT, ~0u);
	}
	make_frame_of(&made, 6, false, 40);
	made.bytes[20] = 44;
	assert_verdict(PLX_WIRE_IP_FRAGMENT, 0);
}

static void
t9_one_wrong_bit_anywhere_in_an_ipv4_header_is_refused(void **state)
{
	(void)state;
	for (size_t bit = 0; bit < 160; bit++) {
		make_frame_of(&made, 4, false, 40);
		made.bytes[14 + bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(decode_made(&made, 0, &frame), PLX_WIRE_OK);
		/* The addresses have no other guard than the checksum. */
		if (bit >= 96)
			assert_verdict(PLX_WIRE_IP_CHECKSUM, 0);
	}
}

static void
protocols_other_than_udp_are_refused(void **state)
{
	(void)state;
	for (unsigned proto = 0; proto < 256; proto++) {
		make_frame_of(&made, 4, false, 40);
		made.bytes[23] = (uint8_t)proto;
		fix_ip_checksum(&made);
		assert_verdict(proto == 17 ? PLX_WIRE_OK : PLX_WIRE_NOT_UDP, 0);
		/* Other IPv6 extension headers are not followed either. */
		make_frame_of(&made, 6, false, 40);
		made.bytes[20] = (uint8_t)proto;
		if (proto != 44)
			assert_verdict(proto == 17 ? PLX_WIRE_OK : PLX_WIRE_NOT_UDP, 0);
	}
}

static void
t9_a_udp_length_that_lies_is_refused(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		for (unsigned claimed = 0; claimed < 0x10000; claimed++) {
			if (claimed > 100 && claimed % 991)
				continue;
			make_frame_of(&made, version, false, 40);
			put16(made.bytes + made.udp_at + 4, claimed);
			assert_verdict(claimed == 48 ? PLX_WIRE_OK : PLX_WIRE_UDP_LENGTH, 0);
		}
	}
}

static void
t9_an_ip_packet_without_room_for_a_udp_header_is_refused(void **state)
{
	(void)state;
	for (unsigned left = 0; left < 8; left++) {
		make_frame_of(&made, 4, false, 16);
		put16(made.bytes + 16, 20 + left);
		put16(made.bytes + 38, left);
		fix_ip_checksum(&made);
		made.len = 34 + left;
		assert_verdict(PLX_WIRE_UDP_LENGTH, 0);
		make_frame_of(&made, 6, false, 16);
		put16(made.bytes + 18, left);
		put16(made.bytes + 58, left);
		made.len = 54 + left;
		assert_verdict(PLX_WIRE_UDP_LENGTH, 0);
	}
}

static void
a_right_udp_checksum_is_taken_at_every_length_and_a_wrong_one_refused(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		for (size_t len = 0; len <= 130; len++) {
			uint8_t *at;

			make_frame_of(&made, version, len & 8, len);
			at = made.bytes + made.udp_at + 6;
			put16(at, plain_udp_checksum(&made, version));
			assert_verdict(PLX_WIRE_OK, 0);
			assert_int_equal(frame.udp_checksum, get16(at));
			at[1] ^= 0x10;
			assert_verdict(PLX_WIRE_UDP_CHECKSUM, 0);
		}
	}
}

static void
t9_a_udp_checksum_covers_the_addresses_and_every_byte(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2) {
		make_frame_of(&made, version, false, 41);
		put16(made.bytes + made.udp_at + 6, plain_udp_checksum(&made, version));
		for (size_t at = version == 4 ? 26 : 22; at < made.len; at++) {
			/* The lengths have a verdict of their own. */
			if (at == made.udp_at + 4 || at == made.udp_at + 5)
				continue;
			made.bytes[at] ^= 0x20;
			if (version == 4)
				fix_ip_checksum(&made);
			assert_verdict(PLX_WIRE_UDP_CHECKSUM, 0);
			made.bytes[at] ^= 0x20;
		}
	}
}

static void
a_udp_sum_of_zero_is_sent_as_ones_and_taken(void **state)
{
	(void)state;
	make_frame_of(&made, 4, false, 40);
	/* Make the last word the complement of the sum: then the total is ffff, the checksum 0. */
	put16(made.bytes + made.len - 2, 0);
	put16(made.bytes + made.len - 2, plain_udp_checksum(&made, 4));
	assert_int_equal(plain_udp_checksum(&made, 4), 0xffff);
	put16(made.bytes + made.udp_at + 6, 0xffff);
	assert_verdict(PLX_WIRE_OK, 0);
}

static void
t9_a_trusting_flag_excuses_its_own_checksum_and_nothing_else(void **state)
{
	const unsigned both = PLX_TRUST_IP_CHECKSUM | PLX_TRUST_UDP_CHECKSUM;

	(void)state;
	make_frame_of(&made, 4, false, 40);
	made.bytes[24] ^= 1;
	assert_verdict(PLX_WIRE_IP_CHECKSUM, 0);
	assert_verdict(PLX_WIRE_IP_CHECKSUM, PLX_TRUST_UDP_CHECKSUM);
	assert_verdict(PLX_WIRE_OK, PLX_TRUST_IP_CHECKSUM);

	make_frame_of(&made, 4, false, 40);
	put16(made.bytes + 40, plain_udp_checksum(&made, 4) ^ 0x0100);
	assert_verdict(PLX_WIRE_UDP_CHECKSUM, 0);
	assert_verdict(PLX_WIRE_UDP_CHECKSUM, PLX_TRUST_IP_CHECKSUM);
	assert_verdict(PLX_WIRE_OK, PLX_TRUST_UDP_CHECKSUM);

	make_frame_of(&made, 4, false, 40);
	put16(made.bytes + 38, 47);
	assert_verdict(PLX_WIRE_UDP_LENGTH, both);
	make_frame_of(&made, 4, false, 40);
	put16(made.bytes + 16, 69);
	assert_verdict(PLX_WIRE_IP_LENGTH, both);
}

static void
another_port_is_not_roce_but_the_frame_is_whole(void **state)
{
	(void)state;
	make_frame_of(&made, 4, true, 40);
	put16(made.bytes + made.udp_at + 2, 4790);
	assert_verdict(PLX_WIRE_NOT_ROCE, 0);
	assert_int_equal(frame.udp_dst, 4790);
	assert_int_equal(frame.udp_src, MADE_UDP_SRC);
	assert_int_equal(frame.udp_bytes, 48);
	assert_int_equal(frame.v4.dst, MADE_IPV4_DST);
	/* A wrong checksum comes first, so that a damaged port is not taken for another one. */
	put16(made.bytes + made.udp_at + 6, plain_udp_checksum(&made, 4) ^ 1);
	assert_verdict(PLX_WIRE_UDP_CHECKSUM, 0);
}

/* Each step repairs the fault that the verdict named; the next line of the table comes up. */
static void
of_several_faults_the_first_line_of_the_table_is_named(void **state)
{
	uint8_t *ip;

	(void)state;
	make_frame_of(&made, 4, false, 40);
	ip = made.bytes + 14;
	put16(made.bytes + 12, 0x0806);
	ip[0] = 0x67;
	put16(ip + 2, 4000);
	put16(ip + 6, 0x2000);
	ip[9] = 6;
	ip[10] ^= 0xff;
	put16(ip + 22, 80);
	put16(ip + 24, 9);
	put16(ip + 26, 0x1111);
	assert_verdict(PLX_WIRE_NOT_IP, 0);
	put16(made.bytes + 12, 0x0800);
	assert_verdict(PLX_WIRE_IP_VERSION, 0);
	ip[0] = 0x47;
	assert_verdict(PLX_WIRE_IP_OPTIONS, 0);
	ip[0] = 0x45;
	assert_verdict(PLX_WIRE_IP_LENGTH, 0);
	put16(ip + 2, 68);
	assert_verdict(PLX_WIRE_IP_FRAGMENT, 0);
	put16(ip + 6, 0);
	assert_verdict(PLX_WIRE_IP_CHECKSUM, 0);
	fix_ip_checksum(&made);
	assert_verdict(PLX_WIRE_NOT_UDP, 0);
	ip[9] = 17;
	fix_ip_checksum(&made);
	assert_verdict(PLX_WIRE_UDP_LENGTH, 0);
	put16(ip + 24, 48);
	assert_verdict(PLX_WIRE_UDP_CHECKSUM, 0);
	put16(ip + 26, 0);
	assert_verdict(PLX_WIRE_NOT_ROCE, 0);
	put16(ip + 22, 4791);
	assert_verdict(PLX_WIRE_OK, 0);
}

static void
any_header_that_decodes_encodes_to_the_same_bytes(void **state)
{
	struct plx_prng prng;
	int taken = 0;

	(void)state;
	plx_prng_init(&prng, 1);
	for (int round = 0; round < 20000; round++) {
		int version = round & 1 ? 6 : 4;
		uint8_t out[PLX_FRAME_HEADER_MAX];
		size_t header;

		make_frame_of(&made, version, round & 2, plx_prng_below(&prng, 80));
		header = made.udp_at + 8;
		for (int i = 0; i < 4; i++)
			made.bytes[plx_prng_below(&prng, header)] ^= (uint8_t)plx_prng_next(&prng);
		if (decode_made(&made, ~0u, &frame) != PLX_WIRE_OK)
			continue;
		taken++;
		assert_int_equal(plx_frame_encode(&frame, out), header);
		assert_memory_equal(out, made.bytes, header);
	}
	assert_true(taken > 1000);
}

static void
ecn_is_read_from_both_ip_versions(void **state)
{
	(void)state;
	for (unsigned ecn = 0; ecn < 4; ecn++) {
		make_frame_of(&made, 4, false, 40);
		made.bytes[15] = (uint8_t)(0xa8 | ecn);
		assert_verdict(PLX_WIRE_OK, PLX_TRUST_IP_CHECKSUM);
		assert_int_equal(plx_frame_ecn(&frame), ecn);
		make_frame_of(&made, 6, false, 40);
		/* The traffic class straddles the first two bytes. */
		made.bytes[15] = (uint8_t)(0x8a | ecn << 4);
		made.bytes[14] = 0x6a;
		assert_verdict(PLX_WIRE_OK, 0);
		assert_int_equal(plx_frame_ecn(&frame), ecn);
	}
}

static void
another_class_of_traffic_leaves_the_rest_as_it_was(void **state)
{
	static struct made before;
	struct plx_frame was;

	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (unsigned tos = 0; tos < 256; tos++) {
			make_frame_of(&made, version, true, 40);
			before = made;
			assert_verdict(PLX_WIRE_OK, 0);
			was = frame;
			plx_frame_set_tos(made.bytes + made.ip_at, (uint8_t)tos);
			assert_verdict(PLX_WIRE_OK, 0); /* the checksum is right */
			if (version == 4) {
				assert_int_equal(frame.v4.tos, tos);
				frame.v4.tos = was.v4.tos;
				frame.v4.checksum = was.v4.checksum;
			} else {
				assert_int_equal(frame.v6.flow >> 20, tos);
				frame.v6.flow = (frame.v6.flow & 0xfffff) |
						(was.v6.flow & UINT32_C(0xff00000));
			}
			plx_frame_encode(&frame, made.bytes);
			assert_memory_equal(made.bytes, before.bytes, made.len);
		}
}

static void
a_template_writes_what_a_frame_of_that_length_must_have(void **state)
{
	static const size_t lengths[] = {0, 1, 16, 44, 255, 256, 1040, 4160, 4200};

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct plx_frame_template tmpl;
		int version = kind & 1 ? 6 : 4;

		/* The lengths and checksums of the frame it is made from must not matter. */
		make_frame_of(&made, version, kind & 2, 777);
		assert_verdict(PLX_WIRE_OK, 0);
		frame.udp_checksum = 0x5555;
		frame.v4.checksum ^= version == 4 ? 0x5555 : 0;
		plx_frame_template_init(&tmpl, &frame);
		for (size_t i = 0; i < PLX_COUNT_OF(lengths); i++) {
			uint8_t out[PLX_FRAME_HEADER_MAX + 1];

			make_frame_of(&made, version, kind & 2, lengths[i]);
			out[PLX_FRAME_HEADER_MAX] = 0xa5;
			assert_int_equal(plx_frame_template_write(&tmpl, lengths[i], out),
					 made.udp_at + 8);
			assert_memory_equal(out, made.bytes, made.udp_at + 8);
			assert_int_equal(out[PLX_FRAME_HEADER_MAX], 0xa5);
		}
	}
}

static void
a_template_of_any_ipv4_header_has_a_right_checksum_at_every_length(void **state)
{
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 2);
	for (int round = 0; round < 20000; round++) {
		struct plx_frame_template tmpl;
		uint8_t out[PLX_FRAME_HEADER_MAX];
		uint64_t bits = plx_prng_next(&prng);

		make_frame_of(&made, 4, false, 0);
		assert_verdict(PLX_WIRE_OK, 0);
		/* Folding fails at sums close to ffff: make many words ones. */
		frame.v4.id = bits & 1 ? 0xffff : (uint16_t)(bits >> 16);
		frame.v4.tos = bits & 2 ? 0xff : (uint8_t)(bits >> 32);
		frame.v4.src = bits & 4 ? 0xffffffff : (uint32_t)plx_prng_next(&prng);
		frame.v4.dst = bits & 8 ? 0xffffffff : (uint32_t)plx_prng_next(&prng);
		plx_frame_template_init(&tmpl, &frame);
		plx_frame_template_write(&tmpl, plx_prng_below(&prng, 65488), out);
		assert_int_equal(get16(out + 24), plain_ipv4_checksum(out + 14));
	}
}

static void
every_verdict_has_a_sentence_and_other_values_have_one_too(void **state)
{
	(void)state;
	for (int v = 0; v < PLX_WIRE_VERDICT_COUNT; v++)
		assert_true(strlen(plx_wire_verdict_text((enum plx_wire_verdict)v)) > 5);
	assert_string_equal(plx_wire_verdict_text(PLX_WIRE_OK), "decoded");
	assert_string_equal(plx_wire_verdict_text(PLX_WIRE_VERDICT_COUNT), "not a wire verdict");
	assert_string_equal(plx_wire_verdict_text((enum plx_wire_verdict) - 1),
			    "not a wire verdict");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_frame_decodes_into_every_field_of_its_headers),
		cmocka_unit_test(ipv6_frame_decodes_into_every_field_of_its_headers),
		cmocka_unit_test(one_vlan_tag_is_taken_and_moves_the_rest_by_four_bytes),
		cmocka_unit_test(a_frame_is_for_one_vlan_one_station_or_a_group),
		cmocka_unit_test(t9_a_second_vlan_tag_is_refused),
		cmocka_unit_test(other_ethertypes_are_not_ip),
		cmocka_unit_test(t9_a_frame_cut_at_any_byte_is_refused_for_the_header_that_is_cut),
		cmocka_unit_test(ip_version_must_agree_with_the_ethertype),
		cmocka_unit_test(t9_ip_options_and_impossible_header_lengths_are_refused),
		cmocka_unit_test(t9_an_ip_length_that_lies_is_refused),
		cmocka_unit_test(
			an_ipv6_packet_past_65535_bytes_is_refused_even_when_the_frame_holds_it),
		cmocka_unit_test(ethernet_padding_behind_the_packet_is_not_part_of_it),
		cmocka_unit_test(t9_fragments_are_refused),
		cmocka_unit_test(t9_one_wrong_bit_anywhere_in_an_ipv4_header_is_refused),
		cmocka_unit_test(protocols_other_than_udp_are_refused),
		cmocka_unit_test(t9_a_udp_length_that_lies_is_refused),
		cmocka_unit_test(t9_an_ip_packet_without_room_for_a_udp_header_is_refused),
		cmocka_unit_test(
			a_right_udp_checksum_is_taken_at_every_length_and_a_wrong_one_refused),
		cmocka_unit_test(t9_a_udp_checksum_covers_the_addresses_and_every_byte),
		cmocka_unit_test(a_udp_sum_of_zero_is_sent_as_ones_and_taken),
		cmocka_unit_test(t9_a_trusting_flag_excuses_its_own_checksum_and_nothing_else),
		cmocka_unit_test(another_port_is_not_roce_but_the_frame_is_whole),
		cmocka_unit_test(of_several_faults_the_first_line_of_the_table_is_named),
		cmocka_unit_test(any_header_that_decodes_encodes_to_the_same_bytes),
		cmocka_unit_test(ecn_is_read_from_both_ip_versions),
		cmocka_unit_test(another_class_of_traffic_leaves_the_rest_as_it_was),
		cmocka_unit_test(a_template_writes_what_a_frame_of_that_length_must_have),
		cmocka_unit_test(
			a_template_of_any_ipv4_header_has_a_right_checksum_at_every_length),
		cmocka_unit_test(every_verdict_has_a_sentence_and_other_values_have_one_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
