/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work items: order, queues, items that queue items, items that wait for others. Start with
 * an_item_runs_at_passive_level(). Also the mode of a request, and unique ids.
 */
#include "ex_test.h"

_Static_assert(sizeof(WORK_QUEUE_ITEM) == 32, "as in Windows");

static atomic_int runs;
static WORK_QUEUE_ITEM item;

static void
drain(void)
{
	assert_true(plx_ex_work_drain(EX_LIMIT_MS));
	assert_int_equal(plx_ex_work_left(), 0);
}

static void
run_once(PVOID parameter)
{
	assert_ptr_equal(parameter, &runs);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	atomic_fetch_add(&runs, 1);
}

static void
an_item_runs_at_passive_level(void **state)
{
	KIRQL old;

	(void)state;
	for (ULONG type = 0; type < MaximumWorkQueue; type++) {
		ExInitializeWorkItem(&item, run_once, &runs);
		KeRaiseIrql(DISPATCH_LEVEL, &old);
		ExQueueWorkItem(&item, (WORK_QUEUE_TYPE)type);
		KeLowerIrql(old);
		drain();
		assert_int_equal(atomic_load(&runs), type + 1);
	}
	ExQueueWorkItem(&item, (WORK_QUEUE_TYPE)(CustomPriorityWorkQueue + 31));
	drain();
	assert_int_equal(atomic_exchange(&runs, 0), MaximumWorkQueue + 1);
}

/* A routine may queue its item again. */
static void
run_again(PVOID parameter)
{
	WORK_QUEUE_ITEM *own = parameter;

	if (atomic_fetch_add(&runs, 1) < 999)
		ExQueueWorkItem(own, DelayedWorkQueue);
}

static atomic_int last_runs;

/* Or free it. */
static void
run_last(PVOID parameter)
{
	free(parameter);
	atomic_fetch_add(&last_runs, 1);
}

static void
a_routine_owns_its_item(void **state)
{
	WORK_QUEUE_ITEM *last = malloc(sizeof(*last));

	(void)state;
	ExInitializeWorkItem(&item, run_again, &item);
	ExQueueWorkItem(&item, DelayedWorkQueue);
	ExInitializeWorkItem(last, run_last, last);
	ExQueueWorkItem(last, CriticalWorkQueue);
	drain();
	assert_int_equal(atomic_exchange(&runs, 0), 1000);
	assert_int_equal(atomic_load(&last_runs), 1);
}

static atomic_int waiting;

static void
wait_for_all(PVOID parameter)
{
	int all = (int)(intptr_t)parameter;

	atomic_fetch_add(&waiting, 1);
	EX_WAIT_UNTIL(atomic_load(&waiting) == all);
}

static void
items_may_wait_for_each_other(void **state)
{
	static WORK_QUEUE_ITEM items[PLX_EX_WORKERS_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(items); i++) {
		ExInitializeWorkItem(&items[i], wait_for_all, (PVOID)(intptr_t)PLX_EX_WORKERS_MAX);
		ExQueueWorkItem(&items[i], NormalWorkQueue);
	}
	drain();
	assert_int_equal(atomic_load(&waiting), PLX_EX_WORKERS_MAX);
}

static void
a_drain_has_a_limit(void **state)
{
	(void)state;
	atomic_store(&waiting, 0);
	ExInitializeWorkItem(&item, wait_for_all, (PVOID)(intptr_t)2);
	ExQueueWorkItem(&item, CriticalWorkQueue);
	assert_false(plx_ex_work_drain(1));
	assert_int_equal(plx_ex_work_left(), 1);
	atomic_fetch_add(&waiting, 1);
	drain();
}

enum {
	QUEUERS = 4,
	OWN_ITEMS = 50,
	ROUNDS = 20,
};

/* Workers that queue items, each of which queues itself in another queue. */
static struct hopping {
	WORK_QUEUE_ITEM item;
	int hops;
} hopping[QUEUERS][OWN_ITEMS];

static void
hop(PVOID parameter)
{
	struct hopping *own = parameter;

	atomic_fetch_add(&runs, 1);
	if (++own->hops < ROUNDS)
		ExQueueWorkItem(&own->item, (WORK_QUEUE_TYPE)(own->hops % MaximumWorkQueue));
}

static void *
queue_some(void *argument)
{
	struct hopping *own = argument;

	for (size_t i = 0; i < OWN_ITEMS; i++) {
		ExInitializeWorkItem(&own[i].item, hop, &own[i]);
		ExQueueWorkItem(&own[i].item, CriticalWorkQueue);
	}
	return NULL;
}

static void
threads_and_workers_queue_at_once(void **state)
{
	pthread_t threads[QUEUERS];

	(void)state;
	for (size_t i = 0; i < QUEUERS; i++)
		threads[i] = ex_run(queue_some, hopping[i]);
	for (size_t i = 0; i < QUEUERS; i++)
		ex_join(threads[i]);
	drain();
	assert_int_equal(atomic_load(&runs), QUEUERS * OWN_ITEMS * ROUNDS);
}

static void *
see_mode(void *argument)
{
	*(KPROCESSOR_MODE *)argument = ExGetPreviousMode();
	return NULL;
}

static void
a_mode_is_a_threads(void **state)
{
	KPROCESSOR_MODE mode = UserMode;

	(void)state;
	assert_int_equal(ExGetPreviousMode(), KernelMode);
	assert_int_equal(plx_ex_previous_mode_set(UserMode), KernelMode);
	assert_int_equal(ExGetPreviousMode(), UserMode);
	ex_join(ex_run(see_mode, &mode));
	assert_int_equal(mode, KernelMode);
	assert_int_equal(plx_ex_previous_mode_set(KernelMode), UserMode);
}

static void
ids_are_random_and_say_so(void **state)
{
	UUID a, b;

	(void)state;
	assert_int_equal(ExUuidCreate(&a), STATUS_SUCCESS);
	assert_int_equal(ExUuidCreate(&b), STATUS_SUCCESS);
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_int_equal(a.Data3 >> 12, 4);
	assert_int_equal(a.Data4[0] >> 6, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_runs_at_passive_level),
		cmocka_unit_test(a_routine_owns_its_item),
		cmocka_unit_test(items_may_wait_for_each_other),
		cmocka_unit_test(a_drain_has_a_limit),
		cmocka_unit_test(threads_and_workers_queue_at_once),
		cmocka_unit_test(a_mode_is_a_threads),
		cmocka_unit_test(ids_are_random_and_say_so),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
