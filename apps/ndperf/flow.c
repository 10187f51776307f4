/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What active and passive endpoints both do with messages: write, verify, post, reap, and play
 * ping-pong. It never waits. Start with side_post_ping().
 */
#include "side.h"

#include "clock.h"
#include "face.h"
#include "pattern.h"

enum {
	PING_SIGNAL = 16,   /* in a ping-pong, one message in this many is signaled */
	RECEIVE_BATCH = 16, /* receives posted at a time, at most as many as requests */
};

void
side_write_source(struct side *side, uint8_t *to, uint32_t stream, uint64_t n)
{
	const struct job *job = &side->job;
	if (job->check) {
		pattern_write(to, job->size, stream, n);
	} else if (job->rewrite && job->size <= CHUNK) {
		source_rewrite(to, job->size, n);
	} else if (job->rewrite) {
		/* Write long ones in chunks, and poll the adapter in between. */
		for (uint32_t at = 0; at < job->size; at += CHUNK) {
			uint32_t left = job->size - at;
			source_rewrite(to + at, left < CHUNK ? left : CHUNK, n);
			side_poll(side);
			if (side->has_log)
				windows_look(&side->log, ticks(), side_amount(side));
		}
	}
}

bool
side_verify(struct side *side, const uint8_t *at, uint32_t stream, uint64_t n)
{
	/* The last byte of a WRITE in a ping-pong is the flag that the receiver polls. */
	uint32_t size = side->job.size - (side->is_ping_pong && side->job.op == OP_WRITE);
	uint32_t wrong = pattern_check(at, size, stream, n);
	if (wrong < size)
		return side_fail(side,
				 "wrong data: %s message %llu of queue pair %u, offset %u of %u",
				 op_names[side->job.op], (unsigned long long)n,
				 stream % REPLY_STREAM, wrong, side->job.size);
	side->checked_bytes += side->job.size;
	return true;
}

static uint32_t
post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status)
{
	if (side->nd2 != NULL)
		return nd2_post_send(side, lane, n, status);
	return side->ndk != NULL ? ndk_post_send(side, lane, n, status)
				 : plx_post_send(lane->qp, side->wr, n, status);
}

bool
side_post(struct side *side, uint32_t index, uint32_t n)
{
	struct lane *lane = &side->lanes[index];
	enum plx_status status = PLX_OK;
	uint32_t posted = post_send(side, lane, n, &status);
	if (posted == n)
		return true;
	if (posted == 0 && status == PLX_FULL)
		return false;
	return side_fail(side, "message %llu cannot be posted: %s",
			 (unsigned long long)side->wr[posted].wr_id, plx_status_text(status));
}

bool
side_post_receives(struct side *side, uint32_t index)
{
	struct lane *lane = &side->lanes[index];
	struct plx_recv_wr wr[RECEIVE_BATCH];
	struct plx_sge sge[RECEIVE_BATCH];
	struct plx_key key = side->key;
	uint32_t most = side->job.batch < RECEIVE_BATCH ? side->job.batch : RECEIVE_BATCH;
	while (lane->owed > 0) {
		uint32_t n = lane->owed < most ? lane->owed : most;
		enum plx_status status = PLX_OK;
		for (uint32_t i = 0; i < n; i++) {
			sge[i] = (struct plx_sge){
				.va = (uint64_t)(uintptr_t)lane->target +
				      lane->recv_slot * side->stride,
				.length = side->job.size,
				.key = key,
			};
			wr[i] = (struct plx_recv_wr){.sge = &sge[i], .sges = 1};
			lane->recv_slot =
				lane->recv_slot + 1 == side->job.slots ? 0 : lane->recv_slot + 1;
			if (side->nd2 != NULL && !nd2_post_receive(side, lane, &sge[i]))
				return false;
			if (side->ndk != NULL && !ndk_post_receive(side, lane, &sge[i]))
				return false;
		}
		if (side->face == NULL && plx_post_recv(lane->qp, wr, n, &status) != n)
			return side_fail(side, "a receive cannot be posted: %s",
					 plx_status_text(status));
		lane->owed -= n;
	}
	return true;
}

bool
side_next_event(struct side *side, struct plx_async_event *event)
{
	return side->face == NULL && !side->is_guest &&
	       plx_adapter_next_async_event(side->adapter, event);
}

