/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The communication manager of one port: listeners, and connections that are half open,
 * established or in TimeWait. Datagrams go in; datagrams and events come out on request; time is an
 * argument.
 * It never changes a queue pair or resolves an address: the engine does, on an event or a command.
 * No datagram allocates memory or displaces an established connection.
 * Start with plx_cm_connect() and plx_cm_listen(); docs/cm.md draws the states of a connection.
 *
 * The state machine is what docs/nd2.md needs, over IBTA vol 1, chapter 12: connect, REPLIED and
 * establish on the active side; REQUESTED, accept and ESTABLISHED on the passive one.
 */
#ifndef PLX_CM_H
#define PLX_CM_H

#include "plx_base.h"
#include "plx_mad.h"
#include "plx_secret.h"

/* ---- limits --------------------------------------------------------------------------------- */

enum {
	PLX_CM_CONNECTIONS_MAX = 1 << 17, /* of one port */
	PLX_CM_LISTENERS_MAX = 1024,
	PLX_CM_BACKLOG_MAX = 65535,
	/* private data of a program; in a REQ and a SIDR REQ the first 36 bytes hold addresses */
	PLX_CM_PRIVATE_REQ = PLX_CM_REQ_PRIVATE - PLX_CMA_BYTES, /* 56 */
	PLX_CM_PRIVATE_REP = PLX_CM_REP_PRIVATE,                 /* 196 */
	PLX_CM_PRIVATE_REJ = PLX_CM_REJ_PRIVATE,                 /* 148 */
	PLX_CM_PRIVATE_SIDR = PLX_CM_SIDR_REP_PRIVATE,           /* 136 */
	PLX_CM_PRIVATE_MAX = 224,
	PLX_CM_TRIES = 8,              /* of a REQ, REP or SIDR REQ */
	PLX_CM_DISCONNECT_TRIES = 4,   /* of a DREQ */
	PLX_CM_SOURCES = 256,          /* whose rates are kept apart; others share */
	PLX_CM_SOURCE_BURST = 128,     /* connections that one source may request at once, */
	PLX_CM_SOURCE_PER_SECOND = 20, /* ... and in the long run; those established do not count */
	PLX_CM_SOURCE_SHARE = 2,   /* one of so many half-open connections may be one source's */
	PLX_CM_KNOWN_SHARE = 4,    /* ... is reserved for peers with an established connection */
	PLX_CM_SHARED_MIN = 64,    /* half-open connections: fewer are not shared out */
	PLX_CM_STATELESS_MAX = 64, /* queued replies to peers without a connection */
	PLX_CM_STATELESS_PER_SECOND = 4096,
	PLX_CM_RETIRED_MAX = 4096, /* in TimeWait, their last event taken */
	PLX_CM_DUE_MAX = 64,       /* timers that one plx_cm_on_tick() handles */
	/* Exponents of a timeout, 4.096 us * 2^n: what a peer asks for is brought into them. */
	PLX_CM_TIMEOUT_MIN = 15,     /* 134 ms: how soon a REP is sent again, at the soonest */
	PLX_CM_TIMEOUT_MAX = 20,     /* 4.3 s, at the latest; what Linux asks for */
	PLX_CM_ACK_TIMEOUT_MIN = 14, /* 67 ms: of a queue pair */
	PLX_CM_ACK_TIMEOUT_MAX = 22, /* 17 s; also when the peer's timeout is 0, never */
};

/* The response timeout of 5 bits that we ask for and promise: 4.096 us * 2^18 = 1.07 s. */
#define PLX_CM_RESPONSE_TIMEOUT 18
/* The service timeout of our MRA, while a program decides: 4.096 us * 2^24 = 68.7 s; also the
 * maximum for a peer's. */
#define PLX_CM_SERVICE_TIMEOUT 24
/* How long a program has to accept or establish, from the peer's last message on. */
#define PLX_CM_CONSUMER_TIMEOUT_NS (120 * PLX_SEC)
/* How long duplicates for a connection that has ended are still answered: longer than Linux waits
 * for a reply (6.4 s). */
#define PLX_CM_TIMEWAIT_NS (10 * PLX_SEC)

/* ---- the manager ---------------------------------------------------------------------------- */

struct plx_cm;

