/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a driver must not do ends the process with one sentence, each in a process of its own. Start
 * with violations[].
 */
#include "ex_test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "subprocess.h"

enum {
	TAG = 'R' | 'u' << 8 | 'l' << 16 | 'e' << 24,
};

static KIRQL old;
static FAST_MUTEX mutex;
static EX_PUSH_LOCK push_lock;
static ERESOURCE resource;
static EX_RUNDOWN_REF ref;
static WORK_QUEUE_ITEM item;
static NPAGED_LOOKASIDE_LIST list;

/* ---- pool ---- */

static int
paged_at_dispatch_level(void)
{
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	ExAllocatePoolWithTag(PagedPool, 1, TAG);
	return 0;
}

static int
pool_above_dispatch_level(void)
{
	KeRaiseIrql(HIGH_LEVEL, &old);
	ExAllocatePool2(POOL_FLAG_NON_PAGED, 1, TAG);
	return 0;
}

static int
free_paged_at_dispatch_level(void)
{
	PVOID memory = ExAllocatePoolWithTag(PagedPool, 1, TAG);

	KeRaiseIrql(DISPATCH_LEVEL, &old);
	ExFreePool(memory);
	return 0;
}

static int
free_twice(void)
{
	PVOID memory = ExAllocatePoolWithTag(NonPagedPool, 1, TAG);

	ExFreePool(memory);
	ExFreePool(memory);
	return 0;
}

static int
free_what_is_not_pool(void)
{
	ExFreePoolWithTag(&mutex, TAG);
	return 0;
}

static int
free_with_another_tag(void)
{
	ExFreePoolWithTag(ExAllocatePoolWithTag(NonPagedPool, 1, TAG), TAG + 1);
	return 0;
}

static int
write_in_front(void)
{
	volatile char *memory = ExAllocatePoolWithTag(NonPagedPool, 20, TAG);

	memory[-1] ^= 1;
	ExFreePool((PVOID)(uintptr_t)memory);
	return 0;
}

static int
write_behind(void)
{
	volatile char *memory = ExAllocatePoolWithTag(NonPagedPool, 20, TAG);

	memory[20] ^= 1;
	ExFreePool((PVOID)(uintptr_t)memory);
	return 0;
}

static int
free_entry_twice(void)
{
	PVOID entry;

	ExInitializeNPagedLookasideList(&list, NULL, NULL, 0, 64, TAG, 0);
	entry = ExAllocateFromNPagedLookasideList(&list);
	ExFreeToNPagedLookasideList(&list, entry);
	ExFreeToNPagedLookasideList(&list, entry);
	return 0;
}

/* ---- locks ---- */

static int
mutex_at_dispatch_level(void)
{
	ExInitializeFastMutex(&mutex);
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	ExAcquireFastMutex(&mutex);
	return 0;
}

static int
mutex_twice(void)
{
	ExInitializeFastMutex(&mutex);
	ExAcquireFastMutex(&mutex);
	ExAcquireFastMutex(&mutex);
	return 0;
}

static int
mutex_not_held(void)
{
	ExInitializeFastMutex(&mutex);
	KeRaiseIrql(APC_LEVEL, &old);
	ExReleaseFastMutex(&mutex);
	return 0;
}

static int
mutex_unsafe_outside(void)
{
	ExInitializeFastMutex(&mutex);
	ExAcquireFastMutexUnsafe(&mutex);
	return 0;
}

static int
push_lock_outside(void)
{
	ExAcquirePushLockShared(&push_lock);
	return 0;
}

static int
push_lock_twice(void)
{
	KeEnterCriticalRegion();
	ExAcquirePushLockShared(&push_lock);
	ExAcquirePushLockExclusive(&push_lock);
	return 0;
}

static int
push_lock_not_held_so(void)
{
	KeEnterCriticalRegion();
	ExAcquirePushLockShared(&push_lock);
	ExReleasePushLockExclusive(&push_lock);
	return 0;
}

static int
resource_not_initialized(void)
{
	KeEnterCriticalRegion();
	ExAcquireResourceSharedLite(&resource, TRUE);
	return 0;
}

static int
resource_outside(void)
{
	ExInitializeResourceLite(&resource);
	ExAcquireResourceSharedLite(&resource, TRUE);
	return 0;
}

static int
resource_not_held(void)
{
	ExInitializeResourceLite(&resource);
	ExReleaseResourceLite(&resource);
	return 0;
}

static int
resource_waits_for_itself(void)
{
	ExInitializeResourceLite(&resource);
	KeEnterCriticalRegion();
	ExAcquireResourceSharedLite(&resource, TRUE);
	ExAcquireResourceExclusiveLite(&resource, TRUE);
	return 0;
}

static int
resource_deleted_while_held(void)
{
	ExInitializeResourceLite(&resource);
	ExEnterCriticalRegionAndAcquireResourceShared(&resource);
	ExDeleteResourceLite(&resource);
	return 0;
}

