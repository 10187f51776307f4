/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads, shared by adapters that name the same worker: counted, started for the first
 * adapter and stopped after the last. The engine determines what a thread does.
 * Start with worker_get().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

struct shared_worker {
	struct plx_list node;
	char name[16]; /* "" for an adapter's own worker */
	struct plx_worker *thread;
	uint32_t users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list workers = {&workers, &workers};

static struct shared_worker *
find(const char *name)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &workers) {
		struct shared_worker *worker = plx_list_entry(node, struct shared_worker, node);

		if (*name && strcmp(worker->name, name) == 0)
			return worker;
	}
	return NULL;
}

static enum plx_status
start(const struct host_adapter *adapter, struct shared_worker **out, struct plx_why *why)
{
	struct shared_worker *worker = calloc(1, sizeof(*worker));
	char name[16];
	const struct plx_worker_config config = {
		.core = adapter->options.core,
		.idle = adapter->options.idle,
		.name = name,
	};
	enum plx_status status;

	if (!worker) {
		plx_why_set(why, "there is no memory for a worker thread");
		return PLX_NO_MEMORY;
	}
	memcpy(worker->name, adapter->options.worker, sizeof(worker->name));
	if (*worker->name)
		snprintf(name, sizeof(name), "%s", worker->name);
	else
		snprintf(name, sizeof(name), "plx-%.11s", adapter->info.name);
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

enum plx_status
worker_get(struct host_adapter *adapter, struct plx_why *why)
{
	struct shared_worker *worker;
	enum plx_status status = PLX_OK;
	bool unused = false;
	uint32_t added = 0;

	pthread_mutex_lock(&lock);
	worker = find(adapter->options.worker);
	if (!worker)
		status = start(adapter, &worker, why);
	while (status == PLX_OK && added < adapter->engines) {
		status = plx_worker_add(worker->thread, adapter->engine[added]);
		added += status == PLX_OK;
		if (status != PLX_OK)
			plx_why_set(why,
				    "worker \"%s\" polls %d engines already; name another worker",
				    worker->name, PLX_WORKER_ENGINES_MAX);
	}
	if (status == PLX_OK) {
		worker->users++;
		adapter->worker = worker;
	} else if (worker) {
		while (added)
			plx_worker_remove(worker->thread, adapter->engine[--added]);
		unused = remove_if_unused(worker);
	}
	pthread_mutex_unlock(&lock);
	if (unused)
		stop(worker);
	return status;
}

void
worker_put(struct host_adapter *adapter)
{
	struct shared_worker *worker = adapter->worker;
	bool unused;

	if (!worker)
		return;
	/* The lock is not held: a stalled worker does not block adapters with another worker. */
	for (uint32_t i = 0; i < adapter->engines; i++)
		plx_worker_remove(worker->thread, adapter->engine[i]);
	adapter->worker = NULL;
	pthread_mutex_lock(&lock);
	worker->users--;
	unused = remove_if_unused(worker);
	pthread_mutex_unlock(&lock);
	if (unused)
		stop(worker);
}
