/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver within the test: its object, a device, and a dispatch routine of the test's own. Start
 * with rig_open().
 */
#ifndef IO_RIG_H
#define IO_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "io.h"

struct rig {
	PDRIVER_OBJECT driver;
	PDEVICE_OBJECT device;
};

/** @param name NULL: the device has none */
static inline void
rig_open(struct rig *rig, PCWSTR name, PDRIVER_DISPATCH dispatch)
{
	UNICODE_STRING text;

	rig->driver = driver_create("rig");
	assert_non_null(rig->driver);
	for (int i = 0; dispatch != NULL && i <= IRP_MJ_MAXIMUM_FUNCTION; i++)
		rig->driver->MajorFunction[i] = dispatch;
	RtlInitUnicodeString(&text, name);
	assert_int_equal(IoCreateDevice(rig->driver, 64, name != NULL ? &text : NULL,
					FILE_DEVICE_UNKNOWN, 0, FALSE, &rig->device),
			 STATUS_SUCCESS);
	rig->device->Flags &= ~(ULONG)DO_DEVICE_INITIALIZING;
}

static inline void
rig_close(struct rig *rig)
{
	if (rig->device != NULL)
		IoDeleteDevice(rig->device);
	ObDereferenceObject(rig->driver);
}

/** What a driver does at the end of a request. */
static inline NTSTATUS
rig_complete(PIRP irp, NTSTATUS status, ULONG_PTR information)
{
	irp->IoStatus.Status = status;
	irp->IoStatus.Information = information;
	IoCompleteRequest(irp, IO_NO_INCREMENT);
	return status;
}

/** A text constant as drivers have it. */
#define TEXT_OF(text) (&(UNICODE_STRING)RTL_CONSTANT_STRING(text))

#endif
