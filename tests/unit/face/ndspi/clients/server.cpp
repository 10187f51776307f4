// SPDX-License-Identifier: BSD-3-Clause
//
// A server for ND2 as it is written on Windows: Unicode, a completion port, threads, annotations,
// errors by HRESULT. It is compiled and linked; tests/unit/face/ndsupport and
// tests/unit/face/nd2 run clients.
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0602
#endif

#include <stdio.h>
#include <tchar.h>
#include <process.h>
#include <new>
#include <sal.h>
#include <WinSock2.h>
#include <WS2tcpip.h>
#include <Windows.h>
#include <ntstatus.h>
#define WIN32_NO_STATUS
#include <ndsupport.h>

#pragma warning(disable : 4127)
#pragma comment(lib, "ws2_32.lib")

const USHORT x_DefaultPort = 54321;
const SIZE_T x_MaxXfer = (4 * 1024 * 1024);
const LPCWSTR TESTNAME = L"server.exe";

#define RECV_CTXT ((void *)0x1000)

static void
Die(_In_z_ const WCHAR *text, _In_ HRESULT hr, _In_ int line)
{
	wprintf(L"%s: %s failed with %#010x\n", TESTNAME, text, hr);
	exit(line);
}
#define CHECK(hr, text)                          \
	do {                                     \
		if (FAILED(hr))                  \
			Die(text, hr, __LINE__); \
	} while (0)

class __declspec(novtable) CReference
{
      public:
	CReference() : m_nRef(1){};
	void
	AddRef()
	{
		InterlockedIncrement(&m_nRef);
	}
	void
	Release()
	{
		if (InterlockedDecrement(&m_nRef) > 0)
			return;
		delete this;
	}

      protected:
	virtual ~CReference(){};
	volatile LONG m_nRef;
};

class COverlapped : public OVERLAPPED
{
      public:
	typedef void (*CompletionRoutine)(_In_ COverlapped *This);

	COverlapped(CompletionRoutine succeeded, CompletionRoutine failed)
	    : m_pfnSucceeded(succeeded), m_pfnFailed(failed)
	{
		RtlZeroMemory(static_cast<OVERLAPPED *>(this), sizeof(OVERLAPPED));
	}
	void
	Complete(_In_ BOOL fSuccess)
	{
		fSuccess ? m_pfnSucceeded(this) : m_pfnFailed(this);
	}

      private:
	CompletionRoutine m_pfnSucceeded;
	CompletionRoutine m_pfnFailed;
};

class CServer : public CReference
{
      public:
	CServer(_In_ DWORD nThreads)
	    : m_hIocp(NULL), m_nThreads(nThreads), m_CqOv(CqSucceeded, CqFailed),
	      m_AcceptOv(AcceptSucceeded, AcceptFailed)
	{
	}
	void Init(_In_ const struct sockaddr_in &v4Src);
	void Run(_In_ const struct sockaddr_in &v4Src);

      protected:
	~CServer();

      private:
	void RegisterMemory();
	void CreateQueuePair();
	void PostReceives();

	__callback static DWORD CALLBACK Worker(_In_ LPVOID lpv);
	__callback static void CqSucceeded(_In_ COverlapped *pOv);
	__callback static void CqFailed(_In_ COverlapped *pOv);
	__callback static void AcceptSucceeded(_In_ COverlapped *pOv);
	__callback static void AcceptFailed(_In_ COverlapped *pOv);

	IND2Adapter *m_pAdapter = nullptr;
	IND2CompletionQueue *m_pCq = nullptr;
	IND2QueuePair *m_pQp = nullptr;
	IND2MemoryRegion *m_pMr = nullptr;
	IND2MemoryWindow *m_pMw = nullptr;
	IND2Listener *m_pListen = nullptr;
	IND2Connector *m_pConnector = nullptr;
	HANDLE m_hFile = nullptr;
	HANDLE m_hIocp;
	DWORD m_nThreads;
	void *m_pBuf = nullptr;
	ULONG m_cbBuf = 0;
	COverlapped m_CqOv;
	COverlapped m_AcceptOv;
	volatile long m_nReceived = 0;
	LONGLONG m_cbReceived = 0;
	ND2_ADAPTER_INFO m_Info;
};

