/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adapters, memory, connections and ends of the clients. It judges what every program expects of a
 * call: that it has pended where it must, that the last Release says 0. Start with Line::Connect().
 */
#include "kit.h"

DECLSPEC_NORETURN void
Fail(const char *file, int line, const char *what, HRESULT hr)
{
	printf("FAILED: %s:%d: %s (0x%08x)\n", file, line, what, (unsigned)hr);
	fflush(stdout);
	ExitProcess(1);
}

ULONGLONG
NowUs()
{
	LARGE_INTEGER now, hz;

	QueryPerformanceCounter(&now);
	QueryPerformanceFrequency(&hz);
	return (ULONGLONG)((double)now.QuadPart * 1e6 / (double)hz.QuadPart);
}

// ---- requests -----------------------------------------------------------------------------------

Request::Request()
{
	ZeroMemory(static_cast<OVERLAPPED *>(this), sizeof(OVERLAPPED));
	hEvent = CreateEvent(NULL, FALSE, FALSE, NULL);
}

Request::~Request()
{
	CloseHandle(hEvent);
}

HRESULT
Request::Wait(IND2Overlapped *object, HRESULT hr, DWORD ms)
{
	if (hr != ND_PENDING)
		return hr;
	if (WaitForSingleObject(hEvent, ms) != WAIT_OBJECT_0)
		return ND_TIMEOUT;
	return object->GetOverlappedResult(this, TRUE);
}

// ---- adapters and memory ------------------------------------------------------------------------

Host::Host(const SOCKADDR_IN &address) : Adapter(), File(), Info(), Address(address)
{
	ULONG bytes = sizeof(Info);

	CHECK_HR(NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&address, sizeof(address),
			       (void **)&Adapter),
		 ND_SUCCESS);
	Info.InfoVersion = ND_VERSION_2;
	CHECK_HR(Adapter->Query(&Info, &bytes), ND_SUCCESS);
	CHECK_HR(Adapter->CreateOverlappedFile(&File), ND_SUCCESS);
}

Host::~Host()
{
	CloseHandle(File);
	CHECK(Adapter->Release() == 0);
}

Region::Region(Host &host, SIZE_T bytes, ULONG flags)
    : Mr(), At((BYTE *)HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, bytes)), Bytes(bytes),
      m_Token(), m_Registered(true)
{
	Request request;

	CHECK(At != NULL);
	CHECK_HR(host.Adapter->CreateMemoryRegion(IID_IND2MemoryRegion, host.File, (void **)&Mr),
		 ND_SUCCESS);
	CHECK_HR(request.Wait(Mr, Mr->Register(At, bytes, flags, &request)), ND_SUCCESS);
	m_Token = Mr->GetLocalToken();
}

void
Region::Deregister()
{
	Request request;

	CHECK_HR(request.Wait(Mr, Mr->Deregister(&request)), ND_SUCCESS);
	m_Registered = false;
}

Region::~Region()
{
	if (m_Registered)
		Deregister();
	CHECK(Mr->Release() == 0);
	HeapFree(GetProcessHeap(), 0, At);
}

BYTE
Pattern(ULONG seed, ULONG at)
{
	return (BYTE)(seed * 131 + at * 7 + (at >> 8));
}

void
Fill(BYTE *to, ULONG bytes, ULONG seed)
{
	for (ULONG i = 0; i < bytes; i++)
		to[i] = Pattern(seed, i);
}

bool
IsFilled(const BYTE *at, ULONG bytes, ULONG seed)
{
	for (ULONG i = 0; i < bytes; i++) {
		if (at[i] != Pattern(seed, i))
			return false;
	}
	return true;
}

// ---- a line -------------------------------------------------------------------------------------

