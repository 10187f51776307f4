/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What NDK adds to a session: the limits reported to consumers, the dispatcher, its connectors and
 * how they end. Start with ndk_hooks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "connection.h"
#include "ndk.h"
#include "plx_ke.h"

enum {
	QUEUE_DEPTH = 8192, /* as ND2's: a queue pair with all maxima at once takes 32 MiB */
	CQ_DEPTH = 65536,
	SRQ_DEPTH = 16384,
	LARGE_GOOD = 64 * 1024, /* [bytes] from here a READ or WRITE is cheaper than a copy */
	VENDOR = 0x504c,
	DEVICE = 0x0002,
};

#define REGISTRATION_BYTES (UINT64_C(1) << 40)

static void
log_arguments(const char *format, va_list arguments)
{
	if (!secure_getenv("POLLUX_NDK_LOG"))
		return;
	flockfile(stderr);
	fputs("pollux-ndk: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void
ndk_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_arguments(format, arguments);
	va_end(arguments);
}

void
ndk_rule_broken(const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (plx_ke_checks())
		plx_wdk_stop("%s", text);
	ndk_log("%s", text);
}

static uint32_t
least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static void
fill_limits(const struct plx_session *session, NDK_ADAPTER_INFO *limits)
{
	const struct plx_adapter_info *info = &session->info;

	*limits = (NDK_ADAPTER_INFO){
		.VendorId = VENDOR,
		.DeviceId = DEVICE,
		.MaxRegistrationSize = REGISTRATION_BYTES,
		.MaxWindowSize = REGISTRATION_BYTES,
		.FRMRPageCount = NDK_FAST_PAGES,
		.MaxInitiatorRequestSge = info->sges,
		.MaxReceiveRequestSge = info->sges,
		.MaxReadRequestSge = info->sges,
		/* of plx_verbs.h, which also checks it on a post */
		.MaxTransferLength = (ULONG)info->message_max,
		.MaxInlineDataSize = info->inline_bytes,
		.MaxInboundReadLimit = least(info->rd_atomic_max, NDK_READ_LIMIT),
		.MaxOutboundReadLimit = least(info->rd_atomic_max, NDK_READ_LIMIT),
		.MaxReceiveQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxInitiatorQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxSrqDepth = least(info->srq_depth, SRQ_DEPTH),
		.MaxCqDepth = least(info->cq_depth, CQ_DEPTH),
		.LargeRequestThreshold = LARGE_GOOD,
		.MaxCallerData = PLX_PRIVATE_CONNECT_MAX,
		/* for both accept and reject: the smaller limit */
		.MaxCalleeData = PLX_PRIVATE_REJECT_MAX,
		.AdapterFlags = NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |
				NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED |
				NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED |
				NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED |
				NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |
				NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED,
		.RdmaTechnology = NdkRoCEv2,
	};
}

/* Errors: STATE (inline: nothing would run while the consumer waits for a callback) */
static enum plx_status
start(struct plx_session *session)
{
	struct ndk_session *own;
	enum plx_status status;

	if (session->inline_mode) {
		ndk_log("adapter %s is inline, and NDK's callbacks need a worker; set mode = "
			"\"worker\"",
			session->name);
		return PLX_STATE;
	}
	own = calloc(1, sizeof(*own));
	if (own == NULL)
		return PLX_NO_MEMORY;
	fill_limits(session, &own->limits);
	plx_list_init(&own->connectors);
	status = ndk_dispatcher_start(&own->dispatcher, session);
	if (status != PLX_OK) {
		free(own);
		return status;
	}
	session->own = own;
	return PLX_OK;
}

static void
stop(struct plx_session *session)
{
	struct ndk_session *own = session->own;

	ndk_dispatcher_stop(&own->dispatcher);
	session->own = NULL;
	free(own);
}

const struct plx_session_hooks ndk_hooks = {
	.name = "ndk",
	.log = log_arguments,
	.start = start,
	.stop = stop,
	.disconnect = ndk_connectors_disconnect,
	.is_disconnected = ndk_connectors_are_disconnected,
	.host_gone = ndk_connectors_lose_host,
};
