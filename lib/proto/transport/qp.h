/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue pair as its own files see it: the structs behind plx_transport.h and what one file
 * offers another. Nothing outside lib/proto/transport includes this.
 * Start with struct plx_rc; what a packet touches lies in its first lines.
 */
#ifndef PLX_TRANSPORT_QP_H
#define PLX_TRANSPORT_QP_H

#include "plx_transport.h"

/* ---- queues --------------------------------------------------------------------------------- */

/* One receive entry while a message holds it: a private copy, so that its place may be reused. */
struct recv_entry {
	uint64_t wr_id;
	uint32_t bytes; /* sum of the SGEs */
	uint32_t sges;
	struct plx_sge sge[PLX_SGE_MAX];
};

/* A ring of entries of `stride` bytes; indexes run freely and are masked at use. */
struct plx_rq {
	uint32_t depth, mask, stride;
	uint32_t sges;
	uint32_t tail; /* next to post */
	uint32_t head; /* next to take */
	uint32_t done; /* everything before it has its place free again */
	bool shared;
	uint32_t threshold; /* 0: not armed */
	uint8_t *entries;
};

/* What the requester remembers of a posted entry beside the WQE. */
struct sq_track {
	struct plx_psn first; /* set when its first packet is sent */
	uint32_t packets;     /* PSNs it takes; 0 for local operations */
	uint32_t bytes;       /* message length */
};

/* ---- gaps ----------------------------------------------------------------------------------- */

/*
 * Packets behind one that is missing: requests at a responder, answers at a requester. Nothing of
 * them is kept, but their order tells when the sender has gone back and the missing one was lost
 * once more.
 */
struct gap {
	struct plx_psn first;  /* the one that began the flight as it is seen now */
	struct plx_psn newest; /* of that flight */
	uint8_t restarts;      /* how often it began anew */
};

/* ---- requester ------------------------------------------------------------------------------ */

/*
 * head <= done <= cursor <= tail, and done <= started:
 *   [head, done)     acknowledged, completion not delivered yet
 *   [done, started)  on the wire, at least in part; `acked` packets of `done` are acknowledged
 *   [started, tail)  not begun
 * The cursor is where the next packet comes from; going back moves it to (done, acked), and only
 * there: whatever a NAK acknowledges has been taken first.
 */
struct requester {
	uint32_t head, done, cursor, started, tail;
	uint32_t cursor_packet; /* within the entry at the cursor */
	uint32_t acked;         /* packets of the entry at `done` */
	struct plx_psn una;     /* oldest unacknowledged */
	struct plx_psn next;    /* next to send */
	struct plx_psn high;    /* one past the highest ever sent */
	uint32_t rd_open;       /* READ chunks and atomics on the wire */
	uint32_t window;        /* packets from una on that may be in flight, as agreed or fewer */
	uint32_t since_ack_request;
	uint8_t retries_left, rnr_retries_left;
	bool rnr_waiting; /* until rnr_until */
	bool drained;     /* SQ_DRAINED was told */
	uint8_t failed;   /* enum plx_wc_status of the entry at `failed_at`; SUCCESS: none */
	uint32_t failed_at;
	uint64_t ack_deadline; /* an answer is missed: PLX_NEVER: not armed; see recover.c */
	uint64_t ack_wait;     /* what it was armed with: that of the first probe, or the timeout */
	uint64_t rnr_until;
	uint64_t pace_until; /* the congestion strategy's word; PLX_NEVER: none */
	uint64_t original;   /* an atomic's result on its way to memory */

	/* recover.c: a loss that is being made good */
	bool went_back;     /* by a NAK or a lost response, and una has not moved since */
	bool probed;        /* since the ack timer was armed */
	struct gap gap;     /* good while went_back */
	uint64_t flight_at; /* what went back is leaving since; PLX_NEVER: nothing of it has */
	uint64_t retry_at;  /* end of the ack timeout; good once probed */
	uint32_t cut;       /* a READ that is asked for again in pieces: 1 + its index; 0: none */
	uint32_t in_vain;   /* answers that were asked for again, whether they are needed or not */

