/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Callback objects. A notification takes the registrations one after the other, and holds the one
 * that it calls, so that its end waits for the call. Start with ExNotifyCallback().
 */
#include "named.h"

#include <pthread.h>
#include <stdlib.h>

struct _CALLBACK_OBJECT {
	struct named named;
	struct plx_list registrations; /* in their order; by the lock */
	bool is_for_many;
};

struct registration {
	struct plx_list node;
	PCALLBACK_OBJECT object; /* held */
	PCALLBACK_FUNCTION function;
	PVOID context;
	unsigned int running;
	bool is_ending; /* it is not called any more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* a call has, of one that ends */
static _Atomic uint64_t objects, registered;

static uint64_t
count_objects(void)
{
	return objects;
}

static uint64_t
count_registered(void)
{
	return registered;
}

static void
destroy(PVOID object)
{
	named_leave(&((PCALLBACK_OBJECT)object)->named);
	objects--;
}

static struct _OBJECT_TYPE callback_type = {.name = "callback object", .destroy = destroy};

static NTSTATUS
create(PCALLBACK_OBJECT *out, POBJECT_ATTRIBUTES attributes, BOOLEAN is_for_many)
{
	static const struct plx_io_watch watch = {"callback object", count_objects, false};
	PCALLBACK_OBJECT fresh = plx_ke_object_create(&callback_type, sizeof(*fresh));
	PVOID existing = NULL;
	NTSTATUS status;

	if (fresh == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	plx_io_watch(&watch);
	objects++;
	plx_list_init(&fresh->registrations);
	fresh->is_for_many = is_for_many;
	status = named_enter(attributes, fresh, &fresh->named, &existing);
	if (status == STATUS_SUCCESS) {
		*out = fresh;
		return STATUS_SUCCESS;
	}
	ObDereferenceObject(fresh);
	if (status != STATUS_OBJECT_NAME_EXISTS)
		return status;
	*out = existing;
	return STATUS_SUCCESS;
}

NTSTATUS
ExCreateCallback(PCALLBACK_OBJECT *out, POBJECT_ATTRIBUTES attributes, BOOLEAN creates,
		 BOOLEAN is_for_many)
{
	NTSTATUS status;
	bool has_name;
	PVOID found;

	plx_ke_require("ExCreateCallback", PASSIVE_LEVEL);
	status = named_check(attributes, &has_name);
	if (!NT_SUCCESS(status))
		return status;
	if (!has_name)
		return STATUS_UNSUCCESSFUL;
	if (creates)
		return create(out, attributes, is_for_many);
	status = named_find(attributes, &callback_type, &found);
	if (NT_SUCCESS(status))
		*out = found;
	return status;
}

PVOID
ExRegisterCallback(PCALLBACK_OBJECT object, PCALLBACK_FUNCTION function, PVOID context)
{
	static const struct plx_io_watch watch = {"registered callback", count_registered, true};
	struct registration *fresh;
	bool is_taken;

	plx_ke_require("ExRegisterCallback", APC_LEVEL);
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL)
		return NULL;
	*fresh = (struct registration){.object = object, .function = function, .context = context};
	pthread_mutex_lock(&lock);
	is_taken = !object->is_for_many && !plx_list_empty(&object->registrations);
	if (!is_taken)
		plx_list_append(&object->registrations, &fresh->node);
	pthread_mutex_unlock(&lock);
	if (is_taken) {
		free(fresh);
		return NULL;
	}
	plx_io_watch(&watch);
	registered++;
	ObReferenceObject(object);
	return fresh;
}

VOID
ExUnregisterCallback(PVOID handle)
{
	struct registration *registration = handle;

	plx_ke_require("ExUnregisterCallback", APC_LEVEL);
	pthread_mutex_lock(&lock);
	registration->is_ending = true;
	while (registration->running > 0)
		pthread_cond_wait(&ended, &lock);
	plx_list_remove(&registration->node);
	pthread_mutex_unlock(&lock);
	registered--;
	ObDereferenceObject(registration->object);
	free(registration);
}

VOID
ExNotifyCallback(PVOID callback, PVOID argument1, PVOID argument2)
{
	PCALLBACK_OBJECT object = callback;
	struct plx_list *node;

	plx_ke_require("ExNotifyCallback", DISPATCH_LEVEL);
	pthread_mutex_lock(&lock);
	for (node = object->registrations.next; node != &object->registrations;) {
		struct registration *at = plx_list_entry(node, struct registration, node);

		if (!at->is_ending) {
			at->running++;
			pthread_mutex_unlock(&lock);
			at->function(at->context, argument1, argument2);
			pthread_mutex_lock(&lock);
			at->running--;
		}
		/* it is in the list as long as the lock is held */
		node = node->next;
		if (at->is_ending && at->running == 0)
			pthread_cond_broadcast(&ended);
	}
	pthread_mutex_unlock(&lock);
}
