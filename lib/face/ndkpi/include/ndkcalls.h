/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function of NDKPI, once: the consumer's callbacks, the functions of each dispatch table in
 * the order of its slots, and those that have a type and no slot. ndkpi.h turns these lists into
 * types and tables, tests/unit/face/ndkpi into slot numbers.
 *
 * F(type, result, (parameters)) declares the type of a function, S(type, member) a slot.
 */
#ifndef PLX_NDKPI_NDKCALLS_H
#define PLX_NDKPI_NDKCALLS_H

/* clang-format off */

/* ---- callbacks of the consumer ---- */

#define PLX_NDK_CALLBACKS(F) \
	F(NDK_FN_CLOSE_COMPLETION, VOID, (_In_opt_ PVOID Context)) \
	F(NDK_FN_REQUEST_COMPLETION, VOID, (_In_opt_ PVOID Context, _In_ NTSTATUS Status)) \
	F(NDK_FN_CREATE_COMPLETION, VOID, \
		(_In_opt_ PVOID Context, _In_ NTSTATUS Status, \
			_In_ NDK_OBJECT_HEADER *pNdkObject)) \
	F(NDK_FN_CQ_NOTIFICATION_CALLBACK, VOID, \
		(_In_opt_ PVOID CqNotificationContext, _In_ NTSTATUS CqStatus)) \
	F(NDK_FN_SRQ_NOTIFICATION_CALLBACK, VOID, \
		(_In_opt_ PVOID SrqNotificationContext, _In_ NTSTATUS SrqStatus)) \
	F(NDK_FN_CONNECT_EVENT_CALLBACK, VOID, \
		(_In_opt_ PVOID ConnectEventContext, _In_ NDK_CONNECTOR *pNdkConnector)) \
	F(NDK_FN_DISCONNECT_EVENT_CALLBACK, VOID, (_In_opt_ PVOID DisconnectEventContext)) \
	F(NDK_FN_DISCONNECT_EVENT_CALLBACK_EX, VOID, \
		(_In_opt_ PVOID DisconnectEventContext, _In_ ULONG ProviderDisconnectReason))

/* How a request is completed, and an object created, if it is pending. */
#define PLX_NDK_THEN \
	_In_ NDK_FN_REQUEST_COMPLETION RequestCompletion, _In_opt_ PVOID RequestContext
#define PLX_NDK_THEN_CREATE(object) \
	_In_ NDK_FN_CREATE_COMPLETION CreateCompletion, _In_opt_ PVOID RequestContext, \
	_Outptr_ object
#define PLX_NDK_SGL \
	_In_reads_(nSge) CONST NDK_SGE *pSgl, _In_ ULONG nSge
#define PLX_NDK_PRIVATE_DATA \
	_In_reads_bytes_opt_(PrivateDataLength) CONST PVOID pPrivateData, \
	_In_ ULONG PrivateDataLength
#define PLX_NDK_READ_LIMITS \
	_In_ ULONG InboundReadLimit, _In_ ULONG OutboundReadLimit
#define PLX_NDK_DISCONNECT_EVENT(type) \
	_In_opt_ type DisconnectEvent, _In_opt_ PVOID DisconnectEventContext
#define PLX_NDK_ADDRESS_OUT \
	_Out_writes_bytes_to_opt_(*pAddressLength, *pAddressLength) PSOCKADDR pAddress, \
	_Inout_ ULONG *pAddressLength

/* ---- every object ---- */

#define PLX_NDK_OF_ALL(F) \
	F(NDK_FN_CLOSE_OBJECT, NTSTATUS, \
		(_In_ NDK_OBJECT_HEADER *pNdkObject, \
			_In_ NDK_FN_CLOSE_COMPLETION CloseCompletion, \
			_In_opt_ PVOID RequestContext)) \
	F(NDK_FN_QUERY_EXTENSION_INTERFACE, NTSTATUS, \
		(_In_ NDK_OBJECT_HEADER *pNdkObject, _In_ GUID *ExtensionInterfaceID, \
			_In_ NDK_VERSION ExtensionInterfaceVersion, \
			_Out_ NDK_EXTENSION_INTERFACE *pExtensionInterface))

/* ---- adapter ---- */

