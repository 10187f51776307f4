/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room share: a seat, its objects, and one function for each operation of
 * plx_ipc.h. It owns no state. Start with struct host_seat.
 */
#ifndef PLX_HOST_PRIVATE_H
#define PLX_HOST_PRIVATE_H

#include "plx_adapter_object.h"
#include "plx_back.h"
#include "plx_host.h"
#include "private.h"
#include "segment.h"
#include "waker.h"

/* ---- objects: object.c ---- */

enum host_kind {
	HOST_NONE,
	HOST_PD,
	HOST_MR,
	HOST_MW,
	HOST_CQ,
	HOST_SRQ,
	HOST_QP,
	HOST_AH,
	HOST_CHANNEL,
	HOST_LISTENER,
	HOST_CONNECTOR,
	HOST_KINDS,
};

enum {
	HOST_CHUNK = 256,    /* objects to a chunk of a table */
	HOST_CHUNKS = 16384, /* chunks of a table: 4 million objects of a seat */
};

/* The beginning of every object. */
struct host_object {
	uint64_t number; /* struct plx_object: how a program names it */
	enum host_kind kind;
};

/* Places never move, so that a look-up takes no lock. */
struct host_place {
	_Atomic(struct host_object *) object; /* NULL: free */
	uint32_t generation, next_free;
};

struct host_table {
	pthread_mutex_t lock; /* of changes */
	_Atomic(struct host_place *) chunk[HOST_CHUNKS];
	uint32_t size, first_free; /* first_free == size: none */
	uint32_t used;
};

/* What the regions of all memory of a program have in common. */
struct host_space {
	uint32_t regions; /* 0: it has not begun */
	uint64_t bytes;
	struct shadow *shadow;
	struct plx_page_map map;
};

struct host_seat {
	struct plx_seat seat; /* an embedded program's; first */
	struct host_adapter *adapter;
	struct engine_seat *back[PLX_ENGINES_MAX];
	struct host_table table;

	/* of a program in another process; one thread serves it, and others take what it has lent
	 */
	bool foreign;
	pthread_mutex_t served; /* a call is, or something is taken */
	uint32_t number;        /* at its host; 0: embedded */
	struct waker *waker;
	struct parking *parking;    /* of queue pairs that change hands */
	int stop_fd;                /* readable when the host stops: nothing is waited for */
	struct front_memory memory; /* in its segments */
	struct segment *segment;    /* [PLX_IPC_SEGMENTS_MAX] */
	uint32_t segments;          /* those from here on never were */
	size_t missing;             /* [bytes] that no segment had room for */
	int bell[PLX_ENGINES_MAX];  /* of each engine; -1: it was not asked for */
	struct private_memory *private_memory; /* NULL: none was given */
	bool has_private_memory;               /* it can be used */
	struct host_space space;
	/* its quotas, and what it has of each kind */
	const struct plx_host_rights *rights;
	struct plx_host_who who;
	_Atomic uint64_t used[PLX_HOST_KINDS]; /* written by its thread, read by telemetry */
	_Atomic uint64_t refused;              /* calls, for a quota or a right */
};

/* Enter a new object.
 * Errors:  NO_MEMORY; FULL (the table, or a quota: with a sentence) */
enum plx_status host_enter(struct host_seat *seat, struct host_object *object, enum host_kind kind,
			   struct plx_why *why) PLX_MUST_CHECK;
/* The reverse; the caller frees it. */
void host_leave(struct host_seat *seat, struct host_object *object);
/* NULL: no such object of this kind. Any thread. */
void *host_find(struct host_seat *seat, struct plx_object object, enum host_kind kind);
/* Any kind. */
struct host_object *host_find_any(struct host_seat *seat, struct plx_object object);
/* Sleep for a millisecond: what is waited for takes a call, or a peer. */
void host_pause(void);
/* Destroy all objects of one kind, but those that linger. host.c. Returns: whether all are gone */
bool host_destroy_all(struct host_seat *seat, enum host_kind kind);
/* The next object from an index on; NULL: there is none. */
struct host_object *host_next(struct host_seat *seat, uint32_t *index);
void host_table_init(struct host_table *table);
void host_table_free(struct host_table *table);