Line::Line(Host &host, const Depths &depths) : Cq(), Qp(), Connector(), Blocks(true), m_Host(host)
{
	const ULONG entries = depths.Receives + depths.Requests;

	CHECK_HR(host.Adapter->CreateCompletionQueue(IID_IND2CompletionQueue, host.File, entries, 0,
						     0, (void **)&Cq),
		 ND_SUCCESS);
	CHECK_HR(host.Adapter->CreateQueuePair(IID_IND2QueuePair, Cq, Cq, this, depths.Receives,
					       depths.Requests, depths.Sges, depths.Sges,
					       depths.Inline, (void **)&Qp),
		 ND_SUCCESS);
	CHECK_HR(host.Adapter->CreateConnector(IID_IND2Connector, host.File, (void **)&Connector),
		 ND_SUCCESS);
}

Line::~Line()
{
	CHECK(Cq->Release() == 0);
	CHECK(Qp->Release() == 0);
	CHECK(Connector->Release() == 0);
}

void
Line::Connect(const SOCKADDR_IN &to, const void *words, ULONG bytes)
{
	Request request, complete;
	SOCKADDR_IN from = m_Host.Address;

	from.sin_port = 0;
	CHECK_HR(Connector->Bind((const sockaddr *)&from, sizeof(from)), ND_SUCCESS);
	CHECK_HR(request.Wait(Connector, Connector->Connect(Qp, (const sockaddr *)&to, sizeof(to),
							    m_Host.Info.MaxInboundReadLimit,
							    m_Host.Info.MaxOutboundReadLimit, words,
							    bytes, &request)),
		 ND_SUCCESS);
	CHECK_HR(complete.Wait(Connector, Connector->CompleteConnect(&complete)), ND_SUCCESS);
}

void
Line::Accept(const void *words, ULONG bytes)
{
	Request request;

	CHECK_HR(request.Wait(Connector, Connector->Accept(Qp, m_Host.Info.MaxInboundReadLimit,
							   m_Host.Info.MaxOutboundReadLimit, words,
							   bytes, &request)),
		 ND_SUCCESS);
}

void
Line::Leave()
{
	Request request;

	CHECK_HR(request.Wait(Connector, Connector->Disconnect(&request)), ND_SUCCESS);
}

void
Line::BeLeft()
{
	Request notice;

	CHECK_HR(notice.Wait(Connector, Connector->NotifyDisconnect(&notice)), ND_SUCCESS);
	Leave();
}

ND2_RESULT
Line::Reap()
{
	ND2_RESULT result;
	ULONGLONG looks = 0;
	DWORD since = GetTickCount();

	while (Cq->GetResults(&result, 1) == 0) {
		if (Blocks) {
			Request request;
			CHECK_HR(request.Wait(Cq, Cq->Notify(ND_CQ_NOTIFY_ANY, &request)),
				 ND_SUCCESS);
		} else if (++looks % 65536 == 0) {
			CHECK(GetTickCount() - since < PATIENCE);
		}
	}
	CHECK(result.QueuePairContext == this);
	return result;
}

void
Line::Expect(ND2_REQUEST_TYPE type, HRESULT status)
{
	ND2_RESULT result = Reap();

	CHECK(result.RequestType == type);
	CHECK_HR(result.Status, status);
}

ULONG
Line::Flushed()
{
	ND2_RESULT result;
	ULONG n = 0;

	while (Cq->GetResults(&result, 1) != 0) {
		CHECK_HR(result.Status, ND_CANCELED);
		n++;
	}
	return n;
}

void
Line::Flushes(ULONG n)
{
	for (DWORD since = GetTickCount(); n > 0;) {
		n -= Flushed();
		CHECK(GetTickCount() - since < PATIENCE);
		SwitchToThread();
	}
}

Listener::Listener(Host &host, const SOCKADDR_IN &at, ULONG backlog) : It()
{
	CHECK_HR(host.Adapter->CreateListener(IID_IND2Listener, host.File, (void **)&It),
		 ND_SUCCESS);
	CHECK_HR(It->Bind((const sockaddr *)&at, sizeof(at)), ND_SUCCESS);
	CHECK_HR(It->Listen(backlog), ND_SUCCESS);
}

Listener::~Listener()
{
	CHECK(It->Release() == 0);
}

void
Listener::Take(Line &line, void *words, ULONG bytes)
{
	Request request;
	ULONG there = bytes;

	CHECK_HR(request.Wait(It, It->GetConnectionRequest(line.Connector, &request)), ND_SUCCESS);
	HRESULT hr = line.Connector->GetPrivateData(words, &there);
	CHECK((hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW) && there >= bytes);
}

