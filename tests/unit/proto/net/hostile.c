/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Malformed frames: truncated at every byte, each field wrong in turn. A refused frame has its
 * verdict and its counter, and changes nothing else. Start with the table of wrong fields,
 * wrongs[].
 */
#include "lan.h"

#include <string.h>

#define GROUP6    "ff02::1:ff00:1" /* the solicited-node group of OWN6 */
#define ALL_NODES "ff02::1"

enum kind {
	ARP_REQUEST,
	ARP_REPLY,
	ARP_PROBE,
	ARP_TAGGED,
	SOLICITATION,
	SOLICITATION_BARE, /* to us alone, without an option */
	SOLICITATION_DAD,
	ADVERTISEMENT,
	ADVERTISEMENT_ALL, /* to all nodes */
	KINDS,
};

/* Returns: bytes */
static size_t
good_frame(enum kind kind, uint8_t *out)
{
	static const struct {
		unsigned type, flags;
		const char *from, *to, *target, *mac;
	} nd[KINDS] = {
		[SOLICITATION] = {135, 0, ALICE6, GROUP6, OWN6, ALICE_MAC},
		[SOLICITATION_BARE] = {135, 0, ALICE6, OWN6, OWN6, NULL},
		[SOLICITATION_DAD] = {135, 0, "::", GROUP6, OWN6, NULL},
		[ADVERTISEMENT] = {136, 0x60, ALICE6, OWN6, ALICE6, ALICE_MAC},
		[ADVERTISEMENT_ALL] = {136, 0x20, ALICE6, ALL_NODES, ALICE6, ALICE_MAC},
	};
	struct plx_ip alice = lan_ip(kind == ARP_PROBE ? "0.0.0.0" : ALICE4);
	size_t len;

	if (nd[kind].type)
		return lan_nd(out, nd[kind].type, nd[kind].flags, nd[kind].from, nd[kind].to,
			      nd[kind].target, nd[kind].mac);
	len = lan_arp(out, kind == ARP_REPLY ? 2 : 1, OWN_MAC, ALICE_MAC, alice, OWN_MAC,
		      lan_ip(OWN4));
	if (kind != ARP_TAGGED)
		return len;
	memmove(out + 16, out + 12, len - 12);
	lan_hex("8100 6000", out + 12);
	return len + 4;
}

/* ALICE is being solicited, so that an answer would be accepted; nothing waits to be sent. */
static void
open_asking(struct lan *lan)
{
	lan_open(lan, 8);
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(lan, ALICE6), PLX_NET_WAIT);
	assert_int_equal(lan_drain(lan), 2);
}

/* The verdict, and that nothing but one counter has changed. */
static void
is_refused(struct lan *lan, const uint8_t *frame, size_t len, enum plx_net_verdict verdict)
{
	struct plx_net_counters before = *plx_net_counters(lan->net);
	uint64_t wake_ns = plx_net_wake_ns(lan->net);

	assert_int_equal(lan_hears_bytes(lan, frame, len), verdict);
	if (verdict == PLX_NET_MALFORMED)
		before.malformed++;
	assert_memory_equal(&before, plx_net_counters(lan->net), sizeof before);
	assert_int_equal(plx_net_wake_ns(lan->net), wake_ns);
	lan_says_nothing(lan);
	assert_int_equal(lan_resolve(lan, ALICE4), PLX_NET_WAIT);
	assert_int_equal(lan_resolve(lan, ALICE6), PLX_NET_WAIT);
}

static void
every_kind_is_taken_when_nothing_is_wrong(void **state)
{
	(void)state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		uint8_t frame[256] = {0};
		size_t len = good_frame(kind, frame);
		struct lan lan;

		open_asking(&lan);
		assert_int_equal(lan_hears_bytes(&lan, frame, len), PLX_NET_TAKEN);
		assert_true(lan_drain(&lan) || lan_resolve(&lan, ALICE4) == PLX_NET_READY ||
			    lan_resolve(&lan, ALICE6) == PLX_NET_READY);
		lan_close(&lan);
		/* What Ethernet fills up with belongs to nobody. */
		open_asking(&lan);
		memset(frame + len, 0xcc, 20);
		assert_int_equal(lan_hears_bytes(&lan, frame, len + 20), PLX_NET_TAKEN);
		lan_close(&lan);
	}
}

