/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns requests: which are posted, with what flags and memory, and what the model expects of each.
 * A request is entered before it is posted, because its result may come before the post returns.
 * It never looks at a result. Start with post_something().
 */
#include <stdlib.h>

#include "drivers.h"

_Static_assert(POST_SGES == 2, "sges_of() makes two at most");

/* ---- lists ---- */

void
fifo_push(struct fifo *fifo, uint32_t id)
{
	if (fifo->count == fifo->room) {
		uint32_t room = fifo->room ? 2 * fifo->room : 64;
		uint32_t *list = malloc(room * sizeof(*list));

		PLX_ASSERT(list != NULL);
		for (uint32_t i = 0; i < fifo->count; i++)
			list[i] = fifo->list[(fifo->first + i) % fifo->room];
		free(fifo->list);
		*fifo = (struct fifo){list, 0, fifo->count, room};
	}
	fifo->list[(fifo->first + fifo->count++) % fifo->room] = id;
}

uint32_t
fifo_pop(struct fifo *fifo)
{
	uint32_t id = fifo->list[fifo->first];

	fifo->first = (fifo->first + 1) % fifo->room;
	fifo->count--;
	return id;
}

/* ---- entering ---- */

static uint32_t
enter(struct half *half, enum post_kind kind)
{
	struct drivers *drivers = half->channel->drivers;

	if (drivers->posts == drivers->post_room) {
		drivers->post_room = drivers->post_room * 2 + 256;
		drivers->post = realloc(drivers->post, drivers->post_room * sizeof(*drivers->post));
		PLX_ASSERT(drivers->post != NULL);
	}
	drivers->post[drivers->posts] = (struct post){.half = half,
						      .life = half->channel->life,
						      .kind = (uint8_t)kind,
						      .cell = UINT32_MAX,
						      .token = -1};
	return drivers->posts++;
}

static struct post *
at(const struct half *half, uint32_t id)
{
	return &half->channel->drivers->post[id];
}

/* A cell of local memory. Returns: UINT32_MAX: all are in use */
static uint32_t
take_cell(struct half *half)
{
	uint32_t from = (uint32_t)plx_prng_below(&half->prng, DRIVERS_CELLS);

	for (uint32_t i = 0; i < DRIVERS_CELLS; i++) {
		uint32_t cell = (from + i) % DRIVERS_CELLS;

		if (half->cell_busy[cell])
			continue;
		half->cell_busy[cell] = 1;
		return cell;
	}
	return UINT32_MAX;
}

uint64_t *
cell_words(const struct half *half, uint32_t cell)
{
	return (uint64_t *)(void *)(half->cells + (size_t)cell * DRIVERS_CELL);
}

/* SGEs of a cell: one or two. Returns: how many */
static ULONG
sges_of(struct half *half, uint32_t cell, uint32_t bytes, NDK_SGE *sge)
{
	uint8_t *words = half->cells + (size_t)cell * DRIVERS_CELL;
	uint32_t part = bytes >= 16 && draw_percent(&half->prng, 30) ? bytes / 16 * 8 : bytes;

	sge[0] = (NDK_SGE){
		.VirtualAddress = words, .Length = part, .MemoryRegionToken = half->local_token};
	sge[1] = (NDK_SGE){.VirtualAddress = words + part,
			   .Length = bytes - part,
			   .MemoryRegionToken = half->local_token};
	return part < bytes ? 2 : 1;
}

static void
fill(const struct half *half, uint32_t id)
{
	const struct post *post = at(half, id);
	uint64_t *words = cell_words(half, post->cell);

	for (uint32_t i = 0; i < DRIVERS_CELL / 8; i++)
		words[i] = i < post->bytes / 8 ? WORD_REQUEST | id : WORD_NOTHING;
}

