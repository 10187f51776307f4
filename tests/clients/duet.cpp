/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two processes, as a Windows programmer writes them: one listens, one connects and says what both
 * shall do. Every message, window and byte is checked on both sides; what is wrong is told in a
 * line and the exit status. Start with Serve() and Connect(), then Perform() and Watch().
 *
 *   duet server ADDRESS:PORT
 *   duet client ADDRESS:PORT SCENE
 *
 * Scenes: client-leaves, server-leaves  messages, writes and reads through a window, its end; then
 *                                       that side disconnects
 *         stale                         the client goes on using the window after its end
 *         return, exit, _exit           the client calls Disconnect and ends its process in that
 * way, waiting for nothing
 */
#include <winsock2.h>
#include <ndsupport.h>
#include <ntstatus.h>
#include <process.h>
#include <tchar.h>

#include <stdio.h>
#include <stdlib.h>

static const ULONG SIZE = 256 * 1024; // of the window
static const ULONG ROOM = 9000;       // of a message
static const ULONG DEPTH = 8;
static const ULONG MESSAGES = 200;
static const DWORD PATIENCE = 60000; // [ms]
static const DWORD PROMPT = 10000;   // [ms] until a peer that leaves is missed

struct Invitation {
	UINT64 Address;
	UINT32 Token;
	UINT32 Size;
};

enum Scene {
	ClientLeaves,
	ServerLeaves,
	Stale,
	ByReturn,
	ByExit,
	ByQuickExit,
	Scenes
};
static const TCHAR *const g_SceneNames[Scenes] = {_T("client-leaves"), _T("server-leaves"),
						  _T("stale"),         _T("return"),
						  _T("exit"),          _T("_exit")};

