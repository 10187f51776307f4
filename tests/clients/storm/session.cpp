/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a session: which request follows which, and how each must end. What a session does is
 * decided by the end that connects and told in its private data, so that both know. A session owns
 * its three objects and its OVERLAPPEDs, and is freed with them; it touches no other session.
 * Start with Session::OnPacket().
 */
#include "session.h"

#include <stdio.h>

LONG Now(volatile LONG *value)
{
	return InterlockedCompareExchange(value, 0, 0);
}

bool Check(bool good, const char *what, const char *file, int line, HRESULT hr)
{
	if (!good && InterlockedIncrement(&g_Counters.Failures) <= 10) {
		printf("%s:%d: %s (0x%08x)\n", file, line, what, (unsigned)hr);
		fflush(stdout);
	}
	return good;
}

// ---- requests -----------------------------------------------------------------------------------

OVERLAPPED *Session::Begin(Step step)
{
	Request &request = m_Requests[step];

	CHECK(!request.Pending);
	request.Pending = true;
	m_Pending++;
	InterlockedIncrement(&g_Counters.Begun);
	// nothing in it is asked for but the event
	memset(&request.Ov, 0xa5, sizeof(request.Ov));
	request.Ov.hEvent = NULL;
	return &request.Ov;
}

// The method has returned: it must have pended.
bool Session::Took(Step step, HRESULT hr)
{
	if (CHECK_HR(hr == ND_PENDING, hr))
		return true;
	m_Requests[step].Pending = false;
	m_Pending--;
	InterlockedDecrement(&g_Counters.Begun);
	return false;
}

void Session::OnPacket(OVERLAPPED *ov, BOOL ok, DWORD error)
{
	Request *request = CONTAINING_RECORD(ov, Request, Ov);
	Session *session = request->Owner;
	bool finished;

	EnterCriticalSection(&session->m_Lock);
	CHECK(request->Pending); // or it has ended twice
	request->Pending = false;
	session->m_Pending--;
	InterlockedIncrement(&g_Counters.Ended);
	HRESULT hr = session->m_Connector->GetOverlappedResult(ov, FALSE);
	CHECK_HR(hr != ND_PENDING, hr);
	CHECK_HR(!!ok == SUCCEEDED(hr), hr);
	if (hr == ND_CANCELED)
		CHECK(error == ERROR_OPERATION_ABORTED);
	session->Handle(request->Which, hr);
	finished = session->Finished();
	LeaveCriticalSection(&session->m_Lock);
	if (finished)
		session->Close();
}

// ---- a life -------------------------------------------------------------------------------------

void Session::Start(bool client, int slot)
{
	Session *session =
		(Session *)HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof(Session));

	session->m_Client = client;
	session->m_End = &g_Ends[client ? 0 : 1];
	session->m_Slot = slot;
	InitializeCriticalSection(&session->m_Lock);
	for (int i = 0; i < Steps; i++) {
		session->m_Requests[i].Owner = session;
		session->m_Requests[i].Which = (Step)i;
	}
	EnterCriticalSection(&session->m_Lock);
	session->Open();
	session->Meet();
	LeaveCriticalSection(&session->m_Lock);
}

void Session::Open()
{
	IND2Adapter *adapter = m_End->Adapter;
	HRESULT hr;

	hr = adapter->CreateCompletionQueue(IID_IND2CompletionQueue, m_End->File, RECEIVES + 1, 0,
					    0, (void **)&m_Cq);
	CHECK_HR(hr == ND_SUCCESS, hr);
	hr = adapter->CreateQueuePair(IID_IND2QueuePair, m_Cq, m_Cq, this, RECEIVES, 1, 1, 1, 0,
				      (void **)&m_Qp);
	CHECK_HR(hr == ND_SUCCESS, hr);
	hr = adapter->CreateConnector(IID_IND2Connector, m_End->File, (void **)&m_Connector);
	CHECK_HR(hr == ND_SUCCESS, hr);
	for (ULONG i = 0; i < RECEIVES; i++) {
		ND2_SGE sge = {Piece() + i * MESSAGE, MESSAGE, m_End->Token};

		hr = m_Qp->Receive((void *)(ULONG_PTR)m_Posted++, &sge, 1);
		CHECK_HR(hr == ND_SUCCESS, hr);
		InterlockedIncrement(&g_Counters.Posted);
	}
	hr = m_Cq->Notify(ND_CQ_NOTIFY_ANY, Begin(StepCq));
	Took(StepCq, hr);
}

