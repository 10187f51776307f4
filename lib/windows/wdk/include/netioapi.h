/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interfaces, their addresses and routes, for drivers: the adapters of the configuration file,
 * which are those that WskOpenNdkAdapter (wskndk.h) opens by InterfaceIndex, then the kernel's
 * interfaces. They are read anew by each call. An adapter need not be open, and is reported as up,
 * as hardware, without an Ethernet address; its index is the file's interface_index. What is not
 * known is 0: counters, times, metrics; speeds are all ones. Start with GetIfTable2() or
 * GetBestRoute2().
 *
 * Microsoft's pages call the status of missing memory, and that of a buffer that is too small,
 * STATUS_NOT_ENOUGH_MEMORY, which is no status; here it is STATUS_NO_MEMORY.
 *
 * Threads: every call from any thread. IRQL: PASSIVE_LEVEL for conversions and
 * CancelMibChangeNotify2(), below DISPATCH_LEVEL for the others.
 * Tests: tests/unit/face/wsk/netio.c
 */
#ifndef PLX_WDK_NETIOAPI_H
#define PLX_WDK_NETIOAPI_H

#include "wdmtypes.h"
#include "wdmmedium.h"

#include <ifdef.h>
#include <nldef.h>
#include <ws2def.h>
#include <ws2ipdef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef NTSTATUS NETIO_STATUS;

/* What Microsoft's prototypes begin with. */
#define NETIOAPI_API_ WINAPI
#define NETIOAPI_API  NETIO_STATUS NETIOAPI_API_

/* ---- interfaces ---- */

typedef struct _MIB_IF_ROW2 {
	NET_LUID InterfaceLuid;
	NET_IFINDEX InterfaceIndex;
	GUID InterfaceGuid;
	WCHAR Alias[IF_MAX_STRING_SIZE + 1]; /* the adapter's name */
	WCHAR Description[IF_MAX_STRING_SIZE + 1];
	ULONG PhysicalAddressLength;
	UCHAR PhysicalAddress[IF_MAX_PHYS_ADDRESS_LENGTH];
	UCHAR PermanentPhysicalAddress[IF_MAX_PHYS_ADDRESS_LENGTH];
	ULONG Mtu; /* 0: the largest of the device */
	IFTYPE Type;
	TUNNEL_TYPE TunnelType;
	NDIS_MEDIUM MediaType;
	NDIS_PHYSICAL_MEDIUM PhysicalMediumType;
	NET_IF_ACCESS_TYPE AccessType;
	NET_IF_DIRECTION_TYPE DirectionType;
	struct {
		BOOLEAN HardwareInterface : 1;
		BOOLEAN FilterInterface : 1;
		BOOLEAN ConnectorPresent : 1;
		BOOLEAN NotAuthenticated : 1;
		BOOLEAN NotMediaConnected : 1;
		BOOLEAN Paused : 1;
		BOOLEAN LowPower : 1;
		BOOLEAN EndPointInterface : 1;
	} InterfaceAndOperStatusFlags;
	IF_OPER_STATUS OperStatus;
	NET_IF_ADMIN_STATUS AdminStatus;
	NET_IF_MEDIA_CONNECT_STATE MediaConnectState;
	NET_IF_NETWORK_GUID NetworkGuid;
	NET_IF_CONNECTION_TYPE ConnectionType;
	ULONG64 TransmitLinkSpeed;
	ULONG64 ReceiveLinkSpeed;
	ULONG64 InOctets;
	ULONG64 InUcastPkts;
	ULONG64 InNUcastPkts;
	ULONG64 InDiscards;
	ULONG64 InErrors;
	ULONG64 InUnknownProtos;
	ULONG64 InUcastOctets;
	ULONG64 InMulticastOctets;
	ULONG64 InBroadcastOctets;
	ULONG64 OutOctets;
	ULONG64 OutUcastPkts;
	ULONG64 OutNUcastPkts;
	ULONG64 OutDiscards;
	ULONG64 OutErrors;
	ULONG64 OutUcastOctets;
	ULONG64 OutMulticastOctets;
	ULONG64 OutBroadcastOctets;
	ULONG64 OutQLen;
} MIB_IF_ROW2, *PMIB_IF_ROW2;

