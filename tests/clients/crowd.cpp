/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections: hundreds at a time, made by several threads of either end over one listener, with
 * shared receive queues at the server; and how a connection does not come about. First the
 * meetings, one after the other, then the crowd, then one connection the other way. Start with
 * Serve() and Call().
 *
 *   crowd ... --lines N      connections, a multiple of 4; 200 otherwise
 */
#include "kit/kit.h"

static const ULONG THREADS = 4;
static const ULONG LINES_MAX = 4000;
static const ULONG ROUNDS = 3; // messages and echoes of each connection
static const ULONG ROOM = 64;
static const ULONG DEPTH = 4; // receives a line
static const HRESULT BOUND_ALREADY = (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;
static const HRESULT NO_NAME = (HRESULT)STATUS_BAD_NETWORK_NAME;
static ULONG g_Lines;

// What a client says of itself: which meeting, how many connections, its own listener.
struct Hello {
	UINT32 Meeting, Lines;
	SOCKADDR_IN Back;
	BYTE Rest[32];
};
static_assert(sizeof(Hello) == 56, "as much as fits into a request");

static Depths
Shallow()
{
	return Depths{DEPTH, DEPTH, 1, 0};
}

// ---- meetings -----------------------------------------------------------------------------------

enum Meeting {
	Refused,   // by the server's program, with words
	Withdrawn, // by the client's, which has been accepted
	Cancelled, // by the client's, which has not been answered
	Forgotten, // by the server's last Release
	Accepted,
	Meetings
};

static HRESULT
Ask(Line &line, const SOCKADDR_IN &to, const void *words, ULONG bytes, Request &request)
{
	return line.Connector->Connect(line.Qp, (const sockaddr *)&to, sizeof(to), 0, 0, words,
				       bytes, &request);
}

static void
Bind(Line &line, const Host &host)
{
	SOCKADDR_IN from = host.Address;

	from.sin_port = 0;
	CHECK_HR(line.Connector->Bind((const sockaddr *)&from, sizeof(from)), ND_SUCCESS);
}

// Nobody listens there, or nobody can be there: then the same connector and queue pair try
// elsewhere.
static void
AskInVain(Line &line, Host &host, const SOCKADDR_IN &to, Hello &hello)
{
	static const BYTE tooMuch[1024] = {};
	SOCKADDR_IN nobody = to, nowhere = to;
	Request request;

	nobody.sin_port = htons(1);
	CHECK_HR(request.Wait(line.Connector, Ask(line, nobody, &hello, sizeof(hello), request)),
		 ND_CONNECTION_REFUSED);
	nowhere.sin_addr.s_addr = 0;
	CHECK_HR(request.Wait(line.Connector, Ask(line, nowhere, NULL, 0, request)), NO_NAME);
	CHECK_HR(request.Wait(line.Connector,
			      Ask(line, to, tooMuch, host.Info.MaxCallerData + 1, request)),
		 ND_INVALID_BUFFER_SIZE);
	CHECK_HR(line.Connector->Bind((const sockaddr *)&host.Address, sizeof(host.Address)),
		 BOUND_ALREADY);
}

static void
MeetAtClient(Host &host, const SOCKADDR_IN &to, Meeting meeting, const SOCKADDR_IN &back)
{
	Line line(host, Shallow());
	Hello hello = {(UINT32)meeting, g_Lines, back, {1, 2, 3}};
	BYTE words[256];
	ULONG bytes = sizeof(words);
	Request request, complete;

	CHECK_HR(line.Qp->Receive(NULL, NULL, 0), ND_SUCCESS);
	Bind(line, host);
	if (meeting == Refused)
		AskInVain(line, host, to, hello);
	CHECK_HR(Ask(line, to, &hello, sizeof(hello), request), ND_PENDING);
	if (meeting == Cancelled) {
		Sleep(20); // it is there by now, or it is not: both are right
		CHECK_HR(line.Connector->CancelOverlappedRequests(), ND_SUCCESS);
		CHECK_HR(request.Wait(line.Connector, ND_PENDING), ND_CANCELED);
		return;
	}
	HRESULT hr = request.Wait(line.Connector, ND_PENDING);
	if (meeting == Refused || meeting == Forgotten) {
		CHECK_HR(hr, ND_CONNECTION_REFUSED);
		CHECK(line.Flushed() == 0); // a receive stays where it is
		if (meeting == Refused) {
			CHECK_HR(line.Connector->GetPrivateData(words, &bytes), ND_SUCCESS);
			CHECK(bytes == host.Info.MaxCalleeData && IsFilled(words, bytes, 9));
		}
		return;
	}
	CHECK_HR(hr, ND_SUCCESS);
	CHECK_HR(line.Connector->GetPrivateData(words, &bytes), ND_SUCCESS);
	CHECK(bytes >= 100 && IsFilled(words, 100, meeting));
	if (meeting == Withdrawn) {
		CHECK_HR(line.Connector->Reject(NULL, 0), ND_SUCCESS);
		return;
	}
	CHECK_HR(complete.Wait(line.Connector, line.Connector->CompleteConnect(&complete)),
		 ND_SUCCESS);
	line.BeLeft();
	line.Flushes(1);
}

static Hello
MeetAtServer(Host &host, Listener &listener, Meeting meeting)
{
	BYTE words[1024];
	Request accept;
	Hello hello;
	IND2Connector *forgotten;

	Line line(host, Shallow());
	listener.Take(line, &hello, sizeof(hello));
	CHECK(hello.Meeting == (UINT32)meeting && hello.Rest[2] == 3);
	if (meeting == Refused) {
		Fill(words, sizeof(words), 9);
		CHECK_HR(line.Connector->Reject(words, host.Info.MaxCalleeData + 1),
			 ND_INVALID_BUFFER_SIZE);
		CHECK_HR(line.Connector->Reject(words, host.Info.MaxCalleeData), ND_SUCCESS);
		return hello;
	}
	if (meeting == Forgotten) {
		forgotten = line.Connector;
		CHECK_HR(host.Adapter->CreateConnector(IID_IND2Connector, host.File,
						       (void **)&line.Connector),
			 ND_SUCCESS);
		CHECK(forgotten->Release() == 0);
		return hello;
	}
	if (meeting == Cancelled)
		Sleep(500); // the client gives up meanwhile
	Fill(words, 100, meeting);
	HRESULT hr = accept.Wait(line.Connector,
				 line.Connector->Accept(line.Qp, 0, 0, words, 100, &accept));
	if (meeting == Cancelled)
		CHECK(hr == ND_CONNECTION_ABORTED || hr == ND_CONNECTION_REFUSED);
	else if (meeting == Withdrawn)
		CHECK_HR(hr, ND_CONNECTION_REFUSED);
	else
		CHECK_HR(hr, ND_SUCCESS);
	if (meeting == Accepted)
		line.Leave();
	return hello;
}

// A listener is bound once and listens once; its port is nobody else's; what waits for a request is
// told of its end, and who asks there then is refused.
static void
ListenTwice(Host &host, const SOCKADDR_IN &at)
{
	SOCKADDR_IN where = {}, other = at;
	ULONG bytes = sizeof(where);
	Line line(host, Shallow());
	Request request;
	IND2Listener *second;

	other.sin_port = 0;
	{
		Listener first(host, other);
		CHECK_HR(first.It->Bind((const sockaddr *)&other, sizeof(other)), BOUND_ALREADY);
		CHECK(FAILED(first.It->Listen(0)));
		CHECK_HR(first.It->GetLocalAddress((sockaddr *)&where, &bytes), ND_SUCCESS);
		CHECK(where.sin_port != 0 && where.sin_addr.s_addr == at.sin_addr.s_addr);
		CHECK_HR(
			host.Adapter->CreateListener(IID_IND2Listener, host.File, (void **)&second),
			ND_SUCCESS);
		CHECK_HR(second->Bind((const sockaddr *)&where, sizeof(where)),
			 ND_SHARING_VIOLATION);
		CHECK(second->Release() == 0);
		CHECK_HR(first.It->GetConnectionRequest(line.Connector, &request), ND_PENDING);
	}
	CHECK_HR(request.Wait(line.Connector, ND_PENDING), ND_CANCELED);
	Bind(line, host);
	Request ask;
	CHECK_HR(ask.Wait(line.Connector, Ask(line, where, NULL, 0, ask)), ND_CONNECTION_REFUSED);
}

// ---- the crowd ----------------------------------------------------------------------------------

// A thread of one end, whose connections share a completion queue, and at the server receives.
struct Group {
	Host *Home;
	Listener *Door; // of the server
	SOCKADDR_IN To;
	HANDLE Thread;
	ULONG Index, Lines;
};

struct Guest {
	IND2QueuePair *Qp;
	IND2Connector *Connector;
	ULONG Messages, Flushed;
	Request Notice;
};

class Party
{
      public:
	Party(Group &group, bool client);
	~Party();
	void Meet();
	void Talk();
	void Part();

      private:
	Group &m_Group;
	const bool m_Client;
	Region m_Memory;
	IND2CompletionQueue *m_Cq;
	IND2SharedReceiveQueue *m_Srq;
	Guest *m_Guests;
	ULONG m_Sent, m_Ended;

	void Receive(ULONG slot);
	void Send(Guest &guest, UINT32 number);
	void Told(const ND2_RESULT &result);
	bool Wait();
};

Party::Party(Group &group, bool client)
    : m_Group(group), m_Client(client),
      m_Memory(*group.Home, (SIZE_T)(group.Lines * DEPTH * 2) * ROOM), m_Cq(), m_Srq(),
      m_Guests(new Guest[group.Lines]), m_Sent(), m_Ended()
{
	Host &host = *group.Home;
	const ULONG entries = group.Lines * 2 * DEPTH;
	const KAFFINITY cores = (KAFFINITY)1 << group.Index % 2; // a wish
	KAFFINITY mask = 0;
	USHORT processors = 99;

	CHECK_HR(host.Adapter->CreateCompletionQueue(IID_IND2CompletionQueue, host.File, entries, 0,
						     cores, (void **)&m_Cq),
		 ND_SUCCESS);
	CHECK_HR(m_Cq->Resize(entries + 1), ND_SUCCESS);
	CHECK_HR(m_Cq->GetNotifyAffinity(&processors, &mask), ND_SUCCESS);
	CHECK(processors == 0 && mask != 0);
	if (!client)
		CHECK_HR(host.Adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue,
								host.File, group.Lines * DEPTH, 1,
								0, 0, cores, (void **)&m_Srq),
			 ND_SUCCESS);
	for (ULONG i = 0; i < group.Lines; i++) {
		Guest &guest = m_Guests[i];

		guest.Messages = guest.Flushed = 0;
		HRESULT hr = client ? host.Adapter->CreateQueuePair(IID_IND2QueuePair, m_Cq, m_Cq,
								    &guest, DEPTH, DEPTH, 1, 1, 0,
								    (void **)&guest.Qp)
				    : host.Adapter->CreateQueuePairWithSrq(
					      IID_IND2QueuePair, m_Cq, m_Cq, m_Srq, &guest, DEPTH,
					      1, 0, (void **)&guest.Qp);
		CHECK_HR(hr, ND_SUCCESS);
		CHECK_HR(host.Adapter->CreateConnector(IID_IND2Connector, host.File,
						       (void **)&guest.Connector),
			 ND_SUCCESS);
	}
}

