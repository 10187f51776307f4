/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the bounds on recovery (R1 to R4): when a request may be sent again, how many, how long a
 * peer is waited for, how often a gap is reported. It never follows what a requester or a responder
 * does about a loss, so a new way of recovering changes nothing here. Start with recovery_sent()
 * and recovery_check().
 *
 * It sees what leaves, what arrives, and a clock. Beyond that it knows three things of the
 * requester, because no packet shows them and without them the bounds would catch less:
 *
 * - retries_left, IBTA's retry counter: on the wire a retry spent too early shows only when a peer
 *   is dead, as a request that fails too early.
 * - Which answers the requester takes for reports of a loss, by their verdicts: each of hundreds of
 *   READ responses behind one gap could be one.
 * - PLX_WINDOW_LEAST, PLX_RESTARTS_MAX and PLX_PROBE_WAIT_MIN_NS, limits that plx_transport.h
 *   documents: they bound what the specification leaves open.
 */
#include "sim.h"

/*
 * R1 in the long run. A window that loses a third with each loss, and gains a packet with each one
 * acknowledged, retransmits four packets for each acknowledged: a recovery that needs more is worse
 * than that.
 */
#define RESENT_PER_ACKED 4

/* ... and this for each sign of a loss. */
#define RESENT_PER_SIGN PLX_WINDOW_LEAST

static uint64_t
min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The station's clock without its steps, during which nobody could have acted. */
static uint64_t
steady_ns(const struct side *side)
{
	return clock_local(side->station) - side->station->stepped_ns;
}

/* ---- signs of a loss, and what they permit ---- */

static void
add_credit(struct side *side, uint64_t packets)
{
	uint64_t most = 2 * (uint64_t)side->attr.window_packets + RESENT_PER_SIGN;

	side->recovery.credit = min_of(side->recovery.credit + packets, most);
}

/* `packets` may be sent again, and more as acknowledgements arrive, until all that is in flight now
 * is acknowledged. */
static void
sign_of_loss(struct side *side, uint64_t packets)
{
	struct recovery *recovery = &side->recovery;

	recovery->burst = min_of(recovery->burst + packets, packets + 2 * RESENT_PER_SIGN);
	recovery->flight_end = side->psn_high;
	add_credit(side, RESENT_PER_SIGN);
}

/* Silence is a sign, too: next at `at` unless one is due before, then at doubling distances. */
static void
expect_silence(struct side *side, uint64_t at)
{
	side->recovery.sign_wait_ns = PLX_PROBE_WAIT_MIN_NS;
	side->recovery.sign_at = min_of(side->recovery.sign_at, at);
}

static void
permit_for_silence(struct side *side)
{
	struct recovery *recovery = &side->recovery;
	uint64_t now = clock_local(side->station);

	while (recovery->sign_at <= now) {
		recovery->burst += RESENT_PER_SIGN;
		add_credit(side, RESENT_PER_SIGN);
		recovery->sign_wait_ns =
			min_of(2 * recovery->sign_wait_ns, side->attr.ack_timeout_ns);
		recovery->sign_at += recovery->sign_wait_ns;
	}
}

/* ---- what happens ---- */

/* Something is in flight from now on, or the peer has answered: all counts begin `delay_ns` later.
 */
static void
wait_anew(struct side *side, uint64_t delay_ns)
{
	struct recovery *recovery = &side->recovery;
	uint64_t from = clock_local(side->station) + delay_ns;

	recovery->waiting_since = from;
	recovery->timed_from = steady_ns(side) + delay_ns;
	recovery->timed_by_next = true;
	recovery->reports = recovery->retries = 0;
	recovery->sign_at = PLX_NEVER;
	expect_silence(side, from + PLX_PROBE_WAIT_MIN_NS);
}

/* A new connection. */
void
recovery_begin(struct side *side)
{
	side->recovery = (struct recovery){.credit = UINT32_MAX};
	add_credit(side, 0);
}

static void
check_resent(struct side *side, struct plx_psn psn)
{
	struct world *world = side->pair->world;
	struct recovery *recovery = &side->recovery;

	permit_for_silence(side);
	sim_must(world, recovery->burst > 0, "R1",
		 "PSN %06x is sent again without a sign of its loss", psn.v);
	sim_must(world, recovery->credit > 0, "R1",
		 "PSN %06x is sent again after too many others: few were acknowledged", psn.v);
	recovery->burst--;
	recovery->credit--;
}

/* A request of `psns` PSNs leaves. */
void
recovery_sent(struct side *side, const struct plx_pkt *pkt, uint64_t psn, uint32_t psns)
{
	struct recovery *recovery = &side->recovery;
	uint64_t now = clock_local(side->station);

	sim_must(side->pair->world, now >= recovery->not_before, "R3",
		 "PSN %06x is sent %" PRIu64 " ns before the RNR timer ends", pkt->psn.v,
		 recovery->not_before - now);
	if (side->psn_una == side->psn_high) {
		wait_anew(side, 0);
		recovery->oldest_sent = 0;
	}
	if (recovery->timed_by_next)
		recovery->timed_from = steady_ns(side);
	recovery->timed_by_next = false;
	recovery->oldest_sent += psn <= side->psn_una && side->psn_una < psn + psns;
	if (psn >= side->psn_high)
		return;
	check_resent(side, pkt->psn);
	if (pkt->opcode == PLX_RC_READ_REQUEST)
		recovery->asked_again += psns;
}

