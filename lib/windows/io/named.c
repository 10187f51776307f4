/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One list of names. An object is removed from it by its end, and not found any more from its last
 * release on. There are no folders: a name is a path, whose parts need not exist.
 * Start with named_enter().
 */
#include "named.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list all = {&all, &all};

NTSTATUS
named_check(const OBJECT_ATTRIBUTES *attributes, bool *has_name)
{
	*has_name = false;
	if (attributes == NULL)
		return STATUS_SUCCESS;
	if (attributes->Length != sizeof(*attributes))
		return STATUS_INVALID_PARAMETER;
	*has_name = attributes->ObjectName != NULL && attributes->ObjectName->Length > 0;
	return STATUS_SUCCESS;
}

static NTSTATUS
check_name(const OBJECT_ATTRIBUTES *attributes)
{
	PCUNICODE_STRING text = attributes->ObjectName;
	size_t n = text->Length / sizeof(WCHAR);
	NTSTATUS status;
	PVOID root;

	if (attributes->RootDirectory != NULL) {
		status = ObReferenceObjectByHandle(attributes->RootDirectory, 0, NULL, KernelMode,
						   &root, NULL);
		if (!NT_SUCCESS(status))
			return status;
		ObDereferenceObject(root);
		/* no handle leads to a folder of names */
		return STATUS_OBJECT_TYPE_MISMATCH;
	}
	if (text->Buffer[0] != L'\\')
		return STATUS_OBJECT_PATH_SYNTAX_BAD;
	return text->Buffer[n - 1] == L'\\' ? STATUS_OBJECT_NAME_INVALID : STATUS_SUCCESS;
}

/* Hold the object of this name. The lock is held.
 * Returns: NULL: there is none */
static PVOID
hold(const OBJECT_ATTRIBUTES *attributes)
{
	BOOLEAN folds = (attributes->Attributes & OBJ_CASE_INSENSITIVE) != 0;
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &all) {
		struct named *named = plx_list_entry(node, struct named, node);

		if (RtlEqualUnicodeString(&named->text, attributes->ObjectName, folds) &&
		    plx_ke_object_try_hold(named->object))
			return named->object;
	}
	return NULL;
}

/* Give up an object of another type than is wanted. */
static NTSTATUS
require_type(PVOID object, POBJECT_TYPE type)
{
	if (plx_ke_object_type(object) == type)
		return STATUS_SUCCESS;
	ObDereferenceObject(object);
	return STATUS_OBJECT_TYPE_MISMATCH;
}

NTSTATUS
named_enter(const OBJECT_ATTRIBUTES *attributes, PVOID object, struct named *named, PVOID *existing)
{
	NTSTATUS status = check_name(attributes);

	if (!NT_SUCCESS(status))
		return status;
	pthread_mutex_lock(&lock);
	*existing = hold(attributes);
	if (*existing == NULL && !text_copy(&named->text, attributes->ObjectName)) {
		status = STATUS_INSUFFICIENT_RESOURCES;
	} else if (*existing == NULL) {
		named->object = object;
		plx_list_append(&all, &named->node);
		named->is_permanent = (attributes->Attributes & OBJ_PERMANENT) != 0;
		if (named->is_permanent)
			ObReferenceObject(object);
	}
	pthread_mutex_unlock(&lock);
	if (*existing == NULL)
		return status;
	status = require_type(*existing, plx_ke_object_type(object));
	return NT_SUCCESS(status) ? STATUS_OBJECT_NAME_EXISTS : status;
}

NTSTATUS
named_find(const OBJECT_ATTRIBUTES *attributes, POBJECT_TYPE type, PVOID *object)
{
	NTSTATUS status = check_name(attributes);

	if (!NT_SUCCESS(status))
		return status;
	pthread_mutex_lock(&lock);
	*object = hold(attributes);
	pthread_mutex_unlock(&lock);
	return *object != NULL ? require_type(*object, type) : STATUS_OBJECT_NAME_NOT_FOUND;
}

void
named_leave(struct named *named)
{
	if (named->object == NULL)
		return;
	pthread_mutex_lock(&lock);
	plx_list_remove(&named->node);
	pthread_mutex_unlock(&lock);
	free(named->text.Buffer);
}

NTSTATUS
ZwMakeTemporaryObject(HANDLE handle)
{
	struct plx_list *node, *next;
	bool was_permanent = false;
	NTSTATUS status;
	PVOID object;

	plx_ke_require("ZwMakeTemporaryObject", PASSIVE_LEVEL);
	status = ObReferenceObjectByHandle(handle, 0, NULL, KernelMode, &object, NULL);
	if (!NT_SUCCESS(status))
		return status;
	pthread_mutex_lock(&lock);
	plx_list_for_each (node, next, &all) {
		struct named *named = plx_list_entry(node, struct named, node);

		if (named->object == object) {
			was_permanent = named->is_permanent;
			named->is_permanent = false;
		}
	}
	pthread_mutex_unlock(&lock);
	if (was_permanent)
		ObDereferenceObject(object);
	ObDereferenceObject(object);
	return STATUS_SUCCESS;
}
