/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint's adapter through NDK: the adapter, its protection domain, the listener; and how
 * calls that are pending are awaited. NDK's rooms are linked into ndperf, like those of verbs, so
 * that both interfaces are measured alike. It creates nothing that belongs to a job. Start with
 * ndk_face.
 */
#include "ndk_parts.h"

#include "clock.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "plx_ndk.h"

bool
ndk_failed(struct side *side, const char *what, NTSTATUS status)
{
	return side_fail(side, "NDK: %s: status 0x%08x", what, (unsigned int)status);
}

/* ---- requests ---- */

struct ndk_request *
ndk_begin(struct ndk_request *request)
{
	request->object = NULL;
	request->status = STATUS_PENDING;
	return request;
}

VOID
ndk_on_done(PVOID request, NTSTATUS status)
{
	((struct ndk_request *)request)->status = status;
}

VOID
ndk_on_created(PVOID request, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	((struct ndk_request *)request)->object = object;
	ndk_on_done(request, status);
}

NTSTATUS
ndk_await(struct side *side, struct ndk_request *request, NTSTATUS called)
{
	uint64_t deadline = ticks() + ticks_of_ms(side->options->timeout_ms);
	if (called != STATUS_PENDING)
		return called;
	while (request->status == STATUS_PENDING) {
		if (ticks() > deadline) {
			request->is_late = true;
			return STATUS_IO_TIMEOUT;
		}
		side_pause(side);
	}
	return request->status;
}

static VOID
on_closed(PVOID context)
{
	atomic_fetch_sub((atomic_uint *)context, 1);
}

void
ndk_close_begin(struct ndk *ndk, NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_OBJECT close)
{
	atomic_fetch_add(&ndk->closing, 1);
	if (close(object, on_closed, &ndk->closing) == STATUS_SUCCESS)
		on_closed(&ndk->closing);
}

/* A call that was given up completes all the same. What it has created, nobody else knows of. */
static void
settle(struct side *side, struct ndk_request *request)
{
	NDK_OBJECT_HEADER *object;
	if (!request->is_late)
		return;
	while (request->status == STATUS_PENDING)
		side_pause(side);
	request->is_late = false;
	object = request->object;
	/* every table begins with the close */
	if (object != NULL)
		ndk_close_begin(side->ndk, object,
				((NDK_PD *)(void *)object)->Dispatch->NdkClosePd);
}

/* A close cannot fail; it ends when the engine has let go. A request that nobody has taken is of a
 * job that is over, and would keep the listener and the adapter open. */
void
ndk_await_closed(struct side *side)
{
	settle(side, &side->ndk->call);
	do {
		ndk_job_drop_requests(side->ndk);
		side_pause(side);
	} while (side->ndk->closing != 0);
	ndk_job_drop_requests(side->ndk);
}

/* ---- the adapter ---- */

static NTSTATUS
make_domain(struct side *side)
{
	struct ndk *ndk = side->ndk;
	ULONG bytes = sizeof(ndk->limits);
	NTSTATUS status =
		ndk->adapter->Dispatch->NdkQueryAdapterInfo(ndk->adapter, &ndk->limits, &bytes);
	if (status == STATUS_SUCCESS)
		status = ndk_await(side, &ndk->call,
				   ndk->adapter->Dispatch->NdkCreatePd(ndk->adapter, ndk_on_created,
								       ndk_begin(&ndk->call),
								       &ndk->pd));
	if (status == STATUS_SUCCESS && ndk->call.object != NULL)
		ndk->pd = (NDK_PD *)(void *)ndk->call.object;
	return status;
}

/* Get the limits from NDK, and the description of the device from the adapter below it. */
static void
fill_info(struct side *side)
{
	const NDK_ADAPTER_INFO *limits = &side->ndk->limits;
	plx_adapter_query(plx_ndk_adapter_verbs(side->ndk->adapter), &side->info);
	side->info.queue_depth = limits->MaxInitiatorQueueDepth;
	side->info.cq_depth = limits->MaxCqDepth;
	side->info.inline_bytes = limits->MaxInlineDataSize;
	side->info.rd_atomic_max = limits->MaxOutboundReadLimit;
}

