/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine's halves of seats, queues and queue pairs (decision 39), as a host uses them: it
 * creates, changes and destroys them, and tells a program where the fronts are.
 * Functions here may be called by any thread; what must happen on the engine's crosses to it as a
 * command. TIMEOUT: the engine does not run, and the call will never be executed. In inline mode
 * the caller is the engine's thread. Start with plx_qp_back_create().
 */
#ifndef PLX_BACK_H
#define PLX_BACK_H

#include "plx_cq_front.h"
#include "plx_engine.h"
#include "plx_rq_front.h"
#include "plx_seat_front.h"
#include "plx_sq_front.h"

struct engine_connector;
struct engine_cq;
struct engine_qp;
struct engine_seat;
struct engine_srq;
struct plx_copier;

/* ---- seats ---- */

/**
 * Create a seat beside the engine's own.
 * @param config of a program in another process, which is believed nothing; NULL: in this one
 * Errors:  NO_MEMORY, TIMEOUT
 */
enum plx_status plx_seat_back_create(struct plx_engine *engine, const struct seat_config *config,
				     struct engine_seat **seat) PLX_MUST_CHECK;
/** Errors:  BUSY (it has a queue), TIMEOUT */
enum plx_status plx_seat_back_destroy(struct engine_seat *seat) PLX_MUST_CHECK;
/** The seat of programs that have no other. */
struct engine_seat *plx_seat_back_own(struct plx_engine *engine);

/* The fronts of a seat. */
struct seat_fronts {
	struct seat_front *doorbells;
	void *async_events; /* of struct plx_async_event */
};
void plx_seat_back_fronts(const struct engine_seat *seat, struct seat_fronts *out);
/** A descriptor that is readable while an asynchronous event is queued; -1: the system has none. */
int plx_seat_back_fd(struct engine_seat *seat);
/** What plx_seat_back_fd() returns from now on: of a seat with a waker, which is given it. The seat
 * closes it. Returns: false: it has one */
bool plx_seat_back_set_fd(struct engine_seat *seat, int fd);
/** Let the objects of a seat use private memory (decision 48). A second time: STATE.
 * @param copier a thread carries out what is asked of it; outlives the seat
 * Errors:  NO_MEMORY, STATE, TIMEOUT */
enum plx_status plx_seat_back_set_copier(struct engine_seat *seat,
					 struct plx_copier *copier) PLX_MUST_CHECK;
/** Make the engine's thread pass a full barrier. Errors:  TIMEOUT */
enum plx_status plx_seat_back_barrier(struct engine_seat *seat) PLX_MUST_CHECK;

/* ---- completion queues ---- */

/** Errors:  INVALID (depth), NO_MEMORY */
enum plx_status plx_cq_back_create(struct engine_seat *seat,
				   const struct plx_engine_cq_config *config,
				   struct engine_cq **cq) PLX_MUST_CHECK;
/** Errors:  BUSY (a queue pair uses it), TIMEOUT */
enum plx_status plx_cq_back_destroy(struct engine_cq *cq) PLX_MUST_CHECK;
/** Give a queue that no queue pair has used yet to another engine's seat of the same program.
 * Threads: any, no other uses the queue meanwhile */
void plx_cq_back_place(struct engine_cq *cq, struct engine_seat *seat);
/** As plx_cq_resize(). */
enum plx_status plx_cq_back_resize(struct engine_cq *cq, uint32_t depth) PLX_MUST_CHECK;
struct cq_front *plx_cq_back_front(const struct engine_cq *cq);
/** A descriptor that is readable when a kind has fired; -1: the system has none. */
int plx_cq_back_fd(struct engine_cq *cq);
/** As plx_seat_back_set_fd(). */
bool plx_cq_back_set_fd(struct engine_cq *cq, int fd);

/* ---- shared receive queues ---- */

/** Errors:  INVALID (depth, SGEs, threshold), NO_MEMORY */
enum plx_status plx_srq_back_create(struct engine_seat *seat,
				    const struct plx_engine_srq_config *config,
				    struct engine_srq **srq) PLX_MUST_CHECK;