typedef struct _MIB_IF_TABLE2 {
	ULONG NumEntries;
	MIB_IF_ROW2 Table[1]; /* NumEntries of them */
} MIB_IF_TABLE2, *PMIB_IF_TABLE2;

/* All levels are the same here. */
typedef enum _MIB_IF_ENTRY_LEVEL {
	MibIfEntryNormal = 0,
	MibIfEntryNormalWithoutStatistics = 2,
} MIB_IF_ENTRY_LEVEL, *PMIB_IF_ENTRY_LEVEL;

typedef enum _MIB_IF_TABLE_LEVEL {
	MibIfTableNormal,
	MibIfTableRaw,
	MibIfTableNormalWithoutStatistics,
} MIB_IF_TABLE_LEVEL, *PMIB_IF_TABLE_LEVEL;

/** Describe an interface.
 * @param Row in: InterfaceLuid, or InterfaceIndex if that is 0
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND, STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetIfEntry2(PMIB_IF_ROW2 Row) PLX_WIN_NAME(GetIfEntry2);
NETIO_STATUS WINAPI GetIfEntry2Ex(MIB_IF_ENTRY_LEVEL Level, PMIB_IF_ROW2 Row)
	PLX_WIN_NAME(GetIfEntry2Ex);
/** Describe all interfaces. @param Table [out] for FreeMibTable()
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetIfTable2(PMIB_IF_TABLE2 *Table) PLX_WIN_NAME(GetIfTable2);
NETIO_STATUS WINAPI GetIfTable2Ex(MIB_IF_TABLE_LEVEL Level, PMIB_IF_TABLE2 *Table)
	PLX_WIN_NAME(GetIfTable2Ex);
/** Free a table that a call of this header has returned. @param Memory may be NULL */
VOID WINAPI FreeMibTable(PVOID Memory) PLX_WIN_NAME(FreeMibTable);

/* ---- what names an interface ----
 *
 * Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER: a null pointer, or there is no such interface:
 * a LUID, GUID or index is then set to 0; STATUS_NO_MEMORY
 */

NETIO_STATUS WINAPI ConvertInterfaceIndexToLuid(NET_IFINDEX InterfaceIndex, PNET_LUID InterfaceLuid)
	PLX_WIN_NAME(ConvertInterfaceIndexToLuid);
NETIO_STATUS WINAPI ConvertInterfaceLuidToIndex(const NET_LUID *InterfaceLuid,
						PNET_IFINDEX InterfaceIndex)
	PLX_WIN_NAME(ConvertInterfaceLuidToIndex);
NETIO_STATUS WINAPI ConvertInterfaceLuidToGuid(const NET_LUID *InterfaceLuid, GUID *InterfaceGuid)
	PLX_WIN_NAME(ConvertInterfaceLuidToGuid);
NETIO_STATUS WINAPI ConvertInterfaceGuidToLuid(const GUID *InterfaceGuid, PNET_LUID InterfaceLuid)
	PLX_WIN_NAME(ConvertInterfaceGuidToLuid);
/** @param Length [characters] of the buffer, with the final 0; if it is too small, nothing is
 * written, and STATUS_NO_MEMORY returned. Name and alias are the same here. */
NETIO_STATUS WINAPI ConvertInterfaceLuidToAlias(const NET_LUID *InterfaceLuid, PWSTR InterfaceAlias,
						SIZE_T Length)
	PLX_WIN_NAME(ConvertInterfaceLuidToAlias);
NETIO_STATUS WINAPI ConvertInterfaceAliasToLuid(const WCHAR *InterfaceAlias,
						PNET_LUID InterfaceLuid)
	PLX_WIN_NAME(ConvertInterfaceAliasToLuid);
NETIO_STATUS WINAPI ConvertInterfaceLuidToNameW(const NET_LUID *InterfaceLuid, PWSTR InterfaceName,
						SIZE_T Length)
	PLX_WIN_NAME(ConvertInterfaceLuidToNameW);
NETIO_STATUS WINAPI ConvertInterfaceNameToLuidW(const WCHAR *InterfaceName, NET_LUID *InterfaceLuid)
	PLX_WIN_NAME(ConvertInterfaceNameToLuidW);

/* ---- addresses ---- */

