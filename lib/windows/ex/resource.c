/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Resources: who has one, how often, and who waits. A lock of the C library guards that, and a
 * change wakes all who wait. What one waits for is in may_share() and may_write().
 * Start with acquire().
 */
#include "ex.h"

#include <pthread.h>
#include <stdlib.h>

enum {
	MAGIC = 0x45535245, /* it is initialized */
	ROOM = 4,           /* readers at first */
};

_Static_assert(sizeof(((ERESOURCE *)0)->lock) >= sizeof(pthread_mutex_t), "it fits");
_Static_assert(sizeof(((ERESOURCE *)0)->changed) >= sizeof(pthread_cond_t), "it fits");

/* How a reader treats writers that wait. */
enum policy {
	SHARED,
	SHARED_STARVE_EXCLUSIVE,
	SHARED_WAIT_FOR_EXCLUSIVE,
	EXCLUSIVE,
};

static pthread_mutex_t *
lock_of(PERESOURCE resource)
{
	return (pthread_mutex_t *)(void *)resource->lock;
}

static pthread_cond_t *
changed_of(PERESOURCE resource)
{
	return (pthread_cond_t *)(void *)resource->changed;
}

static void
lock(PERESOURCE resource, const char *call)
{
	if (plx_ke_checks() && resource->magic != MAGIC)
		plx_wdk_stop("%s was called for %p, which is not an initialized resource", call,
			     (void *)resource);
	pthread_mutex_lock(lock_of(resource));
}

static void
unlock(PERESOURCE resource)
{
	pthread_mutex_unlock(lock_of(resource));
}

/* Returns: NULL: it is none */
static POWNER_ENTRY
reader_of(PERESOURCE resource, ERESOURCE_THREAD thread)
{
	for (ULONG i = 0; i < resource->readers_count; i++)
		if (resource->readers[i].OwnerThread == thread)
			return &resource->readers[i];
	return NULL;
}

static POWNER_ENTRY
reader_make(PERESOURCE resource, ERESOURCE_THREAD thread)
{
	if (resource->readers_count == resource->readers_room) {
		ULONG room = resource->readers_room ? 2 * resource->readers_room : ROOM;
		POWNER_ENTRY readers = realloc(resource->readers, room * sizeof(*readers));

		if (readers == NULL)
			plx_wdk_stop("there is no memory for the readers of a resource");
		resource->readers = readers;
		resource->readers_room = room;
	}
	resource->readers[resource->readers_count] = (OWNER_ENTRY){.OwnerThread = thread};
	return &resource->readers[resource->readers_count++];
}

static bool
may_share(PERESOURCE resource, ERESOURCE_THREAD thread, enum policy policy)
{
	if (resource->writer.OwnerCount)
		return resource->writer.OwnerThread == thread;
	if (resource->waiting_writers == 0 || policy == SHARED_STARVE_EXCLUSIVE)
		return true;
	return policy == SHARED && reader_of(resource, thread);
}

static bool
may_write(PERESOURCE resource, ERESOURCE_THREAD thread)
{
	if (resource->writer.OwnerCount)
		return resource->writer.OwnerThread == thread;
	return resource->readers_count == 0;
}

static bool
may_acquire(PERESOURCE resource, ERESOURCE_THREAD thread, enum policy policy)
{
	return policy == EXCLUSIVE ? may_write(resource, thread)
				   : may_share(resource, thread, policy);
}

/* An exclusive owner stays one, also as a reader. */
static void
acquired(PERESOURCE resource, ERESOURCE_THREAD thread, enum policy policy)
{
	POWNER_ENTRY owner = &resource->writer;

	if (policy != EXCLUSIVE && resource->writer.OwnerCount == 0) {
		owner = reader_of(resource, thread);
		if (owner == NULL)
			owner = reader_make(resource, thread);
	}
	owner->OwnerThread = thread;
	owner->OwnerCount++;
}

static BOOLEAN
acquire(PERESOURCE resource, BOOLEAN wait, enum policy policy, const char *call)
{
	ERESOURCE_THREAD thread = ExGetCurrentResourceThread();
	ULONG *waiting =
		policy == EXCLUSIVE ? &resource->waiting_writers : &resource->waiting_readers;
	bool may;

	held_require_region(call);
	lock(resource, call);
	may = may_acquire(resource, thread, policy);
	if (!may && wait) {
		if (plx_ke_checks() && policy == EXCLUSIVE && reader_of(resource, thread))
			plx_wdk_stop("%s was called for %p by one of its readers, which would "
				     "wait for itself",
				     call, (void *)resource);
		++*waiting;
		while (!may_acquire(resource, thread, policy))
			pthread_cond_wait(changed_of(resource), lock_of(resource));
		--*waiting;
		may = true;
	}
	if (may)
		acquired(resource, thread, policy);
	unlock(resource);
	return may;
}

static void
release(PERESOURCE resource, ERESOURCE_THREAD thread, const char *call)
{
	POWNER_ENTRY owner;

	plx_ke_require(call, DISPATCH_LEVEL);
	lock(resource, call);
	owner = resource->writer.OwnerCount ? &resource->writer : reader_of(resource, thread);
	if (owner == NULL || owner->OwnerThread != thread)
		plx_wdk_stop("%s was called for %p by a thread that does not hold it", call,
			     (void *)resource);
	if (--owner->OwnerCount == 0) {
		if (owner != &resource->writer)
			*owner = resource->readers[--resource->readers_count];
		pthread_cond_broadcast(changed_of(resource));
	}
	unlock(resource);
}

/* ---- calls ---- */