struct host_pd {
	struct host_object object; /* first */
	struct plx_domain domain;
};

struct host_mr {
	struct host_object object; /* first */
	struct plx_domain domain;
	struct plx_region region;
	struct plx_key key;
	void *memory;
	size_t length;
	uint32_t segment;      /* the arena that `memory` is in; 0: none */
	void *lists;           /* of pages, which the key table refers to; NULL: none */
	struct shadow *shadow; /* of private memory; NULL: it is not */
	/* of fast registrations of private memory: of each list, and pages charged for it */
	struct shadow *list_shadow[PLX_FAST_LISTS];
	uint64_t list_pages[PLX_FAST_LISTS];
	uint64_t charged; /* [bytes] of the seat's memory, for that */
	uint32_t pages;   /* of one fast registration */
	bool fast;        /* registered by work requests; `memory` and `key` are not used */
	bool space;       /* of all memory: it uses the seat's space */
	bool mapped;      /* for the device, with plx_host_map_memory() */
	bool retired;     /* a deregister timed out; the next call continues it */
	uint64_t token;
};

struct host_mw {
	struct host_object object; /* first */
	struct plx_domain domain;
	struct plx_window window;
	bool retired;
	uint64_t token;
};

/* Which engine serves a queue; of an adapter with one engine, that. Under the adapter's lock. */
struct host_placement {
	uint32_t engine;
	bool placed; /* false: a queue pair has not used it yet, and may take it elsewhere */
};

struct host_cq {
	struct host_object object; /* first */
	struct engine_cq *back;
	struct host_placement placement;
};

struct host_srq {
	struct host_object object; /* first */
	struct engine_srq *back;
	struct host_placement placement;
};

/* Another seat may take a queue pair. It is in no list without a token. */
struct host_loan {
	struct plx_list link; /* in parking->loans */
	struct plx_qp_token token;
	uint32_t heir; /* the seat that may take it */
	struct host_seat *seat;
	struct plx_object connector; /* 0: none */
};

struct host_queue_pair {
	struct host_object object; /* first */
	struct host_qp listed;
	struct plx_domain domain;
	uint32_t engine;
	uint32_t linger_ms; /* after the end of the program; 0: it does not */
	bool lingers;       /* that has come */
	struct host_loan loan;
	struct qp_back_made made;
};

struct host_ah {
	struct host_object object; /* first */
	struct plx_domain domain;
	bool held;        /* the domain is */
	uint32_t engines; /* the first ones, which have it */
	uint32_t number[PLX_ENGINES_MAX];
};

struct host_channel {
	struct host_object object; /* first */
	struct engine_channel *back;
};

struct host_listener {
	struct host_object object; /* first */
	struct engine_listener *back;
};

struct host_connector {
	struct host_object object; /* first */
	struct engine_connector *back;
	struct plx_object qp; /* that it connects; 0: none yet */
};

/* ---- which engine: placement.c ---- */

/* The queues of a queue pair; `srq` NULL: its own receive queue. */
struct host_queues {
	struct host_cq *send_cq, *recv_cq;
	struct host_srq *srq;
};

/* Where a new queue begins. @param pin 1 .. engines; 0: it is placed later
 * Errors:  INVALID (no such engine) */
enum plx_status host_placement_begin(const struct host_adapter *adapter, uint32_t pin,
				     struct host_placement *out) PLX_MUST_CHECK;
/* Place a queue, if it has no place yet, because its engine has to do something. */
void host_place_cq(struct host_seat *seat, struct host_cq *cq);
void host_place_srq(struct host_seat *seat, struct host_srq *srq);
/* Does an engine know the queue? */
bool host_cq_is_placed(struct host_seat *seat, const struct host_cq *cq, uint32_t *engine);
/* Bring the queues of a new queue pair to one engine, and count the queue pair there.
 * @param engine [in] where it must be; ANY_ENGINE
 * Errors:  INVALID (some were used at different ones: with a sentence) */
