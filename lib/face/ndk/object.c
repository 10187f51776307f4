/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects: their holds, their close, their end. lifetime.c alone decides; here its effects are
 * done. Start with ndk_close().
 *
 * Whatever has a part in the engine is removed by the dispatcher, so its close is always pending.
 */
#include "ndk.h"

#include <ntstatus.h>
#include <stdlib.h>

enum {
	BUSY_NS = 1000 * 1000, /* between two looks at what is in use */
};

/* One step, by compare and swap. */
static unsigned int
step(struct ndk_object *object, enum ndk_lifetime_event event)
{
	struct ndk_lifetime was = atomic_load(&object->lifetime);
	struct ndk_lifetime next;
	unsigned int effects;

	do {
		next = ndk_lifetime_step(was, event, &effects);
	} while (!atomic_compare_exchange_weak(&object->lifetime, &was, next));
	return effects;
}

/* The last step: what the object was made from is released after it. */
static void
end(struct ndk_object *object)
{
	struct ndk_adapter *adapter = object->adapter;
	bool is_adapter = &adapter->object == object;

	if (object->kind->destroy)
		object->kind->destroy(object);
	if (is_adapter)
		return;
	ndk_left_object(adapter, object->kind->type, -1);
	ndk_object_keep(object);
	ndk_release(&adapter->object);
}

static void
complete(struct ndk_object *object)
{
	KIRQL old = ndk_callback_begin();

	object->close_completion(object->close_context);
	if (PLX_MUTANT(NDK_CLOSE_TOLD_TWICE))
		object->close_completion(object->close_context);
	ndk_callback_end("NdkCloseCompletion", old);
	if (step(object, NDK_ON_COMPLETE) & NDK_DO_END)
		end(object);
}

/* A teardown has ended, or is to be tried again by the dispatcher: nobody tells when. */
static void
settle(struct ndk_object *object, enum plx_status status)
{
	struct ndk_dispatcher *dispatcher = ndk_dispatcher_of(object);

	if (status == PLX_AGAIN)
		ndk_post(dispatcher, &object->completing);
	else if (status == PLX_BUSY)
		ndk_post_at(dispatcher, &object->completing, plx_session_now_ns() + BUSY_NS);
	else
		complete(object);
}

static bool
finish_later(struct plx_session_deferred *deferred)
{
	struct ndk_object *object = plx_list_entry(deferred, struct ndk_object, deferred);
	enum plx_status status = object->kind->teardown(object);

	if (status == PLX_TIMEOUT)
		return false;
	settle(object, status);
	return true;
}

static void
finish(struct ndk_task *task)
{
	struct ndk_object *object = plx_list_entry(task, struct ndk_object, completing);
	struct plx_session *session = ndk_session_for(object);
	enum plx_status status = PLX_OK;

	if (object->kind->teardown)
		status = plx_session_is_stalled(session) ? PLX_TIMEOUT
							 : object->kind->teardown(object);
	if (status == PLX_TIMEOUT)
		plx_session_defer(session, &object->deferred, finish_later);
	else
		settle(object, status);
}

bool
ndk_hold(struct ndk_object *object)
{
	return !(step(object, NDK_ON_HOLD) & NDK_DO_REFUSE);
}

void
ndk_release(struct ndk_object *object)
{
	unsigned int effects = step(object, NDK_ON_RELEASE);

	PLX_ASSERT(!(effects & NDK_DO_REFUSE));
	if (effects & NDK_DO_COMPLETE)
		ndk_post(ndk_dispatcher_of(object), &object->completing);
}

bool
ndk_is_closed(struct ndk_object *object)
{
	return atomic_load(&object->lifetime).life != NDK_LIFE_OPEN;
}

/* ---- close ---- */

unsigned int
ndk_object_close(struct ndk_object *object)
{
	/* A hold of the close itself: the dispatcher's part of it makes it pending. */
	bool held = object->kind->teardown && ndk_hold(object);
	unsigned int effects;

	/* It is the provider's again. Not atomic: nobody else may look at a closed object. */
	object->dispatch = ndk_closed_tables[object->kind->type];
	effects = step(object, NDK_ON_CLOSE_OBJECT);
	if (held)
		ndk_release(object);
	return effects;
}

NTSTATUS
ndk_close(NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
	struct ndk_object *object = (struct ndk_object *)(void *)header;
	unsigned int effects;

	if (ndk_is_closed(object)) {
		ndk_rule_broken("an object is closed twice; a close is the last call on an object");
		return STATUS_SUCCESS;
	}
	object->close_completion = completion;
	object->close_context = context;
	if (object->kind->close)
		object->kind->close(object);
	effects = ndk_object_close(object);
	if (effects & NDK_DO_END)
		end(object);
	return effects & NDK_DO_RETURN_SUCCESS ? STATUS_SUCCESS : STATUS_PENDING;
}

NTSTATUS
ndk_query_extension(NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version,
		    NDK_EXTENSION_INTERFACE *extension)
{
	(void)header, (void)id, (void)version, (void)extension;
	return STATUS_NOT_SUPPORTED;
}

/* ---- creation ---- */

void
ndk_object_init(struct ndk_object *object, const struct ndk_kind *kind, struct ndk_adapter *adapter,
		NDK_VERSION version)
{
	object->header.Version = version;
	object->header.ObjectType = kind->type;
	object->dispatch = kind->dispatch;
	object->kind = kind;
	object->adapter = adapter;
	atomic_init(&object->lifetime, ndk_lifetime_begin());
	plx_list_init(&object->completing.node);
	object->completing.run = finish;
}

void *
ndk_object_alloc(const struct ndk_kind *kind, struct ndk_adapter *adapter)
{
	struct ndk_object *object = calloc(1, kind->bytes);

	if (object == NULL)
		return NULL;
	if (!ndk_hold(&adapter->object)) {
		free(object);
		return NULL;
	}
	ndk_object_init(object, kind, adapter, adapter->version);
	ndk_left_object(adapter, kind->type, 1);
	return object;
}

void *
ndk_object_alloc_in(const struct ndk_kind *kind, struct ndk_pd *pd)
{
	struct ndk_object *object = ndk_object_alloc(kind, pd->object.adapter);

	if (object == NULL || ndk_hold(&pd->object))
		return object;
	ndk_object_free(object);
	return NULL;
}

void
ndk_object_free(struct ndk_object *object)
{
	struct ndk_adapter *adapter = object->adapter;

	ndk_left_object(adapter, object->kind->type, -1);
	free(object);
	ndk_release(&adapter->object);
}
