/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interfaces, one or all. Start with describe().
 */
#include "netio.h"

#include <plx_ke.h>

#include <stdlib.h>
#include <string.h>

static void
describe(const struct plx_interface *from, PMIB_IF_ROW2 row)
{
	bool is_loopback = from->type == IF_TYPE_SOFTWARE_LOOPBACK;

	memset(row, 0, sizeof(*row));
	row->InterfaceLuid = netio_luid(from);
	row->InterfaceIndex = from->index;
	row->InterfaceGuid = netio_guid(from);
	netio_text(from->name, row->Alias, IF_MAX_STRING_SIZE + 1);
	netio_text(from->description, row->Description, IF_MAX_STRING_SIZE + 1);
	if (from->has_mac) {
		row->PhysicalAddressLength = sizeof(from->mac);
		memcpy(row->PhysicalAddress, from->mac, sizeof(from->mac));
		memcpy(row->PermanentPhysicalAddress, from->mac, sizeof(from->mac));
	}
	row->Mtu = from->mtu;
	row->Type = from->type;
	row->MediaType = is_loopback ? NdisMediumLoopback : NdisMedium802_3;
	row->PhysicalMediumType =
		is_loopback ? NdisPhysicalMediumUnspecified : NdisPhysicalMedium802_3;
	row->AccessType = is_loopback ? NET_IF_ACCESS_LOOPBACK : NET_IF_ACCESS_BROADCAST;
	row->InterfaceAndOperStatusFlags.HardwareInterface = from->is_adapter;
	row->InterfaceAndOperStatusFlags.ConnectorPresent = from->is_adapter;
	row->OperStatus = from->is_up ? IfOperStatusUp : IfOperStatusDown;
	row->AdminStatus = from->is_up ? NET_IF_ADMIN_STATUS_UP : NET_IF_ADMIN_STATUS_DOWN;
	row->MediaConnectState =
		from->is_up ? MediaConnectStateConnected : MediaConnectStateDisconnected;
	row->ConnectionType = NET_IF_CONNECTION_DEDICATED;
	row->TransmitLinkSpeed = UINT64_MAX;
	row->ReceiveLinkSpeed = UINT64_MAX;
}

static NETIO_STATUS
get_entry(PMIB_IF_ROW2 row)
{
	const struct plx_interface *found;
	struct plx_interfaces all;

	if (row == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	found = netio_find(&all, &row->InterfaceLuid, row->InterfaceIndex);
	if (found != NULL)
		describe(found, row);
	free(all.one);
	return found != NULL ? STATUS_SUCCESS : STATUS_NOT_FOUND;
}

NETIO_STATUS WINAPI
GetIfEntry2(PMIB_IF_ROW2 row)
{
	plx_ke_require("GetIfEntry2", APC_LEVEL);
	return get_entry(row);
}

NETIO_STATUS WINAPI
GetIfEntry2Ex(MIB_IF_ENTRY_LEVEL level, PMIB_IF_ROW2 row)
{
	plx_ke_require("GetIfEntry2Ex", APC_LEVEL);
	if (level != MibIfEntryNormal && level != MibIfEntryNormalWithoutStatistics)
		return STATUS_INVALID_PARAMETER;
	return get_entry(row);
}

static NETIO_STATUS
get_table(PMIB_IF_TABLE2 *out)
{
	struct plx_interfaces all;
	PMIB_IF_TABLE2 table;

	if (out == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	table = calloc(1, sizeof(*table) + all.count * sizeof(table->Table[0]));
	if (table != NULL) {
		PMIB_IF_ROW2 row = table->Table;

		table->NumEntries = all.count;
		for (uint32_t i = 0; i < all.count; i++)
			describe(&all.one[i], row + i);
		*out = table;
	}
	free(all.one);
	return table != NULL ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NETIO_STATUS WINAPI
GetIfTable2(PMIB_IF_TABLE2 *table)
{
	plx_ke_require("GetIfTable2", APC_LEVEL);
	return get_table(table);
}

NETIO_STATUS WINAPI
GetIfTable2Ex(MIB_IF_TABLE_LEVEL level, PMIB_IF_TABLE2 *table)
{
	plx_ke_require("GetIfTable2Ex", APC_LEVEL);
	if (level < MibIfTableNormal || level > MibIfTableNormalWithoutStatistics)
		return STATUS_INVALID_PARAMETER;
	return get_table(table);
}