	/* recover.c: how long an answer takes */
	struct plx_psn timed; /* the packet being timed */
	uint64_t timed_at;    /* when it left; PLX_NEVER: none is */
	uint64_t rtt, rtt_spread;
	uint64_t rtt_least; /* PLX_NEVER: not one is known yet */
};

/* ---- responder ------------------------------------------------------------------------------ */

enum open_message {
	OPEN_NONE,
	OPEN_SEND,
	OPEN_WRITE,
};

/* What is owed to the peer beside READ responses and atomic results. */
enum owed_kind {
	OWED_NOTHING,
	OWED_ACK,
	OWED_NAK, /* sequence: withdrawn when the gap closes before it left */
	OWED_RNR,
	OWED_FATAL, /* the last thing this QP says */
};

/*
 * A READ or atomic of the peer's, remembered so that a duplicate can be answered. A READ answers
 * packets [reply_next, reply_end) of the request; reply_first is where the (re)request started and
 * decides between first and middle.
 */
struct resource {
	uint8_t kind; /* enum plx_op_kind; NONE: empty */
	bool pending;
	bool answered; /* once whole: what is pending then is a replay, which nobody may need */
	struct plx_psn first;
	uint32_t packets;
	struct plx_key rkey;
	uint64_t va;
	uint32_t bytes;
	uint32_t reply_first, reply_next, reply_end;
	uint32_t reply_bytes; /* end of the reply, counted from the request's first byte */
	uint64_t swap_add, compare;
	uint64_t original;
};

struct responder {
	struct plx_psn expected;
	struct plx_msn msn;
	struct gap gap;         /* what is dropped for being ahead; good while nak_out */
	struct plx_psn ack_psn; /* newest SEND or WRITE packet taken; never a READ's (C9-105) */
	uint8_t open;           /* enum open_message */
	bool recv_open;
	bool nak_out; /* one NAK per flight: cleared when the expected packet comes */
	bool heard;   /* COMM_ESTABLISHED was told */
	uint8_t owed; /* enum owed_kind */
	uint8_t owed_syndrome;
	bool cnp_owed;
	uint8_t recv_status; /* enum plx_wc_status the open receive ends with in ERROR */
	struct plx_psn owed_psn;
	struct plx_key write_rkey;
	uint64_t write_va;
	uint32_t write_left;  /* bytes of the WRITE still to come */
	uint32_t write_bytes; /* of the whole WRITE */
	uint32_t recv_taken;  /* bytes of the message placed in the receive */
	uint32_t res_count;   /* of remembered resources */
	uint32_t res_newest;  /* index; the ring is in PSN order */
	uint32_t res_pending;
	uint32_t res_next; /* index; no older one is pending. Says nothing while none is */
	uint64_t cnp_from; /* [ns] marks are answered again from then on */
#ifdef PLX_MUTANT_BUILD
	uint8_t *mutant_host; /* where KEY_NOT_RECHECKED goes on writing */
#endif
};

/* ---- the queue pair ------------------------------------------------------------------------- */

/* Why the next request packet does not take the fast path, whatever it is. */
enum slow_path {
	SLOW_PATH_PACED = 1 << 0, /* a congestion strategy that is more than plx_cc_none is asked */
	SLOW_PATH_OLDEST = 1 << 1, /* probe: the oldest unacknowledged packet is to be sent again */
	SLOW_PATH_NEWEST = 1 << 2, /* probe: then the newest */
	SLOW_PATH_PROBE = SLOW_PATH_OLDEST | SLOW_PATH_NEWEST,
	SLOW_PATH_ALWAYS = SLOW_PATH_PACED | SLOW_PATH_PROBE, /* what the fast path cannot do */
	SLOW_PATH_NARROW = 1 << 3, /* the window is less than was agreed, or a READ is in pieces */
};