enum plx_status host_place_qp(struct host_seat *seat, const struct host_queues *queues,
			      uint32_t *engine, struct plx_why *why) PLX_MUST_CHECK;
/* A queue pair has gone, or was never made. */
void host_displace_qp(struct host_seat *seat, uint32_t engine);

/* ---- the operations ----
 *
 * Each has the arguments of plx_host_call(); `arg` is its request. */

typedef enum plx_status (*host_fn)(struct host_seat *seat, const void *arg, void *reply,
				   struct plx_why *why);
#define HOST_FN(name)                                                              \
	enum plx_status name(struct host_seat *seat, const void *arg, void *reply, \
			     struct plx_why *why)

/* attached.c */
HOST_FN(host_segment_add);
HOST_FN(host_segment_ready);
HOST_FN(host_arena_import);
HOST_FN(host_arena_drop);
HOST_FN(host_private_memory);

/* seat.c */
HOST_FN(host_close);
HOST_FN(host_open);
HOST_FN(host_info);
HOST_FN(host_running);
HOST_FN(host_counters);
HOST_FN(host_resolve);
HOST_FN(host_ping);
HOST_FN(host_pong);
HOST_FN(host_descriptor);
HOST_FN(host_bell);
HOST_FN(host_barrier);

/* memory.c */
HOST_FN(host_pd_create);
HOST_FN(host_mr_register);
HOST_FN(host_mr_pages);
HOST_FN(host_mr_deregister);
HOST_FN(host_mw_create);
HOST_FN(host_mw_bind);
HOST_FN(host_mw_unbind);

/* fast.c */
HOST_FN(host_mr_fast);
HOST_FN(host_reg_promise);
HOST_FN(host_reg_void);

/* queue.c */
HOST_FN(host_cq_create);
HOST_FN(host_cq_resize);
HOST_FN(host_srq_create);
HOST_FN(host_srq_arm);

/* qp.c */
HOST_FN(host_qp_create);
HOST_FN(host_qp_modify);
HOST_FN(host_qp_query);
HOST_FN(host_qp_flush);
HOST_FN(host_qp_counters);
HOST_FN(host_qp_address);

/* linger.c */
HOST_FN(host_qp_linger);

/* export.c */
HOST_FN(host_qp_export);
HOST_FN(host_qp_lend);
HOST_FN(host_qp_import);

/* ah.c */
HOST_FN(host_ah_create);

/* connection.c */
/* A connector's place, without its part of the engine. */
enum plx_status host_connector_enter(struct host_seat *seat, struct host_connector **out,
				     struct plx_why *why) PLX_MUST_CHECK;
void host_connector_leave(struct host_seat *seat, struct host_connector *connector);
HOST_FN(host_channel_create);
HOST_FN(host_channel_refuse);
HOST_FN(host_listen);
HOST_FN(host_connector_create);
HOST_FN(host_connector_adopt);
HOST_FN(host_connect);
HOST_FN(host_sidr_request);
HOST_FN(host_establish);
HOST_FN(host_accept);
HOST_FN(host_reject);
HOST_FN(host_disconnect);

/* How an object of each kind is destroyed; it frees the object. */
typedef enum plx_status (*host_destroy_fn)(struct host_seat *seat, struct host_object *object);

enum plx_status host_pd_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_mr_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_mw_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_cq_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_srq_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_qp_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_ah_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_channel_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_listener_destroy(struct host_seat *seat, struct host_object *object);
enum plx_status host_connector_destroy(struct host_seat *seat, struct host_object *object);

/* ---- the seat: seat.c ---- */

/* Where a front lies, as the program finds it. */
struct plx_location host_place_of(const struct host_seat *seat, const void *front);
/* Memory of the program's: NULL if there is none of that length. */
void *host_memory_at(const struct host_seat *seat, struct plx_location place, uint64_t bytes);

/* Create and fill a seat without engines' halves, and free it. */
struct host_seat *host_seat_alloc(struct host_adapter *adapter);
void host_seat_free(struct host_seat *seat);

