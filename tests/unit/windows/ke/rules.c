/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a driver must not do ends the process with one sentence, each in a process of its own; with
 * the checks off it does not. Start with scenes[].
 */
#include "ke_test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "subprocess.h"

static KEVENT event;
static KSPIN_LOCK lock;
static EX_SPIN_LOCK shared;
static KMUTEX mutex;
static KIRQL irql;
static KLOCK_QUEUE_HANDLE handle;

static void
init(void)
{
	KeInitializeEvent(&event, NotificationEvent, TRUE);
	KeInitializeMutex(&mutex, 0);
}

static int
wait_at_dispatch_level(void)
{
	init();
	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
	return 0;
}

static int
poll_at_dispatch_level(void)
{
	LARGE_INTEGER none = {.QuadPart = 0};

	init();
	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &none);
	KeLowerIrql(irql);
	return 0;
}

static int
poll_above_dispatch_level(void)
{
	LARGE_INTEGER none = {.QuadPart = 0};

	init();
	KeRaiseIrql(HIGH_LEVEL, &irql);
	KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &none);
	return 0;
}

static int
delay_at_dispatch_level(void)
{
	LARGE_INTEGER little = ke_in_ms(1);

	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	KeDelayExecutionThread(KernelMode, FALSE, &little);
	return 0;
}

static int
raise_downwards(void)
{
	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	KeRaiseIrql(APC_LEVEL, &irql);
	return 0;
}

static int
lower_upwards(void)
{
	KeLowerIrql(APC_LEVEL);
	return 0;
}

static int
lower_below_a_lock(void)
{
	KeAcquireSpinLock(&lock, &irql);
	KeLowerIrql(PASSIVE_LEVEL);
	return 0;
}

static int
release_a_free_lock(void)
{
	KeReleaseSpinLock(&lock, PASSIVE_LEVEL);
	return 0;
}

static int
acquire_twice(void)
{
	KeAcquireSpinLock(&lock, &irql);
	KeAcquireSpinLockAtDpcLevel(&lock);
	return 0;
}

static int
acquire_a_queued_lock_twice(void)
{
	KLOCK_QUEUE_HANDLE again;

	KeAcquireInStackQueuedSpinLock(&lock, &handle);
	KeAcquireInStackQueuedSpinLock(&lock, &again);
	return 0;
}

static int
acquire_a_shared_lock_twice(void)
{
	ExAcquireSpinLockShared(&shared);
	ExAcquireSpinLockExclusive(&shared);
	return 0;
}

static int
acquire_at_dpc_level_below_it(void)
{
	KeAcquireSpinLockAtDpcLevel(&lock);
	return 0;
}

static int
acquire_above_dispatch_level(void)
{
	KeRaiseIrql(HIGH_LEVEL, &irql);
	KeAcquireSpinLock(&lock, &irql);
	return 0;
}

static int
set_and_do_not_wait(void)
{
	init();
	KeSetEvent(&event, 0, TRUE);
	KeResetEvent(&event);
	return 0;
}

static int
set_for_a_wait_at_dispatch_level(void)
{
	init();
	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	KeSetEvent(&event, 0, TRUE);
	return 0;
}

static int
wait_for_nothing_known(void)
{
	static KEVENT zeros;

	KeWaitForSingleObject(&zeros, Executive, KernelMode, FALSE, NULL);
	return 0;
}

static int
set_a_semaphore_as_an_event(void)
{
	static KSEMAPHORE semaphore;

	KeInitializeSemaphore(&semaphore, 0, 1);
	KeSetEvent((PKEVENT)&semaphore, 0, FALSE);
	return 0;
}

static int
set_an_unknown_timer(void)
{
	static KTIMER zeros;

	KeSetTimer(&zeros, ke_in_ms(1), NULL);
	return 0;
}

static VOID
end_in_a_region(PVOID context)
{
	(void)context;
	KeEnterCriticalRegion();
}

static VOID
end_raised(PVOID context)
{
	(void)context;
	KeRaiseIrql(APC_LEVEL, &irql);
}

static int
end_a_thread_in_a_region(void)
{
	ke_join(ke_run(end_in_a_region, NULL));
	return 0;
}

static int
end_a_thread_raised(void)
{
	ke_join(ke_run(end_raised, NULL));
	return 0;
}

static int
dereference_too_often(void)
{
	static struct {
		struct ke_object head;
		char object[1];
	} nothing;

	ObDereferenceObject(nothing.object);
	return 0;
}

