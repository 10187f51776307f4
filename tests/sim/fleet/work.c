/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what applications ask for: requests drawn from the seed, in batches, deferred, inline, with
 * long SGE lists, and receives. What is passed to a post is overwritten when it returns.
 * It never judges a completion. Start with work_on_event().
 */
#include <stdlib.h>

#include "fleet.h"

/* What a batch needs while it is posted, and must not be used afterwards. */
struct batch {
	struct plx_send_wr wr[FLEET_BATCH];
	struct plx_sge sge[FLEET_BATCH][PLX_SGE_MAX];
	uint8_t inlined[FLEET_BATCH][PLX_INLINE_MAX];
};

bool
work_left(const struct fleet *fleet)
{
	return fleet->world.drawn < fleet->world.quota;
}

void
work_wake(struct end *end, uint64_t at)
{
	if (end->app_pending)
		return;
	end->app_pending = true;
	heap_push(&end->connection->fleet->world, at, SIM_EV_APP, end);
}

/* ---- receives ---- */

static uint32_t
split(struct plx_prng *prng, struct plx_sge *sge, uint32_t most, uint64_t va, uint32_t bytes,
      struct plx_key key)
{
	uint32_t pieces = (uint32_t)draw_log(prng, 1, most), at = 0;

	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t rest = bytes - at;
		uint32_t len = i + 1 == pieces ? rest : (uint32_t)plx_prng_below(prng, rest + 1);

		sge[i] = (struct plx_sge){va + at, len, key};
		at += len;
	}
	return pieces;
}

/* false: not taken. */
static bool
post_receive(struct end *end, uint32_t index)
{
	struct world *world = &end->connection->fleet->world;
	struct arena *arena = &end->receives;
	struct plx_sge sge[PLX_SGE_MAX];
	struct plx_recv_wr wr = {.wr_id = UINT64_C(2) << 62 | index, .sge = sge};
	bool posted, cycled = true;
	enum plx_status why;

	wr.sges = split(&end->prng, sge, end->rq_sges, arena_va(arena, index), arena->cell_bytes,
			arena->key);
	posted = plx_post_recv(end->qp, &wr, 1, &why) == 1;
	if (!posted) {
		cycled = host_cycle(end->host);
		posted = plx_post_recv(end->qp, &wr, 1, &why) == 1;
	}
	sim_must(world, posted || (why == PLX_FULL && (!cycled || !cq_empty(end->recv_cq))), "I14",
		 "end %u has %u of %u receives posted, and one more is refused: %s", end->id,
		 end->fifo_count, end->rq_depth, plx_status_text(why));
	memset(sge, 0xdd, sizeof(sge));
	if (posted) {
		arena_expect(arena, index, NULL, arena->cell_bytes);
		end->fifo[(end->fifo_first + end->fifo_count++) % end->rq_depth] = index;
	}
	return posted;
}

static void
receives_after(struct end *end, uint64_t ns)
{
	if (end->recv_pending)
		return;
	end->recv_pending = true;
	heap_push(&end->connection->fleet->world, end->connection->fleet->world.now + ns,
		  SIM_EV_RECV, end);
}

/* Post what there is room for, now. One that is refused has no room until its completion queue is
 * reaped: who asks again sooner only makes the engine turn. */
static void
post_receives(struct end *end)
{
	struct world *world = &end->connection->fleet->world;
	uint32_t index;

	while (arena_alloc(&end->receives, &index)) {
		if (post_receive(end, index))
			continue;
		arena_free(&end->receives, index);
		receives_after(end, 1 + draw_exponential(&end->prng, end->recv_cq->delay_ns));
		break;
	}
	host_poll_by(end->host, world->now + plx_prng_below(&end->prng, end->host->gap_ns));
}

void
work_on_receives(struct end *end)
{
	end->recv_pending = false;
	if (!end->shares && (end->connection->state == CONNECTION_UP ||
			     end->connection->state == CONNECTION_JOINING))
		post_receives(end);
}

