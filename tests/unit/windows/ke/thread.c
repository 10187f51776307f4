/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads as objects: how they start and end, who they are, where they run, and their regions.
 * Start with a_system_thread_is_signalled_when_it_has_ended().
 */
#include "ke_test.h"

struct life {
	KEVENT started, go_on;
	PKTHREAD self;
	HANDLE id;
	bool is_system, returned;
};

static VOID
live(PVOID context)
{
	struct life *life = context;

	life->self = KeGetCurrentThread();
	life->id = PsGetCurrentThreadId();
	life->is_system = PsIsSystemThread(PsGetCurrentThread());
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	KeSetEvent(&life->started, 0, FALSE);
	ke_wait(&life->go_on);
	PsTerminateSystemThread(STATUS_SUCCESS);
	life->returned = true;
}

static void
a_system_thread_is_signalled_when_it_has_ended(void **state)
{
	struct life life = {.self = NULL};
	HANDLE handle;
	PVOID thread;
	CLIENT_ID id;

	(void)state;
	KeInitializeEvent(&life.started, NotificationEvent, FALSE);
	KeInitializeEvent(&life.go_on, NotificationEvent, FALSE);
	assert_int_equal(
		PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, &id, live, &life),
		STATUS_SUCCESS);
	assert_int_equal(ObReferenceObjectByHandle(handle, THREAD_ALL_ACCESS, *PsThreadType,
						   KernelMode, &thread, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(ZwClose(handle), STATUS_SUCCESS);
	ke_wait(&life.started);
	assert_int_equal(ke_wait_ms(thread, 0), STATUS_TIMEOUT);
	assert_int_equal(plx_ke_left().threads, 1);
	KeSetEvent(&life.go_on, 0, FALSE);
	ke_wait(thread);
	ke_wait(thread);
	assert_int_equal(plx_ke_left().threads, 0);
	assert_false(life.returned);
	assert_true(life.is_system);
	assert_ptr_equal(life.self, thread);
	assert_ptr_equal(life.id, id.UniqueThread);
	assert_ptr_equal(PsGetThreadId(thread), id.UniqueThread);
	assert_ptr_equal(id.UniqueProcess, PsGetCurrentProcessId());
	ObDereferenceObject(thread);
}

static VOID
do_nothing(PVOID context)
{
	(void)context;
}

static void
a_thread_may_end_without_anybody_who_holds_it(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		HANDLE handle;

		assert_int_equal(PsCreateSystemThread(&handle, 0, NULL, ZwCurrentProcess(), NULL,
						      do_nothing, NULL),
				 STATUS_SUCCESS);
		assert_int_equal(ZwClose(handle), STATUS_SUCCESS);
	}
	while (plx_ke_left().threads > 0)
		sched_yield();
	assert_int_equal(plx_ke_left().handles, 0);
}

static void
a_thread_is_refused_with_a_name_or_another_process(void **state)
{
	OBJECT_ATTRIBUTES attributes;
	HANDLE handle;

	(void)state;
	InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
	assert_int_equal(attributes.Length, sizeof(attributes));
	assert_int_equal(PsCreateSystemThread(&handle, 0, &attributes, (HANDLE)(LONG_PTR)12, NULL,
					      do_nothing, NULL),
			 STATUS_INVALID_HANDLE);
	attributes.ObjectName = (struct _UNICODE_STRING *)&attributes;
	assert_int_equal(
		PsCreateSystemThread(&handle, 0, &attributes, NULL, NULL, do_nothing, NULL),
		STATUS_INVALID_PARAMETER);
	assert_int_equal(plx_ke_left().threads, 0);
	assert_int_equal(plx_ke_left().handles, 0);
}

static void *
be_foreign(void *context)
{
	PKTHREAD *thread = context;

	*thread = KeGetCurrentThread();
	ObReferenceObject(*thread);
	assert_false(PsIsSystemThread(PsGetCurrentThread()));
	assert_int_equal(PsTerminateSystemThread(STATUS_SUCCESS), STATUS_INVALID_PARAMETER);
	return NULL;
}

