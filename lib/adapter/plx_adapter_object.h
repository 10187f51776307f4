/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An adapter as its host has it: the device, the engines, the key table. Programs have seats at it
 * (lib/host). Not installed. Start with struct host_adapter.
 */
#ifndef PLX_ADAPTER_OBJECT_H
#define PLX_ADAPTER_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>

#include "plx_adapter.h"
#include "plx_address_text.h"
#include "plx_engine.h"
#include "plx_link.h"
#include "plx_process.h"
#include "plx_thread.h"

struct plx_ethdev;
struct shared_worker;

/* Live objects of an adapter. It can be closed when all are 0. */
struct plx_object_counts {
	atomic_uint pds, mrs, mws, cqs, srqs, qps, ahs, event_channels, listeners, connectors;
};

/* A queue pair, in the list of all of an adapter. */
struct host_qp {
	struct plx_list link; /* in host_adapter.qps */
	struct engine_qp *back;
};

struct host_adapter {
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
	struct plx_list qps;            /* struct host_qp */
	uint32_t load[PLX_ENGINES_MAX]; /* queue pairs of each engine; under `lock` */
	atomic_uint next_port;          /* for connectors that did not choose one */

	uint32_t path_mtu;
	struct plx_adapter_options options;
	struct plx_net_config net_config;
	struct plx_adapter_info info;

	/* private to setup.c */
	struct plx_list node;           /* in the list of open adapters */
	struct plx_net *net[1];         /* engine 0's, and shared by all */
	struct plx_engine_group *group; /* NULL: one engine */
	struct plx_cm *cm;
	void *cm_memory;
	void *mem_memory;
	size_t net_bytes, cm_bytes, mem_bytes;
	struct plx_secret secret; /* used during adapter_setup(); then zeros */
	struct rte_mempool *pool;
	struct plx_ethdev *dev;
	struct shared_worker *worker[PLX_ENGINES_MAX]; /* of each engine; NULL in inline mode */
	bool visible;                                  /* private to registry.c */
	bool wire_attached;
	bool needs_dma_map;
	uint64_t dma_refused;     /* regions that the device's IOMMU refused to map */
	char dma_refused_why[96]; /* reason for the last refusal */
};

/** As plx_adapter_open(), with options. */
enum plx_status plx_host_adapter_open(const char *name, const struct plx_adapter_options *options,
				      struct host_adapter **adapter,
				      struct plx_why *why) PLX_MUST_CHECK;
/** As plx_adapter_close(). Errors: BUSY (it still has objects) */
enum plx_status plx_host_adapter_close(struct host_adapter *adapter) PLX_MUST_CHECK;
/** As plx_adapter_query(). Threads: any */
void plx_host_adapter_query(const struct host_adapter *adapter, struct plx_adapter_info *out);
/** As plx_adapter_poll(). Hot.
 * @param engine 1 .. engines: that one alone; 0: all */
uint32_t plx_host_adapter_run(struct host_adapter *adapter, uint32_t engine);

/**
 * Map registered memory for the device, if the device needs that: a physical device behind an IOMMU
 * or with its own address space, and memory in hugepages. Call without locks.
 *
 * A refusal does not fail a registration, since packets are copied; it increments dma_refused.
 * Returns: true: plx_host_unmap_memory() has to be called later
 */
bool plx_host_map_memory(struct host_adapter *adapter, void *memory, size_t length);
void plx_host_unmap_memory(struct host_adapter *adapter, void *memory, size_t length);

/** The engine that speaks for the port: it has the neighbours and the communication manager. */
static inline struct plx_engine *
plx_host_home(struct host_adapter *adapter)
{
	return adapter->engine[0];
}

/* ---- neighbours and echo ----
 *
 * Each call makes one step, and never waits for the network. AGAIN: there is no answer yet; the
 * sentence is for a program that will not ask again.
 */

/** As plx_adapter_resolve(). @param timeout_ms for the sentence */
enum plx_status plx_host_resolve(struct host_adapter *adapter, const struct plx_ip *ip,
				 uint32_t timeout_ms, uint8_t *mac,
				 struct plx_why *why) PLX_MUST_CHECK;

/* An echo request. */
struct host_ping {
	struct plx_ip ip;
	uint32_t bytes, timeout_ms;
};

/** Send it. @param number [out] for plx_host_pong() */
enum plx_status plx_host_ping(struct host_adapter *adapter, const struct host_ping *ping,
			      uint32_t *number, struct plx_why *why) PLX_MUST_CHECK;
/** Ask for the reply. @param rtt_ns [out] as plx_adapter_ping() */
enum plx_status plx_host_pong(struct host_adapter *adapter, const struct host_ping *ping,
			      uint32_t number, uint64_t *rtt_ns,
			      struct plx_why *why) PLX_MUST_CHECK;

/* ---- counters ---- */

/**
 * The values of plx_counter_names().
 * @param out   [n]
 * @param kinds [out] PLX_COUNTERS_*
 * Returns: how many there are
 */
uint32_t plx_host_counters(const struct host_adapter *adapter, uint64_t *out, uint32_t n,
			   uint32_t *kinds);
/** The values of plx_qp_counter_names(). */
uint32_t plx_host_qp_counters(const struct plx_rc_counters *counters, uint64_t *out, uint32_t n);

/* ---- waiting ---- */

/** After a key became invalid: get the token to pass to plx_engines_wait() until no engine can use
 * the key. */
uint64_t plx_engines_token(struct host_adapter *adapter);

/** Wait until no engine can use it. One that no thread polls cannot.
 * Errors: TIMEOUT (an engine has not completed a duty cycle within that time) */
enum plx_status plx_engines_wait(struct host_adapter *adapter, uint64_t token,
				 uint64_t timeout_ns) PLX_MUST_CHECK;
/** Let a write to this eventfd wake the thread of an engine, if that sleeps (plx_worker_watch()).
 * Errors: STATE (it never does), NO_MEMORY */
enum plx_status plx_engine_watch(struct host_adapter *adapter, uint32_t engine,
				 int bell) PLX_MUST_CHECK;
/** The reverse, before it is closed. */
void plx_engine_unwatch(struct host_adapter *adapter, uint32_t engine, int bell);
/** Are all engines polled? Errors: TIMEOUT (one has not completed a duty cycle within that time) */
enum plx_status plx_engines_run(struct host_adapter *adapter, uint64_t timeout_ns) PLX_MUST_CHECK;

#endif
