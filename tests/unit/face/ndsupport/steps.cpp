/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client that takes the steps of ND2's documents one by one, as a Windows programmer writes them:
 * enumerate the catalog, compare the fields, get the path, load the library, ask for the provider,
 * find the best interface to a destination and its address in the provider's list, open the
 * adapter, use it, let go, unload. Twice in a row, then from several threads.
 *
 *   steps DESTINATION VENDOR      the adapter that leads there must be of that vendor
 */
#include <winsock2.h>
#include <ws2spi.h>
#include <iphlpapi.h>
#include <ndspi.h>
#include <tchar.h>

#include <stdio.h>
#include <vector>

typedef HRESULT(STDAPICALLTYPE *GETCLASSOBJECT)(REFCLSID rclsid, REFIID riid, void **ppv);
typedef HRESULT(STDAPICALLTYPE *CANUNLOADNOW)(void);

static const DWORD SERVICE_FLAGS =
	XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER | XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;
static const DWORD PROVIDER_FLAGS = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER;

static const int THREADS = 4;
static const int ROUNDS = 5;

static SOCKADDR_STORAGE g_Destination;
static UINT16 g_Vendor;

// A library that could not be unloaded yet, because another thread uses it.
static CRITICAL_SECTION g_Lock;
static std::vector<HMODULE> g_Kept;

#define CHECK(condition)                                                               \
	do {                                                                           \
		if (!(condition)) {                                                    \
			printf("line %d: %s, last error %u\n", __LINE__, #condition,   \
			       (unsigned)GetLastError());                              \
			return false;                                                  \
		}                                                                      \
	} while (0)

static bool IsNd2(const WSAPROTOCOL_INFOW &info)
{
	return (info.dwServiceFlags1 & SERVICE_FLAGS) == SERVICE_FLAGS &&
	       (info.dwProviderFlags & PROVIDER_FLAGS) == PROVIDER_FLAGS &&
	       info.iVersion == ND_VERSION_2 &&
	       (info.iAddressFamily == AF_INET || info.iAddressFamily == AF_INET6) &&
	       info.iSocketType == -1 && info.iProtocol == 0 && info.iProtocolMaxOffset == 0;
}

static bool Enumerate(std::vector<WSAPROTOCOL_INFOW> &list)
{
	DWORD length = 0;
	INT error = 0;

	CHECK(WSCEnumProtocols(NULL, NULL, &length, &error) == SOCKET_ERROR);
	CHECK(error == WSAENOBUFS);
	list.resize(length / sizeof(WSAPROTOCOL_INFOW));
	CHECK(WSCEnumProtocols(NULL, &list[0], &length, &error) == (int)list.size());
	return true;
}

static bool Load(GUID *id, HMODULE *library)
{
	WCHAR path[MAX_PATH], expanded[MAX_PATH];
	INT length = MAX_PATH, error;

	CHECK(WSCGetProviderPath(id, path, &length, &error) == 0);
	DWORD n = ExpandEnvironmentStringsW(path, expanded, MAX_PATH);
	CHECK(n > 0 && n <= MAX_PATH);
	*library = LoadLibraryExW(expanded, NULL, 0);
	CHECK(*library != NULL);
	return true;
}

static bool SameAddress(const SOCKET_ADDRESS &a, const SOCKET_ADDRESS &b)
{
	if (a.lpSockaddr->sa_family != b.lpSockaddr->sa_family)
		return false;
	if (a.lpSockaddr->sa_family == AF_INET)
		return ((SOCKADDR_IN *)a.lpSockaddr)->sin_addr.s_addr ==
		       ((SOCKADDR_IN *)b.lpSockaddr)->sin_addr.s_addr;
	return memcmp(&((SOCKADDR_IN6 *)a.lpSockaddr)->sin6_addr,
		      &((SOCKADDR_IN6 *)b.lpSockaddr)->sin6_addr, 16) == 0;
}

// The addresses of the interface that leads to the destination.
static bool BestInterface(std::vector<char> &room, IP_ADAPTER_ADDRESSES **best)
{
	DWORD index = 0;
	ULONG size = 0;

	CHECK(GetBestInterfaceEx((SOCKADDR *)&g_Destination, &index) == NO_ERROR);
	CHECK(GetAdaptersAddresses(AF_UNSPEC, 0, NULL, NULL, &size) == ERROR_BUFFER_OVERFLOW);
	room.resize(size);
	*best = (IP_ADAPTER_ADDRESSES *)&room[0];
	CHECK(GetAdaptersAddresses(AF_UNSPEC, 0, NULL, *best, &size) == NO_ERROR);
	while (*best != NULL && (*best)->IfIndex != index)
		*best = (*best)->Next;
	CHECK(*best != NULL);
	return true;
}

// One of the interface's addresses that the provider has, too.
static bool FindLocal(IND2Provider *provider, const IP_ADAPTER_ADDRESSES *best,
		      SOCKADDR_STORAGE *local, ULONG *bytes)
{
	ULONG size = 0;

	*bytes = 0;
	HRESULT hr = provider->QueryAddressList(NULL, &size);
	if (hr != ND_BUFFER_OVERFLOW)
		return true;
	std::vector<char> room(size);
	SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
	CHECK(provider->QueryAddressList(list, &size) == ND_SUCCESS);
	for (INT i = 0; i < list->iAddressCount; i++) {
		for (IP_ADAPTER_UNICAST_ADDRESS *at = best->FirstUnicastAddress; at; at = at->Next) {
			if (!SameAddress(list->Address[i], at->Address))
				continue;
			*bytes = (ULONG)at->Address.iSockaddrLength;
			memcpy(local, at->Address.lpSockaddr, *bytes);
			return true;
		}
	}
	return true;
}

