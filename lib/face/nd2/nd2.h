/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects behind ND2's interfaces, and what the files of this room ask of each other.
 * It owns no state. Start with struct nd2_object, then struct nd2_session.
 *
 * An interface pointer is the address of `face`, the first member of each struct; its first word is
 * the table of methods. Data path calls (posts, GetResults) go straight to plx_verbs.h: no lock of
 * ours, no allocation, no system call.
 *
 * Locks, in the order in which they may be taken: nd2_session.events (all that happens to
 * connections), an object's own, that of its list of pending requests, those of lib/windows.
 */
#ifndef PLX_ND2_OBJECTS_H
#define PLX_ND2_OBJECTS_H

#define PLX_COM_IMPLEMENTS
#include <ndspi.h>

#include <sched.h>
#include <stdatomic.h>

#include "plx_base.h"
#include "plx_verbs.h"
#include "plx_objects.h"

/* ---- object.c: lives --------------------------------------------------------------------------
 *
 * `refs` is what the client counts with AddRef and Release, exactly. `holds` counts what keeps the
 * memory: one for all of the client's references together, one for each child and for work that
 * has begun. With the last reference close() quiesces (nothing is pending, the peer gets a DREQ);
 * with the last hold destroy() gives everything back and lets the parents go.
 */

struct nd2_object;
struct nd2_session;

struct nd2_kind {
	const IID *iid;                     /* of its interface */
	bool overlapped;                    /* IID_IND2Overlapped is answered, too */
	void (*close)(struct nd2_object *); /* may be NULL */
	/* before destroy(), what only the engine can do; TIMEOUT: it stands still, nothing has
	 * changed, and this will be called again. NULL: there is nothing */
	enum plx_status (*teardown)(struct nd2_object *);
	void (*destroy)(struct nd2_object *);
};

/* Something that waits until the engine runs again: deferred.c. */
struct nd2_deferred;
/* Returns: false: the engine stands still again, and it will be called again */
typedef bool nd2_deferred_fn(struct nd2_deferred *deferred);

struct nd2_deferred {
	struct plx_list node;
	nd2_deferred_fn *finish;
};

struct nd2_object {
	const struct nd2_kind *kind;
	void *face;
	struct nd2_session *session; /* NULL: of none */
	atomic_uint refs, holds;
	struct nd2_deferred deferred;
};

/** One reference, one hold, and the module counts it (DllCanUnloadNow). */
void nd2_object_init(struct nd2_object *object, const struct nd2_kind *kind,
		     struct nd2_session *session, void *face);
void nd2_object_get(struct nd2_object *object);
void nd2_object_put(struct nd2_object *object);
/** After the last hold, when the engine has let go: it is gone. For deferred.c. */
void nd2_object_end(struct nd2_object *object);

/* The three methods, for every table. Status: docs/nd2.md. */
HRESULT nd2_query_interface(struct nd2_object *object, REFIID iid, void **out);
ULONG nd2_add_ref(struct nd2_object *object);
ULONG nd2_release(struct nd2_object *object);

/** GetOverlappedResult of every object: the answer is in the OVERLAPPED, whosever request it was.
 * Errors: ND_INVALID_PARAMETER (none) */
HRESULT nd2_overlapped_result(OVERLAPPED *overlapped, BOOL wait);

/** How many objects live in this module, of any kind. */
uint32_t nd2_objects_alive(void);

/**
 * At the head of Create*: is `out` there, and `iid` that of `kind`? `*out` becomes NULL.
 * Returns: ND_SUCCESS, E_POINTER, E_NOINTERFACE
 */
HRESULT nd2_check_create(REFIID iid, const IID *wanted, void **out);

/* ---- status.c: what a status of ours is called in ND2 -------------------------------------------
 */

/** Of a completion. docs/nd2.md, L4 to L7. Hot.
 * @param receive of a receive queue: PLX_WC_RECV */
HRESULT nd2_completion_status(uint8_t status, bool receive);
/** Of a refused call, where the method has no own word for it. */
HRESULT nd2_call_status(enum plx_status status);

/* ---- address.c
 * ------------------------------------------------------------------------------------
 */

/** Errors: ND_INVALID_ADDRESS (family neither IPv4 nor IPv6, or `length` too small for it) */
HRESULT nd2_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip,
			 uint16_t *port);
/** Exactly 16 or 28 bytes. @param length [in/out] Errors: ND_BUFFER_OVERFLOW (untouched, length
 * needed), ND_INVALID_PARAMETER (no length) */
HRESULT nd2_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out,
			  ULONG *length);
