/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work items: queues, and threads that run what is in them. A queue gets a further thread when more
 * items wait than threads. Threads stay.
 * Start with ExQueueWorkItem().
 *
 * Locks: one, under which no other is taken.
 */
#include "ex.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

struct queue {
	LIST_ENTRY *first, **last; /* linked by Flink; the last one's leads to `end` */
	ULONG length, idle, threads;
	pthread_cond_t filled;
};

/* Behind the last item, since NULL means that an item is not queued. */
static LIST_ENTRY end;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t drained = PTHREAD_COND_INITIALIZER;
static ULONG left; /* queued or running */
static struct queue queues[MaximumWorkQueue];

static void
put(struct queue *queue, PWORK_QUEUE_ITEM item)
{
	item->List.Flink = &end;
	if (queue->length++ == 0)
		queue->first = &item->List;
	else
		*queue->last = &item->List;
	queue->last = &item->List.Flink;
	left++;
}

static PWORK_QUEUE_ITEM
get(struct queue *queue)
{
	PWORK_QUEUE_ITEM item = CONTAINING_RECORD(queue->first, WORK_QUEUE_ITEM, List);

	queue->first = item->List.Flink;
	queue->length--;
	item->List.Flink = NULL;
	return item;
}

/* The item is not the library's any more: its routine may free it. */
static void
run(PWORKER_THREAD_ROUTINE routine, PVOID parameter)
{
	routine(parameter);
	if (!plx_ke_checks())
		return;
	if (KeGetCurrentIrql() != PASSIVE_LEVEL)
		plx_wdk_stop("the routine %p of a work item returned at IRQL %u",
			     (void *)(uintptr_t)routine, KeGetCurrentIrql());
	if (KeAreApcsDisabled())
		plx_wdk_stop("the routine %p of a work item returned in a region without APCs",
			     (void *)(uintptr_t)routine);
}

static void *
work(void *argument)
{
	struct queue *queue = argument;

	pthread_setname_np(pthread_self(), "plx-work");
	pthread_mutex_lock(&lock);
	for (;;) {
		PWORK_QUEUE_ITEM item;
		PWORKER_THREAD_ROUTINE routine;
		PVOID parameter;

		while (queue->length == 0) {
			queue->idle++;
			pthread_cond_wait(&queue->filled, &lock);
			queue->idle--;
		}
		item = get(queue);
		routine = item->WorkerRoutine;
		parameter = item->Parameter;
		pthread_mutex_unlock(&lock);
		run(routine, parameter);
		pthread_mutex_lock(&lock);
		if (--left == 0)
			pthread_cond_broadcast(&drained);
	}
	return NULL;
}

/* The lock is held. The thread gets no signals but those of its own faults. */
static void
add_thread(struct queue *queue)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attributes, work, queue) == 0)
		queue->threads++;
	else if (queue->threads == 0)
		plx_wdk_stop("there is no thread for a work item");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

static struct queue *
queue_of(WORK_QUEUE_TYPE type)
{
	if ((ULONG)type - CustomPriorityWorkQueue < MAXIMUM_PRIORITY)
		type = NormalWorkQueue;
	if ((ULONG)type >= MaximumWorkQueue)
		plx_wdk_stop("ExQueueWorkItem was called with queue type %u", (ULONG)type);
	return &queues[type];
}

static void
queues_init(void)
{
	for (size_t i = 0; i < MaximumWorkQueue; i++)
		pthread_cond_init(&queues[i].filled, NULL);
}

VOID
ExQueueWorkItem(PWORK_QUEUE_ITEM item, WORK_QUEUE_TYPE type)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct queue *queue = queue_of(type);

	plx_ke_require("ExQueueWorkItem", DISPATCH_LEVEL);
	pthread_once(&once, queues_init);
	pthread_mutex_lock(&lock);
	if (item->List.Flink != NULL && plx_ke_checks())
		plx_wdk_stop("ExQueueWorkItem was called for %p, which is queued already or "
			     "not initialized",
			     (void *)item);
	put(queue, item);
	if (queue->length > queue->idle && queue->threads < PLX_EX_WORKERS_MAX)
		add_thread(queue);
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&lock);
}

ULONG
plx_ex_work_left(void)
{
	ULONG now;

	pthread_mutex_lock(&lock);
	now = left;
	pthread_mutex_unlock(&lock);
	return now;
}

bool
plx_ex_work_drain(ULONG ms)
{
	struct timespec limit;
	bool in_time = true;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += ms / 1000;
	limit.tv_nsec += (long)(ms % 1000) * 1000000;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_sec++;
		limit.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&lock);
	while (left && in_time)
		in_time = pthread_cond_clockwait(&drained, &lock, CLOCK_MONOTONIC, &limit) == 0;
	in_time = left == 0;
	pthread_mutex_unlock(&lock);
	return in_time;
}
