/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deferred calls: queued once, in order, never twice at once and never lost, on their processors.
 * Start with a_dpc_is_queued_once().
 */
#include "ke_test.h"

#include <stdio.h>

/* A DPC that holds the queue up until it is told to go on. */
struct gate {
	KDPC dpc;
	KEVENT entered;
	atomic_bool open;
};

static KDEFERRED_ROUTINE hold_up, note, look_back;

static VOID
hold_up(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	struct gate *gate = context;

	(void)dpc, (void)argument1, (void)argument2;
	KeSetEvent(&gate->entered, 0, FALSE);
	while (!atomic_load(&gate->open))
		sched_yield();
}

static void
shut(struct gate *gate)
{
	KeInitializeDpc(&gate->dpc, hold_up, gate);
	KeInitializeEvent(&gate->entered, NotificationEvent, FALSE);
	atomic_init(&gate->open, false);
	assert_true(KeInsertQueueDpc(&gate->dpc, NULL, NULL));
	ke_wait(&gate->entered);
}

/* What ran, in order. */
static struct noted {
	PKDPC dpc;
	PVOID context, argument1, argument2;
	KIRQL irql;
} noted[8];
static unsigned int n_noted;

static VOID
note(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	noted[n_noted++] = (struct noted){dpc, context, argument1, argument2, KeGetCurrentIrql()};
}

static void
a_dpc_is_queued_once(void **state)
{
	struct gate gate;
	int a, b, c;
	KDPC dpc;

	(void)state;
	n_noted = 0;
	shut(&gate);
	KeInitializeDpc(&dpc, note, &c);
	assert_true(KeInsertQueueDpc(&dpc, &a, &b));
	assert_false(KeInsertQueueDpc(&dpc, &b, &a));
	assert_int_equal(plx_ke_left().dpcs, 2);
	atomic_store(&gate.open, true);
	KeFlushQueuedDpcs();
	assert_int_equal(n_noted, 1);
	assert_ptr_equal(noted[0].dpc, &dpc);
	assert_ptr_equal(noted[0].context, &c);
	assert_ptr_equal(noted[0].argument1, &a);
	assert_ptr_equal(noted[0].argument2, &b);
	assert_int_equal(noted[0].irql, DISPATCH_LEVEL);
	/* and again, when it has run */
	assert_true(KeInsertQueueDpc(&dpc, NULL, NULL));
	KeFlushQueuedDpcs();
	assert_int_equal(n_noted, 2);
	assert_int_equal(plx_ke_left().dpcs, 0);
}

static void
a_removed_dpc_does_not_run(void **state)
{
	struct gate gate;
	KDPC dpc;

	(void)state;
	n_noted = 0;
	shut(&gate);
	KeInitializeDpc(&dpc, note, NULL);
	assert_false(KeRemoveQueueDpc(&dpc));
	assert_true(KeInsertQueueDpc(&dpc, NULL, NULL));
	assert_true(KeRemoveQueueDpc(&dpc));
	assert_false(KeRemoveQueueDpc(&dpc));
	assert_false(KeRemoveQueueDpc(&gate.dpc));
	atomic_store(&gate.open, true);
	KeFlushQueuedDpcs();
	assert_int_equal(n_noted, 0);
	assert_int_equal(plx_ke_left().dpcs, 0);
}

static void
the_important_ones_run_first(void **state)
{
	static const KDPC_IMPORTANCE importances[] = {LowImportance, MediumImportance,
						      HighImportance, MediumHighImportance};
	static const int order[] = {2, 0, 1, 3};
	struct gate gate;
	KDPC dpcs[4];

	(void)state;
	n_noted = 0;
	shut(&gate);
	for (int i = 0; i < 4; i++) {
		KeInitializeDpc(&dpcs[i], note, NULL);
		KeSetImportanceDpc(&dpcs[i], importances[i]);
		KeInsertQueueDpc(&dpcs[i], NULL, NULL);
	}
	atomic_store(&gate.open, true);
	KeFlushQueuedDpcs();
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(noted[i].dpc, &dpcs[order[i]]);
}

static void
a_threaded_dpc_runs_at_passive_level(void **state)
{
	KDPC dpc;

	(void)state;
	n_noted = 0;
	KeInitializeThreadedDpc(&dpc, note, NULL);
	KeInsertQueueDpc(&dpc, NULL, NULL);
	KeFlushQueuedDpcs();
	assert_int_equal(n_noted, 1);
	assert_int_equal(noted[0].irql, PASSIVE_LEVEL);
}

/* ---- processors ---- */

static KDEFERRED_ROUTINE note_processor;

static VOID
note_processor(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	(void)dpc, (void)argument1, (void)argument2;
	*(ULONG *)context = KeGetCurrentProcessorIndex();
}

static void
a_dpc_runs_on_its_target(void **state)
{
	ULONG n = KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS), at;
	PROCESSOR_NUMBER number = {.Group = 0xfffe};
	KDPC dpc;

	(void)state;
	KeInitializeDpc(&dpc, note_processor, &at);
	assert_int_equal(KeSetTargetProcessorDpcEx(&dpc, &number), STATUS_INVALID_PARAMETER);
	for (ULONG i = 0; i < n; i++) {
		at = INVALID_PROCESSOR_INDEX;
		KeGetProcessorNumberFromIndex(i, &number);
		assert_int_equal(KeSetTargetProcessorDpcEx(&dpc, &number), STATUS_SUCCESS);
		KeInsertQueueDpc(&dpc, NULL, NULL);
		KeFlushQueuedDpcs();
		assert_int_equal(at, i);
	}
	KeSetTargetProcessorDpc(&dpc, 0);
	KeInsertQueueDpc(&dpc, NULL, NULL);
	KeFlushQueuedDpcs();
	assert_int_equal(at, 0);
}

