/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles to registry keys, and what changes through them. Queries are in key_query.c. Start with
 * ZwCreateKey().
 */
#include "registry.h"

/* What a handle leads to. */
struct opened {
	struct key *key;
};

static void
destroy(PVOID object)
{
	registry_lock();
	key_release(((struct opened *)object)->key);
	registry_unlock();
}

static struct _OBJECT_TYPE key_type = {.name = "registry key", .destroy = destroy};

NTSTATUS
key_open_handle(struct key *key, ACCESS_MASK access, PHANDLE handle)
{
	struct opened *opened = plx_ke_object_create(&key_type, sizeof(*opened));
	NTSTATUS status;

	if (opened == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	registry_lock();
	opened->key = key_hold(key);
	registry_unlock();
	status = plx_ke_handle_open(opened, access, handle);
	ObDereferenceObject(opened);
	return status;
}

NTSTATUS
key_of_handle(HANDLE handle, struct key **key)
{
	PVOID opened;
	NTSTATUS status;

	status = ObReferenceObjectByHandle(handle, 0, &key_type, KernelMode, &opened, NULL);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	*key = ((struct opened *)opened)->key;
	if ((*key)->is_deleted)
		status = STATUS_KEY_DELETED;
	else
		(void)key_hold(*key);
	registry_unlock();
	ObDereferenceObject(opened);
	return status;
}

/* ---- opening ---- */

/* Open a key, or make its last part.
 * Returns: STATUS_OBJECT_NAME_EXISTS: it was there */
static NTSTATUS
open_key(PHANDLE handle, ACCESS_MASK access, const OBJECT_ATTRIBUTES *attributes, uint32_t made,
	 bool is_volatile)
{
	struct key *from = NULL, *key = NULL;
	NTSTATUS status, opened;

	if (attributes == NULL || attributes->Length != sizeof(*attributes) ||
	    attributes->ObjectName == NULL)
		return STATUS_INVALID_PARAMETER;
	if (attributes->RootDirectory != NULL) {
		status = key_of_handle(attributes->RootDirectory, &from);
		if (!NT_SUCCESS(status))
			return status;
	}
	registry_lock();
	status = key_find(from, attributes->ObjectName, made, is_volatile, &key);
	if (NT_SUCCESS(status))
		(void)key_hold(key);
	if (from != NULL)
		key_release(from);
	registry_unlock();
	if (!NT_SUCCESS(status))
		return status;
	opened = key_open_handle(key, access, handle);
	registry_lock();
	key_release(key);
	registry_unlock();
	return NT_SUCCESS(opened) ? status : opened;
}

NTSTATUS
ZwOpenKeyEx(PHANDLE handle, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes, ULONG options)
{
	NTSTATUS status;

	plx_ke_require("ZwOpenKey", PASSIVE_LEVEL);
	if (options != 0)
		return STATUS_INVALID_PARAMETER;
	status = open_key(handle, access, attributes, 0, false);
	return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

NTSTATUS
ZwOpenKey(PHANDLE handle, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes)
{
	return ZwOpenKeyEx(handle, access, attributes, 0);
}

/* Give a key that was just made its class. Without memory for it, it has none. */
static void
set_class(HANDLE handle, PCUNICODE_STRING name)
{
	struct key *key;

	if (!NT_SUCCESS(key_of_handle(handle, &key)))
		return;
	registry_lock();
	if (key->class_name.Buffer == NULL && !text_copy(&key->class_name, name))
		key->class_name = (UNICODE_STRING){0, 0, NULL};
	key_release(key);
	registry_unlock();
}

NTSTATUS
ZwCreateKey(PHANDLE handle, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes, ULONG title,
	    PUNICODE_STRING class_name, ULONG options, PULONG disposition)
{
	NTSTATUS status;

	(void)title;
	plx_ke_require("ZwCreateKey", PASSIVE_LEVEL);
	if ((options & ~(ULONG)REG_OPTION_VOLATILE) != 0)
		return STATUS_INVALID_PARAMETER;
	status = open_key(handle, access, attributes, 1, (options & REG_OPTION_VOLATILE) != 0);
	if (!NT_SUCCESS(status))
		return status;
	if (status == STATUS_SUCCESS && class_name != NULL && class_name->Length > 0)
		set_class(*handle, class_name);
	if (disposition != NULL)
		*disposition = status == STATUS_OBJECT_NAME_EXISTS ? REG_OPENED_EXISTING_KEY
								   : REG_CREATED_NEW_KEY;
	return STATUS_SUCCESS;
}

/* ---- changing ---- */

NTSTATUS
ZwDeleteKey(HANDLE handle)
{
	struct key *key;
	NTSTATUS status;

	plx_ke_require("ZwDeleteKey", PASSIVE_LEVEL);
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	status = key_delete(key);
	key_release(key);
	registry_unlock();
	return status;
}

static const UNICODE_STRING no_name = {0, 0, NULL};

NTSTATUS
ZwSetValueKey(HANDLE handle, PUNICODE_STRING name, ULONG title, ULONG type, PVOID data, ULONG bytes)
{
	struct key *key;
	NTSTATUS status;

	(void)title;
	plx_ke_require("ZwSetValueKey", PASSIVE_LEVEL);
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	status = value_set(key, name != NULL ? name : &no_name, type, data, bytes);
	key_release(key);
	registry_unlock();
	return status;
}

NTSTATUS
ZwDeleteValueKey(HANDLE handle, PUNICODE_STRING name)
{
	struct key *key;
	NTSTATUS status;

	plx_ke_require("ZwDeleteValueKey", PASSIVE_LEVEL);
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	status = value_delete_named(key, name != NULL ? name : &no_name);
	key_release(key);
	registry_unlock();
	return status;
}

NTSTATUS
ZwFlushKey(HANDLE handle)
{
	struct key *key;
	NTSTATUS status;

	plx_ke_require("ZwFlushKey", PASSIVE_LEVEL);
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	key_release(key);
	registry_unlock();
	return STATUS_SUCCESS;
}

NTSTATUS
IoOpenDriverRegistryKey(PDRIVER_OBJECT driver, DRIVER_REGKEY_TYPE type, ACCESS_MASK access,
			ULONG flags, PHANDLE out)
{
	UNICODE_STRING services = registry_services;
	UNICODE_STRING parameters = RTL_CONSTANT_STRING(L"Parameters");
	OBJECT_ATTRIBUTES attributes;
	HANDLE top, service;
	NTSTATUS status;

	plx_ke_require("IoOpenDriverRegistryKey", PASSIVE_LEVEL);
	if (flags != 0)
		return STATUS_INVALID_PARAMETER;
	if (type != DriverRegKeyParameters)
		return STATUS_NOT_SUPPORTED;
	InitializeObjectAttributes(&attributes, &services, OBJ_KERNEL_HANDLE, NULL, NULL);
	status = ZwOpenKey(&top, KEY_READ, &attributes);
	if (!NT_SUCCESS(status))
		return status;
	InitializeObjectAttributes(&attributes, &driver->DriverExtension->ServiceKeyName,
				   OBJ_KERNEL_HANDLE, top, NULL);
	status = ZwOpenKey(&service, KEY_READ, &attributes);
	(void)ZwClose(top);
	if (!NT_SUCCESS(status))
		return status;
	InitializeObjectAttributes(&attributes, &parameters, OBJ_KERNEL_HANDLE, service, NULL);
	status = ZwCreateKey(out, access, &attributes, 0, NULL, REG_OPTION_NON_VOLATILE, NULL);
	(void)ZwClose(service);
	return status;
}
