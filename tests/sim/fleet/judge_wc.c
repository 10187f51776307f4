/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what is asked of a completion: each request once and in order, success only with the right
 * bytes in the right place, a failure only with a cause.
 * It never takes one. Start with judge_send() and judge_receive().
 */
#include "fleet.h"

/* ---- requests ------------------------------------------------------------------------------- */

/* I9: what may have brought this status about? */
static void
check_failure(struct end *end, const struct ask *ask, uint8_t status)
{
	struct fleet *fleet = end->conn->fleet;
	const struct end *peer = end->peer;
	/* The peer has stopped answering, and not because we had. */
	bool silent = peer->killed || peer->qp == NULL || end->conn->state == CONN_ENDING ||
		      (peer->dead && peer->cause != PLX_WC_RETRY_EXCEEDED);
	bool excused = fleet->world.evil;

	switch ((enum plx_wc_status)status) {
	case PLX_WC_FLUSHED:
		excused |= end->dead;
		break;
	case PLX_WC_REMOTE_ACCESS:
		excused |= ask->bad_rkey;
		break;
	case PLX_WC_RETRY_EXCEEDED:
		excused |= silent || !end->conn->fair;
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
check_result(struct end *end, struct ask *ask)
{
	struct fleet *fleet = end->conn->fleet;
	uint64_t original;

	if (ask->kind == PLX_WR_READ) {
		arena_settle(fleet, &end->landing, ask->landing, source_bytes() + ask->source,
			     ask->length);
		return;
	}
	if (ask->landing == UINT32_MAX)
		return;
	original = ask->original;
	arena_settle(fleet, &end->landing, ask->landing, (const uint8_t *)&original,
		     sizeof(original));
}

static void
succeed(struct end *end, struct ask *ask)
{
	struct fleet *fleet = end->conn->fleet;
	struct end *peer = end->peer;

	sim_must(&fleet->world, !ask->bad_rkey || fleet->world.evil, "I9",
		 "request %u of end %u succeeds with a key that is nobody's", end->done, end->id);
	if (ask->target != UINT32_MAX && peer->target.bytes != NULL) {
		arena_settle(fleet, &peer->target, ask->target, source_bytes() + ask->source,
			     ask->length);
		arena_return(&peer->target, ask->target);
	}
	check_result(end, ask);
	if (ask->landing != UINT32_MAX)
		arena_return(&end->landing, ask->landing);
	ask->ended = true;
	fleet->world.done++;
	fleet->world.progress_at = fleet->world.now;
	end->done++;
}

/* What a request that failed has written, nobody knows; its life is over anyway. */
static void
fail(struct end *end, struct ask *ask)
{
	struct fleet *fleet = end->conn->fleet;
	struct plx_asker asker = {.domain = end->host->domain, .qpn = end->qpn};

	if (ask->kind == PLX_WR_BIND && !fleet->world.evil)
		sim_must(&fleet->world,
			 plx_key_invalidate_check(end->host->mem, ask->token, &asker) ==
				 PLX_KEY_UNKNOWN,
			 "I9", "a bind that was flushed has left its window bound");
	ask->ended = true;
	fleet->world.done++;
	fleet->world.progress_at = fleet->world.now;
	end->done++;
}

void
judge_send(struct end *end, const struct plx_wc *wc)
{
	struct fleet *fleet = end->conn->fleet;
	uint32_t index = (uint32_t)wc->wr_id;
	struct ask *ask;

	if (index < end->done || (uint32_t)(wc->wr_id >> 32) != end->conn->life)
		sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DOUBLED,
			 "request %u of end %u completes again; %u are done", index, end->id,
			 end->done);
	sim_must(&fleet->world, index < end->posted, "I1",
		 "request %u of end %u completes, %u are posted", index, end->id, end->posted);
	while (end->done < index) {
		ask = &end->asks[end->done];
		if (!(ask->flags & PLX_WR_SILENT))
			sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DISORDERED,
				 "request %u of end %u completes before %u", index, end->id,
				 end->done);
		succeed(end, ask);
	}
	ask = &end->asks[index];
	if (wc->status == PLX_WC_SUCCESS) {
		sim_must(&fleet->world, !(ask->flags & PLX_WR_SILENT), "I1",
			 "a silent request completes");
		sim_must(&fleet->world, !end->failed_send || fleet->world.evil, "I9",
			 "request %u of end %u succeeds after one that failed", index, end->id);
		sim_must(&fleet->world, wc->op == ask->kind || fleet->world.evil, "I9",
			 "request %u of end %u was %u and completes as %u", index, end->id,
			 ask->kind, wc->op);
		succeed(end, ask);
	} else {
		end->dead |= wc->status != PLX_WC_FLUSHED;
		sim_must(&fleet->world, !end->failed_send || wc->status == PLX_WC_FLUSHED, "I9",
			 "request %u of end %u is the second that fails by itself", index, end->id);
		check_failure(end, ask, wc->status);
		end->failed_send = true;
		fail(end, ask);
		conn_wants_close(end->conn);
	}
	if (end->conn->state == CONN_UP)
		work_wake(end, fleet->world.now + plx_prng_below(&end->prng, 500));
}

