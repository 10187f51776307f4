/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections that go as they should: what each side is told, what was agreed, both versions of IP,
 * both ends at one host. It never loses anything: loss.c does.
 * Start with two_hosts_connect_and_disconnect().
 */
#include "pair.h"

#include <string.h>

static void
dialogue(uint8_t version)
{
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_view view;
	struct pair pair;

	pair_open_with(&pair, 64, 64, version);
	pair_establish(&pair, ids);
	pair_wait(&pair, 1000 * PLX_SEC);
	assert_int_equal(pair.logged, 0);
	plx_cm_query(pair.cm[BOB], &view);
	assert_int_equal(view.connections, 1);
	assert_int_equal(view.half_open, 0);
	assert_int_equal(plx_cm_disconnect(pair.cm[ALICE], ids[ALICE], pair.now), PLX_OK);
	pair_carry(&pair);
	assert_int_equal(pair.logged, 2);
	assert_int_equal(pair_expect(&pair, BOB, PLX_CM_EVENT_DISCONNECTED)->id.v, ids[BOB].v);
	assert_int_equal(pair.event.context, CONTEXT_BOB);
	assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_CLOSED)->id.v, ids[ALICE].v);
	assert_int_equal(pair.event.context, CONTEXT_ALICE);
	plx_cm_query(pair.cm[BOB], &view);
	assert_int_equal(view.connections, 0);
	assert_int_equal(view.time_wait, 1);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

static void
two_hosts_connect_and_disconnect(void **state)
{
	(void)state;
	dialogue(4);
	dialogue(6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_connect_and_disconnect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
