/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections over a wire that loses one frame in five: whichever message of the way is lost, both
 * sides come to the same end (A24, the lost RTU: data, or a disconnect, are as good).
 * Start with A24_data_instead_of_a_lost_message().
 */
#include "nd2_meet.h"

enum {
	PAIRS = 12,
};

static const char config[] =
	"adapters = (\n"
	"  { name = \"nd0\"; device = \"net_wire0,end=0,loss=0.2,seed=7\"; worker = \"nd\";\n"
	"    idle = \"yield\"; packets = 4096; address = [ \"10.78.2.1/24\", \"fd78:2::1/64\" ]; "
	"},\n"
	"  { name = \"nd1\"; device = \"net_wire0,end=1,loss=0.2,seed=8\"; worker = \"nd\";\n"
	"    idle = \"yield\"; packets = 4096; address = [ \"10.78.2.2/24\", \"fd78:2::2/64\" ]; "
	"}\n"
	");\n";

static void
join_all(struct meeting *m[PAIRS], void **state)
{
	for (int i = 0; i < PAIRS; i++) {
		m[i] = meet(state, NULL);
		nd_receive(m[i]->b, 1, 0, 64);
	}
	meet_join_all(m, PAIRS);
}

static void
A24_data_instead_of_a_lost_message(void **state)
{
	struct meeting *m[PAIRS];

	join_all(m, state);
	for (int i = 0; i < PAIRS; i++)
		nd_send(m[i]->a, 2, 0, 64, 0);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&m[i]->accepted), ND_SUCCESS);
		nd_expect(m[i]->b->receive_cq, 1, ND_SUCCESS);
		nd_expect(m[i]->a->initiator_cq, 2, ND_SUCCESS);
		part(m[i]);
	}
}

static void
A24_a_disconnect_instead_of_a_lost_message(void **state)
{
	struct meeting *m[PAIRS];

	join_all(m, state);
	for (int i = 0; i < PAIRS; i++)
		assert_hr(IND2Connector_Disconnect(m[i]->ca, &m[i]->left), ND_PENDING);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&m[i]->accepted), ND_SUCCESS);
		nd_expect(m[i]->b->receive_cq, 1, ND_CANCELED);
		assert_hr(nd_wait(&m[i]->left), ND_SUCCESS);
		part(m[i]);
	}
}

static int
reject_those_who_ask(struct meeting *m[PAIRS])
{
	int rejected = 0;

	for (int i = 0; i < PAIRS; i++) {
		HRESULT status = nd_status(&m[i]->asked);

		if (status == ND_SUCCESS && m[i]->left.Internal == 0) {
			assert_hr(IND2Connector_Reject(m[i]->cb, "no", 2), ND_SUCCESS);
			m[i]->left.Internal = 1; /* it has no other use here */
		}
		rejected += m[i]->left.Internal != 0;
	}
	return rejected;
}

static void
a_lost_refusal_is_repeated(void **state)
{
	struct meeting *m[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		m[i] = meet(state, NULL);
		assert_hr(IND2Listener_GetConnectionRequest(m[i]->pair->listener,
							    meet_unknown(m[i]->cb), &m[i]->asked),
			  ND_PENDING);
		assert_hr(meet_connect(m[i], NULL, 0), ND_PENDING);
	}
	/* At once: who has been asked for patience, because its program was thinking, asks again
	 * only after a minute. */
	nd_until(reject_those_who_ask(m) == PAIRS);
	for (int i = 0; i < PAIRS; i++) {
		assert_hr(nd_wait(&m[i]->connected), ND_CONNECTION_REFUSED);
		part(m[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MEET_TESTS(A24_data_instead_of_a_lost_message),
		MEET_TESTS(A24_a_disconnect_instead_of_a_lost_message),
		MEET_TESTS(a_lost_refusal_is_repeated),
	};

	nd_start(config);
	return nd_run("lossy", tests, sizeof(tests) / sizeof(tests[0]));
}
