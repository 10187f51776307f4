/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what is asked of results: each request has exactly one, unless it is silent and succeeds; in
 * the order of posting; with the type and bytes of its request; successful if nothing forbids it,
 * and never through a dead token. It never posts and makes no call. Start with judge_result().
 */
#include "drivers.h"

static struct world *
world_for(const struct half *half)
{
	return &half->channel->drivers->fleet.world;
}

static const char *
kind_name(const struct post *post)
{
	static const char *const names[] = {
		[POST_SEND] = "SEND",
		[POST_SEND_INVALIDATE] = "SEND and invalidate",
		[POST_RECEIVE] = "receive",
		[POST_READ] = "READ",
		[POST_WRITE] = "WRITE",
		[POST_FAST_REGISTER] = "fast registration",
		[POST_INVALIDATE] = "invalidation",
		[POST_BIND] = "bind",
	};

	return names[post->kind];
}

static void
end(struct half *half, struct post *post)
{
	post->ended = true;
	if (post->cell != UINT32_MAX)
		half->cell_busy[post->cell] = 0;
	world_for(half)->done++;
	world_for(half)->progress_at = world_for(half)->now;
}

/* ---- successes ---- */

/* What a READ has brought was there, at some time. */
static void
check_read(struct half *half, const struct post *post, uint32_t id)
{
	const struct token *token = &half->peer->token[post->token];
	const uint64_t *words = cell_words(half, post->cell);

	for (uint32_t i = 0; i < post->bytes / 8; i++)
		sim_must(world_for(half),
			 region_may_hold(half->peer, token->region, post->offset / 8 + i, words[i]),
			 "I2", "READ %u brings %016" PRIx64 " from byte %u of region %u", id,
			 words[i], post->offset + 8 * i, token->region);
}

/* The peer may be in its next life already. */
static bool
is_of_this_life(const struct half *half, const struct post *post)
{
	return half->peer->state != HALF_NONE && post->life == half->channel->life;
}

static void
succeeds(struct half *half, struct post *post, uint32_t id)
{
	struct world *world = world_for(half);

	sim_must(world, !post->must_fail, "N9",
		 "%s %u of channel %u.%u succeeds, and its token was dead or not good for it when "
		 "it was posted",
		 kind_name(post), id, half->channel->index, half->index);
	world->stats.bytes += post->bytes;
	switch ((enum post_kind)post->kind) {
	case POST_WRITE:
		if (is_of_this_life(half, post))
			region_check_write(half->peer, post, id);
		break;
	case POST_READ:
		if (is_of_this_life(half, post))
			check_read(half, post, id);
		if (post->kills_sink)
			half->sink_state = 0;
		break;
	case POST_FAST_REGISTER:
	case POST_BIND:
		if (post->token >= 0 && half->token[post->token].state == TOKEN_COMING)
			half->token[post->token].state = TOKEN_ALIVE;
		break;
	case POST_INVALIDATE:
		token_dies(half, post->token);
		break;
	case POST_SEND:
	case POST_SEND_INVALIDATE:
	case POST_RECEIVE:
		break;
	}
}

/* ---- failures ---- */

/* The message that a receive waits for invalidates a token, which may be dead by then. */
static bool
waits_for_invalidation(const struct half *half)
{
	const struct half *peer = half->peer;
	const struct post *message;

	if (half->heard >= peer->sends)
		return false;
	message = &half->channel->drivers->post[peer->message[half->heard]];
	return message->kind == POST_SEND_INVALIDATE &&
	       (message->must_fail || message->may_fail || half->token[message->token].leaving);
}

/* The peer has invalidated its token, or we are closing its region. */
static bool
is_disturbed(const struct half *half, const struct post *post)
{
	const struct token *token = post->token >= 0 ? &half->token[post->token] : NULL;

	return !thing_is_open(token != NULL ? token->thing : half->sink) ||
	       (token != NULL && token->by_peer);
}

/* The peer refuses it: for its token, which may have been doomed before it was executed, or because
 * the memory of the peer's receives is being closed. */
