/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control of a stream passes to another process of the same end. Start with plx_san_suspend().
 */
#include "stream.h"

void
plx_san_suspend(struct plx_san_stream *stream)
{
	if (stream->mine == PLX_SAN_MINE_KEPT)
		stream->mine = PLX_SAN_MINE_WANTED;
}

void
plx_san_pass(struct plx_san_stream *stream)
{
	if (stream->mine != PLX_SAN_MINE_KEPT)
		return;
	stream->mine = PLX_SAN_MINE_WANTED;
	stream->silent = true;
	stream->sends_released = false;
}

void
plx_san_resume(struct plx_san_stream *stream)
{
	if (stream->mine != PLX_SAN_MINE_WANTED && stream->mine != PLX_SAN_MINE_GIVEN)
		return;
	stream->resume |= stream->mine == PLX_SAN_MINE_GIVEN && !stream->silent;
	stream->mine = PLX_SAN_MINE_KEPT;
	stream->silent = false;
}

/* Nothing may be half done that only its process could end. */
bool
plx_san_inherit(struct plx_san_stream *stream)
{
	if (!plx_san_is_valid(stream) || stream_is_over(stream) || stream_has_large(stream) ||
	    !plx_san_is_open(stream) || stream->in.fetch != PLX_SAN_FETCH_NONE ||
	    stream->in.conceal || stream->theirs != PLX_SAN_THEIRS_KEPT || stream->resume ||
	    stream->mine == PLX_SAN_MINE_ASKED || stream->mine == PLX_SAN_MINE_GRANTED ||
	    stream->out.payload_bytes < PLX_SAN_PAYLOAD_MIN)
		return false;
	if (!PLX_MUTANT(SAN_SEIZED_SENDS))
		plx_san_on_sent(stream, stream->out.sends);
	plx_san_resume(stream);
	stream->sends_released = stream->rdma_released = false;
	return true;
}
