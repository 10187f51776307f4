/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ports that raw packets go between. Start with raw_ports_open().
 */
#ifndef NDPERF_RAW_PORT_H
#define NDPERF_RAW_PORT_H

#include "plx_port.h"

struct raw_ports {
	struct rte_mempool *pool;
	uint16_t port[2]; /* DPDK's numbers: of the end that sends, and of the one that receives */
};

/**
 * Two ports that are joined, and a pool for both. What was opened before stays open for the next
 * call with the same devices, and is closed for a call with others.
 *
 * @param device  NULL or "net_wire...": a link of net_wire of our own, with the faults left out
 *                that belong to the verbs' link; "net_ring": two rings of DPDK's ring PMD; else any
 *                DPDK device, to which `device2` is joined outside
 * Errors: INVALID (a device needs another end), and those of plx_ethdev_open()
 */
enum plx_status raw_ports_open(const char *device, const char *device2, struct raw_ports *out,
			       struct plx_why *why) PLX_MUST_CHECK;

/** Close what is open. */
void raw_ports_close(void);

#endif
