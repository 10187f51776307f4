/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our own addresses: which configurations are valid, which addresses are ours, and the source
 * address for each destination. It never receives a frame. Start with
 * each_wrong_configuration_is_refused().
 */
#include "lan.h"

#include <stdlib.h>
#include <string.h>

static const struct plx_net_config good = {
	.mac = {2, 0, 0, 0, 0, 1},
	.addresses = 2,
	.address = {{{4, {10, 77, 0, 1}}, 24}, {{6, {0xfd, 0x77, [15] = 1}}, 64}},
	.neighbours = 8,
};

static void
refused(struct plx_net_config config)
{
	assert_int_equal(plx_net_bytes(&config), 0);
}

static void
each_wrong_configuration_is_refused(void **state)
{
	static const char *const not_unicast[] = {
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1",       "239.1.1.1",   "240.0.0.1",
		"::",      "::1",     "ff02::1",   "255.255.255.255", "10.77.0.255", "10.77.0.0",
	};
	struct plx_net_config config = good;

	(void)state;
	assert_true(plx_net_bytes(&good) > 0);
	for (size_t i = 0; i < PLX_COUNT_OF(not_unicast); i++) {
		config.address[0].ip = lan_ip(not_unicast[i]);
		refused(config);
	}
	for (uint8_t version = 0; version < 8; version++) {
		config = good;
		config.address[0].ip.version = version;
		assert_int_equal(plx_net_bytes(&config) > 0, version == 4 || version == 6);
	}
	config = good;
	config.address[1].ip = lan_ip("ff02::1");
	refused(config);
	config = good;
	config.addresses = 0;
	refused(config);
	config.addresses = PLX_NET_ADDRESSES_MAX + 1;
	refused(config);
	config = good;
	config.neighbours = 0;
	refused(config);
	config.neighbours = PLX_NET_NEIGHBOURS_MAX + 1;
	refused(config);
	config = good;
	config.address[0].prefix_bits = 33;
	refused(config);
	config.address[0].prefix_bits = 255;
	refused(config);
	config = good;
	config.address[1].prefix_bits = 129;
	refused(config);
	config = good;
	config.mac[0] = 3;
	refused(config);
	memset(config.mac, 0, sizeof config.mac);
	refused(config);
}

static void
what_is_just_in_range_is_good(void **state)
{
	static const char *const addresses[] = {"1.0.0.1",   "126.255.255.254", "128.0.0.1",
						"10.77.0.1", "223.255.255.254", "::2",
						"feff::",    "fd77::"};
	struct plx_net_config config = good;

	(void)state;
	config.addresses = PLX_COUNT_OF(addresses);
	assert_int_equal(config.addresses, PLX_NET_ADDRESSES_MAX);
	for (uint32_t i = 0; i < config.addresses; i++) {
		config.address[i].ip = lan_ip(addresses[i]);
		config.address[i].prefix_bits = config.address[i].ip.version == 4 ? 24 : 128;
	}
	config.neighbours = PLX_NET_NEIGHBOURS_MAX;
	assert_true(plx_net_bytes(&config) > 0);
	config.neighbours = 1;
	assert_true(plx_net_bytes(&config) > 0);
}

/* Any bytes behind the four of an IPv4 address. */
static void
the_same_address_twice_is_refused(void **state)
{
	struct plx_net_config config = good;

	(void)state;
	config.addresses = 3;
	config.address[2] = good.address[1];
	refused(config);
	config.address[2] = good.address[0];
	config.address[2].prefix_bits = 8;
	config.address[2].ip.v[9] = 9;
	refused(config);
	config.address[2].ip.v[3] = 2;
	assert_true(plx_net_bytes(&config) > 0);
}

/* The first address of a network and its last belong to nobody, but in networks of one or two. */
static void
small_networks_have_no_broadcast(void **state)
{
	static const struct {
		const char *ip;
		uint8_t prefix_bits;
		bool good;
	} rows[] = {
		{"10.77.0.4", 30, false},  {"10.77.0.5", 30, true}, {"10.77.0.7", 30, false},
		{"10.77.0.4", 31, true},   {"10.77.0.5", 31, true}, {"10.77.0.5", 32, true},
		{"10.77.0.0", 16, false},  {"10.77.0.0", 15, true}, {"10.77.255.255", 16, false},
		{"10.77.0.255", 16, true}, {"10.0.0.1", 0, true},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		struct plx_net_config config = good;

		config.addresses = 1;
		config.address[0].ip = lan_ip(rows[i].ip);
		config.address[0].prefix_bits = rows[i].prefix_bits;
		assert_int_equal(plx_net_bytes(&config) > 0, rows[i].good);
	}
}

static void
questions_outside_are_refused_and_ask_nobody(void **state)
{
	static const struct {
		const char *ip;
		enum plx_net_verdict verdict;
	} rows[] = {
		{"10.77.1.2", PLX_NET_NO_ROUTE},        {"192.168.0.1", PLX_NET_NO_ROUTE},
		{"fd78::1", PLX_NET_NO_ROUTE},          {"fe80::1", PLX_NET_NO_ROUTE},
		{"::ffff:10.77.0.2", PLX_NET_NO_ROUTE}, {"10.77.0.255", PLX_NET_NOT_UNICAST},
		{"10.77.0.0", PLX_NET_NOT_UNICAST},     {"255.255.255.255", PLX_NET_NOT_UNICAST},
		{"224.0.0.1", PLX_NET_NOT_UNICAST},     {"0.0.0.0", PLX_NET_NOT_UNICAST},
		{"127.0.0.1", PLX_NET_NOT_UNICAST},     {"::", PLX_NET_NOT_UNICAST},
		{"::1", PLX_NET_NOT_UNICAST},           {"ff02::1", PLX_NET_NOT_UNICAST},
	};
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++)
		assert_int_equal(lan_resolve(&lan, rows[i].ip), rows[i].verdict);
	for (unsigned version = 0; version < 256; version++) {
		struct plx_ip ip = {(uint8_t)version, {10, 77, 0, 2}};

		if (version != 4 && version != 6)
			assert_int_equal(lan_resolve_ip(&lan, ip), PLX_NET_NOT_UNICAST);
	}
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	lan_close(&lan);
}

