/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pending requests, from begin to their single end, and the results in OVERLAPPEDs.
 *
 * Ending a listed request happens as a whole under the lock of its file: the status, the event, the
 * packet. So a thread that takes the lock afterwards, such as one that cancels, finds every request
 * either pending or completely ended. Start with plx_pending_begin() and end().
 */
#include "plx_rules.h"
#include "win_objects.h"

#include <ntstatus.h>
#include <sched.h>
#include <stdlib.h>

/* Owned by the caller until plx_pending_finish(), by the port while it is queued there. */
struct plx_pending {
	struct win_packet packet;
	struct plx_pending *previous, *next;
	struct plx_pending_list *list; /* NULL: ended, or brief; protected by the file's lock */
	bool brief;                    /* in no list; only its owner ends it */
	struct plx_file *file;    /* held by the list, or by the request once it is in no list */
	struct win_object *event; /* held; NULL: none */
	bool event_only;          /* no packet */
};

/* Threads waiting for an OVERLAPPED are counted in the bucket of its address. */
struct bucket {
	_Alignas(64) atomic_ullong
		busy; /* low half: ends in progress; high half: threads sleeping here */
	pthread_mutex_t lock;
	struct win_waiters waiters;
};

#define SLEEPS_HERE (UINT64_C(1) << 32)
#define ENDS(busy)  ((uint32_t)(busy))

enum {
	YIELDS = 64, /* before a thread that waits for an end in progress sleeps */
};

#define ONE_BUCKET                                \
	{                                         \
		.lock = PTHREAD_MUTEX_INITIALIZER \
	}
#define FOUR(what) what, what, what, what

static struct bucket buckets[] = {FOUR(FOUR(FOUR(ONE_BUCKET)))};

static __thread int32_t refusal;

static struct bucket *
bucket_of(const OVERLAPPED *overlapped)
{
	uint64_t mixed = (uint64_t)(uintptr_t)overlapped * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[(mixed >> 32) % (sizeof(buckets) / sizeof(buckets[0]))];
}

static int32_t
load_status(const OVERLAPPED *overlapped)
{
	return (int32_t)__atomic_load_n(&overlapped->Internal, __ATOMIC_ACQUIRE);
}

static void
store_status(OVERLAPPED *overlapped, int32_t status, uint64_t information)
{
	__atomic_store_n(&overlapped->InternalHigh, information, __ATOMIC_RELAXED);
	__atomic_store_n(&overlapped->Internal, (ULONG_PTR)(uint32_t)status, __ATOMIC_RELEASE);
}

void
plx_pending_list_init(struct plx_pending_list *list, struct plx_file *file)
{
	win_object_hold_again(&file->object);
	*list = (struct plx_pending_list){.file = file};
}

/* The file's lock is held. */
static void
append(struct plx_pending_list *list, struct plx_pending *pending)
{
	pending->list = list;
	pending->next = NULL;
	pending->previous = list->last;
	if (list->last)
		list->last->next = pending;
	else
		list->first = pending;
	list->last = pending;
}

/* The file's lock is held. */
static void
unlink_from_list(struct plx_pending *pending)
{
	struct plx_pending_list *list = pending->list;

	if (pending->previous)
		pending->previous->next = pending->next;
	else
		list->first = pending->next;
	if (pending->next)
		pending->next->previous = pending->previous;
	else
		list->last = pending->previous;
	pending->list = NULL;
}

/* Remove a request from its list to end it. The file's lock is held. Returns: false: it was
 * cancelled */
static bool
claim(struct plx_pending *pending)
{
	if (!pending->list)
		return pending->brief;
	unlink_from_list(pending);
	return true;
}

/* Hold the event of an OVERLAPPED. Returns: false: hEvent is neither an event nor empty */
static bool
hold_event(const OVERLAPPED *overlapped, struct win_object **event)
{
	uintptr_t handle = (uintptr_t)overlapped->hEvent & ~(uintptr_t)WIN_TAG;

	*event = handle ? win_object_hold((HANDLE)handle, WIN_EVENT) : NULL;
	return *event || !handle;
}

