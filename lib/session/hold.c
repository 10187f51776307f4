/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Holds that keep objects alive, and the number of live objects.
 * It never takes a lock, and is the same for every kind of object. Start with
 * plx_session_object_release().
 */
#include "internal.h"

static atomic_uint alive; /* objects whose destroy() has not returned */

uint32_t
plx_session_objects_alive(void)
{
	return atomic_load(&alive);
}

void
plx_session_object_init(struct plx_session_object *object, const struct plx_session_kind *kind,
			struct plx_session *session)
{
	object->kind = kind;
	object->session = session;
	plx_list_init(&object->deferred.node);
	atomic_init(&object->holds, 1);
	atomic_fetch_add(&alive, 1);
}

void
plx_session_object_hold(struct plx_session_object *object)
{
	atomic_fetch_add_explicit(&object->holds, 1, memory_order_relaxed);
}

void
session_object_end(struct plx_session_object *object)
{
	object->kind->destroy(object);
	/* last: a library may be unloaded as soon as no object of it is alive */
	atomic_fetch_sub(&alive, 1);
}

void
plx_session_object_release(struct plx_session_object *object)
{
	if (atomic_fetch_sub_explicit(&object->holds, 1, memory_order_acq_rel) != 1)
		return;
	if (object->kind->teardown == NULL || session_teardown(object))
		session_object_end(object);
}
