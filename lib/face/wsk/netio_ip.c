/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IP interfaces, one or all: each interface counts once for each family of which it has an address.
 * Start with describe().
 */
#include "netio.h"

#include <plx_ke.h>

#include <stdlib.h>
#include <string.h>

static const ADDRESS_FAMILY families[] = {AF_INET, AF_INET6};

static bool
has_family(const struct plx_interface *one, ADDRESS_FAMILY family)
{
	for (uint32_t i = 0; i < one->addresses; i++)
		if (netio_family(&one->address[i].ip) == family)
			return true;
	return false;
}

static void
describe(const struct plx_interface *from, ADDRESS_FAMILY family, PMIB_IPINTERFACE_ROW row)
{
	memset(row, 0, sizeof(*row));
	row->Family = family;
	row->InterfaceLuid = netio_luid(from);
	row->InterfaceIndex = from->index;
	row->NlMtu = from->mtu;
	row->Connected = from->is_up;
	row->SupportsNeighborDiscovery = from->type == IF_TYPE_ETHERNET_CSMACD;
}

VOID WINAPI
InitializeIpInterfaceEntry(PMIB_IPINTERFACE_ROW row)
{
	plx_ke_require("InitializeIpInterfaceEntry", APC_LEVEL);
	if (row != NULL)
		memset(row, 0, sizeof(*row));
}

NETIO_STATUS WINAPI
GetIpInterfaceEntry(PMIB_IPINTERFACE_ROW row)
{
	NETIO_STATUS status = STATUS_NOT_FOUND;
	const struct plx_interface *found;
	struct plx_interfaces all;

	plx_ke_require("GetIpInterfaceEntry", APC_LEVEL);
	if (row == NULL || (row->Family != AF_INET && row->Family != AF_INET6) ||
	    (row->InterfaceLuid.Value == 0 && row->InterfaceIndex == NET_IFINDEX_UNSPECIFIED))
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	found = netio_find(&all, &row->InterfaceLuid, row->InterfaceIndex);
	if (found != NULL && has_family(found, row->Family)) {
		describe(found, row->Family, row);
		status = STATUS_SUCCESS;
	}
	free(all.one);
	return status;
}

static uint32_t
list(const struct plx_interfaces *all, ADDRESS_FAMILY family, PVOID rows)
{
	PMIB_IPINTERFACE_ROW row = rows;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->count; i++)
		for (size_t j = 0; j < ARRAYSIZE(families); j++) {
			if ((family != AF_UNSPEC && family != families[j]) ||
			    !has_family(&all->one[i], families[j]))
				continue;
			if (row != NULL)
				describe(&all->one[i], families[j], row + n);
			n++;
		}
	return n;
}

NETIO_STATUS WINAPI
GetIpInterfaceTable(ADDRESS_FAMILY family, PMIB_IPINTERFACE_TABLE *out)
{
	plx_ke_require("GetIpInterfaceTable", APC_LEVEL);
	return netio_table(family, FIELD_OFFSET(MIB_IPINTERFACE_TABLE, Table),
			   sizeof(MIB_IPINTERFACE_ROW), list, (PVOID *)out);
}
