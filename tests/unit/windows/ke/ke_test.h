/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of Ke share: a thread that is a driver's, and limits of waiting. Start with
 * ke_run().
 */
#ifndef KE_TEST_H
#define KE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ke.h"

enum {
	KE_MS = 10000,       /* units of 100 ns */
	KE_LIMIT_MS = 60000, /* in which a loaded machine does anything */
};

/* A relative time. */
static inline LARGE_INTEGER
ke_in_ms(LONGLONG ms)
{
	return (LARGE_INTEGER){.QuadPart = -ms * KE_MS};
}

static inline NTSTATUS
ke_wait_ms(PVOID object, LONGLONG ms)
{
	LARGE_INTEGER timeout = ke_in_ms(ms);

	return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &timeout);
}

/* Wait with the limit. */
static inline void
ke_wait(PVOID object)
{
	assert_int_equal(ke_wait_ms(object, KE_LIMIT_MS), STATUS_SUCCESS);
}

/* Until so many wait blocks are in the list of an object. */
static inline void
ke_wait_for_waiters(DISPATCHER_HEADER *object, int n)
{
	ULONGLONG end = KeQueryInterruptTime() + (ULONGLONG)KE_LIMIT_MS * KE_MS;
	int found;

	do {
		assert_true(KeQueryInterruptTime() < end);
		sched_yield();
		found = 0;
		ke_lock();
		for (LIST_ENTRY *at = object->WaitListHead.Flink; at != &object->WaitListHead;
		     at = at->Flink)
			found++;
		ke_unlock();
	} while (found != n);
}

/* A system thread, held. */
static inline PKTHREAD
ke_run(PKSTART_ROUTINE routine, PVOID context)
{
	HANDLE handle;
	PVOID thread;

	assert_int_equal(PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, routine,
					      context),
			 STATUS_SUCCESS);
	assert_int_equal(ObReferenceObjectByHandle(handle, SYNCHRONIZE, *PsThreadType, KernelMode,
						   &thread, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(ZwClose(handle), STATUS_SUCCESS);
	return thread;
}

/* Wait for its end, and release it. */
static inline void
ke_join(PKTHREAD thread)
{
	ke_wait(thread);
	ObDereferenceObject(thread);
}

#endif
