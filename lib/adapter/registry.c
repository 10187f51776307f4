/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The adapters of this process. Names are unique. Readers from outside (telemetry) hold a lock that
 * closing an adapter requires.
 * It never calls an engine. Start with registry_reserve().
 */
#include <string.h>

#include "adapter.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list adapters = {&adapters, &adapters};
static uint32_t count;

enum plx_status
registry_reserve(struct host_adapter *adapter)
{
	enum plx_status status = PLX_OK;
	struct plx_list *node, *after;

	pthread_mutex_lock(&lock);
	if (count == PLX_ADAPTERS_MAX)
		status = PLX_FULL;
	plx_list_for_each (node, after, &adapters) {
		const struct host_adapter *other = plx_list_entry(node, struct host_adapter, node);

		if (strcmp(other->info.name, adapter->info.name) == 0)
			status = PLX_BUSY;
	}
	if (status == PLX_OK) {
		plx_list_append(&adapters, &adapter->node);
		count++;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void
registry_publish(struct host_adapter *adapter)
{
	pthread_mutex_lock(&lock);
	adapter->visible = true;
	pthread_mutex_unlock(&lock);
}

void
registry_hide(struct host_adapter *adapter)
{
	pthread_mutex_lock(&lock);
	adapter->visible = false;
	pthread_mutex_unlock(&lock);
}

void
registry_remove(struct host_adapter *adapter)
{
	pthread_mutex_lock(&lock);
	plx_list_remove(&adapter->node);
	count--;
	pthread_mutex_unlock(&lock);
}

uint32_t
registry_visit(const char *name, void (*visit)(struct host_adapter *adapter, void *context),
	       void *context)
{
	struct plx_list *node, *after;
	uint32_t visited = 0;

	pthread_mutex_lock(&lock);
	plx_list_for_each (node, after, &adapters) {
		struct host_adapter *adapter = plx_list_entry(node, struct host_adapter, node);

		if (!adapter->visible || (name && strcmp(name, adapter->info.name) != 0))
			continue;
		visit(adapter, context);
		visited++;
	}
	pthread_mutex_unlock(&lock);
	return visited;
}
