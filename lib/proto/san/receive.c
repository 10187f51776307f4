/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the other end: judged first, which changes nothing, then applied, which cannot fail.
 * Start with judge().
 */
#include "stream.h"

/* ---- judging ---- */

/* Has the other end a credit that it knows of? */
static bool
has_credit(const struct plx_san_in *in)
{
	return in->told != in->messages;
}

/* In a suspension it sends SUSPENDED and RESUME alone. */
static bool
is_silenced(const struct plx_san_stream *stream)
{
	return stream->theirs != PLX_SAN_THEIRS_KEPT || stream->mine == PLX_SAN_MINE_GRANTED;
}

/* May it send data now? Not after FIN, behind an offer, or in a suspension. */
static bool
fits_data(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return !stream->in.fin && stream->in.fetch == PLX_SAN_FETCH_NONE && !is_silenced(stream);
}

static bool
fits_offer(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	/* Whoever can READ is offered memory to READ, and nobody else. */
	return fits_data(stream, m) && (m->offer.from.length > 0) == stream->config.reads;
}

static bool
fits_ready(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	const struct plx_san_out *out = &stream->out;

	return !is_silenced(stream) && out->large == PLX_SAN_LARGE_OFFERED && out->by_write &&
	       m->ready.bytes <= out->rest;
}

/* Its own transfer is over then, and so is the part of ours that it has begun. What it has READ is
 * less than all: else it would have said DONE. */
static bool
fits_suspend(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	const struct plx_san_out *out = &stream->out;
	bool is_reading = out->large == PLX_SAN_LARGE_OFFERED && !out->by_write;

	return stream->theirs == PLX_SAN_THEIRS_KEPT && stream->mine != PLX_SAN_MINE_GRANTED &&
	       stream->in.fetch == PLX_SAN_FETCH_NONE && !stream_is_writing(out) &&
	       (is_reading ? m->suspend.read < out->rest : m->suspend.read == 0);
}

static bool
fits_hello(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return !stream->in.hello && (stream->out.hello || !stream->config.connects);
}

static bool
fits_credit(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return !is_silenced(stream);
}

static bool
fits_written(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return !is_silenced(stream) && stream->in.fetch == PLX_SAN_FETCH_WAITING;
}

static bool
fits_done(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return !is_silenced(stream) && stream->out.large == PLX_SAN_LARGE_OFFERED &&
	       !stream->out.by_write;
}

static bool
fits_suspended(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return stream->mine == PLX_SAN_MINE_ASKED;
}

static bool
fits_resume(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	(void)m;
	return stream->theirs == PLX_SAN_THEIRS_ANSWERED && stream->mine != PLX_SAN_MINE_ASKED;
}

/* Are the counts of its header possible? */
static bool
counts(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	const struct plx_san_out *out = &stream->out;
	const struct plx_san_in *in = &stream->in;
	uint16_t unseen = (uint16_t)(out->credit_messages - out->credits_seen);

	if (m->kind == PLX_SAN_HELLO)
		return m->credits_seen == 0 && m->posted == m->hello.credits;
	if ((uint16_t)(m->credits_seen - out->credits_seen) > unseen)
		return false;
	/* It may grant no fewer than before, and no more than it has receives. */
	if (m->posted - out->posted > out->credits || m->posted - out->messages > out->credits)
		return false;
	/* The next CREDIT waits until this one was seen. */
	if (m->kind == PLX_SAN_CREDIT)
		return in->credits == in->credits_told;
	return !plx_san_is_data(m->kind) ||
	       (has_credit(in) && m->payload <= stream->config.payload_bytes);
}

/* ---- applying ---- */

/* Returns: bytes that are the program's */
static uint32_t
sink(struct plx_san_in *in, struct plx_san_sink *sink, const uint8_t *payload, uint32_t bytes)
{
	uint32_t n;

	if (sink == NULL || in->taken != in->placed || in->marked)
		return 0;
	n = stream_min(bytes, sink->room);
	memcpy(sink->to, payload, n);
	sink->to += n;
	sink->room -= n;
	in->placed += n;
	in->taken += n;
	return n;
}

static void
place(struct plx_san_stream *stream, const struct plx_san_rings *rings, const uint8_t *payload,
      uint32_t bytes)
{
	uint32_t n = sink(&stream->in, rings->sink, payload, bytes);
	struct plx_san_range range =
		stream_range(stream->in.placed, bytes - n, stream->config.in_bytes);

	stream_fill(rings->in, &range, payload + n);
	stream->in.placed += bytes - n;
}

/* The arguments of what applies a message. */
struct arrival {
	const struct plx_san_rings *rings;
	const struct plx_san_message *m;
	const uint8_t *payload;
};

static void
apply_hello(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_out *out = &stream->out;

	stream->in.hello = true;
	out->credits = a->m->hello.credits;
	out->payload_bytes = stream_min(a->m->hello.payload_bytes, stream->config.payload_bytes);
	out->by_write = !a->m->hello.reads;
}

static void
apply_data(struct plx_san_stream *stream, const struct arrival *a)
{
	stream->in.messages++;
	place(stream, a->rings, a->payload, a->m->payload);
	stream_grant(stream);
}

static void
apply_urgent(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_in *in = &stream->in;

	in->messages++;
	in->urgent = true;
	in->urgent_byte = a->payload[0];
	in->marked = true;
	in->mark = in->placed;
	stream_grant(stream);
}

