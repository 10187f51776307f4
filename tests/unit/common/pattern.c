/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of --check: right ones pass, and every single wrong, stale or misplaced one is found.
 * Start with every_wrong_byte_is_found_where_it_is().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "pattern.h"

enum {
	SIZE = 300
};

static uint8_t bytes[SIZE + 8];

static void
what_was_written_is_right_and_nothing_behind_it_is_touched(void **state)
{
	(void)state;
	for (uint32_t size = 1; size <= SIZE; size++) {
		memset(bytes, 0x5a, sizeof(bytes));
		pattern_write(bytes, size, 3, size);
		assert_int_equal(pattern_check(bytes, size, 3, size), size);
		for (uint32_t i = size; i < size + 8; i++)
			assert_int_equal(bytes[i], 0x5a);
	}
}

static void
every_wrong_byte_is_found_where_it_is(void **state)
{
	(void)state;
	for (uint32_t size = 1; size <= SIZE; size += 7) {
		pattern_write(bytes, size, 0, 9);
		for (uint32_t at = 0; at < size; at++) {
			bytes[at] ^= 1;
			assert_int_equal(pattern_check(bytes, size, 0, 9), at);
			bytes[at] ^= 1;
		}
	}
}

/* How many bytes two patterns have in common: by chance one in 256; four are still few. */
static uint32_t
common(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	uint32_t same = 0;
	for (uint32_t i = 0; i < n; i++)
		same += a[i] == b[i];
	return same;
}

static void
other_messages_streams_and_offsets_have_other_bytes(void **state)
{
	static uint8_t one[65536], other[65536];
	static const struct {
		uint32_t stream;
		uint64_t message;
	} others[] = {{0, 101}, {0, 99}, {1, 100}, {0, 0}, {0, UINT64_C(1) << 32}, {1 << 16, 100}};
	(void)state;
	pattern_write(one, sizeof(one), 0, 100);
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		pattern_write(other, sizeof(other), others[i].stream, others[i].message);
		assert_in_range(common(one, other, sizeof(one)), 0, 4 * sizeof(one) / 256);
	}
	for (uint32_t shift = 1; shift <= 32768; shift *= 2)
		assert_in_range(common(one, one + shift, 32768), 0, 4 * 32768 / 256);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_right_and_nothing_behind_it_is_touched),
		cmocka_unit_test(every_wrong_byte_is_found_where_it_is),
		cmocka_unit_test(other_messages_streams_and_offsets_have_other_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
