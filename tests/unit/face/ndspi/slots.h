/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Identifiers and slot numbers of ND2's interfaces, as Microsoft's headers have them; written apart
 * from the headers.
 */
#ifndef NDSPI_SLOTS_H
#define NDSPI_SLOTS_H

/* clang-format off */

/* X(interface, the eleven parts of its identifier) */
#define CONTRACT_IIDS(X) \
	X(IUnknown, 0x00000000, 0x0000, 0x0000, \
		0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46) \
	X(IND2Overlapped, 0xABF72719, 0xB016, 0x4A40, \
		0xA6, 0xF7, 0x62, 0x27, 0x91, 0xA7, 0x04, 0x4C) \
	X(IND2CompletionQueue, 0x20CC445E, 0x64A0, 0x4CBB, \
		0xAA, 0x75, 0xF6, 0xA7, 0x25, 0x1F, 0xDA, 0x9E) \
	X(IND2SharedReceiveQueue, 0xAABD67DC, 0x459A, 0x4DB1, \
		0x82, 0x6B, 0x56, 0xCF, 0xCC, 0x27, 0x88, 0x83) \
	X(IND2MemoryWindow, 0x070FE1F5, 0x0AB5, 0x4361, \
		0x88, 0xDB, 0x97, 0x4B, 0xA7, 0x04, 0xD4, 0xB9) \
	X(IND2MemoryRegion, 0x55DFEA2F, 0xBC56, 0x4982, \
		0x8A, 0x45, 0x03, 0x01, 0xBE, 0x46, 0xC4, 0x13) \
	X(IND2QueuePair, 0xEEF2F332, 0xB75D, 0x4063, \
		0xBC, 0xE3, 0x3A, 0x0B, 0xAD, 0x2D, 0x02, 0xCE) \
	X(IND2Connector, 0x7DD615C4, 0x6B4C, 0x4866, \
		0x95, 0x0C, 0xF3, 0xB1, 0xD2, 0x5A, 0x53, 0x02) \
	X(IND2Listener, 0x65D23D83, 0x3A57, 0x4E02, \
		0x86, 0xA4, 0x35, 0x01, 0x65, 0xC2, 0xD1, 0x30) \
	X(IND2Adapter, 0xD89C798C, 0x4823, 0x4D69, \
		0x84, 0x6C, 0xDF, 0xDC, 0xCF, 0xF9, 0xE5, 0xF3) \
	X(IND2Provider, 0x49EAE6C1, 0x76C4, 0x46D0, \
		0x80, 0x03, 0x5C, 0x2E, 0xAA, 0x2C, 0x9A, 0x8E)

/* X(interface, how many slots its table has) */
#define CONTRACT_TABLES(X) \
	X(IUnknown, 3) \
	X(IND2Overlapped, 5) \
	X(IND2CompletionQueue, 9) \
	X(IND2SharedReceiveQueue, 9) \
	X(IND2MemoryWindow, 4) \
	X(IND2MemoryRegion, 9) \
	X(IND2QueuePair, 10) \
	X(IND2Connector, 16) \
	X(IND2Listener, 9) \
	X(IND2Adapter, 14) \
	X(IND2Provider, 6)

