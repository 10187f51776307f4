/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client for ND2 in C, as portable libraries have it: tables of functions, bytes for text, the
 * provider loaded by hand after the steps of the SPI. It is compiled and linked.
 */
#define _MBCS
#define COBJMACROS
#include <initguid.h>
#include <winsock2.h>
#include <ws2spi.h>
#include <iphlpapi.h>
#include <ndspi.h>
#include <ndsupport.h>
#include <stdio.h>
#include <tchar.h>

static const DWORD x_Service =
	XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER | XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;

/* Is this an entry of a provider of ND2? */
static BOOL
IsNd2(const WSAPROTOCOL_INFOW *entry)
{
	return (entry->dwServiceFlags1 & x_Service) == x_Service &&
	       (entry->dwProviderFlags & (PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER)) ==
		       (PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER) &&
	       entry->iVersion == ND_VERSION_2 && entry->iSocketType == -1 &&
	       (entry->iAddressFamily == AF_INET || entry->iAddressFamily == AF_INET6);
}

static HRESULT
Load(GUID *id, HMODULE *library, IND2Provider **provider)
{
	WCHAR path[MAX_PATH], whole[MAX_PATH];
	INT chars = MAX_PATH, error = 0;
	LPFNGETCLASSOBJECT get;

	if (WSCGetProviderPath(id, path, &chars, &error) != 0)
		return HRESULT_FROM_WIN32((DWORD)error);
	if (ExpandEnvironmentStringsW(path, whole, _countof(whole)) == 0)
		return HRESULT_FROM_WIN32(GetLastError());
	*library = LoadLibraryExW(whole, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
	if (*library == NULL)
		return HRESULT_FROM_WIN32(GetLastError());
	get = (LPFNGETCLASSOBJECT)GetProcAddress(*library, "DllGetClassObject");
	if (get == NULL)
		return E_FAIL;
	return get(id, &IID_IND2Provider, (void **)provider);
}

static HRESULT
Find(HMODULE *library, IND2Provider **provider)
{
	WSAPROTOCOL_INFOW *entries;
	DWORD bytes = 0;
	INT error = 0;
	int n, i;
	HRESULT hr = ND_DEVICE_NOT_READY;

	WSCEnumProtocols(NULL, NULL, &bytes, &error);
	entries = HeapAlloc(GetProcessHeap(), 0, bytes);
	if (entries == NULL)
		return ND_NO_MEMORY;
	n = WSCEnumProtocols(NULL, entries, &bytes, &error);
	for (i = 0; i < n && FAILED(hr); i++)
		if (IsNd2(&entries[i]))
			hr = Load(&entries[i].ProviderId, library, provider);
	HeapFree(GetProcessHeap(), 0, entries);
	return hr;
}

static HRESULT
Use(IND2Adapter *adapter, HANDLE file)
{
	IND2CompletionQueue *cq = NULL;
	IND2QueuePair *qp = NULL;
	ND2_RESULT result;
	HRESULT hr;

	hr = adapter->lpVtbl->CreateCompletionQueue(adapter, &IID_IND2CompletionQueue, file, 16, 0,
						    0, (void **)&cq);
	if (FAILED(hr))
		return hr;
	hr = IND2Adapter_CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)cq,
					 (IUnknown *)cq, NULL, 8, 8, 1, 1, 0, (void **)&qp);
	if (SUCCEEDED(hr)) {
		IND2QueuePair_Flush(qp);
		while (IND2CompletionQueue_GetResults(cq, &result, 1))
			printf("%ld %p\n", result.Status, result.RequestContext);
		IND2QueuePair_Release(qp);
	}
	cq->lpVtbl->Release(cq);
	return hr;
}

int
_tmain(int argc, TCHAR *argv[])
{
	struct sockaddr_in remote = {0};
	INT bytes = sizeof(remote);
	DWORD index;
	UINT64 id;
	HMODULE library = NULL;
	IND2Provider *provider = NULL;
	IND2Adapter *adapter = NULL;
	HANDLE file = INVALID_HANDLE_VALUE;
	WSADATA data;
	HRESULT hr;

	if (argc < 2 || WSAStartup(MAKEWORD(2, 2), &data) != 0)
		return 1;
	if (WSAStringToAddress(argv[1], AF_INET, NULL, (struct sockaddr *)&remote, &bytes) != 0)
		return 1;
	if (GetBestInterfaceEx((struct sockaddr *)&remote, &index) != NO_ERROR)
		return 1;
	hr = Find(&library, &provider);
	if (SUCCEEDED(hr))
		hr = provider->lpVtbl->ResolveAddress(provider, (struct sockaddr *)&remote,
						      sizeof(remote), &id);
	if (SUCCEEDED(hr))
		hr = provider->lpVtbl->OpenAdapter(provider, &IID_IND2Adapter, id,
						   (void **)&adapter);
	if (SUCCEEDED(hr))
		hr = adapter->lpVtbl->CreateOverlappedFile(adapter, &file);
	if (SUCCEEDED(hr))
		hr = Use(adapter, file);
	if (hr != S_OK)
		_tprintf(_T("%s: %08lx, interface %lu\n"), argv[0], hr, index);
	if (adapter != NULL)
		adapter->lpVtbl->Release(adapter);
	if (provider != NULL)
		provider->lpVtbl->Release(provider);
	CloseHandle(file);
	FreeLibrary(library);
	WSACleanup();
	return FAILED(hr);
}
