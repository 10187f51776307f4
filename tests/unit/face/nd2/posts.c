/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The posts of IND2QueuePair: what each refuses, with which status and without changing anything;
 * silent success, inline, the read fence, Flush. Wrong tokens are in faults.c, windows are in
 * windows.c. Start with A16_never_connected_takes_receives_and_flush_only().
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	HALF = ND_ARENA / 2, /* where the second half of an arena begins */
	DEFER = 0x200,       /* a flag of the kernel's interface, not supported */
	GIB = 1 << 30,
};

static uint64_t
address_of(const struct nd_side *side, uint32_t offset)
{
	return (uint64_t)(uintptr_t)(side->arena + offset);
}

static IUnknown *
unknown(void *object)
{
	return object;
}

/* ---- never connected ---- */

static void
A16_never_connected_takes_receives_and_flush_only(void **state)
{
	struct nd_side side;
	IND2MemoryWindow *mw;
	ND2_SGE sge;

	(void)state;
	nd_side_open(&side, 0, NULL);
	mw = nd_side_mw(&side);
	sge = nd_sge(&side, 0, 8);
	for (int round = 0; round < 2; round++) {
		assert_hr(IND2QueuePair_Send(side.qp, NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
		assert_hr(IND2QueuePair_Send(side.qp, NULL, NULL, 0, ND_OP_FLAG_SILENT_SUCCESS),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2QueuePair_Read(side.qp, NULL, &sge, 1, 0, 0, 0),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2QueuePair_Write(side.qp, NULL, &sge, 1, 0, 0, 0),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2QueuePair_Bind(side.qp, NULL, unknown(side.mr), unknown(mw),
					     side.arena, 8, ND_OP_FLAG_ALLOW_READ),
			  ND_CONNECTION_INVALID);
		assert_hr(IND2QueuePair_Invalidate(side.qp, NULL, unknown(mw), 0),
			  ND_CONNECTION_INVALID);
		nd_expect_none(side.receive_cq);
		nd_receive(&side, 7, 0, 8);
		assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
		nd_expect(side.receive_cq, 7, ND_CANCELED);
	}
	nd_release(mw, 0);
	nd_side_close(&side);
}

/* ... and is connected afterwards, with the receives that were posted since. */
static void
flushed_before_it_was_connected_it_can_be_connected(void **state)
{
	struct nd_pair *pair = nd_pair_new(NULL);

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uintptr_t i = 0; i < ND_DEPTH; i++)
			nd_receive(&pair->b, i, 0, 8);
		assert_hr(IND2QueuePair_Flush(pair->b.qp), ND_SUCCESS);
		for (uintptr_t i = 0; i < ND_DEPTH; i++)
			nd_expect(pair->b.receive_cq, i, ND_CANCELED);
	}
	nd_receive(&pair->b, 8, HALF, 64);
	nd_pair_connect(pair);
	nd_fill(&pair->a, 0, 64, 3);
	nd_send(&pair->a, 9, 0, 64, 0);
	nd_expect(pair->a.initiator_cq, 9, ND_SUCCESS);
	assert_int_equal(nd_expect(pair->b.receive_cq, 8, ND_SUCCESS).BytesTransferred, 64);
	assert_memory_equal(pair->a.arena, pair->b.arena + HALF, 64);
	nd_pair_close(pair);
}

