/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An enemy on the wire: management datagrams that nobody asked for, so many in a second. Private to
 * the room. Start with flood_add().
 */
#ifndef PLX_NET_WIRE_FLOOD_H
#define PLX_NET_WIRE_FLOOD_H

#include "plx_net_wire.h"
#include "plx_wire.h"

enum {
	/* Ethernet, IPv4, UDP: what is learnt from the first packet that passes */
	FLOOD_HEADER_BYTES = 42,
	FLOOD_FRAME_BYTES = 322,
	/* written beforehand, and sent in turn: the one who is attacked shares its core with us */
	FLOOD_FRAMES = 256,
};

struct flood {
	struct plx_prng prng;
	struct rte_mempool *pool; /* of the packets that pass; NULL: none has */
	uint8_t header[FLOOD_HEADER_BYTES];
	uint64_t period, due; /* [TSC] */
	plx_icrc_fn icrc;
	uint32_t next;
	uint8_t frame[FLOOD_FRAMES][FLOOD_FRAME_BYTES];
};

/** @param per_second 1 .. */
void flood_init(struct flood *flood, uint32_t per_second, uint64_t seed);

/**
 * Add what is due to a burst of `n`. Whom to attack is learnt from the packets that pass.
 * @param packets [room] Returns: how many were added
 */
uint16_t flood_add(struct flood *flood, struct rte_mbuf **packets, uint16_t n, uint16_t room,
		   uint64_t now);

#endif
