/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for objects that have a signal (events and threads): for one of several, or for all.
 * Setting a signal wakes all watchers. Each of them then tries to consume it; nothing is handed
 * over, so nothing is lost. Start with wait_for().
 */
#include "win_objects.h"

#include <synchapi.h>
#include <sys/eventfd.h>
#include <unistd.h>

void
win_fd_follow(struct win_object *object, bool level)
{
	eventfd_t value;

	if (object->fd < 0 || level == object->fd_level)
		return;
	/* Neither call blocks: the value is 0 or 1, and another reader leaves nothing to read. */
	if (level)
		eventfd_write(object->fd, 1);
	else
		eventfd_read(object->fd, &value);
	object->fd_level = level;
}

void
win_signal_told(struct win_object *object)
{
	bool level;

	pthread_mutex_lock(&object->lock);
	level = atomic_load(&object->state) & WIN_SIGNALLED;
	if (level)
		win_waiters_wake(&object->waiters);
	win_fd_follow(object, level);
	pthread_mutex_unlock(&object->lock);
}

int
plx_handle_fd(HANDLE handle)
{
	struct win_object *object = win_object_hold(handle, WIN_ANY);
	int fd;

	if (!object)
		return -1;
	pthread_mutex_lock(&object->lock);
	if (object->fd < 0) {
		object->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (object->fd >= 0) {
			unsigned state = atomic_fetch_or(&object->state, WIN_POLLED);

			if (object->kind == WIN_PORT)
				win_fd_follow(object, win_port_has_packets(object));
			else if (object->kind != WIN_FILE)
				win_fd_follow(object, state & WIN_SIGNALLED);
		}
	}
	fd = object->fd;
	pthread_mutex_unlock(&object->lock);
	win_object_release(object);
	if (fd < 0)
		win_fail(ERROR_NO_SYSTEM_RESOURCES);
	return fd;
}

/* Is it signalled? If so, reset an automatic event. */
static bool
take(struct win_object *object)
{
	unsigned state = atomic_load_explicit(&object->state, memory_order_acquire);

	if (!(state & WIN_SIGNALLED))
		return false;
	if (!object->automatic)
		return true;
	while (state & WIN_SIGNALLED)
		if (atomic_compare_exchange_weak(&object->state, &state,
						 state & ~(unsigned)WIN_SIGNALLED)) {
			if (state & WIN_POLLED)
				win_signal_told(object);
			return true;
		}
	return false;
}

/* Returns: the first one acquired, or `n` */
static DWORD
take_any(struct win_object *const *objects, DWORD n)
{
	for (DWORD i = 0; i < n; i++)
		if (take(objects[i]))
			return i;
	return n;
}

/* Returns: 0: all were acquired; n: none was */
static DWORD
take_all(struct win_object *const *objects, DWORD n)
{
	DWORD taken = 0;

	for (DWORD i = 0; i < n; i++)
		if (!(atomic_load(&objects[i]->state) & WIN_SIGNALLED))
			return n;
	while (taken < n && take(objects[taken]))
		taken++;
	if (taken == n)
		return 0;
	/* Another thread acquired one of them first: release the others. */
	while (taken > 0)
		if (objects[--taken]->automatic)
			win_signal(objects[taken]);
	return n;
}

struct wait {
	struct win_object *objects[MAXIMUM_WAIT_OBJECTS];
	struct win_waiter waiters[MAXIMUM_WAIT_OBJECTS];
	struct win_sleeper sleeper;
	DWORD n;
	DWORD (*take)(struct win_object *const *objects, DWORD n);
};

static void
watch(struct wait *wait)
{
	win_sleep_begin(&wait->sleeper);
	for (DWORD i = 0; i < wait->n; i++) {
		struct win_object *object = wait->objects[i];

		wait->waiters[i].sleeper = &wait->sleeper;
		pthread_mutex_lock(&object->lock);
		win_waiters_add(&object->waiters, &wait->waiters[i]);
		atomic_fetch_or(&object->state, WIN_WATCHED);
		pthread_mutex_unlock(&object->lock);
	}
}

