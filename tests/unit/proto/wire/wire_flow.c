/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recognising the common packet of a flow: it accepts only what plx_frame_decode() accepts, and
 * decodes it the same way.
 */
#include <stdlib.h>

#include "test.h"
#include "make.h"

enum {
	DATAGRAM = 60
};

struct known {
	struct plx_frame_template own;
	struct plx_frame_flow flow;
};

/* The flow of make_frame()'s packets: ours have the ends exchanged. */
static struct known
flow_of(int ip_version, bool vlan)
{
	static struct made made;
	struct plx_frame theirs;
	struct plx_frame own = {.ip_version = (uint8_t)ip_version,
				.vlan = vlan,
				.vlan_tci = MADE_TCI & 0x0fff, /* with another priority */
				.udp_src = 50000,
				.udp_dst = PLX_ROCE_PORT};
	struct known known;

	make_frame_of(&made, ip_version, vlan, DATAGRAM);
	assert_int_equal(decode_made(&made, 0, &theirs), PLX_WIRE_OK);
	memcpy(own.eth_src, made_mac, sizeof(own.eth_src));
	if (ip_version == 4) {
		own.v4.src = MADE_IPV4_DST;
		own.v4.dst = MADE_IPV4_SRC;
		own.v4.ttl = 64;
	} else {
		memcpy(own.v6.src, theirs.v6.dst, sizeof(own.v6.src));
		memcpy(own.v6.dst, theirs.v6.src, sizeof(own.v6.dst));
		own.v6.hop_limit = 64;
	}
	plx_frame_template_init(&known.own, &own);
	plx_frame_flow_init(&known.flow, &known.own);
	return known;
}

/* In a block of exactly that size, so that the sanitizer sees a byte too many. */
static bool
matches(const struct known *known, const struct made *made, size_t *ip_bytes)
{
	uint8_t *copy = malloc(made->len);
	bool found;

	assert_non_null(copy);
	memcpy(copy, made->bytes, made->len);
	found = plx_frame_flow_matches(&known->flow, &known->own, copy, made->len, ip_bytes);
	free(copy);
	return found;
}

static void
the_peers_packet_is_recognised(void **state)
{
	static struct made made;
	size_t ip_bytes;

	(void)state;
	for (int way = 0; way < 4; way++) {
		int version = way & 1 ? 6 : 4;
		size_t header = plx_frame_ip_header_bytes((uint8_t)version);
		struct known known = flow_of(version, way & 2);

		make_frame_of(&made, version, way & 2, DATAGRAM);
		assert_true(matches(&known, &made, &ip_bytes));
		assert_int_equal(ip_bytes, header + PLX_UDP_BYTES + DATAGRAM);
		made.len += 10; /* Ethernet padding behind it */
		assert_true(matches(&known, &made, &ip_bytes));
		assert_int_equal(ip_bytes, header + PLX_UDP_BYTES + DATAGRAM);
	}
}

/* Before a queue pair has a peer. */
static void
nothing_is_recognised_without_a_flow(void **state)
{
	static struct known none;
	static struct made made;
	size_t ip_bytes;

	(void)state;
	plx_frame_flow_init(&none.flow, &none.own);
	assert_true(none.flow.ip_at >= 2); /* no byte before a frame is read */
	make_frame_of(&made, 4, false, DATAGRAM);
	assert_false(matches(&none, &made, &ip_bytes));
	make_frame_of(&made, 6, false, DATAGRAM);
	assert_false(matches(&none, &made, &ip_bytes));
}

static void
assert_from_the_peer(int version, const struct plx_frame *frame, const struct known *known)
{
	const uint8_t *ours = known->own.bytes + known->own.ip_at + 8;

	if (version == 4) {
		assert_int_equal(frame->v4.src, MADE_IPV4_SRC);
		assert_int_equal(frame->v4.dst, MADE_IPV4_DST);
		return;
	}
	assert_memory_equal(frame->v6.dst, ours, 16);
	assert_memory_equal(frame->v6.src, ours + 16, 16);
}

