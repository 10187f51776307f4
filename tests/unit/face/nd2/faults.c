/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wrong addresses, tokens, rights and lengths: the post is accepted, and a completion reports the
 * error (docs/nd2.md, Requests, L4 to L6). Start with
 * A15_faults_are_completions_and_end_the_connection().
 */
#include "nd2_pair.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t
address_of(const struct nd_side *side, uint32_t offset)
{
	return (uint64_t)(uintptr_t)(side->arena + offset);
}

enum fault {
	LOCAL_BOUNDS, /* one byte beyond our region */
	LOCAL_TOKEN,  /* an invalid token */
	REMOTE_BOUNDS,
	REMOTE_TOKEN,
	FAULTS,
};

static HRESULT
post_fault(struct nd_pair *pair, enum fault fault, bool read)
{
	struct nd_side *a = &pair->a, *b = &pair->b;
	ND2_SGE sge = nd_sge(a, 0, 64);
	uint64_t there = address_of(b, 0);
	UINT32 token = b->remote;

	if (fault == LOCAL_BOUNDS)
		sge = nd_sge(a, ND_ARENA - 63, 64);
	if (fault == LOCAL_TOKEN)
		sge.MemoryRegionToken ^= 0x00010100;
	if (fault == REMOTE_BOUNDS)
		there = address_of(b, ND_ARENA - 63);
	if (fault == REMOTE_TOKEN)
		token ^= htonl(0x00010100);
	if (read)
		return IND2QueuePair_Read(a->qp, (void *)1, &sge, 1, there, token, 0);
	return IND2QueuePair_Write(a->qp, (void *)1, &sge, 1, there, token, 0);
}

/* The post succeeds, the request completes with the fault, later posts are cancelled; and so are
 * the peer's receives, without a call of its own. */
static void
A15_faults_are_completions_and_end_the_connection(void **state)
{
	(void)state;
	for (int fault = 0; fault < FAULTS; fault++)
		for (int read = 0; read < 2; read++) {
			struct nd_pair *pair = nd_pair_open(NULL);

			nd_receive(&pair->a, 50, 0, 8);
			nd_receive(&pair->b, 51, 0, 8);
			assert_hr(post_fault(pair, fault, read), ND_SUCCESS);
			nd_write(&pair->a, &pair->b, 2, 0, 8, ND_OP_FLAG_SILENT_SUCCESS);
			nd_expect(pair->a.initiator_cq, 1, ND_ACCESS_VIOLATION);
			/* in whatever order the two queues are flushed */
			for (int i = 0; i < 2; i++) {
				ND2_RESULT result = nd_reap(pair->a.initiator_cq);

				assert_hr(result.Status, ND_CANCELED);
				assert_int_equal((uintptr_t)result.RequestContext,
						 result.RequestType == Nd2RequestTypeReceive ? 50
											     : 2);
			}
			nd_expect(pair->b.receive_cq, 51, ND_CANCELED);
			nd_send(&pair->a, 3, 0, 8, ND_OP_FLAG_SILENT_SUCCESS);
			nd_expect(pair->a.initiator_cq, 3, ND_CANCELED);
			nd_receive(&pair->a, 4, 0, 8);
			nd_expect(pair->a.receive_cq, 4, ND_CANCELED);
			nd_pair_close(pair);
		}
}

/* Rights that a region does not grant (NdWriteViolation, NdOverRead and the like). */
static void
rights_that_are_missing_are_access_violations(void **state)
{
	static const struct {
		ULONG flags;
		bool read, fails;
	} cases[] = {
		{ND_MR_FLAG_ALLOW_REMOTE_READ, true, false},
		{ND_MR_FLAG_ALLOW_REMOTE_READ, false, true},
		{ND_MR_FLAG_ALLOW_REMOTE_WRITE, true, true},
		{ND_MR_FLAG_ALLOW_REMOTE_WRITE, false, false},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, true, true},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nd_pair *pair = nd_pair_open(NULL);
		IND2MemoryRegion *mr = nd_side_mr(&pair->b, pair->b.arena, 64, cases[i].flags);
		ND2_SGE sge = nd_sge(&pair->a, 0, 8);
		UINT32 token = IND2MemoryRegion_GetRemoteToken(mr);
		uint64_t there = address_of(&pair->b, 0);

		if (cases[i].read)
			assert_hr(
				IND2QueuePair_Read(pair->a.qp, (void *)1, &sge, 1, there, token, 0),
				ND_SUCCESS);
		else
			assert_hr(IND2QueuePair_Write(pair->a.qp, (void *)1, &sge, 1, there, token,
						      0),
				  ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, 1,
			  cases[i].fails ? ND_ACCESS_VIOLATION : ND_SUCCESS);
		nd_mr_end(mr);
		nd_pair_close(pair);
	}
}

