/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One RX and TX queue pair of an ethdev as an engine sees it. Private to the room; never a packet
 * in sight. Start with struct queue.
 */
#ifndef PLX_ETHDEV_BURST_H
#define PLX_ETHDEV_BURST_H

#include "plx_port.h"

/* `port` comes first: a pointer to it is one to the queue. */
struct queue {
	struct plx_port port;
	uint16_t port_id, index;
};

uint16_t queue_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
uint16_t queue_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);

#endif
