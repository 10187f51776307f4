/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is recorded of a run that becomes a wire script: posts, receives, revocations, packets.
 * It is there only while the shrinker makes its last run.
 * Start with struct row.
 */
#ifndef SIM_SCRIPTED_H
#define SIM_SCRIPTED_H

#include "parts.h"

enum row_kind {
	ROW_OP,
	ROW_RECEIVE,
	ROW_REVOKE,
	ROW_PACKET,
};

struct row {
	enum row_kind kind;
	uint64_t at;
	uint32_t side, life;
	struct op op;
	uint32_t bytes;   /* of a receive */
	uint32_t ordinal; /* of a packet, in its life, from 1 */
	struct fault fault;
	uint8_t damage;
	uint64_t serial; /* of a packet; of the one that was the last before a revocation */
};

struct scripted {
	struct row *rows;
	size_t count, room;
	uint32_t packets[SIM_SIDES_MAX]; /* sent in this life */
};

#endif