void
CServer::Init(_In_ const struct sockaddr_in &v4Src)
{
	HRESULT hr =
		NdOpenAdapter(IID_IND2Adapter, reinterpret_cast<const struct sockaddr *>(&v4Src),
			      sizeof(v4Src), reinterpret_cast<void **>(&m_pAdapter));
	CHECK(hr, L"NdOpenAdapter");

	ULONG cb = sizeof(m_Info);
	RtlZeroMemory(&m_Info, sizeof(m_Info));
	m_Info.InfoVersion = ND_VERSION_2;
	CHECK(m_pAdapter->Query(&m_Info, &cb), L"IND2Adapter::Query");
	CHECK(m_pAdapter->CreateOverlappedFile(&m_hFile), L"CreateOverlappedFile");

	m_hIocp = CreateIoCompletionPort(m_hFile, NULL, 0, 0);
	if (m_hIocp == NULL)
		Die(L"CreateIoCompletionPort", HRESULT_FROM_WIN32(GetLastError()), __LINE__);

	ULONG depth = min(m_Info.MaxCompletionQueueDepth, m_Info.MaxReceiveQueueDepth);
	m_cbBuf = (ULONG)min(x_MaxXfer, m_Info.MaxTransferLength);
	CHECK(m_pAdapter->CreateCompletionQueue(IID_IND2CompletionQueue, m_hFile, depth, 0, 0,
						reinterpret_cast<VOID **>(&m_pCq)),
	      L"CreateCompletionQueue");
	RegisterMemory();
	CreateQueuePair();
}

void
CServer::RegisterMemory()
{
	OVERLAPPED Ov = {0};

	m_pBuf = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, m_cbBuf);
	if (!m_pBuf)
		Die(L"HeapAlloc", ND_NO_MEMORY, __LINE__);
	Ov.hEvent = CreateEvent(nullptr, FALSE, FALSE, nullptr);
	/* No packet for the port. */
	Ov.hEvent = (HANDLE)((ULONG_PTR)Ov.hEvent | 1);

	CHECK(m_pAdapter->CreateMemoryRegion(IID_IND2MemoryRegion, m_hFile,
					     reinterpret_cast<VOID **>(&m_pMr)),
	      L"CreateMemoryRegion");
	HRESULT hr = m_pMr->Register(m_pBuf, m_cbBuf,
				     ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK, &Ov);
	if (hr == ND_PENDING)
		hr = m_pMr->GetOverlappedResult(&Ov, TRUE);
	CHECK(hr, L"Register");
	CHECK(m_pAdapter->CreateMemoryWindow(IID_IND2MemoryWindow, (VOID **)&m_pMw),
	      L"CreateMemoryWindow");
	CloseHandle(Ov.hEvent);
}

void
CServer::CreateQueuePair()
{
	HRESULT hr = m_pAdapter->CreateQueuePair(
		IID_IND2QueuePair, m_pCq, m_pCq, this, m_Info.MaxReceiveQueueDepth,
		m_Info.MaxInitiatorQueueDepth, 1, 1, 0, reinterpret_cast<VOID **>(&m_pQp));

	switch (hr) {
	case ND_SUCCESS:
		break;
	case ND_INVALID_PARAMETER_5:
	case ND_INVALID_PARAMETER_6:
		_tprintf(_T("depths %u and %u are too large\n"), m_Info.MaxReceiveQueueDepth,
			 m_Info.MaxInitiatorQueueDepth);
		/* falls through */
		__fallthrough;
	default:
		Die(L"CreateQueuePair", hr, __LINE__);
	}
}

