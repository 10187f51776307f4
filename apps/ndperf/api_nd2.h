/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an endpoint does by ND2 instead of plx_verbs.h, when --api nd2 asks for it: side.c and
 * flow.c come here with the side whose `nd2` is not NULL. No name of Windows stands in it. It owns
 * no state. Start with nd2_open().
 */
#ifndef NDPERF_API_ND2_H
#define NDPERF_API_ND2_H

#include "side.h"

/** The adapter, by the provider, a file for its requests, and the passive end's listener; fills
 * side->info and side->nd2. */
bool nd2_open(struct side *side, const struct options *o, struct plx_why *why);
void nd2_close(struct side *side);
/** What plx_verbs.h calls the adapter. */
struct plx_adapter *nd2_adapter(const struct side *side);

/* ---- of a job; a failure is the side's --------------------------------------------------------
 */

/** Register side->memory. Sets side->key. @param bytes [1 ..] */
bool nd2_register(struct side *side, uint64_t bytes);
/** @param sends [1 ..] requests that an initiator queue takes */
bool nd2_make_queues(struct side *side, uint32_t sends);
/** Where the peer finds us: the listener's address, its port in place of the queue pair's number.
 */
void nd2_cards(const struct side *side, struct card *cards);
/** One look at the connection that is being made. Returns: as side_connect() */
enum plx_status nd2_connect(struct side *side, const struct card *cards);
void nd2_clear(struct side *side);

/* ---- on the measured path: no allocation, no wait ----------------------------------------------
 */

/** Post the first `n` of the lane's requests, one by one.
 * @param status of the one that was refused: FULL, or with the failure in the side STATE
 * Returns: how many */
uint32_t nd2_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status);
bool nd2_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge);
/** As side_reap(); their fields are where nd2_fields says. */
uint32_t nd2_reap(struct side *side, enum queue queue, union entry *entries);
extern const struct entry_fields nd2_fields;
/** What plx_adapter_poll() is for: a look at the queue from which nothing is due. Returns: as that
 * would, roughly */
uint32_t nd2_poll(struct side *side);

#endif
