/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue pair of the conversation. Bytes are cut into pieces, each a SEND into one of the
 * receives that are always posted, and are reassembled in order. While messages flow, an occasional
 * WRITE of zero bytes checks that the peer's engine is alive.
 * It knows nothing of messages. Start with cm_stream_collect().
 */
#include "cm.h"

#include "options.h"

#include <string.h>

enum {
	WR_WRITTEN = 1 << 16,
	WR_BEAT = 1 << 17,
	BEAT_MS = 500, /* interval between keepalives */
	COLLECT_MAX = 16,
};

/* ---- the queue pair ---- */

static uint8_t *
piece_at(const struct cm *cm, uint32_t i)
{
	return cm->queue.memory + (size_t)i * PIECE_BYTES;
}

static bool
post_receive(struct cm *cm, uint32_t i, struct plx_why *why)
{
	cm->piece[i] = (struct piece){0};
	enum plx_status status =
		message_qp_post_recv(&cm->queue, i, (size_t)i * PIECE_BYTES, PIECE_BYTES);
	return status == PLX_OK ||
	       why_set(why, "a receive of the conversation cannot be posted: %s",
		       plx_status_text(status));
}

bool
cm_stream_make(struct talk *talk, struct plx_why *why)
{
	struct cm *cm = talk->cm;
	cm->first = cm->ready = cm->written = cm->acknowledged = 0;
	cm->is_lost = cm->is_orderly = cm->is_beating = false;
	cm->beat_ms = 0;
	const struct message_qp_options options = {
		.adapter = talk->side->adapter,
		.pd = talk->side->pd,
		.bytes = (size_t)(PIECES_TO_READ + PIECES_TO_WRITE) * PIECE_BYTES,
		.sq_depth = PIECES_TO_WRITE + 2,
		.rq_depth = PIECES_TO_READ,
		.context = CONTROL,
	};
	if (!message_qp_create(&cm->queue, &options, why))
		return false;
	for (uint32_t i = 0; i < PIECES_TO_READ; i++) {
		if (!post_receive(cm, i, why))
			return false;
	}
	return true;
}

/* ---- receiving ---- */

static void
lose(struct talk *talk, bool is_orderly, const char *how)
{
	struct cm *cm = talk->cm;
	if (cm->is_lost)
		return;
	cm->is_lost = true;
	cm->is_orderly = is_orderly;
	why_set(&cm->why, "%.100s has vanished: %s", talk->peer, how);
}

/* Receives complete in the order in which they were posted, which is the order of `piece`. */
static void
push_piece(struct cm *cm, const struct plx_wc *wc)
{
	cm->piece[wc->wr_id].length = wc->bytes;
	cm->ready++;
}

static void
collect_one(struct talk *talk, const struct plx_wc *wc)
{
	struct cm *cm = talk->cm;
	if (wc->status == PLX_WC_FLUSHED)
		lose(talk, true, "it has disconnected");
	else if (wc->status != PLX_WC_SUCCESS)
		lose(talk, false, plx_wc_text((enum plx_wc_status)wc->status));
	else if (wc->flags & PLX_WC_RECV)
		push_piece(cm, wc);
	else if (wc->wr_id == WR_BEAT)
		cm->is_beating = false;
	else
		cm->acknowledged++;
}

void
cm_stream_collect(struct talk *talk)
{
	struct cm *cm = talk->cm;
	struct plx_wc wc[COLLECT_MAX];
	uint32_t n;
	while ((n = plx_cq_poll(cm->queue.cq, wc, COLLECT_MAX)) != 0) {
		for (uint32_t i = 0; i < n; i++)
			collect_one(talk, &wc[i]);
	}
	if (cm->line[CONTROL].state == LINE_TIMEWAIT)
		lose(talk, true, "it has disconnected");
}

/* Do all periodic work while waiting. */
static void
poll_all(struct talk *talk)
{
	cm_poll_events(talk);
	cm_stream_collect(talk);
}

/* Read from the first pieces. A piece that is used up is posted again.
 * Returns: [bytes] read */
