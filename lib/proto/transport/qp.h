/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private declarations of the queue pair: the structs of plx_transport.h, and what its files share.
 * Nothing outside lib/proto/transport includes this header.
 * Start with struct plx_rc; its first cache lines hold what each packet uses.
 */
#ifndef PLX_TRANSPORT_QP_H
#define PLX_TRANSPORT_QP_H

#include "plx_transport.h"

/* ---- queues ---- */

/* A private copy of the receive entry that a message is using, so that its slot can be reused. */
struct recv_entry {
	uint64_t wr_id;
	uint32_t bytes; /* sum of the SGEs */
	uint32_t sges;
	struct plx_sge sge[PLX_SGE_MAX];
};

/* A ring of entries of `stride` bytes. Indexes run freely and are masked on use. */
struct plx_rq {
	uint32_t depth, mask, stride;
	uint32_t sges;
	uint32_t tail; /* next to post */
	uint32_t head; /* next to consume */
	uint32_t done; /* the slots of all earlier entries are free again */
	bool shared;
	uint32_t threshold; /* 0: not armed */
	uint8_t *entries;
};

/* What the requester records for each posted entry in addition to the WQE. */
struct sq_track {
	struct plx_psn first; /* set when its first packet is sent */
	uint32_t packets;     /* number of PSNs; 0 for local operations */
	uint32_t bytes;       /* message length */
};

/* ---- gaps ---- */

/*
 * Packets that follow a missing one: requests at a responder, responses at a requester. They are
 * not kept. Their order shows when the sender has gone back and the missing packet was lost again.
 */
struct gap {
	struct plx_psn first;  /* first packet of the current flight */
	struct plx_psn newest; /* newest packet of that flight */
	uint8_t restarts;      /* number of times the flight was restarted */
};

/* What going back (go_back.c) knows of the loss being repaired. */
struct go_back {
	bool went_back;     /* because of a NAK or a lost response; una has not moved since */
	bool probed;        /* since the ack timer was armed */
	struct gap gap;     /* valid while went_back */
	uint64_t flight_at; /* when the first retransmission was sent; PLX_NEVER: none yet */
	uint64_t retry_at;  /* end of the ack timeout; valid once probed */
	uint32_t in_vain;   /* responses requested again, needed or not */
};

/* ---- private memory ---- */

/* Bytes [from, to) of a message are in their shadows, or need none. */
struct loaded {
	uint32_t from, to;
	bool denied; /* the program has no memory there */
};

/* ---- requester ---- */

/*
 * head <= done <= cursor <= tail, and done <= started:
 *   [head, done)     acknowledged, completion not delivered yet
 *   [done, started)  sent, at least in part; `acked` packets of `done` are acknowledged
 *   [started, tail)  not started
 * The next packet is sent from the cursor. Going back moves the cursor to (done, acked) and nowhere
 * else: what a NAK acknowledges has been processed by then.
 */
struct requester {
	uint32_t head, done, cursor, started, tail;
	uint32_t cursor_packet; /* within the entry at the cursor */
	uint32_t acked;         /* packets of the entry at `done` */
	struct plx_psn una;     /* oldest unacknowledged */
	struct plx_psn next;    /* next to send */
	struct plx_psn high;    /* one past the highest ever sent */
	uint32_t rd_open;       /* READ chunks and atomics outstanding */
	uint32_t window; /* limit on packets in flight, counted from una: as agreed, or fewer */
	uint32_t since_ack_request;
	uint8_t retries_left, rnr_retries_left;
	bool rnr_waiting; /* until rnr_until */
	bool drained;     /* SQ_DRAINED was raised */
	uint8_t failed;   /* enum plx_wc_status of the entry at `failed_at`; SUCCESS: none */
	uint32_t failed_at;
	uint64_t ack_deadline; /* when a response is overdue; PLX_NEVER: not armed; see recover.c */
	uint64_t ack_wait;     /* the wait in use: until the first probe, or the ack timeout */
	uint64_t rnr_until;
	uint64_t original; /* an atomic's result before it is placed */

	/* congestion.c */
	uint64_t pace_until;       /* no packet before; PLX_NEVER: no limit */
	struct plx_cc_grant grant; /* what is left of it */
	uint32_t unreported;       /* bytes that have left since on_sent() */

