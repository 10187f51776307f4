// SPDX-License-Identifier: BSD-3-Clause
//
// Every name of Windows that clients of ND2 are known to use (docs/windows.md), each of them used
// once, and what it gives looked at. The header names are those that such clients include.

#include <winsock2.h>
#include <ws2spi.h>
#include <iphlpapi.h>
#include <unknwn.h>
#include <initguid.h>
#include <tchar.h>
#include <process.h>
#include <sal.h>
#include <ntstatus.h>
#include <ndsupport.h>
#include <ndstatus.h>

#include <stdio.h>

static int failures;

#define CHECK(what)                                               \
	do {                                                      \
		if (!(what)) {                                    \
			printf("line %d: %s\n", __LINE__, #what); \
			failures++;                               \
		}                                                 \
	} while (0)

struct __declspec(novtable) Request {
	LONG first;
	OVERLAPPED ov;
};

static DWORD WINAPI
Answer(_In_ LPVOID lpv)
{
	OVERLAPPED *ov = &static_cast<Request *>(lpv)->ov;
	HANDLE port = ov->hEvent;

	return PostQueuedCompletionStatus(port, 7, 8, ov) ? 9 : 0;
}

__callback static DWORD CALLBACK
Nothing(__in LPVOID lpv, __out_opt DWORD *unused)
{
	UNREFERENCED_PARAMETER(lpv);
	UNREFERENCED_PARAMETER(unused);
	return 0;
}

static void
Waiting()
{
	HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL), wide = CreateEventW(NULL, 1, 1, NULL);
	Request request;
	OVERLAPPED *got = NULL;
	ULONG_PTR key = 0;
	DWORD bytes = 0;

	RtlZeroMemory(&request, sizeof(request));
	CHECK(request.ov.Internal == 0);
	request.ov.hEvent = port;
	HANDLE thread = CreateThread(NULL, 0, Answer, &request, 0, NULL);
	CHECK(thread != NULL);
	CHECK(GetQueuedCompletionStatus(port, &bytes, &key, &got, INFINITE));
	CHECK(bytes == 7 && key == 8);
	CHECK(CONTAINING_RECORD(got, Request, ov) == &request);
	CHECK(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
	CHECK(got == NULL && GetLastError() == WAIT_TIMEOUT);
	CHECK(WaitForSingleObject(event, 0) == WAIT_TIMEOUT);
	CHECK(WaitForSingleObject(wide, 0) == WAIT_OBJECT_0);
	CHECK(CloseHandle(thread) && CloseHandle(event) && CloseHandle(wide) && CloseHandle(port));
	CHECK(Nothing(NULL, NULL) == 0);
}

static void
Machine()
{
	LARGE_INTEGER before, after, frequency;
	FILETIME idle, kernel, user;
	SYSTEM_INFO system;

	CHECK(QueryPerformanceFrequency(&frequency) && frequency.QuadPart > 0);
	CHECK(QueryPerformanceCounter(&before));
	Sleep(2);
	CHECK(QueryPerformanceCounter(&after));
	CHECK(after.QuadPart - before.QuadPart >= frequency.QuadPart / 1000);
	CHECK(GetSystemTimes(&idle, &kernel, &user));
	CHECK(idle.dwHighDateTime != 0 || idle.dwLowDateTime != 0);
	GetSystemInfo(&system);
	CHECK(system.dwNumberOfProcessors > 0 && system.dwPageSize > 0);

	BYTE *block = static_cast<BYTE *>(HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 64));
	CHECK(block != NULL && block[63] == 0);
	CHECK(HeapFree(GetProcessHeap(), 0, block));
}

enum class Rights : unsigned { None = 0, Read = 1, Write = 2, Both = 3 };
DEFINE_ENUM_FLAG_OPERATORS(Rights)

static void
Words()
{
	Rights rights = Rights::Read | Rights::Write;
	char text[8] = "";
	alignas(MEMORY_ALLOCATION_ALIGNMENT) SLIST_HEADER list;
	SLIST_ENTRY entry;

	CHECK(rights == Rights::Both && (rights & ~Rights::Read) == Rights::Write);
	rights ^= Rights::Both;
	CHECK(rights == Rights::None);
	CHECK(E_NOT_VALID_STATE == (HRESULT)0x8007139F);
	CHECK(E_NOT_SUFFICIENT_BUFFER == (HRESULT)0x8007007A);
	CHECK(_HRESULT_TYPEDEF_(0x80004005L) == E_FAIL);
	__annotation(L"nothing", L"remains");
	if (text[0])
		__fastfail(FAST_FAIL_INVALID_ARG);
	CHECK(strcpy_s(text, "abc") == 0 && strncat_s(text, "defghij", _TRUNCATE) == STRUNCATE);
	CHECK(_strupr_s(text) == 0 && lstrcmpiA(text, "abcdefg") == 0);
	InitializeSListHead(&list);
	CHECK(InterlockedPushEntrySList(&list, &entry) == NULL && QueryDepthSList(&list) == 1);
	volatile CHAR bits = 1;
	CHECK(InterlockedOr8(&bits, 2) == 1 && ReadNoFence8(&bits) == 3);
	volatile LONG count = 1;
	CHECK(InterlockedIncrementNoFence(&count) == 2 && ReadAcquire(&count) == 2);
	CHECK(InterlockedCompareExchangeRelease(&count, 5, 2) == 2 && count == 5);
}

