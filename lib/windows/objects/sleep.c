/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a thread waits: on its own futex, or by calling its pumps; and the table of pumps.
 * It does not know what is waited for, and holds no lock while a pump runs.
 * Start with win_sleep().
 */
#include "win_objects.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS_PER_YIELD = 32, /* of pumps that found nothing */
	NS_PER_SECOND = 1000000000,
	NS_PER_MS = 1000000,
};

/* A pump's slot. `fn` NULL: free, unless a thread is still inside. */
struct plx_pump {
	_Atomic(plx_pump_fn *) fn;
	void *context;
	_Atomic(const void *)
		owner; /* `me` of the thread that calls it; NULL: the thread that waits next */
	atomic_uint inside;
	bool leaving; /* being removed; protected by pump_lock */
};

static struct plx_pump pumps[PLX_PUMPS_MAX];
static atomic_uint pump_count;
static pthread_mutex_t pump_lock = PTHREAD_MUTEX_INITIALIZER;

/* All sleepers, so that a pump whose thread ends finds a new owner. */
static struct win_sleeper *sleepers;
static pthread_mutex_t sleepers_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread char me;                  /* its address identifies the thread */
static __thread struct plx_pump *pumping; /* the pump that this thread is in */
static __thread bool never_pumps;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t
win_deadline(DWORD milliseconds)
{
	return milliseconds == INFINITE ? WIN_FOREVER
					: now_ns() + (uint64_t)milliseconds * NS_PER_MS;
}

void
win_sleep_begin(struct win_sleeper *sleeper)
{
	atomic_init(&sleeper->woken, 0);
	sleeper->previous = NULL;
	pthread_mutex_lock(&sleepers_lock);
	sleeper->next = sleepers;
	if (sleepers)
		sleepers->previous = sleeper;
	sleepers = sleeper;
	pthread_mutex_unlock(&sleepers_lock);
}

void
win_sleep_end(struct win_sleeper *sleeper)
{
	pthread_mutex_lock(&sleepers_lock);
	if (sleeper->previous)
		sleeper->previous->next = sleeper->next;
	else
		sleepers = sleeper->next;
	if (sleeper->next)
		sleeper->next->previous = sleeper->previous;
	pthread_mutex_unlock(&sleepers_lock);
}

static long
futex(atomic_uint *word, int operation, unsigned value, const struct timespec *deadline)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, deadline, NULL,
		       FUTEX_BITSET_MATCH_ANY);
}

void
win_wake_call(struct win_sleeper *sleeper)
{
	futex(&sleeper->woken, FUTEX_WAKE, INT_MAX, NULL);
}

void
win_waiters_add(struct win_waiters *list, struct win_waiter *waiter)
{
	waiter->next = NULL;
	waiter->previous = list->last;
	if (list->last)
		list->last->next = waiter;
	else
		list->first = waiter;
	list->last = waiter;
	waiter->listed = true;
}

void
win_waiters_remove(struct win_waiters *list, struct win_waiter *waiter)
{
	if (!waiter->listed)
		return;
	if (waiter->previous)
		waiter->previous->next = waiter->next;
	else
		list->first = waiter->next;
	if (waiter->next)
		waiter->next->previous = waiter->previous;
	else
		list->last = waiter->previous;
	waiter->listed = false;
}

void
win_waiters_wake(struct win_waiters *list)
{
	for (struct win_waiter *one = list->first; one; one = one->next) {
		win_wake_mark(one->sleeper);
		win_wake_call(one->sleeper);
	}
}

/* Sleep while `woken` is 0. */
bool
win_sleep_still(struct win_sleeper *sleeper, uint64_t deadline_ns)
{
	struct timespec until = {(time_t)(deadline_ns / NS_PER_SECOND),
				 (long)(deadline_ns % NS_PER_SECOND)};

	while (!atomic_exchange_explicit(&sleeper->woken, 0, memory_order_acquire)) {
		long done = futex(&sleeper->woken, FUTEX_WAIT_BITSET, 0,
				  deadline_ns == WIN_FOREVER ? NULL : &until);

		if (done && errno == ETIMEDOUT)
			return false;
	}
	return true;
}

/* ---- owners of pumps ---- */

static void
wake_all_sleepers(void)
{
	pthread_mutex_lock(&sleepers_lock);
	for (struct win_sleeper *one = sleepers; one; one = one->next) {
		win_wake_mark(one);
		win_wake_call(one);
	}
	pthread_mutex_unlock(&sleepers_lock);
}

/* An owner ends: a new thread may have its `me` at the same address, and would be taken for it. */
static void
owner_ends(void *context)
{
	bool left = false;

	for (unsigned i = 0; i < PLX_PUMPS_MAX; i++) {
		const void *ours = context;

		left |= atomic_compare_exchange_strong(&pumps[i].owner, &ours, NULL);
	}
	if (left)
		wake_all_sleepers();
}

static pthread_key_t end_of_owner;

static void
make_key(void)
{
	if (pthread_key_create(&end_of_owner, owner_ends) != 0)
		abort();
}

