/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects behind ND2's interfaces, and the functions that the files of this room share.
 * It owns no state. Start with struct nd2_object; what is not specific to ND2 is in plx_session.h.
 *
 * An interface pointer is the address of the object, whose first word points to the table of
 * methods. Data path calls (posts, GetResults) go straight to plx_verbs.h, without a lock of this
 * room, an allocation or a system call.
 *
 * Lock order: plx_session.events (for all events of connections), the object's own lock, the lock
 * of its list of pending requests, those of lib/windows.
 */
#ifndef PLX_ND2_OBJECTS_H
#define PLX_ND2_OBJECTS_H

#define PLX_COM_IMPLEMENTS
#include <ndspi.h>

#include <sched.h>
#include <stdatomic.h>

#include "plx_base.h"
#include "plx_objects.h"
#include "plx_session.h"
#include "plx_verbs.h"

/* ---- object.c: lifetime ----
 *
 * `refs` is exactly the client's count of AddRef and Release. The holds of `base` keep the memory:
 * one for all references of the client together, one for each child and for each operation in
 * progress. The last Release calls close(), which quiesces the object (nothing stays pending, the
 * peer gets a DREQ). Releasing the last hold calls base.destroy(), which frees everything.
 */

struct nd2_adapter;
struct nd2_object;

struct nd2_kind {
	struct plx_session_kind base;
	const void *table;                  /* the methods of its interface */
	const IID *iid;                     /* of its interface */
	size_t bytes;                       /* of its struct, which begins with the object */
	bool overlapped;                    /* supports IID_IND2Overlapped, too */
	void (*close)(struct nd2_object *); /* may be NULL */
};

struct nd2_object {
	const void *table; /* first: what its interface pointer points to */
	struct plx_session_object base;
	const struct nd2_kind *kind;
	struct nd2_adapter *adapter;     /* held; NULL: not made by one */
	struct plx_pending_list pending; /* if its kind is overlapped */
	atomic_uint refs;
};

/**
 * Allocate an object, zeroed except for its nd2_object. Until nd2_object_init() it is not counted,
 * and is taken back by nd2_object_free().
 * @param adapter that makes it; may be NULL
 * @param file on which its requests finish; ignored if the kind is not overlapped
 * @param status [out] ND_SUCCESS, ND_INVALID_HANDLE, ND_NO_MEMORY
 * Returns: its struct; NULL on failure
 */
void *nd2_object_alloc(const struct nd2_kind *kind, struct nd2_adapter *adapter, HANDLE file,
		       HRESULT *status);
/** Initialize an object with one reference and one hold, and count it in the module
 * (DllCanUnloadNow). */
void nd2_object_init(struct nd2_object *object, struct plx_session *session);
/** Free the memory of an object, and release its adapter: the last step of each destroy(). */
void nd2_object_free(struct plx_session_object *base);

/** Find the object of an interface pointer. Returns: NULL: not of this kind, or not made by this
 * adapter; otherwise its struct */
void *nd2_object_find(const struct nd2_kind *kind, const struct nd2_adapter *adapter,
		      IUnknown *face);

