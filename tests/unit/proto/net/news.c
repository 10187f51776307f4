/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unsolicited messages: which move a neighbour, which make its entry stale, which confirm it, which
 * are ignored. It never tests frames with wrong fields: hostile.c does. Start with alice(): she is
 * known, by both protocols.
 */
#include "lan.h"

#include <string.h>

#define MOVED_MAC "0200000000c2"
#define OVERRIDE  0x20
#define SOLICITED 0x40

/* ALICE4 and ALICE6 have answered, so that they are READY. */
static void
alice(struct lan *lan)
{
	lan_open(lan, 8);
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(lan, ALICE6), PLX_NET_WAIT);
	assert_int_equal(lan_drain(lan), 2);
	lan_arp_reply(lan, ALICE_MAC);
	lan_advert(lan, SOLICITED | OVERRIDE, ALICE_MAC);
	lan_wait(lan, 2 * PLX_SEC);
}

/* Nothing is due but the refreshing: both are READY. */
static void
nobody_is_in_doubt(struct lan *lan)
{
	assert_true(plx_net_wake_ns(lan->net) > lan->now + PLX_NET_RETRY_NS);
}

/* A neighbour is being solicited, by unicast, one try after now. */
static void
is_verified_at(struct lan *lan, const char *mac)
{
	assert_int_equal(plx_net_wake_ns(lan->net), lan->now + PLX_NET_RETRY_NS);
	lan_wait(lan, PLX_NET_RETRY_NS);
	lan_says_to(lan, mac);
	lan_says_nothing(lan);
}

static enum plx_net_verdict
hear_arp(struct lan *lan, unsigned op, const char *sha, const char *spa, const char *tpa)
{
	uint8_t frame[64];
	size_t len = lan_arp(frame, op, BROADCAST, sha, lan_ip(spa), NO_MAC, lan_ip(tpa));

	return lan_hears_bytes(lan, frame, len);
}

static enum plx_net_verdict
hear_nd(struct lan *lan, unsigned type, unsigned flags, const char *from, const char *to,
	const char *target, const char *mac)
{
	uint8_t frame[128];
	size_t len = lan_nd(frame, type, flags, from, to, target, mac);

	return lan_hears_bytes(lan, frame, len);
}

