/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One interface among all, and texts and addresses in the form of drivers. Start with netio_find().
 */
#include "netio.h"

#include <plx_session.h>

#include <stdlib.h>
#include <string.h>
#include <wdm.h>

_Static_assert(sizeof(WCHAR) == 2, "texts of drivers have 16 bits a character");
_Static_assert(sizeof(MIB_IF_ROW2) == 1352, "as in Windows");
_Static_assert(__builtin_offsetof(MIB_IF_ROW2, PhysicalAddressLength) == 1056, "as in Windows");
_Static_assert(__builtin_offsetof(MIB_IF_ROW2, TransmitLinkSpeed) == 1192, "as in Windows");
_Static_assert(__builtin_offsetof(MIB_IF_TABLE2, Table) == 8, "as in Windows");
_Static_assert(sizeof(MIB_UNICASTIPADDRESS_ROW) == 80, "as in Windows");
_Static_assert(sizeof(MIB_IPFORWARD_ROW2) == 104, "as in Windows");
_Static_assert(sizeof(MIB_IPINTERFACE_ROW) == 168, "as in Windows");
_Static_assert(sizeof(NET_LUID) == 8, "as in Windows");

NET_LUID
netio_luid(const struct plx_interface *from)
{
	NET_LUID luid = {.Value = 0};

	luid.Info.NetLuidIndex = from->index & 0xffffff;
	luid.Info.IfType = from->type & 0xffff;
	return luid;
}

/* The LUID behind a number of ours. */
GUID
netio_guid(const struct plx_interface *from)
{
	GUID guid = {0x504c5549, 0x4e54, 0x4946, {0}};
	NET_LUID luid = netio_luid(from);

	memcpy(guid.Data4, &luid, sizeof(guid.Data4));
	return guid;
}

const struct plx_interface *
netio_find(const struct plx_interfaces *all, const NET_LUID *luid, NET_IFINDEX index)
{
	bool by_luid = luid != NULL && luid->Value != 0;

	for (uint32_t i = 0; i < all->count; i++) {
		const struct plx_interface *at = &all->one[i];

		if (by_luid ? netio_luid(at).Value == luid->Value
			    : index != NET_IFINDEX_UNSPECIFIED && at->index == index)
			return at;
	}
	return NULL;
}

bool
netio_text(const char *from, PWSTR out, SIZE_T room)
{
	ULONG used = 0;
	NTSTATUS status = RtlUTF8ToUnicodeN(out, (ULONG)((room - 1) * sizeof(WCHAR)), &used, from,
					    (ULONG)strlen(from));

	out[used / sizeof(WCHAR)] = 0;
	return status != STATUS_BUFFER_TOO_SMALL;
}

bool
netio_address_read(const SOCKADDR_INET *from, struct plx_ip *ip)
{
	uint16_t port;

	return plx_session_sockaddr_read((const struct sockaddr *)from, sizeof(*from), ip, &port) ==
	       PLX_OK;
}

void
netio_address_write(const struct plx_ip *from, ADDRESS_FAMILY family, SOCKADDR_INET *out)
{
	memset(out, 0, sizeof(*out));
	if (from->version == 0)
		out->si_family = family;
	else
		plx_session_sockaddr_write(from, 0, out);
}

bool
netio_is_family(ADDRESS_FAMILY family)
{
	return family == AF_UNSPEC || family == AF_INET || family == AF_INET6;
}

ADDRESS_FAMILY
netio_family(const struct plx_ip *ip)
{
	return ip->version == 4 ? AF_INET : AF_INET6;
}

NETIO_STATUS
netio_table(ADDRESS_FAMILY family, SIZE_T head, SIZE_T row_bytes, netio_list_fn *list, PVOID *table)
{
	NETIO_STATUS status = STATUS_NOT_FOUND;
	struct plx_interfaces all;
	uint8_t *made = NULL;
	uint32_t n;

	if (table == NULL || !netio_is_family(family))
		return STATUS_INVALID_PARAMETER;
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	n = list(&all, family, NULL);
	if (n > 0) {
		made = calloc(1, head + n * row_bytes);
		status = made != NULL ? STATUS_SUCCESS : STATUS_NO_MEMORY;
	}
	if (made != NULL) {
		*(ULONG *)(void *)made = list(&all, family, made + head);
		*table = made;
	}
	free(all.one);
	return status;
}

VOID WINAPI
FreeMibTable(PVOID memory)
{
	free(memory);
}
