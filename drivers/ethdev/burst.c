/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two functions that an engine calls per burst, and what lets its thread sleep. They own
 * nothing, look at no packet, and must stay one call each. Start with queue_rx().
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

int
queue_rx_fd(struct plx_port *port)
{
	const struct queue *queue = (const struct queue *)(const void *)port;

	return queue->rx_fd;
}

void
queue_rx_arm(struct plx_port *port, bool armed)
{
	const struct queue *queue = (const struct queue *)(const void *)port;

	if (armed)
		(void)rte_eth_dev_rx_intr_enable(queue->port_id, queue->index);
	else
		(void)rte_eth_dev_rx_intr_disable(queue->port_id, queue->index);
}

static void
be_inside(struct queue *queue, bool inside)
{
	__atomic_store_n(&queue->inside, inside, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the other thread has the rest of the barrier */
}

PLX_HOT uint16_t
guarded_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	be_inside((struct queue *)port, true);
	n = queue_rx(port, packets, n);
	be_inside((struct queue *)port, false);
	return n;
}

PLX_HOT uint16_t
guarded_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	be_inside((struct queue *)port, true);
	n = queue_tx(port, packets, n);
	be_inside((struct queue *)port, false);
	return n;
}