static void
an_announcement_moves_who_is_known(void **state)
{
	/* As a request and as a reply to oneself: RFC 5227, 3. */
	for (unsigned op = 1; op <= 2; op++) {
		struct lan lan;

		alice(&lan);
		assert_int_equal(hear_arp(&lan, op, MOVED_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
		lan_knows(&lan, ALICE4, MOVED_MAC);
		lan_knows(&lan, ALICE6, ALICE_MAC);
		assert_int_equal(plx_net_version(lan.net), 1);
		assert_int_equal(plx_net_counters(lan.net)->moved, 1);
		is_verified_at(&lan, MOVED_MAC);
		lan_arp_reply(&lan, MOVED_MAC);
		nobody_is_in_doubt(&lan);
		lan_close(&lan);
	}
	(void)state;
}

static void
an_announcement_of_what_is_known_changes_nothing(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_arp(&lan, 1, ALICE_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	assert_int_equal(hear_nd(&lan, 136, OVERRIDE, ALICE6, "ff02::1", ALICE6, ALICE_MAC),
			 PLX_NET_TAKEN);
	lan_arp_reply(&lan, ALICE_MAC);
	nobody_is_in_doubt(&lan);
	assert_int_equal(plx_net_version(lan.net), 0);
	assert_int_equal(plx_net_counters(lan.net)->moved, 0);
	lan_close(&lan);
}

/* RFC 4861, 7.2.5 and 7.2.6. */
static void
an_unsolicited_advertisement_with_override_moves_who_is_known(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_nd(&lan, 136, OVERRIDE, ALICE6, "ff02::1", ALICE6, MOVED_MAC),
			 PLX_NET_TAKEN);
	lan_knows(&lan, ALICE6, MOVED_MAC);
	assert_int_equal(plx_net_version(lan.net), 1);
	is_verified_at(&lan, MOVED_MAC);
	lan_close(&lan);
}

static void
an_answer_from_elsewhere_moves_and_confirms(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	lan_advert(&lan, SOLICITED | OVERRIDE, MOVED_MAC);
	lan_knows(&lan, ALICE6, MOVED_MAC);
	assert_int_equal(plx_net_version(lan.net), 1);
	nobody_is_in_doubt(&lan);
	lan_close(&lan);
}

/* RFC 4861, 7.2.5: an anycast reply, for example. The known MAC remains, and is probed. */
static void
an_advertisement_without_override_only_raises_doubt(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	lan_advert(&lan, SOLICITED, MOVED_MAC);
	lan_knows(&lan, ALICE6, ALICE_MAC);
	assert_int_equal(plx_net_version(lan.net), 0);
	is_verified_at(&lan, ALICE_MAC);
	/* In doubt already: another changes nothing, nor when the next try is due. */
	lan_wait(&lan, PLX_MSEC);
	lan_advert(&lan, SOLICITED, MOVED_MAC);
	lan_knows(&lan, ALICE6, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_RETRY_NS - PLX_MSEC);
	/* Without an option it speaks of the MAC that is known. */
	lan_advert(&lan, SOLICITED, NULL);
	nobody_is_in_doubt(&lan);
	lan_close(&lan);
}

/* Only a reply to us ends the doubt; otherwise nothing changes. */
static void
only_what_was_asked_for_confirms(void **state)
{
	struct lan lan;
	uint64_t wake_ns;

	(void)state;
	alice(&lan);
	wake_ns = plx_net_wake_ns(lan.net);
	lan_advert(&lan, SOLICITED | OVERRIDE, ALICE_MAC);
	lan_arp_reply(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), wake_ns);
	lan_wait(&lan, wake_ns - lan.now);
	assert_int_equal(lan_drain(&lan), 2);
	lan_wait(&lan, PLX_MSEC);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_advert(&lan, OVERRIDE, ALICE_MAC);
	assert_int_equal(hear_nd(&lan, 135, 0, ALICE6, OWN6, OWN6, ALICE_MAC), PLX_NET_TAKEN);
	lan_says_to(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now - PLX_MSEC + PLX_NET_RETRY_NS);
	lan_close(&lan);
}

/* A neighbour that moved while being solicited is solicited at its new MAC as often as any. */
static void
a_move_starts_the_asking_anew(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_wait(&lan, PLX_NET_FRESH_NS);
	assert_int_equal(lan_drain(&lan), 2);
	lan_advert(&lan, SOLICITED, NULL);
	lan_wait(&lan, PLX_NET_RETRY_NS);
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(hear_arp(&lan, 2, MOVED_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		lan_knows(&lan, ALICE4, MOVED_MAC);
		is_verified_at(&lan, MOVED_MAC);
	}
	lan_wait(&lan, PLX_NET_RETRY_NS);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_close(&lan);
}

/* A unicast solicitation to us may omit its MAC; then there is nothing to learn. */
static void
a_solicitation_without_a_mac_teaches_nothing(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(hear_nd(&lan, 135, 0, ALICE6, OWN6, OWN6, NULL), PLX_NET_TAKEN);
	lan_says_to(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	lan_close(&lan);
}

static void
an_advertisement_without_a_mac_tells_nothing_of_an_unknown(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	lan_advert(&lan, SOLICITED | OVERRIDE, NULL);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	/* Unsolicited, but from a neighbour being solicited: used, and solicited once more. */
	assert_int_equal(hear_nd(&lan, 136, 0, ALICE6, "ff02::1", ALICE6, ALICE_MAC),
			 PLX_NET_TAKEN);
	lan_knows(&lan, ALICE6, ALICE_MAC);
	is_verified_at(&lan, ALICE_MAC);
	lan_close(&lan);
}

/* RFC 826 merges everything received from known senders, whatever the target; ND does not. */
static void
a_question_to_another_moves_who_is_known(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_arp(&lan, 1, MOVED_MAC, ALICE4, BOB4), PLX_NET_TAKEN);
	lan_knows(&lan, ALICE4, MOVED_MAC);
	assert_int_equal(hear_arp(&lan, 1, BOB_MAC, BOB4, ALICE4), PLX_NET_OTHER_ADDRESS);
	assert_int_equal(hear_nd(&lan, 135, 0, ALICE6, "ff02::1:ff00:b", "fd77::b", MOVED_MAC),
			 PLX_NET_OTHER_STATION);
	lan_knows(&lan, ALICE6, ALICE_MAC);
	assert_int_equal(lan_drain(&lan), 0);
	assert_int_equal(plx_net_counters(lan.net)->requests_seen, 0);
	assert_int_equal(lan_resolve(&lan, BOB4), PLX_NET_WAIT);
	lan_close(&lan);
}

/* A reply to another is no answer to us: it moves, and does not confirm. */
static void
a_reply_to_another_is_unsolicited(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_arp(&lan, 2, MOVED_MAC, ALICE4, BOB4), PLX_NET_TAKEN);
	lan_knows(&lan, ALICE4, MOVED_MAC);
	is_verified_at(&lan, MOVED_MAC);
	lan_close(&lan);
}

static void
a_solicitation_from_elsewhere_moves_its_sender(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_nd(&lan, 135, 0, ALICE6, OWN6, OWN6, MOVED_MAC), PLX_NET_TAKEN);
	lan_says_to(&lan, MOVED_MAC);
	lan_knows(&lan, ALICE6, MOVED_MAC);
	assert_int_equal(plx_net_version(lan.net), 1);
	is_verified_at(&lan, MOVED_MAC);
	lan_close(&lan);
}

