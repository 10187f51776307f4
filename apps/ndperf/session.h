/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One row, from what was agreed to its result: between two endpoints that talk by the side channel,
 * or between two on this thread. Start with session_client_row().
 */
#ifndef NDPERF_SESSION_H
#define NDPERF_SESSION_H

#include "talk.h"
#include "run.h"

struct session {
	struct side side;
	struct talk talk;
	/* in one process: the endpoint on the other thread, whose stops spoil a window too */
	const struct side *other;
	bool is_solo;
	bool (*look)(struct run *run, uint64_t now); /* the client's, for its progress line */
	struct histogram histogram;
};

/** Measure a row with the server. @param result `histogram` is the session's */
bool session_client_row(struct session *session, const struct job *job, struct result *result,
			struct plx_why *why);

/**
 * Serve one client from its greeting until it leaves.
 * Returns: false: the sentence says what went wrong; the next one may be served
 */
bool session_serve(struct session *session, struct plx_why *why);

/* Two endpoints of this thread. */
struct duo {
	struct session *session; /* its `side` is the active one */
	struct side *passive;
};

/** Measure a row between them. */
bool session_duo_row(struct duo *duo, const struct job *job, struct result *result,
		     struct plx_why *why);

/** Measure a row between those of one and between those of the other, in turns. */
bool session_duo_rows(struct duo *one, struct duo *other, const struct job *job,
		      struct result results[2], struct plx_why *why);

#endif
