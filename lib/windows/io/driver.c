/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Driver objects: the table of routines, and memory that goes with one. Start with
 * driver_create().
 */
#include "io.h"

#include <stdlib.h>

enum {
	IO_TYPE_DRIVER = 4,
	ALIGNMENT = 16,
};

/* Memory of IoAllocateDriverObjectExtension(). */
struct extension {
	struct extension *next;
	PVOID id;
	_Alignas(ALIGNMENT) char bytes[];
};

struct whole {
	DRIVER_OBJECT driver;
	DRIVER_EXTENSION more;
	struct extension *extensions;
};

static UNICODE_STRING hardware =
	RTL_CONSTANT_STRING(L"\\REGISTRY\\MACHINE\\HARDWARE\\DESCRIPTION\\SYSTEM");

static void
destroy(PVOID object)
{
	struct whole *whole = object;
	struct extension *next;

	for (struct extension *e = whole->extensions; e != NULL; e = next) {
		next = e->next;
		free(e);
	}
	free(whole->driver.DriverName.Buffer);
	free(whole->more.ServiceKeyName.Buffer);
}

struct _OBJECT_TYPE io_driver_type = {.name = "driver", .destroy = destroy};

/* What a driver has for requests that it did not say a routine for. */
static NTSTATUS
refuse(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device;
	irp->IoStatus.Status = STATUS_INVALID_DEVICE_REQUEST;
	irp->IoStatus.Information = 0;
	IoCompleteRequest(irp, IO_NO_INCREMENT);
	return STATUS_INVALID_DEVICE_REQUEST;
}

void
driver_disarm(PDRIVER_OBJECT driver)
{
	for (int i = 0; i <= IRP_MJ_MAXIMUM_FUNCTION; i++)
		driver->MajorFunction[i] = refuse;
	driver->DriverUnload = NULL;
	driver->DriverInit = NULL;
}

PDRIVER_OBJECT
driver_create(const char *service)
{
	struct whole *whole = plx_ke_object_create(&io_driver_type, sizeof(*whole));
	char name[256];

	if (whole == NULL)
		return NULL;
	whole->driver.Type = IO_TYPE_DRIVER;
	whole->driver.Size = sizeof(DRIVER_OBJECT);
	whole->driver.DriverExtension = &whole->more;
	whole->driver.HardwareDatabase = &hardware;
	whole->more.DriverObject = &whole->driver;
	driver_disarm(&whole->driver);
	snprintf(name, sizeof(name), "\\Driver\\%s", service);
	if (text_from_utf8(&whole->driver.DriverName, name) &&
	    text_from_utf8(&whole->more.ServiceKeyName, service))
		return &whole->driver;
	ObDereferenceObject(whole);
	return NULL;
}

NTSTATUS
IoAllocateDriverObjectExtension(PDRIVER_OBJECT driver, PVOID id, ULONG bytes, PVOID *out)
{
	struct whole *whole = (struct whole *)(void *)driver;
	struct extension *made = calloc(1, sizeof(*made) + bytes);
	NTSTATUS status = STATUS_SUCCESS;

	*out = NULL;
	if (made == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	made->id = id;
	names_lock();
	for (struct extension *e = whole->extensions; e != NULL; e = e->next)
		if (e->id == id)
			status = STATUS_OBJECT_NAME_COLLISION;
	if (NT_SUCCESS(status)) {
		made->next = whole->extensions;
		whole->extensions = made;
		*out = made->bytes;
	}
	names_unlock();
	if (!NT_SUCCESS(status))
		free(made);
	return status;
}

PVOID
IoGetDriverObjectExtension(PDRIVER_OBJECT driver, PVOID id)
{
	struct whole *whole = (struct whole *)(void *)driver;
	PVOID found = NULL;

	names_lock();
	for (struct extension *e = whole->extensions; e != NULL; e = e->next)
		if (e->id == id)
			found = e->bytes;
	names_unlock();
	return found;
}
