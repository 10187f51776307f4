/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SAN service provider (san_provider.h) on queue pairs: a connected socket is a queue pair, the
 * connector that connected it, a completion queue, and a protection domain, so that what it
 * registers is within reach of its peer alone. A message that finds no receive waits at its sender:
 * the queue pair answers RNR NAKs, and its peer retries for ever. A duplicated socket is a queue
 * pair that changes hands (plx_qp_export()), which programs that are attached to one polluxd can
 * do; processes are named by their seats (plx_adapter_info.seat), a socket of an adapter of its
 * own cannot be duplicated. Listening sockets cannot be, either: WSAENOTCONN.
 *
 * Whoever polls needs no thread. The provider starts one of its own for the first event of
 * WSPEventSelect(), and for the first request that is to be told of by an upcall; it makes all such
 * upcalls. Adapters must not be in inline mode.
 *
 * Locks: adapter->events, then socket->lock; process->lock is taken last. No upcall is made with
 * one of socket->lock and process->lock held. adapter->events is only tried, never waited for,
 * except by who takes a socket over.
 * Start with WSPStartupEx().
 */
#ifndef PLX_SANQP_PROVIDER_H
#define PLX_SANQP_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>

#include <san_provider.h>

#include "plx_base.h"
#include "plx_session.h"

enum {
	SANQP_ADAPTERS_MAX = 8, /* of a process */
	SANQP_HOST_PATH = 108,  /* [bytes] with its end */
	SANQP_SOCKETS_MAX = 65536,
	SANQP_BACKLOG_MAX = 128,
	SANQP_RECEIVES = 64,         /* pending at once */
	SANQP_SENDS = 32,            /* ... sends and RDMA together */
	SANQP_BUFFERS_MAX = 4,       /* of one request */
	SANQP_DESCRIPTOR_BYTES = 16, /* of RDMA memory: address, key, length, in network order */
	SANQP_MESSAGE_MAX = 1 << 20, /* [bytes] */
	SANQP_RDMA_MAX = 1 << 30,    /* [bytes] */
	SANQP_THRESHOLD = 16384,     /* [bytes] SO_RDMA_THRESHOLD_SIZE */
	SANQP_CATALOG_ENTRY = 1001,
};

struct sanqp;

/* ---- memory ---- */

/* Registered memory: its address is the handle that the switch has. */
struct sanqp_region {
	struct plx_list link; /* in connection->regions */
	struct plx_mr *mr;
	uint8_t *base;
	DWORD bytes, flags; /* MEM_READ, MEM_WRITE */
	bool rdma;          /* for the peer */
	uint32_t uses;      /* by requests that are pending */
};

/* ---- requests ---- */

struct sanqp_request {
	LPWSAOVERLAPPED overlapped;
	DWORD error, bytes; /* once it is complete; before: `bytes` of a send */
	bool polled;        /* no upcall */
	uint8_t op;         /* enum plx_wr_op */
	uint8_t buffers;
	struct plx_sge sge[SANQP_BUFFERS_MAX];
	struct sanqp_region *region[SANQP_BUFFERS_MAX];
	uint64_t remote_va;
	struct plx_key rkey;
};

/* Requests of a kind, in their order: made, posted, complete, told. Each counts from the beginning.
 * A place is free when its request has been told. */
struct sanqp_ring {
	struct sanqp_request *request; /* [depth] */
	uint32_t depth;                /* a power of two */
	uint32_t made, posted, complete, told;
};

/* ---- sockets ---- */

struct sanqp_adapter {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	char host[SANQP_HOST_PATH];  /* "": the configuration file says */
	struct plx_adapter *adapter; /* NULL: not opened yet */
	struct plx_why why;          /* ... as it could not be */
	struct plx_adapter_info info;
	struct plx_event_channel *channel;
	pthread_mutex_t events; /* whoever reads `channel` holds it */
	bool watched;           /* by the provider's thread */
	atomic_bool gone;       /* its host has gone: nothing completes any more */
	_Atomic uint32_t heir;  /* of sockets that are taken here; 0: none */
};

struct sanqp_connection {
	struct sanqp_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;
	struct plx_connector *connector; /* NULL: it has been given away */
	struct plx_list regions;
	struct sanqp_ring receives, sends;
	bool watched; /* by the provider's thread */
};