static void
every_truncation_is_malformed(void **state)
{
	unsigned cuts = 0;
	struct lan lan;

	(void)state;
	open_asking(&lan);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		uint8_t frame[256];
		size_t len = good_frame(kind, frame);

		for (size_t cut = 0; cut < len; cut++, cuts++)
			is_refused(&lan, frame, cut, PLX_NET_MALFORMED);
	}
	assert_int_equal(cuts, 3 * 42 + 46 + 3 * 86 + 2 * 78);
	lan_close(&lan);
}

/* Truncated, with matching lengths. */
static void
every_truncation_that_ip_admits_is_malformed(void **state)
{
	struct lan lan;

	(void)state;
	open_asking(&lan);
	for (enum kind kind = SOLICITATION; kind < KINDS; kind++) {
		uint8_t frame[256];
		size_t len = good_frame(kind, frame);

		/* Without its option it would be complete; an option of one byte is invalid. */
		for (size_t cut = 54; cut < len; cut++) {
			uint8_t shorter[256];

			if (cut == 78)
				continue;
			memcpy(shorter, frame, cut);
			shorter[18] = 0;
			shorter[19] = (uint8_t)(cut - 54);
			if (cut >= 58)
				lan_nd_checksum(shorter);
			is_refused(&lan, shorter, cut, PLX_NET_MALFORMED);
		}
	}
	lan_close(&lan);
}

struct wrong {
	enum kind kind;
	size_t at;
	const char *hex; /* replaces the value */
	enum plx_net_verdict verdict;
};

#define MALFORMED PLX_NET_MALFORMED
#define NOT_OURS  PLX_NET_NOT_OURS
#define STATION   PLX_NET_OTHER_STATION
#define ADDRESS   PLX_NET_OTHER_ADDRESS

