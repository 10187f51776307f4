/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory windows through Bind, Invalidate and IND2MemoryWindow: rights, tokens, which peers may use
 * them, and that a bound window keeps its region alive. Start with
 * A13_windows_ask_the_region_for_nothing_but_local_write().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	READ = ND_OP_FLAG_ALLOW_READ,
	WRITE = ND_OP_FLAG_ALLOW_WRITE,
	WINDOW_AT = 4096, /* in b's arena */
	WINDOW_BYTES = 1000,
	SECOND = 65536, /* for data that does not matter */
};

static IUnknown *
unknown(void *object)
{
	return object;
}

static HRESULT
bind_in(IND2QueuePair *qp, uintptr_t context, IND2MemoryRegion *mr, IND2MemoryWindow *mw,
	const struct nd_side *side, ULONG flags)
{
	return IND2QueuePair_Bind(qp, (void *)context, unknown(mr), unknown(mw),
				  side->arena + WINDOW_AT, WINDOW_BYTES, flags);
}

static HRESULT
invalidate(struct nd_side *side, uintptr_t context, IND2MemoryWindow *mw)
{
	return IND2QueuePair_Invalidate(side->qp, (void *)context, unknown(mw), 0);
}

/* a reads or writes b's arena by this token. */
static void
access_by(struct nd_pair *pair, uintptr_t context, UINT32 token, uint32_t at, uint32_t bytes,
	  bool read)
{
	ND2_SGE sge = nd_sge(&pair->a, SECOND, bytes);
	uint64_t there = (uint64_t)(uintptr_t)(pair->b.arena + at);

	if (read)
		assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)context, &sge, 1, there, token, 0),
			  ND_SUCCESS);
	else
		assert_hr(
			IND2QueuePair_Write(pair->a.qp, (void *)context, &sge, 1, there, token, 0),
			ND_SUCCESS);
}

/* ---- rights ---- */

static void
A13_windows_ask_the_region_for_nothing_but_local_write(void **state)
{
	static const struct {
		ULONG region, window;
		HRESULT bind, read, write;
	} cases[] = {
		{0, 0, ND_SUCCESS, ND_ACCESS_VIOLATION, ND_ACCESS_VIOLATION},
		{0, READ, ND_SUCCESS, ND_SUCCESS, ND_ACCESS_VIOLATION},
		{0, WRITE, ND_ACCESS_VIOLATION, 0, 0},
		{0, READ | WRITE, ND_ACCESS_VIOLATION, 0, 0},
		{ND_MR_FLAG_ALLOW_REMOTE_READ, WRITE, ND_ACCESS_VIOLATION, 0, 0},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, 0, ND_SUCCESS, ND_ACCESS_VIOLATION,
		 ND_ACCESS_VIOLATION},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, WRITE, ND_SUCCESS, ND_ACCESS_VIOLATION, ND_SUCCESS},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, READ | WRITE, ND_SUCCESS, ND_SUCCESS, ND_SUCCESS},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct nd_pair *pair = nd_pair_open(NULL);
		struct nd_side *b = &pair->b;
		IND2MemoryRegion *mr = nd_side_mr(b, b->arena, ND_ARENA, cases[i / 2].region);
		IND2MemoryWindow *mw = nd_side_mw(b);
		bool read = i % 2;

		assert_hr(bind_in(b->qp, 1, mr, mw, b, cases[i / 2].window), cases[i / 2].bind);
		if (cases[i / 2].bind == ND_SUCCESS) {
			nd_expect(b->initiator_cq, 1, ND_SUCCESS);
			access_by(pair, 2, IND2MemoryWindow_GetRemoteToken(mw), WINDOW_AT,
				  WINDOW_BYTES, read);
			nd_expect(pair->a.initiator_cq, 2,
				  read ? cases[i / 2].read : cases[i / 2].write);
		}
		nd_expect_none(b->initiator_cq);
		nd_release(mw, 0);
		nd_mr_end(mr);
		nd_pair_close(pair);
	}
}