/* A sink needs LOCAL_WRITE, and no other flag. */
static void
sinks_need_the_right_to_be_written(void **state)
{
	(void)state;
	for (int round = 0; round < 4; round++) {
		static const ULONG flags[] = {ND_MR_FLAG_ALLOW_LOCAL_WRITE,
					      ND_MR_FLAG_ALLOW_LOCAL_WRITE |
						      ND_MR_FLAG_RDMA_READ_SINK,
					      0, ND_MR_FLAG_RDMA_READ_SINK};
		struct nd_pair *pair = nd_pair_open(NULL);
		IND2MemoryRegion *mr = nd_side_mr(&pair->a, pair->a.arena, 64, flags[round]);
		ND2_SGE sge = {pair->a.arena, 8, IND2MemoryRegion_GetLocalToken(mr)};

		assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)1, &sge, 1,
					     address_of(&pair->b, 0), pair->b.remote, 0),
			  ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, 1, round < 2 ? ND_SUCCESS : ND_ACCESS_VIOLATION);
		nd_mr_end(mr);
		nd_pair_close(pair);
	}
}

/* L5 and L6. */
static void
receive_that_is_too_short(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);

	(void)state;
	nd_receive(&pair->b, 1, 0, 63);
	nd_receive(&pair->b, 2, 64, 64);
	nd_send(&pair->a, 3, 0, 64, 0);
	nd_expect(pair->b.receive_cq, 1, ND_BUFFER_OVERFLOW);
	nd_expect(pair->b.receive_cq, 2, ND_CANCELED);
	nd_expect(pair->a.initiator_cq, 3, (HRESULT)STATUS_DATA_ERROR);
	nd_pair_close(pair);
}

/* Redirect stderr to `said` until it is restored.
 * Returns: what to restore */
static int
listen_to_stderr(int said[2])
{
	int before = dup(STDERR_FILENO);

	assert_true(before >= 0);
	assert_int_equal(pipe2(said, O_NONBLOCK | O_CLOEXEC), 0);
	assert_true(dup2(said[1], STDERR_FILENO) >= 0);
	return before;
}

static int
count_of(const char *text, const char *words)
{
	int count = 0;

	for (; (text = strstr(text, words)) != NULL; text += strlen(words))
		count++;
	return count;
}

/* A status is only ACCESS_VIOLATION or CANCELED; POLLUX_ND2_LOG logs what happened to which
 * queue pair. */
static void
a_queue_pair_that_dies_says_why_once(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	char text[4096] = "";
	size_t bytes = 0;
	int said[2], before;

	(void)state;
	nd_receive(&pair->a, 50, 0, 8);
	before = listen_to_stderr(said);
	assert_hr(post_fault(pair, REMOTE_TOKEN, false), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 1, ND_ACCESS_VIOLATION);
	nd_expect(pair->a.receive_cq, 50, ND_CANCELED);
	nd_settle();
	nd_pair_close(pair);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	close(said[1]);
	for (ssize_t got; bytes < sizeof(text) - 1 &&
			  (got = read(said[0], text + bytes, sizeof(text) - 1 - bytes)) > 0;)
		bytes += (size_t)got;
	close(said[0]);
	assert_non_null(strstr(text, "retries"));
	assert_non_null(strstr(text, "the engine stalled"));
	/* ours was refused, the peer's has refused: each has its line */
	assert_int_equal(count_of(text, ") failed: "), 2);
	assert_int_equal(count_of(text, nd_is_inline() ? "adapter in0: queue pair 0x"
						       : "adapter nd0: queue pair 0x"),
			 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A15_faults_are_completions_and_end_the_connection),
		ND_TEST(rights_that_are_missing_are_access_violations),
		ND_TEST(sinks_need_the_right_to_be_written),
		ND_TEST(receive_that_is_too_short),
		ND_TEST(a_queue_pair_that_dies_says_why_once),
	};

	return nd_run_both("faults", tests, sizeof(tests) / sizeof(tests[0]));
}
