/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Routes: which configurations are valid, which route is chosen, and that a gateway is a neighbour.
 * It never tests the life of a neighbour: life.c does. Start with open_routed(): we have two
 * gateways in the LAN.
 */
#include "lan.h"

#include <string.h>

#define GATEWAY4  "10.77.0.254"
#define GATEWAY6  "fd77::fe"
#define OTHER4    "10.77.0.253"
#define ROUTER    "0200000000fe"
#define ELSEWHERE "192.0.2.7"

static struct plx_net_route
route(const char *net, uint8_t prefix_bits, const char *via)
{
	return (struct plx_net_route){lan_ip(net), prefix_bits, lan_ip(via)};
}

static void
add(struct lan *lan, const char *net, uint8_t prefix_bits, const char *via)
{
	lan->config.route[lan->config.routes++] = route(net, prefix_bits, via);
}

static void
open_routed(struct lan *lan)
{
	lan_open(lan, 8);
	lan_close(lan);
	/* In any order. */
	add(lan, "0.0.0.0", 0, GATEWAY4);
	add(lan, "10.0.0.0", 8, OTHER4);
	add(lan, "10.77.0.64", 26, OTHER4); /* of our own network */
	add(lan, "10.0.0.0", 9, GATEWAY4);
	add(lan, "::", 0, GATEWAY6);
	add(lan, "10.88.0.9", 32, OTHER4);
	lan->config.route[1].via.v[9] = 9; /* means nothing */
	lan_start(lan);
}

static void
each_wrong_route_is_refused(void **state)
{
	static const struct {
		const char *net;
		uint8_t prefix_bits;
		const char *via;
		bool good;
	} rows[] = {
		{"10.88.0.0", 16, GATEWAY4, true},
		{"0.0.0.0", 0, GATEWAY4, true},
		{"10.88.0.1", 32, GATEWAY4, true},
		{"::", 0, GATEWAY6, true},
		{"fd88::", 16, GATEWAY6, true},
		{"10.88.0.0", 33, GATEWAY4, false},
		{"fd88::", 129, GATEWAY6, false},
		{"10.88.0.0", 12, GATEWAY4, false}, /* bits behind the prefix */
		{"10.88.0.1", 31, GATEWAY4, false},
		{"0.0.0.1", 0, GATEWAY4, false},
		{"fd88::1", 64, GATEWAY6, false},
		{"10.88.0.0", 16, "10.78.0.1", false}, /* in none of our networks */
		{"10.88.0.0", 16, "10.88.0.1", false},
		{"10.88.0.0", 16, OWN4, false},
		{"10.88.0.0", 16, "10.77.0.255", false},
		{"10.88.0.0", 16, "224.0.0.1", false},
		{"10.88.0.0", 16, GATEWAY6, false},
		{"fd88::", 16, GATEWAY4, false},
		{"fd88::", 16, OWN6, false},
		{"fd88::", 16, "fe80::1", false},
	};
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan.config.routes = 1;
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		lan.config.route[0] = route(rows[i].net, rows[i].prefix_bits, rows[i].via);
		assert_int_equal(plx_net_bytes(&lan.config) > 0, rows[i].good);
	}
	lan.config.route[0] = route("10.88.0.0", 16, GATEWAY4);
	for (unsigned version = 0; version < 256; version++) {
		lan.config.route[0].net.version = (uint8_t)version;
		assert_int_equal(plx_net_bytes(&lan.config) > 0, version == 4);
	}
	lan.config.route[0] = route("10.88.0.0", 16, GATEWAY4);
	lan.config.route[1] = route("10.88.0.0", 16, OTHER4);
	lan.config.route[1].net.v[12] = 1; /* means nothing */
	lan.config.routes = 2;
	assert_int_equal(plx_net_bytes(&lan.config), 0);
	lan.config.route[1].prefix_bits = 17;
	assert_true(plx_net_bytes(&lan.config) > 0);
	for (uint32_t i = 0; i < PLX_NET_ROUTES_MAX; i++) {
		lan.config.route[i] = route("10.88.0.0", 16, GATEWAY4);
		lan.config.route[i].net.v[1] = (uint8_t)i;
	}
	lan.config.routes = PLX_NET_ROUTES_MAX;
	assert_true(plx_net_bytes(&lan.config) > 0);
	lan.config.routes = PLX_NET_ROUTES_MAX + 1;
	assert_int_equal(plx_net_bytes(&lan.config), 0);
	lan_close(&lan);
}

static void
each_wrong_size_is_refused(void **state)
{
	static const struct {
		uint32_t frame_max, announce;
		bool good;
	} rows[] = {
		{0, 0, true},
		{PLX_NET_FRAME_MIN, 0, true},
		{PLX_NET_FRAME_MAX, PLX_NET_ANNOUNCE_MAX, true},
		{PLX_NET_FRAME_MIN - 1, 0, false},
		{1, 0, false},
		{PLX_NET_FRAME_MAX + 1, 0, false},
		{0, PLX_NET_ANNOUNCE_MAX + 1, false},
	};
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		lan.config.frame_max = rows[i].frame_max;
		lan.config.announce = rows[i].announce;
		assert_int_equal(plx_net_bytes(&lan.config) > 0, rows[i].good);
	}
	lan_close(&lan);
}

