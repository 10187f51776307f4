/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bad input: every refusal of the contract's tables, with its status, and that it changes nothing.
 * Posts by tables; what connecting refuses is in connect.c, too. Start with
 * flags_that_an_operation_does_not_have_are_refused().
 */
#include <netinet/in.h>
#include <ntstatus.h>
#include <stdlib.h>

#include "ndk_pair.h"

/* ---- flags ---- */

enum op {
	SEND,
	SEND_AND_INVALIDATE,
	WRITE,
	READ,
	BIND,
	FAST_REGISTER,
	INVALIDATE,
	OPS,
};

enum {
	INITIATOR = NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE | NDK_OP_FLAG_DEFER,
	WINDOW = NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE,
};

/* What each operation takes; everything else is refused. */
static const ULONG flags_of[OPS] = {
	[SEND] = INITIATOR | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT | NDK_OP_FLAG_INLINE,
	[SEND_AND_INVALIDATE] = INITIATOR | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT | NDK_OP_FLAG_INLINE,
	[WRITE] = INITIATOR | NDK_OP_FLAG_INLINE,
	[READ] = INITIATOR | NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE,
	[BIND] = INITIATOR | WINDOW,
	[FAST_REGISTER] =
		INITIATOR | WINDOW | NDK_OP_FLAG_ALLOW_LOCAL_WRITE | NDK_OP_FLAG_RDMA_READ_SINK,
	[INVALIDATE] = INITIATOR,
};

/* One of each operation, valid but for what a test changes. */
struct posts {
	struct ndk_pair *pair;
	struct ndk_side *side; /* that posts */
	NDK_MR *fast;
	NDK_MW *window; /* bound */
	NDK_MW *idle;   /* not bound */
	NDK_LOGICAL_ADDRESS page;
};

static NTSTATUS
post(struct posts *posts, enum op op, ULONG flags)
{
	struct ndk_side *side = posts->side;
	const NDK_QP_DISPATCH *qp = posts->pair->a.qp->Dispatch;
	NDK_SGE sge = ndk_sge(side, 0, 8);

	switch (op) {
	case SEND:
		return qp->NdkSend(side->qp, NULL, &sge, 1, flags);
	case SEND_AND_INVALIDATE:
		return qp->NdkSendAndInvalidate(side->qp, NULL, &sge, 1, flags, 1);
	case WRITE:
		return qp->NdkWrite(side->qp, NULL, &sge, 1, 0, 0, flags);
	case READ:
		return qp->NdkRead(side->qp, NULL, &sge, 1, 0, 0, flags);
	case BIND:
		return qp->NdkBind(side->qp, NULL, side->mr, posts->idle, side->arena, 8, flags);
	case FAST_REGISTER:
		return qp->NdkFastRegister(side->qp, NULL, posts->fast, 1, &posts->page, 0, 8,
					   side->arena, flags);
	case INVALIDATE:
		return qp->NdkInvalidate(side->qp, NULL, &posts->window->Header, flags);
	case OPS:
		break;
	}
	fail();
	return STATUS_SUCCESS;
}

static void
open_posts(struct posts *posts, const struct ndk_options *options)
{
	struct ndk_pair *pair = ndk_pair_open(options);
	NDK_PD *pd = pair->a.pd;

	*posts = (struct posts){.pair = pair, .side = &pair->a};
	posts->fast = ndk_create(NDK_MR, pd->Dispatch->NdkCreateMr, pd, TRUE);
	posts->window = ndk_create(NDK_MW, pd->Dispatch->NdkCreateMw, pd);
	posts->idle = ndk_create(NDK_MW, pd->Dispatch->NdkCreateMw, pd);
	posts->page.QuadPart = (LONGLONG)(uintptr_t)pair->a.arena;
	assert_nt(ndk_result(posts->fast->Dispatch->NdkInitializeFastRegisterMr, posts->fast, 2,
			     TRUE),
		  STATUS_SUCCESS);
	assert_nt(pair->a.qp->Dispatch->NdkBind(pair->a.qp, NULL, pair->a.mr, posts->window,
						pair->a.arena, 8, NDK_OP_FLAG_ALLOW_REMOTE_READ),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 0, STATUS_SUCCESS);
}

