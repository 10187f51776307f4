/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections as the engine's own files see them: the GSI, event queues, and who asks or listens.
 * It owns no code. Start with struct plx_engine_connector.
 *
 * The communication manager knows each connection by an id, and gives back a context with every
 * event: here a pointer to the struct cm_subscriber that every one who may be told of something
 * begins with. Whoever is destroyed is first taken out of the manager, so no context outlives its
 * object.
 */
#ifndef PLX_ENGINE_CONNECTOR_H
#define PLX_ENGINE_CONNECTOR_H

#include "engine.h"

enum {
	GSI_WAITING_MAX = 64, /* datagrams whose receiver's Ethernet address is being asked for */
	GSI_BURST = 32,       /* datagrams, and events, of one cycle */
};

/* How often the addresses of those that wait are looked for, beside when a neighbour speaks: to
 * learn that there is no answer. */
#define GSI_LOOK_NS (10 * PLX_MSEC)

/* Who is told of something. */
struct cm_subscriber {
	struct plx_engine_eq *queue;
	uint64_t cookie;
};

struct gsi_waiting {
	struct plx_cm_route route;
	uint8_t mad[PLX_MAD_BYTES];
};

/* The general service interface: queue pair 1 of the port. */
struct gsi {
	struct plx_cm *cm;
	struct timer timer;
	bool busy; /* there may be something to send or to tell */
	struct cm_subscriber
		orphan; /* of requests that were told and not adopted yet: is told nothing */
	struct plx_psn psn;
	uint64_t look_at; /* when to look for the addresses of those that wait */
	uint32_t waiting_count;
	struct gsi_waiting waiting[GSI_WAITING_MAX];
	struct plx_list
		graces; /* struct plx_engine_connector.grace_link: queue pairs to be flushed soon */
};

/* gsi.c */
/* NULL: no memory */
struct gsi *gsi_create(struct plx_cm *cm, struct plx_psn first_psn, int socket);
void gsi_destroy(struct gsi *gsi);
/* A decoded packet for queue pair 1. @param ip its IP header */
void gsi_receive(struct plx_engine *engine, const struct plx_frame *frame,
		 const struct plx_pkt *pkt, const uint8_t *ip);
/* Send and tell what there is. Returns: how much was done */
uint32_t gsi_serve(struct plx_engine *engine);
/* The timer fired. */
void gsi_on_tick(struct plx_engine *engine);

/* The events of connectors and listeners: struct plx_engine_connector_event. */
struct plx_engine_eq {
	struct engine_eq events;
	struct plx_engine *engine;
	ALIGNED_LINE atomic_uint users;
};

struct plx_engine_listener {
	struct cm_subscriber subscriber; /* first */
	struct plx_cm_id id;
};

struct plx_engine_connector {
	struct cm_subscriber subscriber; /* first */

	/* the engine's */
	struct plx_cm_id id; /* 0: idle, or ended */
	bool passive;
	struct plx_engine_qp *qp; /* NULL: none, or gone */
	struct plx_engine_connector_attr attr;
	struct plx_cm_peer peer; /* as asked or agreed */
	/* The peer has disconnected, and `qp` is flushed at grace_until, if not before: id is 0 */
	struct plx_list grace_link; /* in gsi->graces */
	uint64_t grace_until;
};

/* connector.c, on the engine's thread */
/* Put what the manager has to tell into the event queues. Returns: how many */
uint32_t engine_connector_deliver_events(struct plx_engine *engine);
/* The peer's first packet, or the end, of a queue pair that is connected. */
void engine_connector_on_first_packet(struct plx_engine_qp *qp);
void engine_connector_on_failure(struct plx_engine_qp *qp);
/* The queue pair is about to be destroyed. */
void engine_connector_on_detach(struct plx_engine_qp *qp);
/* Queue pair and connection have to do with each other, or no more. */
void engine_connector_bind(struct plx_engine_connector *connector, struct plx_engine_qp *qp);
void engine_connector_unbind(struct plx_engine_connector *connector);
/* To RTR and RTS, with what was agreed. */
enum plx_status engine_connector_to_rtr(struct plx_engine_connector *connector);
enum plx_status engine_connector_to_rts(struct plx_engine_connector *connector);
void engine_connector_flush(struct plx_engine_connector *connector);
/* Flush the queue pairs whose grace is over. Returns: when to call again; PLX_NEVER */
uint64_t engine_connector_end_graces(struct plx_engine *engine);

/* connector_command.c */
enum plx_status engine_connector_execute(struct plx_engine *engine, struct connector_call *call);

#endif