static bool
may_be_refused(const struct half *half, const struct post *post)
{
	const bool sends = post->kind == POST_SEND || post->kind == POST_SEND_INVALIDATE;

	if (post->kind == POST_RECEIVE)
		return waits_for_invalidation(half);
	if (sends && (half->peer->state == HALF_ENDING || half->peer->state == HALF_NONE))
		return true;
	return post->kind != POST_SEND && post->token >= 0 &&
	       (post->must_fail || post->may_fail || half->peer->token[post->token].doomed);
}

static bool
may_fail_so(const struct half *half, const struct post *post, NTSTATUS status)
{
	switch ((ULONG)status) {
	case (ULONG)STATUS_CANCELLED:
	case (ULONG)STATUS_IO_TIMEOUT:
		return true;
	case (ULONG)STATUS_REMOTE_RESOURCES:
		return may_be_refused(half, post);
	case (ULONG)STATUS_INVALID_DEVICE_REQUEST:
		return (post->kind == POST_INVALIDATE || post->kind == POST_FAST_REGISTER) &&
		       (post->may_fail || is_disturbed(half, post));
	case (ULONG)STATUS_ACCESS_VIOLATION:
		/* its own memory is being closed */
		return half->state == HALF_ENDING;
	default:
		return false;
	}
}

static void
fails(struct half *half, struct post *post, uint32_t id, NTSTATUS status)
{
	sim_must(world_for(half), may_fail_so(half, post, status), "I9",
		 "%s %u of channel %u.%u fails with 0x%08x, and nothing is wrong with it",
		 kind_name(post), id, half->channel->index, half->index, (unsigned int)status);
	half->broken = true;
}

static void
ends(struct half *half, struct post *post, uint32_t id, NTSTATUS status)
{
	if (status == STATUS_SUCCESS)
		succeeds(half, post, id);
	else
		fails(half, post, id, status);
	end(half, post);
}

/* ---- in order ---- */

/* Those before it that are silent have succeeded. */
static void
in_order(struct half *half, struct post *post, uint32_t id)
{
	struct drivers *drivers = half->channel->drivers;
	struct fifo *fifo = post->kind == POST_RECEIVE ? &half->receives : &half->sent;

	while (fifo->count > 0) {
		uint32_t first = fifo_pop(fifo);
		struct post *before = &drivers->post[first];

		if (first == id)
			return;
		sim_must(&drivers->fleet.world, before->silent, "I1",
			 "%s %u has its result before %s %u, which was posted before it",
			 kind_name(post), id, kind_name(before), first);
		ends(half, before, first, STATUS_SUCCESS);
	}
	sim_fail(&drivers->fleet.world, SIM_WRONG, "I1", WRONG_DISORDERED,
		 "%s %u has a result, and is in no queue", kind_name(post), id);
}

/* ---- receives ---- */

static bool
type_is(const struct post *post, NDK_OPERATION_TYPE type)
{
	static const NDK_OPERATION_TYPE types[] = {
		[POST_SEND] = NdkOperationTypeSend,
		[POST_SEND_INVALIDATE] = NdkOperationTypeSend,
		[POST_READ] = NdkOperationTypeRead,
		[POST_WRITE] = NdkOperationTypeWrite,
		[POST_FAST_REGISTER] = NdkOperationTypeFastRegister,
		[POST_INVALIDATE] = NdkOperationTypeInvalidate,
		[POST_BIND] = NdkOperationTypeBind,
	};

	return post->kind == POST_RECEIVE ? type == NdkOperationTypeReceive ||
						    type == NdkOperationTypeReceiveAndInvalidate
					  : type == types[post->kind];
}

static void
check_token(struct half *half, const struct post *message, const NDK_RESULT_EX *result)
{
	const bool invalidates = message->kind == POST_SEND_INVALIDATE;
	const UINT32 expected = invalidates ? half->token[message->token].value : 0;

	sim_must(world_for(half),
		 (result->Type == NdkOperationTypeReceiveAndInvalidate) == invalidates &&
			 result->TypeSpecificCompletionOutput == expected,
		 "N9", "a receive of type %u invalidates %08x, it was to be %08x",
		 (unsigned int)result->Type, (unsigned int)result->TypeSpecificCompletionOutput,
		 expected);
	if (invalidates)
		token_dies(half, message->token);
}

