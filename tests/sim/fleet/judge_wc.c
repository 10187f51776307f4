/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what is asked of a completion: each request once and in order, success only with the right
 * bytes in the right place, a failure only with a cause.
 * It never takes one. Start with judge_send() and judge_receive().
 */
#include "fleet.h"

/* ---- requests ---- */

/* I9: what may have brought this status about? */
static void
check_failure(struct end *end, const struct request *request, uint8_t status)
{
	struct fleet *fleet = end->connection->fleet;
	const struct end *peer = end->peer;
	/* The peer has stopped answering, and not because we had. */
	bool silent = peer->killed || peer->qp == NULL ||
		      end->connection->state == CONNECTION_ENDING ||
		      (peer->dead && peer->cause != PLX_WC_RETRY_EXCEEDED);
	bool excused = fleet->world.evil;

	switch ((enum plx_wc_status)status) {
	case PLX_WC_FLUSHED:
		excused |= end->dead;
		break;
	case PLX_WC_REMOTE_ACCESS:
		excused |= request->bad_rkey;
		break;
	case PLX_WC_RETRY_EXCEEDED:
		excused |= silent || !end->connection->fair;
		break;
	case PLX_WC_RNR_RETRY_EXCEEDED:
		excused |= end->attr.rnr_retry_max < PLX_RNR_RETRY_FOREVER;
		break;
	case PLX_WC_SUCCESS:
	case PLX_WC_LOCAL_LENGTH:
	case PLX_WC_LOCAL_PROTECTION:
	case PLX_WC_LOCAL_INVALIDATE:
	case PLX_WC_BAD_RESPONSE:
	case PLX_WC_REMOTE_INVALID_REQUEST:
	case PLX_WC_REMOTE_OPERATION:
	case PLX_WC_COUNT:
		break;
	}
	sim_must(&fleet->world, excused, "I9", "request %u of end %u fails for no cause: %s",
		 end->done, end->id, plx_wc_text((enum plx_wc_status)status));
}

static void
check_result(struct end *end, struct request *request)
{
	struct fleet *fleet = end->connection->fleet;
	uint64_t original;

	if (request->kind == PLX_WR_READ) {
		arena_settle(fleet, &end->landing, request->landing,
			     source_bytes() + request->source, request->length);
		return;
	}
	if (request->landing == UINT32_MAX)
		return;
	original = request->original;
	arena_settle(fleet, &end->landing, request->landing, (const uint8_t *)&original,
		     sizeof(original));
}

static void
succeed(struct end *end, struct request *request)
{
	struct fleet *fleet = end->connection->fleet;
	struct end *peer = end->peer;

	sim_must(&fleet->world, !request->bad_rkey || fleet->world.evil, "I9",
		 "request %u of end %u succeeds with an unknown key", end->done, end->id);
	if (request->target != UINT32_MAX && peer->target.bytes != NULL) {
		arena_settle(fleet, &peer->target, request->target,
			     source_bytes() + request->source, request->length);
		arena_free(&peer->target, request->target);
	}
	check_result(end, request);
	if (request->landing != UINT32_MAX)
		arena_free(&end->landing, request->landing);
	request->ended = true;
	fleet->world.done++;
	fleet->world.progress_at = fleet->world.now;
	end->done++;
}

/* What a failed request has written is unknown; its connection ends anyway. */
static void
fail(struct end *end, struct request *request)
{
	struct fleet *fleet = end->connection->fleet;
	struct plx_asker asker = {.domain = end->host->domain, .qpn = end->qpn};

	if (request->kind == PLX_WR_BIND && !fleet->world.evil)
		sim_must(&fleet->world,
			 plx_key_invalidate_check(end->host->mem, request->token, &asker) ==
				 PLX_KEY_UNKNOWN,
			 "I9", "a bind that was flushed has left its window bound");
	request->ended = true;
	fleet->world.done++;
	fleet->world.progress_at = fleet->world.now;
	end->done++;
}

void
judge_send(struct end *end, const struct plx_wc *wc)
{
	struct fleet *fleet = end->connection->fleet;
	uint32_t index = (uint32_t)wc->wr_id;
	struct request *request;

	if (index < end->done || (uint32_t)(wc->wr_id >> 32) != end->connection->life)
		sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DOUBLED,
			 "request %u of end %u completes again; %u are done", index, end->id,
			 end->done);
	sim_must(&fleet->world, index < end->posted, "I1",
		 "request %u of end %u completes, %u are posted", index, end->id, end->posted);
	while (end->done < index) {
		request = &end->requests[end->done];
		if (!(request->flags & PLX_WR_UNSIGNALED))
			sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DISORDERED,
				 "request %u of end %u completes before %u", index, end->id,
				 end->done);
		succeed(end, request);
	}
	request = &end->requests[index];
	if (wc->status == PLX_WC_SUCCESS) {
		sim_must(&fleet->world, !(request->flags & PLX_WR_UNSIGNALED), "I1",
			 "an unsignaled request completes");
		sim_must(&fleet->world, !end->failed_send || fleet->world.evil, "I9",
			 "request %u of end %u succeeds after one that failed", index, end->id);
		sim_must(&fleet->world, wc->op == request->kind || fleet->world.evil, "I9",
			 "request %u of end %u was %u and completes as %u", index, end->id,
			 request->kind, wc->op);
		succeed(end, request);
	} else {
		end->dead |= wc->status != PLX_WC_FLUSHED;
		sim_must(&fleet->world, !end->failed_send || wc->status == PLX_WC_FLUSHED, "I9",
			 "request %u of end %u is the second that fails by itself", index, end->id);
		check_failure(end, request, wc->status);
		end->failed_send = true;
		fail(end, request);
		connection_wants_close(end->connection);
	}
	if (end->connection->state == CONNECTION_UP)
		work_wake(end, fleet->world.now + plx_prng_below(&end->prng, 500));
}

