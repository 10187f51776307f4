/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ports: one open adapter of Pollux for all ND2 adapters that were opened on its name, and what
 * happens to it at the end of the process.
 * It never looks at an object of a client. Start with nd2_port_take().
 *
 * A port is OPENING, OPEN or CLOSING, under `ports_lock`. Who finds one that is neither waits: the
 * device behind it cannot be had twice.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "nd2.h"

enum {
	/* What ND2 clients take as the depth of their own queues: enough for any that is known, and
	 * a queue pair with all maxima at once takes 32 MiB. tests/unit/face/nd2/objects.c */
	QUEUE_DEPTH = 8192,
	CQ_DEPTH = 65536,
	SRQ_DEPTH = 16384,
	INLINE_GOOD = 256,      /* [bytes] up to here a copy is cheaper than a look at a key */
	LARGE_GOOD = 64 * 1024, /* [bytes] from here a registration is cheaper than a copy */
	VENDOR = 0x504c,
	DEVICE = 0x0002,
	CLOSE_PATIENCE_MS = 2 * ND2_LINGER_MS,
};

#define REGISTRATION_BYTES (UINT64_C(1) << 40)

static pthread_mutex_t ports_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ports_changed = PTHREAD_COND_INITIALIZER;
static struct plx_list ports = {&ports, &ports};
static pid_t owner; /* who has opened a port first; a child that was forked off has none */

void
nd2_say(const char *format, ...)
{
	va_list arguments;

	if (!secure_getenv("POLLUX_ND2_LOG"))
		return;
	va_start(arguments, format);
	fputs("pollux-nd2: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

uint64_t
nd2_port_id(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* ---- what it can do ---------------------------------------------------------------------------
 */

static uint32_t
least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static void
fill_limits(struct nd2_port *port)
{
	const struct plx_adapter_info *info = &port->info;

	port->limits = (ND2_ADAPTER_INFO){
		.InfoVersion = ND_VERSION_2,
		.VendorId = VENDOR,
		.DeviceId = DEVICE,
		.AdapterId = port->id,
		.MaxRegistrationSize = REGISTRATION_BYTES,
		.MaxWindowSize = REGISTRATION_BYTES,
		.MaxInitiatorSge = info->sges,
		.MaxReceiveSge = info->sges,
		.MaxReadSge = info->sges,
		/* the waist's: posts leave it to that to look */
		.MaxTransferLength = (ULONG)info->message,
		.MaxInlineDataSize = info->inline_bytes,
		.MaxInboundReadLimit = least(info->rd_atomic, ND2_READ_LIMIT),
		.MaxOutboundReadLimit = least(info->rd_atomic, ND2_READ_LIMIT),
		.MaxReceiveQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxInitiatorQueueDepth = least(info->queue_depth, QUEUE_DEPTH),
		.MaxSharedReceiveQueueDepth = least(info->srq_depth, SRQ_DEPTH),
		.MaxCompletionQueueDepth = least(info->cq_depth, CQ_DEPTH),
		.InlineRequestThreshold = least(info->inline_bytes, INLINE_GOOD),
		.LargeRequestThreshold = LARGE_GOOD,
		.MaxCallerData = PLX_PRIVATE_CONNECT_MAX,
		/* of Accept and of Reject alike: the smaller of both */
		.MaxCalleeData = PLX_PRIVATE_REJECT_MAX,
		.AdapterFlags = ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |
				ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |
				ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED,
	};
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

static void
close_parts(struct nd2_port *port)
{
	if (port->tables)
		nd2_connections_linger(port);
	nd2_dispatch_stop(port);
	if (port->tables)
		nd2_connections_stop(port);
	if (port->adapter)
		nd2_left_end(port);
	if (port->channel && plx_channel_destroy(port->channel) != PLX_OK)
		nd2_say("adapter %s: its channel is in use still", port->name);
	if (port->adapter && plx_adapter_close(port->adapter) != PLX_OK)
		nd2_say("adapter %s: an object of it is left", port->name);
	pthread_mutex_destroy(&port->lock);
	pthread_mutex_destroy(&port->events);
}

static HRESULT
open_parts(struct nd2_port *port)
{
	struct plx_why why = {""};
	enum plx_status opened;
	HRESULT status;

	pthread_mutex_init(&port->events, NULL);
	pthread_mutex_init(&port->lock, NULL);
	plx_list_init(&port->cqs);
	plx_list_init(&port->srqs);
	nd2_left_init(port);
	atomic_init(&port->next_id, 1);
	opened = plx_adapter_open(port->name, NULL, &port->adapter, &why);
	if (opened == PLX_OK) {
		plx_adapter_query(port->adapter, &port->info);
		port->inline_mode = port->info.mode == PLX_MODE_INLINE;
		fill_limits(port);
		opened = plx_channel_create(port->adapter, ND2_CHANNEL_DEPTH, &port->channel);
	}
	if (opened != PLX_OK) {
		nd2_say("adapter %s cannot be opened: %s", port->name,
			*why.text ? why.text : plx_status_text(opened));
		status = opened == PLX_NO_MEMORY ? ND_NO_MEMORY : ND_DEVICE_NOT_READY;
	} else {
		status = nd2_connections_start(port);
		if (status == ND_SUCCESS)
			status = nd2_dispatch_start(port);
	}
	if (status != ND_SUCCESS)
		close_parts(port);
	return status;
}

/* Under the lock; waits until it is neither opened nor closed by another thread. */
static struct nd2_port *
find(const char *name)
{
	struct plx_list *node, *after;

again:
	plx_list_for_each (node, after, &ports) {
		struct nd2_port *port = plx_list_entry(node, struct nd2_port, node);

		if (strcmp(port->name, name) != 0)
			continue;
		if (port->state == ND2_PORT_OPEN)
			return port;
		pthread_cond_wait(&ports_changed, &ports_lock);
		goto again;
	}
	return NULL;
}

/* Under the lock: it is nobody's any more. */
static void
forget(struct nd2_port *port)
{
	plx_list_remove(&port->node);
	pthread_cond_broadcast(&ports_changed);
	free(port);
}

static void *
close_port(void *context)
{
	struct nd2_port *port = context;

	close_parts(port);
	pthread_mutex_lock(&ports_lock);
	forget(port);
	pthread_mutex_unlock(&ports_lock);
	return NULL;
}

static bool
close_elsewhere(struct nd2_port *port)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attributes, close_port, port);
	pthread_attr_destroy(&attributes);
	return !failed;
}

void
nd2_port_give(struct nd2_port *port)
{
	bool last, here = !nd2_delivering();

	pthread_mutex_lock(&ports_lock);
	last = --port->users == 0;
	if (last)
		port->state = ND2_PORT_CLOSING;
	/* Without a thread for it the port stays as it is, for the next who wants it. */
	if (last && !here && !close_elsewhere(port)) {
		port->state = ND2_PORT_OPEN;
		pthread_cond_broadcast(&ports_changed);
	}
	pthread_mutex_unlock(&ports_lock);
	if (last && here)
		close_port(port);
}

/* ---- the end of the process -------------------------------------------------------------------
 */

/* A port that is open and was not asked yet; it is kept from closing. Under the lock. */
static struct nd2_port *
pin_next(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ports) {
		struct nd2_port *port = plx_list_entry(node, struct nd2_port, node);

		if (port->state != ND2_PORT_OPEN || port->lingered)
			continue;
		port->lingered = true;
		port->users++;
		return port;
	}
	return NULL;
}

static bool
one_is_closing(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &ports)
		if (plx_list_entry(node, struct nd2_port, node)->state == ND2_PORT_CLOSING)
			return true;
	return false;
}