/* There is room for receives: the application fills it when it comes to it. */
void
work_receives(struct end *end)
{
	struct world *world = &end->connection->fleet->world;
	uint64_t mean = world->config.recv_delay_ns;

	if (end->shares) {
		host_receives(end->host, &end->prng);
		return;
	}
	receives_after(end,
		       1 + plx_prng_below(&end->prng, 5000) + draw_exponential(&end->prng, mean));
}

/* ---- drawing ---- */

static uint8_t
draw_kind(struct end *end)
{
	const uint32_t *weight = end->connection->fleet->world.config.op_weight;
	static const uint8_t kinds[] = {PLX_WR_SEND,      PLX_WR_SEND_IMM, PLX_WR_WRITE,
					PLX_WR_WRITE_IMM, PLX_WR_READ,     PLX_WR_CMP_SWAP,
					PLX_WR_FETCH_ADD};
	uint64_t sum = 0, at;

	for (size_t i = 0; i < PLX_COUNT_OF(kinds); i++)
		sum += weight[kinds[i]];
	at = plx_prng_below(&end->prng, sum);
	for (size_t i = 0; i < PLX_COUNT_OF(kinds); i++) {
		if (at < weight[kinds[i]])
			return kinds[i];
		at -= weight[kinds[i]];
	}
	return PLX_WR_WRITE;
}

static uint32_t
draw_length(struct end *end)
{
	uint32_t most = end->connection->fleet->world.config.message_max, mtu = end->attr.mtu,
		 length;

	if (end->connection->fleet->crowd)
		return draw_percent(&end->prng, 10) ? 8 : most;
	switch (plx_prng_below(&end->prng, 8)) {
	case 0:
		return (uint32_t)plx_prng_below(&end->prng, 10);
	case 1:
		length = mtu * (uint32_t)draw_between(&end->prng, 1, 3) - 1 +
			 (uint32_t)plx_prng_below(&end->prng, 3);
		return length < most ? length : most;
	default:
		return (uint32_t)draw_log(&end->prng, 1, most);
	}
}

static void
draw_atomic(struct end *end, struct request *request)
{
	uint64_t *model;

	request->length = 8;
	request->word = (uint32_t)plx_prng_below(&end->prng, FLEET_WORDS);
	model = &end->word_model[request->word];
	request->original = *model;
	request->swap_add = plx_prng_next(&end->prng);
	request->compare = draw_percent(&end->prng, 50) ? *model : plx_prng_next(&end->prng);
	if (request->kind == PLX_WR_FETCH_ADD)
		*model += request->swap_add;
	else if (request->compare == *model)
		*model = request->swap_add;
}

/* The cells it needs; false: there is none, and nothing has changed. */
static bool
take_cells(struct end *end, struct request *request)
{
	bool write = request->kind == PLX_WR_WRITE || request->kind == PLX_WR_WRITE_IMM;
	bool lands = request->kind == PLX_WR_READ || request->kind == PLX_WR_CMP_SWAP ||
		     request->kind == PLX_WR_FETCH_ADD;

	request->target = request->landing = UINT32_MAX;
	if (write && !arena_alloc(&end->peer->target, &request->target))
		return false;
	if (lands && !arena_alloc(&end->landing, &request->landing))
		return false;
	return true;
}