/* The unsignaled ones at the end of a queue that is flushed have all succeeded. */
void
judge_silence(struct end *end)
{
	while (end->done < end->posted)
		succeed(end, &end->requests[end->done]);
}

/* ---- receives ---- */

/* The next message that the peer has posted to us. */
static struct request *
next_message(struct end *end)
{
	struct end *peer = end->peer;

	while (end->heard < peer->posted) {
		struct request *request = &peer->requests[end->heard++];

		if (request->kind == PLX_WR_SEND || request->kind == PLX_WR_SEND_IMM ||
		    request->kind == PLX_WR_WRITE_IMM)
			return request;
	}
	return NULL;
}

/* Decision 3: a reply was posted because of a request of ours. Unless the ACK was lost or late, our
 * request is complete and, where both use one completion queue, completes first. */
static void
check_causes(struct end *end, const struct request *reply)
{
	const struct world *world = &end->connection->fleet->world;

	if (reply->replies == 0 || end->send_cq != end->recv_cq || end->peer->blind ||
	    world->late || world->stats.drops + world->stats.corruptions > 0 ||
	    HOST_COUNTED(end->host, handoff_full) > 0)
		return;
	if (end->requests[reply->replies - 1].flags & PLX_WR_UNSIGNALED)
		return;
	sim_must(&end->connection->fleet->world, end->done >= reply->replies, "D3",
		 "end %u receives the reply to its request %u before that completes", end->id,
		 reply->replies - 1);
}

static void
check_message(struct end *end, struct arena *arena, uint32_t cell, const struct plx_wc *wc)
{
	struct fleet *fleet = end->connection->fleet;
	struct request *request = next_message(end);
	bool imm = request != NULL && request->kind != PLX_WR_SEND;

	if (request == NULL)
		sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DOUBLED,
			 "end %u receives a message that was not sent", end->id);
	check_causes(end, request);
	sim_must(&fleet->world, wc->op == request->kind && wc->bytes == request->length, "I2",
		 "end %u receives %u bytes (op %u), and %u were sent (op %u)", end->id, wc->bytes,
		 wc->op, request->length, request->kind);
	sim_must(&fleet->world,
		 !(wc->flags & PLX_WC_IMM) == !imm && (!imm || wc->imm == request->imm), "I2",
		 "end %u receives the wrong immediate", end->id);
	sim_must(&fleet->world,
		 !(wc->flags & PLX_WC_SOLICITED) == !(request->flags & PLX_WR_SOLICITED), "I2",
		 "a message to end %u is solicited or not, and completes the other way", end->id);
	if (request->kind == PLX_WR_WRITE_IMM)
		arena_settle(fleet, arena, cell, NULL, 0);
	else
		arena_settle(fleet, arena, cell, source_bytes() + request->source, request->length);
	fleet->world.stats.received++;
	fleet->world.stats.bytes += request->length;
}

static void
check_flush(struct end *end, const struct plx_wc *wc)
{
	struct world *world = &end->connection->fleet->world;

	sim_must(world, wc->status == PLX_WC_FLUSHED || world->evil, "I9",
		 "a receive of end %u fails for no cause: %s", end->id,
		 plx_wc_text((enum plx_wc_status)wc->status));
	sim_must(world, end->dead || world->evil, "I9",
		 "a receive of end %u is flushed, and nothing is wrong", end->id);
	connection_wants_close(end->connection);
}

static uint32_t
cell_of(struct end *end, const struct plx_wc *wc)
{
	struct world *world = &end->connection->fleet->world;
	struct arena *arena = end->shares ? &end->host->shared : &end->receives;
	uint32_t cell = (uint32_t)wc->wr_id;

	sim_must(world,
		 wc->wr_id >> 62 == (end->shares ? 3 : 2) && cell < arena->cells &&
			 arena->cell[cell].busy,
		 "I1", "end %u completes a receive that is not posted: %" PRIx64, end->id,
		 wc->wr_id);
	if (end->shares)
		return cell;
	sim_must(world, end->fifo_count > 0 && end->fifo[end->fifo_first] == cell, "I1",
		 "end %u completes receive %u before an older one", end->id, cell);
	end->fifo_first = (end->fifo_first + 1) % end->rq_depth;
	end->fifo_count--;
	return cell;
}

void
judge_receive(struct end *end, const struct plx_wc *wc)
{
	struct fleet *fleet = end->connection->fleet;
	struct arena *arena = end->shares ? &end->host->shared : &end->receives;
	uint32_t cell = cell_of(end, wc);
	bool good = wc->status == PLX_WC_SUCCESS;
	uint64_t caused = 0;

	if (good && !fleet->world.evil) {
		check_message(end, arena, cell, wc);
		if (end->received < end->peer->messages)
			caused = end->peer->message_end[end->received];
		end->received++;
	} else if (!good && !end->giving) {
		check_flush(end, wc);
	}
	if (end->shares) {
		host_reclaim(end->host, cell);
	} else {
		arena_forget(arena, cell);
		arena_free(arena, cell);
	}
	if (good && end->connection->state == CONNECTION_UP)
		work_reply(end, end->heard, caused);
	work_receives(end);
}