static int
resource_converted_by_a_reader(void)
{
	ExInitializeResourceLite(&resource);
	ExEnterCriticalRegionAndAcquireResourceShared(&resource);
	ExConvertExclusiveToSharedLite(&resource);
	return 0;
}

/* ---- rundown, work ---- */

static int
release_too_often(void)
{
	ExAcquireRundownProtection(&ref);
	ExReleaseRundownProtectionEx(&ref, 2);
	return 0;
}

static int
release_after_the_end(void)
{
	ExWaitForRundownProtectionRelease(&ref);
	ExReleaseRundownProtection(&ref);
	return 0;
}

static int
rundown_at_dispatch_level(void)
{
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	ExWaitForRundownProtectionRelease(&ref);
	return 0;
}

static int
reinitialize_before_the_end(void)
{
	ExReInitializeRundownProtection(&ref);
	return 0;
}

static void
do_nothing(PVOID parameter)
{
	(void)parameter;
}

static void
raise_the_level(PVOID parameter)
{
	KeRaiseIrql(APC_LEVEL, parameter);
}

static void
stay_in_a_region(PVOID parameter)
{
	(void)parameter;
	KeEnterCriticalRegion();
}

static int
queue(PWORKER_THREAD_ROUTINE routine, WORK_QUEUE_TYPE type)
{
	ExInitializeWorkItem(&item, routine, &old);
	ExQueueWorkItem(&item, type);
	plx_ex_work_drain(EX_LIMIT_MS);
	return 0;
}

static int
work_returns_raised(void)
{
	return queue(raise_the_level, CriticalWorkQueue);
}

static int
work_returns_in_a_region(void)
{
	return queue(stay_in_a_region, DelayedWorkQueue);
}

static int
work_in_no_queue(void)
{
	return queue(do_nothing, MaximumWorkQueue);
}

static int
work_not_initialized(void)
{
	item.List.Flink = &item.List;
	ExQueueWorkItem(&item, DelayedWorkQueue);
	return 0;
}

/* ---- MDLs ---- */

static char buffer[10];

static int
lock_twice(void)
{
	PMDL mdl = IoAllocateMdl(buffer, 10, FALSE, FALSE, NULL);

	MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
	MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
	return 0;
}

static int
unlock_what_is_not_locked(void)
{
	MmUnlockPages(IoAllocateMdl(buffer, 10, FALSE, FALSE, NULL));
	return 0;
}

static int
map_what_is_not_locked(void)
{
	MmMapLockedPages(IoAllocateMdl(buffer, 10, FALSE, FALSE, NULL), KernelMode);
	return 0;
}

static PMDL
allocate_pages(void)
{
	const PHYSICAL_ADDRESS zero = {.QuadPart = 0};

	return MmAllocatePagesForMdl(zero, zero, zero, 2 * PAGE_SIZE);
}

static int
free_pages_while_mapped(void)
{
	PMDL mdl = allocate_pages();

	MmMapLockedPages(mdl, KernelMode);
	MmFreePagesFromMdl(mdl);
	return 0;
}

static int
free_pages_twice(void)
{
	PMDL mdl = allocate_pages();

	MmFreePagesFromMdl(mdl);
	MmFreePagesFromMdl(mdl);
	return 0;
}

static int
lock_outside_of_a_try(void)
{
	MmProbeAndLockPages(IoAllocateMdl((PVOID)8, 1, FALSE, FALSE, NULL), KernelMode,
			    IoReadAccess);
	return 0;
}

