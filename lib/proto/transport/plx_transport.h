/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One queue pair: a reliable connection (requester and responder) or datagrams. Packets in, actions
 * out.
 * It never sends, waits, allocates, reads a clock or knows a NIC; an engine (or the simulator)
 * executes its actions. One thread owns a QP.
 * Start with plx_rc_on_packet() and plx_rc_transmit(); docs/transport.md explains both.
 */
#ifndef PLX_TRANSPORT_H
#define PLX_TRANSPORT_H

#include "plx_action.h"
#include "plx_base.h"
#include "plx_mem.h"
#include "plx_wire.h"

/* ---- limits ---- */

enum {
	/* PSNs in flight; a READ that starts inside the window may extend beyond its end */
	PLX_WINDOW_PACKETS_MAX = 1 << 16,
	PLX_READ_CHUNK_PACKETS_MAX = 1 << 22, /* responses to one READ request */
	PLX_RESTARTS_MAX = 4, /* retransmissions for the same loss; after them only a timer does */
	PLX_REORDER_DEPTH = 16, /* packets by which one may be late in the same flight */
	PLX_PROBE_WAIT_MIN_NS = 100 * 1000, /* minimum time before the first probe */
	PLX_WINDOW_LEAST = 4, /* packets in flight after losses, unless fewer were agreed */
	/* behind the first missing packet of a direction: so far packets are kept, and repaired one
	 * by one. A power of two of at least 64 */
	PLX_KEEP_PACKETS = 128,
	PLX_NAK_BITMAP_BYTES = PLX_KEEP_PACKETS / 8,
};

/* A queue pair sends at most one CNP in this time, as RNICs do. */
#define PLX_CNP_INTERVAL_NS (50 * PLX_USEC)

/* ---- verdicts on packets ---- */

/* The verdict on a packet: rows of the decision table, docs/protocol.md. X(name, text) */
#define PLX_VERDICT_LIST(X)                                                                 \
	X(NONE, "no verdict yet")                                                           \
	X(ACCEPT, "request accepted")                                                       \
	X(SERVICE, "opcode family is not this QP's type")                                   \
	X(STATE, "the QP's state cannot receive")                                           \
	X(PKEY, "P_Key does not match")                                                     \
	X(ADDRESS, "addresses are not the QP's path")                                       \
	X(QKEY, "Q_Key is not the QP's")                                                    \
	X(AHEAD, "PSN ahead of the one expected: NAK")                                      \
	X(AHEAD_AGAIN, "PSN ahead, NAK already sent")                                       \
	X(DUPLICATE, "duplicate SEND or WRITE: acknowledged again")                         \
	X(REPLAY, "duplicate READ or atomic: replayed")                                     \
	X(DUPLICATE_FORGOTTEN, "duplicate READ or atomic, forgotten or different: dropped") \
	X(DUPLICATE_DENIED, "duplicate READ whose key no longer grants it")                 \
	X(SEQUENCE, "first, middle and last out of order")                                  \
	X(DISABLED, "operation not enabled on this QP")                                     \
	X(TOO_MANY_READS, "more READs and atomics at once than agreed")                     \
	X(RNR, "no receive posted")                                                         \
	X(LENGTH, "payload or RETH length wrong for the packet's place")                    \
	X(MISALIGNED, "atomic on an address that is not a multiple of 8")                   \
	X(ACCESS, "remote key does not grant the range")                                    \
	X(RECV_LENGTH, "the message is longer than the receive")                            \
	X(RECV_ACCESS, "a key of the receive does not grant the range")                     \
	X(INVALIDATE, "the key cannot be invalidated")                                      \
	X(ACKED, "acknowledgement accepted")                                                \
	X(RESPONSE, "READ response or atomic result accepted")                              \
	X(GHOST, "acknowledgement of a PSN never sent")                                     \
	X(STALE, "duplicate acknowledgement")                                               \
	X(RESPONSE_LOST, "acknowledges past a READ or atomic whose response is missing")    \
	X(RESPONSE_BAD, "READ response of the wrong length")                                \
	X(RESPONSE_DENIED, "local key does not grant the destination of a response")        \
	X(NAK_SEQUENCE, "NAK: sequence error")                                              \
	X(NAK_RNR, "NAK: receiver not ready")                                               \
	X(NAK_INVALID, "NAK: invalid request")                                              \
	X(NAK_ACCESS, "NAK: remote access")                                                 \
	X(NAK_OPERATION, "NAK: remote operation")                                           \
	X(NAK_AGAIN, "NAK or lost response already acted upon")                             \
	X(LOST_AGAIN, "retransmission lost: retransmitted again")                           \
	X(LOST_MORE, "NAK or lost response: more packets are missing")                      \
	X(SYNDROME, "reserved syndrome")                                                    \
	X(CNP, "congestion notification accepted")