/** Errors:  BUSY (a queue pair uses it), TIMEOUT */
enum plx_status plx_srq_back_destroy(struct engine_srq *srq) PLX_MUST_CHECK;
/** As plx_cq_back_place(). */
void plx_srq_back_place(struct engine_srq *srq, struct engine_seat *seat);
/** As plx_srq_arm(). Errors:  INVALID (threshold), TIMEOUT */
enum plx_status plx_srq_back_arm(struct engine_srq *srq, uint32_t threshold) PLX_MUST_CHECK;
struct rq_front *plx_srq_back_front(const struct engine_srq *srq);
/** Inline mode posts to it; NULL: there is a ring. */
struct engine_rq *plx_srq_back_inline(struct engine_srq *srq);

/* ---- queue pairs ---- */

struct qp_back_config {
	enum plx_qp_type type;
	struct plx_domain domain; /* the caller holds a reference */
	struct engine_cq *send_cq, *recv_cq;
	struct engine_srq *srq; /* NULL: the queue pair has its own receive queue */
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges;
	uint32_t qkey;                  /* UD only; caps.responder_resources is then 0 */
	enum plx_congestion congestion; /* DEFAULT is NONE */
	uint64_t context;
};

/**
 * Create a queue pair in RESET. Its number and first PSN are unpredictable.
 * Errors:  FULL, NO_MEMORY, INVALID (also: its queues are of different seats), TIMEOUT
 */
enum plx_status plx_qp_back_create(const struct qp_back_config *config,
				   struct engine_qp **qp) PLX_MUST_CHECK;
/**
 * Destroy a queue pair in any state. Posted requests are discarded; completions already delivered
 * stay.
 * Errors:  TIMEOUT
 */
enum plx_status plx_qp_back_destroy(struct engine_qp *qp) PLX_MUST_CHECK;
/**
 * Let a connection go on in another queue pair of the same engine, whatever its seat is: with its
 * number, its path and its connector. `from` is in ERROR then, and its receives are flushed.
 * @param to in RESET, with the same responder resources
 * @param connector that `from` is bound to; NULL: none
 * @param past [out] what `from`, and those that had the connection before, have done
 * Errors:  BUSY (it is not between two messages), STATE (not connected, or `to` is not in RESET),
 *          INVALID (it has another connector), TIMEOUT
 * Tests:   tests/unit/engine/cycle/take_over.c
 */
enum plx_status plx_qp_back_move(struct engine_qp *from, struct engine_qp *to,
				 const struct engine_connector *connector,
				 struct plx_qp_past *past) PLX_MUST_CHECK;
/**
 * Its program has ended: what was posted before is executed, and what is posted from now on not.
 * Errors:  TIMEOUT
 */
enum plx_status plx_qp_back_freeze(struct engine_qp *qp) PLX_MUST_CHECK;
/** As plx_engine_qp_modify(). */
enum plx_status plx_qp_back_modify(struct engine_qp *qp, enum plx_qp_state to,
				   const struct plx_rc_attr *attr,
				   const struct plx_engine_path *path) PLX_MUST_CHECK;
/** As plx_qp_flush(). */
enum plx_status plx_qp_back_flush(struct engine_qp *qp) PLX_MUST_CHECK;
/** A consistent snapshot, taken on the engine's thread. Errors:  TIMEOUT */
enum plx_status plx_qp_back_query(struct engine_qp *qp, struct plx_rc_view *out) PLX_MUST_CHECK;

/* What never changes of a queue pair. */
struct qp_back_made {
	enum plx_qp_type type;
	uint32_t qpn;
	struct plx_psn first_psn; /* initial sq_psn */
	uint32_t slot;            /* of its doorbell */
	struct plx_domain domain;
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges, qkey;
	uint64_t context;
	bool has_srq;
	struct sq_front *sq_front;
	struct rq_front *rq_front; /* NULL: an SRQ */
	/* inline mode posts to these; NULL: there are rings */
	struct engine_sq *sq;
	struct engine_rq *rq;
};
void plx_qp_back_made(struct engine_qp *qp, struct qp_back_made *out);

/** The state; the value may be slightly stale. */
enum plx_qp_state plx_qp_back_state(const struct engine_qp *qp);
/** Counters; values may be slightly stale. */
const struct plx_rc_counters *plx_qp_back_counters(const struct engine_qp *qp);

#endif
