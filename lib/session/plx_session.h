/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Services for every interface above verbs: adapters opened by name and by address, one dispatcher
 * for each, connections that end before the process does, port numbers, socket addresses, and
 * counts of holds on objects.
 * It knows no interface: no status, handle or object of one. An interface adds its part in struct
 * plx_session_hooks, and subscribes to the events that it needs. Start with struct plx_session.
 *
 * Lock order: plx_session.events (everything about connections), an interface's own locks,
 * plx_session.lock. The dispatcher holds no lock during a callback except those that a comment
 * names.
 */
#ifndef PLX_SESSION_H
#define PLX_SESSION_H

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "plx_base.h"
#include "plx_session_system.h"
#include "plx_verbs.h"

enum {
	PLX_SESSION_CHANNEL_DEPTH =
		1024,                   /* events of connections; further ones wait in the engine */
	PLX_SESSION_FIRST_PORT = 49152, /* lowest port chosen automatically: IANA's dynamic range */
	PLX_SESSION_PORT_WORDS = 65536 / 64,
	/* wait at exit for unanswered disconnects: four transmissions, 1.2 s apart */
	PLX_SESSION_LINGER_MS = 3700,
	PLX_SESSION_ANSWER_MS = 500, /* limit of plx_session_await_answer() */
};

struct plx_session;

/* ---- hold.c: lifetimes of objects ----
 *
 * Holds keep an object of an interface alive: one for all of its users, one for each child, and one
 * for each operation in progress. When the last hold is released, teardown() removes the object
 * from the engine. destroy() then frees everything and releases the parents. */

/** Work deferred until the engine runs again. */
struct plx_session_deferred;
/* Returns: false: the engine has stalled again; call this again later */
typedef bool plx_session_deferred_fn(struct plx_session_deferred *deferred);

struct plx_session_deferred {
	struct plx_list node;
	plx_session_deferred_fn *finish;
};

struct plx_session_object;

struct plx_session_kind {
	/* the part of the teardown, before destroy(), that needs the engine; TIMEOUT: the engine is
	 * stalled, nothing has changed, and this will be called again. NULL: no such part */
	enum plx_status (*teardown)(struct plx_session_object *);
	void (*destroy)(struct plx_session_object *);
};

struct plx_session_object {
	const struct plx_session_kind *kind;
	struct plx_session *session; /* NULL: belongs to no session */
	atomic_uint holds;
	struct plx_session_deferred deferred;
};

/** Initialize an object with one hold and count it as alive.
 * @param session NULL: belongs to no session, and has no teardown() */
void plx_session_object_init(struct plx_session_object *object, const struct plx_session_kind *kind,
			     struct plx_session *session);
/** Add a hold.
 * Threads: any that has a hold. */
void plx_session_object_hold(struct plx_session_object *object);
/** Release a hold. The last release ends the object, later if the engine is stalled. */
void plx_session_object_release(struct plx_session_object *object);
/** Count objects of any kind whose destroy() has not returned. */
uint32_t plx_session_objects_alive(void);

/* ---- sockaddr.c: socket addresses ---- */

/**
 * Read a socket address, which may have any alignment and be longer than its family needs.
 * Errors: INVALID (family neither IPv4 nor IPv6, or `length` too small for it)
 * Tests:  tests/unit/session/sockaddr.c
 */
enum plx_status plx_session_sockaddr_read(const struct sockaddr *address, size_t length,
					  struct plx_ip *ip, uint16_t *port) PLX_MUST_CHECK;
/** The number of bytes that plx_session_sockaddr_write() writes: 16 or 28. */
size_t plx_session_sockaddr_bytes(const struct plx_ip *ip);
/** Write a socket address.
 * @param out [plx_session_sockaddr_bytes(ip)] at any alignment */
void plx_session_sockaddr_write(const struct plx_ip *ip, uint16_t port, void *out);
/** Is this the wildcard address of its family? */
bool plx_session_ip_is_any(const struct plx_ip *ip);
/** Is this a loopback address, which means this machine whatever its addresses are? */
bool plx_session_ip_is_loopback(const struct plx_ip *ip);
/** Are both the same address of the same family? */
bool plx_session_ip_equal(const struct plx_ip *a, const struct plx_ip *b);

/* ---- port_numbers.c ---- */

