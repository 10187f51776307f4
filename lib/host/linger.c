/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that outlive their program until the host has finished what they had posted. They
 * keep what they use: their seat ends after them. Those that were lent are parked then. Start with
 * host_linger_begin().
 */
#include "host.h"

enum {
	LENT_MS = 5000, /* what was lent lingers so long at least */
};

HOST_FN(host_qp_linger)
{
	const struct plx_ipc_qp_linger *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->object, HOST_QP);

	(void)reply;
	if (qp == NULL)
		return PLX_NO_KEY;
	if (!seat->foreign) {
		plx_why_set(why,
			    "adapter %s is the program's own, and ends with it; attach the program "
			    "to a host, which finishes what it leaves",
			    seat->adapter->info.name);
		return PLX_INVALID;
	}
	if (qp->made.type != PLX_QP_RC) {
		plx_why_set(why, "queue pair 0x%06x has no connection that could be finished",
			    qp->made.qpn);
		return PLX_INVALID;
	}
	if (request->ms > PLX_LINGER_MAX_MS) {
		plx_why_set(why, "a linger time of %u ms; give at most %d", request->ms,
			    PLX_LINGER_MAX_MS);
		return PLX_INVALID;
	}
	qp->linger_ms = request->ms;
	return PLX_OK;
}

/* ---- the end of the program ---- */

/* Nothing is posted any more, and all that was is acknowledged; or it is of no use. */
static bool
has_finished(const struct host_queue_pair *qp)
{
	struct plx_rc_view view;

	/* An engine that does not run may do so yet. */
	if (plx_qp_back_query(qp->listed.back, &view) != PLX_OK)
		return false;
	return view.state != PLX_QP_RTS || view.sq_posted == view.sq_consumed;
}

void
host_linger_begin(struct host_seat *seat)
{
	struct host_object *object;

	for (uint32_t i = 0; (object = host_next(seat, &i)) != NULL; i++) {
		struct host_queue_pair *qp = (struct host_queue_pair *)object;

		if (object->kind != HOST_QP || (qp->linger_ms == 0 && !host_is_lent(qp)) ||
		    plx_qp_back_state(qp->listed.back) != PLX_QP_RTS)
			continue;
		qp->lingers = plx_qp_back_freeze(qp->listed.back) == PLX_OK;
	}
}

bool
host_lingers(struct host_seat *seat, const struct host_object *object)
{
	const struct host_queue_pair *qp = NULL;

	if (object->kind == HOST_QP)
		qp = (const struct host_queue_pair *)object;
	if (object->kind == HOST_CONNECTOR)
		qp = host_find(seat, ((const struct host_connector *)object)->qp, HOST_QP);
	return qp != NULL && qp->lingers;
}

/* Returns: true: it needs more time, `ms` after the end */
static bool
lingers_on(struct host_seat *seat, struct host_queue_pair *qp, uint64_t ms)
{
	uint64_t most = qp->linger_ms;

	if (host_is_lent(qp) && most < LENT_MS)
		most = LENT_MS;
	if (ms >= most || host_stops(seat))
		return false;
	return !has_finished(qp) || host_loan_leave(seat, qp) == PLX_BUSY;
}

/* Returns: how many have not finished */
static uint32_t
look(struct host_seat *seat, uint64_t ms)
{
	struct host_object *object;
	uint32_t left = 0;

	for (uint32_t i = 0; (object = host_next(seat, &i)) != NULL; i++) {
		struct host_queue_pair *qp = (struct host_queue_pair *)object;

		if (object->kind != HOST_QP || !qp->lingers)
			continue;
		qp->lingers = lingers_on(seat, qp, ms);
		left += qp->lingers;
	}
	return left;
}

void
host_linger_end(struct host_seat *seat)
{
	uint64_t begun = plx_clock_ns();
	uint32_t left;

	do {
		pthread_mutex_lock(&seat->served);
		left = look(seat, (plx_clock_ns() - begun) / PLX_MSEC);
		/* Those that have finished do not wait for others; what cannot end now ends later.
		 */
		(void)host_destroy_all(seat, HOST_CONNECTOR);
		(void)host_destroy_all(seat, HOST_QP);
		pthread_mutex_unlock(&seat->served);
		if (left > 0)
			host_pause();
	} while (left > 0);
}