#define PLX_NDK_OF_ADAPTER(F) \
	F(NDK_FN_QUERY_ADAPTER_INFO, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, \
			_Out_writes_bytes_to_opt_(*pBufferSize, *pBufferSize) \
				NDK_ADAPTER_INFO *pInfo, \
			_Inout_ ULONG *pBufferSize)) \
	F(NDK_FN_CREATE_CQ, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, _In_ ULONG CqDepth, \
			_In_ NDK_FN_CQ_NOTIFICATION_CALLBACK CqNotification, \
			_In_opt_ PVOID CqNotificationContext, _In_opt_ GROUP_AFFINITY *Affinity, \
			PLX_NDK_THEN_CREATE(NDK_CQ **ppNdkCq))) \
	F(NDK_FN_CREATE_PD, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, PLX_NDK_THEN_CREATE(NDK_PD **ppNdkPd))) \
	F(NDK_FN_CREATE_SHARED_ENDPOINT, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, \
			_In_reads_bytes_(AddressLength) CONST PSOCKADDR pAddress, \
			_In_ ULONG AddressLength, \
			PLX_NDK_THEN_CREATE(NDK_SHARED_ENDPOINT **ppNdkSharedEndpoint))) \
	F(NDK_FN_CREATE_CONNECTOR, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, \
			PLX_NDK_THEN_CREATE(NDK_CONNECTOR **ppNdkConnector))) \
	F(NDK_FN_CREATE_LISTENER, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, _In_ NDK_FN_CONNECT_EVENT_CALLBACK ConnectEvent, \
			_In_opt_ PVOID ConnectEventContext, \
			PLX_NDK_THEN_CREATE(NDK_LISTENER **ppNdkListener))) \
	F(NDK_FN_BUILD_LAM, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, _In_ MDL *Mdl, _In_ SIZE_T Length, \
			_In_opt_ NDK_FN_REQUEST_COMPLETION RequestCompletion, \
			_In_opt_ PVOID RequestContext, \
			_Out_writes_bytes_to_opt_(*pLAMSize, *pLAMSize) \
				NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM, \
			_Inout_ ULONG *pLAMSize, _Out_ ULONG *pFBO)) \
	F(NDK_FN_RELEASE_LAM, VOID, \
		(_In_ NDK_ADAPTER *pNdkAdapter, _In_ NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM))

/* An adapter is not closed by its table. */
#define PLX_NDK_ADAPTER(S) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_QUERY_ADAPTER_INFO, NdkQueryAdapterInfo) \
	S(NDK_FN_CREATE_CQ, NdkCreateCq) \
	S(NDK_FN_CREATE_PD, NdkCreatePd) \
	S(NDK_FN_CREATE_SHARED_ENDPOINT, NdkCreateSharedEndpoint) \
	S(NDK_FN_CREATE_CONNECTOR, NdkCreateConnector) \
	S(NDK_FN_CREATE_LISTENER, NdkCreateListener) \
	S(NDK_FN_BUILD_LAM, NdkBuildLAM) \
	S(NDK_FN_RELEASE_LAM, NdkReleaseLAM)

/* ---- completion queue ---- */

#define PLX_NDK_OF_CQ(F) \
	F(NDK_FN_RESIZE_CQ, NTSTATUS, \
		(_In_ NDK_CQ *pNdkCq, _In_ ULONG CqDepth, PLX_NDK_THEN)) \
	F(NDK_FN_ARM_CQ, VOID, (_In_ NDK_CQ *pNdkCq, _In_ ULONG Type)) \
	F(NDK_FN_GET_CQ_RESULTS, ULONG, \
		(_In_ NDK_CQ *pNdkCq, _Out_writes_to_(nResults, return) NDK_RESULT Results[], \
			_In_ ULONG nResults)) \
	F(NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION, NTSTATUS, \
		(_In_ NDK_CQ *pNdkCq, _In_ ULONG ModerationInterval, _In_ ULONG ModerationCount)) \
	F(NDK_FN_GET_CQ_RESULTS_EX, ULONG, \
		(_In_ NDK_CQ *pNdkCq, \
			_Out_writes_to_(nResults, return) NDK_RESULT_EX Results[], \
			_In_ ULONG nResults))

