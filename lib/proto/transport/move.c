/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection goes on in another queue pair: of another program, with other queues and another
 * protection domain. The peer notices nothing but that receives are missing for a while. It never
 * moves requests: there are none. Start with plx_rc_is_between(), then plx_rc_take_over().
 */
#include "qp.h"

/* A peer that asks again for a READ has lost responses, and does so within its retry budget, which
 * we do not know: ours is as long on most connections. */
#define FORMER_NS_MIN (1 * PLX_SEC)
#define FORMER_NS_MAX (20 * PLX_SEC)

bool
plx_rc_is_between(const struct plx_rc *qp)
{
	const struct requester *req = &qp->req;
	const struct responder *resp = &qp->resp;

	return qp->state == PLX_QP_RTS && req->head == req->tail && resp->open == OPEN_NONE &&
	       !resp->recv_open && !reply_is_due(qp);
}

uint64_t
plx_rc_former_ns(const struct plx_rc *qp)
{
	uint64_t budget = qp->ack_timeout < FORMER_NS_MAX
				  ? 2 * qp->ack_timeout * (qp->retry_max + UINT64_C(1))
				  : FORMER_NS_MAX;

	if (budget < FORMER_NS_MIN)
		return FORMER_NS_MIN;
	return budget < FORMER_NS_MAX ? budget : FORMER_NS_MAX;
}

/* The cache is for keys of our own domain. */
static struct plx_asker
asker_of(const struct plx_rc *qp, const struct resource *res)
{
	return (struct plx_asker){.domain = res->domain, .qpn = qp->qpn};
}

bool
move_may_read(const struct plx_rc *qp, const struct resource *res, uint64_t va, uint32_t bytes)
{
	const struct plx_asker asker = asker_of(qp, res);
	struct plx_grant grant;
	enum plx_key_verdict verdict =
		plx_key_check(qp->mem, res->rkey, &asker, va, bytes,
			      (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant);

	return verdict == PLX_KEY_GRANTED || verdict == PLX_KEY_PIECES;
}

int
move_resolve(const struct plx_rc *qp, const struct resource *res, uint64_t va, uint32_t bytes,
	     struct plx_iov *out)
{
	const struct plx_asker asker = asker_of(qp, res);
	struct plx_access common = {PLX_ACCESS_ALL};

	return key_pieces_as(qp, &asker, res->rkey, va, bytes,
			     (struct plx_access){PLX_ACCESS_REMOTE_READ}, out, &common);
}

void
move_forget_former(struct plx_rc *qp)
{
	for (uint32_t i = 0; i < qp->caps.responder_resources; i++)
		if (qp->res[i].domain.id != qp->asker.domain.id)
			qp->res[i].domain.id = 0;
	qp->former_until = PLX_NEVER;
}

/* Everything that both ends agreed on. */
static void
take_terms(struct plx_rc *to, const struct plx_rc *from)
{
	to->mtu = from->mtu;
	to->mtu_shift = from->mtu_shift;
	to->dest_qpn = from->dest_qpn;
	to->pkey = from->pkey;
	to->enabled = from->enabled;
	to->rnr_timer = from->rnr_timer;
	to->retry_max = from->retry_max;
	to->rnr_retry_max = from->rnr_retry_max;
	to->initiator_depth = from->initiator_depth;
	to->window_packets = from->window_packets;
	to->ack_interval = from->ack_interval;
	to->read_chunk = from->read_chunk;
	to->ack_timeout = from->ack_timeout;
	to->recovery = from->recovery;
	to->selective = from->selective;
	to->blank = from->blank;
	to->path = from->path;
}

/* Nothing is under way: what counts is where the numbers are, and what is known of the way. */
static void
take_requester(struct plx_rc *to, const struct plx_rc *from)
{
	const struct requester *old = &from->req;
	struct requester *req = &to->req;

	req->una = req->next = req->high = old->next;
	req->window = to->window_packets;
	req->retries_left = to->retry_max;
	req->rnr_retries_left = to->rnr_retry_max;
	req->ack_wait = old->ack_wait;
	req->rtt = old->rtt;
	req->rtt_spread = old->rtt_spread;
	req->rtt_least = old->rtt_least;
}

static void
take_responder(struct plx_rc *to, struct plx_rc *from, uint64_t now)
{
	to->resp = from->resp;
	/* Requests behind a missing one, or behind one that found no receive. */
	to->keep = from->keep;
	from->keep = NULL;
	memcpy(to->res, from->res, to->caps.responder_resources * sizeof(*to->res));
	to->former_until = plx_time_add(now, plx_rc_former_ns(from));
}

void
plx_rc_take_over(struct plx_rc *to, struct plx_rc *from, uint64_t now)
{
	uint32_t qpn = from->qpn;

	PLX_ASSERT(to->state == PLX_QP_RESET && plx_rc_is_between(from) &&
		   to->caps.responder_resources == from->caps.responder_resources);
	if (now >= from->former_until)
		move_forget_former(from);
	take_terms(to, from);
	take_requester(to, from);
	take_responder(to, from, now);
	to->counters = from->counters;
	from->qpn = from->asker.qpn = to->qpn;
	to->qpn = to->asker.qpn = qpn;
	to->state = PLX_QP_RTS;
	to->more = true;
	responder_reset(from);
}
