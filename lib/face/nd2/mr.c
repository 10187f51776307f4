/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory regions. Registering and deregistering complete within the call, unless the engine is
 * stalled. Like pending requests, they return ND_PENDING and report completion in the OVERLAPPED.
 * Errors are returned by the call.
 * It pins nothing, but checks that the memory is mapped.
 * Start with mr_register().
 */
#include <arpa/inet.h>

#include "nd2.h"

#define MR_FLAGS                                                       \
	(ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ | \
	 ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK | ND_MR_FLAG_DO_NOT_SECURE_VM)

enum {
	BRIEF_MS = 100, /* for the engine's next duty cycle, in Deregister; after that the request
			   pends */
	LOG_MS = 5000,  /* in Release, before it logs what it waits for */
};

/* Windows may be bound to any region, whatever access the region itself allows. The sink of a Read
 * needs the right to write and nothing else: READ_SINK is for hardware that distinguishes it
 * (docs/nd2.md, Requests). */
static uint32_t
access_of(ULONG flags)
{
	uint32_t access = PLX_ACCESS_BIND;

	if (flags & ND_MR_FLAG_ALLOW_LOCAL_WRITE)
		access |= PLX_ACCESS_LOCAL_WRITE;
	if (flags & ND_MR_FLAG_ALLOW_REMOTE_READ)
		access |= PLX_ACCESS_REMOTE_READ;
	if ((flags & ND_MR_FLAG_ALLOW_REMOTE_WRITE) == ND_MR_FLAG_ALLOW_REMOTE_WRITE)
		access |= PLX_ACCESS_REMOTE_WRITE;
	return access;
}

static HRESULT
check(const struct nd2_mr *mr, const void *buffer, SIZE_T bytes, ULONG flags,
      const OVERLAPPED *overlapped)
{
	if (buffer == NULL)
		return ND_INVALID_PARAMETER;
	if (bytes == 0)
		return ND_INVALID_BUFFER_SIZE;
	if (bytes > nd2_limits(mr->object.adapter->session)->MaxRegistrationSize)
		return ND_INVALID_PARAMETER;
	if (flags & ~(ULONG)MR_FLAGS)
		return ND_INVALID_PARAMETER_3;
	if (overlapped == NULL)
		return ND_INVALID_PARAMETER_4;
	if (!plx_session_probe_memory(buffer, bytes, flags & ND_MR_FLAG_ALLOW_LOCAL_WRITE))
		return ND_ACCESS_VIOLATION;
	return ND_SUCCESS;
}

static HRESULT
register_locked(struct nd2_mr *mr, const void *buffer, SIZE_T bytes, ULONG flags,
		OVERLAPPED *overlapped)
{
	struct plx_pending *pending;
	enum plx_status status;
	HRESULT refused;

	if (mr->mr != NULL)
		return ND_INVALID_DEVICE_STATE;
	pending = plx_pending_begin_brief(&mr->object.pending, overlapped);
	if (pending == NULL)
		return plx_pending_refusal();
	status = plx_mr_register(mr->object.adapter->pd, (void *)(uintptr_t)buffer, bytes,
				 access_of(flags), &mr->mr);
	if (status != PLX_OK) {
		refused = status == PLX_NO_MEMORY ? ND_INSUFFICIENT_RESOURCES
						  : nd2_call_status(status);
		(void)plx_pending_abandon(pending, refused);
		return refused;
	}
	atomic_store_explicit(&mr->token, plx_mr_key(mr->mr).v, memory_order_release);
	plx_pending_finish(pending, ND_SUCCESS, 0);
	return ND_PENDING;
}

static HRESULT STDMETHODCALLTYPE
mr_register(IND2MemoryRegion *face, const void *buffer, SIZE_T bytes, ULONG flags,
	    OVERLAPPED *overlapped)
{
	struct nd2_mr *mr = nd2_mr_of(face);
	HRESULT status = check(mr, buffer, bytes, flags, overlapped);

	if (status == ND_SUCCESS) {
		nd2_session_claim(mr->object.adapter->session);
		pthread_mutex_lock(&mr->lock);
		status = register_locked(mr, buffer, bytes, flags, overlapped);
		pthread_mutex_unlock(&mr->lock);
	}
	return nd2_settle(overlapped, status);
}

/* ---- deregistering ----
 *
 * The key becomes invalid at once, but an engine in the middle of a copy finishes it, and a stalled
 * engine finishes it when it runs again. Until then the client must not reuse the memory:
 * Deregister pends, and Release waits.
 */

/* Errors: BUSY (a window is bound), TIMEOUT (the engine may still use the memory) */
static enum plx_status
release_region(struct nd2_mr *mr, uint32_t timeout_ms)
{
	enum plx_status status = plx_mr_deregister_within(mr->mr, timeout_ms);

	if (status != PLX_BUSY)
		atomic_store_explicit(&mr->token, 0, memory_order_release);
	if (status == PLX_OK)
		mr->mr = NULL;
	return status;
}

/* Wait without limit. */
static void
release_region_blocking(struct nd2_mr *mr)
{
	enum plx_status status = release_region(mr, LOG_MS);

	if (status == PLX_TIMEOUT)
		nd2_log("adapter %s: its worker is stalled; releasing a region waits for it, "
			"because it may be writing the memory",
			mr->object.adapter->session->name);
	while (status == PLX_TIMEOUT)
		status = release_region(mr, LOG_MS);
}