/* A station that claims it continuously does not cause continuous solicitations. */
static void
a_neighbour_moves_at_most_once_in_a_while(void **state)
{
	struct lan lan;

	(void)state;
	alice(&lan);
	assert_int_equal(hear_arp(&lan, 2, MOVED_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(hear_arp(&lan, 2, i % 2 ? MOVED_MAC : ALICE_MAC, ALICE4, ALICE4),
				 PLX_NET_TAKEN);
	lan_knows(&lan, ALICE4, MOVED_MAC);
	assert_int_equal(plx_net_version(lan.net), 1);
	assert_int_equal(plx_net_counters(lan.net)->moved, 1);
	assert_int_equal(plx_net_counters(lan.net)->moves_refused, 500);
	lan.now += PLX_NET_MOVE_NS - 1;
	assert_int_equal(hear_arp(&lan, 2, ALICE_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	lan_knows(&lan, ALICE4, MOVED_MAC);
	lan.now += 1;
	assert_int_equal(hear_arp(&lan, 2, ALICE_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	assert_int_equal(plx_net_version(lan.net), 2);
	lan_close(&lan);
}

static void
news_of_strangers_are_ignored(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_advert(&lan, SOLICITED | OVERRIDE, ALICE_MAC);
	assert_int_equal(hear_arp(&lan, 2, ALICE_MAC, ALICE4, ALICE4), PLX_NET_TAKEN);
	assert_int_equal(hear_arp(&lan, 1, ALICE_MAC, ALICE4, ALICE4), PLX_NET_OTHER_ADDRESS);
	assert_int_equal(plx_net_counters(lan.net)->unsolicited, 3);
	assert_int_equal(plx_net_counters(lan.net)->replies_seen, 0);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	lan_close(&lan);
}

/* Nobody uses what is known of a guest: it moves without an event. */
static void
a_guest_moves_silently(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(hear_arp(&lan, 1, ALICE_MAC, ALICE4, OWN4), PLX_NET_TAKEN);
	assert_int_equal(hear_nd(&lan, 135, 0, ALICE6, OWN6, OWN6, ALICE_MAC), PLX_NET_TAKEN);
	assert_int_equal(hear_arp(&lan, 2, MOVED_MAC, ALICE4, OWN4), PLX_NET_TAKEN);
	lan_advert(&lan, 0, MOVED_MAC);
	lan_advert(&lan, OVERRIDE, NULL);
	lan_knows(&lan, ALICE4, MOVED_MAC);
	lan_knows(&lan, ALICE6, ALICE_MAC);
	assert_int_equal(plx_net_version(lan.net), 0);
	assert_int_equal(plx_net_counters(lan.net)->moved, 0);
	lan_close(&lan);
}

/* Another station has our address: counted, and neither believed nor answered. */
static void
a_claim_to_an_address_of_ours_is_counted(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(hear_arp(&lan, 1, ALICE_MAC, OWN4, OWN4), PLX_NET_TAKEN);
	assert_int_equal(hear_arp(&lan, 2, ALICE_MAC, OWN4, ALICE4), PLX_NET_TAKEN);
	assert_int_equal(hear_nd(&lan, 136, OVERRIDE, ALICE6, "ff02::1", OWN6, ALICE_MAC),
			 PLX_NET_TAKEN);
	assert_int_equal(hear_nd(&lan, 135, 0, OWN6, OWN6, OWN6, ALICE_MAC), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(lan.net)->conflicts, 4);
	lan_says_nothing(&lan);
	lan_knows(&lan, OWN4, OWN_MAC);
	lan_knows(&lan, OWN6, OWN_MAC);
	lan_close(&lan);
}

/* An asker from elsewhere is answered, to where its frame came from, and not remembered. */
static void
a_requester_outside_our_networks_is_no_guest(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(hear_arp(&lan, 1, ALICE_MAC, "192.168.1.2", OWN4), PLX_NET_TAKEN);
	assert_int_equal(hear_nd(&lan, 135, 0, "fe80::2", OWN6, OWN6, ALICE_MAC), PLX_NET_TAKEN);
	lan_says_to(&lan, ALICE_MAC);
	lan_says_to(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, "192.168.1.2"), PLX_NET_NO_ROUTE);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_announcement_moves_who_is_known),
		cmocka_unit_test(an_announcement_of_what_is_known_changes_nothing),
		cmocka_unit_test(an_unsolicited_advertisement_with_override_moves_who_is_known),
		cmocka_unit_test(an_answer_from_elsewhere_moves_and_confirms),
		cmocka_unit_test(an_advertisement_without_override_only_raises_doubt),
		cmocka_unit_test(only_what_was_asked_for_confirms),
		cmocka_unit_test(a_move_starts_the_asking_anew),
		cmocka_unit_test(a_solicitation_without_a_mac_teaches_nothing),
		cmocka_unit_test(an_advertisement_without_a_mac_tells_nothing_of_an_unknown),
		cmocka_unit_test(a_question_to_another_moves_who_is_known),
		cmocka_unit_test(a_reply_to_another_is_unsolicited),
		cmocka_unit_test(a_solicitation_from_elsewhere_moves_its_sender),
		cmocka_unit_test(a_neighbour_moves_at_most_once_in_a_while),
		cmocka_unit_test(news_of_strangers_are_ignored),
		cmocka_unit_test(a_guest_moves_silently),
		cmocka_unit_test(a_claim_to_an_address_of_ours_is_counted),
		cmocka_unit_test(a_requester_outside_our_networks_is_no_guest),
	};

	return cmocka_run_group_tests_name("net/news", tests, NULL, NULL);
}
