/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every event in every state of a connector, compared with a model that was written from the table
 * of docs/nd2.md, Connections, state by state. It uses no ND2 object. Start with model[].
 */
#include <ndstatus.h>
#include <ntstatus.h>

#include "test.h"
#include "connector_state.h"

/* What may happen in a state, and the result; everything else is refused or has no effect. */
struct fact {
	enum nd2_state in;
	enum nd2_event event;
	enum nd2_state next;
	HRESULT status;
	unsigned int effects;
};

#define LOCAL ((HRESULT)STATUS_CONNECTION_DISCONNECTED)

static const struct fact model[] = {
	{ND2_IDLE, ND2_ON_BIND, ND2_BOUND, ND_SUCCESS, 0},
	{ND2_IDLE, ND2_ON_QUEUE, ND2_QUEUED, ND_PENDING, 0},
	{ND2_IDLE, ND2_ON_CONNECT, ND2_IDLE, (HRESULT)STATUS_ADDRESS_NOT_ASSOCIATED, 0},

	{ND2_BOUND, ND2_ON_CONNECT, ND2_REQ_SENT, ND_PENDING, ND2_DO_FORGET},

	{ND2_QUEUED, ND2_ON_UNQUEUED, ND2_IDLE, ND_SUCCESS, 0},
	{ND2_QUEUED, ND2_ON_REQUEST, ND2_REQ_RCVD, ND_SUCCESS, ND2_DO_KEEP},

	{ND2_REQ_SENT, ND2_ON_REPLY, ND2_REP_RCVD, ND_SUCCESS, ND2_DO_FINISH | ND2_DO_KEEP},
	{ND2_REQ_SENT, ND2_ON_REFUSAL, ND2_BOUND, ND_CONNECTION_REFUSED,
	 ND2_DO_FINISH | ND2_DO_KEEP | ND2_DO_DETACH},
	{ND2_REQ_SENT, ND2_ON_UNREACHABLE, ND2_BOUND, ND_HOST_UNREACHABLE,
	 ND2_DO_FINISH | ND2_DO_DETACH},
	{ND2_REQ_SENT, ND2_ON_TIMEOUT, ND2_BOUND, ND_IO_TIMEOUT, ND2_DO_FINISH | ND2_DO_DETACH},
	{ND2_REQ_SENT, ND2_ON_ABORT, ND2_FAILED, ND_CONNECTION_ABORTED,
	 ND2_DO_FINISH | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REQ_SENT, ND2_ON_CANCEL, ND2_FAILED, ND_SUCCESS,
	 ND2_DO_FORGET | ND2_DO_DETACH | ND2_DO_END},
	{ND2_REQ_SENT, ND2_ON_QP_RELEASE, ND2_FAILED, ND_CANCELED,
	 ND2_DO_FINISH | ND2_DO_DETACH | ND2_DO_END},

	{ND2_REQ_SENT, ND2_ON_HOST_GONE, ND2_FAILED, ND_DEVICE_REMOVED,
	 ND2_DO_FINISH | ND2_DO_BREAK | ND2_DO_END},

	{ND2_REP_RCVD, ND2_ON_COMPLETE, ND2_ESTABLISHED, ND_PENDING, ND2_DO_FINISH},
	{ND2_REP_RCVD, ND2_ON_REJECT, ND2_FAILED, ND_SUCCESS, ND2_DO_FORGET | ND2_DO_DETACH},
	{ND2_REP_RCVD, ND2_ON_ABORT, ND2_ABORTED, ND_SUCCESS, ND2_DO_DETACH | ND2_DO_END},
	{ND2_REP_RCVD, ND2_ON_PEER_DISCONNECT, ND2_ABORTED, ND_SUCCESS, ND2_DO_DETACH | ND2_DO_END},

	{ND2_REP_RCVD, ND2_ON_HOST_GONE, ND2_ABORTED, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},

	{ND2_REQ_RCVD, ND2_ON_ACCEPT, ND2_REP_SENT, ND_PENDING, 0},
	{ND2_REQ_RCVD, ND2_ON_REJECT, ND2_FAILED, ND_SUCCESS, ND2_DO_FORGET | ND2_DO_DETACH},
	{ND2_REQ_RCVD, ND2_ON_ABORT, ND2_ABORTED, ND_SUCCESS, ND2_DO_DETACH | ND2_DO_END},

	{ND2_REQ_RCVD, ND2_ON_HOST_GONE, ND2_ABORTED, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},

	{ND2_REP_SENT, ND2_ON_ESTABLISHED, ND2_ESTABLISHED, ND_SUCCESS, ND2_DO_FINISH},
	{ND2_REP_SENT, ND2_ON_ABORT, ND2_FAILED, ND_CONNECTION_REFUSED,
	 ND2_DO_FINISH | ND2_DO_KEEP | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REP_SENT, ND2_ON_TIMEOUT, ND2_FAILED, ND_IO_TIMEOUT,
	 ND2_DO_FINISH | ND2_DO_FORGET | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REP_SENT, ND2_ON_PEER_DISCONNECT, ND2_FAILED, ND_CONNECTION_ABORTED,
	 ND2_DO_FINISH | ND2_DO_FORGET | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REP_SENT, ND2_ON_CANCEL, ND2_FAILED, ND_SUCCESS,
	 ND2_DO_FORGET | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REP_SENT, ND2_ON_QP_RELEASE, ND2_FAILED, ND_CANCELED,
	 ND2_DO_FINISH | ND2_DO_BREAK | ND2_DO_END},
	{ND2_REP_SENT, ND2_ON_RELEASE, ND2_FAILED, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},

	{ND2_REP_SENT, ND2_ON_HOST_GONE, ND2_FAILED, ND_DEVICE_REMOVED,
	 ND2_DO_FINISH | ND2_DO_BREAK | ND2_DO_END},

	{ND2_ESTABLISHED, ND2_ON_NOTIFY, ND2_ESTABLISHED, ND_PENDING, 0},
	{ND2_ESTABLISHED, ND2_ON_DISCONNECT, ND2_LOCAL_DISC, ND_PENDING,
	 ND2_DO_NOTIFY_LOCAL | ND2_DO_BREAK},
	{ND2_ESTABLISHED, ND2_ON_PEER_DISCONNECT, ND2_PEER_LEFT, ND_SUCCESS, ND2_DO_NOTIFY_PEER},
	{ND2_ESTABLISHED, ND2_ON_QP_RELEASE, ND2_PEER_DISC, ND_SUCCESS,
	 ND2_DO_NOTIFY_LOCAL | ND2_DO_BREAK},
	{ND2_ESTABLISHED, ND2_ON_RELEASE, ND2_FAILED, ND_SUCCESS,
	 ND2_DO_NOTIFY_LOCAL | ND2_DO_BREAK | ND2_DO_LINGER},

	{ND2_ESTABLISHED, ND2_ON_HOST_GONE, ND2_PEER_DISC, ND_SUCCESS,
	 ND2_DO_NOTIFY_GONE | ND2_DO_BREAK | ND2_DO_END},

	{ND2_LOCAL_DISC, ND2_ON_NOTIFY, ND2_LOCAL_DISC, ND_PENDING, ND2_DO_NOTIFY_LOCAL},
	{ND2_LOCAL_DISC, ND2_ON_CLOSED, ND2_DEAD, ND_SUCCESS, ND2_DO_FINISH | ND2_DO_END},
	{ND2_LOCAL_DISC, ND2_ON_PEER_DISCONNECT, ND2_DEAD, ND_SUCCESS, ND2_DO_FINISH | ND2_DO_END},
	{ND2_LOCAL_DISC, ND2_ON_DISCONNECT, ND2_LOCAL_DISC, ND_INVALID_DEVICE_STATE, 0},
	{ND2_LOCAL_DISC, ND2_ON_RELEASE, ND2_FAILED, ND_SUCCESS, ND2_DO_LINGER},

	{ND2_LOCAL_DISC, ND2_ON_HOST_GONE, ND2_DEAD, ND_DEVICE_REMOVED, ND2_DO_FINISH | ND2_DO_END},

	{ND2_PEER_LEFT, ND2_ON_NOTIFY, ND2_PEER_LEFT, ND_PENDING, ND2_DO_NOTIFY_PEER},
	{ND2_PEER_LEFT, ND2_ON_DISCONNECT, ND2_DEAD, ND_PENDING,
	 ND2_DO_FINISH | ND2_DO_BREAK | ND2_DO_END},
	{ND2_PEER_LEFT, ND2_ON_QP_RELEASE, ND2_PEER_DISC, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},
	{ND2_PEER_LEFT, ND2_ON_RELEASE, ND2_FAILED, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},

	{ND2_PEER_LEFT, ND2_ON_HOST_GONE, ND2_PEER_DISC, ND_SUCCESS, ND2_DO_BREAK | ND2_DO_END},

	{ND2_PEER_DISC, ND2_ON_NOTIFY, ND2_PEER_DISC, ND_PENDING, ND2_DO_NOTIFY_PEER},
	{ND2_PEER_DISC, ND2_ON_DISCONNECT, ND2_DEAD, ND_PENDING, ND2_DO_FINISH},
	{ND2_PEER_DISC, ND2_ON_CLOSED, ND2_PEER_DISC, ND_SUCCESS, ND2_DO_END},
	{ND2_PEER_DISC, ND2_ON_PEER_DISCONNECT, ND2_PEER_DISC, ND_SUCCESS, ND2_DO_END},
	{ND2_PEER_DISC, ND2_ON_RELEASE, ND2_FAILED, ND_SUCCESS, ND2_DO_LINGER},

	{ND2_PEER_DISC, ND2_ON_HOST_GONE, ND2_PEER_DISC, ND_SUCCESS, ND2_DO_END},

	{ND2_DEAD, ND2_ON_NOTIFY, ND2_DEAD, ND_PENDING, ND2_DO_NOTIFY_LOCAL},
	{ND2_DEAD, ND2_ON_DISCONNECT, ND2_DEAD, ND_INVALID_DEVICE_STATE, 0},

	{ND2_ABORTED, ND2_ON_ACCEPT, ND2_ABORTED, ND_CONNECTION_ABORTED, 0},
	{ND2_ABORTED, ND2_ON_COMPLETE, ND2_ABORTED, ND_CONNECTION_ABORTED, 0},
	{ND2_ABORTED, ND2_ON_REJECT, ND2_ABORTED, ND_CONNECTION_ABORTED, 0},

	{ND2_FAILED, ND2_ON_REJECT, ND2_FAILED, ND_CONNECTION_INVALID, 0},
};

