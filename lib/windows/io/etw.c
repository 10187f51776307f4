/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Providers of ETW's events, which nobody listens to: what remains is that handles are valid from
 * registration to its end, and that what is left is reported. Start with EtwRegister().
 */
#include <evntprov.h>

#include "io.h"

#include <pthread.h>
#include <stdlib.h>

struct provider {
	struct plx_list node;
	REGHANDLE handle; /* none is used twice */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct plx_list all = {&all, &all};
static REGHANDLE last;
static _Atomic uint64_t registered;

_Static_assert(sizeof(EVENT_DESCRIPTOR) == 16, "as in Windows");
_Static_assert(sizeof(EVENT_DATA_DESCRIPTOR) == 16, "as in Windows");
_Static_assert(__builtin_offsetof(EVENT_DESCRIPTOR, Keyword) == 8, "as in Windows");

static uint64_t
count(void)
{
	return registered;
}

/* The lock is held. Returns: NULL: there is none */
static struct provider *
find(REGHANDLE handle)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &all) {
		struct provider *provider = plx_list_entry(node, struct provider, node);

		if (provider->handle == handle)
			return provider;
	}
	return NULL;
}

NTSTATUS
EtwRegister(LPCGUID id, PETWENABLECALLBACK callback, PVOID context, PREGHANDLE handle)
{
	static const struct plx_io_watch watch = {"ETW registration", count, false};
	struct provider *fresh;

	(void)callback, (void)context;
	plx_ke_require("EtwRegister", APC_LEVEL);
	if (id == NULL || handle == NULL)
		return STATUS_INVALID_PARAMETER;
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL)
		return STATUS_NO_MEMORY;
	plx_io_watch(&watch);
	pthread_rwlock_wrlock(&lock);
	fresh->handle = ++last;
	plx_list_append(&all, &fresh->node);
	*handle = fresh->handle;
	pthread_rwlock_unlock(&lock);
	registered++;
	return STATUS_SUCCESS;
}

NTSTATUS
EtwUnregister(REGHANDLE handle)
{
	struct provider *provider;

	plx_ke_require("EtwUnregister", APC_LEVEL);
	pthread_rwlock_wrlock(&lock);
	provider = find(handle);
	if (provider != NULL)
		plx_list_remove(&provider->node);
	pthread_rwlock_unlock(&lock);
	if (provider == NULL)
		return STATUS_INVALID_HANDLE;
	registered--;
	free(provider);
	return STATUS_SUCCESS;
}

BOOLEAN
EtwEventEnabled(REGHANDLE handle, PCEVENT_DESCRIPTOR event)
{
	(void)handle, (void)event;
	return FALSE;
}

BOOLEAN
EtwProviderEnabled(REGHANDLE handle, UCHAR level, ULONGLONG keyword)
{
	(void)handle, (void)level, (void)keyword;
	return FALSE;
}

NTSTATUS
EtwWriteTransfer(REGHANDLE handle, PCEVENT_DESCRIPTOR event, LPCGUID activity, LPCGUID related,
		 ULONG n, PEVENT_DATA_DESCRIPTOR data)
{
	bool is_known;

	(void)event, (void)activity, (void)related, (void)data;
	pthread_rwlock_rdlock(&lock);
	is_known = find(handle) != NULL;
	pthread_rwlock_unlock(&lock);
	if (!is_known)
		return STATUS_INVALID_HANDLE;
	return n <= MAX_EVENT_DATA_DESCRIPTORS ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS
EtwWrite(REGHANDLE handle, PCEVENT_DESCRIPTOR event, LPCGUID activity, ULONG n,
	 PEVENT_DATA_DESCRIPTOR data)
{
	return EtwWriteTransfer(handle, event, activity, NULL, n, data);
}
