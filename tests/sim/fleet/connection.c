/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the lives of a connection: two queue pairs are made and joined, live, fail or are closed,
 * are drained and destroyed, and made anew with other numbers. It never posts a request.
 * Start with conn_birth(), then conn_close().
 */
#include <stdlib.h>

#include "fleet.h"

/* ---- birth ---------------------------------------------------------------------------------- */

static void
draw_caps(struct end *end, struct plx_prng *prng)
{
	const struct sim_config *config = &end->conn->fleet->world.config;

	end->caps = (struct plx_rc_caps){
		.sq_depth = (uint32_t)draw_log(prng, 1, 128),
		.sq_sges = (uint32_t)draw_log(prng, 1, PLX_SGE_MAX),
		.inline_bytes = draw_percent(prng, 50) ? 0 : (uint32_t)draw_log(prng, 1, 1024),
		.responder_res = (uint32_t)draw_log(prng, 1, 16),
	};
	end->rq_depth = (uint32_t)draw_log(prng, 1, 64);
	end->rq_sges = (uint32_t)draw_log(prng, 1, 8);
	if (end->conn->fleet->crowd)
		end->caps.sq_depth = (uint32_t)draw_between(prng, 32, 64);
	if (config->tiny) {
		end->caps.sq_depth = (uint32_t)draw_between(prng, 1, 2);
		end->rq_depth = (uint32_t)draw_between(prng, 1, 2);
	}
}

static uint64_t
draw_timeout(const struct conn *conn, struct plx_prng *prng)
{
	const struct fleet *fleet = conn->fleet;
	const struct sim_weather *weather = &fleet->world.config.weather;
	uint64_t trip = 2 * (weather->latency_ns + weather->jitter_ns) + 50000;

	if (fleet->world.calm || !fleet->rough)
		return 16 * trip + PLX_SEC / 2;
	return trip * draw_between(prng, 1, 32);
}

static void
draw_attr(struct end *end, struct plx_prng *prng, uint32_t mtu)
{
	struct conn *conn = end->conn;
	struct plx_rc_attr *attr = &end->attr;
	bool calm = conn->fleet->world.calm || !conn->fleet->rough;
	uint32_t near = (uint32_t)draw_log(prng, 1, 1 << 10);

	*attr = (struct plx_rc_attr){.mtu = mtu, .pkey = PLX_PKEY_DEFAULT};
	attr->enabled.bits =
		PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	attr->rnr_timer = (uint8_t)draw_between(prng, 1, 14);
	attr->sq_psn = plx_engine_qp_first_psn(end->qp);
	if (conn->fleet->world.config.wrap || draw_percent(prng, 50))
		attr->sq_psn = plx_psn(0 - near);
	attr->retry_max =
		calm || draw_percent(prng, 70) ? PLX_RETRY_MAX : (uint8_t)draw_between(prng, 0, 6);
	attr->rnr_retry_max = calm || draw_percent(prng, 80) ? PLX_RNR_RETRY_FOREVER
							     : (uint8_t)draw_between(prng, 0, 6);
	attr->rd_atomic_max = (uint8_t)draw_between(prng, 1, end->peer->caps.responder_res);
	attr->window_packets = (uint32_t)draw_log(prng, 1, 256);
	attr->ack_interval = (uint32_t)draw_log(prng, 1, 64);
	attr->read_chunk_packets = (uint32_t)draw_log(prng, 1, 64);
	attr->ack_timeout_ns = draw_timeout(conn, prng);
}

