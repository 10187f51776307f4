/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interfaces for programs, as iphlpapi.h declares it: which interface leads to an address, and
 * which addresses each has. The adapters of the configuration file come first, then the interfaces
 * of the kernel. It opens nothing. Start with GetBestInterfaceEx().
 */
#include "address.h"
#include "plx_interfaces.h"

#include <iphlpapi.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* ---- the best interface ---- */

static DWORD
error_of(int error)
{
	switch (error) {
	case 0:
		return NO_ERROR;
	case ENETUNREACH:
	case ENETDOWN:
		return ERROR_NETWORK_UNREACHABLE;
	case EHOSTUNREACH:
		return ERROR_HOST_UNREACHABLE;
	case EINVAL:
		return ERROR_INVALID_PARAMETER;
	default:
		return ERROR_CAN_NOT_COMPLETE;
	}
}

DWORD WINAPI
GetBestInterfaceEx(struct sockaddr *to, PDWORD index)
{
	struct plx_route route;
	struct plx_ip ip;
	uint32_t scope;
	SIZE_T bytes;
	int error;

	if (!to || !index)
		return ERROR_INVALID_PARAMETER;
	/* no length is passed: the family implies it */
	bytes = to->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					  : sizeof(struct sockaddr_in);
	if (address_read(to, bytes, &ip, &scope) != ND_SUCCESS)
		return ERROR_INVALID_PARAMETER;
	error = plx_route_find(&ip, scope, 0, &route);
	if (!error)
		*index = route.interface_index;
	return error_of(error);
}

DWORD WINAPI
GetBestInterface(IPAddr to, PDWORD index)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = to};

	return GetBestInterfaceEx((struct sockaddr *)(void *)&address, index);
}

/* ---- all interfaces ----
 *
 * Everything is laid out twice: first without a buffer, which only counts, then in the caller's.
 */

struct layout {
	char *base; /* NULL: only count */
	size_t used;
	ULONG family, flags;
};

static void *
reserve(struct layout *layout, size_t bytes)
{
	void *at = layout->base ? layout->base + layout->used : NULL;

	layout->used += (bytes + 7) & ~(size_t)7;
	if (at)
		memset(at, 0, bytes);
	return at;
}

static void
put_address(struct layout *layout, const struct plx_ip *ip, SOCKET_ADDRESS *out)
{
	size_t bytes = ip->version == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	struct sockaddr *at = reserve(layout, bytes);

	if (!at)
		return;
	address_write(ip, at);
	out->lpSockaddr = at;
	out->iSockaddrLength = (INT)bytes;
}

static PWCHAR
put_words(struct layout *layout, const char *text)
{
	size_t n = strlen(text);
	PWCHAR at = reserve(layout, (n + 1) * sizeof(WCHAR));

	for (size_t i = 0; at && i < n; i++)
		at[i] = (unsigned char)text[i] < 0x80 ? (WCHAR)text[i] : L'?';
	return at;
}

static bool
is_wanted(const struct layout *layout, const struct plx_ip *ip)
{
	return layout->family == AF_UNSPEC || (layout->family == AF_INET && ip->version == 4) ||
	       (layout->family == AF_INET6 && ip->version == 6);
}

static PIP_ADAPTER_UNICAST_ADDRESS
put_unicast(struct layout *layout, const struct plx_interface *from)
{
	PIP_ADAPTER_UNICAST_ADDRESS first = NULL, *end = &first;

	for (uint32_t i = 0; i < from->addresses; i++) {
		PIP_ADAPTER_UNICAST_ADDRESS at;
		SOCKET_ADDRESS ignored, *to = &ignored;

		if (!is_wanted(layout, &from->address[i].ip))
			continue;
		at = reserve(layout, sizeof(*at));
		if (at) {
			at->Length = sizeof(*at);
			at->PrefixOrigin = IpPrefixOriginManual;
			at->SuffixOrigin = IpSuffixOriginManual;
			at->DadState = IpDadStatePreferred;
			at->ValidLifetime = UINT32_MAX;
			at->PreferredLifetime = UINT32_MAX;
			at->LeaseLifetime = UINT32_MAX;
			at->OnLinkPrefixLength = from->address[i].prefix_bits;
			to = &at->Address;
			*end = at;
			end = &at->Next;
		}
		put_address(layout, &from->address[i].ip, to);
	}
	return first;
}

