/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unsolicited announcements of a port, when and how often; and solicitations from link-local
 * addresses, which Linux sends when it has no better source address. It never tests how we handle
 * announcements of others: news.c does. Start with addresses_are_announced_at_once_and_again().
 */
#include "lan.h"

#include <string.h>

/* RFC 5227, 3: a request for oneself. */
static const char arp[] = "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
			  "020000000001 0a4d0001 000000000000 0a4d0001";
/* RFC 4861, 7.2.6: to all nodes, not solicited, override. */
static const char advert[] = "333300000001 020000000001 86dd 60000000 0020 3a ff"
			     "fd770000000000000000000000000001 ff020000000000000000000000000001"
			     "88 00 59ad 20000000 fd770000000000000000000000000001"
			     "02 01 020000000001";

static void
open_announcing(struct lan *lan, uint32_t times)
{
	lan_open(lan, 8);
	lan_close(lan);
	lan->config.announce = times;
	lan_start(lan);
}

static void
addresses_are_announced_at_once_and_again(void **state)
{
	(void)state;
	for (uint32_t times = 1; times <= PLX_NET_ANNOUNCE_MAX; times++) {
		struct lan lan;

		open_announcing(&lan, times);
		for (uint32_t i = 0; i < times; i++) {
			lan_says(&lan, arp);
			lan_says(&lan, advert);
			lan_says_nothing(&lan);
			if (i + 1 == times)
				break;
			assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_ANNOUNCE_NS);
			lan_wait(&lan, PLX_NET_ANNOUNCE_NS - 1);
			lan_says_nothing(&lan);
			lan_wait(&lan, 1);
		}
		assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
		lan_wait(&lan, 10 * PLX_SEC);
		lan_says_nothing(&lan);
		assert_int_equal(plx_net_counters(lan.net)->announcements_sent, 2 * times);
		lan_close(&lan);
	}
}

/* A port that is full for longer than the pause sends both rounds, the pause between them. */
static void
the_pause_runs_from_sending(void **state)
{
	struct lan lan;

	(void)state;
	open_announcing(&lan, 2);
	lan_wait(&lan, 5 * PLX_SEC);
	lan_says(&lan, arp);
	lan_wait(&lan, 5 * PLX_SEC);
	lan_says(&lan, advert);
	lan_says_nothing(&lan);
	lan_wait(&lan, PLX_NET_ANNOUNCE_NS);
	assert_int_equal(lan_drain(&lan), 2);
	lan_close(&lan);
}

/* Our address moves to another port: an announcement updates a peer that knows the old MAC. */
static void
who_knew_us_elsewhere_is_told(void **state)
{
	uint8_t frame[PLX_NET_FRAME_USUAL];
	struct lan old, newer, peer;
	struct plx_ip ip = lan_ip(OWN4);

	(void)state;
	lan_open_as(&peer, ALICE4, ALICE6, ALICE_MAC);
	lan_open(&old, 8);
	assert_int_equal(lan_resolve_ip(&peer, ip), PLX_NET_WAIT);
	assert_int_equal(lan_hears_bytes(&old, frame, lan_takes(&peer, frame)), PLX_NET_TAKEN);
	assert_int_equal(lan_hears_bytes(&peer, frame, lan_takes(&old, frame)), PLX_NET_TAKEN);
	lan_knows(&peer, OWN4, OWN_MAC);
	newer = old;
	lan_hex(BOB_MAC, newer.config.mac);
	newer.config.announce = 1;
	lan_start(&newer);
	lan_wait(&peer, 2 * PLX_SEC);
	assert_int_equal(lan_hears_bytes(&peer, frame, lan_takes(&newer, frame)), PLX_NET_TAKEN);
	lan_knows(&peer, OWN4, BOB_MAC);
	/* And the old one detects the duplicate. */
	assert_int_equal(lan_hears_bytes(&old, frame, lan_takes(&newer, frame)), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(old.net)->conflicts, 1);
	lan_close(&newer);
	lan_close(&old);
	lan_close(&peer);
}

static void
an_announcement_keeps_nobody_from_being_answered(void **state)
{
	uint8_t frame[64];
	struct lan lan;
	size_t len;

	(void)state;
	open_announcing(&lan, 1);
	len = lan_arp(frame, 1, BROADCAST, BOB_MAC, lan_ip(BOB4), NO_MAC, lan_ip(OWN4));
	for (int i = 0; i < 2; i++)
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says_to(&lan, BOB_MAC);
	lan_says(&lan, arp);
	lan_says_to(&lan, BOB_MAC);
	lan_says(&lan, advert);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

/* fe80:: is in none of our networks: the reply goes to the MAC that it names, and no entry is
 * created. */
static void
a_link_local_asker_is_answered(void **state)
{
	static const char *const to[] = {"ff02::1:ff00:1", OWN6};
	uint8_t frame[128];
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (size_t i = 0; i < PLX_COUNT_OF(to); i++) {
		size_t len = lan_nd(frame, 135, 0, "fe80::aa:2", to[i], OWN6, ALICE_MAC);

		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
		lan_says(&lan, "0200000000a2 020000000001 86dd 60000000 0020 3a ff"
			       "fd770000000000000000000000000001 fe800000000000000000000000aa0002"
			       "88 00 1984 60000000 fd770000000000000000000000000001"
			       "02 01 020000000001");
		lan_says_nothing(&lan);
		assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	}
	assert_int_equal(lan_resolve(&lan, "fe80::aa:2"), PLX_NET_NO_ROUTE);
	lan_close(&lan);
}

/* One of our addresses may be link-local too; then it is a network like any other. */
static void
a_link_local_address_of_ours_is_one_like_any_other(void **state)
{
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open_as(&lan, OWN4, "fe80::1", OWN_MAC);
	assert_int_equal(lan_resolve(&lan, "fe80::aa:2"), PLX_NET_WAIT);
	lan_says_to(&lan, "3333ffaa0002");
	len = lan_nd(frame, 136, 0x60, "fe80::aa:2", "fe80::1", "fe80::aa:2", ALICE_MAC);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_knows(&lan, "fe80::aa:2", ALICE_MAC);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_announced_at_once_and_again),
		cmocka_unit_test(the_pause_runs_from_sending),
		cmocka_unit_test(who_knew_us_elsewhere_is_told),
		cmocka_unit_test(an_announcement_keeps_nobody_from_being_answered),
		cmocka_unit_test(a_link_local_asker_is_answered),
		cmocka_unit_test(a_link_local_address_of_ours_is_one_like_any_other),
	};

	return cmocka_run_group_tests_name("net/announce", tests, NULL, NULL);
}
