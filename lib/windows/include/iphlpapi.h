/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which interface leads to an address, and the addresses of interfaces. The adapters of the
 * configuration file, which the kernel does not know, come first, then the kernel's interfaces. In
 * libpollux-ndsupport. Start with GetBestInterfaceEx().
 * Threads: every call from any thread. Tests: tests/unit/face/ndsupport
 */
#ifndef PLX_WIN_IPHLPAPI_H
#define PLX_WIN_IPHLPAPI_H

#include "winsock2.h"
#include "ifdef.h"
#include "nldef.h"

#ifndef NO_ERROR
#define NO_ERROR 0
#endif
#ifndef ERROR_BUFFER_OVERFLOW
#define ERROR_BUFFER_OVERFLOW 111
#endif
#ifndef ERROR_NO_DATA
#define ERROR_NO_DATA 232
#endif

#ifndef ERROR_CAN_NOT_COMPLETE
#define ERROR_CAN_NOT_COMPLETE 1003
#endif

typedef DWORD IPAddr;

#define GAA_FLAG_SKIP_UNICAST       0x0001
#define GAA_FLAG_SKIP_ANYCAST       0x0002
#define GAA_FLAG_SKIP_MULTICAST     0x0004
#define GAA_FLAG_SKIP_DNS_SERVER    0x0008
#define GAA_FLAG_INCLUDE_PREFIX     0x0010
#define GAA_FLAG_SKIP_FRIENDLY_NAME 0x0020
#define GAA_FLAG_INCLUDE_WINS_INFO  0x0040
#define GAA_FLAG_INCLUDE_GATEWAYS   0x0080

#define GAA_FLAG_INCLUDE_ALL_INTERFACES 0x0100

#define MAX_ADAPTER_ADDRESS_LENGTH 8

typedef NL_PREFIX_ORIGIN IP_PREFIX_ORIGIN;
typedef NL_SUFFIX_ORIGIN IP_SUFFIX_ORIGIN;
typedef NL_DAD_STATE IP_DAD_STATE;

typedef struct _IP_ADAPTER_UNICAST_ADDRESS {
	ULONG Length;
	DWORD Flags;
	struct _IP_ADAPTER_UNICAST_ADDRESS *Next;
	SOCKET_ADDRESS Address;
	IP_PREFIX_ORIGIN PrefixOrigin; /* always manual */
	IP_SUFFIX_ORIGIN SuffixOrigin; /* always manual */
	IP_DAD_STATE DadState;         /* always preferred */
	ULONG ValidLifetime;           /* lifetimes never end */
	ULONG PreferredLifetime;
	ULONG LeaseLifetime;
	UINT8 OnLinkPrefixLength;
} IP_ADAPTER_UNICAST_ADDRESS, *PIP_ADAPTER_UNICAST_ADDRESS;

/* Address entries that contain only an address. */
#define PLX_IP_ADAPTER_ADDRESS(KIND)                       \
	typedef struct _IP_ADAPTER_##KIND##_ADDRESS {      \
		ULONG Length;                              \
		DWORD Reserved;                            \
		struct _IP_ADAPTER_##KIND##_ADDRESS *Next; \
		SOCKET_ADDRESS Address;                    \
	} IP_ADAPTER_##KIND##_ADDRESS, *PIP_ADAPTER_##KIND##_ADDRESS
PLX_IP_ADAPTER_ADDRESS(ANYCAST);
PLX_IP_ADAPTER_ADDRESS(MULTICAST);
PLX_IP_ADAPTER_ADDRESS(DNS_SERVER);
PLX_IP_ADAPTER_ADDRESS(WINS_SERVER);
PLX_IP_ADAPTER_ADDRESS(GATEWAY);

typedef struct _IP_ADAPTER_PREFIX {
	ULONG Length;
	DWORD Flags;
	struct _IP_ADAPTER_PREFIX *Next;
	SOCKET_ADDRESS Address;
	ULONG PrefixLength;
} IP_ADAPTER_PREFIX, *PIP_ADAPTER_PREFIX;

/* Unknown values stay 0 or NULL: addresses other than unicast and gateways, suffix, zones, metrics.
 */
typedef struct _IP_ADAPTER_ADDRESSES {
	ULONG Length;
	IF_INDEX IfIndex;
	struct _IP_ADAPTER_ADDRESSES *Next;
	PCHAR AdapterName;
	PIP_ADAPTER_UNICAST_ADDRESS FirstUnicastAddress;
	PIP_ADAPTER_ANYCAST_ADDRESS FirstAnycastAddress;
	PIP_ADAPTER_MULTICAST_ADDRESS FirstMulticastAddress;
	PIP_ADAPTER_DNS_SERVER_ADDRESS FirstDnsServerAddress;
	PWCHAR DnsSuffix;
	PWCHAR Description;
	PWCHAR FriendlyName;
	BYTE PhysicalAddress[MAX_ADAPTER_ADDRESS_LENGTH];
	ULONG PhysicalAddressLength;
	DWORD Flags;
	ULONG Mtu;
	DWORD IfType;
	IF_OPER_STATUS OperStatus;
	IF_INDEX Ipv6IfIndex;
	ULONG ZoneIndices[16];
	PIP_ADAPTER_PREFIX FirstPrefix;
	ULONGLONG TransmitLinkSpeed; /* [bit/s] all ones: not known */
	ULONGLONG ReceiveLinkSpeed;
	PIP_ADAPTER_WINS_SERVER_ADDRESS FirstWinsServerAddress;
	PIP_ADAPTER_GATEWAY_ADDRESS FirstGatewayAddress;
	ULONG Ipv4Metric;
	ULONG Ipv6Metric;
} IP_ADAPTER_ADDRESSES, *PIP_ADAPTER_ADDRESSES;

PLX_WIN_BEGIN

/**
 * Find the interface that leads to an address, by the longest prefix: among the adapters of the
 * configuration file (by interface_index), else the kernel's.
 *
 * Returns: NO_ERROR, ERROR_INVALID_PARAMETER, ERROR_NETWORK_UNREACHABLE, ERROR_HOST_UNREACHABLE,
 * ERROR_CAN_NOT_COMPLETE
 */
DWORD WINAPI GetBestInterfaceEx(struct sockaddr *pDestAddr, PDWORD pdwBestIfIndex)
	PLX_WIN_NAME(GetBestInterfaceEx);
/** The same for IPv4. @param dwDestAddr in network byte order */
DWORD WINAPI GetBestInterface(IPAddr dwDestAddr, PDWORD pdwBestIfIndex)
	PLX_WIN_NAME(GetBestInterface);

/**
 * List all interfaces with their addresses, linked by Next, in the buffer given.
 *
 * @param Family      AF_INET, AF_INET6 or AF_UNSPEC: which addresses
 * @param Flags       GAA_FLAG_...; prefixes and gateways (of the configuration file's adapters) on
 *                    request; anycast, multicast and DNS addresses are never listed
 * @param Reserved    ignored
 * @param SizePointer [bytes] in: the room. out: what is needed
 * Returns: NO_ERROR, ERROR_BUFFER_OVERFLOW (nothing was written), ERROR_NO_DATA,
 * ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY
 */
ULONG WINAPI GetAdaptersAddresses(ULONG Family, ULONG Flags, PVOID Reserved,
				  PIP_ADAPTER_ADDRESSES AdapterAddresses, PULONG SizePointer)
	PLX_WIN_NAME(GetAdaptersAddresses);

PLX_WIN_END

#endif