/* Every bit of the headers in turn: what still matches decodes to the same place and addresses. */
static void
recognised_is_right(int version, bool vlan)
{
	static struct made made;
	struct known known = flow_of(version, vlan);
	uint32_t recognised = 0, refused = 0, tag = vlan ? PLX_VLAN_BYTES : 0;
	uint32_t headers = PLX_ETH_BYTES + tag + PLX_UDP_BYTES +
			   (uint32_t)plx_frame_ip_header_bytes((uint8_t)version);
	uint16_t id = vlan ? MADE_TCI & 0x0fff : 0;

	for (uint32_t bit = 0; bit < 8 * headers; bit++)
		for (int checksum = 0; checksum < 2; checksum++) {
			struct plx_frame frame;
			size_t ip_bytes;

			make_frame_of(&made, version, vlan, DATAGRAM);
			made.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (checksum && version == 4)
				fix_ip_checksum(&made);
			if (!matches(&known, &made, &ip_bytes)) {
				refused++;
				continue;
			}
			recognised++;
			assert_int_equal(plx_frame_is_for(made.bytes, made.len, made_mac, id),
					 PLX_WIRE_OK);
			assert_int_equal(decode_made(&made, 0, &frame), PLX_WIRE_OK);
			assert_int_equal(frame.ip_bytes, ip_bytes);
			assert_int_equal(frame.ip_at, PLX_ETH_BYTES + tag);
			assert_int_equal(frame.udp_checksum, 0);
			assert_from_the_peer(version, &frame, &known);
		}
	/* The Ethernet source, a tag's priority, TOS, id, flags, TTL and source port may be
	 * anything if the checksum is right, and of IPv6 the traffic class, the flow label and the
	 * hop limit; the rest may not. */
	if (version == 4)
		assert_int_equal(recognised,
				 2 * 6 * 8 + (vlan ? 2 * 4 : 0) + 8 + 16 + 2 + 8 + 16 + 2 * 16);
	else
		assert_int_equal(recognised, 2 * (6 * 8 + (vlan ? 4 : 0) + 28 + 8 + 16));
	assert_true(refused > 0);
}

static void
what_is_recognised_decodes_and_comes_from_the_peer(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++)
		recognised_is_right(way & 1 ? 6 : 4, way & 2);
}

static void
other_shapes_are_left_to_the_decoder(void **state)
{
	static struct made made;
	struct known four = flow_of(4, false), six = flow_of(6, false), tagged = flow_of(4, true);
	size_t ip_bytes;

	(void)state;
	make_frame_of(&made, 4, false, DATAGRAM);
	assert_false(matches(&six, &made, &ip_bytes));
	assert_false(matches(&tagged, &made, &ip_bytes));
	make_frame_of(&made, 4, true, DATAGRAM);
	assert_false(matches(&four, &made, &ip_bytes));
	assert_true(matches(&tagged, &made, &ip_bytes));
	make_frame_of(&made, 6, false, DATAGRAM);
	assert_false(matches(&four, &made, &ip_bytes));
	assert_true(matches(&six, &made, &ip_bytes));
}

static void
lengths_that_disagree_are_left_to_the_decoder(void **state)
{
	static struct made made;
	struct known four = flow_of(4, false), six = flow_of(6, false);
	size_t ip_bytes;

	(void)state;
	for (unsigned total = 0; total < 200; total++)
		for (unsigned udp = 0; udp < 200; udp++) {
			bool right = total >= 44 && udp == total - 20 && total <= 88;

			make_frame_of(&made, 4, false, DATAGRAM);
			put16(made.bytes + made.ip_at + 2, total);
			put16(made.bytes + made.udp_at + 4, udp);
			fix_ip_checksum(&made);
			assert_int_equal(matches(&four, &made, &ip_bytes), right);
			make_frame_of(&made, 6, false, DATAGRAM);
			put16(made.bytes + made.ip_at + 4, total);
			put16(made.bytes + made.udp_at + 4, udp);
			right = total >= 24 && udp == total && total <= 68;
			assert_int_equal(matches(&six, &made, &ip_bytes), right);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peers_packet_is_recognised),
		cmocka_unit_test(nothing_is_recognised_without_a_flow),
		cmocka_unit_test(what_is_recognised_decodes_and_comes_from_the_peer),
		cmocka_unit_test(other_shapes_are_left_to_the_decoder),
		cmocka_unit_test(lengths_that_disagree_are_left_to_the_decoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
