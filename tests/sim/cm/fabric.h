/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communication managers in virtual time: the nouns, and the functions that the files of this
 * folder share. A fabric has hosts, each with a plx_cm of its own; programs there connect (each end
 * is a connector) over the simulator's links. Nothing here looks inside a plx_cm but through
 * plx_cm_query() and its counters.
 * Start with struct fabric; run.c is what a seed does.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include "sim.h"
#include "plx_cm.h"

enum fabric_limit {
	CM_HOSTS_MAX = 3,
	LISTENERS_MAX = 4, /* ports of a host on which a program may listen; the last is for SIDR */
	CONNECTORS_MAX = 64, /* of a host, at a time */
	LISTENER_PORT = 7000,
	SERIAL_BYTES = 8,    /* first bytes of private data: the serial of its request or reply */
	OLD_DATAGRAMS = 64,  /* kept for replays */
	FRAME_TYPE = 0x88b5, /* of frames that carry datagrams: an unused EtherType */
	ID_HISTORY = 512,    /* ids after which one may be reused */
};

/* ---- requests and replies ---- */

/* A request for a connection, or for a UD service. Never forgotten: late datagrams refer to it. */
struct request {
	uint32_t host, to;
	bool sidr;
	struct plx_cm_connect connect; /* without pointers */
	uint32_t listener;             /* of the other host; LISTENERS_MAX: a port without one */
	uint64_t at;
	uint32_t length;    /* of the private data, by private_byte() */
	bool completed;     /* by the active side */
	bool established;   /* by the passive side */
	uint32_t requested; /* how often REQUESTED was delivered */
};

/* A request was accepted or rejected. */
struct reply {
	uint64_t request; /* serial */
	uint32_t host;
	bool accepted;
	struct plx_cm_own own;
	uint32_t length;
};

/* ---- connectors ---- */

enum connector_state {
	CONNECTOR_IDLE,
	CONNECTOR_SIDR_REQ_SENT, /* a UD service */
	CONNECTOR_REQ_SENT,      /* until REPLIED, or an end */
	CONNECTOR_REP_RCVD,      /* the program decides */
	CONNECTOR_REQ_RCVD,      /* REQUESTED: the program decides */
	CONNECTOR_REP_SENT,      /* until ESTABLISHED, or an end */
	CONNECTOR_ESTABLISHED,
	CONNECTOR_DREQ_SENT, /* until CLOSED */
	CONNECTOR_QP_FAILED, /* its queue pair has failed: until an end */
	CONNECTOR_STATES,
};

/* One end of a connection, as its program knows it. */
struct connector {
	struct cm_host *host;
	uint32_t number;
	enum connector_state state;
	struct plx_cm_id id;
	uint64_t context;
	uint64_t request; /* serial */
	uint64_t reply;
	struct plx_cm_own own;
	struct plx_cm_peer peer;
	uint64_t since, act_at;
	uint32_t listener;        /* of a passive one: through which it arrived */
	uint32_t life_before;     /* of the other host, when the wait began */
	uint64_t gave_way_before; /* of its own host, then */
	bool active;
	bool named;  /* a passive one: events come with `context`, not with the listener's */
	bool doomed; /* a function was refused: an event of the end is pending */
	bool was_established; /* before its queue pair failed */
	bool established;     /* a passive one: ESTABLISHED was delivered */
};

/* A port on which a program may listen. */
struct listener {
	struct plx_cm_id id;
	bool open;
	uint32_t qpn;        /* of a UD service */
	uint64_t changed_at; /* opened, closed, or its host restarted */
};

/* What a host has sent for one connection. */
struct tally {
	uint32_t comm_id;
	uint32_t sent[PLX_CM_SIDR_REP - PLX_CM_REQ + 1];
	uint32_t lost; /* of what either side has sent about it */
};

