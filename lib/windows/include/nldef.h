/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where addresses and routes come from, for programs and drivers. It declares no functions.
 */
#ifndef PLX_WIN_NLDEF_H
#define PLX_WIN_NLDEF_H

typedef enum {
	IpPrefixOriginOther,
	IpPrefixOriginManual,
	IpPrefixOriginWellKnown,
	IpPrefixOriginDhcp,
	IpPrefixOriginRouterAdvertisement,
	IpPrefixOriginUnchanged = 16,
} NL_PREFIX_ORIGIN;

typedef enum {
	IpSuffixOriginOther,
	IpSuffixOriginManual,
	IpSuffixOriginWellKnown,
	IpSuffixOriginDhcp,
	IpSuffixOriginLinkLayerAddress,
	IpSuffixOriginRandom,
	IpSuffixOriginUnchanged = 16,
} NL_SUFFIX_ORIGIN;

typedef enum {
	IpDadStateInvalid,
	IpDadStateTentative,
	IpDadStateDuplicate,
	IpDadStateDeprecated,
	IpDadStatePreferred,
} NL_DAD_STATE;

typedef enum {
	RouteProtocolOther = 1,
	RouteProtocolLocal,
	RouteProtocolNetMgmt,
	RouteProtocolIcmp,
} NL_ROUTE_PROTOCOL, *PNL_ROUTE_PROTOCOL;

/* The names of SNMP's table of routes (RFC 4292). */
#define MIB_IPPROTO_OTHER   RouteProtocolOther
#define MIB_IPPROTO_LOCAL   RouteProtocolLocal
#define MIB_IPPROTO_NETMGMT RouteProtocolNetMgmt
#define MIB_IPPROTO_ICMP    RouteProtocolIcmp

typedef enum _NL_ROUTE_ORIGIN {
	NlroManual,
	NlroWellKnown,
	NlroDHCP,
	NlroRouterAdvertisement,
	Nlro6to4,
} NL_ROUTE_ORIGIN, *PNL_ROUTE_ORIGIN;

#endif
