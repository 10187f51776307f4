/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the calls of netioapi.h share: one interface among all, and texts and addresses in the form
 * of drivers. Start with netio_find().
 */
#ifndef PLX_WSK_NETIO_H
#define PLX_WSK_NETIO_H

#include <netioapi.h>

#include "plx_interfaces.h"

/** Find an interface.
 * @param luid NULL or 0: index counts
 * Returns: NULL: there is none, or neither was given */
const struct plx_interface *netio_find(const struct plx_interfaces *all, const NET_LUID *luid,
				       NET_IFINDEX index);
NET_LUID netio_luid(const struct plx_interface *from);
GUID netio_guid(const struct plx_interface *from);

/** Write a text and a final 0, or as much as there is room for. @param room [characters] 1 ..
 * Returns: was there room for all? */
bool netio_text(const char *from, PWSTR out, SIZE_T room);

/** Returns: false: of neither family */
bool netio_address_read(const SOCKADDR_INET *from, struct plx_ip *ip);
/** @param from of version 0: the unspecified address of `family` */
void netio_address_write(const struct plx_ip *from, ADDRESS_FAMILY family, SOCKADDR_INET *out);
bool netio_is_family(ADDRESS_FAMILY family);

/** List rows of a family. @param rows NULL: only count them. Returns: how many there are */
typedef uint32_t netio_list_fn(const struct plx_interfaces *all, ADDRESS_FAMILY family, PVOID rows);
/** Make a table of such rows, which begins with their number.
 * @param head  its bytes before the rows
 * @param table [out] freed by FreeMibTable(); unchanged if it fails
 * Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER; STATUS_NOT_FOUND: no row; STATUS_NO_MEMORY */
NETIO_STATUS netio_table(ADDRESS_FAMILY family, SIZE_T head, SIZE_T row_bytes, netio_list_fn *list,
			 PVOID *table);
ADDRESS_FAMILY netio_family(const struct plx_ip *ip);

#endif
