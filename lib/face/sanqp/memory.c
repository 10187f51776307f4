/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registered memory of a connection, which is in a protection domain of its own. Start with
 * add().
 */
#include <endian.h>
#include <stdlib.h>

#include "provider.h"

/* What a peer needs to name memory. */
struct descriptor {
	uint64_t va; /* network order, as all */
	uint32_t key, bytes;
};
_Static_assert(sizeof(struct descriptor) == SANQP_DESCRIPTOR_BYTES, "it has these bytes");

void
sanqp_descriptor_write(const struct sanqp_region *region, void *out)
{
	const struct descriptor descriptor = {
		.va = htobe64((uintptr_t)region->base),
		.key = htobe32(plx_mr_key(region->mr).v),
		.bytes = htobe32(region->bytes),
	};

	memcpy(out, &descriptor, sizeof(descriptor));
}

bool
sanqp_descriptor_read(const void *descriptor, DWORD bytes, uint64_t *va, struct plx_key *key)
{
	struct descriptor d;

	if (descriptor == NULL || bytes != sizeof(d))
		return false;
	memcpy(&d, descriptor, sizeof(d));
	*va = be64toh(d.va);
	key->v = be32toh(d.key);
	return true;
}

/* ---- registering ---- */

static uint32_t
access_of(DWORD flags, bool rdma)
{
	uint32_t access = flags & MEM_WRITE ? PLX_ACCESS_LOCAL_WRITE : 0;

	if (rdma && (flags & MEM_READ))
		access |= PLX_ACCESS_REMOTE_READ;
	if (rdma && (flags & MEM_WRITE))
		access |= PLX_ACCESS_REMOTE_WRITE;
	return access;
}

/* The lock is held. NULL, with an error */
static struct sanqp_region *
add(struct sanqp_socket *socket, void *memory, DWORD bytes, DWORD flags, bool rdma, LPINT lpErrno)
{
	struct sanqp_connection *connection = socket->connection;
	struct sanqp_region *region;

	*lpErrno = flags == 0 || (flags & ~(DWORD)MEM_READWRITE)         ? WSAEINVAL
		   : memory == NULL || bytes == 0                        ? WSAEFAULT
		   : connection == NULL || socket->state == SANQP_BROKEN ? WSAENOTCONN
									 : 0;
	if (*lpErrno != 0)
		return NULL;
	*lpErrno = WSAENOBUFS;
	region = calloc(1, sizeof(*region));
	if (region == NULL)
		return NULL;
	if (plx_mr_register(connection->pd, memory, bytes, access_of(flags, rdma), &region->mr) !=
	    PLX_OK) {
		free(region);
		return NULL;
	}
	region->base = memory;
	region->bytes = bytes;
	region->flags = flags;
	region->rdma = rdma;
	plx_list_append(&connection->regions, &region->link);
	return region;
}

static int
drop(struct sanqp_region *region, LPINT lpErrno)
{
	if (region == NULL || region->uses > 0)
		return sanqp_error(WSAEINVAL, lpErrno);
	if (plx_mr_deregister(region->mr) != PLX_OK)
		return sanqp_error(WSAENETDOWN, lpErrno);
	plx_list_remove(&region->link);
	free(region);
	return 0;
}

void
sanqp_regions_free(struct sanqp_connection *connection)
{
	struct plx_list *node, *after;
	int ignored;

	plx_list_for_each (node, after, &connection->regions)
		(void)drop(plx_list_entry(node, struct sanqp_region, link), &ignored);
}

bool
sanqp_region_has(const struct sanqp_region *region, const void *memory, ULONG bytes, DWORD flags)
{
	uint64_t offset = (uint64_t)((uintptr_t)memory - (uintptr_t)region->base);

	return !region->rdma && (region->flags & flags) == flags && offset <= region->bytes &&
	       bytes <= region->bytes - offset;
}

