/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The documented steps to an adapter, taken to the letter by a Windows programmer who links nothing
 * of ND2: enumerate the providers, compare the fields, get the path, load the library, get the
 * provider from it, see which of its addresses is on the best interface to the destination, open
 * that adapter and let go of the provider; then a message to oneself over it, and everything back
 * to where it was, the library included. Twice in a row, then by several threads at once. Start
 * with Round().
 *
 *   literal DESTINATION
 */
#include <winsock2.h>
#include <ws2spi.h>
#include <iphlpapi.h>
#include <ndspi.h>
#include <process.h>
#include <tchar.h>

#include <stdio.h>
#include <vector>

typedef HRESULT(STDAPICALLTYPE *DLLGETCLASSOBJECT)(REFCLSID rclsid, REFIID riid, void **ppv);
typedef HRESULT(STDAPICALLTYPE *DLLCANUNLOADNOW)(void);

static const int THREADS = 4;
static const int ROUNDS = 4;

static SOCKADDR_STORAGE g_Destination;
static volatile LONG g_Failures, g_Messages, g_Unloads;

static bool Check(bool good, const char *what, int line, HRESULT hr)
{
	if (!good && InterlockedIncrement(&g_Failures) <= 10)
		printf("line %d: %s (0x%08x, last error %u)\n", line, what, (unsigned)hr,
		       (unsigned)GetLastError());
	return good;
}
#define CHECK(condition) Check((condition), #condition, __LINE__, 0)
#define CHECK_HR(call, wanted)                                     \
	do {                                                       \
		HRESULT hr_ = (call);                              \
		if (!Check(hr_ == (wanted), #call, __LINE__, hr_)) \
			return false;                              \
	} while (0)

// ---- a message to oneself -----------------------------------------------------------------------

struct Loop {
	IND2Adapter *Adapter;
	HANDLE File;
	IND2CompletionQueue *Cq;
	IND2QueuePair *Qp[2];
	IND2Connector *Connector[2];
	IND2Listener *Listener;
	IND2MemoryRegion *Mr;
	SOCKADDR_STORAGE At;
	ULONG AtBytes;
	char Words[2][16];
};

static HRESULT Wait(IND2Overlapped *object, OVERLAPPED *ov, HRESULT hr)
{
	return hr == ND_PENDING ? object->GetOverlappedResult(ov, TRUE) : hr;
}

static bool OpenLoop(Loop &loop)
{
	OVERLAPPED ov = {};
	IND2Adapter *adapter = loop.Adapter;

	CHECK_HR(adapter->CreateOverlappedFile(&loop.File), ND_SUCCESS);
	CHECK_HR(adapter->CreateCompletionQueue(IID_IND2CompletionQueue, loop.File, 8, 0, 0,
						(void **)&loop.Cq),
		 ND_SUCCESS);
	for (int i = 0; i < 2; i++) {
		CHECK_HR(adapter->CreateQueuePair(IID_IND2QueuePair, loop.Cq, loop.Cq,
						  loop.Words[i], 2, 2, 1, 1, 0,
						  (void **)&loop.Qp[i]),
			 ND_SUCCESS);
		CHECK_HR(adapter->CreateConnector(IID_IND2Connector, loop.File,
						  (void **)&loop.Connector[i]),
			 ND_SUCCESS);
	}
	CHECK_HR(adapter->CreateMemoryRegion(IID_IND2MemoryRegion, loop.File, (void **)&loop.Mr),
		 ND_SUCCESS);
	CHECK_HR(Wait(loop.Mr, &ov,
		      loop.Mr->Register(loop.Words, sizeof(loop.Words),
					ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov)),
		 ND_SUCCESS);
	CHECK_HR(adapter->CreateListener(IID_IND2Listener, loop.File, (void **)&loop.Listener),
		 ND_SUCCESS);
	CHECK_HR(loop.Listener->Bind((const sockaddr *)&loop.At, loop.AtBytes), ND_SUCCESS);
	CHECK_HR(loop.Listener->Listen(0), ND_SUCCESS);
	return true;
}

static bool Join(Loop &loop)
{
	OVERLAPPED request = {}, connect = {}, accept = {}, complete = {};
	SOCKADDR_STORAGE to = {};
	ULONG bytes = sizeof(to);

	CHECK_HR(loop.Listener->GetLocalAddress((sockaddr *)&to, &bytes), ND_SUCCESS);
	CHECK_HR(loop.Listener->GetConnectionRequest(loop.Connector[1], &request), ND_PENDING);
	CHECK_HR(loop.Connector[0]->Bind((const sockaddr *)&loop.At, loop.AtBytes), ND_SUCCESS);
	CHECK_HR(loop.Connector[0]->Connect(loop.Qp[0], (const sockaddr *)&to, bytes, 0, 0, NULL, 0,
					    &connect),
		 ND_PENDING);
	CHECK_HR(Wait(loop.Listener, &request, ND_PENDING), ND_SUCCESS);
	CHECK_HR(loop.Connector[1]->Accept(loop.Qp[1], 0, 0, NULL, 0, &accept), ND_PENDING);
	CHECK_HR(Wait(loop.Connector[0], &connect, ND_PENDING), ND_SUCCESS);
	CHECK_HR(Wait(loop.Connector[0], &complete, loop.Connector[0]->CompleteConnect(&complete)),
		 ND_SUCCESS);
	CHECK_HR(Wait(loop.Connector[1], &accept, ND_PENDING), ND_SUCCESS);
	return true;
}

static bool Talk(Loop &loop)
{
	UINT32 token = loop.Mr->GetLocalToken();
	ND2_SGE from = {loop.Words[0], sizeof(loop.Words[0]), token};
	ND2_SGE to = {loop.Words[1], sizeof(loop.Words[1]), token};

	strcpy_s(loop.Words[0], sizeof(loop.Words[0]), "literally");
	CHECK_HR(loop.Qp[1]->Receive(NULL, &to, 1), ND_SUCCESS);
	CHECK_HR(loop.Qp[0]->Send(NULL, &from, 1, 0), ND_SUCCESS);
	for (int seen = 0; seen < 2;) {
		ND2_RESULT result;
		OVERLAPPED ov = {};

		if (loop.Cq->GetResults(&result, 1) == 0) {
			CHECK_HR(Wait(loop.Cq, &ov, loop.Cq->Notify(ND_CQ_NOTIFY_ANY, &ov)),
				 ND_SUCCESS);
			continue;
		}
		CHECK_HR(result.Status, ND_SUCCESS);
		seen++;
	}
	if (CHECK(strcmp(loop.Words[1], "literally") == 0))
		InterlockedIncrement(&g_Messages);
	return true;
}

static bool CloseLoop(Loop &loop)
{
	OVERLAPPED ov = {};

	CHECK_HR(Wait(loop.Connector[0], &ov, loop.Connector[0]->Disconnect(&ov)), ND_SUCCESS);
	CHECK_HR(Wait(loop.Mr, &ov, loop.Mr->Deregister(&ov)), ND_SUCCESS);
	CHECK(loop.Listener->Release() == 0);
	CHECK(loop.Mr->Release() == 0);
	CHECK(loop.Cq->Release() == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(loop.Qp[i]->Release() == 0);
		CHECK(loop.Connector[i]->Release() == 0);
	}
	CloseHandle(loop.File);
	return CHECK(loop.Adapter->Release() == 0);
}

// ---- the steps ----------------------------------------------------------------------------------

static bool SameAddress(const sockaddr *a, const sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const SOCKADDR_IN *)a)->sin_addr.s_addr ==
		       ((const SOCKADDR_IN *)b)->sin_addr.s_addr;
	return memcmp(&((const SOCKADDR_IN6 *)a)->sin6_addr, &((const SOCKADDR_IN6 *)b)->sin6_addr,
		      16) == 0;
}