/* The post has returned. A refused one has changed nothing. */
static void
posted(struct half *half, uint32_t id, NTSTATUS status, NTSTATUS expected)
{
	struct world *world = &half->channel->drivers->fleet.world;
	struct post *post = at(half, id);

	trace_as(world, TRACE_NDK_POSTS, half->driver->index, half_name(half), post->kind,
		 (uint32_t)status, id);
	/* a refusal rings the doorbell, and so does a request that is not deferred */
	half->unrung = status == STATUS_SUCCESS && half->chain > 0 ? half->unrung + 1 : 0;
	if (status == STATUS_SUCCESS) {
		sim_must(world, expected == STATUS_SUCCESS, "N8",
			 "request %u of kind %u is taken, 0x%08x was expected", id, post->kind,
			 (unsigned int)expected);
		world->drawn++;
		return;
	}
	sim_must(world, !post->ended, "N1", "request %u is refused, and has a result", id);
	sim_must(world,
		 status == expected ||
			 (expected == STATUS_SUCCESS && (status == STATUS_CONNECTION_INVALID ||
							 status == STATUS_NO_MORE_ENTRIES)),
		 "N8", "request %u of kind %u is refused with 0x%08x, 0x%08x was expected", id,
		 post->kind, (unsigned int)status, (unsigned int)expected);
	world->stats.refused++;
	post->ended = true;
	if (post->kind == POST_RECEIVE)
		half->receives.count -= !post->shared;
	else
		half->sent.count--;
	if (post->cell != UINT32_MAX)
		half->cell_busy[post->cell] = 0;
	if (post->shared)
		half->srq_posted--;
}

/* ---- receives ---- */

/* Returns: false: nothing more can be posted now */
static bool
post_receive(struct half *half)
{
	uint32_t cell = take_cell(half), id;
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	NTSTATUS status;
	NDK_SGE sge[2];
	PVOID context;
	ULONG sges;

	if (cell == UINT32_MAX)
		return false;
	id = enter(half, POST_RECEIVE);
	at(half, id)->cell = cell;
	at(half, id)->shared = half->srq != NULL;
	memset(cell_words(half, cell), 0, DRIVERS_CELL);
	sges = sges_of(half, cell, DRIVERS_CELL, sge);
	context = (PVOID)(uintptr_t)id;
	if (half->srq != NULL) {
		NDK_SRQ *srq = (NDK_SRQ *)(void *)half->srq->object;

		half->srq_posted++;
		status = srq->Dispatch->NdkSrqReceive(srq, context, sge, sges);
	} else {
		fifo_push(&half->receives, id);
		status = qp->Dispatch->NdkReceive(qp, context, sge, sges);
	}
	posted(half, id, status, STATUS_SUCCESS);
	return status == STATUS_SUCCESS;
}

/* The receive queue is filled, mostly. Cells are left for requests. */
void
post_receives(struct half *half)
{
	uint32_t room =
		half->receive_depth < DRIVERS_CELLS / 2 ? half->receive_depth : DRIVERS_CELLS / 2;

	/* in a queue that is flushed only a few, which come back at once */
	if (draw_percent(&half->prng, half->broken ? 95 : 20) ||
	    !(half->srq == NULL || thing_is_open(half->srq)) || !thing_is_open(half->qp))
		return;
	while (half->receives.count + half->srq_posted < room && post_receive(half))
		;
}

/* ---- flags ---- */

/* Silent ones need others behind them that are not. */
static ULONG
draw_flags(struct half *half, struct post *post)
{
	struct plx_prng *prng = &half->prng;
	ULONG flags = 0;

	if (draw_percent(prng, 35) && half->sent.count + half->silent < half->depth / 2) {
		flags |= NDK_OP_FLAG_SILENT_SUCCESS;
		post->silent = true;
		half->silent++;
	} else {
		half->silent = 0;
	}
	if (draw_percent(prng, 15))
		flags |= NDK_OP_FLAG_READ_FENCE;
	if (half->chain > 0)
		flags |= NDK_OP_FLAG_DEFER;
	return flags;
}

static ULONG
draw_inline(struct half *half, const struct post *post)
{
	return post->bytes <= half->inline_bytes && draw_percent(&half->prng, 40)
		       ? NDK_OP_FLAG_INLINE
		       : 0;
}

/* ---- messages ---- */

static void
keep_message(struct half *half, uint32_t id)
{
	if (half->sends == half->message_room) {
		half->message_room = half->message_room * 2 + 64;
		half->message = realloc(half->message, half->message_room * sizeof(*half->message));
		PLX_ASSERT(half->message != NULL);
	}
	half->message[half->sends++] = id;
}

