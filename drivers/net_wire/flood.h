/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An attacker on the wire: unsolicited management datagrams at a fixed rate. Private to the room.
 * Start with flood_add().
 */
#ifndef PLX_NET_WIRE_FLOOD_H
#define PLX_NET_WIRE_FLOOD_H

#include "plx_net_wire.h"
#include "plx_wire.h"

enum {
	/* Ethernet, IPv4, UDP: copied from the first packet that passes */
	FLOOD_HEADER_BYTES = 42,
	FLOOD_FRAME_BYTES = 322,
	/* prepared in advance and sent in turn, because the target shares our core */
	FLOOD_FRAMES = 256,
};

struct flood {
	struct plx_prng prng;
	struct rte_mempool *pool; /* of the packets that pass; NULL before the first */
	uint8_t header[FLOOD_HEADER_BYTES];
	uint64_t period, due; /* [TSC] */
	plx_icrc_fn icrc;
	uint32_t next;
	uint8_t frame[FLOOD_FRAMES][FLOOD_FRAME_BYTES];
};

/** @param per_second 1 .. */
void flood_init(struct flood *flood, uint32_t per_second, uint64_t seed);

/**
 * Add the datagrams that are due to a burst of `n`. The target is learnt from packets that pass.
 * @param packets [room]
 * Returns: the number of datagrams added
 */
uint16_t flood_add(struct flood *flood, struct rte_mbuf **packets, uint16_t n, uint16_t room,
		   uint64_t now);

#endif
