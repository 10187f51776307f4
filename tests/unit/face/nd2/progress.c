/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress without a call of the program, and the order in which it becomes visible:
 * acknowledgements before replies, bytes before the last byte. Worker mode only: inline mode makes
 * no progress without calls. Start with A23_a_send_has_completed_when_its_answer_is_here().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS = 50000, /* or POLLUX_ROUNDS, as in lanes */
	LANE_ROUNDS = 1000000,
	LANES = 16,
	CONNECTIONS = 200,
	BIG = 4 * 1024 * 1024,
	BIG_ROUNDS = 40,
};

static bool
look(IND2CompletionQueue *cq, HRESULT status)
{
	ND2_RESULT result;

	if (IND2CompletionQueue_GetResults(cq, &result, 1) == 0)
		return false;
	assert_hr(result.Status, status);
	return true;
}

/* Request, reply: when the reply has arrived, the request's Send has completed, at the first
 * check. */
static void
ask_and_answer(struct nd_pair *pair)
{
	nd_receive(&pair->a, 1, 0, 64);
	nd_receive(&pair->b, 2, 0, 64);
	nd_send(&pair->a, 3, 64, 8, 0);
	nd_until(look(pair->b.receive_cq, ND_SUCCESS));
	nd_send(&pair->b, 4, 64, 8, 0);
	nd_until(look(pair->a.receive_cq, ND_SUCCESS));
	if (!look(pair->a.initiator_cq, ND_SUCCESS))
		fail_msg("the answer is here, and the question is not acknowledged");
}

static void
A23_a_send_has_completed_when_its_answer_is_here(void **state)
{
	struct nd_options options = {.two_cqs = true};
	struct nd_pair *pair = nd_pair_open(&options);
	unsigned long rounds = nd_rounds(ROUNDS);

	(void)state;
	for (unsigned long i = 0; i < rounds; i++) {
		ask_and_answer(pair);
		nd_until(look(pair->b.initiator_cq, ND_SUCCESS));
	}
	nd_pair_close(pair);
}

/* ---- many rounds at once ---- */

/* A connection of its own; all of them share the queues of the pair. */
struct lane {
	IND2QueuePair *a, *b;
	IND2Connector *active, *passive;
	bool acknowledged; /* the request of the round in progress */
};

static void
open_lanes(struct nd_pair *pair, struct lane *lane)
{
	for (uintptr_t i = 0; i < LANES; i++) {
		lane[i].a = nd_side_qp(&pair->a, &pair->options, NULL);
		lane[i].b = nd_side_qp(&pair->b, &pair->options, NULL);
		lane[i].active = nd_side_connector(&pair->a);
		lane[i].passive = nd_side_connector(&pair->b);
		nd_pair_join(pair, lane[i].active, lane[i].a, lane[i].passive, lane[i].b);
	}
}

static void
close_lanes(struct lane *lane)
{
	for (uintptr_t i = 0; i < LANES; i++) {
		nd_release(lane[i].active, 0);
		nd_release(lane[i].passive, 0);
		nd_release(lane[i].a, 0);
		nd_release(lane[i].b, 0);
	}
}

static void
post_of_lane(struct nd_side *side, IND2QueuePair *qp, uintptr_t i, bool receive)
{
	ND2_SGE sge = nd_sge(side, receive ? 0 : 64, receive ? 64 : 8);

	assert_hr(receive ? IND2QueuePair_Receive(qp, (void *)i, &sge, 1)
			  : IND2QueuePair_Send(qp, (void *)i, &sge, 1, 0),
		  ND_SUCCESS);
}

static void
ask(struct nd_pair *pair, struct lane *lane, uintptr_t i)
{
	lane[i].acknowledged = false;
	post_of_lane(&pair->a, lane[i].a, i, true);
	post_of_lane(&pair->b, lane[i].b, i, true);
	post_of_lane(&pair->a, lane[i].a, i, false);
}

/* The lane whose request has ended; LANES: none has. */
static uintptr_t
ended(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	if (IND2CompletionQueue_GetResults(cq, &result, 1) == 0)
		return LANES;
	assert_hr(result.Status, ND_SUCCESS);
	return (uintptr_t)result.RequestContext;
}

/* An answer has come: its question was acknowledged before. */
static void
expect_acknowledged(struct nd_pair *pair, struct lane *lane, uintptr_t answered)
{
	uintptr_t i;

	while (!lane[answered].acknowledged && (i = ended(pair->a.initiator_cq)) < LANES)
		lane[i].acknowledged = true;
	if (!lane[answered].acknowledged)
		fail_msg("the answer is here, and the question is not acknowledged");
}

