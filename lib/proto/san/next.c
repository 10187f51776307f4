/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a stream does next. Each step looks whether it is due, and if so makes the change that goes
 * with it. Start with plx_san_next().
 */
#include "stream.h"

/* ---- messages ---- */

static bool
has_send(const struct plx_san_stream *stream)
{
	return stream->out.sends < stream->config.sends;
}

/* Send a message with the next `payload` bytes of the ring. */
static bool
send(struct plx_san_stream *stream, struct plx_san_next *next, struct plx_san_message *m,
     uint32_t payload)
{
	struct plx_san_out *out = &stream->out;
	struct plx_san_in *in = &stream->in;

	m->credits_seen = in->credits;
	m->epoch = stream->epoch;
	m->posted = in->posted;
	if (m->kind != PLX_SAN_URGENT)
		m->payload = payload;
	in->credits_told = in->credits;
	in->told = in->posted;
	next->what = PLX_SAN_DO_SEND;
	next->kind = m->kind;
	next->head_bytes = plx_san_encode(m, next->head);
	next->ring = stream_range(out->sent, payload, stream->config.out_bytes);
	next->bytes = payload;
	out->sent += payload;
	if (PLX_MUTANT(SAN_RING_FREE_EARLY)) {
		out->released += payload;
		payload = 0;
	}
	out->length[(out->first + out->sends) % PLX_SAN_SENDS_MAX] = payload;
	out->sends++;
	if (plx_san_is_data(m->kind))
		out->messages++;
	return true;
}

static bool
send_kind(struct plx_san_stream *stream, struct plx_san_next *next, enum plx_san_kind kind)
{
	struct plx_san_message m = {.kind = kind};

	return send(stream, next, &m, 0);
}

static bool
next_hello(struct plx_san_stream *stream, struct plx_san_next *next)
{
	const struct plx_san_config *config = &stream->config;
	struct plx_san_message m = {.kind = PLX_SAN_HELLO,
				    .hello = {.version = PLX_SAN_VERSION,
					      .reads = config->reads,
					      .credits = config->credits,
					      .payload_bytes = config->payload_bytes}};

	if (stream->out.hello || !(config->connects || stream->in.hello))
		return false;
	stream->out.hello = true;
	return send(stream, next, &m, 0);
}

/* ---- control ---- */

static bool
next_resume(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (!stream->resume || !has_send(stream))
		return false;
	stream->resume = false;
	stream->epoch++;
	return send_kind(stream, next, PLX_SAN_RESUME);
}

static bool
next_release_rdma(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (stream->rdma_released)
		return false;
	stream->rdma_released = true;
	next->what = PLX_SAN_DO_RELEASE_RDMA;
	return true;
}

static bool
next_answer(struct plx_san_stream *stream, uint64_t now, struct plx_san_next *next)
{
	if (stream->theirs != PLX_SAN_THEIRS_ASKED || !stream_is_quiet(stream))
		return false;
	if (next_release_rdma(stream, next))
		return true;
	stream->theirs = PLX_SAN_THEIRS_ANSWERED;
	stream_arm(stream, now);
	return send_kind(stream, next, PLX_SAN_SUSPENDED);
}

/* What was not READ is offered again to the process that resumes. */
static bool
next_suspend(struct plx_san_stream *stream, uint64_t now, struct plx_san_next *next)
{
	struct plx_san_message m = {.kind = PLX_SAN_SUSPEND};
	struct plx_san_in *in = &stream->in;

	if (stream->mine != PLX_SAN_MINE_WANTED || stream->silent ||
	    stream->theirs != PLX_SAN_THEIRS_KEPT || stream->resume || stream_has_large(stream) ||
	    !stream_is_quiet(stream))
		return false;
	m.suspend.read = stream_forget_offer(in);
	stream->mine = PLX_SAN_MINE_ASKED;
	stream->sends_released = stream->rdma_released = false;
	stream_arm(stream, now);
	return send(stream, next, &m, 0);
}

static bool
next_release_sends(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (stream->sends_released)
		return false;
	stream->sends_released = true;
	next->what = PLX_SAN_DO_RELEASE_SENDS;
	return true;
}

static bool
give(struct plx_san_stream *stream, struct plx_san_next *next)
{
	stream->mine = PLX_SAN_MINE_GIVEN;
	next->what = PLX_SAN_DO_GIVE;
	return true;
}

