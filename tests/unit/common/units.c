/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes, durations and addresses as people write them, and what a peer sends as text and numbers.
 * Start with main().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "numbers.h"
#include "plx_base.h"
#include "units.h"

static void
sizes_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"1", 1},
		    {"64", 64},
		    {"4K", 4096},
		    {"4k", 4096},
		    {"1M", 1 << 20},
		    {"1G", 1 << 30},
		    {"64KiB", 64 << 10},
		    {"0", 0},
		    {"4294967296", UINT64_C(1) << 32}};
	static const char *const bad[] = {"",   "K",   "-1",   "1T",  "1KB",        "1.5K",
					  " 1", "1 K", "0x10", "1KK", "9999999999G"};
	uint64_t bytes;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(good); i++) {
		assert_true(parse_bytes(good[i].text, &bytes));
		assert_int_equal(bytes, good[i].bytes);
	}
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_bytes(bad[i], &bytes));
}

static void
durations_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint32_t ms;
	} good[] = {{"2s", 2000}, {"2", 2000}, {"500ms", 500}, {"0.25s", 250}, {"3600s", 3600000}};
	static const char *const bad[] = {"", "s", "-1s", "2m", "3601s", "nan", "1e99"};
	uint32_t ms;
	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(good); i++) {
		assert_true(parse_duration_ms(good[i].text, &ms));
		assert_int_equal(ms, good[i].ms);
	}
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_duration_ms(bad[i], &ms));
}

static void
addresses_come_with_a_prefix(void **state)
{
	static const char *const bad[] = {"10.0.0.1",    "10.0.0.1/",
					  "10.0.0.1/0",  "10.0.0.1/33",
					  "10.0.0/8",    "fd77::1/129",
					  "fd77::1/64x", "/24",
					  "10.0.0.1/+8", "10.0.0.1/99999999999999999999"};
	struct plx_ip ip;
	uint8_t bits;
	char text[64];
	(void)state;
	assert_true(parse_address("10.77.0.1/24", &ip, &bits));
	assert_int_equal(ip.version, 4);
	assert_int_equal(bits, 24);
	assert_string_equal(ip_text(&ip, text, sizeof(text)), "10.77.0.1");
	assert_true(parse_address("fd77::1/64", &ip, &bits));
	assert_int_equal(ip.version, 6);
	assert_string_equal(ip_text(&ip, text, sizeof(text)), "fd77::1");
	for (uint32_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_false(parse_address(bad[i], &ip, &bits));
}

static void
numbers_travel_with_their_highest_byte_first(void **state)
{
	uint8_t bytes[8] = {0};
	(void)state;
	number_put(bytes, UINT64_C(0x1122334455667788), 8);
	assert_memory_equal(bytes, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	assert_int_equal(number_get(bytes, 8), UINT64_C(0x1122334455667788));
	assert_int_equal(number_get(bytes + 6, 1), 0x77);
	/* what does not fit is cut */
	number_put(bytes, UINT64_C(0xaabbccdd), 2);
	assert_int_equal(number_get(bytes, 4), 0xccdd3344);
}

static void
of_a_peers_words_what_is_printable_is_shown(void **state)
{
	static const uint8_t said[] = "no\n \x1b[31mroom\xff\x7f!";
	char text[16], small[4];
	(void)state;
	assert_string_equal(printable_text(said, sizeof(said), text, sizeof(text)), "no [31mroom!");
	assert_string_equal(printable_text(said, sizeof(said), small, sizeof(small)), "no ");
	assert_string_equal(printable_text(said, 0, text, sizeof(text)), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read_as_people_write_them),
		cmocka_unit_test(durations_are_read_as_people_write_them),
		cmocka_unit_test(addresses_come_with_a_prefix),
		cmocka_unit_test(numbers_travel_with_their_highest_byte_first),
		cmocka_unit_test(of_a_peers_words_what_is_printable_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