struct plx_cm_config {
	uint32_t connections; /* 1 .. PLX_CM_CONNECTIONS_MAX, not counting TimeWait */
	uint32_t half_open;   /* 1 .. connections; of these, peers' that are not established yet */
	uint32_t
		per_peer; /* 1 .. connections; of these, asked for by one address; 0: all of them */
	uint32_t path_mtu;        /* [bytes] 256 .. 4096 that we take from a peer; 0: 4096 */
	uint64_t ca_guid;         /* ours, in REQ and REP */
	struct plx_secret secret; /* for ids that cannot be guessed, and tables */
};

/** Bytes that plx_cm_init() wants; 0 when something in config is out of range. */
size_t plx_cm_bytes(const struct plx_cm_config *config);

/** @param memory [plx_cm_bytes(config)] aligned to PLX_CACHE_LINE; the caller's, and not moved */
struct plx_cm *plx_cm_init(void *memory, const struct plx_cm_config *config);

/* Where a datagram comes from or goes to. */
struct plx_cm_route {
	struct plx_ip local, remote;
	/* Whoever carries datagrams may say where on the link one came from; who is answered, and
	 * has no living connection, is answered there. The manager does not look at it. */
	bool has_link;
	uint8_t link[6];
};

/* A connection, and a listener, as long as they live; 0 is none. Ids that have ended are not given
 * to others soon, and every call on one answers STATE. */
struct plx_cm_id {
	uint32_t v;
};

/* ---- who may connect ------------------------------------------------------------------------- */

struct plx_cm_listen {
	enum plx_port_space space;
	struct plx_ip local; /* version 0: every address of ours */
	uint16_t port;       /* 1 .. */
	uint32_t backlog;    /* requests not yet accepted; 0: as many as `half_open` allows */
	uint64_t context;    /* in the events of its requests */
	/* PLX_PORT_SPACE_UDP: the contents of a SIDR REP */
	uint32_t qpn, qkey;
};

/** Errors: BUSY (port and address are taken, by an address of version 0 too), FULL, INVALID */
enum plx_status plx_cm_listen(struct plx_cm *cm, const struct plx_cm_listen *listen,
			      struct plx_cm_id *id) PLX_MUST_CHECK;

/** New requests are refused from now on, and requests whose event was not taken yet are rejected
 * (INVALID_SERVICE_ID) without one. Others continue. Errors: STATE */
enum plx_status plx_cm_unlisten(struct plx_cm *cm, struct plx_cm_id id,
				uint64_t now) PLX_MUST_CHECK;

/* ---- a connection --------------------------------------------------------------------------- */

/* Our own queue pair, as it is described to the peer. */
struct plx_cm_own {
	uint32_t qpn;
	struct plx_psn psn;          /* the first that we expect: the peer starts with it */
	uint32_t path_mtu;           /* [bytes] 256 .. 4096: asked for; or what we can take */
	uint8_t responder_resources; /* READs and atomics of the peer's that we take at once */
	uint8_t initiator_depth;     /* ... of ours that we should like to have open */
	uint8_t rnr_retry;           /* 0 .. 7, that the peer must use */
	uint8_t retry;               /* 0 .. 7; a REP does not carry it */
	uint8_t ack_timeout; /* 0 .. 31: 4.096 us * 2^n, of the path; a REP does not carry it */
	bool srq;
};

/* What both sides have agreed on, seen from ours. */
struct plx_cm_peer {
	uint32_t qpn;
	struct plx_psn psn;          /* the first that we send */
	uint32_t path_mtu;           /* [bytes] of the connection */
	uint8_t responder_resources; /* that we give: the smaller of our offer and the peer's wish
				      */
	uint8_t initiator_depth;     /* that we may use: the smaller of our wish and its offer */
	uint8_t rnr_retry;           /* that we must use */
	uint8_t retry;
	uint8_t ack_timeout;
	bool srq;
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
};

struct plx_cm_connect {
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	struct plx_cm_own own;
	uint64_t context; /* in events */
	const uint8_t *private_data;
	uint32_t private_bytes; /* 0 .. PLX_CM_PRIVATE_REQ */
};

/** Request a connection. Errors: FULL, INVALID (a field out of range), TOO_LONG (private data) */
enum plx_status plx_cm_connect(struct plx_cm *cm, const struct plx_cm_connect *connect,
			       uint64_t now, struct plx_cm_id *id) PLX_MUST_CHECK;

/** After REPLIED: send the RTU; the connection is established. Errors: STATE (no REPLIED, or ended:
 * an event says how) */
enum plx_status plx_cm_establish(struct plx_cm *cm, struct plx_cm_id id,
				 uint64_t now) PLX_MUST_CHECK;

