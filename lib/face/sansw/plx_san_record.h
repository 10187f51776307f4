/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the process in control writes down at each step, in memory that others have, so that one of
 * them can go on if it does not. Start with struct san_records.
 */
#ifndef PLX_SAN_RECORD_H
#define PLX_SAN_RECORD_H

#include <stdatomic.h>

#include "plx_san_stream.h"

/* A stream as it was between two steps, for who goes on if its process does not. */
struct san_record {
	struct plx_san_stream stream;
	uint32_t requests;     /* posted, by all processes that had the socket: with one that is
				  posted next */
	uint32_t receives;     /* ... and messages that are in the stream */
	uint32_t next_receive; /* the place of the next one */
};

/* In memory that other processes have. One of both is whole at any time, and the other one is the
 * one before, or is being written. */
struct san_records {
	_Atomic uint32_t newest;
	struct san_record record[2];
};

#endif
