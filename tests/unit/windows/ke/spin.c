/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spin locks: levels, exclusion, order of the queued ones, readers and writers.
 * Start with a_lock_raises_and_its_release_lowers().
 */
#include "ke_test.h"

#include <stdio.h>

_Static_assert(sizeof(KLOCK_QUEUE_HANDLE) == 24, "two pointers and a level");
_Static_assert(sizeof(EX_SPIN_LOCK) == 4, "a LONG");

enum {
	THREADS = 3,
	ROUNDS = 20000,
};

static void
a_lock_raises_and_its_release_lowers(void **state)
{
	static const KIRQL levels[] = {PASSIVE_LEVEL, APC_LEVEL, DISPATCH_LEVEL};
	KLOCK_QUEUE_HANDLE handle;
	EX_SPIN_LOCK shared = 0;
	KSPIN_LOCK lock;
	KIRQL first, old;

	(void)state;
	KeInitializeSpinLock(&lock);
	for (size_t i = 0; i < ARRAYSIZE(levels); i++) {
		KeRaiseIrql(levels[i], &first);
		assert_int_equal(first, PASSIVE_LEVEL);
		KeAcquireSpinLock(&lock, &old);
		assert_int_equal(old, levels[i]);
		assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
		assert_false(KeTestSpinLock(&lock));
		KeReleaseSpinLock(&lock, old);
		assert_int_equal(KeGetCurrentIrql(), levels[i]);
		assert_true(KeTestSpinLock(&lock));
		KeAcquireInStackQueuedSpinLock(&lock, &handle);
		assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
		assert_false(KeTestSpinLock(&lock));
		KeReleaseInStackQueuedSpinLock(&handle);
		assert_int_equal(KeGetCurrentIrql(), levels[i]);
		assert_true(KeTestSpinLock(&lock));
		old = ExAcquireSpinLockShared(&shared);
		assert_int_equal(old, levels[i]);
		assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
		ExReleaseSpinLockShared(&shared, old);
		old = ExAcquireSpinLockExclusive(&shared);
		assert_int_equal(KeGetCurrentIrql(), DISPATCH_LEVEL);
		ExReleaseSpinLockExclusive(&shared, old);
		assert_int_equal(KeGetCurrentIrql(), levels[i]);
		assert_int_equal(shared, 0);
		KeLowerIrql(first);
	}
}

static VOID
fail_to_acquire(PVOID lock)
{
	KIRQL old = KeRaiseIrqlToDpcLevel();

	assert_false(KeTryToAcquireSpinLockAtDpcLevel(lock));
	KeLowerIrql(old);
}

static void
a_try_does_not_wait(void **state)
{
	KSPIN_LOCK lock = 0;
	KIRQL old = KeRaiseIrqlToDpcLevel();

	(void)state;
	assert_int_equal(old, PASSIVE_LEVEL);
	assert_true(KeTryToAcquireSpinLockAtDpcLevel(&lock));
	KeReleaseSpinLockFromDpcLevel(&lock);
	KeLowerIrql(old);
	KeAcquireSpinLock(&lock, &old);
	/* A thread cannot be created at this level. */
	ke_self.irql = PASSIVE_LEVEL;
	ke_join(ke_run(fail_to_acquire, &lock));
	ke_self.irql = DISPATCH_LEVEL;
	KeReleaseSpinLock(&lock, old);
}

static void
locks_nest_and_are_released_in_any_order(void **state)
{
	KSPIN_LOCK locks[KE_HELD_MAX + 5] = {0};
	KIRQL old;

	(void)state;
	KeAcquireSpinLock(&locks[0], &old);
	for (size_t i = 1; i < ARRAYSIZE(locks); i++)
		KeAcquireSpinLockAtDpcLevel(&locks[i]);
	for (size_t i = 1; i < ARRAYSIZE(locks); i++)
		KeReleaseSpinLockFromDpcLevel(&locks[i * 7 % ARRAYSIZE(locks)]);
	KeReleaseSpinLock(&locks[0], old);
	for (size_t i = 0; i < ARRAYSIZE(locks); i++)
		assert_true(KeTestSpinLock(&locks[i]));
	assert_int_equal(ke_self.held, 0);
}

