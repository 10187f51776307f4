/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every method of ND2, once: type, name, parameters, in the order of the table. comlist.h turns
 * these lists into classes and tables, tests/unit/face/ndspi into slot numbers.
 * PLX_ND2_<NAME> lists the methods that the interface adds to its base, PLX_ND2_<NAME>_ALL all.
 */
#ifndef PLX_NDSPI_NDMETHODS_H
#define PLX_NDSPI_NDMETHODS_H

/* clang-format off */

#define PLX_ND2_OVERLAPPED(M0, M, I) \
	M0(I, HRESULT, CancelOverlappedRequests) \
	M(I, HRESULT, GetOverlappedResult, (OVERLAPPED *pOverlapped, BOOL wait), \
		(pOverlapped, wait))

#define PLX_ND2_COMPLETIONQUEUE(M0, M, I) \
	M(I, HRESULT, GetNotifyAffinity, (USHORT *pGroup, KAFFINITY *pAffinity), \
		(pGroup, pAffinity)) \
	M(I, HRESULT, Resize, (ULONG queueDepth), (queueDepth)) \
	M(I, HRESULT, Notify, (ULONG type, OVERLAPPED *pOverlapped), (type, pOverlapped)) \
	M(I, ULONG, GetResults, (ND2_RESULT *results, ULONG nResults), (results, nResults))

#define PLX_ND2_SHAREDRECEIVEQUEUE(M0, M, I) \
	M(I, HRESULT, GetNotifyAffinity, (USHORT *pGroup, KAFFINITY *pAffinity), \
		(pGroup, pAffinity)) \
	M(I, HRESULT, Modify, (ULONG queueDepth, ULONG notifyThreshold), \
		(queueDepth, notifyThreshold)) \
	M(I, HRESULT, Notify, (OVERLAPPED *pOverlapped), (pOverlapped)) \
	M(I, HRESULT, Receive, (VOID *requestContext, const ND2_SGE *sge, ULONG nSge), \
		(requestContext, sge, nSge))

#define PLX_ND2_MEMORYWINDOW(M0, M, I) \
	M0(I, UINT32, GetRemoteToken)

#define PLX_ND2_MEMORYREGION(M0, M, I) \
	M(I, HRESULT, Register, \
		(const VOID *pBuffer, SIZE_T cbBuffer, ULONG flags, OVERLAPPED *pOverlapped), \
		(pBuffer, cbBuffer, flags, pOverlapped)) \
	M(I, HRESULT, Deregister, (OVERLAPPED *pOverlapped), (pOverlapped)) \
	M0(I, UINT32, GetLocalToken) \
	M0(I, UINT32, GetRemoteToken)

#define PLX_ND2_QUEUEPAIR(M0, M, I) \
	M0(I, HRESULT, Flush) \
	M(I, HRESULT, Send, \
		(VOID *requestContext, const ND2_SGE *sge, ULONG nSge, ULONG flags), \
		(requestContext, sge, nSge, flags)) \
	M(I, HRESULT, Receive, (VOID *requestContext, const ND2_SGE *sge, ULONG nSge), \
		(requestContext, sge, nSge)) \
	M(I, HRESULT, Bind, \
		(VOID *requestContext, IUnknown *pMemoryRegion, IUnknown *pMemoryWindow, \
			const VOID *pBuffer, SIZE_T cbBuffer, ULONG flags), \
		(requestContext, pMemoryRegion, pMemoryWindow, pBuffer, cbBuffer, flags)) \
	M(I, HRESULT, Invalidate, (VOID *requestContext, IUnknown *pMemoryWindow, ULONG flags), \
		(requestContext, pMemoryWindow, flags)) \
	M(I, HRESULT, Read, \
		(VOID *requestContext, const ND2_SGE *sge, ULONG nSge, UINT64 remoteAddress, \
			UINT32 remoteToken, ULONG flags), \
		(requestContext, sge, nSge, remoteAddress, remoteToken, flags)) \
	M(I, HRESULT, Write, \
		(VOID *requestContext, const ND2_SGE *sge, ULONG nSge, UINT64 remoteAddress, \
			UINT32 remoteToken, ULONG flags), \
		(requestContext, sge, nSge, remoteAddress, remoteToken, flags))