/* The next message of the peer, whole. */
static void
receives(struct half *half, struct post *post, const NDK_RESULT_EX *result)
{
	struct world *world = world_for(half);
	struct half *peer = half->peer;
	const uint64_t *words = cell_words(half, post->cell);
	const struct post *message;
	uint32_t id;

	sim_must(world, half->heard < peer->sends, "I4",
		 "channel %u.%u receives a message, and none was sent", half->channel->index,
		 half->index);
	id = peer->message[half->heard++];
	message = &half->channel->drivers->post[id];
	sim_must(world, result->BytesTransferred == message->bytes, "I2",
		 "message %u has %u bytes, and %u are received", id, message->bytes,
		 (unsigned int)result->BytesTransferred);
	for (uint32_t i = 0; i < DRIVERS_CELL / 8; i++)
		sim_must(world, words[i] == (8 * i < message->bytes ? WORD_REQUEST | id : 0), "I2",
			 "message %u: word %u is %016" PRIx64, id, i, words[i]);
	post->solicited = message->solicited;
	check_token(half, message, result);
	world->stats.received++;
}

/* ---- all ---- */

static struct post *
find(struct queue *queue, const NDK_RESULT_EX *result)
{
	struct drivers *drivers = queue->thing.driver->drivers;
	struct world *world = &drivers->fleet.world;
	uint64_t id = (uintptr_t)result->RequestContext;
	struct post *post;

	sim_must(world, id < drivers->posts, "I1", "a result of request %" PRIx64 ", which is none",
		 id);
	post = &drivers->post[id];
	sim_must(world, !post->ended, "I1", "%s %" PRIu64 " has two results, or was refused",
		 kind_name(post), id);
	sim_must(world, post->life == post->half->channel->life, "I1",
		 "%s %" PRIu64 " of an earlier life has a result", kind_name(post), id);
	sim_must(world, (uintptr_t)result->QPContext == half_name(post->half), "I1",
		 "%s %" PRIu64 " has the context of another queue pair", kind_name(post), id);
	sim_must(world, post->half->cq[post->kind == POST_RECEIVE] == queue, "I1",
		 "%s %" PRIu64 " has its result in another queue", kind_name(post), id);
	return post;
}

const struct post *
judge_result(struct queue *queue, const NDK_RESULT_EX *result)
{
	struct post *post = find(queue, result);
	struct half *half = post->half;
	struct world *world = world_for(half);
	uint32_t id = (uint32_t)(uintptr_t)result->RequestContext;

	trace_as(world, TRACE_NDK_RESULT, half->driver->index, half_name(half), post->kind,
		 (uint32_t)result->Status, id);
	sim_must(world, type_is(post, result->Type), "I2", "%s %u has a result of type %u",
		 kind_name(post), id, (unsigned int)result->Type);
	sim_must(world, !(post->silent && result->Status == STATUS_SUCCESS), "I1",
		 "%s %u is silent, succeeds, and has a result", kind_name(post), id);
	if (post->shared)
		half->srq_posted--;
	else
		in_order(half, post, id);
	if (post->kind == POST_RECEIVE && result->Status == STATUS_SUCCESS)
		receives(half, post, result);
	ends(half, post, id, result->Status);
	return post;
}

/* Everything of the half is closed. What is left in its queues was silent, or was lost with a
 * completion queue that was closed early; a shared receive queue keeps what nobody used. */
void
judge_end(struct half *half)
{
	struct drivers *drivers = half->channel->drivers;

	while (half->sent.count > 0) {
		uint32_t id = fifo_pop(&half->sent);
		struct post *post = &drivers->post[id];

		sim_must(&drivers->fleet.world, half->lossy || post->silent, "I1",
			 "%s %u has no result, and its queue pair is closed", kind_name(post), id);
		if (half->lossy)
			end(half, post);
		else
			ends(half, post, id, STATUS_SUCCESS);
	}
	while (half->receives.count > 0) {
		uint32_t id = fifo_pop(&half->receives);

		sim_must(&drivers->fleet.world, half->lossy, "I1",
			 "receive %u has no result, and its queue pair is closed", id);
		end(half, &drivers->post[id]);
	}
	drivers->fleet.world.done += half->srq_posted;
}
