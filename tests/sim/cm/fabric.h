/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Managers of connections in virtual time: the nouns, and what the files of this folder offer each
 * other. An exchange has offices, each with a plx_cm of its own; programs there ask each other for
 * connections (calls) over the simulator's links. Nothing here looks inside a plx_cm but through
 * plx_cm_query() and its counters.
 * Start with struct exchange; run.c is what a seed does.
 */
#ifndef SIM_EXCHANGE_H
#define SIM_EXCHANGE_H

#include "sim.h"
#include "plx_cm.h"

enum exchange_limit {
	OFFICES_MAX = 3,
	EARS = 4,       /* ports of one office where somebody may listen; the last is of UDP */
	CALLS_MAX = 64, /* of one office, at a time */
	EAR_PORT = 7000,
	SERIAL_BYTES = 8,    /* at the front of private data: whose it is */
	OLD_DATAGRAMS = 64,  /* kept to come again */
	FRAME_TYPE = 0x88b5, /* of the frames that carry datagrams: nobody's */
	ID_HISTORY = 512,    /* how long an id must not be given again */
};

/* ---- what was said -------------------------------------------------------------------------- */

/* Somebody asked for a connection, or for a UD service. Never forgotten: late datagrams speak of
 * it. */
struct ask {
	uint32_t office, to;
	bool sidr;
	struct plx_cm_connect connect; /* without pointers */
	uint32_t ear;                  /* of the other office; EARS: nobody ever listens there */
	uint64_t at;
	uint32_t length;    /* of the private data, by private_byte() */
	bool completed;     /* by who asked */
	bool established;   /* by who was asked */
	uint32_t requested; /* how often somebody was told */
};

/* Somebody accepted or refused what he was asked for. */
struct answer {
	uint64_t ask; /* serial */
	uint32_t office;
	bool accepted;
	struct plx_cm_own own;
	uint32_t length;
};

/* ---- calls ---------------------------------------------------------------------------------- */

enum call_state {
	CALL_IDLE,
	CALL_SIDR_REQ_SENT, /* a UD service */
	CALL_REQ_SENT,      /* until REPLIED, or an end */
	CALL_REP_RCVD,      /* the program makes up its mind */
	CALL_REQ_RCVD,      /* REQUESTED: the program makes up its mind */
	CALL_REP_SENT,      /* until ESTABLISHED, or an end */
	CALL_ESTABLISHED,
	CALL_DREQ_SENT, /* until CLOSED */
	CALL_QP_FAILED, /* its queue pair is gone: until an end */
	CALL_STATES,
};

/* One end of a connection, as its program knows it. */
struct call {
	struct office *office;
	uint32_t number;
	enum call_state state;
	struct plx_cm_id id;
	uint64_t context;
	uint64_t ask; /* serial */
	uint64_t answer;
	struct plx_cm_own own;
	struct plx_cm_peer peer;
	uint64_t since, act_at;
	uint32_t ear;             /* of a passive one: whose listener it came by */
	uint32_t life_before;     /* of the other office, when it began to wait for it */
	uint64_t gave_way_before; /* of its own, then */
	bool active;
	bool named;       /* a passive one: events come with `context`, not with the ear's */
	bool doomed;      /* a call was refused: an end waits to be told */
	bool alive;       /* it lived before its queue pair was lost */
	bool established; /* a passive one: was told */
};

/* A port where somebody may listen. */
struct ear {
	struct plx_cm_id id;
	bool open;
	uint32_t qpn;        /* of a UD service */
	uint64_t changed_at; /* opened, closed, or its office made anew */
};

/* What an office has sent of one connection. */
struct tally {
	uint32_t comm_id;
	uint32_t sent[PLX_CM_SIDR_REP - PLX_CM_REQ + 1];
	uint32_t lost; /* of what either side has said about it */
};

