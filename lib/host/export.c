/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that change hands (decision 47). Between two programs a connection is in a queue pair
 * of the host's own, which has no receives and no keys, and its connector is in a channel that
 * delivers nothing. A token names it for one other seat. Start with host_park().
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "host.h"

enum {
	EXPORTS_MAX = 256,    /* of one seat at a time */
	WAIT_MS = 5000,       /* for an importer, after the exporter's end */
	SETTLE_MS = 100,      /* for replies of the parked queue pair that are due */
	LOAN_MS = 3,          /* for what was posted of one that is lent */
	PARKED_CQ_DEPTH = 64, /* nothing completes there */
};

/* One that no program has now. */
struct export
{
	struct plx_list link; /* in parking->exports */
	uint32_t from;        /* the seat */
	struct host_terms terms;
	bool importing; /* a seat does */
	uint32_t engine;
	struct engine_qp *qp;
	struct engine_connector *connector; /* NULL: none */
	uint32_t responder_resources;
};

/* What queue pairs are made with in the meantime. */
struct parking {
	struct host_adapter *adapter;
	struct engine_cq *cq[PLX_ENGINES_MAX];
	struct engine_channel *channel; /* delivers nothing */
	pthread_mutex_t lock;
	struct plx_list exports, loans;
};

/* ---- the place ---- */

struct parking *
parking_create(struct host_adapter *adapter)
{
	const struct plx_engine_cq_config config = {.depth = PARKED_CQ_DEPTH};
	struct parking *parking = calloc(1, sizeof(*parking));
	enum plx_status status = PLX_OK;

	if (parking == NULL)
		return NULL;
	parking->adapter = adapter;
	pthread_mutex_init(&parking->lock, NULL);
	plx_list_init(&parking->exports);
	plx_list_init(&parking->loans);
	for (uint32_t i = 0; i < adapter->engines && status == PLX_OK; i++)
		status = plx_cq_back_create(plx_seat_back_own(adapter->engine[i]), &config,
					    &parking->cq[i]);
	if (status == PLX_OK)
		status = plx_channel_back_create(plx_seat_back_own(adapter->engine[0]), 1,
						 &parking->channel);
	if (status != PLX_OK) {
		parking_destroy(parking);
		return NULL;
	}
	plx_channel_back_hold(parking->channel);
	return parking;
}

void
parking_destroy(struct parking *parking)
{
	if (parking == NULL)
		return;
	PLX_ASSERT(plx_list_empty(&parking->exports));
	while (parking->channel != NULL && plx_channel_back_destroy(parking->channel) != PLX_OK)
		host_pause();
	for (uint32_t i = 0; i < parking->adapter->engines; i++)
		while (parking->cq[i] != NULL && plx_cq_back_destroy(parking->cq[i]) != PLX_OK)
			host_pause();
	pthread_mutex_destroy(&parking->lock);
	free(parking);
}

struct plx_list *
parking_loans(struct parking *parking, pthread_mutex_t **lock)
{
	*lock = &parking->lock;
	return &parking->loans;
}

/* ---- exports ---- */

static void
list(struct parking *parking, struct export *export)
{
	pthread_mutex_lock(&parking->lock);
	plx_list_append(&parking->exports, &export->link);
	pthread_mutex_unlock(&parking->lock);
}

/* Find one that a seat may have; nobody else can import it until it is put back.
 * Errors: NO_KEY; BUSY (another seat imports it) */
static enum plx_status
take(struct host_seat *seat, const struct plx_qp_token *token, struct export **out)
{
	struct parking *parking = seat->parking;
	enum plx_status status = PLX_NO_KEY;
	struct plx_list *node, *after;

	pthread_mutex_lock(&parking->lock);
	plx_list_for_each (node, after, &parking->exports) {
		struct export *export = plx_list_entry(node, struct export, link);

		if (export->terms.token.v != token->v ||
		    (export->terms.to != seat->number && export->terms.heir != seat->number &&
		     export->from != seat->number))
			continue;
		status = export->importing ? PLX_BUSY : PLX_OK;
		if (status == PLX_OK) {
			export->importing = true;
			*out = export;
		}
		break;
	}
	pthread_mutex_unlock(&parking->lock);
	return status;
}