enum plx_verdict {
#define PLX_X(name, text) PLX_VERDICT_##name,
	PLX_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_VERDICT_COUNT,
};

const char *plx_verdict_text(enum plx_verdict verdict);
const char *plx_verdict_name(enum plx_verdict verdict);

/* ---- counters ---- */

/* Per QP, in addition to one counter for each verdict. X(name, text) */
#define PLX_QP_COUNTER_LIST(X)                                             \
	X(requests_sent, "request packets sent for the first time")        \
	X(requests_resent, "request packets retransmitted")                \
	X(responses_sent, "READ response and atomic packets sent")         \
	X(acks_sent, "ACK packets sent")                                   \
	X(naks_sent, "NAK packets sent, RNR not counted")                  \
	X(rnrs_sent, "RNR NAK packets sent")                               \
	X(cnps_sent, "congestion notifications sent")                      \
	X(timeouts, "ack timers fired")                                    \
	X(go_backs, "times the requester went back to retransmit")         \
	X(probes, "probes sent before the ack timeout")                    \
	X(rnr_waits, "waits after an RNR NAK")                             \
	X(ce_marks, "packets received with a congestion mark")             \
	X(window_stalls, "times the packet window held the requester")     \
	X(fence_stalls, "times a fence held the requester")                \
	X(read_stalls, "times the READ limit held the requester")          \
	X(pace_stalls, "times the congestion strategy held the requester") \
	X(bytes_placed, "payload bytes placed")                            \
	X(bytes_sent, "payload bytes sent, retransmissions included")

