/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages and memory over a connection, through the C++ classes: windows (A12 to A14), faults of
 * an SGE (A15), solicited events (A19), silent, inline and fenced requests (A20 to A22), answers
 * (A23), a peer without a receive (A29), and one that calls nothing (A30).
 * Start with A12_a_bound_window_keeps_the_region().
 */
#include "classes.h"

namespace
{

const ULONG WINDOW_AT = 4096, WINDOW_BYTES = 1000;
const ULONG LATE_MS = 10000;  /* IO_TIMEOUT comes before */
const ULONG EMPTY_MS = 10500; /* as long as nobody waits for a side without an SRQ */

HRESULT
BindWindow(Side &side, uintptr_t context, IND2MemoryRegion *mr, IND2MemoryWindow *mw, ULONG flags)
{
	return side.qp->Bind(reinterpret_cast<void *>(context), mr, mw,
			     side.arena.data() + WINDOW_AT, WINDOW_BYTES, flags);
}

/* a reads b's window, or what is around it. */
void
ReadBy(Pair &pair, uintptr_t context, UINT32 token, ULONG at, ULONG bytes)
{
	ND2_SGE sge = pair.a.Sge(WINDOW_AT, bytes);

	CHECK_HR(pair.a.qp->Read(reinterpret_cast<void *>(context), &sge, 1, pair.b.At(at), token,
				 0),
		 ND_SUCCESS);
}

void
End(IND2MemoryRegion *mr)
{
	Overlapped ov;

	CHECK_PENDS(mr, Deregister(&ov), ov, ND_SUCCESS);
	Done(mr);
}

void
A12_a_bound_window_keeps_the_region()
{
	Pair pair;
	pair.Connect();
	IND2MemoryRegion *mr = pair.b.Region(pair.b.arena.data(), ARENA, 0);
	IND2MemoryWindow *mw = pair.b.Window();
	Overlapped ov;

	CHECK_HR(BindWindow(pair.b, 1, mr, mw, ND_OP_FLAG_ALLOW_READ), ND_SUCCESS);
	CHECK(Expect(pair.b.tx, 1, ND_SUCCESS).RequestType == Nd2RequestTypeBind);
	CHECK_HR(mr->Deregister(&ov), ND_DEVICE_BUSY);
	CHECK(WaitForSingleObject(ov.hEvent, A_WHILE_MS) == WAIT_TIMEOUT);
	/* refused, it is as it was */
	ReadBy(pair, 2, mw->GetRemoteToken(), WINDOW_AT, 8);
	Expect(pair.a.tx, 2, ND_SUCCESS);
	CHECK_HR(pair.b.qp->Invalidate(reinterpret_cast<void *>(3), mw, 0), ND_SUCCESS);
	CHECK(Expect(pair.b.tx, 3, ND_SUCCESS).RequestType == Nd2RequestTypeInvalidate);
	End(mr);
	Done(mw);
}

void
A13_windows_ask_the_region_for_nothing_but_local_write()
{
	const ULONG READ = ND_OP_FLAG_ALLOW_READ, WRITE = ND_OP_FLAG_ALLOW_WRITE;
	const struct {
		ULONG region, window;
		HRESULT bind;
	} cases[] = {
		{0, 0, ND_SUCCESS},
		{0, READ, ND_SUCCESS},
		{0, WRITE, ND_ACCESS_VIOLATION},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, 0, ND_SUCCESS},
		{ND_MR_FLAG_ALLOW_LOCAL_WRITE, READ | WRITE, ND_SUCCESS},
	};

