/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Libraries that have a DllMain(), and threads that notify them of their start and end. It owns the
 * list of these libraries, in the order in which they were attached. It never loads one. A
 * constructor or destructor never waits here for a thread that may be waiting for the C library's
 * loader. Start with win_dll_tell().
 *
 * Lock order: the loader lock of library.c, then the C library's own, then this list's, which is
 * not held across calls. dlopen() runs a library's constructor with the C library's lock held, so
 * the constructor takes only the list's. A reference of the loader, taken before the library's
 * entry is read, keeps a library in memory while it is notified.
 */
#include "loader.h"
#include "plx_catalog.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
	PATH_BYTES_MAX = 4096, /* the kernel's limit */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct plx_dll *dlls; /* sorted by id; ids are not reused */
static uint64_t last_id;
static atomic_uint count;

/* A library being notified, and the reference that keeps it. */
struct telling {
	struct plx_dll *dll;
	void *pin;
};

void
plx_dll_begin(struct plx_dll *dll, plx_dll_main_fn *main, void *instance, const char *path)
{
	struct plx_dll **at = &dlls;

	pthread_mutex_lock(&list_lock);
	while (*at)
		at = &(*at)->next;
	*at = dll;
	*dll = (struct plx_dll){
		.main = main,
		.instance = instance,
		.path = path,
		.id = ++last_id,
		.by = pthread_self(),
	};
	atomic_fetch_add(&count, 1);
	pthread_mutex_unlock(&list_lock);
}

void
plx_dll_ready(struct plx_dll *dll)
{
	pthread_mutex_lock(&list_lock);
	dll->ready = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&list_lock);
}

void
plx_dll_end(struct plx_dll *dll)
{
	struct plx_dll **at = &dlls;

	pthread_mutex_lock(&list_lock);
	while (*at && *at != dll)
		at = &(*at)->next;
	if (*at) {
		*at = dll->next;
		atomic_fetch_sub(&count, 1);
	}
	/* the library refused: threads need not wait for it */
	pthread_cond_broadcast(&changed);
	/* This only waits at the end of the process: no thread is in a library that dlclose()
	 * removes. */
	while (dll->calls && !pthread_equal(dll->by, pthread_self()))
		pthread_cond_wait(&changed, &list_lock);
	pthread_mutex_unlock(&list_lock);
}

/* The library whose DllMain() another thread is running for DLL_PROCESS_ATTACH; the list is locked.
 */
static bool
one_is_attached(void)
{
	for (const struct plx_dll *dll = dlls; dll; dll = dll->next)
		if (!dll->ready && !pthread_equal(dll->by, pthread_self()))
			return true;
	return false;
}

/* The library after `id`, up to the id `last`; the list is locked. */
static struct plx_dll *
next_of(uint32_t reason, uint64_t id, uint64_t last)
{
	struct plx_dll *found = NULL;

	for (struct plx_dll *dll = dlls; dll; dll = dll->next) {
		if (!dll->ready || dll->quiet)
			continue;
		if (reason == DLL_THREAD_DETACH && dll->id < id)
			found = dll;
		if (reason == DLL_THREAD_ATTACH && dll->id > id && dll->id <= last && !found)
			found = dll;
	}
	return found;
}

/* The library may have been unloaded before it was pinned, and another may be at its address. */
static bool
is_there(const struct plx_dll *wanted, uint64_t id)
{
	const struct plx_dll *dll = dlls;

	while (dll && (dll != wanted || dll->id != id))
		dll = dll->next;
	return dll && !dll->quiet;
}

static void
told(void *argument)
{
	struct telling *telling = argument;

	pthread_mutex_lock(&list_lock);
	telling->dll->calls--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&list_lock);
	win_library_close(telling->pin);
}

static void
tell_one(struct telling *telling, uint32_t reason)
{
	pthread_cleanup_push(told, telling);
	/* its result has no meaning for threads */
	telling->dll->main(telling->dll->instance, reason, NULL);
	pthread_cleanup_pop(1);
}

/* This thread holds the loader lock. */
static void
tell_all(uint32_t reason)
{
	char path[PATH_BYTES_MAX];
	struct telling next;
	uint64_t id, last;

	pthread_mutex_lock(&list_lock);
	last = last_id;
	id = reason == DLL_THREAD_ATTACH ? 0 : last + 1;
	while ((next.dll = next_of(reason, id, last))) {
		id = next.dll->id;
		snprintf(path, sizeof(path), "%s", next.dll->path);
		pthread_mutex_unlock(&list_lock);
		next.pin = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
		pthread_mutex_lock(&list_lock);
		if (next.pin && is_there(next.dll, id)) {
			next.dll->calls++;
			next.dll->by = pthread_self();
			pthread_mutex_unlock(&list_lock);
			tell_one(&next, reason);
			pthread_mutex_lock(&list_lock);
		} else if (next.pin) {
			pthread_mutex_unlock(&list_lock);
			win_library_close(next.pin);
			pthread_mutex_lock(&list_lock);
		}
	}
	pthread_mutex_unlock(&list_lock);
}

void
win_dll_tell(uint32_t reason)
{
	if (!atomic_load(&count))
		return;
	/* A thread created by a DllMain() starts when that has returned. It waits without the
	 * loader lock, which that DllMain() may need. */
	pthread_mutex_lock(&list_lock);
	while (reason == DLL_THREAD_ATTACH && one_is_attached())
		pthread_cond_wait(&changed, &list_lock);
	pthread_mutex_unlock(&list_lock);
	win_library_lock();
	pthread_cleanup_push(win_library_unlock, NULL);
	tell_all(reason);
	pthread_cleanup_pop(1);
}

BOOL
DisableThreadLibraryCalls(HMODULE library)
{
	bool found = false;

	pthread_mutex_lock(&list_lock);
	for (struct plx_dll *dll = dlls; dll && library; dll = dll->next) {
		if (dll->instance == (void *)library) {
			dll->quiet = true;
			found = true;
		}
	}
	pthread_mutex_unlock(&list_lock);
	if (found || win_library_is_known(library))
		return TRUE;
	return win_fail(library ? ERROR_MOD_NOT_FOUND : ERROR_INVALID_HANDLE);
}