struct plx_rc_counters {
	uint64_t verdict[PLX_VERDICT_COUNT];
#define PLX_X(name, text) uint64_t name;
	PLX_QP_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/* ---- congestion strategy ---- */

/* Why the requester went back. */
enum plx_loss {
	PLX_LOSS_TIMEOUT,
	PLX_LOSS_NAK,
	PLX_LOSS_RESPONSE, /* a response is missing */
};

/* What a strategy counts for a packet beside its payload: Ethernet with preamble, FCS and gap,
 * IPv4, UDP, BTH, ICRC. So a READ request and an empty SEND cost something too. */
#define PLX_CC_HEADER_BYTES 82u

/** What may leave before a strategy is asked again. */
struct plx_cc_grant {
	uint32_t bytes; /* payloads, and PLX_CC_HEADER_BYTES for each packet */
	uint64_t until; /* [ns] when the grant ends, even if bytes are left */
};

/**
 * A congestion strategy: functions, and a state of its own. The QP's owner thread calls them. All
 * their bytes are counted as in struct plx_cc_grant.
 * `ask` changes nothing; it returns the earliest time [ns] at which a packet of `bytes` may leave.
 * A time up to `now` means at once. The strategy may then raise `grant->bytes`, which is `bytes`
 * before, and lower `grant->until`, which is PLX_NEVER before. What leaves within a grant takes the
 * fast path, without a call. A loss and a CNP end a grant.
 * `on_sent` reports the bytes that have left since the last report: when a grant is used up, and
 * before any other call but `on_ce`.
 * `on_rtt` reports the round-trip time of a packet that requested an ACK, before the `on_ack` of
 * that ACK. One packet is timed at a time, and no retransmission.
 * `on_ce` is called for each congestion mark and returns whether to send a CNP to the peer; the QP
 * sends at most one in PLX_CNP_INTERVAL_NS in any case.
 */
struct plx_cc_ops {
	const char *name;
	uint64_t (*ask)(const void *state, uint64_t now, uint32_t bytes,
			struct plx_cc_grant *grant);
	void (*on_sent)(void *state, uint64_t now, uint32_t bytes);
	void (*on_rtt)(void *state, uint64_t now, uint64_t rtt_ns);
	void (*on_ack)(void *state, uint64_t now, uint32_t packets);
	void (*on_loss)(void *state, uint64_t now, enum plx_loss cause);
	bool (*on_ce)(void *state, uint64_t now);
	void (*on_cnp)(void *state, uint64_t now);
};

/** The strategy that never delays a packet, even if the peer sends CNPs. Congestion marks cause
 * CNPs, so that the peer can slow down. Its state is NULL. */
extern const struct plx_cc_ops plx_cc_none;

/* ---- recovery ---- */

/** How a requester reacts to losses. Strategies are part of this room: they see the whole QP. */
struct plx_recovery_ops;
/** Everything after a loss is sent again. */
extern const struct plx_recovery_ops plx_recovery_go_back;

/* ---- receive queues ---- */

struct plx_rq; /* of one QP, or shared by QPs of one owner thread */

/** Bytes that plx_rq_init() needs; 0 if an argument is out of range. */
size_t plx_rq_bytes(uint32_t depth, uint32_t sges);

/**
 * @param memory [plx_rq_bytes()] aligned to PLX_CACHE_LINE; owned by the caller
 * @param depth  1 .. PLX_QUEUE_DEPTH_MAX entries
 * @param sges   0 .. PLX_SGE_MAX per entry
 * @param shared an SRQ: an entry's place is free as soon as a message uses the entry; unused
 *               entries are not flushed when a QP fails
 */
struct plx_rq *plx_rq_init(void *memory, uint32_t depth, uint32_t sges, bool shared);

/** Errors: FULL; TOO_MANY_SGES; TOO_LONG when the lengths add up to more than 2^31 */
enum plx_status plx_rq_post(struct plx_rq *rq, uint64_t wr_id, const struct plx_sge *sge,
			    uint32_t sges) PLX_MUST_CHECK;

/** Request one SRQ_THRESHOLD event when fewer than `threshold` entries are left; 0 cancels the
 * request. The event is raised when a message uses an entry; call plx_rq_count() to find out
 * whether the queue is already below the threshold. */
void plx_rq_arm(struct plx_rq *rq, uint32_t threshold);

/** Entries posted and not yet used by a message. */
uint32_t plx_rq_count(const struct plx_rq *rq);

/** Entries that can be posted now. */
uint32_t plx_rq_room(const struct plx_rq *rq);

/* ---- packets behind a missing one ---- */

/* A packet that waits for a missing one. The caller of plx_rc_keep() fills it in and gets it back
 * from plx_rc_next_kept(). */
struct plx_kept {
	void *packet;       /* whatever the caller needs to release it */
	const uint8_t *bth; /* [len] BTH to ICRC, which is checked */
	uint32_t len;
};

/** What the queue pairs of one owner thread keep: blocks, of which a queue pair has one while a
 * packet is missing. If all are in use, or too many packets are kept, the others drop what lies
 * behind a missing packet. */
struct plx_keep;

/** Bytes that plx_keep_init() needs. */
size_t plx_keep_bytes(uint32_t blocks);
/**
 * @param memory  [plx_keep_bytes()] aligned to PLX_CACHE_LINE; owned by the caller
 * @param packets kept at once by all queue pairs
 */
struct plx_keep *plx_keep_init(void *memory, uint32_t blocks, uint32_t packets);
/** Packets that are kept, and how many more can be. */
uint32_t plx_keep_count(const struct plx_keep *keep);
uint32_t plx_keep_room(const struct plx_keep *keep);

/* ---- queue pairs ---- */

/* The capacity of a QP; fixed for its lifetime. */
struct plx_rc_caps {
	uint32_t sq_depth;            /* 1 .. PLX_QUEUE_DEPTH_MAX */
	uint32_t sq_sges;             /* 0 .. PLX_SGE_MAX */
	uint32_t inline_bytes;        /* 0 .. PLX_INLINE_MAX; at least the WQE's 64 are available */
	uint32_t responder_resources; /* 0 .. PLX_RD_ATOMIC_MAX: outstanding READs and atomics,
				       * from the peer */
};

struct plx_rc_ids {
	uint32_t qpn; /* 24 bits */
	struct plx_domain domain;
	struct plx_mem *mem; /* outlives the QP */
	struct plx_rq *rq;   /* outlives the QP; the QP's own, or an SRQ */
	const struct plx_cc_ops *cc;
	void *cc_state;
	const struct plx_recovery_ops *recovery; /* NULL: plx_recovery_go_back */
	struct plx_keep *keep;                   /* outlives the QP; NULL: nothing is kept */
	/* the program that posts is another process: what it says of our memory is not believed, so
	 * PLX_WR_REG has a list of pages */
	bool foreign;
};

/* The path of packets to the peer: src is this end, dst the peer. Packets from the peer have them
 * exchanged; all others are not for this QP. */
struct plx_path {
	uint8_t ip_version; /* 4 or 6; 0: accept any address (tests of the QP alone) */
	uint32_t src4, dst4;
	uint8_t src6[16], dst6[16];
};

/* The parameters that both ends agreed on: the first half is for the transition to RTR, the second
 * half for the transition to RTS. */
struct plx_rc_attr {
	struct plx_path path;
	uint32_t mtu; /* [bytes] 256, 512, 1024, 2048 or 4096 */
	uint32_t dest_qpn;
	uint16_t pkey;
	struct plx_psn rq_psn;     /* the first PSN the peer will send */
	struct plx_access enabled; /* REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC the peer may use */
	uint8_t rnr_timer;         /* 0..31, code sent in our RNR NAKs; IBTA vol 1 table 45 */