/* What was refused has no result, has not changed a token, and has not hurt the queue pair. */
static void
close_posts(struct posts *posts)
{
	struct ndk_pair *pair = posts->pair;

	assert_int_equal(posts->fast->Dispatch->NdkGetLocalTokenFromMr(posts->fast), 0);
	assert_int_equal(posts->idle->Dispatch->NdkGetRemoteTokenFromMw(posts->idle), 0);
	ndk_expect_none(pair->a.cq);
	ndk_post_receive(&pair->b, 1, 0, 8);
	ndk_post_send(&pair->a, 2, 0, 8, 0);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	assert_nt(post(posts, INVALIDATE, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 0, STATUS_SUCCESS);
	ndk_end(posts->window->Dispatch->NdkCloseMw, posts->window);
	ndk_end(posts->idle->Dispatch->NdkCloseMw, posts->idle);
	ndk_end(posts->fast->Dispatch->NdkCloseMr, posts->fast);
	ndk_pair_close(pair);
}

static void
flags_that_an_operation_does_not_have_are_refused(void **state)
{
	struct posts posts;

	(void)state;
	open_posts(&posts, NULL);
	for (int op = 0; op < OPS; op++)
		for (ULONG flag = 1; flag != 0; flag <<= 1)
			if (!(flags_of[op] & flag))
				assert_nt(post(&posts, (enum op)op, flag),
					  STATUS_INVALID_PARAMETER);
	close_posts(&posts);
}

static void
flags_that_an_operation_has_are_taken(void **state)
{
	(void)state;
	for (int op = 0; op < OPS; op++) {
		struct posts posts;

		for (ULONG flag = 1; flag != 0; flag <<= 1) {
			/* with local write alone, or not at all: half of a right */
			if (!(flags_of[op] & flag) || flag == 0x20)
				continue;
			open_posts(&posts, &(struct ndk_options){.inline_bytes = 64});
			assert_nt(post(&posts, (enum op)op, flag), STATUS_SUCCESS);
			ndk_end(posts.window->Dispatch->NdkCloseMw, posts.window);
			ndk_end(posts.idle->Dispatch->NdkCloseMw, posts.idle);
			ndk_end(posts.fast->Dispatch->NdkCloseMr, posts.fast);
			ndk_pair_close(posts.pair);
		}
	}
}

/* ---- requests ---- */

static void
nothing_is_posted_without_a_connection(void **state)
{
	struct posts posts;
	struct ndk_side *side;
	NDK_QP *connected;

	(void)state;
	open_posts(&posts, NULL);
	side = posts.side;
	connected = side->qp;
	side->qp = ndk_side_qp(side, &posts.pair->options, NULL);
	for (int op = 0; op < OPS; op++)
		assert_nt(post(&posts, (enum op)op, 0), STATUS_CONNECTION_INVALID);
	ndk_end(side->qp->Dispatch->NdkCloseQp, side->qp);
	side->qp = connected;
	close_posts(&posts);
}

static void
messages_above_a_limit_are_refused(void **state)
{
	struct posts posts;
	const NDK_QP_DISPATCH *qp;
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);
	struct ndk_side *a;
	NDK_SGE sge[32];

	(void)state;
	open_posts(&posts, &(struct ndk_options){.sges = 2, .inline_bytes = 64});
	a = posts.side;
	qp = a->qp->Dispatch;
	assert_nt(a->adapter->Dispatch->NdkQueryAdapterInfo(a->adapter, &info, &bytes),
		  STATUS_SUCCESS);
	assert_true(info.MaxReadRequestSge + 1 <= 32 && info.MaxTransferLength < MAXULONG);
	for (int i = 0; i < 32; i++)
		sge[i] = ndk_sge(a, 0, 8);
	assert_nt(qp->NdkSend(a->qp, NULL, sge, 3, 0), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkSendAndInvalidate(a->qp, NULL, sge, 3, 0, 1), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkWrite(a->qp, NULL, sge, 3, 0, 0, 0), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkReceive(a->qp, NULL, sge, 3), STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkRead(a->qp, NULL, sge, info.MaxReadRequestSge + 1, 0, 0, 0),
		  STATUS_DATA_OVERRUN);
	assert_nt(qp->NdkSend(a->qp, NULL, NULL, 1, 0), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkSendAndInvalidate(a->qp, NULL, NULL, 1, 0, 1), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkWrite(a->qp, NULL, NULL, 1, 0, 0, 0), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkRead(a->qp, NULL, NULL, 1, 0, 0, 0), STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkReceive(a->qp, NULL, NULL, 1), STATUS_INVALID_PARAMETER);
	sge[0].Length = 65;
	assert_nt(qp->NdkSend(a->qp, NULL, sge, 1, NDK_OP_FLAG_INLINE), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkWrite(a->qp, NULL, sge, 1, 0, 0, NDK_OP_FLAG_INLINE),
		  STATUS_BUFFER_OVERFLOW);
	sge[0].Length = info.MaxTransferLength;
	sge[1].Length = 1;
	assert_nt(qp->NdkSend(a->qp, NULL, sge, 2, 0), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkSendAndInvalidate(a->qp, NULL, sge, 2, 0, 1), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkWrite(a->qp, NULL, sge, 2, 0, 0, 0), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkRead(a->qp, NULL, sge, 2, 0, 0, 0), STATUS_BUFFER_OVERFLOW);
	assert_nt(qp->NdkReceive(a->qp, NULL, sge, 2), STATUS_BUFFER_OVERFLOW);
	close_posts(&posts);
}