/* Ports that nobody closes are asked to tell their peers, those that another thread closes are
 * waited for. A child process has the memory of ports, and none of their threads. */
static void
at_exit(void)
{
	struct nd2_port *port;
	struct timespec until;
	bool late = false;

	if (getpid() != owner)
		return;
	pthread_mutex_lock(&ports_lock);
	while ((port = pin_next()) != NULL) {
		pthread_mutex_unlock(&ports_lock);
		nd2_connections_linger(port);
		pthread_mutex_lock(&ports_lock);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_PATIENCE_MS / 1000;
	while (!late && one_is_closing())
		late = pthread_cond_timedwait(&ports_changed, &ports_lock, &until) != 0;
	pthread_mutex_unlock(&ports_lock);
}

HRESULT
nd2_port_take(const char *name, struct nd2_port **out)
{
	struct nd2_port *port;
	HRESULT status = ND_SUCCESS;

	pthread_mutex_lock(&ports_lock);
	port = find(name);
	if (port) {
		port->users++;
		pthread_mutex_unlock(&ports_lock);
		*out = port;
		return ND_SUCCESS;
	}
	port = calloc(1, sizeof(*port));
	if (!port) {
		pthread_mutex_unlock(&ports_lock);
		return ND_NO_MEMORY;
	}
	snprintf(port->name, sizeof(port->name), "%s", name);
	port->id = nd2_port_id(name);
	port->state = ND2_PORT_OPENING;
	port->users = 1;
	plx_list_append(&ports, &port->node);
	pthread_mutex_unlock(&ports_lock);

	status = open_parts(port);

	pthread_mutex_lock(&ports_lock);
	/* After the EAL has started, so that this comes before whatever ends with the EAL. */
	if (status == ND_SUCCESS && owner != getpid()) {
		owner = getpid();
		atexit(at_exit);
	}
	if (status == ND_SUCCESS) {
		port->state = ND2_PORT_OPEN;
		pthread_cond_broadcast(&ports_changed);
		*out = port;
	} else {
		forget(port);
	}
	pthread_mutex_unlock(&ports_lock);
	return status;
}