/** After the event REQUESTED: send the REP; the event ESTABLISHED follows. `peer` has what was
 * agreed. Errors: STATE, INVALID (a field out of range, or a path MTU below the peer's: a REP
 * cannot lower it), TOO_LONG */
enum plx_status plx_cm_accept(struct plx_cm *cm, struct plx_cm_id id, const struct plx_cm_own *own,
			      uint64_t context, const uint8_t *private_data, uint32_t private_bytes,
			      uint64_t now, struct plx_cm_peer *peer) PLX_MUST_CHECK;

/** After the event REQUESTED or REPLIED: send a REJ with reason CONSUMER; the id is invalid from
 * now on, without an event. Errors: STATE, INVALID, TOO_LONG */
enum plx_status plx_cm_reject(struct plx_cm *cm, struct plx_cm_id id, const uint8_t *private_data,
			      uint32_t private_bytes, uint64_t now) PLX_MUST_CHECK;

/** The first packet of the peer arrived on the queue pair, which replaces its RTU ("communication
 * established" of IBTA). Errors: STATE (no RTU was expected, which does no harm) */
enum plx_status plx_cm_comm_established(struct plx_cm *cm, struct plx_cm_id id, uint64_t now);

/** Established, or accepted and not ESTABLISHED yet: send a DREQ; CLOSED follows when the peer has
 * answered or the tries are used up. Errors: STATE (not established; DISCONNECTED came before) */
enum plx_status plx_cm_disconnect(struct plx_cm *cm, struct plx_cm_id id,
				  uint64_t now) PLX_MUST_CHECK;

/**
 * Our own queue pair failed or was destroyed. If the connection is established or accepted,
 * DISCONNECTED is raised at once, a DREQ is sent in the background, and no CLOSED follows. After
 * connect or REPLIED the attempt is given up or rejected, and ABORTED is raised.
 * Errors: STATE (ended, or REQUESTED: there is no queue pair of ours yet)
 */
enum plx_status plx_cm_qp_failed(struct plx_cm *cm, struct plx_cm_id id,
				 uint64_t now) PLX_MUST_CHECK;

/** The context of all later events. Errors: STATE (ended: an event says so, or has said so) */
enum plx_status plx_cm_set_context(struct plx_cm *cm, struct plx_cm_id id,
				   uint64_t context) PLX_MUST_CHECK;

/** The owner is gone: reject, give up or disconnect, as the state requires, without another event.
 * Works in every state, and on an id that has ended. */
void plx_cm_abandon(struct plx_cm *cm, struct plx_cm_id id, uint64_t now);

/** Resolve a UD service: SIDR_REPLY follows. As plx_cm_connect(); `own` is ignored. */
enum plx_status plx_cm_sidr_request(struct plx_cm *cm, const struct plx_cm_connect *connect,
				    uint64_t now, struct plx_cm_id *id) PLX_MUST_CHECK;

/* ---- datagrams ------------------------------------------------------------------------------ */

/* What became of a datagram. X(name, text) */
#define PLX_CM_VERDICT_LIST(X)                                                   \
	X(TAKEN, "the message was taken")                                        \
	X(REPEATED, "a message that was seen before, answered again if need be") \
	X(REFUSED, "a request that was rejected")                                \
	X(UNKNOWN, "it names no connection, or not from where the peer is")      \
	X(UNEXPECTED, "not what the connection's state can take")                \
	X(LIMITED, "too much from one source, or in all: dropped")               \
	X(MALFORMED, "no message of the communication manager")                  \
	X(INVALID, "a field out of range")

enum plx_cm_verdict {
#define PLX_X(name, text) PLX_CM_##name,
	PLX_CM_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_CM_VERDICT_COUNT,
};

/** The sentence for a verdict; for a value that is none, a sentence that says so. Never NULL. */
const char *plx_cm_verdict_text(enum plx_cm_verdict verdict);

/**
 * A datagram came for the GSI: its Q_Key and length were right.
 *
 * @param route from where, and to which address of ours
 * @param bytes [len] not one byte past len is read
 * Changes: only counters unless TAKEN, REPEATED or REFUSED; an UNKNOWN REP or DREQ may be answered
 * Cost: O(1) on average
 * Spec: IBTA vol 1, 12.9.7 (states), 12.9.8 (what is invalid), Annex A11; docs/cm.md
 * Tests: tests/unit/proto/cm, tests/table/cm_limits.c
 */
enum plx_cm_verdict plx_cm_on_mad(struct plx_cm *cm, const struct plx_cm_route *route,
				  const uint8_t *bytes, size_t len, uint64_t now);