typedef struct _MIB_UNICASTIPADDRESS_ROW {
	SOCKADDR_INET Address;
	NET_LUID InterfaceLuid;
	NET_IFINDEX InterfaceIndex;
	NL_PREFIX_ORIGIN PrefixOrigin; /* always manual */
	NL_SUFFIX_ORIGIN SuffixOrigin; /* always manual */
	ULONG ValidLifetime;           /* [s] never ends: all ones */
	ULONG PreferredLifetime;
	UINT8 OnLinkPrefixLength;
	BOOLEAN SkipAsSource;
	NL_DAD_STATE DadState; /* always preferred */
	SCOPE_ID ScopeId;
	LARGE_INTEGER CreationTimeStamp;
} MIB_UNICASTIPADDRESS_ROW, *PMIB_UNICASTIPADDRESS_ROW;

typedef struct _MIB_UNICASTIPADDRESS_TABLE {
	ULONG NumEntries;
	MIB_UNICASTIPADDRESS_ROW Table[1]; /* NumEntries of them */
} MIB_UNICASTIPADDRESS_TABLE, *PMIB_UNICASTIPADDRESS_TABLE;

/** List the addresses of all interfaces.
 * @param Family AF_INET, AF_INET6 or AF_UNSPEC
 * @param Table  [out] for FreeMibTable()
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND (there are none),
 * STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetUnicastIpAddressTable(ADDRESS_FAMILY Family,
					     PMIB_UNICASTIPADDRESS_TABLE *Table)
	PLX_WIN_NAME(GetUnicastIpAddressTable);
/** Describe an address.
 * @param Row in: Address, and InterfaceLuid, or InterfaceIndex if that is 0
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER (no unicast address, no interface given),
 * STATUS_NOT_FOUND (no such interface, or it does not have the address), STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetUnicastIpAddressEntry(PMIB_UNICASTIPADDRESS_ROW Row)
	PLX_WIN_NAME(GetUnicastIpAddressEntry);
/** Set a row to what no address has: origins that are unchanged, a prefix length of 255, lifetimes
 * that never end, and all other members 0. @param Row may be NULL */
VOID WINAPI InitializeUnicastIpAddressEntry(PMIB_UNICASTIPADDRESS_ROW Row)
	PLX_WIN_NAME(InitializeUnicastIpAddressEntry);

/* ---- IP interfaces: an interface and one family of which it has an address ---- */

typedef enum _NL_ROUTER_DISCOVERY_BEHAVIOR {
	RouterDiscoveryDisabled,
	RouterDiscoveryEnabled,
	RouterDiscoveryDhcp,
	RouterDiscoveryUnchanged = -1,
} NL_ROUTER_DISCOVERY_BEHAVIOR;

typedef enum _NL_LINK_LOCAL_ADDRESS_BEHAVIOR {
	LinkLocalAlwaysOff,
	LinkLocalDelayed,
	LinkLocalAlwaysOn,
	LinkLocalUnchanged = -1,
} NL_LINK_LOCAL_ADDRESS_BEHAVIOR;

typedef struct _NL_INTERFACE_OFFLOAD_ROD {
	BOOLEAN NlChecksumSupported : 1;
	BOOLEAN NlOptionsSupported : 1;
	BOOLEAN TlDatagramChecksumSupported : 1;
	BOOLEAN TlStreamChecksumSupported : 1;
	BOOLEAN TlStreamOptionsSupported : 1;
	BOOLEAN FastPathCompatible : 1;
	BOOLEAN TlLargeSendOffloadSupported : 1;
	BOOLEAN TlGiantSendOffloadSupported : 1;
} NL_INTERFACE_OFFLOAD_ROD, *PNL_INTERFACE_OFFLOAD_ROD;

