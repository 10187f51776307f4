/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Congestion: the queue pair's side of a strategy, and the strategy that never delays a packet,
 * even if the peer sends CNPs. Another strategy is a table like plx_cc_none, passed to
 * plx_rc_init(). Start with congestion_allows().
 *
 * A strategy grants bytes for a time. The queue pair charges what leaves to the grant, on the fast
 * path too, and calls the strategy only when the grant has ended or something has happened.
 */
#include "qp.h"

/* ---- the queue pair's side ----
 *
 * Never inlined: the paths of a queue pair without a strategy stay as short as they are.
 */

static void
report(struct plx_rc *qp, uint64_t now)
{
	uint32_t bytes = qp->req.unreported;

	qp->req.unreported = 0;
	qp->cc->on_sent(qp->cc_state, now, bytes);
}

static void
report_rest(struct plx_rc *qp, uint64_t now)
{
	if (qp->req.unreported > 0)
		report(qp, now);
}

__attribute__((noinline)) bool
congestion_allows(struct plx_rc *qp, uint64_t now, uint32_t payload)
{
	struct requester *req = &qp->req;
	uint32_t bytes = payload + PLX_CC_HEADER_BYTES;
	struct plx_cc_grant grant = {.bytes = bytes, .until = PLX_NEVER};
	uint64_t from;

	if (congestion_has_grant(req, now, payload))
		return true;
	report_rest(qp, now);
	req->grant.bytes = 0;
	from = qp->cc->ask(qp->cc_state, now, bytes, &grant);
	req->pace_until = from > now ? from : PLX_NEVER;
	if (from > now) {
		plx_count(&qp->counters.pace_stalls, 1);
		return false;
	}
	req->grant = grant;
	if (grant.bytes < bytes)
		req->grant.bytes = bytes;
	return true;
}

__attribute__((noinline)) void
congestion_charge(struct plx_rc *qp, uint64_t now, uint32_t payload)
{
	struct requester *req = &qp->req;
	uint32_t bytes = payload + PLX_CC_HEADER_BYTES;

	req->unreported += bytes;
	if (!PLX_MUTANT(GRANT_UNBOUNDED))
		req->grant.bytes -= req->grant.bytes < bytes ? req->grant.bytes : bytes;
	if (req->grant.bytes < PLX_CC_HEADER_BYTES) /* for no packet any more */
		report(qp, now);
}

__attribute__((noinline)) void
congestion_on_rtt(struct plx_rc *qp, uint64_t now, uint64_t rtt_ns)
{
	report_rest(qp, now);
	qp->cc->on_rtt(qp->cc_state, now, rtt_ns);
}

__attribute__((noinline)) void
congestion_on_ack(struct plx_rc *qp, uint64_t now, uint32_t packets)
{
	report_rest(qp, now);
	qp->cc->on_ack(qp->cc_state, now, packets);
}

__attribute__((noinline)) void
congestion_on_loss(struct plx_rc *qp, uint64_t now, enum plx_loss cause)
{
	report_rest(qp, now);
	qp->req.grant.bytes = 0;
	qp->cc->on_loss(qp->cc_state, now, cause);
}

__attribute__((noinline)) void
congestion_on_cnp(struct plx_rc *qp, uint64_t now)
{
	report_rest(qp, now);
	qp->req.grant.bytes = 0;
	qp->cc->on_cnp(qp->cc_state, now);
}

/* ---- no strategy ---- */

static uint64_t
none_ask(const void *state, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	(void)grant;
	(void)state;
	(void)bytes;
	return now;
}

static void
none_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	(void)state;
	(void)now;
	(void)bytes;
}

static void
none_on_rtt(void *state, uint64_t now, uint64_t rtt_ns)
{
	(void)state;
	(void)now;
	(void)rtt_ns;
}

static void
none_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	(void)state;
	(void)now;
	(void)cause;
}

static bool
none_on_ce(void *state, uint64_t now)
{
	(void)state;
	(void)now;
	return true;
}

static void
none_on_cnp(void *state, uint64_t now)
{
	(void)state;
	(void)now;
}

const struct plx_cc_ops plx_cc_none = {
	.name = "none",
	.ask = none_ask,
	.on_sent = none_on_sent,
	.on_rtt = none_on_rtt,
	.on_ack = none_on_sent,
	.on_loss = none_on_loss,
	.on_ce = none_on_ce,
	.on_cnp = none_on_cnp,
};
