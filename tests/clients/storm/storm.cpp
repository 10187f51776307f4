/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connect storm as a Windows programmer writes one: sessions that are driven by the packets of
 * one completion port, which two threads serve; both ends are in this process. Everything is
 * counted: each OVERLAPPED ends once, each request of a queue pair comes back once, each reference
 * count is what it must be. Start with Storm() and Account().
 *
 *   storm CLIENT SERVER SECONDS      addresses of two adapters
 */
#include "session.h"

#include <ndsupport.h>
#include <process.h>
#include <tchar.h>

#include <stdio.h>

static const int THREADS = 2;
static const LONG LEAST_LIVES = 20;
static const DWORD PATIENCE = 60000; // [ms] without a life that ends

enum Key {
	KeyNd = 7,
	KeyQuit
};

End g_Ends[2];
Counters g_Counters;
HANDLE g_ClientsGone, g_ServersGone;
static HANDLE g_Port;

static unsigned __stdcall Serve(void *)
{
	for (;;) {
		DWORD bytes;
		ULONG_PTR key = 0;
		OVERLAPPED *ov = NULL;
		BOOL ok = GetQueuedCompletionStatus(g_Port, &bytes, &key, &ov, INFINITE);
		DWORD error = ok ? 0 : GetLastError();

		if (ov == NULL)
			return CHECK(key == KeyQuit) ? 0 : 1;
		CHECK(key == KeyNd);
		Session::OnPacket(ov, ok, error);
	}
}

static bool OpenEnd(End *end)
{
	const SIZE_T bytes = SESSIONS * PIECE;
	OVERLAPPED ov = {};
	HRESULT hr = NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&end->Address,
				   sizeof(end->Address), (void **)&end->Adapter);

	if (!CHECK_HR(hr == ND_SUCCESS, hr))
		return false;
	hr = end->Adapter->CreateOverlappedFile(&end->File);
	CHECK_HR(hr == ND_SUCCESS, hr);
	end->Buffer = (BYTE *)HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, bytes);
	hr = end->Adapter->CreateMemoryRegion(IID_IND2MemoryRegion, end->File, (void **)&end->Mr);
	if (!CHECK_HR(hr == ND_SUCCESS, hr))
		return false;
	hr = end->Mr->Register(end->Buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov);
	if (hr == ND_PENDING)
		hr = end->Mr->GetOverlappedResult(&ov, TRUE);
	if (!CHECK_HR(hr == ND_SUCCESS, hr))
		return false;
	end->Token = end->Mr->GetLocalToken();
	// only what ends from now on is a packet
	return CHECK(CreateIoCompletionPort(end->File, g_Port, KeyNd, 0) == g_Port);
}

static void CloseEnd(End *end)
{
	OVERLAPPED ov = {};

	ov.hEvent = (HANDLE)((ULONG_PTR)CreateEvent(NULL, FALSE, FALSE, NULL) | 1); // no packet
	HRESULT hr = end->Mr->Deregister(&ov);
	if (hr == ND_PENDING)
		hr = end->Mr->GetOverlappedResult(&ov, TRUE);
	CHECK_HR(hr == ND_SUCCESS, hr);
	CloseHandle(ov.hEvent);
	CHECK(end->Mr->Release() == 0);
	CloseHandle(end->File);
	CHECK(end->Adapter->Release() == 0);
	HeapFree(GetProcessHeap(), 0, end->Buffer);
}

static bool Listen()
{
	End *end = &g_Ends[1];
	SOCKADDR_IN at = end->Address;
	HRESULT hr;

	at.sin_port = htons(PORT);
	hr = end->Adapter->CreateListener(IID_IND2Listener, end->File, (void **)&end->Listener);
	if (!CHECK_HR(hr == ND_SUCCESS, hr))
		return false;
	hr = end->Listener->Bind((const sockaddr *)&at, sizeof(at));
	CHECK_HR(hr == ND_SUCCESS, hr);
	hr = end->Listener->Listen(0);
	return CHECK_HR(hr == ND_SUCCESS, hr);
}

