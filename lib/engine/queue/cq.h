/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by both halves of a completion queue: notification.
 */
#ifndef PLX_CQ_H
#define PLX_CQ_H

#include "plx_engine_cq.h"

/* Disarm the armed kinds that are due.
 * Returns: those kinds */
uint32_t cq_take_due(struct plx_cq *cq);
/* Wake the threads that wait for the kinds in `fired`. */
void cq_fire(struct plx_cq *cq, uint32_t fired);

#endif