static int
wait_for_too_many(void)
{
	PVOID objects[4] = {&event, &event, &event, &event};

	init();
	KeWaitForMultipleObjects(4, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL);
	return 0;
}

static VOID
own_it(PVOID context)
{
	ke_wait(context);
}

static int
end_as_an_owner(void)
{
	init();
	ke_join(ke_run(own_it, &mutex));
	/* Without checks it is the next waiter's. */
	return ke_wait_ms(&mutex, KE_LIMIT_MS) == STATUS_ABANDONED_WAIT_0 &&
			       KeReleaseMutex(&mutex, FALSE) == 0 &&
			       ke_wait_ms(&mutex, 0) == STATUS_SUCCESS
		       ? 0
		       : 1;
}

static int
leave_no_region(void)
{
	KeLeaveCriticalRegion();
	return 0;
}

static KDPC dpc;

static VOID
raise_in_a_dpc(PKDPC self, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)self, (void)context, (void)argument1, (void)argument2;
	KeRaiseIrql(HIGH_LEVEL, &irql);
}

static VOID
keep_a_lock(PKDPC self, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)self, (void)context, (void)argument1, (void)argument2;
	KeAcquireSpinLockAtDpcLevel(&lock);
}

static VOID
wait_in_a_dpc(PKDPC self, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)self, (void)argument1, (void)argument2;
	KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
}

static int
run_dpc(PKDEFERRED_ROUTINE routine)
{
	init();
	KeInitializeDpc(&dpc, routine, &event);
	KeInsertQueueDpc(&dpc, NULL, NULL);
	KeFlushQueuedDpcs();
	return 0;
}

static int
return_from_a_dpc_with_a_lock(void)
{
	return run_dpc(keep_a_lock);
}

static int
wait_in_dpc(void)
{
	return run_dpc(wait_in_a_dpc);
}

static int
return_from_a_dpc_at_another_level(void)
{
	return run_dpc(raise_in_a_dpc);
}

static VOID
flush_in_a_dpc(PKDPC self, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)self, (void)context, (void)argument1, (void)argument2;
	KeFlushQueuedDpcs();
}

static int
flush_in_a_threaded_dpc(void)
{
	KeInitializeThreadedDpc(&dpc, flush_in_a_dpc, NULL);
	KeInsertQueueDpc(&dpc, NULL, NULL);
	KeFlushQueuedDpcs();
	return 0;
}

static int
queue_an_unknown_dpc(void)
{
	KeInsertQueueDpc(&dpc, NULL, NULL);
	return 0;
}

static int
create_a_thread_at_dispatch_level(void)
{
	HANDLE thread;

	init();
	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	return PsCreateSystemThread(&thread, 0, NULL, NULL, NULL, own_it, &mutex);
}

static int
stop_the_system(void)
{
	KeBugCheckEx(0xE2, 1, 2, 3, 0xABCDEF);
}

static const struct violation {
	struct scene scene;
	bool always; /* with the checks off, too */
	const char *words[2];
} violations[] = {
	{{"wait", wait_at_dispatch_level}, false, {"KeWaitForSingleObject", "at IRQL 2"}},
	{{"poll-high", poll_above_dispatch_level}, false, {"KeWaitForSingleObject", "at IRQL 15"}},
	{{"delay", delay_at_dispatch_level}, false, {"KeDelayExecutionThread", "at IRQL 2"}},
	{{"raise", raise_downwards}, false, {"KeRaiseIrql", "which is lower"}},
	{{"lower", lower_upwards}, false, {"KeLowerIrql", "which is higher"}},
	{{"lower-held", lower_below_a_lock}, false, {"KeLowerIrql", "holds 1 spin lock"}},
	{{"release", release_a_free_lock}, false, {"KeReleaseSpinLock", "does not hold"}},
	{{"low", acquire_at_dpc_level_below_it}, false, {"AtDpcLevel", "at 2 and above"}},
	{{"high", acquire_above_dispatch_level}, false, {"KeAcquireSpinLock", "at 2 and below"}},
	{{"no-wait", set_and_do_not_wait}, false, {"Wait = TRUE", "not followed by a wait"}},
	{{"set-wait", set_for_a_wait_at_dispatch_level}, false, {"KeSetEvent", "at 1 and below"}},
	{{"owner", end_as_an_owner}, false, {"a thread ended as the owner", "mutex"}},
	{{"kind", set_a_semaphore_as_an_event}, false, {"KeSetEvent", "of another kind"}},
	{{"end-region", end_a_thread_in_a_region}, false, {"a system thread ended", "region"}},
	{{"end-raised", end_a_thread_raised}, false, {"a system thread ended", "IRQL 1"}},
	{{"holds", dereference_too_often}, false, {"ObDereferenceObject", "nobody holds"}},
	{{"region", leave_no_region}, false, {"KeLeaveCriticalRegion", "no such region"}},
	{{"dpc-lock", return_from_a_dpc_with_a_lock}, false, {"a DPC returned", "spin lock"}},
	{{"dpc-level", return_from_a_dpc_at_another_level}, false, {"a DPC was", "returned at 15"}},
	{{"dpc-wait", wait_in_dpc}, false, {"KeWaitForSingleObject", "at IRQL 2 to wait"}},
	{{"thread", create_a_thread_at_dispatch_level}, false, {"PsCreateSystemThread", "at 0"}},
	{{"many", wait_for_too_many}, true, {"for 4 objects", "waits for 1 to 3"}},
	{{"flush", flush_in_a_threaded_dpc}, true, {"KeFlushQueuedDpcs", "in a DPC"}},
	{{"stop", stop_the_system}, true, {"0x000000E2", "0x1, 0x2, 0x3, 0xABCDEF"}},
};