/* The silent ones at the end of a queue that is flushed have all succeeded. */
void
judge_silence(struct end *end)
{
	while (end->done < end->posted)
		succeed(end, &end->asks[end->done]);
}

/* ---- receives ------------------------------------------------------------------------------- */

/* The next message that the peer has posted to us. */
static struct ask *
next_message(struct end *end)
{
	struct end *peer = end->peer;

	while (end->heard < peer->posted) {
		struct ask *ask = &peer->asks[end->heard++];

		if (ask->kind == PLX_WR_SEND || ask->kind == PLX_WR_SEND_IMM ||
		    ask->kind == PLX_WR_WRITE_IMM)
			return ask;
	}
	return NULL;
}

/* Decision 3: an answer has come from inside the completion of a request of ours; unless the ACK
 * between them was lost or late, ours is complete, and where both are told of in one queue, first.
 */
static void
check_causes(struct end *end, const struct ask *reply)
{
	const struct sim_stats *stats = &end->conn->fleet->world.stats;

	if (reply->replies == 0 || end->send_cq != end->recv_cq || end->peer->blind ||
	    stats->drops + stats->reorders + stats->corruptions > 0)
		return;
	if (end->asks[reply->replies - 1].flags & PLX_WR_SILENT)
		return;
	sim_must(&end->conn->fleet->world, end->done >= reply->replies, "D3",
		 "end %u is told of the answer to its request %u before that completes", end->id,
		 reply->replies - 1);
}

static void
check_message(struct end *end, struct arena *arena, uint32_t cell, const struct plx_wc *wc)
{
	struct fleet *fleet = end->conn->fleet;
	struct ask *ask = next_message(end);
	bool imm = ask != NULL && ask->kind != PLX_WR_SEND;

	if (ask == NULL)
		sim_fail(&fleet->world, SIM_WRONG, "I1", WRONG_DOUBLED,
			 "end %u receives a message that nobody has sent", end->id);
	check_causes(end, ask);
	sim_must(&fleet->world, wc->op == ask->kind && wc->bytes == ask->length, "I2",
		 "end %u receives %u bytes (op %u), and %u were sent (op %u)", end->id, wc->bytes,
		 wc->op, ask->length, ask->kind);
	sim_must(&fleet->world, !(wc->flags & PLX_WC_IMM) == !imm && (!imm || wc->imm == ask->imm),
		 "I2", "end %u receives the wrong immediate", end->id);
	sim_must(&fleet->world, !(wc->flags & PLX_WC_SOLICITED) == !(ask->flags & PLX_WR_SOLICITED),
		 "I2", "a message to end %u is solicited or not, and completes the other way",
		 end->id);
	if (ask->kind == PLX_WR_WRITE_IMM)
		arena_settle(fleet, arena, cell, NULL, 0);
	else
		arena_settle(fleet, arena, cell, source_bytes() + ask->source, ask->length);
	fleet->world.stats.received++;
	fleet->world.stats.bytes += ask->length;
}

static void
check_flush(struct end *end, const struct plx_wc *wc)
{
	struct world *world = &end->conn->fleet->world;

	sim_must(world, wc->status == PLX_WC_FLUSHED || world->evil, "I9",
		 "a receive of end %u fails for no cause: %s", end->id,
		 plx_wc_text((enum plx_wc_status)wc->status));
	sim_must(world, end->dead || world->evil, "I9",
		 "a receive of end %u is flushed, and nothing is wrong", end->id);
	conn_wants_close(end->conn);
}

static uint32_t
cell_of(struct end *end, const struct plx_wc *wc)
{
	struct world *world = &end->conn->fleet->world;
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
	struct fleet *fleet = end->conn->fleet;
	struct arena *arena = end->shares ? &end->host->shared : &end->receives;
	uint32_t cell = cell_of(end, wc);
	bool good = wc->status == PLX_WC_SUCCESS;
	uint64_t caused = 0;

	if (good && !fleet->world.evil) {
		check_message(end, arena, cell, wc);
		if (end->received < end->peer->messages)
			caused = end->peer->message_end[end->received];
		end->received++;
	} else if (!good) {
		check_flush(end, wc);
	}
	if (end->shares) {
		host_take_back(end->host, cell);
	} else {
		arena_forget(arena, cell);
		arena_return(arena, cell);
	}
	if (good && end->conn->state == CONN_UP)
		work_reply(end, end->heard, caused);
	work_receives(end);
}
