/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last Release of an adapter, over a slow wire that loses three frames in a hundred: when it
 * returns the peers know, however many retransmissions that took (docs/nd2.md, Lives). Exits are in
 * exits.c.
 */
#include "nd2_pair.h"

enum {
	PAIRS = 64,
};

static const char *const device[2] = {",loss=0.03,delay_us=20000,seed=7",
				      ",loss=0.03,delay_us=20000,seed=8"};
static const char *const settings[2] = {"worker = \"nd\"; idle = \"yield\"; packets = 8192;",
					"worker = \"nd\"; idle = \"yield\"; packets = 8192;"};

static void
join_all(struct nd_pair *pair[PAIRS], void **state)
{
	for (int i = 0; i < PAIRS; i++)
		pair[i] = nd_pair_bound(state, NULL);
	nd_pair_establish_all(pair, PAIRS);
	for (int i = 0; i < PAIRS; i++)
		nd_send(&pair[i]->a, 1, 0, 0, 0);
	for (int i = 0; i < PAIRS; i++) {
		nd_receive(&pair[i]->b, 2, 0, 64);
		assert_hr(nd_wait(&pair[i]->accepted), ND_SUCCESS);
	}
}

/* @param by_call each disconnects first, and waits for nothing; else it is released as it is */
static void
leave_all(void **state, bool by_call)
{
	static OVERLAPPED told[PAIRS];
	struct nd_pair *pair[PAIRS];
	int late = 0;

	join_all(pair, state);
	for (int i = 0; i < PAIRS; i++) {
		told[i] = (OVERLAPPED){0};
		assert_hr(IND2Connector_NotifyDisconnect(pair[i]->b.connector, &told[i]),
			  ND_PENDING);
	}
	for (int i = 0; by_call && i < PAIRS; i++)
		assert_hr(IND2Connector_Disconnect(pair[i]->a.connector, &pair[i]->left),
			  ND_PENDING);
	for (int i = 0; i < PAIRS; i++)
		nd_side_close(&pair[i]->a);
	/* a message that has arrived may still be in the peer's threads */
	nd_settle();
	for (int i = 0; i < PAIRS; i++)
		late += nd_status(&told[i]) != ND_SUCCESS;
	assert_int_equal(late, 0);
	for (int i = 0; i < PAIRS; i++)
		nd_pair_close(pair[i]);
}

static void
A06_the_last_release_waits_until_peers_have_heard_of_disconnects(void **state)
{
	leave_all(state, true);
}

static void
A06_the_last_release_waits_until_peers_have_heard_of_releases(void **state)
{
	leave_all(state, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A06_the_last_release_waits_until_peers_have_heard_of_disconnects),
		ND_FAMILY_TESTS(A06_the_last_release_waits_until_peers_have_heard_of_releases),
	};

	nd_start(nd_link(device, settings));
	return nd_run("linger", tests, sizeof(tests) / sizeof(tests[0]));
}
