/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room share of a stream. Start with stream_may_write().
 */
#ifndef PLX_SAN_STREAM_PRIVATE_H
#define PLX_SAN_STREAM_PRIVATE_H

#include "plx_san_stream.h"

static inline uint32_t
stream_min(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* The place of `bytes` from position `from` on. */
static inline struct plx_san_range
stream_range(uint64_t from, uint32_t bytes, uint32_t ring_bytes)
{
	uint32_t at = (uint32_t)from & (ring_bytes - 1);

	return (struct plx_san_range){
		.at = at, .first = stream_min(bytes, ring_bytes - at), .bytes = bytes};
}

/* Write a range of a ring. */
static inline void
stream_fill(uint8_t *ring, const struct plx_san_range *range, const uint8_t *bytes)
{
	memcpy(ring + range->at, bytes, range->first);
	memcpy(ring, bytes + range->first, range->bytes - range->first);
}

static inline bool
stream_is_over(const struct plx_san_stream *stream)
{
	return stream->end != PLX_SAN_END_NOT;
}

/* Is a large transfer of ours in progress, so that what follows waits? */
static inline bool
stream_has_large(const struct plx_san_stream *stream)
{
	return stream->out.large != PLX_SAN_LARGE_NONE;
}

/* Raise what the other end may send, as far as all of it would find room. */
void stream_grant(struct plx_san_stream *stream);

/* Bytes of the ring of what has arrived that no credit promises. */
uint32_t stream_spare(const struct plx_san_stream *stream);

/* Has the other end said where to WRITE, and is that not over? */
static inline bool
stream_is_writing(const struct plx_san_out *out)
{
	return out->large == PLX_SAN_LARGE_ALLOWED || out->large == PLX_SAN_LARGE_WRITING ||
	       out->large == PLX_SAN_LARGE_WRITTEN;
}

/* Has everything that this end began come to its end, so that only receives are pending? */
static inline bool
stream_is_quiet(const struct plx_san_stream *stream)
{
	return (stream->out.sends == 0 || PLX_MUTANT(SAN_SENDS_UNDER_WAY)) &&
	       !stream_is_writing(&stream->out) && !stream->in.conceal &&
	       (stream->in.fetch == PLX_SAN_FETCH_NONE || stream->in.fetch == PLX_SAN_FETCH_OPEN);
}

/* What was offered for READs is deregistered in a suspension, and its rest offered again.
 * Returns: [bytes] that have been READ of it */
static inline uint64_t
stream_forget_offer(struct plx_san_in *in)
{
	if (in->fetch != PLX_SAN_FETCH_OPEN || in->by_write)
		return 0;
	in->fetch = PLX_SAN_FETCH_NONE;
	in->rest = 0;
	return in->fetched;
}

/* Wait for the other end no longer than a suspension may last. */
static inline void
stream_arm(struct plx_san_stream *stream, uint64_t now)
{
	stream->deadline = now + stream->config.suspend_ns;
}

/* ... unless it still has to answer something else. */
static inline void
stream_disarm(struct plx_san_stream *stream)
{
	if (stream->mine != PLX_SAN_MINE_ASKED && stream->theirs != PLX_SAN_THEIRS_ANSWERED &&
	    !PLX_MUTANT(SAN_DEADLINE_STAYS))
		stream->deadline = PLX_NEVER;
}

#endif
