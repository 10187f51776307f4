/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What NDIS tells of an NDK adapter as a whole, beyond what NdkQueryAdapterInfo tells a consumer:
 * capabilities, counters, connections and local endpoints. Types and numbers; it declares no
 * function. Start with NDIS_NDK_CAPABILITIES.
 */
#ifndef PLX_NDKPI_NTDDNDIS_H
#define PLX_NDKPI_NTDDNDIS_H

#include <windef.h>
#include <ws2def.h>
#include <wdmmedium.h>

#include "ndkinfo.h"

/* The first member of each structure here: of what type it is, in which revision and size. */
typedef struct _NDIS_OBJECT_HEADER {
	UCHAR Type;
	UCHAR Revision;
	USHORT Size;
} NDIS_OBJECT_HEADER, *PNDIS_OBJECT_HEADER;

#define NDIS_OBJECT_TYPE_DEFAULT 0x80

#define PLX_NDIS_THROUGH(type, member) \
	(__builtin_offsetof(type, member) + sizeof(((type *)0)->member))

/* ---- capabilities ---- */

/* Limits of the adapter; those of a consumer are in NDK_ADAPTER_INFO. */
typedef struct _NDIS_NDK_CAPABILITIES {
	NDIS_OBJECT_HEADER Header;
	ULONG Flags; /* reserved */
	ULONG MaxQpCount;
	ULONG MaxCqCount;
	ULONG MaxMrCount;
	ULONG MaxPdCount;
	ULONG MaxInboundReadLimit;  /* 0: only each queue pair has a limit */
	ULONG MaxOutboundReadLimit; /* 0: the same */
	ULONG MaxMwCount;
	ULONG MaxSrqCount;
	ULONG64 MissingCounterMask; /* bits by number of the counter */
	NDK_ADAPTER_INFO *NdkInfo;
} NDIS_NDK_CAPABILITIES, *PNDIS_NDK_CAPABILITIES;

#define NDIS_NDK_CAPABILITIES_REVISION_1        1
#define NDIS_SIZEOF_NDK_CAPABILITIES_REVISION_1 PLX_NDIS_THROUGH(NDIS_NDK_CAPABILITIES, NdkInfo)

/* ---- counters ---- */

/* Octets count everything of a frame from layer 2 on. The number of a counter is its place. */
typedef struct _NDIS_NDK_PERFORMANCE_COUNTERS {
	ULONG64 Connect;
	ULONG64 Accept;
	ULONG64 ConnectFailure;
	ULONG64 ConnectionError;
	ULONG64 ActiveConnection;
	ULONG64 Reserved01;
	ULONG64 Reserved02;
	ULONG64 Reserved03;
	ULONG64 Reserved04;
	ULONG64 Reserved05;
	ULONG64 Reserved06;
	ULONG64 Reserved07;
	ULONG64 Reserved08;
	ULONG64 Reserved09;
	ULONG64 Reserved10;
	ULONG64 Reserved11;
	ULONG64 Reserved12;
	ULONG64 Reserved13;
	ULONG64 Reserved14;
	ULONG64 Reserved15;
	ULONG64 Reserved16;
	ULONG64 Reserved17;
	ULONG64 Reserved18;
	ULONG64 Reserved19;
	ULONG64 Reserved20;
	ULONG64 CQError;
	ULONG64 RDMAInOctets;
	ULONG64 RDMAOutOctets;
	ULONG64 RDMAInFrames;
	ULONG64 RDMAOutFrames;
} NDIS_NDK_PERFORMANCE_COUNTERS, *PNDIS_NDK_PERFORMANCE_COUNTERS;

typedef struct _NDIS_NDK_STATISTICS_INFO {
	NDIS_OBJECT_HEADER Header;
	ULONG Flags; /* reserved */
	NDIS_NDK_PERFORMANCE_COUNTERS CounterSet;
} NDIS_NDK_STATISTICS_INFO;

#define NDIS_NDK_STATISTICS_INFO_REVISION_1 1
#define NDIS_SIZEOF_NDK_STATISTICS_INFO_REVISION_1 \
	PLX_NDIS_THROUGH(NDIS_NDK_STATISTICS_INFO, CounterSet)

/* ---- connections and local endpoints ---- */

typedef struct _NDIS_NDK_CONNECTION_ENTRY {
	SOCKADDR_INET Local;
	SOCKADDR_INET Remote;
	BOOLEAN UserModeOwner; /* FALSE: a consumer of NDK */
	ULONG OwnerPid;
} NDIS_NDK_CONNECTION_ENTRY;

/* Count entries; where a connection has one of TCP below it, that follows as an entry of its own.
 */
typedef struct _NDIS_NDK_CONNECTIONS {
	NDIS_OBJECT_HEADER Header;
	ULONG Flags; /* reserved */
	ULONG Count;
	BOOLEAN NDConnectionsMappedtoTCPConnections;
	NDIS_NDK_CONNECTION_ENTRY Connections[1];
} NDIS_NDK_CONNECTIONS;

#define NDIS_NDK_CONNECTIONS_REVISION_1 1
#define NDIS_SIZEOF_NDK_CONNECTIONS_REVISION_1(n)                \
	(__builtin_offsetof(NDIS_NDK_CONNECTIONS, Connections) + \
	 (n) * sizeof(NDIS_NDK_CONNECTION_ENTRY))

typedef struct _NDIS_NDK_LOCAL_ENDPOINT_ENTRY {
	SOCKADDR_INET Local;
	BOOLEAN UserModeOwner;
	BOOLEAN Listener; /* FALSE: a shared endpoint */
	ULONG OwnerPid;
} NDIS_NDK_LOCAL_ENDPOINT_ENTRY;

typedef struct _NDIS_NDK_LOCAL_ENDPOINTS {
	NDIS_OBJECT_HEADER Header;
	ULONG Flags; /* reserved */
	ULONG Count;
	BOOLEAN NDLocalEndpointsMappedtoTCPLocalEndpoints;
	NDIS_NDK_LOCAL_ENDPOINT_ENTRY LocalEndpoints[1];
} NDIS_NDK_LOCAL_ENDPOINTS;

#define NDIS_NDK_LOCAL_ENDPOINTS_REVISION_1 1
#define NDIS_SIZEOF_NDK_LOCAL_ENDPOINTS_REVISION_1(n)                   \
	(__builtin_offsetof(NDIS_NDK_LOCAL_ENDPOINTS, LocalEndpoints) + \
	 (n) * sizeof(NDIS_NDK_LOCAL_ENDPOINT_ENTRY))

#endif