struct office {
	struct exchange *exchange;
	struct station *station;
	uint32_t index, life;
	struct plx_ip ip[2]; /* v4, v6 */
	struct plx_cm_config config;
	struct plx_cm *cm;
	void *memory;
	struct plx_prng prng;
	struct ear ear[EARS];
	struct call call[CALLS_MAX];
	uint32_t calls;
	uint64_t poll_at;
	uint32_t last_id[ID_HISTORY];
	uint64_t ids;
	struct tally *tally; /* open addressing */
	uint32_t tally_room, tally_count;
	uint64_t sent[PLX_CM_SIDR_REP - PLX_CM_REQ + 1], heard[PLX_CM_SIDR_REP - PLX_CM_REQ + 1];
	uint64_t accepts, rejects, heard_all; /* in this life */
	uint64_t questions;                   /* likewise: DREQs that only ask */
};

struct old_datagram {
	uint32_t from, to;
	uint8_t bytes[PLX_ETH_BYTES + PLX_MAD_BYTES + 2 * sizeof(struct plx_ip)];
};

struct exchange {
	struct world world;
	struct office office[OFFICES_MAX];
	uint32_t office_count;
	struct ask *ask;
	struct answer *answer;
	uint64_t asks, answers; /* serials are one more than indexes */
	uint64_t ask_room, answer_room;
	struct old_datagram old[OLD_DATAGRAMS];
	uint32_t old_count;
	uint32_t qpn_next; /* never used so far */
	uint32_t qpn_pool; /* QPNs are taken anew from so many; 0: never */
	/* drawn */
	uint32_t ghost_ppm, vanish_ppm, partial_percent;
	bool stays; /* connections may live longer than all tries of anything take */
	uint64_t think_most_ns, gap_ns, trouble_ns, late_ns;
	bool gentle; /* no fault of any kind: everything comes off as its programs want it */
	bool fair;   /* the last phase: asks must come off */
};

/* ---- run.c ---------------------------------------------------------------------------------- */

struct ask *ask_of(struct exchange *exchange, uint64_t serial);
struct answer *answer_of(struct exchange *exchange, uint64_t serial);
uint64_t ask_add(struct exchange *exchange, const struct ask *ask);
uint64_t answer_add(struct exchange *exchange, const struct answer *answer);

/* ---- office.c ------------------------------------------------------------------------------- */

void office_create(struct exchange *exchange, uint32_t index);
void office_vanish(struct office *office);
void office_destroy(struct office *office);
void office_on_poll(struct office *office, uint64_t at);
void office_arrive(struct office *office, struct packet *packet);
void office_touch(struct office *office);
void office_toggle_ear(struct office *office);
void office_open_all(struct office *office);
void office_close_all(struct office *office);
uint64_t office_now(const struct office *office);
void office_check(struct office *office);

/* ---- call.c, event.c ------------------------------------------------------------------------ */

bool call_dial(struct office *office);
void call_on_event(struct call *call);
void call_on_data(struct call *call);
struct call *call_partner(const struct call *call);
void call_waits(struct call *call);
bool call_may_time_out(const struct call *call);
struct call *call_of(struct office *office, struct plx_cm_id id);
struct call *call_new(struct office *office);
void call_over(struct call *call);
void call_think(struct call *call, uint64_t most_ns);
void call_lives(struct call *call);
void event_told(struct office *office, const struct plx_cm_event *event);

/* ---- ledger.c: what was sent, against what may be -------------------------------------------- */

void ledger_sent(struct office *office, const struct plx_cm_route *route, const uint8_t *bytes);
void ledger_heard(struct office *office, const uint8_t *bytes);
void ledger_lost(struct office *from, struct office *to, const uint8_t *bytes);
uint32_t ledger_losses(struct office *office, struct plx_cm_id id);
void ledger_id(struct office *office, struct plx_cm_id id);
uint8_t private_byte(uint64_t serial, uint32_t at);
void private_write(uint64_t serial, uint32_t length, uint8_t *out);
uint64_t private_serial(const uint8_t *bytes);
void private_check(struct office *office, uint64_t serial, uint32_t length, const uint8_t *bytes,
		   uint32_t count, uint32_t whole);

#endif
