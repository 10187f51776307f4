/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles on their own: which addresses they can be created for, and how many can exist.
 * Start anywhere.
 */
#include "verbs_pair.h"

#include <string.h>

static void
handles_to_nowhere_are_refused_with_a_sentence(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_ah_options good = {.remote = pair_ip(2)};
	struct plx_ah_options bad;
	struct plx_why why = {""};
	struct plx_ah *ah = NULL;

	(void)state;
#define REFUSED(field, value, status, word)                                           \
	do {                                                                          \
		bad = good;                                                           \
		bad.field = value;                                                    \
		assert_int_equal(plx_ah_create(pair->a.pd, &bad, &ah, &why), status); \
		if (!strstr(why.text, word))                                          \
			fail_msg("\"%s\" does not say \"%s\"", why.text, word);       \
		assert_null(ah);                                                      \
	} while (0)
	REFUSED(remote.version, 0, PLX_INVALID, "version 0");
	REFUSED(remote.version, 5, PLX_INVALID, "version 5");
	REFUSED(remote.v[0], 11, PLX_UNREACHABLE, "11.77.");
	REFUSED(remote.v[3], 255, PLX_UNREACHABLE, "one station"); /* the network's broadcast */
	REFUSED(local, pair_ip(2), PLX_INVALID, "adapter");
	REFUSED(local, pair_ip6(1), PLX_INVALID, "same version");
	REFUSED(dscp, 64, PLX_INVALID, "dscp is 64");
#undef REFUSED
	pair_close(pair);
}

static void
handles_are_limited_and_hold_their_domain(void **state)
{
	static struct plx_ah *ah[5000];
	struct pair *pair = pair_open(NULL);
	const struct plx_ah_options options = {.remote = pair_ip(2), .local = pair_ip(1)};
	struct plx_why why = {""};
	enum plx_status status;
	uint32_t n = 0;

	(void)state;
	while ((status = plx_ah_create(pair->a.pd, &options, &ah[n], &why)) == PLX_OK)
		n++;
	assert_int_equal(status, PLX_FULL);
	assert_non_null(strstr(why.text, "4096"));
	assert_int_equal(n, 4096);
	assert_int_equal(plx_pd_destroy(pair->a.pd), PLX_BUSY);
	while (n > 0)
		assert_int_equal(plx_ah_destroy(ah[--n]), PLX_OK);
	assert_int_equal(plx_ah_create(pair->a.pd, &options, &ah[0], &why), PLX_OK);
	assert_int_equal(plx_ah_destroy(ah[0]), PLX_OK);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(handles_to_nowhere_are_refused_with_a_sentence),
		PAIR_TEST(handles_are_limited_and_hold_their_domain),
	};

	return pair_run_all("ah", tests, sizeof(tests) / sizeof(tests[0]));
}
