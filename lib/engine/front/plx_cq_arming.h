/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arming, of which both halves of a completion queue have a part: it is all in the front.
 */
#ifndef PLX_CQ_ARMING_H
#define PLX_CQ_ARMING_H

#include "plx_cq_front.h"

struct plx_waker;

/* Disarm the armed kinds that are due.
 * Returns: those kinds */
uint32_t cq_take_due(struct cq_front *front);

/* Wake the threads that wait for the kinds in `fired`.
 * @param waker as engine_wake()
 * @param fd the descriptor as this half knows it */
void cq_fire(struct cq_front *front, struct plx_waker *waker, atomic_int *fd, uint32_t fired);
/* Make every thread of the process pass a full barrier. false: the system does not support it. */
bool cq_barrier_everywhere(void);

#endif
