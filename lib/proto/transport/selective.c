/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending again only what is missing, between two that agreed to it: the peer says in its NAKs
 * what has arrived, and responses that arrived behind a missing one are kept (keep.c).
 * It never sends and never notices a loss. Start with selective_on_loss() and selective_seek().
 *
 * A missing packet is sent again once. That is lost, too, if something has arrived that was sent
 * after it, or if something arrives later than an answer to it should.
 */
#include "keep.h"

/* ---- what is known ---- */

static struct repair *
repair_of(const struct plx_rc *qp)
{
	return qp->keep != NULL && qp->keep->repair.active ? &qp->keep->repair : NULL;
}

bool
selective_is_on(const struct plx_rc *qp)
{
	return repair_of(qp) != NULL;
}

/* PSNs from una on that can be in a set. */
static struct plx_psn
limit_of(const struct requester *req)
{
	struct plx_psn limit = plx_psn_add(req->una, PLX_KEEP_PACKETS);

	return plx_psn_before(req->high, limit) ? req->high : limit;
}

/* Something has arrived, or is asked for, up to `until`. */
static void
extend(const struct requester *req, struct repair *repair, struct plx_psn until)
{
	struct plx_psn limit = limit_of(req);

	if (plx_psn_before(limit, until))
		until = limit;
	if (plx_psn_before(repair->end, until))
		repair->end = until;
}

static bool
is_missing(const struct keep *keep, struct plx_psn psn)
{
	return !set_has(&keep->repair.reported, psn) && !set_has(&keep->responses.has, psn);
}

static bool
is_settled(const struct keep *keep, struct plx_psn psn)
{
	return !is_missing(keep, psn) || set_has(&keep->repair.resent, psn);
}

/* Nothing before the end is missing and not sent again: no set has anything outside [una, end). */
static bool
is_all_settled(const struct plx_rc *qp, const struct keep *keep)
{
	const struct repair *repair = &keep->repair;
	int settled = 0;

	for (uint32_t i = 0; i < PLX_COUNT_OF(repair->resent.word); i++)
		settled += count_bits(repair->reported.word[i] | repair->resent.word[i] |
				      keep->responses.has.word[i]);
	return settled == plx_psn_diff(repair->end, qp->req.una);
}

/* One behind the newest response that is kept; una: none is. */
static struct plx_psn
end_of_kept(const struct plx_rc *qp)
{
	struct plx_psn end = limit_of(&qp->req);

	while (plx_psn_before(qp->req.una, end) &&
	       !set_has(&qp->keep->responses.has, plx_psn_sub(end, 1)))
		end = plx_psn_sub(end, 1);
	return end;
}

static struct repair *
begin(struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	struct keep *keep;

	/* Or it has gone back: what it has not sent again yet must not count as on its way. */
	if (!qp->selective || (!selective_is_on(qp) && !plx_psn_eq(req->next, req->high)))
		return NULL;
	keep = keep_of(qp);
	if (keep == NULL)
		return NULL;
	if (!keep->repair.active)
		keep->repair = (struct repair){
			.active = true, .end = end_of_kept(qp), .executed = req->una};
	if (!plx_psn_before(req->una, keep->repair.executed)) {
		keep->repair.executed = req->una;
		keep->repair.executed_at = req->done;
		keep->repair.executed_packet = req->acked;
	}
	return &keep->repair;
}

/* A packet has arrived. If it was sent again, others are known to be lost. */
static void
note_arrival(struct repair *repair, struct plx_psn psn)
{
	uint32_t turn = repair->resent_turn[psn.v % PLX_KEEP_PACKETS];

	if (set_has(&repair->resent, psn) && (int32_t)(turn - repair->arrived) > 0)
		repair->arrived = turn;
}

static void
set_reported(struct repair *repair, struct plx_psn psn)
{
	note_arrival(repair, psn);
	set_add(&repair->reported, psn);
}