struct cm_host {
	struct fabric *fabric;
	struct station *station;
	uint32_t index, life;
	struct plx_ip ip[2]; /* v4, v6 */
	struct plx_cm_config config;
	struct plx_cm *cm;
	void *memory;
	struct plx_prng prng;
	struct listener listener[LISTENERS_MAX];
	struct connector connector[CONNECTORS_MAX];
	uint32_t connectors;
	uint64_t poll_at;
	uint32_t last_id[ID_HISTORY];
	uint64_t ids;
	struct tally *tally; /* open addressing */
	uint32_t tally_room, tally_count;
	uint64_t sent[PLX_CM_SIDR_REP - PLX_CM_REQ + 1], received[PLX_CM_SIDR_REP - PLX_CM_REQ + 1];
	uint64_t accepts, rejects, received_all; /* in this life */
	uint64_t questions;                      /* likewise: DREQs that only query */
};

struct old_datagram {
	uint32_t from, to;
	uint8_t bytes[PLX_ETH_BYTES + PLX_MAD_BYTES + 2 * sizeof(struct plx_ip)];
};

struct fabric {
	struct world world;
	struct cm_host host[CM_HOSTS_MAX];
	uint32_t host_count;
	struct request *request;
	struct reply *reply;
	uint64_t requests, replies; /* serials are one more than indexes */
	uint64_t request_room, reply_room;
	struct old_datagram old[OLD_DATAGRAMS];
	uint32_t old_count;
	uint32_t qpn_next; /* not used so far */
	uint32_t qpn_pool; /* QPNs are reused, out of so many; 0: never */
	/* drawn */
	uint32_t ghost_ppm, vanish_ppm, partial_percent;
	bool stays; /* connections may last longer than all tries of any message */
	uint64_t think_most_ns, gap_ns, trouble_ns, late_ns;
	bool gentle; /* no fault of any kind: everything succeeds as its programs want it */
	bool fair;   /* the last phase: requests must succeed */
};

/* ---- run.c ---- */

struct request *request_of(struct fabric *fabric, uint64_t serial);
struct reply *reply_of(struct fabric *fabric, uint64_t serial);
uint64_t request_add(struct fabric *fabric, const struct request *request);
uint64_t reply_add(struct fabric *fabric, const struct reply *reply);

/* ---- host.c ---- */

void cm_host_create(struct fabric *fabric, uint32_t index);
void cm_host_vanish(struct cm_host *host);
void cm_host_destroy(struct cm_host *host);
void cm_host_on_poll(struct cm_host *host, uint64_t at);
void cm_host_arrive(struct cm_host *host, struct packet *packet);
void cm_host_reschedule(struct cm_host *host);
void cm_host_toggle_listener(struct cm_host *host);
void cm_host_open_all(struct cm_host *host);
void cm_host_close_all(struct cm_host *host);
uint64_t cm_host_now(const struct cm_host *host);
void cm_host_check(struct cm_host *host);

/* ---- connector.c, event.c ---- */

bool connector_connect(struct cm_host *host);
void connector_on_event(struct connector *connector);
void connector_on_data(struct connector *connector);
struct connector *connector_partner(const struct connector *connector);
void connector_waits(struct connector *connector);
bool connector_may_time_out(const struct connector *connector);
struct connector *connector_of(struct cm_host *host, struct plx_cm_id id);
struct connector *connector_new(struct cm_host *host);
void connector_end(struct connector *connector);
void connector_think(struct connector *connector, uint64_t most_ns);
void connector_established(struct connector *connector);
void event_deliver(struct cm_host *host, const struct plx_cm_event *event);

/* ---- ledger.c: what was sent, against what may be ---- */

void ledger_sent(struct cm_host *host, const struct plx_cm_route *route, const uint8_t *bytes);
void ledger_received(struct cm_host *host, const uint8_t *bytes);
void ledger_lost(struct cm_host *from, struct cm_host *to, const uint8_t *bytes);
uint32_t ledger_losses(struct cm_host *host, struct plx_cm_id id);
void ledger_id(struct cm_host *host, struct plx_cm_id id);
uint8_t private_byte(uint64_t serial, uint32_t at);
void private_write(uint64_t serial, uint32_t length, uint8_t *out);
uint64_t private_serial(const uint8_t *bytes);
void private_check(struct cm_host *host, uint64_t serial, uint32_t length, const uint8_t *bytes,
		   uint32_t count, uint32_t whole);

#endif