#define BIT(state) (1u << (state))

/* In which states a question is answered. */
static unsigned int
answered(enum nd2_event event)
{
	const unsigned int all = BIT(ND2_STATE_COUNT) - 2;
	const unsigned int going_on =
		BIT(ND2_REP_RCVD) | BIT(ND2_REQ_RCVD) | BIT(ND2_REP_SENT) | BIT(ND2_ESTABLISHED);

	switch ((int)event) {
	case ND2_ON_GET_LIMITS:
		return going_on;
	case ND2_ON_GET_PRIVATE:
		return going_on | BIT(ND2_BOUND) | BIT(ND2_FAILED);
	case ND2_ON_GET_LOCAL:
		return all & ~(BIT(ND2_IDLE) | BIT(ND2_QUEUED));
	case ND2_ON_GET_PEER:
		return all & ~(BIT(ND2_IDLE) | BIT(ND2_QUEUED) | BIT(ND2_BOUND));
	default:
		return 0;
	}
}

/* The result of a call that the model does not list. */
static HRESULT
refusal(enum nd2_state state, enum nd2_event event)
{
	const unsigned int attempt =
		BIT(ND2_REQ_SENT) | BIT(ND2_REP_RCVD) | BIT(ND2_REP_SENT) | BIT(ND2_ESTABLISHED);

	switch ((int)event) {
	case ND2_ON_BIND:
		return (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;
	case ND2_ON_CONNECT:
	case ND2_ON_QUEUE:
		return ND_CONNECTION_ACTIVE;
	case ND2_ON_ACCEPT:
		return attempt & BIT(state) ? ND_CONNECTION_ACTIVE : ND_CONNECTION_INVALID;
	case ND2_ON_REJECT:
		return ND_INVALID_DEVICE_STATE;
	case ND2_ON_COMPLETE:
	case ND2_ON_NOTIFY:
	case ND2_ON_DISCONNECT:
		return ND_CONNECTION_INVALID;
	default:
		return answered(event) & BIT(state) || event >= ND2_ON_CANCEL
			       ? ND_SUCCESS
			       : ND_CONNECTION_INVALID;
	}
}

static struct fact
expected(enum nd2_state state, enum nd2_event event)
{
	for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		if (model[i].in == state && model[i].event == event)
			return model[i];
	/* the last reference may be released in any state, and nothing is left */
	if (event == ND2_ON_RELEASE)
		return (struct fact){state, event, ND2_FAILED, ND_SUCCESS,
				     ND2_DO_DETACH | ND2_DO_END};
	return (struct fact){state, event, state, refusal(state, event), 0};
}

static void
every_event_in_every_state(void **state)
{
	int seen = 0;

	(void)state;
	for (int in = ND2_IDLE; in < ND2_STATE_COUNT; in++) {
		for (int event = ND2_ON_BIND; event < ND2_EVENT_COUNT; event++) {
			struct fact fact = expected((enum nd2_state)in, (enum nd2_event)event);
			struct nd2_step step = nd2_step((enum nd2_state)in, (enum nd2_event)event);

			if (step.next != fact.next || step.status != fact.status ||
			    step.effects != fact.effects)
				fail_msg("state %d, event %d: to %d with 0x%08x and 0x%x, not to "
					 "%d with 0x%08x and 0x%x",
					 in, event, step.next, (unsigned int)step.status,
					 step.effects, fact.next, (unsigned int)fact.status,
					 fact.effects);
			seen++;
		}
	}
	assert_int_equal(seen, (ND2_STATE_COUNT - 1) * (ND2_EVENT_COUNT - 1));
	assert_int_equal(seen, 364);
}

/* A refused call has changed nothing, wherever it is made. */
static void
a_refusal_has_no_effect(void **state)
{
	int refusals = 0;

	(void)state;
	for (int in = ND2_IDLE; in < ND2_STATE_COUNT; in++) {
		for (int event = ND2_ON_BIND; event < ND2_ON_CANCEL; event++) {
			struct nd2_step step = nd2_step((enum nd2_state)in, (enum nd2_event)event);

			if (step.status >= 0)
				continue;
			assert_int_equal(step.next, in);
			assert_int_equal(step.effects, 0);
			refusals++;
		}
	}
	assert_true(refusals > 90);
}

/* Where nothing more can come from below, what pends has been finished, and the queue pair let go.
 */
static void
an_end_leaves_nothing_behind(void **state)
{
	const unsigned int with_qp = BIT(ND2_REQ_SENT) | BIT(ND2_REP_RCVD) | BIT(ND2_REP_SENT) |
				     BIT(ND2_ESTABLISHED) | BIT(ND2_PEER_LEFT);
	const unsigned int waiting = BIT(ND2_REQ_SENT) | BIT(ND2_REP_SENT) | BIT(ND2_LOCAL_DISC);

	(void)state;
	for (int in = ND2_IDLE; in < ND2_STATE_COUNT; in++) {
		for (int event = ND2_ON_BIND; event < ND2_EVENT_COUNT; event++) {
			struct nd2_step step = nd2_step((enum nd2_state)in, (enum nd2_event)event);
			unsigned int lets_go = ND2_DO_DETACH | ND2_DO_BREAK;

			if ((int)step.next == in)
				continue;
			if (with_qp & BIT(in) && !(with_qp & BIT(step.next)))
				assert_true(step.effects & lets_go);
			/* Cancel and Release finish what pends themselves. */
			if (waiting & BIT(in) && event != ND2_ON_CANCEL && event != ND2_ON_RELEASE)
				assert_true(step.effects & ND2_DO_FINISH);
			if (in == ND2_ESTABLISHED)
				assert_true(step.effects &
					    (ND2_DO_NOTIFY_PEER | ND2_DO_NOTIFY_LOCAL |
					     ND2_DO_NOTIFY_GONE));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_in_every_state),
		cmocka_unit_test(a_refusal_has_no_effect),
		cmocka_unit_test(an_end_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("connector_state", tests, NULL, NULL);
}
