/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two functions that an engine calls per burst. They own nothing, look at no packet, and must
 * stay one call each. Start with queue_rx().
 */
#include <rte_ethdev.h>

#include "burst.h"

PLX_HOT uint16_t
queue_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	const struct queue *queue = (const struct queue *)(const void *)port;

	return rte_eth_rx_burst(queue->port_id, queue->index, packets, n);
}

PLX_HOT uint16_t
queue_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	const struct queue *queue = (const struct queue *)(const void *)port;

	return rte_eth_tx_burst(queue->port_id, queue->index, packets, n);
}
