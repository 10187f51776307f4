/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What we send, byte by byte, compared with frames written from the RFCs' diagrams and with
 * recorded ones. It never tests when something is sent: life.c does. Start with
 * what_linux_said_we_say(): its frames are from Linux 6.18 and a veth pair.
 */
#include "lan.h"

#include <string.h>

/* RFC 826: a request is broadcast; the target's MAC is unknown, and so is zero. */
static void
an_arp_request_goes_to_everybody(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_says(&lan, "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
		       "020000000001 0a4d0001 000000000000 0a4d0002");
	lan_says_nothing(&lan);
	assert_int_equal(plx_net_counters(lan.net)->requests_sent, 1);
	lan_close(&lan);
}

/* RFC 4861, 4.3; RFC 2464, 7. fd77::aa:2 has the solicited-node group ff02::1:ffaa:2. */
static void
a_solicitation_goes_to_the_group_of_its_target(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	lan_says(&lan, "3333ffaa0002 020000000001 86dd 60000000 0020 3a ff"
		       "fd770000000000000000000000000001 ff0200000000000000000001ffaa0002"
		       "87 00 7b55 00000000 fd770000000000000000000000aa0002"
		       "01 01 020000000001");
	lan_says_nothing(&lan);
	lan_close(&lan);
}

static void
who_is_known_is_asked_where_it_was(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, ALICE6), PLX_NET_WAIT);
	assert_int_equal(lan_drain(&lan), 2);
	lan_arp_reply(&lan, ALICE_MAC);
	lan_advert(&lan, 0x60, ALICE_MAC);
	lan_wait(&lan, PLX_NET_FRESH_NS);
	lan_says(&lan, "0200000000a2 020000000001 0806 0001 0800 06 04 0001"
		       "020000000001 0a4d0001 000000000000 0a4d0002");
	lan_says(&lan, "0200000000a2 020000000001 86dd 60000000 0020 3a ff"
		       "fd770000000000000000000000000001 fd770000000000000000000000aa0002"
		       "87 00 7be2 00000000 fd770000000000000000000000aa0002"
		       "01 01 020000000001");
	lan_says_nothing(&lan);
	lan_close(&lan);
}

static void
a_request_is_answered_to_its_sender(void **state)
{
	static const char reply[] = "0200000000a2 020000000001 0806 0001 0800 06 04 0002"
				    "020000000001 0a4d0001 0200000000a2 0a4d0002";
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_hears(&lan, "ffffffffffff 0200000000a2 0806 0001 0800 06 04 0001"
					 "0200000000a2 0a4d0002 000000000000 0a4d0001"),
			 PLX_NET_TAKEN);
	lan_says(&lan, reply);
	lan_says_nothing(&lan);
	/* With a priority tag, and by unicast. The reply needs no tag. */
	assert_int_equal(lan_hears(&lan, "020000000001 0200000000a2 8100 a000 0806 0001 0800 06 04 "
					 "0001 0200000000a2 0a4d0002 020000000001 0a4d0001"),
			 PLX_NET_TAKEN);
	lan_says(&lan, reply);
	assert_int_equal(plx_net_counters(lan.net)->requests_seen, 2);
	assert_int_equal(plx_net_counters(lan.net)->replies_sent, 2);
	lan_close(&lan);
}

/* RFC 5227, 1.1: a prober has no address yet, and gets a reply all the same; its probe teaches
 * us nothing. */
static void
an_arp_probe_is_answered_and_teaches_nothing(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(lan_hears(&lan, "ffffffffffff 0200000000a2 0806 0001 0800 06 04 0001"
					 "0200000000a2 00000000 000000000000 0a4d0001"),
			 PLX_NET_TAKEN);
	lan_says(&lan, "0200000000a2 020000000001 0806 0001 0800 06 04 0002"
		       "020000000001 0a4d0001 0200000000a2 00000000");
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	lan_close(&lan);
}

