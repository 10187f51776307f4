/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancelling, queues that are safe against it, and remove locks; alone and between threads. Start
 * with a_request_is_cancelled_once().
 */
#include "io_rig.h"

#include <pthread.h>

/* ---- cancel routines ---- */

static uint32_t cancelled;

static VOID
on_cancel(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device;
	IoReleaseCancelSpinLock(irp->CancelIrql);
	cancelled++;
}

static void
a_request_is_cancelled_once(void **state)
{
	PIRP irp = IoAllocateIrp(1, FALSE);

	(void)state;
	IoSetNextIrpStackLocation(irp);
	assert_false(IoCancelIrp(irp));
	assert_true(irp->Cancel);
	irp->Cancel = FALSE;
	assert_null(IoSetCancelRoutine(irp, on_cancel));
	assert_true(IoCancelIrp(irp));
	assert_int_equal(cancelled, 1);
	assert_int_equal(KeGetCurrentIrql(), PASSIVE_LEVEL);
	assert_null(IoSetCancelRoutine(irp, NULL));
	assert_false(IoCancelIrp(irp));
	assert_int_equal(cancelled, 1);
	IoFreeIrp(irp);
}

/* ---- queues ---- */

struct queue {
	IO_CSQ csq;
	KSPIN_LOCK lock;
	LIST_ENTRY irps;
	_Atomic uint32_t cancelled;
	bool is_full;
};

static VOID
insert(PIO_CSQ csq, PIRP irp)
{
	InsertTailList(&CONTAINING_RECORD(csq, struct queue, csq)->irps,
		       &irp->Tail.Overlay.ListEntry);
}

static NTSTATUS
insert_unless_full(PIO_CSQ csq, PIRP irp, PVOID context)
{
	if (context == NULL || CONTAINING_RECORD(csq, struct queue, csq)->is_full)
		return STATUS_DEVICE_NOT_READY;
	insert(csq, irp);
	return STATUS_SUCCESS;
}

static VOID
take(PIO_CSQ csq, PIRP irp)
{
	(void)csq;
	(void)RemoveEntryList(&irp->Tail.Overlay.ListEntry);
}

static PIRP
peek(PIO_CSQ csq, PIRP irp, PVOID context)
{
	struct queue *queue = CONTAINING_RECORD(csq, struct queue, csq);
	PLIST_ENTRY at = irp != NULL ? irp->Tail.Overlay.ListEntry.Flink : queue->irps.Flink;

	for (; at != &queue->irps; at = at->Flink) {
		PIRP next = CONTAINING_RECORD(at, IRP, Tail.Overlay.ListEntry);

		if (context == NULL || next->Tail.Overlay.DriverContext[0] == context)
			return next;
	}
	return NULL;
}

static VOID
acquire(PIO_CSQ csq, PKIRQL irql)
{
	KeAcquireSpinLock(&CONTAINING_RECORD(csq, struct queue, csq)->lock, irql);
}

static VOID
release(PIO_CSQ csq, KIRQL irql)
{
	KeReleaseSpinLock(&CONTAINING_RECORD(csq, struct queue, csq)->lock, irql);
}

static VOID
complete_cancelled(PIO_CSQ csq, PIRP irp)
{
	CONTAINING_RECORD(csq, struct queue, csq)->cancelled++;
	(void)rig_complete(irp, STATUS_CANCELLED, 0);
}

static void
queue_open(struct queue *queue)
{
	*queue = (struct queue){.is_full = false};
	KeInitializeSpinLock(&queue->lock);
	InitializeListHead(&queue->irps);
	assert_int_equal(IoCsqInitialize(&queue->csq, insert, take, peek, acquire, release,
					 complete_cancelled),
			 STATUS_SUCCESS);
}

static NTSTATUS
count(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	(void)device, (void)irp;
	(void)__atomic_add_fetch((uint32_t *)context, 1, __ATOMIC_RELEASE);
	return STATUS_MORE_PROCESSING_REQUIRED;
}