/* Why the queue pair with this context is in ERROR; NULL: unknown. */
static const char *
cause_of(struct side *side, uint64_t context)
{
	struct plx_async_event event;
	while (side_next_event(side, &event)) {
		if (event.kind == PLX_EVENT_FAILED && event.context == context)
			return plx_wc_text((enum plx_wc_status)event.cause);
	}
	return NULL;
}

/* Set the sentence for a failed completion. A flushed completion does not tell the cause. */
static PLX_COLD void
fail_completion(struct side *side, const struct plx_wc *wc)
{
	const char *why = plx_wc_text((enum plx_wc_status)wc->status);
	const char *cause = NULL;
	if (wc->status == PLX_WC_FLUSHED)
		cause = cause_of(side, wc->context);
	side_fail(side, "%s message %llu of queue pair %llu failed: %s%s%s", op_names[side->job.op],
		  (unsigned long long)wc->wr_id, (unsigned long long)wc->context, why,
		  cause != NULL ? ": " : "", cause != NULL ? cause : "");
}

uint32_t
side_reap(struct side *side, enum queue queue, union entry *entries)
{
	if (side->nd2 != NULL)
		return nd2_reap(side, queue, entries);
	if (side->ndk != NULL)
		return ndk_reap(side, queue, entries);
	uint32_t n = plx_cq_poll(side->cq[queue], &entries->wc, POLL_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (entries[i].wc.status != PLX_WC_SUCCESS) {
			fail_completion(side, &entries[i].wc);
			return i;
		}
	}
	return n;
}

bool
side_look(struct side *side)
{
	struct plx_async_event event;
	union entry entries[POLL_MAX];
	/* In a ping-pong only failed completions of sends matter. */
	if (side->is_ping_pong && !side->has_failed)
		side_reap(side, QUEUE_SEND, entries);
	while (!side->has_failed && side_next_event(side, &event)) {
		/* queue pairs other than the job's are handled by their owners */
		if (event.kind == PLX_EVENT_FAILED && event.context < side->job.qps)
			side_fail(side, "queue pair %llu failed: %s",
				  (unsigned long long)event.context,
				  plx_wc_text((enum plx_wc_status)event.cause));
		else if (event.kind == PLX_EVENT_CQ_OVERRUN)
			side_fail(side, "%s", plx_event_text(PLX_EVENT_CQ_OVERRUN));
	}
	return !side->has_failed;
}

bool
side_post_ping(struct side *side, uint64_t n, uint32_t stream)
{
	struct lane *lane = &side->lanes[0];
	const struct job *job = &side->job;
	side_write_source(side, lane->local, stream, n);
	if (job->op == OP_WRITE)
		lane->local[job->size - 1] = flag_of(n);
	bool is_signaled = lane->unsignaled + 1 >= PING_SIGNAL;
	side->wr[0].wr_id = n;
	side->wr[0].flags = (uint8_t)((side->wr[0].flags & PLX_WR_INLINE) |
				      (is_signaled ? 0 : PLX_WR_UNSIGNALED));
	if (side->is_active)
		side->posted_at = ticks();
	if (!side_post(side, 0, 1))
		return false;
	lane->posted++;
	side->flying += side->is_active;
	lane->unsignaled = is_signaled ? 0 : lane->unsignaled + 1;
	if (is_signaled) {
		union entry entries[POLL_MAX];
		side_reap(side, QUEUE_SEND, entries);
	}
	return true;
}

static bool
send_came(struct side *side)
{
	union entry entries[POLL_MAX];
	struct lane *lane = &side->lanes[0];
	uint32_t n = side_reap(side, QUEUE_RECEIVE, entries);
	if (n == 0)
		return false;
	uint32_t bytes = entry_bytes(side, &entries[0]);
	if (n > 1 || bytes != side->job.size)
		return side_fail(side, "received %u messages of %u bytes instead of one of %u", n,
				 bytes, side->job.size);
	if (++lane->owed >= RECEIVE_BATCH)
		side_post_receives(side, 0);
	return true;
}

bool
side_ping_came(struct side *side, uint64_t n, uint32_t stream)
{
	struct lane *lane = &side->lanes[0];
	const struct job *job = &side->job;
	uint8_t *at = lane->target;
	if (job->op == OP_SEND) {
		/* buffers are used in the order in which they were posted */
		at += n % job->slots * side->stride;
		if (!send_came(side))
			return false;
	} else {
		side_poll(side);
		if (__atomic_load_n(&at[job->size - 1], __ATOMIC_ACQUIRE) != flag_of(n))
			return false;
	}
	lane->received++;
	return !job->check || side_verify(side, at, stream, n);
}