/* A token of the peer's that it may be asked to invalidate; -1: none */
static int32_t
draw_victim(struct half *half)
{
	struct half *peer = half->peer;

	for (uint32_t i = 0; i < 8 && peer->token_count > 0; i++) {
		uint32_t index = (uint32_t)plx_prng_below(&half->prng, peer->token_count);
		const struct token *token = &peer->token[index];

		/* regions registered by requests are not invalidated */
		if ((token->window || peer->region[token->region].fast) &&
		    (token->state == TOKEN_ALIVE || draw_percent(&half->prng, 3)))
			return (int32_t)index;
	}
	return -1;
}

static void
expect_invalidation(struct half *half, struct post *post)
{
	struct token *token = &half->peer->token[post->token];

	post->must_fail = token->state == TOKEN_DEAD;
	post->may_fail = token->state != TOKEN_ALIVE || token->doomed;
	token->doomed = token->by_peer = true;
}

static void
post_send(struct half *half, bool invalidates)
{
	int32_t victim = invalidates ? draw_victim(half) : -1;
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	uint32_t id, cell = take_cell(half);
	struct post *post;
	NTSTATUS status;
	NDK_SGE sge[2];
	ULONG sges, flags;

	if (cell == UINT32_MAX)
		return;
	id = enter(half, victim >= 0 ? POST_SEND_INVALIDATE : POST_SEND);
	post = at(half, id);
	post->cell = cell;
	post->token = victim;
	post->bytes = 8 * (uint32_t)draw_log(&half->prng, 1, DRIVERS_CELL / 8);
	post->order = half->sends;
	if (victim >= 0)
		expect_invalidation(half, post);
	flags = draw_flags(half, post) | draw_inline(half, post);
	if (draw_percent(&half->prng, 30)) {
		flags |= NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT;
		post->solicited = true;
	}
	fill(half, id);
	sges = sges_of(half, cell, post->bytes, sge);
	fifo_push(&half->sent, id);
	keep_message(half, id);
	if (victim < 0)
		status = qp->Dispatch->NdkSend(qp, (PVOID)(uintptr_t)id, sge, sges, flags);
	else
		status = qp->Dispatch->NdkSendAndInvalidate(qp, (PVOID)(uintptr_t)id, sge, sges,
							    flags, half->peer->token[victim].value);
	if (status != STATUS_SUCCESS)
		half->sends--;
	/* gather on post: the memory is ours again */
	if (status == STATUS_SUCCESS && flags & NDK_OP_FLAG_INLINE)
		memset(cell_words(half, cell), 0x11, DRIVERS_CELL);
	posted(half, id, status, STATUS_SUCCESS);
}

/* ---- READ and WRITE ---- */

static int32_t
draw_target(struct half *half)
{
	const struct half *peer = half->peer;
	int32_t best = -1;

	for (uint32_t i = 0; i < 6 && peer->token_count > 0; i++) {
		uint32_t index = (uint32_t)plx_prng_below(&half->prng, peer->token_count);

		best = (int32_t)index;
		if (peer->token[index].state == TOKEN_ALIVE && !peer->token[index].doomed)
			break;
		if (draw_percent(&half->prng, 5))
			break;
		best = -1;
	}
	return best;
}

/* Where in what the token covers, or sometimes beyond. */
static uint64_t
draw_place(struct half *half, const struct token *token, struct post *post, uint8_t right)
{
	uint32_t bytes = 8 * (uint32_t)draw_log(&half->prng, 1, DRIVERS_CELL / 8);
	uint64_t place;

	if (bytes > token->bytes)
		bytes = token->bytes;
	post->bytes = bytes;
	post->offset = token->offset +
		       8 * (uint32_t)plx_prng_below(&half->prng, (token->bytes - bytes) / 8 + 1);
	place = token->base + (post->offset - token->offset);
	if (draw_percent(&half->prng, 1))
		place += token->bytes;
	post->must_fail = token->state == TOKEN_DEAD || !token_covers(token, right, place, bytes);
	post->may_fail = post->must_fail || token->state != TOKEN_ALIVE || token->doomed;
	return place;
}