/* It passes to another process with the connection: the other end has to do nothing. */
static bool
next_pass(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (stream->mine != PLX_SAN_MINE_WANTED || !stream->silent || stream->resume ||
	    stream->theirs == PLX_SAN_THEIRS_ASKED || stream_has_large(stream) ||
	    !stream_is_quiet(stream))
		return false;
	return next_release_sends(stream, next) || give(stream, next);
}

/* If both ends give themselves away at once, the one that connected goes first. */
static bool
may_give(const struct plx_san_stream *stream)
{
	return stream->theirs == PLX_SAN_THEIRS_KEPT ||
	       (stream->theirs == PLX_SAN_THEIRS_ANSWERED && stream->config.connects) ||
	       PLX_MUTANT(SAN_BOTH_GIVE);
}

static bool
next_give(struct plx_san_stream *stream, struct plx_san_next *next)
{
	bool asked = stream->mine == PLX_SAN_MINE_ASKED || stream->mine == PLX_SAN_MINE_GRANTED;

	if (!asked || (stream->out.sends > 0 && !PLX_MUTANT(SAN_SENDS_UNDER_WAY)))
		return false;
	if (next_release_sends(stream, next))
		return true;
	if (stream->mine != PLX_SAN_MINE_GRANTED)
		return false;
	if (next_release_rdma(stream, next))
		return true;
	return may_give(stream) && give(stream, next);
}

static bool
is_suspended(const struct plx_san_stream *stream)
{
	return stream->theirs != PLX_SAN_THEIRS_KEPT || stream->mine == PLX_SAN_MINE_ASKED ||
	       stream->mine == PLX_SAN_MINE_GRANTED || stream->mine == PLX_SAN_MINE_GIVEN;
}

/* ---- the other end's large transfer ---- */

static bool
next_conceal(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (!stream->in.conceal)
		return false;
	stream->in.conceal = false;
	next->what = PLX_SAN_DO_CONCEAL;
	return true;
}

static bool
next_fetch_message(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_message m = {.kind = PLX_SAN_READY};
	struct plx_san_in *in = &stream->in;

	if (in->fetch == PLX_SAN_FETCH_DONE) {
		in->fetch = PLX_SAN_FETCH_NONE;
		return send_kind(stream, next, PLX_SAN_DONE);
	}
	if (in->fetch != PLX_SAN_FETCH_EXPOSED)
		return false;
	in->fetch = PLX_SAN_FETCH_WAITING;
	m.ready.bytes = in->moving;
	m.ready.to = in->from;
	return send(stream, next, &m, 0);
}

/* Does it go on with what is in progress? When control is wanted, our own large transfer and what
 * is before it end first; meanwhile the other end's goes on as well, or two ends that want to be
 * suspended would wait for each other. */
static bool
goes_on(const struct plx_san_stream *stream)
{
	return stream->mine == PLX_SAN_MINE_KEPT ||
	       (stream_has_large(stream) && !PLX_MUTANT(SAN_FETCH_STOPS));
}

/* Fetch what there is room for; half of the room at least, if so much is left. */
static bool
next_fetch(struct plx_san_stream *stream, struct plx_san_next *next)
{
	const struct plx_san_config *config = &stream->config;
	struct plx_san_in *in = &stream->in;
	uint32_t room = config->in_bytes - config->credits * config->payload_bytes;
	uint32_t n = stream_min(in->rest, stream_spare(stream));

	if (in->fetch != PLX_SAN_FETCH_OPEN || !goes_on(stream) || n == 0 ||
	    n < stream_min(in->rest, room / 2))
		return false;
	next->ring = stream_range(in->placed, n, config->in_bytes);
	if (in->by_write) {
		next->ring.bytes = next->ring.first;
		in->fetch = PLX_SAN_FETCH_EXPOSING;
		next->what = PLX_SAN_DO_EXPOSE;
	} else {
		in->fetch = PLX_SAN_FETCH_READING;
		next->what = PLX_SAN_DO_READ;
		next->descriptor = in->from;
		next->offset = in->fetched;
	}
	in->moving = next->bytes = next->ring.bytes;
	return true;
}

/* ---- our large transfer ---- */

static bool
next_end_large(struct plx_san_stream *stream, struct plx_san_next *next)
{
	if (stream->out.large != PLX_SAN_LARGE_ENDED)
		return false;
	stream->out.large = PLX_SAN_LARGE_NONE;
	next->what = PLX_SAN_DO_END_LARGE;
	return true;
}

