/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that another program may take, whatever the one that has them does meanwhile: it
 * computes, is stopped, or has ended (decision 56). They are parked when they are taken, or when
 * what their program had posted is done after its end. Start with host_loan_take().
 *
 * Locks: whoever takes holds the lender's `served`, and then the parking's. A taker that looks for
 * a loan has the parking's, and tries the lender's.
 */
#include "host.h"

bool
host_is_lent(const struct host_queue_pair *qp)
{
	return qp->loan.token.v != 0;
}

void
host_loan_end(struct host_seat *seat, struct host_queue_pair *qp)
{
	pthread_mutex_t *lock;

	if (!host_is_lent(qp))
		return;
	(void)parking_loans(seat->parking, &lock);
	pthread_mutex_lock(lock);
	plx_list_remove(&qp->loan.link);
	pthread_mutex_unlock(lock);
	qp->loan.token.v = 0;
}

/* ---- lending ---- */

static enum plx_status
check(struct host_seat *seat, const struct host_queue_pair *qp,
      const struct host_connector *connector, struct plx_why *why)
{
	if (!seat->foreign) {
		plx_why_set(why,
			    "adapter %s is the program's own; queue pairs are lent between "
			    "programs that are attached to one host",
			    seat->adapter->info.name);
		return PLX_INVALID;
	}
	if (qp->made.type != PLX_QP_RC ||
	    (connector != NULL && connector->qp.v != qp->object.number)) {
		plx_why_set(why, "queue pair 0x%06x has another connector, or none", qp->made.qpn);
		return PLX_INVALID;
	}
	if (plx_qp_back_state(qp->listed.back) != PLX_QP_RTS) {
		plx_why_set(why, "queue pair 0x%06x is in %s; only a connected one is lent",
			    qp->made.qpn, plx_qp_state_name(plx_qp_back_state(qp->listed.back)));
		return PLX_STATE;
	}
	return PLX_OK;
}

void
host_lend(struct host_seat *seat, struct host_queue_pair *qp, struct plx_object connector,
	  struct plx_qp_token token, uint32_t heir)
{
	struct plx_list *loans;
	pthread_mutex_t *lock;

	host_loan_end(seat, qp);
	qp->loan.token = token;
	qp->loan.heir = heir;
	qp->loan.seat = seat;
	qp->loan.connector = connector;
	loans = parking_loans(seat->parking, &lock);
	pthread_mutex_lock(lock);
	plx_list_append(loans, &qp->loan.link);
	pthread_mutex_unlock(lock);
}

HOST_FN(host_qp_lend)
{
	const struct plx_ipc_qp_export *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_connector *connector = host_find(seat, request->connector, HOST_CONNECTOR);
	struct plx_ipc_qp_exported *lent = reply;
	enum plx_status status;

	if (qp == NULL || (request->connector.v != 0 && connector == NULL))
		return PLX_NO_KEY;
	status = check(seat, qp, connector, why);
	if (status != PLX_OK)
		return status;
	lent->token = parking_token();
	host_lend(seat, qp, request->connector, lent->token, request->seat);
	return PLX_OK;
}

/* ---- taking ---- */

/* The seat's calls are not served meanwhile. */
static enum plx_status
park(struct host_seat *seat, struct host_queue_pair *qp)
{
	struct host_connector *connector = host_find(seat, qp->loan.connector, HOST_CONNECTOR);
	const struct host_terms terms = {qp->loan.token, qp->loan.heir, qp->loan.heir};
	enum plx_status status = PLX_STATE;

	/* Without its connector it is connected no more. */
	if (qp->loan.connector.v == 0 || connector != NULL)
		status = host_park(seat, qp, connector, &terms, NULL);
	if (status == PLX_OK || status == PLX_STATE)
		host_loan_end(seat, qp);
	return status;
}

enum plx_status
host_loan_leave(struct host_seat *seat, struct host_queue_pair *qp)
{
	return host_is_lent(qp) ? park(seat, qp) : PLX_OK;
}

/* NULL: there is none; the lock is held */
static struct host_queue_pair *
find(const struct host_seat *seat, struct plx_list *loans, const struct plx_qp_token *token)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, loans) {
		struct host_loan *loan = plx_list_entry(node, struct host_loan, link);

		if (loan->token.v == token->v && loan->heir == seat->number)
			return plx_list_entry(loan, struct host_queue_pair, loan);
	}
	return NULL;
}

/* The lender's calls are not served then, so its queue pair stays.
 * Returns: NO_KEY: there is none; BUSY: its program's call is served */
static enum plx_status
find_and_lock(const struct host_seat *seat, const struct plx_qp_token *token,
	      struct host_queue_pair **out)
{
	pthread_mutex_t *lock;
	struct plx_list *loans = parking_loans(seat->parking, &lock);
	enum plx_status status = PLX_NO_KEY;

	pthread_mutex_lock(lock);
	*out = find(seat, loans, token);
	if (*out != NULL && pthread_mutex_trylock(&(*out)->loan.seat->served) == 0)
		status = PLX_OK;
	else if (*out != NULL)
		status = PLX_BUSY;
	pthread_mutex_unlock(lock);
	return status;
}

enum plx_status
host_loan_take(struct host_seat *seat, const struct plx_qp_token *token)
{
	struct host_queue_pair *qp;
	enum plx_status status;

	/* Two that take from each other do not wait for each other. */
	pthread_mutex_unlock(&seat->served);
	status = find_and_lock(seat, token, &qp);
	if (status == PLX_OK) {
		struct host_seat *lender = qp->loan.seat;

		status = park(lender, qp);
		pthread_mutex_unlock(&lender->served);
	}
	pthread_mutex_lock(&seat->served);
	return status;
}