/** The two-call pattern of QueryAddressList. */
HRESULT nd2_address_list(const struct plx_ip *ip, uint32_t n, SOCKET_ADDRESS_LIST *out,
			 ULONG *length);
bool nd2_is_any(const struct plx_ip *ip);
bool nd2_is_loopback(const struct plx_ip *ip);
bool nd2_same_ip(const struct plx_ip *a, const struct plx_ip *b);

/* ---- session.c: one open adapter of Pollux, shared by all that were opened on it
 * --------------------- */

enum {
	ND2_CHANNEL_DEPTH = 1024,
	ND2_MIN_SGES = 4,       /* docs/nd2.md, L14 */
	ND2_READ_LIMIT = 16,    /* advertised; 255 at most fit the wire */
	ND2_FIRST_PORT = 49152, /* of ports that are chosen */
	/* at exit, for disconnects that were not answered: four tries, 1.2 s apart */
	ND2_LINGER_MS = 3700,
	ND2_ANSWER_MS = 500, /* in Disconnect, where what was sent is gone with the process */
};

/* What a descriptor's readiness calls, on the dispatcher's thread; it must make the descriptor
 * unreadable. In inline mode there is no descriptor (`fd` is not looked at): every pump calls
 * ready(), which finds out itself whether there is something. No lock is held meanwhile. */
struct nd2_watch {
	int fd;
	void (*ready)(struct nd2_watch *watch);
	bool watched; /* dispatch.c's own, with the next */
	uint32_t slot;
};

enum nd2_session_state {
	ND2_SESSION_OPENING, /* by another thread: wait for it */
	ND2_SESSION_OPEN,
	ND2_SESSION_CLOSING, /* the last user has gone; the next one waits, and opens it anew */
};

struct nd2_session {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	uint64_t id; /* AdapterId: of the name, stable from run to run */
	enum nd2_session_state state;
	struct plx_adapter *adapter;
	struct plx_event_channel *channel;
	struct plx_adapter_info info;
	ND2_ADAPTER_INFO limits;
	bool inline_mode;
	struct plx_pump *pump; /* in inline mode, from its opening on */

	/* held around all calls about connections, delivery of the channel's events included */
	pthread_mutex_t events;
	struct nd2_connection_tables
		*tables; /* connector.c's own: port numbers, lingering connectors */

	pthread_mutex_t lock;      /* of what follows */
	struct plx_list cqs, srqs; /* alive: async events name them by `id`, never given twice */
	struct nd2_dispatch *dispatch; /* dispatch.c's own; no thread in inline mode */

	/* deferred.c's own: what waits for an engine that stands still */
	pthread_mutex_t deferred_lock;
	struct plx_list deferred; /* struct nd2_deferred */
	atomic_uint deferred_count;
	atomic_bool stalled;

	atomic_ulong next_id; /* of cqs and srqs: see there */

	/* session.c's own, under its lock, with `state` */
	uint32_t users;
	bool lingered;
	struct plx_list node;
};

/** Open the session of an adapter's name, or share it. Errors: ND_NO_MEMORY, ND_DEVICE_NOT_READY,
 * ND_INSUFFICIENT_RESOURCES; the sentence goes to nd2_log() */
HRESULT nd2_session_get(const char *name, struct nd2_session **session);
/** The last one lingers for disconnects (ND2_LINGER_MS at most), then closes it; on a thread of its
 * own when this one is delivering events. Called without locks, but for session->events then. */
void nd2_session_put(struct nd2_session *session);

/** The AdapterId of a name: the same in every process, never 0. */
uint64_t nd2_session_id(const char *name);

/** The sentence of a failure that ND2's status cannot carry: to stderr when POLLUX_ND2_LOG is set.
 */
void nd2_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- dispatch.c: who finishes what pends
 * ------------------------------------------------------------
 *
 * Worker mode: a thread of the session sleeps on the descriptors of the channel, of the adapter's
 * asynchronous events and of completion queues that somebody waits for. Inline mode: the same, when
 * the client waits, polls or asks: nd2_session_pump().
 */

HRESULT nd2_dispatch_start(struct nd2_session *session);
void nd2_dispatch_stop(struct nd2_session *session);

/** The dispatcher looks again at what it waits for. Inline mode: nothing. */
void nd2_dispatch_wake(struct nd2_session *session);

/** Watch a descriptor from now on. ND_INSUFFICIENT_RESOURCES */
HRESULT nd2_watch_add(struct nd2_session *session, struct nd2_watch *watch);
/** When it returns ready() is not running, unless this thread is the dispatcher's. */
void nd2_watch_remove(struct nd2_session *session, struct nd2_watch *watch);