/* ---- exclusion ---- */

struct counted {
	KSPIN_LOCK lock;
	EX_SPIN_LOCK shared;
	long plain, twin; /* equal, but for a writer who is between the two */
	atomic_int odd;
};

static VOID
count_plainly(PVOID context)
{
	struct counted *counted = context;
	KIRQL old;

	for (int i = 0; i < ROUNDS; i++) {
		KeAcquireSpinLock(&counted->lock, &old);
		counted->plain++;
		KeReleaseSpinLock(&counted->lock, old);
	}
}

static VOID
count_in_the_queue(PVOID context)
{
	struct counted *counted = context;
	KLOCK_QUEUE_HANDLE handle;

	for (int i = 0; i < ROUNDS; i++) {
		KeAcquireInStackQueuedSpinLock(&counted->lock, &handle);
		counted->plain++;
		KeReleaseInStackQueuedSpinLock(&handle);
	}
}

static VOID
read_and_write(PVOID context)
{
	struct counted *counted = context;
	KIRQL old;

	for (int i = 0; i < ROUNDS; i++) {
		old = ExAcquireSpinLockShared(&counted->shared);
		if (counted->plain != counted->twin)
			atomic_fetch_add(&counted->odd, 1);
		ExReleaseSpinLockShared(&counted->shared, old);
		old = ExAcquireSpinLockExclusive(&counted->shared);
		counted->plain++;
		counted->twin++;
		ExReleaseSpinLockExclusive(&counted->shared, old);
	}
}

static void
each_kind_of_lock_excludes(void **state)
{
	static const PKSTART_ROUTINE kinds[] = {count_plainly, count_in_the_queue, read_and_write};

	(void)state;
	for (size_t kind = 0; kind < ARRAYSIZE(kinds); kind++) {
		struct counted counted = {.plain = 0};
		PKTHREAD threads[THREADS];

		for (int i = 0; i < THREADS; i++)
			threads[i] = ke_run(kinds[kind], &counted);
		for (int i = 0; i < THREADS; i++)
			ke_join(threads[i]);
		assert_int_equal(counted.plain, THREADS * ROUNDS);
		assert_int_equal(counted.odd, 0);
		assert_true(KeTestSpinLock(&counted.lock));
		assert_int_equal(counted.shared, 0);
	}
}

/* ---- order ---- */

struct line {
	KSPIN_LOCK lock;
	atomic_int served;
};

struct place {
	struct line *line;
	KLOCK_QUEUE_HANDLE handle;
	int served;
};

static VOID
queue_up(PVOID context)
{
	struct place *place = context;

	KeAcquireInStackQueuedSpinLock(&place->line->lock, &place->handle);
	place->served = atomic_fetch_add(&place->line->served, 1);
	KeReleaseInStackQueuedSpinLock(&place->handle);
}

static void
a_queued_lock_serves_in_the_order_of_arrival(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct line line = {.lock = 0};
		struct place places[4];
		PKTHREAD threads[4];
		KLOCK_QUEUE_HANDLE handle;

		KeAcquireInStackQueuedSpinLock(&line.lock, &handle);
		ke_self.irql = PASSIVE_LEVEL; /* at which threads are created */
		for (int i = 0; i < 4; i++) {
			places[i] = (struct place){.line = &line};
			threads[i] = ke_run(queue_up, &places[i]);
			while (__atomic_load_n(&line.lock, __ATOMIC_RELAXED) !=
			       (KSPIN_LOCK)&places[i].handle.LockQueue)
				sched_yield();
		}
		ke_self.irql = DISPATCH_LEVEL;
		KeReleaseInStackQueuedSpinLock(&handle);
		for (int i = 0; i < 4; i++)
			ke_join(threads[i]);
		for (int i = 0; i < 4; i++)
			assert_int_equal(places[i].served, i);
	}
}