static bool UseAdapter(IND2Provider *provider, const SOCKADDR_STORAGE &local, ULONG bytes)
{
	UINT64 id;
	IND2Adapter *adapter;
	ND2_ADAPTER_INFO info = {};
	ULONG size = sizeof(info);

	CHECK(provider->ResolveAddress((const SOCKADDR *)&local, bytes, &id) == ND_SUCCESS);
	CHECK(provider->OpenAdapter(IID_IND2Adapter, id, (void **)&adapter) == ND_SUCCESS);
	info.InfoVersion = ND_VERSION_2;
	CHECK(adapter->Query(&info, &size) == ND_SUCCESS);
	CHECK(info.VendorId == g_Vendor);
	CHECK(info.AdapterId == id);
	CHECK(adapter->Release() == 0);
	return true;
}

// Everything with one provider. found: it has an address on the way to the destination.
static bool TryProvider(GUID *id, bool *found)
{
	HMODULE library;
	IND2Provider *provider;
	SOCKADDR_STORAGE local;
	ULONG bytes;
	std::vector<char> room;
	IP_ADAPTER_ADDRESSES *best;

	if (!Load(id, &library))
		return false;
	GETCLASSOBJECT getClassObject = (GETCLASSOBJECT)GetProcAddress(library, "DllGetClassObject");
	CANUNLOADNOW canUnloadNow = (CANUNLOADNOW)GetProcAddress(library, "DllCanUnloadNow");
	CHECK(getClassObject != NULL && canUnloadNow != NULL);
	CHECK(getClassObject(*id, IID_IND2Provider, (void **)&provider) == S_OK);
	CHECK(canUnloadNow() == S_FALSE);
	if (!BestInterface(room, &best) || !FindLocal(provider, best, &local, &bytes))
		return false;
	*found = bytes != 0;
	if (*found && !UseAdapter(provider, local, bytes))
		return false;
	CHECK(provider->Release() == 0);
	if (canUnloadNow() == S_OK) {
		CHECK(FreeLibrary(library));
		return true;
	}
	EnterCriticalSection(&g_Lock);
	g_Kept.push_back(library);
	LeaveCriticalSection(&g_Lock);
	return true;
}

static bool Round()
{
	std::vector<WSAPROTOCOL_INFOW> list;
	int candidates = 0, owners = 0;

	if (!Enumerate(list))
		return false;
	for (size_t i = 0; i < list.size(); i++) {
		bool found = false;

		// a provider that serves both families is there twice
		if (!IsNd2(list[i]) || (i > 0 && list[i].ProviderId == list[i - 1].ProviderId))
			continue;
		candidates++;
		if (!TryProvider(&list[i].ProviderId, &found))
			return false;
		owners += found;
	}
	CHECK(candidates >= 1);
	CHECK(owners == 1);
	return true;
}

static DWORD WINAPI Thread(LPVOID)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!Round())
			return 1;
	}
	return 0;
}

static bool Threads()
{
	HANDLE threads[THREADS];
	DWORD code;

	for (int i = 0; i < THREADS; i++) {
		threads[i] = CreateThread(NULL, 0, Thread, NULL, 0, NULL);
		CHECK(threads[i] != NULL);
	}
	CHECK(WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE) == WAIT_OBJECT_0);
	for (int i = 0; i < THREADS; i++) {
		CHECK(GetExitCodeThread(threads[i], &code) && code == 0);
		CloseHandle(threads[i]);
	}
	for (size_t i = 0; i < g_Kept.size(); i++) {
		CANUNLOADNOW canUnloadNow =
			(CANUNLOADNOW)GetProcAddress(g_Kept[i], "DllCanUnloadNow");
		CHECK(canUnloadNow() == S_OK);
		CHECK(FreeLibrary(g_Kept[i]));
	}
	return true;
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	WSADATA data;
	INT length = sizeof(g_Destination);

	if (argc != 3 || WSAStartup(MAKEWORD(2, 2), &data) != 0) {
		_tprintf(_T("steps DESTINATION VENDOR\n"));
		return 2;
	}
	g_Vendor = (UINT16)_tcstoul(argv[2], NULL, 0);
	InitializeCriticalSection(&g_Lock);
	if (WSAStringToAddress(argv[1], AF_INET, NULL, (SOCKADDR *)&g_Destination, &length) != 0 &&
	    WSAStringToAddress(argv[1], AF_INET6, NULL, (SOCKADDR *)&g_Destination, &length) != 0) {
		_tprintf(_T("%s is no address\n"), argv[1]);
		return 2;
	}
	if (!Round() || !Round() || !Threads())
		return 1;
	_tprintf(_T("%d rounds to %s\n"), 2 + THREADS * ROUNDS, argv[1]);
	DeleteCriticalSection(&g_Lock);
	WSACleanup();
	return 0;
}