#define PLX_NDK_CQ(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseCq) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_RESIZE_CQ, NdkResizeCq) \
	S(NDK_FN_ARM_CQ, NdkArmCq) \
	S(NDK_FN_GET_CQ_RESULTS, NdkGetCqResults) \
	S(NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION, NdkControlCqInterruptModeration) \
	S(NDK_FN_GET_CQ_RESULTS_EX, NdkGetCqResultsEx)

/* ---- protection domain ---- */

#define PLX_NDK_OF_PD(F) \
	F(NDK_FN_CREATE_MR, NTSTATUS, \
		(_In_ NDK_PD *pNdkPd, _In_ BOOLEAN FastRegister, \
			PLX_NDK_THEN_CREATE(NDK_MR **ppNdkMr))) \
	F(NDK_FN_CREATE_MW, NTSTATUS, \
		(_In_ NDK_PD *pNdkPd, PLX_NDK_THEN_CREATE(NDK_MW **ppNdkMw))) \
	F(NDK_FN_CREATE_SRQ, NTSTATUS, \
		(_In_ NDK_PD *pNdkPd, _In_ ULONG SrqDepth, _In_ ULONG MaxReceiveRequestSge, \
			_In_ ULONG NotifyThreshold, \
			_In_opt_ NDK_FN_SRQ_NOTIFICATION_CALLBACK SrqNotification, \
			_In_opt_ PVOID SrqNotificationContext, _In_opt_ GROUP_AFFINITY *Affinity, \
			PLX_NDK_THEN_CREATE(NDK_SRQ **ppNdkSrq))) \
	F(NDK_FN_CREATE_QP, NTSTATUS, \
		(_In_ NDK_PD *pNdkPd, _In_ NDK_CQ *pReceiveCq, _In_ NDK_CQ *pInitiatorCq, \
			_In_opt_ PVOID QPContext, _In_ ULONG ReceiveQueueDepth, \
			_In_ ULONG InitiatorQueueDepth, _In_ ULONG MaxReceiveRequestSge, \
			_In_ ULONG MaxInitiatorRequestSge, _In_ ULONG InlineDataSize, \
			PLX_NDK_THEN_CREATE(NDK_QP **ppNdkQp))) \
	F(NDK_FN_CREATE_QP_WITH_SRQ, NTSTATUS, \
		(_In_ NDK_PD *pNdkPd, _In_ NDK_CQ *pReceiveCq, _In_ NDK_CQ *pInitiatorCq, \
			_In_ NDK_SRQ *pSrq, _In_opt_ PVOID QPContext, \
			_In_ ULONG InitiatorQueueDepth, _In_ ULONG MaxInitiatorRequestSge, \
			_In_ ULONG InlineDataSize, PLX_NDK_THEN_CREATE(NDK_QP **ppNdkQp))) \
	F(NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN, VOID, \
		(_In_ NDK_PD *pNdkPd, _Out_ UINT32 *pToken))

#define PLX_NDK_PD(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkClosePd) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_CREATE_MR, NdkCreateMr) \
	S(NDK_FN_CREATE_MW, NdkCreateMw) \
	S(NDK_FN_CREATE_SRQ, NdkCreateSrq) \
	S(NDK_FN_CREATE_QP, NdkCreateQp) \
	S(NDK_FN_CREATE_QP_WITH_SRQ, NdkCreateQpWithSrq) \
	S(NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN, NdkGetPrivilegedMemoryRegionToken)

/* ---- memory region, memory window ---- */

#define PLX_NDK_OF_MR(F) \
	F(NDK_FN_REGISTER_MR, NTSTATUS, \
		(_In_ NDK_MR *pNdkMr, _In_ MDL *Mdl, _In_ SIZE_T Length, _In_ ULONG Flags, \
			PLX_NDK_THEN)) \
	F(NDK_FN_DEREGISTER_MR, NTSTATUS, (_In_ NDK_MR *pNdkMr, PLX_NDK_THEN)) \
	F(NDK_FN_INITIALIZE_FAST_REGISTER_MR, NTSTATUS, \
		(_In_ NDK_MR *pNdkMr, _In_ ULONG AdapterPageCount, _In_ BOOLEAN RemoteAccess, \
			PLX_NDK_THEN)) \
	F(NDK_FN_GET_REMOTE_TOKEN_FROM_MR, UINT32, (_In_ NDK_MR *pNdkMr)) \
	F(NDK_FN_GET_LOCAL_TOKEN_FROM_MR, UINT32, (_In_ NDK_MR *pNdkMr)) \
	F(NDK_FN_GET_REMOTE_TOKEN_FROM_MW, UINT32, (_In_ NDK_MW *pNdkMw))