static void
Interlocked()
{
	volatile LONG count = 4;
	volatile long longer = 4;
	volatile unsigned plain = 4;
	volatile LONGLONG sum = 1;

	CHECK(InterlockedIncrement(&count) == 5 && InterlockedDecrement(&count) == 4);
	CHECK(InterlockedIncrement(&longer) == 5 && InterlockedDecrement(&longer) == 4);
	CHECK(InterlockedIncrement(&plain) == 5 && InterlockedDecrement(&plain) == 4);
	CHECK(InterlockedCompareExchange(&count, 6, 4) == 4 && count == 6);
	CHECK(InterlockedCompareExchange(&longer, 6, 4) == 4 && longer == 6);
	CHECK(InterlockedCompareExchange(&plain, 6, 4) == 4 && plain == 6);
	CHECK(InterlockedExchangeAdd64(&sum, 41) == 1 && sum == 42);
	CHECK(min((UINT64)3, 4u) == 3 && max(3, 4L) == 4);
}

static void
Sockets()
{
	WSADATA data;
	struct sockaddr_in address;
	INT length = sizeof(address);
	TCHAR text[] = _T("192.0.2.1:54321");
	WCHAR wide[] = L"192.0.2.2";
	SOCKET_ADDRESS_LIST list;

	CHECK(WSAStartup(MAKEWORD(2, 2), &data) == 0);
	CHECK(WSAStringToAddress(text, AF_INET, NULL, reinterpret_cast<struct sockaddr *>(&address),
				 &length) == 0);
	CHECK(address.sin_port == htons(54321) && length == sizeof(address));
	CHECK(WSAStringToAddressW(wide, AF_INET, NULL,
				  reinterpret_cast<struct sockaddr *>(&address), &length) == 0);
	CHECK(address.sin_port == 0 && IPPROTO_TCP == 6);
	list.iAddressCount = 1;
	list.Address[0].lpSockaddr = reinterpret_cast<struct sockaddr *>(&address);
	list.Address[0].iSockaddrLength = length;
	CHECK(list.Address[0].lpSockaddr->sa_family == AF_INET);
	CHECK(WSACleanup() == 0);
}

static void
Text()
{
	WCHAR copy[8] = L"";

	CHECK(_ttol(_T("1234567")) == 1234567);
	CHECK(_tcsicmp(_T("Server"), _T("sERVER")) == 0);
	CHECK(_wcsicmp(L"Abc", L"aBC") == 0 && _wcsicmp(L"abc", L"abd") < 0);
	CHECK(wcscmp(L"a", L"a") == 0);
	CHECK(wcscpy_s(copy, _countof(copy), L"sizes") == 0 && wcscmp(copy, L"sizes") == 0);
	CHECK(wcscpy_s(copy, _countof(copy), L"longer than that") != 0 && copy[0] == 0);
	wprintf(L"%s %I64d ", L"wide", (LONGLONG)1 << 40);
	printf("%S %Id\n", L"narrow", (SIZE_T)5);
	CHECK(_tfreopen(_T("/dev/null"), _T("w"), stderr) != NULL);
}

static void
Statuses()
{
	HRESULT pending = ND_PENDING, warning = ND_BUFFER_OVERFLOW;

	CHECK(SUCCEEDED(pending) && FAILED(warning) && SUCCEEDED(ND_TIMEOUT));
	switch (warning) {
	case ND_BUFFER_OVERFLOW:
		failures += 0;
		__fallthrough;
	default:
		break;
	}
	CHECK(STATUS_CONNECTION_DISCONNECTED == (NTSTATUS)0xC000020C);
}

/* What the enumeration of providers takes: all of it can be called. */
static void
Providers()
{
	DWORD size = 0, index = 0;
	INT error = 0;
	struct sockaddr_in nowhere;

	CHECK(WSCEnumProtocols(NULL, NULL, &size, &error) <= 0);
	CHECK(WSCGetProviderPath(NULL, NULL, NULL, &error) == SOCKET_ERROR);
	CHECK(WSCInstallProvider(NULL, NULL, NULL, 0, &error) == SOCKET_ERROR);
	CHECK(WSCDeinstallProvider(NULL, &error) == SOCKET_ERROR);
	RtlZeroMemory(&nowhere, sizeof(nowhere));
	CHECK(GetBestInterfaceEx(reinterpret_cast<struct sockaddr *>(&nowhere), &index) !=
	      NO_ERROR);
	CHECK(LoadLibrary(_T("/nowhere/at/all.so")) == NULL);
	CHECK(GetProcAddress(NULL, "DllGetClassObject") == NULL);
	CHECK(!FreeLibrary(NULL));
	CHECK(!SetFileCompletionNotificationModes(NULL, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
	CHECK(NdStartup() == ND_SUCCESS && NdCleanup() == ND_SUCCESS);
	CHECK(NdCleanup() == ND_DEVICE_NOT_READY);
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	CHECK(argc == 3 && _tcsicmp(argv[1], _T("-N")) == 0);
	Waiting();
	Machine();
	Words();
	Interlocked();
	Sockets();
	Text();
	Statuses();
	Providers();
	fflush(stdout);
	_fcloseall();
	return failures == 0 ? 7 : 1;
}