/* Accepted, and not completed yet: as if there were no connection. */
static void
A16_half_a_connection_takes_receives_only(void **state)
{
	OVERLAPPED asked = {0}, connected = {0}, accepted = {0}, completed = {0};
	struct nd_pair *pair = nd_pair_new(NULL);
	struct nd_side *a = &pair->a, *b = &pair->b;
	IND2MemoryWindow *mw = nd_side_mw(b);
	ND2_SGE sge = nd_sge(b, 0, 8);

	(void)state;
	assert_hr(IND2Connector_Bind(a->connector, &a->address.any, a->address.length), ND_SUCCESS);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, unknown(b->connector), &asked),
		  ND_PENDING);
	assert_hr(IND2Connector_Connect(a->connector, unknown(a->qp), &pair->at.any,
					pair->at.length, 1, 1, NULL, 0, &connected),
		  ND_PENDING);
	assert_hr(nd_wait(&asked), ND_SUCCESS);
	assert_hr(IND2Connector_Accept(b->connector, unknown(b->qp), 1, 1, NULL, 0, &accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&connected), ND_SUCCESS);
	for (int done = 0; done < 2; done++) {
		HRESULT status = done ? ND_SUCCESS : ND_CONNECTION_INVALID;

		nd_receive(b, 1, 0, 8);
		nd_receive(a, 2, 0, 8);
		assert_hr(IND2QueuePair_Send(b->qp, (void *)3, &sge, 1, 0), status);
		assert_hr(IND2QueuePair_Bind(b->qp, (void *)4, unknown(b->mr), unknown(mw),
					     b->arena, 8, ND_OP_FLAG_ALLOW_READ),
			  status);
		nd_settle();
		if (done)
			break;
		assert_hr(IND2Connector_CompleteConnect(a->connector, &completed), ND_PENDING);
		assert_hr(nd_wait(&completed), ND_SUCCESS);
		assert_hr(nd_wait(&accepted), ND_SUCCESS);
	}
	nd_expect(a->receive_cq, 2, ND_SUCCESS);
	nd_expect(b->initiator_cq, 3, ND_SUCCESS);
	nd_expect(b->initiator_cq, 4, ND_SUCCESS);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

/* ---- refusals ---- */

/* All 32 bits, one by one, against the table of docs/nd2.md, Requests. */
static void
flags_by_operation(void **state)
{
	enum {
		QUEUE = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE,
		BOTH = ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE,
	};
	struct nd_options options = {.inline_bytes = 64};
	struct nd_pair *pair = nd_pair_open(&options);
	struct nd_side *a = &pair->a;
	IND2MemoryWindow *mw = nd_side_mw(a);
	ND2_SGE sge = nd_sge(a, 0, 8);

	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		ULONG flag = 1u << bit;
		bool common = flag & QUEUE;
		bool send = common || flag == ND_OP_FLAG_SEND_AND_SOLICIT_EVENT ||
			    flag == ND_OP_FLAG_INLINE;
		bool write = common || flag == ND_OP_FLAG_INLINE;
		bool bind = common || flag & BOTH;

		nd_receive(&pair->b, 1, 0, 8);
		assert_hr(IND2QueuePair_Send(a->qp, NULL, &sge, 1, flag),
			  send ? ND_SUCCESS : ND_INVALID_PARAMETER_4);
		assert_hr(IND2QueuePair_Write(a->qp, NULL, &sge, 1, address_of(&pair->b, 0),
					      pair->b.remote, flag),
			  write ? ND_SUCCESS : ND_INVALID_PARAMETER_6);
		assert_hr(IND2QueuePair_Read(a->qp, NULL, &sge, 1, address_of(&pair->b, 0),
					     pair->b.remote, flag),
			  common ? ND_SUCCESS : ND_INVALID_PARAMETER_6);
		assert_hr(IND2QueuePair_Bind(a->qp, NULL, unknown(a->mr), unknown(mw), a->arena, 8,
					     flag),
			  bind ? ND_SUCCESS : ND_INVALID_PARAMETER_6);
		assert_hr(IND2QueuePair_Invalidate(a->qp, NULL, unknown(mw),
						   bind ? flag & QUEUE : flag),
			  bind ? ND_SUCCESS : ND_INVALID_PARAMETER_3);
		/* a signaled one behind all of them */
		nd_write(a, &pair->b, 99, 0, 0, 0);
		for (ND2_RESULT result;;) {
			result = nd_reap(a->initiator_cq);
			assert_hr(result.Status, ND_SUCCESS);
			if (result.RequestContext == (void *)99)
				break;
		}
		if (send)
			nd_expect(pair->b.receive_cq, 1, ND_SUCCESS);
	}
	assert_hr(IND2QueuePair_Send(a->qp, NULL, &sge, 1, DEFER), ND_INVALID_PARAMETER_4);
	nd_release(mw, 0);
	nd_pair_close(pair);
}

