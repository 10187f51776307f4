/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Local addresses and ports that are in use, and NDK_SHARED_ENDPOINT, which is one. A port is used
 * by whoever listens or connects there: one space for both. Start with ndk_endpoint_make().
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "connection.h"

/* ---- addresses ---- */

NTSTATUS
ndk_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip, uint16_t *port)
{
	return plx_session_sockaddr_read(address, length, ip, port) == PLX_OK
		       ? STATUS_SUCCESS
		       : STATUS_INVALID_ADDRESS;
}

NTSTATUS
ndk_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out, ULONG *length)
{
	ULONG given, needed = (ULONG)plx_session_sockaddr_bytes(ip);

	if (length == NULL)
		return STATUS_INVALID_PARAMETER;
	given = *length;
	*length = needed;
	if (out == NULL || given < needed)
		return STATUS_BUFFER_TOO_SMALL;
	plx_session_sockaddr_write(ip, port, out);
	return STATUS_SUCCESS;
}

/* ---- endpoints ---- */

static NTSTATUS
reserved_status(enum plx_status status)
{
	if (status == PLX_BUSY)
		return STATUS_SHARING_VIOLATION;
	return status == PLX_FULL ? STATUS_TOO_MANY_ADDRESSES : ndk_call_status(status);
}

NTSTATUS
ndk_endpoint_make(struct plx_session *session, const struct plx_ip *ip, uint16_t port,
		  struct ndk_endpoint **out)
{
	uint32_t addresses = plx_session_addresses(session, ip);
	struct ndk_endpoint *endpoint;
	enum plx_status status;

	if (addresses == 0)
		return STATUS_INVALID_ADDRESS;
	endpoint = malloc(sizeof(*endpoint));
	if (endpoint == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	status = plx_session_reserve_port(&session->active, addresses, &port);
	if (status != PLX_OK) {
		free(endpoint);
		return reserved_status(status);
	}
	*endpoint = (struct ndk_endpoint){session, *ip, addresses, port, 1};
	*out = endpoint;
	return STATUS_SUCCESS;
}

void
ndk_endpoint_hold(struct ndk_endpoint *endpoint)
{
	endpoint->holds++;
}

void
ndk_endpoint_release(struct ndk_endpoint *endpoint)
{
	if (endpoint == NULL || --endpoint->holds > 0)
		return;
	plx_session_release_port(&endpoint->session->active, endpoint->addresses, endpoint->port);
	free(endpoint);
}

/* ---- NDK_SHARED_ENDPOINT ---- */

static NTSTATUS
get_local_address(NDK_SHARED_ENDPOINT *face, PSOCKADDR out, ULONG *length)
{
	const struct ndk_endpoint *endpoint = ndk_shared_endpoint_of(face)->endpoint;

	return ndk_address_write(&endpoint->ip, endpoint->port, out, length);
}

static const NDK_SHARED_ENDPOINT_DISPATCH table = {
	.NdkCloseSharedEndpoint = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkGetLocalAddress = get_local_address,
};

static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_shared_endpoint *shared =
		plx_list_entry(object, struct ndk_shared_endpoint, object);
	struct plx_session *session = ndk_session_for(object);

	pthread_mutex_lock(&session->events);
	ndk_endpoint_release(shared->endpoint);
	pthread_mutex_unlock(&session->events);
	return PLX_OK;
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeSharedEndpoint,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_shared_endpoint),
	.teardown = teardown,
};

static NTSTATUS
run_create(struct ndk_request *request)
{
	struct ndk_shared_endpoint *shared =
		plx_list_entry(request->object, struct ndk_shared_endpoint, object);
	struct plx_session *session = ndk_session_for(request->object);
	NTSTATUS status = STATUS_INVALID_ADDRESS;

	pthread_mutex_lock(&session->events);
	if (!plx_session_ip_is_any(&request->ip))
		status = ndk_endpoint_make(session, &request->ip, request->port, &shared->endpoint);
	pthread_mutex_unlock(&session->events);
	return status;
}

NTSTATUS
ndk_create_shared_endpoint(NDK_ADAPTER *face, CONST PSOCKADDR address, ULONG length,
			   NDK_FN_CREATE_COMPLETION created, PVOID context,
			   NDK_SHARED_ENDPOINT **out)
{
	struct ndk_shared_endpoint *shared;
	struct ndk_request *request;
	struct plx_ip ip;
	uint16_t port;
	NTSTATUS status = ndk_address_read(address, length, &ip, &port);

	(void)out; /* always pending */
	if (status != STATUS_SUCCESS)
		return status;
	shared = ndk_object_alloc(&kind, ndk_adapter_of(face));
	if (shared == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	request = ndk_create_make(&shared->object, run_create, created, context);
	if (request == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	request->ip = ip;
	request->port = port;
	return ndk_request_begin(request);
}
