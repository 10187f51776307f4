/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections and datagrams of an engine: connectors, listeners and their event channels, the GSI,
 * and address handles. These are the engine's halves of objects, as a host uses them (plx_back.h).
 * Calls cross to the engine's thread as commands; there plx_link joins the communication manager,
 * the neighbour table and the queue pairs.
 * Functions here may be called by any thread. Start with plx_link, then
 * plx_connector_back_connect().
 */
#ifndef PLX_LINK_H
#define PLX_LINK_H

#include "plx_back.h"
#include "plx_base.h"
#include "plx_cm.h"
#include "plx_engine.h"
#include "plx_link_event.h"

/** What plx_engine_config.link points to. */
extern const struct plx_link_ops plx_link;

/* ---- connections ----
 *
 * The communication manager's connections, with queue pairs of all engines of a group; the manager,
 * channels, listeners and connectors are engine 0's. Their events arrive in event channels. The
 * engines move the queue pairs to RTR, RTS and ERROR, in the right order with the messages to the
 * peer and the events of the program.
 */

/* Attributes of a connection to be made. */
struct plx_link_attr {
	/* the engine fills in the negotiated members: dest_qpn, rq_psn, mtu, initiator_depth,
	 * rnr_retry_max, and retry_max of the passive side */
	struct plx_rc_attr rc;
	struct plx_engine_path path; /* accept ignores `remote` and `local` */
	struct plx_cm_own own;       /* the engine fills in qpn, psn and srq */
	uint16_t local_port, remote_port;
	const uint8_t *private_data;
	uint32_t private_bytes;
	/* [ns] between DISCONNECTED, when the peer has disconnected, and the flush of the queue
	 * pair. plx_disconnect(), plx_connector_destroy() and plx_qp_flush() end it at once.
	 * 0: no delay; PLX_NEVER: only they do */
	uint64_t grace_ns;
};

struct engine_channel;
struct engine_connector;
struct engine_listener;

/**
 * Create an event channel: a ring of struct plx_link_event.
 * @param seat of engine 0
 * @param depth of the ring; events that do not fit wait in the manager
 * Errors:  INVALID, NO_MEMORY
 */
enum plx_status plx_channel_back_create(struct engine_seat *seat, uint32_t depth,
					struct engine_channel **channel) PLX_MUST_CHECK;
/**
 * Destroy the channel. Requests that were delivered and not adopted are rejected.
 * Errors:  BUSY (a listener or a connector uses it), TIMEOUT
 */
enum plx_status plx_channel_back_destroy(struct engine_channel *channel) PLX_MUST_CHECK;
/** The ring. */
void *plx_channel_back_front(const struct engine_channel *channel);
/** A descriptor that is readable while an event is queued; -1: the system has none. */
int plx_channel_back_fd(struct engine_channel *channel);
/** As plx_seat_back_set_fd(). */
bool plx_channel_back_set_fd(struct engine_channel *channel, int fd);
/** Deliver nothing: events wait until their connector is another channel's. Before it has one. */
void plx_channel_back_hold(struct engine_channel *channel);
/**
 * Refuse the request of a REQUESTED event of this channel instead of adopting it.
 * Errors:  STATE (the peer has given up, or it is no such request), TIMEOUT
 */
enum plx_status plx_channel_back_refuse(struct engine_channel *channel,
					struct plx_cm_id id) PLX_MUST_CHECK;

/**
 * Create a listener.
 * @param listen its `context` is ignored
 * @param cookie returned in events
 * Errors:  NO_MEMORY, as plx_cm_listen(); STATE (the engine has no communication manager), TIMEOUT
 */
enum plx_status plx_listener_back_create(struct engine_channel *channel,
					 const struct plx_cm_listen *listen, uint64_t cookie,
					 struct engine_listener **listener) PLX_MUST_CHECK;
/**
 * Listen no more. Requests that were not delivered are rejected.
 * Errors:  TIMEOUT
 */
enum plx_status plx_listener_back_destroy(struct engine_listener *listener) PLX_MUST_CHECK;

/**
 * Create an idle connector.
 * @param cookie returned in events
 * Errors:  NO_MEMORY
 */
enum plx_status plx_connector_back_create(struct engine_channel *channel, uint64_t cookie,
					  struct engine_connector **connector) PLX_MUST_CHECK;
