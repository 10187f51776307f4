/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind the handles of plx_verbs.h, and functions that the files of this room share.
 * It owns no state. Every object points to its struct plx_adapter.
 */
#ifndef PLX_OBJECTS_H
#define PLX_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "plx_adapter.h"
#include "plx_cq_front.h"
#include "plx_eq_front.h"
#include "plx_link_event.h"
#include "plx_qp_front.h"
#include "plx_seat.h"
#include "plx_verbs.h"

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

/* What a program's seat has at one engine. Its address is the program's name for the engine. */
struct adapter_engine {
	struct seat_front *doorbells;
	struct eq async_events;
	int bell; /* of struct doorbell */
};

/* An adapter as a program has it: its seat. */
struct plx_adapter {
	/* never written after the open */
	struct plx_seat *seat;
	bool inline_mode;
	enum plx_idle idle;
	struct front_owner owner; /* of all fronts */
	uint32_t engines;
	struct adapter_engine engine[PLX_IPC_ENGINES_MAX];
	int async_fd; /* an epoll set of the engines' descriptors for asynchronous events, and of
		       * the seat's host_fd */
	atomic_bool ended; /* ... of which the program has been told */
	char name[PLX_ADAPTER_NAME_MAX + 1];

	pthread_mutex_t lock; /* of the cookies, and of what connectors are told */
	struct plx_cookie_table cookies;
};

struct plx_pd {
	struct plx_adapter *adapter;
	struct plx_object object;
};

struct plx_mr {
	struct plx_pd *pd;
	struct plx_object object;
	struct plx_key key;
	bool fast;      /* registered by work requests; `key` is not used */
	uint64_t *list; /* [pages] of an attached program: where its host reads lists */
	uint32_t pages;
};

struct plx_mw {
	struct plx_pd *pd;
	struct plx_object object;
};

struct plx_event_channel {
	struct eq events; /* of struct plx_link_event */
	struct plx_adapter *adapter;
	struct plx_object object;
};

struct plx_listener {
	struct plx_event_channel *channel;
	struct plx_object object;
	uint64_t cookie;
	uint64_t context; /* the program's */
};

struct plx_connector {
	struct plx_event_channel *channel;
	struct plx_object object;
	uint64_t cookie;
	/* protected by the adapter's lock */
	uint64_t context;               /* the program's */
	struct plx_connector_info info; /* local.version 0: idle */
};

/* Memory for an object, zeroed; free() frees it. */
static inline void *
plx_object_alloc(size_t bytes)
{
	size_t whole = (bytes + PLX_LINE_PAIR - 1) / PLX_LINE_PAIR * PLX_LINE_PAIR;
	void *object = aligned_alloc(PLX_LINE_PAIR, whole);

	return object != NULL ? memset(object, 0, bytes) : NULL;
}

/* ---- calls to the host ---- */

static inline enum plx_status
adapter_call(struct plx_adapter *adapter, enum plx_ipc_op op, const void *request, void *reply,
	     struct plx_why *why)
{
	return adapter->seat->ops->call(adapter->seat, op, request, reply, why);
}

/* A call about one object, without a reply. */
static inline enum plx_status
adapter_call_on(struct plx_adapter *adapter, enum plx_ipc_op op, uint64_t object)
{
	const struct plx_ipc_object request = {{object}};
	struct plx_ipc_nothing none;

	return adapter_call(adapter, op, &request, &none, NULL);
}

static inline void *
adapter_at(struct plx_adapter *adapter, struct plx_location place)
{
	return adapter->seat->ops->at(adapter->seat, place);
}

/* ---- adapter.c ---- */

/* As plx_adapter_poll(), under a name that no program can interpose. Hot.
 * @param engine 1 .. engines: that one alone; 0: all */
static inline uint32_t
adapter_run(struct plx_adapter *adapter, uint32_t engine)
{
	return adapter->inline_mode ? adapter->seat->ops->run(adapter->seat, engine) : 0;
}

/* ---- pause.c ---- */

/* Nanoseconds on the system's steady clock. */
uint64_t plx_steady_ns(void);
/* Pause before asking the host again. In inline mode the caller is the engine: poll it.
 * @param ns in worker mode, how long to sleep */
void plx_adapter_pause(struct plx_adapter *adapter, uint64_t ns);

/* ---- cookie.c ---- */

/* Allocate a number that identifies an object while it is alive.
 * Returns: 0: no memory */
uint64_t plx_cookie_alloc(struct plx_adapter *adapter, void *object);
void plx_cookie_set(struct plx_adapter *adapter, uint64_t cookie, void *object);
void plx_cookie_free(struct plx_adapter *adapter, uint64_t cookie);
/* The adapter's lock is held.
 * Returns: NULL: destroyed meanwhile */
void *plx_cookie_find(const struct plx_adapter *adapter, uint64_t cookie);

/* ---- qp.c ---- */

/* Are its queues this adapter's? Errors:  INVALID */
enum plx_status qp_check_queues(const struct plx_adapter *adapter,
				const struct plx_qp_options *options,
				struct plx_why *why) PLX_MUST_CHECK;
/* What the host is asked for. */
struct plx_ipc_qp_create qp_request_of(const struct plx_pd *pd,
				       const struct plx_qp_options *options);
/* The program's half of one that the host has made. The object is zeroed. */
void qp_open(struct plx_qp *qp, struct plx_pd *pd, const struct plx_qp_options *options,
	     const struct plx_ipc_qp_created *made);

static inline struct plx_adapter *
adapter_of(const struct plx_qp *qp)
{
	return qp->pd->adapter;
}

/* ---- cq.c ---- */

/* Sleep until the descriptor may be readable, or `ns` have passed.
 * @param fd -1: the system had no free one; sleep for 1 ms
 * Returns: false: the host has gone, and nobody will wake us any more */
bool sleep_on(const struct plx_adapter *adapter, int fd, uint64_t ns);

#endif
