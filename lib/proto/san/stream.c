/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stream's beginning and end, the program's bytes, and the completions of what plx_san_next()
 * began. Start with plx_san_begin().
 */
#include "stream.h"

/* ---- beginning and end ---- */

static bool
is_ring(uint32_t bytes)
{
	return bytes != 0 && (bytes & (bytes - 1)) == 0;
}

static bool
config_is_valid(const struct plx_san_config *config)
{
	return config->credits >= 1 && config->credits <= PLX_SAN_CREDITS_MAX &&
	       config->payload_bytes >= PLX_SAN_PAYLOAD_MIN &&
	       config->payload_bytes <= PLX_SAN_PAYLOAD_MAX && is_ring(config->in_bytes) &&
	       is_ring(config->out_bytes) &&
	       (uint64_t)config->credits * config->payload_bytes < config->in_bytes &&
	       config->sends >= 1 && config->sends <= PLX_SAN_SENDS_MAX;
}

uint32_t
plx_san_receives(const struct plx_san_config *config)
{
	return config->credits + PLX_SAN_RESERVED;
}

enum plx_status
plx_san_begin(struct plx_san_stream *stream, const struct plx_san_config *config)
{
	if (!config_is_valid(config))
		return PLX_INVALID;
	*stream = (struct plx_san_stream){.config = *config, .deadline = PLX_NEVER};
	/* HELLO says so. */
	stream->in.posted = stream->in.told = config->credits;
	return PLX_OK;
}

bool
plx_san_is_open(const struct plx_san_stream *stream)
{
	return stream->in.hello && stream->out.hello && !stream_is_over(stream);
}

static bool
in_is_valid(const struct plx_san_in *in, const struct plx_san_config *config)
{
	uint64_t held = in->placed - in->taken;
	uint32_t granted = in->posted - in->messages;

	return in->taken <= in->placed && granted <= config->credits &&
	       in->told - in->messages <= granted && in->fetch < PLX_SAN_FETCH_COUNT &&
	       in->moving <= in->rest && in->moving <= config->in_bytes &&
	       held + in->moving + (uint64_t)granted * config->payload_bytes <= config->in_bytes &&
	       (!in->marked || in->mark <= in->placed) && in->from.length <= PLX_SAN_DESCRIPTOR_MAX;
}

static bool
out_is_valid(const struct plx_san_out *out, const struct plx_san_config *config)
{
	uint64_t lengths = 0;

	if (out->released > out->sent || out->sent > out->put ||
	    out->put - out->released > config->out_bytes || out->large >= PLX_SAN_LARGE_COUNT ||
	    out->sends > config->sends || out->first >= PLX_SAN_SENDS_MAX ||
	    out->moving > out->rest || out->at.length > PLX_SAN_DESCRIPTOR_MAX ||
	    out->credits > PLX_SAN_CREDITS_MAX || out->posted - out->messages > out->credits ||
	    out->payload_bytes > config->payload_bytes)
		return false;
	for (uint32_t i = 0; i < out->sends; i++)
		lengths += out->length[(out->first + i) % PLX_SAN_SENDS_MAX];
	return lengths == out->sent - out->released &&
	       (!out->urgent || (out->urgent_at >= out->sent && out->urgent_at <= out->put));
}

/* In memory that another process has written a bool can have any value: it must not be loaded
 * before it was looked at. */
static bool
flags_are_valid(const struct plx_san_stream *stream)
{
#define FLAG(member) offsetof(struct plx_san_stream, member)
	static const uint16_t flags[] = {
		FLAG(config.connects), FLAG(config.reads),   FLAG(resume),      FLAG(silent),
		FLAG(sends_released),  FLAG(rdma_released),  FLAG(in.hello),    FLAG(in.fin),
		FLAG(in.urgent),       FLAG(in.marked),      FLAG(in.by_write), FLAG(in.conceal),
		FLAG(out.hello),       FLAG(out.fin_wanted), FLAG(out.fin),     FLAG(out.urgent),
		FLAG(out.by_write),
	};
#undef FLAG
	const uint8_t *bytes = (const uint8_t *)stream;

	for (uint32_t i = 0; i < PLX_COUNT_OF(flags); i++)
		if (bytes[flags[i]] > 1)
			return false;
	return true;
}