struct plx_rc {
	uint8_t state;   /* enum plx_qp_state */
	bool more;       /* plx_rc_transmit() may have something to do */
	bool turn;       /* fairness between responses and requests: whose turn it is */
	bool flush_told; /* FLUSHED was told in this ERROR */
	uint8_t mtu_shift;
	uint8_t slow_path; /* enum slow_path: what keeps requests from the fast path */
	uint32_t mtu;
	uint32_t qpn, dest_qpn;
	uint16_t pkey;
	struct plx_access enabled;
	uint8_t rnr_timer;
	uint8_t retry_max, rnr_retry_max, initiator_depth;
	uint32_t window_packets, ack_interval, read_chunk;
	uint64_t ack_timeout;
	struct plx_asker asker;
	struct plx_mem *mem;
	const struct plx_cc_ops *cc;
	void *cc_state;

	struct plx_pkt blank; /* what all packets of ours have in common */

	struct requester req;
	struct responder resp;

	struct plx_wqe *wqe;    /* [sq_mask + 1] */
	struct sq_track *track; /* [sq_mask + 1] */
	uint8_t *spill;         /* [sq_mask + 1] of spill_bytes */
	struct resource *res;   /* [caps.responder_resources] */
	struct plx_rq *rq;
	uint32_t sq_mask, spill_bytes;
	struct plx_rc_caps caps;
	struct plx_path path;
	struct plx_key_memo memo;
	struct recv_entry recv;
	struct plx_rc_counters counters;
	uint32_t *ahs; /* of datagrams: entries that name each handle; NULL: nobody counts them */
};

/* Datagrams: the queues of a connection, whose peer-related fields nobody uses. */
struct plx_ud {
	struct plx_rc base;
	uint32_t qkey;
	uint8_t space[PLX_UD_HEADER_BYTES]; /* of the datagram that is being received */
};

/* qp.c: a queue pair behind whose first `head` bytes its queues begin. */
size_t qp_bytes(const struct plx_rc_caps *caps, size_t head);
struct plx_rc *qp_init(void *memory, size_t head, const struct plx_rc_caps *caps,
		       const struct plx_rc_ids *ids);

/* P_Keys match when their low 15 bits do and at least one of them is a full member's. */
static inline bool
pkey_matches(uint16_t ours, uint16_t theirs)
{
	return ((ours ^ theirs) & 0x7fff) == 0 && (ours | theirs) & 0x8000;
}

/* ---- actions -------------------------------------------------------------------------------- */

static inline uint32_t
actions_room(const struct plx_actions *out)
{
	return PLX_ACTIONS_MAX - out->count;
}

/* The next free action. Room is the caller's to know: a full list is our own fault (I13). */
static inline struct plx_action *
action_add(struct plx_actions *out, enum plx_action_kind kind)
{
	struct plx_action *action;

	PLX_ASSERT(out->count < PLX_ACTIONS_MAX);
	action = &out->list[out->count++];
	action->kind = (uint8_t)kind;
	return action;
}

static inline void
action_event(struct plx_rc *qp, struct plx_actions *out, enum plx_event_kind kind, uint8_t cause)
{
	action_add(out, PLX_ACT_EVENT)->event =
		(struct plx_event){.qpn = qp->qpn, .kind = (uint8_t)kind, .cause = cause};
}

/* ---- send entries --------------------------------------------------------------------------- */

/* Does the peer answer it with data, so that an ACK does not end it? */
static inline bool
wr_is_rd_atomic(uint8_t op)
{
	return op == PLX_WR_READ || op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;
}

/* Does nothing of it go on the wire? */
static inline bool
wr_is_local(uint8_t op)
{
	return op == PLX_WR_LOCAL_INV || op == PLX_WR_BIND;
}

static inline struct plx_wqe *
sq_wqe(const struct plx_rc *qp, uint32_t index)
{
	return &qp->wqe[index & qp->sq_mask];
}

