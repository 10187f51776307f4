/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deferred procedure calls: queues, each with a thread that starts with the first DPC. One queue
 * has the DPCs without a target processor, and each target has one; threaded DPCs have the same
 * again.
 *
 * A DPC that is inserted while it runs goes to the queue whose thread runs it, wherever its target
 * is, so that it never runs twice at once. After its routine was called a DPC is not touched.
 * Start with serve().
 */
#include "ke.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	NO_TARGET = 0, /* the index of that queue; a target's is its processor's + 1 */
	QUEUES = KE_PROCESSORS_MAX + 1,
	NAME_BYTES = 16,
};

struct queue {
	struct queue *next; /* of those that were started; the list only grows, at its head */
	LIST_ENTRY dpcs;
	PKDPC running; /* by its address: its memory may be gone */
	pthread_t thread;
	pthread_cond_t filled;
	bool is_threaded;
	bool is_bound;
	ULONG processor; /* while is_bound */
	bool has_thread; /* thread is set */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues[2][QUEUES]; /* ordinary and threaded ones */
static struct queue *started;
static unsigned int left;     /* queued or running, without the marks of flushes */
static bool is_default_bound; /* by plx_ke_dpc_bind() */
static ULONG default_processor;

static KDEFERRED_ROUTINE reached;
static __thread struct queue *served; /* by this thread; NULL: it runs no DPCs */

/* ---- running ---- */

static void
bind_to(pthread_t thread, ULONG processor)
{
	int cpu = ke_cpu_of(processor);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET((size_t)cpu, &set);
	/* Where the process may not run, it runs where it may. */
	(void)pthread_setaffinity_np(thread, sizeof(set), &set);
}

/* Call a DPC's routine. The lock is held, and released meanwhile. */
static void
call(struct queue *queue, PKDPC dpc)
{
	PKDEFERRED_ROUTINE routine = dpc->DeferredRoutine;
	PVOID context = dpc->DeferredContext;
	PVOID argument1 = dpc->SystemArgument1, argument2 = dpc->SystemArgument2;
	KIRQL old = PASSIVE_LEVEL;

	ke_list_remove(&dpc->DpcListEntry);
	dpc->DpcData = NULL;
	queue->running = dpc;
	pthread_mutex_unlock(&lock);
	if (!queue->is_threaded)
		old = plx_ke_callback_begin();
	routine(dpc, context, argument1, argument2);
	if (!queue->is_threaded)
		plx_ke_callback_end("a DPC", old);
	else if (ke_self.irql != PASSIVE_LEVEL && plx_ke_checks())
		plx_wdk_stop("a threaded DPC was called at IRQL 0 and returned at %u",
			     ke_self.irql);
	pthread_mutex_lock(&lock);
	queue->running = NULL;
	/* Who waits for a mark may be told of it before. */
	left -= routine != reached;
}

static void *
serve(void *argument)
{
	struct queue *queue = argument;

	ke_self.runs_dpcs = true;
	served = queue;
	pthread_mutex_lock(&lock);
	queue->thread = pthread_self();
	queue->has_thread = true;
	if (queue->is_bound)
		bind_to(queue->thread, queue->processor);
	for (;;) {
		if (ke_list_is_empty(&queue->dpcs))
			pthread_cond_wait(&queue->filled, &lock);
		else
			call(queue, CONTAINING_RECORD(queue->dpcs.Flink, KDPC, DpcListEntry));
	}
	return NULL;
}

/* ---- queueing ---- */

/* The queue of a DPC's target. The lock is held. */
static struct queue *
queue_of(const KDPC *dpc)
{
	USHORT target = __atomic_load_n(&dpc->Number, __ATOMIC_RELAXED);
	struct queue **at = &queues[dpc->Type == KE_THREADED_DPC][target];
	char name[NAME_BYTES] = "plx-dpc";

	if (*at != NULL)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (*at == NULL)
		plx_wdk_stop("there is no memory for a queue of DPCs");
	ke_list_init(&(*at)->dpcs);
	pthread_cond_init(&(*at)->filled, NULL);
	(*at)->is_threaded = dpc->Type == KE_THREADED_DPC;
	(*at)->is_bound = target != NO_TARGET || (is_default_bound && !(*at)->is_threaded);
	(*at)->processor = target != NO_TARGET ? target - 1U : default_processor;
	if (target != NO_TARGET)
		snprintf(name, sizeof(name), "plx-dpc-%u", target - 1U);
	(*at)->next = started;
	started = *at;
	ke_start_or_stop(serve, *at, name);
	return *at;
}

static struct queue *
running_queue(const KDPC *dpc)
{
	struct queue *queue = started;

	while (queue != NULL && queue->running != dpc)
		queue = queue->next;
	return queue;
}

/* The lock is held, and it is in no queue. */
static void
insert(PKDPC dpc, struct queue *queue)
{
	bool is_first = __atomic_load_n(&dpc->Importance, __ATOMIC_RELAXED) == HighImportance;

	ke_list_insert(is_first ? queue->dpcs.Flink : &queue->dpcs, &dpc->DpcListEntry);
	dpc->DpcData = queue;
	left += dpc->DeferredRoutine != reached;
	pthread_cond_signal(&queue->filled);
}

static BOOLEAN
insert_once(PKDPC dpc, PVOID argument1, PVOID argument2)
{
	BOOLEAN inserted = FALSE;

	pthread_mutex_lock(&lock);
	if (dpc->DpcData == NULL) {
		struct queue *queue = running_queue(dpc);

		dpc->SystemArgument1 = argument1;
		dpc->SystemArgument2 = argument2;
		insert(dpc, queue != NULL ? queue : queue_of(dpc));
		inserted = TRUE;
	}
	pthread_mutex_unlock(&lock);
	return inserted;
}

void
ke_dpc_insert(PKDPC dpc)
{
	insert_once(dpc, NULL, NULL);
}

BOOLEAN
KeInsertQueueDpc(PRKDPC dpc, PVOID argument1, PVOID argument2)
{
	if (dpc->Type != KE_DPC && dpc->Type != KE_THREADED_DPC && plx_ke_checks())
		plx_wdk_stop("KeInsertQueueDpc: the DPC at %p is not initialized", (void *)dpc);
	return insert_once(dpc, argument1, argument2);
}

LOGICAL
KeShouldYieldProcessor(VOID)
{
	LOGICAL others_wait;

	plx_ke_require_least("KeShouldYieldProcessor", DISPATCH_LEVEL);
	if (served == NULL)
		return FALSE;
	pthread_mutex_lock(&lock);
	others_wait = !ke_list_is_empty(&served->dpcs);
	pthread_mutex_unlock(&lock);
	return others_wait;
}

BOOLEAN
KeRemoveQueueDpc(PRKDPC dpc)
{
	BOOLEAN removed = FALSE;

	pthread_mutex_lock(&lock);
	if (dpc->DpcData != NULL) {
		ke_list_remove(&dpc->DpcListEntry);
		dpc->DpcData = NULL;
		left--;
		removed = TRUE;
	}
	pthread_mutex_unlock(&lock);
	return removed;
}

/* ---- flushing ---- */

/* The routine of a mark. */
static VOID
reached(PKDPC dpc, PVOID event, PVOID argument1, PVOID argument2)
{
	(void)dpc, (void)argument1, (void)argument2;
	KeSetEvent(event, 0, FALSE);
}

/* Wait until what a queue has now is done. */
static void
flush(struct queue *queue)
{
	KEVENT event;
	KDPC mark;

	KeInitializeEvent(&event, NotificationEvent, FALSE);
	KeInitializeDpc(&mark, reached, &event);
	pthread_mutex_lock(&lock);
	insert(&mark, queue);
	pthread_mutex_unlock(&lock);
	KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
}

VOID
KeFlushQueuedDpcs(VOID)
{
	struct queue *queue;

	plx_ke_require("KeFlushQueuedDpcs", PASSIVE_LEVEL);
	/* A threaded DPC would wait for itself. */
	if (ke_self.runs_dpcs)
		plx_wdk_stop("KeFlushQueuedDpcs was called in a DPC, for whose end it waits");
	pthread_mutex_lock(&lock);
	queue = started;
	pthread_mutex_unlock(&lock);
	for (; queue != NULL; queue = queue->next)
		flush(queue);
}

/* ---- settings ---- */

static void
init(PRKDPC dpc, enum ke_type type, PKDEFERRED_ROUTINE routine, PVOID context)
{
	*dpc = (KDPC){
		.Type = (UCHAR)type,
		.Importance = MediumImportance,
		.Number = NO_TARGET,
		.DeferredRoutine = routine,
		.DeferredContext = context,
	};
}

VOID
KeInitializeDpc(PRKDPC dpc, PKDEFERRED_ROUTINE routine, PVOID context)
{
	init(dpc, KE_DPC, routine, context);
}

VOID
KeInitializeThreadedDpc(PRKDPC dpc, PKDEFERRED_ROUTINE routine, PVOID context)
{
	init(dpc, KE_THREADED_DPC, routine, context);
}

VOID
KeSetImportanceDpc(PRKDPC dpc, KDPC_IMPORTANCE importance)
{
	__atomic_store_n(&dpc->Importance, (UCHAR)importance, __ATOMIC_RELAXED);
}

NTSTATUS
KeSetTargetProcessorDpcEx(PKDPC dpc, PPROCESSOR_NUMBER number)
{
	ULONG index = KeGetProcessorIndexFromNumber(number);

	if (index == INVALID_PROCESSOR_INDEX)
		return STATUS_INVALID_PARAMETER;
	__atomic_store_n(&dpc->Number, (USHORT)(index + 1), __ATOMIC_RELAXED);
	return STATUS_SUCCESS;
}

VOID
KeSetTargetProcessorDpc(PRKDPC dpc, CCHAR number)
{
	PROCESSOR_NUMBER target = {.Group = 0, .Number = (BYTE)number};

	if (KeSetTargetProcessorDpcEx(dpc, &target) != STATUS_SUCCESS && plx_ke_checks())
		plx_wdk_stop("KeSetTargetProcessorDpc: there is no processor %d", number);
}

bool
plx_ke_dpc_bind(ULONG processor)
{
	struct queue *queue;

	if (ke_cpu_of(processor) < 0)
		return false;
	pthread_mutex_lock(&lock);
	is_default_bound = true;
	default_processor = processor;
	queue = queues[0][NO_TARGET];
	if (queue != NULL) {
		queue->is_bound = true;
		queue->processor = processor;
		if (queue->has_thread)
			bind_to(queue->thread, processor);
	}
	pthread_mutex_unlock(&lock);
	return true;
}

unsigned int
ke_dpcs_left(void)
{
	unsigned int now;

	pthread_mutex_lock(&lock);
	now = left;
	pthread_mutex_unlock(&lock);
	return now;
}