/* RFC 4861, 4.4: solicited, override, the target's MAC as an option. */
static void
a_solicitation_is_answered_to_its_sender(void **state)
{
	static const char advert[] =
		"0200000000a2 020000000001 86dd 60000000 0020 3a ff"
		"fd770000000000000000000000000001 fd770000000000000000000000aa0002"
		"88 00 1a8d 60000000 fd770000000000000000000000000001 02 01 020000000001";
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_nd(frame, 135, 0, ALICE6, "ff02::1:ff00:1", OWN6, ALICE_MAC);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says(&lan, advert);
	/* A unicast solicitation may omit its MAC: RFC 4861, 4.3. The frame has it. */
	len = lan_nd(frame, 135, 0, ALICE6, OWN6, OWN6, NULL);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says(&lan, advert);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

/* RFC 4861, 7.2.4: a requester without an address is answered by multicast to all. */
static void
a_probe_for_a_duplicate_is_answered_to_all_nodes(void **state)
{
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_nd(frame, 135, 0, "::", "ff02::1:ff00:1", OWN6, NULL);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says(&lan, "333300000001 020000000001 86dd 60000000 0020 3a ff"
		       "fd770000000000000000000000000001 ff020000000000000000000000000001"
		       "88 00 59ad 20000000 fd770000000000000000000000000001 02 01 020000000001");
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	lan_close(&lan);
}

/* Any carries when it is summed up. */
static void
every_checksum_is_right(void **state)
{
	struct plx_ip target = lan_ip(ALICE6);
	struct lan lan;

	(void)state;
	lan_open(&lan, 1);
	for (unsigned low = 0; low <= 0xffff; low++) {
		uint8_t frame[PLX_NET_FRAME_USUAL], expected[86];

		target.v[14] = (uint8_t)(low >> 8);
		target.v[15] = (uint8_t)low;
		assert_int_equal(lan_resolve_ip(&lan, target), PLX_NET_WAIT);
		assert_int_equal(plx_net_transmit(lan.net, lan.now, frame), 86);
		memcpy(expected, frame, sizeof expected);
		lan_nd_checksum(expected);
		assert_memory_equal(frame, expected, 86);
	}
	lan_close(&lan);
}

static void
what_linux_said_we_say(void **state)
{
	struct lan lan;

	(void)state;
	/* We are the Linux station: its questions and answers are ours. */
	lan_open_as(&lan, "10.99.0.1", "fd99::1", "020000000041");
	assert_int_equal(lan_resolve(&lan, "10.99.0.2"), PLX_NET_WAIT);
	lan_says(&lan, "ffffffffffff020000000041080600010800060400010200000000410a630001"
		       "0000000000000a630002");
	assert_int_equal(lan_resolve(&lan, "fd99::2"), PLX_NET_WAIT);
	lan_says(&lan, "3333ff00000202000000004186dd6000000000203afffd99000000000000000000000000"
		       "0001ff0200000000000000000001ff00000287007c2500000000fd990000000000000000"
		       "0000000000020101020000000041");
	assert_int_equal(
		lan_hears(&lan, "ffffffffffff020000000042080600010800060400010200000000420a630002"
				"0000000000000a630001000000000000000000000000000000000000"),
		PLX_NET_TAKEN);
	lan_says(&lan, "020000000042020000000041080600010800060400020200000000410a630001"
		       "0200000000420a630002");
	assert_int_equal(
		lan_hears(&lan, "3333ff00000102000000004286dd6000000000203afffd990000000000000000"
				"000000000002ff0200000000000000000001ff00000187007c2500000000fd99"
				"00000000000000000000000000010101020000000042"),
		PLX_NET_TAKEN);
	lan_says(&lan, "02000000004202000000004186dd6000000000203afffd99000000000000000000000000"
		       "0001fd99000000000000000000000000000288001a9160000000fd990000000000000000"
		       "0000000000010201020000000041");
	lan_knows(&lan, "10.99.0.2", "020000000042");
	lan_knows(&lan, "fd99::2", "020000000042");
	lan_close(&lan);
}

/* Linux adds a nonce (RFC 7527), an option that we skip. */
static void
what_linux_asked_we_answer(void **state)
{
	struct lan lan;

	(void)state;
	lan_open_as(&lan, "10.99.0.2", "fd99::2", "020000000042");
	assert_int_equal(
		lan_hears(&lan, "3333ff00000202000000004186dd6000000000203aff00000000000000000000"
				"000000000000ff0200000000000000000001ff0000028700d63f00000000fd99"
				"0000000000000000000000000002 0e015a18cf0b6f9d"),
		PLX_NET_TAKEN);
	lan_says(&lan, "33330000000102000000004286dd6000000000203afffd99000000000000000000000000"
		       "0002ff0200000000000000000000000000018800592620000000fd990000000000000000"
		       "0000000000020201020000000042");
	assert_int_equal(lan_resolve(&lan, "10.99.0.1"), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, "fd99::1"), PLX_NET_WAIT);
	assert_int_equal(
		lan_hears(&lan, "020000000042020000000041080600010800060400020200000000410a630001"
				"0200000000420a630002"),
		PLX_NET_TAKEN);
	assert_int_equal(
		lan_hears(&lan, "02000000004202000000004186dd6000000000203afffd990000000000000000"
				"000000000001fd99000000000000000000000000000288001a9160000000fd99"
				"00000000000000000000000000010201020000000041"),
		PLX_NET_TAKEN);
	lan_knows(&lan, "10.99.0.1", "020000000041");
	lan_knows(&lan, "fd99::1", "020000000041");
	assert_int_equal(plx_net_counters(lan.net)->replies_seen, 2);
	lan_close(&lan);
}

/* Replies owed to others do not delay our solicitations, and vice versa. */
static void
answers_and_requests_take_turns(void **state)
{
	uint8_t frame[64];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_arp(frame, 1, BROADCAST, BOB_MAC, lan_ip(BOB4), NO_MAC, lan_ip(OWN4));
	for (int i = 0; i < 4; i++)
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(&lan, "10.77.0.9"), PLX_NET_WAIT);
	lan_says_to(&lan, BOB_MAC);
	lan_says_to(&lan, BROADCAST);
	lan_says_to(&lan, BOB_MAC);
	lan_says_to(&lan, BROADCAST);
	lan_says_to(&lan, BOB_MAC);
	lan_says_to(&lan, BOB_MAC);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arp_request_goes_to_everybody),
		cmocka_unit_test(a_solicitation_goes_to_the_group_of_its_target),
		cmocka_unit_test(who_is_known_is_asked_where_it_was),
		cmocka_unit_test(a_request_is_answered_to_its_sender),
		cmocka_unit_test(an_arp_probe_is_answered_and_teaches_nothing),
		cmocka_unit_test(a_solicitation_is_answered_to_its_sender),
		cmocka_unit_test(a_probe_for_a_duplicate_is_answered_to_all_nodes),
		cmocka_unit_test(every_checksum_is_right),
		cmocka_unit_test(what_linux_said_we_say),
		cmocka_unit_test(what_linux_asked_we_answer),
		cmocka_unit_test(answers_and_requests_take_turns),
	};

	return cmocka_run_group_tests_name("net/wire", tests, NULL, NULL);
}