/* nd2_NAME_of(): the object of the interface pointer that a method is called with. */
#define ND2_OBJECT_OF(name, Face)                                    \
	static inline struct nd2_##name *nd2_##name##_of(Face *face) \
	{                                                            \
		return (struct nd2_##name *)(void *)face;            \
	}                                                            \
	_Static_assert(offsetof(struct nd2_##name, object) == 0, "a face is its object's address")

static inline void
nd2_object_get(struct nd2_object *object)
{
	plx_session_object_hold(&object->base);
}

static inline void
nd2_object_put(struct nd2_object *object)
{
	plx_session_object_release(&object->base);
}

/* The methods of IUnknown, for every table. Status: docs/nd2.md. */
HRESULT nd2_query_interface(struct nd2_object *object, REFIID iid, void **out);
ULONG nd2_add_ref(struct nd2_object *object);
ULONG nd2_release(struct nd2_object *object);

/** GetOverlappedResult of every object. The result is in the OVERLAPPED, whichever object began the
 * request. Errors: ND_INVALID_PARAMETER (no OVERLAPPED) */
HRESULT nd2_overlapped_result(struct nd2_object *object, OVERLAPPED *overlapped, BOOL wait);

/** Report the status of a method that takes an OVERLAPPED, unless it pends. Returns: the status */
HRESULT nd2_settle(OVERLAPPED *overlapped, HRESULT status);

/* The same three methods for a table, as NAME_query_interface() and so on. */
#define ND2_IUNKNOWN(name, Face)                                                         \
	static HRESULT STDMETHODCALLTYPE name##_query_interface(Face *face, REFIID iid,  \
								void **out)              \
	{                                                                                \
		return nd2_query_interface((struct nd2_object *)(void *)face, iid, out); \
	}                                                                                \
	static ULONG STDMETHODCALLTYPE name##_add_ref(Face *face)                        \
	{                                                                                \
		return nd2_add_ref((struct nd2_object *)(void *)face);                   \
	}                                                                                \
	static ULONG STDMETHODCALLTYPE name##_release(Face *face)                        \
	{                                                                                \
		return nd2_release((struct nd2_object *)(void *)face);                   \
	}                                                                                \
	_Static_assert(offsetof(struct nd2_object, table) == 0, "the object of a face")

/* ... and of an object with requests, NAME_get_overlapped_result(). */
#define ND2_IOVERLAPPED(name, Face)                                                                \
	static HRESULT STDMETHODCALLTYPE name##_get_overlapped_result(                             \
		Face *face, OVERLAPPED *overlapped, BOOL wait)                                     \
	{                                                                                          \
		return nd2_overlapped_result((struct nd2_object *)(void *)face, overlapped, wait); \
	}                                                                                          \
	ND2_IUNKNOWN(name, Face)

/**
 * Check the arguments of a Create*: is `out` not NULL, and is `iid` equal to `wanted`? `*out`
 * becomes NULL.
 * Returns: ND_SUCCESS, E_POINTER, E_NOINTERFACE
 */
HRESULT nd2_check_create(REFIID iid, const IID *wanted, void **out);

/* ---- status.c: from plx_status to HRESULT ---- */

/**
 * The status of a completion. docs/nd2.md, L4 to L7. Hot.
 * @param receive of a receive queue: PLX_WC_RECV
 */
HRESULT nd2_completion_status(uint8_t status, bool receive);
/** The status of a refused call, unless the method uses a more specific one. */
HRESULT nd2_call_status(enum plx_status status);

/* ---- address.c ---- */

/** Read a socket address. Errors: ND_INVALID_ADDRESS (family neither IPv4 nor IPv6, or `length` too
 * small for it) */
HRESULT nd2_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip,
			 uint16_t *port);
/**
 * Write a socket address of exactly 16 or 28 bytes.
 * @param length [in/out]
 * Errors: ND_BUFFER_OVERFLOW (`out` unchanged, `length` is what is needed), ND_INVALID_PARAMETER
 * (no length)
 */
HRESULT nd2_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out,
			  ULONG *length);
/** Write a list of addresses, by the two-call pattern of QueryAddressList. */
HRESULT nd2_address_list(const struct plx_ip *ip, uint32_t n, SOCKET_ADDRESS_LIST *out,
			 ULONG *length);

/* ---- hooks.c: what ND2 adds to a session ---- */

enum {
	ND2_MIN_SGES = 4,    /* docs/nd2.md, L14 */
	ND2_READ_LIMIT = 16, /* advertised; the wire format allows up to 255 */
};

struct nd2_session {
	ND2_ADAPTER_INFO limits;
	struct plx_pump *pump;      /* in inline mode, from opening on */
	struct plx_list connectors; /* under plx_session.events: struct nd2_connector */
};

extern const struct plx_session_hooks nd2_hooks;

static inline struct nd2_session *
nd2_session_of(const struct plx_session *session)
{
	return session->own;
}

static inline const ND2_ADAPTER_INFO *
nd2_limits(const struct plx_session *session)
{
	return &nd2_session_of(session)->limits;
}

/** The AdapterId of an adapter's name: the same in every process, never 0. */
uint64_t nd2_adapter_id(const char *name);

/** Log the details of a failure that ND2's status cannot carry: to stderr if POLLUX_ND2_LOG is set.
 */
void nd2_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** In inline mode, make this thread the only one whose waits poll the adapter. When this returns,
 * no other thread polls it. Every method that needs the engine calls this first, before it takes a
 * lock; posts and GetResults do not (docs/nd2.md, Threads). In worker mode it does nothing. */
static inline void
nd2_session_claim(const struct plx_session *session)
{
	struct plx_pump *pump = nd2_session_of(session)->pump;

	if (plx_unlikely(pump != NULL))
		plx_pump_claim(pump);
}

/* ---- adapter.c ---- */

struct nd2_adapter {
	struct nd2_object object;
	struct plx_session *session;
	struct plx_pd *pd; /* for all its regions and queue pairs */
};

ND2_OBJECT_OF(adapter, IND2Adapter);

HRESULT nd2_adapter_create(struct plx_session *session, REFIID iid, void **out);

/* ---- objects made by Create* ----
 *
 * Each create function implements a method of IND2Adapter and takes the adapter first. The kinds
 * are those that methods get pointers of, for nd2_object_find().
 */