static void
post_access(struct half *half, bool reads)
{
	const uint8_t right = reads ? PLX_ACCESS_REMOTE_READ : PLX_ACCESS_REMOTE_WRITE;
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	int32_t target = draw_target(half);
	const struct token *token;
	uint32_t id, cell;
	struct post *post;
	uint64_t place;
	NTSTATUS status;
	NDK_SGE sge[2];
	ULONG sges, flags;

	if (target < 0)
		return;
	token = &half->peer->token[target];
	if (!(token->right & right) && !draw_percent(&half->prng, 2))
		return;
	cell = take_cell(half);
	if (cell == UINT32_MAX)
		return;
	id = enter(half, reads ? POST_READ : POST_WRITE);
	post = at(half, id);
	post->cell = cell;
	post->token = target;
	place = draw_place(half, token, post, right);
	flags = draw_flags(half, post);
	if (reads)
		memset(cell_words(half, cell), 0, DRIVERS_CELL);
	else
		fill(half, id);
	sges = sges_of(half, cell, post->bytes, sge);
	fifo_push(&half->sent, id);
	if (reads) {
		if (half->sink_state == 1 && draw_percent(&half->prng, 60)) {
			post->kills_sink = true;
			half->sink_state = 2;
			sge[0].MemoryRegionToken = sge[1].MemoryRegionToken = half->sink_token;
			flags |= NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE;
		}
		status = qp->Dispatch->NdkRead(qp, (PVOID)(uintptr_t)id, sge, sges, place,
					       token->value, flags);
		if (status != STATUS_SUCCESS && post->kills_sink)
			half->sink_state = 1;
	} else {
		flags |= draw_inline(half, post);
		status = qp->Dispatch->NdkWrite(qp, (PVOID)(uintptr_t)id, sge, sges, place,
						token->value, flags);
		if (status == STATUS_SUCCESS && flags & NDK_OP_FLAG_INLINE)
			memset(cell_words(half, cell), 0x11, DRIVERS_CELL);
	}
	posted(half, id, status, STATUS_SUCCESS);
}

/* ---- registering ---- */

static const struct rights {
	ULONG flags;
	uint8_t right;
} rights[] = {
	{NDK_OP_FLAG_ALLOW_REMOTE_READ, PLX_ACCESS_REMOTE_READ},
	{NDK_OP_FLAG_ALLOW_REMOTE_WRITE, PLX_ACCESS_REMOTE_WRITE},
	{NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE,
	 PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE},
};

static NTSTATUS
fast_register(struct half *half, uint32_t id, struct thing *thing, void *memory, ULONG length,
	      uint64_t base, ULONG flags)
{
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	NDK_LOGICAL_ADDRESS page[DRIVERS_CELLS * DRIVERS_CELL / PAGE_SIZE + 1];
	ULONG fbo = BYTE_OFFSET(memory);
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(memory, length);

	for (ULONG i = 0; i < pages; i++)
		page[i].QuadPart =
			(LONGLONG)((uintptr_t)PAGE_ALIGN(memory) + (uintptr_t)i * PAGE_SIZE);
	return qp->Dispatch->NdkFastRegister(qp, (PVOID)(uintptr_t)id,
					     (NDK_MR *)(void *)thing->object, pages, page, fbo,
					     length, (PVOID)(uintptr_t)base, flags);
}

/* A part of a region, at its own address for the peer, or another. */
static void
post_fast(struct half *half, uint32_t index)
{
	const struct rights *right = &rights[plx_prng_below(&half->prng, PLX_COUNT_OF(rights))];
	struct region *region = &half->region[index];
	uint32_t offset = 8 * (uint32_t)plx_prng_below(&half->prng, DRIVERS_REGION / 16);
	uint32_t bytes = 8 * (uint32_t)draw_between(&half->prng, 1, (DRIVERS_REGION - offset) / 8);
	uint8_t *memory = (uint8_t *)region->words + offset;
	uint64_t base = (uintptr_t)memory;
	struct token *token;
	int32_t fresh;
	NTSTATUS status;
	uint32_t id;

	fresh = token_new(half, index, region->mr, 0);
	if (fresh < 0)
		return;
	if (draw_percent(&half->prng, 30))
		base = BYTE_OFFSET(memory) + PAGE_SIZE * plx_prng_below(&half->prng, 1000);
	token = &half->token[fresh];
	token->right = right->right;
	token->offset = offset;
	token->bytes = bytes;
	token->base = base;
	id = enter(half, POST_FAST_REGISTER);
	at(half, id)->token = fresh;
	at(half, id)->may_fail = region->token >= 0 && half->token[region->token].by_peer;
	fifo_push(&half->sent, id);
	status = fast_register(half, id, region->mr, memory, bytes, base,
			       right->flags | draw_flags(half, at(half, id)));
	if (status == STATUS_SUCCESS) {
		NDK_MR *mr = (NDK_MR *)(void *)region->mr->object;

		token->value = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
		region->token = fresh;
	} else {
		half->token_count--;
	}
	posted(half, id, status, STATUS_SUCCESS);
}

