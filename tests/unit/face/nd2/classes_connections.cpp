/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections from their first to their last step, through the C++ classes: A05, A08 (the count of
 * a connector), A24 to A28. Run over IPv4, then over IPv6.
 * Start with A24_accept_waits_for_complete().
 */
#include "classes.h"

namespace
{

void
A05_nothing_writes_behind_the_last_release()
{
	Pair pair;
	Overlapped told;
	OVERLAPPED shared = OVERLAPPED(), left;

	pair.Connect();
	CHECK_HR(pair.b.connector->NotifyDisconnect(&told), ND_PENDING);
	CHECK_HR(pair.a.connector->Disconnect(&shared), ND_PENDING);
	CHECK_HR(pair.a.mr->Deregister(&shared), ND_PENDING);
	Done(pair.a.mr);
	Done(pair.a.tx);
	Done(pair.a.rx);
	Done(pair.a.qp);
	Done(pair.a.connector);
	memset(&shared, 0x5a, sizeof(shared));
	left = shared;
	CHECK_HR(Wait(pair.b.connector, told), ND_SUCCESS);
	Sleep(A_WHILE_MS);
	CHECK(memcmp(&shared, &left, sizeof(shared)) == 0);
}

void
A08_a_connector_with_a_queue_pair_has_one_reference()
{
	Pair pair;

	pair.Connect();
	pair.Talk();
	Done(pair.a.connector);
	Done(pair.b.connector);
}

void
A24_accept_waits_for_complete()
{
	Pair pair;

	pair.Request();
	CheckPending(pair.a.connector, pair.connected);
	pair.Reply();
	CheckPending(pair.b.connector, pair.accepted);
	pair.Complete();
	pair.Talk();
}

void
A24_a_refused_reply_ends_accept()
{
	for (int release = 0; release < 2; release++) {
		Pair pair;
		BYTE words[256] = {};
		ULONG bytes = sizeof(words);

		pair.Request();
		pair.Reply();
		if (release)
			Done(pair.a.connector);
		else
			CHECK_HR(pair.a.connector->Reject("no", 3), ND_SUCCESS);
		CHECK_HR(Wait(pair.b.connector, pair.accepted), ND_CONNECTION_REFUSED);
		if (release)
			continue;
		CHECK_HR(pair.b.connector->GetPrivateData(words, &bytes), ND_SUCCESS);
		CHECK(bytes >= 3 && memcmp(words, "no", 3) == 0);
	}
}

void
A24_a_peer_that_cancels_before_accept_has_aborted()
{
	Pair pair;
	ULONGLONG end = GetTickCount64() + PATIENCE_MS;

	pair.Request();
	CHECK_HR(pair.a.connector->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(pair.a.connector->GetOverlappedResult(&pair.connected, FALSE), ND_CANCELED);
	/* until the peer has heard of it */
	while (pair.b.connector->GetReadLimits(NULL, NULL) != ND_CONNECTION_INVALID) {
		CHECK(GetTickCount64() < end);
		Sleep(1);
	}
	CHECK_HR(pair.Answer(NULL, 0), ND_CONNECTION_ABORTED);
}

void
A25_refused_it_can_be_connected_on_a_second_try()
{
	Pair pair;
	Address from = AddressOf(0, 0);
	Address nobody = AddressOf(1, 5999);

	pair.a.Receive(1, 0, 8);
	CHECK_PENDS(
		pair.a.connector,
		Connect(pair.a.qp, nobody.Get(), nobody.length, 16, 16, NULL, 0, &pair.connected),
		pair.connected, ND_CONNECTION_REFUSED);
	/* the peer's word is the same to who asks */
	CHECK_HR(pair.listener->GetConnectionRequest(pair.b.connector, &pair.asked), ND_PENDING);
	CHECK_HR(pair.Ask(NULL, 0), ND_PENDING);
	CHECK_HR(Wait(pair.listener, pair.asked), ND_SUCCESS);
	CHECK_HR(pair.b.connector->Reject(NULL, 0), ND_SUCCESS);
	CHECK_HR(Wait(pair.a.connector, pair.connected), ND_CONNECTION_REFUSED);
	Done(pair.b.connector);
	pair.b.connector = pair.b.Connector();
	CHECK_HR(pair.a.connector->Bind(from.Get(), from.length),
		 static_cast<HRESULT>(STATUS_ADDRESS_ALREADY_ASSOCIATED));
	ExpectNone(pair.a.rx);
	pair.Connect();
	pair.b.Send(2, 0, 8);
	Expect(pair.b.tx, 2, ND_SUCCESS);
	Expect(pair.a.rx, 1, ND_SUCCESS);
	pair.Talk();
}

void
A26_the_longest_words_travel_and_longer_ones_do_not()
{
	Pair pair;
	ND2_ADAPTER_INFO info = QueryAdapter(pair.a.adapter);
	const ULONG caller = info.MaxCallerData, callee = info.MaxCalleeData;
	std::vector<BYTE> call(caller + 1, 'c'), reply(callee + 1, 'r'), heard(512, 0);

	CHECK(caller == 56 && callee == 148);
	CHECK_HR(pair.Ask(call.data(), caller + 1), ND_INVALID_BUFFER_SIZE);
	pair.Request(call.data(), caller);
	/* a short buffer has the beginning, and is told the length */
	ULONG bytes = 10;
	CHECK_HR(pair.b.connector->GetPrivateData(heard.data(), &bytes), ND_BUFFER_OVERFLOW);
	CHECK(bytes >= caller && memcmp(heard.data(), call.data(), 10) == 0 && heard[10] == 0);
	bytes = static_cast<ULONG>(heard.size());
	CHECK_HR(pair.b.connector->GetPrivateData(heard.data(), &bytes), ND_SUCCESS);
	CHECK(bytes >= caller && memcmp(heard.data(), call.data(), caller) == 0);
	CHECK_HR(pair.b.connector->Reject(reply.data(), callee + 1), ND_INVALID_BUFFER_SIZE);
	CHECK_HR(pair.Answer(reply.data(), callee + 1), ND_INVALID_BUFFER_SIZE);
	pair.Reply(reply.data(), callee);
	bytes = static_cast<ULONG>(heard.size());
	CHECK_HR(pair.a.connector->GetPrivateData(heard.data(), &bytes), ND_SUCCESS);
	CHECK(bytes >= callee && memcmp(heard.data(), reply.data(), callee) == 0);
	pair.Complete();
	pair.Talk();
}

void
A26_a_refusal_has_the_longest_words()
{
	Pair pair;
	const ULONG callee = QueryAdapter(pair.a.adapter).MaxCalleeData;
	std::vector<BYTE> words(callee + 1, 'w'), heard(512, 0);
	ULONG bytes = static_cast<ULONG>(heard.size());

	pair.Request();
	CHECK_HR(pair.b.connector->Reject(words.data(), callee + 1), ND_INVALID_BUFFER_SIZE);
	CHECK_HR(pair.b.connector->Reject(words.data(), callee), ND_SUCCESS);
	CHECK_HR(Wait(pair.a.connector, pair.connected), ND_CONNECTION_REFUSED);
	CHECK_HR(pair.a.connector->GetPrivateData(heard.data(), &bytes), ND_SUCCESS);
	CHECK(bytes >= callee && memcmp(heard.data(), words.data(), callee) == 0);
}

void
A27_a_peer_is_told_before_anything_is_flushed()
{
	for (int round = 0; round < 5; round++) {
		Pair pair;
		Overlapped told, left;

		pair.Connect();
		pair.b.Receive(1, 0, 8);
		pair.b.Receive(2, 0, 8);
		CHECK_HR(pair.b.connector->NotifyDisconnect(&told), ND_PENDING);
		CHECK_HR(pair.a.connector->Disconnect(&left), ND_PENDING);
		Expect(pair.b.rx, 1, ND_CANCELED);
		/* whoever sees it has been told */
		CHECK_HR(pair.b.connector->GetOverlappedResult(&told, FALSE), ND_SUCCESS);
		Expect(pair.b.rx, 2, ND_CANCELED);
		CHECK_HR(Wait(pair.a.connector, left), ND_SUCCESS);
		Disconnect(pair.b.connector);
	}
}

void
A27_both_may_leave_at_once()
{
	for (int round = 0; round < 5; round++) {
		Pair pair;
		Overlapped a, b;

		pair.Connect();
		pair.a.Receive(1, 0, 8);
		pair.b.Receive(2, 0, 8);
		CHECK_HR(pair.a.connector->Disconnect(&a), ND_PENDING);
		CHECK_HR(pair.b.connector->Disconnect(&b), ND_PENDING);
		CHECK_HR(Wait(pair.a.connector, a), ND_SUCCESS);
		CHECK_HR(Wait(pair.b.connector, b), ND_SUCCESS);
		Expect(pair.a.rx, 1, ND_CANCELED);
		Expect(pair.b.rx, 2, ND_CANCELED);
	}
}

void
A28_who_waits_for_the_end_is_told_once()
{
	Pair pair;
	Overlapped a, b, none;

	CHECK_HR(pair.a.connector->NotifyDisconnect(&none), ND_CONNECTION_INVALID);
	pair.Connect();
	/* cancelled, and connected still */
	CHECK_HR(pair.a.connector->NotifyDisconnect(&a), ND_PENDING);
	CHECK_HR(pair.a.connector->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(Wait(pair.a.connector, a), ND_CANCELED);
	pair.Talk();
	CHECK_HR(pair.a.connector->NotifyDisconnect(&a), ND_PENDING);
	CHECK_HR(pair.b.connector->NotifyDisconnect(&b), ND_PENDING);
	CheckPending(pair.a.connector, a);
	Disconnect(pair.a.connector);
	CHECK_HR(Wait(pair.a.connector, a), static_cast<HRESULT>(STATUS_CONNECTION_DISCONNECTED));
	CHECK_HR(Wait(pair.b.connector, b), ND_SUCCESS);
	/* and not again */
	CHECK(WaitForSingleObject(a.hEvent, A_WHILE_MS) == WAIT_TIMEOUT);
	CHECK(WaitForSingleObject(b.hEvent, A_WHILE_MS) == WAIT_TIMEOUT);
}

} // namespace

const std::vector<Test> g_Connections = {
	TEST(A05_nothing_writes_behind_the_last_release),
	TEST(A08_a_connector_with_a_queue_pair_has_one_reference),
	TEST(A24_accept_waits_for_complete),
	TEST(A24_a_refused_reply_ends_accept),
	TEST(A24_a_peer_that_cancels_before_accept_has_aborted),
	TEST(A25_refused_it_can_be_connected_on_a_second_try),
	TEST(A26_the_longest_words_travel_and_longer_ones_do_not),
	TEST(A26_a_refusal_has_the_longest_words),
	TEST(A27_a_peer_is_told_before_anything_is_flushed),
	TEST(A27_both_may_leave_at_once),
	TEST(A28_who_waits_for_the_end_is_told_once),
};