#define PLX_NDK_MR(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseMr) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_REGISTER_MR, NdkRegisterMr) \
	S(NDK_FN_DEREGISTER_MR, NdkDeregisterMr) \
	S(NDK_FN_INITIALIZE_FAST_REGISTER_MR, NdkInitializeFastRegisterMr) \
	S(NDK_FN_GET_REMOTE_TOKEN_FROM_MR, NdkGetRemoteTokenFromMr) \
	S(NDK_FN_GET_LOCAL_TOKEN_FROM_MR, NdkGetLocalTokenFromMr)

#define PLX_NDK_MW(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseMw) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_GET_REMOTE_TOKEN_FROM_MW, NdkGetRemoteTokenFromMw)

/* ---- shared receive queue ---- */

#define PLX_NDK_OF_SRQ(F) \
	F(NDK_FN_MODIFY_SRQ, NTSTATUS, \
		(_In_ NDK_SRQ *pNdkSrq, _In_ ULONG SrqDepth, _In_ ULONG NotifyThreshold, \
			PLX_NDK_THEN)) \
	F(NDK_FN_SRQ_RECEIVE, NTSTATUS, \
		(_In_ NDK_SRQ *pNdkSrq, _In_opt_ PVOID RequestContext, PLX_NDK_SGL))

#define PLX_NDK_SRQ(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseSrq) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_MODIFY_SRQ, NdkModifySrq) \
	S(NDK_FN_SRQ_RECEIVE, NdkSrqReceive)

/* ---- queue pair ---- */

#define PLX_NDK_OF_QP(F) \
	F(NDK_FN_FLUSH, VOID, (_In_ NDK_QP *pNdkQp)) \
	F(NDK_FN_SEND, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, PLX_NDK_SGL, \
			_In_ ULONG Flags)) \
	F(NDK_FN_RECEIVE, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, PLX_NDK_SGL)) \
	F(NDK_FN_BIND, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, _In_ NDK_MR *pMr, \
			_In_ NDK_MW *pMw, _In_ PVOID VirtualAddress, _In_ SIZE_T Length, \
			_In_ ULONG Flags)) \
	F(NDK_FN_FAST_REGISTER, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, _In_ NDK_MR *pMr, \
			_In_ ULONG AdapterPageCount, \
			_In_reads_(AdapterPageCount) CONST NDK_LOGICAL_ADDRESS *AdapterPageArray, \
			_In_ ULONG FBO, _In_ SIZE_T Length, _In_ PVOID BaseVirtualAddress, \
			_In_ ULONG Flags)) \
	F(NDK_FN_INVALIDATE, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, \
			_In_ NDK_OBJECT_HEADER *pNdkMrOrMw, _In_ ULONG Flags)) \
	F(NDK_FN_READ, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, PLX_NDK_SGL, \
			_In_ UINT64 RemoteAddress, _In_ UINT32 RemoteToken, _In_ ULONG Flags)) \
	F(NDK_FN_WRITE, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, PLX_NDK_SGL, \
			_In_ UINT64 RemoteAddress, _In_ UINT32 RemoteToken, _In_ ULONG Flags)) \
	/* the token after the flags, unlike READ and WRITE */ \
	F(NDK_FN_SEND_AND_INVALIDATE, NTSTATUS, \
		(_In_ NDK_QP *pNdkQp, _In_opt_ PVOID RequestContext, PLX_NDK_SGL, \
			_In_ ULONG Flags, _In_ UINT32 RemoteToken))