/* Create a request that is in no list yet. Returns: NULL: `refusal` says why */
static struct plx_pending *
make(struct plx_pending_list *list, OVERLAPPED *overlapped, bool brief)
{
	struct plx_pending *pending;
	struct win_object *event;

	refusal = STATUS_INVALID_HANDLE;
	if (!hold_event(overlapped, &event))
		return NULL;
	pending = malloc(sizeof(*pending));
	if (!pending) {
		refusal = STATUS_INSUFFICIENT_RESOURCES;
		if (event)
			win_object_release(event);
		return NULL;
	}
	pending->packet.overlapped = overlapped;
	atomic_init(&pending->packet.holds, 1);
	pending->list = NULL;
	pending->brief = brief;
	pending->file = list->file;
	pending->event = event;
	pending->event_only = (uintptr_t)overlapped->hEvent & 1;
	if (event) {
		win_pumps_brought_by(event, &list->file->object);
		win_unsignal(event);
	}
	return pending;
}

struct plx_pending *
plx_pending_begin(struct plx_pending_list *list, OVERLAPPED *overlapped)
{
	struct plx_pending *pending = make(list, overlapped, false);
	struct plx_file *file = list->file;

	if (!pending)
		return NULL;
	pthread_mutex_lock(&file->object.lock);
	store_status(overlapped, STATUS_PENDING, 0);
	append(list, pending);
	pthread_mutex_unlock(&file->object.lock);
	return pending;
}

struct plx_pending *
plx_pending_begin_brief(struct plx_pending_list *list, OVERLAPPED *overlapped)
{
	struct plx_pending *pending = make(list, overlapped, true);

	if (pending)
		store_status(overlapped, STATUS_PENDING, 0);
	return pending;
}

int32_t
plx_pending_refusal(void)
{
	return refusal;
}

/* Wake threads sleeping on OVERLAPPEDs of this bucket, to check again. */
static void
wake_sleepers(struct bucket *bucket)
{
	pthread_mutex_lock(&bucket->lock);
	win_waiters_wake(&bucket->waiters);
	pthread_mutex_unlock(&bucket->lock);
}

/*
 * End a request, which happens once. The request is in no list, and the file's lock is held. A
 * brief request does not need the lock, because the file outlives it and no other thread can end
 * it.
 * Returns: true: the port has taken a hold of it; without a hold of its own the caller must not
 * touch the request any more
 */
static bool
end(struct plx_pending *pending, int32_t status, uint64_t information)
{
	struct bucket *bucket = bucket_of(pending->packet.overlapped);
	struct plx_file *file = pending->file;
	/* Acquire: pairs with win_file_associate(), for the key. */
	struct win_port *port = atomic_load_explicit(&file->port, memory_order_acquire);
	bool queued = false;

	/* From here until the end is reported, threads that have seen the status wait. */
	atomic_fetch_add(&bucket->busy, 1);
	store_status(pending->packet.overlapped, status, information);
	if (pending->event) {
		win_signal(pending->event);
		win_object_release(pending->event);
	}
	if (port && !pending->event_only) {
		pending->packet.key = file->key;
		pending->packet.information = information;
		pending->packet.status = status;
		queued = win_port_push(port, &pending->packet);
	}
	win_file_tick(file);
	if (win_unlikely(atomic_fetch_sub(&bucket->busy, 1) >= SLEEPS_HERE))
		wake_sleepers(bucket);
	return queued;
}

/* Release the caller's hold of a request that another thread ended; the request holds its file. */
static void
let_go(struct plx_pending *pending)
{
	struct plx_file *file = pending->file;

	win_packet_release(&pending->packet);
	win_object_release(&file->object);
}

bool
plx_pending_finish(struct plx_pending *pending, int32_t status, uint64_t information)
{
	struct plx_file *file = pending->file;
	const bool brief = pending->brief;
	bool queued = false, ours;

	if (!brief)
		pthread_mutex_lock(&file->object.lock);
	ours = claim(pending);
	if (win_likely(ours))
		queued = end(pending, status, information);
	if (!brief)
		pthread_mutex_unlock(&file->object.lock);
	/* From here on the list, and with it the file, may no longer exist. */
	if (!ours)
		let_go(pending);
	else if (!queued)
		win_packet_release(&pending->packet);
	return ours;
}

bool
plx_pending_abandon(struct plx_pending *pending, int32_t status)
{
	struct bucket *bucket = bucket_of(pending->packet.overlapped);
	struct plx_file *file = pending->file;
	bool ours;

	pthread_mutex_lock(&file->object.lock);
	ours = claim(pending);
	if (ours) {
		store_status(pending->packet.overlapped, status, 0);
		if (pending->event)
			win_object_release(pending->event);
		/* Another request may use the same OVERLAPPED, and a thread may wait for it. */
		if (atomic_fetch_add(&bucket->busy, 0) >= SLEEPS_HERE)
			wake_sleepers(bucket);
	}
	pthread_mutex_unlock(&file->object.lock);
	if (ours)
		win_packet_release(&pending->packet);
	else
		let_go(pending);
	return ours;
}