static bool
draw_request(struct end *end, struct request *request)
{
	const struct sim_config *config = &end->connection->fleet->world.config;
	struct plx_prng *prng = &end->prng;

	*request = (struct request){.kind = draw_kind(end)};
	if (!take_cells(end, request))
		return false;
	request->length = draw_length(end);
	request->source = (uint32_t)plx_prng_below(prng, SIM_SOURCE_BYTES - request->length);
	request->imm = (uint32_t)plx_prng_next(prng);
	if (request->kind == PLX_WR_CMP_SWAP || request->kind == PLX_WR_FETCH_ADD)
		draw_atomic(end, request);
	else if (request->landing != UINT32_MAX)
		arena_expect(&end->landing, request->landing, source_bytes() + request->source,
			     request->length);
	if (request->kind == PLX_WR_CMP_SWAP || request->kind == PLX_WR_FETCH_ADD)
		arena_expect(&end->landing, request->landing, NULL, 8);
	if (request->target != UINT32_MAX)
		arena_expect(&end->peer->target, request->target, source_bytes() + request->source,
			     request->length);
	if (draw_percent(prng, config->solicited_percent) &&
	    (request->kind == PLX_WR_SEND || request->kind == PLX_WR_SEND_IMM ||
	     request->kind == PLX_WR_WRITE_IMM))
		request->flags |= PLX_WR_SOLICITED;
	if (draw_percent(prng, config->silent_percent))
		request->flags |= PLX_WR_UNSIGNALED;
	if (draw_percent(prng, config->fence_percent))
		request->flags |= PLX_WR_FENCE;
	if (request->landing == UINT32_MAX && draw_percent(prng, config->inline_percent) &&
	    request->length <= (end->caps.inline_bytes > 64 ? end->caps.inline_bytes : 64))
		request->flags |= PLX_WR_INLINE;
	request->bad_rkey = !end->connection->fleet->world.calm && request->length > 0 &&
			    (request->kind == PLX_WR_READ || request->target != UINT32_MAX) &&
			    plx_prng_chance(prng, config->misuse_ppm);
	return true;
}

/* ---- posting ---- */

static struct request *
next_request(struct end *end)
{
	if (end->drawn == end->request_room) {
		end->request_room = end->request_room ? end->request_room * 2 : 64;
		end->requests = realloc(end->requests, end->request_room * sizeof(*end->requests));
		PLX_ASSERT(end->requests != NULL);
	}
	return &end->requests[end->drawn];
}

static uint32_t
psns_of(const struct end *end, const struct request *request)
{
	uint32_t packets = (request->length + end->attr.mtu - 1) / end->attr.mtu;

	return packets > 0 ? packets : 1;
}

static void
target_of(const struct end *end, const struct request *request, struct plx_send_wr *wr)
{
	const struct end *peer = end->peer;

	if (request->kind == PLX_WR_READ) {
		wr->remote_va = peer->host->source_va + request->source;
		wr->rkey = peer->host->source_key;
	} else if (request->target != UINT32_MAX) {
		wr->remote_va = arena_va(&peer->target, request->target);
		wr->rkey = peer->target.key;
	} else if (request->landing != UINT32_MAX) {
		wr->remote_va = arena_va(&peer->words, request->word);
		wr->rkey = peer->words.key;
	}
	if (request->bad_rkey)
		wr->rkey.v ^= 0x01010101;
}

/* The request as it is passed, with everything that it points at in the batch. */
static void
fill(struct end *end, uint32_t index, struct batch *batch, uint32_t i)
{
	const struct request *request = &end->requests[index];
	struct plx_send_wr *wr = &batch->wr[i];
	uint32_t most = end->caps.sq_sges;

	*wr = (struct plx_send_wr){.wr_id = (uint64_t)end->connection->life << 32 | index,
				   .op = request->kind,
				   .flags = request->flags,
				   .imm = request->imm,
				   .sge = batch->sge[i],
				   .swap_add = request->swap_add,
				   .compare = request->compare};
	target_of(end, request, wr);
	if (request->flags & PLX_WR_INLINE) {
		memcpy(batch->inlined[i], source_bytes() + request->source, request->length);
		wr->sges = (uint16_t)split(&end->prng, batch->sge[i], PLX_SGE_MAX,
					   (uintptr_t)batch->inlined[i], request->length,
					   (struct plx_key){0});
	} else if (request->landing != UINT32_MAX) {
		wr->sges = (uint16_t)split(&end->prng, batch->sge[i],
					   request->kind == PLX_WR_READ ? most : 1,
					   arena_va(&end->landing, request->landing),
					   request->length, end->landing.key);
	} else {
		wr->sges = (uint16_t)split(&end->prng, batch->sge[i], most,
					   end->host->source_va + request->source, request->length,
					   end->host->source_key);
	}
}

