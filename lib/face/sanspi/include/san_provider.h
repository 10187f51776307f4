/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between the socket switch and a SAN service provider, as Windows Sockets Direct has
 * it: names, types and the order of arguments are Microsoft's. The switch is layered above TCP and
 * providers; it chooses a provider for a connection and turns the calls of sockets into messages.
 * Start with WSPStartupEx(), then WSPPROC_TABLE.
 *
 * Completions. Every WSPSend, WSPRecv, WSPRdmaRead and WSPRdmaWrite is overlapped: it returns
 * SOCKET_ERROR with WSA_IO_PENDING, whatever the mode of the socket, or another error, and then
 * nothing completes. No completion routine is given. If the lowest bit of lpOverlapped->hEvent is
 * set the provider says nothing: the switch polls WSPGetOverlappedResult(), which returns
 * WSA_IO_INCOMPLETE until then. If it is clear the provider calls WPUCompleteOverlappedRequest(),
 * once, with the switch's handle of the socket. Requests of a kind complete in their order.
 *
 * Handles. The switch uses the provider's descriptor in calls; the provider uses the switch's
 * handle, of WPUCreateSocketHandle(), in upcalls.
 *
 * Errors. A call that fails returns SOCKET_ERROR, INVALID_SOCKET, NULL or FALSE, with the error in
 * *lpErrno. WSAENETDOWN and WSAENOTSOCK are possible everywhere and not repeated below.
 *
 * Threads: any, several at once; upcalls from any thread.
 * Spec: Windows Sockets Direct, Windows Sockets SPI and its extensions for SANs
 */
#ifndef PLX_SANSPI_SAN_PROVIDER_H
#define PLX_SANSPI_SAN_PROVIDER_H

#include <guiddef.h>
#include <winsock2.h>
#include <ws2spi.h>

/* ---- types of the provider interface ---- */

typedef unsigned int GROUP;

typedef struct _WSATHREADID {
	HANDLE ThreadHandle;
	DWORD_PTR Reserved;
} WSATHREADID, *LPWSATHREADID;

/* Quality of service: never given, never read. */
typedef struct _QualityOfService *LPQOS;

#define FD_MAX_EVENTS  10
#define FD_ACCEPT_BIT  3
#define FD_ACCEPT      (1 << FD_ACCEPT_BIT)
#define FD_CONNECT_BIT 4
#define FD_CONNECT     (1 << FD_CONNECT_BIT)

typedef struct _WSANETWORKEVENTS {
	long lNetworkEvents;           /* FD_CONNECT, FD_ACCEPT */
	int iErrorCode[FD_MAX_EVENTS]; /* by bit */
} WSANETWORKEVENTS, *LPWSANETWORKEVENTS;

#define CF_ACCEPT 0x0000
#define CF_REJECT 0x0001
#define CF_DEFER  0x0002

/** Shall a connection be accepted? Called within WSPAccept(), in its thread, before the peer has an
 * answer. Returns: CF_ACCEPT, CF_REJECT */
typedef int(CALLBACK *LPCONDITIONPROC)(LPWSABUF lpCallerId, LPWSABUF lpCallerData, LPQOS lpSQOS,
				       LPQOS lpGQOS, LPWSABUF lpCalleeId, LPWSABUF lpCalleeData,
				       GROUP *g, DWORD_PTR dwCallbackData);

#define WSPDESCRIPTION_LEN 255

typedef struct WSPData {
	WORD wVersion;
	WORD wHighVersion;
	WCHAR szDescription[WSPDESCRIPTION_LEN + 1];
} WSPDATA, *LPWSPDATA;

/* What a provider gives the address of with SIO_GET_EXTENSION_FUNCTION_POINTER. */
#define SIO_GET_EXTENSION_FUNCTION_POINTER 0xC8000006
/* The provider's addresses, as a SOCKET_ADDRESS_LIST. */
#define SIO_ADDRESS_LIST_QUERY 0x48000016

/* ---- options that the switch reads ---- */

