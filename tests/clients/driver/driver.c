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
#include "trace.h"
#include "driver.tmh"

DRIVER_INITIALIZE DriverEntry;

#ifdef ALLOC_PRAGMA
#pragma alloc_text(INIT, DriverEntry)
#endif

DEFINE_GUID(PING_ID, 0x84bdb2e9, 0x829e, 0x41b3, 0xb8, 0x91, 0x02, 0xf4, 0x54, 0xbc, 0x2b, 0xd7);

/* Of a name that other libraries of the process have: it is the image's own. */
int errors = 1;

C_ASSERT(sizeof(L"x") == 2 * sizeof(USHORT));

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	static UCHAR Buffer[3 * PAGE_SIZE];
	ULONG Pages = 0;
	NTSTATUS Status;

	UNREFERENCED_PARAMETER(RegistryPath);
	WPP_INIT_TRACING(DriverObject, RegistryPath);
	FuncEntry(PING_INIT);
	Status = SessionDescribe(Buffer, sizeof(Buffer), &Pages);
	if (!NT_SUCCESS(Status) || Pages < 3)
		TraceEvents(TRACE_LEVEL_ERROR, PING_INIT, "no session: %!STATUS!", Status);
	else
		TraceEvents(TRACE_LEVEL_ERROR, PING_INIT,
			    "%!FUNC!(%s): %!STATUS!, 100%%, %c%hu%5d|%-4x|", "path", Status, 'c',
			    (USHORT)7, -3, 0xabu);
	TraceEvents(TRACE_LEVEL_WARNING, PING_IO, "%!IPADDR!:%!PORT! %!guid! %!bool! %ws %!DELTA!",
		    0x0100007f, 0xbd01, &PING_ID, TRUE, L"wide", (LONGLONG)-1500);
	TRACE_FAILED(STATUS_NOT_SUPPORTED);
	TRACE_FAILED(STATUS_SUCCESS);
	Say((PING_INIT, "%!state!: said", 1));
	Say((PING_INIT, "%!step! %!access! %!DISK! %!missing!", SessionStepClose, 3, 1, 9));
	Say((PING_INIT, "%d:%!HEXDUMP! %!MACADDR! %s", 1, TraceBytes(3, "abc"), (PUCHAR) "defghi",
	     "end"));
	DoTraceMessage(PING_INIT, "the end of %!FILE!");
	WPP_CLEANUP(DriverObject);
	DoTraceMessage(PING_INIT, "nobody hears this");
	return errors == 1 ? Status : STATUS_UNSUCCESSFUL;
}