/** Port numbers in use, by address. Initialize to zeros. */
struct plx_session_port_numbers {
	uint64_t bits[PLX_ADAPTER_ADDRESSES_MAX][PLX_SESSION_PORT_WORDS];
	uint16_t next; /* number to try next */
};

/**
 * Reserve a port number at all `addresses` (bits), or at none.
 * @param port [in/out] 0: choose one of PLX_SESSION_FIRST_PORT .. 65535
 * Errors: BUSY (in use at one of them), FULL (no number left to choose)
 * Tests:  tests/unit/session/port_numbers.c
 */
enum plx_status plx_session_reserve_port(struct plx_session_port_numbers *numbers,
					 uint32_t addresses, uint16_t *port) PLX_MUST_CHECK;
/** Release a port number.
 * @param addresses as passed to plx_session_reserve_port() */
void plx_session_release_port(struct plx_session_port_numbers *numbers, uint32_t addresses,
			      uint16_t port);
/** The session's addresses that `ip` covers, as bits: itself, or all of its family if it is the
 * wildcard address. */
uint32_t plx_session_addresses(const struct plx_session *session, const struct plx_ip *ip);

/* ---- directory.c: adapters in the configuration file ---- */

/** Names of adapters. */
struct plx_session_names {
	char (*name)[PLX_ADAPTER_NAME_MAX + 1];
	uint32_t n;
};

/**
 * Read the names of all adapters. This neither starts the EAL nor opens a device.
 * @param out [out] free() its `name`
 * Errors: NO_MEMORY (no sentence), CONFIG
 */
enum plx_status plx_session_names_read(struct plx_session_names *out,
				       struct plx_why *why) PLX_MUST_CHECK;

/** Addresses of adapters. For each, an index into `names` gives its adapter. */
struct plx_session_directory {
	struct plx_session_names names;
	struct plx_ip *ip; /* [n] */
	uint32_t *name_of; /* [n] */
	uint32_t n;
};

/**
 * Read every address of every adapter: from the configuration file, or of a host's adapter from the
 * host, by a seat for that moment.
 * Errors: NO_MEMORY (no sentence), CONFIG; as plx_adapter_open(), if there is no address at all,
 * because no host answers. On error nothing has to be freed
 */
enum plx_status plx_session_directory_read(struct plx_session_directory *out,
					   struct plx_why *why) PLX_MUST_CHECK;
/** Find the name of the adapter that has the address. The directory owns the name. NULL: no adapter
 * has it. */
const char *plx_session_directory_find(const struct plx_session_directory *directory,
				       const struct plx_ip *ip);
/** Free what plx_session_directory_read() allocated. */
void plx_session_directory_free(struct plx_session_directory *directory);

/* ---- session.c: one open adapter, shared by all users that opened its name ---- */

/** What an interface adds. Every member may be NULL: nothing to add. */
struct plx_session_hooks {
	const char *name; /* three letters, used in thread names */
	/* Logs a sentence for diagnosis. */
	void (*log)(const char *format, va_list arguments);
	/* Called when the session is open and before anyone uses it; sets `session->own`.
	 * Errors: any; stop() is then not called */
	enum plx_status (*start)(struct plx_session *session);
	/* Called when no connection is left. In inline mode the dispatcher delivers nothing more
	 * either. */
	void (*stop)(struct plx_session *session);
	/* Inline mode: this thread polls the adapter from now on. Called without locks. */
	void (*claim)(struct plx_session *session);
	/* Called at the end of the session: disconnect all remaining connections. session->events
	 * is held. */
	void (*disconnect)(struct plx_session *session);
	/* ... has every disconnect been answered? session->events is held. */
	bool (*is_disconnected)(struct plx_session *session);
	/* The adapter's host has gone: finish what is pending on connections, of which no event
	 * comes any more. session->events is held; this thread is delivering. */
	void (*host_gone)(struct plx_session *session);
};

/** Receives the events of connectors; its address is their context, as a uint64_t. Events with
 * context 0 are dropped. For a listener it receives the connection requests. */
struct plx_session_subscriber {
	/* session->events is held; this thread is delivering */
	void (*on_event)(struct plx_session *session, struct plx_session_subscriber *subscriber,
			 const struct plx_connector_event *event);
};

/** Receives the asynchronous events of a completion queue or shared receive queue with context
 * `id`. */