#define SO_MAX_MSG_SIZE 0x2003 /* [bytes] the longest WSPSend(); DWORD */
/* Of SOL_SOCKET: the longest RDMA, and from where on RDMA is better than messages. */
#define SO_MAX_RDMA_SIZE       0x700D /* [bytes] DWORD */
#define SO_RDMA_THRESHOLD_SIZE 0x700E /* [bytes] DWORD; the switch may choose otherwise */

/* ---- calls ---- */

/**
 * Take a connection that has arrived. The event of WSPEventSelect() is reset before this succeeds.
 * The accepted socket has its own WPUCreateSocketHandle().
 * Errors: WSAEWOULDBLOCK (none has arrived), WSAECONNREFUSED (CF_REJECT), WSAEINVAL (not
 * listening), WSAEMFILE, WSAENOBUFS, WSAEFAULT
 */
typedef SOCKET(WSPAPI *LPWSPACCEPT)(SOCKET s, struct sockaddr *addr, LPINT addrlen,
				    LPCONDITIONPROC lpfnCondition, DWORD_PTR dwCallbackData,
				    LPINT lpErrno);

/** Errors: WSAEADDRINUSE, WSAEADDRNOTAVAIL, WSAEFAULT, WSAEINVAL (it has an address) */
typedef int(WSPAPI *LPWSPBIND)(SOCKET s, const struct sockaddr *name, int namelen, LPINT lpErrno);

/** End the switch's use of the provider in this process. */
typedef int(WSPAPI *LPWSPCLEANUP)(LPINT lpErrno);

/**
 * Close: abortive, and never WSAEWOULDBLOCK; a graceful end is the switch's matter. Pending
 * requests complete with WSA_OPERATION_ABORTED once their memory is released, the peer's with
 * WSAECONNRESET. The last upcall is WPUCloseSocketHandle(); the descriptor is WSAENOTSOCK from then
 * on. Nothing of a socket is freed before this call, whatever the connection does.
 */
typedef int(WSPAPI *LPWSPCLOSESOCKET)(SOCKET s, LPINT lpErrno);

/**
 * Connect: returns WSAEWOULDBLOCK; the result comes as FD_CONNECT.
 * @param lpCallerData, lpCalleeData, lpSQOS, lpGQOS NULL
 * Errors: of FD_CONNECT. WSAECONNRESET (nobody listens), WSAECONNREFUSED (refused), WSAEHOSTUNREACH
 * (there is no such host) promise that TCP would fail as well; after any other, WSAETIMEDOUT and
 * WSAENETUNREACH among them, the switch tries TCP
 */
typedef int(WSPAPI *LPWSPCONNECT)(SOCKET s, const struct sockaddr *name, int namelen,
				  LPWSABUF lpCallerData, LPWSABUF lpCalleeData, LPQOS lpSQOS,
				  LPQOS lpGQOS, LPINT lpErrno);

/**
 * Hand a socket to another process. Only receives are pending, and no RDMA memory is registered, at
 * both ends. The provider completes every receive with success and 0 bytes, releases its memory,
 * and sets lpProtocolInfo->dwProviderReserved: not 0, unique in the system, for that process alone,
 * for one WSPSocket(). In this process the switch calls WSPCloseSocket() at most from now on, until
 * then the descriptor is not given to another socket.
 * @param lpProtocolInfo [out]
 * Errors: WSAENOTCONN (neither connected nor listening), WSAEINVAL (no such process), WSAEMFILE,
 * WSAENOBUFS; never WSAEINPROGRESS
 */
typedef int(WSPAPI *LPWSPDUPLICATESOCKET)(SOCKET s, DWORD dwProcessId,
					  LPWSAPROTOCOL_INFOW lpProtocolInfo, LPINT lpErrno);

/** What has happened since the last call; resets it, and the event. @param hEventObject may be NULL
 */
typedef int(WSPAPI *LPWSPENUMNETWORKEVENTS)(SOCKET s, WSAEVENT hEventObject,
					    LPWSANETWORKEVENTS lpNetworkEvents, LPINT lpErrno);

