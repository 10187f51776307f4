/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types that programs and all rooms share: status, time, keys and rights, work requests,
 * completions, queue pair states. Installed; it declares values and texts, never an object.
 * Start with enum plx_status; plx_verbs.h has the calls that use these types.
 */
#ifndef PLX_TYPES_H
#define PLX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_MUST_CHECK __attribute__((warn_unused_result))
#define PLX_API        __attribute__((visibility("default")))

/* ---- status ---- */

/* Why a caller's request was refused. A refused call has changed nothing. X(name, text) */
#define PLX_STATUS_LIST(X)                                                          \
	X(OK, "success")                                                            \
	X(INVALID, "an argument is outside its documented range")                   \
	X(STATE, "the object's state does not allow this")                          \
	X(FULL, "the queue or table has no free entry")                             \
	X(TOO_LONG, "the length is above its limit")                                \
	X(TOO_MANY_SGES, "more scatter-gather entries than the queue was made for") \
	X(NO_KEY, "unknown key or handle")                                          \
	X(DENIED, "the key does not grant this access or range")                    \
	X(BUSY, "the object is still in use")                                       \
	X(AGAIN, "not yet; try again")                                              \
	X(TIMEOUT, "no reply before the timeout")                                   \
	X(UNREACHABLE, "no route to that address")                                  \
	X(NO_MEMORY, "out of memory")                                               \
	X(NO_DEVICE, "no such device, or it does not support this")                 \
	X(CONFIG, "a setting is wrong")                                             \
	X(GONE, "the adapter's host has gone, or is the parent process'")

enum plx_status {
#define PLX_X(name, text) PLX_##name,
	PLX_STATUS_LIST(PLX_X)
#undef PLX_X
	PLX_STATUS_COUNT,
};

/** The text of a status, or "not a status" for any other value. Never NULL. */
PLX_API const char *plx_status_text(enum plx_status status);

/** One sentence for a person about a refused call: what is wrong, which value, which limit, what to
 * do. */
struct plx_why {
	char text[256];
};

/* ---- time ---- */

/* Time is always an argument: nanoseconds since an epoch that the engine chooses, as uint64_t,
 * never decreasing. The deadline PLX_NEVER means that no deadline is set. */
#define PLX_NEVER UINT64_MAX
#define PLX_USEC  UINT64_C(1000)
#define PLX_MSEC  UINT64_C(1000000)
#define PLX_SEC   UINT64_C(1000000000)

/* ---- limits ---- */

enum {
	PLX_SGE_MAX = 16,            /* per work request */
	PLX_INLINE_MAX = 1024,       /* [bytes] per work request */
	PLX_QUEUE_DEPTH_MAX = 32768, /* entries of a send or receive queue */
	PLX_RD_ATOMIC_MAX = 255,     /* outstanding READs and atomics, either role */
	PLX_RETRY_MAX = 7,
	PLX_RNR_RETRY_FOREVER = 7,
	PLX_FAST_PAGES_MAX = 65536, /* of one fast registration: 256 MiB */
	/* page lists of a fast-register region: one in use, and three posted ahead of it */
	PLX_FAST_LISTS = 4,
};

/* A page of memory, whatever the machine's pages are [bytes]. */
#define PLX_PAGE_SHIFT 12
#define PLX_PAGE_BYTES (UINT32_C(1) << PLX_PAGE_SHIFT)

/** Maximum length of a message, and of a RETH [bytes]. Spec: IBTA vol 1, 9.7.7. */
#define PLX_MESSAGE_MAX UINT32_C(0x80000000)

/* ---- threads ---- */

/* What a polling thread does between empty duty cycles. */
enum plx_idle {
	PLX_IDLE_SPIN,  /* poll again at once */
	PLX_IDLE_PAUSE, /* a pause instruction */
	PLX_IDLE_YIELD, /* sched_yield() after a short spin, for shared cores */
	/* from here on a program that polls does as with YIELD, too */
	PLX_IDLE_ADAPTIVE, /* a worker spins, then yields, then sleeps until there is work */
	PLX_IDLE_COUNT,
};

