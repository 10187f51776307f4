/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state machine of connectors, in every state and for every event: what may never happen, by
 * exploring whatever can be reached, and what T15 to T21 say, row by row. Start with
 * whatever_is_pending_ends_once().
 */
#include <ntstatus.h>

#include "connector_state.h"
#include "plx_base.h"
#include "test.h"

static const enum ndk_connector_state firsts[] = {NDK_IDLE, NDK_REQ_RCVD};

static bool
is_pending(enum ndk_connector_state state)
{
	return state == NDK_REQ_SENT || state == NDK_REP_SENT || state == NDK_LEAVING;
}

static bool
is_call(enum ndk_connector_event event)
{
	return event >= NDK_ON_CONNECT && event <= NDK_ON_GET_DATA;
}

/* All states that can follow `state`, as bits. */
static unsigned int
reachable(enum ndk_connector_state state)
{
	unsigned int known = 0, found = 1u << state;

	while (known != found) {
		known = found;
		for (unsigned int s = 0; s < NDK_CONNECTOR_STATE_COUNT; s++)
			for (unsigned int e = 0; known >> s & 1 && e < NDK_CONNECTOR_EVENT_COUNT;
			     e++)
				found |= 1u << ndk_connector_step((enum ndk_connector_state)s,
								  (enum ndk_connector_event)e)
						       .next;
	}
	return found;
}

static void
every_state_can_be_reached(void **state)
{
	unsigned int all = reachable(firsts[0]) | reachable(firsts[1]);

	(void)state;
	assert_int_equal(all, ((1u << NDK_CONNECTOR_STATE_COUNT) - 1) & ~(1u << NDK_NOWHERE));
}

#define EACH(s, e)                                                                      \
	for (enum ndk_connector_state s = NDK_IDLE; s < NDK_CONNECTOR_STATE_COUNT; s++) \
		for (enum ndk_connector_event e = NDK_NO_EVENT; e < NDK_CONNECTOR_EVENT_COUNT; e++)

static void
a_refused_call_changes_nothing(void **state)
{
	(void)state;
	EACH(s, e)
	{
		struct ndk_connector_step step = ndk_connector_step(s, e);

		if (!is_call(e) || step.status == STATUS_SUCCESS || step.status == STATUS_PENDING)
			continue;
		assert_int_equal(step.next, s);
		assert_int_equal(step.effects, 0);
	}
}

/* A pending request is finished by the event that ends its state, and only then. */
static void
whatever_is_pending_ends_once(void **state)
{
	(void)state;
	EACH(s, e)
	{
		struct ndk_connector_step step = ndk_connector_step(s, e);

		assert_int_equal(!!(step.effects & NDK_DO_FINISH), is_pending(s) && step.next != s);
		if (step.status == STATUS_PENDING)
			assert_true(is_call(e) && is_pending(step.next));
	}
}

static void
the_peers_end_is_told_at_most_once(void **state)
{
	(void)state;
	EACH(s, e)
	{
		struct ndk_connector_step step = ndk_connector_step(s, e);

		if (!(step.effects & NDK_DO_TELL))
			continue;
		assert_int_equal(s, NDK_ESTABLISHED);
		assert_int_equal(reachable(step.next) >> NDK_ESTABLISHED & 1, 0);
	}
}

/* Closed, everything is over at once, except a disconnect that the peer has to answer. */
static void
a_close_ends_it(void **state)
{
	(void)state;
	for (enum ndk_connector_state s = NDK_IDLE; s < NDK_CONNECTOR_STATE_COUNT; s++) {
		struct ndk_connector_step step = ndk_connector_step(s, NDK_ON_CLOSE_CONNECTOR);

		assert_int_equal(step.next, s == NDK_LEAVING ? NDK_LEAVING : NDK_OVER);
	}
	assert_int_equal(reachable(NDK_OVER), 1u << NDK_OVER);
	/* a queue pair is not left to an end that nobody hears of */
	EACH(s, e)
	{
		struct ndk_connector_step step = ndk_connector_step(s, e);

		if (step.next == NDK_OVER && s != NDK_OVER)
			assert_true(step.effects & NDK_DO_DETACH);
	}
}

