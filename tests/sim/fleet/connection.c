/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the lives of a connection: two queue pairs are made and joined, live, fail or are closed,
 * are drained and destroyed, and made anew with other numbers. It never posts a request.
 * Start with connection_birth(), then connection_close().
 */
#include <stdlib.h>

#include "fleet.h"

/* ---- birth ---- */

static void
draw_caps(struct end *end, struct plx_prng *prng)
{
	const struct sim_config *config = &end->connection->fleet->world.config;

	end->caps = (struct plx_rc_caps){
		.sq_depth = (uint32_t)draw_log(prng, 1, 128),
		.sq_sges = (uint32_t)draw_log(prng, 1, PLX_SGE_MAX),
		.inline_bytes = draw_percent(prng, 50) ? 0 : (uint32_t)draw_log(prng, 1, 1024),
		.responder_resources = (uint32_t)draw_log(prng, 1, 16),
	};
	end->rq_depth = (uint32_t)draw_log(prng, 1, 64);
	end->rq_sges = (uint32_t)draw_log(prng, 1, 8);
	if (end->connection->fleet->crowd)
		end->caps.sq_depth = (uint32_t)draw_between(prng, 32, 64);
	if (config->tiny) {
		end->caps.sq_depth = (uint32_t)draw_between(prng, 1, 2);
		end->rq_depth = (uint32_t)draw_between(prng, 1, 2);
	}
}

static uint64_t
draw_timeout(const struct connection *connection, struct plx_prng *prng)
{
	const struct fleet *fleet = connection->fleet;
	const struct sim_weather *weather = &fleet->world.config.weather;
	uint64_t trip = 2 * (weather->latency_ns + weather->jitter_ns) + 50000;

	if (fleet->world.calm || !fleet->rough)
		return 16 * trip + PLX_SEC / 2;
	return trip * draw_between(prng, 1, 32);
}