enum sanqp_state {
	SANQP_FREE,
	SANQP_MADE,
	SANQP_BOUND,
	SANQP_LISTENING,
	SANQP_CONNECTING,
	SANQP_ACCEPTED, /* the peer has not confirmed: it can receive, and sends wait */
	SANQP_CONNECTED,
	SANQP_BROKEN, /* the connection is over, or never was */
	SANQP_GIVING,
	SANQP_GIVEN, /* to another process */
	SANQP_CLOSING,
};

/* A connection that waits for WSPAccept(). */
struct sanqp_arrival {
	struct plx_connector *connector;
	struct sanqp_adapter *adapter;
	struct plx_connector_info info;
};

struct sanqp_listening {
	struct plx_listener *listener[SANQP_ADAPTERS_MAX];
	struct sanqp_arrival arrival[SANQP_BACKLOG_MAX];
	uint32_t arrivals, backlog;
};

/* Never freed while the provider is loaded, so a call that is late finds it FREE. */
struct sanqp_socket {
	pthread_mutex_t lock;
	struct sanqp *process;
	SOCKET number; /* the descriptor: its place, 1 .. */

	enum sanqp_state state; /* zeros from here on, when it is made */
	ADDRESS_FAMILY family;
	SOCKET handle;       /* the switch's */
	struct plx_ip local; /* bound to */
	uint16_t port;
	struct sanqp_connection *connection; /* NULL: none */
	struct sanqp_listening *listening;   /* NULL: none */
	struct plx_connector_info info;      /* of the connection; also when it is GIVEN */
	uint32_t serial;                     /* of the connection: sanqp_context() */

	uint32_t looks; /* for completions that were not there */

	long selected, happened; /* FD_* */
	int connect_error;
	WSAEVENT event;
	bool event_due; /* the switch is to be told that something has happened */
	bool telling;   /* a thread makes upcalls */
	pthread_t teller;
};

/* What a process has of the provider. */
struct sanqp {
	WSPUPCALLTABLEEX upcalls;
	pthread_mutex_t lock; /* protects what follows */
	uint32_t users;       /* of WSPStartupEx() */
	struct sanqp_adapter adapter[SANQP_ADAPTERS_MAX];
	uint32_t adapters;
	_Atomic(struct sanqp_socket *) socket[SANQP_SOCKETS_MAX];
	uint32_t first_free; /* no place below it is free */
	_Atomic uint32_t serials;
	bool threaded;
	pthread_t thread;
	int wake;  /* eventfd: the thread is to end */
	int watch; /* epoll */
};

/* What is ended by a call that fails is over all the same, or its engine does not run, and nothing
 * can be done about that. */
static inline void
sanqp_ignore(enum plx_status status)
{
	(void)status;
}

/* ---- startup.c ---- */

/** The process that calls: one for each process of the system, but tests have several.
 * @param process that calls come from now on; NULL: the next WSPStartupEx() makes one
 * Returns: the former one */
struct sanqp *sanqp_use(struct sanqp *process);
struct sanqp *sanqp_current(void);

/* ---- adapters.c ---- */

/* Names of the configuration file. Returns: an error of Winsock */
int sanqp_adapters_read(struct sanqp *process);
/* plx_sanqp_add() */
bool sanqp_adapters_add(struct sanqp *process, const char *name, const char *host);
/* NULL: it cannot be opened. */
struct sanqp_adapter *sanqp_adapter_at(struct sanqp *process, uint32_t i);
void sanqp_adapters_close(struct sanqp *process);
/* Does an adapter have an address of this process, or any? */
bool sanqp_adapter_has(const struct sanqp_adapter *adapter, const struct plx_ip *ip);
/* SIO_ADDRESS_LIST_QUERY. @param used [out] bytes, or how many it takes. Returns: 0, WSAEFAULT */
int sanqp_adapters_list(struct sanqp *process, void *out, DWORD bytes, DWORD *used);

/* ---- table.c ---- */