// ---- the program --------------------------------------------------------------------------------

Options::Options(int count, TCHAR **words) : m_Count(count), m_Words(words), m_Used()
{
}

ULONG
Options::Number(const TCHAR *name, ULONG otherwise)
{
	for (int i = 0; i + 1 < m_Count; i++) {
		if (_tcsicmp(m_Words[i], name) == 0) {
			m_Used |= 3ull << i;
			return (ULONG)_ttol(m_Words[i + 1]);
		}
	}
	return otherwise;
}

bool
Options::Has(const TCHAR *name)
{
	for (int i = 0; i < m_Count; i++) {
		if (_tcsicmp(m_Words[i], name) == 0) {
			m_Used |= 1ull << i;
			return true;
		}
	}
	return false;
}

void
Options::MustBeEmpty()
{
	for (int i = 0; i < m_Count; i++) {
		if (m_Used & 1ull << i)
			continue;
		_tprintf(_T("%s is no option of this program\n"), m_Words[i]);
		ExitProcess(2);
	}
}

static Ends g_Ends;
static SOCKADDR_IN g_Server, g_Client;
static HANDLE g_Listening;

void
SayListening()
{
	printf("listening\n");
	fflush(stdout);
	SetEvent(g_Listening);
}

static unsigned __stdcall ServeInThread(void *)
{
	g_Ends.Serve(g_Server);
	return 0;
}

static bool
Parse(const TCHAR *text, SOCKADDR_IN *at)
{
	TCHAR words[64];
	INT length = sizeof(*at);

	return _tcscpy_s(words, _countof(words), text) == 0 &&
	       WSAStringToAddress(words, AF_INET, NULL, (SOCKADDR *)at, &length) == 0;
}

static void
Both()
{
	HANDLE thread = (HANDLE)_beginthreadex(NULL, 0, ServeInThread, NULL, 0, NULL);

	CHECK(thread != NULL);
	CHECK(WaitForSingleObject(g_Listening, PATIENCE) == WAIT_OBJECT_0);
	g_Ends.Call(g_Client, g_Server);
	CHECK(WaitForSingleObject(thread, PATIENCE) == WAIT_OBJECT_0);
	CloseHandle(thread);
}

int
RunEnds(const Ends &ends, int argc, TCHAR **argv)
{
	WSADATA data;
	SIZE_T bytes = sizeof(g_Client);
	bool both = argc >= 4 && _tcsicmp(argv[1], _T("both")) == 0;
	bool server = argc >= 3 && _tcsicmp(argv[1], _T("server")) == 0;
	bool client = argc >= 3 && _tcsicmp(argv[1], _T("client")) == 0;
	int words = both ? 4 : 3;

	CHECK(WSAStartup(MAKEWORD(2, 2), &data) == 0);
	if (!(both || server || client) || !Parse(argv[2], &g_Server) ||
	    (both && !Parse(argv[3], &g_Client))) {
		printf("%s server ADDRESS:PORT ... | client ADDRESS:PORT ... | "
		       "both SERVER:PORT CLIENT ...\n",
		       ends.Name);
		return 2;
	}
	g_Ends = ends;
	Options options(argc - words, argv + words);
	if (ends.Read)
		ends.Read(options);
	options.MustBeEmpty();
	CHECK_HR(NdStartup(), ND_SUCCESS);
	g_Listening = CreateEvent(NULL, FALSE, FALSE, NULL);
	if (both) {
		Both();
	} else if (server) {
		ends.Serve(g_Server);
	} else {
		CHECK_HR(NdResolveAddress((const sockaddr *)&g_Server, sizeof(g_Server),
					  (sockaddr *)&g_Client, &bytes),
			 ND_SUCCESS);
		ends.Call(g_Client, g_Server);
	}
	CloseHandle(g_Listening);
	CHECK_HR(NdCleanup(), ND_SUCCESS);
	WSACleanup();
	printf("%s: all right\n", ends.Name);
	return 0;
}
