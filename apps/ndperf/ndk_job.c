/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The NDK objects of an endpoint during a job: the region, completion queues, queue pairs and their
 * connections. What is pending is polled for, never slept on. It never moves a message. Start with
 * ndk_job_connect().
 */
#include "ndk_parts.h"

#include "clock.h"

#include <arpa/inet.h>
#include <string.h>

enum {
	GREETING_WORDS = 2,  /* of a request's private data: the job's nonce and the lane */
	MDL_BYTES = 1 << 30, /* an MDL's length has 32 bits */
};

/* ---- memory, queues ---- */

static void
free_mdls(struct ndk *ndk)
{
	while (ndk->mdl != NULL) {
		MDL *next = ndk->mdl->Next;
		IoFreeMdl(ndk->mdl);
		ndk->mdl = next;
	}
}

static bool
make_mdls(struct ndk *ndk, void *memory, uint64_t bytes)
{
	MDL **end = &ndk->mdl;
	for (uint64_t at = 0; at < bytes; at += MDL_BYTES) {
		uint64_t left = bytes - at;
		*end = IoAllocateMdl((char *)memory + at,
				     (ULONG)(left < MDL_BYTES ? left : MDL_BYTES), FALSE, FALSE,
				     NULL);
		if (*end == NULL)
			return false;
		MmBuildMdlForNonPagedPool(*end);
		end = &(*end)->Next;
	}
	return true;
}

bool
ndk_job_register(struct side *side, uint64_t bytes)
{
	const ULONG access = NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE;
	struct ndk *ndk = side->ndk;
	NTSTATUS status =
		ndk_await(side, &ndk->call,
			  ndk->pd->Dispatch->NdkCreateMr(ndk->pd, FALSE, ndk_on_created,
							 ndk_begin(&ndk->call), &ndk->mr));
	if (status == STATUS_SUCCESS && ndk->call.object != NULL)
		ndk->mr = (NDK_MR *)(void *)ndk->call.object;
	if (status == STATUS_SUCCESS && !make_mdls(ndk, side->memory, bytes))
		status = STATUS_INSUFFICIENT_RESOURCES;
	if (status == STATUS_SUCCESS)
		status = ndk_await(side, &ndk->call,
				   ndk->mr->Dispatch->NdkRegisterMr(ndk->mr, ndk->mdl, bytes,
								    access, ndk_on_done,
								    ndk_begin(&ndk->call)));
	if (status != STATUS_SUCCESS)
		return ndk_failed(side, "memory cannot be registered", status);
	side->key.v = ndk->mr->Dispatch->NdkGetLocalTokenFromMr(ndk->mr);
	ndk->remote = ndk->mr->Dispatch->NdkGetRemoteTokenFromMr(ndk->mr);
	return true;
}

/* Nothing is armed, so nobody is called. */
static VOID
on_notify(PVOID context, NTSTATUS status)
{
	(void)context, (void)status;
}

static NTSTATUS
make_queue(struct side *side, enum queue queue, uint64_t depth)
{
	struct ndk *ndk = side->ndk;
	ULONG most = ndk->limits.MaxCqDepth;
	NTSTATUS status =
		ndk_await(side, &ndk->call,
			  ndk->adapter->Dispatch->NdkCreateCq(
				  ndk->adapter, depth < most ? (ULONG)depth : most, on_notify, NULL,
				  NULL, ndk_on_created, ndk_begin(&ndk->call), &ndk->cq[queue]));
	if (status == STATUS_SUCCESS && ndk->call.object != NULL)
		ndk->cq[queue] = (NDK_CQ *)(void *)ndk->call.object;
	return status;
}

static NTSTATUS
make_pair(struct side *side, uint32_t lane, uint32_t receives, uint32_t sends)
{
	struct ndk *ndk = side->ndk;
	NDK_QP *qp = NULL;
	NTSTATUS status = ndk_await(
		side, &ndk->call,
		ndk->pd->Dispatch->NdkCreateQp(ndk->pd, ndk->cq[QUEUE_RECEIVE], ndk->cq[QUEUE_SEND],
					       (PVOID)(uintptr_t)lane, receives, sends, 1, 1,
					       side->job.inline_bytes, ndk_on_created,
					       ndk_begin(&ndk->call), &qp));
	if (status == STATUS_SUCCESS)
		side->lanes[lane].face_qp = qp != NULL ? (void *)qp : (void *)ndk->call.object;
	return status;
}

