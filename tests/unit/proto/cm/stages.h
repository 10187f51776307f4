/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection brought to each of its stages, with ALICE connecting to BOB. It never leaves a
 * datagram in flight. Start with stage_reach().
 */
#ifndef PLX_TEST_STAGES_H
#define PLX_TEST_STAGES_H

#include "cm_pair.h"

enum stage {
	REQ_SENT,            /* ALICE's REQ was lost */
	REP_RCVD,            /* ALICE knows the REP */
	REQ_QUEUED,          /* BOB has the REQ, his program does not know */
	REQ_RCVD,            /* ... and it does */
	REP_SENT,            /* BOB's REP was lost */
	ESTABLISHED,         /* looked at from ALICE */
	ESTABLISHED_PASSIVE, /* ... from BOB */
	DREQ_SENT,           /* ALICE's DREQ was lost */
	TIMEWAIT,            /* ALICE has disconnected, and it was reported */
	STAGES,
};

extern const char *const stage_names[STAGES];

/* The host under test. */
int stage_host(enum stage stage);

/* BOB listens.
 * Returns: the connection's id there; ids[] has both, 0 where there is no connection */
struct plx_cm_id stage_reach(struct pair *pair, enum stage stage, struct plx_cm_id *ids);

/* A message as the peer of `stage_host()` would write it, with the right ids. */
struct plx_cm_msg stage_message(const struct pair *pair, enum stage stage,
				const struct plx_cm_id *ids, enum plx_cm_kind kind);

#endif