typedef struct _MIB_IPINTERFACE_ROW {
	ADDRESS_FAMILY Family; /* AF_INET or AF_INET6 */
	NET_LUID InterfaceLuid;
	NET_IFINDEX InterfaceIndex;
	ULONG MaxReassemblySize;
	ULONG64 InterfaceIdentifier;
	ULONG MinRouterAdvertisementInterval;
	ULONG MaxRouterAdvertisementInterval;
	BOOLEAN AdvertisingEnabled;
	BOOLEAN ForwardingEnabled;
	BOOLEAN WeakHostSend;
	BOOLEAN WeakHostReceive;
	BOOLEAN UseAutomaticMetric;
	BOOLEAN UseNeighborUnreachabilityDetection;
	BOOLEAN ManagedAddressConfigurationSupported;
	BOOLEAN OtherStatefulConfigurationSupported;
	BOOLEAN AdvertiseDefaultRoute;
	NL_ROUTER_DISCOVERY_BEHAVIOR RouterDiscoveryBehavior;
	ULONG DadTransmits;
	ULONG BaseReachableTime;
	ULONG RetransmitTime;
	ULONG PathMtuDiscoveryTimeout;
	NL_LINK_LOCAL_ADDRESS_BEHAVIOR LinkLocalAddressBehavior;
	ULONG LinkLocalAddressTimeout;
	ULONG ZoneIndices[16];
	ULONG SitePrefixLength;
	ULONG Metric;
	ULONG NlMtu; /* as Mtu of MIB_IF_ROW2 */
	BOOLEAN Connected;
	BOOLEAN SupportsWakeUpPatterns;
	BOOLEAN SupportsNeighborDiscovery; /* ARP, too: of Ethernet */
	BOOLEAN SupportsRouterDiscovery;
	ULONG ReachableTime;
	NL_INTERFACE_OFFLOAD_ROD TransmitOffload;
	NL_INTERFACE_OFFLOAD_ROD ReceiveOffload;
	BOOLEAN DisableDefaultRoutes;
} MIB_IPINTERFACE_ROW, *PMIB_IPINTERFACE_ROW;

typedef struct _MIB_IPINTERFACE_TABLE {
	ULONG NumEntries;
	MIB_IPINTERFACE_ROW Table[1]; /* NumEntries of them */
} MIB_IPINTERFACE_TABLE, *PMIB_IPINTERFACE_TABLE;

/** Set all members to 0, of which AF_UNSPEC is one. @param Row may be NULL */
VOID WINAPI InitializeIpInterfaceEntry(PMIB_IPINTERFACE_ROW Row)
	PLX_WIN_NAME(InitializeIpInterfaceEntry);
/** Describe an IP interface.
 * @param Row in: Family, and InterfaceLuid, or InterfaceIndex if that is 0
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER (no family, no interface given),
 * STATUS_NOT_FOUND (no such interface, or it has no address of the family), STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetIpInterfaceEntry(PMIB_IPINTERFACE_ROW Row) PLX_WIN_NAME(GetIpInterfaceEntry);
/** List all IP interfaces.
 * @param Family AF_INET, AF_INET6 or AF_UNSPEC
 * @param Table  [out] for FreeMibTable()
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND (there are none),
 * STATUS_NO_MEMORY */
NETIO_STATUS WINAPI GetIpInterfaceTable(ADDRESS_FAMILY Family, PMIB_IPINTERFACE_TABLE *Table)
	PLX_WIN_NAME(GetIpInterfaceTable);

/* ---- routes ---- */

typedef struct _IP_ADDRESS_PREFIX {
	SOCKADDR_INET Prefix;
	UINT8 PrefixLength;
} IP_ADDRESS_PREFIX, *PIP_ADDRESS_PREFIX;

typedef struct _MIB_IPFORWARD_ROW2 {
	NET_LUID InterfaceLuid;
	NET_IFINDEX InterfaceIndex;
	IP_ADDRESS_PREFIX DestinationPrefix; /* of the kernel's routes: the destination alone */
	SOCKADDR_INET NextHop;               /* unspecified: the destination is a neighbour */
	UCHAR SitePrefixLength;
	ULONG ValidLifetime;
	ULONG PreferredLifetime;
	ULONG Metric;
	NL_ROUTE_PROTOCOL Protocol;
	BOOLEAN Loopback; /* the destination is an address of the adapter */
	BOOLEAN AutoconfigureAddress;
	BOOLEAN Publish;
	BOOLEAN Immortal;
	ULONG Age;
	NL_ROUTE_ORIGIN Origin;
} MIB_IPFORWARD_ROW2, *PMIB_IPFORWARD_ROW2;

