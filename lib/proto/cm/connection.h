/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection as the manager keeps it, the manager itself, and what its files call of each other.
 * Private to lib/proto/cm. It never leaves the room: what others see is in plx_cm.h.
 * Start with enum cm_state; docs/cm.md draws the states.
 *
 * A connection that is not free is in up to seven lists, one for each question that is asked about
 * it, so that nothing is ever searched: who has this id, whose request is that, who uses that queue
 * pair, who is due, who has something to send, who has something to tell; and one that its state
 * calls for.
 */
#ifndef PLX_CONNECTION_H
#define PLX_CONNECTION_H

#include "plx_cm.h"

enum cm_state {
	CM_FREE,
	CM_ASKING,    /* active: a REQ is out */
	CM_REPLIED,   /* active: the REP came, and our program makes up its mind */
	CM_REQUESTED, /* passive: a REQ came, and our program makes up its mind */
	CM_ACCEPTED,  /* passive: a REP is out */
	CM_LIVING,
	CM_LEAVING, /* a DREQ is out */
	CM_SEEKING, /* a SIDR REQ is out */
	CM_ENDED,   /* only repetitions are answered */
	CM_STATES,
};

/* Timer lists: one of each response timeout (an exponent), so that each list has one delay and its
 * first entry is due first. */
enum cm_timer {
	CM_TIMER_RESPONSE = 0, /* + exponent - PLX_CM_TIMEOUT_LEAST */
	CM_TIMER_PATIENCE = PLX_CM_SERVICE_TIMEOUT - PLX_CM_TIMEOUT_LEAST + 1,
	CM_TIMER_TIME_WAIT,
	CM_TIMERS,
};

/* For the way there and back, on top of the response timeout. */
#define CM_MARGIN_NS (100 * PLX_MSEC)

/* Messages of a connection that wait to be sent; the lowest leaves first. */
enum cm_message {
	CM_SEND_REQ,
	CM_SEND_SIDR_REQ,
	CM_SEND_MRA,
	CM_SEND_REP,
	CM_SEND_RTU,
	CM_SEND_REJ,
	CM_SEND_DREQ,
	CM_SEND_DREP,
	CM_SENDS,
};

/* Events of a connection that wait to be told; the lowest is told first. */
enum cm_event {
	CM_TELL_REQUESTED,
	CM_TELL_REPLIED,
	CM_TELL_ESTABLISHED,
	CM_TELL_END, /* cm_connection.end_kind */
	CM_TELLS,
	CM_TELL_NOTHING, /* nobody's */
};

struct cm_listener {
	struct plx_list same;     /* of the same hash; or free */
	struct plx_list requests; /* CM_REQUESTED; who was told only until the listener goes */
	struct plx_cm_listen what;
	uint32_t id;
	uint32_t life; /* how many listeners had this place */
	uint32_t waiting;
};

/* Tokens are time: a bucket is as full as the future is far in which it will be used up. */
struct cm_bucket {
	uint64_t until_ns;
};

/* A peer's address, and what it may ask for. */
struct cm_source {
	struct plx_list same; /* of the same hash */
	struct plx_list idle; /* nothing half open */
	struct plx_ip ip;     /* version 0: free, or shared */
	struct cm_bucket bucket;
	uint32_t half_open;
};

/* An address that has asked for connections, and how many of these are there. */
struct cm_holder {
	struct plx_list same; /* of the same hash; or free */
	struct plx_ip ip;
	uint32_t held;
};

struct cm_connection {
	struct plx_list by_id, by_request, by_qp; /* hash chains */
	struct plx_list timer, send, event;
	struct plx_list group; /* free; of a listener; silent; remains */
	uint64_t deadline_ns;
	uint64_t tid;      /* of the REQ, and of every message until it lives */
	uint64_t dreq_tid; /* of the peer's DREQ, for our DREP */
	uint64_t ca_guid;  /* the peer's */
	uint64_t context;
	struct cm_listener *listener; /* in CM_REQUESTED, while it is there */
	struct cm_source *source;     /* while half open */
	struct cm_holder *holder;     /* of a peer's, until its end was told */
	struct plx_cm_peer peer;      /* with the addresses of both ends */
	struct plx_cm_own own;
	uint32_t id, remote_id;
	uint32_t qkey;   /* of a SIDR REP */
	uint16_t reason; /* in the event of the end */
	uint16_t reject; /* reason of our REJ; 0: there is none to send */
	uint8_t about;   /* ... and which message it is about */
	uint8_t state;   /* enum cm_state */
	uint8_t sends;   /* bits of enum cm_message: to send */
	uint8_t sent;    /* ... that were sent before */
	uint8_t tells;   /* bits of enum cm_event */
	uint8_t end_kind;
	uint8_t tries, tries_max;
	uint8_t response;    /* exponent of the timeout that the peer has promised */
	bool active;         /* we asked */
	bool told;           /* REQUESTED was */
	bool known;          /* the peer had a living connection when it asked */
	bool asked_for_time; /* by MRA, since the last try */
	bool alternate;      /* the REQ has a second path */
	bool unconfirmed;    /* left before the peer confirmed what was accepted */
	bool orphan;         /* its program wants to hear no more of it */
	bool expired;        /* ended, and not in time-wait any more */
	bool remains;        /* ended, and nobody waits to be told */
	bool has_link;       /* the REQ came from `link` */
	uint8_t link[6];
	uint8_t private_of; /* enum cm_event: whose `private_data` is, while that waits */
	uint8_t private_bytes;
	uint8_t reject_bytes; /* of `private_data`, in our REJ */
	/* Ours as long as what has it may have to be sent again, then the peer's: never both. */
	uint8_t private_data[PLX_CM_PRIVATE_REP];
};

