/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind the handles of plx_verbs.h, and what the files of this room ask of each other.
 * It owns no state. Start with struct plx_adapter: every other object points at one.
 */
#ifndef PLX_OBJECTS_H
#define PLX_OBJECTS_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plx_heap.h"
#include "plx_thread.h"
#include "plx_worker.h"
#include "plx_ethdev.h"
#include "plx_net_wire.h"
#include "plx_verbs.h"

struct shared_worker;

/* What is alive on an adapter; it closes when all are 0. */
struct object_counts {
	uint32_t pds, mrs, mws, cqs, srqs, qps, ahs, event_channels, listeners, connectors;
};

/* Objects that the engine names by a number: a slot, and how often it was given out. */
struct cookie_slot {
	void *object; /* NULL: free */
	uint32_t generation, next_free;
};

struct cookie_table {
	struct cookie_slot *slot;
	uint32_t size, first_free; /* first_free == size: none is free */
};

struct plx_adapter {
	/* read by the hot calls, never written after the open */
	struct plx_engine *engine[PLX_ENGINES_MAX];
	uint32_t engines;
	bool inline_mode;
	struct plx_mem *mem;
	struct rte_rcu_qsbr *rcu; /* engine `i` is thread `i`; NULL in inline mode */

	/* serialises changes of the key table but the end of a region's life, of `count` and of
	 * `qps`; never held while waiting for an engine */
	pthread_mutex_t lock;
	struct object_counts count;
	struct plx_list qps; /* struct plx_qp.node */
	struct cookie_table cookies;
	atomic_uint next_port; /* of connectors that did not choose one */

	uint32_t path_mtu;
	struct plx_adapter_options options;
	struct plx_net_config net_config;
	struct plx_adapter_info info;

	/* adapter_setup.c's own */
	struct plx_list node; /* in the list of open adapters */
	struct plx_net *net[PLX_ENGINES_MAX];
	struct plx_cm *cm;
	void *cm_memory;
	void *mem_memory;
	size_t net_bytes, cm_bytes, mem_bytes;
	struct plx_secret secret; /* during adapter_setup(); then zeros */
	struct rte_mempool *pool;
	struct plx_ethdev *dev;
	struct shared_worker *worker; /* NULL in inline mode */
	bool visible;                 /* for registry.c */
	int async_fd; /* an epoll set of the engines' descriptors of asynchronous events */
	bool wire_attached;
	bool needs_dma_map;
	uint64_t dma_refused;     /* regions the device's IOMMU would not map */
	char dma_refused_why[96]; /* of the last one */
};

struct plx_pd {
	struct plx_adapter *adapter;
	struct plx_domain domain;
};

struct plx_mr {
	struct plx_pd *pd;
	struct plx_region region;
	struct plx_key key;
	void *memory;
	size_t length;
	bool mapped;  /* for the device, by adapter_map_memory() */
	bool retired; /* a deregister timed out; the next one goes on */
	uint64_t token;
};

struct plx_mw {
	struct plx_pd *pd;
	struct plx_window window;
	bool retired;
	uint64_t token;
};

struct plx_cq {
	struct plx_engine_cq *engine_cq;
	struct plx_adapter *adapter;
	bool inline_mode;            /* the adapter's, where a poll finds it */
	const struct rte_ring *ring; /* the queue's */
};

struct plx_srq {
	struct plx_engine_srq *engine_srq;
	struct plx_adapter *adapter;
};

struct plx_qp {
	struct plx_engine_qp *engine_qp;
	bool inline_mode;
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_qp_options options;
	struct plx_list node; /* in adapter->qps */
};

/**
 * Make registered memory reachable for the device, where it needs that: a physical one behind an
 * IOMMU or with addresses of its own, and memory of hugepages. Called under no lock.
 *
 * A refusal does not fail a registration, since packets are copied; it moves dma_refused.
 * Returns: whether adapter_unmap_memory() has to be called
 */
bool adapter_map_memory(struct plx_adapter *adapter, void *memory, size_t length);
void adapter_unmap_memory(struct plx_adapter *adapter, void *memory, size_t length);

/** Inline mode: one duty cycle of every engine; worker mode: 0. Hot. */
uint32_t adapter_poll(struct plx_adapter *adapter);

/** The engine on which the adapter's queues live: those of one queue pair must be on one. */
static inline struct plx_engine *
adapter_home(struct plx_adapter *adapter)
{
	return adapter->engine[0];
}

/* ---- mr.c: waiting ----------------------------------------------------------------------------
 */

/** Nanoseconds on the system's steady clock. */
uint64_t steady_ns(void);
void sleep_ns(uint64_t ns);

/** After a key was made invalid: what to wait for, until no engine can still be using it. */
uint64_t engines_token(struct plx_adapter *adapter);

/** Errors: TIMEOUT (an engine has not been through a cycle for so long) */
enum plx_status engines_wait(struct plx_adapter *adapter, uint64_t token,
			     uint64_t timeout_ns) PLX_MUST_CHECK;

/* ---- cq.c -------------------------------------------------------------------------------------
 */

/** Sleep until the descriptor may be readable, or `ns` have passed. @param fd -1: for 1 ms */
void sleep_on(int fd, uint64_t ns);

/* ---- qp_connect.c -----------------------------------------------------------------------------
 */

/* An address as people write it; "none". */
struct address_text {
	char s[INET6_ADDRSTRLEN];
};
struct address_text address_text(const struct plx_ip *ip);

/** Is it one of the five path MTUs? */
static inline bool
is_mtu(uint32_t bytes)
{
	return bytes >= PLX_MTU_MIN && bytes <= PLX_MTU_MAX && (bytes & (bytes - 1)) == 0;
}

/** Every attribute in its range, or a sentence. */
enum plx_status qp_attr_check(const struct plx_qp_attr *attr, struct plx_why *why) PLX_MUST_CHECK;
/** What the attributes say that the peer has no say in. */
void qp_attr_to_rc(const struct plx_adapter *adapter, const struct plx_qp_attr *attr,
		   struct plx_rc_attr *rc, struct plx_engine_path *path);

/** What there is to know of a connection, checked. Errors: as plx_qp_connect() */
enum plx_status qp_agree(const struct plx_qp *qp, const struct plx_qp_address *peer,
			 const struct plx_qp_attr *attr, struct plx_rc_attr *rc,
			 struct plx_engine_path *path, struct plx_why *why) PLX_MUST_CHECK;

/* ---- eal.c ------------------------------------------------------------------------------------
 */

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

/* ---- worker.c ---------------------------------------------------------------------------------
 */

/** A thread for the adapter's engines, shared with the adapters that name the same worker.
 * Errors: as plx_worker_start(); FULL */
enum plx_status worker_get(struct plx_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
/** When it returns the thread does not touch the adapter's engines; the last one stops it. */
void worker_put(struct plx_adapter *adapter);

/* ---- adapter_setup.c --------------------------------------------------------------------------
 */

/** Make everything an adapter consists of, by its options; a failure leaves what was made to
 * adapter_teardown(). Errors: as plx_adapter_open() */
enum plx_status adapter_setup(struct plx_adapter *adapter, struct plx_why *why) PLX_MUST_CHECK;
void adapter_teardown(struct plx_adapter *adapter);

/* ---- telemetry.c ------------------------------------------------------------------------------
 */

/** Register the commands, once; without telemetry nothing happens. */
void telemetry_start(void);

/** One line about an event, if the limit of lines allows. */
void log_async_event(const char *adapter, const struct plx_async_event *event);

#endif
