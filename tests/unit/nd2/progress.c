/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes on without a call of the program, and in which order it is seen: acknowledgements
 * before answers, bytes before the last byte. Worker mode only: in inline mode nothing goes on by
 * itself. Start with A23_a_send_has_completed_when_its_answer_is_here().
 */
#include "nd.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS = 50000, /* or as many as POLLUX_ROUNDS says */
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

/* Ask, answer: when the answer has come, the Send of the question is done, in the first look. */
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
	const char *wished = getenv("POLLUX_ROUNDS");
	unsigned long rounds = wished ? strtoul(wished, NULL, 10) : ROUNDS;

	(void)state;
	for (unsigned long i = 0; i < rounds; i++) {
		ask_and_answer(pair);
		nd_until(look(pair->b.initiator_cq, ND_SUCCESS));
	}
	nd_pair_close(pair);
}

/* Who has the answer leaves at once; the peer's answer was delivered, and is acknowledged. */
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

/* The target makes no call: it looks at its memory, at the last byte, and then at all others. */
static void
A30_a_poller_on_the_last_byte_sees_all_others(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	uint8_t *from = calloc(2, BIG), *to = from + BIG;
	IND2MemoryRegion *source = nd_side_mr(&pair->a, from, BIG, 0);
	IND2MemoryRegion *target = nd_side_mr(&pair->b, to, BIG, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	ND2_SGE sge = {from, BIG, IND2MemoryRegion_GetLocalToken(source)};

	(void)state;
	for (unsigned round = 1; round <= BIG_ROUNDS; round++) {
		uint64_t late = nd_ms() + ND_PATIENCE_MS;

		memset(from, (int)round, BIG);
		assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, &sge, 1, (uintptr_t)to,
					      IND2MemoryRegion_GetRemoteToken(target), 0),
			  ND_SUCCESS);
		while (__atomic_load_n(&to[BIG - 1], __ATOMIC_ACQUIRE) != round)
			assert_true(nd_ms() < late);
		assert_memory_equal(to, from, BIG);
		nd_expect(pair->a.initiator_cq, 0, ND_SUCCESS);
	}
	nd_mr_end(source);
	nd_mr_end(target);
	nd_pair_close(pair);
	free(from);
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
		ND_TEST(A23_disconnecting_right_after_the_answer_cancels_no_send),
		ND_TEST(A30_a_poller_on_the_last_byte_sees_all_others),
		ND_TEST(A30_reads_and_writes_go_on_while_the_target_sleeps),
	};

	return nd_run("progress", tests, sizeof(tests) / sizeof(tests[0]));
}
