/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes and offsets of ND2's structures on LP64, as Microsoft's headers have them; written apart
 * from the headers. SIZE(type, bytes), AT(type, member, offset).
 */
#ifndef NDSPI_LAYOUTS_H
#define NDSPI_LAYOUTS_H

/* clang-format off */

#define CONTRACT_STRUCTS(SIZE, AT) \
	SIZE(ND2_ADAPTER_INFO, 96) \
	AT(ND2_ADAPTER_INFO, InfoVersion, 0) \
	AT(ND2_ADAPTER_INFO, VendorId, 4) \
	AT(ND2_ADAPTER_INFO, DeviceId, 6) \
	AT(ND2_ADAPTER_INFO, AdapterId, 8) \
	AT(ND2_ADAPTER_INFO, MaxRegistrationSize, 16) \
	AT(ND2_ADAPTER_INFO, MaxWindowSize, 24) \
	AT(ND2_ADAPTER_INFO, MaxInitiatorSge, 32) \
	AT(ND2_ADAPTER_INFO, MaxReceiveSge, 36) \
	AT(ND2_ADAPTER_INFO, MaxReadSge, 40) \
	AT(ND2_ADAPTER_INFO, MaxTransferLength, 44) \
	AT(ND2_ADAPTER_INFO, MaxInlineDataSize, 48) \
	AT(ND2_ADAPTER_INFO, MaxInboundReadLimit, 52) \
	AT(ND2_ADAPTER_INFO, MaxOutboundReadLimit, 56) \
	AT(ND2_ADAPTER_INFO, MaxReceiveQueueDepth, 60) \
	AT(ND2_ADAPTER_INFO, MaxInitiatorQueueDepth, 64) \
	AT(ND2_ADAPTER_INFO, MaxSharedReceiveQueueDepth, 68) \
	AT(ND2_ADAPTER_INFO, MaxCompletionQueueDepth, 72) \
	AT(ND2_ADAPTER_INFO, InlineRequestThreshold, 76) \
	AT(ND2_ADAPTER_INFO, LargeRequestThreshold, 80) \
	AT(ND2_ADAPTER_INFO, MaxCallerData, 84) \
	AT(ND2_ADAPTER_INFO, MaxCalleeData, 88) \
	AT(ND2_ADAPTER_INFO, AdapterFlags, 92) \
	SIZE(ND2_ADAPTER_INFO32, 88) \
	AT(ND2_ADAPTER_INFO32, InfoVersion, 0) \
	AT(ND2_ADAPTER_INFO32, VendorId, 4) \
	AT(ND2_ADAPTER_INFO32, DeviceId, 6) \
	AT(ND2_ADAPTER_INFO32, AdapterId, 8) \
	AT(ND2_ADAPTER_INFO32, MaxRegistrationSize, 16) \
	AT(ND2_ADAPTER_INFO32, MaxWindowSize, 20) \
	AT(ND2_ADAPTER_INFO32, MaxInitiatorSge, 24) \
	AT(ND2_ADAPTER_INFO32, MaxReceiveSge, 28) \
	AT(ND2_ADAPTER_INFO32, MaxReadSge, 32) \
	AT(ND2_ADAPTER_INFO32, MaxTransferLength, 36) \
	AT(ND2_ADAPTER_INFO32, MaxInlineDataSize, 40) \
	AT(ND2_ADAPTER_INFO32, MaxInboundReadLimit, 44) \
	AT(ND2_ADAPTER_INFO32, MaxOutboundReadLimit, 48) \
	AT(ND2_ADAPTER_INFO32, MaxReceiveQueueDepth, 52) \
	AT(ND2_ADAPTER_INFO32, MaxInitiatorQueueDepth, 56) \
	AT(ND2_ADAPTER_INFO32, MaxSharedReceiveQueueDepth, 60) \
	AT(ND2_ADAPTER_INFO32, MaxCompletionQueueDepth, 64) \
	AT(ND2_ADAPTER_INFO32, InlineRequestThreshold, 68) \
	AT(ND2_ADAPTER_INFO32, LargeRequestThreshold, 72) \
	AT(ND2_ADAPTER_INFO32, MaxCallerData, 76) \
	AT(ND2_ADAPTER_INFO32, MaxCalleeData, 80) \
	AT(ND2_ADAPTER_INFO32, AdapterFlags, 84) \
	SIZE(ND2_RESULT, 32) \
	AT(ND2_RESULT, Status, 0) \
	AT(ND2_RESULT, BytesTransferred, 4) \
	AT(ND2_RESULT, QueuePairContext, 8) \
	AT(ND2_RESULT, RequestContext, 16) \
	AT(ND2_RESULT, RequestType, 24) \
	SIZE(ND2_SGE, 16) \
	AT(ND2_SGE, Buffer, 0) \
	AT(ND2_SGE, BufferLength, 8) \
	AT(ND2_SGE, MemoryRegionToken, 12) \
	SIZE(OVERLAPPED, 32) \
	AT(OVERLAPPED, Internal, 0) \
	AT(OVERLAPPED, InternalHigh, 8) \
	AT(OVERLAPPED, Offset, 16) \
	AT(OVERLAPPED, OffsetHigh, 20) \
	AT(OVERLAPPED, Pointer, 16) \
	AT(OVERLAPPED, hEvent, 24) \
	SIZE(GUID, 16) \
	AT(GUID, Data1, 0) \
	AT(GUID, Data2, 4) \
	AT(GUID, Data3, 6) \
	AT(GUID, Data4, 8) \
	SIZE(SOCKET_ADDRESS, 16) \
	AT(SOCKET_ADDRESS, lpSockaddr, 0) \
	AT(SOCKET_ADDRESS, iSockaddrLength, 8) \
	SIZE(SOCKET_ADDRESS_LIST, 24) \
	AT(SOCKET_ADDRESS_LIST, iAddressCount, 0) \
	AT(SOCKET_ADDRESS_LIST, Address, 8) \
	SIZE(ND_ADAPTER_INFO1, 128) \
	AT(ND_ADAPTER_INFO1, VendorId, 0) \
	AT(ND_ADAPTER_INFO1, DeviceId, 4) \
	AT(ND_ADAPTER_INFO1, MaxInboundSge, 8) \
	AT(ND_ADAPTER_INFO1, MaxInboundRequests, 16) \
	AT(ND_ADAPTER_INFO1, MaxInboundLength, 24) \
	AT(ND_ADAPTER_INFO1, MaxOutboundSge, 32) \
	AT(ND_ADAPTER_INFO1, MaxOutboundRequests, 40) \
	AT(ND_ADAPTER_INFO1, MaxOutboundLength, 48) \
	AT(ND_ADAPTER_INFO1, MaxInlineData, 56) \
	AT(ND_ADAPTER_INFO1, MaxInboundReadLimit, 64) \
	AT(ND_ADAPTER_INFO1, MaxOutboundReadLimit, 72) \
	AT(ND_ADAPTER_INFO1, MaxCqEntries, 80) \
	AT(ND_ADAPTER_INFO1, MaxRegistrationSize, 88) \
	AT(ND_ADAPTER_INFO1, MaxWindowSize, 96) \
	AT(ND_ADAPTER_INFO1, LargeRequestThreshold, 104) \
	AT(ND_ADAPTER_INFO1, MaxCallerData, 112) \
	AT(ND_ADAPTER_INFO1, MaxCalleeData, 120) \
	SIZE(ND_RESULT, 16) \
	AT(ND_RESULT, Status, 0) \
	AT(ND_RESULT, BytesTransferred, 8) \
	SIZE(ND_MW_DESCRIPTOR, 20) \
	AT(ND_MW_DESCRIPTOR, Base, 0) \
	AT(ND_MW_DESCRIPTOR, Length, 8) \
	AT(ND_MW_DESCRIPTOR, Token, 16) \
	SIZE(ND_SGE, 24) \
	AT(ND_SGE, pAddr, 0) \
	AT(ND_SGE, Length, 8) \
	AT(ND_SGE, hMr, 16) \
	SIZE(LARGE_INTEGER, 8) \
	AT(LARGE_INTEGER, LowPart, 0) \
	AT(LARGE_INTEGER, HighPart, 4) \
	AT(LARGE_INTEGER, QuadPart, 0)

/* Plain types: their size, and whether they have a sign. */
#define CONTRACT_TYPES(X) \
	X(LONG, 4, 1) \
	X(HRESULT, 4, 1) \
	X(NTSTATUS, 4, 1) \
	X(BOOL, 4, 1) \
	X(INT, 4, 1) \
	X(ULONG, 4, 0) \
	X(DWORD, 4, 0) \
	X(UINT32, 4, 0) \
	X(USHORT, 2, 0) \
	X(UINT16, 2, 0) \
	X(BYTE, 1, 0) \
	X(UINT8, 1, 0) \
	X(UINT64, 8, 0) \
	X(ULONGLONG, 8, 0) \
	X(LONGLONG, 8, 1) \
	X(SIZE_T, 8, 0) \
	X(ULONG_PTR, 8, 0) \
	X(KAFFINITY, 8, 0)

/* clang-format on */

#endif
