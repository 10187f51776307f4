/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ICRC: two implementations and a third, bit by bit and in this file only, must agree on every
 * length and alignment; which bits count; and that nothing outside the packet is read. The portable
 * path always runs; without AVX-512 the test reports that it left out the other half.
 */
#include "test.h"
#include "plx_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	LENGTH_MAX = 9000,
	ALIGNMENTS = 64,
};

static uint8_t packets[2][LENGTH_MAX]; /* IPv4, IPv6 */
static uint32_t expected[2][LENGTH_MAX + 1];

/* Which bits are read as ones: IBTA Annex A17, typed in again. */
static uint8_t
masked_bits(bool v6, size_t at)
{
	static const uint8_t v4_bytes[] = {1, 8, 10, 11, 26, 27, 32};
	static const uint8_t v6_bytes[] = {1, 2, 3, 7, 46, 47, 52};
	const uint8_t *bytes = v6 ? v6_bytes : v4_bytes;

	for (size_t i = 0; i < sizeof v4_bytes; i++)
		if (bytes[i] == at)
			return 0xff;
	return v6 && at == 0 ? 0x0f : 0;
}

static uint32_t
crc_step(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	return crc;
}

/* The reference; the CRC of each length is a step on from the one before. */
static void
reference(const uint8_t *packet, size_t len, uint32_t *icrcs)
{
	uint32_t crc = 0xffffffff;
	bool v6 = packet[0] >> 4 == 6;

	for (int i = 0; i < 8; i++)
		crc = crc_step(crc, 0xff);
	icrcs[0] = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc = crc_step(crc, packet[i] | masked_bits(v6, i));
		icrcs[i + 1] = ~crc;
	}
}

static int
setup(void **state)
{
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 4);
	for (int v6 = 0; v6 < 2; v6++) {
		for (size_t i = 0; i < LENGTH_MAX; i++)
			packets[v6][i] = (uint8_t)plx_prng_next(&prng);
		packets[v6][0] = v6 ? 0x61 : 0x45;
		reference(packets[v6], LENGTH_MAX, expected[v6]);
	}
	return 0;
}

static bool
onepass_or_say_so(void)
{
	if (!plx_icrc_has_onepass())
		print_message(
			"NOT RUN: this CPU has no VPCLMULQDQ, the one-pass ICRC is untested\n");
	return plx_icrc_has_onepass();
}

static void
agree_on_every_length_and_alignment(plx_icrc_fn icrc)
{
	for (size_t len = 0; len <= LENGTH_MAX; len++) {
		for (size_t shift = 0; shift < ALIGNMENTS; shift++) {
			void *block;
			uint8_t *ip;

			/* It ends where the packet ends: a sanitizer sees one byte too many. */
			assert_int_equal(posix_memalign(&block, 64, shift + len ? shift + len : 1),
					 0);
			ip = (uint8_t *)block + shift;
			for (int v6 = 0; v6 < 2; v6++) {
				memcpy(ip, packets[v6], len);
				if (icrc(ip, len) != expected[v6][len])
					fail_msg("IPv%d, %zu bytes, shifted by %zu", v6 ? 6 : 4,
						 len, shift);
			}
			free(block);
		}
	}
}

static void
isal_agrees_with_the_reference_on_every_length_and_alignment(void **state)
{
	(void)state;
	agree_on_every_length_and_alignment(plx_icrc_isal);
}

static void
onepass_agrees_with_the_reference_on_every_length_and_alignment(void **state)
{
	(void)state;
	if (!onepass_or_say_so())
		skip();
	agree_on_every_length_and_alignment(plx_icrc_onepass);
}

/* A packet beside inaccessible pages, at its end, then at its start. */
static void
read_nothing_outside(plx_icrc_fn icrc)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t inside = (LENGTH_MAX + page - 1) / page * page;
	uint8_t *map = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, inside, PROT_READ | PROT_WRITE), 0);
	for (size_t len = 0; len <= LENGTH_MAX; len += len < 600 ? 1 : 97) {
		for (int v6 = 0; v6 < 2; v6++) {
			uint8_t *first = map + page;
			uint8_t *last = map + page + inside - len;

			memcpy(last, packets[v6], len);
			assert_int_equal(icrc(last, len), expected[v6][len]);
			memcpy(first, packets[v6], len);
			assert_int_equal(icrc(first, len), expected[v6][len]);
		}
	}
	munmap(map, inside + 2 * page);
}

static void
neither_implementation_reads_a_byte_outside_the_packet(void **state)
{
	(void)state;
	read_nothing_outside(plx_icrc_isal);
	if (onepass_or_say_so())
		read_nothing_outside(plx_icrc_onepass);
}

