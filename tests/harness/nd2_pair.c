/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects on the two adapters: sides, pairs, their connections, and requests on them. Every
 * count that Release returns is checked. Start with nd_pair_open().
 */
#include "nd2_pair.h"
#include "pattern.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALL_RIGHTS = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
		     ND_MR_FLAG_ALLOW_REMOTE_WRITE,
};

static ULONG
or_else(ULONG value, ULONG usual)
{
	return value ? value : usual;
}

/* ---- sides ---- */

IND2QueuePair *
nd_side_qp(struct nd_side *side, const struct nd_options *options, void *context)
{
	ULONG depth = or_else(options->depth, ND_DEPTH), sges = or_else(options->sges, 4);
	IUnknown *receive_cq = (IUnknown *)(void *)side->receive_cq;
	IUnknown *initiator_cq = (IUnknown *)(void *)side->initiator_cq;
	void *qp = NULL;

	if (side->srq)
		assert_hr(IND2Adapter_CreateQueuePairWithSrq(
				  side->adapter, &IID_IND2QueuePair, receive_cq, initiator_cq,
				  (IUnknown *)(void *)side->srq, context, depth, sges,
				  options->inline_bytes, &qp),
			  ND_SUCCESS);
	else
		assert_hr(IND2Adapter_CreateQueuePair(side->adapter, &IID_IND2QueuePair, receive_cq,
						      initiator_cq, context, depth, depth, sges,
						      sges, options->inline_bytes, &qp),
			  ND_SUCCESS);
	return qp;
}

IND2Connector *
nd_side_connector(struct nd_side *side)
{
	void *connector = NULL;

	assert_hr(IND2Adapter_CreateConnector(side->adapter, &IID_IND2Connector, side->file,
					      &connector),
		  ND_SUCCESS);
	return connector;
}

IND2MemoryRegion *
nd_side_mr(struct nd_side *side, void *memory, size_t bytes, ULONG flags)
{
	OVERLAPPED ov = {0};
	void *made = NULL;
	IND2MemoryRegion *mr;

	assert_hr(IND2Adapter_CreateMemoryRegion(side->adapter, &IID_IND2MemoryRegion, side->file,
						 &made),
		  ND_SUCCESS);
	mr = made;
	nd_pends(IND2MemoryRegion_Register(mr, memory, bytes, flags, &ov), ND_SUCCESS);
	return mr;
}

IND2MemoryWindow *
nd_side_mw(struct nd_side *side)
{
	void *mw = NULL;

	assert_hr(IND2Adapter_CreateMemoryWindow(side->adapter, &IID_IND2MemoryWindow, &mw),
		  ND_SUCCESS);
	return mw;
}

void
nd_mr_end(IND2MemoryRegion *mr)
{
	OVERLAPPED ov = {0};

	nd_pends(IND2MemoryRegion_Deregister(mr, &ov), ND_SUCCESS);
	nd_release(mr, 0);
}

static IND2CompletionQueue *
make_cq(struct nd_side *side, const struct nd_options *options)
{
	void *cq = NULL;

	assert_hr(IND2Adapter_CreateCompletionQueue(
			  side->adapter, &IID_IND2CompletionQueue, side->file,
			  or_else(options->cq_depth, ND_CQ_DEPTH), 0, 0, &cq),
		  ND_SUCCESS);
	return cq;
}

void
nd_side_open(struct nd_side *side, unsigned end, const struct nd_options *options)
{
	static const struct nd_options usual;

	if (!options)
		options = &usual;
	memset(side, 0, sizeof(*side));
	side->adapter = nd_adapter(end);
	side->address = nd_address(end, options->family ? options->family : AF_INET, 0);
	assert_hr(IND2Adapter_CreateOverlappedFile(side->adapter, &side->file), ND_SUCCESS);
	side->arena = nd_memory(ND_ARENA);
	assert_non_null(side->arena);
	memset(side->arena, 0, ND_ARENA);
	side->mr = nd_side_mr(side, side->arena, ND_ARENA,
			      options->mr_flags ? options->mr_flags : (ULONG)ALL_RIGHTS);
	side->local = IND2MemoryRegion_GetLocalToken(side->mr);
	side->remote = IND2MemoryRegion_GetRemoteToken(side->mr);
	side->receive_cq = side->initiator_cq = make_cq(side, options);
	if (options->two_cqs)
		side->initiator_cq = make_cq(side, options);
	if (options->srq) {
		void *srq = NULL;

		assert_hr(IND2Adapter_CreateSharedReceiveQueue(
				  side->adapter, &IID_IND2SharedReceiveQueue, side->file,
				  or_else(options->depth, ND_DEPTH), or_else(options->sges, 4),
				  options->threshold, 0, 0, &srq),
			  ND_SUCCESS);
		side->srq = srq;
	}
	side->qp = nd_side_qp(side, options, side);
	side->connector = nd_side_connector(side);
}

void
nd_side_close(struct nd_side *side)
{
	if (side->connector)
		nd_release(side->connector, 0);
	if (side->qp)
		nd_release(side->qp, 0);
	if (side->srq)
		nd_release(side->srq, 0);
	if (side->initiator_cq && side->initiator_cq != side->receive_cq)
		nd_release(side->initiator_cq, 0);
	if (side->receive_cq)
		nd_release(side->receive_cq, 0);
	if (side->mr)
		nd_mr_end(side->mr);
	if (side->file)
		assert_true(CloseHandle(side->file));
	if (side->adapter)
		nd_release(side->adapter, 0);
	nd_memory_free(side->arena);
	memset(side, 0, sizeof(*side));
}

