/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of threads that wait at addresses: buckets, by a hash of the address, each with a lock
 * and a list. It allocates nothing and never reads what is at an address.
 * Start with win_park_begin().
 */
#include "park.h"

enum {
	BUCKETS = 256,
	BUCKET_BITS = 8,
	CACHE_LINE = 64,
};

#define UNLOCKED                                  \
	{                                         \
		.lock = PTHREAD_MUTEX_INITIALIZER \
	}
#define FOUR(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__

static struct bucket {
	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	atomic_uint count; /* length of the list */
	struct win_waiters waiters;
} buckets[BUCKETS] = {FOUR(FOUR(FOUR(FOUR(UNLOCKED))))};

static struct bucket *
bucket_of(const volatile void *address)
{
	/* Fibonacci's multiplier: neighbours go to different buckets. */
	uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[hash >> (64 - BUCKET_BITS)];
}

static struct win_park *
park_of(struct win_waiter *waiter)
{
	return (struct win_park *)waiter;
}

void
win_park_lock(const volatile void *address)
{
	pthread_mutex_lock(&bucket_of(address)->lock);
}

void
win_park_unlock(const volatile void *address)
{
	pthread_mutex_unlock(&bucket_of(address)->lock);
}

void
win_park_begin(struct win_park *park, const volatile void *address, unsigned kind)
{
	struct bucket *bucket = bucket_of(address);

	park->address = address;
	park->kind = kind;
	park->waiter.sleeper = &park->sleeper;
	win_sleep_begin(&park->sleeper);
	win_waiters_add(&bucket->waiters, &park->waiter);
	/* Pairs with win_parked(). */
	atomic_fetch_add_explicit(&bucket->count, 1, memory_order_acq_rel);
}

/* The bucket is locked. */
static void
take_out(struct bucket *bucket, struct win_park *park)
{
	win_waiters_remove(&bucket->waiters, &park->waiter);
	atomic_fetch_sub_explicit(&bucket->count, 1, memory_order_relaxed);
}

void
win_park_cancel(struct win_park *park)
{
	take_out(bucket_of(park->address), park);
	win_sleep_end(&park->sleeper);
}

bool
win_park_sleep(struct win_park *park, uint64_t deadline_ns, bool pumping)
{
	struct bucket *bucket = bucket_of(park->address);
	bool in_time = true, woken = false;

	/* A wake removes the thread from the list; other events wake a sleeper, too. */
	while (!woken && in_time) {
		in_time = pumping ? win_sleep(&park->sleeper, deadline_ns)
				  : win_sleep_still(&park->sleeper, deadline_ns);
		pthread_mutex_lock(&bucket->lock);
		woken = !park->waiter.listed;
		if (!woken && !in_time)
			take_out(bucket, park);
		pthread_mutex_unlock(&bucket->lock);
	}
	win_sleep_end(&park->sleeper);
	return woken;
}

unsigned
win_parked(const volatile void *address)
{
	/* Add 0: a thread that adds one later acquires what this releases. */
	return atomic_fetch_add_explicit(&bucket_of(address)->count, 0, memory_order_acq_rel);
}

/* Under the lock: once it is released the sleeper may no longer exist. */
static void
wake(struct bucket *bucket, struct win_park *park)
{
	take_out(bucket, park);
	win_wake_mark(&park->sleeper);
	win_wake_call(&park->sleeper);
}

void
win_unpark(const volatile void *address, bool all)
{
	struct bucket *bucket = bucket_of(address);
	struct win_waiter *at, *next;

	if (!win_parked(address))
		return;
	win_park_lock(address);
	for (at = bucket->waiters.first; at; at = next) {
		next = at->next;
		if (park_of(at)->address != address)
			continue;
		wake(bucket, park_of(at));
		if (!all)
			break;
	}
	win_park_unlock(address);
}

bool
win_unpark_some(const volatile void *address, unsigned together)
{
	struct bucket *bucket = bucket_of(address);
	bool any = false;

	for (struct win_waiter *at = bucket->waiters.first, *next; at; at = next) {
		struct win_park *park = park_of(at);

		next = at->next;
		if (park->address != address)
			continue;
		if (any && park->kind != together)
			return true;
		any = true;
		if (park->kind == together) {
			wake(bucket, park);
			continue;
		}
		wake(bucket, park);
		together = ~park->kind; /* woken alone: all others stay */
	}
	return false;
}
