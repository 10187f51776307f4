/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logical addresses of memory. One process has one address space, so a page's logical address is
 * its address: building a mapping neither waits nor fails for want of resources. Start with
 * ndk_build_lam().
 */
#include <ntstatus.h>

#include "ndk.h"

static const char *
address_of(const MDL *mdl)
{
	return (const char *)mdl->StartVa + mdl->ByteOffset;
}

NTSTATUS
ndk_mdl_memory(const MDL *mdl, SIZE_T length, void **memory)
{
	const char *next;
	SIZE_T bytes = 0;

	if (mdl == NULL || length == 0)
		return STATUS_INVALID_PARAMETER;
	next = address_of(mdl);
	*memory = (void *)(uintptr_t)next;
	for (; mdl != NULL && bytes < length; mdl = mdl->Next) {
		if (address_of(mdl) != next)
			return STATUS_INVALID_PARAMETER;
		next += mdl->ByteCount;
		bytes += mdl->ByteCount;
	}
	return bytes >= length ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS
ndk_build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length, NDK_FN_REQUEST_COMPLETION done,
	      PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam, ULONG *lam_bytes, ULONG *fbo)
{
	NTSTATUS status;
	uint64_t pages, bytes;
	void *memory;
	ULONG given;

	(void)adapter, (void)done, (void)context;
	if (lam_bytes == NULL || fbo == NULL)
		return STATUS_INVALID_PARAMETER;
	status = ndk_mdl_memory(mdl, length, &memory);
	if (status != STATUS_SUCCESS)
		return status;
	pages = (BYTE_OFFSET(memory) + (uint64_t)length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	bytes = offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) +
		pages * sizeof(NDK_LOGICAL_ADDRESS);
	if (bytes > MAXULONG)
		return STATUS_INVALID_PARAMETER;
	given = *lam_bytes;
	*lam_bytes = (ULONG)bytes;
	if (lam == NULL || given < bytes)
		return STATUS_BUFFER_TOO_SMALL;
	lam->AdapterContext = NULL;
	lam->AdapterPageCount = (ULONG)pages;
	for (uint64_t i = 0; i < pages; i++)
		lam->AdapterPageArray[i].QuadPart =
			(LONGLONG)((uintptr_t)PAGE_ALIGN(memory) + (i << PAGE_SHIFT));
	*fbo = BYTE_OFFSET(memory);
	return STATUS_SUCCESS;
}

VOID
ndk_release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *lam)
{
	(void)adapter, (void)lam;
}