static void
the_thread_without_a_target_can_be_bound(void **state)
{
	ULONG n = KeQueryActiveProcessorCountEx(ALL_PROCESSOR_GROUPS), at;
	KDPC dpc;

	(void)state;
	KeInitializeDpc(&dpc, note_processor, &at);
	assert_false(plx_ke_dpc_bind(n));
	for (ULONG i = 0; i < n; i++) {
		assert_true(plx_ke_dpc_bind(i));
		KeInsertQueueDpc(&dpc, NULL, NULL);
		KeFlushQueuedDpcs();
		assert_int_equal(at, i);
	}
}

/* ---- never twice at once, never lost ---- */

struct storm {
	KDPC dpc;
	atomic_int running;
	atomic_bool twice, stop;
	atomic_long asked; /* work that was left for the DPC */
	long done;         /* by the DPC alone */
	atomic_long inserted;
};

static KDEFERRED_ROUTINE work;

static VOID
work(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	struct storm *storm = context;

	(void)dpc, (void)argument1, (void)argument2;
	if (atomic_fetch_add(&storm->running, 1) != 0)
		atomic_store(&storm->twice, true);
	sched_yield(); /* time for another to begin */
	storm->done += atomic_exchange(&storm->asked, 0);
	atomic_fetch_sub(&storm->running, 1);
}

static VOID
ask(PVOID context)
{
	struct storm *storm = context;
	ULONG n = KeQueryActiveProcessorCount(NULL);

	for (long i = 0; i < 20000; i++) {
		atomic_fetch_add(&storm->asked, 1);
		if (KeInsertQueueDpc(&storm->dpc, NULL, NULL))
			atomic_fetch_add(&storm->inserted, 1);
		if (i % 16 == 0)
			sched_yield();
		/* for the next insertion, whoever makes it */
		__atomic_store_n(&storm->dpc.Number, (USHORT)((ULONG)i % (n + 1)),
				 __ATOMIC_RELAXED);
	}
}

static void
a_dpc_never_runs_twice_at_once_and_is_never_lost(void **state)
{
	struct storm storm = {.done = 0};
	PKTHREAD threads[2];

	(void)state;
	KeInitializeDpc(&storm.dpc, work, &storm);
	for (int i = 0; i < 2; i++)
		threads[i] = ke_run(ask, &storm);
	for (int i = 0; i < 2; i++)
		ke_join(threads[i]);
	KeFlushQueuedDpcs();
	assert_false(storm.twice);
	assert_int_equal(storm.asked, 0);
	assert_int_equal(storm.done, 40000);
	assert_true(storm.inserted <= 40000);
	assert_int_equal(plx_ke_left().dpcs, 0);
}

static KDEFERRED_ROUTINE insert_itself;

static VOID
insert_itself(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	LONG *left = context;

	(void)argument1, (void)argument2;
	if (--*left > 0)
		assert_true(KeInsertQueueDpc(dpc, NULL, NULL));
}

static void
a_dpc_may_insert_itself(void **state)
{
	LONG left = 100;
	KDPC dpc;

	(void)state;
	KeInitializeDpc(&dpc, insert_itself, &left);
	KeInsertQueueDpc(&dpc, NULL, NULL);
	/* A flush waits for those that are queued when it begins. */
	for (int i = 0; i < 100; i++)
		KeFlushQueuedDpcs();
	assert_int_equal(left, 0);
	assert_int_equal(plx_ke_left().dpcs, 0);
}

/* Asks whether others wait, while it holds them up and when it does not. */
struct asker {
	struct gate gate;
	LOGICAL alone, followed;
};

static VOID
look_back(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
	struct asker *asker = context;

	asker->alone = KeShouldYieldProcessor();
	hold_up(dpc, &asker->gate, argument1, argument2);
	asker->followed = KeShouldYieldProcessor();
}

static void
a_dpc_that_others_wait_for_should_yield(void **state)
{
	struct asker asker = {.alone = 7};
	KIRQL old;
	KDPC after;

	(void)state;
	KeFlushQueuedDpcs();
	n_noted = 0;
	KeInitializeEvent(&asker.gate.entered, NotificationEvent, FALSE);
	KeInitializeDpc(&asker.gate.dpc, look_back, &asker);
	KeInitializeDpc(&after, note, NULL);
	KeInsertQueueDpc(&asker.gate.dpc, NULL, NULL);
	ke_wait(&asker.gate.entered);
	KeInsertQueueDpc(&after, NULL, NULL);
	atomic_store(&asker.gate.open, true);
	KeFlushQueuedDpcs();
	assert_int_equal(n_noted, 1);
	assert_false(asker.alone);
	assert_true(asker.followed);
	/* a thread takes no processor for itself */
	KeRaiseIrql(DISPATCH_LEVEL, &old);
	assert_false(KeShouldYieldProcessor());
	KeLowerIrql(old);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dpc_is_queued_once),
		cmocka_unit_test(a_removed_dpc_does_not_run),
		cmocka_unit_test(the_important_ones_run_first),
		cmocka_unit_test(a_threaded_dpc_runs_at_passive_level),
		cmocka_unit_test(a_dpc_runs_on_its_target),
		cmocka_unit_test(a_dpc_never_runs_twice_at_once_and_is_never_lost),
		cmocka_unit_test(a_dpc_may_insert_itself),
		cmocka_unit_test(a_dpc_that_others_wait_for_should_yield),
		cmocka_unit_test(the_thread_without_a_target_can_be_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