/**
 * Deliver every event of connections that is there now (to nd2_connection_event(),
 * nd2_session.events held). Any thread. GetResults calls it before it returns an
 * entry that was flushed: so a disconnect is delivered first (tests/unit/face/nd2, A27).
 */
void nd2_session_deliver_events(struct nd2_session *session);

/** Inline mode: a duty cycle, and everything that came of it. Worker mode: nothing. A plx_pump_fn.
 */
void nd2_session_pump(void *session);

/** Where the thread that delivers may run; in inline mode: this thread. Returns: false: not known
 */
bool nd2_dispatch_cpus(struct nd2_session *session, cpu_set_t *cpus);

/**
 * Inline mode: the adapter is this thread's from now on, which alone moves it in its waits; when it
 * returns no other thread does. Every method that needs the engine begins with it, before it takes
 * a lock; posts and GetResults do not (docs/nd2.md, Threads). Worker mode: nothing.
 */
static inline void
nd2_session_claim(const struct nd2_session *session)
{
	if (plx_unlikely(session->pump != NULL))
		plx_pump_claim(session->pump);
}

/** Is this thread delivering events just now, so that it must not wait for their end? */
bool nd2_delivering(void);

/* ---- deferred.c: an engine that stands still
 * ------------------------------------------------------------
 */

void nd2_deferred_init(struct nd2_session *session);
/** No dispatcher runs any more: wait, for as long as it takes, until nothing is deferred. */
void nd2_deferred_drain(struct nd2_session *session);
/** The dispatcher: finish what can be finished. Takes milliseconds while the engine stands still.
 */
void nd2_deferred_run(struct nd2_session *session);
/** When to do that [ms, from now]; -1: nothing is deferred. */
int nd2_deferred_wait_ms(const struct nd2_session *session);
/** A call has waited for the engine in vain, and it has not run since. */
bool nd2_is_stalled(const struct nd2_session *session);
/** Have the dispatcher call finish(), again and again until it returns true. */
void nd2_defer(struct nd2_session *session, struct nd2_deferred *deferred, nd2_deferred_fn *finish);
/** An object's teardown(). Returns: false: that will be called by the dispatcher, and destroy()
 * then
 */
bool nd2_teardown(struct nd2_object *object);

/* ---- adapter.c
 * ----------------------------------------------------------------------------------------
 */

struct nd2_adapter {
	IND2Adapter face;
	struct nd2_object object;
	struct nd2_session *session;
	struct plx_pd *pd; /* its regions and queue pairs are of one domain */
};

HRESULT nd2_adapter_create(struct nd2_session *session, REFIID iid, void **out);

static inline struct nd2_adapter *
nd2_adapter_of(IND2Adapter *face)
{
	return (struct nd2_adapter *)(void *)face;
}

/* ---- objects that Create* makes
 * -------------------------------------------------------------------
 *
 * Each create: the method of IND2Adapter behind it, with the adapter in front. Whose object an
 * interface pointer is, is found by its table: a pointer of another provider, or of another
 * adapter, is none (nd2_cq_of() and so on give NULL).
 */

struct nd2_cq {
	IND2CompletionQueue face;
	struct nd2_object object;
	struct nd2_adapter *adapter; /* held */
	struct plx_cq *cq;
	struct plx_pending_list pending;
	struct plx_list node; /* in session->cqs */
	uint64_t id;          /* of its events: of this session, and of no other queue before it */
	struct nd2_watch watch;
	struct nd2_notify *notify; /* cq.c's own: who waits for what kind */
	uint32_t depth;
	/* the session's, where GetResults finds it: does a look for nothing do more than look? */
	bool pumps, yields;
	atomic_uint idle_looks; /* if so; one of two threads at once need not count */
};

struct nd2_srq {
	IND2SharedReceiveQueue face;
	struct nd2_object object;
	struct nd2_adapter *adapter;
	struct plx_srq *srq;
	struct plx_pending_list pending;
	struct plx_list node; /* in session->srqs */
	uint64_t id;
	pthread_mutex_t lock; /* of what follows */
	struct plx_list waiters;
	uint32_t depth, sges, threshold;
	bool armed;    /* the engine raises an event when there are fewer than the threshold */
	bool doubtful; /* ... of something else than the next one who waits wants to know */
};

