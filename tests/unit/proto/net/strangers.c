/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A port in a VLAN: everything it sends is tagged, and everything untagged is dropped; also the
 * Ethernet groups that a port joins. (Each wrong field: hostile.c and echo.c.) Start with talk().
 */
#include "lan.h"

#include <string.h>

enum {
	VLAN = 0x123,
	ADDRESSES_BYTES = 12,
	TAG_BYTES = 4,
};

static void
open_in_vlan(struct lan *lan, const char *ip4, const char *ip6, const char *mac)
{
	lan_open_as(lan, ip4, ip6, mac);
	lan_close(lan);
	lan->config.vlan = VLAN;
	lan->config.announce = 1;
	lan_start(lan);
}

static bool
announces(const uint8_t *frame)
{
	const uint8_t *arp = frame + ADDRESSES_BYTES + TAG_BYTES + 2;

	return arp[-2] == 0x08 && arp[-1] == 0x06 && memcmp(arp + 14, arp + 24, 4) == 0;
}

/* What `from` sends is received by `to`, in the same VLAN, only if tagged; and not by `other`,
 * which has no VLAN.
 * Returns: frames */
static unsigned
talk(struct lan *from, struct lan *to, struct lan *other)
{
	static const uint8_t tag[TAG_BYTES] = {0x81, 0x00, VLAN >> 8, VLAN & 0xff};
	uint8_t frame[PLX_NET_FRAME_MAX], bare[PLX_NET_FRAME_MAX];
	unsigned frames = 0;
	size_t len;

	while ((len = lan_takes(from, frame)) > 0) {
		frames++;
		assert_true(len >= 64);
		assert_memory_equal(frame + ADDRESSES_BYTES, tag, TAG_BYTES);
		memcpy(bare, frame, ADDRESSES_BYTES);
		memcpy(bare + ADDRESSES_BYTES, frame + ADDRESSES_BYTES + TAG_BYTES,
		       len - ADDRESSES_BYTES - TAG_BYTES);
		assert_int_equal(lan_hears_bytes(to, bare, len - TAG_BYTES), PLX_NET_OTHER_VLAN);
		assert_int_equal(lan_hears_bytes(other, frame, len), PLX_NET_OTHER_VLAN);
		/* An ARP announcement has its own sender as target. */
		assert_int_equal(lan_hears_bytes(to, frame, len),
				 announces(frame) ? PLX_NET_OTHER_ADDRESS : PLX_NET_TAKEN);
	}
	return frames;
}

static void
two_ports_of_a_vlan_find_and_answer_each_other(void **state)
{
	static const char *const to[] = {ALICE4, ALICE6};
	struct lan us, alice, other;
	const struct plx_net_counters *heard;
	uint64_t rtt_ns;

	(void)state;
	open_in_vlan(&us, OWN4, OWN6, OWN_MAC);
	open_in_vlan(&alice, ALICE4, ALICE6, ALICE_MAC);
	lan_open_as(&other, ALICE4, ALICE6, ALICE_MAC);
	assert_int_equal(talk(&us, &alice, &other), 2); /* the announcements */
	assert_int_equal(talk(&alice, &us, &other), 2);
	for (int i = 0; i < 2; i++) {
		struct plx_ip ip = lan_ip(to[i]);
		uint32_t headers = i ? 62 : 42, number, most;

		most = PLX_NET_FRAME_USUAL - TAG_BYTES - headers;
		assert_int_equal(plx_net_ping(us.net, &ip, most + 1, us.now, PLX_SEC, &number),
				 PLX_NET_TOO_LONG);
		assert_int_equal(plx_net_ping(us.net, &ip, most, us.now, PLX_SEC, &number),
				 PLX_NET_WAIT);
		assert_int_equal(talk(&us, &alice, &other), 1); /* solicits an unknown neighbour */
		assert_int_equal(talk(&alice, &us, &other), 1);
		assert_int_equal(plx_net_ping_result(us.net, number, us.now, &rtt_ns),
				 PLX_NET_WAIT);
		assert_int_equal(talk(&us, &alice, &other), 1); /* the echo */
		assert_int_equal(talk(&alice, &us, &other), 1);
		assert_int_equal(plx_net_ping_result(us.net, number, us.now, &rtt_ns),
				 PLX_NET_READY);
		lan_knows(&us, to[i], ALICE_MAC);
	}
	heard = plx_net_counters(other.net);
	assert_int_equal(heard->requests_seen + heard->echoes_seen + heard->conflicts, 0);
	lan_close(&us);
	lan_close(&alice);
	lan_close(&other);
}

static void
a_vlan_out_of_range_is_refused(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (uint32_t vlan = 0; vlan <= 0xffff; vlan++) {
		lan.config.vlan = (uint16_t)vlan;
		assert_int_equal(plx_net_bytes(&lan.config) > 0, vlan <= PLX_VLAN_MAX);
	}
	lan.config.vlan = VLAN;
	assert_int_equal(plx_net_vlan(lan.net), 0);
	lan_close(&lan);
	lan_start(&lan);
	assert_int_equal(plx_net_vlan(lan.net), VLAN);
	lan_close(&lan);
}

static void
the_groups_are_all_nodes_and_one_for_each_address(void **state)
{
	const struct plx_net_address list[] = {
		{lan_ip(OWN4), 24},         {lan_ip(OWN6), 64},   {lan_ip("fd78::1"), 64},
		{lan_ip("fd77::abcd"), 64}, {lan_ip(ALICE4), 24},
	};
	uint8_t macs[6 * PLX_NET_GROUPS_MAX], want[6];

	(void)state;
	assert_int_equal(plx_net_groups(list, 1, macs), 0);
	/* The group has the last 24 bits of an address: two addresses may share one. */
	assert_int_equal(plx_net_groups(list, 3, macs), 2);
	assert_int_equal(plx_net_groups(list, 5, macs), 3);
	lan_hex("333300000001", want);
	assert_memory_equal(macs, want, 6);
	lan_hex("3333ff000001", want);
	assert_memory_equal(macs + 6, want, 6);
	lan_hex("3333ff00abcd", want);
	assert_memory_equal(macs + 12, want, 6);
}

static void
an_address_is_told_from_others_by_every_bit(void **state)
{
	struct plx_ip four = lan_ip(OWN4), six = lan_ip(OWN6);
	uint32_t number = 0;
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (int i = 0; i < 4; i++)
		number = number << 8 | four.v[i];
	assert_true(plx_net_is_own4(lan.net, number));
	assert_true(plx_net_is_own6(lan.net, six.v));
	for (int bit = 0; bit < 32; bit++)
		assert_false(plx_net_is_own4(lan.net, number ^ UINT32_C(1) << bit));
	for (int bit = 0; bit < 128; bit++) {
		six.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(plx_net_is_own6(lan.net, six.v));
		six.v[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_ports_of_a_vlan_find_and_answer_each_other),
		cmocka_unit_test(a_vlan_out_of_range_is_refused),
		cmocka_unit_test(the_groups_are_all_nodes_and_one_for_each_address),
		cmocka_unit_test(an_address_is_told_from_others_by_every_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