/**
 * The next datagram to send: round robin over connections, alternating with replies to peers
 * without one. The timeout of a try starts here.
 *
 * @param out [PLX_MAD_BYTES]
 * Returns: false: there is nothing to send
 */
bool plx_cm_transmit(struct plx_cm *cm, uint64_t now, struct plx_cm_route *route, uint8_t *out);

/** `remote` has no Ethernet address: connections in REQ_SENT and SIDR_REQ_SENT to it end with
 * UNREACHABLE at once; others retransmit later. */
void plx_cm_on_unreachable(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now);

/** Retransmissions, timeouts, the end of TimeWait; at most PLX_CM_DUE_MAX of them, and then
 * plx_cm_wake_ns() is not in the future. */
void plx_cm_on_tick(struct plx_cm *cm, uint64_t now);

/** 0 when there is something to send, else the deadline for plx_cm_on_tick(), or PLX_NEVER. Events
 * have plx_cm_has_event(). Cost: O(1) */
uint64_t plx_cm_wake_ns(const struct plx_cm *cm);

/* ---- events --------------------------------------------------------------------------------- */

struct plx_cm_event {
	uint8_t kind; /* enum plx_cm_event_kind */
	struct plx_cm_id id;
	struct plx_cm_id listener; /* REQUESTED */
	uint64_t context;          /* the connection's; REQUESTED: the listener's */
	uint16_t reason;           /* REJECTED, ABORTED by a REJ: enum plx_cm_reason;
				    * SIDR_REPLY: enum plx_cm_sidr_status */
	struct plx_cm_peer peer;   /* REQUESTED (what is asked), REPLIED (what is agreed) */
	uint32_t qpn, qkey;        /* SIDR_REPLY */
	uint32_t private_bytes; /* of `private_data`; the wire pads with zeros to the full length */
	uint8_t private_data[PLX_CM_PRIVATE_MAX];
};

/** The next event; false: none. Events of one connection come in order, its end last. A pending
 * event is never lost and needs no memory. If a connection ends while its REQUESTED is pending,
 * neither that nor ABORTED is delivered. */
bool plx_cm_next_event(struct plx_cm *cm, struct plx_cm_event *out);

/** Is an event pending? Cost: O(1) */
bool plx_cm_has_event(const struct plx_cm *cm);

/** The context of the next event; there must be one. */
uint64_t plx_cm_event_context(const struct plx_cm *cm);

/** Put the connection whose event is next behind all others with events. */
void plx_cm_defer_event(struct plx_cm *cm);

/* ---- looking -------------------------------------------------------------------------------- */

struct plx_cm_view {
	uint32_t listeners;
	uint32_t connections; /* not counting TimeWait; one that ended counts until its last event
				 is taken */
	uint32_t half_open;   /* peers' that are not established yet */
	uint32_t timewait;
};

void plx_cm_query(const struct plx_cm *cm, struct plx_cm_view *out);

/* Counted for the life of the port, beside one counter for each verdict. X(name, text) */
#define PLX_CM_COUNTER_LIST(X)                                                           \
	X(sent, "messages sent for the first time")                                      \
	X(resent, "messages sent again")                                                 \
	X(timeouts, "connections given up because the peer did not answer")              \
	X(requests, "requests delivered to a program")                                   \
	X(rejected, "requests rejected by us, for any reason")                           \
	X(no_listener, "... because nobody listens")                                     \
	X(stale, "... because the queue pair was in a connection already")               \
	X(backlog_full, "... because the listener's backlog was full")                   \
	X(peer_full, "... because the peer has as many connections as one address may")  \
	X(half_open_full, "requests dropped: too many are half open")                    \
	X(source_full, "requests dropped: too many from one source")                     \
	X(gave_way, "accepted requests, silent ever since, that gave way to newer ones") \
	X(established, "connections established")                                        \
	X(disconnected, "connections that ended by a DREQ of either side")               \
	X(forgotten, "... because the peer, asked whether it knew them, did not")        \
	X(answers_dropped, "answers not sent: the queue of answers was full")

struct plx_cm_counters {
	uint64_t verdict[PLX_CM_VERDICT_COUNT];
	uint64_t refused[PLX_MAD_VERDICT_COUNT]; /* MALFORMED, by reason */
#define PLX_X(name, text) uint64_t name;
	PLX_CM_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/** As counted so far. Any thread; values may be a little old. */
const struct plx_cm_counters *plx_cm_counters(const struct plx_cm *cm);

#endif