static uint32_t
room(const struct end *end)
{
	uint32_t under_way = end->posted - end->done;

	return under_way < end->caps.sq_depth ? end->caps.sq_depth - under_way : 0;
}

/* Places are free again when completions were delivered, and stay taken while completions wait
 * behind a queue that is full: not when the engine has had a cycle and the queue is empty. */
static void
check_refusal(struct end *end, bool may, uint32_t refused, enum plx_status why)
{
	struct world *world = &end->connection->fleet->world;

	sim_must(world, why == (refused > 0 ? PLX_FULL : PLX_OK), "I14",
		 "%u requests of end %u are refused: %s", refused, end->id, plx_status_text(why));
	if (refused == 0)
		return;
	world->stats.refused++;
	sim_must(world, may || !cq_empty(end->send_cq), "I14",
		 "end %u has %u requests under way, its queue holds %u, and %u more are refused",
		 end->id, end->posted - end->done, end->caps.sq_depth, refused);
}

/* Pass the requests [from, n) of a batch. Returns: how many are taken */
static uint32_t
post_batch(struct end *end, const struct batch *batch, uint32_t from, uint32_t n,
	   enum plx_status *refused)
{
	uint32_t posted = plx_engine_qp_post_send(end->qp, batch->wr + from, n - from, refused);

	for (uint32_t i = 0; i < posted; i++) {
		const struct request *request = &end->requests[end->posted];

		trace_as(&end->connection->fleet->world, TRACE_POST, end->id, end->posted++,
			 request->kind | (uint32_t)request->bad_rkey << 8 |
				 (uint32_t)request->flags << 16,
			 request->length, request->psn);
	}
	return posted;
}

/* Post what has been drawn, as far as it is taken. */
static void
post(struct end *end)
{
	struct world *world = &end->connection->fleet->world;
	bool later = draw_percent(&end->prng, 20), cycled = true;
	uint32_t n = end->drawn - end->posted, free = room(end), posted;
	struct batch batch;
	enum plx_status why;

	for (uint32_t i = 0; i < n; i++) {
		fill(end, end->posted + i, &batch, i);
		if (later || (i + 1 < n && draw_percent(&end->prng, 50)))
			batch.wr[i].flags |= PLX_WR_DEFER;
	}
	posted = post_batch(end, &batch, 0, n, &why);
	if (posted < n && posted < free) {
		cycled = host_cycle(end->host);
		posted += post_batch(end, &batch, posted, n, &why);
	}
	check_refusal(end, posted >= free || !cycled, n - posted, why);
	/* The one that was not to be deferred may not have been taken. */
	if (later || posted < n)
		plx_engine_qp_ring_doorbell(end->qp);
	memset(&batch, 0xdd, sizeof(batch));
	host_poll_by(end->host, world->now + plx_prng_below(&end->prng, end->host->gap_ns));
}

void
drop_window(struct host *host, const struct request *request)
{
	PLX_ASSERT(plx_window_retire(host->mem, request->window) == PLX_OK);
	PLX_ASSERT(plx_window_release(host->mem, request->window) == PLX_OK);
}