/* ---- memory.c, fast.c ---- */

/* A region with room for lists of pages; the caller publishes or reserves it. NULL: no memory */
struct host_mr *host_mr_alloc(const struct host_pd *pd, size_t bytes);
void host_mr_free(struct host_mr *mr);
/* Programs have no private pages: only the host makes them. */
bool host_pages_are_shared(const uint64_t *page, uint64_t pages);
/* The memory of pages that follow each other; NULL if they do not. */
void *host_memory_of(uint64_t va, const uint64_t *page, uint64_t pages);
/* Copy the list of a program in another process, which is in an arena.
 * @param out [pages] where the program has them
 * Errors: INVALID */
enum plx_status host_list_read(const struct host_seat *seat, struct plx_location place,
			       uint64_t pages, uint64_t *out, struct plx_why *why) PLX_MUST_CHECK;
/* May private memory of the program be copied? If not, with a sentence. */
bool host_may_copy(const struct host_seat *seat, struct plx_why *why);
/* space.c: is this all memory that a program can have? */
bool host_is_space(const struct plx_ipc_mr_register *request);
/* Use the seat's space for one more region. Errors: FULL (with a sentence), NO_MEMORY */
enum plx_status host_space_use(struct host_seat *seat, struct plx_page_map **map,
			       struct plx_why *why) PLX_MUST_CHECK;
/* Engines are done with that region. */
void host_space_unuse(struct host_seat *seat);
/* Its engines are done with a region of fast registrations. */
void host_fast_end(struct host_seat *seat, struct host_mr *mr);

/* ---- attached.c: programs in other processes ---- */

/* May it have more of this kind? Anything, if it has no quotas. Errors:  FULL, with a sentence */
enum plx_status host_quota(const struct host_seat *seat, enum plx_host_kind kind, uint64_t more,
			   struct plx_why *why) PLX_MUST_CHECK;
/* What a seat is given. All outlive it. */
struct seat_terms {
	struct host_adapter *adapter;
	struct waker *waker;
	struct parking *parking;
	const struct plx_host_rights *rights;
	const struct plx_host_who *who;
	uint32_t number;
	int stop_fd;
};

/* A seat that has no memory yet. Errors:  NO_MEMORY */
enum plx_status host_seat_attach(const struct seat_terms *terms,
				 struct host_seat **seat) PLX_MUST_CHECK;
/* Create its engines' halves. Errors:  NO_MEMORY (more segments are needed), TIMEOUT */
enum plx_status host_seat_begin(struct host_seat *seat) PLX_MUST_CHECK;
/* Its program has gone: destroy all that it has, in any state, and the seat. */
void host_seat_end(struct host_seat *seat);
/* As host_place_of() and host_memory_at(). */
struct plx_location host_front_location(const struct host_seat *seat, const void *front);
void *host_arena_at(const struct host_seat *seat, struct plx_location place, uint64_t bytes);
/* As DESCRIPTOR. Errors:  NO_KEY, NO_MEMORY, STATE (it has one) */
enum plx_status host_descriptor_pair(struct host_seat *seat, struct plx_object number,
				     struct plx_ipc_descriptor *out) PLX_MUST_CHECK;

/* As BELL, of an engine whose thread sleeps. Errors:  NO_MEMORY, STATE (it has one, or it never
 * sleeps) */
enum plx_status host_bell_make(struct host_seat *seat, uint32_t engine,
			       struct plx_ipc_bell *out) PLX_MUST_CHECK;

/* Is the host stopping? */
bool host_stops(const struct host_seat *seat);

/* ---- qp.c ---- */

/* Create a queue pair as host_qp_create() does.
 * @param engine where it must be; ANY_ENGINE
 * Errors:  as QP_CREATE */
enum {
	ANY_ENGINE = PLX_ENGINES_MAX
};
enum plx_status host_qp_make(struct host_seat *seat, const struct plx_ipc_qp_create *request,
			     uint32_t engine, struct host_queue_pair **qp,
			     struct plx_why *why) PLX_MUST_CHECK;