static NTSTATUS
make_listener(struct side *side)
{
	struct ndk *ndk = side->ndk;
	struct sockaddr_storage address;
	ULONG length = face_sockaddr(&side->info.address[0], 0, &address);
	NTSTATUS status = ndk_await(side, &ndk->call,
				    ndk->adapter->Dispatch->NdkCreateListener(
					    ndk->adapter, ndk_on_request, ndk, ndk_on_created,
					    ndk_begin(&ndk->call), &ndk->listener));
	if (status == STATUS_SUCCESS && ndk->call.object != NULL)
		ndk->listener = (NDK_LISTENER *)(void *)ndk->call.object;
	if (status == STATUS_SUCCESS)
		status = ndk_await(side, &ndk->call,
				   ndk->listener->Dispatch->NdkListen(
					   ndk->listener, (PSOCKADDR)(void *)&address, length,
					   ndk_on_done, ndk_begin(&ndk->call)));
	length = sizeof(address);
	if (status == STATUS_SUCCESS)
		status = ndk->listener->Dispatch->NdkGetLocalAddress(
			ndk->listener, (PSOCKADDR)(void *)&address, &length);
	/* the port has the same offset in both families */
	if (status == STATUS_SUCCESS)
		ndk->port = ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
	return status;
}

static void
close_adapter(struct side *side)
{
	struct ndk *ndk = side->ndk;
	if (ndk->listener != NULL)
		ndk_close_begin(ndk, &ndk->listener->Header,
				ndk->listener->Dispatch->NdkCloseListener);
	if (ndk->pd != NULL)
		ndk_close_begin(ndk, &ndk->pd->Header, ndk->pd->Dispatch->NdkClosePd);
	ndk_await_closed(side);
	if (ndk->adapter != NULL)
		plx_ndk_close(ndk->adapter);
	pthread_mutex_destroy(&ndk->lock);
	free(ndk);
	side->ndk = NULL;
}

static bool
open_parts(struct side *side)
{
	NTSTATUS status = make_domain(side);
	if (status != STATUS_SUCCESS)
		return ndk_failed(side, "no protection domain", status);
	fill_info(side);
	if (!side->is_active)
		status = make_listener(side);
	return status == STATUS_SUCCESS || ndk_failed(side, "no listener", status);
}

static bool
open_side(struct side *side, const struct options *o, struct plx_why *why)
{
	side->ndk = calloc(1, sizeof(*side->ndk));
	if (side->ndk == NULL)
		return why_set(why, "no memory");
	pthread_mutex_init(&side->ndk->lock, NULL);
	/* for details that a status cannot express */
	setenv("POLLUX_NDK_LOG", "1", 0);
	NTSTATUS status = plx_ndk_open(side_name(o, side->is_active), (NDK_VERSION){2, 1},
				       &side->ndk->adapter);
	bool is_open = status == STATUS_SUCCESS
			       ? open_parts(side)
			       : ndk_failed(side, "the adapter cannot be opened", status);
	if (is_open)
		return true;
	*why = side->why;
	close_adapter(side);
	return false;
}

static struct plx_adapter *
adapter_of(const struct side *side)
{
	return plx_ndk_adapter_verbs(side->ndk->adapter);
}

_Static_assert(sizeof(NDK_RESULT) <= sizeof(union entry), "a result is an entry");
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a context is a number of 64 bits");

const struct face ndk_face = {
	.api = API_NDK,
	.fields =
		{
			.stride = sizeof(NDK_RESULT),
			.id = offsetof(NDK_RESULT, RequestContext),
			.context = offsetof(NDK_RESULT, QPContext),
			.bytes = offsetof(NDK_RESULT, BytesTransferred),
		},
	.open = open_side,
	.close = close_adapter,
	.adapter = adapter_of,
	.register_memory = ndk_job_register,
	.make_queues = ndk_job_make_queues,
	.cards = ndk_job_cards,
	.connect = ndk_job_connect,
	.clear = ndk_job_clear,
};
