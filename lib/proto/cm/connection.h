/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection, the connection manager, and the functions that its files share. Private to
 * lib/proto/cm; others use plx_cm.h.
 * Start with enum cm_state; docs/cm.md draws the states.
 *
 * A connection that is not idle is in up to seven lists, so that nothing is ever searched: three
 * hash chains (by id, by request, by the peer's queue pair), a timer list, the list of those with
 * messages to send, that of those with events pending, and one that depends on its state.
 */
#ifndef PLX_CONNECTION_H
#define PLX_CONNECTION_H

#include "plx_cm.h"

/*
 * What we can beyond the specification, in the Q_Key of a REQ and of a REP, which a reliable
 * connection does not use: other peers write zero there, and do not read it.
 */
enum {
	CM_FEATURES_MARK = 0x504c5800, /* "PLX" */
	CM_FEATURES_MASK = 0xff,
	CM_FEATURE_SELECTIVE = 1 << 0,
};

static inline uint32_t
cm_features_key(bool selective)
{
	return selective ? CM_FEATURES_MARK | CM_FEATURE_SELECTIVE : 0;
}

static inline bool
cm_key_is_selective(uint32_t qkey)
{
	return (qkey & ~(uint32_t)CM_FEATURES_MASK) == CM_FEATURES_MARK &&
	       qkey & CM_FEATURE_SELECTIVE;
}

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT, /* active */
	CM_REP_RCVD, /* active: waiting for our program */
	CM_REQ_RCVD, /* passive: waiting for our program */
	CM_REP_SENT, /* passive */
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_SIDR_REQ_SENT,
	CM_TIMEWAIT, /* only duplicates are answered */
	CM_STATES,
};

/*
 * Timer lists: one for each response timeout (an exponent), so that each list has one delay and its
 * first entry is due first.
 */
enum cm_timer {
	CM_TIMER_RESPONSE = 0, /* + exponent - PLX_CM_TIMEOUT_MIN */
	CM_TIMER_CONSUMER = PLX_CM_SERVICE_TIMEOUT - PLX_CM_TIMEOUT_MIN + 1,
	CM_TIMER_TIMEWAIT,
	CM_TIMERS,
};

/* Added to the response timeout for the round trip. */
#define CM_MARGIN_NS (100 * PLX_MSEC)

/* Messages that a connection must send; the lowest is sent first. */
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

/* Events of a connection that are pending; the lowest is delivered first. */
enum cm_pending {
	CM_PENDING_REQUESTED,
	CM_PENDING_REPLIED,
	CM_PENDING_ESTABLISHED,
	CM_PENDING_END, /* cm_connection.end_kind */
	CM_PENDING_COUNT,
	CM_PENDING_NONE, /* of no event */
};

struct cm_listener {
	struct plx_list same;     /* in the same hash chain; or free */
	struct plx_list requests; /* in CM_REQ_RCVD, until it is closed */
	struct plx_cm_listen what;
	uint32_t id;
	uint32_t generation; /* of this slot */
	uint32_t waiting;
};

/*
 * A token bucket, stored as a time: the further in the future it will be used up, the fuller it is.
 */
struct cm_bucket {
	uint64_t until_ns;
};

/* A peer's address, and the requests that it may send. */
struct cm_source {
	struct plx_list same; /* in the same hash chain */
	struct plx_list idle; /* sources without half-open connections */
	struct plx_ip ip;     /* version 0: free, or shared */
	struct cm_bucket bucket;
	uint32_t half_open;
};

/* An address that has requested connections, and the number of those that exist. */
struct cm_holder {
	struct plx_list same; /* in the same hash chain; or free */
	struct plx_ip ip;
	uint32_t held;
};

struct cm_connection {
	struct plx_list by_id, by_request, by_qp; /* hash chains */
	struct plx_list timer, send, event;
	struct plx_list group; /* free; of a listener; silent; retired */
	uint64_t deadline_ns;
	uint64_t tid;      /* of the REQ, and of all messages until it is established */
	uint64_t dreq_tid; /* of the peer's DREQ, for our DREP */
	uint64_t ca_guid;  /* the peer's */
	uint64_t context;
	struct cm_listener *listener; /* in CM_REQ_RCVD, until it is closed */
	struct cm_source *source;     /* while half open */
	struct cm_holder *holder; /* of a passive connection, until its last event was fetched */
	struct plx_cm_peer peer;  /* with the addresses of both ends */
	struct plx_cm_own own;
	uint32_t id, remote_id;
	uint32_t qkey;   /* of a SIDR REP */
	uint16_t reason; /* in the event that ends it */
	uint16_t reject; /* reason of our REJ; 0: no REJ to send */
	uint8_t about;   /* ... and the message that it rejects */
	uint8_t state;   /* enum cm_state */
	uint8_t sends;   /* bits of enum cm_message: to send */
	uint8_t sent;    /* ... those sent before */
	uint8_t pending; /* bits of enum cm_pending */
	uint8_t end_kind;
	uint8_t tries, tries_max;
	uint8_t response; /* exponent of the timeout promised by the peer */
	bool active;      /* we sent the REQ */
	bool delivered;   /* REQUESTED was delivered */
	bool known;       /* the peer had an established connection when its REQ arrived */
	bool mra_rcvd;    /* since the last try */
	bool alternate;   /* the REQ has a second path */
	bool unconfirmed; /* disconnected before the RTU arrived */
	bool orphan;      /* its program wants no more events */
	bool expired;     /* TimeWait is over */
	bool retired;     /* in TimeWait, and its last event was fetched */
	bool held;        /* the REP waits for plx_cm_release() */
	bool has_link;    /* the REQ came from `link` */
	uint8_t link[6];
	uint8_t private_of; /* enum cm_pending: the event to which `private_data` belongs */
	uint8_t private_bytes;
	uint8_t reject_bytes; /* of `private_data`, in our REJ */
	/*
	 * Our data while a message with it may have to be sent again, then the peer's; never both.
	 */
	uint8_t private_data[PLX_CM_PRIVATE_REP];
};

