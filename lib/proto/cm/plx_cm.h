/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The communication manager of one port: listeners, and connections that are half open,
 * established or in TimeWait. Datagrams go in; datagrams and events come out on request; time is an
 * argument.
 * It never changes a queue pair or resolves an address: the engine does, on an event or a command.
 * No datagram allocates memory or displaces an established connection.
 * Start with plx_cm_connect() and plx_cm_listen(); docs/cm.md draws the states of a connection.
 *
 * The state machine provides the connections of docs/nd2.md by the protocol of IBTA vol 1,
 * chapter 12. Active side: connect, REPLIED, establish. Passive side: REQUESTED, accept,
 * ESTABLISHED.
 */
#ifndef PLX_CM_H
#define PLX_CM_H

#include "plx_base.h"
#include "plx_mad.h"
#include "plx_secret.h"

/* ---- limits ---- */

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
	PLX_CM_SOURCES = 256,          /* sources with their own rate limit; others share */
	PLX_CM_SOURCE_BURST = 128,     /* connections that one source may request at once */
	PLX_CM_SOURCE_PER_SECOND = 20, /* ... and on average; those established do not count */
	PLX_CM_SOURCE_SHARE = 2,   /* one source gets at most 1/2 of the half-open connections */
	PLX_CM_KNOWN_SHARE = 4,    /* 1/4 is reserved for peers with an established connection */
	PLX_CM_SHARED_MIN = 64,    /* with fewer half-open connections there are no shares */
	PLX_CM_STATELESS_MAX = 64, /* queued replies to peers without a connection */
	PLX_CM_STATELESS_PER_SECOND = 4096,
	PLX_CM_RETIRED_MAX = 4096, /* in TimeWait, their last event taken */
	PLX_CM_DUE_MAX = 64,       /* timers that one plx_cm_on_tick() handles */
	/* Exponents of timeouts, 4.096 us * 2^n; a peer's value is clamped to them. */
	PLX_CM_TIMEOUT_MIN = 15,     /* 134 ms: minimum before a REP is retransmitted */
	PLX_CM_TIMEOUT_MAX = 20,     /* 4.3 s: maximum, and the value that Linux sends */
	PLX_CM_ACK_TIMEOUT_MIN = 14, /* 67 ms: of a queue pair */
	PLX_CM_ACK_TIMEOUT_MAX = 22, /* 17 s; also if the peer's timeout is 0 (never) */
};

/* The 5-bit response timeout that we request and promise: 4.096 us * 2^18 = 1.07 s. */
#define PLX_CM_RESPONSE_TIMEOUT 18
/* The service timeout in our MRA, while a program decides: 4.096 us * 2^24 = 68.7 s; also the
 * maximum accepted from a peer. */
#define PLX_CM_SERVICE_TIMEOUT 24
/* Time for a program to accept or establish, since the peer's last message. */
#define PLX_CM_CONSUMER_TIMEOUT_NS (120 * PLX_SEC)
/* How long duplicates for an ended connection are still answered: longer than Linux waits for a
 * reply (6.4 s). */
#define PLX_CM_TIMEWAIT_NS (10 * PLX_SEC)

/* ---- the manager ---- */

struct plx_cm;

struct plx_cm_config {
	uint32_t connections;     /* 1 .. PLX_CM_CONNECTIONS_MAX, not counting TimeWait */
	uint32_t half_open;       /* 1 .. connections; requested by peers, not yet established */
	uint32_t per_peer;        /* 1 .. connections; requested by one address; 0: no limit */
	uint32_t path_mtu;        /* [bytes] 256 .. 4096, maximum for peers; 0: 4096 */
	uint64_t ca_guid;         /* ours, in REQ and REP */
	struct plx_secret secret; /* for unpredictable ids and hash tables */
};

/** Bytes that plx_cm_init() needs; 0 if something in config is out of range. */
size_t plx_cm_bytes(const struct plx_cm_config *config);

/** @param memory [plx_cm_bytes(config)] aligned to PLX_CACHE_LINE; owned by the caller, never moved
 */
struct plx_cm *plx_cm_init(void *memory, const struct plx_cm_config *config);

/* Where a datagram comes from or goes to. */
struct plx_cm_route {
	struct plx_ip local, remote;
	/* Optional: the link address that a datagram came from. A stateless reply goes there. The
	 * manager only copies it. */
	bool has_link;
	uint8_t link[6];
};

/* The id of a connection or listener; 0 is none. An id that has ended is not reused soon; every
 * call on it returns STATE. */
