/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a queue pair has beside itself while a packet is missing: packets that arrived behind it,
 * and what its requester knows of the peer's. Private to lib/proto/transport.
 * Start with struct keep.
 */
#ifndef PLX_TRANSPORT_KEEP_H
#define PLX_TRANSPORT_KEEP_H

#include "qp.h"

/* A set of PSNs of which the lowest and the highest are less than PLX_KEEP_PACKETS apart. */
struct psn_set {
	uint64_t word[PLX_KEEP_PACKETS / 64];
};

static inline bool
set_has(const struct psn_set *set, struct plx_psn psn)
{
	return set->word[psn.v % PLX_KEEP_PACKETS / 64] >> psn.v % 64 & 1;
}

static inline void
set_add(struct psn_set *set, struct plx_psn psn)
{
	set->word[psn.v % PLX_KEEP_PACKETS / 64] |= UINT64_C(1) << psn.v % 64;
}

static inline void
set_remove(struct psn_set *set, struct plx_psn psn)
{
	set->word[psn.v % PLX_KEEP_PACKETS / 64] &= ~(UINT64_C(1) << psn.v % 64);
}

/* How many bits are set: without the processor's instruction, which not all of those have for which
 * we are compiled. */
static inline int
count_bits(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Packets of one direction, requests or responses, behind a missing one. */
struct kept_way {
	struct plx_psn base; /* none is kept before it, nor PLX_KEEP_PACKETS behind it */
	uint32_t count;
	struct psn_set has;
	struct plx_kept place[PLX_KEEP_PACKETS];
};

/*
 * Which packets in flight are sent again. Those before `end` that are neither reported nor kept are
 * missing; those behind it are on their way.
 */
struct repair {
	bool active;
	bool look; /* from una on, when something can be sent */
	bool news; /* more is missing than was known */
	struct plx_psn end;
	/* The peer has executed what lies before it; it is packet `executed_packet` of an entry. Of
	 * READs and atomics there the responses are missing, behind it the requests. */
	struct plx_psn executed;
	uint32_t executed_at, executed_packet;
	struct psn_set reported; /* requests that the peer has */
	struct psn_set resent;   /* sent again; each in turn, and when `high` was that */
	uint32_t turns;          /* packets sent again so far, modulo 2^32 */
	uint32_t arrived;        /* the newest turn that has arrived */
	uint32_t resent_turn[PLX_KEEP_PACKETS];
	struct plx_psn resent_high[PLX_KEEP_PACKETS];
	uint64_t resent_ns[PLX_KEEP_PACKETS];
};

/* A part of a READ's reply, to be sent when the one before it has left. */
struct part_due {
	uint32_t slot;             /* index of the resource */
	uint32_t next, end, bytes; /* as reply_* of it */
};

enum {
	PARTS_MAX = 8,
};

/* A queue pair has one from the first packet out of order until nothing is kept or missing. */
struct keep {
	struct keep *next; /* unused */
	struct kept_way requests, responses;
	struct repair repair;
	struct part_due part[PARTS_MAX]; /* in order */
	uint32_t parts;
	uint8_t said[PLX_NAK_BITMAP_BYTES]; /* of the NAK that is leaving */
};

/* Blocks, and how many packets they may hold. */
struct plx_keep {
	struct keep *unused;
	uint32_t room; /* packets that may still be kept */
	uint32_t packets;
};

static inline bool
keep_has_responses(const struct plx_rc *qp)
{
	return qp->keep != NULL && qp->keep->responses.count > 0;
}

/* keep.c */
/* The block of a queue pair; it gets one if it has none. NULL: all are in use. */
struct keep *keep_of(struct plx_rc *qp);
/* Return the block if it is no longer needed. */
void keep_settle(struct plx_rc *qp);

/* selective.c: sending again only what is missing */
/* Is it known what has arrived? */
bool selective_is_on(const struct plx_rc *qp);
/* The next three learn what has arrived. False: nothing can be remembered, or is said. */
bool selective_take_report(struct plx_rc *qp, const struct plx_pkt *nak);
/* A response at `psn` has arrived, behind a missing one. */
bool selective_take_response(struct plx_rc *qp, struct plx_psn psn);
/* Requests before `until` are acknowledged, behind a missing response. */
bool selective_take_ack(struct plx_rc *qp, struct plx_psn until);
/* What follows from that: struct plx_recovery_ops. */
enum plx_verdict selective_on_loss(struct plx_rc *qp, uint64_t now, enum plx_loss cause,
				   struct plx_actions *out);
void selective_on_progress(struct plx_rc *qp, uint32_t packets);
void selective_on_resent(struct plx_rc *qp, struct plx_psn psn, uint32_t packets, uint64_t now);
/* Everything from una on is sent again after all, or nothing is. */
void selective_end(struct plx_rc *qp);
/* From the cursor on, or from una on: move the cursor to what must be sent again, else behind all
 * that was sent. Returns: whether something must */
bool selective_seek(struct plx_rc *qp);
/* How many of `packets` responses from the cursor on to ask for again. */
uint32_t selective_read_packets(const struct plx_rc *qp, uint32_t packets);

#endif
