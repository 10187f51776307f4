/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for requests of NDK that may be pending. Start with WaitEnd().
 */
#include "storage.h"

VOID
WaitBegin(PSTORAGE_WAIT Wait)
{
	RtlZeroMemory(Wait, sizeof(*Wait));
	KeInitializeEvent(&Wait->Event, NotificationEvent, FALSE);
}

_Use_decl_annotations_ VOID
WaitOnDone(PVOID Context, NTSTATUS Status)
{
	PSTORAGE_WAIT Wait = Context;

	Wait->Status = Status;
	KeSetEvent(&Wait->Event, IO_NO_INCREMENT, FALSE);
}

_Use_decl_annotations_ VOID
WaitOnCreated(PVOID Context, NTSTATUS Status, NDK_OBJECT_HEADER *Object)
{
	PSTORAGE_WAIT Wait = Context;

	Wait->Object = Object;
	WaitOnDone(Wait, Status);
}

_Use_decl_annotations_ VOID
WaitOnClosed(PVOID Context)
{
	WaitOnDone(Context, STATUS_SUCCESS);
}

NTSTATUS
WaitEnd(PSTORAGE_WAIT Wait, NTSTATUS Called)
{
	PAGED_CODE();
	if (Called != STATUS_PENDING)
		return Called;
	KeWaitForSingleObject(&Wait->Event, Executive, KernelMode, FALSE, NULL);
	return Wait->Status;
}

VOID
CloseAndWait(NDK_FN_CLOSE_OBJECT Close, NDK_OBJECT_HEADER *Object)
{
	STORAGE_WAIT Wait;

	if (Object == NULL)
		return;
	WaitBegin(&Wait);
	(VOID) WaitEnd(&Wait, Close(Object, WaitOnClosed, &Wait));
}
