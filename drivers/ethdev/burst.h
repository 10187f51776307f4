/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One RX and TX queue pair of an ethdev, as a port. Private to the room; it never inspects a
 * packet. Start with struct queue.
 */
#ifndef PLX_ETHDEV_BURST_H
#define PLX_ETHDEV_BURST_H

#include "plx_port.h"

/* `port` must be first: a pointer to it is also one to the queue. */
struct queue {
	struct plx_port port;
	uint16_t port_id, index;
	int rx_fd;          /* an interrupt's; -1: none */
	bool inside;        /* a guarded queue is in a burst */
	struct queue *next; /* in the list of guarded ones */
};

uint16_t queue_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
uint16_t queue_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);

int queue_rx_fd(struct plx_port *port);
void queue_rx_arm(struct plx_port *port, bool armed);

/* The same of a guarded queue (guard.h). */
uint16_t guarded_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);
uint16_t guarded_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);

#endif
