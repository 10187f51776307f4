/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overload: a full table, a flood of requesters, a full queue of replies, many deadlines at once.
 * It never tests a single neighbour: life.c does. Start with
 * a_flood_of_requesters_takes_nobodys_place().
 */
#include "lan.h"
#include "neighbour.h"

#include <stdlib.h>
#include <string.h>

#define MAC_OF_GUESTS "0200000000ff"

/* 10.77.x.y solicits us, or replies to us. */
static enum plx_net_verdict
hear_number(struct lan *lan, unsigned op, uint32_t number)
{
	uint8_t frame[64];
	size_t len = lan_arp(frame, op, OWN_MAC, MAC_OF_GUESTS, lan_ip_number(number), OWN_MAC,
			     lan_ip(OWN4));

	return lan_hears_bytes(lan, frame, len);
}

static enum plx_net_verdict
resolve_number(struct lan *lan, uint32_t number)
{
	return lan_resolve_ip(lan, lan_ip_number(number));
}

/* OWN4/16, so that there is room for a crowd. */
static void
open_wide(struct lan *lan, uint32_t neighbours)
{
	lan_open(lan, neighbours);
	lan_close(lan);
	lan->config.address[0].prefix_bits = 16;
	lan_start(lan);
}

/* first .. first + count - 1 are READY. */
static void
know(struct lan *lan, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		assert_int_equal(resolve_number(lan, i), PLX_NET_WAIT);
		assert_int_equal(lan_drain(lan), 1);
		assert_int_equal(hear_number(lan, 2, i), PLX_NET_TAKEN);
		assert_int_equal(resolve_number(lan, i), PLX_NET_READY);
	}
}

static void
a_flood_of_requesters_takes_nobodys_place(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 16);
	know(&lan, 256, 16);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(hear_number(&lan, 1, 1000 + i), PLX_NET_TAKEN);
		lan.now += PLX_USEC;
		assert_int_equal(lan_drain(&lan), 1);
	}
	for (uint32_t i = 256; i < 272; i++)
		assert_int_equal(resolve_number(&lan, i), PLX_NET_READY);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 0);
	assert_int_equal(plx_net_counters(lan.net)->guests_refused, 10000);
	assert_int_equal(plx_net_counters(lan.net)->replies_sent, 10000);
	lan_close(&lan);
}

/* One entry in four; then a guest replaces the oldest guest. */
static void
guests_share_a_part_of_the_table(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 16);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(hear_number(&lan, 1, 1000 + i), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 100 - 16 / PLX_NET_GUEST_SHARE);
	/* The oldest remaining one solicits again, and becomes the youngest. */
	assert_int_equal(hear_number(&lan, 1, 1096), PLX_NET_TAKEN);
	assert_int_equal(hear_number(&lan, 1, 1100), PLX_NET_TAKEN);
	assert_int_equal(resolve_number(&lan, 1096), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 1097), PLX_NET_WAIT);
	assert_int_equal(resolve_number(&lan, 1098), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 1099), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 1100), PLX_NET_READY);
	/* They are in use now, and so others may be guests. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(hear_number(&lan, 1, 2000 + i), PLX_NET_TAKEN);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(resolve_number(&lan, 2000 + i), PLX_NET_READY);
	assert_int_equal(plx_net_counters(lan.net)->guests_refused, 0);
	lan_close(&lan);
}

/* An expired entry is not evicted a second time. */
static void
a_guest_that_left_is_no_guest(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 16);
	assert_int_equal(hear_number(&lan, 1, 1000), PLX_NET_TAKEN);
	lan_wait(&lan, PLX_NET_GUEST_NS / 2);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(hear_number(&lan, 1, 1000 + i), PLX_NET_TAKEN);
	lan_wait(&lan, PLX_NET_GUEST_NS / 2);
	/* The first has expired: one gets its slot at no cost, and the next that of the second. */
	assert_int_equal(hear_number(&lan, 1, 1004), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 0);
	assert_int_equal(hear_number(&lan, 1, 1005), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 1);
	assert_int_equal(resolve_number(&lan, 1001), PLX_NET_WAIT);
	for (uint32_t i = 2; i < 6; i++)
		assert_int_equal(resolve_number(&lan, 1000 + i), PLX_NET_READY);
	lan_close(&lan);
}

static void
a_table_of_one_works_and_has_no_guests(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 1);
	assert_int_equal(hear_number(&lan, 1, 1000), PLX_NET_TAKEN);
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(plx_net_counters(lan.net)->guests_refused, 1);
	know(&lan, 256, 1);
	know(&lan, 257, 1);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 1);
	assert_int_equal(resolve_number(&lan, 256), PLX_NET_WAIT);
	lan_close(&lan);
}