	struct plx_psn sq_psn;   /* the first PSN we send */
	uint8_t retry_max;       /* 0..7 */
	uint8_t rnr_retry_max;   /* 0..7, 7 for ever */
	uint8_t initiator_depth; /* outstanding READs and atomics, to the peer; 0: posting one is
				  * refused */
	uint64_t ack_timeout_ns; /* 1 .. ; see plx_ack_timeout_ns() for the CM's code */
	uint32_t window_packets; /* 1 .. PLX_WINDOW_PACKETS_MAX */
	uint32_t ack_interval;   /* maximum packets from one AckReq to the next; 1 .. */
	uint32_t read_chunk_packets; /* 1 .. PLX_READ_CHUNK_PACKETS_MAX */
	/* both ends say in sequence NAKs what they have kept, and send again only what is missing;
	 * as agreed: another peer does not know such NAKs. Read for RTR */
	bool selective;
};

struct plx_rc;

/** The CM's 5-bit local ack timeout code in nanoseconds: 4.096 us * 2^code; PLX_NEVER for 0. */
uint64_t plx_ack_timeout_ns(uint8_t code);

/**
 * A 5-bit RNR NAK timer code in nanoseconds.
 * Spec: IBTA vol 1, 9.7.5.2.8 table 45.
 */
uint64_t plx_rnr_timer_ns(uint8_t code);

/** Bytes that plx_rc_init() needs; 0 if a cap is out of range. */
size_t plx_rc_bytes(const struct plx_rc_caps *caps);

/**
 * @param memory [plx_rc_bytes(caps)] aligned to PLX_CACHE_LINE; owned by the caller. Send queue
 *               entries are first written when they are used
 * Returns: the QP, in RESET
 */
struct plx_rc *plx_rc_init(void *memory, const struct plx_rc_caps *caps,
			   const struct plx_rc_ids *ids);

/**
 * Change the QP's state.
 *
 * RESET -> INIT -> RTR -> RTS <-> SQD; any -> ERROR; any -> RESET. ERROR: the next calls flush the
 * posted requests. RESET: posted requests are discarded without completions (the QP's own receive
 * queue is emptied, an SRQ is not), and timers are stopped.
 *
 * @param attr read for RTR (first half) and RTS (second half), else ignored
 * Errors: STATE (no such transition); INVALID (an attribute out of range). Nothing has changed.
 */
enum plx_status plx_rc_modify(struct plx_rc *qp, enum plx_qp_state to,
			      const struct plx_rc_attr *attr) PLX_MUST_CHECK;

/**
 * Is a connection between two messages, so that another queue pair can go on with it? It is in RTS,
 * every request is completed, no message of the peer has begun, and no reply is due.
 * Tests:   tests/unit/engine/cycle/take_over.c
 */
bool plx_rc_is_between(const struct plx_rc *qp);
/**
 * Go on with the connection of another queue pair, which is between two messages.
 *
 * READs that `from` has answered are replayed from its domain's memory for plx_rc_former_ns(), as
 * long as their keys are valid, and later not any more. All else is checked in the domain of `to`.
 * @param to   in RESET, with as many responder resources; it is in RTS then, and has the number of
 *             `from`, and `from` that of `to`
 * @param from may only go to ERROR or RESET then; its receives are still posted
 */
void plx_rc_take_over(struct plx_rc *to, struct plx_rc *from, uint64_t now);
/** [ns] For how long the peer may ask again for a READ: twice our own retry budget, 1 to 20 s. */
uint64_t plx_rc_former_ns(const struct plx_rc *qp);

/**
 * Post to the send queue. In ERROR the request is accepted and flushed.
 *
 * @param wqe   copied, but only the part in use. What is judged is the copy, and nothing is read
 *              twice: it may be in memory that another process writes
 * @param spill SGEs beyond PLX_WQE_SGES, or all inline data when more than PLX_WQE_INLINE_BYTES;
 *              copied likewise; NULL: none is given
 * Errors: STATE (not RTS, SQD or ERROR); FULL; INVALID (op, flags, a READ or atomic without
 * initiator_depth, an atomic whose SGEs are not 8 bytes); TOO_MANY_SGES; TOO_LONG (message over
 * 2^31, inline data over the limit)
 * Cost: hot; O(SGEs)
 */
enum plx_status plx_rc_post_send(struct plx_rc *qp, const struct plx_wqe *wqe,
				 const void *spill) PLX_MUST_CHECK;

/**
 * The place of the next send queue entry, for a caller that checks the request as
 * plx_rc_post_send() does and builds the entry in place; plx_rc_sq_commit() then posts it. NULL if
 * the queue is full or the state does not allow posts.
 *
 * @param spill [out] where SGEs or inline data go that do not fit the WQE
 */
struct plx_wqe *plx_rc_sq_reserve(struct plx_rc *qp, void **spill);
/** @param bytes length of the message: the sum of its SGEs, or its inline data */
void plx_rc_sq_commit(struct plx_rc *qp, uint32_t bytes);

/**
 * Undo what posting a request has done outside the QP, if it will not be executed: a window is
 * bound when its BIND is posted, and a REG has a list of pages. The QP does that for the entries it
 * has.
 */
void plx_rc_discard(struct plx_rc *qp, const struct plx_wqe *wqe);

/**
 * Post to the QP's own receive queue: plx_rq_post() with a check of the QP's state. In ERROR the
 * entry is accepted and flushed.
 * Errors: STATE (RESET, or the queue is shared); as plx_rq_post()
 */
enum plx_status plx_rc_post_recv(struct plx_rc *qp, uint64_t wr_id, const struct plx_sge *sge,
				 uint32_t sges) PLX_MUST_CHECK;

/**
 * Is this packet for this QP (lines 4 and 5 of the decision table)? Changes nothing, not even a
 * counter, because the ICRC (line 6) may not be checked yet.
 *
 * Returns: ACCEPT, SERVICE, STATE, PKEY or ADDRESS
 */
enum plx_verdict plx_rc_admit(const struct plx_rc *qp, const struct plx_frame *frame,
			      const struct plx_pkt *pkt) PLX_MUST_CHECK;

/** As plx_rc_admit(), for a packet whose addresses are known to be those of the QP's path. */
enum plx_verdict plx_rc_admit_peer(const struct plx_rc *qp,
				   const struct plx_pkt *pkt) PLX_MUST_CHECK;

/**
 * Process one packet for this QP. Emits nothing: the next plx_rc_transmit() sends the response.
 *
 * @param pkt admitted and ICRC-checked
 * @param now [ns, engine clock, never decreasing]
 * @param out PLX_ACTIONS_PER_PACKET entries must be free; PLACE or ATOMIC, COMPLETE, EVENT
 * Changes: checks come before changes: a dropped packet changes only its counter and, after a gap,
 *          the pending NAK
 * Errors:  none; a peer's fault causes a NAK and, for classes A and C, the ERROR state
 * Cost:    hot; O(1), plus O(requests acknowledged)
 * Spec:    IBTA vol 1, 9.7.4 to 9.7.5, 9.9; C9-88, C9-105, C9-148
 * Tests:   tests/table/responder.c, tests/script/rc_*.plx, tests/sim
 */
enum plx_verdict plx_rc_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
				  struct plx_actions *out);

