/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of an endpoint through ND2 instead of plx_verbs.h, for --api nd2. side.c and
 * flow.c call these if the side's `nd2` is not NULL. No name of Windows appears here. It owns no
 * state. Start with nd2_open().
 */
#ifndef NDPERF_API_ND2_H
#define NDPERF_API_ND2_H

#include "side.h"

/** Open the adapter through the provider, a file for its requests, and, on the passive end, a
 * listener. Fills side->info and side->nd2. */
bool nd2_open(struct side *side, const struct options *o, struct plx_why *why);
void nd2_close(struct side *side);
/** The adapter as plx_verbs.h represents it. */
struct plx_adapter *nd2_adapter(const struct side *side);

/* ---- of a job; failures are recorded in the side ---- */

/** Register side->memory. Sets side->key.
 * @param bytes [1 ..] */
bool nd2_register(struct side *side, uint64_t bytes);
/** @param sends [1 ..] requests that fit into an initiator queue */
bool nd2_make_queues(struct side *side, uint32_t sends);
/** How the peer reaches us: the listener's address, with its port in place of the QPN. */
void nd2_cards(const struct side *side, struct card *cards);
/** Check once whether the pending connection has progressed.
 * Returns: as side_connect() */
enum plx_status nd2_connect(struct side *side, const struct card *cards);
void nd2_clear(struct side *side);

/* ---- measured path: no allocation, no waiting ---- */

/** Post the first `n` of the lane's requests, one at a time.
 * @param status of the refused request: FULL; or STATE, with the failure in the side
 * Returns: the number posted */
uint32_t nd2_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status);
bool nd2_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge);
/** As side_reap(). nd2_fields gives the offsets of an entry's fields. */
uint32_t nd2_reap(struct side *side, enum queue queue, union entry *entries);
extern const struct entry_fields nd2_fields;
/** Do the work of plx_adapter_poll() by polling the queue that expects no completions.
 * Returns: approximately what plx_adapter_poll() would */
uint32_t nd2_poll(struct side *side);

#endif