static void
unwatch(struct wait *wait)
{
	for (DWORD i = 0; i < wait->n; i++) {
		struct win_object *object = wait->objects[i];

		pthread_mutex_lock(&object->lock);
		win_waiters_remove(&object->waiters, &wait->waiters[i]);
		if (!object->waiters.first)
			atomic_fetch_and(&object->state, ~(unsigned)WIN_WATCHED);
		pthread_mutex_unlock(&object->lock);
	}
	win_sleep_end(&wait->sleeper);
}

/* Returns: the index acquired (0 for all); n: timeout */
static DWORD
wait_for(struct wait *wait, DWORD milliseconds)
{
	uint64_t deadline_ns;
	DWORD taken = wait->take(wait->objects, wait->n);
	bool awake = true;

	if (taken != wait->n)
		return taken;
	for (DWORD i = 0; i < wait->n; i++)
		win_pumps_mine(atomic_load(&wait->objects[i]->pumps));
	if (!milliseconds) {
		if (win_pump_once())
			taken = wait->take(wait->objects, wait->n);
		return taken;
	}
	deadline_ns = win_deadline(milliseconds);
	watch(wait);
	/* Check once more after the timeout: a signal may have arrived with it. */
	while ((taken = wait->take(wait->objects, wait->n)) == wait->n && awake)
		awake = win_sleep(&wait->sleeper, deadline_ns);
	unwatch(wait);
	return taken;
}

/* Only objects with their own signal can be waited for. */
static struct win_object *
hold_waitable(HANDLE handle)
{
	struct win_object *object = win_object_hold(handle, WIN_ANY);

	if (object && object->kind != WIN_EVENT && object->kind != WIN_THREAD) {
		win_object_release(object);
		win_fail(ERROR_INVALID_HANDLE);
		return NULL;
	}
	return object;
}

static DWORD
wait_for_handles(DWORD n, const HANDLE *handles, BOOL all, DWORD milliseconds)
{
	struct wait wait;
	DWORD result = WAIT_FAILED;

	wait.take = all ? take_all : take_any;
	wait.n = 0;
	while (wait.n < n && (wait.objects[wait.n] = hold_waitable(handles[wait.n])))
		wait.n++;
	if (wait.n == n) {
		DWORD taken = wait_for(&wait, milliseconds);

		result = taken == n ? (DWORD)WAIT_TIMEOUT : WAIT_OBJECT_0 + taken;
	}
	while (wait.n > 0)
		win_object_release(wait.objects[--wait.n]);
	return result;
}

DWORD
WaitForMultipleObjects(DWORD n, const HANDLE *handles, BOOL all, DWORD milliseconds)
{
	bool wrong = !n || n > MAXIMUM_WAIT_OBJECTS || !handles;

	/* Waiting for all requires different objects. */
	for (DWORD i = 1; !wrong && all && i < n; i++)
		for (DWORD j = 0; j < i; j++)
			wrong |= handles[i] == handles[j];
	if (wrong) {
		win_fail(ERROR_INVALID_PARAMETER);
		return WAIT_FAILED;
	}
	return wait_for_handles(n, handles, all, milliseconds);
}

DWORD
WaitForSingleObject(HANDLE handle, DWORD milliseconds)
{
	return wait_for_handles(1, &handle, FALSE, milliseconds);
}

DWORD
WaitForSingleObjectEx(HANDLE handle, DWORD milliseconds, BOOL alertable)
{
	/* APCs are not supported, so no wait is alerted. */
	(void)alertable;
	return wait_for_handles(1, &handle, FALSE, milliseconds);
}

DWORD
WaitForMultipleObjectsEx(DWORD n, const HANDLE *handles, BOOL all, DWORD milliseconds,
			 BOOL alertable)
{
	(void)alertable;
	return WaitForMultipleObjects(n, handles, all, milliseconds);
}

DWORD
SleepEx(DWORD milliseconds, BOOL alertable)
{
	(void)alertable;
	Sleep(milliseconds);
	return 0;
}
