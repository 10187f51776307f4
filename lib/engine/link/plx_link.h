/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections and datagrams of an engine: connectors, listeners and their event queues, the GSI,
 * and address handles. Calls of programs cross to the engine's thread as commands; there plx_link
 * joins the communication manager, the neighbour table and the queue pairs.
 * Functions here may be called by any thread. Start with plx_link, then
 * plx_engine_connector_connect().
 */
#ifndef PLX_LINK_H
#define PLX_LINK_H

#include "plx_base.h"
#include "plx_cm.h"
#include "plx_engine.h"

/** What plx_engine_config.link points to. */
extern const struct plx_link_ops plx_link;

/* ---- connections ----
 *
 * The communication manager's connections, with queue pairs of this engine. Connectors and
 * listeners are objects of the application; their events arrive in event queues. The engine moves
 * the queue pairs to RTR, RTS and ERROR, in the right order with the messages to the peer and the
 * events of the program.
 */

struct plx_engine_eq;
struct plx_engine_listener;
struct plx_engine_connector;

enum {
	PLX_ENGINE_EQ_DEPTH_MAX = 4096
};

/**
 * Create an event queue.
 * @param depth of the ring; events that do not fit wait in the manager
 * Errors:  INVALID, NO_MEMORY
 */
enum plx_status plx_engine_eq_create(struct plx_engine *engine, uint32_t depth,
				     struct plx_engine_eq **queue) PLX_MUST_CHECK;
/**
 * Destroy the queue.
 * Errors:  BUSY (a listener or a connector uses it)
 */
enum plx_status plx_engine_eq_destroy(struct plx_engine_eq *queue) PLX_MUST_CHECK;

/* An event and the cookie of its connector; for REQUESTED the listener's. */
struct plx_engine_connector_event {
	uint64_t cookie;
	struct plx_cm_event cm;
};

/**
 * Dequeue the next event; false: the queue is empty.
 * Threads: any, several at once
 */
bool plx_engine_eq_next(struct plx_engine_eq *queue, struct plx_engine_connector_event *out);
/** A descriptor that is readable while an event is queued. The queue owns it. */
int plx_engine_eq_fd(struct plx_engine_eq *queue);

/**
 * Create a listener.
 * @param listen its `context` is ignored
 * @param cookie returned in REQUESTED
 * Errors:  as plx_cm_listen(); STATE (the engine has no communication manager), TIMEOUT
 */
enum plx_status plx_engine_listener_create(struct plx_engine_eq *queue,
					   const struct plx_cm_listen *listen, uint64_t cookie,
					   struct plx_engine_listener **listener) PLX_MUST_CHECK;
/**
 * Destroy a listener. Requests not yet adopted are rejected.
 * Errors:  TIMEOUT
 */
enum plx_status plx_engine_listener_destroy(struct plx_engine_listener *listener) PLX_MUST_CHECK;

/**
 * Create an idle connector.
 * Errors:  NO_MEMORY
 */
enum plx_status plx_engine_connector_create(struct plx_engine_eq *queue, uint64_t cookie,
					    struct plx_engine_connector **connector) PLX_MUST_CHECK;

/**
 * Create the connector of a REQUESTED event. Later events of the connection carry this cookie.
 * Errors:  STATE (the peer has given up), NO_MEMORY, TIMEOUT
 */
enum plx_status plx_engine_connector_adopt(struct plx_engine_eq *queue,
					   const struct plx_cm_event *requested, uint64_t cookie,
					   struct plx_engine_connector **connector) PLX_MUST_CHECK;

/**
 * Refuse the request of a REQUESTED event instead of adopting it.
 * Errors:  TIMEOUT
 */
enum plx_status plx_engine_refuse_request(struct plx_engine_eq *queue,
					  const struct plx_cm_event *requested) PLX_MUST_CHECK;

/**
 * Destroy a connector in any state. A connected queue pair is flushed. No further event of it is
 * queued.
 * Errors:  TIMEOUT
 */
enum plx_status plx_engine_connector_destroy(struct plx_engine_connector *connector) PLX_MUST_CHECK;

