/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timers: a queue for each clock, in the order in which they are due, and a thread for each queue,
 * which starts with the first timer. All of it is under the dispatcher lock, so that a timer which
 * is cancelled does not expire, and one which expired has its DPC in the queue before anybody finds
 * it unset. Start with expire().
 */
#include "ke.h"

/* A system clock follows who sets it; so relative and absolute times have a queue each. */
static struct queue {
	clockid_t clock;
	const char *name;
	bool started;
	LIST_ENTRY timers;
	pthread_cond_t changed; /* another timer is the first, or there is one */
} queues[] = {
	{.clock = CLOCK_MONOTONIC, .name = "plx-timer", .changed = PTHREAD_COND_INITIALIZER},
	{.clock = CLOCK_REALTIME, .name = "plx-timer-utc", .changed = PTHREAD_COND_INITIALIZER},
};
static unsigned int set; /* timers */

static PKTIMER
timer_of(LIST_ENTRY *entry)
{
	return CONTAINING_RECORD(entry, KTIMER, TimerListEntry);
}

static void
insert(PKTIMER timer, struct queue *queue, LONGLONG at)
{
	LIST_ENTRY *behind = queue->timers.Blink;

	while (behind != &queue->timers && (LONGLONG)timer_of(behind)->DueTime.QuadPart > at)
		behind = behind->Blink;
	ke_list_insert(behind->Flink, &timer->TimerListEntry);
	timer->DueTime.QuadPart = (ULONGLONG)at;
	timer->Header.Inserted = (UCHAR)(queue - queues + 1);
	set++;
	if (queue->timers.Flink == &timer->TimerListEntry)
		pthread_cond_signal(&queue->changed);
}

/* Returns: whether it was in a queue */
static bool
remove_if_set(PKTIMER timer)
{
	if (!timer->Header.Inserted)
		return false;
	ke_list_remove(&timer->TimerListEntry);
	timer->Header.Inserted = 0;
	set--;
	return true;
}

/* Signal it, set it again if it is periodic, and at last queue its DPC, which may free it. It is in
 * no queue. Periods count from when it was due, and those that have passed are left out. */
static void
expire(PKTIMER timer, LONGLONG late)
{
	PKDPC dpc = timer->Dpc;

	if (timer->Period != 0) {
		LONGLONG period = (LONGLONG)timer->Period * KE_TICKS_PER_MS;
		LONGLONG now = ke_now(CLOCK_MONOTONIC);

		insert(timer, &queues[0], now + period - late % period);
	}
	ke_set_state(&timer->Header, 1);
	ke_signal(&timer->Header);
	if (dpc != NULL)
		ke_dpc_insert(dpc);
}

static void *
run(void *argument)
{
	struct queue *queue = argument;

	pthread_mutex_lock(&ke_dispatcher_lock);
	for (;;) {
		LIST_ENTRY *first = queue->timers.Flink;
		struct ke_due due = {.clock = queue->clock};
		struct timespec at;
		LONGLONG late;

		ke_wake();
		if (first == &queue->timers) {
			pthread_cond_wait(&queue->changed, &ke_dispatcher_lock);
			continue;
		}
		due.at = (LONGLONG)timer_of(first)->DueTime.QuadPart;
		late = ke_now(queue->clock) - due.at;
		if (late >= 0) {
			remove_if_set(timer_of(first));
			expire(timer_of(first), late);
			continue;
		}
		at = ke_timespec(due);
		pthread_cond_clockwait(&queue->changed, &ke_dispatcher_lock, queue->clock, &at);
	}
	return NULL;
}

/* The lock is held. */
static struct queue *
queue_of(clockid_t clock)
{
	struct queue *queue = &queues[clock == CLOCK_REALTIME];

	if (!queue->started) {
		queue->started = true;
		ke_list_init(&queue->timers);
		ke_start_or_stop(run, queue, queue->name);
	}
	return queue;
}

static void
require_timer(const char *call, PKTIMER timer)
{
	plx_ke_require(call, DISPATCH_LEVEL);
	ke_require_object(call, &timer->Header, KE_NOTIFICATION_TIMER, KE_SYNCHRONIZATION_TIMER);
}

static BOOLEAN
set_timer(const char *call, PKTIMER timer, LONGLONG time, LONG period, PKDPC dpc)
{
	struct ke_due due;
	BOOLEAN was_set;
	LONGLONG late;

	require_timer(call, timer);
	if (period < 0 && plx_ke_checks())
		plx_wdk_stop("%s was called with a period of %d ms", call, period);
	ke_lock();
	was_set = remove_if_set(timer);
	ke_set_state(&timer->Header, 0);
	timer->Dpc = dpc;
	timer->Period = (ULONG)period;
	due = ke_due(time);
	if (period != 0)
		queue_of(CLOCK_MONOTONIC);
	late = ke_now(due.clock) - due.at;
	/* 0 is a time that has passed: from here on the periods count. */
	if (late >= 0)
		expire(timer, 0);
	else
		insert(timer, queue_of(due.clock), due.at);
	ke_unlock();
	return was_set;
}

VOID
KeInitializeTimerEx(PKTIMER timer, TIMER_TYPE type)
{
	*timer = (KTIMER){.Period = 0};
	ke_header_init(&timer->Header,
		       type == NotificationTimer ? KE_NOTIFICATION_TIMER : KE_SYNCHRONIZATION_TIMER,
		       sizeof(*timer), 0);
}

VOID
KeInitializeTimer(PKTIMER timer)
{
	KeInitializeTimerEx(timer, NotificationTimer);
}

BOOLEAN
KeSetTimer(PKTIMER timer, LARGE_INTEGER due, PKDPC dpc)
{
	return set_timer("KeSetTimer", timer, due.QuadPart, 0, dpc);
}

BOOLEAN
KeSetTimerEx(PKTIMER timer, LARGE_INTEGER due, LONG period, PKDPC dpc)
{
	return set_timer("KeSetTimerEx", timer, due.QuadPart, period, dpc);
}

BOOLEAN
KeSetCoalescableTimer(PKTIMER timer, LARGE_INTEGER due, ULONG period, ULONG delay, PKDPC dpc)
{
	(void)delay;
	return set_timer("KeSetCoalescableTimer", timer, due.QuadPart, (LONG)period, dpc);
}

BOOLEAN
KeCancelTimer(PKTIMER timer)
{
	BOOLEAN was_set;

	require_timer("KeCancelTimer", timer);
	ke_lock();
	was_set = remove_if_set(timer);
	ke_unlock();
	return was_set;
}

BOOLEAN
KeReadStateTimer(PKTIMER timer)
{
	return ke_state(&timer->Header) > 0;
}

unsigned int
ke_timers_set(void)
{
	unsigned int now;

	pthread_mutex_lock(&ke_dispatcher_lock);
	now = set;
	pthread_mutex_unlock(&ke_dispatcher_lock);
	return now;
}
