/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What names an interface: index, LUID, GUID, name. Start with find_by().
 */
#include "netio.h"

#include <plx_ke.h>

#include <stdlib.h>
#include <string.h>

/* What is known of an interface; the first that is not NULL or 0 counts. */
struct key {
	const NET_LUID *luid;
	NET_IFINDEX index;
	const GUID *guid;
	const WCHAR *name;
};

static bool
is_named(const struct plx_interface *one, const WCHAR *name)
{
	WCHAR own[PLX_INTERFACE_NAME_ROOM];
	size_t n = 0;

	netio_text(one->name, own, PLX_INTERFACE_NAME_ROOM);
	while (own[n] != 0 && own[n] == name[n])
		n++;
	return own[n] == name[n];
}

static bool
is_meant(const struct plx_interface *one, const struct key *key)
{
	GUID guid;

	if (key->luid != NULL)
		return netio_luid(one).Value == key->luid->Value;
	if (key->guid != NULL) {
		guid = netio_guid(one);
		return memcmp(&guid, key->guid, sizeof(guid)) == 0;
	}
	if (key->name != NULL)
		return is_named(one, key->name);
	return key->index != NET_IFINDEX_UNSPECIFIED && one->index == key->index;
}

/* @param out [out] a copy; untouched if it fails */
static NETIO_STATUS
find_by(const char *call, const struct key *key, struct plx_interface *out)
{
	NETIO_STATUS status = STATUS_INVALID_PARAMETER;
	struct plx_interfaces all;

	plx_ke_require(call, PASSIVE_LEVEL);
	if (!plx_interfaces_read(&all))
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < all.count && status != STATUS_SUCCESS; i++) {
		if (!is_meant(&all.one[i], key))
			continue;
		*out = all.one[i];
		status = STATUS_SUCCESS;
	}
	free(all.one);
	return status;
}

static NETIO_STATUS
to_luid(const char *call, const struct key *key, PNET_LUID luid)
{
	struct plx_interface found;
	NETIO_STATUS status;

	if (luid == NULL)
		return STATUS_INVALID_PARAMETER;
	status = find_by(call, key, &found);
	luid->Value = status == STATUS_SUCCESS ? netio_luid(&found).Value : 0;
	return status;
}

static NETIO_STATUS
to_text(const char *call, const NET_LUID *luid, PWSTR out, SIZE_T room)
{
	WCHAR text[PLX_INTERFACE_NAME_ROOM];
	struct plx_interface found;
	NETIO_STATUS status;
	size_t n = 0;

	if (luid == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	status = find_by(call, &(struct key){.luid = luid}, &found);
	if (status != STATUS_SUCCESS)
		return status;
	netio_text(found.name, text, PLX_INTERFACE_NAME_ROOM);
	while (text[n] != 0)
		n++;
	if (room <= n)
		return STATUS_NO_MEMORY;
	memcpy(out, text, (n + 1) * sizeof(WCHAR));
	return STATUS_SUCCESS;
}

NETIO_STATUS WINAPI
ConvertInterfaceIndexToLuid(NET_IFINDEX index, PNET_LUID luid)
{
	return to_luid("ConvertInterfaceIndexToLuid", &(struct key){.index = index}, luid);
}

NETIO_STATUS WINAPI
ConvertInterfaceLuidToIndex(const NET_LUID *luid, PNET_IFINDEX index)
{
	struct plx_interface found;
	NETIO_STATUS status;

	if (index == NULL)
		return STATUS_INVALID_PARAMETER;
	*index = NET_IFINDEX_UNSPECIFIED;
	if (luid == NULL)
		return STATUS_INVALID_PARAMETER;
	status = find_by("ConvertInterfaceLuidToIndex", &(struct key){.luid = luid}, &found);
	if (status == STATUS_SUCCESS)
		*index = found.index;
	return status;
}

NETIO_STATUS WINAPI
ConvertInterfaceLuidToGuid(const NET_LUID *luid, GUID *guid)
{
	struct plx_interface found;
	NETIO_STATUS status;

	if (guid == NULL)
		return STATUS_INVALID_PARAMETER;
	memset(guid, 0, sizeof(*guid));
	if (luid == NULL)
		return STATUS_INVALID_PARAMETER;
	status = find_by("ConvertInterfaceLuidToGuid", &(struct key){.luid = luid}, &found);
	if (status == STATUS_SUCCESS)
		*guid = netio_guid(&found);
	return status;
}

NETIO_STATUS WINAPI
ConvertInterfaceGuidToLuid(const GUID *guid, PNET_LUID luid)
{
	return to_luid("ConvertInterfaceGuidToLuid", &(struct key){.guid = guid}, luid);
}

NETIO_STATUS WINAPI
ConvertInterfaceLuidToAlias(const NET_LUID *luid, PWSTR alias, SIZE_T room)
{
	return to_text("ConvertInterfaceLuidToAlias", luid, alias, room);
}

NETIO_STATUS WINAPI
ConvertInterfaceAliasToLuid(const WCHAR *alias, PNET_LUID luid)
{
	return to_luid("ConvertInterfaceAliasToLuid", &(struct key){.name = alias}, luid);
}

NETIO_STATUS WINAPI
ConvertInterfaceLuidToNameW(const NET_LUID *luid, PWSTR name, SIZE_T room)
{
	return to_text("ConvertInterfaceLuidToNameW", luid, name, room);
}

NETIO_STATUS WINAPI
ConvertInterfaceNameToLuidW(const WCHAR *name, NET_LUID *luid)
{
	return to_luid("ConvertInterfaceNameToLuidW", &(struct key){.name = name}, luid);
}