static void
bind_refuses_what_is_outside_and_what_is_bound(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryWindow *mw = nd_side_mw(b);
	void *unregistered = NULL;
	UINT32 token;

	(void)state;
	assert_hr(IND2Adapter_CreateMemoryRegion(b->adapter, &IID_IND2MemoryRegion, b->file,
						 &unregistered),
		  ND_SUCCESS);
	assert_hr(bind_in(b->qp, 1, unregistered, mw, b, READ), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2QueuePair_Bind(b->qp, NULL, unknown(b->mr), unknown(mw),
				     b->arena + ND_ARENA - 7, 8, READ),
		  ND_ACCESS_VIOLATION);
	assert_hr(
		IND2QueuePair_Bind(b->qp, NULL, unknown(b->mr), unknown(mw), b->arena - 1, 8, READ),
		ND_ACCESS_VIOLATION);
	assert_hr(IND2QueuePair_Bind(b->qp, NULL, unknown(b->mr), unknown(mw), b->arena, SIZE_MAX,
				     READ),
		  ND_ACCESS_VIOLATION);
	assert_hr(bind_in(b->qp, 1, b->mr, mw, b, READ), ND_SUCCESS);
	token = IND2MemoryWindow_GetRemoteToken(mw);
	assert_int_not_equal(token, b->remote);
	assert_hr(bind_in(b->qp, 2, b->mr, mw, b, READ | WRITE), ND_INVALID_DEVICE_STATE);
	assert_int_equal(IND2MemoryWindow_GetRemoteToken(mw), token);
	assert_hr(invalidate(b, 3, mw), ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
	nd_expect(b->initiator_cq, 3, ND_SUCCESS);
	assert_hr(bind_in(b->qp, 4, b->mr, mw, b, READ), ND_SUCCESS);
	assert_int_not_equal(IND2MemoryWindow_GetRemoteToken(mw), token);
	nd_expect(b->initiator_cq, 4, ND_SUCCESS);
	nd_expect_none(b->initiator_cq);
	nd_release((IND2MemoryRegion *)unregistered, 0);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

/* Unbound: the completion has the error, and the queue pair fails as with any other fault. */
static void
invalidate_of_an_unbound_window_is_an_invalid_request(void **state)
{
	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		struct nd_pair *pair = nd_pair_open(NULL);
		IND2MemoryWindow *mw = nd_side_mw(&pair->b);

		if (twice) {
			assert_hr(bind_in(pair->b.qp, 1, pair->b.mr, mw, &pair->b, READ),
				  ND_SUCCESS);
			assert_hr(invalidate(&pair->b, 2, mw), ND_SUCCESS);
			nd_expect(pair->b.initiator_cq, 1, ND_SUCCESS);
			nd_expect(pair->b.initiator_cq, 2, ND_SUCCESS);
		}
		assert_hr(invalidate(&pair->b, 3, mw), ND_SUCCESS);
		nd_expect(pair->b.initiator_cq, 3, ND_INVALID_DEVICE_REQUEST);
		nd_release(mw, 0);
		nd_pair_close(pair);
	}
}

/* ---- the token ---- */

/* It is sent to the peer right behind the Bind, whose completion nobody has read. */
static void
A14_the_token_is_good_as_soon_as_bind_returns(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryWindow *mw = nd_side_mw(b);

	(void)state;
	for (uint8_t round = 0; round < 50; round++) {
		UINT32 token;

		nd_receive(&pair->a, 1, 0, sizeof(token));
		assert_hr(bind_in(b->qp, 2, b->mr, mw, b, READ), ND_SUCCESS);
		token = IND2MemoryWindow_GetRemoteToken(mw);
		memcpy(b->arena, &token, sizeof(token));
		nd_fill(b, WINDOW_AT, WINDOW_BYTES, round);
		nd_send(b, 3, 0, sizeof(token), 0);
		nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
		memcpy(&token, pair->a.arena, sizeof(token));
		access_by(pair, 4, token, WINDOW_AT, WINDOW_BYTES, true);
		nd_expect(pair->a.initiator_cq, 4, ND_SUCCESS);
		assert_memory_equal(pair->a.arena + SECOND, b->arena + WINDOW_AT, WINDOW_BYTES);
		assert_hr(invalidate(b, 5, mw), ND_SUCCESS);
		nd_expect(b->initiator_cq, 2, ND_SUCCESS);
		nd_expect(b->initiator_cq, 3, ND_SUCCESS);
		nd_expect(b->initiator_cq, 5, ND_SUCCESS);
	}
	nd_release(mw, 0);
	nd_pair_close(pair);
}

enum misuse {
	STALE,         /* of the binding before */
	INVALIDATED,   /* nothing is bound now */
	BELOW,         /* a byte in front of the window */
	BEYOND,        /* a byte behind it */
	OTHER_PAIR,    /* bound through another queue pair */
	WRITE_TO_READ, /* a right that it does not grant */
	RELEASED,      /* the window is invalid */
	MISUSES,
};

/* Returns: a token by which a must not get through */
static UINT32
misuse(struct nd_pair *pair, enum misuse kind, IND2MemoryWindow **mw, IND2QueuePair *other)
{
	struct nd_side *b = &pair->b;
	IND2QueuePair *qp = kind == OTHER_PAIR ? other : b->qp;
	UINT32 token;

	assert_hr(bind_in(qp, 1, b->mr, *mw, b, kind == WRITE_TO_READ ? READ : READ | WRITE),
		  ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
	token = IND2MemoryWindow_GetRemoteToken(*mw);
	if (kind == STALE || kind == INVALIDATED) {
		assert_hr(invalidate(b, 2, *mw), ND_SUCCESS);
		nd_expect(b->initiator_cq, 2, ND_SUCCESS);
	}
	if (kind == STALE) {
		assert_hr(bind_in(qp, 3, b->mr, *mw, b, READ | WRITE), ND_SUCCESS);
		nd_expect(b->initiator_cq, 3, ND_SUCCESS);
	}
	if (kind == RELEASED) {
		nd_release(*mw, 0);
		*mw = NULL;
	}
	return token;
}

/* The initiator has ACCESS_VIOLATION, the owner's receives are cancelled, and no byte has moved. */
static void
A14_a_wrong_token_queue_pair_or_byte_is_an_access_violation(void **state)
{
	(void)state;
	for (int kind = 0; kind < MISUSES; kind++) {
		struct nd_pair *pair = nd_pair_open(NULL);
		struct nd_side *b = &pair->b;
		IND2MemoryWindow *mw = nd_side_mw(b);
		IND2Connector *connector[2] = {nd_side_connector(&pair->a), nd_side_connector(b)};
		IND2QueuePair *qp[2] = {nd_side_qp(&pair->a, &pair->options, NULL),
					nd_side_qp(b, &pair->options, NULL)};
		uint32_t at = WINDOW_AT, bytes = WINDOW_BYTES;
		UINT32 token;

		nd_pair_join(pair, connector[0], qp[0], connector[1], qp[1]);
		nd_receive(b, 7, 0, 8);
		nd_fill(b, 0, SECOND, 1);
		nd_fill(&pair->a, SECOND, WINDOW_BYTES, 2);
		token = misuse(pair, kind, &mw, qp[1]);
		if (kind == BELOW)
			at--;
		if (kind == BEYOND)
			bytes++;
		access_by(pair, 8, token, at, bytes, false);
		nd_expect(pair->a.initiator_cq, 8, ND_ACCESS_VIOLATION);
		nd_expect(b->receive_cq, 7, ND_CANCELED);
		nd_assert_filled(b, 0, SECOND, 1);
		for (int i = 0; i < 2; i++) {
			nd_release(connector[i], 0);
			nd_release(qp[i], 0);
		}
		if (mw)
			nd_release(mw, 0);
		nd_pair_close(pair);
	}
}

/* ... and bound anew through another queue pair, it is good there. */
static void
a_window_can_be_bound_through_another_queue_pair(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryRegion *other = nd_side_mr(b, b->arena, SECOND, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	IND2MemoryWindow *mw = nd_side_mw(b);
	IND2Connector *connector[2] = {nd_side_connector(&pair->a), nd_side_connector(b)};
	IND2QueuePair *qp[2] = {nd_side_qp(&pair->a, &pair->options, NULL),
				nd_side_qp(b, &pair->options, NULL)};

	(void)state;
	nd_pair_join(pair, connector[0], qp[0], connector[1], qp[1]);
	assert_hr(bind_in(qp[1], 1, b->mr, mw, b, WRITE), ND_SUCCESS);
	/* invalidated through the one, bound to another region through the other */
	assert_hr(IND2QueuePair_Invalidate(qp[1], (void *)2, unknown(mw), 0), ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
	nd_expect(b->initiator_cq, 2, ND_SUCCESS);
	assert_hr(bind_in(b->qp, 3, other, mw, b, WRITE), ND_SUCCESS);
	nd_expect(b->initiator_cq, 3, ND_SUCCESS);
	nd_fill(&pair->a, SECOND, 100, 7);
	access_by(pair, 4, IND2MemoryWindow_GetRemoteToken(mw), WINDOW_AT, 100, false);
	nd_expect(pair->a.initiator_cq, 4, ND_SUCCESS);
	assert_memory_equal(b->arena + WINDOW_AT, pair->a.arena + SECOND, 100);
	for (int i = 0; i < 2; i++) {
		nd_release(connector[i], 0);
		nd_release(qp[i], 0);
	}
	nd_release(mw, 0);
	nd_mr_end(other);
	nd_pair_close(pair);
}

/* ---- the region behind it ---- */

/* BUSY in the call: the OVERLAPPED has the status and nothing else happens. */
static void
A12_a_bound_window_keeps_the_region(void **state)
{
	enum {
		BY_INVALIDATE,
		BY_RELEASE,
		BY_RELEASE_AFTER_DISCONNECT,
		WAYS,
	};
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

	(void)state;
	for (int way = 0; way < WAYS; way++) {
		struct nd_pair *pair = nd_pair_open(NULL);
		struct nd_side *b = &pair->b;
		IND2MemoryRegion *mr = nd_side_mr(b, b->arena, ND_ARENA, 0);
		IND2MemoryWindow *mw = nd_side_mw(b);
		OVERLAPPED ov = {.hEvent = event};

		assert_hr(bind_in(b->qp, 1, mr, mw, b, READ), ND_SUCCESS);
		assert_hr(IND2MemoryRegion_Deregister(mr, &ov), ND_DEVICE_BUSY);
		assert_hr((HRESULT)ov.Internal, ND_DEVICE_BUSY);
		assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
		nd_expect(b->initiator_cq, 1, ND_SUCCESS);
		assert_hr(IND2MemoryRegion_Deregister(mr, &ov), ND_DEVICE_BUSY);
		/* refused, it is as it was */
		access_by(pair, 2, IND2MemoryWindow_GetRemoteToken(mw), WINDOW_AT, 8, true);
		nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
		if (way == BY_RELEASE_AFTER_DISCONNECT) {
			OVERLAPPED gone = {0};

			assert_hr(IND2Connector_Disconnect(b->connector, &gone), ND_PENDING);
			assert_hr(nd_wait(&gone), ND_SUCCESS);
			assert_hr(IND2MemoryRegion_Deregister(mr, &ov), ND_DEVICE_BUSY);
		}
		if (way == BY_INVALIDATE) {
			assert_hr(invalidate(b, 3, mw), ND_SUCCESS);
			nd_expect(b->initiator_cq, 3, ND_SUCCESS);
		} else {
			nd_release(mw, 0);
		}
		assert_hr(IND2MemoryRegion_Deregister(mr, &ov), ND_PENDING);
		assert_int_equal(WaitForSingleObject(event, TEST_PATIENCE_MS), WAIT_OBJECT_0);
		assert_hr((HRESULT)ov.Internal, ND_SUCCESS);
		if (way == BY_INVALIDATE)
			nd_release(mw, 0);
		nd_release(mr, 0);
		nd_pair_close(pair);
	}
	CloseHandle(event);
}

/* A Bind that is cancelled leaves the window unbound. */
static void
a_bind_that_is_flushed_keeps_nothing(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryRegion *mr = nd_side_mr(b, b->arena, ND_ARENA, 0);
	IND2MemoryWindow *mw = nd_side_mw(b);

	(void)state;
	assert_hr(IND2QueuePair_Flush(b->qp), ND_SUCCESS);
	assert_hr(bind_in(b->qp, 1, mr, mw, b, READ), ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_CANCELED);
	nd_mr_end(mr);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

/* The region's last reference is released first: the window keeps working, and holds the region. */
static void
a_region_may_be_released_under_its_window(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryRegion *mr = nd_side_mr(b, b->arena, ND_ARENA, 0);
	IND2MemoryWindow *mw = nd_side_mw(b);

	(void)state;
	assert_hr(bind_in(b->qp, 1, mr, mw, b, READ), ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
	nd_release(mr, 0);
	access_by(pair, 2, IND2MemoryWindow_GetRemoteToken(mw), WINDOW_AT, 8, true);
	nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
	assert_hr(invalidate(b, 3, mw), ND_SUCCESS);
	nd_expect(b->initiator_cq, 3, ND_SUCCESS);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

/* Unbound again, a region that is released is not registered any more: its token is dead though the
 * window remembers it. */
static void
a_released_region_is_dead_though_a_window_was_bound_to_it(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *b = &pair->b;
	IND2MemoryRegion *mr = nd_side_mr(b, b->arena, ND_ARENA, ND_MR_FLAG_ALLOW_REMOTE_READ);
	IND2MemoryWindow *mw = nd_side_mw(b);
	UINT32 token = IND2MemoryRegion_GetRemoteToken(mr);

	(void)state;
	assert_hr(bind_in(b->qp, 1, mr, mw, b, READ), ND_SUCCESS);
	assert_hr(invalidate(b, 2, mw), ND_SUCCESS);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
	nd_expect(b->initiator_cq, 2, ND_SUCCESS);
	access_by(pair, 3, token, WINDOW_AT, 8, true);
	nd_expect(pair->a.initiator_cq, 3, ND_SUCCESS);
	nd_release(mr, 0);
	access_by(pair, 4, token, WINDOW_AT, 8, true);
	nd_expect(pair->a.initiator_cq, 4, ND_ACCESS_VIOLATION);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A12_a_bound_window_keeps_the_region),
		ND_TEST(A13_windows_ask_the_region_for_nothing_but_local_write),
		ND_TEST(A14_the_token_is_good_as_soon_as_bind_returns),
		ND_TEST(A14_a_wrong_token_queue_pair_or_byte_is_an_access_violation),
		ND_TEST(bind_refuses_what_is_outside_and_what_is_bound),
		ND_TEST(invalidate_of_an_unbound_window_is_an_invalid_request),
		ND_TEST(a_window_can_be_bound_through_another_queue_pair),
		ND_TEST(a_bind_that_is_flushed_keeps_nothing),
		ND_TEST(a_region_may_be_released_under_its_window),
		ND_TEST(a_released_region_is_dead_though_a_window_was_bound_to_it),
	};

	return nd_run_both("windows", tests, sizeof(tests) / sizeof(tests[0]));
}