NTSTATUS
ExInitializeResourceLite(PERESOURCE resource)
{
	memset(resource, 0, sizeof(*resource));
	pthread_mutex_init(lock_of(resource), NULL);
	pthread_cond_init(changed_of(resource), NULL);
	resource->magic = MAGIC;
	return STATUS_SUCCESS;
}

NTSTATUS
ExDeleteResourceLite(PERESOURCE resource)
{
	lock(resource, "ExDeleteResourceLite");
	if (plx_ke_checks() && (resource->writer.OwnerCount || resource->readers_count))
		plx_wdk_stop("ExDeleteResourceLite was called for %p, which is held",
			     (void *)resource);
	unlock(resource);
	pthread_mutex_destroy(lock_of(resource));
	pthread_cond_destroy(changed_of(resource));
	free(resource->readers);
	memset(resource, 0, sizeof(*resource));
	return STATUS_SUCCESS;
}

NTSTATUS
ExReinitializeResourceLite(PERESOURCE resource)
{
	ExDeleteResourceLite(resource);
	return ExInitializeResourceLite(resource);
}

BOOLEAN
ExAcquireResourceExclusiveLite(PERESOURCE resource, BOOLEAN wait)
{
	return acquire(resource, wait, EXCLUSIVE, "ExAcquireResourceExclusiveLite");
}

BOOLEAN
ExAcquireResourceSharedLite(PERESOURCE resource, BOOLEAN wait)
{
	return acquire(resource, wait, SHARED, "ExAcquireResourceSharedLite");
}

BOOLEAN
ExAcquireSharedStarveExclusive(PERESOURCE resource, BOOLEAN wait)
{
	return acquire(resource, wait, SHARED_STARVE_EXCLUSIVE, "ExAcquireSharedStarveExclusive");
}

BOOLEAN
ExAcquireSharedWaitForExclusive(PERESOURCE resource, BOOLEAN wait)
{
	return acquire(resource, wait, SHARED_WAIT_FOR_EXCLUSIVE,
		       "ExAcquireSharedWaitForExclusive");
}

VOID
ExReleaseResourceLite(PERESOURCE resource)
{
	release(resource, ExGetCurrentResourceThread(), "ExReleaseResourceLite");
}

VOID
ExReleaseResourceForThreadLite(PERESOURCE resource, ERESOURCE_THREAD thread)
{
	release(resource, thread, "ExReleaseResourceForThreadLite");
}

VOID
ExConvertExclusiveToSharedLite(PERESOURCE resource)
{
	ERESOURCE_THREAD thread = ExGetCurrentResourceThread();

	lock(resource, "ExConvertExclusiveToSharedLite");
	if (resource->writer.OwnerCount == 0 || resource->writer.OwnerThread != thread)
		plx_wdk_stop("ExConvertExclusiveToSharedLite was called for %p by a thread "
			     "that does not hold it exclusively",
			     (void *)resource);
	reader_make(resource, thread)->OwnerCount = resource->writer.OwnerCount;
	resource->writer.OwnerCount = 0;
	pthread_cond_broadcast(changed_of(resource));
	unlock(resource);
}

BOOLEAN
ExIsResourceAcquiredExclusiveLite(PERESOURCE resource)
{
	BOOLEAN is;

	lock(resource, "ExIsResourceAcquiredExclusiveLite");
	is = resource->writer.OwnerCount &&
	     resource->writer.OwnerThread == ExGetCurrentResourceThread();
	unlock(resource);
	return is;
}

ULONG
ExIsResourceAcquiredSharedLite(PERESOURCE resource)
{
	ERESOURCE_THREAD thread = ExGetCurrentResourceThread();
	POWNER_ENTRY owner;
	ULONG count = 0;

	lock(resource, "ExIsResourceAcquiredSharedLite");
	owner = resource->writer.OwnerCount ? &resource->writer : reader_of(resource, thread);
	if (owner && owner->OwnerThread == thread)
		count = owner->OwnerCount;
	unlock(resource);
	return count;
}

ULONG
ExGetExclusiveWaiterCount(PERESOURCE resource)
{
	ULONG count;

	lock(resource, "ExGetExclusiveWaiterCount");
	count = resource->waiting_writers;
	unlock(resource);
	return count;
}

ULONG
ExGetSharedWaiterCount(PERESOURCE resource)
{
	ULONG count;

	lock(resource, "ExGetSharedWaiterCount");
	count = resource->waiting_readers;
	unlock(resource);
	return count;
}

static PVOID
enter_and_acquire(PERESOURCE resource, enum policy policy, const char *call)
{
	KeEnterCriticalRegion();
	acquire(resource, TRUE, policy, call);
	return KeGetCurrentThread();
}

PVOID
ExEnterCriticalRegionAndAcquireResourceExclusive(PERESOURCE resource)
{
	return enter_and_acquire(resource, EXCLUSIVE,
				 "ExEnterCriticalRegionAndAcquireResourceExclusive");
}

PVOID
ExEnterCriticalRegionAndAcquireResourceShared(PERESOURCE resource)
{
	return enter_and_acquire(resource, SHARED, "ExEnterCriticalRegionAndAcquireResourceShared");
}

PVOID
ExEnterCriticalRegionAndAcquireSharedWaitForExclusive(PERESOURCE resource)
{
	return enter_and_acquire(resource, SHARED_WAIT_FOR_EXCLUSIVE,
				 "ExEnterCriticalRegionAndAcquireSharedWaitForExclusive");
}

VOID
ExReleaseResourceAndLeaveCriticalRegion(PERESOURCE resource)
{
	release(resource, ExGetCurrentResourceThread(), "ExReleaseResourceAndLeaveCriticalRegion");
	KeLeaveCriticalRegion();
}