/** Can plx_rc_keep() keep a packet with that verdict? */
static inline bool
plx_verdict_is_ahead(enum plx_verdict verdict)
{
	return verdict == PLX_VERDICT_AHEAD || verdict == PLX_VERDICT_AHEAD_AGAIN ||
	       verdict == PLX_VERDICT_RESPONSE_LOST || verdict == PLX_VERDICT_LOST_MORE ||
	       verdict == PLX_VERDICT_LOST_AGAIN || verdict == PLX_VERDICT_NAK_AGAIN;
}

/**
 * Keep a packet that plx_rc_on_packet() has just judged, if it lies behind a missing one.
 *
 * @param pkt     the packet
 * @param verdict on it
 * Returns: where the caller describes it, having taken care that its bytes stay; NULL: it is not
 *          kept, because it is in order, known, too far ahead, or there is no room
 * Cost:    O(1)
 * Tests:   tests/unit/proto/transport/keep.c, tests/sim
 */
struct plx_kept *plx_rc_keep(struct plx_rc *qp, const struct plx_pkt *pkt,
			     enum plx_verdict verdict);

enum plx_kept_kind {
	PLX_KEPT_NONE,
	PLX_KEPT_NEXT,  /* what is expected now: to be processed as if it had just arrived, unless
			 * its CE mark, which has been seen; then to be released */
	PLX_KEPT_STALE, /* to be released */
};

/**
 * The next packet that need no longer be kept. To be called after plx_rc_on_packet(), and after
 * whatever may have failed or reset the QP, until it returns NONE: what is kept is never released
 * otherwise.
 * Cost: O(1), plus O(packets since the last call)
 */
enum plx_kept_kind plx_rc_next_kept(struct plx_rc *qp, struct plx_kept *out);