static void
the_longest_prefix_counts(void **state)
{
	static const struct {
		const char *ip, *hop;
	} rows[] = {
		{"10.77.0.2", "10.77.0.2"}, /* a neighbour, though routes hold it too */
		{"10.77.0.63", "10.77.0.63"}, {"10.77.0.64", OTHER4},
		{"10.77.0.127", OTHER4},      {"10.77.0.128", "10.77.0.128"},
		{"10.77.1.1", GATEWAY4},      {"10.127.255.255", GATEWAY4},
		{"10.128.0.0", OTHER4},       {"10.255.255.255", OTHER4},
		{"11.0.0.1", GATEWAY4},       {"10.88.0.8", GATEWAY4},
		{"10.88.0.9", OTHER4},        {OWN4, OWN4},
		{GATEWAY4, GATEWAY4},         {"2001:db8::1", GATEWAY6},
		{"fd77::9", "fd77::9"},
	};
	struct lan lan;
	uint8_t mac[6];

	(void)state;
	open_routed(&lan);
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		struct plx_ip ip = lan_ip(rows[i].ip), hop, source;
		struct plx_ip expected = lan_ip(rows[i].hop);
		struct plx_ip own = lan_ip(ip.version == 4 ? OWN4 : OWN6);

		assert_true(plx_net_next_hop(lan.net, &ip, &hop));
		assert_memory_equal(&hop, &expected, sizeof hop);
		assert_true(plx_net_source(lan.net, &ip, &source));
		assert_memory_equal(&source, &own, sizeof source);
		memset(&hop, 0xee, sizeof hop);
		if (memcmp(&ip, &own, sizeof ip) == 0) {
			assert_int_equal(plx_net_reach(lan.net, &ip, &hop, mac), PLX_NET_READY);
			assert_memory_equal(mac, lan.config.mac, sizeof mac);
			continue;
		}
		assert_int_equal(plx_net_reach(lan.net, &ip, &hop, mac), PLX_NET_WAIT);
		assert_memory_equal(&hop, &expected, sizeof hop);
	}
	lan_close(&lan);
}

static void
of_a_network_and_a_route_as_long_the_network_counts(void **state)
{
	struct plx_ip alice = lan_ip(ALICE4), hop;
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_close(&lan);
	add(&lan, "10.77.0.0", 24, GATEWAY4);
	lan_start(&lan);
	assert_true(plx_net_next_hop(lan.net, &alice, &hop));
	assert_memory_equal(&hop, &alice, sizeof hop);
	lan_close(&lan);
}

static void
the_gateways_network_gives_the_source(void **state)
{
	struct plx_ip far = lan_ip(ELSEWHERE), near = lan_ip("10.77.0.5"), source, expected;
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_close(&lan);
	lan.config.addresses = 3;
	lan.config.address[2] = (struct plx_net_address){lan_ip("10.78.0.1"), 24};
	add(&lan, "0.0.0.0", 0, "10.78.0.254");
	lan_start(&lan);
	expected = lan_ip("10.78.0.1");
	assert_true(plx_net_source(lan.net, &far, &source));
	assert_memory_equal(&source, &expected, sizeof source);
	assert_int_equal(lan_resolve(&lan, ELSEWHERE), PLX_NET_WAIT);
	lan_says(&lan, "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
		       "020000000001 0a4e0001 000000000000 0a4e00fe");
	expected = lan_ip(OWN4);
	assert_true(plx_net_source(lan.net, &near, &source));
	assert_memory_equal(&source, &expected, sizeof source);
	lan_close(&lan);
}

/* All hosts behind it are reachable once it is known, and move with it. */
static void
a_gateway_is_resolved_as_a_neighbour(void **state)
{
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	open_routed(&lan);
	assert_int_equal(lan_resolve(&lan, ELSEWHERE), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, "192.0.2.8"), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, "2001:db8::1"), PLX_NET_WAIT);
	lan_says(&lan, "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
		       "020000000001 0a4d0001 000000000000 0a4d00fe");
	lan_says_to(&lan, "3333ff0000fe");
	lan_says_nothing(&lan);
	len = lan_arp(frame, 2, OWN_MAC, ROUTER, lan_ip(GATEWAY4), OWN_MAC, lan_ip(OWN4));
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	len = lan_nd(frame, 136, 0x60, GATEWAY6, OWN6, GATEWAY6, ROUTER);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_knows(&lan, ELSEWHERE, ROUTER);
	lan_knows(&lan, "192.0.2.8", ROUTER);
	lan_knows(&lan, "2001:db8::1", ROUTER);
	lan_knows(&lan, GATEWAY4, ROUTER);
	lan_wait(&lan, 2 * PLX_SEC);
	len = lan_arp(frame, 1, BROADCAST, BOB_MAC, lan_ip(GATEWAY4), NO_MAC, lan_ip(GATEWAY4));
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(plx_net_version(lan.net), 1);
	lan_knows(&lan, "192.0.2.8", BOB_MAC);
	lan_close(&lan);
}

