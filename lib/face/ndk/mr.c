/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_MR: regions of memory that a request registers, and regions that a work request registers
 * fast. Start with ndk_create_mr().
 */
#include <stdlib.h>

#include <ntstatus.h>

#include "ndk.h"

#define MR_FLAGS                                                          \
	(NDK_MR_FLAG_ALLOW_REMOTE_WRITE | NDK_MR_FLAG_ALLOW_REMOTE_READ | \
	 NDK_MR_FLAG_RDMA_READ_SINK)

/* ---- registering ---- */

/* A window may be bound to whatever is registered; what it may grant is checked then. */
static uint32_t
access_of(ULONG flags)
{
	uint32_t access = PLX_ACCESS_BIND;

	if (flags & NDK_MR_FLAG_ALLOW_LOCAL_WRITE)
		access |= PLX_ACCESS_LOCAL_WRITE;
	if (flags & NDK_MR_FLAG_ALLOW_REMOTE_READ)
		access |= PLX_ACCESS_REMOTE_READ;
	if ((flags & NDK_MR_FLAG_ALLOW_REMOTE_WRITE) == NDK_MR_FLAG_ALLOW_REMOTE_WRITE)
		access |= PLX_ACCESS_REMOTE_WRITE;
	return access;
}

static NTSTATUS
run_register(struct ndk_request *request)
{
	struct ndk_mr *mr = plx_list_entry(request->object, struct ndk_mr, object);
	enum plx_status status = PLX_STATE;

	if (mr->mr == NULL && request->page == NULL)
		status = plx_mr_register(mr->pd->pd, request->memory, request->length,
					 request->access, &mr->mr);
	else if (mr->mr == NULL)
		status =
			plx_mr_register_pages(mr->pd->pd, (uintptr_t)request->memory, request->page,
					      request->length, request->access, &mr->mr);
	free(request->page);
	if (status == PLX_OK)
		atomic_store(&mr->token, plx_mr_key(mr->mr).v);
	return ndk_call_status(status);
}

/* The consumer may change its MDLs when the call has returned.
 * @param page [out] NULL: the memory is contiguous, and at the address of the MDLs */
static NTSTATUS
find_memory(MDL *mdl, SIZE_T length, void **memory, uint64_t **page)
{
	struct ndk_range range;
	NTSTATUS status = ndk_mdl_range(mdl, length, &range);

	if (status != STATUS_SUCCESS)
		return status;
	*memory = range.va;
	*page = NULL;
	if (range.plain)
		return STATUS_SUCCESS;
	*page = malloc(range.pages * sizeof(**page));
	if (*page == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	ndk_mdl_pages(mdl, length, *page);
	return STATUS_SUCCESS;
}

static NTSTATUS
register_mr(NDK_MR *face, MDL *mdl, SIZE_T length, ULONG flags, NDK_FN_REQUEST_COMPLETION done,
	    PVOID context)
{
	struct ndk_mr *mr = ndk_mr_of(face);
	struct ndk_request *request;
	NTSTATUS status;
	uint64_t *page;
	void *memory;

	if (mr->fast)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (flags & ~(ULONG)MR_FLAGS || length > ndk_limits(&mr->object)->MaxRegistrationSize)
		return STATUS_INVALID_PARAMETER;
	status = find_memory(mdl, length, &memory, &page);
	if (status != STATUS_SUCCESS)
		return status;
	request = ndk_request_make(&mr->object, run_register, done, context);
	if (request == NULL) {
		free(page);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	request->memory = memory;
	request->page = page;
	request->length = length;
	request->access = access_of(flags);
	return ndk_request_begin(request);
}

/* Returns: STATE: it is not registered; BUSY: a window is bound to it */
static enum plx_status
deregister(struct ndk_mr *mr)
{
	enum plx_status status = mr->mr != NULL ? plx_mr_deregister(mr->mr) : PLX_STATE;

	if (status == PLX_OK) {
		mr->mr = NULL;
		atomic_store(&mr->token, 0);
	}
	return status;
}

static NTSTATUS
run_deregister(struct ndk_request *request)
{
	return ndk_call_status(deregister(plx_list_entry(request->object, struct ndk_mr, object)));
}

static NTSTATUS
deregister_mr(NDK_MR *face, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct ndk_mr *mr = ndk_mr_of(face);
	struct ndk_request *request;

	if (mr->fast)
		return STATUS_INVALID_DEVICE_REQUEST;
	request = ndk_request_make(&mr->object, run_deregister, done, context);
	return request ? ndk_request_begin(request) : STATUS_INSUFFICIENT_RESOURCES;
}

/* ---- fast registration ---- */

static NTSTATUS
initialize_fast(NDK_MR *face, ULONG pages, BOOLEAN remote, NDK_FN_REQUEST_COMPLETION done,
		PVOID context)
{
	struct ndk_mr *mr = ndk_mr_of(face);
	enum plx_status status;

	(void)done, (void)context; /* never pending */
	if (!mr->fast || mr->pages != 0)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (pages == 0)
		return STATUS_INVALID_PARAMETER;
	if (pages > ndk_limits(&mr->object)->FRMRPageCount)
		return STATUS_IMPLEMENTATION_LIMIT;
	status = plx_mr_create_fast(mr->pd->pd, pages, &mr->mr);
	if (status != PLX_OK)
		return ndk_call_status(status);
	mr->pages = pages;
	mr->remote = remote;
	return STATUS_SUCCESS;
}

/* One key serves both sides. */
static UINT32
get_token(NDK_MR *face)
{
	return atomic_load(&ndk_mr_of(face)->token);
}

static const NDK_MR_DISPATCH table = {
	.NdkCloseMr = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkRegisterMr = register_mr,
	.NdkDeregisterMr = deregister_mr,
	.NdkInitializeFastRegisterMr = initialize_fast,
	.NdkGetRemoteTokenFromMr = get_token,
	.NdkGetLocalTokenFromMr = get_token,
};

/* ---- lifetime ---- */

/* BUSY: a window is bound to it, until that is closed, bound elsewhere or invalidated, which a peer
 * may do without a word to us. A window that is being closed is unbound before its close is
 * complete, and may have been bound to this one. */
static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_mr *mr = plx_list_entry(object, struct ndk_mr, object);
	enum plx_status status;

	if (atomic_load(&mr->pd->closing_windows) != 0)
		return PLX_BUSY;
	status = deregister(mr);
	return status == PLX_BUSY && PLX_MUTANT(NDK_REGION_NOT_HELD) ? PLX_OK : status;
}

static void
destroy(struct ndk_object *object)
{
	ndk_release(&plx_list_entry(object, struct ndk_mr, object)->pd->object);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeMr,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_mr),
	.teardown = teardown,
	.destroy = destroy,
};

NTSTATUS
ndk_create_mr(NDK_PD *face, BOOLEAN fast, NDK_FN_CREATE_COMPLETION created, PVOID context,
	      NDK_MR **out)
{
	struct ndk_pd *pd = ndk_pd_of(face);
	struct ndk_mr *mr = ndk_object_alloc_in(&kind, pd);

	(void)created, (void)context; /* never pending */
	if (mr == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	mr->pd = pd;
	mr->fast = fast;
	*out = (NDK_MR *)(void *)mr;
	return STATUS_SUCCESS;
}