/* ---- readers and writers ---- */

static VOID
write_once(PVOID context)
{
	EX_SPIN_LOCK *lock = *(EX_SPIN_LOCK **)context;

	ExReleaseSpinLockExclusive(lock, ExAcquireSpinLockExclusive(lock));
}

static void
a_reader_becomes_the_writer_if_it_is_alone(void **state)
{
	EX_SPIN_LOCK lock = 0, *pointer = &lock;
	PKTHREAD writer;
	KIRQL old;

	(void)state;
	old = ExAcquireSpinLockShared(&lock);
	assert_true(ExTryConvertSharedSpinLockExclusive(&lock));
	ExReleaseSpinLockExclusive(&lock, old);
	/* another reader */
	old = ExAcquireSpinLockShared(&lock);
	__atomic_fetch_add(&lock, 1, __ATOMIC_RELAXED);
	assert_false(ExTryConvertSharedSpinLockExclusive(&lock));
	__atomic_fetch_sub(&lock, 1, __ATOMIC_RELAXED);
	ExReleaseSpinLockShared(&lock, old);
	/* a writer who waits */
	writer = ke_run(write_once, &pointer);
	ke_join(writer);
	old = ExAcquireSpinLockShared(&lock);
	ke_self.irql = PASSIVE_LEVEL;
	writer = ke_run(write_once, &pointer);
	while (__atomic_load_n(&lock, __ATOMIC_RELAXED) == 1)
		sched_yield();
	ke_self.irql = DISPATCH_LEVEL;
	assert_false(ExTryConvertSharedSpinLockExclusive(&lock));
	ExReleaseSpinLockShared(&lock, old);
	ke_join(writer);
	assert_int_equal(lock, 0);
}

static VOID
try_beside(PVOID context)
{
	EX_SPIN_LOCK *lock = *(EX_SPIN_LOCK **)context;
	KIRQL old = KeRaiseIrqlToDpcLevel();
	bool is_read = *lock == 1;

	assert_false(ExTryAcquireSpinLockExclusiveAtDpcLevel(lock));
	assert_int_equal(ExTryAcquireSpinLockSharedAtDpcLevel(lock), is_read);
	if (is_read)
		ExReleaseSpinLockSharedFromDpcLevel(lock);
	KeLowerIrql(old);
}

static void
a_try_of_a_shared_lock_does_not_wait(void **state)
{
	EX_SPIN_LOCK lock = 0, *pointer = &lock;
	KIRQL old = KeRaiseIrqlToDpcLevel();

	(void)state;
	assert_true(ExTryAcquireSpinLockSharedAtDpcLevel(&lock));
	ke_self.irql = PASSIVE_LEVEL;
	ke_join(ke_run(try_beside, &pointer));
	ke_self.irql = DISPATCH_LEVEL;
	ExReleaseSpinLockSharedFromDpcLevel(&lock);
	assert_true(ExTryAcquireSpinLockExclusiveAtDpcLevel(&lock));
	ke_self.irql = PASSIVE_LEVEL;
	ke_join(ke_run(try_beside, &pointer));
	ke_self.irql = DISPATCH_LEVEL;
	ExReleaseSpinLockExclusiveFromDpcLevel(&lock);
	assert_int_equal(lock, 0);
	KeLowerIrql(old);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_raises_and_its_release_lowers),
		cmocka_unit_test(a_try_does_not_wait),
		cmocka_unit_test(locks_nest_and_are_released_in_any_order),
		cmocka_unit_test(each_kind_of_lock_excludes),
		cmocka_unit_test(a_queued_lock_serves_in_the_order_of_arrival),
		cmocka_unit_test(a_reader_becomes_the_writer_if_it_is_alone),
		cmocka_unit_test(a_try_of_a_shared_lock_does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