/* Those that would hang or crash without the checks. */
static const struct violation endless[] = {
	{{"twice", acquire_twice}, false, {"AtDpcLevel", "holds the spin lock"}},
	{{"queued-twice", acquire_a_queued_lock_twice}, false, {"InStack", "holds the spin lock"}},
	{{"shared-twice", acquire_a_shared_lock_twice},
	 false,
	 {"Exclusive", "holds the spin lock"}},
	{{"unknown", wait_for_nothing_known}, false, {"KeWaitForSingleObject", "none to wait for"}},
	{{"timer", set_an_unknown_timer}, false, {"KeSetTimer", "not initialized"}},
	{{"unknown-dpc", queue_an_unknown_dpc}, false, {"KeInsertQueueDpc", "not initialized"}},
};

static const struct scene poll_scene = {"poll", poll_at_dispatch_level};

static void
ends_with_its_sentence(const struct violation *violation)
{
	char out[1024];
	int status = scene_run(violation->scene.name, out, sizeof(out));

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		fail_msg("%s: wait status %#x, \"%s\"", violation->scene.name, status, out);
	for (size_t i = 0; i < ARRAYSIZE(violation->words); i++)
		if (strstr(out, violation->words[i]) == NULL)
			fail_msg("%s: \"%s\" is not in \"%s\"", violation->scene.name,
				 violation->words[i], out);
	/* one line, and all of it ours */
	assert_ptr_equal(strstr(out, "pollux-ndk: "), out);
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

static void
a_violation_ends_the_process_with_a_sentence(void **state)
{
	(void)state;
	setenv("POLLUX_DBG", "1", 1);
	for (size_t i = 0; i < ARRAYSIZE(violations); i++)
		ends_with_its_sentence(&violations[i]);
	for (size_t i = 0; i < ARRAYSIZE(endless); i++)
		ends_with_its_sentence(&endless[i]);
}

static void
without_checks_only_what_cannot_go_on_ends_it(void **state)
{
	(void)state;
	setenv("POLLUX_DBG", "0", 1);
	for (size_t i = 0; i < ARRAYSIZE(violations); i++)
		if (violations[i].always)
			ends_with_its_sentence(&violations[i]);
		else
			scene_passes(violations[i].scene.name);
}

static void
a_poll_at_dispatch_level_is_allowed(void **state)
{
	(void)state;
	setenv("POLLUX_DBG", "1", 1);
	scene_passes(poll_scene.name);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_violation_ends_the_process_with_a_sentence),
		cmocka_unit_test(without_checks_only_what_cannot_go_on_ends_it),
		cmocka_unit_test(a_poll_at_dispatch_level_is_allowed),
	};
	int result = scene_main(argc, argv, &poll_scene, 1);

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (size_t i = 0; result < 0 && i < ARRAYSIZE(violations); i++)
		result = scene_main(argc, argv, &violations[i].scene, 1);
	for (size_t i = 0; result < 0 && i < ARRAYSIZE(endless); i++)
		result = scene_main(argc, argv, &endless[i].scene, 1);
	return result >= 0 ? result : cmocka_run_group_tests(tests, NULL, NULL);
}
