/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which connections go over RDMA. Start with the_first_that_fits_says_it().
 */
#include "test.h"

#include "plx_base.h"
#include "plx_san_rules.h"

#define V4(a, b, c, d)                                   \
	{                                                \
		.version = 4, .v = {(a), (b), (c), (d) } \
	}

static void
the_first_that_fits_says_it(void **state)
{
	static const struct plx_san_rule rules[] = {
		{.ip = V4(10, 77, 1, 0), .bits = 24, .first = 80, .last = 80, .rdma = false},
		{.ip = V4(10, 77, 0, 0), .bits = 16, .first = 80, .last = 443, .rdma = true},
		{.ip = {.version = 6, .v = {0xfd, 0x77}},
		 .bits = 13,
		 .first = 1,
		 .last = 65535,
		 .rdma = true},
		{.first = 6379, .last = 6379, .rdma = true},
	};
	static const struct {
		struct plx_ip ip;
		uint16_t port;
		bool rdma;
	} cases[] = {
		{V4(10, 77, 1, 9), 80, false},
		{V4(10, 77, 1, 9), 81, true},
		{V4(10, 77, 2, 9), 80, true},
		{V4(10, 77, 2, 9), 79, false},
		{V4(10, 77, 2, 9), 443, true},
		{V4(10, 77, 2, 9), 444, false},
		{V4(10, 76, 2, 9), 80, false},
		/* 13 bits: 0x70 to 0x77 */
		{{.version = 6, .v = {0xfd, 0x70}}, 9, true},
		{{.version = 6, .v = {0xfd, 0x7f}}, 9, false},
		{{.version = 6, .v = {0xfd, 0x6f}}, 9, false},
		/* an IPv4 address is no prefix of IPv6 */
		{{.version = 6, .v = {10, 77, 2, 9}}, 80, false},
		/* any address */
		{V4(192, 0, 2, 1), 6379, true},
		{{.version = 6, .v = {0x20, 1}}, 6379, true},
		{V4(192, 0, 2, 1), 6380, false},
	};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(cases); i++)
		if (plx_san_rules_say_rdma(rules, PLX_COUNT_OF(rules), &cases[i].ip,
					   cases[i].port) != cases[i].rdma)
			fail_msg("case %u", i);
}

static void
without_a_rule_it_is_tcp(void **state)
{
	const struct plx_ip ip = V4(10, 77, 0, 1);

	(void)state;
	assert_false(plx_san_rules_say_rdma(NULL, 0, &ip, 80));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_fits_says_it),
		cmocka_unit_test(without_a_rule_it_is_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
