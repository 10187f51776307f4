/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structures, flags and numbers of ND2. Sizes are in bytes; tokens are opaque words.
 * Start with ND2_ADAPTER_INFO: the limits for everything else.
 */
#ifndef PLX_NDSPI_NDDEF_H
#define PLX_NDSPI_NDDEF_H

#include <windows.h>

#define ND_VERSION_1 0x1
#define ND_VERSION_2 0x20000
#ifndef NDVER
#define NDVER ND_VERSION_2
#endif

/* ND2_ADAPTER_INFO.AdapterFlags */
#define ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED            0x00000001
#define ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED 0x00000004
#define ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED            0x00000008
#define ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED               0x00000100
#define ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED    0x00010000

/* IND2CompletionQueue::Notify */
#define ND_CQ_NOTIFY_ERRORS    0
#define ND_CQ_NOTIFY_ANY       1
#define ND_CQ_NOTIFY_SOLICITED 2

/* IND2MemoryRegion::Register. Rights of the peer imply those of this side. */
#define ND_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001
#define ND_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define ND_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005
#define ND_MR_FLAG_RDMA_READ_SINK     0x00000008
#define ND_MR_FLAG_DO_NOT_SECURE_VM   0x80000000

/* Requests of IND2QueuePair */
#define ND_OP_FLAG_SILENT_SUCCESS         0x00000001
#define ND_OP_FLAG_READ_FENCE             0x00000002
#define ND_OP_FLAG_SEND_AND_SOLICIT_EVENT 0x00000004
#define ND_OP_FLAG_ALLOW_READ             0x00000008
#define ND_OP_FLAG_ALLOW_WRITE            0x00000010
#define ND_OP_FLAG_INLINE                 0x00000020

/* Capabilities of an adapter: IND2Adapter::Query. */
typedef struct _ND2_ADAPTER_INFO {
	ULONG InfoVersion; /* in: ND_VERSION_2 */
	UINT16 VendorId;
	UINT16 DeviceId;
	UINT64 AdapterId;
	SIZE_T MaxRegistrationSize;
	SIZE_T MaxWindowSize;
	ULONG MaxInitiatorSge;
	ULONG MaxReceiveSge;
	ULONG MaxReadSge; /* at most MaxInitiatorSge */
	ULONG MaxTransferLength;
	ULONG MaxInlineDataSize;
	ULONG MaxInboundReadLimit;
	ULONG MaxOutboundReadLimit;
	ULONG MaxReceiveQueueDepth;
	ULONG MaxInitiatorQueueDepth;
	ULONG MaxSharedReceiveQueueDepth; /* 0: not supported */
	ULONG MaxCompletionQueueDepth;
	ULONG InlineRequestThreshold; /* up to here inline is faster */
	ULONG LargeRequestThreshold;  /* from here a request counts as large */
	ULONG MaxCallerData;          /* private data of Connect */
	ULONG MaxCalleeData;          /* private data of Accept and Reject */
	ULONG AdapterFlags;
} ND2_ADAPTER_INFO;

/* The same, as laid out in a 32-bit process. */
typedef struct _ND2_ADAPTER_INFO32 {
	ULONG InfoVersion;
	UINT16 VendorId;
	UINT16 DeviceId;
	UINT64 AdapterId;
	UINT32 MaxRegistrationSize;
	UINT32 MaxWindowSize;
	ULONG MaxInitiatorSge;
	ULONG MaxReceiveSge;
	ULONG MaxReadSge;
	ULONG MaxTransferLength;
	ULONG MaxInlineDataSize;
	ULONG MaxInboundReadLimit;
	ULONG MaxOutboundReadLimit;
	ULONG MaxReceiveQueueDepth;
	ULONG MaxInitiatorQueueDepth;
	ULONG MaxSharedReceiveQueueDepth;
	ULONG MaxCompletionQueueDepth;
	ULONG InlineRequestThreshold;
	ULONG LargeRequestThreshold;
	ULONG MaxCallerData;
	ULONG MaxCalleeData;
	ULONG AdapterFlags;
} ND2_ADAPTER_INFO32;

/* Both tags are in use. */
#define _ND2_REQUEST_TYPE ND2_REQUEST_TYPE
typedef enum ND2_REQUEST_TYPE {
	Nd2RequestTypeReceive,
	Nd2RequestTypeSend,
	Nd2RequestTypeBind,
	Nd2RequestTypeInvalidate,
	Nd2RequestTypeRead,
	Nd2RequestTypeWrite
} ND2_REQUEST_TYPE;

/* One completion: IND2CompletionQueue::GetResults. */
typedef struct _ND2_RESULT {
	HRESULT Status;
	ULONG BytesTransferred; /* of a receive; undefined for other requests */
	VOID *QueuePairContext; /* as passed to CreateQueuePair */
	VOID *RequestContext;   /* as passed with the request */
	ND2_REQUEST_TYPE RequestType;
} ND2_RESULT;

/* One segment of a message; only read during the call. */
typedef struct _ND2_SGE {
	VOID *Buffer;
	ULONG BufferLength;
	UINT32 MemoryRegionToken;
} ND2_SGE;

#endif
