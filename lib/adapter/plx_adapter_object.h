/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An open adapter as seen by the rooms whose objects belong to it. Not installed.
 * Start with struct plx_adapter: every object points to one.
 */
#ifndef PLX_ADAPTER_OBJECT_H
#define PLX_ADAPTER_OBJECT_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plx_adapter.h"
#include "plx_engine.h"
#include "plx_link.h"
#include "plx_thread.h"

struct plx_ethdev;
struct shared_worker;

/* Live objects of an adapter. It can be closed when all are 0. */
struct plx_object_counts {
	atomic_uint pds, mrs, mws, cqs, srqs, qps, ahs, event_channels, listeners, connectors;
};

/* A slot for an object that the engine identifies by number, and how often the slot was
 * allocated. */
struct plx_cookie_slot {
	void *object; /* NULL: free */
	uint32_t generation, next_free;
};

struct plx_cookie_table {
	struct plx_cookie_slot *slot;
	uint32_t size, first_free; /* first_free == size: no free slot */
};

struct plx_adapter {
	/* read on the hot path, never written after the open */
	struct plx_engine *engine[PLX_ENGINES_MAX];
	uint32_t engines;
	bool inline_mode;
	struct plx_mem *mem;
	struct rte_rcu_qsbr *rcu; /* engine `i` is thread `i`; NULL in inline mode */

	struct plx_object_counts count;
	/* serializes changes of the key table (except the end of a region's life) and of `qps`;
	 * never held while waiting for an engine */
	pthread_mutex_t lock;
	struct plx_list qps; /* by plx_engine_qp_link() */
	struct plx_cookie_table cookies;
	atomic_uint next_port; /* for connectors that did not choose one */

	uint32_t path_mtu;
	struct plx_adapter_options options;
	struct plx_net_config net_config;
	struct plx_adapter_info info;

	/* private to setup.c */
	struct plx_list node; /* in the list of open adapters */
	struct plx_net *net[PLX_ENGINES_MAX];
	struct plx_cm *cm;
	void *cm_memory;
	void *mem_memory;
	size_t net_bytes, cm_bytes, mem_bytes;
	struct plx_secret secret; /* used during adapter_setup(); then zeros */
	struct rte_mempool *pool;
	struct plx_ethdev *dev;
	struct shared_worker *worker; /* NULL in inline mode */
	bool visible;                 /* private to registry.c */
	int async_fd; /* an epoll set of the engines' descriptors for asynchronous events */
	bool wire_attached;
	bool needs_dma_map;
	uint64_t dma_refused;     /* regions that the device's IOMMU refused to map */
	char dma_refused_why[96]; /* reason for the last refusal */
};

/**
 * Map registered memory for the device, if the device needs that: a physical device behind an IOMMU
 * or with its own address space, and memory in hugepages. Call without locks.
 *
 * A refusal does not fail a registration, since packets are copied; it increments dma_refused.
 * Returns: true: plx_adapter_unmap_memory() has to be called later
 */
bool plx_adapter_map_memory(struct plx_adapter *adapter, void *memory, size_t length);
void plx_adapter_unmap_memory(struct plx_adapter *adapter, void *memory, size_t length);

/** plx_adapter_poll() under a name that no program can interpose. Hot. */
__attribute__((visibility("hidden"))) uint32_t plx_adapter_run(struct plx_adapter *adapter);

/** The engine of the adapter's queues. All queues of a queue pair must be on one engine. */
static inline struct plx_engine *
plx_adapter_home(struct plx_adapter *adapter)
{
	return adapter->engine[0];
}

/* ---- cookies ---- */

/** Allocate a number that identifies an object while it is alive.
 * Returns: 0: no memory */
uint64_t plx_cookie_alloc(struct plx_adapter *adapter, void *object);
void plx_cookie_set(struct plx_adapter *adapter, uint64_t cookie, void *object);
void plx_cookie_free(struct plx_adapter *adapter, uint64_t cookie);
/** The adapter's lock is held.
 * Returns: NULL: destroyed meanwhile */
void *plx_cookie_find(const struct plx_adapter *adapter, uint64_t cookie);

/* ---- waiting ---- */

/** Nanoseconds on the system's steady clock. */
uint64_t plx_steady_ns(void);
/** Pause before asking the engine again. In inline mode the caller is the engine: poll it.
 * @param ns in worker mode, how long to sleep */
void plx_adapter_pause(struct plx_adapter *adapter, uint64_t ns);

/** After a key became invalid: get the token to pass to plx_engines_wait() until no engine can use
 * the key. */
uint64_t plx_engines_token(struct plx_adapter *adapter);

/** Errors: TIMEOUT (an engine has not completed a duty cycle within that time) */
enum plx_status plx_engines_wait(struct plx_adapter *adapter, uint64_t token,
				 uint64_t timeout_ns) PLX_MUST_CHECK;

/* ---- text ---- */

/* The text of an address; "none" if there is none. */
struct plx_address_text {
	char s[INET6_ADDRSTRLEN];
};
struct plx_address_text plx_address_text(const struct plx_ip *ip);

#endif