/* Returns: rounds that have ended */
static unsigned long
turn_of_lanes(struct nd_pair *pair, struct lane *lane, unsigned long *left)
{
	unsigned long done = 0;
	uintptr_t i;

	while ((i = ended(pair->b.receive_cq)) < LANES)
		post_of_lane(&pair->b, lane[i].b, i, false);
	while (ended(pair->b.initiator_cq) < LANES)
		;
	while ((i = ended(pair->a.receive_cq)) < LANES) {
		expect_acknowledged(pair, lane, i);
		done++;
		if (*left > 0) {
			--*left;
			ask(pair, lane, i);
		}
	}
	return done;
}

static void
A23_sends_have_completed_when_their_answers_are_here(void **state)
{
	struct nd_options options = {.two_cqs = true};
	struct nd_pair *pair = nd_pair_open(&options);
	unsigned long rounds = nd_rounds(LANE_ROUNDS), left = rounds, done = 0;
	struct lane lane[LANES];

	(void)state;
	open_lanes(pair, lane);
	for (uintptr_t i = 0; i < LANES && left > 0; i++, left--)
		ask(pair, lane, i);
	while (done < rounds) {
		unsigned long now = 0;

		nd_until((now = turn_of_lanes(pair, lane, &left)) > 0);
		done += now;
	}
	close_lanes(lane);
	nd_pair_close(pair);
}

/* ---- the rest ---- */

/* The side with the reply disconnects at once; the peer's reply was delivered, and is
 * acknowledged. */
static void
A23_disconnecting_right_after_the_answer_cancels_no_send(void **state)
{
	struct nd_options options = {.two_cqs = true};

	(void)state;
	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		struct nd_pair *pair = nd_pair_open(&options);
		OVERLAPPED ov = {0};

		nd_receive(&pair->b, 5, 0, 64);
		ask_and_answer(pair);
		assert_hr(IND2Connector_Disconnect(pair->a.connector, &ov), ND_PENDING);
		nd_until(look(pair->b.initiator_cq, ND_SUCCESS));
		nd_expect(pair->b.receive_cq, 2, ND_CANCELED);
		nd_wait(&ov);
		nd_pair_close(pair);
	}
}

/* The target makes no call: it polls the last byte of its memory, and then checks all others. */
static void
A30_a_poller_on_the_last_byte_sees_all_others(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	uint8_t *from = nd_memory(2 * BIG), *to = from + BIG;
	IND2MemoryRegion *source = nd_side_mr(&pair->a, from, BIG, 0);
	IND2MemoryRegion *target = nd_side_mr(&pair->b, to, BIG, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	ND2_SGE sge = {from, BIG, IND2MemoryRegion_GetLocalToken(source)};

	(void)state;
	for (unsigned round = 1; round <= BIG_ROUNDS; round++) {
		memset(from, (int)round, BIG);
		assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, &sge, 1, (uintptr_t)to,
					      IND2MemoryRegion_GetRemoteToken(target), 0),
			  ND_SUCCESS);
		test_until(__atomic_load_n(&to[BIG - 1], __ATOMIC_ACQUIRE) == round, (void)0);
		assert_memory_equal(to, from, BIG);
		nd_expect(pair->a.initiator_cq, 0, ND_SUCCESS);
	}
	nd_mr_end(source);
	nd_mr_end(target);
	nd_pair_close(pair);
	nd_memory_free(from);
}

/* The target sleeps in a wait of its own. */
static void
A30_reads_and_writes_go_on_while_the_target_sleeps(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	OVERLAPPED ov = {0};

	(void)state;
	assert_hr(IND2CompletionQueue_Notify(pair->b.receive_cq, ND_CQ_NOTIFY_ANY, &ov),
		  ND_PENDING);
	for (uint8_t i = 0; i < 100; i++) {
		nd_fill(&pair->a, 0, 20000, i);
		nd_write(&pair->a, &pair->b, 1, 0, 20000, 0);
		nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
		memset(pair->a.arena, 0, 20000);
		nd_read(&pair->a, &pair->b, 2, 0, 20000, 0);
		nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
		nd_assert_filled(&pair->a, 0, 20000, i);
	}
	assert_int_equal(ov.Internal, STATUS_PENDING);
	nd_pair_close(pair);
	assert_hr((HRESULT)ov.Internal, ND_CANCELED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A23_a_send_has_completed_when_its_answer_is_here),
		ND_TEST(A23_sends_have_completed_when_their_answers_are_here),
		ND_TEST(A23_disconnecting_right_after_the_answer_cancels_no_send),
		ND_TEST(A30_a_poller_on_the_last_byte_sees_all_others),
		ND_TEST(A30_reads_and_writes_go_on_while_the_target_sleeps),
	};

	return nd_run("progress", tests, sizeof(tests) / sizeof(tests[0]));
}
