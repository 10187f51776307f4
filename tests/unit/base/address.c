/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IP addresses: their canonical form, equality and prefixes; and the sizes of the tables that hold
 * them.
 * Start anywhere.
 */
#include "test.h"
#include "plx_base.h"

static void
a_canonical_ipv4_address_has_zeros_behind_it(void **state)
{
	struct plx_ip ip = {.version = 4}, canonical;

	(void)state;
	memset(ip.v, 0xaa, sizeof ip.v);
	canonical = plx_ip_canonical(&ip);
	assert_int_equal(canonical.version, 4);
	for (size_t i = 0; i < sizeof canonical.v; i++)
		assert_int_equal(canonical.v[i], i < 4 ? 0xaa : 0);
	assert_false(plx_ip_equal(&ip, &canonical));
	assert_true(plx_ip_same_prefix(&ip, &canonical, plx_ip_bits(&ip)));
	ip.version = 6;
	canonical = plx_ip_canonical(&ip);
	assert_true(plx_ip_equal(&ip, &canonical));
}

static void
addresses_of_two_versions_are_never_equal(void **state)
{
	const struct plx_ip v4 = {.version = 4}, v6 = {.version = 6};

	(void)state;
	assert_false(plx_ip_equal(&v4, &v6));
	assert_false(plx_ip_same_prefix(&v4, &v6, 0));
	assert_true(plx_ip_same_prefix(&v6, &v6, 0));
}

static void
a_prefix_ends_before_the_first_bit_that_differs(void **state)
{
	const struct plx_ip zero = {.version = 6};

	(void)state;
	for (uint32_t differs = 0; differs < 128; differs++) {
		struct plx_ip other = zero;

		other.v[differs / 8] = (uint8_t)(0x80u >> differs % 8);
		assert_false(plx_ip_equal(&zero, &other));
		for (uint32_t bits = 0; bits <= 128; bits++)
			assert_int_equal(plx_ip_same_prefix(&zero, &other, bits), bits <= differs);
	}
}

static void
a_table_size_is_the_next_power_of_two(void **state)
{
	(void)state;
	assert_int_equal(plx_power_of_two(0), 1);
	for (uint32_t shift = 0; shift < 31; shift++) {
		uint32_t power = 1u << shift;

		assert_int_equal(plx_power_of_two(power), power);
		assert_int_equal(plx_power_of_two(power + 1), 2 * power);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_canonical_ipv4_address_has_zeros_behind_it),
		cmocka_unit_test(addresses_of_two_versions_are_never_equal),
		cmocka_unit_test(a_prefix_ends_before_the_first_bit_that_differs),
		cmocka_unit_test(a_table_size_is_the_next_power_of_two),
	};

	return cmocka_run_group_tests_name("base/address", tests, NULL, NULL);
}
