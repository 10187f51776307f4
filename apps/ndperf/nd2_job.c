/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ND2 objects of an endpoint during a job: the region, completion queues, queue pairs and their
 * connections. Pending requests are polled, never slept on. It never moves a message. Start with
 * nd2_connect().
 */
#include "nd2_parts.h"

#include "clock.h"

#include <arpa/inet.h>
#include <string.h>

enum {
	GREETING_WORDS = 2, /* of a request's private data: the job's nonce and the lane */
};

static IUnknown *
unknown(void *object)
{
	return object;
}

/* ---- memory, queues ---- */

/* Registration ends when the engine has processed it, which is soon. */
static HRESULT
await(struct side *side, OVERLAPPED *request, HRESULT status)
{
	uint64_t deadline = ticks() + ticks_of_ms(side->job.timeout_ms);
	if (status != ND_PENDING)
		return status;
	while (!HasOverlappedIoCompleted((volatile OVERLAPPED *)request)) {
		if (ticks() > deadline)
			return ND_TIMEOUT;
		side_pause(side);
	}
	return (HRESULT)request->Internal;
}

bool
nd2_register(struct side *side, uint64_t bytes)
{
	struct nd2 *nd2 = side->nd2;
	OVERLAPPED request = {0};
	void *mr = NULL;
	HRESULT status =
		IND2Adapter_CreateMemoryRegion(nd2->adapter, &IID_IND2MemoryRegion, nd2->file, &mr);
	nd2->mr = mr;
	if (status == ND_SUCCESS)
		status = await(side, &request,
			       IND2MemoryRegion_Register(nd2->mr, side->memory, bytes,
							 ND_MR_FLAG_ALLOW_LOCAL_WRITE |
								 ND_MR_FLAG_ALLOW_REMOTE_READ |
								 ND_MR_FLAG_ALLOW_REMOTE_WRITE,
							 &request));
	if (status != ND_SUCCESS)
		return nd2_failed(side, "memory cannot be registered", status);
	side->key.v = IND2MemoryRegion_GetLocalToken(nd2->mr);
	nd2->remote = IND2MemoryRegion_GetRemoteToken(nd2->mr);
	return true;
}

static HRESULT
make_queue(struct side *side, enum queue queue, uint64_t depth)
{
	struct nd2 *nd2 = side->nd2;
	ULONG most = nd2->limits.MaxCompletionQueueDepth;
	void *cq = NULL;
	HRESULT status =
		IND2Adapter_CreateCompletionQueue(nd2->adapter, &IID_IND2CompletionQueue, nd2->file,
						  depth < most ? (ULONG)depth : most, 0, 0, &cq);
	nd2->cq[queue] = cq;
	return status;
}

bool
nd2_make_queues(struct side *side, uint32_t sends)
{
	const struct job *job = &side->job;
	struct nd2 *nd2 = side->nd2;
	uint32_t receives = side->rq_depth != 0 ? side->rq_depth : 1;
	HRESULT status = make_queue(side, QUEUE_SEND, (uint64_t)sends * job->qps);
	if (status == ND_SUCCESS)
		status = make_queue(side, QUEUE_RECEIVE, (uint64_t)(receives + 1) * job->qps);
	if (status != ND_SUCCESS)
		return nd2_failed(side, "no completion queue", status);
	for (uint32_t i = 0; i < job->qps; i++) {
		status = IND2Adapter_CreateQueuePair(
			nd2->adapter, &IID_IND2QueuePair, unknown(nd2->cq[QUEUE_RECEIVE]),
			unknown(nd2->cq[QUEUE_SEND]), (void *)(uintptr_t)i, receives, sends, 1, 1,
			job->inline_bytes, &side->lanes[i].face_qp);
		if (status != ND_SUCCESS)
			return nd2_failed(side, "no queue pair", status);
	}
	nd2->nonce = (uint32_t)ticks();
	return true;
}

void
nd2_cards(const struct side *side, struct card *cards)
{
	for (uint32_t i = 0; i < side->job.qps; i++) {
		cards[i] = (struct card){
			.address =
				{
					.qpn = side->nd2->port,
					.psn = side->nd2->nonce,
					.ip = side->info.address[0],
				},
			.va = (uint64_t)(uintptr_t)side->lanes[i].target,
			.rkey = {side->nd2->remote},
		};
	}
}

void
nd2_clear(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	for (uint32_t i = 0; i < QPS_MAX; i++) {
		struct nd2_line *line = &nd2->line[i];
		/* the last reference disconnects */
		if (line->connector != NULL)
			IND2Connector_Release(line->connector);
		memset(line, 0, sizeof(*line));
	}
	for (uint32_t i = 0; side->lanes != NULL && i < side->job.qps; i++) {
		if (side->lanes[i].face_qp != NULL)
			IND2QueuePair_Release((IND2QueuePair *)side->lanes[i].face_qp);
	}
	if (nd2->mr != NULL) {
		OVERLAPPED request = {0};
		await(side, &request, IND2MemoryRegion_Deregister(nd2->mr, &request));
		IND2MemoryRegion_Release(nd2->mr);
	}
	nd2->mr = NULL;
	for (uint32_t i = 0; i < QUEUES; i++) {
		if (nd2->cq[i] != NULL)
			IND2CompletionQueue_Release(nd2->cq[i]);
		nd2->cq[i] = NULL;
	}
}