static void
Fail(const char *what, int line, HRESULT hr)
{
	printf("FAILED: line %d: %s (0x%08x)\n", line, what, (unsigned)hr);
	fflush(stdout);
	ExitProcess(1);
}
#define CHECK(condition)                               \
	do {                                           \
		if (!(condition))                      \
			Fail(#condition, __LINE__, 0); \
	} while (0)
#define CHECK_HR(call, wanted)                      \
	do {                                        \
		HRESULT hr_ = (call);               \
		if (hr_ != (wanted))                \
			Fail(#call, __LINE__, hr_); \
	} while (0)

// An overlapped request with its event.
class Request : public OVERLAPPED
{
      public:
	Request()
	{
		ZeroMemory(static_cast<OVERLAPPED *>(this), sizeof(OVERLAPPED));
		hEvent = CreateEvent(NULL, FALSE, FALSE, NULL);
	}
	~Request()
	{
		CloseHandle(hEvent);
	}

	// The end of what has returned hr; it may not take longer than that.
	HRESULT
	Wait(IND2Overlapped *object, HRESULT hr, DWORD ms = PATIENCE)
	{
		if (hr != ND_PENDING)
			return hr;
		if (WaitForSingleObject(hEvent, ms) != WAIT_OBJECT_0)
			return ND_TIMEOUT;
		return object->GetOverlappedResult(this, TRUE);
	}
};

static IND2Adapter *g_Adapter;
static HANDLE g_File;
static IND2CompletionQueue *g_Cq;
static IND2QueuePair *g_Qp;
static IND2Connector *g_Connector;
static IND2MemoryRegion *g_Mr, *g_ShutMr;
static IND2MemoryWindow *g_Window;
static BYTE *g_Rooms; // DEPTH receives and one to send from
static BYTE *g_Shared;
static UINT32 g_Scene;
static ULONG g_NextReceive;

static BYTE
Pattern(ULONG seed, ULONG at)
{
	return (BYTE)(seed * 131 + at * 7 + (at >> 8));
}

static void
Fill(BYTE *to, ULONG bytes, ULONG seed)
{
	for (ULONG i = 0; i < bytes; i++)
		to[i] = Pattern(seed, i);
}

static bool
IsFilled(const BYTE *at, ULONG bytes, ULONG seed)
{
	for (ULONG i = 0; i < bytes; i++) {
		if (at[i] != Pattern(seed, i))
			return false;
	}
	return true;
}

// ---- objects ------------------------------------------------------------------------------------

static IND2MemoryRegion *
Register(void *buffer, SIZE_T bytes, ULONG flags)
{
	Request request;
	IND2MemoryRegion *mr;

	CHECK_HR(g_Adapter->CreateMemoryRegion(IID_IND2MemoryRegion, g_File, (void **)&mr),
		 ND_SUCCESS);
	CHECK_HR(request.Wait(mr, mr->Register(buffer, bytes, flags, &request)), ND_SUCCESS);
	return mr;
}

static void
Receive(ULONG i)
{
	ND2_SGE sge = {g_Rooms + i * ROOM, ROOM, g_Mr->GetLocalToken()};

	CHECK_HR(g_Qp->Receive((void *)(ULONG_PTR)i, &sge, 1), ND_SUCCESS);
}

static void
Open(const SOCKADDR_IN &local)
{
	CHECK_HR(NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&local, sizeof(local),
			       (void **)&g_Adapter),
		 ND_SUCCESS);
	CHECK_HR(g_Adapter->CreateOverlappedFile(&g_File), ND_SUCCESS);
	CHECK_HR(g_Adapter->CreateCompletionQueue(IID_IND2CompletionQueue, g_File, 4 * DEPTH, 0, 0,
						  (void **)&g_Cq),
		 ND_SUCCESS);
	CHECK_HR(g_Adapter->CreateQueuePair(IID_IND2QueuePair, g_Cq, g_Cq, g_Cq, DEPTH, DEPTH, 1, 1,
					    0, (void **)&g_Qp),
		 ND_SUCCESS);
	CHECK_HR(g_Adapter->CreateConnector(IID_IND2Connector, g_File, (void **)&g_Connector),
		 ND_SUCCESS);
	CHECK_HR(g_Adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&g_Window),
		 ND_SUCCESS);
	// a polluxd reaches no heap
	g_Rooms = (BYTE *)VirtualAlloc(NULL, (DEPTH + 1) * ROOM, MEM_RESERVE | MEM_COMMIT,
				       PAGE_READWRITE);
	g_Shared = (BYTE *)VirtualAlloc(NULL, SIZE, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
	CHECK(g_Rooms != NULL && g_Shared != NULL);
	g_Mr = Register(g_Rooms, (DEPTH + 1) * ROOM, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	// nobody gets at it but through the window
	g_ShutMr = Register(g_Shared, SIZE, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	for (ULONG i = 0; i < DEPTH; i++)
		Receive(i);
}

static void
Close()
{
	IND2MemoryRegion *regions[] = {g_Mr, g_ShutMr};

	CHECK(g_Window->Release() == 0);
	for (size_t i = 0; i < _countof(regions); i++) {
		Request request;
		CHECK_HR(request.Wait(regions[i], regions[i]->Deregister(&request)), ND_SUCCESS);
		CHECK(regions[i]->Release() == 0);
	}
	CHECK(g_Cq->Release() == 0);
	CHECK(g_Qp->Release() == 0);
	CHECK(g_Connector->Release() == 0);
	CloseHandle(g_File);
	CHECK(g_Adapter->Release() == 0);
	CHECK(VirtualFree(g_Rooms, 0, MEM_RELEASE));
	CHECK(VirtualFree(g_Shared, 0, MEM_RELEASE));
}

// ---- requests -----------------------------------------------------------------------------------

// The next completion, for which it sleeps.
static ND2_RESULT
Reap()
{
	ND2_RESULT result;

	while (g_Cq->GetResults(&result, 1) == 0) {
		Request request;
		CHECK_HR(request.Wait(g_Cq, g_Cq->Notify(ND_CQ_NOTIFY_ANY, &request)), ND_SUCCESS);
	}
	CHECK(result.QueuePairContext == g_Cq);
	return result;
}

static bool
IsReceive(const ND2_RESULT &result)
{
	return result.RequestType == Nd2RequestTypeReceive;
}

// Messages that came while something else was waited for.
static ULONG g_Early[DEPTH], g_EarlyBytes[DEPTH], g_Earlies;

// The end of the one request that is under way.
static HRESULT
Done(ND2_REQUEST_TYPE type)
{
	for (;;) {
		ND2_RESULT result = Reap();

		if (!IsReceive(result)) {
			CHECK(result.RequestType == type);
			return result.Status;
		}
		if (result.Status == ND_CANCELED) // after an error, with the rest
			continue;
		CHECK_HR(result.Status, ND_SUCCESS);
		CHECK(g_Earlies < DEPTH);
		g_Early[g_Earlies] = (ULONG)(ULONG_PTR)result.RequestContext;
		g_EarlyBytes[g_Earlies++] = result.BytesTransferred;
	}
}

// The next message, which lies there until Receive() gives its room back.
static const BYTE *
Message(ULONG *bytes)
{
	ULONG room;

	if (g_Earlies > 0) {
		room = g_Early[0];
		*bytes = g_EarlyBytes[0];
		g_Earlies--;
		MoveMemory(g_Early, g_Early + 1, sizeof(g_Early) - sizeof(g_Early[0]));
		MoveMemory(g_EarlyBytes, g_EarlyBytes + 1, sizeof(g_Early) - sizeof(g_Early[0]));
	} else {
		ND2_RESULT result = Reap();

		CHECK(IsReceive(result));
		CHECK_HR(result.Status, ND_SUCCESS);
		room = (ULONG)(ULONG_PTR)result.RequestContext;
		*bytes = result.BytesTransferred;
	}
	CHECK(room == g_NextReceive); // in the order they were posted
	g_NextReceive = (room + 1) % DEPTH;
	return g_Rooms + room * ROOM;
}

static HRESULT
Say(const void *words, ULONG bytes)
{
	BYTE *room = g_Rooms + DEPTH * ROOM;
	ND2_SGE sge = {room, bytes, g_Mr->GetLocalToken()};

	CopyMemory(room, words, bytes);
	CHECK_HR(g_Qp->Send(NULL, &sge, 1, 0), ND_SUCCESS);
	return Done(Nd2RequestTypeSend);
}

static void
Hear(const char *words)
{
	ULONG bytes;
	const BYTE *message = Message(&bytes);

	CHECK(bytes == strlen(words) && memcmp(message, words, bytes) == 0);
	Receive((ULONG)(message - g_Rooms) / ROOM);
}

static ULONG
LengthOf(ULONG message)
{
	return message == 0 ? 0 : message * 7919 % (ROOM + 1);
}

// ---- what both do -------------------------------------------------------------------------------

// The client: fills the window, reads it back, has its messages echoed.
static void
Perform()
{
	Invitation invitation;
	ULONG bytes;
	ND2_SGE sge = {g_Shared, SIZE, g_ShutMr->GetLocalToken()};
	static BYTE words[ROOM];

	CopyMemory(&invitation, Message(&bytes), sizeof(invitation));
	CHECK(bytes == sizeof(invitation) && invitation.Size == SIZE);
	Receive(0);
	Fill(g_Shared, SIZE, 1);
	CHECK_HR(g_Qp->Write(NULL, &sge, 1, invitation.Address, invitation.Token, 0), ND_SUCCESS);
	CHECK_HR(Done(Nd2RequestTypeWrite), ND_SUCCESS);
	ZeroMemory(g_Shared, SIZE);
	CHECK_HR(g_Qp->Read(NULL, &sge, 1, invitation.Address, invitation.Token, 0), ND_SUCCESS);
	CHECK_HR(Done(Nd2RequestTypeRead), ND_SUCCESS);
	CHECK(IsFilled(g_Shared, SIZE, 1));
	for (ULONG i = 0; i < MESSAGES; i++) {
		Fill(words, LengthOf(i), i);
		CHECK_HR(Say(words, LengthOf(i)), ND_SUCCESS);
		const BYTE *echo = Message(&bytes);
		CHECK(bytes == LengthOf(i) && IsFilled(echo, bytes, i));
		Receive((ULONG)(echo - g_Rooms) / ROOM);
	}
	CHECK_HR(Say("written", 7), ND_SUCCESS);
	Hear("shut");
	if (g_Scene != Stale)
		return;
	CHECK_HR(g_Qp->Write(NULL, &sge, 1, invitation.Address, invitation.Token, 0), ND_SUCCESS);
	CHECK_HR(Done(Nd2RequestTypeWrite), ND_ACCESS_VIOLATION);
}

// The server: opens the window, echoes, looks at what was written, shuts the window.
static void
Watch()
{
	Invitation invitation = {(UINT64)(ULONG_PTR)g_Shared, 0, SIZE};

	CHECK_HR(g_Qp->Bind(NULL, g_ShutMr, g_Window, g_Shared, SIZE,
			    ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE),
		 ND_SUCCESS);
	invitation.Token = g_Window->GetRemoteToken();
	CHECK_HR(Done(Nd2RequestTypeBind), ND_SUCCESS);
	CHECK_HR(Say(&invitation, sizeof(invitation)), ND_SUCCESS);
	for (ULONG i = 0; i < MESSAGES; i++) {
		ULONG bytes;
		const BYTE *words = Message(&bytes);

		CHECK(bytes == LengthOf(i) && IsFilled(words, bytes, i));
		CHECK_HR(Say(words, bytes), ND_SUCCESS);
		Receive((ULONG)(words - g_Rooms) / ROOM);
	}
	Hear("written");
	CHECK(IsFilled(g_Shared, SIZE, 1));
	Request request;
	CHECK_HR(g_ShutMr->Deregister(&request), ND_DEVICE_BUSY);
	CHECK_HR(g_Qp->Invalidate(NULL, g_Window, 0), ND_SUCCESS);
	CHECK_HR(Done(Nd2RequestTypeInvalidate), ND_SUCCESS);
	CHECK_HR(Say("shut", 4), ND_SUCCESS);
}

// ---- the end ------------------------------------------------------------------------------------

// All receives that are there come back, in their order. Returns: how many
static ULONG
Flushed()
{
	ND2_RESULT result;
	ULONG n = 0;

	while (g_Cq->GetResults(&result, 1) != 0) {
		CHECK(IsReceive(result));
		CHECK_HR(result.Status, ND_CANCELED);
		n++;
	}
	return n;
}

static void
Leave()
{
	Request notice, leave;

	CHECK_HR(g_Connector->NotifyDisconnect(&notice), ND_PENDING);
	CHECK_HR(leave.Wait(g_Connector, g_Connector->Disconnect(&leave)), ND_SUCCESS);
	CHECK_HR(notice.Wait(g_Connector, ND_PENDING), (HRESULT)STATUS_CONNECTION_DISCONNECTED);
	CHECK(Flushed() == DEPTH);
}

// The other side leaves, or is gone. The receives come back without a call of ours.
static void
BeLeft(Request *notice, DWORD ms, bool flushed)
{
	DWORD start = GetTickCount();
	ULONG n = 0;
	Request leave;

	CHECK_HR(notice->Wait(g_Connector, ND_PENDING, ms), ND_SUCCESS);
	while (!flushed && (n += Flushed()) < DEPTH) {
		CHECK(GetTickCount() - start < ms);
		Sleep(1);
	}
	CHECK_HR(leave.Wait(g_Connector, g_Connector->Disconnect(&leave)), ND_SUCCESS);
}

static bool
IsQuick()
{
	return g_Scene >= ByReturn;
}

// The client that waits for nothing. Returns only to be returned from main.
static void
LeaveQuickly()
{
	static OVERLAPPED nobodyWaits;

	Hear("the last word");
	CHECK_HR(g_Connector->Disconnect(&nobodyWaits), ND_PENDING);
	if (g_Scene == ByExit)
		exit(0);
	if (g_Scene == ByQuickExit)
		_exit(0);
}

static void
End(bool client, Request *notice)
{
	bool leaves = client ? g_Scene == ClientLeaves : g_Scene == ServerLeaves;

	if (g_Scene == Stale) { // the connection is broken; the one that broke it had its receives
		BeLeft(notice, PATIENCE, client);
		return;
	}
	if (!leaves) {
		BeLeft(notice, IsQuick() ? PROMPT : PATIENCE, false);
		return;
	}
	CHECK_HR(g_Connector->CancelOverlappedRequests(), ND_SUCCESS);
	CHECK_HR(notice->Wait(g_Connector, ND_PENDING), ND_CANCELED);
	Leave();
}

// ---- connections --------------------------------------------------------------------------------

static void
Serve(const SOCKADDR_IN &at)
{
	IND2Listener *listener;
	Request request, accept, notice;
	BYTE words[256];
	ULONG bytes = sizeof(words);

	CHECK_HR(g_Adapter->CreateListener(IID_IND2Listener, g_File, (void **)&listener),
		 ND_SUCCESS);
	CHECK_HR(listener->Bind((const sockaddr *)&at, sizeof(at)), ND_SUCCESS);
	CHECK_HR(listener->Listen(1), ND_SUCCESS);
	CHECK_HR(listener->GetConnectionRequest(g_Connector, &request), ND_PENDING);
	printf("listening\n");
	fflush(stdout);
	CHECK_HR(request.Wait(listener, ND_PENDING), ND_SUCCESS);
	// what the wire has is longer, and its beginning is what was given
	CHECK(g_Connector->GetPrivateData(words, &bytes) == ND_SUCCESS && bytes >= sizeof(g_Scene));
	CopyMemory(&g_Scene, words, sizeof(g_Scene));
	CHECK(g_Scene < Scenes);
	CHECK_HR(accept.Wait(g_Connector, g_Connector->Accept(g_Qp, 4, 4, NULL, 0, &accept)),
		 ND_SUCCESS);
	CHECK_HR(g_Connector->NotifyDisconnect(&notice), ND_PENDING);
	if (IsQuick())
		CHECK_HR(Say("the last word", 13), ND_SUCCESS);
	else
		Watch();
	End(false, &notice);
	CHECK(listener->Release() == 0);
}

static void
Connect(const SOCKADDR_IN &local, const SOCKADDR_IN &at)
{
	Request connect, complete, notice;

	CHECK_HR(g_Connector->Bind((const sockaddr *)&local, sizeof(local)), ND_SUCCESS);
	CHECK_HR(connect.Wait(g_Connector,
			      g_Connector->Connect(g_Qp, (const sockaddr *)&at, sizeof(at), 4, 4,
						   &g_Scene, sizeof(g_Scene), &connect)),
		 ND_SUCCESS);
	CHECK_HR(complete.Wait(g_Connector, g_Connector->CompleteConnect(&complete)), ND_SUCCESS);
	if (IsQuick())
		return LeaveQuickly();
	CHECK_HR(g_Connector->NotifyDisconnect(&notice), ND_PENDING);
	Perform();
	End(true, &notice);
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	WSADATA data;
	SOCKADDR_IN at = {}, local = {};
	INT length = sizeof(at);
	SIZE_T bytes = sizeof(local);
	bool client = argc == 4 && _tcsicmp(argv[1], _T("client")) == 0;

	if (!client && (argc != 3 || _tcsicmp(argv[1], _T("server")) != 0)) {
		_tprintf(_T("duet server ADDRESS:PORT | duet client ADDRESS:PORT SCENE\n"));
		return 2;
	}
	CHECK(WSAStartup(MAKEWORD(2, 2), &data) == 0);
	CHECK(WSAStringToAddress(argv[2], AF_INET, NULL, (SOCKADDR *)&at, &length) == 0);
	CHECK_HR(NdStartup(), ND_SUCCESS);
	if (client) {
		for (g_Scene = 0; _tcsicmp(argv[3], g_SceneNames[g_Scene]) != 0;)
			CHECK(++g_Scene < Scenes);
		CHECK_HR(NdResolveAddress((const sockaddr *)&at, sizeof(at), (sockaddr *)&local,
					  &bytes),
			 ND_SUCCESS);
		Open(local);
		Connect(local, at);
		if (IsQuick())
			return 0;
	} else {
		Open(at);
		Serve(at);
	}
	Close();
	CHECK_HR(NdCleanup(), ND_SUCCESS);
	WSACleanup();
	_tprintf(_T("all right: %s\n"), g_SceneNames[g_Scene]);
	return 0;
}