/* What the program needs to know of it. */
void host_qp_tell(const struct host_seat *seat, const struct host_queue_pair *qp,
		  struct plx_ipc_qp_created *reply);

/* ---- linger.c ---- */

/* The program has ended: from now on those of its queue pairs that linger finish what they have. */
void host_linger_begin(struct host_seat *seat);
/* Is it one of these, or the connector of one? */
bool host_lingers(struct host_seat *seat, const struct host_object *object);
/* Wait until they have finished, their time is over, or the host stops. None lingers then. */
void host_linger_end(struct host_seat *seat);

/* ---- export.c ---- */

/* Where queue pairs of an adapter are between two programs. NULL: out of memory */
struct parking *parking_create(struct host_adapter *adapter);
/* All are gone. NULL is allowed. */
void parking_destroy(struct parking *parking);
/* Those that may be taken by others, and their lock. */
struct plx_list *parking_loans(struct parking *parking, pthread_mutex_t **lock);
struct plx_qp_token parking_token(void);
/* Who may import a parked connection, and by what. */
struct host_terms {
	struct plx_qp_token token;
	uint32_t to, heir; /* seats; heir 0: none */
};
/* Take a connection from a queue pair. @param connector NULL: none
 * Errors: with a sentence: as plx_qp_export() */
enum plx_status host_park(struct host_seat *seat, const struct host_queue_pair *qp,
			  struct host_connector *connector, const struct host_terms *terms,
			  struct plx_why *why) PLX_MUST_CHECK;
/* The program has ended: wait for those who take over its queue pairs, and end the others. */
void host_exports_end(struct host_seat *seat);

/* ---- loan.c ---- */

/* Lend a queue pair, by a token that nothing else has. */
void host_lend(struct host_seat *seat, struct host_queue_pair *qp, struct plx_object connector,
	       struct plx_qp_token token, uint32_t heir);
/* A seat takes what it was lent: it can be imported then. Its own calls may be served meanwhile.
 * Errors: NO_KEY (no such loan), BUSY (not now), as plx_qp_export() */
enum plx_status host_loan_take(struct host_seat *seat,
			       const struct plx_qp_token *token) PLX_MUST_CHECK;
/* The program has ended: park its queue pair, if it was lent. Errors: BUSY */
enum plx_status host_loan_leave(struct host_seat *seat, struct host_queue_pair *qp) PLX_MUST_CHECK;
/* Nobody can take it any more. */
void host_loan_end(struct host_seat *seat, struct host_queue_pair *qp);
bool host_is_lent(const struct host_queue_pair *qp);

/* ---- qp_terms.c ---- */

/* A value of the caller's, and what it may be. */
struct range {
	const char *what;
	uint32_t value, first, last;
};

/* Write the sentence for the first value that is out of its range.
 * Errors: INVALID */
enum plx_status host_check_ranges(const struct range *range, size_t n,
				  struct plx_why *why) PLX_MUST_CHECK;

/* Is it one of the five path MTUs? */
static inline bool
is_mtu(uint32_t bytes)
{
	return bytes >= PLX_MTU_MIN && bytes <= PLX_MTU_MAX && (bytes & (bytes - 1)) == 0;
}

/* Check the range of every attribute; a sentence names the wrong one. */
enum plx_status host_attr_check(const struct plx_qp_attr *attr, struct plx_why *why) PLX_MUST_CHECK;
/* Convert the attributes that do not depend on the peer. */
void host_attr_to_rc(const struct host_adapter *adapter, const struct plx_qp_attr *attr,
		     struct plx_rc_attr *rc, struct plx_engine_path *path);
/* Compute and check all parameters of a connection.
 * Errors: as plx_qp_connect() */
enum plx_status host_agree(const struct host_adapter *adapter, const struct host_queue_pair *qp,
			   const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
			   struct plx_rc_attr *rc, struct plx_engine_path *path,
			   struct plx_why *why) PLX_MUST_CHECK;

#endif