// Has the interface that leads to the destination this address?
static bool IsOnTheWay(const sockaddr *address)
{
	DWORD best;
	ULONG bytes = 0;

	if (!CHECK(GetBestInterfaceEx((sockaddr *)&g_Destination, &best) == NO_ERROR))
		return false;
	CHECK(GetAdaptersAddresses(AF_UNSPEC, 0, NULL, NULL, &bytes) == ERROR_BUFFER_OVERFLOW);
	std::vector<char> room(bytes);
	IP_ADAPTER_ADDRESSES *at = (IP_ADAPTER_ADDRESSES *)&room[0];
	if (!CHECK(GetAdaptersAddresses(AF_UNSPEC, 0, NULL, at, &bytes) == NO_ERROR))
		return false;
	for (; at != NULL; at = at->Next) {
		if ((address->sa_family == AF_INET ? at->IfIndex : at->Ipv6IfIndex) != best)
			continue;
		for (IP_ADAPTER_UNICAST_ADDRESS *own = at->FirstUnicastAddress; own;
		     own = own->Next)
			if (SameAddress(own->Address.lpSockaddr, address))
				return true;
	}
	return false;
}

// Look for an address of the provider that is on the way; open the adapter that has it.
static bool OpenAdapter(IND2Provider *provider, Loop &loop)
{
	ULONG bytes = 0;
	UINT64 id = 0;

	CHECK_HR(provider->QueryAddressList(NULL, &bytes), ND_BUFFER_OVERFLOW);
	std::vector<char> room(bytes);
	SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
	CHECK_HR(provider->QueryAddressList(list, &bytes), ND_SUCCESS);
	for (int i = 0; i < list->iAddressCount; i++) {
		const SOCKET_ADDRESS &own = list->Address[i];

		if (own.lpSockaddr->sa_family != ((sockaddr *)&g_Destination)->sa_family ||
		    !IsOnTheWay(own.lpSockaddr))
			continue;
		loop.AtBytes = (ULONG)own.iSockaddrLength;
		CopyMemory(&loop.At, own.lpSockaddr, loop.AtBytes);
		CHECK_HR(provider->ResolveAddress(own.lpSockaddr, loop.AtBytes, &id), ND_SUCCESS);
		CHECK_HR(provider->OpenAdapter(IID_IND2Adapter, id, (void **)&loop.Adapter),
			 ND_SUCCESS);
		return true;
	}
	return CHECK(!"an address of the provider's on the best interface");
}