static void
draw_attr(struct end *end, struct plx_prng *prng, uint32_t mtu)
{
	struct connection *connection = end->connection;
	struct plx_rc_attr *attr = &end->attr;
	bool calm = connection->fleet->world.calm || !connection->fleet->rough;
	uint32_t near = (uint32_t)draw_log(prng, 1, 1 << 10);

	*attr = (struct plx_rc_attr){.mtu = mtu, .pkey = PLX_PKEY_DEFAULT};
	attr->enabled.bits =
		PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	attr->rnr_timer = (uint8_t)draw_between(prng, 1, 14);
	attr->sq_psn = plx_engine_qp_first_psn(end->qp);
	if (connection->fleet->world.config.wrap || draw_percent(prng, 50))
		attr->sq_psn = plx_psn(0 - near);
	attr->retry_max =
		calm || draw_percent(prng, 70) ? PLX_RETRY_MAX : (uint8_t)draw_between(prng, 0, 6);
	attr->rnr_retry_max = calm || draw_percent(prng, 80) ? PLX_RNR_RETRY_FOREVER
							     : (uint8_t)draw_between(prng, 0, 6);
	attr->initiator_depth = (uint8_t)draw_between(prng, 1, end->peer->caps.responder_resources);
	attr->window_packets = (uint32_t)draw_log(prng, 1, 256);
	attr->ack_interval = (uint32_t)draw_log(prng, 1, 64);
	attr->read_chunk_packets = (uint32_t)draw_log(prng, 1, 64);
	attr->ack_timeout_ns = draw_timeout(connection, prng);
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
	uint32_t bytes = end->connection->fleet->world.config.message_max;

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

/* As it is made; the caller chooses its queues. */
struct plx_engine_qp_config
connection_qp(const struct end *end)
{
	return (struct plx_engine_qp_config){
		.domain = end->host->domain,
		.caps = end->caps,
		.rq_depth = end->rq_depth,
		.rq_sges = end->rq_sges,
		.context = (uint64_t)end->connection->life << 32 | end->id,
	};
}

static void
create_qp(struct end *end, struct plx_prng *prng)
{
	struct host *host = end->host;
	struct plx_engine_qp_config config = connection_qp(end);
	enum plx_status status;

	end->shares = host->srq != NULL && draw_percent(prng, 50);
	end->send_cq = &host->cqs[plx_prng_below(prng, host->cq_count)];
	end->recv_cq = draw_percent(prng, 50) ? end->send_cq
					      : &host->cqs[plx_prng_below(prng, host->cq_count)];
	/* one engine's, and one program's */
	if (end->recv_cq->core != end->send_cq->core ||
	    end->recv_cq->program != end->send_cq->program)
		end->recv_cq = end->send_cq;
	end->shares =
		end->shares && end->send_cq->program == 0 && end->send_cq->core == host->srq_core;
	config.send_cq = end->send_cq->queue;
	config.recv_cq = end->recv_cq->queue;
	config.srq = end->shares ? host->srq : NULL;
	PLX_ASSERT(plx_domain_hold(host->mem, host->domain) == PLX_OK);
	host_call(host);
	status = plx_engine_qp_create(host_engine(host), &config, &end->qp);
	sim_must(&end->connection->fleet->world, status == PLX_OK, "I14",
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
	struct plx_qp *none;

	/* Of several engines each has this many. */
	if (host->qps < host->qps_max || host->cores > 1)
		return;
	host_call(host);
	sim_must(&end->connection->fleet->world,
		 plx_engine_qp_create(host_engine(host), &config, &none) == PLX_FULL, "I14",
		 "host %u has %u queue pairs, and may have one more", host->index, host->qps);
}

static void
change(struct end *end, enum plx_qp_state to)
{
	enum plx_status status;

	host_call(end->host);
	status = plx_engine_qp_modify(end->qp, to, &end->attr, NULL);
	sim_must(&end->connection->fleet->world, status == PLX_OK, "I9",
		 "end %u cannot become %s: %s", end->id, plx_qp_state_name(to),
		 plx_status_text(status));
}

static void
end_reset(struct end *end)
{
	struct connection *connection = end->connection;

	end->drawn = end->posted = end->done = end->heard = end->received = 0;
	end->fifo_first = end->fifo_count = end->request_seen = end->messages = 0;
	end->dead = end->killed = end->failed_send = end->blind = end->gone = false;
	end->failed_events = end->flushed_events = end->given_qpn = 0;
	end->cause = PLX_WC_SUCCESS;
	memset(end->word_model, 0, sizeof(end->word_model));
	end->prng = draw_stream(connection->fleet->world.seed, 'd', end->id, connection->life);
	end->psn_post = end->psn_seen = end->attr.sq_psn.v + (UINT64_C(1) << 32);
	end->psn_acked = end->peer->attr.sq_psn.v + (UINT64_C(1) << 32);
	end->async_events_due = end->event_from = end->marked_cycle = 0;
	crowd_join(end);
}

void
connection_birth(struct connection *connection)
{
	static const uint32_t mtus[] = {256, 256, 256, 256, 512, 1024, 2048, 4096};
	struct world *world = &connection->fleet->world;
	uint32_t mtu;

	connection->life++;
	connection->prng = draw_stream(world->seed, 'l', connection->index, connection->life);
	mtu = fewer(mtus[plx_prng_below(&connection->prng, PLX_COUNT_OF(mtus))],
		    connection->fleet->mtu_max);
	connection->closing = false;
	connection->born_at = world->now;
	/* Until the peer has its number, packets of the last connection are for no queue pair. */
	for (int s = 0; s < 2; s++) {
		connection->end[s].attr.dest_qpn = 0;
		draw_caps(&connection->end[s], &connection->prng);
	}
	for (int s = 0; s < 2; s++) {
		create_qp(&connection->end[s], &connection->prng);
		check_quota(&connection->end[s]);
		draw_attr(&connection->end[s], &connection->prng, mtu);
	}
	for (int s = 0; s < 2; s++) {
		struct end *end = &connection->end[s];

		end->attr.rq_psn = end->peer->attr.sq_psn;
		end->attr.dest_qpn = end->peer->qpn;
		end_reset(end);
		make_arenas(end, &connection->prng);
		change(end, PLX_QP_INIT);
		trace_as(world, TRACE_LIFE, end->id, connection->life, end->qpn, mtu,
			 end->attr.sq_psn.v);
		if (draw_percent(&connection->prng, 70))
			work_receives(end);
	}
	connection->state = CONNECTION_JOINING;
	world->stats.lives++;
	heap_push(world, world->now + 1, SIM_EV_BIRTH, connection);
}

/* ---- joining ---- */

/* false: the neighbour is not known yet. */
static bool
reach(struct end *end)
{
	struct fleet *fleet = end->connection->fleet;
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
join(struct connection *connection)
{
	struct fleet *fleet = connection->fleet;
	bool both = true;

	for (int s = 0; s < 2; s++)
		both &= reach(&connection->end[s]);
	if (!both) {
		heap_push(&fleet->world,
			  fleet->world.now + draw_log(&connection->prng, 1000, 100 * PLX_MSEC),
			  SIM_EV_BIRTH, connection);
		return;
	}
	connection->state = CONNECTION_UP;
	connection->fair =
		!fleet->rough || (fleet->world.calm && fleet->world.now >= fleet->fair_from &&
				  connection->born_at >= fleet->fair_from);
	for (int s = 0; s < 2; s++) {
		change(&connection->end[s], PLX_QP_RTS);
		work_receives(&connection->end[s]);
		work_wake(&connection->end[s],
			  fleet->world.now + plx_prng_below(&connection->prng, 2000));
	}
}

void
connection_on_event(struct connection *connection)
{
	if (connection->state == CONNECTION_JOINING)
		join(connection);
	else if (connection->state == CONNECTION_NONE && work_left(connection->fleet))
		connection_birth(connection);
}

/* ---- death ---- */

void
end_on_async_event(struct end *end, const struct plx_async_event *event)
{
	struct world *world = &end->connection->fleet->world;

	/* Told late, of one that has been destroyed since. */
	if (end->qp == NULL || (uint32_t)(event->context >> 32) != end->connection->life)
		return;
	if (end->given_qpn != 0 && event->qpn == end->given_qpn)
		return;
	sim_must(world, event->qpn == end->qpn, "I9", "an event names QP %06x, not %06x",
		 event->qpn, end->qpn);
	if (event->kind == PLX_EVENT_FAILED) {
		sim_must(world, ++end->failed_events == 1, "I9", "end %u fails a second time",
			 end->id);
		end->dead = true;
		end->cause = event->cause;
		connection_wants_close(end->connection);
	} else if (event->kind == PLX_EVENT_FLUSHED) {
		end->flushed_events++;
		sim_must(world, end->dead, "I9", "end %u is flushed, and nothing is wrong",
			 end->id);
	}
}

static void
close_by(struct connection *connection, uint64_t after)
{
	struct world *world = &connection->fleet->world;

	connection->close_at = world->now + after;
	heap_push(world, connection->close_at, SIM_EV_CLOSE, connection);
}

void
connection_wants_close(struct connection *connection)
{
	uint64_t after = draw_log(&connection->prng, 1,
				  draw_percent(&connection->prng, 90) ? 50000 : PLX_MSEC);

	if (connection->closing ||
	    (connection->state != CONNECTION_UP && connection->state != CONNECTION_JOINING))
		return;
	connection->closing = true;
	close_by(connection, after);
}

/* A post that succeeded in part may have left unsignaled requests behind the last signaled one.
 * They are done when the whole queue is, and nothing is in flight. */
static void
end_silence(struct end *end)
{
	for (uint32_t i = end->done; i < end->posted; i++) {
		if (!(end->requests[i].flags & PLX_WR_UNSIGNALED))
			return;
	}
	if (end->done < end->posted && end->flushed_events > 0 && host_cycle(end->host) &&
	    cq_empty(end->send_cq))
		judge_silence(end);
}

static bool
drained(const struct end *end)
{
	return end->gone || (end->done == end->posted && (end->shares || end->fifo_count == 0) &&
			     end->flushed_events > 0);
}

/* I4, I5, when everything that was asked has succeeded. */
static void
check_deeds(const struct end *end)
{
	struct world *world = &end->connection->fleet->world;
	const struct end *peer = end->peer;
	uint32_t messages = 0;

	if (end->done != end->drawn || end->failed_send || world->evil || end->gone || peer->gone)
		return;
	for (uint32_t i = 0; i < end->posted; i++)
		messages += end->requests[i].kind == PLX_WR_SEND ||
			    end->requests[i].kind == PLX_WR_SEND_IMM ||
			    end->requests[i].kind == PLX_WR_WRITE_IMM;
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

	sim_must(&end->connection->fleet->world,
		 c->ce_marks == 0 || c->cnps_sent > 0 ||
			 plx_engine_qp_state(end->qp) != PLX_QP_RTS ||
			 end->host->free_cycles < end->marked_cycle + FLEET_EVENT_CYCLES,
		 "I11",
		 "end %u has received %" PRIu64 " marks, and in %" PRIu64 " cycles has sent no CNP",
		 end->id, c->ce_marks, end->host->free_cycles - end->marked_cycle);
}

static void
destroy_qp(struct end *end)
{
	struct host *host = end->host;
	struct sim_stats *stats = &end->connection->fleet->world.stats;
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
	sim_must(&end->connection->fleet->world, status == PLX_OK, "I10",
		 "end %u cannot be destroyed: %s", end->id, plx_status_text(status));
	plx_domain_unhold(host->mem, host->domain);
	host->qps--;
	end->qp = NULL;
}

static void
drop_windows(struct end *end)
{
	for (uint32_t i = 0; i < end->posted; i++) {
		if (end->requests[i].kind == PLX_WR_BIND)
			drop_window(end->host, &end->requests[i]);
	}
}

/* Check all its memory once more. @param leave what becomes of each arena */
static void
leave_arenas(struct end *end, void (*leave)(struct host *host, struct arena *arena))
{
	struct arena *arenas[] = {&end->target, &end->words, &end->landing, &end->receives};

	for (size_t i = 0; i < PLX_COUNT_OF(arenas); i++) {
		arena_check(end->connection->fleet, arenas[i]);
		leave(end->host, arenas[i]);
	}
}

static void
drop_memory(struct end *end)
{
	if (!end->gone)
		drop_windows(end);
	leave_arenas(end, arena_destroy);
	free(end->fifo);
	end->fifo = NULL;
}

void
connection_vanish(struct connection *connection)
{
	struct world *world = &connection->fleet->world;

	for (int s = 0; s < 2; s++) {
		struct end *end = &connection->end[s];

		/* How many completions a shared queue still has is not known. */
		if (end->shares)
			cq_drain(end->recv_cq);
	}
	for (int s = 0; s < 2; s++)
		check_deeds(&connection->end[s]);
	for (int s = 0; s < 2; s++) {
		if (!connection->end[s].gone)
			destroy_qp(&connection->end[s]);
	}
	for (int s = 0; s < 2; s++) {
		struct end *end = &connection->end[s];

		world->done += end->drawn - end->done; /* forgotten */
		trace_as(world, TRACE_CLOSE, end->id, end->posted, end->done, 0, 0);
		drop_memory(end);
	}
	connection->state = CONNECTION_NONE;
	if (work_left(connection->fleet))
		heap_push(world, world->now + draw_log(&connection->prng, 1, 100000), SIM_EV_BIRTH,
			  connection);
}

/* The program of this end has died: its queue pair is destroyed as it is, its keys are revoked, and
 * nothing that it had asked for is executed any more. The other end goes on for a while. */
void
connection_bereave(struct end *end)
{
	struct connection *connection = end->connection;
	struct world *world = &connection->fleet->world;

	trace_as(world, TRACE_KILL, end->id, end->posted, end->done, 0, 0);
	destroy_qp(end);
	drop_windows(end);
	leave_arenas(end, arena_bury);
	world->done += end->drawn - end->done; /* forgotten */
	end->done = end->posted = end->drawn;
	end->gone = true;
	end->gone_cycle = end->host->free_cycles;
	connection->fair = false;
	connection->state = CONNECTION_BEREFT;
	close_by(connection, draw_log(&connection->prng, 1, 5 * PLX_MSEC));
}

void
end_fail(struct end *end)
{
	struct world *world = &end->connection->fleet->world;

	if (end->gone)
		return;
	trace_as(world, TRACE_KILL, end->id, 0, 0, 0, 0);
	check_notifications(end);
	end->killed = end->dead = true;
	change(end, PLX_QP_ERROR);
}

void
connection_close(struct connection *connection)
{
	struct fleet *fleet = connection->fleet;
	bool shared = connection->end[0].shares || connection->end[1].shares;

	if (connection->state == CONNECTION_NONE)
		return;
	if (connection->state == CONNECTION_ENDING) {
		end_silence(&connection->end[0]);
		end_silence(&connection->end[1]);
		if (drained(&connection->end[0]) && drained(&connection->end[1]))
			connection_vanish(connection);
		else
			close_by(connection, PLX_MSEC);
		return;
	}
	connection->closing = false;
	if (fleet->abrupt && !shared && connection->state != CONNECTION_BEREFT &&
	    draw_percent(&connection->prng, 30)) {
		connection_vanish(connection);
		return;
	}
	connection->state = CONNECTION_ENDING;
	end_fail(&connection->end[0]);
	end_fail(&connection->end[1]);
	close_by(connection, plx_prng_below(&connection->prng, 20000));
}