Party::~Party()
{
	for (ULONG i = 0; i < m_Group.Lines; i++) {
		CHECK(m_Guests[i].Qp->Release() == 0);
		CHECK(m_Guests[i].Connector->Release() == 0);
	}
	if (m_Srq)
		CHECK(m_Srq->Release() == 0);
	CHECK(m_Cq->Release() == 0);
	delete[] m_Guests;
}

void
Party::Receive(ULONG slot)
{
	ND2_SGE sge = m_Memory.Piece((SIZE_T)slot * ROOM, ROOM);
	void *context = (void *)(ULONG_PTR)slot;

	CHECK_HR(m_Srq ? m_Srq->Receive(context, &sge, 1)
		       : m_Guests[slot / DEPTH].Qp->Receive(context, &sge, 1),
		 ND_SUCCESS);
}

void
Party::Send(Guest &guest, UINT32 number)
{
	const ULONG slot =
		(m_Group.Lines + (ULONG)(&guest - m_Guests)) * DEPTH + guest.Messages % DEPTH;
	ND2_SGE sge = m_Memory.Piece((SIZE_T)slot * ROOM, ROOM);

	Fill((BYTE *)sge.Buffer, ROOM, number);
	CHECK_HR(guest.Qp->Send(NULL, &sge, 1, 0), ND_SUCCESS);
}

