/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections and datagrams of an engine: connectors, listeners and their event queues, the GSI,
 * and address handles. Calls of programs cross to the engine's thread as commands; there plx_link
 * joins the communication manager, the neighbour table and the queue pairs.
 * Functions here may be called by any thread. Start with plx_link, then
 * plx_link_connect().
 */
#ifndef PLX_LINK_H
#define PLX_LINK_H

#include "plx_base.h"
#include "plx_cm.h"
#include "plx_engine.h"
#include "plx_eq_front.h"
#include "plx_verbs.h"

/** What plx_engine_config.link points to. */
extern const struct plx_link_ops plx_link;

/* ---- connections ----
 *
 * The communication manager's connections, with queue pairs of this engine. Their events arrive in
 * event channels. The engine moves the queue pairs to RTR, RTS and ERROR, in the right
 * order with the messages to the peer and the events of the program. This room implements these
 * calls of plx_verbs.h: plx_event_channel_fd(), plx_reject(), plx_disconnect().
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
	 * pair. plx_disconnect(), plx_link_connector_close() and plx_qp_flush() end it at once.
	 * 0: no delay; PLX_NEVER: only they do */
	uint64_t grace_ns;
};

/* The halves of objects that are the program's. The engine's, which only this room knows, are for
 * calls that a command executes; it returns `cookie`, the creator's, with every event. */

struct engine_channel;
struct engine_connector;
struct engine_listener;

struct plx_event_channel {
	struct eq events; /* of struct plx_link_event */
	struct engine_channel *back;
	struct plx_adapter *adapter; /* of the creator */
};

struct plx_listener {
	struct plx_event_channel *channel;
	struct engine_listener *back;
	uint64_t cookie;
	uint64_t context; /* lib/verbs: the program's */
};

struct plx_connector {
	struct plx_event_channel *channel;
	struct engine_connector *back;
	uint64_t cookie;
	/* lib/verbs, protected by the adapter's lock */
	uint64_t context;               /* the program's */
	struct plx_connector_info info; /* local.version 0: idle */
};

/**
 * Create an event channel.
 * @param adapter of the creator; this room does not read it
 * @param depth of the ring; events that do not fit wait in the manager
 * Errors:  INVALID, NO_MEMORY
 */
enum plx_status plx_link_channel_create(struct plx_engine *engine, struct plx_adapter *adapter,
					uint32_t depth,
					struct plx_event_channel **channel) PLX_MUST_CHECK;
/**
 * Destroy the channel.
 * Errors:  BUSY (a listener or a connector uses it)
 */
enum plx_status plx_link_channel_destroy(struct plx_event_channel *channel) PLX_MUST_CHECK;
struct plx_adapter *plx_link_channel_adapter(const struct plx_event_channel *channel);

/* An event and the cookie of its connector; for REQUESTED the listener's. */
struct plx_link_event {
	uint64_t cookie;
	struct plx_cm_event cm;
};

/**
 * Dequeue the next event; false: the channel is empty.
 * Threads: any, several at once
 */
bool plx_link_channel_next(struct plx_event_channel *channel, struct plx_link_event *out);

/**
 * Create a listener that does not listen yet.
 * Errors:  NO_MEMORY
 */
enum plx_status plx_link_listener_create(struct plx_event_channel *channel, uint64_t cookie,
					 struct plx_listener **listener) PLX_MUST_CHECK;
/**
 * Listen.
 * @param listen its `context` is ignored
 * Errors:  as plx_cm_listen(); STATE (the engine has no communication manager), TIMEOUT
 */
enum plx_status plx_link_listen(struct plx_listener *listener,
				const struct plx_cm_listen *listen) PLX_MUST_CHECK;
/**
 * Listen no more. Requests not yet adopted are rejected.
 * Errors:  TIMEOUT
 */
enum plx_status plx_link_listener_close(struct plx_listener *listener) PLX_MUST_CHECK;
/** Free a listener that is closed, or never listened. */
void plx_link_listener_free(struct plx_listener *listener);

/**
 * Create an idle connector.
 * Errors:  NO_MEMORY
 */
enum plx_status plx_link_connector_create(struct plx_event_channel *channel, uint64_t cookie,
					  struct plx_connector **connector) PLX_MUST_CHECK;
/**
 * Make an idle connector that of a REQUESTED event: later events of the connection are its own.
 * Errors:  STATE (the peer has given up), TIMEOUT
 */
enum plx_status plx_link_adopt(struct plx_connector *connector,
			       const struct plx_cm_event *requested) PLX_MUST_CHECK;
/**
 * Refuse the request of a REQUESTED event instead of adopting it.
 * Errors:  TIMEOUT
 */
enum plx_status plx_link_refuse_request(struct plx_event_channel *channel,
					const struct plx_cm_event *requested) PLX_MUST_CHECK;

/**
 * Close a connector in any state. A connected queue pair is flushed. No further event of it is
 * queued.
 * Errors:  TIMEOUT
 */
enum plx_status plx_link_connector_close(struct plx_connector *connector) PLX_MUST_CHECK;
/** Free a connector that is closed, or was never used. */
void plx_link_connector_free(struct plx_connector *connector);

/**
 * Send a connection request. `qp` is in RESET or INIT, and afterwards in INIT.
 * Errors:  STATE (either is in use), UNREACHABLE, TOO_LONG (path MTU not supported by the port;
 *          private data), as plx_cm_connect(), TIMEOUT
 */
enum plx_status plx_link_connect(struct plx_connector *connector, struct plx_qp *qp,
				 const struct plx_link_attr *attr) PLX_MUST_CHECK;
/**
 * After REPLIED: move the queue pair to RTS, then send the RTU.
 * Errors:  STATE; AGAIN (resolving the neighbour), UNREACHABLE, TIMEOUT
 */
enum plx_status plx_link_establish(struct plx_connector *connector) PLX_MUST_CHECK;
/**
 * After REQUESTED: move the queue pair to RTR, then send the REP. The queue pair moves to RTS
 * before ESTABLISHED.
 * Errors:  as plx_link_connect(), AGAIN
 */
enum plx_status plx_link_accept(struct plx_connector *connector, struct plx_qp *qp,
				const struct plx_link_attr *attr) PLX_MUST_CHECK;
/**
 * Send a SIDR REQ for a UD service.
 * @param attr path, ports and private data
 * Errors:  as plx_link_connect()
 */
enum plx_status plx_link_sidr_request(struct plx_connector *connector,
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
 * Errors:  INVALID (an address without version, `local` not ours), UNREACHABLE (in no network of
 *          ours, or not a unicast address), FULL (PLX_ENGINE_AHS_MAX), NO_MEMORY, TIMEOUT
 * Tests:   tests/unit/engine/cycle/ud.c, tests/unit/engine/link/ah.c
 */
enum plx_status plx_link_ah_create(struct plx_engine *engine, struct plx_pd *pd,
				   struct plx_domain domain, const struct plx_engine_path *path,
				   struct plx_ah **ah) PLX_MUST_CHECK;
/** The `pd` that the creator has given; this room does not read it. */
struct plx_pd *plx_link_ah_pd(const struct plx_ah *ah);

/**
 * Destroy an address handle. Requests already posted with it are still sent.
 * Errors:  TIMEOUT
 */
enum plx_status plx_link_ah_destroy(struct plx_ah *ah) PLX_MUST_CHECK;

#endif