_Static_assert(sizeof(struct cm_connection) <= 512, "a connection is small");
_Static_assert(CM_SENDS <= 8 && CM_PENDING_COUNT <= 8, "they are bits of a byte");

/* A reply to a peer without a connection. */
struct cm_stateless {
	struct plx_cm_route route;
	struct plx_cm_msg msg;
};

enum {
	CM_LISTENER_BUCKETS = 256,
	CM_SOURCE_BUCKETS = 256,
	CM_ESTABLISHED_CELLS = 4096,
};

struct plx_cm {
	struct plx_cm_config config;
	struct plx_cm_counters counters;
	struct plx_permutation id_of; /* maps a count to an id */
	struct plx_secret tables, transactions;
	uint32_t ids;   /* number of ids assigned */
	uint32_t slots; /* number of connections, retired ones included */
	uint32_t connections, half_open, retired, retired_max;
	uint32_t listeners;
	uint32_t bucket_mask;
	struct cm_connection *connection;            /* [slots] */
	struct plx_list *by_id, *by_request, *by_qp; /* [bucket_mask + 1] */
	struct plx_list *by_holder;                  /* likewise */
	struct cm_holder *holder;                    /* [config.connections] */
	struct plx_list holder_free;
	struct plx_list free, silent, timewait; /* by `group` */
	struct plx_list timer[CM_TIMERS], send, event;
	struct plx_list listener_free, listener_at[CM_LISTENER_BUCKETS];
	struct cm_listener listener[PLX_CM_LISTENERS_MAX];
	struct plx_list source_idle, source_at[CM_SOURCE_BUCKETS];
	struct cm_source source[PLX_CM_SOURCES];
	struct cm_source shared[2]; /* unknown peers; peers with an established connection */
	/* Established connections, by a hash of the peer's address; 0: none. */
	uint32_t established[CM_ESTABLISHED_CELLS];
	struct cm_bucket stateless_bucket;
	bool stateless_last;
	uint32_t stateless_first, stateless_count;
	struct cm_stateless stateless[PLX_CM_STATELESS_MAX]; /* a ring */
} PLX_ALIGNED_LINE;

/* ---- table.c: memory, hashes, ids, timers ---- */

/** A new connection in `state`, with an id, only in the list by_id; NULL if there are too many. */
struct cm_connection *cm_open(struct plx_cm *cm, enum cm_state state);
void cm_free(struct plx_cm *cm, struct cm_connection *c);
/** The transaction id of an exchange that we begin. @param leaving by DREQ, else by REQ */
uint64_t cm_tid(const struct plx_cm *cm, const struct cm_connection *c, bool leaving);

struct cm_connection *cm_find(const struct plx_cm *cm, uint32_t id);
/** Find a peer's REQ by its source address and the id that the peer has assigned. */
struct cm_connection *cm_find_request(const struct plx_cm *cm, const struct plx_ip *remote,
				      uint64_t ca_guid, uint32_t remote_id);
void cm_insert_request(struct plx_cm *cm, struct cm_connection *c);
/** The connection with that queue pair of a peer, established or half open. */
struct cm_connection *cm_find_qp(const struct plx_cm *cm, const struct plx_ip *remote,
				 uint64_t ca_guid, uint32_t qpn);
/** By c->peer.info.remote_qpn; while that is 0, in the chain of cm_req_sent_to(). */
void cm_insert_qp(struct plx_cm *cm, struct cm_connection *c);
/** Contains all connections in REQ_SENT and SIDR_REQ_SENT to this address, and maybe others. */
struct plx_list *cm_req_sent_to(const struct plx_cm *cm, const struct plx_ip *remote);

uint64_t cm_hash(const struct plx_cm *cm, const struct plx_ip *ip, uint64_t a, uint64_t b);