/* A socket with its lock held. NULL: WSAENOTSOCK */
struct sanqp_socket *sanqp_find(SOCKET s, LPINT lpErrno);
struct sanqp_socket *sanqp_place(struct sanqp *process, uint64_t number);
/* A place for a new one, with its lock held. NULL: WSAEMFILE, WSAENOBUFS */
struct sanqp_socket *sanqp_new(struct sanqp *process, LPINT lpErrno);
/* The switch's handle of a new one; its lock is let go meanwhile. Returns: false, with an error */
bool sanqp_new_handle(struct sanqp_socket *socket, LPINT lpErrno);
/* It is free again; its lock is held, and let go. */
void sanqp_forget(struct sanqp_socket *socket);
int sanqp_error(int error, LPINT lpErrno);
/* Make the upcalls that are due. The lock is held, and let go for each. */
void sanqp_tell(struct sanqp_socket *socket);
/* ... and wait until no thread makes one: what is due is in what is freed next. */
void sanqp_tell_all(struct sanqp_socket *socket);
/* Let the lock go, after that. */
void sanqp_leave(struct sanqp_socket *socket);

/* ---- sockets.c ---- */

void sanqp_fill_sockets(WSPPROC_TABLE *out);
int WSPAPI sanqp_close(SOCKET s, LPINT lpErrno);

/* ---- connect.c ---- */

void sanqp_fill_connect(WSPPROC_TABLE *out);
/* Read events of an adapter, unless another thread does. No lock of a socket is held. */
void sanqp_run_events(struct sanqp *process, struct sanqp_adapter *adapter);
/* ... of all that are open. */
void sanqp_run_all_events(struct sanqp *process);
void sanqp_stop_listening(struct sanqp_socket *socket);
/* Of events of a new connection of a socket. An event of the one before may be on its way, of a
 * connector that was where the new one is. */
uint64_t sanqp_context(struct sanqp_socket *socket);

/* ---- connection.c ---- */

/* `qp` and `connector` are NULL. NULL, with an error: nothing is left */
struct sanqp_connection *sanqp_connection_make(struct sanqp_adapter *adapter, LPINT lpErrno);
void sanqp_connection_options(const struct sanqp_connection *connection,
			      struct plx_qp_options *out);
/* Destroy what peers and the engine reach. Returns: false: the engine does not run, call again */
bool sanqp_connection_end(struct sanqp_connection *connection);
void sanqp_connection_free(struct sanqp_connection *connection);

/* ---- transfer.c ---- */

void sanqp_fill_transfer(WSPPROC_TABLE *out);
SAN_NEVER_CALLED sanqp_transfer_extension(const GUID *id);
/* Take completions. The lock is held. */
void sanqp_progress(struct sanqp_socket *socket);
/* Post sends that have waited. */
void sanqp_post_sends(struct sanqp_socket *socket);
/* All that is pending ends so. */
void sanqp_complete_all(struct sanqp_socket *socket, DWORD error);
bool sanqp_is_pending(const struct sanqp_ring *ring);

/* ---- memory.c ---- */

SAN_NEVER_CALLED sanqp_memory_extension(const GUID *id);
/* The region that has these bytes for such a use. NULL: none */
struct sanqp_region *sanqp_region_of(struct sanqp_connection *connection, const void *memory,
				     ULONG bytes, DWORD flags);
bool sanqp_region_has(const struct sanqp_region *region, const void *memory, ULONG bytes,
		      DWORD flags);
/* By its handle. NULL: this connection has none such */
struct sanqp_region *sanqp_region_with(struct sanqp_connection *connection, HANDLE handle);
void sanqp_regions_free(struct sanqp_connection *connection);
void sanqp_descriptor_write(const struct sanqp_region *region, void *out);
bool sanqp_descriptor_read(const void *descriptor, DWORD bytes, uint64_t *va, struct plx_key *key);

/* ---- duplicate.c ---- */

int WSPAPI sanqp_duplicate(SOCKET s, DWORD process, LPWSAPROTOCOL_INFOW info, LPINT lpErrno);
SOCKET sanqp_take(struct sanqp *process, DWORD token, LPINT lpErrno);

/* ---- thread.c ---- */

/* Start the thread, if there is none. Returns: false: it cannot be */
bool sanqp_thread_start(struct sanqp *process);
/* It sleeps on an adapter that was opened later. process->lock is held */
bool sanqp_thread_watch_adapter(struct sanqp *process, uint32_t i);
void sanqp_thread_end(struct sanqp *process);
/* Tell the switch when something completes: the thread sleeps on the completion queue. */
bool sanqp_thread_watch(struct sanqp_socket *socket);
void sanqp_thread_forget(struct sanqp *process, struct sanqp_connection *connection);

#endif