bool
plx_san_is_valid(const struct plx_san_stream *stream)
{
	return flags_are_valid(stream) && config_is_valid(&stream->config) &&
	       stream->end < PLX_SAN_END_COUNT && stream->mine < PLX_SAN_MINE_COUNT &&
	       stream->theirs < PLX_SAN_THEIRS_COUNT && in_is_valid(&stream->in, &stream->config) &&
	       out_is_valid(&stream->out, &stream->config);
}

bool
plx_san_can_take(const struct plx_san_stream *stream)
{
	const struct plx_san_out *out = &stream->out;
	const struct plx_san_in *in = &stream->in;

	return plx_san_is_valid(stream) && !stream_is_over(stream) && in->hello && out->hello &&
	       out->payload_bytes >= PLX_SAN_PAYLOAD_MIN && stream->mine == PLX_SAN_MINE_GIVEN &&
	       stream->theirs != PLX_SAN_THEIRS_ASKED && !stream->resume &&
	       stream_is_quiet(stream) && !stream_has_large(stream) && in->moving == 0 &&
	       (in->fetch == PLX_SAN_FETCH_NONE ||
		(in->rest > 0 && (in->by_write || stream->silent)));
}

void
plx_san_finish(struct plx_san_stream *stream, enum plx_san_end why)
{
	if (stream_is_over(stream))
		return;
	stream->end = (uint8_t)why;
	stream->deadline = PLX_NEVER;
}

#define ENTRY(name, text) [PLX_SAN_END_##name] = text,
PLX_TEXT_FUNCTION(plx_san_end_text, enum plx_san_end, PLX_SAN_END_COUNT, PLX_SAN_END_LIST, ENTRY,
		  "ended for no known reason")
#undef ENTRY

/* ---- credits ---- */

uint32_t
stream_spare(const struct plx_san_stream *stream)
{
	const struct plx_san_in *in = &stream->in;
	uint64_t promised = (uint64_t)(in->posted - in->messages) * stream->config.payload_bytes;

	return (uint32_t)(stream->config.in_bytes - (in->placed - in->taken) - in->moving -
			  promised);
}

void
stream_grant(struct plx_san_stream *stream)
{
	struct plx_san_in *in = &stream->in;
	uint32_t more = stream_spare(stream) / stream->config.payload_bytes;
	uint32_t most = stream->config.credits - (in->posted - in->messages);

	in->posted += PLX_MUTANT(SAN_CREDIT_OF_NO_ROOM) ? most : stream_min(more, most);
}

/* ---- the program's bytes ---- */

/* Once control is wanted, what this process writes comes after what the other one will write. */
static bool
may_write(const struct plx_san_stream *stream)
{
	return !stream_is_over(stream) && stream->mine == PLX_SAN_MINE_KEPT &&
	       !stream->out.fin_wanted && !stream_has_large(stream);
}

uint32_t
plx_san_room(const struct plx_san_stream *stream)
{
	const struct plx_san_out *out = &stream->out;

	return may_write(stream) ? stream->config.out_bytes - (uint32_t)(out->put - out->released)
				 : 0;
}

static void
copy_out(const uint8_t *ring, const struct plx_san_range *range, uint8_t *bytes)
{
	memcpy(bytes, ring + range->at, range->first);
	memcpy(bytes + range->first, ring, range->bytes - range->first);
}

uint32_t
plx_san_write(struct plx_san_stream *stream, const struct plx_san_rings *rings, const void *bytes,
	      uint32_t n)
{
	struct plx_san_out *out = &stream->out;
	struct plx_san_range range;

	n = stream_min(n, plx_san_room(stream));
	if (n == 0)
		return 0;
	range = stream_range(out->put, n, stream->config.out_bytes);
	stream_fill(rings->out, &range, bytes);
	out->put += n;
	return n;
}

bool
plx_san_write_urgent(struct plx_san_stream *stream, uint8_t byte)
{
	struct plx_san_out *out = &stream->out;

	if (!may_write(stream) || out->urgent)
		return false;
	out->urgent = true;
	out->urgent_byte = byte;
	out->urgent_at = out->put;
	return true;
}

bool
plx_san_offers_reads(const struct plx_san_stream *stream)
{
	return !stream->out.by_write;
}

bool
plx_san_offer(struct plx_san_stream *stream, uint64_t bytes, const struct plx_san_descriptor *at)
{
	struct plx_san_out *out = &stream->out;

	if (!may_write(stream) || stream->theirs != PLX_SAN_THEIRS_KEPT || bytes == 0)
		return false;
	out->large = PLX_SAN_LARGE_QUEUED;
	out->rest = bytes;
	out->offset = 0;
	out->at = at != NULL ? *at : (struct plx_san_descriptor){0};
	return true;
}