struct nd2_cq {
	struct nd2_object object;
	struct plx_cq *cq;
	struct plx_session_queue queue; /* overruns: in session->cqs */
	struct plx_session_watch watch;
	struct nd2_notify *notify; /* private to cq.c: the waiters for each kind */
	uint32_t depth;
	/* copies of the session's, for GetResults: an empty poll also runs the pump, or yields */
	bool pumps, yields, helps; /* `helps`: either */
	atomic_uint idle_looks;    /* used if either is set; a lost count of concurrent threads is
				      harmless */
};

ND2_OBJECT_OF(cq, IND2CompletionQueue);
extern const struct nd2_kind nd2_cq_kind;

struct nd2_srq {
	struct nd2_object object;
	struct plx_srq *srq;
	struct plx_session_queue queue; /* running low: in session->srqs */
	pthread_mutex_t lock;           /* protects the following */
	struct plx_list waiters;
	uint32_t depth, sges, threshold;
	bool armed;    /* the engine raises an event when there are fewer than the threshold */
	bool doubtful; /* an event of an earlier arming may still arrive */
};

ND2_OBJECT_OF(srq, IND2SharedReceiveQueue);
extern const struct nd2_kind nd2_srq_kind;

struct nd2_mr {
	struct nd2_object object;
	pthread_mutex_t lock;
	struct plx_mr *mr; /* NULL: not registered */
	atomic_uint token; /* as returned by GetLocalToken; 0: not registered */
	struct plx_pending
		*deregistering; /* a Deregister that waits for the engine; it holds the object */
	struct plx_session_deferred deferred; /* ... */
};

ND2_OBJECT_OF(mr, IND2MemoryRegion);
extern const struct nd2_kind nd2_mr_kind;

struct nd2_mw {
	struct nd2_object object;
	pthread_mutex_t lock;
	struct plx_mw *mw;
	struct nd2_mr *bound; /* held while bound, and after that until the next Bind */
	atomic_uint token;    /* as returned by GetRemoteToken */
};

ND2_OBJECT_OF(mw, IND2MemoryWindow);
extern const struct nd2_kind nd2_mw_kind;

/* Whether a queue pair has been connected, which decides how posts are refused. */
enum nd2_qp_phase {
	ND2_QP_NEVER,     /* never connected: posts other than Receive and Flush return
			     ND_CONNECTION_INVALID */
	ND2_QP_CONNECTED, /* is or was connected: posts go to plx_verbs.h */
};

struct nd2_qp {
	struct nd2_object object;
	struct plx_qp *qp;
	struct nd2_cq *receive_cq, *initiator_cq;
	struct nd2_srq *srq;
	uint32_t max_receive_sges, max_initiator_sges, inline_bytes;
	atomic_int phase;                /* enum nd2_qp_phase */
	atomic_bool claimed;             /* by a connector: */
	struct nd2_connector *connector; /* under session->events */
	atomic_bool broken;              /* flushed: cannot be connected (again) */
};

ND2_OBJECT_OF(qp, IND2QueuePair);
extern const struct nd2_kind nd2_qp_kind;

HRESULT nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, ULONG depth,
		      void **out);
HRESULT nd2_srq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, ULONG depth,
		       ULONG sges, ULONG threshold, void **out);
HRESULT nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);
HRESULT nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out);

/* Arguments of both CreateQueuePair methods; `srq` is NULL for the first. The methods differ in the
 * position numbers of ND_INVALID_PARAMETER_n. */
struct nd2_qp_init_attr {
	IUnknown *receive_cq, *initiator_cq, *srq;
	bool with_srq;
	void *context;
	ULONG receive_depth, initiator_depth, receive_sges, initiator_sges, inline_bytes;
};
HRESULT nd2_qp_create(struct nd2_adapter *adapter, REFIID iid, const struct nd2_qp_init_attr *attr,
		      void **out);

/** Handle an armed kind that has fired: on the dispatcher's thread, or in a pump. */
void nd2_cq_deliver_events(struct nd2_cq *cq);
/** Handle PLX_EVENT_CQ_OVERRUN; session->lock is held. */
void nd2_cq_overrun(struct plx_session_queue *queue);
/** The adapter's host has gone. session->lock is held. */
void nd2_cq_lose_host(struct plx_session_queue *queue);

/* ---- connector.c, listener.c ---- */

HRESULT nd2_connector_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);
HRESULT nd2_listener_create(struct nd2_adapter *adapter, REFIID iid, HANDLE file, void **out);

/** End the connection when a queue pair claimed by a connector is released for the last time:
 * disconnect, reject or abort. Call it without locks. */
void nd2_connection_of_qp_ends(struct nd2_qp *qp);

/* ---- provider.c: what the library exports ---- */

PLX_API HRESULT STDMETHODCALLTYPE DllGetClassObject(REFCLSID class_id, REFIID iid, void **out);
PLX_API HRESULT STDMETHODCALLTYPE DllCanUnloadNow(void);

#endif
