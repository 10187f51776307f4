/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events with handles and names. Start with ZwCreateEvent().
 */
#include "named.h"

struct event {
	KEVENT event; /* the first: drivers have its address */
	struct named named;
};

static void
destroy(PVOID object)
{
	named_leave(&((struct event *)object)->named);
}

static struct _OBJECT_TYPE event_type = {.name = "event", .destroy = destroy};
static POBJECT_TYPE event_type_pointer = &event_type;

POBJECT_TYPE *ExEventObjectType = &event_type_pointer;

NTSTATUS
ZwCreateEvent(PHANDLE handle, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes, EVENT_TYPE type,
	      BOOLEAN state)
{
	NTSTATUS status, entered = STATUS_SUCCESS;
	struct event *event;
	bool has_name;
	PVOID existing;

	plx_ke_require("ZwCreateEvent", PASSIVE_LEVEL);
	if (type != NotificationEvent && type != SynchronizationEvent)
		return STATUS_INVALID_PARAMETER;
	status = named_check(attributes, &has_name);
	if (!NT_SUCCESS(status))
		return status;
	event = plx_ke_object_create(&event_type, sizeof(*event));
	if (event == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	KeInitializeEvent(&event->event, type, state);
	if (has_name)
		entered = named_enter(attributes, event, &event->named, &existing);
	if (entered == STATUS_OBJECT_NAME_EXISTS) {
		ObDereferenceObject(event);
		event = existing;
		if ((attributes->Attributes & OBJ_OPENIF) == 0)
			entered = STATUS_OBJECT_NAME_COLLISION;
	}
	if (NT_SUCCESS(entered)) {
		status = plx_ke_handle_open(event, access, handle);
		entered = NT_SUCCESS(status) ? entered : status;
	}
	ObDereferenceObject(event);
	return entered;
}

NTSTATUS
ZwOpenEvent(PHANDLE handle, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes)
{
	NTSTATUS status;
	bool has_name;
	PVOID event;

	plx_ke_require("ZwOpenEvent", PASSIVE_LEVEL);
	status = named_check(attributes, &has_name);
	if (!NT_SUCCESS(status) || !has_name)
		return STATUS_INVALID_PARAMETER;
	status = named_find(attributes, &event_type, &event);
	if (!NT_SUCCESS(status))
		return status;
	status = plx_ke_handle_open(event, access, handle);
	ObDereferenceObject(event);
	return status;
}

/* ---- by handles ---- */

static NTSTATUS
change(const char *call, HANDLE handle, LONG (*how)(PRKEVENT event), PLONG before)
{
	NTSTATUS status;
	PVOID event;
	LONG was;

	plx_ke_require(call, PASSIVE_LEVEL);
	status = ObReferenceObjectByHandle(handle, EVENT_MODIFY_STATE, &event_type, KernelMode,
					   &event, NULL);
	if (!NT_SUCCESS(status))
		return status;
	was = how(event);
	if (before != NULL)
		*before = was;
	ObDereferenceObject(event);
	return STATUS_SUCCESS;
}

static LONG
set(PRKEVENT event)
{
	return KeSetEvent(event, 0, FALSE);
}

NTSTATUS
ZwSetEvent(HANDLE handle, PLONG before)
{
	return change("ZwSetEvent", handle, set, before);
}

NTSTATUS
ZwResetEvent(HANDLE handle, PLONG before)
{
	return change("ZwResetEvent", handle, KeResetEvent, before);
}

NTSTATUS
ZwClearEvent(HANDLE handle)
{
	return change("ZwClearEvent", handle, KeResetEvent, NULL);
}

NTSTATUS
ZwWaitForSingleObject(HANDLE handle, BOOLEAN alertable, PLARGE_INTEGER timeout)
{
	NTSTATUS status;
	PVOID object;

	plx_ke_require("ZwWaitForSingleObject", PASSIVE_LEVEL);
	status = ObReferenceObjectByHandle(handle, SYNCHRONIZE, NULL, KernelMode, &object, NULL);
	if (!NT_SUCCESS(status))
		return status;
	if (plx_ke_object_type(object) == &event_type ||
	    plx_ke_object_type(object) == *PsThreadType)
		status = KeWaitForSingleObject(object, UserRequest, KernelMode, alertable, timeout);
	else
		status = STATUS_OBJECT_TYPE_MISMATCH;
	ObDereferenceObject(object);
	return status;
}

/* ---- by name ---- */

static PKEVENT
open_or_create(PUNICODE_STRING name, EVENT_TYPE type, PHANDLE handle)
{
	OBJECT_ATTRIBUTES attributes;
	NTSTATUS status;
	PVOID event;

	InitializeObjectAttributes(&attributes, name, OBJ_OPENIF | OBJ_KERNEL_HANDLE, NULL, NULL);
	status = ZwCreateEvent(handle, EVENT_ALL_ACCESS, &attributes, type, TRUE);
	if (!NT_SUCCESS(status))
		return NULL;
	/* the handle alone holds it, as on Windows */
	status = ObReferenceObjectByHandle(*handle, 0, &event_type, KernelMode, &event, NULL);
	if (!NT_SUCCESS(status))
		return NULL;
	ObDereferenceObject(event);
	return event;
}

PKEVENT
IoCreateNotificationEvent(PUNICODE_STRING name, PHANDLE handle)
{
	plx_ke_require("IoCreateNotificationEvent", PASSIVE_LEVEL);
	return open_or_create(name, NotificationEvent, handle);
}

PKEVENT
IoCreateSynchronizationEvent(PUNICODE_STRING name, PHANDLE handle)
{
	plx_ke_require("IoCreateSynchronizationEvent", PASSIVE_LEVEL);
	return open_or_create(name, SynchronizationEvent, handle);
}