static const struct wrong wrongs[] = {
	/* Ethernet */
	{ARP_REQUEST, 0, "020000000009", STATION}, /* to another station */
	{ARP_REQUEST, 0, "020100000009", STATION},
	{ARP_REQUEST, 0, "333300000001", STATION}, /* to a group that ARP does not use */
	{ADVERTISEMENT_ALL, 0, BROADCAST, STATION},
	{ADVERTISEMENT_ALL, 0, "333300000002", STATION}, /* all routers */
	{SOLICITATION, 0, "3333ff000009", STATION},      /* another's group */
	{ADVERTISEMENT_ALL, 38, "ff020000000000000000000000000002", ADDRESS},
	{ARP_REQUEST, 6, "030000000001", MALFORMED}, /* from a group */
	{ARP_REQUEST, 6, NO_MAC, MALFORMED},
	{ARP_REQUEST, 6, OWN_MAC, NOT_OURS}, /* our own packet */
	{ARP_REQUEST, 12, "0800", NOT_OURS},
	{ARP_REQUEST, 12, "8035", NOT_OURS},
	{ARP_TAGGED, 14, "6001", PLX_NET_OTHER_VLAN}, /* VLAN 1 */
	{ARP_TAGGED, 14, "0fff", PLX_NET_OTHER_VLAN},
	{ARP_TAGGED, 16, "8100", NOT_OURS}, /* a second tag */
	/* ARP */
	{ARP_REQUEST, 14, "0006", MALFORMED}, /* hardware: IEEE 802 */
	{ARP_REQUEST, 16, "86dd", MALFORMED}, /* protocol */
	{ARP_REQUEST, 18, "08", MALFORMED},   /* lengths */
	{ARP_REQUEST, 19, "10", MALFORMED},
	{ARP_REQUEST, 20, "0000", NOT_OURS}, /* operation: none, reverse, inverse */
	{ARP_REQUEST, 20, "0003", NOT_OURS},
	{ARP_REQUEST, 20, "0008", NOT_OURS},
	{ARP_REQUEST, 20, "0101", NOT_OURS},
	{ARP_REQUEST, 22, NO_MAC, MALFORMED},
	{ARP_REQUEST, 22, BROADCAST, MALFORMED},
	{ARP_REPLY, 22, "010000000002", MALFORMED},
	{ARP_REPLY, 22, OWN_MAC, MALFORMED},      /* another at our MAC */
	{ARP_REPLY, 28, "00000000", MALFORMED},   /* the sender: nobody */
	{ARP_REQUEST, 28, "00000001", MALFORMED}, /* this network */
	{ARP_REQUEST, 28, "7f000001", MALFORMED}, /* loopback */
	{ARP_REQUEST, 28, "e0000001", MALFORMED}, /* multicast */
	{ARP_REQUEST, 28, "f0000001", MALFORMED},
	{ARP_REPLY, 28, "ffffffff", MALFORMED},
	{ARP_REPLY, 28, "0a4d00ff", MALFORMED}, /* 10.77.0.255: broadcast in our network */
	{ARP_REPLY, 28, "0a4d0000", MALFORMED},
	/* A stranger solicits another address. */
	{ARP_REQUEST, 28, "0a4d0005 020000000001 0a4d0009", ADDRESS},
	{ARP_PROBE, 38, "0a4d0009", ADDRESS},
	/* IPv6 */
	{SOLICITATION, 14, "40", MALFORMED}, /* version */
	{SOLICITATION, 18, "0021", MALFORMED},
	{SOLICITATION, 18, "ffff", MALFORMED},
	{SOLICITATION, 18, "0000", MALFORMED},
	{SOLICITATION, 18, "0001", MALFORMED},
	{SOLICITATION, 20, "00", NOT_OURS}, /* hop-by-hop options */
	{SOLICITATION, 20, "2c", NOT_OURS}, /* a fragment: RFC 6980 */
	{SOLICITATION, 20, "11", NOT_OURS},
	{SOLICITATION, 21, "fe", MALFORMED}, /* it has crossed a router */
	{ADVERTISEMENT, 21, "40", MALFORMED},
	{SOLICITATION, 22, "ff02", MALFORMED}, /* from a group */
	{ADVERTISEMENT, 22, "ff02", MALFORMED},
	{SOLICITATION_BARE, 38, "fd780000000000000000000000000001", ADDRESS},
	{ADVERTISEMENT, 38, "fd780000000000000000000000000001", ADDRESS},
	/* ICMPv6 */
	{SOLICITATION, 54, "80", STATION},  /* echo, to a group */
	{SOLICITATION, 54, "85", NOT_OURS}, /* router solicitation */
	{SOLICITATION, 54, "89", NOT_OURS}, /* redirect */
	{SOLICITATION, 55, "01", MALFORMED},
	{ADVERTISEMENT, 55, "ff", MALFORMED},
	{ADVERTISEMENT_ALL, 58, "60", MALFORMED}, /* solicited, and multicast to all */
	{SOLICITATION, 62, "ff02", MALFORMED},    /* the target: a group */
	{ADVERTISEMENT, 62, "ff02", MALFORMED},
	{SOLICITATION, 62, "00000000000000000000000000000000", MALFORMED},
	{ADVERTISEMENT, 62, "00000000000000000000000000000001", MALFORMED}, /* loopback */
	{SOLICITATION, 62, "fd780000", ADDRESS},
	{SOLICITATION_DAD, 62, "fd770000000000000000000000000009", MALFORMED}, /* another's group */
	/* Options */
	{SOLICITATION, 79, "00", MALFORMED}, /* length 0 */
	{SOLICITATION, 79, "02", MALFORMED}, /* past the end */
	{ADVERTISEMENT, 79, "ff", MALFORMED},
	{SOLICITATION, 80, NO_MAC, MALFORMED},
	{SOLICITATION, 80, "010000000002", MALFORMED},
	{ADVERTISEMENT, 80, BROADCAST, MALFORMED},
	{ADVERTISEMENT, 80, OWN_MAC, MALFORMED},
};

static void
each_wrong_field_has_its_verdict(void **state)
{
	struct lan lan;

	(void)state;
	open_asking(&lan);
	for (size_t i = 0; i < PLX_COUNT_OF(wrongs); i++) {
		uint8_t frame[256];
		size_t len = good_frame(wrongs[i].kind, frame);
		size_t said = (size_t)frame[18] << 8 | frame[19];

		lan_hex(wrongs[i].hex, frame + wrongs[i].at);
		if (wrongs[i].kind >= SOLICITATION && said == ((size_t)frame[18] << 8 | frame[19]))
			lan_nd_checksum(frame);
		is_refused(&lan, frame, len, wrongs[i].verdict);
	}
	lan_close(&lan);
}

/* Bits covered by the checksum. It does not cover the Ethernet addresses, the flow label and the
 * hop limit; bits that would make it another protocol are excluded too. */