static size_t
read_pieces(struct talk *talk, uint8_t *to, size_t size)
{
	struct cm *cm = talk->cm;
	size_t have = 0;
	while (cm->ready > 0 && have < size) {
		struct piece *piece = &cm->piece[cm->first];
		size_t left = piece->length - piece->taken;
		size_t n = left < size - have ? left : size - have;
		memcpy(to + have, piece_at(cm, cm->first) + piece->taken, n);
		piece->taken += (uint32_t)n;
		have += n;
		if (piece->taken < piece->length)
			break;
		struct plx_why why;
		if (!cm->is_lost && !post_receive(cm, cm->first, &why))
			lose(talk, false, why.text);
		cm->first = (cm->first + 1) % PIECES_TO_READ;
		cm->ready--;
	}
	return have;
}

bool
cm_read(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
	struct plx_why *why)
{
	struct cm *cm = talk->cm;
	size_t have = 0;
	*none = false;
	for (;;) {
		poll_all(talk);
		have += read_pieces(talk, (uint8_t *)to + have, size - have);
		if (have == size)
			return true;
		if (cm->is_lost) {
			*none = have == 0 && cm->is_orderly;
			*why = cm->why;
			return false;
		}
		if (interrupted)
			return why_set(why, "interrupted while waiting for %s", talk->peer);
		if (now_ms() >= deadline_ms)
			return why_set(why, "%s sent nothing within the timeout", talk->peer);
		side_pause(talk->side);
	}
}

/* ---- sending ---- */

static bool
post_piece(struct talk *talk, const uint8_t *from, uint32_t size, struct plx_why *why)
{
	struct cm *cm = talk->cm;
	uint32_t i = PIECES_TO_READ + cm->written % PIECES_TO_WRITE;
	memcpy(piece_at(cm, i), from, size);
	enum plx_status status =
		message_qp_post_send(&cm->queue, WR_WRITTEN, (size_t)i * PIECE_BYTES, size);
	if (status != PLX_OK)
		return why_set(why, "the conversation with %.100s cannot go on: %s", talk->peer,
			       plx_status_text(status));
	cm->written++;
	return true;
}

bool
cm_write(struct talk *talk, const void *from, size_t size, struct plx_why *why)
{
	struct cm *cm = talk->cm;
	uint64_t deadline = now_ms() + talk->timeout_ms;
	size_t done = 0;
	while (done < size) {
		poll_all(talk);
		if (cm->is_lost) {
			*why = cm->why;
			return false;
		}
		if (cm->written - cm->acknowledged < PIECES_TO_WRITE) {
			size_t n = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
			if (!post_piece(talk, (const uint8_t *)from + done, (uint32_t)n, why))
				return false;
			done += n;
			continue;
		}
		if (interrupted || now_ms() >= deadline)
			return why_set(why, "%s accepted no data within %u ms", talk->peer,
				       talk->timeout_ms);
		side_pause(talk->side);
	}
	return true;
}

void
cm_stream_drain(struct talk *talk, uint64_t deadline_ms)
{
	struct cm *cm = talk->cm;
	for (;;) {
		poll_all(talk);
		if (cm->is_lost || cm->written == cm->acknowledged || now_ms() >= deadline_ms)
			return;
		side_pause(talk->side);
	}
}

/* ---- keepalives ---- */

/* A WRITE of zero bytes needs neither a receive nor a key, and is acknowledged. */
static void
beat(struct talk *talk)
{
	struct cm *cm = talk->cm;
	struct plx_send_wr wr = {.wr_id = WR_BEAT, .op = PLX_WR_WRITE};
	uint64_t now = now_ms();
	uint32_t limit = talk->timeout_ms < CM_VANISHED_MS ? talk->timeout_ms : CM_VANISHED_MS;
	if (cm->is_beating && now - cm->beat_ms > limit)
		lose(talk, false, "it no longer answers");
	if (cm->is_beating || cm->is_lost || now - cm->beat_ms < BEAT_MS)
		return;
	cm->is_beating = plx_post_send(cm->queue.qp, &wr, 1, NULL) == 1;
	cm->beat_ms = now;
}

bool
cm_has_news(struct talk *talk)
{
	poll_all(talk);
	beat(talk);
	return talk->cm->ready > 0 || talk->cm->is_lost;
}