void cm_timer_set(struct plx_cm *cm, struct cm_connection *c, enum cm_timer timer, uint64_t now);
void cm_timer_clear(struct cm_connection *c);
enum cm_timer cm_timer_response(uint32_t exponent);

/* ---- connection.c: transitions shared by all states ---- */

/**
 * The connection whose id, assigned by us, is in a message, if the message is from its peer's
 * address.
 */
struct cm_connection *cm_named(const struct plx_cm *cm, const struct plx_cm_route *route,
			       uint32_t our_id);

void cm_raise_event(struct plx_cm *cm, struct cm_connection *c, enum cm_pending event);
/** Establish, because of the RTU, the first packet, or our program. */
void cm_establish(struct plx_cm *cm, struct cm_connection *c);
/**
 * Change to TIMEWAIT and raise `kind`, unless no program waits for it. A message may still be sent.
 */
void cm_end(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind,
	    uint16_t reason, uint64_t now);
/** Its last event was fetched, or is no longer needed. */
void cm_retire(struct plx_cm *cm, struct cm_connection *c);
/** In TIMEWAIT: send a REJ, again for each duplicate from the peer. */
void cm_reject(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_about about,
	       enum plx_cm_reason reason);
/** The peer or our program exceeded its timeout: end the connection and send a REJ (TIMEOUT). */
void cm_give_up(struct plx_cm *cm, struct cm_connection *c, enum plx_cm_event_kind kind,
		uint64_t now);
/** Send a DREQ; CLOSED follows unless it is `orphan`. */
void cm_disconnect(struct plx_cm *cm, struct cm_connection *c, bool orphan);
/**
 * Established or accepted, and our queue pair no longer exists: raise DISCONNECTED, send a DREQ.
 */
void cm_break(struct plx_cm *cm, struct cm_connection *c);
/** In any state but TIMEWAIT: a message suggests that the peer has lost the connection. */
void cm_forgotten(struct plx_cm *cm, struct cm_connection *c, uint64_t now);
/** It is no longer half open. `done`: it was established, so its token is refunded. */
void cm_half_open_ends(struct plx_cm *cm, struct cm_connection *c, bool done);

/* ---- send.c, message.c ---- */

void cm_send(struct plx_cm *cm, struct cm_connection *c, enum cm_message message);
void cm_send_cancel(struct cm_connection *c);
void cm_message_write(const struct plx_cm *cm, const struct cm_connection *c,
		      enum cm_message message, struct plx_cm_msg *out);
void cm_private_keep(struct cm_connection *c, const uint8_t *bytes, uint32_t count);

/* ---- check.c ---- */

bool cm_own_is_good(const struct plx_cm_own *own);
bool cm_connect_is_good(const struct plx_cm_connect *connect);
uint32_t cm_path_mtu(uint8_t code);       /* [bytes]; 0: unknown code */
uint8_t cm_path_mtu_code(uint32_t bytes); /* 0: not a path MTU */
bool cm_qpn_is_good(uint32_t qpn);
/** The reason to reject a REQ, as in a REJ; NONE: it is valid. @param cma [out] set if NONE */
enum plx_cm_reason cm_request_check(const struct plx_cm_req *req, const struct plx_cm_route *route,
				    uint32_t path_mtu_max, struct plx_cma *cma);
uint8_t cm_ack_timeout(uint8_t asked);

/* ---- stateless.c ---- */

/** Dropped and counted if there are too many. @param msg copied */
void cm_send_stateless(struct plx_cm *cm, const struct plx_cm_route *route,
		       const struct plx_cm_msg *msg, uint64_t now);
void cm_send_stateless_rej(struct plx_cm *cm, const struct plx_cm_route *route,
			   const struct plx_cm_msg *to, enum plx_cm_reason reason, uint64_t now);

/* ---- limit.c ---- */

bool cm_bucket_consume(struct cm_bucket *bucket, uint32_t burst, uint32_t per_second, uint64_t now);
/** May this peer claim that a connection is stale? Consumes a token, as a request does. */
bool cm_admit_doubt(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now);
/** May this peer request another connection? Returns c->source; NULL if not, which is counted. */
struct cm_source *cm_admit(struct plx_cm *cm, const struct plx_ip *remote, bool *known,
			   uint64_t now);
void cm_source_release(struct plx_cm *cm, struct cm_source *source, bool done);
void cm_established_count(struct plx_cm *cm, const struct plx_ip *remote, bool begins);
/** Has this address the maximum number of connections? If so, that is counted. */
bool cm_peer_is_full(struct plx_cm *cm, const struct plx_ip *remote);
void cm_holder_get(struct plx_cm *cm, struct cm_connection *c);
void cm_holder_put(struct plx_cm *cm, struct cm_connection *c);
bool cm_peer_is_known(const struct plx_cm *cm, const struct plx_ip *remote);

/* ---- listen.c ---- */

struct cm_listener *cm_listener_find(const struct plx_cm *cm, const struct plx_ip *local,
				     uint64_t service_id, enum plx_port_space space);

/* ---- received messages ---- */

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
