/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of a completion queue share: the word that marks an entry, and firing.
 */
#ifndef PLX_CQ_H
#define PLX_CQ_H

#include "plx_engine_cq.h"

/* The word in which a completion's status lies is written last. */
enum {
	WORD_AT = offsetof(struct plx_wc, imm),
};
_Static_assert(WORD_AT % sizeof(uint64_t) == 0 &&
		       offsetof(struct plx_wc, mark) == WORD_AT + sizeof(uint64_t) - 1,
	       "a ring's mark is bit 56 of the word");

/* Take what is armed and has something to tell. Returns: its kinds */
uint32_t cq_take_due(struct plx_engine_cq *cq);
/* Wake who sleeps for what was taken. */
void cq_fire(struct plx_engine_cq *cq, uint32_t fired);

#endif
