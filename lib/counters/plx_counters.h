/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of all counters, in the order in which a host tells their values (PLX_IPC_COUNTERS): of
 * an adapter's engines, neighbours, communication manager, port and embedded link, and of a queue
 * pair. A prefix of the name tells the source. Start with plx_counter_names().
 */
#ifndef PLX_COUNTERS_H
#define PLX_COUNTERS_H

#include "plx_verbs.h"

/* Which kinds of counters an adapter has, beside those of every adapter. */
enum {
	PLX_COUNTERS_CM = 1 << 0,
	PLX_COUNTERS_WIRE = 1 << 1,
};

/* The members of struct plx_ethdev_stats. X(name, text) */
#define PLX_PORT_COUNTER_LIST(X)                                 \
	X(rx_packets, "packets the device received")             \
	X(rx_bytes, "bytes the device received")                 \
	X(rx_missed, "packets dropped by a full receive queue")  \
	X(rx_errors, "packets received with an error")           \
	X(rx_no_buffer, "packets for which there was no buffer") \
	X(tx_packets, "packets the device sent")                 \
	X(tx_bytes, "bytes the device sent")                     \
	X(tx_errors, "packets the device could not send")

/**
 * Write names and texts, with values of 0.
 * @param kinds PLX_COUNTERS_*
 * @param out   [n]
 * Returns: how many counters there are
 */
uint32_t plx_counter_names(uint32_t kinds, struct plx_counter *out, uint32_t n);
/** The same for the counters of a queue pair. */
uint32_t plx_qp_counter_names(struct plx_counter *out, uint32_t n);

#endif
