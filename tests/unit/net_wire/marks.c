/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the bad cable writes into a packet: ECN marks and flipped bits, where they belong and
 * nowhere else, and never into memory that another may read. Start anywhere.
 */
#include <string.h>

#include <rte_ip.h>
#include <rte_malloc.h>

#include "cable.h"

enum {
	BYTES = 200,
	TAG_BYTES = 4,
	MARKS_DRAWN = 100,
};

static struct rte_mempool *pool;

/* A frame of BYTES bytes: tags, then IPv4 or IPv6 with these ECN bits. */
static struct rte_mbuf *
ip_frame(int version, uint32_t tags, uint8_t ecn)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint8_t *bytes = (uint8_t *)rte_pktmbuf_append(packet, BYTES);
	uint8_t *ip = bytes + 14 + TAG_BYTES * tags;

	memset(bytes, 0x5a, BYTES);
	for (uint32_t i = 0; i < tags; i++)
		memcpy(bytes + 12 + TAG_BYTES * i, i + 1 < tags ? "\x88\xa8" : "\x81\x00", 2);
	memcpy(ip - 2, version == 4 ? "\x08\x00" : "\x86\xdd", 2);
	if (version == 4) {
		struct rte_ipv4_hdr *header = (struct rte_ipv4_hdr *)(void *)ip;

		header->version_ihl = 0x45;
		header->type_of_service = (uint8_t)(0x68 | ecn);
		header->hdr_checksum = 0;
		header->hdr_checksum = rte_ipv4_cksum(header);
	} else {
		ip[0] = 0x66;
		ip[1] = (uint8_t)(0x80 | ecn << 4 | 0x05);
	}
	return packet;
}

static uint8_t
ecn_of(const struct rte_mbuf *packet, int version, uint32_t tags)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, uint8_t *, 14 + TAG_BYTES * tags);

	return version == 4 ? ip[1] & 3 : ip[1] >> 4 & 3;
}

static struct rte_mbuf *
pass(struct cable *cable, struct rte_mbuf *packet)
{
	struct rte_mbuf *got;

	lab_send(cable->port[0], packet);
	assert_int_equal(cable->port[1]->rx(cable->port[1], &got, 1), 1);
	return got;
}

static uint32_t
bits_that_differ(const uint8_t *a, const uint8_t *b, uint32_t from, uint32_t to)
{
	uint32_t bits = 0;

	for (uint32_t i = from; i < to; i++)
		bits += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
	return bits;
}

/* Marked, and else as it was, but for the checksum, which is right. */
static void
check_mark(struct cable *cable, int version, uint32_t tags, uint8_t ecn)
{
	struct rte_mbuf *packet = ip_frame(version, tags, ecn);
	uint32_t ip = 14 + TAG_BYTES * tags;
	uint8_t before[BYTES];
	const uint8_t *after;

	memcpy(before, rte_pktmbuf_mtod(packet, uint8_t *), BYTES);
	packet = pass(cable, packet);
	after = rte_pktmbuf_mtod(packet, uint8_t *);
	assert_int_equal(ecn_of(packet, version, tags), ecn == 0 ? 0 : 3);
	before[ip + 1] = after[ip + 1];
	if (version == 4) {
		struct rte_ipv4_hdr header;

		memcpy(&header, after + ip, sizeof(header));
		assert_int_equal(header.type_of_service >> 2, 0x68 >> 2);
		header.hdr_checksum = 0;
		header.hdr_checksum = rte_ipv4_cksum(&header);
		assert_memory_equal(&header, after + ip, sizeof(header));
		memcpy(before + ip + 10, after + ip + 10, 2);
	} else {
		assert_int_equal(after[ip + 1] & 0xcf, 0x85);
	}
	assert_memory_equal(before, after, BYTES);
	rte_pktmbuf_free(packet);
}

static void
only_ect_is_marked_and_the_checksum_follows(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 0, ",mark=1", pool);
	for (int version = 4; version <= 6; version += 2)
		for (uint32_t tags = 0; tags < 3; tags++)
			for (uint8_t ecn = 0; ecn < 4; ecn++)
				check_mark(&cable, version, tags, ecn);
	/* ECT(0) and ECT(1), of two versions, with 0 to 2 tags; CE is marked already. */
	assert_int_equal(cable_counters(&cable).marked, 12);
	cable_close(&cable, 0);
}

