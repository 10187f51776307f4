/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_PD: a protection domain, and its privileged token, a region of all memory without any remote
 * right. Start with ndk_create_pd().
 */
#include <ntstatus.h>

#include "ndk.h"

/* All that a process can have; the first page is none. */
#define ALL_FIRST ((uintptr_t)PAGE_SIZE)
#define ALL_BYTES (((size_t)1 << 47) - 2 * PAGE_SIZE)

static VOID
get_privileged_token(NDK_PD *face, UINT32 *token)
{
	*token = plx_mr_key(ndk_pd_of(face)->privileged).v;
}

static const NDK_PD_DISPATCH table = {
	.NdkClosePd = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkCreateMr = ndk_create_mr,
	.NdkCreateMw = ndk_create_mw,
	.NdkCreateSrq = ndk_create_srq,
	.NdkCreateQp = ndk_create_qp,
	.NdkCreateQpWithSrq = ndk_create_qp_with_srq,
	.NdkGetPrivilegedMemoryRegionToken = get_privileged_token,
};

static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_pd *pd = plx_list_entry(object, struct ndk_pd, object);

	if (pd->privileged != NULL && plx_mr_deregister(pd->privileged) == PLX_TIMEOUT)
		return PLX_TIMEOUT;
	pd->privileged = NULL;
	/* never BUSY: what is made from it holds it */
	return plx_pd_destroy(pd->pd);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypePd,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_pd),
	.teardown = teardown,
};

static enum plx_status
make(struct ndk_pd *pd)
{
	enum plx_status status = plx_pd_create(ndk_session_for(&pd->object)->adapter, &pd->pd);

	if (status != PLX_OK)
		return status;
	status = plx_mr_register(pd->pd, (void *)ALL_FIRST, ALL_BYTES, PLX_ACCESS_LOCAL_WRITE,
				 &pd->privileged);
	if (status != PLX_OK)
		(void)!plx_pd_destroy(pd->pd);
	return status;
}

NTSTATUS
ndk_create_pd(NDK_ADAPTER *face, NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_PD **out)
{
	struct ndk_pd *pd = ndk_object_alloc(&kind, ndk_adapter_of(face));
	enum plx_status status;

	(void)created, (void)context; /* never pending */
	if (pd == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	status = make(pd);
	if (status != PLX_OK) {
		ndk_object_free(&pd->object);
		return ndk_call_status(status);
	}
	*out = (NDK_PD *)(void *)pd;
	return STATUS_SUCCESS;
}
