/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interfaces of NetworkDirect, version 2: abstract classes in C++, tables of functions in C.
 * Their methods are listed in ndmethods.h; docs/nd2-porting.md is for programs written for Windows.
 * Start with IND2Provider, which the library returns, and IND2Adapter, which creates all other
 * objects.
 */
#ifndef PLX_NDSPI_NDSPI_H
#define PLX_NDSPI_NDSPI_H

#include <winsock2.h>
#include <unknwn.h>

#include "nddef.h"
#include "ndmethods.h"
#include "ndstatus.h"

PLX_COM_INTERFACE(IND2Overlapped, IUnknown, PLX_ND2_OVERLAPPED, PLX_ND2_OVERLAPPED_ALL)
PLX_COM_INTERFACE(IND2CompletionQueue, IND2Overlapped, PLX_ND2_COMPLETIONQUEUE,
		  PLX_ND2_COMPLETIONQUEUE_ALL)
PLX_COM_INTERFACE(IND2SharedReceiveQueue, IND2Overlapped, PLX_ND2_SHAREDRECEIVEQUEUE,
		  PLX_ND2_SHAREDRECEIVEQUEUE_ALL)
PLX_COM_INTERFACE(IND2MemoryWindow, IUnknown, PLX_ND2_MEMORYWINDOW, PLX_ND2_MEMORYWINDOW_ALL)
PLX_COM_INTERFACE(IND2MemoryRegion, IND2Overlapped, PLX_ND2_MEMORYREGION, PLX_ND2_MEMORYREGION_ALL)
PLX_COM_INTERFACE(IND2QueuePair, IUnknown, PLX_ND2_QUEUEPAIR, PLX_ND2_QUEUEPAIR_ALL)
PLX_COM_INTERFACE(IND2Connector, IND2Overlapped, PLX_ND2_CONNECTOR, PLX_ND2_CONNECTOR_ALL)
PLX_COM_INTERFACE(IND2Listener, IND2Overlapped, PLX_ND2_LISTENER, PLX_ND2_LISTENER_ALL)
PLX_COM_INTERFACE(IND2Adapter, IUnknown, PLX_ND2_ADAPTER, PLX_ND2_ADAPTER_ALL)
PLX_COM_INTERFACE(IND2Provider, IUnknown, PLX_ND2_PROVIDER, PLX_ND2_PROVIDER_ALL)

/* clang-format off */
DEFINE_GUID(IID_IND2Overlapped,
	0xABF72719, 0xB016, 0x4A40, 0xA6, 0xF7, 0x62, 0x27, 0x91, 0xA7, 0x04, 0x4C);
DEFINE_GUID(IID_IND2CompletionQueue,
	0x20CC445E, 0x64A0, 0x4CBB, 0xAA, 0x75, 0xF6, 0xA7, 0x25, 0x1F, 0xDA, 0x9E);
DEFINE_GUID(IID_IND2SharedReceiveQueue,
	0xAABD67DC, 0x459A, 0x4DB1, 0x82, 0x6B, 0x56, 0xCF, 0xCC, 0x27, 0x88, 0x83);
DEFINE_GUID(IID_IND2MemoryWindow,
	0x070FE1F5, 0x0AB5, 0x4361, 0x88, 0xDB, 0x97, 0x4B, 0xA7, 0x04, 0xD4, 0xB9);
DEFINE_GUID(IID_IND2MemoryRegion,
	0x55DFEA2F, 0xBC56, 0x4982, 0x8A, 0x45, 0x03, 0x01, 0xBE, 0x46, 0xC4, 0x13);
DEFINE_GUID(IID_IND2QueuePair,
	0xEEF2F332, 0xB75D, 0x4063, 0xBC, 0xE3, 0x3A, 0x0B, 0xAD, 0x2D, 0x02, 0xCE);
DEFINE_GUID(IID_IND2Connector,
	0x7DD615C4, 0x6B4C, 0x4866, 0x95, 0x0C, 0xF3, 0xB1, 0xD2, 0x5A, 0x53, 0x02);
DEFINE_GUID(IID_IND2Listener,
	0x65D23D83, 0x3A57, 0x4E02, 0x86, 0xA4, 0x35, 0x01, 0x65, 0xC2, 0xD1, 0x30);
DEFINE_GUID(IID_IND2Adapter,
	0xD89C798C, 0x4823, 0x4D69, 0x84, 0x6C, 0xDF, 0xDC, 0xCF, 0xF9, 0xE5, 0xF3);
DEFINE_GUID(IID_IND2Provider,
	0x49EAE6C1, 0x76C4, 0x46D0, 0x80, 0x03, 0x5C, 0x2E, 0xAA, 0x2C, 0x9A, 0x8E);
/* clang-format on */

/* Version 1 has only its structures and two names here, for source that mentions them, and none of
 * its interfaces. Its memory window has the identifier of IND2MemoryWindow. */
DECLARE_HANDLE(ND_MR_HANDLE);

typedef struct _ND_ADAPTER_INFO1 {
	UINT32 VendorId;
	UINT32 DeviceId;
	SIZE_T MaxInboundSge;
	SIZE_T MaxInboundRequests;
	SIZE_T MaxInboundLength;
	SIZE_T MaxOutboundSge;
	SIZE_T MaxOutboundRequests;
	SIZE_T MaxOutboundLength;
	SIZE_T MaxInlineData;
	SIZE_T MaxInboundReadLimit;
	SIZE_T MaxOutboundReadLimit;
	SIZE_T MaxCqEntries;
	SIZE_T MaxRegistrationSize;
	SIZE_T MaxWindowSize;
	SIZE_T LargeRequestThreshold;
	SIZE_T MaxCallerData;
	SIZE_T MaxCalleeData;
} ND_ADAPTER_INFO1;
#define ND_ADAPTER_INFO ND_ADAPTER_INFO1

typedef struct _ND_RESULT {
	HRESULT Status;
	SIZE_T BytesTransferred;
} ND_RESULT;

/* All in network byte order. */
typedef struct __attribute__((__packed__)) _ND_MW_DESCRIPTOR {
	UINT64 Base;
	UINT64 Length;
	UINT32 Token;
} ND_MW_DESCRIPTOR;

typedef struct _ND_SGE {
	VOID *pAddr;
	SIZE_T Length;
	ND_MR_HANDLE hMr;
} ND_SGE;

#define ND_LOCAL_LENGTH       ND_DATA_OVERRUN
#define ND_INVALIDATION_ERROR ND_INVALID_DEVICE_REQUEST

#endif