/** Set an event when something happens. @param lNetworkEvents FD_CONNECT or FD_ACCEPT; 0: none */
typedef int(WSPAPI *LPWSPEVENTSELECT)(SOCKET s, WSAEVENT hEventObject, long lNetworkEvents,
				      LPINT lpErrno);

/** @param fWait FALSE. Returns: FALSE with WSA_IO_INCOMPLETE, or with the error of the request */
typedef BOOL(WSPAPI *LPWSPGETOVERLAPPEDRESULT)(SOCKET s, LPWSAOVERLAPPED lpOverlapped,
					       LPDWORD lpcbTransfer, BOOL fWait, LPDWORD lpdwFlags,
					       LPINT lpErrno);

/** May return WSAEOPNOTSUPP. */
typedef BOOL(WSPAPI *LPWSPGETQOSBYNAME)(SOCKET s, LPWSABUF lpQOSName, LPQOS lpQOS, LPINT lpErrno);

/** Errors: WSAENOPROTOOPT, WSAEFAULT */
typedef int(WSPAPI *LPWSPGETSOCKOPT)(SOCKET s, int level, int optname, char *optval, LPINT optlen,
				     LPINT lpErrno);

/** Errors: WSAEOPNOTSUPP (an extension that it does not have, another command), WSAEFAULT */
typedef int(WSPAPI *LPWSPIOCTL)(SOCKET s, DWORD dwIoControlCode, LPVOID lpvInBuffer,
				DWORD cbInBuffer, LPVOID lpvOutBuffer, DWORD cbOutBuffer,
				LPDWORD lpcbBytesReturned, LPWSAOVERLAPPED lpOverlapped,
				LPWSAOVERLAPPED_COMPLETION_ROUTINE lpCompletionRoutine,
				LPWSATHREADID lpThreadId, LPINT lpErrno);

/** A connection that finds the backlog full is refused at once: WSAECONNREFUSED there. Errors:
 * WSAEINVAL (no address), WSAEISCONN */
typedef int(WSPAPI *LPWSPLISTEN)(SOCKET s, int backlog, LPINT lpErrno);

/**
 * Post a receive for one message. A message that finds none waits in the provider.
 * @param lpBuffers within memory of WSPRegisterMemory()
 * @param lpFlags   [in, out] 0
 * Errors: WSA_IO_PENDING, WSAENOTCONN, WSAEINVAL (memory that is not registered), WSAENOBUFS. Of
 * the completion: WSAEMSGSIZE (the message is longer), WSAECONNRESET, WSA_OPERATION_ABORTED
 */
typedef int(WSPAPI *LPWSPRECV)(SOCKET s, LPWSABUF lpBuffers, DWORD dwBufferCount,
			       LPDWORD lpNumberOfBytesRecvd, LPDWORD lpFlags,
			       LPWSAOVERLAPPED lpOverlapped,
			       LPWSAOVERLAPPED_COMPLETION_ROUTINE lpCompletionRoutine,
			       LPWSATHREADID lpThreadId, LPINT lpErrno);

/** Send one message. @param dwFlags 0. Errors: as LPWSPRECV; WSAEMSGSIZE (SO_MAX_MSG_SIZE) at once
 */
typedef int(WSPAPI *LPWSPSEND)(SOCKET s, LPWSABUF lpBuffers, DWORD dwBufferCount,
			       LPDWORD lpNumberOfBytesSent, DWORD dwFlags,
			       LPWSAOVERLAPPED lpOverlapped,
			       LPWSAOVERLAPPED_COMPLETION_ROUTINE lpCompletionRoutine,
			       LPWSATHREADID lpThreadId, LPINT lpErrno);

/** Options that were set on the TCP socket before. Errors: WSAENOPROTOOPT, WSAEFAULT */
typedef int(WSPAPI *LPWSPSETSOCKOPT)(SOCKET s, int level, int optname, const char *optval,
				     int optlen, LPINT lpErrno);