static void
every_flipped_bit_is_found_by_the_checksum(void **state)
{
	struct lan lan;

	(void)state;
	open_asking(&lan);
	for (enum kind kind = SOLICITATION; kind < KINDS; kind++) {
		uint8_t frame[256];
		size_t len = good_frame(kind, frame);

		for (size_t bit = 22 * 8; bit < len * 8; bit++) {
			enum plx_net_verdict verdict = bit / 8 == 54 ? NOT_OURS : MALFORMED;

			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			/* 135 and 136 differ in more than one bit: any other type is not ours, but
			 * for 128, which is an echo request. */
			if (frame[54] == 128)
				verdict = MALFORMED;
			is_refused(&lan, frame, len, verdict);
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	lan_close(&lan);
}

/* A probe for duplicates has no MAC, and goes to the group of its target: RFC 4861, 7.1.1. */
static void
a_probe_for_a_duplicate_is_exactly_that(void **state)
{
	uint8_t frame[256];
	struct lan lan;
	size_t len;

	(void)state;
	open_asking(&lan);
	len = lan_nd(frame, 135, 0, "::", GROUP6, OWN6, ALICE_MAC);
	is_refused(&lan, frame, len, MALFORMED);
	len = lan_nd(frame, 135, 0, "::", OWN6, OWN6, NULL);
	is_refused(&lan, frame, len, MALFORMED);
	len = lan_nd(frame, 135, 0, "::", ALL_NODES, OWN6, NULL);
	is_refused(&lan, frame, len, MALFORMED);
	len = lan_nd(frame, 135, 0, "::1", GROUP6, OWN6, NULL);
	is_refused(&lan, frame, len, MALFORMED);
	len = lan_nd(frame, 136, 0x20, "::", ALL_NODES, ALICE6, ALICE_MAC);
	is_refused(&lan, frame, len, MALFORMED);
	lan_close(&lan);
}

/* RFC 4861, 4.6: unknown options are skipped, the first of a kind counts, each is well formed. */
static void
options_are_skipped_or_refused(void **state)
{
	static const struct {
		const char *hex;
		enum plx_net_verdict verdict;
	} options[] = {
		{"0e01 112233445566 0101 0200000000a2", PLX_NET_TAKEN},
		{"0e02 1122334455660011223344556677 0101 0200000000a2", PLX_NET_TAKEN},
		{"0101 0200000000a2 0101 0200000000d4", PLX_NET_TAKEN},
		{"0101 0200000000a2 0201 ffffffffffff", PLX_NET_TAKEN}, /* not for a question */
		{"0101 0200000000a2 0e00 112233445566", MALFORMED},
		{"0102 0200000000a2 0000000000000000", MALFORMED}, /* no MAC of Ethernet */
		{"0101 0200000000a2 0e02 112233445566", MALFORMED},
		{"0101 0200000000a2 0eff 112233445566", MALFORMED},
		{"0101 0200000000a2 0e", MALFORMED},
		{"0101 0200000000a2 0e01", MALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(options); i++) {
		uint8_t frame[256] = {0};
		struct lan lan;
		size_t len = lan_nd(frame, 135, 0, ALICE6, GROUP6, OWN6, NULL);

		lan_open(&lan, 8);
		len += lan_hex(options[i].hex, frame + len);
		frame[19] = (uint8_t)(len - 54);
		lan_nd_checksum(frame);
		assert_int_equal(lan_hears_bytes(&lan, frame, len), options[i].verdict);
		if (options[i].verdict == PLX_NET_TAKEN)
			lan_knows(&lan, ALICE6, ALICE_MAC);
		assert_int_equal(lan_drain(&lan), options[i].verdict == PLX_NET_TAKEN);
		lan_close(&lan);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_taken_when_nothing_is_wrong),
		cmocka_unit_test(every_truncation_is_malformed),
		cmocka_unit_test(every_truncation_that_ip_admits_is_malformed),
		cmocka_unit_test(each_wrong_field_has_its_verdict),
		cmocka_unit_test(every_flipped_bit_is_found_by_the_checksum),
		cmocka_unit_test(a_probe_for_a_duplicate_is_exactly_that),
		cmocka_unit_test(options_are_skipped_or_refused),
	};

	return cmocka_run_group_tests_name("net/hostile", tests, NULL, NULL);
}