static void
sges_and_lengths_by_status(void **state)
{
	struct nd_options options = {.sges = 6, .inline_bytes = 32, .depth = 4};
	struct nd_pair *pair = nd_pair_open(&options);
	struct nd_side *a = &pair->a;
	ND2_SGE sge[8];
	uint64_t there = address_of(&pair->b, 0);

	(void)state;
	for (int i = 0; i < 8; i++)
		sge[i] = nd_sge(a, 0, 8);
	assert_hr(IND2QueuePair_Send(a->qp, NULL, NULL, 1, 0), ND_INVALID_PARAMETER_2);
	assert_hr(IND2QueuePair_Receive(a->qp, NULL, NULL, 1), ND_INVALID_PARAMETER_2);
	assert_hr(IND2QueuePair_Read(a->qp, NULL, NULL, 1, there, 0, 0), ND_INVALID_PARAMETER_2);
	assert_hr(IND2QueuePair_Write(a->qp, NULL, NULL, 1, there, 0, 0), ND_INVALID_PARAMETER_2);
	assert_hr(IND2QueuePair_Send(a->qp, NULL, sge, 7, 0), ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Send(a->qp, NULL, sge, 0x10001, 0), ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Receive(a->qp, NULL, sge, 7), ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Receive(a->qp, NULL, sge, 0x10001), ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Read(a->qp, NULL, sge, 7, there, 0, 0), ND_DATA_OVERRUN);
	assert_hr(IND2QueuePair_Write(a->qp, NULL, sge, 7, there, 0, 0), ND_DATA_OVERRUN);
	/* inline: any number, by their bytes; 32 and not 33 */
	assert_hr(IND2QueuePair_Write(a->qp, (void *)1, sge, 4, there, pair->b.remote,
				      ND_OP_FLAG_INLINE),
		  ND_SUCCESS);
	sge[4].BufferLength = 1;
	assert_hr(
		IND2QueuePair_Write(a->qp, NULL, sge, 5, there, pair->b.remote, ND_OP_FLAG_INLINE),
		ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Send(a->qp, NULL, sge, 5, ND_OP_FLAG_INLINE), ND_BUFFER_OVERFLOW);
	nd_expect(a->initiator_cq, 1, ND_SUCCESS);
	/* one byte more than the longest message */
	sge[0].BufferLength = sge[1].BufferLength = GIB;
	sge[2].BufferLength = 1;
	assert_hr(IND2QueuePair_Send(a->qp, NULL, sge, 3, 0), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Receive(a->qp, NULL, sge, 3), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Read(a->qp, NULL, sge, 3, there, 0, 0), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Write(a->qp, NULL, sge, 3, there, 0, 0), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Receive(a->qp, NULL, sge, 2), ND_SUCCESS);
	nd_expect_none(a->receive_cq);
	nd_pair_close(pair);
}

static void
full_queues_refuse_and_go_on(void **state)
{
	struct nd_options options = {.depth = 4};
	struct nd_pair *pair = nd_pair_open(&options);
	ND2_SGE sge = nd_sge(&pair->a, 0, 8);

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		nd_receive(&pair->b, i, 0, 8);
	sge = nd_sge(&pair->b, 0, 8);
	assert_hr(IND2QueuePair_Receive(pair->b.qp, NULL, &sge, 1), ND_NO_MORE_ENTRIES);
	for (uintptr_t i = 0; i < 4; i++)
		nd_send(&pair->a, i, 0, 8, 0);
	for (uintptr_t i = 0; i < 4; i++) {
		nd_expect(pair->b.receive_cq, i, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	}
	/* these wait for receives: the queue is full until they come */
	for (uintptr_t i = 0; i < 4; i++)
		nd_send(&pair->a, i, 0, 8, 0);
	sge = nd_sge(&pair->a, 0, 8);
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, 0), ND_NO_MORE_ENTRIES);
	assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, &sge, 1, address_of(&pair->b, 0),
				      pair->b.remote, 0),
		  ND_NO_MORE_ENTRIES);
	assert_hr(IND2QueuePair_Read(pair->a.qp, NULL, &sge, 1, address_of(&pair->b, 0),
				     pair->b.remote, 0),
		  ND_NO_MORE_ENTRIES);
	for (uintptr_t i = 0; i < 4; i++)
		nd_receive(&pair->b, i, 0, 8);
	for (uintptr_t i = 0; i < 4; i++)
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	nd_send(&pair->a, 5, 0, 0, 0);
	nd_pair_close(pair);
}

