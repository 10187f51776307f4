/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Echo requests of others: our replies, byte by byte, the requests we ignore, and how many are
 * answered at once. It never pings: ping.c does. Start with what_linux_asks_we_answer(): its frames
 * are from Linux 6.18 and a veth pair.
 */
#include "lan.h"

#include <string.h>

static void
what_linux_asks_we_answer(void **state)
{
	struct lan lan;

	(void)state;
	lan_open_as(&lan, "10.99.0.2", "fd99::2", "020000000042");
	assert_int_equal(
		lan_hears(&lan, "020000000042020000000041080045000024d0a240004001556e0a6300010a63"
				"00020800a87fb15900010123456789abcdef"),
		PLX_NET_TAKEN);
	lan_says(&lan, "020000000041020000000042080045000024000040004001 2611 0a6300020a63"
		       "00010000b07fb15900010123456789abcdef");
	/* An odd number of bytes. */
	assert_int_equal(lan_hears(&lan, "02000000004202000000004108004500001fd0a34000400155720a63"
					 "00010a630002080042a2b1590002010203"),
			 PLX_NET_TAKEN);
	lan_says(&lan, "02000000004102000000004208004500001f000040004001 2616 0a6300020a63"
		       "000100004aa2b1590002010203");
	assert_int_equal(
		lan_hears(&lan, "02000000004202000000004186dd6001c70d00103a40fd990000000000000000"
				"000000000001fd990000000000000000000000000002800034fdb15a00010123"
				"456789abcdef"),
		PLX_NET_TAKEN);
	lan_says(&lan, "02000000004102000000004286dd6000000000103a40fd9900000000000000000000000000"
		       "02fd990000000000000000000000000001810033fdb15a00010123456789abcdef");
	assert_int_equal(
		lan_hears(&lan, "02000000004202000000004186dd6001c70d000b3a40fd990000000000000000"
				"000000000001fd9900000000000000000000000000028000cf24b15a00020102"
				"03"),
		PLX_NET_TAKEN);
	lan_says(&lan, "02000000004102000000004286dd60000000000b3a40fd9900000000000000000000000000"
		       "02fd9900000000000000000000000000018100ce24b15a0002010203");
	lan_says_nothing(&lan);
	assert_int_equal(plx_net_counters(lan.net)->echoes_seen, 4);
	assert_int_equal(plx_net_counters(lan.net)->echoes_sent, 4);
	lan_close(&lan);
}

/* Our reply to a request of ALICE with this many bytes is the same with the ends exchanged. */
static void
is_answered(struct lan *lan, const char *from, const char *to, size_t bytes)
{
	static uint8_t request[PLX_NET_FRAME_MAX], said[PLX_NET_FRAME_MAX],
		expected[PLX_NET_FRAME_MAX];
	size_t len = lan_echo(request, true, from, to, 0xb159, 7, bytes, 3);
	bool four = lan_ip(from).version == 4;

	lan_echo(expected, false, to, from, 0xb159, 7, bytes, 3);
	lan_hex(ALICE_MAC, expected);
	lan_hex(OWN_MAC, expected + 6);
	if (four)
		memset(expected + 18, 0, 2); /* the identification */
	else
		memset(expected + 15, 0, 3); /* the flow label */
	lan_echo_checksums(expected);
	assert_int_equal(lan_hears_bytes(lan, request, len), PLX_NET_TAKEN);
	assert_int_equal(lan_takes(lan, said), len < 60 ? 60 : len);
	assert_memory_equal(said, expected, len);
	lan_says_nothing(lan);
}

static void
every_size_that_a_frame_holds_is_answered(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	lan_close(&lan);
	lan.config.frame_max = 4300;
	lan_start(&lan);
	assert_int_equal(plx_net_frame_max(lan.net), 4300);
	for (size_t bytes = 0; bytes <= 4300 - 42; bytes += bytes < 200 ? 1 : 97)
		is_answered(&lan, ALICE4, OWN4, bytes);
	for (size_t bytes = 0; bytes <= 4300 - 62; bytes += bytes < 200 ? 1 : 97)
		is_answered(&lan, ALICE6, OWN6, bytes);
	is_answered(&lan, ALICE4, OWN4, 4300 - 42);
	is_answered(&lan, ALICE6, OWN6, 4300 - 62);
	assert_int_equal(plx_net_counters(lan.net)->echoes_dropped, 0);
	lan_close(&lan);
}