	struct loaded loaded; /* of the entry `loaded_at` */
	uint32_t loaded_at;
	uint32_t loaded_entries; /* from there on: of the others all bytes are; 0: none */
	bool load_one;           /* of the next only its own entry, since one of several failed */

	uint32_t cut; /* 1 + index of a READ being requested again in pieces; 0: none */
	struct go_back go_back;

	/* recover.c: round-trip time */
	struct plx_psn timed; /* the packet being timed */
	uint64_t timed_at;    /* when it was sent; PLX_NEVER: no packet is timed */
	uint64_t rtt, rtt_spread;
	uint64_t rtt_least; /* PLX_NEVER: not known yet */

	/* what is rarely used comes last */
	bool has_parts;            /* parts of READs were requested again, ... */
	struct plx_psn parts_end;  /* ... the last of which ends there */
	struct plx_psn flight_end; /* what was in flight when it went back ends there */
};

/* ---- responder ---- */

enum open_message {
	OPEN_NONE,
	OPEN_SEND,
	OPEN_WRITE,
};

/* What is owed to the peer apart from READ responses and atomic results. */
enum owed_kind {
	OWED_NOTHING,
	OWED_ACK,
	OWED_NAK, /* sequence error: withdrawn if the gap closes before it is sent */
	OWED_RNR,
	OWED_FATAL, /* the last packet this QP sends */
};

/*
 * A READ or atomic request of the peer, remembered so that a duplicate can be answered. For a READ,
 * packets [reply_next, reply_end) of the request are to be sent. reply_first is where the request
 * or its repetition started; it distinguishes a first packet from a middle one.
 */
struct resource {
	uint8_t kind; /* enum plx_op_kind; NONE: empty */
	bool pending;
	bool answered; /* was answered completely: pending now is a replay, possibly not needed */
	struct plx_psn first;
	uint32_t packets;
	struct plx_key rkey;
	uint64_t va;
	struct plx_domain domain; /* of the key; 0: of a former one, and too late */
	uint32_t bytes;
	uint32_t reply_first, reply_next, reply_end;
	uint32_t reply_bytes; /* end of the reply, counted from the request's first byte */
	union {
		struct loaded loaded; /* of a READ's reply */
		struct {              /* an atomic's */
			uint64_t swap_add, compare;
			uint64_t original;
		};
	};
};

enum unusual {
	RESP_NAK_OUT = 1 << 0, /* one NAK per flight: cleared when the expected packet arrives */
	RESP_UNHEARD = 1 << 1, /* COMM_ESTABLISHED was not raised yet */
	RESP_KEEPS = 1 << 2,   /* packets behind a missing one: keep.c */
};

struct responder {
	struct plx_psn expected;
	struct plx_msn msn;
	struct gap gap;         /* packets ahead; valid while RESP_NAK_OUT */
	struct plx_psn ack_psn; /* newest SEND or WRITE packet accepted; never a READ's (C9-105) */
	uint8_t open;           /* enum open_message */
	bool recv_open;
	uint8_t unusual; /* enum unusual: reasons not to use the fast path for requests */
	uint8_t owed;    /* enum owed_kind */
	uint8_t owed_syndrome;
	bool cnp_owed;
	uint8_t recv_status; /* enum plx_wc_status of the open receive if the QP fails */
	struct plx_psn owed_psn;
	struct plx_key write_rkey;
	uint64_t write_va;
	uint32_t write_left;  /* bytes of the WRITE still missing */
	uint32_t write_bytes; /* bytes of the whole WRITE */
	uint32_t recv_taken;  /* bytes of the message placed in the receive */
	uint32_t res_count;   /* number of remembered resources */
	uint32_t res_newest;  /* index; the ring is in PSN order */
	uint32_t res_pending;
	uint32_t res_next; /* index; no older resource is pending. Meaningless while none is */
	uint64_t cnp_from; /* [ns] no CNP is sent before this time */
#ifdef PLX_MUTANT_BUILD
	uint8_t *mutant_host; /* where KEY_NOT_RECHECKED continues to write */
#endif
};

/* ---- the queue pair ---- */

