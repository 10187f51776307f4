/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mutexes: owned by a thread, as often as it acquired them. Start with ke_mutex_acquire().
 */
#include "ke.h"

#include <wdmseh.h>

VOID
KeInitializeMutex(PRKMUTEX mutex, ULONG level)
{
	(void)level;
	ke_header_init(&mutex->Header, KE_MUTANT, sizeof(*mutex), 1);
	ke_list_init(&mutex->MutantListEntry);
	mutex->OwnerThread = NULL;
	mutex->Abandoned = FALSE;
	mutex->ApcDisable = 1;
}

NTSTATUS
ke_mutex_acquire(PKMUTEX mutex, PKTHREAD thread)
{
	LONG state = ke_state(&mutex->Header) - 1;

	ke_set_state(&mutex->Header, state);
	if (state < 0)
		return STATUS_WAIT_0;
	mutex->OwnerThread = thread;
	ke_list_insert(&thread->mutexes, &mutex->MutantListEntry);
	if (!mutex->Abandoned)
		return STATUS_WAIT_0;
	mutex->Abandoned = FALSE;
	return STATUS_ABANDONED_WAIT_0;
}

/* It is free now. */
static void
disown(PKMUTEX mutex)
{
	ke_list_remove(&mutex->MutantListEntry);
	mutex->OwnerThread = NULL;
	ke_set_state(&mutex->Header, 1);
	ke_signal(&mutex->Header);
}

void
ke_mutexes_abandon(PKTHREAD thread)
{
	while (!ke_list_is_empty(&thread->mutexes)) {
		PKMUTEX mutex = CONTAINING_RECORD(thread->mutexes.Flink, KMUTEX, MutantListEntry);

		if (plx_ke_checks())
			plx_wdk_stop("a thread ended as the owner of the mutex at %p",
				     (void *)mutex);
		mutex->Abandoned = TRUE;
		disown(mutex);
	}
}

LONG
KeReleaseMutex(PRKMUTEX mutex, BOOLEAN wait)
{
	PKTHREAD thread = ke_thread();
	LONG before;

	ke_require_signal("KeReleaseMutex", wait);
	ke_require_object("KeReleaseMutex", &mutex->Header, KE_MUTANT, KE_MUTANT);
	ke_lock();
	if (mutex->OwnerThread != thread) {
		NTSTATUS status = mutex->Abandoned ? STATUS_ABANDONED : STATUS_MUTANT_NOT_OWNED;

		ke_unlock();
		ExRaiseStatus(status);
	}
	before = ke_state(&mutex->Header);
	if (before == 0)
		disown(mutex);
	else
		ke_set_state(&mutex->Header, before + 1);
	ke_unlock_or_hold(wait);
	return before;
}

LONG
KeReadStateMutex(PRKMUTEX mutex)
{
	return ke_state(&mutex->Header);
}
