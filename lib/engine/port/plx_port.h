/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A port as an engine sees it, and all that a driver sees of the engine: two functions, and what
 * the port can do. Start with struct plx_port.
 */
#ifndef PLX_PORT_H
#define PLX_PORT_H

#include "plx_base.h"

struct rte_mbuf;

enum {
	PLX_PORT_BURST = 32, /* packets that an engine asks for at once */
};

/* What a port can do, asked of it once when it was opened. */
struct plx_port_caps {
	char name[64];
	uint8_t mac[6];
	int socket;           /* NUMA node; -1: any */
	uint32_t frame_max;   /* [bytes] the longest frame without FCS, both ways */
	bool segments;        /* chains of buffers leave as one right frame */
	bool external;        /* segments may be external buffers */
	bool tx_lost_on_exit; /* what the peer has not read yet is gone with the process */
};

/**
 * One queue pair of a port: what an engine polls. A driver embeds it and fills it in.
 *
 * rx: up to `n` packets, which are the caller's to free; chains are allowed.
 * tx: takes the first packets of the array; the rest stay the caller's. A packet taken is freed by
 *     the port.
 * Both: one thread; never block.
 */
struct plx_port {
	uint16_t (*rx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	uint16_t (*tx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	struct plx_port_caps caps;
};

#endif
