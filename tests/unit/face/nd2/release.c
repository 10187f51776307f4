/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Releases in every order: all permutations of a client's objects, with and without a connection,
 * and the order that Microsoft's own tests use. Nothing may crash, every count is exact, pending
 * requests complete before the last Release returns, and the peer is notified.
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

/* ---- permutations ---- */

enum {
	ITEMS_MAX = 8,
};

typedef void visit_fn(const unsigned *order, unsigned n, void *context);

/* Every order of 0 .. n-1, by Heap's method. */
static void
permute(unsigned *order, unsigned n, unsigned all, visit_fn *visit, void *context)
{
	if (n == 1) {
		visit(order, all, context);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned at = n % 2 ? 0 : i, last = order[n - 1];

		permute(order, n - 1, all, visit, context);
		order[n - 1] = order[at];
		order[at] = last;
	}
}

static void
in_every_order(unsigned n, visit_fn *visit, void *context)
{
	unsigned order[ITEMS_MAX];

	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	permute(order, n, n, visit, context);
}

/* ---- a client's objects ---- */

struct held {
	IUnknown *object; /* NULL: the item is the file */
	HANDLE file;
};

static void
teardown(const struct held *item)
{
	if (item->object)
		assert_int_equal(IUnknown_Release(item->object), 0);
	else
		assert_true(CloseHandle(item->file));
}

static struct held
holding(void *object)
{
	return (struct held){.object = object};
}

/* ---- not connected ---- */

enum {
	UNCONNECTED = 7,
};

struct counted {
	unsigned orders;
};

static void
unconnected_in_this_order(const unsigned *order, unsigned n, void *context)
{
	struct counted *counted = context;
	struct nd_side side;
	struct held held[UNCONNECTED];
	OVERLAPPED ov[2];
	void *mw = NULL;

	nd_side_open(&side, 0, &(struct nd_options){.srq = counted->orders % 2});
	assert_hr(IND2Adapter_CreateMemoryWindow(side.adapter, &IID_IND2MemoryWindow, &mw),
		  ND_SUCCESS);
	memset(ov, 0, sizeof(ov));
	assert_hr(IND2CompletionQueue_Notify(side.receive_cq, ND_CQ_NOTIFY_ANY, &ov[0]),
		  ND_PENDING);
	if (side.srq) {
		nd_receive(&side, 1, 0, 64);
		nd_release(side.srq, 0); /* the queue pair keeps it */
	}
	held[0] = holding(side.adapter);
	held[1] = (struct held){.file = side.file};
	held[2] = holding(side.receive_cq);
	held[3] = holding(side.qp);
	held[4] = holding(side.mr); /* registered */
	held[5] = holding(mw);
	held[6] = holding(side.connector);
	for (unsigned i = 0; i < n; i++)
		teardown(&held[order[i]]);
	assert_hr((HRESULT)ov[0].Internal, ND_CANCELED);
	nd_memory_free(side.arena);
	counted->orders++;
}

static void
all_orders_of_release(void **state)
{
	IND2Adapter *open = nd_adapter(0); /* so that the device is opened once */
	struct counted counted = {0};

	(void)state;
	in_every_order(UNCONNECTED, unconnected_in_this_order, &counted);
	assert_int_equal(counted.orders, 5040);
	nd_release(open, 0);
	assert_hr(nd_can_unload(), S_OK);
}

/* ---- connected ---- */

enum {
	CONNECTED = 6,
};

/* A window bound, receives posted, everything that can pend pending. */
static IND2MemoryWindow *
load(struct nd_side *side, OVERLAPPED *ov)
{
	IND2MemoryWindow *mw;
	void *made = NULL;

	assert_hr(IND2Adapter_CreateMemoryWindow(side->adapter, &IID_IND2MemoryWindow, &made),
		  ND_SUCCESS);
	mw = made;
	assert_hr(IND2QueuePair_Bind(side->qp, NULL, (IUnknown *)(void *)side->mr,
				     (IUnknown *)(void *)mw, side->arena, 4096,
				     ND_OP_FLAG_ALLOW_READ),
		  ND_SUCCESS);
	nd_expect(side->initiator_cq, 0, ND_SUCCESS);
	nd_receive(side, 1, 0, 64);
	nd_receive(side, 2, 64, 64);
	assert_hr(IND2CompletionQueue_Notify(side->receive_cq, ND_CQ_NOTIFY_ANY, &ov[0]),
		  ND_PENDING);
	assert_hr(IND2Connector_NotifyDisconnect(side->connector, &ov[1]), ND_PENDING);
	return mw;
}