/* ---- keys and rights ---- */

/** A memory key, as in a RETH, an IETH or an SGE. 0 is never issued. */
struct plx_key {
	uint32_t v;
};

/* The rights that a key grants: enum plx_access_bit. Local read needs no right. */
struct plx_access {
	uint8_t bits;
};

enum plx_access_bit {
	PLX_ACCESS_LOCAL_WRITE = 1 << 0,
	PLX_ACCESS_REMOTE_READ = 1 << 1,
	PLX_ACCESS_REMOTE_WRITE = 1 << 2,
	PLX_ACCESS_REMOTE_ATOMIC = 1 << 3,
	PLX_ACCESS_BIND = 1 << 4,       /* windows may be bound to the region */
	PLX_ACCESS_INVALIDATE = 1 << 5, /* fast-register region: its key may be invalidated */
	PLX_ACCESS_STABLE = 1 << 6,     /* the program promises not to change data in flight
					 * (docs/decisions/0004) */
	PLX_ACCESS_ALL = 0x7f,
};

/* ---- addresses ---- */

/** An IP address; `v` in network byte order. IPv4: the first four bytes, the rest zero. */
struct plx_ip {
	uint8_t version; /* 4 or 6; 0: none */
	uint8_t v[16];
};

/* ---- work requests ---- */

struct plx_sge {
	uint64_t va;
	uint32_t length;
	struct plx_key key;
};

enum plx_wr_op {
	PLX_WR_NONE,
	PLX_WR_SEND,
	PLX_WR_SEND_IMM,
	PLX_WR_SEND_INV,
	PLX_WR_WRITE,
	PLX_WR_WRITE_IMM,
	PLX_WR_READ,
	PLX_WR_CMP_SWAP,
	PLX_WR_FETCH_ADD,
	PLX_WR_LOCAL_INV, /* invalidates inv_key after all earlier requests have completed */
	PLX_WR_BIND,      /* only keeps the order: plx_post_bind() itself binds the window */
	PLX_WR_REG,       /* registers a region with a key promised before; plx_post_reg() */
	PLX_WR_OP_COUNT,
};

enum plx_wr_flag {
	PLX_WR_SOLICITED = 1 << 0,  /* request an event at the receiver (SEND, WRITE_IMM) */
	PLX_WR_UNSIGNALED = 1 << 1, /* no completion on success */
	PLX_WR_FENCE = 1 << 2,      /* wait until all earlier READs and atomics are done */
	PLX_WR_INLINE = 1 << 3,     /* copy the payload when posted; keys are not checked */
	PLX_WR_FLAGS_COMMON = 0x0f, /* of every request */
	PLX_WR_READ_INV = 1 << 4,   /* READ: its success invalidates the key of its first SGE, if it
				     * can be */
	PLX_WR_FLAGS_ALL = 0x1f,
	PLX_WR_DEFER = 1 << 7, /* do not ring the doorbell; see plx_post_send() */
};

struct plx_ah;

/* One request for a send queue. The request and its `sge` array may be reused when the post
 * returns. The memory that the SGEs name belongs to the request until it completes, unless
 * PLX_WR_INLINE is set. */
struct plx_send_wr {
	uint64_t wr_id;
	uint8_t op;    /* enum plx_wr_op, except BIND and REG: plx_post_bind(), plx_post_reg() */
	uint8_t flags; /* enum plx_wr_flag */
	uint16_t sges;
	union {
		uint32_t imm;           /* *_IMM, host byte order */
		struct plx_key inv_key; /* SEND_INV, LOCAL_INV */
	};
	const struct plx_sge *sge; /* [sges]; with PLX_WR_INLINE, at most PLX_INLINE_MAX, and va is
				    * a pointer */
	uint64_t remote_va;        /* WRITE*, READ, CMP_SWAP, FETCH_ADD */
	struct plx_key rkey;
	uint64_t swap_add; /* CMP_SWAP: swap; FETCH_ADD: add */
	uint64_t compare;  /* CMP_SWAP */
	/* UD queue pairs only: the destination */
	const struct plx_ah *ah;
	uint32_t remote_qpn, remote_qkey;
};

