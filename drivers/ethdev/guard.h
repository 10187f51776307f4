/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For a PMD that unmaps its rings on the EAL's interrupt thread when its peer leaves (net_memif):
 * the memory goes only when no queue is in a burst. The PMD marks itself disconnected first, so
 * later bursts do not touch it. Private to the room. Start with guard_add().
 */
#ifndef PLX_ETHDEV_GUARD_H
#define PLX_ETHDEV_GUARD_H

#include "burst.h"

/** Guard a queue, whose bursts are guarded_rx() and guarded_tx() from now on.
 * @param driver as DPDK calls it: net_memif
 * @return false: the PMD's library was not found among the shared ones. Its queues are then as safe
 *         as the PMD leaves them. */
bool guard_add(struct queue *queue, const char *driver);

/** Forget a queue; nothing for one that is not guarded. The device is stopped. */
void guard_remove(struct queue *queue);

#endif
