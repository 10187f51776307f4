/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver as others write them, with nothing but what Microsoft's sources have: pollux-cc -kernel
 * makes an image of it, which host.c loads, enters and unloads.
 */
#include <ntddk.h>
#include <initguid.h>
#include <stdarg.h>
#include "Ndkpi.h"
#include "session.h"

#ifdef ALLOC_PRAGMA
#pragma alloc_text(INIT, DriverEntry)
#endif

DEFINE_GUID(PING_ID, 0x84bdb2e9, 0x829e, 0x41b3, 0xb8, 0x91, 0x02, 0xf4, 0x54, 0xbc, 0x2b, 0xd7);

struct _UNICODE_STRING;

/* Of a name that other libraries of the process have: it is the image's own. */
int errors = 1;

C_ASSERT(sizeof(L"x") == 2 * sizeof(USHORT));

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, struct _UNICODE_STRING *RegistryPath)
{
	static UCHAR Buffer[3 * PAGE_SIZE];
	ULONG Pages = 0;
	NTSTATUS Status;

	UNREFERENCED_PARAMETER(DriverObject);
	UNREFERENCED_PARAMETER(RegistryPath);
	Status = SessionDescribe(Buffer, sizeof(Buffer), &Pages);
	if (Pages < 3 || !IsEqualGUID(&PING_ID, &PING_ID))
		Status = STATUS_UNSUCCESSFUL;
	return errors == 1 ? Status : STATUS_UNSUCCESSFUL;
}