void
plx_san_shut(struct plx_san_stream *stream)
{
	stream->out.fin_wanted = true;
}

bool
plx_san_is_drained(const struct plx_san_stream *stream)
{
	const struct plx_san_out *out = &stream->out;

	return out->released == out->put && !stream_has_large(stream) && !out->urgent &&
	       out->fin == out->fin_wanted && out->sends == 0;
}

uint32_t
plx_san_readable(const struct plx_san_stream *stream)
{
	const struct plx_san_in *in = &stream->in;
	uint64_t end = in->marked && in->mark > in->taken ? in->mark : in->placed;

	return (uint32_t)(end - in->taken);
}

uint32_t
plx_san_read(struct plx_san_stream *stream, const struct plx_san_rings *rings, void *out,
	     uint32_t n, bool keep)
{
	struct plx_san_in *in = &stream->in;
	struct plx_san_range range;

	/* Whoever reads on from the mark has passed it, and the urgent byte if it was not read: as
	 * TCP does, even if nothing is behind it yet. */
	if (!keep && n > 0 && in->marked && in->taken >= in->mark)
		in->marked = in->urgent = false;
	n = stream_min(n, plx_san_readable(stream));
	if (n == 0)
		return 0;
	range = stream_range(in->taken, n, stream->config.in_bytes);
	copy_out(rings->in, &range, out);
	if (keep)
		return n;
	in->taken += n;
	stream_grant(stream);
	return n;
}

bool
plx_san_is_at_end(const struct plx_san_stream *stream)
{
	const struct plx_san_in *in = &stream->in;

	return in->fin && in->taken == in->placed && in->fetch == PLX_SAN_FETCH_NONE;
}

bool
plx_san_read_urgent(struct plx_san_stream *stream, uint8_t *out, bool keep)
{
	if (!stream->in.urgent)
		return false;
	*out = stream->in.urgent_byte;
	stream->in.urgent = keep;
	return true;
}

bool
plx_san_is_at_mark(const struct plx_san_stream *stream)
{
	return stream->in.marked && stream->in.mark == stream->in.taken;
}

/* ---- completions ---- */

void
plx_san_on_sent(struct plx_san_stream *stream, uint32_t n)
{
	struct plx_san_out *out = &stream->out;

	PLX_ASSERT(n <= out->sends);
	for (; n > 0; n--) {
		out->released += out->length[out->first];
		out->first = (out->first + 1) % PLX_SAN_SENDS_MAX;
		out->sends--;
	}
}

void
plx_san_on_read(struct plx_san_stream *stream)
{
	struct plx_san_in *in = &stream->in;

	PLX_ASSERT(in->fetch == PLX_SAN_FETCH_READING);
	in->placed += in->moving;
	in->rest -= in->moving;
	in->fetched += in->moving;
	in->moving = 0;
	in->fetch = in->rest > 0 ? PLX_SAN_FETCH_OPEN : PLX_SAN_FETCH_DONE;
	stream_grant(stream);
}

void
plx_san_on_written(struct plx_san_stream *stream)
{
	PLX_ASSERT(stream->out.large == PLX_SAN_LARGE_WRITING);
	stream->out.large = PLX_SAN_LARGE_WRITTEN;
}

void
plx_san_on_exposed(struct plx_san_stream *stream, const struct plx_san_descriptor *to)
{
	PLX_ASSERT(stream->in.fetch == PLX_SAN_FETCH_EXPOSING);
	stream->in.from = *to;
	stream->in.fetch = PLX_SAN_FETCH_EXPOSED;
}

void
plx_san_on_offered_again(struct plx_san_stream *stream, const struct plx_san_descriptor *at)
{
	PLX_ASSERT(stream->out.large == PLX_SAN_LARGE_WITHDRAWN);
	stream->out.at = *at;
	stream->out.large = PLX_SAN_LARGE_QUEUED;
}

/* ---- time ---- */

void
plx_san_on_time(struct plx_san_stream *stream, uint64_t now)
{
	if (now >= stream->deadline)
		plx_san_finish(stream, PLX_SAN_END_TIMEOUT);
}

uint64_t
plx_san_timer(const struct plx_san_stream *stream)
{
	return stream->deadline;
}
