/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Remove locks: the count of what is in progress, one for the lock itself until it is released for
 * good. Start with IoReleaseRemoveLockAndWaitEx().
 */
#include "io.h"

VOID
IoInitializeRemoveLockEx(PIO_REMOVE_LOCK lock, ULONG tag, ULONG minutes, ULONG most, ULONG bytes)
{
	(void)tag, (void)minutes, (void)most, (void)bytes;
	lock->Common.Removed = FALSE;
	lock->Common.IoCount = 1;
	KeInitializeEvent(&lock->Common.RemoveEvent, NotificationEvent, FALSE);
}

static void
release(PIO_REMOVE_LOCK lock)
{
	LONG left = __atomic_sub_fetch(&lock->Common.IoCount, 1, __ATOMIC_SEQ_CST);

	if (left < 0 || (left == 0 && !__atomic_load_n(&lock->Common.Removed, __ATOMIC_SEQ_CST)))
		plx_wdk_stop("IoReleaseRemoveLock was called more often than "
			     "IoAcquireRemoveLock");
	if (left == 0)
		(void)KeSetEvent(&lock->Common.RemoveEvent, IO_NO_INCREMENT, FALSE);
}

NTSTATUS
IoAcquireRemoveLockEx(PIO_REMOVE_LOCK lock, PVOID tag, PCSTR file, ULONG line, ULONG bytes)
{
	(void)tag, (void)file, (void)line, (void)bytes;
	/* counted first, so that who removes either sees the count or is seen */
	(void)__atomic_add_fetch(&lock->Common.IoCount, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&lock->Common.Removed, __ATOMIC_SEQ_CST))
		return STATUS_SUCCESS;
	release(lock);
	return STATUS_DELETE_PENDING;
}

VOID
IoReleaseRemoveLockEx(PIO_REMOVE_LOCK lock, PVOID tag, ULONG bytes)
{
	(void)tag, (void)bytes;
	release(lock);
}

VOID
IoReleaseRemoveLockAndWaitEx(PIO_REMOVE_LOCK lock, PVOID tag, ULONG bytes)
{
	(void)tag, (void)bytes;
	plx_ke_require("IoReleaseRemoveLockAndWait", PASSIVE_LEVEL);
	__atomic_store_n(&lock->Common.Removed, TRUE, __ATOMIC_SEQ_CST);
	release(lock); /* the caller's */
	release(lock); /* the lock's own */
	(void)KeWaitForSingleObject(&lock->Common.RemoveEvent, Executive, KernelMode, FALSE, NULL);
}
