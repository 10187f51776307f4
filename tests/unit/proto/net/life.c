/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a neighbour entry, step by step in time: solicited, reachable, probed, failed,
 * removed. It never checks the bytes of a frame: wire.c does. Start with
 * an_unknown_neighbour_is_asked_three_times().
 */
#include "lan.h"

#include <stdlib.h>
#include <string.h>

/* To the nanosecond: nothing happens before its time, and wake returns that time. */
static void
an_unknown_neighbour_is_asked_three_times(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
		lan_says_to(&lan, BROADCAST);
		lan_says_nothing(&lan);
		assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_RETRY_NS);
		lan_wait(&lan, PLX_NET_RETRY_NS - 1);
		lan_says_nothing(&lan);
		assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
		lan_wait(&lan, 1);
	}
	lan_says_nothing(&lan);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_NO_ANSWER);
	assert_int_equal(plx_net_counters(lan.net)->no_answer, 1);
	assert_int_equal(plx_net_counters(lan.net)->requests_sent, PLX_NET_TRIES);
	assert_int_equal(plx_net_version(lan.net), 0);
	lan_close(&lan);
}

static void
make_silent(struct lan *lan)
{
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_WAIT);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		assert_int_equal(lan_drain(lan), 1);
		lan_wait(lan, PLX_NET_RETRY_NS);
	}
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_NO_ANSWER);
}

static void
a_silent_neighbour_is_asked_anew_after_a_while(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	make_silent(&lan);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_NEGATIVE_NS);
	lan_wait(&lan, PLX_NET_NEGATIVE_NS - 1);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_NO_ANSWER);
	lan_says_nothing(&lan);
	lan_wait(&lan, 1);
	/* The tick has forgotten it. */
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	make_silent(&lan);
	/* And without a tick the time counts as well. */
	lan.now += PLX_NET_NEGATIVE_NS;
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		assert_int_equal(lan_drain(&lan), 1);
		lan_wait(&lan, PLX_NET_RETRY_NS);
	}
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_NO_ANSWER);
	assert_int_equal(plx_net_counters(lan.net)->no_answer, 3);
	lan_close(&lan);
}

static void
a_late_answer_is_welcome(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	make_silent(&lan);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_FRESH_NS);
	lan_close(&lan);
}

static void
a_known_neighbour_is_asked_again_and_stays_usable(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_drain(&lan), 1);
	lan_arp_reply(&lan, ALICE_MAC);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_FRESH_NS);
		lan_wait(&lan, PLX_NET_FRESH_NS - 1);
		lan_says_nothing(&lan);
		lan_wait(&lan, 1);
		/* The answer comes to the last try only. */
		for (int i = 0; i < PLX_NET_TRIES; i++) {
			if (i)
				lan_wait(&lan, PLX_NET_RETRY_NS);
			lan_knows(&lan, ALICE4, ALICE_MAC);
			lan_says_to(&lan, ALICE_MAC);
			lan_says_nothing(&lan);
		}
		lan_arp_reply(&lan, ALICE_MAC);
	}
	assert_int_equal(plx_net_version(lan.net), 0);
	assert_int_equal(plx_net_counters(lan.net)->requests_sent, 1 + 3 * PLX_NET_TRIES);
	assert_int_equal(plx_net_counters(lan.net)->replies_seen, 4);
	lan_close(&lan);
}

/* RFC 4861, 7.3.3: then by multicast, since the neighbour may have moved. */
static void
a_known_neighbour_that_is_gone_is_forgotten(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	assert_int_equal(lan_drain(&lan), 1);
	lan_advert(&lan, 0x60, ALICE_MAC);
	lan_wait(&lan, PLX_NET_FRESH_NS);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		lan_says_to(&lan, ALICE_MAC);
		lan_knows(&lan, ALICE6, ALICE_MAC);
		assert_int_equal(plx_net_version(lan.net), 0);
		lan_wait(&lan, PLX_NET_RETRY_NS);
	}
	assert_int_equal(plx_net_version(lan.net), 1);
	assert_int_equal(plx_net_counters(lan.net)->no_answer, 1);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	lan_says_to(&lan, "3333ffaa0002");
	lan_close(&lan);
}

/* Whatever entry it replaces: it is solicited as often as any, and may move as any. */
static void
a_new_neighbour_owes_nothing_to_the_one_before(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 1);
	make_silent(&lan);
	lan_wait(&lan, PLX_NET_NEGATIVE_NS);
	make_silent(&lan);
	assert_int_equal(plx_net_counters(lan.net)->requests_sent, 2 * PLX_NET_TRIES);
	lan_close(&lan);

	lan_open(&lan, 1);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_arp_reply(&lan, BOB_MAC);
	lan_knows(&lan, ALICE4, BOB_MAC);
	assert_int_equal(lan_resolve(&lan, BOB4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_arp_reply(&lan, BOB_MAC);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	assert_int_equal(plx_net_counters(lan.net)->moved, 2);
	lan_close(&lan);
}

/* A port that accepts nothing costs no try. */
static void
a_request_that_was_not_sent_is_not_a_try(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_wait(&lan, 100 * PLX_SEC);
	assert_int_equal(plx_net_wake_ns(lan.net), 0);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		lan_says_to(&lan, BROADCAST);
		lan_wait(&lan, PLX_NET_RETRY_NS);
	}
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_NO_ANSWER);
	lan_close(&lan);
}

