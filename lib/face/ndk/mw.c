/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_MW: windows. NdkBind, a request of a queue pair, binds them (post.c). Start with
 * ndk_create_mw().
 */
#include <ntstatus.h>

#include "ndk.h"

static UINT32
get_token(NDK_MW *face)
{
	return atomic_load(&ndk_mw_of(face)->token);
}

static const NDK_MW_DISPATCH table = {
	.NdkCloseMw = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkGetRemoteTokenFromMw = get_token,
};

static enum plx_status
teardown(struct ndk_object *object)
{
	return plx_mw_destroy(plx_list_entry(object, struct ndk_mw, object)->mw);
}

static void
close_window(struct ndk_object *object)
{
	plx_list_entry(object, struct ndk_mw, object)->pd->closing_windows++;
}

/* Its CloseCompletion has returned. */
static void
destroy(struct ndk_object *object)
{
	struct ndk_pd *pd = plx_list_entry(object, struct ndk_mw, object)->pd;

	pd->closing_windows--;
	ndk_release(&pd->object);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeMw,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_mw),
	.close = close_window,
	.teardown = teardown,
	.destroy = destroy,
};

NTSTATUS
ndk_create_mw(NDK_PD *face, NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_MW **out)
{
	struct ndk_pd *pd = ndk_pd_of(face);
	struct ndk_mw *mw = ndk_object_alloc_in(&kind, pd);

	(void)created, (void)context; /* never pending */
	if (mw == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	if (plx_mw_create(pd->pd, &mw->mw) != PLX_OK) {
		ndk_release(&pd->object);
		ndk_object_free(&mw->object);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	mw->pd = pd;
	*out = (NDK_MW *)(void *)mw;
	return STATUS_SUCCESS;
}