struct plx_session_queue {
	struct plx_list node;
	uint64_t id; /* unique in the session, never reused */
	/* session->lock is held; each kind of queue has only one kind of event */
	void (*on_event)(struct plx_session_queue *queue);
	/* The adapter's host has gone: finish what is pending. session->lock is held. */
	void (*on_host_gone)(struct plx_session_queue *queue);
};

enum plx_session_state {
	PLX_SESSION_OPENING, /* another thread is opening it: wait */
	PLX_SESSION_OPEN,
	PLX_SESSION_CLOSING, /* the last user has left; the next one waits and opens it again */
};

struct plx_session {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	const struct plx_session_hooks *hooks;
	void *own; /* owned by the interface */
	struct plx_adapter *adapter;
	struct plx_event_channel *channel;
	struct plx_adapter_info info;
	bool inline_mode;
	atomic_bool host_gone; /* set before what is pending is finished */

	/* held during all calls about connections, including delivery of the channel's events */
	pthread_mutex_t events;
	/* protected by `events`: port numbers of connectors and of listeners, which are separate */
	struct plx_session_port_numbers active, passive;
	struct plx_list lingering; /* private to linger.c */

	pthread_mutex_t lock;      /* protects the two lists */
	struct plx_list cqs, srqs; /* struct plx_session_queue, of live queues */
	atomic_ulong next_id;      /* next id of a queue */

	struct plx_session_dispatch *dispatch; /* private to dispatch.c; no thread in inline mode */

	/* private to deferred.c: work that waits for a stalled engine */
	pthread_mutex_t deferred_lock;
	struct plx_list deferred; /* struct plx_session_deferred */
	atomic_uint deferred_count;
	atomic_bool stalled;

	/* private to session.c, protected by its lock */
	enum plx_session_state state;
	uint32_t users;
	bool started, lingered;
	struct plx_list node;
};

/**
 * Open the session of the adapter with this name, or share an open one.
 * Errors: NO_MEMORY, NO_DEVICE (the adapter cannot be opened; the sentence goes to log()), FULL
 * (descriptors or threads), BUSY (it belongs to another interface), those of start()
 * Threads: any; waits while another thread opens or closes the same session
 * Tests:   tests/unit/session/session.c
 */
enum plx_status plx_session_get(const char *name, const struct plx_session_hooks *hooks,
				struct plx_session **session) PLX_MUST_CHECK;
/**
 * Drop a user. The last one lingers for disconnects (at most PLX_SESSION_LINGER_MS), then closes
 * the session; a separate thread does this if this one is delivering events. At process exit,
 * sessions that are still open linger.
 * Threads: any, without locks; a thread that delivers may hold session->events
 */
void plx_session_put(struct plx_session *session);

/* ---- connect.c: what interfaces need of connections alike; session->events is held ---- */

/**
 * Listen at a port of the session's addresses (bits) at which `listeners` does not listen yet.
 * @param listeners  [PLX_ADAPTER_ADDRESSES_MAX]
 * @param subscriber of the requests
 * Errors: as plx_listen(), with its sentence in the log; what listens by then goes on
 */
enum plx_status plx_session_listen(struct plx_session *session, uint32_t addresses, uint16_t port,
				   struct plx_session_subscriber *subscriber,
				   struct plx_listener **listeners) PLX_MUST_CHECK;
/** Destroy all listeners there are. Errors: TIMEOUT (the engine is stalled: those that are left may
 * deliver requests; call this again) */
enum plx_status plx_session_stop_listening(struct plx_listener **listeners) PLX_MUST_CHECK;
/**
 * The length of a peer's private data. Its message does not carry it: the field is padded with
 * zeros, and in a reply it is longer than `most`, the size of a program's buffer. Trailing zeros
 * within `most` are kept, since they may be data.
 */
uint32_t plx_session_private_bytes(const struct plx_connector_event *event, uint32_t most);
/**
 * Answer a rejection that no program can handle: the peer's port does not carry the path MTU.
 * Connect again with the next smaller one.
 * @param options of the last attempt; its path MTU changes
 * Returns: false: it was rejected for another reason, or cannot be helped
 */
bool plx_session_connect_again(const struct plx_session *session, struct plx_connector *connector,
			       struct plx_qp *qp, struct plx_connect_options *options,
			       const struct plx_connector_event *event);