void Session::Meet()
{
	HRESULT hr;

	if (!m_Client) {
		hr = g_Ends[1].Listener->GetConnectionRequest(m_Connector, Begin(StepMeet));
		Took(StepMeet, hr);
		return;
	}
	static const Mode modes[] = {ModeCross, ModeClientLeaves,  ModeCross, ModeServerLeaves,
				     ModeCross, ModeServerRejects, ModeCross, ModeClientRejects};
	SOCKADDR_IN from = m_End->Address, to = g_Ends[1].Address;

	m_Hello.Id = (UINT64)InterlockedIncrement(&g_Counters.Ids);
	m_Hello.Mode = modes[m_Hello.Id % _countof(modes)];
	m_Hello.Magic = MAGIC;
	from.sin_port = 0;
	to.sin_port = htons(PORT);
	hr = m_Connector->Bind((const sockaddr *)&from, sizeof(from));
	CHECK_HR(hr == ND_SUCCESS, hr);
	hr = m_Connector->Connect(m_Qp, (const sockaddr *)&to, sizeof(to), 0, 0, &m_Hello,
				  sizeof(m_Hello), Begin(StepMeet));
	Took(StepMeet, hr);
}

void Session::ReadHello(Hello *hello)
{
	ULONG bytes = sizeof(*hello);
	HRESULT hr = m_Connector->GetPrivateData(hello, &bytes);

	CHECK_HR(hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW, hr);
	CHECK(bytes >= sizeof(*hello));
	CHECK(hello->Magic == MAGIC);
}

// The connection request is here, or the answer to ours.
void Session::Met(HRESULT hr)
{
	if (!m_Client) {
		if (hr == ND_CANCELED && Now(&g_Counters.Closing))
			return Apart();
		CHECK_HR(hr == ND_SUCCESS, hr);
		ReadHello(&m_Hello);
		if (m_Hello.Mode == ModeServerRejects) {
			hr = m_Connector->Reject(&m_Hello, sizeof(m_Hello));
			CHECK_HR(hr == ND_SUCCESS, hr);
			return Apart();
		}
		hr = m_Connector->Accept(m_Qp, 0, 0, &m_Hello, sizeof(m_Hello), Begin(StepAnswer));
		Took(StepAnswer, hr);
		return;
	}
	ReadHello(&m_Peer);
	CHECK(m_Peer.Id == m_Hello.Id);
	if (m_Hello.Mode == ModeServerRejects) {
		CHECK_HR(hr == ND_CONNECTION_REFUSED, hr);
		return Apart();
	}
	CHECK_HR(hr == ND_SUCCESS, hr);
	if (m_Hello.Mode == ModeClientRejects) {
		hr = m_Connector->Reject(NULL, 0);
		CHECK_HR(hr == ND_SUCCESS, hr);
		return Apart();
	}
	hr = m_Connector->CompleteConnect(Begin(StepAnswer));
	if (hr == ND_SUCCESS) { // the one method that may do it at once: then there is no packet
		m_Requests[StepAnswer].Pending = false;
		m_Pending--;
		InterlockedDecrement(&g_Counters.Begun);
		return Establish();
	}
	Took(StepAnswer, hr);
}

// Accept or CompleteConnect has ended.
void Session::Answered(HRESULT hr)
{
	if (m_Hello.Mode == ModeClientRejects) {
		CHECK_HR(hr == ND_CONNECTION_REFUSED, hr);
		return Apart();
	}
	CHECK_HR(hr == ND_SUCCESS, hr);
	Establish();
}

void Session::Establish()
{
	HRESULT hr = m_Connector->NotifyDisconnect(Begin(StepNotice));

	Took(StepNotice, hr);
	m_Together = true;
	if (m_Client || m_Hello.Mode == ModeCross || m_Heard)
		Send();
	if (m_Hello.Mode == ModeCross)
		Leave();
}

void Session::Send()
{
	Hello *message = (Hello *)(Piece() + RECEIVES * MESSAGE);
	ND2_SGE sge = {message, MESSAGE, m_End->Token};

	*message = m_Hello;
	HRESULT hr = m_Qp->Send((void *)(ULONG_PTR)m_Posted, &sge, 1, 0);
	// the peer may have left, but a queue pair that was connected takes requests
	if (!CHECK_HR(hr == ND_SUCCESS, hr))
		return;
	m_Posted++;
	InterlockedIncrement(&g_Counters.Posted);
	InterlockedIncrement(&g_Counters.Sends);
}

void Session::Leave()
{
	if (m_Leaving)
		return;
	m_Leaving = true;
	HRESULT hr = m_Connector->Disconnect(Begin(StepLeave));
	if (!Took(StepLeave, hr))
		m_Parted = true;
}

// There is no connection, and there will be none.
void Session::Apart()
{
	HRESULT hr = m_Qp->Flush();

	CHECK_HR(hr == ND_SUCCESS, hr);
	m_Parted = true;
}