static void
become_owner(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread bool known;

	if (known)
		return;
	pthread_once(&once, make_key);
	known = pthread_setspecific(end_of_owner, &me) == 0;
}

/* Does this thread own the pump? An ownerless pump becomes its own. */
static bool
is_ours(struct plx_pump *pump)
{
	const void *owner = atomic_load(&pump->owner);

	if (owner)
		return owner == &me;
	become_owner();
	return atomic_compare_exchange_strong(&pump->owner, &owner, &me);
}

void
plx_pump_claim(struct plx_pump *pump)
{
	if (win_likely(atomic_load_explicit(&pump->owner, memory_order_relaxed) == &me))
		return;
	become_owner();
	atomic_store(&pump->owner, &me);
	/* A thread inside checked earlier; a thread that arrives checks again, inside. */
	while (atomic_load(&pump->inside) > (pump == pumping ? 1U : 0U))
		sched_yield();
}

unsigned
win_pump_bit(const struct plx_pump *pump)
{
	return 1u << (pump - pumps);
}

void
win_pumps_mine(unsigned these)
{
	if (win_likely(!these) || never_pumps || pumping)
		return;
	for (unsigned i = 0; i < PLX_PUMPS_MAX; i++)
		if (these & 1u << i)
			plx_pump_claim(&pumps[i]);
}

/* ---- calling pumps ---- */

/* Enter before checking: a thread that removes or claims the pump checks for us afterwards. */
static bool
call_pump(struct plx_pump *pump)
{
	plx_pump_fn *fn;

	atomic_fetch_add(&pump->inside, 1);
	fn = atomic_load(&pump->fn);
	if (fn && !is_ours(pump))
		fn = NULL;
	if (fn) {
		pumping = pump;
		fn(pump->context);
		pumping = NULL;
	}
	atomic_fetch_sub(&pump->inside, 1);
	return fn != NULL;
}

/* Call every pump of this thread once. Returns: false: it has none */
static bool
pump_all(void)
{
	bool any = false;

	if (never_pumps || pumping || !atomic_load(&pump_count))
		return false;
	for (unsigned i = 0; i < PLX_PUMPS_MAX; i++) {
		const void *owner = atomic_load_explicit(&pumps[i].owner, memory_order_relaxed);

		if (atomic_load_explicit(&pumps[i].fn, memory_order_relaxed) &&
		    (!owner || owner == &me))
			any |= call_pump(&pumps[i]);
	}
	return any;
}

bool
win_pump_once(void)
{
	return pump_all();
}

void
win_pump_never(void)
{
	never_pumps = true;
}

bool
win_sleep(struct win_sleeper *sleeper, uint64_t deadline_ns)
{
	static __thread unsigned rounds;

	if (!pump_all())
		return win_sleep_still(sleeper, deadline_ns);
	atomic_exchange_explicit(&sleeper->woken, 0, memory_order_acq_rel);
	if (++rounds % ROUNDS_PER_YIELD == 0)
		sched_yield();
	return deadline_ns == WIN_FOREVER || now_ns() < deadline_ns;
}

struct plx_pump *
plx_pump_add(plx_pump_fn *fn, void *context)
{
	struct plx_pump *free_one = NULL;

	become_owner();
	pthread_mutex_lock(&pump_lock);
	for (unsigned i = 0; i < PLX_PUMPS_MAX && !free_one; i++)
		if (!atomic_load(&pumps[i].fn) && !pumps[i].leaving)
			free_one = &pumps[i];
	if (free_one) {
		free_one->context = context;
		atomic_store(&free_one->owner, &me);
		atomic_store(&free_one->fn, fn);
		atomic_fetch_add(&pump_count, 1);
	}
	pthread_mutex_unlock(&pump_lock);
	return free_one;
}

void
plx_pump_remove(plx_pump_fn *fn, void *context)
{
	struct plx_pump *found = NULL;

	pthread_mutex_lock(&pump_lock);
	for (unsigned i = 0; i < PLX_PUMPS_MAX && !found; i++)
		if (atomic_load(&pumps[i].fn) == fn && pumps[i].context == context)
			found = &pumps[i];
	if (found) {
		found->leaving = true;
		atomic_store(&found->fn, NULL);
		atomic_fetch_sub(&pump_count, 1);
	}
	pthread_mutex_unlock(&pump_lock);
	if (!found)
		return;
	win_objects_leave_pump(win_pump_bit(found));
	/* Without the lock: a thread inside may add and remove pumps. */
	while (atomic_load(&found->inside) > (found == pumping ? 1U : 0U))
		sched_yield();
	pthread_mutex_lock(&pump_lock);
	found->leaving = false;
	pthread_mutex_unlock(&pump_lock);
}

VOID
Sleep(DWORD milliseconds)
{
	struct win_sleeper sleeper;
	uint64_t deadline_ns = win_deadline(milliseconds);

	if (!milliseconds) {
		win_pump_once();
		sched_yield();
		return;
	}
	win_sleep_begin(&sleeper);
	while (win_sleep(&sleeper, deadline_ns))
		;
	win_sleep_end(&sleeper);
}