/* ---- pairs ---- */

struct nd_pair *
nd_pair_new(const struct nd_options *options)
{
	static atomic_uint ports;
	struct nd_pair *pair = calloc(1, sizeof(*pair));
	void *listener = NULL;
	unsigned first, other;
	int family;

	assert_non_null(pair);
	if (options)
		pair->options = *options;
	family = pair->options.family ? pair->options.family : AF_INET;
	first = pair->options.first_end;
	other = pair->options.same_end ? first : first + 1;
	nd_side_open(&pair->a, first, &pair->options);
	nd_side_open(&pair->b, other, &pair->options);
	pair->at = nd_address(other, family, (uint16_t)(ND_PORT + ports++ % 1000));
	assert_hr(IND2Adapter_CreateListener(pair->b.adapter, &IID_IND2Listener, pair->b.file,
					     &listener),
		  ND_SUCCESS);
	pair->listener = listener;
	assert_hr(IND2Listener_Bind(pair->listener, &pair->at.any, pair->at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(pair->listener, 0), ND_SUCCESS);
	return pair;
}

struct nd_pair *
nd_pair_open(const struct nd_options *options)
{
	struct nd_pair *pair = nd_pair_new(options);

	nd_pair_connect(pair);
	return pair;
}

/* It may have been disconnected, or never connected: only its end matters. */
static void
disconnect(struct nd_side *side)
{
	OVERLAPPED ov = {0};

	if (side->connector && IND2Connector_Disconnect(side->connector, &ov) == ND_PENDING)
		nd_wait(&ov);
}

void
nd_pair_close(struct nd_pair *pair)
{
	disconnect(&pair->a);
	disconnect(&pair->b);
	if (pair->listener)
		nd_release(pair->listener, 0);
	nd_side_close(&pair->a);
	nd_side_close(&pair->b);
	free(pair);
}

/* ---- requests and results ---- */

ND2_SGE
nd_sge(const struct nd_side *side, uint32_t offset, uint32_t bytes)
{
	return (ND2_SGE){.Buffer = side->arena + offset,
			 .BufferLength = bytes,
			 .MemoryRegionToken = side->local};
}

static uint64_t
at(const struct nd_side *side, uint32_t offset)
{
	return (uint64_t)(uintptr_t)(side->arena + offset);
}

void
nd_receive(struct nd_side *side, uintptr_t context, uint32_t offset, uint32_t bytes)
{
	ND2_SGE sge = nd_sge(side, offset, bytes);

	if (side->srq)
		assert_hr(
			IND2SharedReceiveQueue_Receive(side->srq, (void *)context, &sge, bytes > 0),
			ND_SUCCESS);
	else
		assert_hr(IND2QueuePair_Receive(side->qp, (void *)context, &sge, bytes > 0),
			  ND_SUCCESS);
}

void
nd_send(struct nd_side *side, uintptr_t context, uint32_t offset, uint32_t bytes, ULONG flags)
{
	ND2_SGE sge = nd_sge(side, offset, bytes);

	assert_hr(IND2QueuePair_Send(side->qp, (void *)context, &sge, bytes > 0, flags),
		  ND_SUCCESS);
}

void
nd_read(struct nd_side *side, const struct nd_side *peer, uintptr_t context, uint32_t offset,
	uint32_t bytes, ULONG flags)
{
	ND2_SGE sge = nd_sge(side, offset, bytes);

	assert_hr(IND2QueuePair_Read(side->qp, (void *)context, &sge, bytes > 0, at(peer, offset),
				     peer->remote, flags),
		  ND_SUCCESS);
}

void
nd_write(struct nd_side *side, const struct nd_side *peer, uintptr_t context, uint32_t offset,
	 uint32_t bytes, ULONG flags)
{
	ND2_SGE sge = nd_sge(side, offset, bytes);

	assert_hr(IND2QueuePair_Write(side->qp, (void *)context, &sge, bytes > 0, at(peer, offset),
				      peer->remote, flags),
		  ND_SUCCESS);
}

ND2_RESULT
nd_reap(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	memset(&result, 0x5a, sizeof(result));
	nd_until(IND2CompletionQueue_GetResults(cq, &result, 1) == 1);
	return result;
}

ND2_RESULT
nd_expect(IND2CompletionQueue *cq, uintptr_t context, HRESULT status)
{
	ND2_RESULT result = nd_reap(cq);

	if ((uintptr_t)result.RequestContext != context || result.Status != status)
		fail_msg("request %lu ended with 0x%08x; expected %lu with 0x%08x",
			 (unsigned long)(uintptr_t)result.RequestContext,
			 (unsigned int)result.Status, (unsigned long)context, (unsigned int)status);
	return result;
}

void
nd_expect_none(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	nd_settle();
	if (IND2CompletionQueue_GetResults(cq, &result, 1))
		fail_msg("request %lu ended with 0x%08x; expected nothing",
			 (unsigned long)(uintptr_t)result.RequestContext,
			 (unsigned int)result.Status);
}

void
nd_fill(struct nd_side *side, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	pattern_fill(side->arena + offset, bytes, seed);
}

void
nd_assert_filled(const struct nd_side *side, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	pattern_assert(side->arena + offset, bytes, seed);
}
