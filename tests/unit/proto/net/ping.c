/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Echo requests of our own: the frame, which reply counts, time, and how many are outstanding at
 * once. Replies never come from our own code: they are written from the RFCs. Start with pinged().
 */
#include "lan.h"

#include <string.h>

#define TIMEOUT (2 * PLX_SEC)

static uint32_t
pinged(struct lan *lan, const char *to, uint32_t bytes)
{
	struct plx_ip ip = lan_ip(to);
	uint32_t number = 0;

	assert_int_equal(plx_net_ping(lan->net, &ip, bytes, lan->now, TIMEOUT, &number),
			 PLX_NET_WAIT);
	assert_int_not_equal(number, 0);
	return number;
}

static void
is_refused(struct lan *lan, const char *to, uint32_t bytes, enum plx_net_verdict verdict)
{
	struct plx_ip ip = lan_ip(to);
	uint32_t number = 77;

	assert_int_equal(plx_net_ping(lan->net, &ip, bytes, lan->now, TIMEOUT, &number), verdict);
	assert_int_equal(number, 77);
}

/* What became of it; the round trip, when there was one. */
static enum plx_net_verdict
result(struct lan *lan, uint32_t number, uint64_t *rtt_ns)
{
	*rtt_ns = 0xabad1dea;
	return plx_net_ping_result(lan->net, number, lan->now, rtt_ns);
}

static void
becomes(struct lan *lan, uint32_t number, enum plx_net_verdict verdict)
{
	uint64_t rtt_ns;

	assert_int_equal(result(lan, number, &rtt_ns), verdict);
	assert_int_equal(rtt_ns == 0xabad1dea, verdict != PLX_NET_READY);
}

/* ALICE4 and ALICE6 are known. */
static void
open_known(struct lan *lan)
{
	lan_open(lan, 8);
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(lan, ALICE6), PLX_NET_WAIT);
	assert_int_equal(lan_drain(lan), 2);
	lan_arp_reply(lan, ALICE_MAC);
	lan_advert(lan, 0x60, ALICE_MAC);
}

/* Fetch the request and check it except for its numbers, which are returned. */
static unsigned
takes_request(struct lan *lan, const char *from, const char *to, size_t bytes, unsigned *id)
{
	static uint8_t said[PLX_NET_FRAME_MAX], expected[PLX_NET_FRAME_MAX];
	size_t icmp = lan_ip(to).version == 4 ? 34 : 54, len = icmp + 8 + bytes;
	unsigned sequence;

	assert_int_equal(lan_takes(lan, said), len < 60 ? 60 : len);
	*id = (unsigned)said[icmp + 4] << 8 | said[icmp + 5];
	sequence = (unsigned)said[icmp + 6] << 8 | said[icmp + 7];
	lan_echo(expected, true, from, to, *id, sequence, bytes, 0);
	lan_hex(ALICE_MAC, expected);
	lan_hex(OWN_MAC, expected + 6);
	memset(icmp == 34 ? expected + 18 : expected + 15, 0, 2);
	expected[17] = icmp == 34 ? expected[17] : 0;
	lan_echo_checksums(expected);
	assert_memory_equal(said, expected, len);
	return sequence;
}

static void
hears_answer(struct lan *lan, const char *from, const char *to, unsigned id, unsigned sequence,
	     size_t bytes, unsigned first)
{
	static uint8_t frame[PLX_NET_FRAME_MAX];
	size_t len = lan_echo(frame, false, from, to, id, sequence, bytes, first);

	assert_int_equal(lan_hears_bytes(lan, frame, len), PLX_NET_TAKEN);
}