/* Requests before `until` have been executed: nothing is missing of those without a response. */
static void
executed(struct plx_rc *qp, struct repair *repair, struct plx_psn until)
{
	extend(&qp->req, repair, until);
	if (plx_psn_before(repair->end, until))
		until = repair->end;
	while (plx_psn_before(repair->executed, until)) {
		uint32_t index = repair->executed_at;

		if (repair->executed_packet == sq_track(qp, index)->packets) {
			repair->executed_at++;
			repair->executed_packet = 0;
			continue;
		}
		if (wr_is_rd_atomic(sq_wqe(qp, index)->op))
			set_remove(&repair->reported, repair->executed);
		else
			set_reported(repair, repair->executed);
		repair->executed = plx_psn_add(repair->executed, 1);
		repair->executed_packet++;
	}
}

/* It has no room: what lies behind the missing packet is missing, too. */
static bool
keeps_nothing(const struct plx_pkt *nak)
{
	for (uint32_t i = 0; i < PLX_NAK_BITMAP_BYTES; i++)
		if (nak->payload[i] != 0)
			return false;
	return true;
}

static int
count_missing(const struct plx_rc *qp)
{
	const struct keep *keep = qp->keep;
	int arrived = 0;

	for (uint32_t i = 0; i < PLX_COUNT_OF(keep->repair.reported.word); i++)
		arrived += count_bits(keep->repair.reported.word[i] | keep->responses.has.word[i]);
	return plx_psn_diff(keep->repair.end, qp->req.una) - arrived;
}

bool
selective_take_report(struct plx_rc *qp, const struct plx_pkt *nak)
{
	const struct requester *req = &qp->req;
	struct plx_psn psn = nak->psn, limit = limit_of(req);
	struct repair *repair;
	int missing;

	if (nak->payload_bytes != PLX_NAK_BITMAP_BYTES || keeps_nothing(nak))
		return false;
	repair = begin(qp);
	if (repair == NULL)
		return false;
	missing = count_missing(qp);
	executed(qp, repair, psn);
	for (uint32_t i = 0; i < PLX_KEEP_PACKETS; i++) {
		psn = plx_psn_add(psn, 1);
		if (!plx_psn_before(psn, limit))
			break;
		if (!(nak->payload[i / 8] >> i % 8 & 1) || plx_psn_before(psn, repair->executed))
			continue;
		set_reported(repair, psn);
		extend(req, repair, plx_psn_add(psn, 1));
	}
	repair->news = count_missing(qp) > missing;
	return true;
}

bool
selective_take_response(struct plx_rc *qp, struct plx_psn psn)
{
	struct repair *repair = begin(qp);

	if (repair == NULL)
		return false;
	repair->news = plx_psn_before(repair->end, psn);
	note_arrival(repair, psn);
	executed(qp, repair, plx_psn_add(psn, 1));
	return true;
}

bool
selective_take_ack(struct plx_rc *qp, struct plx_psn until)
{
	struct repair *repair = begin(qp);
	int missing;

	if (repair == NULL)
		return false;
	missing = count_missing(qp);
	executed(qp, repair, until);
	repair->news = count_missing(qp) > missing;
	return true;
}

/* ---- losses ---- */

void
selective_end(struct plx_rc *qp)
{
	if (qp->keep == NULL)
		return;
	qp->keep->repair.active = false;
	keep_settle(qp);
}

/* Was it sent again, and is that lost, too? */
static bool
is_lost_again(const struct plx_rc *qp, struct plx_psn psn, uint64_t now)
{
	const struct repair *repair = &qp->keep->repair;
	uint32_t at = psn.v % PLX_KEEP_PACKETS;
	const struct requester *req = &qp->req;

	return set_has(&repair->resent, psn) && is_missing(qp->keep, psn) &&
	       (plx_psn_before(repair->resent_high[at], repair->end) ||
		(int32_t)(repair->resent_turn[at] - repair->arrived) < 0 ||
		(req->rtt_least != PLX_NEVER &&
		 now - repair->resent_ns[at] > req->rtt + 4 * req->rtt_spread));
}