static void
an_address_of_ours_resolves_to_our_mac(void **state)
{
	struct plx_ip padded = lan_ip(OWN4);
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_knows(&lan, OWN4, OWN_MAC);
	lan_knows(&lan, OWN6, OWN_MAC);
	padded.v[15] = 0xff;
	assert_int_equal(lan_resolve_ip(&lan, padded), PLX_NET_READY);
	assert_true(plx_net_is_own(lan.net, &padded));
	padded.v[3] = 2;
	assert_false(plx_net_is_own(lan.net, &padded));
	padded.version = 6;
	assert_false(plx_net_is_own(lan.net, &padded));
	/* It is one and the same neighbour, with zeros behind and without. */
	padded.version = 4;
	assert_int_equal(lan_resolve_ip(&lan, padded), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_drain(&lan), 1);
	lan_close(&lan);
}

static void
comes_from(const struct lan *lan, const char *ip, const char *source)
{
	struct plx_ip wanted = lan_ip(ip), expected, got, untouched;

	memset(&untouched, 0xee, sizeof untouched);
	got = untouched;
	assert_int_equal(plx_net_source(lan->net, &wanted, &got), source != NULL);
	expected = source ? lan_ip(source) : untouched;
	assert_memory_equal(&got, &expected, sizeof got);
}

static void
the_longest_prefix_gives_the_source(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_close(&lan);
	lan.config.addresses = 7;
	lan.config.address[0].ip.v[15] = 9; /* means nothing */
	lan.config.address[2] = (struct plx_net_address){lan_ip("10.77.0.65"), 26};
	lan.config.address[3] = (struct plx_net_address){lan_ip("10.77.0.66"), 26};
	lan.config.address[4] = (struct plx_net_address){lan_ip("10.1.2.3"), 9};
	lan.config.address[5] = (struct plx_net_address){lan_ip("fd77::1:0:0:1"), 97};
	lan.config.address[6] = (struct plx_net_address){lan_ip("fd99::1"), 128};
	lan_start(&lan);
	comes_from(&lan, "10.77.0.2", OWN4);
	comes_from(&lan, "10.77.0.63", OWN4);
	comes_from(&lan, "10.77.0.64", "10.77.0.65");
	comes_from(&lan, "10.77.0.127", "10.77.0.65");
	comes_from(&lan, "10.77.0.128", OWN4);
	comes_from(&lan, "10.77.1.1", "10.1.2.3");
	comes_from(&lan, "10.127.255.254", "10.1.2.3");
	comes_from(&lan, "10.128.0.0", NULL);
	comes_from(&lan, "fd77::1:7fff:ffff", OWN6);
	comes_from(&lan, "fd77::1:0:7fff:ffff", "fd77::1:0:0:1");
	comes_from(&lan, "fd77::1:0:8000:0", OWN6);
	comes_from(&lan, "fd77:0:0:1::1", NULL);
	comes_from(&lan, "fd99::2", NULL);
	/* Our own addresses are reached from themselves, whatever prefix contains them. */
	comes_from(&lan, "10.77.0.66", "10.77.0.66");
	comes_from(&lan, "fd99::1", "fd99::1");
	/* The last address of the smaller network, which the larger one would let pass. */
	assert_int_equal(lan_resolve(&lan, "10.77.0.127"), PLX_NET_NOT_UNICAST);
	assert_int_equal(lan_resolve(&lan, "10.77.0.128"), PLX_NET_WAIT);
	/* And it is the source of our solicitations. */
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(lan_resolve(&lan, "10.77.0.70"), PLX_NET_WAIT);
	lan_says(&lan, "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
		       "020000000001 0a4d0041 000000000000 0a4d0046");
	lan_close(&lan);
}

static void
every_verdict_has_a_text(void **state)
{
	(void)state;
	for (int i = 0; i < PLX_NET_VERDICT_COUNT; i++) {
		const char *text = plx_net_verdict_text((enum plx_net_verdict)i);

		assert_true(strlen(text) > 10);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text,
						plx_net_verdict_text((enum plx_net_verdict)j));
	}
	assert_string_equal(plx_net_verdict_text(PLX_NET_VERDICT_COUNT),
			    "not a verdict of neighbour resolution");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_configuration_is_refused),
		cmocka_unit_test(what_is_just_in_range_is_good),
		cmocka_unit_test(the_same_address_twice_is_refused),
		cmocka_unit_test(small_networks_have_no_broadcast),
		cmocka_unit_test(questions_outside_are_refused_and_ask_nobody),
		cmocka_unit_test(an_address_of_ours_resolves_to_our_mac),
		cmocka_unit_test(the_longest_prefix_gives_the_source),
		cmocka_unit_test(every_verdict_has_a_text),
	};

	return cmocka_run_group_tests_name("net/address", tests, NULL, NULL);
}