static void
post_sink(struct half *half)
{
	NDK_MR *mr = (NDK_MR *)(void *)half->sink->object;
	uint32_t id = enter(half, POST_FAST_REGISTER);
	NTSTATUS status;

	fifo_push(&half->sent, id);
	status = fast_register(half, id, half->sink, half->cells, DRIVERS_CELLS * DRIVERS_CELL,
			       (uintptr_t)half->cells,
			       NDK_OP_FLAG_ALLOW_LOCAL_WRITE | draw_flags(half, at(half, id)));
	if (status == STATUS_SUCCESS) {
		half->sink_token = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
		half->sink_state = 1;
	}
	at(half, id)->sink = true;
	posted(half, id, status, STATUS_SUCCESS);
}

static void
post_bind(struct half *half, uint32_t index)
{
	const struct rights *right = &rights[plx_prng_below(&half->prng, PLX_COUNT_OF(rights))];
	struct region *region = &half->region[index];
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	NDK_MW *mw = (NDK_MW *)(void *)region->mw->object;
	uint32_t offset = 8 * (uint32_t)plx_prng_below(&half->prng, DRIVERS_REGION / 16);
	uint32_t bytes = 8 * (uint32_t)draw_between(&half->prng, 1, (DRIVERS_REGION - offset) / 8);
	int32_t fresh = token_new(half, index, region->mw, 0);
	struct token *token;
	NTSTATUS status;
	uint32_t id;

	if (fresh < 0)
		return;
	token = &half->token[fresh];
	*token = (struct token){.right = right->right,
				.window = true,
				.region = index,
				.thing = region->mw,
				.offset = offset,
				.bytes = bytes,
				.base = (uintptr_t)region->words + offset};
	id = enter(half, POST_BIND);
	at(half, id)->token = fresh;
	fifo_push(&half->sent, id);
	status = qp->Dispatch->NdkBind(qp, (PVOID)(uintptr_t)id,
				       (NDK_MR *)(void *)region->mr->object, mw,
				       (PVOID)(uintptr_t)token->base, bytes,
				       right->flags | draw_flags(half, at(half, id)));
	if (status == STATUS_SUCCESS) {
		token->value = mw->Dispatch->NdkGetRemoteTokenFromMw(mw);
		region->window_token = fresh;
		thing_lets_go(region->mw, region->mr);
		thing_holds(region->mw, region->mr);
	} else {
		half->token_count--;
	}
	posted(half, id, status, STATUS_SUCCESS);
}

static void
post_invalidate(struct half *half, struct thing *thing, int32_t index)
{
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	struct token *token = &half->token[index];
	uint32_t id = enter(half, POST_INVALIDATE);
	NTSTATUS status;
	bool doomed = token->doomed;

	at(half, id)->token = index;
	at(half, id)->may_fail = token->by_peer;
	token->doomed = true;
	fifo_push(&half->sent, id);
	status = qp->Dispatch->NdkInvalidate(qp, (PVOID)(uintptr_t)id, thing->object,
					     draw_flags(half, at(half, id)));
	if (status == STATUS_SUCCESS)
		token->leaving = true;
	else
		token->doomed = doomed;
	posted(half, id, status, STATUS_SUCCESS);
}

