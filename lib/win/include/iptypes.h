/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network interfaces as GetAdaptersAddresses() tells of them. The lists that Windows has beside
 * these (anycast, multicast, DNS servers, gateways) are not here.
 */
#ifndef PLX_WIN_IPTYPES_H
#define PLX_WIN_IPTYPES_H

#include "winsock2.h"

#define MAX_ADAPTER_ADDRESS_LENGTH 8

#define GAA_FLAG_SKIP_UNICAST       0x0001
#define GAA_FLAG_SKIP_ANYCAST       0x0002
#define GAA_FLAG_SKIP_MULTICAST     0x0004
#define GAA_FLAG_SKIP_DNS_SERVER    0x0008
#define GAA_FLAG_INCLUDE_PREFIX     0x0010
#define GAA_FLAG_SKIP_FRIENDLY_NAME 0x0020

#define IF_TYPE_OTHER             1
#define IF_TYPE_ETHERNET_CSMACD   6
#define IF_TYPE_SOFTWARE_LOOPBACK 24

typedef ULONG NET_IFINDEX, IF_INDEX;
typedef ULONG IFTYPE;
typedef enum {
	IfOperStatusUp = 1,
	IfOperStatusDown,
	IfOperStatusTesting,
	IfOperStatusUnknown,
	IfOperStatusDormant,
	IfOperStatusNotPresent,
	IfOperStatusLowerLayerDown
} IF_OPER_STATUS;

typedef struct _IP_ADAPTER_UNICAST_ADDRESS {
	ULONG Length;
	DWORD Flags;
	struct _IP_ADAPTER_UNICAST_ADDRESS *Next;
	SOCKET_ADDRESS Address;
	BYTE OnLinkPrefixLength; /* bits */
} IP_ADAPTER_UNICAST_ADDRESS, *PIP_ADAPTER_UNICAST_ADDRESS;

typedef struct _IP_ADAPTER_PREFIX {
	ULONG Length;
	DWORD Flags;
	struct _IP_ADAPTER_PREFIX *Next;
	SOCKET_ADDRESS Address;
	ULONG PrefixLength; /* bits */
} IP_ADAPTER_PREFIX, *PIP_ADAPTER_PREFIX;

typedef struct _IP_ADAPTER_ADDRESSES {
	ULONG Length;
	IF_INDEX IfIndex; /* what GetBestInterfaceEx() gives */
	struct _IP_ADAPTER_ADDRESSES *Next;
	PCHAR AdapterName;
	PIP_ADAPTER_UNICAST_ADDRESS FirstUnicastAddress;
	PWCHAR DnsSuffix;
	PWCHAR Description;
	PWCHAR FriendlyName;
	BYTE PhysicalAddress[MAX_ADAPTER_ADDRESS_LENGTH];
	ULONG PhysicalAddressLength;
	ULONG Flags;
	ULONG Mtu; /* bytes */
	IFTYPE IfType;
	IF_OPER_STATUS OperStatus;
	IF_INDEX Ipv6IfIndex;
	PIP_ADAPTER_PREFIX FirstPrefix;
	ULONG64 TransmitLinkSpeed; /* bit/s */
	ULONG64 ReceiveLinkSpeed;
} IP_ADAPTER_ADDRESSES, *PIP_ADAPTER_ADDRESSES;

#endif
