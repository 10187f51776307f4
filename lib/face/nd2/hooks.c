/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ND2 adds to a session: the limits reported to clients, its pump, its connectors, and how
 * they end.
 * connector_state.c decides about connections. Start with nd2_hooks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "nd2_connection.h"
#include "plx_crt.h"

enum {
	/* ND2 clients use it as the depth of their own queues: enough for all known clients, and a
	 * queue pair with all maxima at once takes 32 MiB. tests/unit/face/nd2/objects.c */
	QUEUE_DEPTH = 8192,
	CQ_DEPTH = 65536,
	SRQ_DEPTH = 16384,
	INLINE_GOOD = 256,      /* [bytes] up to here copying is cheaper than checking a key */
	LARGE_GOOD = 64 * 1024, /* [bytes] from here registering is cheaper than copying */
	VENDOR = 0x504c,
	DEVICE = 0x0002,
};

#define REGISTRATION_BYTES (UINT64_C(1) << 40)

static void
log_arguments(const char *format, va_list arguments)
{
	if (!secure_getenv("POLLUX_ND2_LOG"))
		return;
	fputs("pollux-nd2: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void
nd2_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_arguments(format, arguments);
	va_end(arguments);
}

uint64_t
nd2_adapter_id(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* ---- capabilities ---- */

static uint32_t
least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static void
fill_limits(const struct plx_session *session, ND2_ADAPTER_INFO *limits)
{
	const struct plx_adapter_info *info = &session->info;

	*limits = (ND2_ADAPTER_INFO){
		.InfoVersion = ND_VERSION_2,
		.VendorId = VENDOR,
		.DeviceId = DEVICE,
		.AdapterId = nd2_adapter_id(session->name),
		.MaxRegistrationSize = REGISTRATION_BYTES,
		.MaxWindowSize = REGISTRATION_BYTES,
		.MaxInitiatorSge = info->sges,
		.MaxReceiveSge = info->sges,
		.MaxReadSge = info->sges,
		/* of plx_verbs.h, which also checks it on a post */
		.MaxTransferLength = (ULONG)info->message_max,
		.MaxInlineDataSize = info->inline_bytes,
		.MaxInboundReadLimit = least(info->rd_atomic_max, ND2_READ_LIMIT),
		.MaxOutboundReadLimit = least(info->rd_atomic_max, ND2_READ_LIMIT),
		.MaxReceiveQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxInitiatorQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxSharedReceiveQueueDepth = least(info->srq_depth, SRQ_DEPTH),
		.MaxCompletionQueueDepth = least(info->cq_depth, CQ_DEPTH),
		.InlineRequestThreshold = least(info->inline_bytes, INLINE_GOOD),
		.LargeRequestThreshold = LARGE_GOOD,
		.MaxCallerData = PLX_PRIVATE_CONNECT_MAX,
		/* for both Accept and Reject: the smaller limit */
		.MaxCalleeData = PLX_PRIVATE_REJECT_MAX,
		.AdapterFlags = ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |
				ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |
				ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED,
	};
}

/* ---- opening and closing ---- */

/* A host in another process reaches no other memory. */
static void *
alloc_pages(size_t bytes)
{
	return plx_mem_alloc(bytes, -1, NULL);
}

static const struct plx_page_source arenas = {.alloc = alloc_pages, .free = plx_mem_free};

/* A program that is to be attached allocates before it opens an adapter. */
static void __attribute__((constructor)) allocate_for_hosts(void)
{
	const char *host = secure_getenv("POLLUX_HOST");

	if (host != NULL && *host != '\0')
		plx_set_page_source(&arenas);
}

static enum plx_status
start(struct plx_session *session)
{
	struct nd2_session *own = calloc(1, sizeof(*own));

	if (!own)
		return PLX_NO_MEMORY;
	fill_limits(session, &own->limits);
	if (session->info.seat != 0)
		plx_set_page_source(&arenas);
	plx_list_init(&own->connectors);
	if (session->inline_mode) {
		own->pump = plx_pump_add(plx_session_pump, session);
		if (!own->pump) {
			free(own);
			return PLX_FULL;
		}
	}
	session->own = own;
	return PLX_OK;
}

static void
stop(struct plx_session *session)
{
	struct nd2_session *own = session->own;

	if (own->pump)
		plx_pump_remove(plx_session_pump, session);
	session->own = NULL;
	free(own);
}

static void
claim(struct plx_session *session)
{
	nd2_session_claim(session);
}

/* End a connector as if its queue pair had been released. */
static void
disconnect(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &nd2_session_of(session)->connectors) {
		struct nd2_connector *connector = plx_list_entry(node, struct nd2_connector, node);

		if (connector->state == ND2_ESTABLISHED)
			nd2_connector_release_qp(connector);
	}
}

static bool
is_disconnected(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &nd2_session_of(session)->connectors) {
		const struct nd2_connector *connector =
			plx_list_entry(node, struct nd2_connector, node);

		if (connector->connector &&
		    (connector->state == ND2_LOCAL_DISC || connector->state == ND2_PEER_DISC))
			return false;
	}
	return true;
}

/* A connector that is finished may be released by a thread that waits for session->events. */
static void
host_gone(struct plx_session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &nd2_session_of(session)->connectors)
		nd2_connector_lose_host(plx_list_entry(node, struct nd2_connector, node));
}

const struct plx_session_hooks nd2_hooks = {
	.name = "nd2",
	.log = log_arguments,
	.start = start,
	.stop = stop,
	.claim = claim,
	.disconnect = disconnect,
	.is_disconnected = is_disconnected,
	.host_gone = host_gone,
};
