/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passive endpoint: handles received messages, posts receives again, answers pings, and at the
 * end verifies what the peer's messages have left in its memory. Nothing in a step waits or prints.
 * Start with passive_step().
 */
#include "side.h"

#include "pattern.h"

#include <string.h>

bool
side_welcome(struct side *side)
{
	const struct job *job = &side->job;
	for (uint32_t i = 0; i < job->qps; i++) {
		struct lane *lane = &side->lanes[i];
		bool is_read = !side->is_active && job->op == OP_READ && job->check;
		for (uint32_t slot = 0; is_read && slot < job->slots; slot++)
			pattern_write(lane->target + slot * side->stride, job->size, i, slot);
		lane->owed = side->rq_depth;
		if (lane->owed == 0)
			continue;
		struct plx_why why = {{0}};
		/* with a face they are posted from the beginning */
		enum plx_status status = PLX_OK;
		if (side->face == NULL)
			status = plx_qp_modify(lane->qp, PLX_QP_INIT, NULL, NULL, &why);
		if (status != PLX_OK)
			return side_fail(side, "a queue pair cannot enter INIT: %s",
					 reason_text(&why, status));
		if (!side_post_receives(side, i))
			return false;
	}
	return true;
}

static bool
answer_step(struct side *side)
{
	struct lane *lane = &side->lanes[0];
	bool has_come = lane->posted == lane->received && side_ping_came(side, lane->received, 0);
	/* retry, if the queue was full before */
	if (lane->posted != lane->received && !side->has_failed)
		side_post_ping(side, lane->posted, REPLY_STREAM);
	return has_come;
}

static void
on_receive(struct side *side, const union entry *entry)
{
	uint32_t index = entry_lane(side, entry), bytes = entry_bytes(side, entry);
	struct lane *lane = &side->lanes[index];
	if (bytes != side->job.size) {
		side_fail(side, "received a message of %u bytes instead of %u", bytes,
			  side->job.size);
		return;
	}
	if (side->job.check &&
	    !side_verify(side, lane->target + lane->received % side->job.slots * side->stride,
			 index, lane->received))
		return;
	lane->received++;
	side->amount += !side->job.both;
	lane->owed++;
	if (lane->owed * 8 >= side->rq_depth)
		side_post_receives(side, index);
}

bool
side_receive(struct side *side)
{
	union entry entries[POLL_MAX];
	uint32_t n = side_reap(side, QUEUE_RECEIVE, entries);
	for (uint32_t i = 0; i < n && !side->has_failed; i++)
		on_receive(side, entry_at(side, entries, i));
	return n != 0;
}

bool
passive_step(struct side *side)
{
	bool has_worked = false;
	if (side->is_ping_pong)
		return answer_step(side);
	if (side->job.both)
		has_worked = side_stream(side);
	else if (side->job.op != OP_SEND)
		return side_poll(side) != 0;
	if (side->rq_depth != 0 && !side->has_failed)
		has_worked |= side_receive(side);
	return has_worked;
}

/* Each buffer contains the last message written to it. */
static bool
judge_writes(struct side *side, uint32_t index, uint64_t count)
{
	uint64_t slots = side->job.slots;
	for (uint64_t slot = 0; slot < slots && slot < count; slot++) {
		uint64_t last = count - 1 - (count - 1 - slot) % slots;
		if (!side_verify(side, side->lanes[index].target + slot * side->stride, index,
				 last))
			return false;
	}
	return true;
}

bool
passive_judge(struct side *side, const uint64_t *counts)
{
	const struct job *job = &side->job;
	for (uint32_t i = 0; i < job->qps && !side->has_failed; i++) {
		uint64_t word;
		memcpy(&word, side->lanes[i].target, sizeof(word));
		if ((job->op == OP_CMP_SWAP || job->op == OP_FETCH_ADD) && word != counts[i])
			side_fail(side, "wrong data: after %llu of %s the word is %llu",
				  (unsigned long long)counts[i], op_names[job->op],
				  (unsigned long long)word);
		if (job->op == OP_SEND && side->lanes[i].received != counts[i])
			side_fail(side, "received %llu of %llu messages",
				  (unsigned long long)side->lanes[i].received,
				  (unsigned long long)counts[i]);
		if (job->op == OP_WRITE && job->check && !side->is_ping_pong)
			judge_writes(side, i, counts[i]);
	}
	return !side->has_failed;
}