/* One buffer for a receive queue. */
struct plx_recv_wr {
	uint64_t wr_id;
	const struct plx_sge *sge; /* [sges] */
	uint32_t sges;
};

/* ---- completions ---- */

/* How a work request ended. X(name, text) */
#define PLX_WC_LIST(X)                                                                            \
	X(SUCCESS, "success")                                                                     \
	X(LOCAL_LENGTH, "message longer than the receive, or response length wrong for its READ") \
	X(LOCAL_PROTECTION, "a local key does not grant the access")                              \
	X(LOCAL_INVALIDATE, "the key cannot be invalidated, or is still valid")                   \
	X(FLUSHED, "the queue pair failed or was closed first")                                   \
	X(BAD_RESPONSE, "the peer's response is malformed")                                       \
	X(REMOTE_INVALID_REQUEST, "the responder found the request invalid")                      \
	X(REMOTE_ACCESS, "a remote key does not grant the access")                                \
	X(REMOTE_OPERATION, "the responder cannot complete the request")                          \
	X(RETRY_EXCEEDED, "no answer within the retry count")                                     \
	X(RNR_RETRY_EXCEEDED, "receiver not ready within the RNR retry count")

enum plx_wc_status {
#define PLX_X(name, text) PLX_WC_##name,
	PLX_WC_LIST(PLX_X)
#undef PLX_X
	PLX_WC_COUNT,
};

/** The text of a status, or "not a completion status" for any other value. Never NULL. */
PLX_API const char *plx_wc_text(enum plx_wc_status status);

enum plx_wc_flag {
	PLX_WC_RECV = 1 << 0,      /* a receive; `op` is SEND* or WRITE_IMM */
	PLX_WC_IMM = 1 << 1,       /* `imm` is valid */
	PLX_WC_INV = 1 << 2,       /* `inv_key` is valid, and was invalidated before */
	PLX_WC_SOLICITED = 1 << 3, /* the sender requested an event */
};

struct plx_completion {
	uint64_t wr_id;
	uint32_t qpn;   /* the queue pair's; for a datagram received: its sender's */
	uint32_t bytes; /* received or read; 8 for atomics; else 0 */
	union {
		uint32_t imm;
		struct plx_key inv_key;
	};
	uint8_t status; /* enum plx_wc_status */
	uint8_t op;     /* enum plx_wr_op; for receives: the peer's operation (NONE if flushed) */
	uint8_t flags;  /* enum plx_wc_flag */
	uint8_t resv;   /* 0 */
};

/* A completion as plx_cq_poll() returns it: half a cache line. */
struct plx_wc {
	uint64_t wr_id;
	uint32_t qpn;   /* the queue pair's; for a datagram received: its sender's */
	uint32_t bytes; /* received or read; 8 for atomics; else 0 */
	union {
		uint32_t imm;
		struct plx_key inv_key;
	};
	uint8_t status;   /* enum plx_wc_status */
	uint8_t op;       /* enum plx_wr_op; for receives: the peer's operation (NONE if flushed) */
	uint8_t flags;    /* enum plx_wc_flag */
	uint8_t mark;     /* used internally; 0 or 1 */
	uint64_t context; /* plx_qp_options.context of the queue pair */
};

/* Which entries make an armed completion queue notify. */
enum plx_cq_notify {
	PLX_CQ_NOTIFY_ANY = 1 << 0,       /* any entry */
	PLX_CQ_NOTIFY_SOLICITED = 1 << 1, /* a solicited receive, or an entry with an error */
	PLX_CQ_NOTIFY_ERRORS = 1 << 2,    /* the queue itself failed (overrun) */
	PLX_CQ_NOTIFY_ALL = 0x07,
};

/* ---- queue pairs ---- */

enum plx_qp_type {
	PLX_QP_RC, /* reliable connection */
	PLX_QP_UD, /* unreliable datagram */
};