struct plx_cm_id {
	uint32_t v;
};

/* ---- listeners ---- */

struct plx_cm_listen {
	enum plx_port_space space;
	struct plx_ip local; /* version 0: all our addresses */
	uint16_t port;       /* 1 .. */
	uint32_t backlog;    /* requests not yet accepted; 0: as many as `half_open` allows */
	uint64_t context;    /* of its REQUESTED events */
	/* PLX_PORT_SPACE_UDP: the contents of a SIDR REP */
	uint32_t qpn, qkey;
};

/** Errors: BUSY (another listener uses the port on this address or on all addresses), FULL, INVALID
 */
enum plx_status plx_cm_listen(struct plx_cm *cm, const struct plx_cm_listen *listen,
			      struct plx_cm_id *id) PLX_MUST_CHECK;

/**
 * Stop listening. Requests whose event is still pending are rejected (INVALID_SERVICE_ID) and
 * their events dropped; other connections continue.
 * Errors: STATE
 */
enum plx_status plx_cm_unlisten(struct plx_cm *cm, struct plx_cm_id id,
				uint64_t now) PLX_MUST_CHECK;

/* ---- connections ---- */

/* The parameters of our queue pair that the peer receives. */
struct plx_cm_own {
	uint32_t qpn;
	struct plx_psn psn;          /* the peer's first */
	uint32_t path_mtu;           /* [bytes] 256 .. 4096: requested; for accept: our maximum */
	uint8_t responder_resources; /* outstanding READs and atomics, from the peer: our offer */
	uint8_t initiator_depth;     /* ... to the peer: our wish */
	uint8_t rnr_retry;           /* 0 .. 7, for the peer to use */
	uint8_t retry;               /* 0 .. 7; a REP does not carry it */
	uint8_t ack_timeout; /* 0 .. 31: 4.096 us * 2^n, of the path; a REP does not carry it */
	bool srq;
	bool selective; /* our NAKs can say what has arrived: plx_rc_attr.selective */
};

/* The peer, and the parameters that both sides agreed on, from our side. */
struct plx_cm_peer {
	struct plx_connector_info info;
	struct plx_psn psn; /* our first */
	bool selective;     /* both ends' NAKs can; in REQUESTED the peer's */
};

struct plx_cm_connect {
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	struct plx_cm_own own;
	uint64_t context; /* of its events */
	const uint8_t *private_data;
	uint32_t private_bytes; /* 0 .. PLX_CM_PRIVATE_REQ */
};

/**
 * Request a connection.
 * Errors: FULL, INVALID (a field out of range), TOO_LONG (private data)
 */
enum plx_status plx_cm_connect(struct plx_cm *cm, const struct plx_cm_connect *connect,
			       uint64_t now, struct plx_cm_id *id) PLX_MUST_CHECK;

/**
 * After REPLIED: send the RTU; the connection is established.
 * Errors: STATE (no REPLIED, or ended; an event gives the reason)
 */
enum plx_status plx_cm_establish(struct plx_cm *cm, struct plx_cm_id id,
				 uint64_t now) PLX_MUST_CHECK;

/**
 * After the event REQUESTED: send the REP; the event ESTABLISHED follows. `peer` receives the
 * agreed parameters.
 * Errors: STATE, INVALID (a field out of range, or a path MTU below the peer's, which a REP cannot
 * lower), TOO_LONG
 */
enum plx_status plx_cm_accept(struct plx_cm *cm, struct plx_cm_id id, const struct plx_cm_own *own,
			      uint64_t context, const uint8_t *private_data, uint32_t private_bytes,
			      uint64_t now, struct plx_cm_peer *peer) PLX_MUST_CHECK;

/**
 * Hold back the REP until plx_cm_release(), because the queue pair is not ready: directly after
 * plx_cm_accept(), before anything was sent. No timer of the connection runs meanwhile; the peer's
 * duplicates are not answered.
 * Tests: tests/unit/proto/cm/dialogue.c
 */
void plx_cm_hold(struct plx_cm *cm, struct plx_cm_id id);
/** Send a REP that was held back.
 * Errors: STATE (ended meanwhile, or not held back) */
enum plx_status plx_cm_release(struct plx_cm *cm, struct plx_cm_id id) PLX_MUST_CHECK;

/**
 * After the event REQUESTED or REPLIED: send a REJ with reason CONSUMER; the id is invalid from
 * now on, without an event.
 * Errors: STATE, INVALID, TOO_LONG
 */
