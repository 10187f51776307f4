/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections over a wire that loses one frame in five: whichever message of the handshake is lost,
 * both sides agree on the outcome (A24, the lost RTU: data or a disconnect replace it). Start with
 * A24_data_instead_of_a_lost_message().
 */
#include "nd2_pair.h"

enum {
	PAIRS = 12,
};

static const char *const device[2] = {",loss=0.2,seed=7", ",loss=0.2,seed=8"};
static const char *const settings[2] = {ND_YIELDING, ND_YIELDING};

static void
join_all(struct nd_pair *pair[PAIRS], void **state)
{
	for (int i = 0; i < PAIRS; i++) {
		pair[i] = nd_pair_bound(state, NULL);
		nd_receive(&pair[i]->b, 1, 0, 64);
	}
	nd_pair_establish_all(pair, PAIRS);
}

static void
A24_data_instead_of_a_lost_message(void **state)
{
	struct nd_pair *pair[PAIRS];

	join_all(pair, state);
	for (int i = 0; i < PAIRS; i++)
		nd_send(&pair[i]->a, 2, 0, 64, 0);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&pair[i]->accepted), ND_SUCCESS);
		nd_expect(pair[i]->b.receive_cq, 1, ND_SUCCESS);
		nd_expect(pair[i]->a.initiator_cq, 2, ND_SUCCESS);
		nd_pair_close(pair[i]);
	}
}

static void
A24_a_disconnect_instead_of_a_lost_message(void **state)
{
	struct nd_pair *pair[PAIRS];

	join_all(pair, state);
	for (int i = 0; i < PAIRS; i++)
		assert_hr(IND2Connector_Disconnect(pair[i]->a.connector, &pair[i]->left),
			  ND_PENDING);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&pair[i]->accepted), ND_SUCCESS);
		nd_expect(pair[i]->b.receive_cq, 1, ND_CANCELED);
		assert_hr(nd_wait(&pair[i]->left), ND_SUCCESS);
		nd_pair_close(pair[i]);
	}
}

static int
reject_those_who_ask(struct nd_pair *pair[PAIRS])
{
	int rejected = 0;

	for (int i = 0; i < PAIRS; i++) {
		HRESULT status = nd_status(&pair[i]->asked);

		if (status == ND_SUCCESS && pair[i]->left.Internal == 0) {
			assert_hr(IND2Connector_Reject(pair[i]->b.connector, "no", 2), ND_SUCCESS);
			pair[i]->left.Internal = 1; /* it has no other use here */
		}
		rejected += pair[i]->left.Internal != 0;
	}
	return rejected;
}

static void
a_lost_refusal_is_repeated(void **state)
{
	struct nd_pair *pair[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		pair[i] = nd_pair_bound(state, NULL);
		assert_hr(IND2Listener_GetConnectionRequest(pair[i]->listener,
							    nd_unknown(pair[i]->b.connector),
							    &pair[i]->asked),
			  ND_PENDING);
		assert_hr(nd_pair_ask(pair[i], NULL, 0), ND_PENDING);
	}
	/* At once: a client that received an MRA, because the server's program was deciding,
	 * retries only after a minute. */
	nd_until(reject_those_who_ask(pair) == PAIRS);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&pair[i]->connected), ND_CONNECTION_REFUSED);
		nd_pair_close(pair[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(A24_data_instead_of_a_lost_message),
		ND_FAMILY_TESTS(A24_a_disconnect_instead_of_a_lost_message),
		ND_FAMILY_TESTS(a_lost_refusal_is_repeated),
	};

	nd_start(nd_link(device, settings));
	return nd_run("lossy", tests, sizeof(tests) / sizeof(tests[0]));
}
