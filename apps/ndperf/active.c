/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The active endpoint: keeps as many messages in flight as the job specifies, or one in a
 * ping-pong, and notes when each one completes. All of this is on the measured path; nothing
 * allocates, waits or prints. Start with active_step().
 */
#include "side.h"

#include "clock.h"

#include <string.h>

static const uint8_t wr_ops[OP_COUNT] = {
	[OP_NONE] = PLX_WR_NONE, [OP_SEND] = PLX_WR_SEND,         [OP_WRITE] = PLX_WR_WRITE,
	[OP_READ] = PLX_WR_READ, [OP_CMP_SWAP] = PLX_WR_CMP_SWAP, [OP_FETCH_ADD] = PLX_WR_FETCH_ADD,
};

static bool
is_atomic(const struct side *side)
{
	return side->job.op == OP_CMP_SWAP || side->job.op == OP_FETCH_ADD;
}

void
side_start(struct side *side)
{
	const struct lane *lane = &side->lanes[0];
	bool may_inline = side->job.size <= side->job.inline_bytes &&
			  (side->job.op == OP_SEND || side->job.op == OP_WRITE);
	for (uint32_t k = 0; k < BATCH_MAX; k++) {
		side->sge[k] = (struct plx_sge){
			.va = (uint64_t)(uintptr_t)lane->local,
			.length = side->job.size,
			.key = side->key,
		};
		side->wr[k] = (struct plx_send_wr){
			.op = wr_ops[side->job.op],
			.flags = may_inline ? PLX_WR_INLINE : 0,
			.sge = &side->sge[k],
			.sges = 1,
			.remote_va = lane->peer.va,
			.rkey = lane->peer.rkey,
			.swap_add = 1,
		};
	}
	if (side->job.op == OP_WRITE && side->job.check && !side->is_ping_pong)
		side->wr[1].op = PLX_WR_READ;
}

/* ---- streams ---- */

/* Advance to the next buffer. READ uses a different remote buffer in each round, so that the
 * response to an earlier READ does not look like this one's. */
static void
advance(const struct side *side, uint32_t *slot, uint32_t *remote)
{
	uint32_t step = 1;
	if (++*slot == side->job.slots) {
		*slot = 0;
		step += side->job.op == OP_READ;
	}
	*remote += step;
	while (*remote >= side->job.slots)
		*remote -= side->job.slots;
}

/* Write message `n` of the lane as its request `k`. */
static void
make_request(struct side *side, struct lane *lane, uint32_t k, uint64_t n, uint32_t slot,
	     uint32_t remote)
{
	struct plx_send_wr *wr = &side->wr[k];
	uint8_t *at = lane->local + slot * side->stride;
	wr->wr_id = n;
	wr->rkey = lane->peer.rkey;
	side->sge[k].va = (uint64_t)(uintptr_t)at;
	if (is_atomic(side)) {
		wr->remote_va = lane->peer.va;
		wr->compare = n;
		wr->swap_add = side->job.op == OP_CMP_SWAP ? n + 1 : 1;
		return;
	}
	wr->remote_va = lane->peer.va + remote * side->stride;
	if (side->job.op != OP_READ)
		side_write_source(side, at, (uint32_t)(lane - side->lanes), n);
	else if (side->job.check)
		memset(at, 0, side->job.size);
}

/* Post a WRITE followed, on the same queue pair, by a READ of the same bytes. */
static bool
post_checked_write(struct side *side, uint32_t index)
{
	struct lane *lane = &side->lanes[index];
	if (lane->posted - lane->done >= side->job.depth || side->is_stopping ||
	    side->flying >= side->job.flight)
		return false;
	make_request(side, lane, 0, lane->posted, lane->slot, lane->slot);
	side->wr[0].flags |= PLX_WR_UNSIGNALED;
	side->wr[1].wr_id = lane->posted;
	side->wr[1].flags = 0;
	side->wr[1].remote_va = side->wr[0].remote_va;
	side->wr[1].rkey = side->wr[0].rkey;
	side->sge[1].va = (uint64_t)(uintptr_t)(lane->target + lane->slot * side->stride);
	if (!side_post(side, index, 2))
		return false;
	advance(side, &lane->slot, &lane->remote_slot);
	lane->posted++;
	side->flying++;
	return true;
}

/* Post a batch if there is room. At the end, post one more request, signaled, to complete the
 * preceding unsignaled ones. */
static bool
post_batch(struct side *side, uint32_t index)
{
	struct lane *lane = &side->lanes[index];
	const struct job *job = &side->job;
	uint64_t room = job->depth - (lane->posted - lane->done);
	uint32_t n = side->is_stopping ? lane->unsignaled != 0 : job->batch;
	if (n == 0 || room < n || (!side->is_stopping && side->flying + n > job->flight))
		return false;
	return side_post_stream(side, index, n);
}