static void
put_back(struct parking *parking, struct export *export)
{
	pthread_mutex_lock(&parking->lock);
	export->importing = false;
	pthread_mutex_unlock(&parking->lock);
}

static void
unlist(struct parking *parking, struct export *export)
{
	pthread_mutex_lock(&parking->lock);
	plx_list_remove(&export->link);
	pthread_mutex_unlock(&parking->lock);
}

/* How many a seat has exported that nobody has imported yet.
 * @param to_others those that it alone may import do not count
 * @param any [out] one of them that is not imported now, taken off the list; NULL: leave them */
static uint32_t
count_of(struct host_seat *seat, bool to_others, struct export **any)
{
	struct parking *parking = seat->parking;
	struct plx_list *node, *after;
	uint32_t n = 0;

	pthread_mutex_lock(&parking->lock);
	plx_list_for_each (node, after, &parking->exports) {
		struct export *export = plx_list_entry(node, struct export, link);

		if (export->from != seat->number || (to_others && export->terms.to == seat->number))
			continue;
		n++;
		if (any != NULL && !export->importing)
			*any = export;
	}
	if (any != NULL && *any != NULL)
		plx_list_remove(&(*any)->link);
	pthread_mutex_unlock(&parking->lock);
	return n;
}

/* An engine that does not run is waited for, as at the end of a seat. */
static void
free_parked(struct engine_qp *qp)
{
	while (plx_qp_back_destroy(qp) != PLX_OK)
		host_pause();
}

/* The connection ends, and its peer is told. */
static void
end_export(struct export *export)
{
	while (export->connector != NULL && plx_connector_back_destroy(export->connector) != PLX_OK)
		host_pause();
	free_parked(export->qp);
	free(export);
}

void
host_exports_end(struct host_seat *seat)
{
	struct export *export = NULL;

	for (int ms = 0; ms < WAIT_MS && !host_stops(seat) && count_of(seat, true, NULL) > 0; ms++)
		host_pause();
	for (; count_of(seat, false, &export) > 0; export = NULL) {
		if (export != NULL)
			end_export(export);
		else
			host_pause();
	}
}

/* ---- exporting ---- */

static enum plx_status
check_export(struct host_seat *seat, const struct host_queue_pair *qp, struct plx_why *why)
{
	if (!seat->foreign) {
		plx_why_set(why,
			    "adapter %s is the program's own; queue pairs change hands between "
			    "programs that are attached to one host",
			    seat->adapter->info.name);
		return PLX_INVALID;
	}
	if (qp->made.type != PLX_QP_RC) {
		plx_why_set(why, "queue pair 0x%06x has no connection that could change hands",
			    qp->made.qpn);
		return PLX_INVALID;
	}
	if (count_of(seat, false, NULL) >= EXPORTS_MAX) {
		plx_why_set(why,
			    "%d exported queue pairs wait for the programs that they are for; "
			    "let those import them first",
			    EXPORTS_MAX);
		return PLX_FULL;
	}
	return PLX_OK;
}

static enum plx_status
make_parked(struct host_seat *seat, const struct host_queue_pair *qp, struct export *export)
{
	const struct qp_back_config config = {
		.type = PLX_QP_RC,
		.domain = {0}, /* none: no key is valid */
		.send_cq = seat->parking->cq[qp->engine],
		.recv_cq = seat->parking->cq[qp->engine],
		.caps = {.sq_depth = 1, .responder_resources = qp->made.caps.responder_resources},
		.rq_depth = 1,
		.rq_sges = 1,
	};

	return plx_qp_back_create(&config, &export->qp);
}

static enum plx_status
explain_export(enum plx_status status, const struct host_queue_pair *qp, struct plx_why *why)
{
	if (status == PLX_BUSY)
		plx_why_set(why,
			    "queue pair 0x%06x has requests that are not completed, or a message "
			    "of its peer has begun; go on and call again",
			    qp->made.qpn);
	else if (status == PLX_STATE)
		plx_why_set(why, "queue pair 0x%06x is in %s; only a connected one changes hands",
			    qp->made.qpn, plx_qp_state_name(plx_qp_back_state(qp->listed.back)));
	else if (status == PLX_INVALID)
		plx_why_set(why, "queue pair 0x%06x has another connector, or none", qp->made.qpn);
	else if (status != PLX_OK)
		plx_why_set(why, "queue pair 0x%06x cannot change hands: %s", qp->made.qpn,
			    plx_status_text(status));
	return status;
}