static uint32_t
fewer(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void
make_arenas(struct end *end, struct plx_prng *prng)
{
	struct host *host = end->host;
	uint32_t bytes = end->conn->fleet->world.config.message_max;

	arena_create(host, &end->target, prng, fewer(end->peer->caps.sq_depth, 24), bytes,
		     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_BIND);
	arena_create(host, &end->words, prng, FLEET_WORDS, 8,
		     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_ATOMIC);
	arena_create(host, &end->landing, prng, fewer(end->caps.sq_depth, 24), bytes,
		     PLX_ACCESS_LOCAL_WRITE);
	for (uint32_t i = 0; i < FLEET_WORDS; i++)
		arena_expect(&end->words, i, NULL, 8);
	if (end->shares)
		return;
	arena_create(host, &end->receives, prng, end->rq_depth, bytes, PLX_ACCESS_LOCAL_WRITE);
	end->fifo = calloc(end->rq_depth, sizeof(*end->fifo));
	PLX_ASSERT(end->fifo != NULL);
}

static void
create_qp(struct end *end, struct plx_prng *prng)
{
	struct host *host = end->host;
	struct plx_engine_qp_config config = {.domain = host->domain,
					      .caps = end->caps,
					      .rq_depth = end->rq_depth,
					      .rq_sges = end->rq_sges};
	enum plx_status status;

	end->shares = host->srq != NULL && draw_percent(prng, 50);
	end->send_cq = &host->cqs[plx_prng_below(prng, host->cq_count)];
	end->recv_cq = draw_percent(prng, 50) ? end->send_cq
					      : &host->cqs[plx_prng_below(prng, host->cq_count)];
	config.send_cq = end->send_cq->queue;
	config.recv_cq = end->recv_cq->queue;
	config.srq = end->shares ? host->srq : NULL;
	config.context = (uint64_t)end->conn->life << 32 | end->id;
	PLX_ASSERT(plx_domain_hold(host->mem, host->domain) == PLX_OK);
	host_call(host);
	status = plx_engine_qp_create(host->engine, &config, &end->qp);
	sim_must(&end->conn->fleet->world, status == PLX_OK, "I14",
		 "host %u has %u of %u queue pairs and cannot make one more: %s", host->index,
		 host->qps, host->qps_max, plx_status_text(status));
	host->qps++;
	end->qpn = plx_engine_qp_number(end->qp);
}

/* One more than there may be is refused, and changes nothing. */
static void
check_quota(struct end *end)
{
	struct host *host = end->host;
	struct plx_engine_qp_config config = {.domain = host->domain,
					      .send_cq = host->cqs[0].queue,
					      .recv_cq = host->cqs[0].queue,
					      .caps = {.sq_depth = 1},
					      .rq_depth = 1};
	struct plx_engine_qp *none;

	if (host->qps < host->qps_max)
		return;
	host_call(host);
	sim_must(&end->conn->fleet->world,
		 plx_engine_qp_create(host->engine, &config, &none) == PLX_FULL, "I14",
		 "host %u has %u queue pairs, and may have one more", host->index, host->qps);
}

static void
change(struct end *end, enum plx_qp_state to)
{
	enum plx_status status;

	host_call(end->host);
	status = plx_engine_qp_modify(end->qp, to, &end->attr, NULL);
	sim_must(&end->conn->fleet->world, status == PLX_OK, "I9", "end %u cannot become %s: %s",
		 end->id, plx_qp_state_name(to), plx_status_text(status));
}

static void
end_reset(struct end *end)
{
	struct conn *conn = end->conn;

	end->drawn = end->posted = end->done = end->heard = end->received = 0;
	end->fifo_first = end->fifo_count = end->ask_seen = end->messages = 0;
	end->dead = end->killed = end->failed_send = end->blind = false;
	end->failed_events = end->flushed_events = 0;
	end->cause = PLX_WC_SUCCESS;
	memset(end->word_model, 0, sizeof(end->word_model));
	end->prng = draw_stream(conn->fleet->world.seed, 'd', end->id, conn->life);
	end->psn_post = end->psn_seen = end->attr.sq_psn.v + (UINT64_C(1) << 32);
	end->psn_acked = end->peer->attr.sq_psn.v + (UINT64_C(1) << 32);
	end->async_events_due = end->event_from = end->marked_cycle = 0;
	crowd_join(end);
}

void
conn_birth(struct conn *conn)
{
	static const uint32_t mtus[] = {256, 256, 256, 256, 512, 1024, 2048, 4096};
	struct world *world = &conn->fleet->world;
	uint32_t mtu;

	conn->life++;
	conn->prng = draw_stream(world->seed, 'l', conn->index, conn->life);
	mtu = fewer(mtus[plx_prng_below(&conn->prng, PLX_COUNT_OF(mtus))], conn->fleet->mtu_max);
	conn->closing = false;
	conn->born_at = world->now;
	/* Until the peer has its number: what the last life has left in the engine is nobody's. */
	for (int s = 0; s < 2; s++) {
		conn->end[s].attr.dest_qpn = 0;
		draw_caps(&conn->end[s], &conn->prng);
	}
	for (int s = 0; s < 2; s++) {
		create_qp(&conn->end[s], &conn->prng);
		check_quota(&conn->end[s]);
		draw_attr(&conn->end[s], &conn->prng, mtu);
	}
	for (int s = 0; s < 2; s++) {
		struct end *end = &conn->end[s];

		end->attr.rq_psn = end->peer->attr.sq_psn;
		end->attr.dest_qpn = end->peer->qpn;
		end_reset(end);
		make_arenas(end, &conn->prng);
		change(end, PLX_QP_INIT);
		trace_as(world, TRACE_LIFE, end->id, conn->life, end->qpn, mtu, end->attr.sq_psn.v);
		if (draw_percent(&conn->prng, 70))
			work_receives(end);
	}
	conn->state = CONN_JOINING;
	world->stats.lives++;
	heap_push(world, world->now + 1, SIM_EV_BIRTH, conn);
}

/* ---- joining -------------------------------------------------------------------------------- */

/* false: the neighbour is not known yet. */
static bool
reach(struct end *end)
{
	struct fleet *fleet = end->conn->fleet;
	struct plx_engine_path path = {.remote = end->peer->host->ip, .ecn = true};
	enum plx_status status;

	if (draw_percent(&end->prng, 50))
		path.local = end->host->ip;
	if (plx_engine_qp_state(end->qp) == PLX_QP_RTR)
		return true;
	host_call(end->host);
	status = plx_engine_qp_modify(end->qp, PLX_QP_RTR, &end->attr, &path);
	if (status == PLX_OK)
		return true;
	sim_must(&fleet->world, status == PLX_AGAIN || (status == PLX_UNREACHABLE && fleet->rough),
		 "I9", "end %u cannot reach its peer: %s", end->id, plx_status_text(status));
	fleet->world.stats.unreachable += status == PLX_UNREACHABLE;
	return false;
}

static void
join(struct conn *conn)
{
	struct fleet *fleet = conn->fleet;
	bool both = true;

	for (int s = 0; s < 2; s++)
		both &= reach(&conn->end[s]);
	if (!both) {
		heap_push(&fleet->world,
			  fleet->world.now + draw_log(&conn->prng, 1000, 100 * PLX_MSEC),
			  SIM_EV_BIRTH, conn);
		return;
	}
	conn->state = CONN_UP;
	conn->fair = !fleet->rough || (fleet->world.calm && fleet->world.now >= fleet->fair_from &&
				       conn->born_at >= fleet->fair_from);
	for (int s = 0; s < 2; s++) {
		change(&conn->end[s], PLX_QP_RTS);
		work_receives(&conn->end[s]);
		work_wake(&conn->end[s], fleet->world.now + plx_prng_below(&conn->prng, 2000));
	}
}

void
conn_on_event(struct conn *conn)
{
	if (conn->state == CONN_JOINING)
		join(conn);
	else if (conn->state == CONN_NONE && work_left(conn->fleet))
		conn_birth(conn);
}

/* ---- death ---------------------------------------------------------------------------------- */

void
end_on_async_event(struct end *end, const struct plx_engine_async_event *event)
{
	struct world *world = &end->conn->fleet->world;

	/* Told late, of one that has been destroyed since. */
	if (end->qp == NULL || (uint32_t)(event->context >> 32) != end->conn->life)
		return;
	sim_must(world, event->qpn == end->qpn, "I9", "an event names QP %06x, not %06x",
		 event->qpn, end->qpn);
	if (event->kind == PLX_EVENT_FAILED) {
		sim_must(world, ++end->failed_events == 1, "I9", "end %u fails a second time",
			 end->id);
		end->dead = true;
		end->cause = event->cause;
		conn_wants_close(end->conn);
	} else if (event->kind == PLX_EVENT_FLUSHED) {
		end->flushed_events++;
		sim_must(world, end->dead, "I9", "end %u is flushed, and nothing is wrong",
			 end->id);
	}
}

static void
close_by(struct conn *conn, uint64_t after)
{
	struct world *world = &conn->fleet->world;

	conn->close_at = world->now + after;
	heap_push(world, conn->close_at, SIM_EV_CLOSE, conn);
}

void
conn_wants_close(struct conn *conn)
{
	uint64_t after = draw_log(&conn->prng, 1, draw_percent(&conn->prng, 90) ? 50000 : PLX_MSEC);

	if (conn->closing || (conn->state != CONN_UP && conn->state != CONN_JOINING))
		return;
	conn->closing = true;
	close_by(conn, after);
}

/* A post that was taken in part may have left silent requests that nobody tells of. They are done
 * when all of the queue is, and nothing is on its way. */
static void
end_silence(struct end *end)
{
	for (uint32_t i = end->done; i < end->posted; i++) {
		if (!(end->asks[i].flags & PLX_WR_SILENT))
			return;
	}
	if (end->done < end->posted && end->flushed_events > 0 && host_cycle(end->host) &&
	    cq_empty(end->send_cq))
		judge_silence(end);
}

static bool
drained(const struct end *end)
{
	return end->done == end->posted && (end->shares || end->fifo_count == 0) &&
	       end->flushed_events > 0;
}

/* I4, I5, when everything that was asked has succeeded. */
static void
check_deeds(const struct end *end)
{
	struct world *world = &end->conn->fleet->world;
	const struct end *peer = end->peer;
	uint32_t messages = 0;

	if (end->done != end->drawn || end->failed_send || world->evil)
		return;
	for (uint32_t i = 0; i < end->posted; i++)
		messages += end->asks[i].kind == PLX_WR_SEND ||
			    end->asks[i].kind == PLX_WR_SEND_IMM ||
			    end->asks[i].kind == PLX_WR_WRITE_IMM;
	if (!peer->shares && peer->fifo_count == 0)
		sim_must(world, messages == peer->received, "I4",
			 "%u messages of end %u succeeded, %u were received", messages, end->id,
			 peer->received);
	for (uint32_t i = 0; i < FLEET_WORDS; i++) {
		uint64_t value;

		memcpy(&value, arena_at(&peer->words, i), sizeof(value));
		sim_must(world, value == end->word_model[i], "I5",
			 "word %u of end %u is %" PRIx64 " and should be %" PRIx64, i, peer->id,
			 value, end->word_model[i]);
	}
}

/* Marks are answered, though not before its turn has come; that nothing else is, and how soon one
 * may follow another, is asked where notifications leave (wire.c). */
static void
check_notifications(const struct end *end)
{
	const struct plx_rc_counters *c = plx_engine_qp_counters(end->qp);

	sim_must(&end->conn->fleet->world,
		 c->ce_marks == 0 || c->cnps_sent > 0 ||
			 plx_engine_qp_state(end->qp) != PLX_QP_RTS ||
			 end->host->free_cycles < end->marked_cycle + FLEET_EVENT_CYCLES,
		 "I11",
		 "end %u has heard %" PRIu64 " marks, and in %" PRIu64
		 " cycles has sent no notification",
		 end->id, c->ce_marks, end->host->free_cycles - end->marked_cycle);
}

static void
destroy_qp(struct end *end)
{
	struct host *host = end->host;
	struct sim_stats *stats = &end->conn->fleet->world.stats;
	const struct plx_rc_counters *c = plx_engine_qp_counters(end->qp);
	enum plx_status status;

	host_call(host);
	for (int i = 0; i < PLX_VERDICT_COUNT; i++)
		host->judged += c->verdict[i];
	check_notifications(end);
	stats->marks += c->ce_marks;
	stats->cnps += c->cnps_sent;
	stats->rnrs += c->rnrs_sent;
	stats->timeouts += c->timeouts;
	stats->probes += c->probes;
	stats->again += c->verdict[PLX_VERDICT_LOST_AGAIN];
	stats->naks += c->naks_sent;
	stats->resends += c->requests_resent;
	stats->wraps += (uint32_t)(end->psn_seen >> 24) != (1u << 8);
	status = plx_engine_qp_destroy(end->qp);
	sim_must(&end->conn->fleet->world, status == PLX_OK, "I10",
		 "end %u cannot be destroyed: %s", end->id, plx_status_text(status));
	plx_domain_unhold(host->mem, host->domain);
	host->qps--;
	end->qp = NULL;
}

static void
drop_memory(struct end *end)
{
	struct fleet *fleet = end->conn->fleet;
	struct arena *arenas[] = {&end->target, &end->words, &end->landing, &end->receives};

	for (uint32_t i = 0; i < end->posted; i++) {
		if (end->asks[i].kind == PLX_WR_BIND)
			drop_window(end->host, &end->asks[i]);
	}
	for (size_t i = 0; i < PLX_COUNT_OF(arenas); i++) {
		arena_check(fleet, arenas[i]);
		arena_destroy(end->host, arenas[i]);
	}
	free(end->fifo);
	end->fifo = NULL;
}

void
conn_vanish(struct conn *conn)
{
	struct world *world = &conn->fleet->world;

	for (int s = 0; s < 2; s++) {
		struct end *end = &conn->end[s];

		/* Of a shared queue's receives nobody knows how many are still to come. */
		if (end->shares)
			cq_drain(end->recv_cq);
	}
	for (int s = 0; s < 2; s++)
		check_deeds(&conn->end[s]);
	for (int s = 0; s < 2; s++)
		destroy_qp(&conn->end[s]);
	for (int s = 0; s < 2; s++) {
		struct end *end = &conn->end[s];

		world->done += end->drawn - end->done; /* forgotten */
		trace_as(world, TRACE_CLOSE, end->id, end->posted, end->done, 0, 0);
		drop_memory(end);
	}
	conn->state = CONN_NONE;
	if (work_left(conn->fleet))
		heap_push(world, world->now + draw_log(&conn->prng, 1, 100000), SIM_EV_BIRTH, conn);
}

void
end_dies(struct end *end)
{
	struct world *world = &end->conn->fleet->world;

	trace_as(world, TRACE_KILL, end->id, 0, 0, 0, 0);
	check_notifications(end);
	end->killed = end->dead = true;
	change(end, PLX_QP_ERROR);
}

void
conn_close(struct conn *conn)
{
	struct fleet *fleet = conn->fleet;
	bool shared = conn->end[0].shares || conn->end[1].shares;

	if (conn->state == CONN_NONE)
		return;
	if (conn->state == CONN_ENDING) {
		end_silence(&conn->end[0]);
		end_silence(&conn->end[1]);
		if (drained(&conn->end[0]) && drained(&conn->end[1]))
			conn_vanish(conn);
		else
			close_by(conn, PLX_MSEC);
		return;
	}
	conn->closing = false;
	if (fleet->abrupt && !shared && draw_percent(&conn->prng, 30)) {
		conn_vanish(conn);
		return;
	}
	conn->state = CONN_ENDING;
	end_dies(&conn->end[0]);
	end_dies(&conn->end[1]);
	close_by(conn, plx_prng_below(&conn->prng, 20000));
}