/**
 * Emit the QP's next packets: first responses (ACK, NAK, READ responses, atomic results, CNP), then
 * requests. Also delivers completions that an earlier call had no room for, and flushes a QP in
 * ERROR.
 *
 * Order (docs/decisions/0003): no request leaves while an ACK is pending. The engine calls this for
 * every QP of an RX burst before it fetches from their send rings. So the ACK of a message always
 * leaves before any packet that the program sends because of that message's completion.
 *
 * @param budget maximum packets to emit; 0 delivers completions only
 * @param out    used as far as there is room
 * Returns: packets emitted
 * Cost:    hot; O(budget)
 * Tests:   tests/unit/proto/transport/, tests/script/rc_*.plx, tests/sim
 */
uint32_t plx_rc_transmit(struct plx_rc *qp, uint64_t now, uint32_t budget, struct plx_actions *out);

/**
 * Is an ACK, NAK or CNP pending that plx_rc_transmit() with a budget of 1 would send, or carry in
 * the first packet of a READ response? Responses leave in PSN order: an ACK or NAK behind responses
 * to READs or atomics counts only after those have left.
 * Tests:   tests/unit/proto/transport/reply.c
 */
bool plx_rc_owes(const struct plx_rc *qp);

/** Would plx_rc_transmit() send an ACK and nothing else, and deliver nothing? */
bool plx_rc_owes_only_ack(const struct plx_rc *qp);

/* ---- the fast path ---- */

enum plx_fast_kind {
	PLX_FAST_NO,       /* not for the fast path; nothing has changed */
	PLX_FAST_NOTHING,  /* nothing to send or deliver */
	PLX_FAST_SENT,     /* the caller must send the packet */
	PLX_FAST_TAKEN,    /* the caller must deliver all completions: plx_rc_next_completion() */
	PLX_FAST_PLACED,   /* the caller must place the bytes */
	PLX_FAST_RECEIVED, /* the caller must place the bytes, then deliver a completion */
};

/* A packet to send whose transport headers are already written. */
struct plx_fast_packet {
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint8_t header_bytes, pad;
};

enum {
	PLX_FAST_HEADER_MAX = PLX_BTH_BYTES + 16
};

/**
 * Emit the next packet if it is an ACK, a packet of a SEND, WRITE or READ that can leave at once
 * for the first time, or of a READ response: the packet that plx_rc_transmit() with a budget of 1
 * would emit, without an action list.
 *
 * @param out [PLX_FAST_HEADER_MAX] BTH and extended headers
 * Returns: SENT; NOTHING (plx_rc_transmit() would emit nothing either); NO
 * Cost: hot; O(1)
 * Tests: tests/unit/proto/transport/fast_path.c, tests/sim
 */
enum plx_fast_kind plx_rc_send_fast(struct plx_rc *qp, uint64_t now, uint8_t *out,
				    struct plx_fast_packet *fast);

/**
 * Accept a packet if it is the request expected next, of a SEND, WRITE or READ, the response
 * expected next, of a READ, or an ACK. The result is that of plx_rc_on_packet(), without an action
 * list.
 *
 * @param bth [len] BTH to ICRC; addresses are those of the QP's path, not marked CE, ICRC-checked
 * @param place      [out] if PLACED or RECEIVED: to be executed at once
 * @param completion [out] if RECEIVED
 * Returns: TAKEN, PLACED, RECEIVED or NO
 * Cost: hot; O(1)
 * Tests: tests/unit/proto/transport/fast_path.c, tests/sim
 */
enum plx_fast_kind plx_rc_receive_fast(struct plx_rc *qp, const uint8_t *bth, size_t len,
				       uint64_t now, struct plx_place *place,
				       struct plx_completion *completion);

/**
 * The next completion of the send queue, after a packet was TAKEN.
 * Returns: false: there is none
 * Cost: hot; O(1), plus O(unsignaled requests before it)
 */
bool plx_rc_next_completion(struct plx_rc *qp, struct plx_completion *out);

/**
 * Run the timers that have expired: ack timer, RNR timer, pacing. Emits nothing.
 * @param out PLX_ACTIONS_PER_PACKET entries must be free
 */
void plx_rc_on_tick(struct plx_rc *qp, uint64_t now, struct plx_actions *out);

/**
 * When to call the QP again: 0 if plx_rc_transmit() has work now, else the deadline for
 * plx_rc_on_tick() [ns], or PLX_NEVER.
 */
uint64_t plx_rc_wake_ns(const struct plx_rc *qp);

/** Fail the QP for a reason of the engine's (a completion queue overran, the port is gone): to
 * ERROR, without further responses; everything is flushed. No effect in RESET or ERROR. */