/* Reasons why the next request packet, of whatever kind, does not use the fast path. */
enum slow_path {
	SLOW_PATH_PACED = 1 << 0,  /* a congestion strategy other than plx_cc_none: slow without a
				      grant */
	SLOW_PATH_OLDEST = 1 << 1, /* probe: send the oldest unacknowledged packet again */
	SLOW_PATH_NEWEST = 1 << 2, /* probe: then send the newest one again */
	SLOW_PATH_PROBE = SLOW_PATH_OLDEST | SLOW_PATH_NEWEST,
	SLOW_PATH_NARROW = 1 << 3, /* the window is below the agreed size, or a READ is in pieces */
	SLOW_PATH_REPAIR =
		1 << 4, /* progress is reported to the recovery strategy; sending is not slow */
};

struct plx_rc {
	uint8_t state;   /* enum plx_qp_state */
	bool more;       /* plx_rc_transmit() may have work */
	bool turn;       /* alternates between responses and requests */
	bool loads;      /* a load has been asked for in this call: nothing is sent behind it */
	bool flush_told; /* FLUSHED was raised in this ERROR state */
	uint8_t mtu_shift;
	uint8_t slow_path; /* enum slow_path: reasons not to use the fast path for requests */
	bool foreign;      /* as plx_rc_ids */
	bool selective;    /* as plx_rc_attr */
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
	const struct plx_recovery_ops *recovery;

	struct plx_pkt blank; /* fields that all our packets share */

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
	/* until when READs of a former owner's memory are replayed; PLX_NEVER: there is none
	 * (move.c)
	 */
	uint64_t former_until;
	struct plx_ud_ah *ahs; /* datagrams: [ah_count] as plx_ud_ids; NULL: no datagrams */
	uint32_t ah_count;
	struct plx_keep *keep_pool; /* NULL: nothing is kept */
	struct keep *keep;          /* keep.h; NULL: nothing is kept or repaired */
};

/* Datagram queue pair: the queues of a connected one, whose fields about the peer are not used. */
struct plx_ud {
	struct plx_rc base;
	uint32_t qkey;
	uint8_t space[PLX_UD_HEADER_BYTES]; /* of the datagram being received */
};

/* qp.c: size of a queue pair whose queues follow its first `head` bytes. */
size_t qp_bytes(const struct plx_rc_caps *caps, size_t head);
struct plx_rc *qp_init(void *memory, size_t head, const struct plx_rc_caps *caps,
		       const struct plx_rc_ids *ids);
/* Copy an entry, of which no word is read twice, to the end of the send queue, and judge the copy.
 * It is not posted yet: the place is the next entry's if nobody commits it.
 * @param bytes [out] of the message */
enum plx_status qp_take(struct plx_rc *qp, const struct plx_wqe *wqe, const void *spill,
			uint64_t *bytes) PLX_MUST_CHECK;

/* P_Keys match if their low 15 bits are equal and at least one is a full member's. */
static inline bool
pkey_matches(uint16_t ours, uint16_t theirs)
{
	return ((ours ^ theirs) & 0x7fff) == 0 && (ours | theirs) & 0x8000;
}

/* ---- actions ---- */

static inline uint32_t
actions_room(const struct plx_actions *out)
{
	return PLX_ACTIONS_MAX - out->count;
}

/* The next free action. The caller ensures that there is room: a full list is our fault (I13). */
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

/* ---- send entries ---- */

/* Does the peer answer it with data, so that an ACK alone does not complete it? */
static inline bool
wr_is_rd_atomic(uint8_t op)
{
	return op == PLX_WR_READ || op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;
}

/* Does it complete without sending a packet? */
static inline bool
wr_is_local(uint8_t op)
{
	return op == PLX_WR_LOCAL_INV || op == PLX_WR_BIND || op == PLX_WR_REG;
}

