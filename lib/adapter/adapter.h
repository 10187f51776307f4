/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room ask of each other: the EAL, the list of open adapters, their worker
 * threads, making them. It owns no state. Start with adapter_setup().
 */
#ifndef PLX_ADAPTER_PRIVATE_H
#define PLX_ADAPTER_PRIVATE_H

#include "plx_adapter_object.h"
#include "plx_ethdev.h"
#include "plx_heap.h"
#include "plx_net_wire.h"
#include "plx_worker.h"

/* ---- eal.c ----------------------------------------------------------------------------------- */

/** Start the EAL unless it is up. @param pci an adapter that is being opened is a PCI device */
enum plx_status eal_ensure(bool pci, struct plx_why *why) PLX_MUST_CHECK;

/** Does the EAL stand on hugepages? false before it is up. */
bool eal_has_hugepages(void);

/** DPDK's log goes to a journal that keeps the first line written since it was opened. It stays
 * empty when the program started the EAL, or gave it a --log-level. */
void eal_journal_open(void);
void eal_journal_read(char *out, size_t n);

/* ---- registry.c: the open adapters ----------------------------------------------------------- */

/** Reserve a name. Errors: BUSY (in use), FULL (PLX_ADAPTERS_MAX) */
enum plx_status registry_reserve(struct plx_adapter *adapter) PLX_MUST_CHECK;
/** From now on visits see it. */
void registry_publish(struct plx_adapter *adapter);
/** Nobody visits it any more; its name stays taken. */
void registry_hide(struct plx_adapter *adapter);
void registry_remove(struct plx_adapter *adapter);

/** Call `visit` for each open adapter, or the one of that name, while none can close.
 * @param name NULL: all. Returns: how many were visited */
uint32_t registry_visit(const char *name, void (*visit)(struct plx_adapter *adapter, void *context),
			void *context);

/* ---- worker.c -------------------------------------------------------------------------------- */

/** A thread for the adapter's engines, shared with the adapters that name the same worker.
 * Errors: as plx_worker_start(); FULL */
enum plx_status worker_get(struct plx_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
/** When it returns the thread does not touch the adapter's engines; the last one stops it. */
void worker_put(struct plx_adapter *adapter);

/* ---- setup.c --------------------------------------------------------------------------------- */

/** Make everything an adapter consists of, by its options; a failure leaves what was made to
 * adapter_teardown(). Errors: as plx_adapter_open() */
enum plx_status adapter_setup(struct plx_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
void adapter_teardown(struct plx_adapter *adapter);

/* ---- pool.c ---------------------------------------------------------------------------------- */

enum {
	/* [bytes] of one packet buffer: headroom and the longest frame of path MTU 4096; and what
	 * net_af_packet asks for frames that long */
	ADAPTER_PACKET_ROOM = 4608,
};

/** The adapter's pool. @param socket NUMA node; SOCKET_ID_ANY. Errors: NO_MEMORY */
enum plx_status adapter_make_pool(struct plx_adapter *adapter, int socket,
				  struct plx_why *why) PLX_MUST_CHECK;
/** Free it, or keep it until its packets are back. @param pool may be NULL */
void adapter_release_pool(struct rte_mempool *pool);

/* ---- telemetry.c ----------------------------------------------------------------------------- */

/** Register the commands, once; without telemetry nothing happens. */
void telemetry_start(void);

/** One line about an event, if the limit of lines allows. */
void log_async_event(const char *adapter, const struct plx_async_event *event);

#endif
