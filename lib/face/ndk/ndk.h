/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objects behind NDKPI's, and the functions that the files of this room share. It owns no
 * state. Start with struct ndk_object.
 *
 * A consumer's pointer is the address of the object, which begins with the header and the dispatch
 * table. Both are the consumer's afterwards: nothing here reads them again.
 *
 * Threads. A consumer's call never waits: it checks, and leaves what needs the engine to the
 * dispatcher, a thread of the session, which runs tasks one at a time and makes every callback.
 * Posts, NdkGetCqResults and NdkArmCq go straight to plx_verbs.h. Only opening, querying and
 * closing an adapter may wait.
 *
 * Lock order: plx_session.events (everything about connections), an object's own lock, the lock of
 * the dispatcher's tasks. No lock is held during a callback.
 */
#ifndef PLX_NDK_NDK_H
#define PLX_NDK_NDK_H

#include <stdatomic.h>

#include <ndkpi.h>
#include <ndkstatus.h>

#include "arming.h"
#include "lifetime.h"
#include "moderation.h"
#include "plx_base.h"
#include "plx_session.h"

enum {
	NDK_READ_LIMIT = 16,  /* advertised; the wire format allows up to 255 */
	NDK_FAST_PAGES = 256, /* of one fast registration: 1 MiB */
};

struct ndk_adapter;
struct ndk_connector;
struct ndk_object;

/* ---- dispatch.c: the dispatcher ---- */

/* Runs once for each time it is posted. */
struct ndk_task {
	struct plx_list node;
	void (*run)(struct ndk_task *task);
	uint64_t due_ns; /* of a delayed one */
};

struct ndk_dispatcher {
	struct plx_session *session;
	struct plx_session_watch watch, timer;
	pthread_mutex_t lock; /* of the lists */
	struct plx_list tasks, delayed;
};

/** Errors: FULL (descriptors), NO_MEMORY */
enum plx_status ndk_dispatcher_start(struct ndk_dispatcher *dispatcher,
				     struct plx_session *session) PLX_MUST_CHECK;
void ndk_dispatcher_stop(struct ndk_dispatcher *dispatcher);
/** Have the dispatcher run a task that is not posted. Threads: any */
void ndk_post(struct ndk_dispatcher *dispatcher, struct ndk_task *task);
/** ... at `due_ns` of plx_session_now_ns(), or when ndk_post() is called meanwhile. */
void ndk_post_at(struct ndk_dispatcher *dispatcher, struct ndk_task *task, uint64_t due_ns);
/** Withdraw a task that is posted and does not run yet. */
void ndk_unpost(struct ndk_dispatcher *dispatcher, struct ndk_task *task);

/** Bracket every call of the consumer, which is made at DISPATCH_LEVEL.
 * @param callback its name, for a consumer that leaves it at another level */
KIRQL ndk_callback_begin(void);
void ndk_callback_end(const char *callback, KIRQL old);
/** Is this thread inside a callback? */
bool ndk_in_callback(void);

/* ---- object.c: lifetime ---- */

struct ndk_kind {
	NDK_OBJECT_TYPE type;
	const void *dispatch;
	size_t bytes; /* of its struct, which begins with the object */
	/* what the consumer's close begins, on its thread; may be NULL */
	void (*close)(struct ndk_object *object);
	/* remove the object from the engine, by the dispatcher; TIMEOUT: the engine is stalled,
	 * nothing has changed; AGAIN: not done yet; BUSY: in use by another object. Then this is
	 * called again. NULL: the object has no part there */
	enum plx_status (*teardown)(struct ndk_object *object);
	/* free its parts and release its antecedents, except the adapter; may be NULL */
	void (*destroy)(struct ndk_object *object);
};

struct ndk_object {
	/* as in every NDK_ struct */
	NDK_OBJECT_HEADER header;
	const void *dispatch;

	const struct ndk_kind *kind;
	struct ndk_adapter *adapter; /* held, except by itself */
	_Atomic(struct ndk_lifetime) lifetime;
	NDK_FN_CLOSE_COMPLETION close_completion;
	PVOID close_context;
	struct ndk_task completing;
	struct plx_session_deferred deferred; /* a teardown on a stalled engine */
};

_Static_assert(offsetof(struct ndk_object, dispatch) == offsetof(NDK_CQ, Dispatch),
	       "a consumer's pointer is its object's");