/* What a REG fulfils. */
static inline struct plx_promise
promise_of(const struct plx_wqe_region *region)
{
	return (struct plx_promise){region->slot, region->life, region->key, region->list};
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

/* ---- scatter and gather: sge.c ---- */

/* Added to a number of ranges: one of them is private memory (PLX_PAGE_PRIVATE). Where a key grants
 * contiguous memory none is, which costs the usual packet nothing then. */
#define RANGES_PRIVATE 0x100

/* Negative: a key denies access. */
static inline int
ranges_count(int ranges)
{
	return ranges & ~RANGES_PRIVATE;
}

/* SGEs of a send entry or of the open receive. */
struct sge_source {
	const struct plx_sge *head; /* the first PLX_WQE_SGES, or all */
	const struct plx_sge *tail; /* the remaining ones */
	uint32_t head_count, count;
};

struct sge_source sge_of_send(const struct plx_rc *qp, uint32_t index);
struct sge_source sge_of_recv(const struct plx_rc *qp); /* the entry in qp->recv, open or peeked */

/*
 * Resolve [offset, offset + bytes) of a message into host ranges, checking each key for `need`.
 * Returns the number of ranges written to out (at most 2 * PLX_SGE_MAX), which may have
 * RANGES_PRIVATE, or -1 if a key denies access. *common is and-ed with the access bits of every
 * key.
 * @param bytes of one packet
 */
int sge_resolve(const struct plx_rc *qp, const struct sge_source *source, uint32_t offset,
		uint32_t bytes, struct plx_access need, struct plx_iov *out,
		struct plx_access *common);

/* Resolve a range that is in pieces (PLX_KEY_PIECES), checking the key for each page: as
 * key_resolve(). */
PLX_COLD int key_pieces(const struct plx_rc *qp, struct plx_key key, uint64_t va, uint32_t bytes,
			struct plx_access need, struct plx_iov *out, struct plx_access *common);
/* The same for another asker than the queue pair. */
PLX_COLD int key_pieces_as(const struct plx_rc *qp, const struct plx_asker *asker,
			   struct plx_key key, uint64_t va, uint32_t bytes, struct plx_access need,
			   struct plx_iov *out, struct plx_access *common);

/*
 * Resolve [va, va + bytes) of a key into host ranges.
 * Returns the number of ranges written to out (at most 2), which may have RANGES_PRIVATE, or -1 if
 * the key denies access. *common is and-ed with the key's access bits.
 * @param bytes of one packet, not 0
 */
static inline int
key_resolve(const struct plx_rc *qp, struct plx_key key, uint64_t va, uint32_t bytes,
	    struct plx_access need, struct plx_iov *out, struct plx_access *common)
{
	struct plx_grant grant;
	enum plx_key_verdict verdict =
		plx_key_check(qp->mem, key, &qp->asker, va, bytes, need, &grant);

	if (plx_likely(verdict == PLX_KEY_GRANTED)) {
		common->bits &= grant.access.bits;
		*out = (struct plx_iov){.base = grant.host, .bytes = bytes};
		return 1;
	}
	return verdict == PLX_KEY_PIECES ? key_pieces(qp, key, va, bytes, need, out, common) : -1;
}

/* Append PLACE actions that distribute `src` over the resolved ranges. */
void sge_place(const struct plx_iov *ranges, int count, const uint8_t *src,
	       struct plx_actions *out);

/* ---- private memory: shadow.c ---- */

static inline bool
shadow_is_loaded(const struct loaded *loaded, uint32_t offset, uint32_t bytes)
{
	return offset >= loaded->from && offset + bytes <= loaded->to;
}

/* Of the entry at the cursor: are these bytes loaded; have they turned out to be none? */
static inline bool
shadow_has_request(const struct requester *req, uint32_t offset, uint32_t bytes)
{
	uint32_t ahead = req->cursor - req->loaded_at;

	return ahead == 0 ? shadow_is_loaded(&req->loaded, offset, bytes)
			  : ahead < req->loaded_entries;
}

static inline bool
shadow_is_denied(const struct requester *req)
{
	return req->loaded_at == req->cursor && req->loaded.denied;
}

/* Load what the entry at the cursor sends from `offset` on, and entries behind it. If there is no
 * room for the actions of a packet, nothing is loaded; in any case the QP is to be called again. */
PLX_COLD void shadow_load_request(struct plx_rc *qp, uint32_t offset, struct plx_actions *out);
/* The same for the answer to a READ. */
PLX_COLD void shadow_load_answer(struct plx_rc *qp, struct resource *res, uint32_t offset,
				 struct plx_actions *out);

/* ---- functions shared between files ---- */

/* rq.c */
void rq_peek(const struct plx_rq *rq, struct recv_entry *out);
void rq_pop(struct plx_rq *rq);
bool rq_next_is_plain(const struct plx_rq *rq, uint32_t bytes, uint64_t *wr_id,
		      const struct plx_sge **sge);
void rq_reset(struct plx_rq *rq);

/* Assign the peeked entry to the message. */
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

/* Local operations use no PSN. They complete when all earlier requests have completed. */
static inline void
requester_settle_local(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	while (req->done != req->started && sq_track(qp, req->done)->packets == 0) {
		if (req->cursor == req->done)
			req->cursor++;
		req->done++;
	}
}

/* Move the cursor back to the oldest unacknowledged packet. */
static inline void
requester_rewind(struct requester *req)
{
	req->cursor = req->done;
	req->cursor_packet = req->acked;
	req->next = req->una;
}

/*
 * A recovery strategy: how a requester reacts to losses. It decides what is sent again, and when,
 * by moving the cursor back (requester_rewind()), by the window, and by probes (SLOW_PATH_PROBE).
 * The ack timer, the retry count and the round-trip time are the queue pair's: recover.c. None of
 * these functions is called while packets and responses are as expected.
 */
struct plx_recovery_ops {
	const char *name;
	/* A request of `packets` PSNs was sent again. */
	void (*on_resent)(struct plx_rc *qp, struct plx_psn psn, uint32_t packets, uint64_t now);
	/* una has moved by `packets` while SLOW_PATH_REPAIR is set. */
	void (*on_progress)(struct plx_rc *qp, uint32_t packets);
	/* A NAK, or a response at `psn` that follows a missing one; una is the missing PSN. */
	enum plx_verdict (*on_loss)(struct plx_rc *qp, struct plx_psn psn, uint64_t now,
				    enum plx_loss cause, struct plx_actions *out);
	/* The peer has no receive; the cursor is back at una, and the caller waits for its timer.
	 */
	void (*on_rnr)(struct plx_rc *qp);
	/* A READ response without progress. */
	void (*on_useless_response)(struct plx_rc *qp, uint64_t now);
	/* The ack timer expired. */
	void (*on_deadline)(struct plx_rc *qp, uint64_t now, struct plx_actions *out);
	/* While SLOW_PATH_NARROW is set: must the READ at the cursor wait? */
	bool (*read_waits)(const struct plx_rc *qp);
	/* The READ at the cursor is sent again.
	 * Returns: how many of `packets` responses to request */
	uint32_t (*read_again)(struct plx_rc *qp, uint32_t packets);
};

/* go_back.c: fewer packets in flight after a loss */
void go_back_narrow(struct plx_rc *qp);

/* requester.c: sending */
void requester_reset(struct plx_rc *qp);
bool requester_transmit_one(struct plx_rc *qp, uint64_t now, struct plx_actions *out);
/* Move the cursor behind everything that was ever sent. */
void requester_to_high(struct plx_rc *qp);
uint32_t requester_read_packets(const struct plx_rc *qp);
void requester_fail(struct plx_rc *qp, enum plx_wc_status status, struct plx_actions *out);

/* congestion.c: pacing. With plx_cc_none none of these is called. */
/* Does the strategy permit a packet of `payload` bytes now? If not, pace_until is set. */
bool congestion_allows(struct plx_rc *qp, uint64_t now, uint32_t payload);
/* A packet has left. */
void congestion_charge(struct plx_rc *qp, uint64_t now, uint32_t payload);
void congestion_on_rtt(struct plx_rc *qp, uint64_t now, uint64_t rtt_ns);
void congestion_on_ack(struct plx_rc *qp, uint64_t now, uint32_t packets);
void congestion_on_loss(struct plx_rc *qp, uint64_t now, enum plx_loss cause);
void congestion_on_cnp(struct plx_rc *qp, uint64_t now);

static inline bool
congestion_is_on(const struct plx_rc *qp)
{
	return plx_unlikely(qp->slow_path & SLOW_PATH_PACED);
}

/* Does the grant cover a packet of `payload` bytes? */
static inline bool
congestion_has_grant(const struct requester *req, uint64_t now, uint32_t payload)
{
	return req->grant.bytes >= payload + PLX_CC_HEADER_BYTES && now < req->grant.until;
}

/* A congestion strategy lives on round-trip times. One packet is being timed, or the next is. */
static inline bool
requester_times_next(const struct plx_rc *qp)
{
	return congestion_is_on(qp) && qp->req.timed_at == PLX_NEVER &&
	       plx_psn_eq(qp->req.next, qp->req.high);
}

/* Does the packet at the cursor request an ACK? @param last of its message */
static inline bool
requester_wants_ack(const struct plx_rc *qp, bool last)
{
	const struct requester *req = &qp->req;

	return last || requester_times_next(qp) || req->since_ack_request + 1 >= qp->ack_interval ||
	       plx_psn_diff(req->next, req->una) + 1 >= (int32_t)req->window;
}

/* recover.c: what recovery strategies share */
void recover_progress(struct plx_rc *qp, uint64_t now, uint32_t packets);
void recover_set_wait(struct plx_rc *qp);
void recover_disarm(struct plx_rc *qp);
bool recover_spend_retry(struct plx_rc *qp, struct plx_actions *out);
bool gap_begins_anew(const struct gap *gap, struct plx_psn psn);
void gap_note(struct gap *gap, struct plx_psn psn);
void gap_move(struct gap *gap, struct plx_psn missing);

/* A flight of packets after a missing one begins with `psn`; `again`: not the first one. */
static inline void
gap_begin(struct gap *gap, struct plx_psn psn, bool again)
{
	gap->first = gap->newest = psn;
	gap->restarts = again ? (uint8_t)(gap->restarts + 1) : 0;
}

/* Start timing a packet that is being sent. */
static inline void
recover_time(struct requester *req, struct plx_psn psn, uint64_t now)
{
	req->timed = psn;
	req->timed_at = now;
}

/* A packet is being sent: arm the ack timer unless it is armed. */
static inline void
recover_arm(struct requester *req, struct plx_psn psn, uint64_t now, bool again)
{
	if (req->ack_deadline != PLX_NEVER)
		return;
	req->ack_deadline = plx_time_add(now, req->ack_wait);
	if (!again)
		recover_time(req, psn, now);
}

/* acknowledge.c: what the peer replies */
/* Acknowledge the PSN of an answer: of a READ's packet or of an atomic.
 * @param ends      it is the last of its request
 * @param completes ... and of the entry at `done` */
void requester_take_answer(struct plx_rc *qp, bool ends, bool completes, uint64_t now);
/* Acknowledge [una, until). Returns false if a READ or atomic prevents it; una then points to it.
 */
bool requester_take_until(struct plx_rc *qp, struct plx_psn until, uint64_t now);
enum plx_verdict requester_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt, uint64_t now,
				     struct plx_actions *out);

