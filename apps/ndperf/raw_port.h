/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ports that exchange raw packets. Start with raw_ports_open().
 */
#ifndef NDPERF_RAW_PORT_H
#define NDPERF_RAW_PORT_H

#include "plx_port.h"

struct raw_ports {
	struct rte_mempool *pool;
	uint16_t port[2]; /* DPDK's port ids: of the sending end and of the receiving end */
};

/**
 * Open two connected ports and a pool for both. Ports that are open stay open for a call with the
 * same devices, and are closed by a call with others.
 *
 * @param device  NULL or "net_wire...": a link of net_wire of our own, without the faults that
 * belong to the verbs' link; "net_ring": two rings of DPDK's ring PMD; else any DPDK device, which
 * is connected externally to `device2`
 * Errors: INVALID (a device needs another end), and those of plx_ethdev_open()
 */
enum plx_status raw_ports_open(const char *device, const char *device2, struct raw_ports *out,
			       struct plx_why *why) PLX_MUST_CHECK;

/** Close all open ports. */
void raw_ports_close(void);

#endif
