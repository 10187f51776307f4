/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changing the bytes of one packet. Private to the room; it draws no random numbers and counts
 * nothing.
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
 * A packet whose bytes are not shared: `packet` itself, or a copy that replaces it if any of its
 * memory is shared or an external buffer.
 * Returns: NULL if no buffer is free for the copy; `packet` is then unchanged
 */
struct rte_mbuf *packet_private(struct rte_mbuf *packet);

/** A copy in buffers of the packet's own pool; NULL if the pool is empty. */
struct rte_mbuf *packet_copy(struct rte_mbuf *packet);

/** Flip one bit.
 * @param bit [bits] from the start of the packet, inside it */
void packet_flip(struct rte_mbuf *packet, uint32_t bit);

/** Is the packet ECN-capable: IPv4 or IPv6 with ECT(0) or ECT(1)? */
bool packet_is_ect(const struct rte_mbuf *packet);

/** Change ECT to CE and update the IPv4 header checksum. packet_is_ect() must be true. */
void packet_mark(struct rte_mbuf *packet);

#endif
