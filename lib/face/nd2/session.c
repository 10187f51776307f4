/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions: one open adapter of Pollux for all ND2 adapters that were opened on its name, and what
 * happens to it at the end of the process.
 * It never looks at an object of a client. Start with nd2_session_get().
 *
 * A session is OPENING, OPEN or CLOSING, under `sessions_lock`. Who finds one that is neither
 * waits: the device behind it cannot be had twice.
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
	CLOSE_TIMEOUT_MS = 2 * ND2_LINGER_MS,
};

#define REGISTRATION_BYTES (UINT64_C(1) << 40)

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sessions_changed = PTHREAD_COND_INITIALIZER;
static struct plx_list sessions = {&sessions, &sessions};
static pid_t owner; /* who has opened a session first; a child that was forked off has none */

void
nd2_log(const char *format, ...)
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
nd2_session_id(const char *name)
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
fill_limits(struct nd2_session *session)
{
	const struct plx_adapter_info *info = &session->info;

	session->limits = (ND2_ADAPTER_INFO){
		.InfoVersion = ND_VERSION_2,
		.VendorId = VENDOR,
		.DeviceId = DEVICE,
		.AdapterId = session->id,
		.MaxRegistrationSize = REGISTRATION_BYTES,
		.MaxWindowSize = REGISTRATION_BYTES,
		.MaxInitiatorSge = info->sges,
		.MaxReceiveSge = info->sges,
		.MaxReadSge = info->sges,
		/* the waist's: posts leave it to that to look */
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
close_parts(struct nd2_session *session)
{
	if (session->tables)
		nd2_connections_linger(session);
	nd2_dispatch_stop(session);
	if (session->tables)
		nd2_connections_stop(session);
	if (session->adapter)
		nd2_deferred_drain(session);
	if (session->channel && plx_event_channel_destroy(session->channel) != PLX_OK)
		nd2_log("adapter %s: its channel is in use still", session->name);
	if (session->adapter && plx_adapter_close(session->adapter) != PLX_OK)
		nd2_log("adapter %s: an object of it is left", session->name);
	pthread_mutex_destroy(&session->lock);
	pthread_mutex_destroy(&session->events);
}

static HRESULT
open_parts(struct nd2_session *session)
{
	struct plx_why why = {""};
	enum plx_status opened;
	HRESULT status;

	pthread_mutex_init(&session->events, NULL);
	pthread_mutex_init(&session->lock, NULL);
	plx_list_init(&session->cqs);
	plx_list_init(&session->srqs);
	nd2_deferred_init(session);
	atomic_init(&session->next_id, 1);
	opened = plx_adapter_open(session->name, NULL, &session->adapter, &why);
	if (opened == PLX_OK) {
		plx_adapter_query(session->adapter, &session->info);
		session->inline_mode = session->info.mode == PLX_MODE_INLINE;
		fill_limits(session);
		opened = plx_event_channel_create(session->adapter, ND2_CHANNEL_DEPTH,
						  &session->channel);
	}
	if (opened != PLX_OK) {
		nd2_log("adapter %s cannot be opened: %s", session->name,
			*why.text ? why.text : plx_status_text(opened));
		status = opened == PLX_NO_MEMORY ? ND_NO_MEMORY : ND_DEVICE_NOT_READY;
	} else {
		status = nd2_connections_start(session);
		if (status == ND_SUCCESS)
			status = nd2_dispatch_start(session);
	}
	if (status != ND_SUCCESS)
		close_parts(session);
	return status;
}

/* Under the lock; waits until it is neither opened nor closed by another thread. */
static struct nd2_session *
find(const char *name)
{
	struct plx_list *node, *after;

again:
	plx_list_for_each (node, after, &sessions) {
		struct nd2_session *session = plx_list_entry(node, struct nd2_session, node);

		if (strcmp(session->name, name) != 0)
			continue;
		if (session->state == ND2_SESSION_OPEN)
			return session;
		pthread_cond_wait(&sessions_changed, &sessions_lock);
		goto again;
	}
	return NULL;
}

/* Under the lock: it is nobody's any more. */
static void
forget(struct nd2_session *session)
{
	plx_list_remove(&session->node);
	pthread_cond_broadcast(&sessions_changed);
	free(session);
}

static void *
close_session(void *context)
{
	struct nd2_session *session = context;

	close_parts(session);
	pthread_mutex_lock(&sessions_lock);
	forget(session);
	pthread_mutex_unlock(&sessions_lock);
	return NULL;
}

static bool
close_elsewhere(struct nd2_session *session)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attributes, close_session, session);
	pthread_attr_destroy(&attributes);
	return !failed;
}