/**
 * Find the best route to an address: by the longest prefix among adapters, else the kernel's.
 * @param InterfaceLuid      the interface that it has to use; NULL or 0: InterfaceIndex
 * @param InterfaceIndex     0: any interface, though Microsoft's page calls that invalid
 * @param SourceAddress      of which interface it has to be; NULL or unspecified: any
 * @param AddressSortOptions ignored, as by Windows
 * @param BestSourceAddress  [out] unspecified if the kernel does not say
 * Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_NOT_FOUND (no such interface, or source
 * address on it), STATUS_NETWORK_UNREACHABLE, STATUS_HOST_UNREACHABLE, STATUS_NO_MEMORY,
 * STATUS_UNSUCCESSFUL (the kernel does not answer)
 */
NETIO_STATUS WINAPI GetBestRoute2(NET_LUID *InterfaceLuid, NET_IFINDEX InterfaceIndex,
				  const SOCKADDR_INET *SourceAddress,
				  const SOCKADDR_INET *DestinationAddress, ULONG AddressSortOptions,
				  PMIB_IPFORWARD_ROW2 BestRoute, SOCKADDR_INET *BestSourceAddress)
	PLX_WIN_NAME(GetBestRoute2);

/* ---- changes ----
 *
 * Addresses and routes of an adapter do not change while it is open, and those of the file only
 * when somebody edits it, which nothing notices: so the one notification is the initial one, made
 * by the caller's thread before the call returns.
 */

typedef enum _MIB_NOTIFICATION_TYPE {
	MibParameterNotification,
	MibAddInstance,
	MibDeleteInstance,
	MibInitialNotification, /* its Row is NULL */
} MIB_NOTIFICATION_TYPE, *PMIB_NOTIFICATION_TYPE;

typedef VOID(NETIOAPI_API_ *PUNICAST_IPADDRESS_CHANGE_CALLBACK)(
	PVOID CallerContext, PMIB_UNICASTIPADDRESS_ROW Row, MIB_NOTIFICATION_TYPE NotificationType);
typedef VOID(NETIOAPI_API_ *PIPINTERFACE_CHANGE_CALLBACK)(PVOID CallerContext,
							  PMIB_IPINTERFACE_ROW Row,
							  MIB_NOTIFICATION_TYPE NotificationType);
typedef VOID(NETIOAPI_API_ *PIPFORWARD_CHANGE_CALLBACK)(PVOID CallerContext,
							PMIB_IPFORWARD_ROW2 Row,
							MIB_NOTIFICATION_TYPE NotificationType);

/** Register for changes of addresses.
 * @param Family             AF_INET, AF_INET6 or AF_UNSPEC
 * @param NotificationHandle [out] for CancelMibChangeNotify2(), set before the initial
 * notification; NULL if it fails Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER,
 * STATUS_NO_MEMORY */
NETIO_STATUS WINAPI NotifyUnicastIpAddressChange(ADDRESS_FAMILY Family,
						 PUNICAST_IPADDRESS_CHANGE_CALLBACK Callback,
						 PVOID CallerContext, BOOLEAN InitialNotification,
						 HANDLE *NotificationHandle)
	PLX_WIN_NAME(NotifyUnicastIpAddressChange);
/** The same for interfaces. */
NETIO_STATUS WINAPI NotifyIpInterfaceChange(ADDRESS_FAMILY Family,
					    PIPINTERFACE_CHANGE_CALLBACK Callback,
					    PVOID CallerContext, BOOLEAN InitialNotification,
					    HANDLE *NotificationHandle)
	PLX_WIN_NAME(NotifyIpInterfaceChange);
/** The same for routes. */
NETIO_STATUS WINAPI NotifyRouteChange2(ADDRESS_FAMILY AddressFamily,
				       PIPFORWARD_CHANGE_CALLBACK Callback, PVOID CallerContext,
				       BOOLEAN InitialNotification, HANDLE *NotificationHandle)
	PLX_WIN_NAME(NotifyRouteChange2);
/** End a registration. Returns: STATUS_SUCCESS, STATUS_INVALID_PARAMETER (no such registration) */
NETIO_STATUS WINAPI CancelMibChangeNotify2(HANDLE NotificationHandle)
	PLX_WIN_NAME(CancelMibChangeNotify2);

#ifdef __cplusplus
}
#endif

#endif
