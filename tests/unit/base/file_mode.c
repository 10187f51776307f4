/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Modes of files as users write them. Start with a_mode_is_octal_and_the_owners_at_least().
 */
#include "test.h"

#include "plx_file_mode.h"

static void
a_mode_is_octal_and_the_owners_at_least(void **state)
{
	static const char *const none[] = {"",      "0888",  "0577",          "1777",  "0x1ff",
					   "-0600", " 0600", "0600 ",         "0600x", "rw",
					   "01000", "0599",  "0000000000600f"};

	(void)state;
	assert_int_equal(plx_file_mode_read("0600"), 0600);
	assert_int_equal(plx_file_mode_read("666"), 0666);
	assert_int_equal(plx_file_mode_read("00777"), 0777);
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++)
		assert_int_equal(plx_file_mode_read(none[i]), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mode_is_octal_and_the_owners_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