/**
 * Create a socket, with WPUCreateSocketHandle(); or take over one that another process has given
 * away with WSPDuplicateSocket(): lpProtocolInfo->dwProviderReserved is not 0 then. What is taken
 * over is in the state that it had. If this process had it before, the provider may return the
 * descriptor of then, without WPUCreateSocketHandle(), or a new one: then the switch closes the old
 * one.
 * @param af       AF_INET, AF_INET6. @param type SOCK_STREAM. @param protocol IPPROTO_TCP
 * @param dwFlags  WSA_FLAG_OVERLAPPED
 * Errors: WSAEAFNOSUPPORT, WSAEPROTOTYPE, WSAEPROTONOSUPPORT, WSAEINVAL (dwProviderReserved is not
 * for this process, or was used), WSAEMFILE, WSAENOBUFS
 */
typedef SOCKET(WSPAPI *LPWSPSOCKET)(int af, int type, int protocol,
				    LPWSAPROTOCOL_INFOW lpProtocolInfo, GROUP g, DWORD dwFlags,
				    LPINT lpErrno);

/* A call that the switch never makes: NULL. */
typedef void(WSPAPI *SAN_NEVER_CALLED)(void);

/* In the order of Winsock's provider interface. */
typedef struct _WSPPROC_TABLE {
	LPWSPACCEPT lpWSPAccept;
	SAN_NEVER_CALLED lpWSPAddressToString;
	SAN_NEVER_CALLED lpWSPAsyncSelect;
	LPWSPBIND lpWSPBind;
	SAN_NEVER_CALLED lpWSPCancelBlockingCall;
	LPWSPCLEANUP lpWSPCleanup;
	LPWSPCLOSESOCKET lpWSPCloseSocket;
	LPWSPCONNECT lpWSPConnect;
	LPWSPDUPLICATESOCKET lpWSPDuplicateSocket;
	LPWSPENUMNETWORKEVENTS lpWSPEnumNetworkEvents;
	LPWSPEVENTSELECT lpWSPEventSelect;
	LPWSPGETOVERLAPPEDRESULT lpWSPGetOverlappedResult;
	SAN_NEVER_CALLED lpWSPGetPeerName;
	SAN_NEVER_CALLED lpWSPGetSockName;
	LPWSPGETSOCKOPT lpWSPGetSockOpt;
	LPWSPGETQOSBYNAME lpWSPGetQOSByName;
	LPWSPIOCTL lpWSPIoctl;
	SAN_NEVER_CALLED lpWSPJoinLeaf;
	LPWSPLISTEN lpWSPListen;
	LPWSPRECV lpWSPRecv;
	SAN_NEVER_CALLED lpWSPRecvDisconnect;
	SAN_NEVER_CALLED lpWSPRecvFrom;
	SAN_NEVER_CALLED lpWSPSelect;
	LPWSPSEND lpWSPSend;
	SAN_NEVER_CALLED lpWSPSendDisconnect;
	SAN_NEVER_CALLED lpWSPSendTo;
	LPWSPSETSOCKOPT lpWSPSetSockOpt;
	SAN_NEVER_CALLED lpWSPShutdown;
	LPWSPSOCKET lpWSPSocket;
	SAN_NEVER_CALLED lpWSPStringToAddress;
} WSPPROC_TABLE, *LPWSPPROC_TABLE;

/* ---- extensions ---- */

#define SAN_WSAID(low)                                                 \
	{                                                              \
		0xc0b422f0u | (low), 0xf58c, 0x11d1,                   \
		{                                                      \
			0xad, 0x6c, 0x00, 0xc0, 0x4f, 0xa3, 0x4a, 0x2d \
		}                                                      \
	}
#define WSAID_REGISTERMEMORY       SAN_WSAID(0x5)
#define WSAID_DEREGISTERMEMORY     SAN_WSAID(0x6)
#define WSAID_REGISTERRDMAMEMORY   SAN_WSAID(0x7)
#define WSAID_DEREGISTERRDMAMEMORY SAN_WSAID(0x8)
#define WSAID_RDMAWRITE            SAN_WSAID(0x9)
#define WSAID_RDMAREAD             SAN_WSAID(0xa)
#define WSAID_MEMORYREGISTRATIONCACHECALLBACK                          \
	{                                                              \
		0xe5da4af8, 0xd824, 0x48cd,                            \
		{                                                      \
			0xa7, 0x99, 0x63, 0x37, 0xa9, 0x8e, 0xd2, 0xaf \
		}                                                      \
	}

