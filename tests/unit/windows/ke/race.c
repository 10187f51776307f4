/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Races of the dispatcher, for ThreadSanitizer, too: of two that exclude each other exactly one
 * happens, and nothing is lost. The first argument is the number of rounds.
 * Start with a_signal_is_consumed_or_stays().
 */
#include "ke_test.h"

#include <sys/prctl.h>

enum {
	STEALERS = 2,
};

static LONG rounds = 3000;

/* ---- set against timeout ---- */

struct duel {
	KEVENT event, begin, done;
	LONG spins; /* of the one who sets it, before */
};

static VOID
set_each_round(PVOID context)
{
	struct duel *duel = context;

	for (LONG i = 0; i < rounds; i++) {
		ke_wait(&duel->begin);
		for (LONG spin = duel->spins; spin > 0; spin--)
			YieldProcessor();
		KeSetEvent(&duel->event, 0, FALSE);
		KeSetEvent(&duel->done, 0, FALSE);
	}
}

static void
a_signal_is_consumed_or_stays(void **state)
{
	LONG consumed = 0, stayed = 0;
	struct duel duel = {.spins = 1};
	PKTHREAD thread;

	(void)state;
	/* The timeout is as exact as the machine can make it. */
	assert_int_equal(prctl(PR_SET_TIMERSLACK, 1UL), 0);
	KeInitializeEvent(&duel.event, SynchronizationEvent, FALSE);
	KeInitializeEvent(&duel.begin, SynchronizationEvent, FALSE);
	KeInitializeEvent(&duel.done, SynchronizationEvent, FALSE);
	thread = ke_run(set_each_round, &duel);
	for (LONG i = 0; i < rounds; i++) {
		LARGE_INTEGER timeout = {.QuadPart = -200};
		NTSTATUS status;

		KeSetEvent(&duel.begin, 0, FALSE);
		status = KeWaitForSingleObject(&duel.event, Executive, KernelMode, FALSE, &timeout);
		ke_wait(&duel.done);
		if (status == STATUS_SUCCESS) {
			consumed++;
			duel.spins += 1 + i % 13;
			assert_int_equal(KeReadStateEvent(&duel.event), 0);
		} else {
			stayed++;
			duel.spins -= duel.spins > 15 ? 1 + i % 13 : 0;
			assert_int_equal(status, STATUS_TIMEOUT);
			assert_int_equal(KeResetEvent(&duel.event), 1);
		}
		assert_true(ke_list_is_empty(&duel.event.Header.WaitListHead));
	}
	ke_join(thread);
	/* It was a race: the one came first, and then the other. */
	assert_true(consumed > 0);
	assert_true(stayed > 0);
}

/* ---- a wait for all against stealing ---- */

struct pot {
	KSEMAPHORE left, right;
	KEVENT begin, stop;
	atomic_int in_left, in_right; /* who has it */
	atomic_long both;
};

static void
take_alone(atomic_int *in)
{
	assert_int_equal(atomic_fetch_add(in, 1), 0);
}

static void
give_back(atomic_int *in, PKSEMAPHORE semaphore)
{
	atomic_fetch_sub(in, 1);
	KeReleaseSemaphore(semaphore, 0, 1, FALSE);
}

static VOID
steal(PVOID context)
{
	struct pot *pot = context;
	PVOID objects[] = {&pot->stop, &pot->left, &pot->right};
	unsigned int turns = 0;
	NTSTATUS status;

	while ((status = KeWaitForMultipleObjects(3, objects, WaitAny, Executive, KernelMode, FALSE,
						  NULL, NULL)) != STATUS_WAIT_0) {
		atomic_int *in = status == STATUS_WAIT_1 ? &pot->in_left : &pot->in_right;

		take_alone(in);
		if (++turns % 8 == 0)
			sched_yield();
		give_back(in, status == STATUS_WAIT_1 ? &pot->left : &pot->right);
		/* Now and then both are there at once. */
		KeStallExecutionProcessor(turns % 8);
		sched_yield();
	}
}

static VOID
take_both(PVOID context)
{
	struct pot *pot = context;
	PVOID objects[] = {&pot->left, &pot->right};
	LARGE_INTEGER limit = ke_in_ms(KE_LIMIT_MS);

	ke_wait(&pot->begin);
	for (LONG i = 0; i < rounds; i++) {
		assert_int_equal(KeWaitForMultipleObjects(2, objects, WaitAll, Executive,
							  KernelMode, FALSE, &limit, NULL),
				 STATUS_SUCCESS);
		take_alone(&pot->in_left);
		take_alone(&pot->in_right);
		atomic_fetch_add(&pot->both, 1);
		if (i % 8 == 0)
			sched_yield(); /* to those who must wait now */
		give_back(&pot->in_left, &pot->left);
		give_back(&pot->in_right, &pot->right);
	}
}