/* Guests first, then entries without an answer, then those resolved longest ago. */
static void
who_gives_way_when_the_table_is_full(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 8);
	know(&lan, 300, 4);
	assert_int_equal(resolve_number(&lan, 400), PLX_NET_WAIT);
	assert_int_equal(resolve_number(&lan, 401), PLX_NET_WAIT);
	assert_int_equal(hear_number(&lan, 1, 500), PLX_NET_TAKEN);
	assert_int_equal(hear_number(&lan, 1, 501), PLX_NET_TAKEN);
	assert_int_equal(lan_drain(&lan), 4);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 0);
	/* In turn the two guests, the two being solicited, and 301: 300 was used since. */
	assert_int_equal(resolve_number(&lan, 300), PLX_NET_READY);
	know(&lan, 600, 5);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 5);
	for (uint32_t i = 600; i < 605; i++)
		assert_int_equal(resolve_number(&lan, i), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 302), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 303), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 300), PLX_NET_READY);
	assert_int_equal(plx_net_version(lan.net), 0);
	assert_int_equal(resolve_number(&lan, 301), PLX_NET_WAIT);
	lan_close(&lan);
}

/* Being solicited again and answering makes no entry younger: only use does. */
static void
refreshing_does_not_make_a_neighbour_younger(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 2);
	know(&lan, 300, 1);
	lan_wait(&lan, PLX_SEC);
	know(&lan, 301, 1);
	lan_wait(&lan, PLX_NET_FRESH_NS - PLX_SEC);
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(hear_number(&lan, 2, 300), PLX_NET_TAKEN);
	know(&lan, 302, 1);
	assert_int_equal(resolve_number(&lan, 301), PLX_NET_READY);
	assert_int_equal(resolve_number(&lan, 300), PLX_NET_WAIT);
	lan_close(&lan);
}

/* Addresses that never answer, solicited on anybody's behalf, do not evict those that did. */
static void
a_scan_of_silent_addresses_takes_nobodys_place(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 16);
	know(&lan, 256, 12);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(resolve_number(&lan, 1000 + i), PLX_NET_WAIT);
		lan_wait(&lan, 100 * PLX_USEC);
	}
	assert_int_equal(plx_net_counters(lan.net)->evicted, 1000 - 4);
	for (uint32_t i = 256; i < 268; i++)
		assert_int_equal(resolve_number(&lan, i), PLX_NET_READY);
	/* Four are being solicited; a request for an evicted one is not sent. */
	assert_int_equal(lan_drain(&lan), 4);
	lan_close(&lan);
}

static void
the_queue_of_answers_is_bounded_and_keeps_its_order(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, 16);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < PLX_NET_ANSWERS_MAX + 5; i++)
			assert_int_equal(hear_number(&lan, 1, 1000 + i), PLX_NET_TAKEN);
		for (uint32_t i = 0; i < PLX_NET_ANSWERS_MAX; i++) {
			struct plx_ip asker = lan_ip_number(1000 + i);
			uint8_t frame[PLX_NET_FRAME_MAX];

			assert_int_equal(plx_net_transmit(lan.net, lan.now, frame), 60);
			assert_memory_equal(frame + 38, asker.v, 4);
		}
		lan_says_nothing(&lan);
		/* So that the ring does not start at its first place. */
		assert_int_equal(hear_number(&lan, 1, 1000), PLX_NET_TAKEN);
		assert_int_equal(lan_drain(&lan), 1);
	}
	assert_int_equal(plx_net_counters(lan.net)->replies_dropped, 3 * 5);
	lan_close(&lan);
}

/* One tick does a bounded part; until all is done, it wants to be called again. */
static void
many_deadlines_at_once_are_handled_in_parts(void **state)
{
	uint32_t expected = 1000, asked = 0;
	struct lan lan;

	(void)state;
	open_wide(&lan, PLX_NET_NEIGHBOURS_MAX);
	know(&lan, 300, expected);
	lan.now += PLX_NET_FRESH_NS;
	while (plx_net_wake_ns(lan.net) <= lan.now) {
		unsigned part;

		plx_net_on_tick(lan.net, lan.now);
		part = lan_drain(&lan);
		assert_int_equal(part, expected - asked < PLX_NET_DUE_MAX ? expected - asked
									  : PLX_NET_DUE_MAX);
		asked += part;
	}
	assert_int_equal(asked, expected);
	lan_close(&lan);
}