static void
check_masks(plx_icrc_fn icrc)
{
	for (int v6 = 0; v6 < 2; v6++) {
		uint8_t ip[300];

		memcpy(ip, packets[v6], sizeof ip);
		/* The version's bits choose the mask and are left alone. */
		for (size_t bit = 0; bit < sizeof ip * 8; bit++) {
			uint8_t flip = (uint8_t)(1u << bit % 8);
			bool masked = masked_bits(v6, bit / 8) & flip;

			if (bit >= 4 && bit < 8)
				continue;
			ip[bit / 8] ^= flip;
			assert_int_equal(icrc(ip, sizeof ip) == expected[v6][sizeof ip], masked);
			ip[bit / 8] ^= flip;
		}
	}
}

static void
exactly_the_fields_a_router_may_change_do_not_count(void **state)
{
	(void)state;
	check_masks(plx_icrc_isal);
	if (onepass_or_say_so())
		check_masks(plx_icrc_onepass);
}

static void
masks_of_a_version_that_is_neither_are_those_of_ipv4(void **state)
{
	(void)state;
	for (unsigned nibble = 0; nibble < 16; nibble++) {
		uint8_t ip[LENGTH_MAX];
		uint32_t icrcs[LENGTH_MAX + 1];

		memcpy(ip, packets[0], sizeof ip);
		ip[0] = (uint8_t)(nibble << 4 | 5);
		reference(ip, 200, icrcs);
		assert_int_equal(plx_icrc_isal(ip, 200), icrcs[200]);
		if (plx_icrc_has_onepass())
			assert_int_equal(plx_icrc_onepass(ip, 200), icrcs[200]);
	}
}

/* An ACK and a FETCH_ADD that two Linux machines exchanged: tests/captures has the rest. */
static void
icrcs_of_captured_packets_are_known(void **state)
{
	static const uint8_t ack[] = {
		0x45, 0x00, 0x00, 0x30, 0x7d, 0x82, 0x40, 0x00, 0x40, 0x11, 0xa8, 0x9e,
		0x0a, 0x4d, 0x00, 0x01, 0x0a, 0x4d, 0x00, 0x02, 0xc6, 0x37, 0x12, 0xb7,
		0x00, 0x1c, 0x00, 0x00, 0x11, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x2b,
		0x00, 0x57, 0xff, 0x4e, 0x1f, 0x00, 0x00, 0x01, 0x95, 0x9c, 0xd2, 0xf4,
	};
	static const uint8_t fetch_add[] = {
		0x60, 0x00, 0x00, 0x00, 0x00, 0x34, 0x11, 0x40, 0xfd, 0x77, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xfd, 0x77, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xc7, 0x30,
		0x12, 0xb7, 0x00, 0x34, 0x00, 0x00, 0x14, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x28,
		0x80, 0x90, 0x72, 0xe3, 0x00, 0x00, 0x55, 0x8b, 0xad, 0x73, 0x80, 0x00, 0x00, 0x00,
		0x23, 0xbb, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x9c, 0xcf, 0xa8, 0x99,
	};

	(void)state;
	assert_int_equal(plx_icrc_isal(ack, sizeof ack - 4), 0xf4d29c95);
	assert_int_equal(plx_icrc_isal(fetch_add, sizeof fetch_add - 4), 0x99a8cf9c);
	if (!onepass_or_say_so())
		return;
	assert_int_equal(plx_icrc_onepass(ack, sizeof ack - 4), 0xf4d29c95);
	assert_int_equal(plx_icrc_onepass(fetch_add, sizeof fetch_add - 4), 0x99a8cf9c);
}

static void
an_icrc_travels_low_byte_first(void **state)
{
	uint8_t wire[PLX_ICRC_BYTES];

	(void)state;
	plx_icrc_store(0xf4d29c95, wire);
	assert_memory_equal(wire, "\x95\x9c\xd2\xf4", 4);
	assert_int_equal(plx_icrc_load(wire), 0xf4d29c95);
}

static void
the_fastest_that_this_cpu_has_is_chosen(void **state)
{
	(void)state;
	assert_true(plx_icrc_choose() ==
		    (plx_icrc_has_onepass() ? plx_icrc_onepass : plx_icrc_isal));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isal_agrees_with_the_reference_on_every_length_and_alignment),
		cmocka_unit_test(onepass_agrees_with_the_reference_on_every_length_and_alignment),
		cmocka_unit_test(neither_implementation_reads_a_byte_outside_the_packet),
		cmocka_unit_test(exactly_the_fields_a_router_may_change_do_not_count),
		cmocka_unit_test(masks_of_a_version_that_is_neither_are_those_of_ipv4),
		cmocka_unit_test(icrcs_of_captured_packets_are_known),
		cmocka_unit_test(an_icrc_travels_low_byte_first),
		cmocka_unit_test(the_fastest_that_this_cpu_has_is_chosen),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