static void
foreign_objects_are_none(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct nd_side *a = &pair->a;
	IND2MemoryWindow *mine = nd_side_mw(a), *theirs = nd_side_mw(&pair->b);
	IUnknown *const wrong_mr[] = {NULL, unknown(pair->b.mr), unknown(mine), unknown(a->qp)};
	IUnknown *const wrong_mw[] = {NULL, unknown(theirs), unknown(a->mr), unknown(a->qp)};

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_hr(
			IND2QueuePair_Bind(a->qp, NULL, wrong_mr[i], unknown(mine), a->arena, 8, 0),
			ND_INVALID_PARAMETER_2);
		assert_hr(IND2QueuePair_Bind(a->qp, NULL, unknown(a->mr), wrong_mw[i], a->arena, 8,
					     0),
			  ND_INVALID_PARAMETER_3);
		assert_hr(IND2QueuePair_Invalidate(a->qp, NULL, wrong_mw[i], 0),
			  ND_INVALID_PARAMETER_2);
	}
	assert_hr(IND2QueuePair_Bind(a->qp, NULL, unknown(a->mr), unknown(mine), a->arena, 0, 0),
		  ND_INVALID_PARAMETER_5);
	nd_expect_none(a->initiator_cq);
	nd_release(mine, 0);
	nd_release(theirs, 0);
	nd_pair_close(pair);
}

/* ---- silent success ---- */

static void
A20_silent_requests_have_no_entry_and_give_their_places_back(void **state)
{
	struct nd_options options = {.depth = 16};
	struct nd_pair *pair = nd_pair_open(&options);
	ND2_SGE sge = nd_sge(&pair->a, 0, 8);

	(void)state;
	for (uintptr_t i = 0; i < 10 * 16; i++) {
		nd_receive(&pair->b, i, 0, 8);
		nd_until(IND2QueuePair_Send(pair->a.qp, NULL, &sge, 1, ND_OP_FLAG_SILENT_SUCCESS) ==
			 ND_SUCCESS);
		nd_expect(pair->b.receive_cq, i, ND_SUCCESS);
	}
	nd_expect_none(pair->a.initiator_cq);
	nd_receive(&pair->b, 0, 0, 8);
	nd_send(&pair->a, 77, 0, 8, 0);
	nd_expect(pair->a.initiator_cq, 77, ND_SUCCESS);
	nd_expect_none(pair->a.initiator_cq);
	nd_expect(pair->b.receive_cq, 0, ND_SUCCESS);
	/* Nobody receives these: cut off, each has its entry. */
	for (uintptr_t i = 0; i < 8; i++)
		nd_send(&pair->a, i, 0, 8, ND_OP_FLAG_SILENT_SUCCESS);
	assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
	for (uintptr_t i = 0; i < 8; i++)
		nd_expect(pair->a.initiator_cq, i, ND_CANCELED);
	nd_expect_none(pair->a.initiator_cq);
	nd_pair_close(pair);
}

/* ---- inline ---- */

static void
A21_inline_copies_in_the_call_and_looks_at_no_token(void **state)
{
	struct nd_options options = {.inline_bytes = 256, .sges = 4};
	struct nd_pair *pair = nd_pair_open(&options);
	uint8_t own[256];
	ND2_SGE sge[16];

	(void)state;
	for (unsigned bytes = 16; bytes <= 256; bytes *= 2) {
		for (unsigned i = 0; i < 16; i++)
			sge[i] = (ND2_SGE){own + i * (bytes / 16), bytes / 16, 0xdeadbeef + i};
		for (unsigned i = 0; i < bytes; i++)
			own[i] = (uint8_t)(i + bytes);
		nd_receive(&pair->b, bytes, 0, 256);
		assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)1, sge, 16, ND_OP_FLAG_INLINE),
			  ND_SUCCESS);
		memset(own, 0xee, sizeof(own));
		assert_int_equal(nd_expect(pair->b.receive_cq, bytes, ND_SUCCESS).BytesTransferred,
				 bytes);
		nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
		for (unsigned i = 0; i < bytes; i++)
			assert_int_equal(pair->b.arena[i], (uint8_t)(i + bytes));
	}
	sge[0].BufferLength = 257;
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, sge, 1, ND_OP_FLAG_INLINE),
		  ND_BUFFER_OVERFLOW);
	sge[0].BufferLength = 256;
	nd_receive(&pair->b, 1, 0, 256);
	assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)2, sge, 1, ND_OP_FLAG_INLINE), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 2, ND_SUCCESS);
	nd_pair_close(pair);
}