/* Attributes of a connection to be made. */
struct plx_engine_connector_attr {
	/* the engine fills in the negotiated members: dest_qpn, rq_psn, mtu, initiator_depth,
	 * rnr_retry_max, and retry_max of the passive side */
	struct plx_rc_attr rc;
	struct plx_engine_path path; /* accept ignores `remote` and `local` */
	struct plx_cm_own own;       /* the engine fills in qpn, psn and srq */
	uint16_t local_port, remote_port;
	const uint8_t *private_data;
	uint32_t private_bytes;
	/* [ns] between DISCONNECTED, when the peer has disconnected, and the flush of the queue
	 * pair. plx_engine_connector_disconnect(), plx_engine_connector_destroy() and
	 * plx_qp_flush() end it at once. 0: no delay */
	uint64_t grace_ns;
};

/**
 * Send a connection request. `qp` is in RESET or INIT, and afterwards in INIT.
 * Errors:  STATE (either is in use), UNREACHABLE, TOO_LONG (path MTU not supported by the port;
 *          private data), as plx_cm_connect(), TIMEOUT
 */
enum plx_status
plx_engine_connector_connect(struct plx_engine_connector *connector, struct plx_qp *qp,
			     const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;
/**
 * After REPLIED: move the queue pair to RTS, then send the RTU.
 * Errors:  STATE; AGAIN (resolving the neighbour), UNREACHABLE, TIMEOUT
 */
enum plx_status
plx_engine_connector_establish(struct plx_engine_connector *connector) PLX_MUST_CHECK;
/**
 * After REQUESTED: move the queue pair to RTR, then send the REP. The queue pair moves to RTS
 * before ESTABLISHED.
 * Errors:  as plx_engine_connector_connect(), AGAIN
 */
enum plx_status
plx_engine_connector_accept(struct plx_engine_connector *connector, struct plx_qp *qp,
			    const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;
/**
 * Reject the request.
 * Errors:  as plx_cm_reject(), TIMEOUT
 */
enum plx_status plx_engine_connector_reject(struct plx_engine_connector *connector,
					    const uint8_t *private_data,
					    uint32_t private_bytes) PLX_MUST_CHECK;
/**
 * Flush the queue pair and disconnect from the peer.
 * Errors:  STATE, TIMEOUT
 */
enum plx_status
plx_engine_connector_disconnect(struct plx_engine_connector *connector) PLX_MUST_CHECK;
/**
 * Send a SIDR REQ for a UD service.
 * @param attr path, ports and private data
 * Errors:  as plx_engine_connector_connect()
 */
enum plx_status
plx_engine_connector_sidr_request(struct plx_engine_connector *connector,
				  const struct plx_engine_connector_attr *attr) PLX_MUST_CHECK;

/**
 * Counters of the engine's communication manager; NULL: the engine has no manager.
 * Threads: any
 */
const struct plx_cm_counters *plx_engine_cm_counters(const struct plx_engine *engine);
/**
 * A consistent snapshot, taken on the engine's thread.
 * Errors:  STATE (no manager), TIMEOUT
 */
enum plx_status plx_engine_cm_query(struct plx_engine *engine,
				    struct plx_cm_view *out) PLX_MUST_CHECK;

/* ---- address handles ---- */

struct plx_engine_ah;

/**
 * Create an address handle for the datagrams of one domain. Resolution of its neighbour starts at
 * once; datagrams queue until it is resolved, and are dropped and counted if resolution fails or
 * too many are queued. It is resolved again whenever neighbours have moved.
 *
 * Errors:  INVALID (an address without version, `local` not ours), UNREACHABLE (in no network of
 *          ours, or not a unicast address), FULL (PLX_ENGINE_AHS_MAX), NO_MEMORY, TIMEOUT
 * Tests:   tests/unit/engine/cycle/ud.c, tests/unit/engine/link/ah.c
 */
enum plx_status plx_engine_ah_create(struct plx_engine *engine, struct plx_domain domain,
				     const struct plx_engine_path *path,
				     struct plx_engine_ah **ah) PLX_MUST_CHECK;

/**
 * Destroy an address handle. Requests already posted with it are still sent.
 * Errors:  TIMEOUT
 */
enum plx_status plx_engine_ah_destroy(struct plx_engine_ah *ah) PLX_MUST_CHECK;

#endif
