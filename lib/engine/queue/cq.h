/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by both halves of a completion queue: the word that marks an entry, and notification.
 */
#ifndef PLX_CQ_H
#define PLX_CQ_H

#include "plx_engine_cq.h"

/* The word with a completion's status is written last. */
enum {
	WORD_AT = offsetof(struct plx_wc, imm),
};
_Static_assert(WORD_AT % sizeof(uint64_t) == 0 &&
		       offsetof(struct plx_wc, mark) == WORD_AT + sizeof(uint64_t) - 1,
	       "a ring's mark is bit 56 of the word");

/* Disarm the armed kinds that are due.
 * Returns: those kinds */
uint32_t cq_take_due(struct plx_cq *cq);
/* Wake the threads that wait for the kinds in `fired`. */
void cq_fire(struct plx_cq *cq, uint32_t fired);

#endif