void
Party::Told(const ND2_RESULT &result)
{
	Guest &guest = *(Guest *)result.QueuePairContext;

	if (result.Status == ND_CANCELED) {
		guest.Flushed++;
		return;
	}
	CHECK_HR(result.Status, ND_SUCCESS);
	if (result.RequestType == Nd2RequestTypeSend) {
		m_Sent++;
		return;
	}
	const ULONG slot = (ULONG)(ULONG_PTR)result.RequestContext;
	CHECK(result.RequestType == Nd2RequestTypeReceive && result.BytesTransferred == ROOM);
	CHECK(IsFilled(m_Memory.At + (SIZE_T)slot * ROOM, ROOM, guest.Messages));
	Receive(slot);
	if (!m_Client)
		Send(guest, guest.Messages);
	guest.Messages++;
	if (m_Client && guest.Messages < ROUNDS)
		Send(guest, guest.Messages);
	m_Ended += guest.Messages == ROUNDS;
}

// For what is there, or for the next one
bool
Party::Wait()
{
	ND2_RESULT results[16];
	ULONG n = m_Cq->GetResults(results, _countof(results));

	if (n == 0) {
		Request request;
		CHECK_HR(request.Wait(m_Cq, m_Cq->Notify(ND_CQ_NOTIFY_ANY, &request)), ND_SUCCESS);
		return false;
	}
	for (ULONG i = 0; i < n; i++)
		Told(results[i]);
	return true;
}