void
CServer::PostReceives()
{
	ND2_SGE sge[1];

	sge[0].Buffer = m_pBuf;
	sge[0].BufferLength = m_cbBuf;
	sge[0].MemoryRegionToken = m_pMr->GetLocalToken();
	for (ULONG i = 0; i < m_Info.MaxReceiveQueueDepth; i++)
		CHECK(m_pQp->Receive(RECV_CTXT, sge, _countof(sge)), L"Receive");
}

void
CServer::Run(_In_ const struct sockaddr_in &v4Src)
{
	OVERLAPPED *pOv;
	DWORD cb;
	ULONG_PTR key;

	CHECK(m_pAdapter->CreateListener(IID_IND2Listener, m_hFile,
					 reinterpret_cast<VOID **>(&m_pListen)),
	      L"CreateListener");
	CHECK(m_pListen->Bind(reinterpret_cast<const struct sockaddr *>(&v4Src), sizeof(v4Src)),
	      L"Bind");
	CHECK(m_pListen->Listen(0), L"Listen");
	CHECK(m_pAdapter->CreateConnector(IID_IND2Connector, m_hFile, (VOID **)&m_pConnector),
	      L"CreateConnector");
	CHECK(m_pListen->GetConnectionRequest(m_pConnector, &m_AcceptOv), L"GetConnectionRequest");
	BOOL fSuccess = GetQueuedCompletionStatus(m_hIocp, &cb, &key, &pOv, INFINITE);
	if (!fSuccess && GetLastError() == ERROR_OPERATION_ABORTED)
		return;

	PostReceives();
	AddRef();
	CHECK(m_pCq->Notify(ND_CQ_NOTIFY_ANY, &m_CqOv), L"Notify");
	CHECK(m_pConnector->Accept(m_pQp, 0, 0, nullptr, 0, &m_AcceptOv), L"Accept");
	for (DWORD i = 0; i < m_nThreads; i++) {
		HANDLE hThread = CreateThread(nullptr, 0, Worker, this, 0, nullptr);
		if (hThread == nullptr)
			Die(L"CreateThread", HRESULT_FROM_WIN32(GetLastError()), __LINE__);
		WaitForSingleObject(hThread, INFINITE);
		CloseHandle(hThread);
	}
	printf("%I64d bytes in %d messages, %9Id free\n", m_cbReceived, m_nReceived,
	       (SSIZE_T)m_cbBuf);
}

DWORD CALLBACK
CServer::Worker(_In_ LPVOID lpv)
{
	CServer *This = static_cast<CServer *>(lpv);

	for (;;) {
		DWORD cb;
		ULONG_PTR key;
		OVERLAPPED *pOv = nullptr;
		BOOL fSuccess = GetQueuedCompletionStatus(This->m_hIocp, &cb, &key, &pOv, 1000);

		if (pOv == nullptr)
			return GetLastError() == WAIT_TIMEOUT;
		static_cast<COverlapped *>(pOv)->Complete(fSuccess);
	}
}

void
CServer::CqSucceeded(_In_ COverlapped *pOv)
{
	CServer *This = CONTAINING_RECORD(pOv, CServer, m_CqOv);
	ND2_RESULT results[16];
	ULONG n;

	while ((n = This->m_pCq->GetResults(results, _countof(results))) != 0) {
		for (ULONG i = 0; i < n; i++) {
			if (results[i].RequestType != Nd2RequestTypeReceive)
				continue;
			InterlockedIncrement(&This->m_nReceived);
			InterlockedExchangeAdd64(&This->m_cbReceived, results[i].BytesTransferred);
		}
	}
	CHECK(This->m_pCq->Notify(ND_CQ_NOTIFY_ANY, pOv), L"Notify");
}