/* The lock is held. */
static void
finish_pending_deregister(struct nd2_mr *mr)
{
	struct plx_pending *deregistering = mr->deregistering;

	mr->deregistering = NULL;
	plx_pending_finish(deregistering, ND_SUCCESS, 0);
}

static bool
finish_deregister(struct plx_session_deferred *deferred)
{
	struct nd2_mr *mr = plx_list_entry(deferred, struct nd2_mr, deferred);
	bool done;

	pthread_mutex_lock(&mr->lock);
	/* Release may have deregistered it already. */
	done = mr->deregistering == NULL || release_region(mr, 0) == PLX_OK;
	if (done && mr->deregistering)
		finish_pending_deregister(mr);
	pthread_mutex_unlock(&mr->lock);
	if (done)
		nd2_object_put(&mr->object);
	return done;
}

static HRESULT
deregister_locked(struct nd2_mr *mr, OVERLAPPED *overlapped)
{
	struct plx_pending *pending;
	enum plx_status status;

	if (mr->mr == NULL || mr->deregistering)
		return ND_INVALID_DEVICE_STATE;
	pending = plx_pending_begin_brief(&mr->object.pending, overlapped);
	if (pending == NULL)
		return plx_pending_refusal();
	status = release_region(mr,
				plx_session_is_stalled(mr->object.adapter->session) ? 0 : BRIEF_MS);
	if (status == PLX_TIMEOUT) {
		mr->deregistering = pending;
		nd2_object_get(&mr->object);
		plx_session_defer(mr->object.adapter->session, &mr->deferred, finish_deregister);
		return ND_PENDING;
	}
	if (status != PLX_OK) {
		HRESULT refused = nd2_call_status(status);

		(void)plx_pending_abandon(pending, refused);
		return refused;
	}
	plx_pending_finish(pending, ND_SUCCESS, 0);
	return ND_PENDING;
}

static HRESULT STDMETHODCALLTYPE
mr_deregister(IND2MemoryRegion *face, OVERLAPPED *overlapped)
{
	struct nd2_mr *mr = nd2_mr_of(face);
	HRESULT status;

	if (overlapped == NULL)
		return ND_INVALID_PARAMETER_1;
	nd2_session_claim(mr->object.adapter->session);
	pthread_mutex_lock(&mr->lock);
	status = deregister_locked(mr, overlapped);
	pthread_mutex_unlock(&mr->lock);
	return nd2_settle(overlapped, status);
}

static UINT32 STDMETHODCALLTYPE
get_local_token(IND2MemoryRegion *face)
{
	return atomic_load(&nd2_mr_of(face)->token);
}

static UINT32 STDMETHODCALLTYPE
get_remote_token(IND2MemoryRegion *face)
{
	return htonl(atomic_load(&nd2_mr_of(face)->token));
}

/* ---- lifetime ---- */

/* The client may reuse its memory when this returns, so the registration must have ended, unless a
 * bound window keeps it, as it keeps the object. */
static void
close_mr(struct nd2_object *object)
{
	struct nd2_mr *mr = plx_list_entry(object, struct nd2_mr, object);

	pthread_mutex_lock(&mr->lock);
	if (mr->mr != NULL)
		release_region_blocking(mr);
	if (mr->deregistering)
		finish_pending_deregister(mr);
	pthread_mutex_unlock(&mr->lock);
	/* Wait for a thread that finishes the request under that lock. */
	plx_pending_list_end(&mr->object.pending, ND_CANCELED);
}

static void
destroy_mr(struct plx_session_object *object)
{
	struct nd2_mr *mr = plx_list_entry(object, struct nd2_mr, object.base);

	if (mr->mr != NULL)
		release_region_blocking(mr);
	pthread_mutex_destroy(&mr->lock);
	nd2_object_free(object);
}

ND2_IOVERLAPPED(mr, IND2MemoryRegion);

static HRESULT STDMETHODCALLTYPE
cancel_overlapped_requests(IND2MemoryRegion *face)
{
	plx_pending_cancel_all(&nd2_mr_of(face)->object.pending);
	return ND_SUCCESS;
}

static const IND2MemoryRegionVtbl table = {
	.QueryInterface = mr_query_interface,
	.AddRef = mr_add_ref,
	.Release = mr_release,
	.CancelOverlappedRequests = cancel_overlapped_requests,
	.GetOverlappedResult = mr_get_overlapped_result,
	.Register = mr_register,
	.Deregister = mr_deregister,
	.GetLocalToken = get_local_token,
	.GetRemoteToken = get_remote_token,
};

const struct nd2_kind nd2_mr_kind = {
	.table = &table,
	.iid = &IID_IND2MemoryRegion,
	.bytes = sizeof(struct nd2_mr),
	.overlapped = true,
	.close = close_mr,
	.base.destroy = destroy_mr,
};

HRESULT
nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE handle, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2MemoryRegion, out);
	struct nd2_mr *mr;

	if (status != ND_SUCCESS)
		return status;
	mr = nd2_object_alloc(&nd2_mr_kind, adapter, handle, &status);
	if (mr == NULL)
		return status;
	pthread_mutex_init(&mr->lock, NULL);
	nd2_object_init(&mr->object, adapter->session);
	*out = mr;
	return ND_SUCCESS;
}
