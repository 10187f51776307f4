/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long one side waits for the other: for a receive (A29), and for a program that takes a
 * minute to make up its mind (docs/nd2.md, Connections).
 * Start with A29_a_message_without_a_receive().
 */
#include "nd2_meet.h"

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
	struct meeting *m = meet_whole(state, NULL);
	OVERLAPPED told_a = {0}, told_b = {0};
	uint64_t sent = test_ms();

	assert_hr(IND2Connector_NotifyDisconnect(m->ca, &told_a), ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(m->cb, &told_b), ND_PENDING);
	nd_send(m->a, 1, 0, 64, 0);
	nd_send(m->a, 2, 0, 64, 0);
	nd_expect(m->a->initiator_cq, 1, ND_IO_TIMEOUT);
	nd_expect(m->a->initiator_cq, 2, ND_CANCELED);
	assert_in_range(test_ms() - sent, LEAST_MS, MOST_MS);
	assert_hr(nd_wait(&told_a), ND_SUCCESS);
	assert_hr(nd_wait(&told_b), ND_SUCCESS);
	part(m);
}

static void
A29_a_receive_that_comes_late(void **state)
{
	struct meeting *m = meet_whole(state, NULL);

	for (int i = 0; i < 3; i++) {
		nd_send(m->a, 1, 0, 64, 0);
		Sleep(GAP_MS);
		nd_receive(m->b, 2, 0, 64);
		nd_expect(m->b->receive_cq, 2, ND_SUCCESS);
		nd_expect(m->a->initiator_cq, 1, ND_SUCCESS);
	}
	part(m);
}

/* The refusal of one who has thought for long is heard, too. */
static void
and_then_no(struct meeting *asked, struct meeting *replied)
{
	assert_hr(IND2Connector_Reject(asked->cb, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&asked->connected), ND_CONNECTION_REFUSED);
	assert_hr(IND2Connector_Reject(replied->ca, NULL, 0), ND_SUCCESS);
	assert_hr(nd_wait(&replied->accepted), ND_CONNECTION_REFUSED);
	part(asked);
	part(replied);
}

/* All of them think at the same time: two about a request, two about a reply; and of the other
 * family one about each, who say no. */
static void
a_minute_to_think_is_not_too_long(void **state)
{
	void *sceptics[] = {&meet_family6};
	struct meeting *m[THINKERS], *asked, *replied;

	for (int i = 0; i < THINKERS; i++) {
		m[i] = meet(state, NULL);
		meet_request(m[i]);
		if (i >= THINKERS / 2)
			meet_reply(m[i]);
	}
	asked = meet(sceptics, NULL);
	replied = meet(sceptics, NULL);
	meet_request(asked);
	meet_request(replied);
	meet_reply(replied);
	Sleep(THINKS_MS);
	and_then_no(asked, replied);
	for (int i = 0; i < THINKERS; i++) {
		assert_int_equal(m[i]->accepted.Internal, i < THINKERS / 2 ? 0 : STATUS_PENDING);
		if (i < THINKERS / 2)
			meet_reply(m[i]);
		meet_complete(m[i]);
		meet_message(m[i]->a, m[i]->b, 1);
		part(m[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MEET_TESTS(A29_a_message_without_a_receive),
		MEET_TESTS(A29_a_receive_that_comes_late),
		{"a_minute_to_think_is_not_too_long, IPv4", a_minute_to_think_is_not_too_long, NULL,
		 NULL, &meet_family4},
	};

	return nd_run("timeouts", tests, sizeof(tests) / sizeof(tests[0]));
}