/* The peer has acknowledged `packets` more. */
void
recovery_acknowledged(struct side *side, uint64_t packets)
{
	struct recovery *recovery = &side->recovery;

	wait_anew(side, 0);
	recovery->oldest_sent = 1;
	recovery->rnrs = 0;
	recovery->not_before = 0;
	add_credit(side, RESENT_PER_ACKED * packets);
	if (side->psn_una < recovery->flight_end)
		recovery->burst += RESENT_PER_ACKED * packets;
	else
		recovery->burst = 0;
}

/* The receiver is not ready: nothing is sent until its timer ends, then a few packets. */
static void
receiver_not_ready(struct side *side, const struct plx_pkt *pkt)
{
	struct recovery *recovery = &side->recovery;

	wait_anew(side, plx_rnr_timer_ns(pkt->aeth.syndrome & PLX_AETH_VALUE_MASK));
	recovery->rnrs++;
	recovery->oldest_sent = 0;
	recovery->not_before = recovery->waiting_since;
	recovery->burst = 0;
	sign_of_loss(side, RESENT_PER_SIGN);
}

/* A tick. The first one after an RNR wait ends it, and may be late. */
void
recovery_ticked(struct side *side)
{
	struct recovery *recovery = &side->recovery;

	if (recovery->not_before == 0 || clock_local(side->station) < recovery->not_before)
		return;
	recovery->not_before = 0;
	if (recovery->timed_by_next)
		recovery->timed_from = steady_ns(side);
}

/* Can this answer report a loss? A NAK can, and an answer behind the one to the oldest request. */
static bool
can_report(const struct side *side, const struct plx_pkt *pkt)
{
	const struct op *oldest = request_at(side, side->psn_una);
	bool ack = plx_opcodes[pkt->opcode].kind == PLX_OP_ACK;

	if (ack && (pkt->aeth.syndrome & PLX_AETH_TYPE_MASK) == PLX_AETH_NAK)
		return true;
	return oldest != NULL && waits_for_answer(oldest->kind) &&
	       (ack || psn_absolute(side->psn_una, pkt->psn) > side->psn_una);
}

static bool
loses_or_reorders(const struct world *world)
{
	const struct sim_weather *weather = &world->config.weather;

	return !world->config.lossless || weather->reorder_ppm || weather->dup_ppm;
}

static void
loss_reported(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	struct world *world = side->pair->world;

	/* a packet behind one that met no receive is out of sequence, too */
	sim_must(world,
		 loses_or_reorders(world) || side->peer->state != SIDE_UP ||
			 side->peer->rnrs_sent > 0,
		 "I9", "%s, and nothing is ever lost here", plx_verdict_text(verdict));
	sim_must(world, can_report(side, pkt), "I9", "%s, and the answer reports no loss",
		 plx_verdict_text(verdict));
	side->recovery.reports++;
	sign_of_loss(side, side->attr.window_packets);
	expect_silence(side, clock_local(side->station) + PLX_PROBE_WAIT_MIN_NS);
}

/* A READ response that brings nothing. As many as were requested again show that the peer is still
 * answering, and restart the ack timeout. */
static void
answered_in_vain(struct side *side)
{
	struct recovery *recovery = &side->recovery;

	if (recovery->asked_again == 0 || steady_ns(side) < recovery->timed_from)
		return;
	/* without a timeout there is nothing to restart */
	if (side->psn_una != side->psn_high && !recovery->timed_by_next)
		recovery->asked_again--;
	recovery->timed_from = steady_ns(side);
	expect_silence(side, clock_local(side->station) + PLX_PROBE_WAIT_MIN_NS / 4);
}

/* More is missing than what was reported first. */
static void
more_reported(struct side *side, const struct plx_pkt *pkt)
{
	struct world *world = side->pair->world;

	sim_must(world,
		 loses_or_reorders(world) || side->peer->state != SIDE_UP ||
			 side->peer->rnrs_sent > 0,
		 "I9", "more packets are missing, and nothing is ever lost here");
	sim_must(world, can_report(side, pkt), "I9", "%s reports no loss",
		 plx_opcodes[pkt->opcode].name);
	sign_of_loss(side, PLX_KEEP_PACKETS);
}

/* An answer of the peer's; what it acknowledges is known already. */
void
recovery_answered(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict)
{
	if (verdict == PLX_VERDICT_NAK_RNR)
		receiver_not_ready(side, pkt);
	else if (verdict == PLX_VERDICT_NAK_SEQUENCE || verdict == PLX_VERDICT_RESPONSE_LOST ||
		 verdict == PLX_VERDICT_LOST_AGAIN)
		loss_reported(side, pkt, verdict);
	else if (verdict == PLX_VERDICT_LOST_MORE)
		more_reported(side, pkt);
	else if (plx_opcodes[pkt->opcode].kind == PLX_OP_READ_RESPONSE &&
		 (verdict == PLX_VERDICT_STALE || verdict == PLX_VERDICT_NAK_AGAIN))
		answered_in_vain(side);
}