struct nd2_mr {
	IND2MemoryRegion face;
	struct nd2_object object;
	struct nd2_adapter *adapter;
	struct plx_pending_list pending;
	pthread_mutex_t lock;
	struct plx_mr *mr; /* NULL: not registered */
	atomic_uint token; /* as GetLocalToken gives it; 0: not registered */
	struct plx_pending
		*deregistering;       /* a Deregister that waits for the engine; holds the object */
	struct nd2_deferred deferred; /* ... */
};

struct nd2_mw {
	IND2MemoryWindow face;
	struct nd2_object object;
	struct nd2_adapter *adapter;
	pthread_mutex_t lock;
	struct plx_mw *mw;
	struct nd2_mr *bound; /* held while bound, or bound last */
	atomic_uint token;    /* as GetRemoteToken gives it */
};

/* How far a queue pair's connection has come, for what posts must answer. */
enum nd2_qp_phase {
	ND2_QP_NEVER,     /* never connected: ND_CONNECTION_INVALID but for Receive and Flush */
	ND2_QP_CONNECTED, /* ... or has been: posts go to plx_verbs.h */
};

struct nd2_qp {
	IND2QueuePair face;
	struct nd2_object object;
	struct nd2_adapter *adapter;
	struct plx_qp *qp;
	struct nd2_cq *receive_cq, *initiator_cq;
	struct nd2_srq *srq;
	uint32_t max_receive_sges, max_initiator_sges, inline_bytes;
	atomic_int phase;                /* enum nd2_qp_phase */
	atomic_bool claimed;             /* by a connector: */
	struct nd2_connector *connector; /* under session->events */
	atomic_bool broken;              /* flushed: not to be connected (again) */
};

HRESULT nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, ULONG depth,
		      void **out);
HRESULT nd2_srq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, ULONG depth,
		       ULONG sges, ULONG threshold, void **out);
HRESULT nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);
HRESULT nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out);

/* Arguments of both CreateQueuePair methods; `srq` NULL for the first. The position numbers of
 * ND_INVALID_PARAMETER_n differ: the caller names them. */
struct nd2_qp_init_attr {
	IUnknown *receive_cq, *initiator_cq, *srq;
	bool with_srq;
	void *context;
	ULONG receive_depth, initiator_depth, receive_sges, initiator_sges, inline_bytes;
};
HRESULT nd2_qp_create(struct nd2_adapter *adapter, REFIID iid, const struct nd2_qp_init_attr *attr,
		      void **out);

struct nd2_cq *nd2_cq_of(const struct nd2_adapter *adapter, IUnknown *face);
struct nd2_srq *nd2_srq_of(const struct nd2_adapter *adapter, IUnknown *face);
struct nd2_mr *nd2_mr_of(const struct nd2_adapter *adapter, IUnknown *face);
struct nd2_mw *nd2_mw_of(const struct nd2_adapter *adapter, IUnknown *face);
struct nd2_qp *nd2_qp_of(const struct nd2_adapter *adapter, IUnknown *face);

/** An armed kind has fired: on the dispatcher's thread, or in a pump. */
void nd2_cq_deliver_events(struct nd2_cq *cq);
/** PLX_EVENT_CQ_OVERRUN, PLX_EVENT_SRQ_THRESHOLD; session->lock is held. */
void nd2_cq_overrun(struct nd2_cq *cq);
void nd2_srq_below(struct nd2_srq *srq);

/* ---- connector.c, listener.c
 * ------------------------------------------------------------------------ */

HRESULT nd2_connector_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);
HRESULT nd2_listener_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);

/** The tables of a session. ND_NO_MEMORY */
HRESULT nd2_connections_start(struct nd2_session *session);
/**
 * At the end of the process, and before nd2_connections_stop(): disconnect whatever is connected
 * still, and wait ND2_LINGER_MS at most until every disconnect was answered. Changes nothing else:
 * other threads may still be in any call.
 */
void nd2_connections_linger(struct nd2_session *session);
/** Forgets what nd2_connections_linger() has waited for. No event comes any more, no object is. */
void nd2_connections_stop(struct nd2_session *session);

/** An event of the channel; session->events is held. */
void nd2_connection_event(struct nd2_session *session, const struct plx_connector_event *event);

/** The last Release of a queue pair that a connector has claimed: as Disconnect, Reject or giving
 * up. Called without locks. */
void nd2_connection_of_qp_ends(struct nd2_qp *qp);

/* ---- provider.c: what the library exports
 * -------------------------------------------------------- */

PLX_API HRESULT STDMETHODCALLTYPE DllGetClassObject(REFCLSID class_id, REFIID iid, void **out);
PLX_API HRESULT STDMETHODCALLTYPE DllCanUnloadNow(void);

#endif