bool
ndk_job_make_queues(struct side *side, uint32_t sends)
{
	const struct job *job = &side->job;
	struct ndk *ndk = side->ndk;
	uint32_t receives = side->rq_depth != 0 ? side->rq_depth : 1;
	NTSTATUS status = make_queue(side, QUEUE_SEND, (uint64_t)sends * job->qps);
	if (status == STATUS_SUCCESS)
		status = make_queue(side, QUEUE_RECEIVE, (uint64_t)(receives + 1) * job->qps);
	if (status != STATUS_SUCCESS)
		return ndk_failed(side, "no completion queue", status);
	for (uint32_t i = 0; i < job->qps; i++) {
		status = make_pair(side, i, receives, sends);
		if (status != STATUS_SUCCESS)
			return ndk_failed(side, "no queue pair", status);
	}
	ndk->nonce = (uint32_t)ticks();
	return true;
}

void
ndk_job_cards(const struct side *side, struct card *cards)
{
	for (uint32_t i = 0; i < side->job.qps; i++) {
		cards[i] = (struct card){
			.address =
				{
					.qpn = side->ndk->port,
					.psn = side->ndk->nonce,
					.ip = side->info.address[0],
				},
			.va = (uint64_t)(uintptr_t)side->lanes[i].target,
			.rkey = {side->ndk->remote},
		};
	}
}

/* ---- connections ---- */

/* A request that finds no room is rejected by its close, which completes into nothing of a job's.
 */
VOID
ndk_on_request(PVOID context, NDK_CONNECTOR *connector)
{
	struct ndk *ndk = context;
	bool has_room;
	pthread_mutex_lock(&ndk->lock);
	has_room = ndk->requests < QPS_MAX;
	if (has_room)
		ndk->requested[(ndk->first + ndk->requests++) % QPS_MAX] = connector;
	pthread_mutex_unlock(&ndk->lock);
	if (!has_room)
		ndk_close_begin(ndk, &connector->Header, connector->Dispatch->NdkCloseConnector);
}

static NDK_CONNECTOR *
take_request(struct ndk *ndk)
{
	NDK_CONNECTOR *connector = NULL;
	pthread_mutex_lock(&ndk->lock);
	if (ndk->requests > 0) {
		connector = ndk->requested[ndk->first];
		ndk->first = (ndk->first + 1) % QPS_MAX;
		ndk->requests--;
	}
	pthread_mutex_unlock(&ndk->lock);
	return connector;
}

static void
drop_connector(struct ndk *ndk, NDK_CONNECTOR *connector)
{
	if (connector != NULL)
		ndk_close_begin(ndk, &connector->Header, connector->Dispatch->NdkCloseConnector);
}

void
ndk_job_drop_requests(struct ndk *ndk)
{
	for (NDK_CONNECTOR *one = take_request(ndk); one != NULL; one = take_request(ndk))
		drop_connector(ndk, one);
}

/* Active: NdkConnect. The local address is ours of the same family as the peer's. */
static NTSTATUS
request(struct side *side, uint32_t lane, const struct card *card)
{
	struct ndk *ndk = side->ndk;
	struct ndk_line *line = &ndk->line[lane];
	uint32_t greeting[GREETING_WORDS] = {htonl(card->address.psn), htonl(lane)};
	struct sockaddr_storage here, there;
	uint32_t at = 0;
	while (at + 1 < side->info.addresses &&
	       side->info.address[at].version != card->address.ip.version)
		at++;
	ULONG here_bytes = face_sockaddr(&side->info.address[at], 0, &here);
	ULONG there_bytes = face_sockaddr(&card->address.ip, (uint16_t)card->address.qpn, &there);
	NTSTATUS status = ndk_await(
		side, &ndk->call,
		ndk->adapter->Dispatch->NdkCreateConnector(
			ndk->adapter, ndk_on_created, ndk_begin(&ndk->call), &line->connector));
	if (status != STATUS_SUCCESS)
		return status;
	if (ndk->call.object != NULL)
		line->connector = (NDK_CONNECTOR *)(void *)ndk->call.object;
	return line->connector->Dispatch->NdkConnect(
		line->connector, side->lanes[lane].face_qp, (PSOCKADDR)(void *)&here, here_bytes,
		(PSOCKADDR)(void *)&there, there_bytes, ndk->limits.MaxInboundReadLimit,
		ndk->limits.MaxOutboundReadLimit, greeting, sizeof(greeting), ndk_on_done,
		ndk_begin(&line->request));
}