void plx_rc_fail(struct plx_rc *qp, struct plx_actions *out);

/**
 * What a LOAD was to fill cannot be read. A request of ours fails in its turn, with
 * LOCAL_PROTECTION; a READ of the peer gets a NAK, and the QP fails.
 */
void plx_rc_fail_load(struct plx_rc *qp, bool answers, struct plx_actions *out);
/**
 * What a private PLACE was to write cannot be written, and is acknowledged by nothing yet.
 * @param psn of the packet, for the NAK
 */
void plx_rc_fail_place(struct plx_rc *qp, struct plx_psn psn, struct plx_actions *out);
/** The PSN that the responder expects. */
struct plx_psn plx_rc_expected(const struct plx_rc *qp);

/* A QP's state, for queries, invariants and debugging. */
struct plx_rc_view {
	enum plx_qp_state state;
	uint32_t qpn, dest_qpn;
	uint32_t sq_posted;   /* entries posted since RESET, modulo 2^32 */
	uint32_t sq_consumed; /* entries since RESET whose place is free again, modulo 2^32 */
	uint32_t sq_depth;
	uint32_t rq_open; /* 1 while a message holds a receive entry */
	struct plx_psn psn_unacked, psn_next,
		psn_high;            /* requester: [unacked, high) is in flight */
	struct plx_psn psn_expected; /* responder: ePSN */
	struct plx_msn msn;
	uint32_t rd_atomic_open; /* outstanding READs and atomics, to the peer */
	uint8_t initiator_depth;
	uint8_t retries_left, rnr_retries_left;
	uint8_t retry_max, rnr_retry_max;
	uint32_t responder_res_pending; /* outstanding READs and atomics, from the peer */
	bool rnr_waiting;
	bool flushed;             /* in ERROR, and nothing is left to flush */
	uint64_t ack_deadline_ns; /* next probe or retry */
	uint32_t mtu;
};

void plx_rc_query(const struct plx_rc *qp, struct plx_rc_view *out);

/** The QP's counters; valid as long as the QP, never reset. */
const struct plx_rc_counters *plx_rc_counters(const struct plx_rc *qp);

/** Send entries posted since RESET, modulo 2^32: plx_rc_view.sq_posted. */
uint32_t plx_rc_sq_posted(const struct plx_rc *qp);

/** Send entries since RESET whose place is free again, modulo 2^32: plx_rc_view.sq_consumed. */
uint32_t plx_rc_sq_consumed(const struct plx_rc *qp);

/** The QP's number, and its peer's. */
uint32_t plx_rc_number(const struct plx_rc *qp);
uint32_t plx_rc_peer_number(const struct plx_rc *qp);

/* ---- datagrams ---- */

/*
 * A UD queue pair: messages of one packet, to and from any peer, without delivery guarantee. It has
 * the queues of a connection but no peer. These calls work on its base, plx_ud_base():
 * plx_rc_post_recv(), plx_rc_sq_reserve(), plx_rc_on_tick(),
 * plx_rc_wake_ns(), plx_rc_owes(), plx_rc_fail(), plx_rc_query(), plx_rc_counters() and
 * plx_rc_number(), plx_rc_sq_posted(), plx_rc_sq_consumed(). All other plx_rc_*() are for
 * connections only.
 *
 * A datagram completes when it is sent: its completion follows the EMIT in the same list.
 */
struct plx_ud;

/* An address handle, of which the transport needs to know only this. */
struct plx_ud_ah {
	struct plx_domain domain; /* whose entries may name it; 0: nobody's. Its owner writes it */
	uint32_t posted; /* entries that name it, until sent, flushed or discarded; the QPs count */
};

struct plx_ud_ids {
	uint32_t qpn; /* 24 bits */
	uint32_t qkey;
	struct plx_domain domain;
	struct plx_mem *mem; /* outlives the QP */
	struct plx_rq *rq;   /* outlives the QP; the QP's own, or an SRQ */
	/* [ah_count] the address handles that an entry may name; outlives the QP, whose every call
	 * may write it. NULL: handles are neither checked nor counted */
	struct plx_ud_ah *ahs;
	uint32_t ah_count;
};

/* mtu and pkey are for the transition to RTR, sq_psn for the transition to RTS. */
struct plx_ud_attr {
	uint32_t mtu; /* [bytes] 256, 512, 1024, 2048 or 4096: the longest message, either way */
	uint16_t pkey;
	struct plx_psn sq_psn; /* the first PSN we send */
};

/** Bytes that plx_ud_init() needs; 0 if a cap is out of range. caps.responder_resources is 0. */
size_t plx_ud_bytes(const struct plx_rc_caps *caps);