void
CServer::CqFailed(_In_ COverlapped *pOv)
{
	CServer *This = CONTAINING_RECORD(pOv, CServer, m_CqOv);
	HRESULT hr = This->m_pCq->GetOverlappedResult(pOv, FALSE);

	if (hr != ND_CANCELED)
		Die(L"Notify", hr, __LINE__);
	This->Release();
}

void
CServer::AcceptSucceeded(_In_ COverlapped *pOv)
{
	CServer *This = CONTAINING_RECORD(pOv, CServer, m_AcceptOv);
	struct sockaddr_in peer = {0};
	ULONG cb = sizeof(peer);
	WCHAR text[64];
	DWORD cch = _countof(text);

	CHECK(This->m_pConnector->GetPeerAddress((struct sockaddr *)&peer, &cb), L"GetPeerAddress");
	if (WSAAddressToString((struct sockaddr *)&peer, cb, nullptr, text, &cch) == 0)
		wprintf(L"%s\n", text);
}

void
CServer::AcceptFailed(_In_ COverlapped *pOv)
{
	CServer *This = CONTAINING_RECORD(pOv, CServer, m_AcceptOv);
	HRESULT hr = This->m_pConnector->GetOverlappedResult(pOv, FALSE);

	if (hr != STATUS_CONNECTION_DISCONNECTED && hr != ND_CONNECTION_ABORTED)
		Die(L"Accept", hr, __LINE__);
}

CServer::~CServer()
{
	IUnknown *objects[] = {m_pListen, m_pConnector, m_pQp, m_pMw, m_pMr, m_pCq, m_pAdapter};

	for (SIZE_T i = 0; i < ARRAYSIZE(objects); i++)
		if (objects[i] != nullptr)
			objects[i]->Release();
	HeapFree(GetProcessHeap(), 0, m_pBuf);
	CloseHandle(m_hFile);
	CloseHandle(m_hIocp);
}

static unsigned __stdcall Ticker(void *)
{
	LARGE_INTEGER now, frequency;
	FILETIME idle, kernel, user;
	SYSTEM_INFO system;

	QueryPerformanceFrequency(&frequency);
	QueryPerformanceCounter(&now);
	GetSystemTimes(&idle, &kernel, &user);
	GetSystemInfo(&system);
	_tprintf(_T("%I64d us on %u processors\n"), now.QuadPart * 1000000 / frequency.QuadPart,
		 system.dwNumberOfProcessors);
	return 0;
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	struct sockaddr_in v4Server = {0};
	INT len = sizeof(v4Server);
	WSADATA wsaData;
	DWORD nThreads = 2;

	for (int i = 1; i < argc; i++) {
		if ((wcscmp(argv[i], L"-t") == 0) || (_tcsicmp(argv[i], _T("--threads")) == 0))
			nThreads = _ttol(argv[++i]);
		else if (_tcsicmp(argv[i], _T("-l")) == 0)
			_tfreopen(argv[++i], _T("w"), stdout);
	}
	if (WSAStartup(MAKEWORD(2, 2), &wsaData) != 0)
		return __LINE__;
	if (WSAStringToAddress(argv[argc - 1], AF_INET, nullptr,
			       reinterpret_cast<struct sockaddr *>(&v4Server), &len) != 0)
		return __LINE__;
	if (v4Server.sin_port == 0)
		v4Server.sin_port = htons(x_DefaultPort);
	CHECK(NdStartup(), L"NdStartup");

	HANDLE ticker = (HANDLE)_beginthreadex(nullptr, 0, Ticker, nullptr, 0, nullptr);
	CServer *server = new (std::nothrow) CServer(nThreads);
	if (server == nullptr)
		Die(L"new", ND_NO_MEMORY, __LINE__);
	server->Init(v4Server);
	server->Run(v4Server);
	server->Release();
	WaitForSingleObject(ticker, INFINITE);
	CloseHandle(ticker);

	CHECK(NdCleanup(), L"NdCleanup");
	WSACleanup();
	_fcloseall();
	return 0;
}