// Wait, but not for ever when no session ends any more.
static bool WaitWhileAlive(HANDLE event, DWORD ms)
{
	LONG lives = Now(&g_Counters.Lives);
	DWORD since = GetTickCount();

	for (DWORD start = since; GetTickCount() - start < ms;) {
		if (WaitForSingleObject(event, 10) == WAIT_OBJECT_0)
			return true;
		if (lives != Now(&g_Counters.Lives)) {
			lives = Now(&g_Counters.Lives);
			since = GetTickCount();
		}
		if (GetTickCount() - since > PATIENCE) {
			CHECK(!"a session is stuck");
			printf("begun %d, ended %d, posted %d, reaped %d\n", g_Counters.Begun,
			       g_Counters.Ended, g_Counters.Posted, g_Counters.Reaped);
			fflush(stdout);
			ExitProcess(1);
		}
	}
	return false;
}

static void Storm(DWORD seconds)
{
	HANDLE threads[THREADS];

	g_ClientsGone = CreateEvent(NULL, TRUE, FALSE, NULL);
	g_ServersGone = CreateEvent(NULL, TRUE, FALSE, NULL);
	g_Counters.Clients = g_Counters.Servers = SESSIONS;
	for (int i = 0; i < SESSIONS; i++)
		Session::Start(false, i);
	for (int i = 0; i < SESSIONS; i++)
		Session::Start(true, i);
	for (int i = 0; i < THREADS; i++)
		threads[i] = (HANDLE)_beginthreadex(NULL, 0, Serve, NULL, 0, NULL);
	WaitWhileAlive(g_ClientsGone, seconds * 1000);
	InterlockedExchange(&g_Counters.Over, 1);
	WaitWhileAlive(g_ClientsGone, INFINITE);
	InterlockedExchange(&g_Counters.Closing, 1);
	do { // a session may just have begun to wait for a request
		HRESULT hr = g_Ends[1].Listener->CancelOverlappedRequests();
		CHECK_HR(hr == ND_SUCCESS, hr);
	} while (!WaitWhileAlive(g_ServersGone, 50));
	for (int i = 0; i < THREADS; i++)
		PostQueuedCompletionStatus(g_Port, 0, KeyQuit, NULL);
	WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
	for (int i = 0; i < THREADS; i++)
		CloseHandle(threads[i]);
	CloseHandle(g_ClientsGone);
	CloseHandle(g_ServersGone);
}

static void Account()
{
	DWORD bytes;
	ULONG_PTR key;
	OVERLAPPED *ov = NULL;

	CHECK(!GetQueuedCompletionStatus(g_Port, &bytes, &key, &ov, 100) && ov == NULL);
	CHECK(g_Counters.Begun == g_Counters.Ended);
	CHECK(g_Counters.Posted == g_Counters.Reaped);
	CHECK(g_Counters.Lives >= LEAST_LIVES);
	for (int i = 0; i < Modes; i++)
		CHECK(g_Counters.ByMode[i] > 0);
	// what was acknowledged has arrived, what has arrived was sent
	CHECK(g_Counters.SendsDone <= g_Counters.ReceivesDone &&
	      g_Counters.ReceivesDone <= g_Counters.Sends);
	printf("%d sessions (%d crossing), %d overlapped requests, %d posted, %d messages of %d\n",
	       g_Counters.Lives, g_Counters.ByMode[ModeCross], g_Counters.Ended, g_Counters.Reaped,
	       g_Counters.ReceivesDone, g_Counters.Sends);
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	WSADATA data;

	if (argc != 4) {
		_tprintf(_T("storm CLIENT SERVER SECONDS\n"));
		return 2;
	}
	if (WSAStartup(MAKEWORD(2, 2), &data) != 0 || NdStartup() != ND_SUCCESS)
		return 2;
	for (int i = 0; i < 2; i++) {
		INT length = sizeof(g_Ends[i].Address);

		if (WSAStringToAddress(argv[i + 1], AF_INET, NULL, (SOCKADDR *)&g_Ends[i].Address,
				       &length) != 0)
			return 2;
	}
	g_Port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	if (OpenEnd(&g_Ends[0]) && OpenEnd(&g_Ends[1]) && Listen()) {
		Storm((DWORD)_ttol(argv[3]));
		Account();
		CHECK(g_Ends[1].Listener->Release() == 0);
		CloseEnd(&g_Ends[0]);
		CloseEnd(&g_Ends[1]);
	}
	CloseHandle(g_Port);
	NdCleanup();
	WSACleanup();
	return g_Counters.Failures == 0 ? 0 : 1;
}