/* ---- the responder ---- */

/* R4: a sequence NAK asks for the expected PSN, after a later one has arrived; a few times for one
 * gap, however many packets arrive behind it. */
void
recovery_nak_sent(struct side *side, uint64_t psn)
{
	struct world *world = side->pair->world;

	sim_must(world, psn == side->epsn && side->psn_ahead > psn, "R4",
		 "a sequence NAK for PSN %06" PRIx64 ", and nothing has arrived ahead of it",
		 psn & PLX_PSN_MASK);
	if (side->nak_epsn != psn)
		side->naks = 0;
	side->nak_epsn = psn;
	/* between two that agreed to it, a NAK says what else has arrived: any may cause one */
	sim_must(world, ++side->naks <= 1 + PLX_RESTARTS_MAX || side->attr.selective, "R4",
		 "PSN %06" PRIx64 " is in %u sequence NAKs", psn & PLX_PSN_MASK, side->naks);
}

/* ---- what must hold ---- */

/* Losses reported, and ack timeouts passed, since the last progress. */
static uint64_t
losses_known(const struct side *side)
{
	const struct recovery *recovery = &side->recovery;
	uint64_t now = clock_local(side->station);

	if (side->psn_una == side->psn_high || now < recovery->waiting_since)
		return recovery->reports;
	return recovery->reports + (now - recovery->waiting_since) / side->attr.ack_timeout_ns;
}

/* The QP wants to be called before the ack timeout is over; nothing but progress, a retry and some
 * READ responses restarts it. */
static void
check_timeout(struct side *side)
{
	const struct recovery *recovery = &side->recovery;
	uint64_t wake = plx_rc_wake_ns(ep_qp_core(side->qp));
	uint64_t until = recovery->timed_from + side->attr.ack_timeout_ns;

	if (wake == 0)
		return;
	if (side->cc != NULL) /* it may hold a packet back */
		until += sim_cc_hold_ns(side->cc);
	sim_must(side->pair->world, wake != PLX_NEVER, "R2",
		 "side %u has packets in flight, and no timer", side->id);
	wake -= side->station->stepped_ns;
	sim_must(side->pair->world, wake <= until, "R2",
		 "side %u waits %" PRIu64 " ns longer than its ack timeout", side->id,
		 wake - until);
}

static void
check_retries(struct side *side, uint32_t retries)
{
	struct world *world = side->pair->world;
	const struct recovery *recovery = &side->recovery;

	sim_must(world, retries <= losses_known(side), "R2",
		 "side %u has spent %u retries, and knows of %" PRIu64 " losses", side->id, retries,
		 losses_known(side));
	sim_must(world, retries >= recovery->retries, "R2",
		 "side %u has %u retries back without progress", side->id,
		 recovery->retries - retries);
	sim_must(world, recovery->reports <= (1 + PLX_RESTARTS_MAX) * (retries + 1), "R1",
		 "side %u believes %u reports of a loss, and has spent %u retries", side->id,
		 recovery->reports, retries);
	sim_must(world,
		 retries <= recovery->reports || !world->config.generous ||
			 side->peer->state != SIDE_UP,
		 "I9", "side %u times out, and nothing is lost or late here", side->id);
}

/* After each call on a QP. */
void
recovery_check(struct side *side, const struct plx_rc_view *view)
{
	struct recovery *recovery = &side->recovery;
	uint32_t retries = side->attr.retry_max - view->retries_left;

	if (view->state == PLX_QP_ERROR)
		return;
	check_retries(side, retries);
	if (retries > recovery->retries) {
		sign_of_loss(side, side->attr.window_packets);
		recovery->timed_from = steady_ns(side);
		recovery->timed_by_next = true;
	}
	recovery->retries = retries;
	if (side->psn_una != side->psn_high)
		check_timeout(side);
	sim_must(side->pair->world,
		 side->attr.rnr_retry_max == PLX_RNR_RETRY_FOREVER ||
			 recovery->rnrs <= side->attr.rnr_retry_max,
		 "R3", "side %u takes %u RNR NAKs without progress, %u are allowed", side->id,
		 recovery->rnrs, side->attr.rnr_retry_max);
}

/* May the oldest request end with RETRY_EXCEEDED now? Not before it was tried as often as agreed.
 */
bool
recovery_may_give_up(const struct side *side)
{
	const struct world *world = side->pair->world;
	uint32_t retry_max = side->attr.retry_max;

	return losses_known(side) > retry_max && side->recovery.oldest_sent > retry_max &&
	       (!world->config.generous || side->peer->state != SIDE_UP ||
		side->peer->rnrs_sent > 0 || world->config.weather.dup_ppm);
}

/* ... with RNR_RETRY_EXCEEDED? */
bool
recovery_may_give_up_rnr(const struct side *side)
{
	return side->attr.rnr_retry_max != PLX_RNR_RETRY_FOREVER &&
	       side->recovery.rnrs == side->attr.rnr_retry_max + 1u;
}