static void
the_contract_row_by_row(void **state)
{
	static const struct {
		enum ndk_connector_state in;
		enum ndk_connector_event event;
		enum ndk_connector_state next;
		NTSTATUS status;
	} rows[] = {
		{NDK_IDLE, NDK_ON_CONNECT, NDK_REQ_SENT, STATUS_PENDING},
		{NDK_REQ_SENT, NDK_ON_CONNECT, NDK_REQ_SENT, STATUS_CONNECTION_ACTIVE},
		{NDK_REQ_SENT, NDK_ON_REPLY, NDK_REP_RCVD, STATUS_SUCCESS},
		/* it may try again */
		{NDK_REQ_SENT, NDK_ON_REFUSAL, NDK_IDLE, STATUS_CONNECTION_REFUSED},
		{NDK_REQ_SENT, NDK_ON_UNREACHABLE, NDK_IDLE, STATUS_HOST_UNREACHABLE},
		{NDK_REQ_SENT, NDK_ON_TIMEOUT, NDK_IDLE, STATUS_IO_TIMEOUT},
		{NDK_REP_RCVD, NDK_ON_COMPLETE_CONNECT, NDK_ESTABLISHED, STATUS_SUCCESS},
		{NDK_REP_RCVD, NDK_ON_ABORT, NDK_ABORTED, STATUS_SUCCESS},
		{NDK_ABORTED, NDK_ON_COMPLETE_CONNECT, NDK_ABORTED, STATUS_CONNECTION_ABORTED},
		{NDK_ABORTED, NDK_ON_ACCEPT, NDK_ABORTED, STATUS_CONNECTION_ABORTED},
		{NDK_ABORTED, NDK_ON_REJECT, NDK_ABORTED, STATUS_CONNECTION_ABORTED},
		{NDK_IDLE, NDK_ON_COMPLETE_CONNECT, NDK_IDLE, STATUS_CONNECTION_INVALID},
		{NDK_REP_RCVD, NDK_ON_REJECT, NDK_OVER, STATUS_SUCCESS},
		{NDK_REQ_RCVD, NDK_ON_REJECT, NDK_OVER, STATUS_SUCCESS},
		{NDK_REQ_RCVD, NDK_ON_ACCEPT, NDK_REP_SENT, STATUS_PENDING},
		/* T19: the peer never completes; gives up; completes */
		{NDK_REP_SENT, NDK_ON_TIMEOUT, NDK_OVER, STATUS_IO_TIMEOUT},
		{NDK_REP_SENT, NDK_ON_ABORT, NDK_OVER, STATUS_CONNECTION_ABORTED},
		{NDK_REP_SENT, NDK_ON_ESTABLISHED, NDK_ESTABLISHED, STATUS_SUCCESS},
		{NDK_REP_SENT, NDK_ON_CLOSE_CONNECTOR, NDK_OVER, STATUS_CANCELLED},
		{NDK_ESTABLISHED, NDK_ON_DISCONNECT, NDK_LEAVING, STATUS_PENDING},
		{NDK_LEAVING, NDK_ON_CLOSED, NDK_OVER, STATUS_SUCCESS},
		/* both at once */
		{NDK_LEAVING, NDK_ON_PEER_DISCONNECT, NDK_OVER, STATUS_SUCCESS},
		{NDK_PEER_LEFT, NDK_ON_DISCONNECT, NDK_OVER, STATUS_SUCCESS},
		{NDK_OVER, NDK_ON_DISCONNECT, NDK_OVER, STATUS_CONNECTION_INVALID},
		{NDK_OVER, NDK_ON_CONNECT, NDK_OVER, STATUS_CONNECTION_ACTIVE},
		/* the adapter's host has gone */
		{NDK_REQ_SENT, NDK_ON_HOST_GONE, NDK_OVER, STATUS_DEVICE_REMOVED},
		{NDK_REP_SENT, NDK_ON_HOST_GONE, NDK_OVER, STATUS_DEVICE_REMOVED},
		{NDK_LEAVING, NDK_ON_HOST_GONE, NDK_OVER, STATUS_DEVICE_REMOVED},
		{NDK_REQ_RCVD, NDK_ON_HOST_GONE, NDK_ABORTED, STATUS_SUCCESS},
		{NDK_REP_RCVD, NDK_ON_HOST_GONE, NDK_ABORTED, STATUS_SUCCESS},
		{NDK_ESTABLISHED, NDK_ON_HOST_GONE, NDK_PEER_LEFT, STATUS_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		struct ndk_connector_step step = ndk_connector_step(rows[i].in, rows[i].event);

		if (step.next != rows[i].next || step.status != rows[i].status)
			fail_msg("row %zu: state %d, status 0x%x", i, (int)step.next,
				 (unsigned int)step.status);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_can_be_reached),
		cmocka_unit_test(a_refused_call_changes_nothing),
		cmocka_unit_test(whatever_is_pending_ends_once),
		cmocka_unit_test(the_peers_end_is_told_at_most_once),
		cmocka_unit_test(a_close_ends_it),
		cmocka_unit_test(the_contract_row_by_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