enum plx_status plx_cm_reject(struct plx_cm *cm, struct plx_cm_id id, const uint8_t *private_data,
			      uint32_t private_bytes, uint64_t now) PLX_MUST_CHECK;

/**
 * The peer's first packet arrived on the queue pair; it replaces the RTU ("communication
 * established" of IBTA).
 * Errors: STATE (no RTU was expected; harmless)
 */
enum plx_status plx_cm_comm_established(struct plx_cm *cm, struct plx_cm_id id, uint64_t now);

/**
 * Established, or accepted and not ESTABLISHED yet: send a DREQ; CLOSED follows when the peer has
 * answered or the tries are used up.
 * Errors: STATE (not established; DISCONNECTED came before)
 */
enum plx_status plx_cm_disconnect(struct plx_cm *cm, struct plx_cm_id id,
				  uint64_t now) PLX_MUST_CHECK;

/**
 * Our own queue pair failed or was destroyed. If the connection is established or accepted,
 * DISCONNECTED is raised at once, a DREQ is sent in the background, and no CLOSED follows. After
 * connect or REPLIED the attempt is given up or rejected, and ABORTED is raised.
 * Errors: STATE (ended, or REQUESTED, where we have no queue pair yet)
 */
enum plx_status plx_cm_qp_failed(struct plx_cm *cm, struct plx_cm_id id,
				 uint64_t now) PLX_MUST_CHECK;

/**
 * Set the context of all later events.
 * Errors: STATE (ended)
 */
enum plx_status plx_cm_set_context(struct plx_cm *cm, struct plx_cm_id id,
				   uint64_t context) PLX_MUST_CHECK;

/**
 * Take over a request whose REQUESTED was fetched, from whoever its events go to.
 * @param from the context that it has
 * @param peer [out] as requested
 * Errors: STATE (ended, not such a request, or another context)
 */
enum plx_status plx_cm_adopt(struct plx_cm *cm, struct plx_cm_id id, uint64_t from,
			     uint64_t context, struct plx_cm_peer *peer) PLX_MUST_CHECK;

/** Reject, give up or disconnect, as the state requires, without further events: the owner is gone.
 * Allowed in every state, and on an id that has ended. */
void plx_cm_abandon(struct plx_cm *cm, struct plx_cm_id id, uint64_t now);
/** plx_cm_abandon() for every connection with this context. Cost: O(connections) */
void plx_cm_abandon_all(struct plx_cm *cm, uint64_t context, uint64_t now);

/** Resolve a UD service: SIDR_REPLY follows. As plx_cm_connect(); `own` is ignored. */
enum plx_status plx_cm_sidr_request(struct plx_cm *cm, const struct plx_cm_connect *connect,
				    uint64_t now, struct plx_cm_id *id) PLX_MUST_CHECK;

/* ---- datagrams ---- */

/* The verdict on a datagram. X(name, text) */
#define PLX_CM_VERDICT_LIST(X)                                           \
	X(TAKEN, "accepted")                                             \
	X(REPEATED, "duplicate message, answered again if required")     \
	X(REFUSED, "rejected request")                                   \
	X(UNKNOWN, "unknown connection, or not from the peer's address") \
	X(UNEXPECTED, "not allowed in the connection's state")           \
	X(LIMITED, "dropped: too many from one source or in total")      \
	X(MALFORMED, "not a message of the communication manager")       \
	X(INVALID, "a field out of range")

enum plx_cm_verdict {
#define PLX_X(name, text) PLX_CM_##name,
	PLX_CM_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_CM_VERDICT_COUNT,
};

/** The text of a verdict; any other value has a text that says so. Never NULL. */
const char *plx_cm_verdict_text(enum plx_cm_verdict verdict);

/**
 * Process a datagram for the GSI whose Q_Key and length are right.
 *
 * @param route where it came from, and which of our addresses it was sent to
 * @param bytes [len] nothing past len is read
 * Changes: only counters unless TAKEN, REPEATED or REFUSED; an UNKNOWN REP or DREQ may be answered
 * Cost: O(1) on average
 * Spec: IBTA vol 1, 12.9.7 (states), 12.9.8 (what is invalid), Annex A11; docs/cm.md
 * Tests: tests/unit/proto/cm, tests/table/cm_limits.c
 */
enum plx_cm_verdict plx_cm_on_mad(struct plx_cm *cm, const struct plx_cm_route *route,
				  const uint8_t *bytes, size_t len, uint64_t now);