/* ndk_NAME_of(): the object of a consumer's pointer. */
#define NDK_OBJECT_OF(name, Face)                                    \
	static inline struct ndk_##name *ndk_##name##_of(Face *face) \
	{                                                            \
		return (struct ndk_##name *)(void *)face;            \
	}                                                            \
	_Static_assert(offsetof(struct ndk_##name, object) == 0, "a face is its object's address")

/**
 * Allocate an object, zeroed except for its ndk_object, which is open and holds the adapter.
 * Returns: its struct; NULL: no memory, or the adapter is closed
 */
void *ndk_object_alloc(const struct ndk_kind *kind, struct ndk_adapter *adapter);
/** Initialize the ndk_object of an adapter, which holds nothing. */
void ndk_object_init(struct ndk_object *object, const struct ndk_kind *kind,
		     struct ndk_adapter *adapter, NDK_VERSION version);
/** Take back an object that the consumer has never seen. */
void ndk_object_free(struct ndk_object *object);
/** Begin something that the object has to outlive. Returns: false: it is closed */
bool ndk_hold(struct ndk_object *object);
/** It is over. The object may be gone when this returns. */
void ndk_release(struct ndk_object *object);
/** Has the consumer closed it? */
bool ndk_is_closed(struct ndk_object *object);

/* closed.c: the table of a closed object, by NDK_OBJECT_TYPE: its slots say that it is closed. */
extern const void *const ndk_closed_tables[NdkObjectTypeMax];
/** Free an object that has ended, later: until then a consumer that uses it is told. */
void ndk_object_keep(struct ndk_object *object);
/** A consumer has broken a rule of lifetime: end the process with a sentence if checks are on
 * (plx_ke_checks()), else log it. */
void ndk_rule_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The close and extension slots of every table. */
NTSTATUS ndk_close(NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context);
NTSTATUS ndk_query_extension(NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version,
			     NDK_EXTENSION_INTERFACE *extension);
/** Close, with the dispatcher's completion where the consumer's would be: for the adapter. */
unsigned int ndk_object_close(struct ndk_object *object);

/* ---- request.c: what the dispatcher does for a call, and then completes ---- */

struct ndk_request;

/* Returns: STATUS_PENDING: something else completes it; otherwise its status.
 * NDK_STALLED: the engine does not run, nothing has changed: it is called again */
typedef NTSTATUS ndk_request_fn(struct ndk_request *request);
#define NDK_STALLED ((NTSTATUS)0xC0000B5F) /* never returned to a consumer */

struct ndk_request {
	struct ndk_task task;
	struct plx_session_deferred deferred;
	struct ndk_object *object; /* held until the completion has returned */
	ndk_request_fn *run;
	bool creates; /* the completion is a CREATE_COMPLETION */
	union {
		NDK_FN_REQUEST_COMPLETION done;
		NDK_FN_CREATE_COMPLETION created;
	};
	PVOID context;
	NTSTATUS status;
	union {
		struct {
			ULONG depth, threshold;
		};
		struct {
			void *memory;
			uint64_t *page; /* owned by the function that runs; NULL: none */
			SIZE_T length;
			ULONG access;
		};
		struct {
			struct plx_ip ip;
			uint16_t port;
		};
		void *of_its_own; /* owned by the function that runs */
	};
};

/** @param run  on the dispatcher
 * Returns: NULL: no memory, or the object is closed */
struct ndk_request *ndk_request_make(struct ndk_object *object, ndk_request_fn *run,
				     NDK_FN_REQUEST_COMPLETION done, PVOID context);
/** Free a request that was not begun. */
void ndk_request_drop(struct ndk_request *request);
/** Begin it. Returns: STATUS_PENDING */
NTSTATUS ndk_request_begin(struct ndk_request *request);
/** Call the completion of a request whose `run` returned STATUS_PENDING, on the dispatcher. */
void ndk_request_finish(struct ndk_request *request, NTSTATUS status);

/** ... later, once no lock is held. */
void ndk_request_finish_later(struct ndk_request *request, NTSTATUS status);

/** Create an object by the dispatcher: the completion is called with the status of `run`, and on
 * failure the object is freed.
 * Returns: NULL: no memory; the object is freed */
struct ndk_request *ndk_create_make(struct ndk_object *object, ndk_request_fn *run,
				    NDK_FN_CREATE_COMPLETION created, PVOID context);
/** Make it and begin it. Returns: STATUS_PENDING, STATUS_INSUFFICIENT_RESOURCES */
NTSTATUS ndk_create_begin(struct ndk_object *object, ndk_request_fn *run,
			  NDK_FN_CREATE_COMPLETION created, PVOID context);

/* ---- status.c: from ours to NT's ---- */

/** The status of a completion. Hot. @param receive of a receive queue */
NTSTATUS ndk_completion_status(uint8_t status, bool receive);
/** The status of a refused call; TIMEOUT is NDK_STALLED. */
NTSTATUS ndk_call_status(enum plx_status status);

/** Log a sentence that no status carries: to stderr if POLLUX_NDK_LOG is set. */
void ndk_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- hooks.c, adapter.c ---- */

/* What NDK adds to a session. */
struct ndk_session {
	NDK_ADAPTER_INFO limits; /* Version: each adapter's own */
	struct ndk_dispatcher dispatcher;
	struct plx_list connectors; /* under plx_session.events: struct ndk_connector */
};

extern const struct plx_session_hooks ndk_hooks;

static inline struct ndk_session *
ndk_session_of(const struct plx_session *session)
{
	return session->own;
}

struct ndk_adapter {
	struct ndk_object object;
	struct plx_session *session;
	NDK_VERSION version;  /* of all its objects */
	pthread_mutex_t lock; /* of the rest */
	pthread_cond_t closed;
	bool is_closed;
	bool is_orphan; /* closed from a callback: nobody waits for its end */
	_Atomic uint32_t objects[NdkObjectTypeMax]; /* that live, but itself */
};

NDK_OBJECT_OF(adapter, NDK_ADAPTER);

static inline struct plx_session *
ndk_session_for(const struct ndk_object *object)
{
	return object->adapter->session;
}

static inline struct ndk_dispatcher *
ndk_dispatcher_of(const struct ndk_object *object)
{
	return &ndk_session_of(object->adapter->session)->dispatcher;
}

static inline const NDK_ADAPTER_INFO *
ndk_limits(const struct ndk_object *object)
{
	return &ndk_session_of(object->adapter->session)->limits;
}

/* ---- the other objects ---- */

struct ndk_cq {
	struct ndk_object object;
	struct plx_cq *cq;
	NDK_FN_CQ_NOTIFICATION_CALLBACK notify;
	PVOID notify_context;
	ULONG depth;
	struct plx_session_queue queue; /* overruns: in session->cqs */
	struct plx_session_watch watch;
	pthread_mutex_t lock; /* of the rest; not held while the consumer is called */
	struct ndk_arming arming;
	struct ndk_moderation moderation;
	uint64_t marked;    /* entries produced when the last callback began */
	uint64_t due_since; /* when the callback that is due became so */
	bool delayed;       /* ... and waits, as moderation wants it */
	struct ndk_task task;
};

NDK_OBJECT_OF(cq, NDK_CQ);

struct ndk_pd {
	struct ndk_object object;
	struct plx_pd *pd;
	struct plx_mr *privileged;
	atomic_uint closing_windows; /* whose close is not complete */
};

NDK_OBJECT_OF(pd, NDK_PD);

/** ndk_object_alloc() for an object of a domain, which it holds, too. */
void *ndk_object_alloc_in(const struct ndk_kind *kind, struct ndk_pd *pd);

struct ndk_srq {
	struct ndk_object object;
	struct ndk_pd *pd;
	struct plx_srq *srq;
	NDK_FN_SRQ_NOTIFICATION_CALLBACK notify;
	PVOID notify_context;
	ULONG depth, sges, threshold;
	struct plx_session_queue queue; /* in session->srqs */
	struct ndk_task task;
	atomic_bool armed;
};

NDK_OBJECT_OF(srq, NDK_SRQ);

struct ndk_mr {
	struct ndk_object object;
	struct ndk_pd *pd;
	bool fast;         /* fast-register, else RegisterMr */
	bool remote;       /* initialised for remote access */
	ULONG pages;       /* initialised for; 0: not initialised */
	struct plx_mr *mr; /* NULL: not registered */
	atomic_uint token; /* 0: none */
};

NDK_OBJECT_OF(mr, NDK_MR);

struct ndk_mw {
	struct ndk_object object;
	struct ndk_pd *pd;
	struct plx_mw *mw;
	atomic_uint token;
};

NDK_OBJECT_OF(mw, NDK_MW);

/* What it is created with. */
struct ndk_qp_attr {
	struct ndk_pd *pd;
	struct ndk_cq *receive_cq, *initiator_cq;
	struct ndk_srq *srq; /* NULL: a receive queue of its own */
	PVOID context;
	ULONG receive_depth, initiator_depth, receive_sges, initiator_sges, inline_bytes;
};

struct ndk_qp {
	struct ndk_object object;
	struct plx_qp *qp;
	struct ndk_qp_attr attr;
	struct ndk_connector *connector; /* under session->events */
	struct ndk_task flush;
	atomic_bool flushing; /* `flush` is posted */
};

NDK_OBJECT_OF(qp, NDK_QP);

NTSTATUS ndk_create_cq(NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
		       PVOID notify_context, GROUP_AFFINITY *affinity,
		       NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_CQ **out);
NTSTATUS ndk_create_pd(NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION created, PVOID context,
		       NDK_PD **out);
NTSTATUS ndk_create_shared_endpoint(NDK_ADAPTER *adapter, CONST PSOCKADDR address, ULONG length,
				    NDK_FN_CREATE_COMPLETION created, PVOID context,
				    NDK_SHARED_ENDPOINT **out);
NTSTATUS ndk_create_connector(NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION created, PVOID context,
			      NDK_CONNECTOR **out);
NTSTATUS ndk_create_listener(NDK_ADAPTER *adapter, NDK_FN_CONNECT_EVENT_CALLBACK event,
			     PVOID event_context, NDK_FN_CREATE_COMPLETION created, PVOID context,
			     NDK_LISTENER **out);
NTSTATUS ndk_build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length,
		       NDK_FN_REQUEST_COMPLETION done, PVOID context,
		       NDK_LOGICAL_ADDRESS_MAPPING *lam, ULONG *lam_bytes, ULONG *fbo);
VOID ndk_release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *lam);

NTSTATUS ndk_create_mr(NDK_PD *pd, BOOLEAN fast, NDK_FN_CREATE_COMPLETION created, PVOID context,
		       NDK_MR **out);
NTSTATUS ndk_create_mw(NDK_PD *pd, NDK_FN_CREATE_COMPLETION created, PVOID context, NDK_MW **out);
NTSTATUS ndk_create_srq(NDK_PD *pd, ULONG depth, ULONG sges, ULONG threshold,
			NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context,
			GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION created, PVOID context,
			NDK_SRQ **out);
NTSTATUS ndk_create_qp(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
		       ULONG receive_depth, ULONG initiator_depth, ULONG receive_sges,
		       ULONG initiator_sges, ULONG inline_bytes, NDK_FN_CREATE_COMPLETION created,
		       PVOID context, NDK_QP **out);
NTSTATUS ndk_create_qp_with_srq(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, NDK_SRQ *srq,
				PVOID qp_context, ULONG initiator_depth, ULONG initiator_sges,
				ULONG inline_bytes, NDK_FN_CREATE_COMPLETION created, PVOID context,
				NDK_QP **out);

/* What a chain of MDLs describes. */
struct ndk_range {
	void *va; /* an index: the memory is where the pages are */
	uint64_t pages;
	bool plain; /* it is at `va` */
};

/** Check that the chain is one range of virtual addresses, and has a page for each part of it.
 * Errors: STATUS_INVALID_PARAMETER */
NTSTATUS ndk_mdl_range(MDL *mdl, SIZE_T length, struct ndk_range *range);
/** The addresses of the pages of such a chain. @param page [range.pages] */
void ndk_mdl_pages(MDL *mdl, SIZE_T length, uint64_t *page);

/* post.c: the requests of a queue pair's table */
NTSTATUS ndk_send(NDK_QP *qp, PVOID context, CONST NDK_SGE *sgl, ULONG sges, ULONG flags);
NTSTATUS ndk_receive(NDK_QP *qp, PVOID context, CONST NDK_SGE *sgl, ULONG sges);
NTSTATUS ndk_bind(NDK_QP *qp, PVOID context, NDK_MR *mr, NDK_MW *mw, PVOID address, SIZE_T length,
		  ULONG flags);
NTSTATUS ndk_fast_register(NDK_QP *qp, PVOID context, NDK_MR *mr, ULONG pages,
			   CONST NDK_LOGICAL_ADDRESS *page, ULONG fbo, SIZE_T length, PVOID base,
			   ULONG flags);
NTSTATUS ndk_invalidate(NDK_QP *qp, PVOID context, NDK_OBJECT_HEADER *object, ULONG flags);
NTSTATUS ndk_read(NDK_QP *qp, PVOID context, CONST NDK_SGE *sgl, ULONG sges, UINT64 address,
		  UINT32 token, ULONG flags);
NTSTATUS ndk_write(NDK_QP *qp, PVOID context, CONST NDK_SGE *sgl, ULONG sges, UINT64 address,
		   UINT32 token, ULONG flags);
NTSTATUS ndk_send_and_invalidate(NDK_QP *qp, PVOID context, CONST NDK_SGE *sgl, ULONG sges,
				 ULONG flags, UINT32 token);
/** The status of a refused post. */
NTSTATUS ndk_refusal(enum plx_status why);
/** NdkSrqReceive: NdkReceive's twin. */
NTSTATUS ndk_srq_receive(NDK_SRQ *srq, PVOID context, CONST NDK_SGE *sgl, ULONG sges);

/* ---- what a driver left ---- */

/** Let the host of drivers report adapters that are open and objects that are not closed. */
void ndk_left_watch(void);
/** Count one more (1) or one less (-1). */
void ndk_left_adapter(int change);
void ndk_left_object(struct ndk_adapter *adapter, NDK_OBJECT_TYPE type, int change);
/** Write how many objects of each kind an adapter has, cut if it does not fit. */
void ndk_left_list(struct ndk_adapter *adapter, char *text, size_t bytes);

#endif