/* responder.c: the peer's requests */
void responder_reset(struct plx_rc *qp);
/* Remember an accepted READ, to be answered; its last PSN is the expected one then. */
void responder_apply_read(struct plx_rc *qp, struct plx_psn first, struct plx_key key, uint64_t va,
			  uint32_t bytes);
enum plx_verdict responder_on_packet(struct plx_rc *qp, const struct plx_pkt *pkt,
				     struct plx_actions *out);

/* move.c */
/* May the peer still READ this part of a remembered READ, in the domain of then? */
PLX_COLD bool move_may_read(const struct plx_rc *qp, const struct resource *res, uint64_t va,
			    uint32_t bytes);
/* As key_resolve(), for a READ of a former domain. */
PLX_COLD int move_resolve(const struct plx_rc *qp, const struct resource *res, uint64_t va,
			  uint32_t bytes, struct plx_iov *out);
/* former_until is over. */
PLX_COLD void move_forget_former(struct plx_rc *qp);

/* reply.c: what is owed to the peer */
bool reply_is_due(const struct plx_rc *qp);
bool reply_transmit_one(struct plx_rc *qp, struct plx_actions *out);
struct resource *reply_find(struct plx_rc *qp, struct plx_psn psn);
bool reply_has_place(const struct plx_rc *qp);
struct resource *reply_remember(struct plx_rc *qp);
void reply_pend(struct plx_rc *qp, struct resource *res, uint32_t packet, uint32_t bytes);
/* The same for what was asked for before. */
void reply_repeat(struct plx_rc *qp, struct resource *res, uint32_t packet, uint32_t bytes);
void reply_owe(struct plx_rc *qp, enum owed_kind kind, uint8_t syndrome, struct plx_psn psn);
void reply_forget(struct plx_rc *qp);