static void
a_request_goes_out_and_its_answer_is_timed(void **state)
{
	static const struct {
		const char *own, *alice;
		uint32_t headers;
	} rows[] = {{OWN4, ALICE4, 42}, {OWN6, ALICE6, 62}};
	struct lan lan;
	unsigned id, last_id = 0, alike = 0;
	uint64_t rtt_ns;

	(void)state;
	open_known(&lan);
	for (size_t row = 0; row < PLX_COUNT_OF(rows); row++) {
		const uint32_t sizes[] = {
			0, 1, 17, 18, 56, 255, 256, 1400, PLX_NET_FRAME_USUAL - rows[row].headers};

		for (size_t i = 0; i < PLX_COUNT_OF(sizes); i++) {
			uint32_t number = pinged(&lan, rows[row].alice, sizes[i]);
			unsigned sequence;

			lan.now += 5; /* the time runs from sending */
			sequence =
				takes_request(&lan, rows[row].own, rows[row].alice, sizes[i], &id);
			/* An address that was pinged earlier does not know it. */
			alike += id == last_id;
			last_id = id;
			becomes(&lan, number, PLX_NET_WAIT);
			lan.now += 12345;
			hears_answer(&lan, rows[row].alice, rows[row].own, id, sequence, sizes[i],
				     0);
			lan.now += 99; /* and to hearing */
			assert_int_equal(result(&lan, number, &rtt_ns), PLX_NET_READY);
			assert_int_equal(rtt_ns, 12345);
			/* Reported once. */
			becomes(&lan, number, PLX_NET_LOST);
		}
	}
	assert_in_range(alike, 0, 1);
	assert_int_equal(plx_net_counters(lan.net)->pings_sent, 18);
	assert_int_equal(plx_net_counters(lan.net)->pings_answered, 18);
	assert_int_equal(plx_net_counters(lan.net)->pings_unsolicited, 0);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

static void
only_the_answer_to_what_was_asked_counts(void **state)
{
	struct lan lan;
	unsigned id, sequence;
	uint32_t number;

	(void)state;
	open_known(&lan);
	lan_close(&lan);
	lan.config.addresses = 3;
	lan.config.address[2] = (struct plx_net_address){lan_ip("10.78.0.1"), 24};
	lan_start(&lan);
	assert_int_equal(lan_resolve(&lan, ALICE4), PLX_NET_WAIT);
	lan_arp_reply(&lan, ALICE_MAC);
	number = pinged(&lan, ALICE4, 300);
	/* Not sent yet: nobody can know its numbers. */
	sequence = takes_request(&lan, OWN4, ALICE4, 300, &id);
	hears_answer(&lan, ALICE4, OWN4, id ^ 1, sequence, 300, 0);
	hears_answer(&lan, ALICE4, OWN4, id, sequence ^ 1, 300, 0);
	hears_answer(&lan, ALICE4, OWN4, id, sequence, 299, 0);
	hears_answer(&lan, ALICE4, OWN4, id, sequence, 301, 0);
	hears_answer(&lan, ALICE4, OWN4, id, sequence, 300, 1); /* other bytes */
	hears_answer(&lan, BOB4, OWN4, id, sequence, 300, 0);
	hears_answer(&lan, ALICE4, "10.78.0.1", id, sequence, 300, 0);
	hears_answer(&lan, ALICE6, OWN6, id, sequence, 300, 0);
	assert_int_equal(plx_net_counters(lan.net)->pings_unsolicited, 8);
	becomes(&lan, number, PLX_NET_WAIT);
	hears_answer(&lan, ALICE4, OWN4, id, sequence, 300, 0);
	hears_answer(&lan, ALICE4, OWN4, id, sequence, 300, 0); /* once more */
	assert_int_equal(plx_net_counters(lan.net)->pings_unsolicited, 9);
	assert_int_equal(plx_net_counters(lan.net)->pings_answered, 1);
	becomes(&lan, number, PLX_NET_READY);
	lan_close(&lan);
}

static void
who_is_not_known_is_resolved_first(void **state)
{
	struct lan lan;
	unsigned id;
	uint32_t number;

	(void)state;
	lan_open(&lan, 8);
	number = pinged(&lan, ALICE4, 56);
	lan_says_to(&lan, BROADCAST);
	lan_says_nothing(&lan);
	becomes(&lan, number, PLX_NET_WAIT);
	lan_says_nothing(&lan);
	lan_arp_reply(&lan, ALICE_MAC);
	becomes(&lan, number, PLX_NET_WAIT);
	(void)takes_request(&lan, OWN4, ALICE4, 56, &id);
	lan_close(&lan);
}

static void
a_neighbour_that_does_not_answer_is_told_from_a_lost_echo(void **state)
{
	struct lan lan;
	uint32_t number, other;

	(void)state;
	open_known(&lan);
	/* The timeout ends before the neighbour has been solicited often enough. */
	number = pinged(&lan, BOB4, 56);
	other = pinged(&lan, ALICE4, 56);
	assert_int_equal(lan_drain(&lan), 2);
	lan_wait(&lan, TIMEOUT - 1);
	becomes(&lan, number, PLX_NET_WAIT);
	becomes(&lan, other, PLX_NET_WAIT);
	lan_wait(&lan, 1);
	becomes(&lan, number, PLX_NET_NO_ANSWER);
	becomes(&lan, other, PLX_NET_LOST);
	/* And after it: a silent neighbour is reported at once, whatever time is left. */
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		(void)lan_drain(&lan);
		lan_wait(&lan, PLX_NET_RETRY_NS);
	}
	number = pinged(&lan, BOB4, 56);
	becomes(&lan, number, PLX_NET_NO_ANSWER);
	becomes(&lan, number, PLX_NET_LOST);
	lan_close(&lan);
}

/* A reply that is too late, but arrives before anybody has polled for it, still counts. */
static void
a_late_answer_counts_while_somebody_may_ask(void **state)
{
	struct lan lan;
	unsigned id, sequence;
	uint32_t number;

	(void)state;
	open_known(&lan);
	number = pinged(&lan, ALICE6, 8);
	sequence = takes_request(&lan, OWN6, ALICE6, 8, &id);
	lan_wait(&lan, TIMEOUT);
	hears_answer(&lan, ALICE6, OWN6, id, sequence, 8, 0);
	becomes(&lan, number, PLX_NET_READY);
	lan_close(&lan);
}