static void
a_thread_of_the_program_can_be_waited_for(void **state)
{
	PKTHREAD thread;
	pthread_t pthread;

	(void)state;
	assert_int_equal(pthread_create(&pthread, NULL, be_foreign, &thread), 0);
	pthread_join(pthread, NULL);
	ke_wait(thread);
	assert_int_equal(ObDereferenceObject(thread), 0);
	assert_int_equal(plx_ke_left().threads, 0);
}

static void
a_thread_runs_where_it_is_bound_and_then_where_it_ran(void **state)
{
	KAFFINITY all = KeQueryActiveProcessors();
	GROUP_AFFINITY group = {.Mask = 1}, before;
	cpu_set_t first, last;

	(void)state;
	pthread_getaffinity_np(pthread_self(), sizeof(first), &first);
	for (ULONG i = 0; i < KeQueryActiveProcessorCount(NULL); i++) {
		KeSetSystemAffinityThread((KAFFINITY)1 << i);
		assert_int_equal(KeGetCurrentProcessorNumber(), i);
	}
	KeRevertToUserAffinityThread();
	assert_int_equal(KeSetSystemAffinityThreadEx(1), 0);
	assert_int_equal(KeSetSystemAffinityThreadEx(all), 1);
	KeRevertToUserAffinityThreadEx(1);
	assert_int_equal(KeGetCurrentProcessorNumber(), 0);
	KeRevertToUserAffinityThreadEx(0);
	KeSetSystemGroupAffinityThread(&group, &before);
	assert_int_equal(before.Mask, 0);
	assert_int_equal(KeGetCurrentProcessorNumber(), 0);
	KeRevertToUserGroupAffinityThread(&before);
	pthread_getaffinity_np(pthread_self(), sizeof(last), &last);
	assert_true(CPU_EQUAL(&first, &last));
}

static VOID
check_priority(PVOID context)
{
	PKTHREAD self = KeGetCurrentThread();

	(void)context;
	assert_int_equal(KeQueryPriorityThread(self), 8);
	assert_int_equal(KeSetPriorityThread(self, 3), 8);
	assert_int_equal(KeSetPriorityThread(self, LOW_REALTIME_PRIORITY), 3);
	assert_int_equal(KeQueryPriorityThread(self), LOW_REALTIME_PRIORITY);
}

static void
a_priority_is_what_was_set(void **state)
{
	(void)state;
	ke_join(ke_run(check_priority, NULL));
}

static void
regions_nest(void **state)
{
	KIRQL old;

	(void)state;
	assert_false(KeAreApcsDisabled());
	KeEnterCriticalRegion();
	KeEnterCriticalRegion();
	KeLeaveCriticalRegion();
	assert_true(KeAreApcsDisabled());
	assert_false(KeAreAllApcsDisabled());
	KeLeaveCriticalRegion();
	assert_false(KeAreApcsDisabled());
	KeEnterGuardedRegion();
	assert_true(KeAreApcsDisabled());
	assert_true(KeAreAllApcsDisabled());
	KeLeaveGuardedRegion();
	assert_false(KeAreApcsDisabled());
	KeRaiseIrql(APC_LEVEL, &old);
	assert_true(KeAreAllApcsDisabled());
	KeLowerIrql(old);
	assert_false(KeAreAllApcsDisabled());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_thread_is_signalled_when_it_has_ended),
		cmocka_unit_test(a_thread_may_end_without_anybody_who_holds_it),
		cmocka_unit_test(a_thread_is_refused_with_a_name_or_another_process),
		cmocka_unit_test(a_thread_of_the_program_can_be_waited_for),
		cmocka_unit_test(a_thread_runs_where_it_is_bound_and_then_where_it_ran),
		cmocka_unit_test(a_priority_is_what_was_set),
		cmocka_unit_test(regions_nest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