void Session::Noticed(HRESULT hr)
{
	const HRESULT own = (HRESULT)STATUS_CONNECTION_DISCONNECTED;

	if (m_Hello.Mode == ModeCross)
		CHECK_HR(hr == ND_SUCCESS || hr == own, hr);
	else
		CHECK_HR(hr == (IsLeaver() ? own : ND_SUCCESS), hr);
	Leave(); // it is polite, and must succeed
}

// ---- completions --------------------------------------------------------------------------------

void Session::Reaped(const ND2_RESULT &result)
{
	ULONG context = (ULONG)(ULONG_PTR)result.RequestContext;
	bool receive = context < RECEIVES;
	HRESULT hr = result.Status;

	if (!CHECK(context < m_Posted && !(m_Seen & 1u << context)))
		return; // it has come twice
	m_Seen |= 1u << context;
	m_Reaped++;
	InterlockedIncrement(&g_Counters.Reaped);
	CHECK(result.QueuePairContext == this);
	CHECK(result.RequestType == (receive ? Nd2RequestTypeReceive : Nd2RequestTypeSend));
	CHECK_HR(hr == ND_SUCCESS || hr == ND_CANCELED, hr);
	if (!receive) {
		// who has had the answer has had the acknowledgement
		CHECK_HR(hr == ND_SUCCESS || m_Hello.Mode == ModeCross, hr);
		m_SendDone = true;
		if (hr == ND_SUCCESS)
			InterlockedIncrement(&g_Counters.SendsDone);
	} else if (hr == ND_SUCCESS) {
		const Hello *message = (const Hello *)(Piece() + context * MESSAGE);

		CHECK(context == 0);
		CHECK(result.BytesTransferred == MESSAGE);
		CHECK(message->Id == m_Hello.Id && message->Magic == MAGIC);
		InterlockedIncrement(&g_Counters.ReceivesDone);
		m_Heard = true;
		if (!m_Client && m_Together && m_Hello.Mode != ModeCross)
			Send();
	}
	if (m_Hello.Mode == ModeClientLeaves && m_Client && m_Heard && m_SendDone)
		Leave();
	if (m_Hello.Mode == ModeServerLeaves && !m_Client && m_SendDone)
		Leave();
}

void Session::Reap()
{
	ND2_RESULT results[2];
	ULONG n;

	while ((n = m_Cq->GetResults(results, _countof(results))) != 0) {
		for (ULONG i = 0; i < n; i++)
			Reaped(results[i]);
	}
}

void Session::Handle(Step step, HRESULT hr)
{
	switch (step) {
	case StepMeet:
		Met(hr);
		break;
	case StepAnswer:
		Answered(hr);
		break;
	case StepNotice:
		Noticed(hr);
		break;
	case StepLeave:
		CHECK_HR(hr == ND_SUCCESS, hr);
		m_Parted = true;
		break;
	default:
		CHECK_HR(hr == (m_Stopped ? ND_CANCELED : ND_SUCCESS), hr);
		if (m_Stopped)
			break;
		Reap();
		hr = m_Cq->Notify(ND_CQ_NOTIFY_ANY, Begin(StepCq));
		Took(StepCq, hr);
		break;
	}
}

// All has come back but the wait for more: then that is ended, and it is the last to come.
bool Session::Finished()
{
	ND2_RESULT result;

	if (m_Stopped)
		return m_Pending == 0;
	if (!m_Parted || m_Reaped != m_Posted || m_Pending != 1)
		return false;
	m_Stopped = true;
	CHECK(m_Cq->GetResults(&result, 1) == 0); // or one too many
	HRESULT hr = m_Cq->CancelOverlappedRequests();
	CHECK_HR(hr == ND_SUCCESS, hr);
	return false;
}

// Every order of the last releases is right.
void Session::Close()
{
	bool client = m_Client;
	int slot = m_Slot;

	InterlockedIncrement(&g_Counters.ByMode[m_Hello.Mode]);
	if (slot % 2 == 0)
		CHECK(m_Connector->Release() == 0);
	CHECK(m_Qp->Release() == 0);
	CHECK(m_Cq->Release() == 0);
	if (slot % 2 != 0)
		CHECK(m_Connector->Release() == 0);
	DeleteCriticalSection(&m_Lock);
	memset((void *)this, 0xdd, sizeof(*this));
	HeapFree(GetProcessHeap(), 0, this);
	InterlockedIncrement(&g_Counters.Lives);
	if (!Now(client ? &g_Counters.Over : &g_Counters.Closing))
		return Start(client, slot);
	if (InterlockedDecrement(client ? &g_Counters.Clients : &g_Counters.Servers) == 0)
		SetEvent(client ? g_ClientsGone : g_ServersGone);
}
