/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint's adapter through ND2: the provider, the adapter, the file of its requests, the
 * listener. The rooms of ND2 are linked into ndperf,
 * like those of verbs, so that DllGetClassObject() is called directly and both interfaces are
 * measured alike. It creates nothing that belongs to a job. Start with nd2_face.
 */
#include "nd2_parts.h"

#include "options.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "plx_nd2.h"

bool
nd2_failed(struct side *side, const char *what, HRESULT status)
{
	return side_fail(side, "ND2: %s: status 0x%08x", what, (unsigned int)status);
}

/* ---- the adapter ---- */

static HRESULT
open_adapter(struct nd2 *nd2, const struct plx_ip *ip)
{
	struct sockaddr_storage address;
	ULONG length = face_sockaddr(ip, 0, &address);
	void *provider = NULL, *adapter = NULL;
	UINT64 id = 0;
	HRESULT status = DllGetClassObject(&IID_IND2Provider, &IID_IND2Provider, &provider);
	if (status != S_OK)
		return status;
	status = IND2Provider_ResolveAddress((IND2Provider *)provider,
					     (const struct sockaddr *)&address, length, &id);
	if (status == ND_SUCCESS)
		status = IND2Provider_OpenAdapter((IND2Provider *)provider, &IID_IND2Adapter, id,
						  &adapter);
	IND2Provider_Release((IND2Provider *)provider);
	nd2->adapter = adapter;
	return status;
}

static HRESULT
make_listener(struct nd2 *nd2, const struct plx_ip *ip)
{
	struct sockaddr_storage address;
	ULONG length = face_sockaddr(ip, 0, &address);
	void *listener = NULL;
	HRESULT status =
		IND2Adapter_CreateListener(nd2->adapter, &IID_IND2Listener, nd2->file, &listener);
	nd2->listener = listener;
	if (status == ND_SUCCESS)
		status =
			IND2Listener_Bind(nd2->listener, (const struct sockaddr *)&address, length);
	if (status == ND_SUCCESS)
		status = IND2Listener_Listen(nd2->listener, 0);
	length = sizeof(address);
	if (status == ND_SUCCESS)
		status = IND2Listener_GetLocalAddress(nd2->listener, (struct sockaddr *)&address,
						      &length);
	/* the port has the same offset in both families */
	if (status == ND_SUCCESS)
		nd2->port = ntohs(((const struct sockaddr_in *)&address)->sin_port);
	return status;
}

/* Get the limits from ND2, and the description of the device from the adapter below it. */
static HRESULT
query_limits(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	ULONG bytes = sizeof(nd2->limits);
	nd2->limits.InfoVersion = ND_VERSION_2;
	HRESULT status = IND2Adapter_Query(nd2->adapter, &nd2->limits, &bytes);
	plx_nd2_adapter_info(nd2->adapter, &side->info);
	side->is_inline = side->info.mode == PLX_MODE_INLINE;
	side->info.queue_depth = nd2->limits.MaxInitiatorQueueDepth;
	side->info.cq_depth = nd2->limits.MaxCompletionQueueDepth;
	side->info.inline_bytes = nd2->limits.MaxInlineDataSize;
	side->info.rd_atomic_max = nd2->limits.MaxOutboundReadLimit;
	return status;
}

static bool
open_parts(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	HRESULT status = query_limits(side);
	if (status == ND_SUCCESS)
		status = IND2Adapter_CreateOverlappedFile(nd2->adapter, &nd2->file);
	if (status != ND_SUCCESS)
		return nd2_failed(side, "no file for its requests", status);
	if (!side->is_active)
		status = make_listener(nd2, &side->info.address[0]);
	return status == ND_SUCCESS || nd2_failed(side, "no listener", status);
}

static void
close_adapter(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	if (nd2->listener != NULL)
		IND2Listener_Release(nd2->listener);
	if (nd2->file != NULL)
		CloseHandle(nd2->file);
	if (nd2->adapter != NULL)
		IND2Adapter_Release(nd2->adapter);
	free(nd2);
	side->nd2 = NULL;
}

static bool
open_side(struct side *side, const struct options *o, struct plx_why *why)
{
	struct plx_adapter_options adapter_options;
	if (!side_adapter_options(o, side->is_active, &adapter_options, why))
		return false;
	side->nd2 = calloc(1, sizeof(*side->nd2));
	if (side->nd2 == NULL)
		return why_set(why, "no memory");
	/* for details that an HRESULT cannot express */
	setenv("POLLUX_ND2_LOG", "1", 0);
	HRESULT status = open_adapter(side->nd2, &adapter_options.address[0].ip);
	bool is_open = status == ND_SUCCESS
			       ? open_parts(side)
			       : nd2_failed(side, "the adapter cannot be opened", status);
	if (is_open)
		return true;
	*why = side->why;
	close_adapter(side);
	return false;
}

static struct plx_adapter *
adapter_of(const struct side *side)
{
	return plx_nd2_adapter_verbs(side->nd2->adapter);
}

_Static_assert(sizeof(ND2_RESULT) <= sizeof(union entry), "a result is an entry");
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a context is a number of 64 bits");

const struct face nd2_face = {
	.api = API_ND2,
	.fields =
		{
			.stride = sizeof(ND2_RESULT),
			.id = offsetof(ND2_RESULT, RequestContext),
			.context = offsetof(ND2_RESULT, QueuePairContext),
			.bytes = offsetof(ND2_RESULT, BytesTransferred),
		},
	.open = open_side,
	.close = close_adapter,
	.adapter = adapter_of,
	.register_memory = nd2_register,
	.make_queues = nd2_make_queues,
	.cards = nd2_cards,
	.connect = nd2_connect,
	.clear = nd2_clear,
};
