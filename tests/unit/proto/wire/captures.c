/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every packet that two Linux machines exchanged (tests/captures), decoded and encoded again: 35
 * captures, 1216 packets. Each frame is in a block of its own size, so that overreads are detected.
 * It never checks what the packets mean for a queue pair.
 */
#include "test.h"
#include "make.h"
#include "pcap.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PACKETS_TOTAL = 1216,
	RC_PACKETS = 1112,
	UC_PACKETS = 30,
	UD_PACKETS = 74,
};

static const struct {
	const char *name;
	size_t packets;
} captures[] = {
	{"cm-rping-v4-1024", 53}, {"cm-rping-v4-4096", 53},  {"cm-rping-v6-1024", 53},
	{"cm-rping-v6-4096", 53}, {"cm-reject-v4", 2},       {"cm-ucmatose-v4", 34},
	{"cm-sidr-udaddy-v4", 6}, {"cm-rsocket-imm-v4", 33}, {"rc-send-v4-1024", 50},
	{"rc-write-v4-1024", 50}, {"rc-read-v4-1024", 50},   {"rc-send-v6-1024", 50},
	{"rc-write-v6-1024", 50}, {"rc-read-v6-1024", 50},   {"rc-send-v4-4096", 20},
	{"rc-write-v4-4096", 20}, {"rc-read-v4-4096", 20},   {"rc-send-v6-4096", 20},
	{"rc-write-v6-4096", 20}, {"rc-read-v6-4096", 20},   {"rc-small-odd-v4", 10},
	{"rc-fetch-add-v4", 10},  {"rc-cmp-swap-v4", 10},    {"rc-fetch-add-v6", 10},
	{"rc-pingpong-v4", 32},   {"rc-bidir-write-v4", 40}, {"rc-rnr-nak-v4", 26},
	{"uc-send-v4", 15},       {"uc-write-v4", 15},       {"ud-pingpong-v4", 8},
	{"ud-pingpong-v6", 8},    {"ud-send-v4", 5},         {"nvme-rdma-v4", 251},
	{"rc-loss-v4", 40},       {"rc-loss-read-v4", 29},
};

static struct pcap loaded[PLX_COUNT_OF(captures)];

/* One packet under test: where it came from, its bytes, and what decoding made of them. */
struct specimen {
	const char *capture;
	size_t number;
	const uint8_t *bytes;
	size_t len;
	struct plx_frame frame;
	struct plx_pkt pkt;
};

static int
setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s.pcap", CAPTURES_DIR, captures[i].name);
		if (pcap_load(path, &loaded[i])) {
			print_error("cannot load %s\n", path);
			return -1;
		}
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++)
		pcap_free(&loaded[i]);
	return 0;
}

/* How many packets there were of each service. */
static unsigned services[UINT8_MAX + 1];

static void
take_apart(struct specimen *s)
{
	size_t bth_at;

	assert_int_equal(plx_frame_decode(s->bytes, s->len, 0, &s->frame), PLX_WIRE_OK);
	bth_at = s->frame.udp_at + (size_t)PLX_UDP_BYTES;
	assert_int_equal(plx_pkt_decode(s->bytes + bth_at,
					s->frame.udp_bytes - (size_t)PLX_UDP_BYTES, &s->pkt),
			 PLX_WIRE_OK);
}

/* Decode each packet of each capture and call `check` for it; all 1216 of them, no fewer. */
static void
for_each_packet(void (*check)(const struct specimen *))
{
	size_t checked = 0;

	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++) {
		for (size_t k = 0; k < loaded[i].count; k++, checked++) {
			struct specimen s = {.capture = captures[i].name, .number = k + 1};

			s.bytes = loaded[i].frames[k].bytes;
			s.len = loaded[i].frames[k].len;
			take_apart(&s);
			check(&s);
		}
	}
	assert_int_equal(checked, PACKETS_TOTAL);
}

static void
each_capture_holds_the_packets_that_its_page_counts(void **state)
{
	size_t total = 0;

	(void)state;
	assert_int_equal(PLX_COUNT_OF(captures), 35);
	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++) {
		assert_int_equal(loaded[i].count, captures[i].packets);
		total += loaded[i].count;
	}
	assert_int_equal(total, PACKETS_TOTAL);
}

/* The whole frame rebuilt from its decoded form: headers, payload, a pad of zeros, the ICRC
 * computed. */
static void
encode_and_compare(const struct specimen *s)
{
	uint8_t *again = malloc(PLX_FRAME_HEADER_MAX + PLX_PKT_HEADER_MAX + s->len);
	size_t at = s->frame.udp_at + (size_t)PLX_UDP_BYTES;
	size_t header_bytes = plx_opcodes[s->pkt.opcode].header_bytes;

	assert_non_null(again);
	assert_int_equal(at + header_bytes + s->pkt.payload_bytes + s->pkt.pad + PLX_ICRC_BYTES,
			 s->len);
	memset(again, 0xa5, s->len);
	assert_int_equal(plx_frame_encode(&s->frame, again), at);
	assert_int_equal(plx_pkt_encode(&s->pkt, again + at), header_bytes);
	at += header_bytes;
	memcpy(again + at, s->pkt.payload, s->pkt.payload_bytes);
	at += s->pkt.payload_bytes;
	memset(again + at, 0, s->pkt.pad);
	at += s->pkt.pad;
	plx_icrc_store(plx_icrc_isal(again + s->frame.ip_at, at - s->frame.ip_at), again + at);
	if (memcmp(again, s->bytes, s->len) != 0)
		fail_msg("%s, packet %zu", s->capture, s->number);
	services[plx_opcodes[s->pkt.opcode].service]++;
	free(again);
}

