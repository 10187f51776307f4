/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads, shared by adapters that name the same worker: counted, started for the first
 * adapter and stopped after the last. Each engine of an adapter has another thread; the engines of
 * one index share theirs. The engine determines what a thread does. Start with worker_get().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

struct shared_worker {
	struct plx_list node;
	char name[16];  /* "" for an adapter's own worker */
	uint32_t index; /* of the engines that it polls, in each adapter of that name */
	struct plx_worker *thread;
	uint32_t users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list workers = {&workers, &workers};

static struct shared_worker *
find(const char *name, uint32_t index)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &workers) {
		struct shared_worker *worker = plx_list_entry(node, struct shared_worker, node);

		if (*name && worker->index == index && strcmp(worker->name, name) == 0)
			return worker;
	}
	return NULL;
}

enum {
	NAME_BYTES = 16, /* of a thread, with its end */
	INDEX_BYTES = 5, /* of ".255", likewise */
};

/* The name of a thread: of the worker or the adapter, with the index of its engines if that is not
 * 0. */
static void
name_thread(const struct host_adapter *adapter, uint32_t index, char name[static NAME_BYTES])
{
	size_t at;

	if (*adapter->options.worker)
		snprintf(name, NAME_BYTES, "%s", adapter->options.worker);
	else
		snprintf(name, NAME_BYTES, "plx-%.11s", adapter->info.name);
	at = strnlen(name, NAME_BYTES - INDEX_BYTES);
	if (index > 0)
		snprintf(name + at, INDEX_BYTES, ".%hhu", (uint8_t)index);
}

static enum plx_status
start(const struct host_adapter *adapter, uint32_t index, struct shared_worker **out,
      struct plx_why *why)
{
	struct shared_worker *worker = calloc(1, sizeof(*worker));
	int core = adapter->options.core;
	char name[NAME_BYTES];
	const struct plx_worker_config config = {
		.core = core < 0 ? core : core + (int)index,
		.idle = adapter->options.idle,
		.name = name,
	};
	enum plx_status status;

	if (!worker) {
		plx_why_set(why, "there is no memory for a worker thread");
		return PLX_NO_MEMORY;
	}
	memcpy(worker->name, adapter->options.worker, sizeof(worker->name));
	worker->index = index;
	name_thread(adapter, index, name);
	status = plx_worker_start(&config, &worker->thread, why);
	if (status != PLX_OK) {
		free(worker);
		return status;
	}
	plx_list_append(&workers, &worker->node);
	*out = worker;
	return PLX_OK;
}

/* Returns: true: no adapter uses it any more; stop it after releasing the lock */
static bool
remove_if_unused(struct shared_worker *worker)
{
	if (worker->users)
		return false;
	plx_list_remove(&worker->node);
	return true;
}

static void
stop(struct shared_worker *worker)
{
	plx_worker_stop(worker->thread);
	free(worker);
}

/* Get the thread of engine `i`. */
static enum plx_status
get_one(struct host_adapter *adapter, uint32_t i, struct plx_why *why)
{
	struct shared_worker *worker;
	enum plx_status status = PLX_OK;
	bool unused = false;

	pthread_mutex_lock(&lock);
	worker = find(adapter->options.worker, i);
	if (!worker)
		status = start(adapter, i, &worker, why);
	if (status == PLX_OK) {
		status = plx_worker_add(worker->thread, adapter->engine[i]);
		if (status != PLX_OK)
			plx_why_set(why,
				    "worker \"%s\" polls %d engines already; name another worker",
				    worker->name, PLX_WORKER_ENGINES_MAX);
	}
	if (status == PLX_OK) {
		worker->users++;
		adapter->worker[i] = worker;
	} else if (worker) {
		unused = remove_if_unused(worker);
	}
	pthread_mutex_unlock(&lock);
	if (unused)
		stop(worker);
	return status;
}

enum plx_status
worker_get(struct host_adapter *adapter, struct plx_why *why)
{
	enum plx_status status = PLX_OK;

	for (uint32_t i = 0; i < adapter->engines && status == PLX_OK; i++)
		status = get_one(adapter, i, why);
	if (status != PLX_OK)
		worker_put(adapter);
	return status;
}

enum plx_status
plx_engine_watch(struct host_adapter *adapter, uint32_t engine, int bell)
{
	if (adapter->worker[engine] == NULL)
		return PLX_STATE;
	return plx_worker_watch(adapter->worker[engine]->thread, bell);
}

void
plx_engine_unwatch(struct host_adapter *adapter, uint32_t engine, int bell)
{
	plx_worker_unwatch(adapter->worker[engine]->thread, bell);
}

static void
put_one(struct host_adapter *adapter, uint32_t i)
{
	struct shared_worker *worker = adapter->worker[i];
	bool unused;

	/* The lock is not held: a stalled worker does not block adapters with another worker. */
	plx_worker_remove(worker->thread, adapter->engine[i]);
	adapter->worker[i] = NULL;
	pthread_mutex_lock(&lock);
	worker->users--;
	unused = remove_if_unused(worker);
	pthread_mutex_unlock(&lock);
	if (unused)
		stop(worker);
}

void
worker_put(struct host_adapter *adapter)
{
	for (uint32_t i = 0; i < PLX_ENGINES_MAX; i++)
		if (adapter->worker[i])
			put_one(adapter, i);
}