/* A window, bound now; the request keeps its place in the queue. */
static void
post_bind(struct end *end)
{
	struct host *host = end->host;
	struct world *world = &end->connection->fleet->world;
	struct plx_window_attr attr = {.region = end->target.region,
				       .va = end->target.va,
				       .length = end->target.cell_bytes,
				       .access = {PLX_ACCESS_REMOTE_WRITE},
				       .qpn = end->qpn};
	struct request *request = next_request(end);
	enum plx_status why;

	*request = (struct request){.kind = PLX_WR_BIND,
				    .target = UINT32_MAX,
				    .landing = UINT32_MAX,
				    .psn = end->psn_post};
	PLX_ASSERT(plx_window_create(host->mem, host->domain, &request->window) == PLX_OK);
	PLX_ASSERT(plx_window_bind(host->mem, request->window, &attr, &request->token) == PLX_OK);
	why = plx_engine_qp_post_bind(end->qp, (uint64_t)end->connection->life << 32 | end->drawn,
				      0, request->token);
	if (why != PLX_OK) {
		sim_must(world, why == PLX_FULL, "I14", "a bind is refused: %s",
			 plx_status_text(why));
		drop_window(host, request);
		return;
	}
	end->drawn++;
	end->posted++;
	world->drawn++;
	host_poll_by(host, world->now + plx_prng_below(&end->prng, host->gap_ns));
}

/* Draw up to `n` more, and post them and what was refused before. */
static void
post_some(struct end *end, uint32_t n, uint32_t replies, uint64_t caused)
{
	struct world *world = &end->connection->fleet->world;
	uint32_t most = end->posted + FLEET_BATCH;
	uint32_t before = end->drawn;

	while (n-- > 0 && end->drawn < most && work_left(end->connection->fleet)) {
		struct request *request = next_request(end);

		if (!draw_request(end, request))
			break;
		request->caused = caused;
		request->replies = replies;
		request->psn = end->psn_post;
		end->psn_post += psns_of(end, request);
		end->drawn++;
		world->drawn++;
	}
	/* The last one is signaled, so that no request ends unnoticed. */
	if (end->drawn > before)
		end->requests[end->drawn - 1].flags &= (uint8_t)~PLX_WR_UNSIGNALED;
	if (end->drawn > end->posted)
		post(end);
}

/* Something was received, and is answered from inside the completion. */
void
work_reply(struct end *end, uint32_t to, uint64_t caused)
{
	if (end->connection->state == CONNECTION_UP && !end->giving && room(end) > 0 &&
	    work_left(end->connection->fleet) && end->drawn == end->posted &&
	    draw_percent(&end->prng, end->connection->fleet->world.config.reply_percent))
		post_some(end, 1, to, caused);
}

void
work_on_event(struct end *end)
{
	struct fleet *fleet = end->connection->fleet;
	uint64_t think = 1 + draw_exponential(&end->prng, fleet->world.config.think_ns);
	uint32_t free = room(end);

	end->app_pending = false;
	if (end->connection->state != CONNECTION_UP ||
	    (!work_left(fleet) && end->drawn == end->posted))
		return;
	if (fleet->world.now < fleet->fair_from && fleet->crowd) {
		work_wake(end, fleet->fair_from); /* all at once */
		return;
	}
	if (!fleet->world.calm && plx_prng_chance(&end->prng, fleet->world.config.kill_ppm * 4) &&
	    !end->dead) {
		fleet->world.stats.kills++;
		if (draw_percent(&end->prng, 50))
			end_fail(end);
		connection_wants_close(end->connection);
		return;
	}
	if (draw_percent(&end->prng, 5))
		free = FLEET_BATCH; /* more than there is room for, perhaps */
	if (end->drawn > end->posted)
		free = FLEET_BATCH; /* unsignaled ones may have made room unnoticed */
	if (free == 0)
		return; /* a completion goes on */
	if (fleet->doorbells && end->host->index > 0)
		return;
	if (fleet->crowd)
		post_some(end, fleet->doorbells ? 1 : 8, 0, 0);
	else if (end->drawn == end->posted && draw_percent(&end->prng, 3) && !fleet->world.evil)
		post_bind(end);
	else
		post_some(end, (uint32_t)draw_between(&end->prng, 1, free < 8 ? free : 8), 0, 0);
	/* Refused: completions have to come first, and far away they take their time. */
	if (end->drawn > end->posted)
		think += draw_log(&end->prng, 1000, 50000) +
			 fleet->world.config.weather.latency_ns / 64;
	work_wake(end, fleet->world.now + think);
}