/**
 * Write the next datagram to send: round robin over connections, alternating with replies to peers
 * without a connection. The timeout of each try starts here.
 *
 * @param out [PLX_MAD_BYTES]
 * Returns: false if there is nothing to send
 */
bool plx_cm_transmit(struct plx_cm *cm, uint64_t now, struct plx_cm_route *route, uint8_t *out);

/** `remote` has no Ethernet address: connections in REQ_SENT and SIDR_REQ_SENT to it end with
 * UNREACHABLE at once; others retransmit later. */
void plx_cm_on_unreachable(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now);

/** Run expired timers: retransmissions, timeouts, the end of TimeWait. At most PLX_CM_DUE_MAX; if
 * more are due, plx_cm_wake_ns() is not in the future. */
void plx_cm_on_tick(struct plx_cm *cm, uint64_t now);

/**
 * 0 if there is something to send, else the deadline for plx_cm_on_tick(), or PLX_NEVER. Events do
 * not count: see plx_cm_has_event().
 * Cost: O(1)
 */
uint64_t plx_cm_wake_ns(const struct plx_cm *cm);

/* ---- events ---- */

struct plx_cm_event {
	uint8_t kind; /* enum plx_cm_event_kind */
	struct plx_cm_id id;
	struct plx_cm_id listener; /* REQUESTED */
	uint64_t context;          /* the connection's; REQUESTED: the listener's */
	uint16_t reason;           /* REJECTED, ABORTED by a REJ: enum plx_cm_reason;
				    * SIDR_REPLY: enum plx_cm_sidr_status */
	struct plx_cm_peer peer;   /* REQUESTED (requested values), REPLIED (agreed values) */
	uint32_t qpn, qkey;        /* SIDR_REPLY */
	uint32_t private_bytes;    /* full length of the message's field; padded with zeros */
	uint8_t private_data[PLX_CM_PRIVATE_MAX];
};

/** Get the next event; false if none is pending. Events of a connection are in order, its end last.
 * Events are never lost and need no memory. If a connection ends while its REQUESTED is pending,
 * neither REQUESTED nor ABORTED is delivered. */
bool plx_cm_next_event(struct plx_cm *cm, struct plx_cm_event *out);

/**
 * Is an event pending?
 * Cost: O(1)
 */
bool plx_cm_has_event(const struct plx_cm *cm);

/** The context of the next event; one must be pending. */
uint64_t plx_cm_event_context(const struct plx_cm *cm);

/** The kind of the next event; one must be pending. */
enum plx_cm_event_kind plx_cm_event_kind(const struct plx_cm *cm);

/** Move the connection whose event is next after all others with events. */
void plx_cm_defer_event(struct plx_cm *cm);

/* ---- queries ---- */

struct plx_cm_view {
	uint32_t listeners;
	uint32_t connections; /* not counting TimeWait; an ended one counts until its last event is
			       * delivered */
	uint32_t half_open;   /* requested by peers, not yet established */
	uint32_t timewait;
};

void plx_cm_query(const struct plx_cm *cm, struct plx_cm_view *out);

/* Counters, never reset, in addition to one for each verdict. X(name, text) */
#define PLX_CM_COUNTER_LIST(X)                                                          \
	X(sent, "messages sent for the first time")                                     \
	X(resent, "messages retransmitted")                                             \
	X(timeouts, "connections given up because the peer did not answer")             \
	X(requests, "requests delivered to a program")                                  \
	X(rejected, "requests rejected by us, for any reason")                          \
	X(no_listener, "... because no listener matches")                               \
	X(stale, "... because the queue pair is already connected")                     \
	X(backlog_full, "... because the listener's backlog was full")                  \
	X(peer_full, "... because the peer has as many connections as one address may") \
	X(half_open_full, "requests dropped: too many are half open")                   \
	X(source_full, "requests dropped: too many from one source")                    \
	X(gave_way, "half-open connections dropped in favour of newer ones")            \
	X(established, "connections established")                                       \
	X(disconnected, "connections that ended by a DREQ of either side")              \
	X(forgotten, "... because the peer no longer knew them")                        \
	X(answers_dropped, "replies not sent: the reply queue was full")

struct plx_cm_counters {
	uint64_t verdict[PLX_CM_VERDICT_COUNT];
	uint64_t refused[PLX_MAD_VERDICT_COUNT]; /* MALFORMED, by reason */
#define PLX_X(name, text) uint64_t name;
	PLX_CM_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/** The counters. Any thread; values may be a little old. */
const struct plx_cm_counters *plx_cm_counters(const struct plx_cm *cm);

#endif