/* Silent, then known, then failed: the gateway's state applies to all hosts behind it. */
static void
a_gateway_fails_for_all_behind_it(void **state)
{
	static const struct {
		const char *far[2], *gateway;
	} rows[] = {
		{{ELSEWHERE, "192.0.2.8"}, GATEWAY4},
		{{"2001:db8::1", "2001:db8::2"}, GATEWAY6},
	};

	(void)state;
	for (size_t row = 0; row < PLX_COUNT_OF(rows); row++) {
		uint8_t frame[128];
		struct lan lan;
		size_t len;

		open_routed(&lan);
		assert_int_equal(lan_resolve(&lan, rows[row].far[0]), PLX_NET_WAIT);
		for (int i = 0; i < PLX_NET_TRIES; i++) {
			assert_int_equal(lan_drain(&lan), 1);
			assert_int_equal(lan_resolve(&lan, rows[row].far[1]), PLX_NET_WAIT);
			lan_wait(&lan, PLX_NET_RETRY_NS);
		}
		assert_int_equal(lan_resolve(&lan, rows[row].far[0]), PLX_NET_NO_ANSWER);
		assert_int_equal(lan_resolve(&lan, rows[row].far[1]), PLX_NET_NO_ANSWER);
		lan_wait(&lan, PLX_NET_NEGATIVE_NS);
		assert_int_equal(lan_resolve(&lan, rows[row].far[1]), PLX_NET_WAIT);
		assert_int_equal(lan_drain(&lan), 1);
		if (row == 0)
			len = lan_arp(frame, 2, OWN_MAC, ROUTER, lan_ip(GATEWAY4), OWN_MAC,
				      lan_ip(OWN4));
		else
			len = lan_nd(frame, 136, 0x60, GATEWAY6, OWN6, GATEWAY6, ROUTER);
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
		lan_knows(&lan, rows[row].far[0], ROUTER);
		lan_wait(&lan, PLX_NET_FRESH_NS);
		for (int i = 0; i < PLX_NET_TRIES; i++) {
			lan_knows(&lan, rows[row].far[1], ROUTER);
			lan_says_to(&lan, ROUTER);
			lan_wait(&lan, PLX_NET_RETRY_NS);
		}
		assert_int_equal(plx_net_version(lan.net), 1);
		assert_int_equal(lan_resolve(&lan, rows[row].far[0]), PLX_NET_WAIT);
		lan_close(&lan);
	}
}

static void
without_a_way_nobody_is_asked(void **state)
{
	struct plx_ip far = lan_ip("11.0.0.1"), untouched, got;
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_close(&lan);
	add(&lan, "10.0.0.0", 8, GATEWAY4);
	lan_start(&lan);
	memset(&untouched, 0xee, sizeof untouched);
	got = untouched;
	assert_false(plx_net_next_hop(lan.net, &far, &got));
	assert_false(plx_net_source(lan.net, &far, &got));
	assert_memory_equal(&got, &untouched, sizeof got);
	assert_int_equal(plx_net_reach(lan.net, &far, &got, got.v), PLX_NET_NO_ROUTE);
	far = lan_ip("10.77.0.255");
	assert_int_equal(plx_net_reach(lan.net, &far, &got, got.v), PLX_NET_NOT_UNICAST);
	assert_memory_equal(&got, &untouched, sizeof got);
	assert_int_equal(lan_resolve(&lan, "11.0.0.1"), PLX_NET_NO_ROUTE);
	assert_int_equal(lan_resolve(&lan, "fd88::1"), PLX_NET_NO_ROUTE);
	assert_int_equal(lan_resolve(&lan, "10.77.0.255"), PLX_NET_NOT_UNICAST);
	assert_int_equal(lan_resolve(&lan, "255.255.255.255"), PLX_NET_NOT_UNICAST);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

/* A stranger from another network becomes no guest, though a route leads there. */
static void
who_is_behind_a_gateway_is_no_neighbour(void **state)
{
	uint8_t frame[64];
	struct lan lan;
	size_t len;

	(void)state;
	open_routed(&lan);
	len = lan_arp(frame, 1, BROADCAST, BOB_MAC, lan_ip(ELSEWHERE), NO_MAC, lan_ip(OWN4));
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says_to(&lan, BOB_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ELSEWHERE), PLX_NET_WAIT);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_route_is_refused),
		cmocka_unit_test(each_wrong_size_is_refused),
		cmocka_unit_test(the_longest_prefix_counts),
		cmocka_unit_test(of_a_network_and_a_route_as_long_the_network_counts),
		cmocka_unit_test(the_gateways_network_gives_the_source),
		cmocka_unit_test(a_gateway_is_resolved_as_a_neighbour),
		cmocka_unit_test(a_gateway_fails_for_all_behind_it),
		cmocka_unit_test(without_a_way_nobody_is_asked),
		cmocka_unit_test(who_is_behind_a_gateway_is_no_neighbour),
	};

	return cmocka_run_group_tests_name("net/route", tests, NULL, NULL);
}