/* How the sender of a connection reacts to congestion (docs/transport.md, Congestion). */
enum plx_congestion {
	PLX_CONGESTION_DEFAULT, /* as the adapter is set */
	PLX_CONGESTION_NONE,    /* not at all */
	PLX_CONGESTION_DCQCN,   /* to CNPs, as RNICs do; its packets are ECN-capable, ECT(0) */
	PLX_CONGESTION_DELAY,   /* to round-trip times */
	PLX_CONGESTION_COUNT,
};

/* Bytes before the payload of every datagram received, in place of a GRH. IPv6: the IP header;
 * IPv4: the IP header in the last 20 bytes, the rest undefined. Spec: IBTA Annex A17, A17.4.4 */
enum {
	PLX_UD_HEADER_BYTES = 40,
};

enum plx_qp_state {
	PLX_QP_NONE, /* never a QP's state */
	PLX_QP_RESET,
	PLX_QP_INIT,
	PLX_QP_RTR,
	PLX_QP_RTS,
	PLX_QP_SQD,
	PLX_QP_ERROR,
	PLX_QP_STATE_COUNT,
};

/** The name of a state, such as "rts", or "?" for any other value. Never NULL. */
PLX_API const char *plx_qp_state_name(enum plx_qp_state state);

/* What happened to a QP. X(name, text) */
#define PLX_EVENT_LIST(X)                                                   \
	X(NONE, "nothing")                                                  \
	X(COMM_ESTABLISHED, "the first packet arrived in RTR")              \
	X(SQ_DRAINED, "in SQD, all started requests are done")              \
	X(FAILED, "the QP is in error")                                     \
	X(FLUSHED, "in error, all entries are flushed")                     \
	X(SRQ_THRESHOLD, "the shared receive queue is below its threshold") \
	X(CQ_OVERRUN, "the completion queue overran and is unusable")       \
	X(HOST_GONE, "the adapter's host has gone")

enum plx_event_kind {
#define PLX_X(name, text) PLX_EVENT_##name,
	PLX_EVENT_LIST(PLX_X)
#undef PLX_X
	PLX_EVENT_COUNT,
};

/** The text of a kind, or "not an event" for any other value. Never NULL. */
PLX_API const char *plx_event_text(enum plx_event_kind kind);

/* The queue pair's state when it failed, part of a FAILED event. Retries are counted since the
 * peer's last acknowledgement. */
struct plx_qp_failure {
	uint32_t peer_qpn;
	uint32_t psn_unacked;       /* oldest PSN sent that the peer had not acknowledged */
	uint32_t psn_expected;      /* next PSN expected from the peer */
	uint8_t retries, retry_max; /* used, and allowed */
	uint8_t rnr_retries, rnr_retry_max;
	uint64_t stall_ns; /* the engine's longest stall in the last 10 s */
};

/* An event that no completion reports. */
struct plx_async_event {
	uint8_t kind;                  /* enum plx_event_kind */
	uint8_t cause;                 /* FAILED: enum plx_wc_status */
	uint32_t qpn;                  /* for queue pair events */
	uint64_t context;              /* of the queue pair, completion queue or SRQ */
	struct plx_qp_failure failure; /* FAILED: the queue pair at that moment */
};

/* ---- connections ---- */

/* Port spaces of the RDMA connection manager, with their values on the wire. */
enum plx_port_space {
	PLX_PORT_SPACE_TCP = 0x0106,
	PLX_PORT_SPACE_UDP = 0x0111,
};