/* Every entry of the largest table is found, with every seed, and IPv6 is not mistaken for IPv4. */
static void
a_full_table_finds_everybody(void **state)
{
	struct lan lan;

	(void)state;
	open_wide(&lan, PLX_NET_NEIGHBOURS_MAX);
	lan_close(&lan);
	lan.config.secret = (struct plx_secret){{UINT64_C(0x123456789abcdef0), 1}};
	lan_start(&lan);
	for (uint32_t i = 0; i < PLX_NET_NEIGHBOURS_MAX / 2; i++) {
		struct plx_ip six = lan_ip("fd77::2:0");

		six.v[14] = (uint8_t)(i >> 8);
		six.v[15] = (uint8_t)i;
		assert_int_equal(resolve_number(&lan, 300 + i), PLX_NET_WAIT);
		assert_int_equal(lan_resolve_ip(&lan, six), PLX_NET_WAIT);
	}
	assert_int_equal(lan_drain(&lan), PLX_NET_NEIGHBOURS_MAX);
	for (uint32_t i = 0; i < PLX_NET_NEIGHBOURS_MAX / 2; i++)
		assert_int_equal(hear_number(&lan, 2, 300 + i), PLX_NET_TAKEN);
	for (uint32_t i = 0; i < PLX_NET_NEIGHBOURS_MAX / 2; i++)
		assert_int_equal(resolve_number(&lan, 300 + i), PLX_NET_READY);
	assert_int_equal(plx_net_counters(lan.net)->evicted, 0);
	assert_int_equal(plx_net_counters(lan.net)->replies_seen, PLX_NET_NEIGHBOURS_MAX / 2);
	lan_close(&lan);
}

/* The longest chain of a full table whose addresses differ in bytes `at` and `at + 1` only. */
static uint32_t
longest_chain(uint8_t version, unsigned at, uint64_t seed)
{
	const struct plx_secret key = {{seed, 1}};
	struct plx_net_counters counters = {0};
	struct plx_table table;
	struct plx_ip ip = {.version = version, .v = {10}};
	void *memory = malloc(plx_table_bytes(PLX_NET_NEIGHBOURS_MAX));
	uint32_t longest = 0;

	assert_non_null(memory);
	plx_table_init(&table, memory, PLX_NET_NEIGHBOURS_MAX, &key, &counters);
	for (uint32_t i = 0; i < PLX_NET_NEIGHBOURS_MAX; i++) {
		ip.v[at] = (uint8_t)(i >> 8);
		ip.v[at + 1] = (uint8_t)i;
		plx_table_want(&table, &ip, 0);
	}
	for (uint32_t i = 0; i <= table.bucket_mask; i++) {
		uint32_t length = 0;

		for (const struct plx_neighbour *n = table.bucket[i]; n; n = n->next)
			length++;
		longest = length > longest ? length : longest;
	}
	free(memory);
	return longest;
}

/* 4096 balls in as many bins: eleven in one is less likely than one in 10,000. */
static void
no_bucket_is_crowded_whatever_addresses_have_in_common(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		for (unsigned at = 1; at < 3; at++)
			assert_in_range(longest_chain(4, at, seed), 4, 10);
		for (unsigned at = 1; at < 15; at++)
			assert_in_range(longest_chain(6, at, seed), 4, 10);
	}
}

/* Knowing the buckets of one seed reveals nothing about another's. */
static void
the_seed_decides_who_shares_a_bucket(void **state)
{
	struct plx_net_counters counters = {0};
	uint32_t met[2] = {0, 0}, still = 0;
	struct plx_table table[2];
	void *memory[2];

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		const struct plx_secret key = {{i, 1}};

		memory[i] = malloc(plx_table_bytes(1024));
		assert_non_null(memory[i]);
		plx_table_init(&table[i], memory[i], 1024, &key, &counters);
	}
	for (uint32_t number = 0; number < 1024; number++) {
		struct plx_ip ip = lan_ip_number(number);
		bool meets[2];

		for (int i = 0; i < 2; i++) {
			meets[i] = plx_table_want(&table[i], &ip, 0)->next != NULL;
			met[i] += meets[i];
		}
		still += meets[0] && meets[1];
	}
	/* About 0.37 of them meet somebody, and 0.37 of these again. */
	assert_in_range(met[0], 300, 460);
	assert_in_range(met[1], 300, 460);
	assert_in_range(still, 80, 240);
	for (int i = 0; i < 2; i++)
		free(memory[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_of_requesters_takes_nobodys_place),
		cmocka_unit_test(guests_share_a_part_of_the_table),
		cmocka_unit_test(a_guest_that_left_is_no_guest),
		cmocka_unit_test(a_table_of_one_works_and_has_no_guests),
		cmocka_unit_test(who_gives_way_when_the_table_is_full),
		cmocka_unit_test(refreshing_does_not_make_a_neighbour_younger),
		cmocka_unit_test(a_scan_of_silent_addresses_takes_nobodys_place),
		cmocka_unit_test(the_queue_of_answers_is_bounded_and_keeps_its_order),
		cmocka_unit_test(many_deadlines_at_once_are_handled_in_parts),
		cmocka_unit_test(a_full_table_finds_everybody),
		cmocka_unit_test(no_bucket_is_crowded_whatever_addresses_have_in_common),
		cmocka_unit_test(the_seed_decides_who_shares_a_bucket),
	};

	return cmocka_run_group_tests_name("net/crowd", tests, NULL, NULL);
}