/* A port may receive longer frames than it may send. */
static void
what_a_frame_does_not_hold_is_not_answered(void **state)
{
	static uint8_t frame[PLX_NET_FRAME_MAX];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	assert_int_equal(plx_net_frame_max(lan.net), PLX_NET_FRAME_USUAL);
	len = lan_echo(frame, true, ALICE4, OWN4, 1, 1, 1514 - 41, 0);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	len = lan_echo(frame, true, ALICE6, OWN6, 1, 1, 1514 - 61, 0);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says_nothing(&lan);
	assert_int_equal(plx_net_counters(lan.net)->echoes_seen, 2);
	assert_int_equal(plx_net_counters(lan.net)->echoes_dropped, 2);
	lan_close(&lan);
}

/* From beyond a router, or from a link-local address: to the station that brought it, unasked. */
static void
an_answer_goes_back_the_way_that_the_request_came(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	is_answered(&lan, "192.0.2.9", OWN4, 56);
	is_answered(&lan, "2001:db8::9", OWN6, 56);
	is_answered(&lan, "fe80::aa:2", OWN6, 56);
	/* Nobody was learned, and nobody is due. */
	assert_int_equal(plx_net_wake_ns(lan.net), PLX_NEVER);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_close(&lan);
}

/* The class of traffic is kept, a mark of congestion is not. */
static void
the_class_of_traffic_comes_back(void **state)
{
	uint8_t frame[128], said[PLX_NET_FRAME_MAX];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_echo(frame, true, ALICE4, OWN4, 1, 1, 20, 0);
	frame[15] = 0xbb;
	lan_echo_checksums(frame);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_takes(&lan, said), 62);
	assert_int_equal(said[15], 0xb8);
	len = lan_echo(frame, true, ALICE6, OWN6, 1, 1, 20, 0);
	lan_hex("6bb00000", frame + 14);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_takes(&lan, said), 82);
	assert_int_equal(said[14], 0x6b);
	assert_int_equal(said[15], 0x80);
	lan_close(&lan);
}

static void
with_a_priority_it_is_answered_without(void **state)
{
	uint8_t frame[128], said[PLX_NET_FRAME_MAX];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_echo(frame, true, ALICE6, OWN6, 1, 1, 20, 0);
	memmove(frame + 16, frame + 12, len - 12);
	lan_hex("8100 6000", frame + 12);
	assert_int_equal(lan_hears_bytes(&lan, frame, len + 4), PLX_NET_TAKEN);
	assert_int_equal(lan_takes(&lan, said), len);
	assert_int_equal(said[12] << 8 | said[13], 0x86dd);
	lan_close(&lan);
}

static void
at_most_so_many_wait_for_their_answers(void **state)
{
	uint8_t frame[128], said[PLX_NET_FRAME_MAX];
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < PLX_NET_ECHOES_MAX + 5; i++) {
			size_t len = lan_echo(frame, true, ALICE4, OWN4, 1, i, i, i);

			assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
		}
		for (unsigned i = 0; i < PLX_NET_ECHOES_MAX; i++) {
			assert_int_equal(lan_takes(&lan, said), 60);
			assert_int_equal(said[41], i);
			assert_int_equal(said[17], 28 + i);
		}
		lan_says_nothing(&lan);
		/* So that the ring does not start at its first place. */
		is_answered(&lan, ALICE6, OWN6, 100);
	}
	assert_int_equal(plx_net_counters(lan.net)->echoes_dropped, 15);
	assert_int_equal(plx_net_counters(lan.net)->echoes_sent, 3 * PLX_NET_ECHOES_MAX + 3);
	lan_close(&lan);
}