/* Packets sent again that are evidently lost again count as not sent.
 * Returns: whether there are any */
static bool
forget_lost(struct plx_rc *qp, uint64_t now)
{
	struct repair *repair = &qp->keep->repair;
	bool any = false;

	for (struct plx_psn psn = qp->req.una; plx_psn_before(psn, repair->end);
	     psn = plx_psn_add(psn, 1)) {
		if (!is_lost_again(qp, psn, now))
			continue;
		set_remove(&repair->resent, psn);
		any = true;
	}
	return any;
}

/* May a report be believed that what was sent again is lost again? As in go_back.c: only after a
 * round trip, and a few times for each retry. */
static bool
may_be_lost_again(const struct requester *req, uint64_t now)
{
	const struct go_back *go_back = &req->go_back;

	return go_back->flight_at != PLX_NEVER && req->rtt_least != PLX_NEVER &&
	       (go_back->gap.restarts < PLX_RESTARTS_MAX || PLX_MUTANT(RESTARTS_UNBOUNDED)) &&
	       now - go_back->flight_at >= req->rtt_least / 2;
}

/* Then there are too many in flight for the path, or for what the peer can keep. */
static bool
most_is_missing(const struct plx_rc *qp)
{
	return 2 * count_missing(qp) > plx_psn_diff(qp->keep->repair.end, qp->req.una);
}

/* The oldest packet is sent again for the first time since una moved, which costs a retry. */
static void
first_report(struct plx_rc *qp, uint64_t now, enum plx_loss cause, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	recover_set_wait(qp);
	if (!recover_spend_retry(qp, out))
		return;
	req->go_back.went_back = true;
	req->go_back.probed = false;
	req->go_back.flight_at = PLX_NEVER;
	req->go_back.gap.restarts = 0;
	if (most_is_missing(qp))
		go_back_narrow(qp);
	plx_count(&qp->counters.go_backs, 1);
	if (congestion_is_on(qp))
		congestion_on_loss(qp, now, cause);
}

enum plx_verdict
selective_on_loss(struct plx_rc *qp, uint64_t now, enum plx_loss cause, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	bool again = (may_be_lost_again(req, now) ||
		      (!req->go_back.went_back && is_lost_again(qp, req->una, now))) &&
		     forget_lost(qp, now);

	qp->slow_path |= SLOW_PATH_REPAIR;
	req->timed_at = PLX_NEVER;
	requester_rewind(req);
	if (!selective_seek(qp))
		return qp->keep->repair.news ? PLX_VERDICT_LOST_MORE : PLX_VERDICT_NAK_AGAIN;
	qp->more = true;
	if (!req->go_back.went_back && plx_psn_eq(req->next, req->una)) {
		first_report(qp, now, cause, out);
		return cause == PLX_LOSS_NAK ? PLX_VERDICT_NAK_SEQUENCE : PLX_VERDICT_RESPONSE_LOST;
	}
	if (!again)
		return PLX_VERDICT_LOST_MORE;
	go_back_narrow(qp);
	req->go_back.gap.restarts++;
	req->go_back.flight_at = PLX_NEVER;
	return PLX_VERDICT_LOST_AGAIN;
}

void
selective_on_progress(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;
	struct repair *repair = repair_of(qp);

	if (repair == NULL)
		return;
	req->go_back.gap.restarts = 0;
	if (packets > PLX_KEEP_PACKETS)
		packets = PLX_KEEP_PACKETS;
	for (uint32_t i = 1; i <= packets; i++) {
		struct plx_psn psn = plx_psn_sub(req->una, i);

		note_arrival(repair, psn);
		set_remove(&repair->reported, psn);
		set_remove(&repair->resent, psn);
	}
	if (plx_psn_before(req->una, repair->end))
		repair->look = qp->more = true;
	else
		selective_end(qp);
	requester_to_high(qp);
}

