/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every interface above verbs needs: open adapters by name and by address, one dispatcher for
 * each, connections that end before the process does, port numbers, socket addresses, and counts of
 * who holds an object.
 * It knows no interface: no status, handle or object of one; what an interface adds is in struct
 * plx_session_hooks, and what it wants to hear it subscribes to. Start with struct plx_session.
 *
 * Locks, in the order in which they may be taken: plx_session.events (all that happens to
 * connections), an interface's own, plx_session.lock. While the dispatcher calls somebody it holds
 * none but those that a comment names.
 */
#ifndef PLX_SESSION_H
#define PLX_SESSION_H

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "plx_base.h"
#include "plx_verbs.h"

enum {
	PLX_SESSION_CHANNEL_DEPTH = 1024, /* events of connections; more wait in the engine */
	PLX_SESSION_FIRST_PORT = 49152,   /* of ports that are chosen: IANA's dynamic range */
	PLX_SESSION_PORT_WORDS = 65536 / 64,
	/* at exit, for disconnects that were not answered: four tries, 1.2 s apart */
	PLX_SESSION_LINGER_MS = 3700,
	PLX_SESSION_ANSWER_MS = 500, /* plx_session_await_answer() */
};

struct plx_session;

/* ---- hold.c: lives of objects -------------------------------------------------------------------
 *
 * An interface's object is kept by holds: one for its users together, one for each child, and one
 * for each piece of work that has begun. With the last hold teardown() takes it from the engine,
 * and destroy() gives everything back and lets the parents go.
 */

/** What waits until the engine runs again. */
struct plx_session_deferred;
/* Returns: false: the engine stands still again, and it will be called again */
typedef bool plx_session_deferred_fn(struct plx_session_deferred *deferred);

struct plx_session_deferred {
	struct plx_list node;
	plx_session_deferred_fn *finish;
};

struct plx_session_object;

struct plx_session_kind {
	/* before destroy(), what only the engine can do; TIMEOUT: it stands still, nothing has
	 * changed, and this will be called again. NULL: there is nothing */
	enum plx_status (*teardown)(struct plx_session_object *);
	void (*destroy)(struct plx_session_object *);
};

struct plx_session_object {
	const struct plx_session_kind *kind;
	struct plx_session *session; /* NULL: of none */
	atomic_uint holds;
	struct plx_session_deferred deferred;
};

/** One hold, and the object is counted as alive. @param session NULL: of none, and no teardown() */
void plx_session_object_init(struct plx_session_object *object, const struct plx_session_kind *kind,
			     struct plx_session *session);
/** One hold more. Threads: any that has one. */
void plx_session_object_hold(struct plx_session_object *object);
/** One hold less; the last one ends the object, later when the engine stands still. */
void plx_session_object_release(struct plx_session_object *object);
/** How many objects live, of any kind, whose destroy() has not returned. */
uint32_t plx_session_objects_alive(void);

/* ---- sockaddr.c: socket addresses ---------------------------------------------------------------
 */

/**
 * Read a socket address, which may lie at any alignment and be longer than its family needs.
 * Errors: INVALID (family neither IPv4 nor IPv6, or `length` too small for it)
 * Tests:  tests/unit/session/sockaddr.c
 */
enum plx_status plx_session_sockaddr_read(const struct sockaddr *address, size_t length,
					  struct plx_ip *ip, uint16_t *port) PLX_MUST_CHECK;
/** How many bytes plx_session_sockaddr_write() writes: 16 or 28. */
size_t plx_session_sockaddr_bytes(const struct plx_ip *ip);
/** Write a socket address. @param out [plx_session_sockaddr_bytes(ip)] at any alignment */
void plx_session_sockaddr_write(const struct plx_ip *ip, uint16_t port, void *out);
/** Is this the address that stands for all of its family? */
bool plx_session_ip_is_any(const struct plx_ip *ip);
/** Does it mean the machine itself, whatever its addresses are? */
bool plx_session_ip_is_loopback(const struct plx_ip *ip);
/** Are both the same address, of the same family? */
bool plx_session_ip_equal(const struct plx_ip *a, const struct plx_ip *b);

/* ---- port_numbers.c -----------------------------------------------------------------------------
 */

/** Port numbers in use, by address: zeros to begin with. */
struct plx_session_port_numbers {
	uint64_t bits[PLX_ADAPTER_ADDRESSES_MAX][PLX_SESSION_PORT_WORDS];
	uint16_t next; /* to be chosen */
};

/**
 * Reserve a port number at all `addresses` (bits), or at none.
 * @param port [in/out] 0: choose one of PLX_SESSION_FIRST_PORT .. 65535
 * Errors: BUSY (in use at one of them), FULL (none is left to choose)
 * Tests:  tests/unit/session/port_numbers.c
 */