/* Finish all, in order; the thread that began a request keeps its hold. Returns: how many */
static uint32_t
end_all(struct plx_pending_list *list, int32_t status)
{
	uint32_t count = 0;

	pthread_mutex_lock(&list->file->object.lock);
	while (list->first) {
		struct plx_pending *pending = list->first;

		unlink_from_list(pending);
		win_object_hold_again(&list->file->object);
		win_packet_hold(&pending->packet);
		if (!end(pending, status, 0))
			win_packet_release(&pending->packet);
		count++;
	}
	pthread_mutex_unlock(&list->file->object.lock);
	return count;
}

uint32_t
plx_pending_cancel_all(struct plx_pending_list *list)
{
	return end_all(list, STATUS_CANCELLED);
}

void
plx_pending_list_end(struct plx_pending_list *list, int32_t status)
{
	struct plx_file *file = list->file;

	end_all(list, status);
	list->file = NULL;
	win_object_release(&file->object);
}

void
plx_overlapped_settle(OVERLAPPED *overlapped, int32_t status)
{
	struct win_object *event;
	DWORD error = GetLastError();

	/* An error may come from hEvent; keep the thread's last error unchanged. */
	if (!hold_event(overlapped, &event))
		SetLastError(error);
	store_status(overlapped, status, 0);
	if (event) {
		if (status >= 0)
			win_signal(event);
		win_object_release(event);
	}
}

static bool
has_final_status(const OVERLAPPED *overlapped, struct bucket *bucket)
{
	(void)bucket;
	return load_status(overlapped) != STATUS_PENDING;
}

/* Is no end in progress in the bucket, this OVERLAPPED's included? */
static bool
is_told(const OVERLAPPED *overlapped, struct bucket *bucket)
{
	(void)overlapped;
	return ENDS(atomic_load(&bucket->busy)) == 0;
}

static void
sleep_until(bool (*is_so)(const OVERLAPPED *, struct bucket *), const OVERLAPPED *overlapped,
	    struct bucket *bucket)
{
	struct win_sleeper sleeper;
	struct win_waiter waiter = {.sleeper = &sleeper};

	win_sleep_begin(&sleeper);
	pthread_mutex_lock(&bucket->lock);
	win_waiters_add(&bucket->waiters, &waiter);
	pthread_mutex_unlock(&bucket->lock);
	/* Count this thread, then check: an end stores its status, then leaves the count of ends
	 * and reads the count of sleepers in one step. */
	atomic_fetch_add(&bucket->busy, SLEEPS_HERE);
	while (!is_so(overlapped, bucket))
		win_sleep(&sleeper, WIN_FOREVER);
	atomic_fetch_sub(&bucket->busy, SLEEPS_HERE);
	pthread_mutex_lock(&bucket->lock);
	win_waiters_remove(&bucket->waiters, &waiter);
	pthread_mutex_unlock(&bucket->lock);
	win_sleep_end(&sleeper);
}

/* A final status is stored a few instructions before the event and the port are notified; only then
 * does the OVERLAPPED belong to the client again. The ending thread may have lost its core: yield
 * ours. */
static void
wait_until_told(const OVERLAPPED *overlapped, struct bucket *bucket)
{
	for (int i = 0; i < YIELDS; i++) {
		if (is_told(overlapped, bucket))
			return;
		sched_yield();
	}
	sleep_until(is_told, overlapped, bucket);
}

int32_t
plx_overlapped_result(OVERLAPPED *overlapped, bool wait)
{
	struct bucket *bucket = bucket_of(overlapped);

	if (load_status(overlapped) == STATUS_PENDING) {
		if (wait)
			sleep_until(has_final_status, overlapped, bucket);
		else if (!win_pump_once() || load_status(overlapped) == STATUS_PENDING)
			return STATUS_PENDING;
	}
	wait_until_told(overlapped, bucket);
	return load_status(overlapped);
}

BOOL
GetOverlappedResult(HANDLE file, LPOVERLAPPED overlapped, LPDWORD bytes, BOOL wait)
{
	int32_t status;

	(void)file; /* the OVERLAPPED suffices */
	if (!overlapped || !bytes)
		return win_fail(ERROR_INVALID_PARAMETER);
	status = plx_overlapped_result(overlapped, wait);
	if (status == STATUS_PENDING)
		return win_fail(ERROR_IO_INCOMPLETE);
	*bytes = (DWORD)overlapped->InternalHigh;
	return status >= 0 ? TRUE : win_fail(win_error_of_status(status));
}