	for (const auto &one : cases) {
		Pair pair;
		pair.Connect();
		IND2MemoryRegion *mr = pair.b.Region(pair.b.arena.data(), ARENA, one.region);
		IND2MemoryWindow *mw = pair.b.Window();

		CHECK_HR(BindWindow(pair.b, 1, mr, mw, one.window), one.bind);
		if (one.bind == ND_SUCCESS) {
			Expect(pair.b.tx, 1, ND_SUCCESS);
			ReadBy(pair, 2, mw->GetRemoteToken(), WINDOW_AT, WINDOW_BYTES);
			Expect(pair.a.tx, 2, one.window & READ ? ND_SUCCESS : ND_ACCESS_VIOLATION);
		}
		ExpectNone(pair.b.tx);
		Done(mw);
		End(mr);
	}
}

void
A14_a_token_is_good_as_soon_as_bind_returns()
{
	Pair pair;
	pair.Connect();
	IND2MemoryWindow *mw = pair.b.Window();

	for (int round = 0; round < 20; round++) {
		pair.a.Receive(1, 0, sizeof(UINT32));
		CHECK_HR(BindWindow(pair.b, 2, pair.b.mr, mw, ND_OP_FLAG_ALLOW_READ), ND_SUCCESS);
		UINT32 token = mw->GetRemoteToken();
		memcpy(&pair.b.arena[0], &token, sizeof(token));
		memset(&pair.b.arena[WINDOW_AT], 'A' + round, WINDOW_BYTES);
		pair.b.Send(3, 0, sizeof(token));
		Expect(pair.a.rx, 1, ND_SUCCESS);
		memcpy(&token, &pair.a.arena[0], sizeof(token));
		ReadBy(pair, 4, token, WINDOW_AT, WINDOW_BYTES);
		Expect(pair.a.tx, 4, ND_SUCCESS);
		CHECK(memcmp(&pair.a.arena[WINDOW_AT], &pair.b.arena[WINDOW_AT], WINDOW_BYTES) ==
		      0);
		CHECK_HR(pair.b.qp->Invalidate(reinterpret_cast<void *>(5), mw, 0), ND_SUCCESS);
		for (uintptr_t i : {2, 3, 5})
			Expect(pair.b.tx, i, ND_SUCCESS);
	}
	Done(mw);
}

void
A14_a_stale_token_or_a_byte_outside_is_an_access_violation()
{
	for (int stale = 0; stale < 2; stale++) {
		Pair pair;
		pair.Connect();
		IND2MemoryWindow *mw = pair.b.Window();

		pair.b.Receive(7, 0, 8);
		CHECK_HR(BindWindow(pair.b, 1, pair.b.mr, mw, ND_OP_FLAG_ALLOW_READ), ND_SUCCESS);
		UINT32 token = mw->GetRemoteToken();
		Expect(pair.b.tx, 1, ND_SUCCESS);
		ReadBy(pair, 8, token, WINDOW_AT, WINDOW_BYTES);
		Expect(pair.a.tx, 8, ND_SUCCESS);
		if (stale) {
			CHECK_HR(pair.b.qp->Invalidate(reinterpret_cast<void *>(2), mw, 0),
				 ND_SUCCESS);
			Expect(pair.b.tx, 2, ND_SUCCESS);
		}
		ReadBy(pair, 9, token, WINDOW_AT, WINDOW_BYTES + (stale ? 0 : 1));
		Expect(pair.a.tx, 9, ND_ACCESS_VIOLATION);
		Expect(pair.b.rx, 7, ND_CANCELED);
		Done(mw);
	}
}

void
A15_a_fault_of_an_sge_is_told_by_its_completion()
{
	Pair pair;
	pair.Connect();
	ND2_SGE sge = pair.a.Sge(ARENA - 8, 9);

	CHECK_HR(pair.a.qp->Read(reinterpret_cast<void *>(1), &sge, 1, pair.b.At(0),
				 pair.b.mr->GetRemoteToken(), 0),
		 ND_SUCCESS);
	Expect(pair.a.tx, 1, ND_ACCESS_VIOLATION);
	pair.a.Send(2, 0, 8);
	pair.a.Write(pair.b, 3, 0, 8);
	pair.a.Receive(4, 0, 8);
	Expect(pair.a.tx, 2, ND_CANCELED);
	Expect(pair.a.tx, 3, ND_CANCELED);
	Expect(pair.a.rx, 4, ND_CANCELED);
}