/* Every identification is every checksum, those whose sum carries among them. */
static void
the_checksum_follows_from_any_value(void **state)
{
	struct cable cable = {0};

	(void)state;
	cable_open(&cable, 0, ",mark=1", pool);
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		struct rte_mbuf *packet = ip_frame(4, 0, 1 + id % 2);
		struct rte_ipv4_hdr *header =
			rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, 14);

		header->packet_id = (uint16_t)id;
		header->hdr_checksum = 0;
		header->hdr_checksum = (uint16_t)~rte_raw_cksum(header, sizeof(*header));
		packet = pass(&cable, packet);
		header = rte_pktmbuf_mtod_offset(packet, struct rte_ipv4_hdr *, 14);
		assert_int_equal(header->type_of_service & 3, 3);
		assert_int_equal(rte_raw_cksum(header, sizeof(*header)), 0xffff);
		rte_pktmbuf_free(packet);
	}
	cable_close(&cable, 0);
}

static void
what_is_not_ip_is_not_marked(void **state)
{
	struct cable cable = {0};
	static const uint16_t lengths[] = {14, 15, 33, 60, 64};

	(void)state;
	cable_open(&cable, 0, ",mark=1", pool);
	for (size_t i = 0; i < PLX_COUNT_OF(lengths); i++) {
		struct rte_mbuf *packet = ip_frame(4, 0, 1);

		/* Long enough to look like ARP, too short to be IPv4. */
		if (lengths[i] > 33)
			memcpy(rte_pktmbuf_mtod_offset(packet, uint8_t *, 12), "\x08\x06", 2);
		rte_pktmbuf_trim(packet, (uint16_t)(BYTES - lengths[i]));
		packet = pass(&cable, packet);
		assert_int_equal(rte_pktmbuf_pkt_len(packet), lengths[i]);
		rte_pktmbuf_free(packet);
	}
	assert_int_equal(cable_counters(&cable).marked, 0);
	cable_close(&cable, 0);
}

static void
marks_come_as_often_as_asked(void **state)
{
	struct cable cable = {0};
	uint32_t marked = 0;

	(void)state;
	cable_open(&cable, 0, ",mark=0.25,seed=3", pool);
	for (int i = 0; i < 20 * MARKS_DRAWN; i++) {
		struct rte_mbuf *packet = pass(&cable, ip_frame(4, 0, 2));

		marked += ecn_of(packet, 4, 0) == 3;
		rte_pktmbuf_free(packet);
	}
	assert_int_equal(cable_counters(&cable).marked, marked);
	assert_in_range(marked, 4 * MARKS_DRAWN, 6 * MARKS_DRAWN);
	cable_close(&cable, 0);
}

static void
one_bit_behind_the_ethernet_header_is_flipped(void **state)
{
	struct cable cable = {0};
	uint8_t flipped[BYTES] = {0};
	uint32_t bytes_reached = 0;

	(void)state;
	cable_open(&cable, 0, ",corrupt=1", pool);
	for (int i = 0; i < 4000; i++) {
		struct rte_mbuf *packet = ip_frame(6, 0, 0);
		uint8_t before[BYTES];
		const uint8_t *after;

		memcpy(before, rte_pktmbuf_mtod(packet, uint8_t *), BYTES);
		packet = pass(&cable, packet);
		after = rte_pktmbuf_mtod(packet, uint8_t *);
		assert_int_equal(bits_that_differ(before, after, 0, 14), 0);
		assert_int_equal(bits_that_differ(before, after, 14, BYTES), 1);
		for (uint32_t at = 14; at < BYTES; at++)
			flipped[at] |= before[at] ^ after[at];
		rte_pktmbuf_free(packet);
	}
	/* 4000 draws of 186 bytes: each is reached but with a probability of e^-21. */
	for (uint32_t at = 14; at < BYTES; at++)
		bytes_reached += flipped[at] != 0;
	assert_int_equal(bytes_reached, BYTES - 14);
	cable_close(&cable, 0);
}

static void
a_packet_without_a_body_is_left_alone(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *packet = ip_frame(4, 0, 0);

	(void)state;
	cable_open(&cable, 0, ",corrupt=1,mark=1", pool);
	rte_pktmbuf_trim(packet, BYTES - 14);
	rte_pktmbuf_free(pass(&cable, packet));
	assert_int_equal(cable_counters(&cable).corrupted, 0);
	cable_close(&cable, 0);
}