/* What memory is registered for: to be read from, to be written to. */
#define MEM_READ      1
#define MEM_WRITE     2
#define MEM_READWRITE 3

typedef struct _WSABUFEX {
	ULONG len;
	CHAR *buf;
	HANDLE handle; /* of WSPRegisterMemory() */
} WSABUFEX, *LPWSABUFEX;

/**
 * Register memory of this process for a socket's own transfers. The handle is for that socket
 * alone.
 * @param dwFlags MEM_READ (a source), MEM_WRITE (a destination), or both
 * Returns: NULL. Errors: WSAENOBUFS, WSAEFAULT, WSAEINVAL (the flags), WSAENOTCONN
 */
typedef HANDLE(WSPAPI *LPFN_WSPREGISTERMEMORY)(SOCKET s, PVOID lpBuffer, DWORD dwBufferLength,
					       DWORD dwFlags, LPINT lpErrno);

/** Errors: WSAEINVAL (no such handle, or a transfer uses it) */
typedef int(WSPAPI *LPFN_WSPDEREGISTERMEMORY)(SOCKET s, HANDLE Handle, LPINT lpErrno);

/**
 * Register memory for the peer of a socket, and nobody else.
 * @param dwFlags                MEM_READ (its WSPRdmaRead), MEM_WRITE (its WSPRdmaWrite), or both
 * @param lpRdmaBufferDescriptor [out] what the peer needs to name it: opaque
 * @param lpdwDescriptorLength   [in, out] bytes of that; too few: WSAEFAULT, and how many it takes
 * Errors: WSAENOBUFS, WSAEFAULT, WSAEINVAL (the flags), WSAENOTCONN
 */
typedef int(WSPAPI *LPFN_WSPREGISTERRDMAMEMORY)(SOCKET s, PVOID lpBuffer, DWORD dwBufferLength,
						DWORD dwFlags, LPVOID lpRdmaBufferDescriptor,
						LPDWORD lpdwDescriptorLength, LPINT lpErrno);

/** The peer does not reach it any more when this returns. Errors: WSAEINVAL (no such memory, or a
 * transfer uses it) */
typedef int(WSPAPI *LPFN_WSPDEREGISTERRDMAMEMORY)(SOCKET s, LPVOID lpRdmaBufferDescriptor,
						  DWORD dwDescriptorLength, LPINT lpErrno);

/**
 * Write to memory that the peer has registered for that.
 * @param dwTargetBufferOffset [bytes] from its beginning
 * @param dwFlags              0
 * Errors: WSA_IO_PENDING, WSAENOTCONN, WSAEINVAL, WSAENOBUFS. Of the completion: WSAEFAULT or
 * WSAECONNRESET (the peer denies it), WSA_OPERATION_ABORTED
 */
typedef int(WSPAPI *LPFN_WSPRDMAWRITE)(SOCKET s, LPWSABUFEX lpBuffers, DWORD dwBufferCount,
				       LPVOID lpTargetBufferDescriptor,
				       DWORD dwTargetDescriptorLength, DWORD dwTargetBufferOffset,
				       LPDWORD lpdwNumberOfBytesWritten, DWORD dwFlags,
				       LPWSAOVERLAPPED lpOverlapped,
				       LPWSAOVERLAPPED_COMPLETION_ROUTINE lpCompletionRoutine,
				       LPWSATHREADID lpThreadId, LPINT lpErrno);

/** Read from it. Optional: without it the switch of the peer has its WSPRdmaWrite() called. */
typedef int(WSPAPI *LPFN_WSPRDMAREAD)(SOCKET s, LPWSABUFEX lpBuffers, DWORD dwBufferCount,
				      LPVOID lpSourceBufferDescriptor,
				      DWORD dwSourceDescriptorLength, DWORD dwSourceBufferOffset,
				      LPDWORD lpdwNumberOfBytesRead, DWORD dwFlags,
				      LPWSAOVERLAPPED lpOverlapped,
				      LPWSAOVERLAPPED_COMPLETION_ROUTINE lpCompletionRoutine,
				      LPWSATHREADID lpThreadId, LPINT lpErrno);

