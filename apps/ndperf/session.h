/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One row, from the agreed job to its result: between two endpoints that communicate through the
 * side channel, or between two on this thread. Start with session_client_row().
 */
#ifndef NDPERF_SESSION_H
#define NDPERF_SESSION_H

#include "talk.h"
#include "run.h"

struct session {
	struct side side;
	struct talk talk;
	/* in one process: the endpoint on the other thread, whose interruptions spoil a window,
	 * too */
	const struct side *other;
	bool is_solo;
	bool (*look)(struct run *run, uint64_t now); /* on the client, for the progress line */
	struct histogram histogram, undisturbed;
	/* of the row's queue pairs: what this end tells, what the other does, and the messages */
	struct card mine[QPS_MAX], theirs[QPS_MAX];
	uint64_t counts[QPS_MAX];
	uint64_t their_counts[QPS_MAX]; /* if both send */
	bool has_told;                  /* a passive one: that all of its messages are done */
};

/** Measure a row with the server.
 * @param result its `histogram` is the session's */
bool session_client_row(struct session *session, const struct job *job, struct result *result,
			struct plx_why *why);

/**
 * Serve one client from its greeting until it leaves.
 * Returns: false: the sentence tells why; the next client may be served
 */
bool session_serve(struct session *session, struct plx_why *why);

/* Two endpoints on this thread. */
struct duo {
	struct session *session; /* its `side` is the active endpoint */
	struct side *passive;
};

/** Measure a row between the two. */
bool session_duo_row(struct duo *duo, const struct job *job, struct result *result,
		     struct plx_why *why);

/** Measure a row in each of the two pairs, alternating between them. */
bool session_duo_rows(struct duo *one, struct duo *other, const struct job *job,
		      struct result results[2], struct plx_why *why);

#endif