/** The smaller of a read limit that a program asks for, and its adapter's. */
static inline uint8_t
plx_session_read_limit(uint32_t asked, uint32_t most)
{
	return (uint8_t)(asked < most ? asked : most);
}

/* ---- dispatch.c: finishing pending requests ----
 *
 * Worker mode: a thread of the session sleeps on the descriptors of the channel, of the adapter's
 * asynchronous events, and of all other watches. Inline mode: plx_session_pump() does the same
 * whenever the program waits, polls or queries. */

/** A callback for a descriptor that becomes readable. ready() runs on the dispatcher's thread
 * without locks, and must make the descriptor unreadable. In inline mode there is no descriptor
 * (`fd` is ignored): every pump calls ready(), which checks whether there is work. */
struct plx_session_watch {
	int fd;
	void (*ready)(struct plx_session_watch *watch);
	bool watched; /* private to dispatch.c, as is the next */
	uint32_t slot;
};

/** Start watching a descriptor.
 * Errors: FULL */
enum plx_status plx_session_watch_add(struct plx_session *session,
				      struct plx_session_watch *watch) PLX_MUST_CHECK;
/** Stop watching. ready() is not running when this returns, unless this is the dispatcher's
 * thread. */
void plx_session_watch_remove(struct plx_session *session, struct plx_session_watch *watch);

/** Allocate an id, to be the context of a new queue. */
uint64_t plx_session_queue_id(struct plx_session *session);
/** Start receiving a queue's events.
 * @param queues &session->cqs or &session->srqs */
void plx_session_queue_add(struct plx_session *session, struct plx_list *queues,
			   struct plx_session_queue *queue);
/** Stop receiving a queue's events. on_event() is not running when this returns. */
void plx_session_queue_remove(struct plx_session *session, struct plx_session_queue *queue);

/** Deliver all pending events of connections. Locks session->events.
 * Threads: any */
void plx_session_deliver_events(struct plx_session *session);
/** Deliver them as above, with session->events already held. */
void plx_session_deliver_locked(struct plx_session *session);

/** Inline mode: run a duty cycle and deliver everything that became ready. Worker mode: no effect.
 * @param session a struct plx_session */
void plx_session_pump(void *session);

/** Get the CPUs allowed for the delivering thread; in inline mode, for this thread.
 * Returns: false: unknown */
bool plx_session_cpus(struct plx_session *session, cpu_set_t *cpus);

/* ---- deferred.c: stalled engines ---- */

/** Has a call timed out waiting for the engine, which has not run since? */
bool plx_session_is_stalled(const struct plx_session *session);
/** Have the dispatcher call finish() repeatedly until it returns true. */
void plx_session_defer(struct plx_session *session, struct plx_session_deferred *deferred,
		       plx_session_deferred_fn *finish);
/** Destroy a connector, or defer that if the engine is stalled. session->events is held. */
void plx_session_destroy_connector(struct plx_session *session, struct plx_connector *connector);

/** Has the adapter's host gone? Then nothing may begin to wait. Whoever looks with the lock held
 * under which the end finishes what waits, misses nothing. */
static inline bool
plx_session_host_has_gone(const struct plx_session *session)
{
	return plx_unlikely(atomic_load(&session->host_gone));
}

/* ---- linger.c: unanswered disconnects ---- */

/** Keep a disconnected connector until the peer answers. session->events is held. */
void plx_session_linger(struct plx_session *session, struct plx_connector *connector);
/**
 * Wait for the peer's answer to a disconnect, on a device whose transmissions are lost on exit
 * (info.tx_lost_on_exit). What its ring holds for the peer is lost when the process exits, and a
 * program may exit, running no handler, right after it disconnects. The wait takes microseconds if
 * the peer is alive, and at most PLX_SESSION_ANSWER_MS. Call without locks.
 * @param is_answered called with session->events held
 */
void plx_session_await_answer(struct plx_session *session, bool (*is_answered)(const void *context),
			      const void *context);

/* ---- probe.c ---- */

/**
 * Is every byte readable and, if `writes`, writable? Large memory is not accessed. The owner may
 * still unmap it afterwards, which goes unnoticed.
 * @param bytes 1 ..
 * Cost:  one system call per page, or one scan of the process's map
 * Tests: tests/unit/session/probe.c
 */
bool plx_session_probe_memory(const void *memory, size_t bytes, bool writes);

#endif