/** Pages of this process will mean other memory: forget what is cached of them. Optional. */
typedef int(WSPAPI *LPFN_WSPMEMORYREGISTRATIONCACHECALLBACK)(PVOID lpvAddress, SIZE_T Size,
							     LPINT lpErrno);

/* ---- upcalls ---- */

/** @param dwContext what WPUQuerySocketHandleContext() returns. Returns: the switch's handle, or
 * INVALID_SOCKET with WSAENOBUFS */
typedef SOCKET(WSPAPI *LPWPUCREATESOCKETHANDLE)(DWORD dwCatalogEntryId, DWORD_PTR dwContext,
						LPINT lpErrno);
typedef int(WSPAPI *LPWPUCLOSESOCKETHANDLE)(SOCKET s, LPINT lpErrno);
typedef int(WSPAPI *LPWPUQUERYSOCKETHANDLECONTEXT)(SOCKET s, DWORD_PTR *lpContext, LPINT lpErrno);
typedef int(WSPAPI *LPWPUCOMPLETEOVERLAPPEDREQUEST)(SOCKET s, LPWSAOVERLAPPED lpOverlapped,
						    DWORD dwError, DWORD cbTransferred,
						    LPINT lpErrno);
typedef BOOL(WSPAPI *LPWPUSETEVENT)(WSAEVENT hEvent, LPINT lpErrno);
typedef BOOL(WSPAPI *LPWPURESETEVENT)(WSAEVENT hEvent, LPINT lpErrno);

/* In the order of Winsock's provider interface; what no provider here needs is NULL. */
typedef struct _WSPUPCALLTABLEEX {
	SAN_NEVER_CALLED lpWPUCloseEvent;
	LPWPUCLOSESOCKETHANDLE lpWPUCloseSocketHandle;
	SAN_NEVER_CALLED lpWPUCreateEvent;
	LPWPUCREATESOCKETHANDLE lpWPUCreateSocketHandle;
	SAN_NEVER_CALLED lpWPUFDIsSet;
	SAN_NEVER_CALLED lpWPUGetProviderPath;
	SAN_NEVER_CALLED lpWPUModifyIFSHandle;
	SAN_NEVER_CALLED lpWPUPostMessage;
	SAN_NEVER_CALLED lpWPUQueryBlockingCallback;
	LPWPUQUERYSOCKETHANDLECONTEXT lpWPUQuerySocketHandleContext;
	SAN_NEVER_CALLED lpWPUQueueApc;
	LPWPURESETEVENT lpWPUResetEvent;
	LPWPUSETEVENT lpWPUSetEvent;
	SAN_NEVER_CALLED lpWPUOpenCurrentThread;
	SAN_NEVER_CALLED lpWPUCloseThread;
	LPWPUCOMPLETEOVERLAPPEDREQUEST lpWPUCompleteOverlappedRequest;
} WSPUPCALLTABLEEX, *LPWSPUPCALLTABLEEX;

/**
 * The one function that a provider exports.
 * @param wVersionRequested 2.2
 * @param lpProtocolInfo    of TCP, not the provider's own: so it knows that the switch loads it
 * @param lpProcTable       [out]
 * Returns: 0; WSAVERNOTSUPPORTED, WSAENOBUFS, WSAEINVAL
 */
typedef int(WSPAPI *LPWSPSTARTUPEX)(WORD wVersionRequested, LPWSPDATA lpWSPData,
				    LPWSAPROTOCOL_INFOW lpProtocolInfo,
				    LPWSPUPCALLTABLEEX lpUpcallTable, LPWSPPROC_TABLE lpProcTable);
int WSPAPI WSPStartupEx(WORD wVersionRequested, LPWSPDATA lpWSPData,
			LPWSAPROTOCOL_INFOW lpProtocolInfo, LPWSPUPCALLTABLEEX lpUpcallTable,
			LPWSPPROC_TABLE lpProcTable);

#endif