static void
a_wait_for_all_never_takes_a_part(void **state)
{
	PKTHREAD stealers[STEALERS], takers[2];
	struct pot pot = {.both = 0};

	(void)state;
	/* If one were taken or given twice, a release would go beyond the limit, and raise. */
	KeInitializeSemaphore(&pot.left, 1, 1);
	KeInitializeSemaphore(&pot.right, 1, 1);
	KeInitializeEvent(&pot.begin, NotificationEvent, FALSE);
	KeInitializeEvent(&pot.stop, NotificationEvent, FALSE);
	for (int i = 0; i < 2; i++)
		takers[i] = ke_run(take_both, &pot);
	for (int i = 0; i < STEALERS; i++)
		stealers[i] = ke_run(steal, &pot);
	KeSetEvent(&pot.begin, 0, FALSE);
	for (int i = 0; i < 2; i++)
		ke_join(takers[i]);
	KeSetEvent(&pot.stop, 0, FALSE);
	for (int i = 0; i < STEALERS; i++)
		ke_join(stealers[i]);
	assert_int_equal(pot.both, 2 * rounds);
	assert_int_equal(KeReadStateSemaphore(&pot.left), 1);
	assert_int_equal(KeReadStateSemaphore(&pot.right), 1);
}

/* ---- cancel against expiry ---- */

static KDEFERRED_ROUTINE count_expiry;

static VOID
count_expiry(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)dpc, (void)argument1, (void)argument2;
	++*(LONG *)context;
}

static void
a_timer_is_cancelled_or_expires(void **state)
{
	LONG expired = 0, cancelled = 0;
	KTIMER timer;
	KDPC dpc;

	(void)state;
	KeInitializeTimer(&timer);
	KeInitializeDpc(&dpc, count_expiry, &expired);
	for (LONG i = 0; i < rounds; i++) {
		LONG before = expired;
		LARGE_INTEGER due = {.QuadPart = -(i % 211) * 5};

		KeSetTimer(&timer, due, &dpc);
		KeStallExecutionProcessor((ULONG)(i % 101));
		if (KeCancelTimer(&timer)) {
			cancelled++;
			assert_int_equal(KeReadStateTimer(&timer), FALSE);
			KeFlushQueuedDpcs();
			assert_int_equal(expired, before);
		} else {
			assert_int_equal(KeReadStateTimer(&timer), TRUE);
			KeFlushQueuedDpcs();
			assert_int_equal(expired, before + 1);
		}
	}
	assert_int_equal(expired + cancelled, rounds);
	assert_true(expired > 0);
	assert_true(cancelled > 0);
}

/* ---- objects on the stack ---- */

struct call {
	KEVENT *volatile done;
	KSEMAPHORE calls;
};

static VOID
answer(PVOID context)
{
	struct call *call = context;

	for (LONG i = 0; i < rounds; i++) {
		ke_wait(&call->calls);
		KeSetEvent(call->done, 0, FALSE);
	}
}

static void
one_call(struct call *call)
{
	KEVENT done;

	KeInitializeEvent(&done, NotificationEvent, FALSE);
	call->done = &done;
	KeReleaseSemaphore(&call->calls, 0, 1, FALSE);
	ke_wait(&done);
	/* Whoever set it must not touch it any more: these are no addresses. */
	memset(&done, 0x77, sizeof(done));
}

static void
an_event_may_go_when_its_wait_has_ended(void **state)
{
	struct call call;
	PKTHREAD thread;

	(void)state;
	KeInitializeSemaphore(&call.calls, 0, 1);
	thread = ke_run(answer, &call);
	for (LONG i = 0; i < rounds; i++)
		one_call(&call);
	ke_join(thread);
}

/* ---- mutexes ---- */

struct counter {
	KMUTEX mutex;
	LONG value;
};

static VOID
count_under_the_mutex(PVOID context)
{
	struct counter *counter = context;

	for (LONG i = 0; i < rounds; i++) {
		ke_wait(&counter->mutex);
		counter->value++;
		KeReleaseMutex(&counter->mutex, FALSE);
	}
}

static void
a_mutex_excludes(void **state)
{
	struct counter counter = {.value = 0};
	PKTHREAD threads[3];

	(void)state;
	KeInitializeMutex(&counter.mutex, 0);
	for (int i = 0; i < 3; i++)
		threads[i] = ke_run(count_under_the_mutex, &counter);
	for (int i = 0; i < 3; i++)
		ke_join(threads[i]);
	assert_int_equal(counter.value, 3 * rounds);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_is_consumed_or_stays),
		cmocka_unit_test(a_wait_for_all_never_takes_a_part),
		cmocka_unit_test(a_timer_is_cancelled_or_expires),
		cmocka_unit_test(an_event_may_go_when_its_wait_has_ended),
		cmocka_unit_test(a_mutex_excludes),
	};

	if (argc > 1)
		rounds = (LONG)strtol(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