/**
 * Destroy a connector in any state. A connected queue pair is flushed. No further event of it is
 * queued.
 * Errors:  TIMEOUT
 */
enum plx_status plx_connector_back_destroy(struct engine_connector *connector) PLX_MUST_CHECK;
/**
 * Let a connector's events arrive in another channel from now on, of whatever seat.
 * @param info [out] of its connection
 * Errors:  TIMEOUT
 */
enum plx_status plx_connector_back_move(struct engine_connector *connector,
					struct engine_channel *channel, uint64_t cookie,
					struct plx_connector_info *info) PLX_MUST_CHECK;
/**
 * Make an idle connector that of a REQUESTED event of its channel: later events of the connection
 * are its own.
 * Errors:  STATE (the peer has given up, or it is no such request), TIMEOUT
 */
enum plx_status plx_connector_back_adopt(struct engine_connector *connector,
					 struct plx_cm_id id) PLX_MUST_CHECK;
/**
 * Send a connection request. `qp` is in RESET or INIT, and afterwards in INIT. If it, or the former
 * queue pair of the connector, is another engine's, a former one is flushed even if the call is
 * refused.
 * Errors:  STATE (either is in use), UNREACHABLE, TOO_LONG (path MTU not supported by the port;
 *          private data), as plx_cm_connect(), TIMEOUT
 */
enum plx_status plx_connector_back_connect(struct engine_connector *connector, struct engine_qp *qp,
					   const struct plx_link_attr *attr) PLX_MUST_CHECK;
/**
 * After REPLIED: move the queue pair to RTS, then send the RTU.
 * Errors:  STATE; AGAIN (resolving the neighbour), UNREACHABLE, TIMEOUT
 */
enum plx_status plx_connector_back_establish(struct engine_connector *connector) PLX_MUST_CHECK;
/**
 * After adopting: move the queue pair to RTR, then send the REP. The queue pair moves to RTS
 * before ESTABLISHED.
 * Errors:  as plx_connector_back_connect(), AGAIN
 */
enum plx_status plx_connector_back_accept(struct engine_connector *connector, struct engine_qp *qp,
					  const struct plx_link_attr *attr) PLX_MUST_CHECK;
/** As plx_reject(). */
enum plx_status plx_connector_back_reject(struct engine_connector *connector,
					  const void *private_data,
					  uint32_t private_bytes) PLX_MUST_CHECK;
/** As plx_disconnect(). */
enum plx_status plx_connector_back_disconnect(struct engine_connector *connector) PLX_MUST_CHECK;
/**
 * Send a SIDR REQ for a UD service.
 * @param attr path, ports and private data
 * Errors:  as plx_connector_back_connect()
 */
enum plx_status plx_connector_back_sidr_request(struct engine_connector *connector,
						const struct plx_link_attr *attr) PLX_MUST_CHECK;

/**
 * Counters of the engine's communication manager; NULL: the engine has no manager.
 * Threads: any
 */
const struct plx_cm_counters *plx_link_cm_counters(const struct plx_engine *engine);
/**
 * A consistent snapshot, taken on the engine's thread.
 * Errors:  STATE (no manager), TIMEOUT
 */
enum plx_status plx_link_cm_query(struct plx_engine *engine,
				  struct plx_cm_view *out) PLX_MUST_CHECK;

/* ---- address handles ---- */

/**
 * Create an address handle for the datagrams of one domain. Resolution of its neighbour starts at
 * once; datagrams queue until it is resolved, and are dropped and counted if resolution fails or
 * too many are queued. It is resolved again whenever neighbours have moved.
 *
 * @param number [out] by which datagrams name it
 * Errors:  INVALID (an address without version, `local` not ours), UNREACHABLE (in no network of
 *          ours, or not a unicast address), FULL (PLX_ENGINE_AHS_MAX), NO_MEMORY, TIMEOUT
 * Tests:   tests/unit/engine/cycle/ud.c, tests/unit/engine/link/ah.c
 */
enum plx_status plx_ah_back_create(struct plx_engine *engine, struct plx_domain domain,
				   const struct plx_engine_path *path,
				   uint32_t *number) PLX_MUST_CHECK;
/**
 * Destroy an address handle. Requests already posted with it are still sent.
 * Errors:  TIMEOUT
 */
enum plx_status plx_ah_back_destroy(struct plx_engine *engine, uint32_t number) PLX_MUST_CHECK;

#endif
