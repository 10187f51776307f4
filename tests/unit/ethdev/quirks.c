/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of quirks: which row a driver and a name find, and the limits that arguments set.
 * Start anywhere.
 */
#include <string.h>

#include "lab.h"
#include "quirks.h"

static const struct quirk *
row(const char *driver)
{
	const struct quirk *quirk = quirk_of(driver);

	assert_string_equal(quirk->driver, driver);
	return quirk;
}

static void
a_driver_without_a_row_does_as_it_says(void **state)
{
	static const char *const plain[] = {"mlx5_pci", "net_ice", "net_memi", "net_memiff", ""};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(plain); i++) {
		assert_string_equal(quirk_of(plain[i])->driver, "");
		assert_null(quirk_of(plain[i])->limit);
		assert_null(quirk_of(plain[i])->stays);
		assert_true(quirk_of(plain[i])->segments);
		assert_false(quirk_of(plain[i])->tx_lost_on_exit);
		assert_false(quirk_of(plain[i])->mtu_unset);
		assert_int_equal(quirk_of(plain[i])->queues, 0);
	}
}

static void
a_name_finds_the_row_of_its_driver(void **state)
{
	static const char *const memif[] = {"net_memif", "net_memif0", "net_memif17,bsize=1",
					    "net_memif_a"};
	static const char *const plain[] = {"net_memi0", "net_memiff0", "0000:3b:00.0", "mem",
					    "net_ringer"};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(memif); i++)
		assert_ptr_equal(quirk_of_name(memif[i]), row("net_memif"));
	for (size_t i = 0; i < PLX_COUNT_OF(plain); i++)
		assert_string_equal(quirk_of_name(plain[i])->driver, "");
}

static void
arguments_set_the_limit(void **state)
{
	static const struct {
		const char *driver, *args;
		uint32_t bytes;
	} limits[] = {
		{"net_memif", "", 2048},
		{"net_memif", "role=server,bsize=4608", 4608},
		{"net_memif", "bsize=4608,role=server,id=3", 4608},
		{"net_memif", "bsize=", 2048},
		{"net_memif", "bsize=big", 2048},
		{"net_memif", "bsize=4294967296", 2048},
		{"net_af_packet", "", 2048 - 66},
		{"net_af_packet", "iface=plxnone,framesz=4352", 4352 - 66},
		{"net_af_packet", "iface=lo,framesz=70000", 65536 + 14},
		{"net_af_packet", "framesz=66", 0},
		{"net_af_packet", "framesz=1", 0},
		{"net_tap", "iface=t0", 1514},
		{"net_ring", "", UINT16_MAX},
		{"net_null", "size=9000", UINT16_MAX},
		{"net_vhost", "iface=x", UINT16_MAX},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(limits); i++) {
		struct frame_limit limit = row(limits[i].driver)->limit(limits[i].args);

		assert_int_equal(limit.bytes, limits[i].bytes);
		assert_true(strlen(limit.cure) > 10);
	}
}

static void
what_is_not_a_number_is_missing(void **state)
{
	(void)state;
	assert_int_equal(argument_number("a=12,b=7", "a", 1), 12);
	assert_int_equal(argument_number("a=12,b=7", "b", 1), 7);
	assert_int_equal(argument_number("a=12,b=7", "c", 1), 1);
	assert_int_equal(argument_number("a=1x", "a", 5), 5);
	assert_int_equal(argument_number("a", "a", 5), 5);
	assert_int_equal(argument_number("a=123456789012345678901234567890", "a", 5), 5);
	assert_int_equal(argument_number("", "a", 5), 5);
}

static void
a_memif_server_stays_and_a_ring_of_anothers(void **state)
{
	(void)state;
	assert_true(row("net_memif")->stays("role=server", true));
	assert_true(row("net_memif")->stays("id=1,role=master", false));
	assert_false(row("net_memif")->stays("role=client", true));
	assert_false(row("net_memif")->stays("", true));
	assert_true(row("net_ring")->stays("", false));
	assert_false(row("net_ring")->stays("", true));
	assert_false(row("net_af_xdp")->segments);
	assert_true(row("net_memif")->tx_lost_on_exit);
	assert_false(row("net_af_packet")->tx_lost_on_exit);
	assert_false(row("net_ring")->tx_lost_on_exit);
}

/* It reports two: a row of make interop shows that it is refused with more than one engine. */
static void
an_e1000_has_one_pair_of_queues(void **state)
{
	(void)state;
	assert_int_equal(row("net_e1000_em")->queues, 1);
	assert_null(row("net_e1000_em")->limit);
	assert_true(row("net_e1000_em")->segments);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_without_a_row_does_as_it_says),
		cmocka_unit_test(a_name_finds_the_row_of_its_driver),
		cmocka_unit_test(arguments_set_the_limit),
		cmocka_unit_test(what_is_not_a_number_is_missing),
		cmocka_unit_test(a_memif_server_stays_and_a_ring_of_anothers),
		cmocka_unit_test(an_e1000_has_one_pair_of_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