/* The slot `n` after `slot` in the ring of resources; `n` is at most its length. */
static inline uint32_t
reply_slot_behind(const struct plx_rc *qp, uint32_t slot, uint32_t n)
{
	uint32_t limit = qp->caps.responder_resources;

	return slot + n < limit ? slot + n : slot + n - limit;
}

/*
 * The slot of the oldest pending resource; res_pending guarantees that there is one. Each search
 * starts where the previous one ended, so that the cost of a packet does not grow with the number
 * of open READs.
 */
static inline uint32_t
reply_oldest(const struct plx_rc *qp)
{
	uint32_t slot = qp->resp.res_next;

	while (!qp->res[slot].pending) {
		PLX_ASSERT(slot != qp->resp.res_newest);
		slot = reply_slot_behind(qp, slot, 1);
	}
	return slot;
}

/* Is an ACK pending for packets before the next packet of `res`? */
static inline bool
reply_ack_is_older(const struct plx_rc *qp, const struct resource *res)
{
	return qp->resp.owed == OWED_ACK &&
	       plx_psn_before(qp->resp.owed_psn, plx_psn_add(res->first, res->reply_next));
}

/* Of the next packet of a READ's reply. */
static inline uint8_t
reply_read_opcode(const struct resource *res)
{
	bool first = res->reply_next == res->reply_first;
	bool last = res->reply_next + 1 == res->reply_end;

	if (first)
		return last ? PLX_RC_READ_RESPONSE_ONLY : PLX_RC_READ_RESPONSE_FIRST;
	return last ? PLX_RC_READ_RESPONSE_LAST : PLX_RC_READ_RESPONSE_MIDDLE;
}