/* X(interface, method, slot), inherited methods too. */
#define CONTRACT_SLOTS(X) \
	X(IUnknown, QueryInterface, 0) \
	X(IUnknown, AddRef, 1) \
	X(IUnknown, Release, 2) \
	X(IND2Overlapped, QueryInterface, 0) \
	X(IND2Overlapped, AddRef, 1) \
	X(IND2Overlapped, Release, 2) \
	X(IND2Overlapped, CancelOverlappedRequests, 3) \
	X(IND2Overlapped, GetOverlappedResult, 4) \
	X(IND2CompletionQueue, QueryInterface, 0) \
	X(IND2CompletionQueue, AddRef, 1) \
	X(IND2CompletionQueue, Release, 2) \
	X(IND2CompletionQueue, CancelOverlappedRequests, 3) \
	X(IND2CompletionQueue, GetOverlappedResult, 4) \
	X(IND2CompletionQueue, GetNotifyAffinity, 5) \
	X(IND2CompletionQueue, Resize, 6) \
	X(IND2CompletionQueue, Notify, 7) \
	X(IND2CompletionQueue, GetResults, 8) \
	X(IND2SharedReceiveQueue, QueryInterface, 0) \
	X(IND2SharedReceiveQueue, AddRef, 1) \
	X(IND2SharedReceiveQueue, Release, 2) \
	X(IND2SharedReceiveQueue, CancelOverlappedRequests, 3) \
	X(IND2SharedReceiveQueue, GetOverlappedResult, 4) \
	X(IND2SharedReceiveQueue, GetNotifyAffinity, 5) \
	X(IND2SharedReceiveQueue, Modify, 6) \
	X(IND2SharedReceiveQueue, Notify, 7) \
	X(IND2SharedReceiveQueue, Receive, 8) \
	X(IND2MemoryWindow, QueryInterface, 0) \
	X(IND2MemoryWindow, AddRef, 1) \
	X(IND2MemoryWindow, Release, 2) \
	X(IND2MemoryWindow, GetRemoteToken, 3) \
	X(IND2MemoryRegion, QueryInterface, 0) \
	X(IND2MemoryRegion, AddRef, 1) \
	X(IND2MemoryRegion, Release, 2) \
	X(IND2MemoryRegion, CancelOverlappedRequests, 3) \
	X(IND2MemoryRegion, GetOverlappedResult, 4) \
	X(IND2MemoryRegion, Register, 5) \
	X(IND2MemoryRegion, Deregister, 6) \
	X(IND2MemoryRegion, GetLocalToken, 7) \
	X(IND2MemoryRegion, GetRemoteToken, 8) \
	X(IND2QueuePair, QueryInterface, 0) \
	X(IND2QueuePair, AddRef, 1) \
	X(IND2QueuePair, Release, 2) \
	X(IND2QueuePair, Flush, 3) \
	X(IND2QueuePair, Send, 4) \
	X(IND2QueuePair, Receive, 5) \
	X(IND2QueuePair, Bind, 6) \
	X(IND2QueuePair, Invalidate, 7) \
	X(IND2QueuePair, Read, 8) \
	X(IND2QueuePair, Write, 9) \
	X(IND2Connector, QueryInterface, 0) \
	X(IND2Connector, AddRef, 1) \
	X(IND2Connector, Release, 2) \
	X(IND2Connector, CancelOverlappedRequests, 3) \
	X(IND2Connector, GetOverlappedResult, 4) \
	X(IND2Connector, Bind, 5) \
	X(IND2Connector, Connect, 6) \
	X(IND2Connector, CompleteConnect, 7) \
	X(IND2Connector, Accept, 8) \
	X(IND2Connector, Reject, 9) \
	X(IND2Connector, GetReadLimits, 10) \
	X(IND2Connector, GetPrivateData, 11) \
	X(IND2Connector, GetLocalAddress, 12) \
	X(IND2Connector, GetPeerAddress, 13) \
	X(IND2Connector, NotifyDisconnect, 14) \
	X(IND2Connector, Disconnect, 15) \
	X(IND2Listener, QueryInterface, 0) \
	X(IND2Listener, AddRef, 1) \
	X(IND2Listener, Release, 2) \
	X(IND2Listener, CancelOverlappedRequests, 3) \
	X(IND2Listener, GetOverlappedResult, 4) \
	X(IND2Listener, Bind, 5) \
	X(IND2Listener, Listen, 6) \
	X(IND2Listener, GetLocalAddress, 7) \
	X(IND2Listener, GetConnectionRequest, 8) \
	X(IND2Adapter, QueryInterface, 0) \
	X(IND2Adapter, AddRef, 1) \
	X(IND2Adapter, Release, 2) \
	X(IND2Adapter, CreateOverlappedFile, 3) \
	X(IND2Adapter, Query, 4) \
	X(IND2Adapter, QueryAddressList, 5) \
	X(IND2Adapter, CreateCompletionQueue, 6) \
	X(IND2Adapter, CreateMemoryRegion, 7) \
	X(IND2Adapter, CreateMemoryWindow, 8) \
	X(IND2Adapter, CreateSharedReceiveQueue, 9) \
	X(IND2Adapter, CreateQueuePair, 10) \
	X(IND2Adapter, CreateQueuePairWithSrq, 11) \
	X(IND2Adapter, CreateConnector, 12) \
	X(IND2Adapter, CreateListener, 13) \
	X(IND2Provider, QueryInterface, 0) \
	X(IND2Provider, AddRef, 1) \
	X(IND2Provider, Release, 2) \
	X(IND2Provider, QueryAddressList, 3) \
	X(IND2Provider, ResolveAddress, 4) \
	X(IND2Provider, OpenAdapter, 5)

/* clang-format on */

#endif