/* One step in the life of a token: registered, invalidated, or both at once. */
static void
post_about(struct half *half, struct thing *thing, int32_t index,
	   void (*begin)(struct half *half, uint32_t region), uint32_t region)
{
	const struct token *token = index >= 0 ? &half->token[index] : NULL;

	if (!thing_is_open(thing))
		return;
	if (token == NULL || token->state == TOKEN_DEAD) {
		begin(half, region);
		return;
	}
	if (token->leaving)
		return;
	post_invalidate(half, thing, index);
	/* a window is bound when the request is posted, and has to be free by then */
	if (half->token[index].leaving && !half->token[index].window &&
	    half->sent.count < half->depth && draw_percent(&half->prng, 50))
		begin(half, region);
}

static void
post_memory(struct half *half)
{
	uint32_t index = (uint32_t)plx_prng_below(&half->prng, DRIVERS_REGIONS);
	struct region *region = &half->region[index];

	if (half->sink != NULL && half->sink_state == 0 && thing_is_open(half->sink) &&
	    draw_percent(&half->prng, 30))
		post_sink(half);
	else if (region->fast)
		post_about(half, region->mr, region->token, post_fast, index);
	else if (region->mw != NULL && region->token >= 0 && !region->busy &&
		 thing_is_open(region->mr) && draw_percent(&half->prng, 80))
		post_about(half, region->mw, region->window_token, post_bind, index);
	else if (!region->busy && thing_is_open(region->mr) && region->token >= 0)
		region_deregister(half, index);
	else if (!region->busy && thing_is_open(region->mr))
		region_register(half, index);
}

/* ---- refusals ---- */

/* What a consumer ends a chain with, and what is refused: deferred requests leave all the same. */
static void
post_wrong(struct half *half)
{
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	ULONG defer = half->chain > 0 ? NDK_OP_FLAG_DEFER : 0;
	NDK_SGE sge[POST_SGES + 1] = {0};
	uint32_t id = enter(half, POST_WRITE);
	NTSTATUS status, expected;

	fifo_push(&half->sent, id);
	switch (plx_prng_below(&half->prng, 3)) {
	case 0:
		expected = STATUS_DATA_OVERRUN;
		status = qp->Dispatch->NdkWrite(qp, (PVOID)(uintptr_t)id, sge, POST_SGES + 1, 0, 0,
						defer);
		break;
	case 1:
		expected = STATUS_BUFFER_OVERFLOW;
		sge[0].Length = half->inline_bytes + 1;
		sge[0].VirtualAddress = half->cells;
		status = qp->Dispatch->NdkSend(qp, (PVOID)(uintptr_t)id, sge, 1,
					       defer | NDK_OP_FLAG_INLINE);
		break;
	default:
		expected = STATUS_INVALID_PARAMETER;
		status = qp->Dispatch->NdkSend(qp, (PVOID)(uintptr_t)id, NULL, 1, defer);
		break;
	}
	posted(half, id, status, expected);
}

/* ---- drawing ---- */

static void
post_one(struct half *half)
{
	uint64_t what = plx_prng_below(&half->prng, 100);

	if (half->sent.count >= half->depth)
		return;
	if (what < 25)
		post_send(half, false);
	else if (what < 33)
		post_send(half, true);
	else if (what < 55)
		post_access(half, false);
	else if (what < 72)
		post_access(half, true);
	else if (what < 98)
		post_memory(half);
	else
		post_wrong(half);
}

/* One request, or a chain of deferred ones, which ends with one that is not, or that is refused. */
void
post_something(struct half *half)
{
	if (!drivers_may_post(half->channel->drivers) || !thing_is_open(half->qp))
		return;
	half->waits = half->waits && half->sent.count > 0;
	if (half->waits)
		return;
	if (draw_percent(&half->prng, 20))
		for (half->chain = (uint32_t)draw_between(&half->prng, 1, 5); half->chain > 0;
		     half->chain--)
			post_one(half);
	if (half->unrung == 0 || draw_percent(&half->prng, 60))
		post_one(half);
	if (half->unrung == 0)
		return;
	/* Nothing else sends them before the last of them has its result. */
	half->waits = half->silent == 0;
	half->chain = draw_percent(&half->prng, 50);
	post_wrong(half);
	half->chain = 0;
}