enum plx_status plx_session_reserve_port(struct plx_session_port_numbers *numbers,
					 uint32_t addresses, uint16_t *port) PLX_MUST_CHECK;
/** Give a reserved port number back. @param addresses those of plx_session_reserve_port() */
void plx_session_release_port(struct plx_session_port_numbers *numbers, uint32_t addresses,
			      uint16_t port);
/** Bits of the session's addresses that `ip` means: itself, or all of its family. */
uint32_t plx_session_addresses(const struct plx_session *session, const struct plx_ip *ip);

/* ---- directory.c: adapters that the configuration file names ------------------------------------
 */

/** Names of adapters. */
struct plx_session_names {
	char (*name)[PLX_ADAPTER_NAME_MAX + 1];
	uint32_t n;
};

/**
 * Read the names of all adapters; neither starts the EAL nor opens a device.
 * @param out [out] free() its `name`
 * Errors: NO_MEMORY (no sentence), CONFIG
 */
enum plx_status plx_session_names_read(struct plx_session_names *out,
				       struct plx_why *why) PLX_MUST_CHECK;

/** Addresses of adapters, and whose each is: an index into `names`. */
struct plx_session_directory {
	struct plx_session_names names;
	struct plx_ip *ip; /* [n] */
	uint32_t *name_of; /* [n] */
	uint32_t n;
};

/**
 * Read every address of every adapter.
 * Errors: NO_MEMORY (no sentence), CONFIG; nothing is to be freed then
 */
enum plx_status plx_session_directory_read(struct plx_session_directory *out,
					   struct plx_why *why) PLX_MUST_CHECK;
/** The name of the adapter that has the address, the directory's own; NULL: none has it. */
const char *plx_session_directory_find(const struct plx_session_directory *directory,
				       const struct plx_ip *ip);
/** Free what plx_session_directory_read() has allocated. */
void plx_session_directory_free(struct plx_session_directory *directory);

/* ---- session.c: one open adapter, shared by all that were opened on its name --------------------
 */

/** What an interface adds. Of each member NULL: nothing. */
struct plx_session_hooks {
	const char *name; /* three letters, of its threads */
	/* A sentence for whoever looks for a fault. */
	void (*log)(const char *format, va_list arguments);
	/* The session is open, and nobody uses it yet; sets `session->own`.
	 * Errors: any; stop() is not called then */
	enum plx_status (*start)(struct plx_session *session);
	/* No connection is left, and nothing comes from the dispatcher any more in inline mode. */
	void (*stop)(struct plx_session *session);
	/* Inline mode: this thread moves the adapter from now on. Without locks. */
	void (*claim)(struct plx_session *session);
	/* At its end: disconnect whatever is connected. session->events is held. */
	void (*disconnect)(struct plx_session *session);
	/* ... and was every disconnect answered? session->events is held. */
	bool (*is_disconnected)(struct plx_session *session);
};

/** Receives the events of connectors: their context, as a uint64_t. A context of 0: they are
 * dropped. Of a listener it receives the requests. */
struct plx_session_subscriber {
	/* session->events is held, and this thread is the one that delivers */
	void (*on_event)(struct plx_session *session, struct plx_session_subscriber *subscriber,
			 const struct plx_connector_event *event);
};

/** Receives the asynchronous events of a completion queue or shared receive queue, whose context is
 * `id`. */
struct plx_session_queue {
	struct plx_list node;
	uint64_t id; /* of no other queue of the session, before or after it */
	/* session->lock is held; the only event there is of the kind of queue */
	void (*on_event)(struct plx_session_queue *queue);
};

enum plx_session_state {
	PLX_SESSION_OPENING, /* by another thread: wait for it */
	PLX_SESSION_OPEN,
	PLX_SESSION_CLOSING, /* the last user has gone; the next one waits, and opens it anew */
};

struct plx_session {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	const struct plx_session_hooks *hooks;
	void *own; /* the interface's */
	struct plx_adapter *adapter;
	struct plx_event_channel *channel;
	struct plx_adapter_info info;
	bool inline_mode;

	/* held around all calls about connections, delivery of the channel's events included */
	pthread_mutex_t events;
	/* under it: port numbers of who connects and of who listens, two spaces */
	struct plx_session_port_numbers active, passive;
	struct plx_list lingering; /* linger.c's own */

	pthread_mutex_t lock;      /* of the next */
	struct plx_list cqs, srqs; /* struct plx_session_queue, alive */
	atomic_ulong next_id;      /* of these */

	struct plx_session_dispatch *dispatch; /* dispatch.c's own; no thread in inline mode */

	/* deferred.c's own: what waits for an engine that stands still */
	pthread_mutex_t deferred_lock;
	struct plx_list deferred; /* struct plx_session_deferred */
	atomic_uint deferred_count;
	atomic_bool stalled;