/* ---- connections ---- */

static HRESULT
make_connector(struct nd2 *nd2, struct nd2_line *line)
{
	void *connector = NULL;
	HRESULT status;
	if (line->connector != NULL)
		return ND_SUCCESS;
	status = IND2Adapter_CreateConnector(nd2->adapter, &IID_IND2Connector, nd2->file,
					     &connector);
	line->connector = connector;
	return status;
}

/* Active: Connect. The local address is ours of the same family as the peer's. */
static HRESULT
request(struct side *side, uint32_t lane, const struct card *card)
{
	struct nd2 *nd2 = side->nd2;
	struct nd2_line *line = &nd2->line[lane];
	const uint32_t greeting[GREETING_WORDS] = {htonl(card->address.psn), htonl(lane)};
	struct sockaddr_storage here, there;
	uint32_t at = 0;
	while (at + 1 < side->info.addresses &&
	       side->info.address[at].version != card->address.ip.version)
		at++;
	ULONG length = face_sockaddr(&side->info.address[at], 0, &here);
	HRESULT status = make_connector(nd2, line);
	if (status == ND_SUCCESS)
		status = IND2Connector_Bind(line->connector, (struct sockaddr *)&here, length);
	if (status != ND_SUCCESS)
		return status;
	length = face_sockaddr(&card->address.ip, (uint16_t)card->address.qpn, &there);
	return IND2Connector_Connect(
		line->connector, unknown(side->lanes[lane].face_qp), (struct sockaddr *)&there,
		length, nd2->limits.MaxInboundReadLimit, nd2->limits.MaxOutboundReadLimit, greeting,
		sizeof(greeting), &line->request);
}

/* Passive: accept a request for the lane and this job; reject all others. */
static HRESULT
accept_request(struct side *side, uint32_t lane)
{
	struct nd2 *nd2 = side->nd2;
	struct nd2_line *line = &nd2->line[lane];
	uint8_t said[256];
	uint32_t greeting[GREETING_WORDS];
	ULONG bytes = sizeof(said);
	HRESULT status = IND2Connector_GetPrivateData(line->connector, said, &bytes);
	/* received private data may be longer than what was sent */
	memcpy(greeting, said, sizeof(greeting));
	if ((status != ND_SUCCESS && status != ND_BUFFER_OVERFLOW) || bytes < sizeof(greeting) ||
	    ntohl(greeting[0]) != nd2->nonce || ntohl(greeting[1]) != lane) {
		IND2Connector_Reject(line->connector, NULL, 0);
		IND2Connector_Release(line->connector);
		line->connector = NULL;
		line->stage = ND2_STAGE_NONE;
		return ND_SUCCESS;
	}
	line->stage = ND2_STAGE_ACCEPTED;
	return IND2Connector_Accept(line->connector, unknown(side->lanes[lane].face_qp),
				    nd2->limits.MaxInboundReadLimit,
				    nd2->limits.MaxOutboundReadLimit, NULL, 0, &line->request);
}

/* Make the next request of a lane.
 * Returns: the status of that method */
static HRESULT
advance(struct side *side, uint32_t lane, const struct card *card)
{
	struct nd2 *nd2 = side->nd2;
	struct nd2_line *line = &nd2->line[lane];
	switch (line->stage) {
	case ND2_STAGE_NONE:
		line->stage = ND2_STAGE_REQUESTED;
		if (side->is_active)
			return request(side, lane, card);
		HRESULT status = make_connector(nd2, line);
		if (status != ND_SUCCESS)
			return status;
		return IND2Listener_GetConnectionRequest(nd2->listener, unknown(line->connector),
							 &line->request);
	case ND2_STAGE_REQUESTED:
		if (!side->is_active)
			return accept_request(side, lane);
		line->stage = ND2_STAGE_ACCEPTED;
		return IND2Connector_CompleteConnect(line->connector, &line->request);
	case ND2_STAGE_ACCEPTED:
	case ND2_STAGE_UP:
		line->stage = ND2_STAGE_UP;
		break;
	}
	return ND_SUCCESS;
}

/* Connect one lane after the other, so that requests arrive in the order of the lanes. */
enum plx_status
nd2_connect(struct side *side, const struct card *cards)
{
	for (uint32_t i = 0; i < side->job.qps; i++) {
		struct nd2_line *line = &side->nd2->line[i];
		side->lanes[i].peer = cards[i];
		while (line->stage != ND2_STAGE_UP) {
			HRESULT status = (HRESULT)line->request.Internal;
			if (!HasOverlappedIoCompleted((volatile OVERLAPPED *)&line->request))
				return PLX_AGAIN;
			if (status == ND_SUCCESS)
				status = advance(side, i, &cards[i]);
			if (status != ND_SUCCESS && status != ND_PENDING) {
				nd2_failed(side, "a queue pair cannot be connected", status);
				return PLX_UNREACHABLE;
			}
		}
	}
	return PLX_OK;
}
