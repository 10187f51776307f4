/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Winsock Kernel, as far as a consumer of NDK needs it: registering, capturing the provider, and
 * what its table offers. Nothing here makes sockets: WskSocket and WskSocketConnect answer
 * STATUS_NOT_SUPPORTED, and what is called on a socket is not declared. A call that takes a request
 * (IRP) has completed it with the status that it returns; nothing is ever pending. The way to an
 * NDK adapter is in wskndk.h. Start with WskRegister().
 *
 * Threads: every call from any thread, at PASSIVE_LEVEL unless it says otherwise.
 * Tests: tests/unit/face/wsk
 */
#ifndef PLX_WDK_WSK_H
#define PLX_WDK_WSK_H

#include "wdm.h"

#include <ws2def.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WSKAPI NTAPI

#define MAKE_WSK_VERSION(Mj, Mn) ((USHORT)((USHORT)((Mj) << 8) | (USHORT)((Mn)&0xff)))
#define WSK_MAJOR_VERSION(V)     ((UCHAR)((V) >> 8))
#define WSK_MINOR_VERSION(V)     ((UCHAR)(V))

/* WaitTimeout of WskCaptureProviderNPI(), else in ms. */
#define WSK_NO_WAIT       0
#define WSK_INFINITE_WAIT 0xffffffff

/* Flags of WskSocket. */
#define WSK_FLAG_BASIC_SOCKET      0x00000000
#define WSK_FLAG_LISTEN_SOCKET     0x00000001
#define WSK_FLAG_CONNECTION_SOCKET 0x00000002
#define WSK_FLAG_DATAGRAM_SOCKET   0x00000004

/* Control codes of WskControlClient; one more is in wskndk.h. Any other answers
 * STATUS_NOT_SUPPORTED, and so do the two about security descriptors, which are for sockets. */
#define WSK_TRANSPORT_LIST_QUERY 2 /* of transports for sockets: an empty list */
#define WSK_CACHE_SD             4
#define WSK_RELEASE_SD           5

typedef struct _WSK_CLIENT WSK_CLIENT, *PWSK_CLIENT;

typedef struct _WSK_TRANSPORT {
	USHORT Version;
	USHORT SocketType;
	ULONG Protocol;
	ADDRESS_FAMILY AddressFamily;
	GUID ProviderId;
} WSK_TRANSPORT, *PWSK_TRANSPORT;

/* ---- the client ---- */

typedef NTSTATUS(WSKAPI *PFN_WSK_CLIENT_EVENT)(PVOID ClientContext, ULONG EventType,
					       PVOID Information, SIZE_T InformationLength);

typedef struct _WSK_CLIENT_DISPATCH {
	USHORT Version; /* MAKE_WSK_VERSION(1, 0) is the one that is supported */
	USHORT Reserved;
	PFN_WSK_CLIENT_EVENT WskClientEvent; /* version 1.0 has no events */
} WSK_CLIENT_DISPATCH, *PWSK_CLIENT_DISPATCH;

typedef struct _WSK_CLIENT_NPI {
	PVOID ClientContext;
	const WSK_CLIENT_DISPATCH *Dispatch;
} WSK_CLIENT_NPI, *PWSK_CLIENT_NPI;

typedef struct _WSK_REGISTRATION {
	ULONGLONG ReservedRegistrationState;
	PVOID ReservedRegistrationContext;
	KSPIN_LOCK ReservedRegistrationLock;
} WSK_REGISTRATION, *PWSK_REGISTRATION;

/* ---- the provider ---- */

typedef struct _WSK_CLIENT_CONNECTION_DISPATCH WSK_CLIENT_CONNECTION_DISPATCH,
	*PWSK_CLIENT_CONNECTION_DISPATCH;

/** Make a socket. IRQL <= DISPATCH_LEVEL. Returns: STATUS_NOT_SUPPORTED */
typedef NTSTATUS(WSKAPI *PFN_WSK_SOCKET)(PWSK_CLIENT Client, ADDRESS_FAMILY AddressFamily,
					 USHORT SocketType, ULONG Protocol, ULONG Flags,
					 PVOID SocketContext, const VOID *Dispatch,
					 PEPROCESS OwningProcess, PETHREAD OwningThread,
					 PSECURITY_DESCRIPTOR SecurityDescriptor, PIRP Irp);

/** Make a socket, bind and connect it. IRQL <= DISPATCH_LEVEL. Returns: STATUS_NOT_SUPPORTED */
typedef NTSTATUS(WSKAPI *PFN_WSK_SOCKET_CONNECT)(PWSK_CLIENT Client, USHORT SocketType,
						 ULONG Protocol, PSOCKADDR LocalAddress,
						 PSOCKADDR RemoteAddress, ULONG Flags,
						 PVOID SocketContext,
						 const WSK_CLIENT_CONNECTION_DISPATCH *Dispatch,
						 PEPROCESS OwningProcess, PETHREAD OwningThread,
						 PSECURITY_DESCRIPTOR SecurityDescriptor, PIRP Irp);

/**
 * Control the client. IRQL <= DISPATCH_LEVEL.
 * @param OutputSizeReturned [bytes]; may be NULL where the size is known
 * @param Irp NULL, or completed with the status returned
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_SUPPORTED
 */
typedef NTSTATUS(WSKAPI *PFN_WSK_CONTROL_CLIENT)(PWSK_CLIENT Client, ULONG ControlCode,
						 SIZE_T InputSize, PVOID InputBuffer,
						 SIZE_T OutputSize, PVOID OutputBuffer,
						 SIZE_T *OutputSizeReturned, PIRP Irp);