/* A flood of echo requests prevents neither our solicitations nor our announcements. */
static void
echoes_take_turns_with_the_rest(void **state)
{
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_echo(frame, true, ALICE4, OWN4, 1, 1, 1, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	len = lan_arp(frame, 1, BROADCAST, BOB_MAC, lan_ip(BOB4), NO_MAC, lan_ip(OWN4));
	for (int i = 0; i < 2; i++)
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	lan_says_to(&lan, BOB_MAC);
	lan_says_to(&lan, BROADCAST);
	lan_says_to(&lan, ALICE_MAC);
	lan_says_to(&lan, BOB_MAC);
	lan_says_to(&lan, ALICE_MAC);
	lan_says_to(&lan, ALICE_MAC);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

/* ---- ignored requests ---- */

/* The verdict, and that nothing but one counter has changed. */
static void
is_refused(struct lan *lan, const uint8_t *frame, size_t len, enum plx_net_verdict verdict)
{
	struct plx_net_counters before = *plx_net_counters(lan->net);

	assert_int_equal(lan_hears_bytes(lan, frame, len), verdict);
	before.malformed += verdict == PLX_NET_MALFORMED;
	assert_memory_equal(&before, plx_net_counters(lan->net), sizeof before);
	lan_says_nothing(lan);
}

#define MALFORMED PLX_NET_MALFORMED
#define NOT_OURS  PLX_NET_NOT_OURS
#define STATION   PLX_NET_OTHER_STATION
#define ADDRESS   PLX_NET_OTHER_ADDRESS

static const struct {
	uint8_t version;
	size_t at;
	const char *hex; /* replaces the value; then the checksums are corrected */
	enum plx_net_verdict verdict;
} wrongs[] = {
	{4, 0, "020000000009", STATION}, /* to another station */
	{4, 0, BROADCAST, STATION},      /* to all: RFC 1122, 3.2.2.6 */
	{6, 0, "333300000001", STATION},
	{4, 0, "01005e000001", STATION},
	{4, 6, OWN_MAC, NOT_OURS},
	{6, 6, NO_MAC, MALFORMED},
	{4, 12, "86dd", MALFORMED}, /* IPv6 of version 4, and vice versa */
	{6, 12, "0800", NOT_OURS},
	{4, 14, "46", NOT_OURS}, /* options */
	{4, 14, "44", NOT_OURS},
	{4, 14, "65", NOT_OURS},
	{4, 20, "2000", NOT_OURS}, /* fragments: the first, another, the last */
	{4, 20, "2001", NOT_OURS},
	{4, 20, "0001", NOT_OURS},
	{4, 23, "06", NOT_OURS},        /* TCP */
	{4, 26, "00000000", MALFORMED}, /* from nobody, a group, all, loopback */
	{4, 26, "e0000001", MALFORMED},
	{4, 26, "ffffffff", MALFORMED},
	{4, 26, "7f000001", MALFORMED},
	{4, 26, "0a4d00ff", MALFORMED}, /* from all of our network */
	{4, 30, "0a4d0002", ADDRESS},   /* to another, to all of our network, to a group */
	{4, 30, "0a4d00ff", ADDRESS},
	{4, 30, "e0000001", ADDRESS},
	{4, 34, "03", NOT_OURS}, /* unreachable */
	{4, 34, "0d", NOT_OURS}, /* timestamp */
	{4, 35, "01", NOT_OURS},
	{6, 20, "00", NOT_OURS}, /* extension headers: hop-by-hop, fragment */
	{6, 20, "2c", NOT_OURS},
	{6, 22, "ff02", MALFORMED},
	{6, 22, "00000000000000000000000000000000", MALFORMED},
	{6, 22, "00000000000000000000000000000001", MALFORMED},
	{6, 38, "fd770000000000000000000000000009", ADDRESS},
	{6, 38, "ff020000000000000000000000000001", ADDRESS},
	{6, 54, "01", NOT_OURS}, /* unreachable */
	{6, 54, "82", NOT_OURS}, /* listener query */
	{6, 55, "01", NOT_OURS},
};

static size_t
request_of(uint8_t version, uint8_t *frame)
{
	return version == 4 ? lan_echo(frame, true, ALICE4, OWN4, 1, 2, 21, 3)
			    : lan_echo(frame, true, ALICE6, OWN6, 1, 2, 21, 3);
}

static void
each_wrong_field_has_its_verdict(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (size_t i = 0; i < PLX_COUNT_OF(wrongs); i++) {
		uint8_t frame[128];
		size_t len = request_of(wrongs[i].version, frame);

		lan_hex(wrongs[i].hex, frame + wrongs[i].at);
		if (wrongs[i].at != 12)
			lan_echo_checksums(frame);
		is_refused(&lan, frame, len, wrongs[i].verdict);
	}
	/* And with nothing wrong, but what Ethernet fills up with. */
	is_answered(&lan, ALICE4, OWN4, 21);
	is_answered(&lan, ALICE6, OWN6, 21);
	lan_close(&lan);
}

static void
each_wrong_length_is_malformed(void **state)
{
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (uint8_t version = 4; version <= 6; version += 2) {
		uint8_t frame[256] = {0};
		size_t len = request_of(version, frame);

		for (size_t cut = 0; cut < len; cut++)
			is_refused(&lan, frame, cut, MALFORMED);
		for (unsigned said = 0; said < 0x10000; said++) {
			size_t at = version == 4 ? 16 : 18, least = version == 4 ? 28 : 8;

			if (said >= least && said <= (version == 4 ? len - 14 : len - 54))
				continue;
			request_of(version, frame);
			frame[at] = (uint8_t)(said >> 8);
			frame[at + 1] = (uint8_t)said;
			is_refused(&lan, frame, len, MALFORMED);
		}
	}
	lan_close(&lan);
}

/* Bits covered by a checksum; those that would make it another protocol are not handled here. */
static void
every_flipped_bit_is_found_by_a_checksum(void **state)
{
	static const struct {
		uint8_t version;
		size_t from;
		size_t other[6]; /* places that make it another's: not ours before it is wrong */
	} rows[] = {
		{4, 14, {14, 20, 21, 23, 34, 35}},
		{6, 22, {54, 55}},
	};
	struct lan lan;

	(void)state;
	lan_open(&lan, 8);
	for (size_t row = 0; row < PLX_COUNT_OF(rows); row++) {
		uint8_t frame[128];
		size_t len = request_of(rows[row].version, frame);
		unsigned malformed = 0;

		for (size_t bit = rows[row].from * 8; bit < len * 8; bit++) {
			enum plx_net_verdict verdict = MALFORMED;
			struct plx_net_counters before = *plx_net_counters(lan.net);

			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			verdict = lan_hears_bytes(&lan, frame, len);
			assert_int_not_equal(verdict, PLX_NET_TAKEN);
			if (verdict == NOT_OURS) {
				bool known = false;

				for (size_t i = 0; i < PLX_COUNT_OF(rows[row].other); i++)
					known |= rows[row].other[i] == bit / 8;
				assert_true(known);
			}
			malformed += verdict == MALFORMED;
			before.malformed += verdict == MALFORMED;
			assert_memory_equal(&before, plx_net_counters(lan.net), sizeof before);
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_true(malformed >= (len - rows[row].from - 6) * 8);
		lan_says_nothing(&lan);
	}
	lan_close(&lan);
}

static void
who_pings_from_an_address_of_ours_is_a_conflict(void **state)
{
	uint8_t frame[128];
	struct lan lan;
	size_t len;

	(void)state;
	lan_open(&lan, 8);
	len = lan_echo(frame, true, OWN4, OWN4, 1, 1, 8, 0);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	len = lan_echo(frame, true, OWN6, OWN6, 1, 1, 8, 0);
	assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
	assert_int_equal(plx_net_counters(lan.net)->conflicts, 2);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_linux_asks_we_answer),
		cmocka_unit_test(every_size_that_a_frame_holds_is_answered),
		cmocka_unit_test(what_a_frame_does_not_hold_is_not_answered),
		cmocka_unit_test(an_answer_goes_back_the_way_that_the_request_came),
		cmocka_unit_test(the_class_of_traffic_comes_back),
		cmocka_unit_test(with_a_priority_it_is_answered_without),
		cmocka_unit_test(at_most_so_many_wait_for_their_answers),
		cmocka_unit_test(echoes_take_turns_with_the_rest),
		cmocka_unit_test(each_wrong_field_has_its_verdict),
		cmocka_unit_test(each_wrong_length_is_malformed),
		cmocka_unit_test(every_flipped_bit_is_found_by_a_checksum),
		cmocka_unit_test(who_pings_from_an_address_of_ours_is_a_conflict),
	};

	return cmocka_run_group_tests_name("net/echo", tests, NULL, NULL);
}