void
selective_on_resent(struct plx_rc *qp, struct plx_psn psn, uint32_t packets, uint64_t now)
{
	struct repair *repair = repair_of(qp);

	if (repair == NULL)
		return;
	for (; packets > 0 && plx_psn_before(psn, repair->end); packets--) {
		set_add(&repair->resent, psn);
		repair->resent_turn[psn.v % PLX_KEEP_PACKETS] = repair->turns++;
		repair->resent_ns[psn.v % PLX_KEEP_PACKETS] = now;
		repair->resent_high[psn.v % PLX_KEEP_PACKETS] = qp->req.high;
		psn = plx_psn_add(psn, 1);
	}
}

/* ---- the cursor ---- */

/* Local operations have been passed before. */
static void
skip_local(struct plx_rc *qp)
{
	struct requester *req = &qp->req;

	while (req->cursor != req->started && sq_track(qp, req->cursor)->packets == 0)
		req->cursor++;
}

/* Move the cursor by `packets` of the entry that it is at. */
static void
step(struct plx_rc *qp, uint32_t packets)
{
	struct requester *req = &qp->req;

	req->next = plx_psn_add(req->next, packets);
	req->cursor_packet += packets;
	if (req->cursor_packet < sq_track(qp, req->cursor)->packets)
		return;
	req->cursor_packet = 0;
	req->cursor++;
	skip_local(qp);
}

/* Does the peer know the READ at the cursor, so that a part of it can be asked for? */
static bool
read_is_known(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;

	return req->cursor_packet % qp->read_chunk > 0 ||
	       plx_psn_before(req->next, qp->keep->repair.executed);
}

/*
 * At a READ: find what to ask for again.
 * Returns: false: nothing, and the cursor is behind the READ
 */
static bool
seek_in_read(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	const struct keep *keep = qp->keep;
	uint32_t rest = requester_read_packets(qp), i = 0;
	int32_t done = plx_psn_diff(keep->repair.executed, req->next);
	uint32_t known = done < 0 ? 0 : (uint32_t)done;

	if (!read_is_known(qp)) {
		if (!is_settled(keep, req->next))
			return true;
		step(qp, rest);
		return false;
	}
	if (known > rest)
		known = rest;
	while (i < known && is_settled(keep, plx_psn_add(req->next, i)))
		i++;
	if (i == known) {
		step(qp, rest);
		return false;
	}
	if (i > 0)
		step(qp, i);
	return true;
}

bool
selective_seek(struct plx_rc *qp)
{
	struct requester *req = &qp->req;
	struct keep *keep = qp->keep;

	if (keep->repair.look)
		requester_rewind(req);
	keep->repair.look = false;
	skip_local(qp);
	if (!is_all_settled(qp, keep)) {
		while (plx_psn_before(req->next, keep->repair.end)) {
			if (sq_wqe(qp, req->cursor)->op == PLX_WR_READ) {
				if (seek_in_read(qp))
					return true;
			} else if (!is_settled(keep, req->next)) {
				req->since_ack_request = qp->ack_interval; /* ask for an ACK */
				return true;
			} else {
				step(qp, 1);
			}
		}
	}
	requester_to_high(qp);
	return false;
}

uint32_t
selective_read_packets(const struct plx_rc *qp, uint32_t packets)
{
	const struct keep *keep = qp->keep;
	struct plx_psn psn = qp->req.next;
	uint32_t n = 0;

	if (!read_is_known(qp))
		return packets;
	while (n < packets && plx_psn_before(psn, keep->repair.executed) &&
	       !is_settled(keep, psn)) {
		psn = plx_psn_add(psn, 1);
		n++;
	}
	/* Nothing is known of what follows. */
	return n == 0 || !plx_psn_before(psn, keep->repair.executed) ? packets : n;
}