static bool
next_offer_again(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_out *out = &stream->out;

	if (out->large != PLX_SAN_LARGE_WITHDRAWN || out->at.length == 0)
		return false;
	out->at.length = 0; /* asked once */
	next->what = PLX_SAN_DO_OFFER_AGAIN;
	next->offset = out->offset;
	return true;
}

static bool
next_written(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_out *out = &stream->out;

	if (out->large != PLX_SAN_LARGE_WRITTEN)
		return false;
	out->offset += out->moving;
	out->rest -= out->moving;
	out->moving = 0;
	out->large = out->rest > 0 ? PLX_SAN_LARGE_OFFERED : PLX_SAN_LARGE_ENDED;
	return send_kind(stream, next, PLX_SAN_WRITTEN);
}

static bool
next_write(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_out *out = &stream->out;

	if (out->large != PLX_SAN_LARGE_ALLOWED)
		return false;
	out->large = PLX_SAN_LARGE_WRITING;
	next->what = PLX_SAN_DO_WRITE;
	next->descriptor = out->at;
	next->offset = out->offset;
	next->bytes = out->moving;
	return true;
}

/* ---- credits and data ---- */

/* When it knows of no more than half of them. The next one waits until this one was seen: it always
 * brings a credit, so whoever has data has one to say so with. */
static bool
next_credit(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_out *out = &stream->out;
	struct plx_san_in *in = &stream->in;

	bool seen = out->credit_messages == out->credits_seen || PLX_MUTANT(SAN_CREDITS_AT_ONCE);

	if (in->posted == in->told || in->fin || !seen ||
	    (in->told - in->messages) * 2 > stream->config.credits)
		return false;
	out->credit_messages++;
	return send_kind(stream, next, PLX_SAN_CREDIT);
}

static bool
next_offer(struct plx_san_stream *stream, struct plx_san_next *next, uint32_t payload)
{
	struct plx_san_out *out = &stream->out;
	struct plx_san_message m = {.kind = PLX_SAN_OFFER,
				    .offer = {.bytes = out->rest, .from = out->at}};

	out->large = PLX_SAN_LARGE_OFFERED;
	return send(stream, next, &m, payload);
}

static bool
next_urgent(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_message m = {.kind = PLX_SAN_URGENT, .payload = 1};
	struct plx_san_out *out = &stream->out;

	out->urgent = false;
	send(stream, next, &m, 0);
	next->head[next->head_bytes++] = out->urgent_byte;
	return true;
}

static bool
next_data(struct plx_san_stream *stream, struct plx_san_next *next)
{
	struct plx_san_message m = {.kind = PLX_SAN_DATA};
	struct plx_san_out *out = &stream->out;
	uint64_t left = (out->urgent ? out->urgent_at : out->put) - out->sent;
	uint32_t n = stream_min(left, out->payload_bytes);

	if ((out->posted == out->messages && !PLX_MUTANT(SAN_NO_CREDIT)) || !goes_on(stream))
		return false;
	if ((left == 0 || PLX_MUTANT(SAN_URGENT_OVERTAKES)) && out->urgent)
		return next_urgent(stream, next);
	if (out->large == PLX_SAN_LARGE_QUEUED && !out->urgent &&
	    (left == n || PLX_MUTANT(SAN_LARGE_OVERTAKES)))
		return next_offer(stream, next, n);
	if (n > 0)
		return send(stream, next, &m, n);
	if (!out->fin_wanted || out->fin ||
	    (stream_has_large(stream) && !PLX_MUTANT(SAN_FIN_OVERTAKES)))
		return false;
	out->fin = true;
	return send_kind(stream, next, PLX_SAN_FIN);
}

void
plx_san_next(struct plx_san_stream *stream, uint64_t now, struct plx_san_next *next)
{
	next->what = PLX_SAN_DO_NOTHING;
	if (stream_is_over(stream) || next_end_large(stream, next) || next_conceal(stream, next))
		return;
	if (!has_send(stream) || next_hello(stream, next) || !plx_san_is_open(stream))
		return;
	if (next_resume(stream, next) || next_answer(stream, now, next) ||
	    next_suspend(stream, now, next) || next_pass(stream, next) || next_give(stream, next) ||
	    is_suspended(stream))
		return;
	(void)(next_written(stream, next) || next_fetch_message(stream, next) ||
	       next_write(stream, next) || next_fetch(stream, next) ||
	       next_offer_again(stream, next) || next_credit(stream, next) ||
	       next_data(stream, next));
}
