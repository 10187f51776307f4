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