/* What happened to a connection. "Ends" means that its id is no longer valid. X(name, text) */
#define PLX_CM_EVENT_LIST(X)                                                             \
	X(NOTHING, "nothing")                                                            \
	X(REQUESTED, "a peer requests a connection: accept or reject")                   \
	X(REPLIED, "the peer accepted: establish or reject")                             \
	X(ESTABLISHED, "the peer established the connection, or its first data arrived") \
	X(REJECTED, "the peer refused; ends")                                            \
	X(UNREACHABLE, "the peer's address could not be resolved; ends")                 \
	X(TIMED_OUT, "the peer does not respond; ends")                                  \
	X(ABORTED, "the peer gave up before the connection was established; ends")       \
	X(DISCONNECTED, "the peer disconnected; ends")                                   \
	X(CLOSED, "the peer confirmed our disconnect, or does not respond; ends")        \
	X(SIDR_REPLY, "the lookup of a UD service has a result; ends")

enum plx_cm_event_kind {
#define PLX_X(name, text) PLX_CM_EVENT_##name,
	PLX_CM_EVENT_LIST(PLX_X)
#undef PLX_X
	PLX_CM_EVENT_COUNT,
};

/** The text of a kind, or "not an event of a connection" for any other value. Never NULL. */
PLX_API const char *plx_cm_event_text(enum plx_cm_event_kind kind);

/* Reasons in a REJ, with their values on the wire. Spec: IBTA vol 1, 12.6.7.2.
 * X(name, value, text) */
#define PLX_CM_REASON_LIST(X)                                                    \
	X(NO_QP, 1, "no free queue pair")                                        \
	X(NO_EEC, 2, "no free end-to-end context")                               \
	X(NO_RESOURCES, 3, "no resources")                                       \
	X(TIMEOUT, 4, "the other side waited too long")                          \
	X(UNSUPPORTED, 5, "the request is not supported")                        \
	X(INVALID_COMM_ID, 6, "invalid communication id")                        \
	X(INVALID_COMM_INSTANCE, 7, "invalid communication instance")            \
	X(INVALID_SERVICE_ID, 8, "no listener at that port")                     \
	X(INVALID_TRANSPORT, 9, "invalid transport service type")                \
	X(STALE, 10, "the queue pair is already connected")                      \
	X(RDC_MISSING, 11, "no reliable datagram channel")                       \
	X(PRIMARY_GID, 12, "the primary remote address is rejected")             \
	X(PRIMARY_LID, 13, "the primary remote LID is rejected")                 \
	X(PRIMARY_SL, 14, "the primary service level is invalid")                \
	X(PRIMARY_TRAFFIC_CLASS, 15, "the primary traffic class is invalid")     \
	X(PRIMARY_HOP_LIMIT, 16, "the primary hop limit is invalid")             \
	X(PRIMARY_RATE, 17, "the primary packet rate is rejected")               \
	X(ALTERNATE_GID, 18, "the alternate remote address is rejected")         \
	X(ALTERNATE_LID, 19, "the alternate remote LID is rejected")             \
	X(ALTERNATE_SL, 20, "the alternate service level is invalid")            \
	X(ALTERNATE_TRAFFIC_CLASS, 21, "the alternate traffic class is invalid") \
	X(ALTERNATE_HOP_LIMIT, 22, "the alternate hop limit is invalid")         \
	X(ALTERNATE_RATE, 23, "the alternate packet rate is rejected")           \
	X(REDIRECT, 24, "redirected to another connection manager")              \
	X(PORT_REDIRECT, 25, "redirected to another port")                       \
	X(PATH_MTU, 26, "the path MTU is invalid")                               \
	X(RESPONDER_RESOURCES, 27, "insufficient responder resources")           \
	X(CONSUMER, 28, "the peer's program refused")                            \
	X(RNR_RETRY, 29, "the RNR retry count is rejected")                      \
	X(DUPLICATE_COMM_ID, 30, "the local communication id is in use")         \
	X(CLASS_VERSION, 31, "the class version is not supported")               \
	X(FLOW_LABEL, 32, "the primary flow label is invalid")                   \
	X(ALTERNATE_FLOW_LABEL, 33, "the alternate flow label is invalid")

enum plx_cm_reason {
	PLX_CM_REASON_NONE = 0,
#define PLX_X(name, value, text) PLX_CM_REASON_##name = (value),
	PLX_CM_REASON_LIST(PLX_X)
#undef PLX_X
};