void
Deliver(Pair &pair, uintptr_t context, ULONG flags)
{
	pair.b.Receive(context, 0, 8);
	pair.a.Send(context, 0, 8, flags);
	Expect(pair.b.rx, context, ND_SUCCESS);
	Expect(pair.a.tx, context, ND_SUCCESS);
}

void
A19_solicited_waits_for_who_asks_or_an_error()
{
	Pair pair;
	pair.Connect();
	IND2CompletionQueue *cq = pair.b.rx;
	Overlapped solicited, any, errors;

	CHECK_HR(cq->Notify(ND_CQ_NOTIFY_ERRORS, &errors), ND_PENDING);
	CHECK_HR(cq->Notify(ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	Deliver(pair, 1, 0);
	CheckPending(cq, solicited);
	Deliver(pair, 2, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	CHECK_HR(Wait(cq, solicited), ND_SUCCESS);
	/* ANY ends SOLICITED, too */
	CHECK_HR(cq->Notify(ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	CHECK_HR(cq->Notify(ND_CQ_NOTIFY_ANY, &any), ND_PENDING);
	CheckPending(cq, any);
	Deliver(pair, 3, 0);
	CHECK_HR(Wait(cq, any), ND_SUCCESS);
	CHECK_HR(Wait(cq, solicited), ND_SUCCESS);
	/* so does an entry that tells of an error */
	CHECK_HR(cq->Notify(ND_CQ_NOTIFY_SOLICITED, &solicited), ND_PENDING);
	pair.b.Receive(4, 0, 8);
	CHECK_HR(pair.b.qp->Flush(), ND_SUCCESS);
	CHECK_HR(Wait(cq, solicited), ND_SUCCESS);
	Expect(cq, 4, ND_CANCELED);
	/* of the queue itself there is none */
	CheckPending(cq, errors);
	CHECK_HR(cq->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(Wait(cq, errors), ND_CANCELED);
}

void
A20_silent_requests_have_an_entry_only_when_cancelled()
{
	Options options;
	options.depth = 16;
	Pair pair(options);
	pair.Connect();

	for (uintptr_t i = 0; i < 10 * 16; i++) {
		ND2_SGE sge = pair.a.Sge(0, 8);
		ULONGLONG end = GetTickCount64() + PATIENCE_MS;
		HRESULT hr;

		pair.b.Receive(i, 0, 8);
		do {
			hr = pair.a.qp->Send(NULL, &sge, 1, ND_OP_FLAG_SILENT_SUCCESS);
			CHECK(GetTickCount64() < end);
		} while (hr == ND_NO_MORE_ENTRIES);
		CHECK_HR(hr, ND_SUCCESS);
		Expect(pair.b.rx, i, ND_SUCCESS);
	}
	pair.b.Receive(500, 0, 8);
	pair.a.Send(501, 0, 8);
	Expect(pair.a.tx, 501, ND_SUCCESS);
	Expect(pair.b.rx, 500, ND_SUCCESS);
	ExpectNone(pair.a.tx);
	/* nobody receives these */
	for (uintptr_t i = 0; i < 8; i++)
		pair.a.Send(i, 0, 8, ND_OP_FLAG_SILENT_SUCCESS);
	Disconnect(pair.a.connector);
	for (uintptr_t i = 0; i < 8; i++)
		Expect(pair.a.tx, i, ND_CANCELED);
	ExpectNone(pair.a.tx);
}

void
A21_inline_data_are_taken_in_the_call()
{
	Options options;
	options.inlineBytes = 256;
	Pair pair(options);
	pair.Connect();
	BYTE own[257], expected[256];
	ND2_SGE sges[16];

	for (unsigned i = 0; i < sizeof(expected); i++)
		own[i] = expected[i] = static_cast<BYTE>(i * 7);
	for (unsigned i = 0; i < 16; i++) {
		ND2_SGE one = {own + 16 * i, 16, 0xdeadbeef};
		sges[i] = one;
	}
	pair.b.Receive(1, 0, 256);
	CHECK_HR(pair.a.qp->Send(reinterpret_cast<void *>(2), sges, 16, ND_OP_FLAG_INLINE),
		 ND_SUCCESS);
	memset(own, 0xee, sizeof(own));
	CHECK(Expect(pair.b.rx, 1, ND_SUCCESS).BytesTransferred == 256);
	Expect(pair.a.tx, 2, ND_SUCCESS);
	CHECK(memcmp(pair.b.arena.data(), expected, sizeof(expected)) == 0);
	sges[0].BufferLength = 257;
	CHECK_HR(pair.a.qp->Send(NULL, sges, 1, ND_OP_FLAG_INLINE), ND_BUFFER_OVERFLOW);
	ExpectNone(pair.a.tx);
}

void
A22_a_fenced_send_carries_what_the_read_has_brought()
{
	const ULONG BYTES = 64 * 1024, HALF = ARENA / 2;
	Pair pair;
	pair.Connect();

	for (int round = 1; round <= 10; round++) {
		memset(&pair.b.arena[0], round, BYTES);
		memset(&pair.a.arena[0], 0, BYTES);
		memset(&pair.b.arena[HALF], 0, BYTES);
		pair.b.Receive(1, HALF, BYTES);
		pair.a.Read(pair.b, 2, 0, BYTES);
		pair.a.Send(3, 0, BYTES, ND_OP_FLAG_READ_FENCE);
		pair.a.Read(pair.b, 4, 0, BYTES);
		pair.a.Write(pair.b, 5, HALF - 64, 64);
		for (uintptr_t i = 2; i <= 5; i++)
			Expect(pair.a.tx, i, ND_SUCCESS);
		CHECK(Expect(pair.b.rx, 1, ND_SUCCESS).BytesTransferred == BYTES);
		CHECK(memcmp(&pair.b.arena[0], &pair.b.arena[HALF], BYTES) == 0);
	}
}

void
A23_an_answer_comes_behind_the_completion_of_its_question()
{
	const int ROUNDS = 5000;
	Pair pair;
	pair.Connect();

	for (int round = 0; round < ROUNDS; round++) {
		ND2_RESULT result;

		pair.b.Receive(1, 0, 8);
		pair.a.Receive(2, 64, 8);
		pair.a.Send(3, 0, 8);
		Expect(pair.b.rx, 1, ND_SUCCESS);
		pair.b.Send(4, 64, 8);
		Expect(pair.a.rx, 2, ND_SUCCESS);
		/* it is there already */
		CHECK(pair.a.tx->GetResults(&result, 1) == 1);
		CHECK_HR(result.Status, ND_SUCCESS);
		CHECK(result.RequestContext == reinterpret_cast<void *>(3));
		Expect(pair.b.tx, 4, ND_SUCCESS);
	}
}

void
A29_without_a_receive_a_send_times_out()
{
	Pair pair;
	pair.Connect();
	ULONGLONG end = GetTickCount64() + LATE_MS;

	pair.a.Send(1, 0, 8);
	Expect(pair.a.tx, 1, ND_IO_TIMEOUT);
	CHECK(GetTickCount64() < end);
}

void
A29_a_send_waits_for_an_empty_shared_queue()
{
	Options options;
	options.srq = true;
	Pair pair(options);
	pair.Connect();
	ULONGLONG end = GetTickCount64() + EMPTY_MS;
	ND2_RESULT result;

	pair.a.Send(1, 0, 8);
	while (GetTickCount64() < end) {
		CHECK(pair.a.tx->GetResults(&result, 1) == 0);
		Sleep(A_WHILE_MS);
	}
	pair.b.Receive(2, 0, 8);
	Expect(pair.b.rx, 2, ND_SUCCESS);
	Expect(pair.a.tx, 1, ND_SUCCESS);
}

void
A29_a_shared_queue_notifies_below_its_threshold()
{
	Options options;
	options.srq = true;
	options.depth = 16;
	options.threshold = 4;
	Pair pair(options);
	pair.Connect();
	IND2SharedReceiveQueue *srq = pair.b.srq;
	Overlapped ov;

	for (uintptr_t i = 0; i < 6; i++)
		pair.b.Receive(i, 0, 8);
	CHECK_HR(srq->Notify(&ov), ND_PENDING);
	for (uintptr_t i = 0; i < 3; i++) {
		CheckPending(srq, ov);
		CHECK_HR(srq->Modify(0, 0), ND_SUCCESS);
		pair.a.Send(9, 0, 8);
		Expect(pair.b.rx, i, ND_SUCCESS);
		Expect(pair.a.tx, 9, ND_SUCCESS);
	}
	CHECK_HR(Wait(srq, ov), ND_SUCCESS);
	/* 3 are left, and room for 13 as before */
	for (uintptr_t i = 6; i < 19; i++)
		pair.b.Receive(i, 0, 8);
	ND2_SGE sge = pair.b.Sge(0, 8);
	CHECK_HR(srq->Receive(NULL, &sge, 1), ND_NO_MORE_ENTRIES);
}

void
A30_who_polls_the_last_byte_sees_all_of_a_write()
{
	const SIZE_T BYTES = 4 * 1024 * 1024;
	Pair pair;
	pair.Connect();
	std::vector<BYTE> from(BYTES), to(BYTES);
	IND2MemoryRegion *source = pair.a.Region(from.data(), BYTES, 0);
	IND2MemoryRegion *target = pair.b.Region(to.data(), BYTES, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	ND2_SGE sge = {from.data(), static_cast<ULONG>(BYTES), source->GetLocalToken()};

	for (BYTE round = 1; round <= 5; round++) {
		ULONGLONG end = GetTickCount64() + PATIENCE_MS;

		memset(from.data(), round, BYTES);
		CHECK_HR(pair.a.qp->Write(NULL, &sge, 1, reinterpret_cast<uintptr_t>(to.data()),
					  target->GetRemoteToken(), 0),
			 ND_SUCCESS);
		/* no call of the provider's until it is there */
		while (__atomic_load_n(&to[BYTES - 1], __ATOMIC_ACQUIRE) != round)
			CHECK(GetTickCount64() < end);
		CHECK(memcmp(from.data(), to.data(), BYTES) == 0);
		Expect(pair.a.tx, 0, ND_SUCCESS);
	}
	End(source);
	End(target);
}

} // namespace

const std::vector<Test> g_Messages = {
	TEST(A12_a_bound_window_keeps_the_region),
	TEST(A13_windows_ask_the_region_for_nothing_but_local_write),
	TEST(A14_a_token_is_good_as_soon_as_bind_returns),
	TEST(A14_a_stale_token_or_a_byte_outside_is_an_access_violation),
	TEST(A15_a_fault_of_an_sge_is_told_by_its_completion),
	TEST(A19_solicited_waits_for_who_asks_or_an_error),
	TEST(A20_silent_requests_have_an_entry_only_when_cancelled),
	TEST(A21_inline_data_are_taken_in_the_call),
	TEST(A22_a_fenced_send_carries_what_the_read_has_brought),
	TEST(A23_an_answer_comes_behind_the_completion_of_its_question),
	TEST(A29_without_a_receive_a_send_times_out),
	TEST(A29_a_send_waits_for_an_empty_shared_queue),
	TEST(A29_a_shared_queue_notifies_below_its_threshold),
	TEST(A30_who_polls_the_last_byte_sees_all_of_a_write),
};