static void
apply_offer(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_in *in = &stream->in;

	apply_data(stream, a);
	in->fetch = PLX_SAN_FETCH_OPEN;
	in->by_write = a->m->offer.from.length == 0;
	in->rest = a->m->offer.bytes;
	in->fetched = 0;
	in->from = a->m->offer.from;
}

static void
apply_fin(struct plx_san_stream *stream, const struct arrival *a)
{
	(void)a;
	stream->in.messages++;
	stream->in.fin = true;
}

static void
apply_credit(struct plx_san_stream *stream, const struct arrival *a)
{
	(void)a;
	stream->in.credits++;
}

static void
apply_ready(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_out *out = &stream->out;

	out->large = PLX_SAN_LARGE_ALLOWED;
	out->moving = a->m->ready.bytes;
	out->at = a->m->ready.to;
}

static void
apply_written(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_in *in = &stream->in;

	(void)a;
	in->placed += in->moving;
	in->rest -= in->moving;
	in->fetched += in->moving;
	in->moving = 0;
	in->conceal = true;
	in->fetch = in->rest > 0 ? PLX_SAN_FETCH_OPEN : PLX_SAN_FETCH_NONE;
	stream_grant(stream);
}

static void
apply_done(struct plx_san_stream *stream, const struct arrival *a)
{
	(void)a;
	stream->out.large = PLX_SAN_LARGE_ENDED;
	stream->out.rest = 0;
}

/* What was offered for READs is deregistered: its rest is offered again afterwards. */
static void
apply_suspend(struct plx_san_stream *stream, const struct arrival *a)
{
	struct plx_san_out *out = &stream->out;

	stream->theirs = PLX_SAN_THEIRS_ASKED;
	stream->rdma_released = false;
	if (out->by_write || PLX_MUTANT(SAN_OFFER_STAYS) ||
	    (out->large != PLX_SAN_LARGE_OFFERED && out->large != PLX_SAN_LARGE_QUEUED))
		return;
	out->large = PLX_SAN_LARGE_WITHDRAWN;
	if (!PLX_MUTANT(SAN_OFFER_FROM_START))
		out->offset += a->m->suspend.read;
	out->rest -= a->m->suspend.read;
}

static void
apply_suspended(struct plx_san_stream *stream, const struct arrival *a)
{
	(void)a;
	stream->mine = PLX_SAN_MINE_GRANTED;
	if (!PLX_MUTANT(SAN_OFFER_CROSSED))
		stream_forget_offer(&stream->in); /* it crossed the SUSPEND */
	stream_disarm(stream);
}

static void
apply_resume(struct plx_san_stream *stream, const struct arrival *a)
{
	(void)a;
	stream->theirs = PLX_SAN_THEIRS_KEPT;
	if (!PLX_MUTANT(SAN_EPOCH_STAYS))
		stream->epoch++;
	stream_disarm(stream);
}

/* ---- the kinds ---- */

static const struct {
	bool (*fits)(const struct plx_san_stream *stream, const struct plx_san_message *m);
	void (*apply)(struct plx_san_stream *stream, const struct arrival *a);
} kinds[PLX_SAN_KIND_COUNT] = {
	[PLX_SAN_HELLO] = {fits_hello, apply_hello},
	[PLX_SAN_DATA] = {fits_data, apply_data},
	[PLX_SAN_URGENT] = {fits_data, apply_urgent},
	[PLX_SAN_OFFER] = {fits_offer, apply_offer},
	[PLX_SAN_FIN] = {fits_data, apply_fin},
	[PLX_SAN_CREDIT] = {fits_credit, apply_credit},
	[PLX_SAN_READY] = {fits_ready, apply_ready},
	[PLX_SAN_WRITTEN] = {fits_written, apply_written},
	[PLX_SAN_DONE] = {fits_done, apply_done},
	[PLX_SAN_SUSPEND] = {fits_suspend, apply_suspend},
	[PLX_SAN_SUSPENDED] = {fits_suspended, apply_suspended},
	[PLX_SAN_RESUME] = {fits_resume, apply_resume},
};

static enum plx_san_end
judge(const struct plx_san_stream *stream, const struct plx_san_message *m)
{
	bool is_resume = m->kind == PLX_SAN_RESUME;

	if (!stream->in.hello && m->kind != PLX_SAN_HELLO)
		return PLX_SAN_END_UNEXPECTED;
	if (m->epoch != stream->epoch + is_resume || !kinds[m->kind].fits(stream, m))
		return PLX_SAN_END_UNEXPECTED;
	return counts(stream, m) ? PLX_SAN_END_NOT : PLX_SAN_END_CREDITS;
}

void
plx_san_on_message(struct plx_san_stream *stream, const struct plx_san_rings *rings,
		   const uint8_t *message, uint32_t bytes)
{
	enum plx_san_end end = PLX_SAN_END_BAD_MESSAGE;
	enum plx_san_decoded decoded;
	struct plx_san_message m;
	uint32_t at;

	if (stream_is_over(stream))
		return;
	decoded = plx_san_decode(message, bytes, &m, &at);
	if (decoded == PLX_SAN_DECODED)
		end = judge(stream, &m);
	else if (decoded == PLX_SAN_BAD_VERSION)
		end = PLX_SAN_END_VERSION;
	if (end != PLX_SAN_END_NOT) {
		plx_san_finish(stream, end);
		return;
	}
	stream->out.credits_seen = m.credits_seen;
	stream->out.posted = m.posted;
	kinds[m.kind].apply(stream, &(struct arrival){rings, &m, message + at});
}
