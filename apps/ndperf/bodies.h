/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes and decodes the bodies of the side channel's messages. Numbers are in network byte order.
 * A body that is too short, too long or inconsistent is refused. Start with struct card.
 */
#ifndef NDPERF_BODIES_H
#define NDPERF_BODIES_H

#include "talk.h"

/* What an endpoint tells its peer about one queue pair. */
struct card {
	struct plx_qp_address address;
	uint64_t va; /* of its first buffer, for WRITE, READ and atomics */
	struct plx_key rkey;
};

void message_put_job(struct talk *talk, const struct job *job);
bool message_get_job(const struct talk *talk, struct job *job, struct plx_why *why);

void message_put_cards(struct talk *talk, const struct card *cards, uint32_t n);
/** @param n required number of cards */
bool message_get_cards(const struct talk *talk, struct card *cards, uint32_t n,
		       struct plx_why *why);

/** Plain numbers: the time in a GO, the counts in a DONE, the fields of a verdict. */
void message_put_numbers(struct talk *talk, const uint64_t *numbers, uint32_t n);
bool message_get_numbers(const struct talk *talk, uint64_t *numbers, uint32_t n,
			 struct plx_why *why);

#endif
