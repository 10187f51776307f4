/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long one side waits for the other: for a receive (A29), and for a program that takes a minute
 * to decide (docs/nd2.md, Connections). Start with A29_a_message_without_a_receive().
 */
#include "nd2_pair.h"

#include <stdlib.h>

enum {
	LEAST_MS = 500,
	MOST_MS = 10000,
	GAP_MS = 300,
	THINKS_MS = 65 * 1000,
	THINKERS = 4,
};

static void
A29_a_message_without_a_receive(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	OVERLAPPED told_a = {0}, told_b = {0};
	uint64_t sent = test_ms();

	assert_hr(IND2Connector_NotifyDisconnect(pair->a.connector, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(pair->b.connector, &told_b), ND_PENDING);
	nd_send(&pair->a, 1, 0, 64, 0);
	nd_send(&pair->a, 2, 0, 64, 0);
	nd_expect(pair->a.initiator_cq, 1, ND_IO_TIMEOUT);
	nd_expect(pair->a.initiator_cq, 2, ND_CANCELED);
	assert_in_range(test_ms() - sent, LEAST_MS, MOST_MS);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	nd_pair_close(pair);
}

static void
A29_a_receive_that_comes_late(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);

	for (int i = 0; i < 3; i++) {
		nd_send(&pair->a, 1, 0, 64, 0);
		Sleep(GAP_MS);
		nd_receive(&pair->b, 2, 0, 64);
		nd_expect(pair->b.receive_cq, 2, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
	}
	nd_pair_close(pair);
}

/* A refusal after a long decision arrives, too. */
static void
and_then_no(struct nd_pair *asked, struct nd_pair *replied)
{
	assert_hr(IND2Connector_Reject(asked->b.connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&asked->connected), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_Reject(replied->a.connector, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&replied->accepted), ND_CONNECTION_REFUSED);
	nd_pair_close(asked);
	nd_pair_close(replied);
}

/* All of them decide at the same time: two about a request, two about a reply; and for the other
 * family one about each, which both refuse. */
static void
a_minute_to_think_is_not_too_long(void **state)
{
	void *sceptics[] = {&nd_family6};
	struct nd_pair *pair[THINKERS], *asked, *replied;

	for (int i = 0; i < THINKERS; i++) {
		pair[i] = nd_pair_bound(state, NULL);
		nd_pair_request(pair[i]);
		if (i >= THINKERS / 2)
			nd_pair_reply(pair[i]);
	}
	asked = nd_pair_bound(sceptics, NULL);
	replied = nd_pair_bound(sceptics, NULL);
	nd_pair_request(asked);
	nd_pair_request(replied);
	nd_pair_reply(replied);
	Sleep(THINKS_MS);
	and_then_no(asked, replied);
	for (int i = 0; i < THINKERS; i++) {
		assert_int_equal(pair[i]->accepted.Internal, i < THINKERS / 2 ? 0 : STATUS_PENDING);
		if (i < THINKERS / 2)
			nd_pair_reply(pair[i]);
		nd_pair_complete(pair[i]);
		nd_message(&pair[i]->a, &pair[i]->b, 1);
		nd_pair_close(pair[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A29_a_message_without_a_receive),
		ND_FAMILY_TESTS(A29_a_receive_that_comes_late),
		{"a_minute_to_think_is_not_too_long, IPv4", a_minute_to_think_is_not_too_long, NULL,
		 NULL, &nd_family4},
	};

	return nd_run("timeouts", tests, sizeof(tests) / sizeof(tests[0]));
}