#define PLX_NDK_QP(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseQp) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_FLUSH, NdkFlush) \
	S(NDK_FN_SEND, NdkSend) \
	S(NDK_FN_RECEIVE, NdkReceive) \
	S(NDK_FN_BIND, NdkBind) \
	S(NDK_FN_FAST_REGISTER, NdkFastRegister) \
	S(NDK_FN_INVALIDATE, NdkInvalidate) \
	S(NDK_FN_READ, NdkRead) \
	S(NDK_FN_WRITE, NdkWrite) \
	S(NDK_FN_SEND_AND_INVALIDATE, NdkSendAndInvalidate)

/* ---- listener, shared endpoint ---- */

#define PLX_NDK_OF_LISTENER(F) \
	F(NDK_FN_LISTEN, NTSTATUS, \
		(_In_ NDK_LISTENER *pNdkListener, \
			_In_reads_bytes_(AddressLength) CONST PSOCKADDR pAddress, \
			_In_ ULONG AddressLength, PLX_NDK_THEN)) \
	F(NDK_FN_GET_LISTENER_LOCAL_ADDRESS, NTSTATUS, \
		(_In_ NDK_LISTENER *pNdkListener, PLX_NDK_ADDRESS_OUT)) \
	F(NDK_FN_CONTROL_CONNECT_EVENTS, VOID, \
		(_In_ NDK_LISTENER *pNdkListener, _In_ BOOLEAN Pause)) \
	F(NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS, NTSTATUS, \
		(_In_ NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, PLX_NDK_ADDRESS_OUT))

#define PLX_NDK_LISTENER(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseListener) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_LISTEN, NdkListen) \
	S(NDK_FN_GET_LISTENER_LOCAL_ADDRESS, NdkGetLocalAddress) \
	S(NDK_FN_CONTROL_CONNECT_EVENTS, NdkControlConnectEvents)

#define PLX_NDK_SHARED_ENDPOINT(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseSharedEndpoint) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS, NdkGetLocalAddress)

/* ---- connector ---- */

#define PLX_NDK_OF_CONNECTOR(F) \
	F(NDK_FN_CONNECT, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _In_ NDK_QP *pNdkQp, \
			_In_reads_bytes_(SrcAddressLength) CONST PSOCKADDR pSrcAddress, \
			_In_ ULONG SrcAddressLength, \
			_In_reads_bytes_(DestAddressLength) CONST PSOCKADDR pDestAddress, \
			_In_ ULONG DestAddressLength, PLX_NDK_READ_LIMITS, PLX_NDK_PRIVATE_DATA, \
			PLX_NDK_THEN)) \
	F(NDK_FN_CONNECT_WITH_SHARED_ENDPOINT, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _In_ NDK_QP *pNdkQp, \
			_In_ NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, \
			_In_reads_bytes_(DestAddressLength) CONST PSOCKADDR pDestAddress, \
			_In_ ULONG DestAddressLength, PLX_NDK_READ_LIMITS, PLX_NDK_PRIVATE_DATA, \
			PLX_NDK_THEN)) \
	F(NDK_FN_COMPLETE_CONNECT, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, \
			PLX_NDK_DISCONNECT_EVENT(NDK_FN_DISCONNECT_EVENT_CALLBACK), \
			PLX_NDK_THEN)) \
	F(NDK_FN_ACCEPT, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _In_ NDK_QP *pNdkQp, PLX_NDK_READ_LIMITS, \
			PLX_NDK_PRIVATE_DATA, \
			PLX_NDK_DISCONNECT_EVENT(NDK_FN_DISCONNECT_EVENT_CALLBACK), \
			PLX_NDK_THEN)) \
	F(NDK_FN_REJECT, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, PLX_NDK_PRIVATE_DATA)) \
	F(NDK_FN_GET_CONNECTION_DATA, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _Out_opt_ ULONG *pInboundReadLimit, \
			_Out_opt_ ULONG *pOutboundReadLimit, \
			_Out_writes_bytes_to_opt_(*pPrivateDataLength, *pPrivateDataLength) \
				PVOID pPrivateData, \
			_Inout_ ULONG *pPrivateDataLength)) \
	F(NDK_FN_GET_LOCAL_ADDRESS, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, PLX_NDK_ADDRESS_OUT)) \
	F(NDK_FN_GET_PEER_ADDRESS, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, PLX_NDK_ADDRESS_OUT)) \
	F(NDK_FN_DISCONNECT, NTSTATUS, (_In_ NDK_CONNECTOR *pNdkConnector, PLX_NDK_THEN)) \
	F(NDK_FN_COMPLETE_CONNECT_EX, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, \
			PLX_NDK_DISCONNECT_EVENT(NDK_FN_DISCONNECT_EVENT_CALLBACK_EX), \
			PLX_NDK_THEN)) \
	F(NDK_FN_ACCEPT_EX, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _In_ NDK_QP *pNdkQp, PLX_NDK_READ_LIMITS, \
			PLX_NDK_PRIVATE_DATA, \
			PLX_NDK_DISCONNECT_EVENT(NDK_FN_DISCONNECT_EVENT_CALLBACK_EX), \
			PLX_NDK_THEN))

