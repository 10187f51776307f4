/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From two addresses to a connection: the steps from RESET to RTS, and waiting for the neighbour.
 * The host of the adapter checks what both ends agree on (lib/host/qp_terms.c).
 * Start with plx_qp_connect().
 */
#include "plx_address_text.h"
#include "plx_objects.h"

enum {
	RETRY_DEFAULT = 7,
	RNR_RETRY_DEFAULT = 6,
	RNR_TIMER_DEFAULT =
		29, /* 245.76 ms; with six retries, a missing receive is reported after 1.5 s */
	ACK_TIMEOUT_DEFAULT = 14, /* 67 ms */
	DSCP_OF_ADAPTER = 0xff,
};

#define NEIGHBOUR_PAUSE_NS (1 * PLX_MSEC)
#define PEER_ACCESS \
	(uint32_t)(PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

void
plx_qp_attr_init(struct plx_qp_attr *attr)
{
	*attr = (struct plx_qp_attr){
		.access = PEER_ACCESS,
		.retry = RETRY_DEFAULT,
		.rnr_retry = RNR_RETRY_DEFAULT,
		.rnr_timer = RNR_TIMER_DEFAULT,
		.ack_timeout = ACK_TIMEOUT_DEFAULT,
		.dscp = DSCP_OF_ADAPTER,
	};
}

/* ---- steps ---- */

/* @param peer NULL: the step has no terms */
static enum plx_status
step(struct plx_qp *qp, enum plx_qp_state to, const struct plx_qp_address *peer,
     const struct plx_qp_attr *attr, struct plx_why *why)
{
	struct plx_ipc_qp_modify request = {.object = {qp->object}, .to = to};
	struct plx_ipc_nothing none;

	if (peer != NULL) {
		request.has_terms = 1;
		request.peer = *peer;
		request.attr = *attr;
	}
	return adapter_call(adapter_of(qp), PLX_IPC_QP_MODIFY, &request, &none, why);
}

static enum plx_status
check_terms(const struct plx_qp_address *peer, const struct plx_qp_attr *attr, struct plx_why *why)
{
	if (peer != NULL && attr != NULL)
		return PLX_OK;
	plx_why_set(why, "no %s given; a connection needs the peer's address and attributes",
		    peer == NULL ? "peer" : "attributes");
	return PLX_INVALID;
}

/* Move from INIT to RTR, waiting for the neighbour. */
static enum plx_status
resolve_to_rtr(struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	       uint32_t timeout_ms, struct plx_why *why)
{
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;

	for (;;) {
		enum plx_status status = step(qp, PLX_QP_RTR, peer, attr, why);

		if (status != PLX_AGAIN || timeout_ms == 0)
			return status;
		if (plx_steady_ns() >= deadline) {
			plx_why_set(why,
				    "%s has not answered for its Ethernet address within %u ms; "
				    "check that the peer runs, or give it longer",
				    plx_address_text(&peer->ip).s, timeout_ms);
			return PLX_TIMEOUT;
		}
		plx_adapter_pause(adapter_of(qp), NEIGHBOUR_PAUSE_NS);
	}
}

enum plx_status
plx_qp_connect(struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	       uint32_t timeout_ms, struct plx_why *why)
{
	bool from_reset = plx_engine_qp_state(qp) == PLX_QP_RESET;
	enum plx_status status;

	if (qp->sq.ud) {
		plx_why_set(why,
			    "queue pair 0x%06x is for datagrams, which have no peer; take it to "
			    "RTS by plx_qp_modify()",
			    qp->qpn);
		return PLX_INVALID;
	}
	status = check_terms(peer, attr, why);
	if (status == PLX_OK && from_reset)
		status = step(qp, PLX_QP_INIT, NULL, NULL, why);
	if (status != PLX_OK)
		return status;
	status = resolve_to_rtr(qp, peer, attr, timeout_ms, why);
	if (status == PLX_OK)
		return step(qp, PLX_QP_RTS, peer, attr, why);
	/* A refused call changes nothing. If it began in INIT, its receives are still posted. */
	if (from_reset)
		(void)!step(qp, PLX_QP_RESET, NULL, NULL, NULL);
	return status;
}

enum plx_status
plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to, const struct plx_qp_address *peer,
	      const struct plx_qp_attr *attr, struct plx_why *why)
{
	bool needs_terms =
		to == PLX_QP_RTR || (to == PLX_QP_RTS && plx_engine_qp_state(qp) != PLX_QP_SQD);
	enum plx_status status;

	if (qp->sq.ud || !needs_terms)
		return step(qp, to, NULL, NULL, why);
	status = check_terms(peer, attr, why);
	return status == PLX_OK ? step(qp, to, peer, attr, why) : status;
}
