/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ACK that waits for company (decision 67): for the answer of the program that polls, to leave
 * in its burst, or for further packets of the peer, to acknowledge them too. It waits in inline
 * mode, for HOLD_NS after a packet, while the program keeps polling and nothing else happens; if it
 * has waited in vain, the next ones do not wait. It never decides what is acknowledged.
 * Start with engine_holds().
 */
#include "plx_engine_cycle.h"

enum {
	HOLD_PACKETS = 8,      /* received: enough for an ACK, and few for a send queue */
	HOLD_STEADY_NS = 1000, /* between two polls of a program that keeps polling */
	HOLD_NS = 2500,        /* after a packet */
	HOLD_MAX_NS = 20000,   /* in all */
	SKIPS_MIN = 64,        /* ACKs that do not wait after one that has waited in vain, */
	SKIPS_MAX = 4096,      /* ... and after many */
};

void
engine_hold_forget(struct plx_engine *engine, const struct engine_qp *qp)
{
	if (engine->hold.qp == qp)
		engine->hold.qp = NULL;
}

void
engine_hold_time(struct plx_engine *engine)
{
	struct hold *hold = &engine->hold;

	hold->is_steady = engine->now - hold->polled_at <= HOLD_STEADY_NS;
	hold->polled_at = engine->now;
}

/* It has waited in vain: nothing came of it. */
static void
end_in_vain(struct hold *hold)
{
	struct engine_qp *qp = hold->qp;

	hold->qp = NULL;
	if (qp->ack_backoff < SKIPS_MAX)
		qp->ack_backoff =
			qp->ack_backoff < SKIPS_MIN ? SKIPS_MIN : (uint16_t)(2 * qp->ack_backoff);
	qp->ack_skips = qp->ack_backoff;
}

static void
end(struct hold *hold)
{
	hold->qp->ack_backoff = 0;
	hold->qp = NULL;
}

struct engine_qp *
engine_hold_end(struct plx_engine *engine)
{
	struct hold *hold = &engine->hold;
	struct engine_qp *qp = hold->qp;

	if (engine->now - hold->since > HOLD_MAX_NS)
		end_in_vain(hold);
	else
		end(hold);
	return qp;
}

/* Nothing is sent for the packets of this burst, but the entries that they have freed are free. */
static void
take(struct plx_engine *engine, struct engine_qp *qp)
{
	engine_sq_publish(&qp->sq, qp->send_cq);
	engine_rq_publish(qp->recv, qp->recv_cq);
	qp->is_received = false;
	engine->received_count = 0;
}

bool
engine_holds_on(struct plx_engine *engine, uint32_t received)
{
	struct hold *hold = &engine->hold;
	struct engine_qp *qp = hold->qp;

	if (engine->received_count == 0 && engine->now < hold->until && hold->is_steady)
		return true;
	hold->packets += received;
	if (engine->received_count == 0 || engine->now - hold->since > HOLD_MAX_NS) {
		end_in_vain(hold);
		return false;
	}
	if (engine->received_count > 1 || engine->received[0] != qp ||
	    hold->packets >= HOLD_PACKETS || !plx_rc_owes_only_ack(qp->rc)) {
		end(hold);
		return false;
	}
	hold->until = engine->now + HOLD_NS;
	take(engine, qp);
	return true;
}

bool
engine_holds(struct plx_engine *engine, struct engine_qp *qp, uint32_t received)
{
	struct hold *hold = &engine->hold;

	if (!hold->is_steady || received >= HOLD_PACKETS || engine->ready_count > 0 ||
	    !plx_rc_owes_only_ack(qp->rc))
		return false;
	if (qp->ack_skips > 0) {
		qp->ack_skips--;
		return false;
	}
	hold->qp = qp;
	hold->since = engine->now;
	hold->until = engine->now + HOLD_NS;
	hold->packets = received;
	take(engine, qp);
	return true;
}