/* Every sentence names what was called. */
static const struct violation {
	struct scene scene;
	const char *call, *words;
} violations[] = {
	{{"paged", paged_at_dispatch_level}, "ExAllocatePoolWithTag", "IRQL 2"},
	{{"above", pool_above_dispatch_level}, "ExAllocatePool2", "IRQL 15"},
	{{"free-paged", free_paged_at_dispatch_level}, "ExFreePool", "IRQL 2"},
	{{"free-twice", free_twice}, "ExFreePool", "freed before"},
	{{"not-pool", free_what_is_not_pool}, "ExFreePoolWithTag", "not of the pool"},
	{{"tag", free_with_another_tag}, "tag 'Sule'", "allocated with 'Rule'"},
	{{"front", write_in_front}, "ExFreePool", "in front of which"},
	{{"entry-twice", free_entry_twice}, "ExFreeToNPagedLookasideList", "freed before"},
	{{"mutex-level", mutex_at_dispatch_level}, "ExAcquireFastMutex", "IRQL 2"},
	{{"mutex-twice", mutex_twice}, "ExAcquireFastMutex", "the thread that holds it"},
	{{"mutex-free", mutex_not_held}, "ExReleaseFastMutex", "does not hold it"},
	{{"mutex-unsafe", mutex_unsafe_outside}, "ExAcquireFastMutexUnsafe", "outside of a region"},
	{{"push-outside", push_lock_outside}, "ExAcquirePushLockShared", "outside of a region"},
	{{"push-twice", push_lock_twice}, "ExAcquirePushLockExclusive", "holds it"},
	{{"push-mode", push_lock_not_held_so}, "ExReleasePushLockExclusive", "does not hold it so"},
	{{"resource-new", resource_not_initialized},
	 "ExAcquireResourceSharedLite",
	 "not an initialized"},
	{{"resource-outside", resource_outside},
	 "ExAcquireResourceSharedLite",
	 "outside of a region"},
	{{"resource-free", resource_not_held}, "ExReleaseResourceLite", "does not hold it"},
	{{"resource-self", resource_waits_for_itself},
	 "ExAcquireResourceExclusiveLite",
	 "wait for itself"},
	{{"resource-held", resource_deleted_while_held}, "ExDeleteResourceLite", "is held"},
	{{"resource-convert", resource_converted_by_a_reader},
	 "ExConvertExclusiveToSharedLite",
	 "does not hold it exclusively"},
	{{"release", release_too_often}, "ExReleaseRundownProtection", "more often"},
	{{"release-late", release_after_the_end}, "ExReleaseRundownProtection", "more often"},
	{{"rundown-level", rundown_at_dispatch_level},
	 "ExWaitForRundownProtectionRelease",
	 "IRQL 2"},
	{{"rundown-new", reinitialize_before_the_end},
	 "ExReInitializeRundownProtection",
	 "not run down"},
	{{"work-level", work_returns_raised}, "work item", "returned at IRQL 1"},
	{{"work-region", work_returns_in_a_region}, "work item", "region without APCs"},
	{{"work-queue", work_in_no_queue}, "ExQueueWorkItem", "queue type 7"},
	{{"work-new", work_not_initialized}, "ExQueueWorkItem", "not initialized"},
	{{"lock-twice", lock_twice}, "MmProbeAndLockPages", "has its pages already"},
	{{"unlock", unlock_what_is_not_locked}, "MmUnlockPages", "not locked"},
	{{"map", map_what_is_not_locked}, "MmMapLockedPagesSpecifyCache", "not locked"},
	{{"pages-mapped", free_pages_while_mapped}, "MmFreePagesFromMdl", "is mapped"},
	{{"pages-twice", free_pages_twice}, "MmFreePagesFromMdl", "has no pages"},
	{{"lock-raises", lock_outside_of_a_try}, "no __try handles it", "STATUS_ACCESS_VIOLATION"},
};

/* ASan tells of it before. */
static const struct violation overrun = {
	{"behind", write_behind}, "ExFreePool", "behind whose 20 bytes"};

static void
ends_with_its_sentence(const struct violation *violation)
{
	char out[1024];
	int status = scene_run(violation->scene.name, out, sizeof(out));

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
	    strstr(out, violation->call) == NULL || strstr(out, violation->words) == NULL)
		fail_msg("%s: wait status %#x, \"%s\"", violation->scene.name, status, out);
	/* one line, and all of it ours */
	assert_ptr_equal(strstr(out, "pollux-ndk: "), out);
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
}

static void
a_violation_ends_the_process_with_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(violations); i++)
		ends_with_its_sentence(&violations[i]);
#if !defined(__SANITIZE_ADDRESS__)
	ends_with_its_sentence(&overrun);
#endif
}

static int
break_rules(void)
{
	PVOID memory;

	KeRaiseIrql(DISPATCH_LEVEL, &old);
	memory = ExAllocatePoolWithTag(PagedPool, 1, TAG);
	EXPECT(memory != NULL);
	KeLowerIrql(old);
	ExFreePoolWithTag(ExAllocatePoolWithTag(NonPagedPool, 1, TAG), TAG + 1);
	EXPECT(mutex_unsafe_outside() == 0);
	EXPECT(push_lock_outside() == 0);
	EXPECT(resource_outside() == 0);
	EXPECT(reinitialize_before_the_end() == 0);
	EXPECT(work_returns_in_a_region() == 0);
	/* Blocks are counted all the same. */
	EXPECT(plx_ex_pool_tag(TAG).blocks == 1);
	EXPECT(plx_ex_pool_tag(TAG).oldest_from == NULL);
	ExFreePool(memory);
	EXPECT(plx_ex_pool_tag(TAG).blocks == 0);
	return 0;
}

static const struct scene unchecked = {"unchecked", break_rules};

static void
without_checks_it_does_not(void **state)
{
	(void)state;
	setenv("POLLUX_DBG", "0", 1);
	scene_passes(unchecked.name);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_violation_ends_the_process_with_a_sentence),
		cmocka_unit_test(without_checks_it_does_not),
	};
	int result = scene_main(argc, argv, &unchecked, 1);

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (result < 0)
		result = scene_main(argc, argv, &overrun.scene, 1);
	for (size_t i = 0; result < 0 && i < ARRAYSIZE(violations); i++)
		result = scene_main(argc, argv, &violations[i].scene, 1);
	if (result >= 0)
		return result;
	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