	/* session.c's own, under its lock */
	enum plx_session_state state;
	uint32_t users;
	bool started, lingered;
	struct plx_list node;
};

/**
 * Open the session of an adapter's name, or share it.
 * Errors: NO_MEMORY, NO_DEVICE (the adapter cannot be opened; the sentence goes to log()), FULL
 *         (descriptors or threads), BUSY (it is another interface's), those of start()
 * Threads: any; waits for another thread that opens or closes the same one
 * Tests:   tests/unit/session/session.c
 */
enum plx_status plx_session_get(const char *name, const struct plx_session_hooks *hooks,
				struct plx_session **session) PLX_MUST_CHECK;
/**
 * One user less. The last one lingers for disconnects (PLX_SESSION_LINGER_MS at most), then closes
 * it; on a thread of its own when this one is delivering events. A process that ends lingers for
 * sessions that are still open.
 * Threads: any, without locks but for session->events of a thread that delivers
 */
void plx_session_put(struct plx_session *session);

/* ---- dispatch.c: who finishes what pends --------------------------------------------------------
 *
 * Worker mode: a thread of the session sleeps on the descriptors of the channel, of the adapter's
 * asynchronous events and of whatever else is watched. Inline mode: the same when the program
 * waits, polls or asks: plx_session_pump().
 */

/** What a descriptor's readiness calls, on the dispatcher's thread; it must make the descriptor
 * unreadable. In inline mode there is no descriptor (`fd` is not looked at): every pump calls
 * ready(), which finds out itself whether there is something. No lock is held meanwhile. */
struct plx_session_watch {
	int fd;
	void (*ready)(struct plx_session_watch *watch);
	bool watched; /* dispatch.c's own, with the next */
	uint32_t slot;
};

/** Watch a descriptor from now on. Errors: FULL */
enum plx_status plx_session_watch_add(struct plx_session *session,
				      struct plx_session_watch *watch) PLX_MUST_CHECK;
/** When it returns ready() is not running, unless this thread is the dispatcher's. */
void plx_session_watch_remove(struct plx_session *session, struct plx_session_watch *watch);

/** An id for the context of a queue that is about to be created. */
uint64_t plx_session_queue_id(struct plx_session *session);
/** Receive a queue's events from now on. @param queues &session->cqs or &session->srqs */
void plx_session_queue_add(struct plx_session *session, struct plx_list *queues,
			   struct plx_session_queue *queue);
/** When it returns on_event() is not running. */
void plx_session_queue_remove(struct plx_session *session, struct plx_session_queue *queue);

/** Deliver every event of connections that is there now, session->events being taken. Threads: any
 */
void plx_session_deliver_events(struct plx_session *session);
/** The same, session->events being held. */
void plx_session_deliver_locked(struct plx_session *session);

/** Inline mode: a duty cycle, and everything that came of it. Worker mode: nothing.
 * @param session a struct plx_session */
void plx_session_pump(void *session);

/** Where the thread that delivers may run; in inline mode: this thread. Returns: false: not known
 */
bool plx_session_cpus(struct plx_session *session, cpu_set_t *cpus);

/* ---- deferred.c: an engine that stands still ----------------------------------------------------
 */

/** A call has waited for the engine in vain, and it has not run since. */
bool plx_session_is_stalled(const struct plx_session *session);
/** Have the dispatcher call finish(), again and again until it returns true. */
void plx_session_defer(struct plx_session *session, struct plx_session_deferred *deferred,
		       plx_session_deferred_fn *finish);
/** Destroy a connector, or defer that when the engine stands still. session->events is held. */
void plx_session_destroy_connector(struct plx_session *session, struct plx_connector *connector);

/* ---- linger.c: disconnects that nobody has answered ---------------------------------------------
 */

/** Keep a connector that was disconnected until the peer answers. session->events is held. */
void plx_session_linger(struct plx_session *session, struct plx_connector *connector);
/**
 * After a disconnect on a device whose transmissions are lost on exit (info.tx_lost_on_exit): what
 * its ring holds for the peer is gone when this process is, and a program may end with no handler
 * running as soon as it has disconnected. So the peer's answer is waited for: microseconds from a
 * peer that lives, PLX_SESSION_ANSWER_MS at most. Without locks.
 * @param is_answered called with session->events held
 */
void plx_session_await_answer(struct plx_session *session, bool (*is_answered)(const void *context),
			      const void *context);

/* ---- probe.c ------------------------------------------------------------------------------------
 */

/**
 * May every byte of it be read, and written when `writes`? Large memory is not touched. What its
 * owner unmaps afterwards is not found.
 * @param bytes 1 ..
 * Cost:  a system call a page, or a look at the process's map
 * Tests: tests/unit/session/probe.c
 */
bool plx_session_probe_memory(const void *memory, size_t bytes, bool writes);

#endif