/** The text of a reason, or "not a known reason" for any other value. Never NULL. */
PLX_API const char *plx_cm_reason_text(uint32_t reason);

enum {
	PLX_PRIVATE_CONNECT_MAX = 56, /* [bytes] of private data in each message */
	PLX_PRIVATE_ACCEPT_MAX = 196,
	PLX_PRIVATE_REJECT_MAX = 148,
	PLX_PRIVATE_MAX = 224,
	PLX_EVENT_CHANNEL_DEPTH_MAX = 4096,
};

/* The agreed parameters of a connection; in a REQUESTED event, those that the peer requests. */
struct plx_connector_info {
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	uint32_t remote_qpn;
	uint32_t path_mtu;
	uint8_t responder_resources; /* outstanding READs and atomics, from the peer */
	uint8_t initiator_depth;     /* ... to the peer */
	uint8_t retry, rnr_retry, ack_timeout;
	bool srq; /* the peer's queue pair has one */
};

enum {
	PLX_LINGER_MAX_MS = 600000, /* of plx_qp_linger() */
};

/* A queue pair on its way from one program to another (plx_qp_export()): a number of its host,
 * which is of use to the seat that it names alone, once, and so need not be secret. 0 is never
 * issued. */
struct plx_qp_token {
	uint32_t v;
};

/* What became of the requests of the programs that had a connection before, together: they are
 * posted in their order, and all of these are complete. Modulo 2^32. */
struct plx_qp_past {
	uint32_t requests; /* of the send queue: all that were posted */
	uint32_t receives; /* of its own receive queue: those that a message has */
};

/* For plx_connect() and plx_accept(); plx_connect_options_init() sets the defaults. */
struct plx_connect_options {
	struct plx_ip remote; /* accept ignores this and the next three */
	uint16_t remote_port;
	struct plx_ip local;         /* version 0: chosen by the prefix of `remote` */
	uint16_t local_port;         /* 0: one of 49152 .. 65535, in turn */
	uint32_t path_mtu;           /* 0: the adapter's; both sides use the smaller of theirs */
	uint32_t access;             /* PLX_ACCESS_REMOTE_* the peer may use */
	uint8_t responder_resources; /* outstanding READs and atomics, from the peer; at most the
				      * queue pair's */
	uint8_t initiator_depth;     /* ... to the peer; each side's offer limits the other's */
	uint8_t retry;               /* 0 .. 7 */
	uint8_t rnr_retry;   /* 0 .. 7, for the peer to use; 0xff: 7 (for ever) with an SRQ, else 6:
			      * a message without a receive fails in 1 to 1.5 s */
	uint8_t rnr_timer;   /* 0 .. 31, code sent in our RNR NAKs */
	uint8_t ack_timeout; /* 1 .. 31: 4.096 us * 2^n */
	uint8_t dscp;        /* 0xff: the adapter's */
	bool keep_posted;    /* the queue pair is not flushed because the peer disconnects, but by
			      * plx_disconnect(), plx_qp_flush() or plx_connector_destroy() */
	const void *private_data;
	uint32_t private_bytes; /* at most PLX_PRIVATE_CONNECT_MAX, PLX_PRIVATE_ACCEPT_MAX */
};

struct plx_connector;
struct plx_listener;

/* What an event channel delivers. */
struct plx_connector_event {
	uint8_t kind;    /* enum plx_cm_event_kind */
	uint16_t reason; /* REJECTED: enum plx_cm_reason; SIDR_REPLY: 0 when it was found */
	struct plx_connector *connector; /* REQUESTED: a new one, which the caller destroys */
	struct plx_listener *listener;   /* REQUESTED */
	uint64_t context;                /* the connector's; REQUESTED: the listener's */
	struct plx_connector_info info;
	uint32_t qpn, qkey;     /* SIDR_REPLY */
	uint32_t private_bytes; /* full length of the message's field; padded with zeros */
	uint8_t private_data[PLX_PRIVATE_MAX];
};

#ifdef __cplusplus
}
#endif

#endif
