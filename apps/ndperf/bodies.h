/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bodies of the side channel's messages, to bytes and back. Numbers are in network byte order.
 * A body that is too short or too long, or says what cannot be, is refused. Start with struct card.
 */
#ifndef NDPERF_BODIES_H
#define NDPERF_BODIES_H

#include "talk.h"

/* What an endpoint tells the other of one queue pair. */
struct card {
	struct plx_qp_address address;
	uint64_t va; /* of its first buffer, for WRITE, READ and atomics */
	struct plx_key rkey;
};

/* How it was at the passive end. */
struct verdict {
	uint64_t messages;      /* that it was told of */
	uint64_t checked_bytes; /* that were right */
};

void message_put_job(struct talk *talk, const struct job *job);
bool message_get_job(const struct talk *talk, struct job *job, struct plx_why *why);

void message_put_cards(struct talk *talk, const struct card *cards, uint32_t n);
/** @param n how many there must be */
bool message_get_cards(const struct talk *talk, struct card *cards, uint32_t n,
		       struct plx_why *why);

/** Plain numbers: the time of a GO, the counts of a DONE, a verdict. */
void message_put_numbers(struct talk *talk, const uint64_t *numbers, uint32_t n);
bool message_get_numbers(const struct talk *talk, uint64_t *numbers, uint32_t n,
			 struct plx_why *why);

#endif
