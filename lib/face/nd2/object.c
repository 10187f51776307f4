/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lifetimes of objects: the references that a client counts. The session's holds keep the memory.
 * It never takes a lock, and is the same for every kind. Start with nd2_release().
 */
#include "nd2.h"

void
nd2_object_init(struct nd2_object *object, const struct nd2_kind *kind, struct plx_session *session,
		void *face)
{
	object->kind = kind;
	object->face = face;
	atomic_init(&object->refs, 1);
	plx_session_object_init(&object->base, &kind->base, session);
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
	*out = object->face;
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
		if (object->kind->close)
			object->kind->close(object);
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
