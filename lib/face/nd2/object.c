/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lifetimes of objects: the references that a client counts. The session's holds keep the memory.
 * It never takes a lock, and is the same for every kind. Start with nd2_release().
 */
#include <stdlib.h>

#include "nd2.h"

static HRESULT
begin_list(struct plx_pending_list *list, HANDLE handle)
{
	struct plx_file *file = plx_file_hold(handle);

	if (file == NULL)
		return ND_INVALID_HANDLE;
	plx_pending_list_init(list, file);
	plx_file_release(file); /* the list has its own hold */
	return ND_SUCCESS;
}

void *
nd2_object_alloc(const struct nd2_kind *kind, struct nd2_adapter *adapter, HANDLE file,
		 HRESULT *status)
{
	struct plx_pending_list pending = {.first = NULL};
	struct nd2_object *object;

	*status = kind->overlapped ? begin_list(&pending, file) : ND_SUCCESS;
	if (*status != ND_SUCCESS)
		return NULL;
	object = calloc(1, kind->bytes);
	if (object == NULL) {
		if (kind->overlapped)
			plx_pending_list_end(&pending, ND_CANCELED);
		*status = ND_NO_MEMORY;
		return NULL;
	}
	object->table = kind->table;
	object->kind = kind;
	object->adapter = adapter;
	object->pending = pending;
	if (adapter != NULL)
		nd2_object_get(&adapter->object);
	return object;
}

void
nd2_object_init(struct nd2_object *object, struct plx_session *session)
{
	atomic_init(&object->refs, 1);
	plx_session_object_init(&object->base, &object->kind->base, session);
}

void
nd2_object_free(struct plx_session_object *base)
{
	struct nd2_object *object = plx_list_entry(base, struct nd2_object, base);
	struct nd2_adapter *adapter = object->adapter;

	if (object->pending.file != NULL) /* close() has not run */
		plx_pending_list_end(&object->pending, ND_CANCELED);
	free(object);
	if (adapter != NULL)
		nd2_object_put(&adapter->object);
}

void *
nd2_object_find(const struct nd2_kind *kind, const struct nd2_adapter *adapter, IUnknown *face)
{
	struct nd2_object *object = (struct nd2_object *)(void *)face;

	return object != NULL && object->table == kind->table && object->adapter == adapter ? object
											    : NULL;
}

static bool
same_iid(REFIID a, REFIID b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

HRESULT
nd2_query_interface(struct nd2_object *object, REFIID iid, void **out)
{
	if (!out)
		return E_POINTER;
	*out = NULL;
	if (!iid)
		return E_NOINTERFACE;
	if (!same_iid(iid, &IID_IUnknown) && !same_iid(iid, object->kind->iid) &&
	    !(object->kind->overlapped && same_iid(iid, &IID_IND2Overlapped)))
		return E_NOINTERFACE;
	nd2_add_ref(object);
	*out = object;
	return S_OK;
}

/* A count of 0 does not change: the client has released the object already, and only children
 * keep it. */
ULONG
nd2_add_ref(struct nd2_object *object)
{
	unsigned int refs = atomic_load_explicit(&object->refs, memory_order_relaxed);

	while (refs &&
	       !atomic_compare_exchange_weak_explicit(&object->refs, &refs, refs + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return refs ? refs + 1 : 0;
}

ULONG
nd2_release(struct nd2_object *object)
{
	unsigned int refs = atomic_load_explicit(&object->refs, memory_order_relaxed);

	while (refs &&
	       !atomic_compare_exchange_weak_explicit(&object->refs, &refs, refs - 1,
						      memory_order_acq_rel, memory_order_relaxed))
		;
	if (refs == 0)
		return 0;
	if (refs == 1) {
		if (object->kind->close) {
			nd2_session_claim(object->base.session);
			object->kind->close(object);
		}
		nd2_object_put(object);
	}
	return refs - 1;
}

HRESULT
nd2_check_create(REFIID iid, const IID *wanted, void **out)
{
	if (!out)
		return E_POINTER;
	*out = NULL;
	return iid && same_iid(iid, wanted) ? ND_SUCCESS : E_NOINTERFACE;
}

HRESULT
nd2_overlapped_result(struct nd2_object *object, OVERLAPPED *overlapped, BOOL wait)
{
	nd2_session_claim(object->base.session);
	return overlapped == NULL ? ND_INVALID_PARAMETER : plx_overlapped_result(overlapped, wait);
}

HRESULT
nd2_settle(OVERLAPPED *overlapped, HRESULT status)
{
	if (overlapped != NULL && status != ND_PENDING)
		plx_overlapped_settle(overlapped, status);
	return status;
}
