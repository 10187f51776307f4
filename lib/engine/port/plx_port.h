/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between engine and driver: two functions and the capabilities of a port. Start with
 * struct plx_port.
 */
#ifndef PLX_PORT_H
#define PLX_PORT_H

#include "plx_base.h"

struct rte_mbuf;

enum {
	PLX_PORT_BURST = 32, /* maximum packets per burst */
};

/* The capabilities of a port, fixed when it is opened. */
struct plx_port_caps {
	char name[64];
	uint8_t mac[6];
	int socket;           /* NUMA node; -1: any */
	uint32_t frame_max;   /* [bytes] longest frame without FCS, both directions */
	bool segments;        /* a chain of buffers can be sent as one frame */
	bool external;        /* segments may be external buffers */
	bool tx_lost_on_exit; /* packets that the peer has not read are lost when the process ends
			       */
};

/**
 * One queue pair of a port, which an engine polls. A driver embeds it and fills it in.
 *
 * rx: receives up to `n` packets, which the caller frees; they may be chains.
 * tx: sends the first packets of the array and returns how many; the port frees those, the caller
 *     keeps the others.
 * Both: one thread; never block.
 */
struct plx_port {
	uint16_t (*rx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	uint16_t (*tx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	struct plx_port_caps caps;
};

#endif