static void
connected_in_this_order(const unsigned *order, unsigned n, void *context)
{
	struct counted *counted = context;
	struct nd_pair *pair = nd_pair_open(
		&(struct nd_options){.family = counted->orders % 2 ? AF_INET6 : AF_INET});
	struct nd_side *gone = counted->orders % 4 < 2 ? &pair->a : &pair->b;
	struct nd_side *stays = gone == &pair->a ? &pair->b : &pair->a;
	OVERLAPPED *ov = calloc(2, sizeof(*ov)), told = {0};
	IND2MemoryWindow *mw = load(gone, ov);
	const struct held held[CONNECTED] = {
		holding(gone->adapter),
		holding(gone->receive_cq),
		holding(gone->qp),
		holding(gone->mr),
		holding(mw),
		holding(gone->connector),
	};

	assert_hr(IND2Connector_NotifyDisconnect(stays->connector, &told), ND_PENDING);
	nd_receive(stays, 7, 0, 64);
	assert_true(CloseHandle(gone->file));
	for (unsigned i = 0; i < n; i++)
		teardown(&held[order[i]]);
	assert_int_not_equal(ov[0].Internal, STATUS_PENDING);
	assert_int_not_equal(ov[1].Internal, STATUS_PENDING);
	free(ov);
	nd_memory_free(gone->arena);
	memset(gone, 0, sizeof(*gone));
	assert_hr(nd_wait(&told), ND_SUCCESS);
	nd_expect(stays->receive_cq, 7, ND_CANCELED);
	nd_pair_close(pair);
	counted->orders++;
}

static void
all_orders_of_release_with_a_connection(void **state)
{
	IND2Adapter *open[2] = {nd_adapter(0), nd_adapter(1)};
	struct counted counted = {0};

	(void)state;
	in_every_order(CONNECTED, connected_in_this_order, &counted);
	assert_int_equal(counted.orders, 720);
	nd_release(open[0], 0);
	nd_release(open[1], 0);
	assert_hr(nd_can_unload(), S_OK);
}

/* ---- the order of Microsoft's tests ---- */

/* Disconnect and Deregister on one OVERLAPPED, both results ignored, then: listener, region,
 * window, queue, only then queue pair, connector, file, adapter, event. */
static void
end_as_tests_do(struct nd_pair *pair, struct nd_side *side)
{
	OVERLAPPED *ov = calloc(1, sizeof(*ov));
	void *mw = NULL;

	ov->hEvent = CreateEventW(NULL, FALSE, FALSE, NULL);
	assert_hr(IND2Adapter_CreateMemoryWindow(side->adapter, &IID_IND2MemoryWindow, &mw),
		  ND_SUCCESS);
	(void)IND2Connector_Disconnect(side->connector, ov);
	(void)IND2MemoryRegion_Deregister(side->mr, ov);
	if (side == &pair->b)
		nd_release(pair->listener, 0);
	nd_release(side->mr, 0);
	nd_release((IND2MemoryWindow *)mw, 0);
	nd_release(side->receive_cq, 0);
	nd_release(side->qp, 0);
	nd_release(side->connector, 0);
	assert_true(CloseHandle(side->file));
	nd_release(side->adapter, 0);
	assert_true(CloseHandle(ov->hEvent));
	memset(ov, 0xdd, sizeof(*ov));
	free(ov);
	nd_memory_free(side->arena);
	memset(side, 0, sizeof(*side));
}

static void
order_of_release_of_the_reference_tests(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct nd_pair *pair = nd_pair_open(NULL);

		end_as_tests_do(pair, i % 2 ? &pair->a : &pair->b);
		end_as_tests_do(pair, i % 2 ? &pair->b : &pair->a);
		free(pair);
		assert_hr(nd_can_unload(), S_OK);
	}
}

/* Nobody disconnects, nobody deregisters. */
static void
release_is_enough(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct nd_side *side = i ? &pair->b : &pair->a;

		nd_release(side->adapter, 0);
		nd_release(side->connector, 0);
		nd_release(side->mr, 0);
		nd_release(side->qp, 0);
		nd_release(side->receive_cq, 0);
		assert_true(CloseHandle(side->file));
		nd_memory_free(side->arena);
	}
	nd_release(pair->listener, 0);
	free(pair);
	assert_hr(nd_can_unload(), S_OK);
}

/* A count of 0 stays 0, though the object lives on in its children, and mistakes are not counted.
 */
static void
what_was_released_does_not_come_back(void **state)
{
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	nd_release(side.receive_cq, 0);
	nd_release(side.receive_cq, 0);
	assert_int_equal(IND2CompletionQueue_AddRef(side.receive_cq), 0);
	nd_release(side.receive_cq, 0);
	/* the queue pair works on it */
	nd_receive(&side, 1, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	side.receive_cq = side.initiator_cq = NULL;
	nd_side_close(&side);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(all_orders_of_release),
		ND_TEST(all_orders_of_release_with_a_connection),
		ND_TEST(order_of_release_of_the_reference_tests),
		ND_TEST(release_is_enough),
		ND_TEST(what_was_released_does_not_come_back),
	};

	return nd_run("release", tests, sizeof(tests) / sizeof(tests[0]));
}