#define PLX_ND2_CONNECTOR(M0, M, I) \
	M(I, HRESULT, Bind, (const struct sockaddr *pAddress, ULONG cbAddress), \
		(pAddress, cbAddress)) \
	M(I, HRESULT, Connect, \
		(IUnknown *pQueuePair, const struct sockaddr *pDestAddress, ULONG cbDestAddress, \
			ULONG inboundReadLimit, ULONG outboundReadLimit, \
			const VOID *pPrivateData, ULONG cbPrivateData, OVERLAPPED *pOverlapped), \
		(pQueuePair, pDestAddress, cbDestAddress, inboundReadLimit, outboundReadLimit, \
			pPrivateData, cbPrivateData, pOverlapped)) \
	M(I, HRESULT, CompleteConnect, (OVERLAPPED *pOverlapped), (pOverlapped)) \
	M(I, HRESULT, Accept, \
		(IUnknown *pQueuePair, ULONG inboundReadLimit, ULONG outboundReadLimit, \
			const VOID *pPrivateData, ULONG cbPrivateData, OVERLAPPED *pOverlapped), \
		(pQueuePair, inboundReadLimit, outboundReadLimit, pPrivateData, cbPrivateData, \
			pOverlapped)) \
	M(I, HRESULT, Reject, (const VOID *pPrivateData, ULONG cbPrivateData), \
		(pPrivateData, cbPrivateData)) \
	M(I, HRESULT, GetReadLimits, (ULONG *pInboundReadLimit, ULONG *pOutboundReadLimit), \
		(pInboundReadLimit, pOutboundReadLimit)) \
	M(I, HRESULT, GetPrivateData, (VOID *pPrivateData, ULONG *pcbPrivateData), \
		(pPrivateData, pcbPrivateData)) \
	M(I, HRESULT, GetLocalAddress, (struct sockaddr *pAddress, ULONG *pcbAddress), \
		(pAddress, pcbAddress)) \
	M(I, HRESULT, GetPeerAddress, (struct sockaddr *pAddress, ULONG *pcbAddress), \
		(pAddress, pcbAddress)) \
	M(I, HRESULT, NotifyDisconnect, (OVERLAPPED *pOverlapped), (pOverlapped)) \
	M(I, HRESULT, Disconnect, (OVERLAPPED *pOverlapped), (pOverlapped))

#define PLX_ND2_LISTENER(M0, M, I) \
	M(I, HRESULT, Bind, (const struct sockaddr *pAddress, ULONG cbAddress), \
		(pAddress, cbAddress)) \
	M(I, HRESULT, Listen, (ULONG backlog), (backlog)) \
	M(I, HRESULT, GetLocalAddress, (struct sockaddr *pAddress, ULONG *pcbAddress), \
		(pAddress, pcbAddress)) \
	M(I, HRESULT, GetConnectionRequest, (IUnknown *pConnector, OVERLAPPED *pOverlapped), \
		(pConnector, pOverlapped))