static void
every_packet_decodes_and_encodes_to_the_same_bytes(void **state)
{
	(void)state;
	memset(services, 0, sizeof services);
	for_each_packet(encode_and_compare);
	assert_int_equal(services[PLX_SERVICE_RC], RC_PACKETS);
	assert_int_equal(services[PLX_SERVICE_UC], UC_PACKETS);
	assert_int_equal(services[PLX_SERVICE_UD], UD_PACKETS);
}

/* Everything from the bytes themselves, at the offsets of a frame without VLAN tag. */
static void
calculate_and_compare(const struct specimen *s)
{
	bool v4 = s->bytes[12] == 0x08;
	size_t udp_at = v4 ? 34 : 54;
	const uint8_t *ip = s->bytes + 14;
	const uint8_t *bth = s->bytes + udp_at + 8;
	size_t header_bytes = plx_opcodes[bth[0]].header_bytes;
	size_t pad = bth[1] >> 4 & 3;

	assert_int_equal(s->frame.ip_version, v4 ? 4 : 6);
	assert_int_equal(s->frame.ip_at, 14);
	assert_int_equal(s->frame.udp_at, udp_at);
	if (v4) {
		assert_int_equal(plain_ipv4_checksum(ip), get16(ip + 10));
		assert_int_equal(s->frame.v4.checksum, get16(ip + 10));
	}
	/* No Ethernet padding: these frames were never on a wire that wanted 60 bytes. */
	assert_int_equal(s->frame.ip_bytes, s->len - 14);
	assert_int_equal(s->frame.udp_bytes, s->len - udp_at);
	assert_int_equal(s->pkt.pad, pad);
	assert_ptr_equal(s->pkt.payload, bth + header_bytes);
	assert_int_equal(s->pkt.payload_bytes, s->len - udp_at - 8 - header_bytes - pad - 4);
	assert_int_equal((s->pkt.payload_bytes + pad) % 4, 0);
	assert_int_equal(s->pkt.pkey, PLX_PKEY_DEFAULT);
}

static void
lengths_and_checksums_agree_with_a_plain_calculation(void **state)
{
	(void)state;
	for_each_packet(calculate_and_compare);
}

static void
check_icrc(const struct specimen *s, plx_icrc_fn icrc)
{
	const uint8_t *ip = s->bytes + s->frame.ip_at;
	size_t covered = s->frame.ip_bytes - (size_t)PLX_ICRC_BYTES;
	uint8_t stored[PLX_ICRC_BYTES];

	if (icrc(ip, covered) != plx_icrc_load(ip + covered))
		fail_msg("%s, packet %zu", s->capture, s->number);
	plx_icrc_store(icrc(ip, covered), stored);
	assert_memory_equal(stored, ip + covered, PLX_ICRC_BYTES);
}

static void
check_icrc_isal(const struct specimen *s)
{
	check_icrc(s, plx_icrc_isal);
}

static void
check_icrc_onepass(const struct specimen *s)
{
	check_icrc(s, plx_icrc_onepass);
}

static void
every_icrc_is_right_by_isal(void **state)
{
	(void)state;
	for_each_packet(check_icrc_isal);
}

static void
every_icrc_is_right_by_one_pass(void **state)
{
	(void)state;
	if (!plx_icrc_has_onepass()) {
		print_message(
			"NOT RUN: this CPU has no VPCLMULQDQ, the one-pass ICRC is untested\n");
		skip();
	}
	for_each_packet(check_icrc_onepass);
}

static void
write_template_and_compare(const struct specimen *s)
{
	struct plx_frame_template tmpl;
	uint8_t headers[PLX_FRAME_HEADER_MAX];
	size_t header_bytes = s->frame.udp_at + (size_t)PLX_UDP_BYTES;

	/* rxe sends no UDP checksum either, so nothing at all may differ. */
	assert_int_equal(s->frame.udp_checksum, 0);
	plx_frame_template_init(&tmpl, &s->frame);
	assert_int_equal(plx_frame_template_write(&tmpl, s->len - header_bytes, headers),
			 header_bytes);
	assert_memory_equal(headers, s->bytes, header_bytes);
}

static void
a_template_of_each_flow_writes_the_headers_that_were_captured(void **state)
{
	(void)state;
	for_each_packet(write_template_and_compare);
}

static unsigned syndromes[256];

static void
note_syndrome(const struct specimen *s)
{
	if (plx_opcode_has(&plx_opcodes[s->pkt.opcode], PLX_OPF_AETH))
		syndromes[s->pkt.aeth.syndrome]++;
}

static void
the_only_syndromes_are_ack_rnr_nak_and_sequence_nak(void **state)
{
	(void)state;
	memset(syndromes, 0, sizeof syndromes);
	for_each_packet(note_syndrome);
	for (unsigned i = 0; i < 256; i++) {
		bool listed = i == (PLX_AETH_ACK | PLX_AETH_NO_CREDITS) ||
			      i == (PLX_AETH_RNR | 12) || i == (PLX_AETH_NAK | PLX_NAK_SEQUENCE);

		assert_int_equal(syndromes[i] > 0, listed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_capture_holds_the_packets_that_its_page_counts),
		cmocka_unit_test(every_packet_decodes_and_encodes_to_the_same_bytes),
		cmocka_unit_test(lengths_and_checksums_agree_with_a_plain_calculation),
		cmocka_unit_test(every_icrc_is_right_by_isal),
		cmocka_unit_test(every_icrc_is_right_by_one_pass),
		cmocka_unit_test(a_template_of_each_flow_writes_the_headers_that_were_captured),
		cmocka_unit_test(the_only_syndromes_are_ack_rnr_nak_and_sequence_nak),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