static inline struct sq_track *
sq_track(const struct plx_rc *qp, uint32_t index)
{
	return &qp->track[index & qp->sq_mask];
}

static inline uint8_t *
sq_spill(const struct plx_rc *qp, uint32_t index)
{
	return qp->spill + (size_t)(index & qp->sq_mask) * qp->spill_bytes;
}

/* ---- scatter and gather: sge.c -------------------------------------------------------------- */

/* Which SGEs: of a send entry, or of the open receive. */
struct sge_source {
	const struct plx_sge *head; /* the first PLX_WQE_SGES, or all */
	const struct plx_sge *tail; /* those beyond */
	uint32_t head_count, count;
};

struct sge_source sge_of_send(const struct plx_rc *qp, uint32_t index);
struct sge_source sge_of_recv(const struct plx_rc *qp); /* the entry in qp->recv, open or peeked */

/*
 * Resolve [offset, offset + bytes) of a message into host ranges, each key checked for `need`.
 * Returns how many ranges were written to out (at most PLX_SGE_MAX), or -1 when a key denies. All
 * keys' common access bits are and-ed into *common.
 */
int sge_resolve(const struct plx_rc *qp, const struct sge_source *source, uint32_t offset,
		uint32_t bytes, struct plx_access need, struct plx_iov *out,
		struct plx_access *common);

/* Turn resolved ranges into PLACE actions that take `src` apart. */
void sge_place(const struct plx_iov *ranges, int count, const uint8_t *src,
	       struct plx_actions *out);

/* ---- one file's offers to another ----------------------------------------------------------- */

/* rq.c */
void rq_peek(const struct plx_rq *rq, struct recv_entry *out);
void rq_pop(struct plx_rq *rq);
bool rq_next_is_plain(const struct plx_rq *rq, uint32_t bytes, uint64_t *wr_id,
		      const struct plx_sge **sge);
void rq_reset(struct plx_rq *rq);

/* The entry that was peeked is the message's now. */
static inline void
recv_pop(struct plx_rc *qp, struct plx_actions *out)
{
	struct plx_rq *rq = qp->rq;

	rq_pop(rq);
	if (rq->threshold > 0 && plx_rq_count(rq) < rq->threshold) {
		rq->threshold = 0;
		action_event(qp, out, PLX_EVENT_SRQ_THRESHOLD, 0);
	}
}

/* The next packet to send is the oldest unacknowledged one. */
static inline void
requester_rewind(struct requester *req)
{
	req->cursor = req->done;
	req->cursor_packet = req->acked;
	req->next = req->una;
}

/* requester.c: sending */
void requester_reset(struct plx_rc *qp);
bool requester_transmit_one(struct plx_rc *qp, uint64_t now, struct plx_actions *out);
void requester_settle_local(struct plx_rc *qp);
void requester_fail(struct plx_rc *qp, enum plx_wc_status status, struct plx_actions *out);

/* recover.c: what is lost */
void recover_progress(struct plx_rc *qp, uint64_t now);
void recover_widen(struct plx_rc *qp, uint32_t packets);
void recover_on_rnr(struct plx_rc *qp);
uint32_t recover_ask_again(struct plx_rc *qp, uint32_t packets);
void recover_on_useless_answer(struct plx_rc *qp, uint64_t now);
void recover_disarm(struct plx_rc *qp);
void recover_on_deadline(struct plx_rc *qp, uint64_t now, struct plx_actions *out);
enum plx_verdict recover_on_loss(struct plx_rc *qp, struct plx_psn psn, uint64_t now,
				 enum plx_loss cause, struct plx_actions *out);
bool gap_begins_anew(const struct gap *gap, struct plx_psn psn);
void gap_note(struct gap *gap, struct plx_psn psn);
void gap_move(struct gap *gap, struct plx_psn missing);