static PIRP
make_irp(uint32_t *ended)
{
	PIRP irp = IoAllocateIrp(1, FALSE);

	assert_non_null(irp);
	IoSetCompletionRoutine(irp, count, ended, TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	return irp;
}

static void
a_queue_gives_its_requests_back_in_order(void **state)
{
	uint32_t ended = 0;
	PIRP first = make_irp(&ended), second = make_irp(&ended);
	IO_CSQ_IRP_CONTEXT context;
	struct queue queue;

	(void)state;
	queue_open(&queue);
	second->Tail.Overlay.DriverContext[0] = &queue;
	IoCsqInsertIrp(&queue.csq, first, NULL);
	IoCsqInsertIrp(&queue.csq, second, &context);
	assert_true(IoGetCurrentIrpStackLocation(first)->Control & SL_PENDING_RETURNED);
	assert_ptr_equal(IoCsqRemoveNextIrp(&queue.csq, &queue), second);
	assert_null(IoCsqRemoveIrp(&queue.csq, &context));
	assert_ptr_equal(IoCsqRemoveNextIrp(&queue.csq, NULL), first);
	assert_null(IoCsqRemoveNextIrp(&queue.csq, NULL));
	assert_null(first->CancelRoutine);
	IoFreeIrp(first);
	IoFreeIrp(second);
}

static void
a_cancelled_request_leaves_its_queue(void **state)
{
	uint32_t ended = 0;
	PIRP early = make_irp(&ended), late = make_irp(&ended);
	IO_CSQ_IRP_CONTEXT context;
	struct queue queue;

	(void)state;
	queue_open(&queue);
	(void)IoCancelIrp(early);
	IoCsqInsertIrp(&queue.csq, early, NULL);
	assert_int_equal(queue.cancelled, 1);
	IoCsqInsertIrp(&queue.csq, late, &context);
	assert_ptr_equal(context.Irp, late);
	assert_true(IoCancelIrp(late));
	assert_int_equal(queue.cancelled, 2);
	assert_null(context.Irp);
	assert_null(IoCsqRemoveIrp(&queue.csq, &context));
	assert_true(IsListEmpty(&queue.irps));
	assert_int_equal(ended, 2);
	IoFreeIrp(early);
	IoFreeIrp(late);
}

static void
a_queue_may_refuse(void **state)
{
	uint32_t ended = 0;
	PIRP irp = make_irp(&ended);
	struct queue queue;

	(void)state;
	queue_open(&queue);
	assert_int_equal(IoCsqInitializeEx(&queue.csq, insert_unless_full, take, peek, acquire,
					   release, complete_cancelled),
			 STATUS_SUCCESS);
	queue.is_full = true;
	assert_int_equal(IoCsqInsertIrpEx(&queue.csq, irp, NULL, &queue), STATUS_DEVICE_NOT_READY);
	assert_int_equal(IoGetCurrentIrpStackLocation(irp)->Control & SL_PENDING_RETURNED, 0);
	queue.is_full = false;
	assert_int_equal(IoCsqInsertIrpEx(&queue.csq, irp, NULL, &queue), STATUS_SUCCESS);
	assert_ptr_equal(IoCsqRemoveNextIrp(&queue.csq, NULL), irp);
	IoFreeIrp(irp);
}

enum {
	ROUNDS = 20000,
};

struct race {
	struct queue queue;
	PIRP irp[ROUNDS];
	uint32_t ended;
	_Atomic uint32_t inserted, taken;
};

static void *
cancel_all(void *context)
{
	struct race *race = context;

	for (uint32_t i = 0; i < ROUNDS;) {
		if (i == race->inserted)
			continue;
		(void)IoCancelIrp(race->irp[i++]);
	}
	return NULL;
}

static void *
take_all(void *context)
{
	struct race *race = context;

	while (__atomic_load_n(&race->ended, __ATOMIC_ACQUIRE) < ROUNDS) {
		PIRP irp = IoCsqRemoveNextIrp(&race->queue.csq, NULL);

		if (irp == NULL)
			continue;
		race->taken++;
		(void)rig_complete(irp, STATUS_SUCCESS, 0);
	}
	return NULL;
}

static void
every_request_ends_once_however_threads_race(void **state)
{
	static struct race race;
	pthread_t canceller, taker;

	(void)state;
	queue_open(&race.queue);
	for (uint32_t i = 0; i < ROUNDS; i++)
		race.irp[i] = make_irp(&race.ended);
	assert_int_equal(pthread_create(&canceller, NULL, cancel_all, &race), 0);
	assert_int_equal(pthread_create(&taker, NULL, take_all, &race), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		/* the canceller may come before, between or after */
		race.inserted = i + 1;
		IoCsqInsertIrp(&race.queue.csq, race.irp[i], NULL);
	}
	pthread_join(canceller, NULL);
	pthread_join(taker, NULL);
	assert_int_equal(race.ended, ROUNDS);
	assert_int_equal(race.taken + race.queue.cancelled, ROUNDS);
	assert_true(IsListEmpty(&race.queue.irps));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		assert_int_equal(race.irp[i]->CurrentLocation, 2);
		IoFreeIrp(race.irp[i]);
	}
}

/* ---- remove locks ---- */

struct removal {
	IO_REMOVE_LOCK lock;
	_Atomic bool is_removed;
};

static void *
remove_it(void *context)
{
	struct removal *removal = context;

	if (!NT_SUCCESS(IoAcquireRemoveLock(&removal->lock, NULL)))
		return removal;
	IoReleaseRemoveLockAndWait(&removal->lock, NULL);
	removal->is_removed = true;
	return NULL;
}

static void
a_removal_waits_for_what_is_in_progress(void **state)
{
	struct removal removal = {.is_removed = false};
	pthread_t remover;
	void *failed;

	(void)state;
	IoInitializeRemoveLock(&removal.lock, 0, 0, 0);
	assert_int_equal(IoAcquireRemoveLock(&removal.lock, &removal), STATUS_SUCCESS);
	assert_int_equal(pthread_create(&remover, NULL, remove_it, &removal), 0);
	/* ends when the remover has come so far; the harness limits the test */
	while (NT_SUCCESS(IoAcquireRemoveLock(&removal.lock, NULL)))
		IoReleaseRemoveLock(&removal.lock, NULL);
	assert_false(removal.is_removed);
	IoReleaseRemoveLock(&removal.lock, &removal);
	pthread_join(remover, &failed);
	assert_null(failed);
	assert_true(removal.is_removed);
	assert_int_equal(IoAcquireRemoveLock(&removal.lock, NULL), STATUS_DELETE_PENDING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_cancelled_once),
		cmocka_unit_test(a_queue_gives_its_requests_back_in_order),
		cmocka_unit_test(a_cancelled_request_leaves_its_queue),
		cmocka_unit_test(a_queue_may_refuse),
		cmocka_unit_test(every_request_ends_once_however_threads_race),
		cmocka_unit_test(a_removal_waits_for_what_is_in_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