static PIP_ADAPTER_PREFIX
put_prefixes(struct layout *layout, const struct plx_interface *from)
{
	PIP_ADAPTER_PREFIX first = NULL, *end = &first;

	for (uint32_t i = 0; i < from->addresses; i++) {
		struct plx_ip net = from->address[i].ip;
		PIP_ADAPTER_PREFIX at;
		SOCKET_ADDRESS ignored, *to = &ignored;

		if (!is_wanted(layout, &net))
			continue;
		for (uint32_t bit = from->address[i].prefix_bits; bit < 128; bit++)
			net.v[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
		at = reserve(layout, sizeof(*at));
		if (at) {
			at->Length = sizeof(*at);
			at->PrefixLength = from->address[i].prefix_bits;
			to = &at->Address;
			*end = at;
			end = &at->Next;
		}
		put_address(layout, &net, to);
	}
	return first;
}

static PIP_ADAPTER_GATEWAY_ADDRESS
put_gateways(struct layout *layout, const struct plx_interface *from)
{
	PIP_ADAPTER_GATEWAY_ADDRESS first = NULL, *end = &first;

	for (uint32_t i = 0; i < from->gateways; i++) {
		PIP_ADAPTER_GATEWAY_ADDRESS at;
		SOCKET_ADDRESS ignored, *to = &ignored;

		if (!is_wanted(layout, &from->gateway[i]))
			continue;
		at = reserve(layout, sizeof(*at));
		if (at) {
			at->Length = sizeof(*at);
			to = &at->Address;
			*end = at;
			end = &at->Next;
		}
		put_address(layout, &from->gateway[i], to);
	}
	return first;
}

/* Returns: NULL if there is no room */
static PIP_ADAPTER_ADDRESSES
put_interface(struct layout *layout, const struct plx_interface *from)
{
	PIP_ADAPTER_ADDRESSES at = reserve(layout, sizeof(*at)), out;
	IP_ADAPTER_ADDRESSES ignored;
	PCHAR name = reserve(layout, strlen(from->name) + 1);

	out = at ? at : &ignored;
	if (name)
		memcpy(name, from->name, strlen(from->name) + 1);
	out->Length = sizeof(*out);
	out->IfIndex = from->index;
	out->Ipv6IfIndex = from->index;
	out->AdapterName = name;
	out->Description = put_words(layout, from->description);
	if (!(layout->flags & GAA_FLAG_SKIP_FRIENDLY_NAME))
		out->FriendlyName = put_words(layout, from->name);
	memcpy(out->PhysicalAddress, from->mac, sizeof(from->mac));
	out->PhysicalAddressLength = from->has_mac ? sizeof(from->mac) : 0;
	out->Mtu = from->mtu;
	out->TransmitLinkSpeed = UINT64_MAX;
	out->ReceiveLinkSpeed = UINT64_MAX;
	out->IfType = from->type;
	out->OperStatus = from->is_up ? IfOperStatusUp : IfOperStatusDown;
	if (!(layout->flags & GAA_FLAG_SKIP_UNICAST))
		out->FirstUnicastAddress = put_unicast(layout, from);
	if (layout->flags & GAA_FLAG_INCLUDE_PREFIX)
		out->FirstPrefix = put_prefixes(layout, from);
	if (layout->flags & GAA_FLAG_INCLUDE_GATEWAYS)
		out->FirstGatewayAddress = put_gateways(layout, from);
	return at;
}

static bool
has_wanted(const struct layout *layout, const struct plx_interface *from)
{
	if (layout->family == AF_UNSPEC)
		return true;
	for (uint32_t i = 0; i < from->addresses; i++)
		if (is_wanted(layout, &from->address[i].ip))
			return true;
	return false;
}

/* Returns: the number of interfaces to report */
static uint32_t
put_all(struct layout *layout, const struct plx_interfaces *all)
{
	PIP_ADAPTER_ADDRESSES last = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		PIP_ADAPTER_ADDRESSES at;

		if (!has_wanted(layout, &all->one[i]))
			continue;
		n++;
		at = put_interface(layout, &all->one[i]);
		if (last)
			last->Next = at;
		last = at;
	}
	return n;
}

ULONG WINAPI
GetAdaptersAddresses(ULONG family, ULONG flags, PVOID reserved, PIP_ADAPTER_ADDRESSES out,
		     PULONG size)
{
	struct layout layout = {.family = family, .flags = flags};
	struct plx_interfaces all;
	ULONG status = NO_ERROR;

	(void)reserved;
	if (!size || (family != AF_UNSPEC && family != AF_INET && family != AF_INET6))
		return ERROR_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return ERROR_NOT_ENOUGH_MEMORY;
	if (!put_all(&layout, &all)) {
		status = ERROR_NO_DATA;
	} else if (!out || *size < layout.used) {
		*size = (ULONG)layout.used;
		status = ERROR_BUFFER_OVERFLOW;
	} else {
		layout.base = (char *)out;
		layout.used = 0;
		put_all(&layout, &all);
	}
	free(all.one);
	return status;
}