#define PLX_ND2_ADAPTER(M0, M, I) \
	M(I, HRESULT, CreateOverlappedFile, (HANDLE *phOverlappedFile), (phOverlappedFile)) \
	M(I, HRESULT, Query, (ND2_ADAPTER_INFO *pInfo, ULONG *pcbInfo), (pInfo, pcbInfo)) \
	M(I, HRESULT, QueryAddressList, \
		(SOCKET_ADDRESS_LIST *pAddressList, ULONG *pcbAddressList), \
		(pAddressList, pcbAddressList)) \
	M(I, HRESULT, CreateCompletionQueue, \
		(REFIID iid, HANDLE hOverlappedFile, ULONG queueDepth, USHORT group, \
			KAFFINITY affinity, PLX_COM_OUT ppCompletionQueue), \
		(iid, hOverlappedFile, queueDepth, group, affinity, ppCompletionQueue)) \
	M(I, HRESULT, CreateMemoryRegion, \
		(REFIID iid, HANDLE hOverlappedFile, PLX_COM_OUT ppMemoryRegion), \
		(iid, hOverlappedFile, ppMemoryRegion)) \
	M(I, HRESULT, CreateMemoryWindow, (REFIID iid, PLX_COM_OUT ppMemoryWindow), \
		(iid, ppMemoryWindow)) \
	M(I, HRESULT, CreateSharedReceiveQueue, \
		(REFIID iid, HANDLE hOverlappedFile, ULONG queueDepth, ULONG maxRequestSge, \
			ULONG notifyThreshold, USHORT group, KAFFINITY affinity, \
			PLX_COM_OUT ppSharedReceiveQueue), \
		(iid, hOverlappedFile, queueDepth, maxRequestSge, notifyThreshold, group, \
			affinity, ppSharedReceiveQueue)) \
	M(I, HRESULT, CreateQueuePair, \
		(REFIID iid, IUnknown *pReceiveCompletionQueue, \
			IUnknown *pInitiatorCompletionQueue, VOID *context, \
			ULONG receiveQueueDepth, ULONG initiatorQueueDepth, \
			ULONG maxReceiveRequestSge, ULONG maxInitiatorRequestSge, \
			ULONG inlineDataSize, PLX_COM_OUT ppQueuePair), \
		(iid, pReceiveCompletionQueue, pInitiatorCompletionQueue, context, \
			receiveQueueDepth, initiatorQueueDepth, maxReceiveRequestSge, \
			maxInitiatorRequestSge, inlineDataSize, ppQueuePair)) \
	M(I, HRESULT, CreateQueuePairWithSrq, \
		(REFIID iid, IUnknown *pReceiveCompletionQueue, \
			IUnknown *pInitiatorCompletionQueue, IUnknown *pSharedReceiveQueue, \
			VOID *context, ULONG initiatorQueueDepth, ULONG maxInitiatorRequestSge, \
			ULONG inlineDataSize, PLX_COM_OUT ppQueuePair), \
		(iid, pReceiveCompletionQueue, pInitiatorCompletionQueue, pSharedReceiveQueue, \
			context, initiatorQueueDepth, maxInitiatorRequestSge, inlineDataSize, \
			ppQueuePair)) \
	M(I, HRESULT, CreateConnector, \
		(REFIID iid, HANDLE hOverlappedFile, PLX_COM_OUT ppConnector), \
		(iid, hOverlappedFile, ppConnector)) \
	M(I, HRESULT, CreateListener, \
		(REFIID iid, HANDLE hOverlappedFile, PLX_COM_OUT ppListener), \
		(iid, hOverlappedFile, ppListener))

#define PLX_ND2_PROVIDER(M0, M, I) \
	M(I, HRESULT, QueryAddressList, \
		(SOCKET_ADDRESS_LIST *pAddressList, ULONG *pcbAddressList), \
		(pAddressList, pcbAddressList)) \
	M(I, HRESULT, ResolveAddress, \
		(const struct sockaddr *pAddress, ULONG cbAddress, UINT64 *pAdapterId), \
		(pAddress, cbAddress, pAdapterId)) \
	M(I, HRESULT, OpenAdapter, (REFIID iid, UINT64 adapterId, PLX_COM_OUT ppAdapter), \
		(iid, adapterId, ppAdapter))

#define PLX_ND2_OVERLAPPED_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I) PLX_ND2_OVERLAPPED(M0, M, I)
#define PLX_ND2_COMPLETIONQUEUE_ALL(M0, M, I) \
	PLX_ND2_OVERLAPPED_ALL(M0, M, I) PLX_ND2_COMPLETIONQUEUE(M0, M, I)
#define PLX_ND2_SHAREDRECEIVEQUEUE_ALL(M0, M, I) \
	PLX_ND2_OVERLAPPED_ALL(M0, M, I) PLX_ND2_SHAREDRECEIVEQUEUE(M0, M, I)
#define PLX_ND2_MEMORYWINDOW_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I) PLX_ND2_MEMORYWINDOW(M0, M, I)
#define PLX_ND2_MEMORYREGION_ALL(M0, M, I) \
	PLX_ND2_OVERLAPPED_ALL(M0, M, I) PLX_ND2_MEMORYREGION(M0, M, I)
#define PLX_ND2_QUEUEPAIR_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I) PLX_ND2_QUEUEPAIR(M0, M, I)
#define PLX_ND2_CONNECTOR_ALL(M0, M, I) \
	PLX_ND2_OVERLAPPED_ALL(M0, M, I) PLX_ND2_CONNECTOR(M0, M, I)
#define PLX_ND2_LISTENER_ALL(M0, M, I) \
	PLX_ND2_OVERLAPPED_ALL(M0, M, I) PLX_ND2_LISTENER(M0, M, I)
#define PLX_ND2_ADAPTER_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I) PLX_ND2_ADAPTER(M0, M, I)
#define PLX_ND2_PROVIDER_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I) PLX_ND2_PROVIDER(M0, M, I)

/* clang-format on */

#endif
