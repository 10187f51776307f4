/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unicast addresses of interfaces, one or all. Start with describe().
 */
#include "netio.h"

#include <plx_base.h>
#include <plx_ke.h>

#include <stdlib.h>
#include <string.h>

static void
describe(const struct plx_interface *from, uint32_t i, PMIB_UNICASTIPADDRESS_ROW row)
{
	memset(row, 0, sizeof(*row));
	netio_address_write(&from->address[i].ip, AF_UNSPEC, &row->Address);
	row->InterfaceLuid = netio_luid(from);
	row->InterfaceIndex = from->index;
	row->PrefixOrigin = IpPrefixOriginManual;
	row->SuffixOrigin = IpSuffixOriginManual;
	row->ValidLifetime = UINT32_MAX;
	row->PreferredLifetime = UINT32_MAX;
	row->OnLinkPrefixLength = from->address[i].prefix_bits;
	row->DadState = IpDadStatePreferred;
}

static uint32_t
list(const struct plx_interfaces *all, ADDRESS_FAMILY family, PVOID rows)
{
	PMIB_UNICASTIPADDRESS_ROW row = rows;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->count; i++)
		for (uint32_t j = 0; j < all->one[i].addresses; j++) {
			if (family != AF_UNSPEC &&
			    family != netio_family(&all->one[i].address[j].ip))
				continue;
			if (row != NULL)
				describe(&all->one[i], j, row + n);
			n++;
		}
	return n;
}

NETIO_STATUS WINAPI
GetUnicastIpAddressTable(ADDRESS_FAMILY family, PMIB_UNICASTIPADDRESS_TABLE *out)
{
	plx_ke_require("GetUnicastIpAddressTable", APC_LEVEL);
	return netio_table(family, FIELD_OFFSET(MIB_UNICASTIPADDRESS_TABLE, Table),
			   sizeof(MIB_UNICASTIPADDRESS_ROW), list, (PVOID *)out);
}

static bool
is_unicast(const struct plx_ip *ip)
{
	static const uint8_t none[16];

	if (ip->version == 4)
		return memcmp(ip->v, none, 4) != 0 && ip->v[0] < 0xe0;
	return memcmp(ip->v, none, 16) != 0 && ip->v[0] != 0xff;
}

VOID WINAPI
InitializeUnicastIpAddressEntry(PMIB_UNICASTIPADDRESS_ROW row)
{
	plx_ke_require("InitializeUnicastIpAddressEntry", APC_LEVEL);
	if (row == NULL)
		return;
	memset(row, 0, sizeof(*row));
	row->PrefixOrigin = IpPrefixOriginUnchanged;
	row->SuffixOrigin = IpSuffixOriginUnchanged;
	row->ValidLifetime = UINT32_MAX;
	row->PreferredLifetime = UINT32_MAX;
	row->OnLinkPrefixLength = UINT8_MAX;
}

NETIO_STATUS WINAPI
GetUnicastIpAddressEntry(PMIB_UNICASTIPADDRESS_ROW row)
{
	NETIO_STATUS status = STATUS_NOT_FOUND;
	const struct plx_interface *found;
	struct plx_interfaces all;
	struct plx_ip ip;

	plx_ke_require("GetUnicastIpAddressEntry", APC_LEVEL);
	if (row == NULL || !netio_address_read(&row->Address, &ip) || !is_unicast(&ip) ||
	    (row->InterfaceLuid.Value == 0 && row->InterfaceIndex == NET_IFINDEX_UNSPECIFIED))
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	found = netio_find(&all, &row->InterfaceLuid, row->InterfaceIndex);
	for (uint32_t i = 0; found != NULL && i < found->addresses; i++) {
		if (!plx_ip_same_prefix(&found->address[i].ip, &ip, plx_ip_bits(&ip)))
			continue;
		describe(found, i, row);
		status = STATUS_SUCCESS;
		break;
	}
	free(all.one);
	return status;
}