bool
side_post_stream(struct side *side, uint32_t index, uint32_t n)
{
	struct lane *lane = &side->lanes[index];
	const struct job *job = &side->job;
	uint32_t slot = lane->slot, remote = lane->remote_slot, unsignaled = lane->unsignaled;
	for (uint32_t k = 0; k < n; k++) {
		bool is_signaled = unsignaled + 1 >= job->signal || side->is_stopping;
		struct plx_send_wr *wr = &side->wr[k];
		make_request(side, lane, k, lane->posted + k, slot, remote);
		wr->flags = (uint8_t)((wr->flags & PLX_WR_INLINE) |
				      (is_signaled ? 0 : PLX_WR_UNSIGNALED));
		unsignaled = is_signaled ? 0 : unsignaled + 1;
		advance(side, &slot, &remote);
	}
	if (job->test == TEST_LATENCY)
		side->posted_at = ticks();
	if (!side_post(side, index, n))
		return false;
	lane->posted += n;
	side->flying += n;
	lane->slot = slot;
	lane->remote_slot = remote;
	lane->unsignaled = unsignaled;
	return true;
}

/* Check the data returned for message `n`. */
static bool
verify_answer(struct side *side, uint32_t index, uint64_t n)
{
	struct lane *lane = &side->lanes[index];
	uint64_t slot = n % side->job.slots;
	if (is_atomic(side)) {
		uint64_t was;
		memcpy(&was, lane->local + slot * side->stride, sizeof(was));
		if (was != n)
			return side_fail(side, "wrong data: %s %llu of queue pair %u found %llu",
					 op_names[side->job.op], (unsigned long long)n, index,
					 (unsigned long long)was);
		side->checked_bytes += sizeof(was);
		return true;
	}
	if (!side->job.check || side->job.op == OP_SEND)
		return true;
	if (side->job.op == OP_READ)
		return side_verify(side, lane->local + slot * side->stride, index,
				   (n + n / side->job.slots) % side->job.slots);
	return side_verify(side, lane->target + slot * side->stride, index, n);
}

static void
complete(struct side *side, const union entry *entry)
{
	uint32_t index = entry_lane(side, entry);
	struct lane *lane = &side->lanes[index];
	uint64_t upto = entry_id(side, entry) + 1;
	if (side->job.test == TEST_LATENCY && !side->job.open)
		side_time(side, ticks());
	if (upto <= lane->done || upto > lane->posted) {
		side_fail(
			side,
			"received the completion of message %llu where %llu to %llu were expected",
			(unsigned long long)upto - 1, (unsigned long long)lane->done,
			(unsigned long long)lane->posted - 1);
		return;
	}
	if (side->job.open)
		open_ended(side, index, upto, ticks());
	side->amount += upto - lane->done;
	side->flying -= upto - lane->done;
	if (side->job.signal == 1 || is_atomic(side)) {
		for (uint64_t n = lane->done; n < upto; n++) {
			if (!verify_answer(side, index, n))
				return;
		}
	}
	lane->done = upto;
}

/* Post on the lanes whose turn it is.
 * Returns: false: none had room */
static bool
post_turn(struct side *side)
{
	bool reads_back = side->job.op == OP_WRITE && side->job.check, has_posted = false;
	uint32_t lanes = side->job.qps < LANES_A_TURN ? side->job.qps : LANES_A_TURN;
	for (uint32_t i = 0; i < lanes && !side->has_failed; i++) {
		uint32_t lane = side->next_lane;
		side->next_lane = lane + 1 == side->job.qps ? 0 : lane + 1;
		while (reads_back ? post_checked_write(side, lane) : post_batch(side, lane)) {
			has_posted = true;
			if (!side->job.fill)
				break;
		}
	}
	return has_posted;
}

bool
side_stream(struct side *side)
{
	union entry entries[POLL_MAX];
	uint32_t n = side_reap(side, QUEUE_SEND, entries);
	for (uint32_t i = 0; i < n && !side->has_failed; i++)
		complete(side, entry_at(side, entries, i));
	bool has_posted = side->job.open && side->is_active ? open_step(side) : post_turn(side);
	return has_posted || n != 0;
}

/* ---- ping-pong ---- */

static bool
ping_step(struct side *side)
{
	struct lane *lane = &side->lanes[0];
	if (lane->posted != lane->received) {
		if (!side_ping_came(side, lane->received, REPLY_STREAM))
			return false;
		side_time(side, ticks());
		lane->done++;
		side->flying--;
		side->amount++;
	}
	if (!side->is_stopping && !side->has_failed)
		side_post_ping(side, lane->posted, 0);
	return true;
}

bool
active_step(struct side *side)
{
	if (side->is_ping_pong)
		return ping_step(side);
	bool has_worked = side_stream(side);
	if (side->rq_depth != 0 && !side->has_failed)
		has_worked |= side_receive(side);
	return has_worked;
}

bool
side_is_drained(const struct side *side)
{
	return side->flying == 0 && (side->open.due == NULL || open_is_over(side));
}
