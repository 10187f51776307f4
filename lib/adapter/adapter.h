/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that the files of this room share: the EAL, the list of open adapters, their worker
 * threads, setup. It owns no state. Start with adapter_setup().
 */
#ifndef PLX_ADAPTER_PRIVATE_H
#define PLX_ADAPTER_PRIVATE_H

#include "plx_adapter_object.h"
#include "plx_ethdev.h"
#include "plx_heap.h"
#include "plx_net_wire.h"
#include "plx_worker.h"

/* ---- eal.c ---- */

/** Start the EAL if it is not running.
 * @param pci a PCI device is being opened */
enum plx_status eal_ensure(bool pci, struct plx_why *why) PLX_MUST_CHECK;

/** Does the EAL use hugepages? false before it is running. */
bool eal_has_hugepages(void);

/** Clear the journal of DPDK's log, which keeps the first line logged since this call. It stays
 * empty if the program started the EAL or passed a --log-level. */
void eal_journal_open(void);
void eal_journal_read(char *out, size_t n);

/* ---- registry.c: the open adapters ---- */

/** Reserve a name.
 * Errors: BUSY (in use), FULL (PLX_ADAPTERS_MAX) */
enum plx_status registry_reserve(struct host_adapter *adapter) PLX_MUST_CHECK;
/** Make it visible to visits. */
void registry_publish(struct host_adapter *adapter);
/** Hide it from visits; its name stays reserved. */
void registry_hide(struct host_adapter *adapter);
void registry_remove(struct host_adapter *adapter);

/** Call `visit` for each open adapter, or for the one with that name; none can close meanwhile.
 * @param name NULL: all.
 * Returns: how many were visited */
uint32_t registry_visit(const char *name,
			void (*visit)(struct host_adapter *adapter, void *context), void *context);

/* ---- worker.c ---- */

/** Get a thread for each of the adapter's engines, shared with adapters that name the same worker.
 * Errors: as plx_worker_start(); FULL */
enum plx_status worker_get(struct host_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
/** Release the threads. When this returns, they no longer use the adapter's engines. The last
 * release of each stops it. */
void worker_put(struct host_adapter *adapter);

/* ---- setup.c ---- */

/** Create all parts of an adapter from its options. After a failure, adapter_teardown() destroys
 * what was created.
 * Errors: as plx_adapter_open() */
enum plx_status adapter_setup(struct host_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
void adapter_teardown(struct host_adapter *adapter);

/* ---- engines.c ---- */

/** Create the engines, with their threads; adapter_unmake_engines() destroys what was created.
 * Errors: NO_MEMORY, as worker_get() */
enum plx_status adapter_make_engines(struct host_adapter *adapter,
				     struct plx_why *why) PLX_MUST_CHECK;
void adapter_unmake_engines(struct host_adapter *adapter);

/* ---- numa.c ---- */

/** Log one line if port, packet buffers and workers are on different nodes. */
void adapter_check_numa(const struct host_adapter *adapter);

/* ---- pool.c ---- */

enum {
	/* [bytes] of a packet buffer: headroom and the longest frame of path MTU 4096, which
	 * net_af_packet also requires for such frames */
	ADAPTER_PACKET_ROOM = 4608,
};

/** Create the adapter's pool.
 * @param socket NUMA node; SOCKET_ID_ANY.
 * Errors: NO_MEMORY */
enum plx_status adapter_make_pool(struct host_adapter *adapter, int socket,
				  struct plx_why *why) PLX_MUST_CHECK;
/** Free the pool, or keep it until its packets have returned.
 * @param pool may be NULL */
void adapter_release_pool(struct rte_mempool *pool);

/* ---- telemetry.c ---- */

/** Register the commands once; no effect without telemetry. */
void telemetry_start(void);

#endif