void
nd2_session_put(struct nd2_session *session)
{
	bool last, here = !nd2_delivering();

	pthread_mutex_lock(&sessions_lock);
	last = --session->users == 0;
	if (last)
		session->state = ND2_SESSION_CLOSING;
	/* Without a thread for it the session stays as it is, for the next user. */
	if (last && !here && !close_elsewhere(session)) {
		session->state = ND2_SESSION_OPEN;
		pthread_cond_broadcast(&sessions_changed);
	}
	pthread_mutex_unlock(&sessions_lock);
	if (last && here)
		close_session(session);
}

/* ---- the end of the process -------------------------------------------------------------------
 */

/* A session that is open and has not lingered yet; it is kept from closing. Under the lock. */
static struct nd2_session *
pin_next(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &sessions) {
		struct nd2_session *session = plx_list_entry(node, struct nd2_session, node);

		if (session->state != ND2_SESSION_OPEN || session->lingered)
			continue;
		session->lingered = true;
		session->users++;
		return session;
	}
	return NULL;
}

static bool
one_is_closing(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &sessions)
		if (plx_list_entry(node, struct nd2_session, node)->state == ND2_SESSION_CLOSING)
			return true;
	return false;
}

/* Sessions that nobody closes disconnect and linger here, those that another thread closes are
 * waited for. A child process has the memory of sessions, and none of their threads. */
static void
at_exit(void)
{
	struct nd2_session *session;
	struct timespec until;
	bool late = false;

	if (getpid() != owner)
		return;
	pthread_mutex_lock(&sessions_lock);
	while ((session = pin_next()) != NULL) {
		pthread_mutex_unlock(&sessions_lock);
		nd2_connections_linger(session);
		pthread_mutex_lock(&sessions_lock);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_TIMEOUT_MS / 1000;
	while (!late && one_is_closing())
		late = pthread_cond_timedwait(&sessions_changed, &sessions_lock, &until) != 0;
	pthread_mutex_unlock(&sessions_lock);
}

HRESULT
nd2_session_get(const char *name, struct nd2_session **out)
{
	struct nd2_session *session;
	HRESULT status = ND_SUCCESS;

	pthread_mutex_lock(&sessions_lock);
	session = find(name);
	if (session) {
		session->users++;
		pthread_mutex_unlock(&sessions_lock);
		*out = session;
		return ND_SUCCESS;
	}
	session = calloc(1, sizeof(*session));
	if (!session) {
		pthread_mutex_unlock(&sessions_lock);
		return ND_NO_MEMORY;
	}
	snprintf(session->name, sizeof(session->name), "%s", name);
	session->id = nd2_session_id(name);
	session->state = ND2_SESSION_OPENING;
	session->users = 1;
	plx_list_append(&sessions, &session->node);
	pthread_mutex_unlock(&sessions_lock);

	status = open_parts(session);

	pthread_mutex_lock(&sessions_lock);
	/* After the EAL has started, so that this comes before whatever ends with the EAL. */
	if (status == ND_SUCCESS && owner != getpid()) {
		owner = getpid();
		atexit(at_exit);
	}
	if (status == ND_SUCCESS) {
		session->state = ND2_SESSION_OPEN;
		pthread_cond_broadcast(&sessions_changed);
		*out = session;
	} else {
		forget(session);
	}
	pthread_mutex_unlock(&sessions_lock);
	return status;
}
