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
 * rx_fd: the descriptor that becomes readable when a packet comes; -1, or NULL: it has none, and a
 *     thread that sleeps has to look from time to time. Whoever waits for it does so by an edge of
 *     epoll, and never reads it.
 * rx_arm: packets that come from now on make it so, or need not. NULL: they always do.
 */
struct plx_port {
	uint16_t (*rx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	uint16_t (*tx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
	int (*rx_fd)(struct plx_port *port);
	void (*rx_arm)(struct plx_port *port, bool armed);
	struct plx_port_caps caps;
};

#endif