struct sanqp_region *
sanqp_region_of(struct sanqp_connection *connection, const void *memory, ULONG bytes, DWORD flags)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &connection->regions) {
		struct sanqp_region *region = plx_list_entry(node, struct sanqp_region, link);

		if (sanqp_region_has(region, memory, bytes, flags))
			return region;
	}
	return NULL;
}

/* ---- calls ---- */

static HANDLE WSPAPI
register_memory(SOCKET s, PVOID memory, DWORD bytes, DWORD flags, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_region *region;

	if (socket == NULL)
		return NULL;
	region = add(socket, memory, bytes, flags, false, lpErrno);
	sanqp_leave(socket);
	return region;
}

struct sanqp_region *
sanqp_region_with(struct sanqp_connection *connection, HANDLE handle)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &connection->regions) {
		struct sanqp_region *region = plx_list_entry(node, struct sanqp_region, link);

		if (region == handle && !region->rdma)
			return region;
	}
	return NULL;
}

/* A completion that is there, but was not looked at, is none that holds memory. */
static int WSPAPI
deregister_memory(SOCKET s, HANDLE handle, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	int result;

	if (socket == NULL)
		return SOCKET_ERROR;
	sanqp_progress(socket);
	result = drop(socket->connection != NULL ? sanqp_region_with(socket->connection, handle)
						 : NULL,
		      lpErrno);
	sanqp_leave(socket);
	return result;
}

static int WSPAPI
register_rdma(SOCKET s, PVOID memory, DWORD bytes, DWORD flags, LPVOID descriptor, LPDWORD length,
	      LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_region *region;

	if (socket == NULL)
		return SOCKET_ERROR;
	if (length == NULL || descriptor == NULL || *length < SANQP_DESCRIPTOR_BYTES) {
		if (length != NULL)
			*length = SANQP_DESCRIPTOR_BYTES;
		sanqp_leave(socket);
		return sanqp_error(WSAEFAULT, lpErrno);
	}
	region = add(socket, memory, bytes, flags, true, lpErrno);
	if (region != NULL) {
		sanqp_descriptor_write(region, descriptor);
		*length = SANQP_DESCRIPTOR_BYTES;
	}
	sanqp_leave(socket);
	return region != NULL ? 0 : SOCKET_ERROR;
}

static struct sanqp_region *
region_named(struct sanqp_socket *socket, const void *descriptor, DWORD bytes)
{
	struct plx_list *node, *after;
	struct plx_key key;
	uint64_t va;

	if (socket->connection == NULL || !sanqp_descriptor_read(descriptor, bytes, &va, &key))
		return NULL;
	plx_list_for_each (node, after, &socket->connection->regions) {
		struct sanqp_region *region = plx_list_entry(node, struct sanqp_region, link);

		if (region->rdma && plx_mr_key(region->mr).v == key.v &&
		    (uintptr_t)region->base == va)
			return region;
	}
	return NULL;
}

static int WSPAPI
deregister_rdma(SOCKET s, LPVOID descriptor, DWORD bytes, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	int result;

	if (socket == NULL)
		return SOCKET_ERROR;
	result = drop(region_named(socket, descriptor, bytes), lpErrno);
	sanqp_leave(socket);
	return result;
}

SAN_NEVER_CALLED
sanqp_memory_extension(const GUID *id)
{
	static const struct {
		GUID id;
		SAN_NEVER_CALLED function;
	} extensions[] = {
		{WSAID_REGISTERMEMORY, (SAN_NEVER_CALLED)register_memory},
		{WSAID_DEREGISTERMEMORY, (SAN_NEVER_CALLED)deregister_memory},
		{WSAID_REGISTERRDMAMEMORY, (SAN_NEVER_CALLED)register_rdma},
		{WSAID_DEREGISTERRDMAMEMORY, (SAN_NEVER_CALLED)deregister_rdma},
	};

	for (uint32_t i = 0; i < PLX_COUNT_OF(extensions); i++)
		if (memcmp(id, &extensions[i].id, sizeof(*id)) == 0)
			return extensions[i].function;
	return NULL;
}