_Static_assert(sizeof(struct cm_connection) <= 512, "a connection is small");
_Static_assert(CM_SENDS <= 8 && CM_TELLS <= 8, "they are bits of a byte");

/* What is owed to somebody who has no connection. */
struct cm_answer {
	struct plx_cm_route route;
	struct plx_cm_msg msg;
};

enum {
	CM_LISTENER_BUCKETS = 256,
	CM_SOURCE_BUCKETS = 256,
	CM_LIVING_CELLS = 4096,
};

struct plx_cm {
	struct plx_cm_config config;
	struct plx_cm_counters counters;
	struct plx_permutation id_of; /* a count */
	struct plx_secret tables, transactions;
	uint32_t ids;   /* given out */
	uint32_t slots; /* connections and remains */
	uint32_t connections, half_open, remains, remains_max;
	uint32_t listeners;
	uint32_t bucket_mask;
	struct cm_connection *connection;            /* [slots] */
	struct plx_list *by_id, *by_request, *by_qp; /* [bucket_mask + 1] */
	struct plx_list *by_holder;                  /* likewise */
	struct cm_holder *holder;                    /* [config.connections] */
	struct plx_list holder_free;
	struct plx_list free, silent, ended; /* by `group` */
	struct plx_list timer[CM_TIMERS], send, event;
	struct plx_list listener_free, listener_at[CM_LISTENER_BUCKETS];
	struct cm_listener listener[PLX_CM_LISTENERS_MAX];
	struct plx_list source_idle, source_at[CM_SOURCE_BUCKETS];
	struct cm_source source[PLX_CM_SOURCES];
	struct cm_source shared[2]; /* of strangers, and of peers with a living connection */
	/* Living connections by a hash of the peer's address: 0 says for certain that it has none.
	 */
	uint32_t living[CM_LIVING_CELLS];
	struct cm_bucket answer_bucket;
	bool answered_last;
	uint32_t answer_first, answers;
	struct cm_answer answer[PLX_CM_ANSWERS_MAX]; /* a ring */
} __attribute__((aligned(PLX_CACHE_LINE)));

/* ---- table.c: memory, hashes, ids, timers --------------------------------------------------- */

/** A free connection in `state`, with an id, in no list but by_id; NULL when there are too many. */
struct cm_connection *cm_open(struct plx_cm *cm, enum cm_state state);
void cm_free(struct plx_cm *cm, struct cm_connection *c);
/** The transaction id of what we begin. @param leaving by DREQ, else by REQ */
uint64_t cm_tid(const struct plx_cm *cm, const struct cm_connection *c, bool leaving);

struct cm_connection *cm_find(const struct plx_cm *cm, uint32_t id);
/** A peer's REQ by where it came from and the id that the peer has given it. */
struct cm_connection *cm_find_request(const struct plx_cm *cm, const struct plx_ip *remote,
				      uint64_t ca_guid, uint32_t remote_id);
void cm_enter_request(struct plx_cm *cm, struct cm_connection *c);
/** Who is connected with that queue pair of a peer, or about to be. */
struct cm_connection *cm_find_qp(const struct plx_cm *cm, const struct plx_ip *remote,
				 uint64_t ca_guid, uint32_t qpn);
/** By c->peer.qpn; while that is 0, it is in the chain of those that ask this address. */
void cm_enter_qp(struct plx_cm *cm, struct cm_connection *c);
struct plx_list *cm_asking_at(const struct plx_cm *cm, const struct plx_ip *remote);

uint64_t cm_hash(const struct plx_cm *cm, const struct plx_ip *ip, uint64_t a, uint64_t b);
struct plx_ip cm_ip(const struct plx_ip *ip); /* without what IPv4 leaves unused */
bool cm_same_ip(const struct plx_ip *a, const struct plx_ip *b);

void cm_timer_set(struct plx_cm *cm, struct cm_connection *c, enum cm_timer timer, uint64_t now);
void cm_timer_clear(struct cm_connection *c);
enum cm_timer cm_timer_response(uint32_t exponent);

/* ---- connection.c: what every state has in common ---------------------------------------- */

/** The connection that a message names by our id, if it comes from where its peer is. */
struct cm_connection *cm_named(const struct plx_cm *cm, const struct plx_cm_route *route,
			       uint32_t our_id);

void cm_tell(struct plx_cm *cm, struct cm_connection *c, enum cm_event event);
/** It lives: by RTU, by its first packet, or because our program has completed it. */
void cm_establish(struct plx_cm *cm, struct cm_connection *c);
/** It ends; `kind` is told, unless nobody waits for it. Then a message may still be sent. */
void cm_end(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind,
	    uint16_t reason, uint64_t now);