/**
 * @param memory [plx_ud_bytes(caps)] aligned to PLX_CACHE_LINE; owned by the caller
 * Returns: the QP, in RESET
 */
struct plx_ud *plx_ud_init(void *memory, const struct plx_rc_caps *caps,
			   const struct plx_ud_ids *ids);

/** The queues of a UD queue pair; see struct plx_ud. */
struct plx_rc *plx_ud_base(struct plx_ud *ud);

/**
 * As plx_rc_modify().
 * Tests: tests/unit/proto/transport/ud.c
 */
enum plx_status plx_ud_modify(struct plx_ud *ud, enum plx_qp_state to,
			      const struct plx_ud_attr *attr) PLX_MUST_CHECK;

/**
 * Post a SEND or SEND_IMM with ah, remote_qpn and remote_qkey. A controlled Q_Key (highest bit set)
 * is replaced by the QP's own.
 *
 * Errors: as plx_rc_post_send(); INVALID (another operation, a QPN of more than 24 bits, a handle
 * that is not of the QP's domain); TOO_LONG (longer than the path MTU)
 * Spec:   IBTA vol 1, 10.2.5
 * Cost:   hot; O(SGEs)
 */
enum plx_status plx_ud_post_send(struct plx_ud *ud, const struct plx_wqe *wqe,
				 const void *spill) PLX_MUST_CHECK;

/** Post the entry that the caller built after plx_rc_sq_reserve() and checked as plx_ud_post_send()
 * does. */
void plx_ud_sq_commit(struct plx_ud *ud, uint32_t bytes);

/**
 * As plx_rc_admit() (lines 4 and 5 of the decision table), but any peer may send to the QP.
 * Returns: ACCEPT, SERVICE, STATE or PKEY
 */
enum plx_verdict plx_ud_admit(const struct plx_ud *ud, const struct plx_pkt *pkt) PLX_MUST_CHECK;

/**
 * Process one datagram. A datagram that is dropped uses no receive, so that no peer can waste a
 * program's receives with datagrams that are too long. Only a receive whose own key denies access
 * fails the QP.
 *
 * @param pkt admitted and ICRC-checked
 * @param ip  the datagram's IP header: 40 bytes of IPv6 or 20 of IPv4
 * @param out PLX_ACTIONS_PER_PACKET entries must be free; PLACE, COMPLETE, EVENT
 * Returns: ACCEPT; QKEY, LENGTH, RNR (no receive), RECV_LENGTH: dropped; RECV_ACCESS: to ERROR
 * Shape:   PLX_UD_HEADER_BYTES, which count in the completion's `bytes`, then the payload
 * Changes: only a counter unless ACCEPT or RECV_ACCESS
 * Cost:    hot; O(SGEs)
 * Spec:    IBTA vol 1, 9.8.3; Annex A17
 * Tests:   tests/table/datagram.c, tests/unit/proto/transport/ud.c, tests/unit/replay
 */
enum plx_verdict plx_ud_on_packet(struct plx_ud *ud, const struct plx_pkt *pkt, const uint8_t *ip,
				  struct plx_actions *out);

/**
 * Emit the next datagrams; each EMIT names its address handle. Also delivers completions that an
 * earlier call had no room for, and flushes a QP in ERROR.
 *
 * @param budget maximum packets to emit; 0 delivers completions only
 * Returns: packets emitted
 */
uint32_t plx_ud_transmit(struct plx_ud *ud, uint32_t budget, struct plx_actions *out);

/* ---- datagrams without a queue pair: for management ---- */

/**
 * Is this a datagram with that P_Key and Q_Key?
 * Returns: ACCEPT, SERVICE, PKEY or QKEY; act on QKEY only after checking the ICRC (line 7 of the
 * decision table).
 */
enum plx_verdict plx_ud_check(const struct plx_pkt *pkt, uint16_t pkey,
			      uint32_t qkey) PLX_MUST_CHECK;

/* Sender and receiver of a datagram. */
struct plx_ud_label {
	uint32_t src_qpn, dest_qpn; /* 24 bits */
	uint32_t qkey;
	uint16_t pkey;
};

/** The headers of a UD SEND ONLY: no immediate data, not solicited, no AckReq.
 * @param bytes of payload, which determine `pad` */
void plx_ud_label(const struct plx_ud_label *label, struct plx_psn psn, uint32_t bytes,
		  struct plx_pkt *out);

/** Write the bytes that precede a datagram's payload in its receive: the IPv6 header, or zeros and
 * then the IPv4 header. @param ip as plx_ud_on_packet() @param out [PLX_UD_HEADER_BYTES] */
void plx_ud_header_space(const uint8_t *ip, uint8_t *out);

#endif