static void
windows_and_fast_regions_are_refused_by_their_status(void **state)
{
	struct posts posts;
	const NDK_QP_DISPATCH *qp;
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);
	struct ndk_side *a;
	NDK_MR *empty, *fast;

	(void)state;
	open_posts(&posts, NULL);
	a = posts.side;
	fast = posts.fast;
	qp = a->qp->Dispatch;
	empty = ndk_create(NDK_MR, a->pd->Dispatch->NdkCreateMr, a->pd, FALSE);
	assert_nt(a->adapter->Dispatch->NdkQueryAdapterInfo(a->adapter, &info, &bytes),
		  STATUS_SUCCESS);
	assert_nt(qp->NdkBind(a->qp, NULL, empty, posts.idle, a->arena, 8, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkBind(a->qp, NULL, a->mr, posts.idle, a->arena, info.MaxWindowSize + 1, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkBind(a->qp, NULL, a->mr, posts.idle, a->arena - 1, 8, 0),
		  STATUS_ACCESS_VIOLATION);
	assert_nt(qp->NdkBind(a->qp, NULL, a->mr, posts.idle, a->arena + NDK_ARENA - 7, 8, 0),
		  STATUS_ACCESS_VIOLATION);
	/* bound already: close_posts() invalidates that binding */
	assert_nt(qp->NdkBind(a->qp, NULL, a->mr, posts.window, a->arena, 8, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkInvalidate(a->qp, NULL, &a->mr->Header, 0), STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkInvalidate(a->qp, NULL, &posts.idle->Header, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkInvalidate(a->qp, NULL, &fast->Header, 0), STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(qp->NdkInvalidate(a->qp, NULL, &a->cq->Header, 0), STATUS_INVALID_DEVICE_REQUEST);
	/* pages, first byte offset, length, base address */
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 0, &posts.page, 0, 8, a->arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 3, &posts.page, 0, 8, a->arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, NULL, 0, 8, a->arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, &posts.page, PAGE_SIZE, 8, a->arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, &posts.page, 8, 8, NULL, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, &posts.page, 0, 8, a->arena + 1, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, &posts.page, 0, 0, a->arena, 0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, fast, 1, &posts.page, 1, PAGE_SIZE, a->arena + 1,
				      0),
		  STATUS_INVALID_PARAMETER);
	assert_nt(qp->NdkFastRegister(a->qp, NULL, a->mr, 1, &posts.page, 0, 8, a->arena, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	ndk_end(empty->Dispatch->NdkCloseMr, empty);
	close_posts(&posts);
}

/* ---- queues ---- */

static void
a_shared_queue_refuses_what_a_queue_pair_does(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(&(struct ndk_options){.srq = true, .depth = 2});
	struct ndk_side *a = &pair->a;
	const NDK_SRQ_DISPATCH *srq = a->srq->Dispatch;
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);
	NDK_SGE sge[5];
	NDK_QP *qp = NULL;

	(void)state;
	assert_nt(a->adapter->Dispatch->NdkQueryAdapterInfo(a->adapter, &info, &bytes),
		  STATUS_SUCCESS);
	for (int i = 0; i < 5; i++)
		sge[i] = ndk_sge(a, 0, 8);
	assert_nt(srq->NdkSrqReceive(a->srq, NULL, sge, 5), STATUS_DATA_OVERRUN);
	assert_nt(srq->NdkSrqReceive(a->srq, NULL, NULL, 1), STATUS_INVALID_PARAMETER);
	assert_nt(srq->NdkModifySrq(a->srq, info.MaxSrqDepth + 1, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	ndk_post_receive(a, 1, 0, 8);
	ndk_post_receive(a, 2, 0, 8);
	assert_nt(srq->NdkSrqReceive(a->srq, NULL, sge, 1), STATUS_NO_MORE_ENTRIES);
	/* shrinking below what is there changes nothing */
	assert_nt(ndk_result(srq->NdkModifySrq, a->srq, 1, 0), STATUS_BUFFER_OVERFLOW);
	assert_nt(srq->NdkSrqReceive(a->srq, NULL, sge, 1), STATUS_NO_MORE_ENTRIES);
	assert_nt(ndk_result(srq->NdkModifySrq, a->srq, 3, 0), STATUS_SUCCESS);
	assert_nt(srq->NdkSrqReceive(a->srq, NULL, sge, 1), STATUS_SUCCESS);
	for (int i = 0; i < 3; i++) {
		ULONG value[3] = {1, 1, 0};
		const ULONG most[3] = {info.MaxInitiatorQueueDepth, info.MaxInitiatorRequestSge,
				       info.MaxInlineDataSize};

		value[i] = most[i] + 1;
		assert_nt(a->pd->Dispatch->NdkCreateQpWithSrq(a->pd, a->cq, a->cq, a->srq, NULL,
							      value[0], value[1], value[2],
							      ndk_on_created, NULL, &qp),
			  STATUS_INVALID_PARAMETER);
	}
	assert_null(qp);
	ndk_pair_close(pair);
}

static void
a_completion_queue_keeps_what_it_holds(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_CQ *cq = pair->b.cq;

	(void)state;
	for (uintptr_t i = 1; i <= 3; i++) {
		ndk_post_receive(&pair->b, i, 0, 8);
		ndk_post_send(&pair->a, i, 0, 8, 0);
	}
	for (uintptr_t i = 1; i <= 3; i++)
		ndk_expect(pair->a.cq, i, STATUS_SUCCESS);
	assert_nt(ndk_result(cq->Dispatch->NdkResizeCq, cq, 2), STATUS_BUFFER_OVERFLOW);
	assert_nt(cq->Dispatch->NdkResizeCq(cq, 0, ndk_on_done, NULL), STATUS_INVALID_PARAMETER);
	for (uintptr_t i = 1; i <= 3; i++)
		ndk_expect(cq, i, STATUS_SUCCESS);
	assert_nt(ndk_result(cq->Dispatch->NdkResizeCq, cq, 2), STATUS_SUCCESS);
	ndk_pair_close(pair);
}

/* ---- connections ---- */

static void
calls_in_the_wrong_state_are_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector;
	const NDK_CONNECTOR_DISPATCH *calls = a->Dispatch;
	struct sockaddr_in address;
	uint8_t data[149] = {0};
	ULONG bytes = sizeof(data), length = sizeof(address);

	(void)state;
	assert_nt(ndk_result(calls->NdkCompleteConnect, a, NULL, NULL), STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(calls->NdkCompleteConnectEx, a, NULL, NULL),
		  STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(calls->NdkAccept, a, pair->a.qp, 1, 1, NULL, 0, NULL, NULL),
		  STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(calls->NdkAcceptEx, a, pair->a.qp, 1, 1, NULL, 0, NULL, NULL),
		  STATUS_CONNECTION_INVALID);
	assert_nt(calls->NdkReject(a, NULL, 0), STATUS_CONNECTION_INVALID);
	assert_nt(ndk_result(calls->NdkDisconnect, a), STATUS_CONNECTION_INVALID);
	assert_nt(calls->NdkGetConnectionData(a, NULL, NULL, data, &bytes),
		  STATUS_CONNECTION_INVALID);
	assert_nt(calls->NdkGetLocalAddress(a, ndk_any(&address), &length),
		  STATUS_CONNECTION_INVALID);
	assert_nt(calls->NdkGetPeerAddress(a, ndk_any(&address), &length),
		  STATUS_CONNECTION_INVALID);
	ndk_pair_request(pair);
	/* the private data of an answer */
	assert_nt(pair->b.connector->Dispatch->NdkReject(pair->b.connector, data, sizeof(data)),
		  STATUS_INVALID_BUFFER_SIZE);
	assert_nt(pair->b.connector->Dispatch->NdkReject(pair->b.connector, NULL, 1),
		  STATUS_INVALID_PARAMETER);
	length = sizeof(address) - 1;
	assert_nt(calls->NdkGetPeerAddress(a, ndk_any(&address), &length), STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(length, sizeof(address));
	assert_nt(calls->NdkGetPeerAddress(a, NULL, &length), STATUS_BUFFER_TOO_SMALL);
	ndk_pair_reply(pair);
	assert_nt(ndk_result(calls->NdkCompleteConnect, a, ndk_on_disconnect, &pair->a),
		  STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
	ndk_pair_close(pair);
}

static void
addresses_of_listeners_and_endpoints_are_refused_by_their_status(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_ADAPTER *adapter = pair->b.adapter;
	NDK_LISTENER *listener =
		ndk_create(NDK_LISTENER, adapter->Dispatch->NdkCreateListener, adapter, NULL, NULL);
	struct sockaddr_in address = ndk_address(0, 0), any = {.sin_family = AF_INET};
	NDK_SHARED_ENDPOINT *out = NULL;
	struct ndk_done done = {0};
	ULONG length = sizeof(address);

	(void)state;
	assert_nt(listener->Dispatch->NdkGetLocalAddress(listener, ndk_any(&address), &length),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(ndk_listen(listener, ndk_address(0, 0)), STATUS_INVALID_ADDRESS);
	assert_nt(listener->Dispatch->NdkListen(listener, ndk_any(&address), sizeof(address) - 1,
						ndk_on_done, NULL),
		  STATUS_INVALID_ADDRESS);
	assert_nt(ndk_listen(listener, ndk_address(1, pair->port)), STATUS_SHARING_VIOLATION);
	assert_nt(ndk_listen(listener, ndk_address(1, 0)), STATUS_SUCCESS);
	assert_nt(ndk_listen(listener, ndk_address(1, 0)), STATUS_INVALID_DEVICE_REQUEST);
	/* b's adapter has not a's address; and the wildcard is none to connect from */
	assert_nt(adapter->Dispatch->NdkCreateSharedEndpoint(adapter, ndk_any(&address), 2,
							     ndk_on_created, &done, &out),
		  STATUS_INVALID_ADDRESS);
	for (int i = 0; i < 3; i++) {
		struct sockaddr_in at[] = {address, any, ndk_address(1, pair->port)};
		const NTSTATUS status[] = {STATUS_INVALID_ADDRESS, STATUS_INVALID_ADDRESS,
					   STATUS_SHARING_VIOLATION};

		done = (struct ndk_done){0};
		assert_nt(ndk_status(adapter->Dispatch->NdkCreateSharedEndpoint(
					     adapter, ndk_any(&at[i]), sizeof(at[i]),
					     ndk_on_created, &done, &out),
				     &done),
			  status[i]);
		assert_null(done.object);
	}
	assert_null(out);
	ndk_end(listener->Dispatch->NdkCloseListener, listener);
	ndk_pair_close(pair);
}

/* 49152 to 65535: each once, and then none is left; one that is given back is found. */
static void
ports_that_are_all_in_use_are_too_many_addresses(void **state)
{
	enum {
		PORTS = 65536 - 49152,
	};
	NDK_ADAPTER *adapter = ndk_adapter(0);
	NDK_SHARED_ENDPOINT **all = calloc(PORTS, sizeof(*all));
	struct sockaddr_in at = ndk_address(0, 0);
	struct ndk_done done = {0};
	int again = PORTS / 2;

	(void)state;
	assert_non_null(all);
	for (int i = 0; i < PORTS; i++)
		all[i] = ndk_create(NDK_SHARED_ENDPOINT, adapter->Dispatch->NdkCreateSharedEndpoint,
				    adapter, ndk_any(&at), sizeof(at));
	assert_nt(ndk_status(adapter->Dispatch->NdkCreateSharedEndpoint(adapter, ndk_any(&at),
									sizeof(at), ndk_on_created,
									&done, &all[0]),
			     &done),
		  STATUS_TOO_MANY_ADDRESSES);
	ndk_end(all[again]->Dispatch->NdkCloseSharedEndpoint, all[again]);
	all[again] = ndk_create(NDK_SHARED_ENDPOINT, adapter->Dispatch->NdkCreateSharedEndpoint,
				adapter, ndk_any(&at), sizeof(at));
	for (int i = 0; i < PORTS; i++)
		ndk_end(all[i]->Dispatch->NdkCloseSharedEndpoint, all[i]);
	free(all);
	plx_ndk_close(adapter);
}

/* ---- extensions ---- */

static void
no_object_has_an_extension(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(&(struct ndk_options){.srq = true});
	struct ndk_side *b = &pair->b;
	NDK_MW *mw = ndk_create(NDK_MW, b->pd->Dispatch->NdkCreateMw, b->pd);
	struct sockaddr_in at = ndk_address(1, 0);
	NDK_SHARED_ENDPOINT *shared =
		ndk_create(NDK_SHARED_ENDPOINT, b->adapter->Dispatch->NdkCreateSharedEndpoint,
			   b->adapter, ndk_any(&at), sizeof(at));
	NDK_EXTENSION_INTERFACE extension = {NULL};
	GUID id = {1, 2, 3, {4}};
	struct {
		NDK_OBJECT_HEADER *header;
		NDK_FN_QUERY_EXTENSION_INTERFACE query;
	} all[] = {
		{&b->adapter->Header, b->adapter->Dispatch->NdkQueryExtension},
		{&b->cq->Header, b->cq->Dispatch->NdkQueryExtension},
		{&b->pd->Header, b->pd->Dispatch->NdkQueryExtension},
		{&b->qp->Header, b->qp->Dispatch->NdkQueryExtension},
		{&b->srq->Header, b->srq->Dispatch->NdkQueryExtension},
		{&b->mr->Header, b->mr->Dispatch->NdkQueryExtension},
		{&mw->Header, mw->Dispatch->NdkQueryExtension},
		{&b->connector->Header, b->connector->Dispatch->NdkQueryExtension},
		{&pair->listener->Header, pair->listener->Dispatch->NdkQueryExtension},
		{&shared->Header, shared->Dispatch->NdkQueryExtension},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_nt(all[i].query(all[i].header, &id, (NDK_VERSION){1, 2}, &extension),
			  STATUS_NOT_SUPPORTED);
	assert_null(extension.Dispatch);
	ndk_end(mw->Dispatch->NdkCloseMw, mw);
	ndk_end(shared->Dispatch->NdkCloseSharedEndpoint, shared);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_that_an_operation_does_not_have_are_refused),
		cmocka_unit_test(flags_that_an_operation_has_are_taken),
		cmocka_unit_test(nothing_is_posted_without_a_connection),
		cmocka_unit_test(messages_above_a_limit_are_refused),
		cmocka_unit_test(windows_and_fast_regions_are_refused_by_their_status),
		cmocka_unit_test(a_shared_queue_refuses_what_a_queue_pair_does),
		cmocka_unit_test(a_completion_queue_keeps_what_it_holds),
		cmocka_unit_test(calls_in_the_wrong_state_are_refused),
		cmocka_unit_test(addresses_of_listeners_and_endpoints_are_refused_by_their_status),
		cmocka_unit_test(ports_that_are_all_in_use_are_too_many_addresses),
		cmocka_unit_test(no_object_has_an_extension),
	};

	return ndk_run("ndk_refusals", tests, sizeof(tests) / sizeof(tests[0]));
}