#define PLX_NDK_CONNECTOR(S) \
	S(NDK_FN_CLOSE_OBJECT, NdkCloseConnector) \
	S(NDK_FN_QUERY_EXTENSION_INTERFACE, NdkQueryExtension) \
	S(NDK_FN_CONNECT, NdkConnect) \
	S(NDK_FN_CONNECT_WITH_SHARED_ENDPOINT, NdkConnectWithSharedEndpoint) \
	S(NDK_FN_COMPLETE_CONNECT, NdkCompleteConnect) \
	S(NDK_FN_ACCEPT, NdkAccept) \
	S(NDK_FN_REJECT, NdkReject) \
	S(NDK_FN_GET_CONNECTION_DATA, NdkGetConnectionData) \
	S(NDK_FN_GET_LOCAL_ADDRESS, NdkGetLocalAddress) \
	S(NDK_FN_GET_PEER_ADDRESS, NdkGetPeerAddress) \
	S(NDK_FN_DISCONNECT, NdkDisconnect) \
	S(NDK_FN_COMPLETE_CONNECT_EX, NdkCompleteConnectEx) \
	S(NDK_FN_ACCEPT_EX, NdkAcceptEx)

/* ---- types of functions that have no slot ---- */

#define PLX_NDK_WITHOUT_A_SLOT(F) \
	F(NDK_FN_DISCONNECT_EX, NTSTATUS, \
		(_In_ NDK_CONNECTOR *pNdkConnector, _In_ BOOLEAN Abortive, PLX_NDK_THEN)) \
	F(NDK_FN_QUERY_ADAPTER_INFO_EX, NTSTATUS, \
		(_In_ NDK_ADAPTER *pNdkAdapter, _In_ NDK_VERSION Version, \
			_Out_writes_bytes_to_opt_(*pBufferSize, *pBufferSize) \
				NDK_ADAPTER_INFO *pInfo, \
			_Inout_ ULONG *pBufferSize))

/* ---- all ---- */

#define PLX_NDK_FUNCTIONS(F) \
	PLX_NDK_CALLBACKS(F) \
	PLX_NDK_OF_ALL(F) \
	PLX_NDK_OF_ADAPTER(F) \
	PLX_NDK_OF_CQ(F) \
	PLX_NDK_OF_PD(F) \
	PLX_NDK_OF_MR(F) \
	PLX_NDK_OF_SRQ(F) \
	PLX_NDK_OF_QP(F) \
	PLX_NDK_OF_LISTENER(F) \
	PLX_NDK_OF_CONNECTOR(F) \
	PLX_NDK_WITHOUT_A_SLOT(F)

/* O(name, slots): an object, its dispatch table */
#define PLX_NDK_OBJECTS(O) \
	O(NDK_ADAPTER, PLX_NDK_ADAPTER) \
	O(NDK_CQ, PLX_NDK_CQ) \
	O(NDK_PD, PLX_NDK_PD) \
	O(NDK_QP, PLX_NDK_QP) \
	O(NDK_SRQ, PLX_NDK_SRQ) \
	O(NDK_MR, PLX_NDK_MR) \
	O(NDK_MW, PLX_NDK_MW) \
	O(NDK_LISTENER, PLX_NDK_LISTENER) \
	O(NDK_SHARED_ENDPOINT, PLX_NDK_SHARED_ENDPOINT) \
	O(NDK_CONNECTOR, PLX_NDK_CONNECTOR)

#endif
