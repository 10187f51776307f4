/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changing the bytes of one packet. Private to the room; it draws no dice and counts nothing.
 * Start with packet_private().
 */
#ifndef PLX_NET_WIRE_DAMAGE_H
#define PLX_NET_WIRE_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

enum {
	ETHERNET_BYTES = 14,
};

/**
 * A packet whose bytes belong to nobody else: `packet` itself, or, when any of its memory is shared
 * or an external buffer, a copy that takes its place.
 * Returns: NULL, and `packet` is as it was, when there is no buffer for the copy
 */
struct rte_mbuf *packet_private(struct rte_mbuf *packet);

/** A copy in buffers of the packet's own pool; NULL when it has none. */
struct rte_mbuf *packet_copy(struct rte_mbuf *packet);

/** Flip one bit. @param bit [bits] from the start of the packet, inside it */
void packet_flip(struct rte_mbuf *packet, uint32_t bit);

/** Does it say that it may be marked: IPv4 or IPv6 with ECT(0) or ECT(1)? */
bool packet_is_ect(const struct rte_mbuf *packet);

/** ECT becomes CE, the IPv4 header checksum follows; packet_is_ect() holds. */
void packet_mark(struct rte_mbuf *packet);

#endif