/* ---- order ---- */

static void
A22_fenced_send_carries_what_the_read_before_it_has_brought(void **state)
{
	enum {
		BYTES = 64 * 1024,
	};
	struct nd_pair *pair = nd_pair_open(NULL);

	(void)state;
	for (uint8_t round = 1; round <= 20; round++) {
		nd_fill(&pair->b, 0, BYTES, round);
		memset(pair->a.arena, 0, BYTES);
		nd_receive(&pair->b, 1, HALF, BYTES);
		nd_read(&pair->a, &pair->b, 2, 0, BYTES, 0);
		nd_send(&pair->a, 3, 0, BYTES, ND_OP_FLAG_READ_FENCE);
		nd_read(&pair->a, &pair->b, 4, 0, BYTES, 0);
		nd_write(&pair->a, &pair->b, 5, HALF - 64, 64, 0);
		for (uintptr_t i = 2; i <= 5; i++)
			nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
		assert_int_equal(nd_expect(pair->b.receive_cq, 1, ND_SUCCESS).BytesTransferred,
				 BYTES);
		assert_memory_equal(pair->b.arena, pair->b.arena + HALF, BYTES);
	}
	nd_pair_close(pair);
}

/* Reads beyond the limit wait inside. */
static void
more_reads_than_the_limit_queue_up(void **state)
{
	struct nd_options options = {.outbound = 2, .inbound = 2};
	struct nd_pair *pair = nd_pair_open(&options);

	(void)state;
	nd_fill(&pair->b, 0, 40 * 1000, 9);
	for (uint32_t i = 0; i < 40; i++)
		nd_read(&pair->a, &pair->b, i, i * 1000, 1000, 0);
	for (uint32_t i = 0; i < 40; i++)
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	nd_assert_filled(&pair->a, 0, 40 * 1000, 9);
	nd_pair_close(pair);
}

static void
nothing_is_a_message_too(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);

	(void)state;
	nd_receive(&pair->b, 1, 0, 0);
	nd_send(&pair->a, 2, 0, 0, 0);
	assert_int_equal(nd_expect(pair->b.receive_cq, 1, ND_SUCCESS).BytesTransferred, 0);
	nd_write(&pair->a, &pair->b, 3, 0, 0, 0);
	nd_read(&pair->a, &pair->b, 4, 0, 0, 0);
	/* whatever the token */
	assert_hr(IND2QueuePair_Read(pair->a.qp, (void *)5, NULL, 0, 0, 0, 0), ND_SUCCESS);
	for (uintptr_t i = 2; i <= 5; i++)
		nd_expect(pair->a.initiator_cq, i, ND_SUCCESS);
	/* of no SGE at all, inline too; an answer of no bytes ends like any other */
	for (ULONG flags = 0; flags <= ND_OP_FLAG_INLINE; flags += ND_OP_FLAG_INLINE) {
		assert_hr(IND2QueuePair_Receive(pair->b.qp, (void *)6, NULL, 0), ND_SUCCESS);
		assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)7, NULL, 0, flags), ND_SUCCESS);
		assert_hr(IND2QueuePair_Write(pair->a.qp, (void *)8, NULL, 0, 0, 0, flags),
			  ND_SUCCESS);
		assert_int_equal(nd_expect(pair->b.receive_cq, 6, ND_SUCCESS).BytesTransferred, 0);
		nd_expect(pair->a.initiator_cq, 7, ND_SUCCESS);
		nd_expect(pair->a.initiator_cq, 8, ND_SUCCESS);
	}
	nd_pair_close(pair);
}