static bool UseProvider(const GUID &id, DLLGETCLASSOBJECT getClassObject, DLLCANUNLOADNOW canUnload)
{
	IND2Provider *provider;
	ND2_ADAPTER_INFO info = {};
	ULONG bytes = sizeof(info);
	Loop loop = {};

	CHECK_HR(getClassObject(id, IID_IND2Provider, (void **)&provider), S_OK);
	bool open = OpenAdapter(provider, loop);
	CHECK(provider->Release() == 0);
	if (!open)
		return false;
	CHECK_HR(canUnload(), S_FALSE); // the adapter is there
	info.InfoVersion = ND_VERSION_2;
	CHECK_HR(loop.Adapter->Query(&info, &bytes), ND_SUCCESS);
	CHECK((info.AdapterFlags & ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED) != 0);
	return OpenLoop(loop) && Join(loop) && Talk(loop) && CloseLoop(loop);
}

static bool LoadAndUse(GUID id)
{
	WCHAR path[MAX_PATH];
	INT length = MAX_PATH, error = 0;

	if (!CHECK(WSCGetProviderPath(&id, path, &length, &error) == 0))
		return false;
	HMODULE library = LoadLibraryEx(path, NULL, 0);
	if (!CHECK(library != NULL))
		return false;
	DLLGETCLASSOBJECT getClassObject =
		(DLLGETCLASSOBJECT)GetProcAddress(library, "DllGetClassObject");
	DLLCANUNLOADNOW canUnload = (DLLCANUNLOADNOW)GetProcAddress(library, "DllCanUnloadNow");
	if (!CHECK(getClassObject != NULL && canUnload != NULL) ||
	    !UseProvider(id, getClassObject, canUnload))
		return false;
	// others may use it still; who loaded it twice lets go of it twice
	if (canUnload() == S_OK)
		InterlockedIncrement(&g_Unloads);
	return CHECK(FreeLibrary(library));
}

static bool IsNd2(const WSAPROTOCOL_INFO &info)
{
	const DWORD service = XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER |
			      XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;
	const DWORD provider = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER;

	return (info.dwServiceFlags1 & service) == service &&
	       (info.dwProviderFlags & provider) == provider && info.iVersion == ND_VERSION_2 &&
	       (info.iAddressFamily == AF_INET || info.iAddressFamily == AF_INET6) &&
	       info.iSocketType == -1 && info.iProtocol == 0 && info.iProtocolMaxOffset == 0;
}

static bool Round()
{
	DWORD bytes = 0;
	INT error = 0;

	CHECK(WSCEnumProtocols(NULL, NULL, &bytes, &error) == SOCKET_ERROR && error == WSAENOBUFS);
	std::vector<WSAPROTOCOL_INFO> list(bytes / sizeof(WSAPROTOCOL_INFO));
	if (!CHECK(!list.empty()) ||
	    !CHECK(WSCEnumProtocols(NULL, &list[0], &bytes, &error) == (int)list.size()))
		return false;
	for (size_t i = 0; i < list.size(); i++)
		if (IsNd2(list[i]))
			return LoadAndUse(list[i].ProviderId);
	return CHECK(!"a provider of ND2");
}

static unsigned __stdcall Rounds(void *)
{
	for (int i = 0; i < ROUNDS; i++)
		Round();
	return 0;
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	WSADATA data;
	INT length = sizeof(g_Destination);
	HANDLE threads[THREADS];

	if (argc != 2 || WSAStartup(MAKEWORD(2, 2), &data) != 0) {
		_tprintf(_T("literal DESTINATION\n"));
		return 2;
	}
	if (WSAStringToAddress(argv[1], AF_INET, NULL, (SOCKADDR *)&g_Destination, &length) != 0 &&
	    WSAStringToAddress(argv[1], AF_INET6, NULL, (SOCKADDR *)&g_Destination, &length) != 0)
		return 2;
	Round();
	Round();
	CHECK(g_Unloads == 2); // nobody else was there
	for (int i = 0; i < THREADS; i++)
		threads[i] = (HANDLE)_beginthreadex(NULL, 0, Rounds, NULL, 0, NULL);
	WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
	for (int i = 0; i < THREADS; i++)
		CloseHandle(threads[i]);
	Round();
	CHECK(g_Unloads >= 3);
	CHECK(g_Messages == 3 + THREADS * ROUNDS);
	_tprintf(_T("%d messages to %s, %d unloads\n"), g_Messages, argv[1], g_Unloads);
	WSACleanup();
	return g_Failures == 0 ? 0 : 1;
}
