/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between NotifyDisconnect and the flush: disconnect_grace_ms. The adapters differ: when its peer
 * disconnects, nd0 has a grace period of half a minute, which only the client's own calls end, and
 * nd1 a very short one. Start with nothing_is_flushed_before_the_grace_is_over().
 */
#include "nd2_pair.h"

#include <string.h>

enum {
	RECEIVES = 4,
	MOMENT_MS = 300,   /* of nd1 */
	ENDLESS_MS = 5000, /* far less than nd0 has, and more than a call takes */
};

static const char *const device[2] = {"", ""};
static const char *const settings[2] = {ND_YIELDING " disconnect_grace_ms = 30000;",
					ND_YIELDING " disconnect_grace_ms = 300;"};

static void
post_receives(struct nd_side *side)
{
	for (uint32_t i = 0; i < RECEIVES; i++)
		nd_receive(side, i, 0, 64);
}

static void
expect_flushed(struct nd_side *side)
{
	for (uint32_t i = 0; i < RECEIVES; i++)
		nd_expect(side->receive_cq, i, ND_CANCELED);
}

/* One side disconnects, and the other was notified.
 * Returns: when */
static uint64_t
leave(struct nd_pair *pair, IND2Connector *leaver, struct nd_side *left)
{
	OVERLAPPED told = {0};

	post_receives(left);
	assert_hr(IND2Connector_NotifyDisconnect(left->connector, &told), ND_PENDING);
	assert_hr(IND2Connector_Disconnect(leaver, &pair->left), ND_PENDING);
	assert_hr(nd_wait(&told), ND_SUCCESS);
	/* a disconnecting side is answered by the peer's manager, not by its program */
	assert_hr(nd_wait(&pair->left), ND_SUCCESS);
	return test_ms();
}

static void
nothing_is_flushed_before_the_grace_is_over(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	ND2_RESULT result;
	uint64_t told = leave(pair, pair->a.connector, &pair->b);

	/* The notification may be late, but not this late. */
	nd_until(IND2CompletionQueue_GetResults(pair->b.receive_cq, &result, 1) == 1);
	assert_true(test_ms() - told >= MOMENT_MS / 2);
	assert_hr(result.Status, ND_CANCELED);
	for (uint32_t i = 1; i < RECEIVES; i++)
		nd_expect(pair->b.receive_cq, i, ND_CANCELED);
	nd_pair_close(pair);
}

/* ---- what ends it ---- */

static struct nd_pair *
in_grace(void **state, uint64_t *told)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);

	*told = leave(pair, pair->b.connector, &pair->a);
	nd_expect_none(pair->a.receive_cq);
	return pair;
}

static void
ends_at_once(struct nd_pair *pair, uint64_t told)
{
	expect_flushed(&pair->a);
	assert_true(test_ms() - told < ENDLESS_MS);
	nd_pair_close(pair);
}

static void
disconnect_ends_the_grace(void **state)
{
	OVERLAPPED ov = {0};
	uint64_t told;
	struct nd_pair *pair = in_grace(state, &told);

	nd_pends(IND2Connector_Disconnect(pair->a.connector, &ov), ND_SUCCESS);
	ends_at_once(pair, told);
}

static void
flush_ends_the_grace(void **state)
{
	uint64_t told;
	struct nd_pair *pair = in_grace(state, &told);

	assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
	ends_at_once(pair, told);
}

static void
release_of_the_connector_ends_the_grace(void **state)
{
	uint64_t told;
	struct nd_pair *pair = in_grace(state, &told);

	nd_release(pair->a.connector, 0);
	pair->a.connector = NULL;
	ends_at_once(pair, told);
}

/* Nobody can post to it or flush it any more: its requests are dropped, as usual. */
static void
release_of_the_queue_pair_ends_the_grace(void **state)
{
	uint64_t told;
	struct nd_pair *pair = in_grace(state, &told);
	OVERLAPPED ov = {0};

	nd_release(pair->a.qp, 0);
	pair->a.qp = NULL;
	nd_pends(IND2Connector_NotifyDisconnect(pair->a.connector, &ov), ND_SUCCESS);
	nd_pends(IND2Connector_Disconnect(pair->a.connector, &ov), ND_SUCCESS);
	assert_true(test_ms() - told < ENDLESS_MS);
	nd_pair_close(pair);
}

/* A request can still be posted; it ends as the earlier ones do. */
static void
what_is_posted_in_the_grace_is_flushed_with_the_rest(void **state)
{
	uint64_t told;
	struct nd_pair *pair = in_grace(state, &told);
	OVERLAPPED ov = {0};

	nd_receive(&pair->a, RECEIVES, 0, 64);
	nd_pends(IND2Connector_Disconnect(pair->a.connector, &ov), ND_SUCCESS);
	expect_flushed(&pair->a);
	nd_expect(pair->a.receive_cq, RECEIVES, ND_CANCELED);
	nd_pair_close(pair);
}

/* A fault is no farewell. */
static void
a_queue_pair_that_fails_has_no_grace(void **state)
{
	struct nd_pair *pair = nd_pair_established(state, NULL);
	ND2_SGE sge = nd_sge(&pair->a, 0, 64);
	uint64_t begun = test_ms();

	post_receives(&pair->a);
	assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)77, &sge, 1,
				     (uint64_t)(uintptr_t)pair->b.arena + ND_ARENA, pair->b.remote,
				     0),
		  ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 77, ND_ACCESS_VIOLATION);
	expect_flushed(&pair->a);
	assert_true(test_ms() - begun < ENDLESS_MS);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(nothing_is_flushed_before_the_grace_is_over),
		ND_FAMILY_TESTS(disconnect_ends_the_grace),
		ND_FAMILY_TESTS(flush_ends_the_grace),
		ND_FAMILY_TESTS(release_of_the_connector_ends_the_grace),
		ND_FAMILY_TESTS(release_of_the_queue_pair_ends_the_grace),
		ND_FAMILY_TESTS(what_is_posted_in_the_grace_is_flushed_with_the_rest),
		ND_FAMILY_TESTS(a_queue_pair_that_fails_has_no_grace),
	};

	nd_start(nd_link(device, settings));
	return nd_run("grace", tests, sizeof(tests) / sizeof(tests[0]));
}