/* The program's handle of it ends here. */
static void
park_connector(struct host_seat *seat, struct host_connector *connector, struct export *export)
{
	struct plx_connector_info info;

	export->connector = connector->back;
	while (plx_connector_back_move(connector->back, seat->parking->channel, 0, &info) != PLX_OK)
		host_pause();
	seat->adapter->count.connectors--;
	host_leave(seat, &connector->object);
	free(connector);
}

/* Of all adapters of this process: each is another one, until 2^32 have been issued. */
struct plx_qp_token
parking_token(void)
{
	static _Atomic uint32_t last;
	uint32_t token;

	do
		token = atomic_fetch_add(&last, 1) + 1;
	while (token == 0);
	return (struct plx_qp_token){token};
}

enum plx_status
host_park(struct host_seat *seat, const struct host_queue_pair *qp,
	  struct host_connector *connector, const struct host_terms *terms, struct plx_why *why)
{
	struct export *export = calloc(1, sizeof(*export));
	struct plx_qp_past ignored; /* the importer asks */
	enum plx_status status;

	if (export == NULL)
		return PLX_NO_MEMORY;
	*export = (struct export){.from = seat->number,
				  .terms = *terms,
				  .engine = qp->engine,
				  .responder_resources = qp->made.caps.responder_resources};
	plx_list_init(&export->link);
	status = make_parked(seat, qp, export);
	if (status == PLX_OK) {
		status = plx_qp_back_move(qp->listed.back, export->qp,
					  connector != NULL ? connector->back : NULL, &ignored);
		if (status != PLX_OK)
			free_parked(export->qp);
	}
	if (status != PLX_OK) {
		free(export);
		return explain_export(status, qp, why);
	}
	if (connector != NULL)
		park_connector(seat, connector, export);
	list(seat->parking, export);
	return PLX_OK;
}

HOST_FN(host_qp_export)
{
	const struct plx_ipc_qp_export *request = arg;
	struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_connector *connector = host_find(seat, request->connector, HOST_CONNECTOR);
	struct plx_ipc_qp_exported *reply_of = reply;
	struct host_terms terms = {.to = request->seat};
	enum plx_status status;

	if (qp == NULL || (request->connector.v != 0 && connector == NULL))
		return PLX_NO_KEY;
	status = check_export(seat, qp, why);
	if (status != PLX_OK)
		return status;
	/* Who might have taken it still may, as long as the importer has not. */
	terms.token = host_is_lent(qp) ? qp->loan.token : parking_token();
	terms.heir = host_is_lent(qp) ? qp->loan.heir : 0;
	status = host_park(seat, qp, connector, &terms, why);
	if (status != PLX_OK)
		return status;
	host_loan_end(seat, qp);
	reply_of->token = terms.token;
	return PLX_OK;
}

/* ---- importing ---- */

static enum plx_status
check_import(const struct export *export, const struct plx_ipc_qp_import *request,
	     const struct host_channel *channel, struct plx_why *why)
{
	if (request->channel.v != 0 && channel == NULL)
		return PLX_NO_KEY;
	if ((export->connector != NULL) == (channel != NULL))
		return PLX_OK;
	plx_why_set(why, channel == NULL
				 ? "the queue pair has a connector, whose events need a channel; "
				   "give one"
				 : "the queue pair has no connector, and needs no channel");
	return PLX_INVALID;
}

/* Replies may be due, because the peer has asked meanwhile. */
static enum plx_status
move_here(const struct export *export, const struct host_queue_pair *qp, struct plx_qp_past *past)
{
	enum plx_status status = PLX_BUSY;

	for (int ms = 0; ms < SETTLE_MS && status == PLX_BUSY; ms++) {
		if (ms > 0)
			host_pause();
		status = plx_qp_back_move(export->qp, qp->listed.back, export->connector, past);
	}
	return status;
}

/* The queue pair of the importer, and the connection in it. */
static enum plx_status
import(struct host_seat *seat, struct export *export, const struct plx_ipc_qp_import *request,
       struct host_queue_pair **out, struct plx_qp_past *past, struct plx_why *why)
{
	struct plx_ipc_qp_create create = request->qp;
	struct host_queue_pair *qp;
	enum plx_status status;