/* Query returns a queue pair's own values: type, contexts. */
static void
results_name_their_request(void **state)
{
	static const ND2_REQUEST_TYPE types[] = {Nd2RequestTypeSend, Nd2RequestTypeWrite,
						 Nd2RequestTypeRead, Nd2RequestTypeBind,
						 Nd2RequestTypeInvalidate};
	struct nd_pair *pair = nd_pair_open(NULL);
	IND2MemoryWindow *mw = nd_side_mw(&pair->a);

	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		if (failed)
			assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
		else
			nd_receive(&pair->b, 9, 0, 8);
		nd_send(&pair->a, 0, 0, 8, 0);
		nd_write(&pair->a, &pair->b, 1, 0, 8, 0);
		nd_read(&pair->a, &pair->b, 2, 0, 8, 0);
		assert_hr(IND2QueuePair_Bind(pair->a.qp, (void *)3, unknown(pair->a.mr),
					     unknown(mw), pair->a.arena, 8, 0),
			  ND_SUCCESS);
		assert_hr(IND2QueuePair_Invalidate(pair->a.qp, (void *)4, unknown(mw), 0),
			  ND_SUCCESS);
		for (uintptr_t i = 0; i < 5; i++) {
			ND2_RESULT result = nd_expect(pair->a.initiator_cq, i,
						      failed ? ND_CANCELED : ND_SUCCESS);

			assert_int_equal(result.RequestType, types[i]);
			assert_ptr_equal(result.QueuePairContext, &pair->a);
		}
		if (!failed)
			assert_int_equal(nd_expect(pair->b.receive_cq, 9, ND_SUCCESS).RequestType,
					 Nd2RequestTypeReceive);
	}
	nd_release(mw, 0);
	nd_pair_close(pair);
}

/* Flush: this queue pair only; completed requests are unaffected; all is flushed when it
 * returns. */
static void
flush_is_synchronous_and_of_one_queue_pair(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	IND2QueuePair *other = nd_side_qp(&pair->a, &pair->options, (void *)5);
	ND2_SGE sge = nd_sge(&pair->a, 0, 8);
	ND2_RESULT results[32];
	ULONG n;

	(void)state;
	assert_hr(IND2QueuePair_Receive(other, (void *)66, &sge, 1), ND_SUCCESS);
	nd_receive(&pair->b, 1, 0, 8);
	nd_send(&pair->a, 1, 0, 8, 0);
	nd_expect(pair->b.receive_cq, 1, ND_SUCCESS);
	nd_settle();
	for (uintptr_t i = 2; i < 10; i++) {
		nd_receive(&pair->a, 100 + i, 0, 8);
		nd_send(&pair->a, i, 0, 8, 0);
	}
	assert_hr(IND2QueuePair_Flush(pair->a.qp), ND_SUCCESS);
	n = IND2CompletionQueue_GetResults(pair->a.initiator_cq, results, 32);
	assert_int_equal(n, 17);
	for (uintptr_t i = 0, send = 1, receive = 102; i < n; i++) {
		bool is_receive = results[i].RequestType == Nd2RequestTypeReceive;

		assert_int_equal((uintptr_t)results[i].RequestContext,
				 is_receive ? receive++ : send++);
		assert_hr(results[i].Status, i == 0 ? ND_SUCCESS : ND_CANCELED);
		assert_ptr_equal(results[i].QueuePairContext, &pair->a);
	}
	nd_expect_none(pair->a.initiator_cq);
	assert_hr(IND2QueuePair_Flush(other), ND_SUCCESS);
	nd_expect(pair->a.receive_cq, 66, ND_CANCELED);
	nd_release(other, 0);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A16_never_connected_takes_receives_and_flush_only),
		ND_TEST(A16_half_a_connection_takes_receives_only),
		ND_TEST(A20_silent_requests_have_no_entry_and_give_their_places_back),
		ND_TEST(A21_inline_copies_in_the_call_and_looks_at_no_token),
		ND_TEST(A22_fenced_send_carries_what_the_read_before_it_has_brought),
		ND_TEST(flushed_before_it_was_connected_it_can_be_connected),
		ND_TEST(flags_by_operation),
		ND_TEST(sges_and_lengths_by_status),
		ND_TEST(full_queues_refuse_and_go_on),
		ND_TEST(foreign_objects_are_none),
		ND_TEST(more_reads_than_the_limit_queue_up),
		ND_TEST(nothing_is_a_message_too),
		ND_TEST(results_name_their_request),
		ND_TEST(flush_is_synchronous_and_of_one_queue_pair),
	};

	return nd_run_both("posts", tests, sizeof(tests) / sizeof(tests[0]));
}