void
Party::Meet()
{
	for (ULONG i = 0; i < m_Group.Lines * DEPTH; i++)
		Receive(i);
	for (ULONG i = 0; i < m_Group.Lines; i++) {
		Guest &guest = m_Guests[i];
		SOCKADDR_IN from = m_Group.Home->Address;
		Request request, end;

		if (!m_Client) {
			CHECK_HR(request.Wait(m_Group.Door->It,
					      m_Group.Door->It->GetConnectionRequest(
						      guest.Connector, &request)),
				 ND_SUCCESS);
			CHECK_HR(end.Wait(guest.Connector,
					  guest.Connector->Accept(guest.Qp, 0, 0, NULL, 0, &end)),
				 ND_SUCCESS);
		} else {
			from.sin_port = 0;
			CHECK_HR(guest.Connector->Bind((const sockaddr *)&from, sizeof(from)),
				 ND_SUCCESS);
			CHECK_HR(request.Wait(guest.Connector,
					      guest.Connector->Connect(
						      guest.Qp, (const sockaddr *)&m_Group.To,
						      sizeof(m_Group.To), 0, 0, NULL, 0, &request)),
				 ND_SUCCESS);
			CHECK_HR(end.Wait(guest.Connector, guest.Connector->CompleteConnect(&end)),
				 ND_SUCCESS);
		}
		CHECK_HR(guest.Connector->NotifyDisconnect(&guest.Notice), ND_PENDING);
	}
}

void
Party::Talk()
{
	if (m_Client) {
		for (ULONG i = 0; i < m_Group.Lines; i++)
			Send(m_Guests[i], 0);
	}
	while (m_Ended < m_Group.Lines || m_Sent < m_Group.Lines * ROUNDS)
		Wait();
}

// All leave at once, and then each is waited for. The receives of a shared queue are not flushed.
void
Party::Part()
{
	Request *leaves = new Request[m_Group.Lines];
	DWORD since = GetTickCount();

	for (ULONG i = 0; i < m_Group.Lines; i++) {
		Guest &guest = m_Guests[i];
		if (!m_Client)
			CHECK_HR(guest.Notice.Wait(guest.Connector, ND_PENDING), ND_SUCCESS);
		CHECK_HR(guest.Connector->Disconnect(&leaves[i]), ND_PENDING);
	}
	for (ULONG i = 0; i < m_Group.Lines; i++) {
		Guest &guest = m_Guests[i];
		CHECK_HR(leaves[i].Wait(guest.Connector, ND_PENDING), ND_SUCCESS);
		if (m_Client)
			CHECK_HR(guest.Notice.Wait(guest.Connector, ND_PENDING),
				 (HRESULT)STATUS_CONNECTION_DISCONNECTED);
	}
	for (ULONG i = 0; m_Client && i < m_Group.Lines; i++) {
		while (m_Guests[i].Flushed < DEPTH) {
			Wait();
			CHECK(GetTickCount() - since < PATIENCE);
		}
	}
	delete[] leaves;
}

