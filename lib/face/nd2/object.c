/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lives of objects: what the client counts, what keeps the memory, and how many objects there are.
 * It never takes a lock, and knows of no kind. Start with nd2_release().
 */
#include "nd2.h"

static atomic_uint alive; /* objects of this module whose destroy() has not returned */

uint32_t
nd2_objects_alive(void)
{
	return atomic_load(&alive);
}

void
nd2_object_init(struct nd2_object *object, const struct nd2_kind *kind, struct nd2_session *session,
		void *face)
{
	object->kind = kind;
	object->face = face;
	object->session = session;
	plx_list_init(&object->deferred.node);
	atomic_init(&object->refs, 1);
	atomic_init(&object->holds, 1);
	atomic_fetch_add(&alive, 1);
}

void
nd2_object_get(struct nd2_object *object)
{
	atomic_fetch_add_explicit(&object->holds, 1, memory_order_relaxed);
}

void
nd2_object_end(struct nd2_object *object)
{
	object->kind->destroy(object);
	/* only now: a library may be unloaded at once when nothing lives in it */
	atomic_fetch_sub(&alive, 1);
}

void
nd2_object_put(struct nd2_object *object)
{
	if (atomic_fetch_sub_explicit(&object->holds, 1, memory_order_acq_rel) != 1)
		return;
	if (object->kind->teardown == NULL || nd2_teardown(object))
		nd2_object_end(object);
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

/* A count of 0 stays: whoever is at it has let go of an object that only children keep. */
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
nd2_overlapped_result(OVERLAPPED *overlapped, BOOL wait)
{
	return overlapped == NULL ? ND_INVALID_PARAMETER : plx_overlapped_result(overlapped, wait);
}