static void
an_address_of_ours_answers_at_once(void **state)
{
	struct lan lan;
	uint64_t rtt_ns;
	uint32_t number;

	(void)state;
	lan_open(&lan, 8);
	number = pinged(&lan, OWN4, 1400);
	lan_says_nothing(&lan);
	assert_int_equal(result(&lan, number, &rtt_ns), PLX_NET_READY);
	assert_int_equal(rtt_ns, 0);
	lan_close(&lan);
}

static void
what_cannot_be_sent_is_refused(void **state)
{
	struct lan lan;

	(void)state;
	open_known(&lan);
	is_refused(&lan, "192.0.2.1", 56, PLX_NET_NO_ROUTE);
	is_refused(&lan, "fd78::1", 56, PLX_NET_NO_ROUTE);
	is_refused(&lan, "10.77.0.255", 56, PLX_NET_NOT_UNICAST);
	is_refused(&lan, "ff02::1", 56, PLX_NET_NOT_UNICAST);
	is_refused(&lan, ALICE4, PLX_NET_FRAME_USUAL - 42 + 1, PLX_NET_TOO_LONG);
	is_refused(&lan, ALICE6, PLX_NET_FRAME_USUAL - 62 + 1, PLX_NET_TOO_LONG);
	is_refused(&lan, ALICE4, UINT32_MAX, PLX_NET_TOO_LONG);
	lan_says_nothing(&lan);
	lan_close(&lan);
}

static void
so_many_at_once_and_then_the_late_ones_give_way(void **state)
{
	uint32_t number[PLX_NET_PINGS_MAX], newer;
	unsigned id[PLX_NET_PINGS_MAX], sequence[PLX_NET_PINGS_MAX];
	struct lan lan;

	(void)state;
	open_known(&lan);
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++)
		number[i] = pinged(&lan, ALICE4, i);
	is_refused(&lan, ALICE4, 0, PLX_NET_BUSY);
	/* In the order in which they were requested, each with its own sequence number. */
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++) {
		sequence[i] = takes_request(&lan, OWN4, ALICE4, i, &id[i]);
		if (i > 0)
			assert_int_equal(sequence[i], (sequence[i - 1] + 1) & 0xffff);
	}
	/* A stranger answers with the id of another. */
	hears_answer(&lan, ALICE4, OWN4, id[2], sequence[3], 3, 0);
	becomes(&lan, number[3], PLX_NET_WAIT);
	hears_answer(&lan, ALICE4, OWN4, id[3], sequence[3], 3, 0);
	becomes(&lan, number[3], PLX_NET_READY);
	newer = pinged(&lan, ALICE4, 56);
	is_refused(&lan, ALICE4, 0, PLX_NET_BUSY);
	(void)takes_request(&lan, OWN4, ALICE4, 56, &id[0]);
	lan_wait(&lan, TIMEOUT);
	/* Nobody has requested the others. */
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++)
		(void)pinged(&lan, ALICE4, 56);
	becomes(&lan, newer, PLX_NET_LOST);
	becomes(&lan, number[0], PLX_NET_LOST);
	assert_int_equal(lan_drain(&lan), PLX_NET_PINGS_MAX);
	lan_close(&lan);
}

/* Sequence numbers wrap; an outstanding ping keeps its own. */
static void
a_sequence_is_never_in_use_twice(void **state)
{
	unsigned id, first_id, first, sequence, met = 0;
	struct lan lan;
	struct plx_ip ip = lan_ip(ALICE4);
	uint32_t old, number;

	(void)state;
	open_known(&lan);
	assert_int_equal(plx_net_ping(lan.net, &ip, 0, lan.now, PLX_NEVER, &old), PLX_NET_WAIT);
	first = takes_request(&lan, OWN4, ALICE4, 0, &first_id);
	for (uint32_t i = 0; i < 0x20000; i++) {
		number = pinged(&lan, ALICE4, 0);
		assert_int_not_equal(number, old);
		sequence = takes_request(&lan, OWN4, ALICE4, 0, &id);
		assert_int_not_equal(sequence, first);
		met += sequence == ((first + 1) & 0xffff);
		hears_answer(&lan, ALICE4, OWN4, id, sequence, 0, 0);
		becomes(&lan, number, PLX_NET_READY);
	}
	assert_true(met >= 2);
	becomes(&lan, old, PLX_NET_WAIT);
	hears_answer(&lan, ALICE4, OWN4, first_id, first, 0, 0);
	becomes(&lan, old, PLX_NET_READY);
	lan_close(&lan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_goes_out_and_its_answer_is_timed),
		cmocka_unit_test(only_the_answer_to_what_was_asked_counts),
		cmocka_unit_test(who_is_not_known_is_resolved_first),
		cmocka_unit_test(a_neighbour_that_does_not_answer_is_told_from_a_lost_echo),
		cmocka_unit_test(a_late_answer_counts_while_somebody_may_ask),
		cmocka_unit_test(an_address_of_ours_answers_at_once),
		cmocka_unit_test(what_cannot_be_sent_is_refused),
		cmocka_unit_test(so_many_at_once_and_then_the_late_ones_give_way),
		cmocka_unit_test(a_sequence_is_never_in_use_twice),
	};

	return cmocka_run_group_tests_name("net/ping", tests, NULL, NULL);
}
