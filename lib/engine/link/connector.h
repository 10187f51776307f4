/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections and the GSI, as the files of this room share them. It owns no code. Start with struct
 * gsi.
 */
#ifndef PLX_ENGINE_CONNECTOR_H
#define PLX_ENGINE_CONNECTOR_H

#include "plx_engine_cycle.h"
#include "plx_link.h"

enum {
	GSI_WAITING_MAX = 64, /* datagrams waiting for the receiver's Ethernet address */
	GSI_BURST = 32,       /* maximum of datagrams and events per cycle */
};

/* Interval at which the addresses of waiting datagrams are looked up, in addition to each time a
 * neighbour replies. It detects that resolution has failed. */
#define GSI_LOOK_NS (10 * PLX_MSEC)

/* A receiver of events, the first member of every object that is one. The communication manager
 * returns its address with every event, so the object is removed from the manager before it is
 * destroyed. */
struct subscriber {
	struct engine_channel *channel; /* NULL: receives no events */
	uint64_t cookie;                /* the creator's, returned in events */
};

/* An event queue of struct plx_link_event. */
struct engine_channel {
	struct engine_eq events;
	struct plx_engine *engine;
	struct engine_seat *seat;
	bool holds; /* events wait in the manager until their connector is another channel's */
	/* of requests that were delivered here and are not adopted yet; receives no events */
	struct subscriber orphan;
	PLX_ALIGNED_LINE atomic_uint users;
};

struct engine_listener {
	struct subscriber subscriber; /* first */
	struct plx_cm_id id;          /* 0: not listening */
};

/* How the association of a connector and the queue pair of another engine ends. */
enum far_end {
	FAR_NOTHING, /* it does not */
	FAR_KEEP,    /* the queue pair stays as it is */
	FAR_FLUSH,   /* it is flushed, unless it never left INIT */
};

/* What the engine of a connector's queue pair knows, if it is not the connector's own (far.h). Only
 * that engine accesses it, but for the last members. */
struct far_qp {
	struct plx_engine *engine;
	struct engine_qp *qp; /* NULL: none, or destroyed */
	struct plx_cm_id id;  /* of the connection; 0: not known yet */
	bool passive;
	struct plx_rc_attr rc;
	struct plx_engine_path path;
	uint32_t due;             /* bits: what it has to do for the connector */
	struct plx_list due_link; /* in member->due */
	/* read by engine 0 */
	atomic_bool ready;  /* it was brought to RTS, or cannot be any more */
	atomic_bool failed; /* it has failed, or was destroyed */
};

struct engine_connector {
	struct subscriber subscriber; /* first */
	struct plx_cm_id id;          /* 0: idle, or the connection has ended */
	bool passive;
	struct engine_qp *qp; /* NULL: not set yet, or destroyed */
	struct plx_link_attr attr;
	struct plx_cm_peer peer; /* as requested or agreed */
	/* The peer has disconnected. `qp` is flushed at grace_until at the latest. id is 0 */
	struct plx_list grace_link; /* in gsi->graces */
	uint64_t grace_until;

	/* a queue pair of another engine; `qp` is then NULL */
	struct plx_engine *far_engine; /* NULL: none */
	bool far_rts;                  /* it was in RTS */
	bool far_asked;                /* ... or was asked to go there */
	enum far_end far_how;          /* of a message to engine `far_last` that found no room */
	uint32_t far_last;
	struct plx_list far_link; /* in gsi->ends while there is such a message */
	PLX_ALIGNED_LINE struct far_qp far;

	/* of the threads that call: the engine of its last queue pair, if that is not the channel's
	 * own; and whether a call binds a queue pair to it now */
	PLX_ALIGNED_LINE _Atomic(struct plx_engine *) far_last_engine;
	atomic_bool is_binding;
};

struct gsi_waiting {
	struct plx_cm_route route;
	uint8_t mad[PLX_MAD_BYTES];
};

/* The general service interface: queue pair 1 of the port. */
struct gsi {
	struct plx_cm *cm;
	struct plx_psn psn;
	uint32_t waiting_count;
	struct gsi_waiting waiting[GSI_WAITING_MAX];
	struct plx_list
		graces; /* struct engine_connector.grace_link: queue pairs to be flushed soon */
	struct plx_list ends; /* struct engine_connector.far_link */
};

/* gsi.c */
/* NULL: out of memory */
struct gsi *gsi_create(struct plx_cm *cm, struct plx_psn first_psn, int socket);
void gsi_destroy(struct gsi *gsi);
/* As plx_link_ops.receive, .serve and .on_tick, which these are. */
void gsi_receive(struct plx_engine *engine, const struct plx_frame *frame,
		 const struct plx_pkt *pkt, const uint8_t *ip);
uint32_t gsi_serve(struct plx_engine *engine);
void gsi_on_tick(struct plx_engine *engine);

/* connector.c, on the engine's thread */
/* Move the manager's events into the event queues.
 * Returns: how many */
uint32_t connector_deliver_events(struct plx_engine *engine);
/* As the members of plx_link_ops of these names. */
void connector_on_first_packet(struct engine_qp *qp);
void connector_on_failure(struct engine_qp *qp);
void connector_on_detach(struct engine_qp *qp);
void connector_on_move(struct engine_qp *from, struct engine_qp *to);
/* Associate a queue pair with a connector, or end the association. */
void connector_bind(struct engine_connector *connector, struct engine_qp *qp);
void connector_unbind(struct engine_connector *connector);
/* Move the queue pair to RTR or RTS, with the negotiated attributes. */
enum plx_status connector_to_rtr(struct engine_connector *connector);
enum plx_status connector_to_rts(struct engine_connector *connector);
void connector_flush(struct engine_connector *connector);
/* Fill in the negotiated attributes. */
void connector_fill_attr(const struct plx_cm_peer *peer, bool passive, const struct engine_qp *qp,
			 struct plx_rc_attr *rc, struct plx_engine_path *path);
/* Flush the queue pairs whose grace period is over.
 * Returns: when to call again; PLX_NEVER */
uint64_t connector_end_graces(struct plx_engine *engine);

/* connector_command.c */
/* Is this queue pair available for a connection? On its engine's thread. */
enum plx_status connector_check_qp(const struct plx_engine *engine, const struct engine_qp *qp,
				   uint32_t mtu);
void connector_fill_own(const struct engine_qp *qp, struct plx_cm_own *own);
void connector_fill_connect(const struct engine_connector *connector,
			    struct plx_cm_connect *connect);

#endif