/* A flight of packets behind a missing one begins with `psn`; `again`: once more. */
static inline void
gap_begin(struct gap *gap, struct plx_psn psn, bool again)
{
	gap->first = gap->newest = psn;
	gap->restarts = again ? (uint8_t)(gap->restarts + 1) : 0;
}

/* Has the window lost so much that READs are asked for again in pieces that fit? */
static inline bool
recover_cuts(const struct plx_rc *qp)
{
	return 2 * qp->req.window < qp->window_packets;
}

/* A packet leaves whose answer is to be timed. */
static inline void
recover_time(struct requester *req, struct plx_psn psn, uint64_t now)
{
	req->timed = psn;
	req->timed_at = now;
}

/* A packet leaves: from now on an answer may be missed, if none was waited for. */
static inline void
recover_arm(struct requester *req, struct plx_psn psn, uint64_t now, bool again)
{
	if (req->ack_deadline != PLX_NEVER)
		return;
	req->ack_deadline = plx_time_add(now, req->ack_wait);
	if (!again)
		recover_time(req, psn, now);
}

/* acknowledge.c: what comes back */
enum plx_verdict requester_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
				     struct plx_actions *out);

/* responder.c: requests of the peer's */
void responder_reset(struct plx_rc *qp);
enum plx_verdict responder_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt,
				     struct plx_actions *out);

/* reply.c: what is owed to the peer */
bool reply_is_due(const struct plx_rc *qp);
bool reply_transmit_one(struct plx_rc *qp, struct plx_actions *out);
struct resource *reply_find(struct plx_rc *qp, struct plx_psn psn);
bool reply_has_place(const struct plx_rc *qp);
struct resource *reply_remember(struct plx_rc *qp);
void reply_pend(struct plx_rc *qp, struct resource *res, uint32_t packet, uint32_t bytes);
void reply_owe(struct plx_rc *qp, enum owed_kind kind, uint8_t syndrome, struct plx_psn psn);
void reply_forget(struct plx_rc *qp);

/* complete.c: completions, flush, and the way into ERROR */
void complete_deliver_slow(struct plx_rc *qp, struct plx_actions *out);
void complete_recv(struct plx_rc *qp, struct plx_completion *completion, struct plx_actions *out);
void complete_undo(struct plx_rc *qp, uint32_t index);
void complete_to_error(struct plx_rc *qp, enum plx_wc_status cause, struct plx_actions *out);
bool complete_is_flushed(const struct plx_rc *qp);

/* Deliver what has ended. Most calls find nothing. */
static inline void
complete_deliver(struct plx_rc *qp, struct plx_actions *out)
{
	if (qp->req.head != qp->req.done || plx_unlikely(qp->state != PLX_QP_RTS))
		complete_deliver_slow(qp, out);
}

/* Packets that `bytes` take at this QP's path MTU; an empty message takes one. */
static inline uint32_t
qp_packets(const struct plx_rc *qp, uint32_t bytes)
{
	return bytes == 0 ? 1 : (uint32_t)(((uint64_t)bytes + qp->mtu - 1) >> qp->mtu_shift);
}

/* A packet of ours, with the fields that all of them have in common. */
static inline struct plx_emit *
emit_add(struct plx_rc *qp, struct plx_actions *out, uint8_t opcode, struct plx_psn psn)
{
	struct plx_emit *emit = &action_add(out, PLX_ACT_EMIT)->emit;

	emit->iov_first = (uint16_t)out->iovs;
	emit->iovs = 0;
	emit->flags = 0;
	emit->pkt = qp->blank;
	emit->pkt.opcode = opcode;
	emit->pkt.psn = psn;
	return emit;
}

/* Give a packet of ours its payload length, and the pad that goes with it. */
static inline void
emit_payload(struct plx_emit *emit, uint32_t bytes)
{
	emit->pkt.payload_bytes = bytes;
	emit->pkt.pad = -bytes & 3;
}

#endif
