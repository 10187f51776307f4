/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The best route to an address. Start with GetBestRoute2().
 */
#include "netio.h"

#include <plx_base.h>
#include <plx_ke.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static NETIO_STATUS
status_of(int error)
{
	switch (error) {
	case 0:
		return STATUS_SUCCESS;
	case ENETUNREACH:
	case ENETDOWN:
		return STATUS_NETWORK_UNREACHABLE;
	case EHOSTUNREACH:
		return STATUS_HOST_UNREACHABLE;
	case EINVAL:
		return STATUS_INVALID_PARAMETER;
	default:
		return STATUS_UNSUCCESSFUL;
	}
}

static bool
has_address(const struct plx_interface *one, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < one->addresses; i++)
		if (plx_ip_same_prefix(&one->address[i].ip, ip, plx_ip_bits(ip)))
			return true;
	return false;
}

/* The interface that a route has to use.
 * @param source of version 0: it may have any address
 * @param only   [in, out] its index; 0: any
 * Returns: false: there is none */
static bool
choose(const struct plx_interfaces *all, const NET_LUID *luid, const struct plx_ip *source,
       NET_IFINDEX *only)
{
	const struct plx_interface *one = NULL;

	if ((luid != NULL && luid->Value != 0) || *only != NET_IFINDEX_UNSPECIFIED) {
		one = netio_find(all, luid, *only);
		if (one == NULL || (source->version != 0 && !has_address(one, source)))
			return false;
	}
	for (uint32_t i = 0; i < all->count && one == NULL && source->version != 0; i++)
		if (has_address(&all->one[i], source))
			one = &all->one[i];
	if (one != NULL)
		*only = one->index;
	return one != NULL || source->version == 0;
}

static void
describe(const struct plx_route *route, const struct plx_interfaces *all, const struct plx_ip *to,
	 PMIB_IPFORWARD_ROW2 row)
{
	const struct plx_interface *one = netio_find(all, NULL, route->interface_index);
	ADDRESS_FAMILY family = netio_family(to);

	memset(row, 0, sizeof(*row));
	if (one != NULL)
		row->InterfaceLuid = netio_luid(one);
	row->InterfaceIndex = route->interface_index;
	netio_address_write(&route->net, family, &row->DestinationPrefix.Prefix);
	row->DestinationPrefix.PrefixLength = route->prefix_bits;
	netio_address_write(&route->via, family, &row->NextHop);
	row->ValidLifetime = UINT32_MAX;
	row->PreferredLifetime = UINT32_MAX;
	row->Protocol = route->via.version != 0 ? MIB_IPPROTO_NETMGMT : MIB_IPPROTO_LOCAL;
	row->Loopback = one != NULL && has_address(one, to);
	row->Immortal = TRUE;
	row->Origin = NlroManual;
}

static bool
is_unspecified(const struct plx_ip *ip)
{
	static const uint8_t none[16];

	return memcmp(ip->v, none, plx_ip_bytes(ip)) == 0;
}

NETIO_STATUS WINAPI
GetBestRoute2(NET_LUID *luid, NET_IFINDEX index, const SOCKADDR_INET *source,
	      const SOCKADDR_INET *destination, ULONG options, PMIB_IPFORWARD_ROW2 row,
	      SOCKADDR_INET *best_source)
{
	struct plx_ip to, from = {.version = 0};
	struct plx_interfaces all;
	struct plx_route route;
	NETIO_STATUS status = STATUS_NOT_FOUND;
	uint32_t scope = 0;

	(void)options;
	plx_ke_require("GetBestRoute2", APC_LEVEL);
	if (destination == NULL || row == NULL || best_source == NULL ||
	    !netio_address_read(destination, &to))
		return STATUS_INVALID_PARAMETER;
	if (source != NULL && source->si_family != AF_UNSPEC &&
	    (!netio_address_read(source, &from) || from.version != to.version))
		return STATUS_INVALID_PARAMETER;
	if (from.version != 0 && is_unspecified(&from))
		from.version = 0;
	if (destination->si_family == AF_INET6)
		scope = destination->Ipv6.sin6_scope_id;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	if (choose(&all, luid, &from, &index))
		status = status_of(plx_route_find(&to, scope, index, &route));
	if (status == STATUS_SUCCESS) {
		describe(&route, &all, &to, row);
		netio_address_write(from.version != 0 ? &from : &route.local, netio_family(&to),
				    best_source);
	}
	free(all.one);
	return status;
}