	create.type = PLX_QP_RC;
	create.responder_resources = export->responder_resources;
	status = host_qp_make(seat, &create, export->engine, &qp, why);
	if (status != PLX_OK)
		return status;
	/* 0 is a default of QP_CREATE's. */
	status = qp->made.caps.responder_resources == export->responder_resources
			 ? move_here(export, qp, past)
			 : PLX_INVALID;
	if (status != PLX_OK) {
		(void)host_qp_destroy(seat, &qp->object);
		plx_why_set(why, status == PLX_STATE
					 ? "the connection has ended before it was imported"
					 : "the queue pair cannot be imported now; call again");
		return status;
	}
	plx_qp_back_made(qp->listed.back, &qp->made);
	*out = qp;
	return PLX_OK;
}

static void
import_connector(struct host_seat *seat, struct export *export, struct host_connector *connector,
		 struct host_channel *channel, const struct plx_ipc_qp_import *request,
		 struct plx_ipc_qp_imported *imported)
{
	connector->back = export->connector;
	while (plx_connector_back_move(connector->back, channel->back, request->cookie,
				       &imported->info) != PLX_OK)
		host_pause();
	seat->adapter->count.connectors++;
	imported->connector.v = connector->object.number;
}

/* Find it, or take it from the program that has lent it. Errors: with a sentence: NO_KEY, BUSY,
 * STATE */
static enum plx_status
find(struct host_seat *seat, const struct plx_qp_token *token, struct export **export,
     struct plx_why *why)
{
	enum plx_status status = seat->foreign ? PLX_BUSY : PLX_NO_KEY;

	for (int ms = 0; status == PLX_BUSY && ms < LOAN_MS; ms++) {
		if (ms > 0)
			host_pause();
		status = take(seat, token, export);
		if (status != PLX_NO_KEY)
			continue;
		status = host_loan_take(seat, token);
		/* Without a loan it may have been parked since, at its program's end. */
		if (status == PLX_OK || status == PLX_NO_KEY)
			status = take(seat, token, export);
	}
	if (status == PLX_OK)
		return PLX_OK;
	if (status == PLX_BUSY) {
		plx_why_set(why, "the queue pair has requests that are not completed, or a message "
				 "of its peer has begun; call again");
		return PLX_BUSY;
	}
	if (status != PLX_NO_KEY) {
		plx_why_set(why, status == PLX_STATE
					 ? "the connection has ended before it was imported"
					 : "the queue pair cannot be taken now; call again");
		return status;
	}
	plx_why_set(why,
		    "no queue pair of adapter %s waits for this program by that token; it was "
		    "imported, is for another seat, or its program has ended",
		    seat->adapter->info.name);
	return PLX_NO_KEY;
}

HOST_FN(host_qp_import)
{
	const struct plx_ipc_qp_import *request = arg;
	struct plx_ipc_qp_imported *imported = reply;
	struct host_connector *connector = NULL;
	struct host_queue_pair *qp = NULL;
	struct host_channel *channel;
	struct export *export;
	enum plx_status status = find(seat, &request->token, &export, why);

	if (status != PLX_OK)
		return status;
	channel = host_find(seat, request->channel, HOST_CHANNEL);
	status = check_import(export, request, channel, why);
	if (status == PLX_OK && channel != NULL)
		status = host_connector_enter(seat, &connector, why); /* before anything moves */
	if (status == PLX_OK)
		status = import(seat, export, request, &qp, &imported->past, why);
	if (status != PLX_OK) {
		if (connector != NULL)
			host_connector_leave(seat, connector);
		if (status == PLX_STATE) {
			unlist(seat->parking, export);
			end_export(export);
		} else {
			put_back(seat->parking, export);
		}
		return status;
	}
	if (connector != NULL) {
		import_connector(seat, export, connector, channel, request, imported);
		connector->qp.v = qp->object.number;
	}
	if (request->heir != 0)
		host_lend(seat, qp, imported->connector, export->terms.token, request->heir);
	host_qp_tell(seat, qp, &imported->qp);
	unlist(seat->parking, export);
	free_parked(export->qp);
	free(export);
	return PLX_OK;
}