template <bool client> static unsigned __stdcall RunGroup(void *context)
{
	Group &group = *(Group *)context;
	Party party(group, client);

	party.Meet();
	party.Talk();
	party.Part();
	return 0;
}

static void
RunCrowd(Host &host, Listener *door, const SOCKADDR_IN &to, ULONG lines)
{
	Group groups[THREADS];
	HANDLE threads[THREADS];

	for (ULONG i = 0; i < THREADS; i++) {
		groups[i] = Group{&host, door, to, NULL, i, lines / THREADS};
		threads[i] = (HANDLE)_beginthreadex(
			NULL, 0, door ? RunGroup<false> : RunGroup<true>, &groups[i], 0, NULL);
		CHECK(threads[i] != NULL);
	}
	CHECK(WaitForMultipleObjects(THREADS, threads, TRUE, 3 * PATIENCE) == WAIT_OBJECT_0);
	for (ULONG i = 0; i < THREADS; i++)
		CloseHandle(threads[i]);
}

// ---- the other way ------------------------------------------------------------------------------

static void
BackAtServer(Host &host, const SOCKADDR_IN &to)
{
	Line line(host, Shallow());
	SOCKADDR_IN from = host.Address, told = {};
	ULONG bytes = sizeof(told);

	from.sin_port =
		htons(54555); // a port of its own choice: connectors and listeners share none
	line.Connector->Bind((const sockaddr *)&from, sizeof(from));
	Request request, complete;
	CHECK_HR(request.Wait(line.Connector, Ask(line, to, NULL, 0, request)), ND_SUCCESS);
	CHECK_HR(complete.Wait(line.Connector, line.Connector->CompleteConnect(&complete)),
		 ND_SUCCESS);
	CHECK_HR(line.Connector->GetLocalAddress((sockaddr *)&told, &bytes), ND_SUCCESS);
	CHECK(told.sin_port == from.sin_port && told.sin_addr.s_addr == from.sin_addr.s_addr);
	line.Leave();
}

static void
BackAtClient(Host &host, Listener &listener, const SOCKADDR_IN &peer)
{
	Line line(host, Shallow());
	SOCKADDR_IN told = {};
	ULONG bytes = sizeof(told);

	listener.Take(line, NULL, 0);
	CHECK_HR(line.Connector->GetPeerAddress((sockaddr *)&told, &bytes), ND_SUCCESS);
	CHECK(told.sin_port == htons(54555) && told.sin_addr.s_addr == peer.sin_addr.s_addr);
	line.Accept(NULL, 0);
	line.BeLeft();
}

// ---- ends ---------------------------------------------------------------------------------------

static void
Serve(const SOCKADDR_IN &at)
{
	Host host(at);
	Listener listener(host, at);
	Hello hello = {};

	ListenTwice(host, at);
	SayListening();
	for (int meeting = 0; meeting < Meetings; meeting++)
		hello = MeetAtServer(host, listener, (Meeting)meeting);
	CHECK(hello.Lines <= LINES_MAX);
	RunCrowd(host, &listener, at, hello.Lines);
	BackAtServer(host, hello.Back);
}

static void
Call(const SOCKADDR_IN &from, const SOCKADDR_IN &to)
{
	Host host(from);
	SOCKADDR_IN back = from;
	ULONG bytes = sizeof(back);

	back.sin_port = 0;
	Listener listener(host, back);
	CHECK_HR(listener.It->GetLocalAddress((sockaddr *)&back, &bytes), ND_SUCCESS);
	for (int meeting = 0; meeting < Meetings; meeting++)
		MeetAtClient(host, to, (Meeting)meeting, back);
	ULONGLONG begun = NowUs();
	RunCrowd(host, NULL, to, g_Lines);
	printf("%u connections at a time, %u messages each way, in %u ms\n", g_Lines,
	       g_Lines * ROUNDS, (unsigned)((NowUs() - begun) / 1000));
	BackAtClient(host, listener, to);
}

static void
ReadOptions(Options &options)
{
	g_Lines = options.Number(_T("--lines"), 200);
	if (g_Lines == 0 || g_Lines % THREADS != 0 || g_Lines > LINES_MAX) {
		printf("--lines: a multiple of %u to %u\n", THREADS, LINES_MAX);
		ExitProcess(2);
	}
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	return RunEnds(Ends{"crowd", Serve, Call, ReadOptions}, argc, argv);
}