/* Another part of a READ's reply is to be sent. */
PLX_COLD bool reply_next_part(struct plx_rc *qp, struct resource *res);

/* All of a resource's reply has left, or of a part of it. */
static inline void
reply_answered(struct plx_rc *qp, struct resource *res)
{
	if (plx_unlikely(qp->keep != NULL) && reply_next_part(qp, res))
		return;
	res->pending = false;
	res->answered = true;
	qp->resp.res_pending--;
}

/* complete.c: completions, flush, and the transition to ERROR */
void complete_deliver_slow(struct plx_rc *qp, struct plx_actions *out);
void complete_recv(struct plx_rc *qp, struct plx_completion *completion, struct plx_actions *out);
void complete_undo(struct plx_rc *qp, uint32_t index);
void complete_to_error(struct plx_rc *qp, enum plx_wc_status cause, struct plx_actions *out);
bool complete_is_flushed(const struct plx_rc *qp);

/* The completion of a send queue entry. */
static inline struct plx_completion
complete_entry(const struct plx_rc *qp, uint32_t index, uint8_t status)
{
	const struct plx_wqe *wqe = sq_wqe(qp, index);
	struct plx_completion completion = {
		.wr_id = wqe->wr_id,
		.qpn = qp->qpn,
		.status = status,
		.op = wqe->op,
	};

	if (plx_likely(wqe->op <= PLX_WR_WRITE_IMM) || status != PLX_WC_SUCCESS)
		return completion;
	if (wqe->op == PLX_WR_READ)
		completion.bytes = sq_track(qp, index)->bytes;
	else if (wr_is_rd_atomic(wqe->op))
		completion.bytes = sizeof(uint64_t);
	else if (wqe->op == PLX_WR_LOCAL_INV) {
		completion.flags = PLX_WC_INV;
		completion.inv_key = wqe->inv_key;
	}
	return completion;
}

/* Deliver completions of finished requests. Most calls have nothing to deliver. */
static inline void
complete_deliver(struct plx_rc *qp, struct plx_actions *out)
{
	if (qp->req.head != qp->req.done || plx_unlikely(qp->state != PLX_QP_RTS))
		complete_deliver_slow(qp, out);
}

/* Number of packets for `bytes` at this QP's path MTU; an empty message needs one. */
static inline uint32_t
qp_packets(const struct plx_rc *qp, uint32_t bytes)
{
	if (plx_likely(bytes <= qp->mtu))
		return 1;
	return (uint32_t)(((uint64_t)bytes + qp->mtu - 1) >> qp->mtu_shift);
}

/* Append an outgoing packet with the fields that all of our packets share. */
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

/* Set the payload length of an outgoing packet, and its padding. */
static inline void
emit_payload(struct plx_emit *emit, uint32_t bytes)
{
	emit->pkt.payload_bytes = bytes;
	emit->pkt.pad = -bytes & 3;
}

#endif