/* An answer ends the asking even while the next request waits to be sent. */
static void
an_answer_takes_back_the_request_that_waits(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_says_to(&lan, BROADCAST);
	lan_wait(&lan, PLX_NET_RETRY_NS);
	assert_int_equal(plx_net_wake_ns(lan.net), 0);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_says_nothing(&lan);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	lan_close(&lan);
}

/* A station that solicited us is known at once, and solicited when somebody needs it; nobody
 * does: removed. */
static void
a_guest_is_used_and_verified_or_forgotten(void **state)
{
	uint8_t frame[64];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_arp(frame, 1, BROADCAST, ALICE_MAC, lan_ip(ALICE4), NO_MAC, lan_ip(OWN4));
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_GUEST_NS);
	/* It solicits us again, and stays longer. */
	lan_wait(&lan, PLX_NET_GUEST_NS - 1);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_drain(&lan), 1);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_GUEST_NS);
	lan_wait(&lan, PLX_NET_GUEST_NS);
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_close(&lan);

	lan_open(&lan, 8);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_drain(&lan), 1);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	lan_says_nothing(&lan);
	lan_wait(&lan, PLX_NET_RETRY_NS);
	lan_says_to(&lan, ALICE_MAC);
	lan_arp_reply(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_FRESH_NS);
	assert_int_equal(plx_net_version(lan.net), 0);
	lan_close(&lan);
}

/* Both solicit at once, as the two ends of a connection do: each solicitation answers the other. */
static void
a_question_of_the_neighbour_asked_is_an_answer(void **state)
{
	uint8_t frame[64];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_arp(frame, 1, BROADCAST, ALICE_MAC, lan_ip(ALICE4), NO_MAC, lan_ip(OWN4));
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_says_to(&lan, BROADCAST);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says_to(&lan, ALICE_MAC);
	lan_knows(&lan, ALICE4, ALICE_MAC);
	/* The reply to our solicitation is in flight, and confirms it. */
	lan_arp_reply(&lan, ALICE_MAC);
	assert_int_equal(plx_net_wake_ns(lan.net), lan.now + PLX_NET_FRESH_NS);
	lan_close(&lan);
}

/* Deliver packets in both directions until neither side sends any. */
static void
talk(struct lan *a, struct lan *b)
{
	struct lan *from[] = {a, b}, *to[] = {b, a};
	bool busy = true;

	while (busy) {
		busy = false;
		for (int i = 0; i < 2; i++) {
			uint8_t frame[PLX_NET_FRAME_MAX];
			size_t len = plx_net_transmit(from[i]->net, from[i]->now, frame);

			if (!len)
				continue;
			busy = true;
			assert_int_equal(lan_hears_bytes(to[i], frame, len), PLX_NET_TAKEN);
			/* A link may return to us what we sent. */
			assert_int_equal(lan_hears_bytes(from[i], frame, len),
					 frame[0] & 1 ? PLX_NET_NOT_OURS : PLX_NET_OTHER_STATION);
		}
	}
}

static void
two_of_us_find_each_other_and_stay_found(void **state)
{
	static const char *const a_wants[] = {BOB4, "fd77::b"};
	static const char *const b_wants[] = {OWN4, OWN6};
	struct lan a, b;

	(void)state;
	lan_open(&a, 8);
	lan_open_as(&b, BOB4, "fd77::b", BOB_MAC);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(lan_resolve(&a, a_wants[i]), PLX_NET_WAIT);
		assert_int_equal(lan_resolve(&b, b_wants[i]), PLX_NET_WAIT);
	}
	for (int second = 0; second < 100; second++) {
		talk(&a, &b);
		for (int i = 0; i < 2; i++) {
			lan_knows(&a, a_wants[i], BOB_MAC);
			lan_knows(&b, b_wants[i], OWN_MAC);
		}
		lan_wait(&a, PLX_SEC);
		lan_wait(&b, PLX_SEC);
	}
	assert_int_equal(plx_net_version(a.net) + plx_net_version(b.net), 0);
	assert_in_range(plx_net_counters(a.net)->requests_sent, 2 + 2 * 3, 2 + 2 * 4);
	assert_int_equal(plx_net_counters(a.net)->unsolicited, 0);
	lan_close(&a);
	lan_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_neighbour_is_asked_three_times),
		cmocka_unit_test(a_silent_neighbour_is_asked_anew_after_a_while),
		cmocka_unit_test(a_late_answer_is_welcome),
		cmocka_unit_test(a_known_neighbour_is_asked_again_and_stays_usable),
		cmocka_unit_test(a_known_neighbour_that_is_gone_is_forgotten),
		cmocka_unit_test(a_new_neighbour_owes_nothing_to_the_one_before),
		cmocka_unit_test(a_request_that_was_not_sent_is_not_a_try),
		cmocka_unit_test(an_answer_takes_back_the_request_that_waits),
		cmocka_unit_test(a_guest_is_used_and_verified_or_forgotten),
		cmocka_unit_test(a_question_of_the_neighbour_asked_is_an_answer),
		cmocka_unit_test(two_of_us_find_each_other_and_stay_found),
	};

	return cmocka_run_group_tests_name("net/life", tests, NULL, NULL);
}