/**
 * Find the addresses of a host and a service by the resolver of this system.
 * @param NodeName      with ServiceName: one of them may be NULL
 * @param NameSpace     0 or that of DNS (12): the system decides which names are searched
 * @param Provider      NULL
 * @param Hints         may be NULL; flags and families are this system's (ws2def.h)
 * @param Result        [out] to be freed by WskFreeAddressInfo
 * @param OwningProcess ignored
 * @param OwningThread  ignored, but needs a process
 * @param Irp           NULL, or completed with the status returned, in IoStatus.Information, too
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NO_MATCH, STATUS_NOT_SUPPORTED (a name
 * space or provider), STATUS_INSUFFICIENT_RESOURCES
 */
typedef NTSTATUS(WSKAPI *PFN_WSK_GET_ADDRESS_INFO)(PWSK_CLIENT Client, PUNICODE_STRING NodeName,
						   PUNICODE_STRING ServiceName, ULONG NameSpace,
						   GUID *Provider, PADDRINFOEXW Hints,
						   PADDRINFOEXW *Result, PEPROCESS OwningProcess,
						   PETHREAD OwningThread, PIRP Irp);

/** Free a result of WskGetAddressInfo. @param AddrInfo may be NULL */
typedef VOID(WSKAPI *PFN_WSK_FREE_ADDRESS_INFO)(PWSK_CLIENT Client, PADDRINFOEXW AddrInfo);

/** Find the name of an address. Returns: STATUS_NOT_SUPPORTED */
typedef NTSTATUS(WSKAPI *PFN_WSK_GET_NAME_INFO)(PWSK_CLIENT Client, PSOCKADDR SockAddr,
						ULONG SockAddrLength, PUNICODE_STRING NodeName,
						PUNICODE_STRING ServiceName, ULONG Flags,
						PEPROCESS OwningProcess, PETHREAD OwningThread,
						PIRP Irp);

typedef struct _WSK_PROVIDER_DISPATCH {
	USHORT Version;
	USHORT Reserved;
	PFN_WSK_SOCKET WskSocket;
	PFN_WSK_SOCKET_CONNECT WskSocketConnect;
	PFN_WSK_CONTROL_CLIENT WskControlClient;
	PFN_WSK_GET_ADDRESS_INFO WskGetAddressInfo;
	PFN_WSK_FREE_ADDRESS_INFO WskFreeAddressInfo;
	PFN_WSK_GET_NAME_INFO WskGetNameInfo;
} WSK_PROVIDER_DISPATCH, *PWSK_PROVIDER_DISPATCH;

typedef struct _WSK_PROVIDER_NPI {
	PWSK_CLIENT Client;
	const WSK_PROVIDER_DISPATCH *Dispatch;
} WSK_PROVIDER_NPI, *PWSK_PROVIDER_NPI;

typedef struct _WSK_PROVIDER_CHARACTERISTICS {
	USHORT HighestVersion;
	USHORT LowestVersion;
} WSK_PROVIDER_CHARACTERISTICS, *PWSK_PROVIDER_CHARACTERISTICS;

/* ---- registering ---- */

/**
 * Register a client. Each registration ends by one WskDeregister().
 * @param WskClientNpi    read once
 * @param WskRegistration [out] stays in place until no other of these calls uses it
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_INSUFFICIENT_RESOURCES
 */
NTSTATUS WskRegister(PWSK_CLIENT_NPI WskClientNpi, PWSK_REGISTRATION WskRegistration)
	PLX_WIN_NAME(WskRegister);

/**
 * Unregister. It waits until all that was captured is released and all calls of the provider's
 * table have returned. The client's NDK adapters are closed before.
 */
VOID WskDeregister(PWSK_REGISTRATION WskRegistration) PLX_WIN_NAME(WskDeregister);

/**
 * Capture the provider, which is always ready. Each success ends by one WskReleaseProviderNPI().
 * @param WaitTimeout [ms] never waited for; with WSK_NO_WAIT the call may be made at
 *                    DISPATCH_LEVEL
 * Returns: STATUS_SUCCESS, STATUS_NOINTERFACE (the client's version), STATUS_DEVICE_NOT_READY
 * (WskDeregister() was called), STATUS_INVALID_PARAMETER
 */
NTSTATUS WskCaptureProviderNPI(PWSK_REGISTRATION WskRegistration, ULONG WaitTimeout,
			       PWSK_PROVIDER_NPI WskProviderNpi)
	PLX_WIN_NAME(WskCaptureProviderNPI);

/** Release what one WskCaptureProviderNPI() has captured. IRQL <= DISPATCH_LEVEL. */
VOID WskReleaseProviderNPI(PWSK_REGISTRATION WskRegistration) PLX_WIN_NAME(WskReleaseProviderNPI);

/** The range of versions that are supported. IRQL <= DISPATCH_LEVEL.
 * Returns: STATUS_SUCCESS, STATUS_DEVICE_NOT_READY (WskDeregister() was called),
 * STATUS_INVALID_PARAMETER */
NTSTATUS
WskQueryProviderCharacteristics(PWSK_REGISTRATION WskRegistration,
				PWSK_PROVIDER_CHARACTERISTICS WskProviderCharacteristics)
	PLX_WIN_NAME(WskQueryProviderCharacteristics);

#ifdef __cplusplus
}
#endif

#endif
