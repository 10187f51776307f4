// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of every method that ND2 adds, in their order; written apart from ndmethods.h, to
// be held against it by the compiler. It runs nothing.
#include <type_traits>

#include <ndsupport.h>

#define METHOD(name, method, result, parameters)                                                \
	static_assert(std::is_same<decltype(&name::method), result(name::*) parameters>::value, \
		      #name "::" #method)
#define FUNCTION(name, result, parameters) \
	static_assert(std::is_same<decltype(name), result parameters>::value, #name)

using cvoid = const void *;
using sges = const ND2_SGE *;
using address = const sockaddr *;

METHOD(IUnknown, QueryInterface, HRESULT, (const IID &, void **));
METHOD(IUnknown, AddRef, ULONG, ());
METHOD(IUnknown, Release, ULONG, ());

METHOD(IND2Overlapped, CancelOverlappedRequests, HRESULT, ());
METHOD(IND2Overlapped, GetOverlappedResult, HRESULT, (OVERLAPPED *, BOOL));

METHOD(IND2CompletionQueue, GetNotifyAffinity, HRESULT, (USHORT *, KAFFINITY *));
METHOD(IND2CompletionQueue, Resize, HRESULT, (ULONG));
METHOD(IND2CompletionQueue, Notify, HRESULT, (ULONG, OVERLAPPED *));
METHOD(IND2CompletionQueue, GetResults, ULONG, (ND2_RESULT *, ULONG));

METHOD(IND2SharedReceiveQueue, GetNotifyAffinity, HRESULT, (USHORT *, KAFFINITY *));
METHOD(IND2SharedReceiveQueue, Modify, HRESULT, (ULONG, ULONG));
METHOD(IND2SharedReceiveQueue, Notify, HRESULT, (OVERLAPPED *));
METHOD(IND2SharedReceiveQueue, Receive, HRESULT, (void *, sges, ULONG));

METHOD(IND2MemoryWindow, GetRemoteToken, UINT32, ());

METHOD(IND2MemoryRegion, Register, HRESULT, (cvoid, SIZE_T, ULONG, OVERLAPPED *));
METHOD(IND2MemoryRegion, Deregister, HRESULT, (OVERLAPPED *));
METHOD(IND2MemoryRegion, GetLocalToken, UINT32, ());
METHOD(IND2MemoryRegion, GetRemoteToken, UINT32, ());

METHOD(IND2QueuePair, Flush, HRESULT, ());
METHOD(IND2QueuePair, Send, HRESULT, (void *, sges, ULONG, ULONG));
METHOD(IND2QueuePair, Receive, HRESULT, (void *, sges, ULONG));
METHOD(IND2QueuePair, Bind, HRESULT, (void *, IUnknown *, IUnknown *, cvoid, SIZE_T, ULONG));
METHOD(IND2QueuePair, Invalidate, HRESULT, (void *, IUnknown *, ULONG));
METHOD(IND2QueuePair, Read, HRESULT, (void *, sges, ULONG, UINT64, UINT32, ULONG));
METHOD(IND2QueuePair, Write, HRESULT, (void *, sges, ULONG, UINT64, UINT32, ULONG));

METHOD(IND2Connector, Bind, HRESULT, (address, ULONG));
METHOD(IND2Connector, Connect, HRESULT,
       (IUnknown *, address, ULONG, ULONG, ULONG, cvoid, ULONG, OVERLAPPED *));
METHOD(IND2Connector, CompleteConnect, HRESULT, (OVERLAPPED *));
METHOD(IND2Connector, Accept, HRESULT, (IUnknown *, ULONG, ULONG, cvoid, ULONG, OVERLAPPED *));
METHOD(IND2Connector, Reject, HRESULT, (cvoid, ULONG));
METHOD(IND2Connector, GetReadLimits, HRESULT, (ULONG *, ULONG *));
METHOD(IND2Connector, GetPrivateData, HRESULT, (void *, ULONG *));
METHOD(IND2Connector, GetLocalAddress, HRESULT, (sockaddr *, ULONG *));
METHOD(IND2Connector, GetPeerAddress, HRESULT, (sockaddr *, ULONG *));
METHOD(IND2Connector, NotifyDisconnect, HRESULT, (OVERLAPPED *));
METHOD(IND2Connector, Disconnect, HRESULT, (OVERLAPPED *));

METHOD(IND2Listener, Bind, HRESULT, (address, ULONG));
METHOD(IND2Listener, Listen, HRESULT, (ULONG));
METHOD(IND2Listener, GetLocalAddress, HRESULT, (sockaddr *, ULONG *));
METHOD(IND2Listener, GetConnectionRequest, HRESULT, (IUnknown *, OVERLAPPED *));

METHOD(IND2Adapter, CreateOverlappedFile, HRESULT, (HANDLE *));
METHOD(IND2Adapter, Query, HRESULT, (ND2_ADAPTER_INFO *, ULONG *));
METHOD(IND2Adapter, QueryAddressList, HRESULT, (SOCKET_ADDRESS_LIST *, ULONG *));
METHOD(IND2Adapter, CreateCompletionQueue, HRESULT,
       (const IID &, HANDLE, ULONG, USHORT, KAFFINITY, void **));
METHOD(IND2Adapter, CreateMemoryRegion, HRESULT, (const IID &, HANDLE, void **));
METHOD(IND2Adapter, CreateMemoryWindow, HRESULT, (const IID &, void **));
METHOD(IND2Adapter, CreateSharedReceiveQueue, HRESULT,
       (const IID &, HANDLE, ULONG, ULONG, ULONG, USHORT, KAFFINITY, void **));
METHOD(IND2Adapter, CreateQueuePair, HRESULT,
       (const IID &, IUnknown *, IUnknown *, void *, ULONG, ULONG, ULONG, ULONG, ULONG, void **));
METHOD(IND2Adapter, CreateQueuePairWithSrq, HRESULT,
       (const IID &, IUnknown *, IUnknown *, IUnknown *, void *, ULONG, ULONG, ULONG, void **));
METHOD(IND2Adapter, CreateConnector, HRESULT, (const IID &, HANDLE, void **));
METHOD(IND2Adapter, CreateListener, HRESULT, (const IID &, HANDLE, void **));

METHOD(IND2Provider, QueryAddressList, HRESULT, (SOCKET_ADDRESS_LIST *, ULONG *));
METHOD(IND2Provider, ResolveAddress, HRESULT, (address, ULONG, UINT64 *));
METHOD(IND2Provider, OpenAdapter, HRESULT, (const IID &, UINT64, void **));

FUNCTION(NdStartup, HRESULT, ());
FUNCTION(NdCleanup, HRESULT, ());
FUNCTION(NdFlushProviders, void, ());
FUNCTION(NdQueryAddressList, HRESULT, (DWORD, SOCKET_ADDRESS_LIST *, SIZE_T *));
FUNCTION(NdResolveAddress, HRESULT, (address, SIZE_T, sockaddr *, SIZE_T *));
FUNCTION(NdCheckAddress, HRESULT, (address, SIZE_T));
FUNCTION(NdOpenAdapter, HRESULT, (const IID &, address, SIZE_T, void **));

FUNCTION(DllGetClassObject, HRESULT, (const CLSID &, const IID &, void **));
FUNCTION(DllCanUnloadNow, HRESULT, ());

int
main()
{
	return 0;
}