static void
a_shared_packet_is_copied_before_it_is_damaged(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *packet = ip_frame(4, 0, 0);
	struct rte_mbuf *clone = rte_pktmbuf_clone(packet, pool);
	struct rte_mbuf *got;
	uint8_t before[BYTES];

	(void)state;
	memcpy(before, rte_pktmbuf_mtod(packet, uint8_t *), BYTES);
	cable_open(&cable, 0, ",corrupt=1", pool);
	/* Once by its reference count, once because its bytes belong to another. */
	rte_mbuf_refcnt_update(packet, 1);
	for (int i = 0; i < 2; i++) {
		got = pass(&cable, i == 0 ? packet : clone);
		assert_int_equal(
			bits_that_differ(before, rte_pktmbuf_mtod(got, uint8_t *), 0, BYTES), 1);
		assert_memory_equal(before, rte_pktmbuf_mtod(packet, uint8_t *), BYTES);
		rte_pktmbuf_free(got);
	}
	rte_pktmbuf_free(packet);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
an_external_buffer_is_copied_before_it_is_damaged(void **state)
{
	struct cable cable = {0};
	struct rte_mbuf *sent;
	struct rte_mbuf *got;
	struct rte_mbuf *keep;
	bool damaged = false;

	(void)state;
	cable_open(&cable, 0, ",corrupt=1,duplicate=1", pool);
	sent = lab_frame(pool, LAB_EXTERNAL, 77, 1500);
	/* A second reference to the external buffer shows what becomes of it. */
	keep = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_attach(keep, sent->next);
	got = pass(&cable, sent);
	assert_false(RTE_MBUF_HAS_EXTBUF(got));
	(void)lab_number(got, &damaged);
	assert_true(damaged);
	assert_int_equal(bits_that_differ(rte_pktmbuf_mtod_offset(got, uint8_t *, 58),
					  rte_pktmbuf_mtod(keep, uint8_t *), 0, 1500 - 58),
			 1);
	rte_pktmbuf_free(got);
	/* The duplicate is of what was damaged. */
	got = lab_receive(cable.port[1], 1000);
	assert_non_null(got);
	rte_pktmbuf_free(got);
	assert_int_equal(lab_external_out(), 1);
	rte_pktmbuf_free(keep);
	assert_int_equal(lab_external_out(), 0);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

/* At 100 Mbit/s a frame takes 16 us. Of ten that arrive at once the fifth is the first to wait for
 * more than 50 us. */
static void
what_waits_long_for_the_wire_is_marked(void **state)
{
	enum {
		FRAMES = 10,
		UNMARKED = 4
	};
	struct rte_mbuf *got[FRAMES];
	struct cable cable = {0};
	uint32_t n = 0;

	(void)state;
	cable_open(&cable, 0, ",rate_mbps=100,mark_us=50", pool);
	for (uint32_t i = 0; i < FRAMES; i++)
		lab_send(cable.port[0], ip_frame(4, 0, 2));
	while (n < FRAMES)
		n += cable.port[1]->rx(cable.port[1], got + n, (uint16_t)(FRAMES - n));
	for (uint32_t i = 0; i < FRAMES; i++)
		assert_int_equal(ecn_of(got[i], 4, 0), i < UNMARKED ? 2 : 3);
	assert_int_equal(cable_counters(&cable).marked, FRAMES - UNMARKED);
	rte_pktmbuf_free_bulk(got, FRAMES);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

static void
a_fault_for_which_there_is_no_buffer_is_left_out_and_counted(void **state)
{
	static struct rte_mbuf *all[LAB_BUFFERS];
	struct cable cable = {0};
	struct rte_mbuf *packet = ip_frame(4, 0, 2);
	struct rte_mbuf *got;
	struct plx_net_wire_counters counters;
	uint8_t before[BYTES];

	(void)state;
	cable_open(&cable, 0, ",corrupt=1,mark=1,duplicate=1", pool);
	memcpy(before, rte_pktmbuf_mtod(packet, uint8_t *), BYTES);
	rte_mbuf_refcnt_update(packet, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, all, LAB_BUFFERS - 1), 0);
	got = pass(&cable, packet);
	assert_ptr_equal(got, packet);
	assert_memory_equal(before, rte_pktmbuf_mtod(got, uint8_t *), BYTES);
	rte_pktmbuf_free(got);
	counters = cable_counters(&cable);
	assert_int_equal(counters.no_buffer, 3);
	assert_int_equal(counters.corrupted + counters.marked + counters.duplicated, 0);
	rte_pktmbuf_free_bulk(all, LAB_BUFFERS - 1);
	rte_pktmbuf_free(packet);
	cable_close(&cable, 0);
	lab_pool_is_whole(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_ect_is_marked_and_the_checksum_follows),
		cmocka_unit_test(the_checksum_follows_from_any_value),
		cmocka_unit_test(what_is_not_ip_is_not_marked),
		cmocka_unit_test(marks_come_as_often_as_asked),
		cmocka_unit_test(one_bit_behind_the_ethernet_header_is_flipped),
		cmocka_unit_test(a_packet_without_a_body_is_left_alone),
		cmocka_unit_test(a_shared_packet_is_copied_before_it_is_damaged),
		cmocka_unit_test(an_external_buffer_is_copied_before_it_is_damaged),
		cmocka_unit_test(what_waits_long_for_the_wire_is_marked),
		cmocka_unit_test(a_fault_for_which_there_is_no_buffer_is_left_out_and_counted),
	};

	lab_start(NULL);
	pool = lab_pool(LAB_ROOM);
	return lab_stop(cmocka_run_group_tests(tests, NULL, NULL));
}
