/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_ADAPTER: opened, queried, closed. Several may share a session. Start with plx_ndk_open().
 */
#include <ntstatus.h>
#include <stdlib.h>
#include <time.h>

#include "ndk.h"
#include "plx_ndk.h"

enum {
	MAJOR_FIRST = 1,
	MAJOR_SECOND = 2,
	PATIENCE_S = 10, /* then a close that waits says what for */
};

/* The highest minor version of each major one. */
static const USHORT minor_of[] = {[MAJOR_FIRST] = 2, [MAJOR_SECOND] = 1};

static NTSTATUS
query_info(NDK_ADAPTER *face, NDK_ADAPTER_INFO *info, ULONG *bytes)
{
	const struct ndk_adapter *adapter = ndk_adapter_of(face);
	ULONG given;

	if (bytes == NULL)
		return STATUS_INVALID_PARAMETER;
	given = *bytes;
	*bytes = sizeof(*info);
	if (info == NULL || given < sizeof(*info))
		return STATUS_BUFFER_TOO_SMALL;
	*info = ndk_session_of(adapter->session)->limits;
	info->Version = adapter->version;
	return STATUS_SUCCESS;
}

static const NDK_ADAPTER_DISPATCH table = {
	.NdkQueryExtension = ndk_query_extension,
	.NdkQueryAdapterInfo = query_info,
	.NdkCreateCq = ndk_create_cq,
	.NdkCreatePd = ndk_create_pd,
	.NdkCreateSharedEndpoint = ndk_create_shared_endpoint,
	.NdkCreateConnector = ndk_create_connector,
	.NdkCreateListener = ndk_create_listener,
	.NdkBuildLAM = ndk_build_lam,
	.NdkReleaseLAM = ndk_release_lam,
};

/* ---- closing ---- */

/* The session ends with its last adapter, on another thread if this is the dispatcher's. */
static void
dispose(struct ndk_adapter *adapter)
{
	struct plx_session *session = adapter->session;

	pthread_cond_destroy(&adapter->closed);
	pthread_mutex_destroy(&adapter->lock);
	ndk_object_keep(&adapter->object);
	ndk_left_adapter(-1);
	plx_session_put(session);
}

static void
destroy(struct ndk_object *object)
{
	struct ndk_adapter *adapter = plx_list_entry(object, struct ndk_adapter, object);
	bool orphan;

	pthread_mutex_lock(&adapter->lock);
	adapter->is_closed = true;
	orphan = adapter->is_orphan;
	pthread_cond_signal(&adapter->closed);
	pthread_mutex_unlock(&adapter->lock);
	if (orphan)
		dispose(adapter);
}

/* The adapter's close has no completion: it waits. */
static VOID
closed(PVOID context)
{
	(void)context;
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeAdapter,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_adapter),
	.destroy = destroy,
};

/* It would wait for the callback that it is called from: it ends when that has returned. */
static void
close_from_callback(struct ndk_adapter *adapter)
{
	ndk_rule_broken(
		"an NDK adapter is closed from a callback, for whose return its close waits; "
		"close it from a thread of the driver's");
	pthread_mutex_lock(&adapter->lock);
	adapter->is_orphan = true;
	pthread_mutex_unlock(&adapter->lock);
	if (ndk_object_close(&adapter->object) & NDK_DO_END)
		dispose(adapter);
}

/* It has no limit: what the consumer has not closed can still be used. */
static void
await_closed(struct ndk_adapter *adapter)
{
	struct timespec until;
	char left[256];
	int late = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&adapter->lock);
	while (!adapter->is_closed && late == 0)
		late = pthread_cond_timedwait(&adapter->closed, &adapter->lock, &until);
	if (!adapter->is_closed) {
		ndk_left_list(adapter, left, sizeof(left));
		ndk_log("the close of adapter %s waits for %s%s", adapter->session->name, left,
			plx_session_is_stalled(adapter->session) ? "; its engine is stalled" : "");
	}
	while (!adapter->is_closed)
		pthread_cond_wait(&adapter->closed, &adapter->lock);
	pthread_mutex_unlock(&adapter->lock);
}

void
plx_ndk_close(NDK_ADAPTER *face)
{
	struct ndk_adapter *adapter = ndk_adapter_of(face);

	if (ndk_is_closed(&adapter->object)) {
		ndk_rule_broken("an NDK adapter is closed twice");
		return;
	}
	if (ndk_in_callback()) {
		close_from_callback(adapter);
		return;
	}
	if (!(ndk_object_close(&adapter->object) & NDK_DO_END))
		await_closed(adapter);
	dispose(adapter);
}

struct plx_adapter *
plx_ndk_adapter_verbs(NDK_ADAPTER *face)
{
	return ndk_adapter_of(face)->session->adapter;
}

/* ---- opening ---- */

static NTSTATUS
opened_status(enum plx_status status)
{
	return status == PLX_NO_MEMORY || status == PLX_FULL ? NDIS_STATUS_RESOURCES
							     : NDIS_STATUS_ADAPTER_NOT_READY;
}

NTSTATUS
plx_ndk_open(const char *name, NDK_VERSION version, NDK_ADAPTER **out)
{
	struct ndk_adapter *adapter;
	pthread_condattr_t clock;
	enum plx_status status;

	if (version.Major < MAJOR_FIRST || version.Major > MAJOR_SECOND ||
	    version.Minor > minor_of[version.Major])
		return NDIS_STATUS_BAD_VERSION;
	adapter = calloc(1, sizeof(*adapter));
	if (adapter == NULL)
		return NDIS_STATUS_RESOURCES;
	status = plx_session_get(name, &ndk_hooks, &adapter->session);
	if (status != PLX_OK) {
		free(adapter);
		return opened_status(status);
	}
	adapter->version = (NDK_VERSION){version.Major, minor_of[version.Major]};
	ndk_object_init(&adapter->object, &kind, adapter, adapter->version);
	adapter->object.close_completion = closed;
	pthread_mutex_init(&adapter->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&adapter->closed, &clock);
	pthread_condattr_destroy(&clock);
	ndk_left_watch();
	ndk_left_adapter(1);
	*out = (NDK_ADAPTER *)(void *)adapter;
	return STATUS_SUCCESS;
}
