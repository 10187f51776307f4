/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupt moderation: every combination of settings against the contract's table, and when a
 * callback is due under each. Start with x1_every_setting_is_what_the_contract_says().
 */
#include <ntstatus.h>

#include "test.h"
#include "moderation.h"

#include "plx_base.h"

enum {
	DEPTH = 100,
};

/* What decides, for each interval and count. */
static void
x1_every_setting_is_what_the_contract_says(void **state)
{
	static const ULONG intervals[] = {0, 1, 50, MAXULONG - 1, MAXULONG};
	static const ULONG counts[] = {0, 1, 2, DEPTH, DEPTH + 1, MAXULONG};
	/* rows: interval; N: nothing waits, B: both decide, I: the interval, C: the count, X:
	 * refused */
	static const char table[5][7] = {"NNNNNN", "NNBBII", "NNBBII", "NNBBII", "NNCCXX"};
	uint32_t compared = 0;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t c = 0; c < 6; c++) {
			struct ndk_moderation is = {7, 7};
			NTSTATUS status = ndk_moderation_set(&is, intervals[i], counts[c], DEPTH);
			uint64_t ns = intervals[i] * PLX_USEC;

			compared++;
			if (table[i][c] == 'X') {
				assert_int_equal(status, STATUS_INVALID_PARAMETER_MIX);
				assert_true(is.interval_ns == 7 && is.count == 7);
				continue;
			}
			assert_int_equal(status, STATUS_SUCCESS);
			if (table[i][c] == 'N')
				ns = 0;
			else if (table[i][c] == 'C')
				ns = PLX_NEVER;
			assert_true(is.interval_ns == ns);
			assert_int_equal(is.count,
					 table[i][c] == 'B' || table[i][c] == 'C' ? counts[c] : 0);
		}
	assert_int_equal(compared, 30);
}

static uint64_t
due(ULONG interval_us, ULONG count, uint64_t completions)
{
	struct ndk_moderation moderation;

	assert_int_equal(ndk_moderation_set(&moderation, interval_us, count, DEPTH),
			 STATUS_SUCCESS);
	return ndk_moderation_due_ns(&moderation, 1000, completions);
}

static void
without_moderation_a_callback_is_due_at_once(void **state)
{
	const struct ndk_moderation none = {0};

	(void)state;
	assert_true(ndk_moderation_due_ns(&none, 1000, 1) == 1000);
	assert_true(due(0, 50, 1) == 1000);
	assert_true(due(50, 1, 1) == 1000);
	assert_true(due(50, 0, 0) == 1000); /* of an error: nothing has come */
}

static void
the_first_of_interval_and_count_decides(void **state)
{
	(void)state;
	assert_true(due(50, 3, 2) == 1000 + 50 * PLX_USEC);
	assert_true(due(50, 3, 3) == 1000);
	assert_true(due(50, 3, 4) == 1000);
	assert_true(due(50, DEPTH + 1, DEPTH) == 1000 + 50 * PLX_USEC);
	assert_true(due(MAXULONG, 3, 2) == PLX_NEVER);
	assert_true(due(MAXULONG, 3, 3) == 1000);
}

static void
time_does_not_wrap(void **state)
{
	struct ndk_moderation moderation;

	(void)state;
	assert_int_equal(ndk_moderation_set(&moderation, 50, 3, DEPTH), STATUS_SUCCESS);
	assert_true(ndk_moderation_due_ns(&moderation, PLX_NEVER - 1, 1) == PLX_NEVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x1_every_setting_is_what_the_contract_says),
		cmocka_unit_test(without_moderation_a_callback_is_due_at_once),
		cmocka_unit_test(the_first_of_interval_and_count_decides),
		cmocka_unit_test(time_does_not_wrap),
	};

	return cmocka_run_group_tests_name("moderation", tests, NULL, NULL);
}
