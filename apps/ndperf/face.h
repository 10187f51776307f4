/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of an endpoint through an interface that stands on plx_verbs.h: ND2 for --api nd2,
 * NDK for --api ndk. side.c, flow.c and run.c call them if the side has a face. No name of Windows
 * appears here. It owns no state. Start with struct face.
 */
#ifndef NDPERF_FACE_H
#define NDPERF_FACE_H

#include "side.h"

#include <sys/socket.h>

struct face {
	enum api api;
	struct entry_fields fields;

	/** Open the adapter, and, on the passive end, a listener. Fills side->info, and side->nd2
	 * or side->ndk. */
	bool (*open)(struct side *side, const struct options *o, struct plx_why *why);
	void (*close)(struct side *side);
	/** The adapter as plx_verbs.h represents it. */
	struct plx_adapter *(*adapter)(const struct side *side);

	/* ---- of a job; failures are recorded in the side ---- */

	/** Register side->memory. Sets side->key.
	 * @param bytes [1 ..] */
	bool (*register_memory)(struct side *side, uint64_t bytes);
	/** @param sends [1 ..] requests that fit into an initiator queue */
	bool (*make_queues)(struct side *side, uint32_t sends);
	/** How the peer reaches us: the listener's address, with its port in place of the QPN. */
	void (*cards)(const struct side *side, struct card *cards);
	/** Check once whether the pending connection has progressed.
	 * Returns: as side_connect() */
	enum plx_status (*connect)(struct side *side, const struct card *cards);
	void (*clear)(struct side *side);
};

/** Convert an address to a sockaddr.
 * Returns: its length */
uint32_t face_sockaddr(const struct plx_ip *ip, uint16_t port, struct sockaddr_storage *out);

extern const struct face nd2_face, ndk_face;

/** The interface of an `api`. NULL: verbs */
const struct face *face_of(enum api api);

/** Have the adapters that the options specify described in a configuration file, which both ends of
 * the process share: an interface has no other way to a device. */
bool face_config(const struct options *o, struct plx_why *why);

/* ---- measured path: no allocation, no waiting; called directly ---- */

/** Post the first `n` of the side's requests on a lane, one at a time.
 * @param status of the refused request: FULL; or STATE, with the failure in the side
 * Returns: the number posted */
uint32_t nd2_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status);
uint32_t ndk_post_send(struct side *side, struct lane *lane, uint32_t n, enum plx_status *status);
bool nd2_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge);
bool ndk_post_receive(struct side *side, struct lane *lane, const struct plx_sge *sge);
/** As side_reap(). The face's `fields` give the offsets of an entry's fields. */
uint32_t nd2_reap(struct side *side, enum queue queue, union entry *entries);
uint32_t ndk_reap(struct side *side, enum queue queue, union entry *entries);
/** Do the work of plx_adapter_poll() by polling the queue that expects no completions.
 * Returns: approximately what plx_adapter_poll() would */
uint32_t nd2_poll(struct side *side);

#endif
