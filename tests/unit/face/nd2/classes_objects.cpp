/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one adapter does by itself, through its C++ classes: requests, events and ports (A01 to A04,
 * A07), lifetimes (A08), limits (A09 to A11), a queue pair that was never connected (A16), and the
 * notifications that need no peer (A17, A18).
 * Start with A01_register_pends_and_sends_a_packet().
 */
#include "classes.h"

namespace
{

const ULONG_PTR KEY = 0x1234;
const ULONG DEPTH = 8;

/* The next packet of a port; ov is NULL when there is none. */
BOOL
NextPacket(HANDLE port, DWORD timeout, ULONG_PTR *key, OVERLAPPED **ov)
{
	DWORD bytes = 0;

	*key = 0;
	*ov = NULL;
	return GetQueuedCompletionStatus(port, &bytes, key, ov, timeout);
}

void
CheckPacket(HANDLE port, DWORD timeout, const OVERLAPPED *expected)
{
	ULONG_PTR key;
	OVERLAPPED *ov;

	CHECK(NextPacket(port, timeout, &key, &ov));
	CHECK(key == KEY && ov == expected);
}

void
CheckCancelledPacket(HANDLE port, const OVERLAPPED *expected)
{
	ULONG_PTR key;
	OVERLAPPED *ov;

	CHECK(!NextPacket(port, 0, &key, &ov));
	CHECK(GetLastError() == ERROR_OPERATION_ABORTED);
	CHECK(key == KEY && ov == expected);
}

void
CheckNoPacket(HANDLE port)
{
	ULONG_PTR key;
	OVERLAPPED *ov;

	CHECK(!NextPacket(port, 0, &key, &ov));
	CHECK(ov == NULL && GetLastError() == WAIT_TIMEOUT);
}

HANDLE
PortOf(HANDLE file)
{
	HANDLE port = CreateIoCompletionPort(file, NULL, KEY, 0);

	CHECK(port != NULL);
	return port;
}

IND2MemoryRegion *
EmptyRegion(Side &side)
{
	IND2MemoryRegion *mr = nullptr;

	CHECK_HR(side.adapter->CreateMemoryRegion(IID_IND2MemoryRegion, side.file,
						  reinterpret_cast<void **>(&mr)),
		 ND_SUCCESS);
	return mr;
}

/* n entries: receives that are flushed. */
void
Produce(Side &side, uintptr_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		side.Receive(first + i, 0, 8);
	CHECK_HR(side.qp->Flush(), ND_SUCCESS);
}

void
A01_register_pends_and_sends_a_packet()
{
	Side side(0, Options());
	HANDLE port = PortOf(side.file);
	IND2MemoryRegion *mr = EmptyRegion(side);
	OVERLAPPED plain = OVERLAPPED();
	Overlapped owned;

	for (int round = 0; round < 10; round++) {
		CHECK_HR(mr->Register(side.arena.data(), 4096, 0, &plain), ND_PENDING);
		CheckPacket(port, PATIENCE_MS, &plain);
		CHECK_HR(mr->GetOverlappedResult(&plain, FALSE), ND_SUCCESS);
		/* with an event: that is set, too */
		CHECK_HR(mr->Deregister(&owned), ND_PENDING);
		CheckPacket(port, PATIENCE_MS, &owned);
		CHECK_HR(Wait(mr, owned), ND_SUCCESS);
		CheckNoPacket(port);
	}
	/* bit 0 of the event: no packet */
	OVERLAPPED quiet = OVERLAPPED();
	quiet.hEvent = reinterpret_cast<HANDLE>(reinterpret_cast<uintptr_t>(owned.hEvent) | 1);
	CHECK_PENDS(mr, Register(side.arena.data(), 4096, 0, &quiet), quiet, ND_SUCCESS);
	CHECK_PENDS(mr, Deregister(&quiet), quiet, ND_SUCCESS);
	Sleep(A_WHILE_MS);
	CheckNoPacket(port);
	Done(mr);
	CHECK(CloseHandle(port));
}

void
A02_cancelled_requests_are_told_when_cancel_returns()
{
	Side side(0, Options());
	HANDLE port = PortOf(side.file);
	OVERLAPPED first[3] = {}, second[2] = {};
	ULONG_PTR key;
	OVERLAPPED *ov;

	/* what making the side has left in no port */
	CHECK(!NextPacket(port, 0, &key, &ov));
	for (OVERLAPPED &one : first)
		CHECK_HR(side.rx->Notify(ND_CQ_NOTIFY_ANY, &one), ND_PENDING);
	for (OVERLAPPED &one : second)
		CHECK_HR(side.tx->Notify(ND_CQ_NOTIFY_ANY, &one), ND_PENDING);
	CHECK_HR(side.tx->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(side.rx->CancelOverlappedRequests(), ND_SUCCESS);
	for (OVERLAPPED &one : second)
		CheckCancelledPacket(port, &one);
	for (OVERLAPPED &one : first)
		CheckCancelledPacket(port, &one);
	CheckNoPacket(port);
	CHECK_HR(side.rx->GetOverlappedResult(&first[0], TRUE), ND_CANCELED);
	/* nothing is left to cancel */
	CHECK_HR(side.rx->CancelOverlappedRequests(), ND_SUCCESS);
	CheckNoPacket(port);
	CHECK(CloseHandle(port));
}

void
A03_results_are_read_from_the_overlapped()
{
	Side side(0, Options());
	IND2MemoryRegion *mr = EmptyRegion(side);
	Overlapped ov;
	OVERLAPPED zeroed = OVERLAPPED();

	CHECK_HR(mr->Register(side.arena.data(), 4096, 0, &ov), ND_PENDING);
	CHECK_HR(side.mr->GetOverlappedResult(&ov, TRUE), ND_SUCCESS);
	CHECK_PENDS(mr, Deregister(&ov), ov, ND_SUCCESS);
	CHECK_HR(side.rx->Notify(ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
	CHECK_HR(mr->GetOverlappedResult(&ov, FALSE), ND_PENDING);
	CHECK_HR(side.rx->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(mr->GetOverlappedResult(&ov, TRUE), ND_CANCELED);
	CHECK_HR(mr->GetOverlappedResult(&zeroed, TRUE), ND_SUCCESS);
	CHECK_HR(side.connector->GetOverlappedResult(&zeroed, TRUE), ND_SUCCESS);
	Done(mr);
}

DWORD WINAPI
ProduceLater(void *parameter)
{
	Sleep(A_WHILE_MS);
	Produce(*static_cast<Side *>(parameter), 1, 1);
	return 0;
}

void
A04_an_event_left_set_ends_no_wait()
{
	Side side(0, Options());
	Overlapped ov;

	for (int round = 0; round < 5; round++) {
		CHECK(SetEvent(ov.hEvent));
		CHECK_HR(side.rx->Notify(ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
		CheckPending(side.rx, ov);
		HANDLE thread = CreateThread(NULL, 0, ProduceLater, &side, 0, NULL);
		CHECK(thread != NULL);
		CHECK_HR(side.rx->GetOverlappedResult(&ov, TRUE), ND_SUCCESS);
		CHECK(WaitForSingleObject(thread, PATIENCE_MS) == WAIT_OBJECT_0);
		CHECK(CloseHandle(thread));
		Expect(side.rx, 1, ND_CANCELED);
	}
}

void
A07_file_and_port_may_be_closed_first()
{
	for (int portFirst = 0; portFirst < 2; portFirst++) {
		Side side(0, Options());
		HANDLE port = PortOf(side.file);
		IND2MemoryRegion *mr = EmptyRegion(side);
		Overlapped ov;

		if (portFirst)
			CHECK(CloseHandle(port));
		CHECK(CloseHandle(side.file));
		side.file = nullptr;
		CHECK_PENDS(mr, Register(side.arena.data(), 4096, 0, &ov), ov, ND_SUCCESS);
		if (!portFirst)
			CheckPacket(port, PATIENCE_MS, &ov);
		CHECK_PENDS(mr, Deregister(&ov), ov, ND_SUCCESS);
		CHECK_HR(side.rx->Notify(ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
		Produce(side, 1, 1);
		CHECK_HR(Wait(side.rx, ov), ND_SUCCESS);
		Expect(side.rx, 1, ND_CANCELED);
		Done(mr);
		if (!portFirst)
			CHECK(CloseHandle(port));
	}
}

void
A08_the_library_stays_for_the_last_child()
{
	CanUnloadNow canUnload = FindCanUnloadNow();
	IND2Provider *provider = nullptr;
	IND2Adapter *adapter = nullptr;
	IND2MemoryWindow *mw = nullptr;
	Address address = AddressOf(0, 0);
	UINT64 id = 0;

	CHECK_HR(canUnload(), S_OK);
	CHECK_HR(FindClassObject()(IID_IND2Provider, IID_IND2Provider,
				   reinterpret_cast<void **>(&provider)),
		 S_OK);
	CHECK_HR(provider->ResolveAddress(address.Get(), address.length, &id), ND_SUCCESS);
	CHECK_HR(provider->OpenAdapter(IID_IND2Adapter, id, reinterpret_cast<void **>(&adapter)),
		 ND_SUCCESS);
	Done(provider);
	CHECK_HR(canUnload(), S_FALSE);
	CHECK_HR(adapter->CreateMemoryWindow(IID_IND2MemoryWindow, reinterpret_cast<void **>(&mw)),
		 ND_SUCCESS);
	Done(adapter);
	CHECK_HR(canUnload(), S_FALSE);
	Done(mw);
	CHECK_HR(canUnload(), S_OK);
}

/* The list has both families of both adapters; each adapter's has its own. */
void
addresses_are_listed_in_two_calls()
{
	SIZE_T bytes = 0;
	CHECK_HR(NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &bytes),
		 ND_BUFFER_OVERFLOW);
	std::vector<char> all(bytes);
	SOCKET_ADDRESS_LIST *list = reinterpret_cast<SOCKET_ADDRESS_LIST *>(all.data());
	CHECK_HR(NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &bytes), ND_SUCCESS);
	CHECK(list->iAddressCount == 4);
	for (INT i = 0; i < list->iAddressCount; i++)
		CHECK_HR(NdCheckAddress(list->Address[i].lpSockaddr,
					static_cast<SIZE_T>(list->Address[i].iSockaddrLength)),
			 ND_SUCCESS);

	IND2Adapter *adapter = OpenAdapter(1);
	SOCKADDR_IN expected;
	memcpy(&expected, AddressOf(1, 0).Get(), sizeof(expected));
	ULONG size = 0;
	CHECK_HR(adapter->QueryAddressList(NULL, &size), ND_BUFFER_OVERFLOW);
	std::vector<char> own(size);
	list = reinterpret_cast<SOCKET_ADDRESS_LIST *>(own.data());
	CHECK_HR(adapter->QueryAddressList(list, &size), ND_SUCCESS);
	CHECK(list->iAddressCount == 2);
	unsigned found = 0;
	for (INT i = 0; i < list->iAddressCount; i++) {
		SOCKADDR_IN *in = reinterpret_cast<SOCKADDR_IN *>(list->Address[i].lpSockaddr);
		found += in->sin_family == AF_INET &&
			 in->sin_addr.s_addr == expected.sin_addr.s_addr;
	}
	CHECK(found == 1);
	Done(adapter);
}

void
A09_query_checks_the_size()
{
	IND2Adapter *adapter = OpenAdapter(0);
	ND2_ADAPTER_INFO info, before;
	ULONG bytes = sizeof(info) - 1;

	memset(&info, 0x5a, sizeof(info));
	info.InfoVersion = ND_VERSION_2;
	before = info;
	CHECK_HR(adapter->Query(&info, &bytes), ND_BUFFER_OVERFLOW);
	CHECK(bytes == 96 && sizeof(info) == 96);
	CHECK(memcmp(&info, &before, sizeof(info)) == 0);
	CHECK_HR(adapter->Query(&info, &bytes), ND_SUCCESS);
	CHECK(bytes == 96 && info.InfoVersion == ND_VERSION_2);
	CHECK(info.MaxReceiveQueueDepth == info.MaxInitiatorQueueDepth);
	CHECK(info.InlineRequestThreshold <= info.MaxInlineDataSize);
	info.InfoVersion = 3;
	CHECK_HR(adapter->Query(&info, &bytes), ND_NOT_SUPPORTED);
	Done(adapter);
}

void
A10_limits_are_inclusive_and_told_by_number()
{
	Side side(0, Options());
	ND2_ADAPTER_INFO info = QueryAdapter(side.adapter);
	const ULONG depths[] = {0, info.MaxCompletionQueueDepth + 1};
	void *made = nullptr;

	for (ULONG depth : depths) {
		CHECK_HR(side.adapter->CreateCompletionQueue(IID_IND2CompletionQueue, side.file,
							     depth, 0, 0, &made),
			 ND_INVALID_PARAMETER_3);
		CHECK(made == nullptr);
	}
	IND2CompletionQueue *deepest = side.Cq(info.MaxCompletionQueueDepth);
	Done(deepest);
	const HRESULT numbers[] = {ND_INVALID_PARAMETER_5, ND_INVALID_PARAMETER_6,
				   ND_INVALID_PARAMETER_7, ND_INVALID_PARAMETER_8,
				   ND_INVALID_PARAMETER_9};
	for (unsigned over = 0; over < 5; over++) {
		const ULONG most[] = {info.MaxReceiveQueueDepth, info.MaxInitiatorQueueDepth,
				      info.MaxReceiveSge, info.MaxInitiatorSge,
				      info.MaxInlineDataSize};
		ULONG asked[] = {DEPTH, DEPTH, 1, 1, 0};

		asked[over] = most[over] + 1;
		CHECK_HR(side.adapter->CreateQueuePair(IID_IND2QueuePair, side.rx, side.tx, NULL,
						       asked[0], asked[1], asked[2], asked[3],
						       asked[4], &made),
			 numbers[over]);
		asked[over] = most[over];
		IND2QueuePair *qp = nullptr;
		CHECK_HR(side.adapter->CreateQueuePair(IID_IND2QueuePair, side.rx, side.tx, NULL,
						       asked[0], asked[1], asked[2], asked[3],
						       asked[4], reinterpret_cast<void **>(&qp)),
			 ND_SUCCESS);
		Done(qp);
	}
}

void
A11_register_refuses_nothing_at_nowhere()
{
	Side side(0, Options());
	IND2MemoryRegion *mr = EmptyRegion(side);
	Overlapped ov;

	CHECK_HR(mr->Register(NULL, 0, 0, &ov), ND_INVALID_PARAMETER);
	CHECK_HR(mr->Register(NULL, 4096, 0, &ov), ND_INVALID_PARAMETER);
	CHECK_HR(mr->Register(side.arena.data(), 0, 0, &ov), ND_INVALID_BUFFER_SIZE);
	CHECK_HR(mr->Deregister(&ov), ND_INVALID_DEVICE_STATE);
	/* and a byte is enough */
	CHECK_PENDS(mr, Register(side.arena.data() + 1, 1, 0, &ov), ov, ND_SUCCESS);
	CHECK_HR(mr->Register(side.arena.data(), 1, 0, &ov), ND_INVALID_DEVICE_STATE);
	CHECK_PENDS(mr, Deregister(&ov), ov, ND_SUCCESS);
	Done(mr);
}

void
A16_never_connected_takes_receives_and_flush_only()
{
	Side side(0, Options());
	IND2MemoryWindow *mw = side.Window();
	ND2_SGE sge = side.Sge(0, 8);

	CHECK_HR(side.qp->Send(NULL, &sge, 1, 0), ND_CONNECTION_INVALID);
	CHECK_HR(side.qp->Read(NULL, &sge, 1, 0, 0, 0), ND_CONNECTION_INVALID);
	CHECK_HR(side.qp->Write(NULL, &sge, 1, 0, 0, 0), ND_CONNECTION_INVALID);
	CHECK_HR(side.qp->Bind(NULL, side.mr, mw, side.arena.data(), 8, ND_OP_FLAG_ALLOW_READ),
		 ND_CONNECTION_INVALID);
	CHECK_HR(side.qp->Invalidate(NULL, mw, 0), ND_CONNECTION_INVALID);
	ExpectNone(side.tx);
	CHECK_HR(side.qp->Flush(), ND_SUCCESS);
	ExpectNone(side.rx);
	Produce(side, 7, 1);
	CHECK(Expect(side.rx, 7, ND_CANCELED).QueuePairContext == &side);
	Done(mw);
}

void
A17_flushed_receives_notify_and_come_in_order()
{
	Side side(0, Options());
	ND2_RESULT results[3];
	Overlapped ov;

	Produce(side, 1, 2);
	CHECK_PENDS(side.rx, Notify(ND_CQ_NOTIFY_ANY, &ov), ov, ND_SUCCESS);
	CHECK(side.rx->GetResults(results, 3) == 2);
	for (uintptr_t i = 0; i < 2; i++) {
		CHECK(reinterpret_cast<uintptr_t>(results[i].RequestContext) == i + 1);
		CHECK_HR(results[i].Status, ND_CANCELED);
		CHECK(results[i].RequestType == Nd2RequestTypeReceive);
	}
}

void
A18_only_entries_after_the_last_notification_notify()
{
	Side side(0, Options());
	Overlapped ov;

	Produce(side, 1, 5);
	CHECK_PENDS(side.rx, Notify(ND_CQ_NOTIFY_ANY, &ov), ov, ND_SUCCESS);
	Expect(side.rx, 1, ND_CANCELED);
	CHECK_HR(side.rx->Notify(ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
	CheckPending(side.rx, ov);
	Produce(side, 6, 1);
	CHECK_HR(Wait(side.rx, ov), ND_SUCCESS);
	for (uintptr_t i = 2; i <= 6; i++)
		Expect(side.rx, i, ND_CANCELED);
	/* an entry between an empty read and Notify is not lost */
	for (uintptr_t i = 0; i < 1000; i++) {
		ND2_RESULT result;

		CHECK(side.rx->GetResults(&result, 1) == 0);
		Produce(side, i, 1);
		CHECK_PENDS(side.rx, Notify(ND_CQ_NOTIFY_ANY, &ov), ov, ND_SUCCESS);
		Expect(side.rx, i, ND_CANCELED);
	}
}

} // namespace

const std::vector<Test> g_Objects = {
	TEST(A08_the_library_stays_for_the_last_child),
	TEST(addresses_are_listed_in_two_calls),
	TEST(A01_register_pends_and_sends_a_packet),
	TEST(A02_cancelled_requests_are_told_when_cancel_returns),
	TEST(A03_results_are_read_from_the_overlapped),
	TEST(A04_an_event_left_set_ends_no_wait),
	TEST(A07_file_and_port_may_be_closed_first),
	TEST(A09_query_checks_the_size),
	TEST(A10_limits_are_inclusive_and_told_by_number),
	TEST(A11_register_refuses_nothing_at_nowhere),
	TEST(A16_never_connected_takes_receives_and_flush_only),
	TEST(A17_flushed_receives_notify_and_come_in_order),
	TEST(A18_only_entries_after_the_last_notification_notify),
};
