/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client that has received the first message of a connection can reply at once, even while Accept
 * is still pending (nd2.md A24): the message's completion is not reported before the queue pair
 * accepts requests. Each adapter has its own worker, so that the last message of the handshake and
 * the first message often arrive together. Start with the_first_message_can_be_answered_at_once().
 */
#include "nd2_pair.h"

enum {
	ROUNDS = 300,
	BYTES = 64,
};

static const char *const device[2] = {"", ""};
static const char *const settings[2] = {"worker = \"first\"; idle = \"yield\"; packets = 2048;",
					"worker = \"second\"; idle = \"yield\"; packets = 2048;"};

/* The next queue pair and connector of a side. */
static void
renew(struct nd_side *side)
{
	nd_release(side->connector, 0);
	nd_release(side->qp, 0);
	side->qp = nd_side_qp(side, &(struct nd_options){0}, side);
	side->connector = nd_side_connector(side);
}

static void
the_first_message_can_be_answered_at_once(void **state)
{
	struct nd_pair *pair = nd_pair_idle(state, NULL);

	for (int round = 0; round < ROUNDS; round++) {
		ND2_RESULT result;

		assert_hr(IND2Connector_Bind(pair->a.connector, &pair->a.address.any,
					     pair->a.address.length),
			  ND_SUCCESS);
		nd_pair_request(pair);
		nd_pair_reply(pair);
		nd_receive(&pair->a, 1, 0, BYTES);
		nd_receive(&pair->b, 2, 0, BYTES);
		assert_hr(IND2Connector_CompleteConnect(pair->a.connector, &pair->completed),
			  ND_PENDING);
		nd_send(&pair->a, 3, 0, BYTES, 0);
		/* without a pause in which the engine could be faster */
		test_until(IND2CompletionQueue_GetResults(pair->b.receive_cq, &result, 1) == 1,
			   (void)0);
		nd_send(&pair->b, 4, 0, BYTES, 0);
		assert_hr(result.Status, ND_SUCCESS);
		nd_expect(pair->b.initiator_cq, 4, ND_SUCCESS);
		assert_hr(nd_wait(&pair->accepted), ND_SUCCESS);
		nd_until(IND2CompletionQueue_GetResults(pair->a.receive_cq, &result, 1) == 1);
		nd_until(IND2CompletionQueue_GetResults(pair->a.receive_cq, &result, 1) == 1);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &pair->left), ND_PENDING);
		assert_hr(nd_wait(&pair->left), ND_SUCCESS);
		assert_hr(IND2Connector_Disconnect(pair->b.connector, &pair->left), ND_PENDING);
		assert_hr(nd_wait(&pair->left), ND_SUCCESS);
		renew(&pair->a);
		renew(&pair->b);
	}
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(the_first_message_can_be_answered_at_once),
	};

	nd_start(nd_link(device, settings));
	return nd_run("answer", tests, sizeof(tests) / sizeof(tests[0]));
}