/* Is this the request for the lane, and of this job? */
static bool
is_ours(const struct side *side, uint32_t lane, NDK_CONNECTOR *connector)
{
	uint8_t said[256];
	uint32_t greeting[GREETING_WORDS];
	ULONG bytes = sizeof(said);
	NTSTATUS status =
		connector->Dispatch->NdkGetConnectionData(connector, NULL, NULL, said, &bytes);
	/* received private data may be longer than what was sent */
	memcpy(greeting, said, sizeof(greeting));
	return status == STATUS_SUCCESS && bytes >= sizeof(greeting) &&
	       ntohl(greeting[0]) == side->ndk->nonce && ntohl(greeting[1]) == lane;
}

/* Passive: accept the lane's request; all others are rejected by their close.
 * Returns: STATUS_NOT_FOUND: it has not come */
static NTSTATUS
accept_request(struct side *side, uint32_t lane)
{
	struct ndk *ndk = side->ndk;
	struct ndk_line *line = &ndk->line[lane];
	NDK_CONNECTOR *connector = take_request(ndk);
	if (connector == NULL)
		return STATUS_NOT_FOUND;
	if (!is_ours(side, lane, connector)) {
		drop_connector(ndk, connector);
		return STATUS_NOT_FOUND;
	}
	line->connector = connector;
	line->stage = NDK_STAGE_ACCEPTED;
	return connector->Dispatch->NdkAccept(connector, side->lanes[lane].face_qp,
					      ndk->limits.MaxInboundReadLimit,
					      ndk->limits.MaxOutboundReadLimit, NULL, 0, NULL, NULL,
					      ndk_on_done, ndk_begin(&line->request));
}

/* Make the next request of a lane.
 * Returns: the status of that call */
static NTSTATUS
advance(struct side *side, uint32_t lane, const struct card *card)
{
	struct ndk_line *line = &side->ndk->line[lane];
	switch (line->stage) {
	case NDK_STAGE_NONE:
		if (!side->is_active)
			return accept_request(side, lane);
		line->stage = NDK_STAGE_REQUESTED;
		return request(side, lane, card);
	case NDK_STAGE_REQUESTED:
		line->stage = NDK_STAGE_ACCEPTED;
		return line->connector->Dispatch->NdkCompleteConnect(
			line->connector, NULL, NULL, ndk_on_done, ndk_begin(&line->request));
	case NDK_STAGE_ACCEPTED:
	case NDK_STAGE_UP:
		line->stage = NDK_STAGE_UP;
		break;
	}
	return STATUS_SUCCESS;
}

/* Connect one lane after the other, so that requests arrive in the order of the lanes. */
enum plx_status
ndk_job_connect(struct side *side, const struct card *cards)
{
	for (uint32_t i = 0; i < side->job.qps; i++) {
		struct ndk_line *line = &side->ndk->line[i];
		side->lanes[i].peer = cards[i];
		while (line->stage != NDK_STAGE_UP) {
			NTSTATUS status = line->request.status;
			if (status == STATUS_PENDING)
				return PLX_AGAIN;
			if (status == STATUS_SUCCESS)
				status = advance(side, i, &cards[i]);
			if (status == STATUS_NOT_FOUND)
				return PLX_AGAIN;
			if (status != STATUS_SUCCESS && status != STATUS_PENDING) {
				ndk_failed(side, "a queue pair cannot be connected", status);
				return PLX_UNREACHABLE;
			}
			/* a call that has ended in itself has no completion */
			if (status == STATUS_SUCCESS)
				line->request.status = STATUS_SUCCESS;
		}
	}
	return PLX_OK;
}

void
ndk_job_clear(struct side *side)
{
	struct ndk *ndk = side->ndk;
	for (uint32_t i = 0; i < QPS_MAX; i++) {
		drop_connector(ndk, ndk->line[i].connector);
		ndk->line[i].connector = NULL;
	}
	for (uint32_t i = 0; side->lanes != NULL && i < side->job.qps; i++) {
		NDK_QP *qp = side->lanes[i].face_qp;
		if (qp != NULL)
			ndk_close_begin(ndk, &qp->Header, qp->Dispatch->NdkCloseQp);
	}
	if (ndk->mr != NULL)
		ndk_close_begin(ndk, &ndk->mr->Header, ndk->mr->Dispatch->NdkCloseMr);
	ndk->mr = NULL;
	for (uint32_t i = 0; i < QUEUES; i++) {
		if (ndk->cq[i] != NULL)
			ndk_close_begin(ndk, &ndk->cq[i]->Header, ndk->cq[i]->Dispatch->NdkCloseCq);
		ndk->cq[i] = NULL;
	}
	ndk_await_closed(side);
	/* what was pending has completed before its connector's close */
	memset(ndk->line, 0, sizeof(ndk->line));
	free_mdls(ndk);
}
