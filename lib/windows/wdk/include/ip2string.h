/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses of IPv4, IPv6 and Ethernet as text, and back.
 *
 * In IPv4 the strict form has four decimal numbers. The other form has one to four, as inet_aton()
 * reads them: octal after 0, hexadecimal after 0x, the last one with all bytes that are left.
 */
#ifndef PLX_WDK_IP2STRING_H
#define PLX_WDK_IP2STRING_H

#include "wdmtypes.h"

#include <ws2def.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An Ethernet address, in network byte order. */
typedef union _DL_EUI48 {
	UCHAR Byte[6];
} DL_EUI48, *PDL_EUI48;

/** Write an address as F4-CE-46-2D-90-8C. @param S room for 18 characters. Returns: its end, the 0
 */
PSTR RtlEthernetAddressToStringA(const DL_EUI48 *Addr, PSTR S)
	PLX_WIN_NAME(RtlEthernetAddressToStringA);
/** Read such an address, also with small letters. @param Terminator [out] the first character that
 * is not of it. Errors: STATUS_INVALID_PARAMETER: it is none */
NTSTATUS RtlEthernetStringToAddressA(PCSTR S, PCSTR *Terminator, DL_EUI48 *Addr)
	PLX_WIN_NAME(RtlEthernetStringToAddressA);
/** Write an address. @param S room for 16 characters. Returns: its end, the 0 */
PSTR RtlIpv4AddressToStringA(const struct in_addr *Addr, PSTR S)
	PLX_WIN_NAME(RtlIpv4AddressToStringA);
/** @param S room for 46 characters */
PSTR RtlIpv6AddressToStringA(const struct in6_addr *Addr, PSTR S)
	PLX_WIN_NAME(RtlIpv6AddressToStringA);
/**
 * Write an address and a port: 192.0.2.1:445, or [fe80::1%3]:445.
 * @param Port                [network byte order] 0: none
 * @param AddressStringLength [in] characters there, [out] characters written or needed, with the 0
 * Errors: STATUS_INVALID_PARAMETER, also if it does not fit
 */
NTSTATUS RtlIpv4AddressToStringExA(const struct in_addr *Address, USHORT Port, PSTR AddressString,
				   PULONG AddressStringLength)
	PLX_WIN_NAME(RtlIpv4AddressToStringExA);
/** @param ScopeId [host byte order] 0: none */
NTSTATUS RtlIpv6AddressToStringExA(const struct in6_addr *Address, ULONG ScopeId, USHORT Port,
				   PSTR AddressString, PULONG AddressStringLength)
	PLX_WIN_NAME(RtlIpv6AddressToStringExA);
/**
 * Read an address.
 * @param Terminator [out] the first character that is not of the address
 * Errors: STATUS_INVALID_PARAMETER: it is no address; Terminator says where that is clear
 */
NTSTATUS RtlIpv4StringToAddressA(PCSTR S, BOOLEAN Strict, PCSTR *Terminator, struct in_addr *Addr)
	PLX_WIN_NAME(RtlIpv4StringToAddressA);
NTSTATUS RtlIpv6StringToAddressA(PCSTR S, PCSTR *Terminator, struct in6_addr *Addr)
	PLX_WIN_NAME(RtlIpv6StringToAddressA);
/** Read all of a text, with its port if there is one. @param Port 0: there is none */
NTSTATUS RtlIpv4StringToAddressExA(PCSTR AddressString, BOOLEAN Strict, struct in_addr *Address,
				   PUSHORT Port) PLX_WIN_NAME(RtlIpv4StringToAddressExA);
NTSTATUS RtlIpv6StringToAddressExA(PCSTR AddressString, struct in6_addr *Address, PULONG ScopeId,
				   PUSHORT Port) PLX_WIN_NAME(RtlIpv6StringToAddressExA);

#if __SIZEOF_WCHAR_T__ == 2
PWSTR RtlIpv4AddressToStringW(const struct in_addr *Addr, PWSTR S)
	PLX_WIN_NAME(RtlIpv4AddressToStringW);
PWSTR RtlIpv6AddressToStringW(const struct in6_addr *Addr, PWSTR S)
	PLX_WIN_NAME(RtlIpv6AddressToStringW);
NTSTATUS RtlIpv4AddressToStringExW(const struct in_addr *Address, USHORT Port, PWSTR AddressString,
				   PULONG AddressStringLength)
	PLX_WIN_NAME(RtlIpv4AddressToStringExW);
NTSTATUS RtlIpv6AddressToStringExW(const struct in6_addr *Address, ULONG ScopeId, USHORT Port,
				   PWSTR AddressString, PULONG AddressStringLength)
	PLX_WIN_NAME(RtlIpv6AddressToStringExW);
NTSTATUS RtlIpv4StringToAddressW(PCWSTR S, BOOLEAN Strict, PCWSTR *Terminator, struct in_addr *Addr)
	PLX_WIN_NAME(RtlIpv4StringToAddressW);
NTSTATUS RtlIpv6StringToAddressW(PCWSTR S, PCWSTR *Terminator, struct in6_addr *Addr)
	PLX_WIN_NAME(RtlIpv6StringToAddressW);
NTSTATUS RtlIpv4StringToAddressExW(PCWSTR AddressString, BOOLEAN Strict, struct in_addr *Address,
				   PUSHORT Port) PLX_WIN_NAME(RtlIpv4StringToAddressExW);
NTSTATUS RtlIpv6StringToAddressExW(PCWSTR AddressString, struct in6_addr *Address, PULONG ScopeId,
				   PUSHORT Port) PLX_WIN_NAME(RtlIpv6StringToAddressExW);
PWSTR RtlEthernetAddressToStringW(const DL_EUI48 *Addr, PWSTR S)
	PLX_WIN_NAME(RtlEthernetAddressToStringW);
NTSTATUS RtlEthernetStringToAddressW(PCWSTR S, PCWSTR *Terminator, DL_EUI48 *Addr)
	PLX_WIN_NAME(RtlEthernetStringToAddressW);
#ifdef UNICODE
#define RtlEthernetAddressToString RtlEthernetAddressToStringW
#define RtlEthernetStringToAddress RtlEthernetStringToAddressW
#define RtlIpv4AddressToString     RtlIpv4AddressToStringW
#define RtlIpv4AddressToStringEx   RtlIpv4AddressToStringExW
#define RtlIpv4StringToAddress     RtlIpv4StringToAddressW
#define RtlIpv4StringToAddressEx   RtlIpv4StringToAddressExW
#define RtlIpv6AddressToString     RtlIpv6AddressToStringW
#define RtlIpv6AddressToStringEx   RtlIpv6AddressToStringExW
#define RtlIpv6StringToAddress     RtlIpv6StringToAddressW
#define RtlIpv6StringToAddressEx   RtlIpv6StringToAddressExW
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