/** Its last event was taken, or is of no use. */
void cm_retire(struct plx_cm *cm, struct cm_connection *c);
/** Ended, and a REJ says so to the peer, as often as it asks again. */
void cm_reject(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_about about,
	       enum plx_cm_reason reason);
/** The peer is silent, or our program: ended, and the peer is told that it took too long. */
void cm_give_up(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind,
		uint64_t now);
/** A DREQ will go out; whose program is not `orphan` hears CLOSED. */
void cm_leave(struct plx_cm *cm, struct cm_connection *c, bool orphan);
/** Living or accepted, and our queue pair is gone: told at once, and said to the peer without us.
 */
void cm_break(struct plx_cm *cm, struct cm_connection *c);
/** In any state but ended: somebody says that the peer knows nothing of it. */
void cm_forgotten(struct plx_cm *cm, struct cm_connection *c, uint64_t now);
/** It is not half open any more. `done`: it was established, and gives its token back. */
void cm_half_open_ends(struct plx_cm *cm, struct cm_connection *c, bool done);

/* ---- send.c, message.c ----------------------------------------------------------------------- */

void cm_send(struct plx_cm *cm, struct cm_connection *c, enum cm_message message);
void cm_send_nothing(struct cm_connection *c);
void cm_message_write(const struct plx_cm *cm, const struct cm_connection *c,
		      enum cm_message message, struct plx_cm_msg *out);
void cm_private_keep(struct cm_connection *c, const uint8_t *bytes, uint32_t count);

/* ---- check.c --------------------------------------------------------------------------------- */

bool cm_own_is_good(const struct plx_cm_own *own);
bool cm_connect_is_good(const struct plx_cm_connect *connect);
uint32_t cm_path_mtu(uint8_t code);       /* [bytes]; 0: there is none of that code */
uint8_t cm_path_mtu_code(uint32_t bytes); /* 0: no path MTU */
bool cm_qpn_is_good(uint32_t qpn);
/** What is wrong with a REQ, in the words of a REJ; NONE: nothing. @param cma out, when NONE */
enum plx_cm_reason cm_request_check(const struct plx_cm_req *req, const struct plx_cm_route *route,
				    uint32_t path_mtu_max, struct plx_cma *cma);
uint8_t cm_ack_timeout(uint8_t asked);

/* ---- stateless.c ----------------------------------------------------------------------------- */

/** Dropped, and counted, when there are too many. @param msg copied */
void cm_answer(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *msg,
	       uint64_t now);
void cm_answer_rej(struct plx_cm *cm, const struct plx_cm_route *route, const struct plx_cm_msg *to,
		   enum plx_cm_reason reason, uint64_t now);

/* ---- limit.c --------------------------------------------------------------------------------- */

bool cm_bucket_take(struct cm_bucket *bucket, uint32_t burst, uint32_t per_second, uint64_t now);
/** May this peer say that it has forgotten a connection? Costs it what a request costs. */
bool cm_admit_doubt(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now);
/** May this peer ask for one more? NULL: no, which is counted; else c->source. */
struct cm_source *cm_admit(struct plx_cm *cm, const struct plx_ip *remote, bool *known,
			   uint64_t now);
void cm_source_release(struct plx_cm *cm, struct cm_source *source, bool done);
void cm_living_count(struct plx_cm *cm, const struct plx_ip *remote, bool begins);
/** Has this address as many connections as one may? That is counted. */
bool cm_peer_is_full(struct plx_cm *cm, const struct plx_ip *remote);
void cm_hold(struct plx_cm *cm, struct cm_connection *c);
void cm_hold_no_more(struct plx_cm *cm, struct cm_connection *c);
bool cm_peer_is_known(const struct plx_cm *cm, const struct plx_ip *remote);

/* ---- listen.c -------------------------------------------------------------------------------- */

struct cm_listener *cm_listener_find(const struct plx_cm *cm, const struct plx_ip *local,
				     uint64_t service_id, enum plx_port_space space);

/* ---- what messages do ------------------------------------------------------------------------ */

enum plx_cm_verdict cm_on_req(struct plx_cm *cm, const struct plx_cm_route *route,
			      const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_rtu(struct plx_cm *cm, const struct plx_cm_route *route,
			      const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_rep(struct plx_cm *cm, const struct plx_cm_route *route,
			      const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_mra(struct plx_cm *cm, const struct plx_cm_route *route,
			      const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_rej(struct plx_cm *cm, const struct plx_cm_route *route,
			      const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_dreq(struct plx_cm *cm, const struct plx_cm_route *route,
			       const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_drep(struct plx_cm *cm, const struct plx_cm_route *route,
			       const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_sidr_req(struct plx_cm *cm, const struct plx_cm_route *route,
				   const struct plx_cm_msg *msg, uint64_t now);
enum plx_cm_verdict cm_on_sidr_rep(struct plx_cm *cm, const struct plx_cm_route *route,
				   const struct plx_cm_msg *msg, uint64_t now);

#endif
