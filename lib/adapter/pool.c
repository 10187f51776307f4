/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The packet buffers of adapters. A pool outlives its adapter until all of its packets have
 * returned.
 * Start with adapter_make_pool().
 */
#include <stdatomic.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "adapter.h"

enum {
	PACKET_CACHE = 256,
};

/* When an adapter closes, another adapter may still hold some of its packets, or they may be in
 * flight on an embedded link. The pool waits here until all of them have returned. */
static struct {
	pthread_mutex_t lock;
	struct rte_mempool *pool[PLX_ADAPTERS_MAX];
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool
is_whole(struct rte_mempool *pool)
{
	return rte_mempool_avail_count(pool) == pool->populated_size;
}

static void
sweep_pools(void)
{
	pthread_mutex_lock(&waiting.lock);
	for (uint32_t i = 0; i < PLX_ADAPTERS_MAX; i++) {
		if (waiting.pool[i] && is_whole(waiting.pool[i])) {
			rte_mempool_free(waiting.pool[i]);
			waiting.pool[i] = NULL;
		}
	}
	pthread_mutex_unlock(&waiting.lock);
}

/* If all slots are occupied by pools whose packets never return, the pool is leaked. */
void
adapter_release_pool(struct rte_mempool *pool)
{
	sweep_pools();
	if (!pool)
		return;
	if (is_whole(pool)) {
		rte_mempool_free(pool);
		return;
	}
	pthread_mutex_lock(&waiting.lock);
	for (uint32_t i = 0; i < PLX_ADAPTERS_MAX; i++) {
		if (!waiting.pool[i]) {
			waiting.pool[i] = pool;
			break;
		}
	}
	pthread_mutex_unlock(&waiting.lock);
}

enum plx_status
adapter_make_pool(struct host_adapter *adapter, int socket, struct plx_why *why)
{
	static atomic_uint number;
	const struct plx_adapter_options *options = &adapter->options;
	char name[RTE_MEMPOOL_NAMESIZE];

	sweep_pools();
	snprintf(name, sizeof(name), "plx_%u", atomic_fetch_add(&number, 1));
	adapter->pool = rte_pktmbuf_pool_create(name, options->packets, PACKET_CACHE, 0,
						ADAPTER_PACKET_ROOM, socket);
	if (adapter->pool)
		return PLX_OK;
	plx_why_set(why,
		    "there is no memory for %u packet buffers of %u bytes (%s); set packets lower, "
		    "or %s",
		    options->packets, ADAPTER_PACKET_ROOM, rte_strerror(rte_errno),
		    eal_has_hugepages() ? "reserve more hugepages"
					: "give the EAL more by eal = \"--no-huge -m 4096\"");
	return PLX_NO_MEMORY;
}
