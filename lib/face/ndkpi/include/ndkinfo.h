/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an NDK adapter can do: its version, limits and flags. Sizes are in bytes.
 * Start with NDK_ADAPTER_INFO.
 */
#ifndef PLX_NDKPI_NDKINFO_H
#define PLX_NDKPI_NDKINFO_H

#include <windef.h>

typedef struct {
	USHORT Major;
	USHORT Minor;
} NDK_VERSION;

typedef enum _NDK_RDMA_TECHNOLOGY {
	NdkUndefined = 0,
	NdkiWarp = 1,
	NdkInfiniBand = 2,
	NdkRoCE = 3,
	NdkRoCEv2 = 4,
	NdkMaxTechnology = 5,
} NDK_RDMA_TECHNOLOGY;

/* NDK_ADAPTER_INFO.AdapterFlags */
#define NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED               0x00000001
#define NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED          0x00000002
#define NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED    0x00000004
#define NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED               0x00000008
#define NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED 0x00000010
#define NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED                  0x00000100
#define NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED       0x00010000

typedef struct _NDK_ADAPTER_INFO {
	NDK_VERSION Version; /* the highest minor version of the major one that was asked for */
	UINT32 VendorId;
	UINT32 DeviceId;
	SIZE_T MaxRegistrationSize;
	SIZE_T MaxWindowSize;
	ULONG FRMRPageCount; /* of one fast registration; at least 16 */
	ULONG MaxInitiatorRequestSge;
	ULONG MaxReceiveRequestSge;
	ULONG MaxReadRequestSge; /* for reads instead of MaxInitiatorRequestSge */
	ULONG MaxTransferLength;
	ULONG MaxInlineDataSize;
	ULONG MaxInboundReadLimit;
	ULONG MaxOutboundReadLimit;
	ULONG MaxReceiveQueueDepth;
	ULONG MaxInitiatorQueueDepth;
	ULONG MaxSrqDepth; /* 0: no shared receive queues */
	ULONG MaxCqDepth;
	ULONG LargeRequestThreshold; /* from here READ and WRITE are faster than SEND */
	ULONG MaxCallerData;         /* private data of a connect */
	ULONG MaxCalleeData;         /* private data of an accept or reject */
	ULONG AdapterFlags;
	NDK_RDMA_TECHNOLOGY RdmaTechnology;
} NDK_ADAPTER_INFO;

#endif
